/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where cgroups are: on a machine made of directories, by what processes say and by the walk, which
 * is bounded; and on this one.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "capture/proc/cgroup-paths.h"
#include "tests/support/own-directory.h"
#include "tests/support/unit.h"

#define LONG_NS UINT64_C(60000000000)
#define TREE    "/sys/fs/cgroup"

struct told {
	uint64_t id; /* of the last one */
	char path[CGROUP_PATH_ROOM];
	unsigned n;
};

static int take(uint64_t id, const char *path, void *userdata)
{
	struct told *t = userdata;

	t->id = id;
	snprintf(t->path, sizeof(t->path), "%s", path);
	t->n++;
	return 0;
}

/* Makes the cgroup PATH. Returns its id. */
static uint64_t make(const char *path)
{
	char full[2048];
	struct stat st;

	snprintf(full, sizeof(full), TREE "%s/cgroup.procs", path);
	put_text(own_directory(), full, "");
	snprintf(full, sizeof(full), "%s" TREE "%s", own_directory(), path);
	assert_int_equal(stat(full, &st), 0);
	return st.st_ino;
}

/* What process PID says. */
static void says(uint32_t pid, const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/cgroup", pid);
	put_text(own_directory(), path, text);
}

static struct cgroup_paths *open_tree(void)
{
	struct cgroup_paths *c = NULL;

	assert_int_equal(cgroup_paths_new(own_directory(), &c), 0);
	return c;
}

TEST(test_by_process)
{
	uint64_t root = make(""), id = make("/a.slice/b.service");
	_cleanup_(cgroup_paths_freep) struct cgroup_paths *c = open_tree();
	struct told t = { 0 };

	says(77, "12:cpu:/other\n1:name=systemd:/x\n0::/a.slice/b.service\n");
	assert_int_equal(cgroup_paths_find(c, id, 77, take, &t), 0);
	assert_int_equal(t.n, 1);
	assert_int_equal(t.id, id);
	assert_string_equal(t.path, "/a.slice/b.service");
	assert_int_equal(cgroup_paths_find(c, root, 1, take, &t), 0);
	assert_string_equal(t.path, "/");
	/* There is nothing left to look for. */
	assert_int_equal(cgroup_paths_walk(c, LONG_NS, take, &t), 0);
	assert_int_equal(t.n, 2);
}

/* Of who says nothing, or something else, or what leads out of the tree, the walk knows it. */
TEST(test_not_believed)
{
	static const char *const answers[] = {
		NULL,        "",           "0::/other\n",      "0::/here (deleted)\n",
		"0::here\n", "1:cpu:/x\n", "0::/../here/..\n", "0::/link\n",
	};
	uint64_t id = make("/here");
	char link[2048];

	make("/other");
	snprintf(link, sizeof(link), "%s" TREE "/link", own_directory());
	assert_int_equal(symlink("here", link), 0);
	for (uint32_t i = 0; i < ARRAY_SIZE(answers); i++) {
		_cleanup_(cgroup_paths_freep) struct cgroup_paths *c = open_tree();
		struct told t = { 0 };

		if (answers[i])
			says(100 + i, answers[i]);
		assert_int_equal(cgroup_paths_find(c, id, 100 + i, take, &t), 0);
		assert_int_equal(t.n, 0);
		assert_int_equal(cgroup_paths_walk(c, LONG_NS, take, &t), 0);
		assert_int_equal(t.n, 1);
		assert_string_equal(t.path, "/here");
	}
}

/* Asks for what is nowhere, and for ID, and walks in pieces of a nanosecond of CPU time. Returns
 * how many they were. */
static unsigned walk_in_steps(struct cgroup_paths *c, uint64_t id, struct told *t)
{
	unsigned n = 1;

	assert_int_equal(cgroup_paths_find(c, UINT64_C(1) << 60, 9, take, t), 0);
	assert_int_equal(cgroup_paths_find(c, id, 9, take, t), 0);
	while (cgroup_paths_walk(c, 1, take, t) == 1)
		n++;
	return n;
}

/* Each piece of the walk goes on where the one before has ended; what is nowhere is not looked for
 * for ever. */
TEST(test_walk_in_steps)
{
	struct told t = { 0 };
	struct cgroup_paths *c;
	uint64_t id = 0;
	unsigned n;

	for (int i = 0; i < 200; i++) {
		char path[64];

		snprintf(path, sizeof(path), "/%d.slice/x", i);
		id = make(path);
	}
	c = open_tree();
	n = walk_in_steps(c, id, &t);
	assert_int_equal(t.n, 1);
	assert_string_equal(t.path, "/199.slice/x");
	/* (ENTRIES_PER_LOOK entries are one piece) */
	assert_in_range(n, 1000 / 64, 100);
	/* Also in the middle of a round. */
	assert_int_equal(cgroup_paths_find(c, UINT64_C(1) << 60, 9, take, &t), 0);
	assert_int_equal(cgroup_paths_walk(c, 1, take, &t), 1);
	walk_in_steps(c, id, &t);
	assert_int_equal(t.n, 2);
	cgroup_paths_free(c);
}

