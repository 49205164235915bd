/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cgroups that this machine has, as it has them, and one that comes.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/cgroup-paths.h"

struct found {
	const char *mount;  /* of the hierarchy */
	const char *wanted; /* a path; NULL = none */
	uint64_t wanted_id;
	unsigned n, same, wrong, stop_at;
};

static int take(uint64_t id, const char *path, void *userdata)
{
	struct found *f = userdata;
	char full[2048];
	struct stat st;

	f->n++;
	snprintf(full, sizeof(full), "%s%s", f->mount, path);
	/* (others may come and go meanwhile) */
	if (stat(full, &st) == 0 && st.st_ino == id)
		f->same++;
	else if (stat(full, &st) == 0)
		f->wrong++;
	if (f->wanted && strcmp(path, f->wanted) == 0)
		f->wanted_id = id;
	return f->n == f->stop_at ? 7 : 0;
}

static const char *mounted(void)
{
	static const char *const places[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	char name[64];

	for (unsigned i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "%s/cgroup.controllers", places[i]);
		if (access(name, R_OK) == 0)
			return places[i];
	}
	return NULL;
}

static void test_paths_and_ids(void **state)
{
	struct found f = { .mount = mounted() };

	(void)state;
	if (!f.mount) {
		assert_int_equal(cgroup_paths(take, &f), -ENODEV);
		return;
	}
	assert_int_equal(cgroup_paths(take, &f), 0);
	assert_in_range(f.same, 1, f.n);
	assert_int_equal(f.wrong, 0);
}

static void test_new_one(void **state)
{
	struct found f = { .mount = mounted() };
	char name[64], path[128];
	struct stat st;

	(void)state;
	if (!f.mount)
		return;
	snprintf(name, sizeof(name), "/kymo-test-%d", (int)getpid());
	snprintf(path, sizeof(path), "%s%s", f.mount, name);
	if (mkdir(path, 0755) < 0)
		return; /* not for us */
	assert_int_equal(stat(path, &st), 0);
	f.wanted = name;
	assert_int_equal(cgroup_paths(take, &f), 0);
	rmdir(path);
	assert_int_equal(f.wanted_id, st.st_ino);
}

static void test_taker_ends_it(void **state)
{
	struct found f = { .mount = mounted(), .stop_at = 1 };

	(void)state;
	if (!f.mount)
		return;
	assert_int_equal(cgroup_paths(take, &f), 7);
	assert_int_equal(f.n, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths_and_ids),
		cmocka_unit_test(test_new_one),
		cmocka_unit_test(test_taker_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
