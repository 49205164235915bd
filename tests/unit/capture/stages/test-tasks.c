/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "capture/stages/tasks.h"
#include "tests/support/unit.h"

#define KOID(n, tid) ((uint32_t)(n) << 22 | (tid))

FIXTURE(set_up)
{
	struct tasks *t = calloc(1, sizeof(*t));

	*state = t;
	return tasks_init(t);
}

FIXTURE(tear_down)
{
	tasks_deinit(*state);
	free(*state);
	return 0;
}

static struct rec_identity identity(uint32_t tid, uint64_t start_ns, const char *comm)
{
	struct rec_identity id = {
		.start_ns = start_ns,
		.pid = tid,
		.tid = tid,
		.parent_pid = 1,
		.uid = 1000,
		.cgroup_id = 5,
	};

	strncpy(id.comm, comm, sizeof(id.comm) - 1);
	return id;
}

static void update(struct tasks *t, uint32_t tid, uint64_t start_ns, const char *comm, bool is_new)
{
	const struct rec_identity id = identity(tid, start_ns, comm);

	assert_int_equal(tasks_update(t, &id, is_new), 0);
}

/* ---- announcements ---- */

TEST(test_announced)
{
	struct tasks *t = *state;
	static const uint32_t tids[] = { 1, 63, 64, 65, TASKS_TID_MAX - 1 };

	for (size_t i = 0; i < ARRAY_SIZE(tids); i++) {
		assert_false(tasks_announced(t, tids[i]));
		tasks_set_announced(t, tids[i]);
		assert_true(tasks_announced(t, tids[i]));
	}
	assert_false(tasks_announced(t, 2));
	assert_false(tasks_announced(t, 62));
	assert_false(tasks_announced(t, 66));
}

/* The idle thread and the pseudo-threads need no announcement. */
TEST(test_announced_no_task)
{
	struct tasks *t = *state;
	static const uint32_t koids[] = { 0, TASKS_TID_MAX, FXT_KOID_KYMO_CPU, FXT_KOID_OTHER,
					  UINT32_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(koids); i++) {
		assert_true(tasks_announced(t, koids[i]));
		tasks_set_announced(t, koids[i]);
		assert_int_equal(tasks_koid(t, koids[i]), koids[i]);
	}
}

/* Only changes must be announced again. */
TEST(test_update_news)
{
	struct tasks *t = *state;
	static const struct {
		uint32_t pid, uid, parent_pid;
		uint64_t cgroup_id;
		const char *comm;
		bool news;
	} rows[] = {
		{ 10, 1000, 1, 5, "a", false }, /* unchanged */
		{ 10, 1000, 1, 5, "b", true },  { 10, 1001, 1, 5, "b", true },
		{ 10, 1001, 1, 6, "b", true },  { 11, 1001, 1, 6, "b", true },
		{ 11, 1001, 1, 6, "b", false }, { 11, 1001, 7, 6, "b", false }, /* an orphan */
	};

	update(t, 10, 100, "a", false);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct rec_identity id = identity(10, 100, rows[i].comm);

		id.pid = rows[i].pid;
		id.uid = rows[i].uid;
		id.parent_pid = rows[i].parent_pid;
		id.cgroup_id = rows[i].cgroup_id;
		tasks_set_announced(t, 10);
		assert_int_equal(tasks_update(t, &id, false), 0);
		assert_int_equal(tasks_announced(t, 10), !rows[i].news);
	}
	assert_int_equal(tasks_get(t, 10)->parent_pid, 1);
	assert_int_equal(tasks_koid(t, 10), 10);
}

TEST(test_update_no_task)
{
	struct tasks *t = *state;

	update(t, 0, 100, "idle", true);
	update(t, TASKS_TID_MAX, 100, "beyond", true);
	update(t, UINT32_MAX, 100, "beyond", true);
	assert_null(tasks_get(t, 0));
	assert_null(tasks_get(t, TASKS_TID_MAX));
	assert_null(tasks_get(t, UINT32_MAX));
}

/* ---- owners of a tid ---- */

