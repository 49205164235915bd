/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Invalid names of cgroups, and, if a cgroup2 hierarchy is mounted, a cgroup of this machine.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/options/find-cgroup.h"
#include "tests/support/unit.h"

/* Skips if no cgroup2 is mounted, since all searches then have the same result. */
static void need_cgroup2(void)
{
	struct filter_cgroup c;

	if (find_cgroup_path("/", &c) != -EINVAL)
		skip();
}

TEST(test_bad_paths)
{
	struct filter_cgroup c;

	need_cgroup2();
	assert_int_equal(find_cgroup_path("", &c), -EINVAL);
	assert_int_equal(find_cgroup_path("///", &c), -EINVAL);
	assert_int_equal(find_cgroup_path(".", &c), -ENOENT);
	assert_int_equal(find_cgroup_path("..", &c), -ENOENT);
	assert_int_equal(find_cgroup_path("a/../b", &c), -ENOENT);
	assert_int_equal(find_cgroup_path("no/such/cgroup", &c), -ENOENT);
	/* A file of the root is no cgroup. */
	assert_int_equal(find_cgroup_path("cgroup.procs", &c), -ENOENT);
}

TEST(test_long_path)
{
	static char path[8192];
	struct filter_cgroup c;

	need_cgroup2();
	memset(path, 'a', sizeof(path) - 1);
	assert_int_equal(find_cgroup_path(path, &c), -ENAMETOOLONG);
}

TEST(test_bad_units)
{
	struct filter_cgroup list[2];
	char name[2 * FILTER_CGROUP_BYTES];

	assert_int_equal(find_cgroup_unit("", list, 2), -EINVAL);
	assert_int_equal(find_cgroup_unit("a/b", list, 2), -EINVAL);
	memset(name, 'a', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(find_cgroup_unit(name, list, 2), -EINVAL);
	/* It fits, but not with ".service" appended. */
	name[FILTER_CGROUP_BYTES - 4] = '\0';
	assert_int_equal(find_cgroup_unit(name, list, 2), -EINVAL);
	need_cgroup2();
	assert_int_equal(find_cgroup_unit("kymo-test-no-such-unit", list, 2), -ENOENT);
}

/* A user's cgroup with the name of a root's unit does not count. */
TEST(test_units_of_users)
{
	char name[64], user[128], users[256], roots[128];
	struct filter_cgroup list[3];
	bool runs;
	int pid = (int)getpid();
	const char *root = access("/sys/fs/cgroup/unified", F_OK) == 0 ? "/sys/fs/cgroup/unified"
								       : "/sys/fs/cgroup";

	need_cgroup2();
	snprintf(name, sizeof(name), "kymo-test-%d.service", pid);
	snprintf(user, sizeof(user), "%s/kymo-test-%d", root, pid);
	snprintf(users, sizeof(users), "%s/%s", user, name);
	snprintf(roots, sizeof(roots), "%s/%s", root, name);
	if (geteuid() != 0 || mkdir(user, 0755) < 0)
		skip();
	assert_int_equal(mkdir(users, 0755), 0);
	assert_int_equal(chown(user, 65534, 65534), 0);
	assert_int_equal(chown(users, 65534, 65534), 0);
	assert_int_equal(find_cgroup_unit_trusted(name, list, 1), 1);
	assert_true(find_cgroup_unit_to_be(name, list, 3, &runs) >= 1);
	assert_true(runs);
	assert_int_equal(list[0].level, 2);
	assert_int_equal(mkdir(roots, 0755), 0);
	assert_int_equal(find_cgroup_unit(name, list, 3), 2);
	assert_int_equal(find_cgroup_unit_trusted(name, list, 1), 1);
	assert_int_equal(list[0].level, 1);
	assert_int_equal(find_cgroup_unit_to_be(name, list, 1, &runs), 1);
	assert_int_equal(list[0].level, 1);
	rmdir(roots);
	rmdir(users);
	rmdir(user);
}

/* All spellings give the same cgroup. */
TEST(test_spellings)
{
	struct filter_cgroup plain, other;
	char path[512], name[256] = "";
	struct dirent *d;
	DIR *root;

	need_cgroup2();
	/* With version 1 mounted, too, version 2 is the second of these. */
	root = opendir("/sys/fs/cgroup/unified") ?: opendir("/sys/fs/cgroup");
	while (root && (d = readdir(root))) {
		if (d->d_type == DT_DIR && *d->d_name != '.' &&
		    strlen(d->d_name) < FILTER_CGROUP_BYTES)
			snprintf(name, sizeof(name), "%s", d->d_name);
	}
	if (root)
		closedir(root);
	/* It can be mounted elsewhere, or be empty. */
	if (!*name || find_cgroup_path(name, &plain) < 0)
		skip();
	assert_string_equal(plain.name, name);
	assert_int_equal(plain.level, 1);
	assert_true(plain.parent_id != 0);
	snprintf(path, sizeof(path), "//%s/", name);
	assert_int_equal(find_cgroup_path(path, &other), 0);
	assert_string_equal(other.name, plain.name);
	assert_int_equal(other.level, plain.level);
	assert_int_equal(other.parent_id, plain.parent_id);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_paths), cmocka_unit_test(test_long_path),
		cmocka_unit_test(test_bad_units), cmocka_unit_test(test_units_of_users),
		cmocka_unit_test(test_spellings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