/* A piece of the walk takes no longer than it may, however many cgroups there are. */
TEST(test_budget)
{
	struct told t = { 0 };
	struct cgroup_paths *c;
	uint64_t begin_ns;

	for (int i = 0; i < 400; i++) {
		char path[64];

		snprintf(path, sizeof(path), "/%d", i);
		make(path);
	}
	c = open_tree();
	assert_int_equal(cgroup_paths_find(c, UINT64_C(1) << 60, 9, take, &t), 0);
	begin_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	assert_int_equal(cgroup_paths_walk(c, 200000, take, &t), 1);
	/* (valgrind takes its time for the last 64 entries) */
	assert_in_range(clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns, 200000, 200000000);
	cgroup_paths_free(c);
}

/*
 * At the beginning all is reported, by a walk that is bounded, too; what was looked for is looked
 * for further.
 */
TEST(test_list)
{
	struct told t = { 0 };
	struct cgroup_paths *c;
	uint64_t id = 0;

	for (int i = 0; i < 300; i++) {
		char path[64];

		snprintf(path, sizeof(path), "/%d", i);
		id = make(path);
	}
	c = open_tree();
	assert_int_equal(cgroup_paths_list(c, LONG_NS, take, &t), 0);
	assert_int_equal(t.n, 300);
	assert_int_equal(cgroup_paths_find(c, id, 9, take, &t), 0);
	assert_int_equal(cgroup_paths_list(c, 1, take, &t), 1);
	assert_in_range(t.n, 301, 300 + 64);
	t.n = 0;
	assert_in_range(cgroup_paths_walk(c, LONG_NS, take, &t), 0, 0);
	assert_in_range(t.n, 0, 1);
	cgroup_paths_free(c);
}

/* Below what is too deep nothing is found, and what is gone meanwhile is no error. */
TEST(test_odd_trees)
{
	char path[512] = "", full[2048];
	struct told t = { 0 };
	struct cgroup_paths *c;
	uint64_t id = 0;

	for (int i = 0; i < 40; i++) {
		strcat(path, "/d");
		id = make(path);
	}
	c = open_tree();
	assert_int_equal(cgroup_paths_find(c, id, 9, take, &t), 0);
	assert_int_equal(cgroup_paths_walk(c, LONG_NS, take, &t), 0);
	assert_int_equal(t.n, 0);
	/* (a process says it) */
	snprintf(full, sizeof(full), "0::%s\n", path);
	says(9, full);
	assert_int_equal(cgroup_paths_find(c, id, 9, take, &t), 0);
	assert_int_equal(t.n, 1);
	cgroup_paths_free(c);
}

TEST(test_no_hierarchy)
{
	struct cgroup_paths *c = NULL;

	assert_int_equal(cgroup_paths_new(own_directory(), &c), -ENODEV);
	assert_null(c);
}

/* Where this machine has its cgroups; NULL = nowhere. */
static const char *mounted(void)
{
	static const char *const places[] = { TREE, TREE "/unified" };
	char name[64];

	for (unsigned i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "%s/cgroup.controllers", places[i]);
		if (access(name, R_OK) == 0)
			return places[i];
	}
	return NULL;
}

/* A cgroup of this machine in which nobody is. */
TEST(test_this_machine)
{
	char name[64], path[128];
	struct told t = { 0 };
	struct cgroup_paths *c;
	struct stat st;

	if (!mounted()) {
		assert_int_equal(cgroup_paths_new("", &c), -ENODEV);
		return;
	}
	snprintf(name, sizeof(name), "/kymo-test-%d", (int)getpid());
	snprintf(path, sizeof(path), "%s%s", mounted(), name);
	if (mkdir(path, 0755) < 0)
		return; /* not for us */
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(cgroup_paths_new("", &c), 0);
	assert_int_equal(cgroup_paths_find(c, st.st_ino, (uint32_t)getpid(), take, &t), 0);
	assert_int_equal(t.n, 0);
	assert_in_range(cgroup_paths_walk(c, LONG_NS, take, &t), 0, 1);
	rmdir(path);
	cgroup_paths_free(c);
	assert_string_equal(t.path, name);
	assert_int_equal(t.id, st.st_ino);
}

#define IN_DIRECTORY(f)                                                                            \
	cmocka_unit_test_setup_teardown(f, own_directory_set_up, own_directory_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIRECTORY(test_by_process),    IN_DIRECTORY(test_not_believed),
		IN_DIRECTORY(test_walk_in_steps), IN_DIRECTORY(test_budget),
		IN_DIRECTORY(test_list),          IN_DIRECTORY(test_odd_trees),
		IN_DIRECTORY(test_no_hierarchy),  cmocka_unit_test(test_this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