TEST(test_update_fork)
{
	struct tasks *t = *state;

	update(t, 10, 100, "a", true);
	assert_int_equal(tasks_koid(t, 10), 10); /* the first one */
	tasks_set_announced(t, 10);
	tasks_forget(t, 10);
	assert_int_equal(tasks_koid(t, 10), 10); /* until it is reused */
	assert_true(tasks_announced(t, 10));

	update(t, 10, 200, "b", true);
	assert_int_equal(tasks_koid(t, 10), KOID(2, 10));
	assert_false(tasks_announced(t, 10));
	assert_int_equal(tasks_koid(t, 11), 11);
	tasks_set_announced(t, 10);

	/* Also if its end was missed. */
	update(t, 10, 300, "c", true);
	assert_int_equal(tasks_koid(t, 10), KOID(3, 10));
	assert_string_equal(tasks_get(t, 10)->comm, "c");
	assert_int_equal(tasks_get(t, 10)->start_ns, 300);
	assert_int_equal(t->n_merged, 0);
}

/* Late data of an owner belongs to it, and not to the next one. */
TEST(test_koid_at)
{
	struct tasks *t = *state;

	for (unsigned owner = 1; owner <= 3; owner++) {
		update(t, 10, 100 * owner, "a", true);
		tasks_set_announced(t, 10);
		update(t, 11, 100 * owner + 50, "b", true);
		tasks_set_announced(t, 11);
	}
	assert_int_equal(tasks_koid_at(t, 10, 100), 10);
	assert_int_equal(tasks_koid_at(t, 10, 199), 10);
	assert_int_equal(tasks_koid_at(t, 10, 200), KOID(2, 10));
	assert_int_equal(tasks_koid_at(t, 10, 299), KOID(2, 10));
	assert_int_equal(tasks_koid_at(t, 10, 300), KOID(3, 10));
	assert_int_equal(tasks_koid_at(t, 10, UINT64_MAX), KOID(3, 10));
	assert_int_equal(tasks_koid_at(t, 11, 249), 11);
	assert_int_equal(tasks_koid_at(t, 12, 100), 12);

	/* The oldest changes are dropped: the oldest known owner is then used. */
	for (unsigned i = 0; i < TASKS_CHANGES_MAX + 1000; i++) {
		update(t, 20 + i % 1000, 1000 + i, "c", true);
		tasks_set_announced(t, 20 + i % 1000);
	}
	assert_int_equal(tasks_koid_at(t, 10, 100), KOID(3, 10));
}

/* An owner that is not in the archive leaves its koid to the next one. */
TEST(test_update_fork_unnamed)
{
	struct tasks *t = *state;

	update(t, 10, 100, "a", true);
	tasks_forget(t, 10);
	update(t, 10, 200, "b", true);
	assert_int_equal(tasks_koid(t, 10), 10);
	tasks_set_announced(t, 10);
	update(t, 10, 300, "c", true);
	assert_int_equal(tasks_koid(t, 10), KOID(2, 10));
}

/* The task can be listed before its fork is read: the start time shows that. */
TEST(test_update_listed_before_fork)
{
	struct tasks *t = *state;

	update(t, 10, 100, "a", false);
	tasks_set_announced(t, 10);
	update(t, 10, 100, "a", true);
	assert_int_equal(tasks_koid(t, 10), 10);
	assert_true(tasks_announced(t, 10));
}

/* A lost fork: another start time shows that it is another task. */
TEST(test_update_other_start)
{
	struct tasks *t = *state;

	update(t, 10, 100, "a", false);
	tasks_set_announced(t, 10);
	update(t, 10, 200, "a", false);
	assert_int_equal(tasks_koid(t, 10), KOID(2, 10));
	assert_false(tasks_announced(t, 10));
	assert_int_equal(tasks_get(t, 10)->start_ns, 200);
}

/* Data from /proc has no start time, and does not identify the owner. */
/* With a filter by name, the fork of a task is not recorded if the task is selected later. */
TEST(test_update_selected_later)
{
	struct tasks *t = *state;
	struct rec_identity leader = identity(30, 3000, "main");

	/* An ended owner that the archive has, and the next one. */
	update(t, 10, 1000, "first", false);
	tasks_set_announced(t, 10);
	tasks_forget(t, 10);
	update(t, 10, 2000, "second", false);
	assert_int_equal(tasks_koid(t, 10), KOID(FXT_KOID_REUSE_FIRST, 10));
	assert_false(tasks_announced(t, 10));
	assert_string_equal(tasks_get(t, 10)->comm, "second");
	/* An owner that the archive does not have. */
	update(t, 20, 1000, "first", false);
	tasks_forget(t, 20);
	update(t, 20, 2000, "second", false);
	assert_int_equal(tasks_koid(t, 20), 20);
	/* A thread that executes a program continues the main thread, which has ended. */
	assert_int_equal(tasks_update(t, &leader, false), 0);
	tasks_set_announced(t, 30);
	tasks_forget(t, 30);
	assert_int_equal(tasks_update(t, &leader, false), 0);
	assert_int_equal(tasks_koid(t, 30), 30);
	/* The answer to an open query is about the owner that was met. */
	tasks_set_announced(t, 40);
	assert_int_equal(tasks_set_asked(t, 40, 41), 0);
	update(t, 40, 4000, "asked", false);
	assert_int_equal(tasks_koid(t, 40), 40);
	/* A start time that is unknown cannot differ. */
	update(t, 50, 0, "first", false);
	tasks_set_announced(t, 50);
	tasks_forget(t, 50);
	update(t, 50, 5000, "second", false);
	assert_int_equal(tasks_koid(t, 50), 50);
}

/* The start times of very many ended tasks are not kept. */
TEST(test_many_ended)
{
	struct tasks *t = *state;

	for (uint32_t tid = 1; tid <= TASKS_STARTS_MAX + 100; tid++) {
		update(t, tid, 1000, "task", false);
		tasks_set_announced(t, tid);
		tasks_forget(t, tid);
		assert_true(t->last_starts.n_used <= TASKS_STARTS_MAX);
	}
	/* (of the first one, nothing is known any more) */
	update(t, 1, 2000, "next", false);
	assert_int_equal(tasks_koid(t, 1), 1);
	update(t, TASKS_STARTS_MAX + 100, 2000, "next", false);
	assert_int_equal(tasks_koid(t, TASKS_STARTS_MAX + 100),
			 KOID(FXT_KOID_REUSE_FIRST, TASKS_STARTS_MAX + 100));
}

TEST(test_update_unknown_start)
{
	struct tasks *t = *state;

	update(t, 10, 0, "a", false);
	tasks_set_announced(t, 10);
	update(t, 10, 100, "a", false);
	assert_int_equal(tasks_koid(t, 10), 10);
	assert_int_equal(tasks_get(t, 10)->start_ns, 100);
	update(t, 10, 0, "a", false);
	assert_int_equal(tasks_koid(t, 10), 10);
	assert_int_equal(tasks_get(t, 10)->start_ns, 100);
	assert_true(tasks_announced(t, 10));
}

TEST(test_update_too_many_owners)
{
	struct tasks *t = *state;

	for (uint64_t n = 1; n <= 1025; n++) {
		/* There is no owner 1: the first one has the plain tid. */
		uint64_t owner = n == 1 ? 0 : n < 1023 ? n : 1023;

		update(t, 10, n, "a", true);
		assert_int_equal(tasks_koid(t, 10), KOID(owner, 10));
		tasks_set_announced(t, 10);
		tasks_forget(t, 10);
	}
	assert_int_equal(t->n_merged, 2);
	assert_int_equal(tasks_koid(t, TASKS_TID_MAX - 1), TASKS_TID_MAX - 1);
	tasks_set_announced(t, TASKS_TID_MAX - 1);
	update(t, TASKS_TID_MAX - 1, 5, "a", true);
	assert_int_equal(tasks_koid(t, TASKS_TID_MAX - 1), KOID(2, TASKS_TID_MAX - 1));
}

/* ---- names and commands ---- */

TEST(test_set_comm)
{
	struct tasks *t = *state;
	static const struct {
		char comm[REC_COMM_BYTES];
		int r;
		const char *is;
	} rows[] = {
		{ "a", 0, "a" },
		{ "b", 1, "b" },
		{ "", 1, "" },
		{ "\xff\n", 1, "\xef\xbf\xbd\xef\xbf\xbd" },
		{ "exactly-fifteen", 1, "exactly-fifteen" },
		{ { "sixteen-no-NUL-x" }, 1, "sixteen-no-NUL-x" },
	};

	assert_int_equal(tasks_set_comm(t, 10, rows[0].comm), 0); /* unknown thread */
	update(t, 10, 100, "a", false);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		tasks_set_announced(t, 10);
		assert_int_equal(tasks_set_comm(t, 10, rows[i].comm), rows[i].r);
		assert_string_equal(tasks_get(t, 10)->comm, rows[i].is);
		assert_int_equal(tasks_announced(t, 10), !rows[i].r);
	}
}

/* The longest: fifteen bytes, each invalid. */
TEST(test_set_comm_longest)
{
	struct tasks *t = *state;
	char comm[REC_COMM_BYTES];

	update(t, 10, 100, "a", false);
	memset(comm, 0xff, sizeof(comm));
	comm[15] = '\0';
	assert_int_equal(tasks_set_comm(t, 10, comm), 1);
	assert_int_equal(strlen(tasks_get(t, 10)->comm), 45);
}

TEST(test_set_command)
{
	struct tasks *t = *state;
	char longest[TASK_COMMAND_MAX + 100];
	const char *text;

	assert_int_equal(tasks_set_command(t, 10, 0, "x", 1, false), 0); /* unknown thread */
	update(t, 10, 100, "a", false);
	tasks_set_announced(t, 10);
	assert_int_equal(tasks_set_command(t, 10, 99, "x", 1, false), 0); /* another owner's */
	assert_null(tasks_get(t, 10)->command_line);
	assert_int_equal(tasks_set_command(t, 10, 100, "ls\0-l\0", 6, false), 1);
	assert_string_equal(tasks_get(t, 10)->command_line, "ls -l");
	assert_false(tasks_announced(t, 10));
	tasks_set_announced(t, 10);
	assert_int_equal(tasks_set_command(t, 10, 0, "ls\0-l", 5, false), 0);
	assert_true(tasks_announced(t, 10));
	assert_int_equal(tasks_set_command(t, 10, 0, "", 0, false), 1);
	assert_string_equal(tasks_get(t, 10)->command_line, "");
	memset(longest, 'x', sizeof(longest));
	assert_int_equal(tasks_set_command(t, 10, 0, longest, sizeof(longest), false), 1);
	text = tasks_get(t, 10)->command_line;
	assert_int_equal(strlen(text), TASK_COMMAND_MAX - 1);
	assert_string_equal(text + TASK_COMMAND_MAX - 5, "x" TEXT_CUT_MARK);
	/* the first bytes of a longer one */
	assert_int_equal(tasks_set_command(t, 10, 0, "ls\0-", 4, true), 1);
	assert_string_equal(tasks_get(t, 10)->command_line, "ls -" TEXT_CUT_MARK);
}

/* ---- describing ---- */

TEST(test_describe)
{
	struct tasks *t = *state;
	struct rec_identity id = identity(11, 300, "thread");
	struct event ev;

	update(t, 10, 100, "first", true);
	tasks_describe(t, tasks_get(t, 10), &ev);
	assert_int_equal(ev.kind, EVENT_TASK);
	assert_int_equal(ev.pid, 10);
	assert_int_equal(ev.tid, 10);
	assert_string_equal(ev.task.comm, "first");
	assert_string_equal(ev.task.command_line, "");
	assert_int_equal(ev.task.start_ns, 100);
	assert_int_equal(ev.task.cgroup_id, 5);
	assert_int_equal(ev.task.parent_pid, 1);
	assert_int_equal(ev.task.uid, 1000);
	assert_int_equal(ev.task.real_tid, 0);
	assert_true(ev.task.is_process);

	/* The second owner, its thread, and its child. */
	tasks_set_announced(t, 10);
	update(t, 10, 200, "second", true);
	id.pid = id.parent_pid = 10;
	assert_int_equal(tasks_update(t, &id, true), 0);
	assert_int_equal(tasks_set_command(t, 11, 0, "cmd", 3, false), 1);
	tasks_describe(t, tasks_get(t, 10), &ev);
	assert_int_equal(ev.pid, KOID(2, 10));
	assert_int_equal(ev.tid, KOID(2, 10));
	assert_int_equal(ev.task.real_tid, 10);
	tasks_describe(t, tasks_get(t, 11), &ev);
	assert_int_equal(ev.pid, KOID(2, 10));
	assert_int_equal(ev.tid, 11);
	assert_int_equal(ev.task.parent_pid, KOID(2, 10));
	assert_int_equal(ev.task.real_tid, 0);
	assert_string_equal(ev.task.command_line, "cmd");
	assert_false(ev.task.is_process);
}

/* Reported once for each owner of the id. */
TEST(test_set_ended)
{
	struct tasks *t = *state;

	assert_true(tasks_set_ended(t, 10));
	assert_false(tasks_set_ended(t, 10));
	assert_true(tasks_set_ended(t, 11));
	update(t, 10, 100, "a", true);
	assert_true(tasks_set_ended(t, 10));
	assert_false(tasks_set_ended(t, 10));
	assert_false(tasks_set_ended(t, TASKS_TID_MAX));
	assert_false(tasks_set_ended(t, UINT32_MAX));
}

/* The archive's cgroup of process TID. */
static const char *cgroup_of(struct tasks *t, uint32_t tid)
{
	struct event ev;

	tasks_describe(t, tasks_get(t, tid), &ev);
	return ev.task.cgroup_path ?: "";
}

static void move_to(struct tasks *t, uint32_t tid, uint32_t pid, uint64_t cgroup)
{
	const struct rec_identity id = {
		.tid = tid, .pid = pid, .start_ns = 100, .cgroup_id = cgroup, .comm = "a"
	};

	assert_int_equal(tasks_update(t, &id, false), 0);
}

static void set_cgroup(struct tasks *t, uint64_t id, const char *path)
{
	struct rec_cgroup rec = { .id = id, .bytes = (uint32_t)strlen(path) + 1 };

	strcpy(rec.path, path);
	assert_int_equal(tasks_set_cgroup(t, &rec), 0);
}

TEST(test_cgroups)
{
	struct tasks *t = *state;

	move_to(t, 10, 10, 5);
	move_to(t, 11, 10, 5);
	move_to(t, 12, 12, 6);
	for (uint32_t tid = 10; tid <= 12; tid++)
		tasks_set_announced(t, tid);
	assert_string_equal(cgroup_of(t, 10), "");

	/*
	 * A path is news for the processes in its cgroup, but not for their threads or other
	 * processes.
	 */
	set_cgroup(t, 5, "/a/b");
	assert_false(tasks_announced(t, 10));
	assert_true(tasks_announced(t, 11));
	assert_true(tasks_announced(t, 12));
	assert_string_equal(cgroup_of(t, 10), "/a/b");
	assert_string_equal(cgroup_of(t, 12), "");
	tasks_set_announced(t, 10);
	set_cgroup(t, 5, "/a/b");
	assert_true(tasks_announced(t, 10));

	/* A process that moves is in its new cgroup. */
	move_to(t, 10, 10, 6);
	assert_false(tasks_announced(t, 10));
	assert_string_equal(cgroup_of(t, 10), "");
	set_cgroup(t, 0, "/none");
	move_to(t, 10, 10, 0);
	assert_string_equal(cgroup_of(t, 10), "");
}

/* Users choose names, so they are cleaned; a truncated path is marked. */
TEST(test_cgroup_text)
{
	struct tasks *t = *state;
	struct rec_cgroup rec = { .id = 5, .bytes = CGROUP_PATH_BYTES, .is_cut = 1 };
	size_t n;

	move_to(t, 10, 10, 5);
	set_cgroup(t, 5, "/a\x1b/\xff");
	assert_string_equal(cgroup_of(t, 10), "/a\xef\xbf\xbd/\xef\xbf\xbd");
	/* The longest one. */
	memset(rec.path, '\xff', CGROUP_PATH_BYTES - 1);
	rec.path[0] = '/';
	assert_int_equal(tasks_set_cgroup(t, &rec), 0);
	n = strlen(cgroup_of(t, 10));
	assert_int_equal(n, 1 + 3 * (CGROUP_PATH_BYTES - 2) + 4);
	assert_string_equal(cgroup_of(t, 10) + n - 4, "/...");
}

/* N paths of cgroups without processes. */
static void set_others(struct tasks *t, unsigned n)
{
	static uint64_t id = 1000;

	while (n-- > 0)
		set_cgroup(t, id++, "/x");
}

/* The number of paths is bounded. Those of living processes stay. */
TEST(test_many_cgroups)
{
	struct tasks *t = *state;

	move_to(t, 13, 13, 5);
	set_cgroup(t, 5, "/a/b");
	set_cgroup(t, 6, "/c");
	set_others(t, TASKS_CGROUPS_MAX - 2);
	assert_false(t->cgroups_forgotten);

	/* A dropped path is still known to records on the way. */
	set_others(t, 1);
	assert_true(t->cgroups_forgotten);
	assert_int_equal(t->cgroups.n_used, 2);
	move_to(t, 14, 14, 6);
	assert_string_equal(cgroup_of(t, 14), "/c");
	move_to(t, 14, 14, 5);

	/* Then it is not any more. */
	set_others(t, TASKS_CGROUPS_MAX);
	assert_in_range(t->cgroups.n_used, 1, TASKS_CGROUPS_MAX);
	assert_in_range(t->cgroups_aside.n_used, 1, TASKS_CGROUPS_MAX);
	assert_string_equal(cgroup_of(t, 13), "/a/b");
	move_to(t, 14, 14, 6);
	assert_string_equal(cgroup_of(t, 14), "");

	/* The number of paths with tasks is bounded, too. */
	for (uint32_t tid = 1000; tid < 1000 + TASKS_CGROUPS_MAX; tid++) {
		set_cgroup(t, UINT64_C(1000000) + tid, "/y");
		move_to(t, tid, tid, UINT64_C(1000000) + tid);
	}
	set_others(t, 1);
	assert_string_equal(cgroup_of(t, 1000), "/y");
	set_others(t, 2 * TASKS_CGROUPS_MAX);
	assert_in_range(t->cgroups.n_used + t->cgroups_aside.n_used, 1, 2 * TASKS_CGROUPS_MAX);
}

TEST(test_forget)
{
	struct tasks *t = *state;

	tasks_forget(t, 10);
	update(t, 10, 100, "a", false);
	tasks_forget(t, 10);
	assert_null(tasks_get(t, 10));
	tasks_forget(t, 10);
	tasks_forget(t, 0);
	tasks_forget(t, UINT32_MAX);
}

/* ---- recordings that are split ---- */

TEST(test_split)
{
	struct tasks *t = *state;

	assert_int_equal(tasks_will_split(t), 0);
	update(t, 10, 1, "lives", true);
	update(t, 11, 1, "ends", true);
	tasks_set_announced(t, 10);
	tasks_set_announced(t, 11);
	tasks_set_announced(t, 12); /* requested */
	update(t, 13, 1, "unannounced", true);
	assert_true(tasks_set_ended(t, 11));
	tasks_forget(t, 11);
	assert_null(tasks_get(t, 11));
	assert_string_equal(tasks_find(t, 11)->comm, "ends");
	assert_true(tasks_announced(t, 11));
	assert_int_equal(tasks_split(t), 0);
	assert_true(tasks_announced(t, 10));
	assert_false(tasks_announced(t, 11));
	assert_false(tasks_announced(t, 12));
	assert_false(tasks_announced(t, 13));
	/* The next owner of its tid. */
	update(t, 11, 2, "next", true);
	assert_int_equal(tasks_koid(t, 11), KOID(2, 11));
	assert_string_equal(tasks_find(t, 11)->comm, "next");
	tasks_forget(t, 11);
	assert_string_equal(tasks_find(t, 11)->comm, "next");
}

/* Only some ended threads are kept, but a main thread as long as its process lives. */
TEST(test_many_dead)
{
	struct tasks *t = *state;

	assert_int_equal(tasks_will_split(t), 0);
	update(t, 5, 1, "main", true);
	tasks_forget(t, 5);
	for (uint32_t tid = 100; tid <= 100 + TASKS_DEAD_MAX; tid++) {
		update(t, tid, 1, "dead", true);
		tasks_set_ended(t, tid);
		tasks_forget(t, tid);
	}
	assert_null(tasks_find(t, 100));
	assert_non_null(tasks_find(t, 101));
	assert_non_null(tasks_find(t, 5));
	/* Many owners of the same tid use places, and do not displace other threads. */
	for (uint32_t i = 2; i < 10; i++) {
		update(t, 101, i, "again", true);
		tasks_set_ended(t, 101);
		tasks_forget(t, 101);
	}
	assert_string_equal(tasks_find(t, 101)->comm, "again");
	assert_true(tasks_set_ended(t, 5));
	for (uint32_t tid = 100000; tid < 100000 + TASKS_DEAD_MAX; tid++) {
		update(t, tid, 1, "dead", true);
		tasks_set_ended(t, tid);
		tasks_forget(t, tid);
	}
	assert_null(tasks_find(t, 5));
	assert_null(tasks_find(t, 101));
}

/* Koids are reused: their first owners are in deleted chunks. */
TEST(test_owners_of_split)
{
	struct tasks *t = *state;

	assert_int_equal(tasks_will_split(t), 0);
	for (uint32_t n = 1; n <= FXT_KOID_REUSE_LAST; n++) {
		update(t, 7, n, "owner", true);
		tasks_set_announced(t, 7);
	}
	assert_int_equal(tasks_koid(t, 7), KOID(FXT_KOID_REUSE_LAST, 7));
	update(t, 7, 5000, "owner", true);
	tasks_set_announced(t, 7);
	assert_int_equal(tasks_koid(t, 7), 7);
	update(t, 7, 5001, "owner", true);
	assert_int_equal(tasks_koid(t, 7), KOID(FXT_KOID_REUSE_FIRST, 7));
	assert_int_equal(t->n_merged, 0);
}

TEST(test_deinit)
{
	struct tasks t = { 0 };

	tasks_deinit(&t);
	assert_int_equal(tasks_init(&t), 0);
	update(&t, 10, 100, "a", false);
	assert_int_equal(tasks_set_command(&t, 10, 0, "cmd", 3, false), 1);
	tasks_deinit(&t);
	tasks_deinit(&t);
}

/* A name that the program has given stays when the kernel's data changes, until an exec. */
TEST(test_given_name)
{
	struct tasks *t = *state;
	struct event ev;

	update(t, 10, 100, "python3", false);
	assert_int_equal(tasks_give_name(t, 10, "worker and more", 6), 0);
	tasks_set_announced(t, 10);
	update(t, 10, 100, "python4", false);
	assert_false(tasks_announced(t, 10));
	tasks_describe(t, tasks_get(t, 10), &ev);
	assert_string_equal(ev.task.comm, "python4");
	assert_string_equal(ev.task.given_name, "worker");
	assert_int_equal(tasks_give_name(t, 10, "other", 5), 0);
	tasks_describe(t, tasks_get(t, 10), &ev);
	assert_string_equal(ev.task.given_name, "other");
	tasks_drop_name(t, 10);
	tasks_describe(t, tasks_get(t, 10), &ev);
	assert_null(ev.task.given_name);
	/* no task, another owner, and the next owner of the tid */
	assert_int_equal(tasks_give_name(t, 11, "n", 1), 0);
	assert_int_equal(tasks_give_name(t, 2 << FXT_KOID_TID_BITS | 10, "n", 1), 0);
	tasks_describe(t, tasks_get(t, 10), &ev);
	assert_null(ev.task.given_name);
	assert_int_equal(tasks_give_name(t, 10, "other", 5), 0);
	update(t, 10, 200, "next", true);
	tasks_describe(t, tasks_get(t, 10), &ev);
	assert_null(ev.task.given_name);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_announced),
		CASE(test_announced_no_task),
		CASE(test_update_news),
		CASE(test_update_no_task),
		CASE(test_update_fork),
		CASE(test_koid_at),
		CASE(test_update_fork_unnamed),
		CASE(test_update_listed_before_fork),
		CASE(test_update_other_start),
		CASE(test_update_selected_later),
		CASE(test_many_ended),
		CASE(test_update_unknown_start),
		CASE(test_update_too_many_owners),
		CASE(test_set_comm),
		CASE(test_set_comm_longest),
		CASE(test_set_command),
		CASE(test_describe),
		CASE(test_given_name),
		CASE(test_set_ended),
		CASE(test_cgroups),
		CASE(test_cgroup_text),
		CASE(test_many_cgroups),
		CASE(test_forget),
		CASE(test_split),
		CASE(test_many_dead),
		CASE(test_owners_of_split),
		CASE(test_deinit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
