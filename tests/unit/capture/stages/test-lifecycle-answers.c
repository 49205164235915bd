/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unknown tasks: requests, answers, and tasks without an answer.
 */
#include <string.h>

#include "tests/support/fixtures/lifecycle-script.h"
#include "tests/support/unit.h"

#define SECOND_10 "8388618"
#define SECOND_20 "8388628"

TEST(test_announce)
{
	struct fixture *f = *state;
	const struct rec_identity main_thread = identity(10, 10, "main"),
				  thread = identity(10, 11, "t"),
				  kthread = identity(2, 30, "kworker");

	assert_int_equal(lifecycle_learned(&f->l, &thread, false), 0);
	assert_int_equal(lifecycle_learned(&f->l, &main_thread, false), 0);
	assert_int_equal(lifecycle_learned(&f->l, &kthread, false), 0);
	assert_story(f, "");
	assert_int_equal(lifecycle_announce(&f->l, 11), 0);
	assert_story(f, PROCESS("10", "main", PLAIN) "thread 10/10 'main' real 0\n"
						     "thread 10/11 't' real 0\n");
	assert_true(tasks_announced(&f->tasks, 10));
	assert_true(tasks_announced(&f->tasks, 11));
	assert_asked(f, "");
	assert_int_equal(lifecycle_announce(&f->l, 30), 0);
	assert_asked(f, "2 ");
	assert_story(f, "thread 2/30 'kworker' real 0\n");
	assert_int_equal(lifecycle_announce(&f->l, 40), 0);
	assert_asked(f, "40 ");
	assert_story(f, "");
}

/* A failed request is repeated at the next time. */
TEST(test_announce_nobody_to_ask)
{
	struct fixture *f = *state;

	f->nobody_to_ask = true;
	assert_int_equal(lifecycle_announce(&f->l, 10), 0);
	assert_false(tasks_announced(&f->tasks, 10));
	f->nobody_to_ask = false;
	assert_int_equal(lifecycle_announce(&f->l, 10), 0);
	assert_true(tasks_announced(&f->tasks, 10));
	assert_asked(f, "10 ");
	assert_story(f, "");
	f->nobody_to_ask = true;
	assert_int_equal(lifecycle_announce(&f->l, 11), 0);
	assert_int_equal(tasks_belongs(&f->tasks, 11, 10), 0);
	assert_asked(f, "");
	assert_int_equal(lifecycle_close(&f->l), 0);
	assert_string_equal(tasks_get(&f->tasks, 11)->comm, "?");
	assert_int_equal(tasks_get(&f->tasks, 11)->pid, 10);
	assert_true(tasks_announced(&f->tasks, 11));
}

/* The archive's path of the cgroup of process PID. */
static const char *path_of(struct fixture *f, uint32_t pid)
{
	struct event ev;

	tasks_describe(&f->tasks, tasks_get(&f->tasks, pid), &ev);
	return ev.task.cgroup_path ?: "";
}

/*
 * The path of a cgroup comes before its first task. If it comes later, the task is written again.
 */
TEST(test_cgroup)
{
	struct fixture *f = *state;
	struct rec_cgroup rec = { .head = HEAD(REC_CGROUP, 200, 10, 10), .id = 5, .path = "/x" };
	const struct rec_identity moved = {
		.pid = 11, .tid = 11, .start_ns = 1011, .cgroup_id = 6, .comm = "b"
	};

	list(f, 1, 1, "init");
	list(f, 10, 10, "a");
	rec.bytes = 3;
	feed(f, &rec.head, REC_CGROUP_BYTES(rec.bytes));
	assert_string_equal(path_of(f, 10), "/x");
	assert_false(tasks_announced(&f->tasks, 10));
	on_fork(f, 210, 10, 10, identity(11, 11, "b"));
	assert_string_equal(path_of(f, 11), "/x");
	assert_true(tasks_announced(&f->tasks, 11));
	/* The cgroup in the last record counts. */
	on_rename(f, 220, moved, "c");
	assert_string_equal(path_of(f, 11), "");
	rec.id = 6;
	rec.path[1] = 'y';
	feed(f, &rec.head, REC_CGROUP_BYTES(rec.bytes));
	assert_string_equal(path_of(f, 11), "/y");
	assert_string_equal(path_of(f, 10), "/x");
}

/* An answer names the requested thread, unless a record has named it meanwhile. */
TEST(test_answered)
{
	struct fixture *f = *state;
	struct rec_identity id = identity(10, 10, "a");

	assert_int_equal(lifecycle_announce(&f->l, 10), 0);
	assert_int_equal(lifecycle_answered(&f->l, &id, true), 0);
	assert_story(f, PROCESS("10", "a", PLAIN) "thread 10/10 'a' real 0\n");
	memcpy(id.comm, "b", sizeof("b"));
	assert_int_equal(lifecycle_answered(&f->l, &id, true), 0);
	assert_string_equal(tasks_get(&f->tasks, 10)->comm, "a");
	assert_int_equal(lifecycle_close(&f->l), 0);
	assert_story(f, "");
}

/*
 * An answer that comes while nothing can be written is written at the end, or when it is repeated.
 */
TEST(test_answered_unwritten)
{
	struct fixture *f = *state;
	struct rec_identity id = identity(10, 10, "a");
	const struct rec_identity nobody = { .pid = 11, .tid = 11, .comm = "?" };

	assert_int_equal(lifecycle_announce(&f->l, 10), 0);
	assert_int_equal(lifecycle_announce(&f->l, 11), 0);
	assert_int_equal(lifecycle_answered(&f->l, &id, false), 0);
	assert_int_equal(lifecycle_answered(&f->l, &nobody, false), 0);
	assert_story(f, "");
	assert_int_equal(lifecycle_answered(&f->l, &id, true), 0);
	assert_story(f, PROCESS("10", "a", PLAIN) "thread 10/10 'a' real 0\n");
	assert_int_equal(lifecycle_close(&f->l), 0);
	assert_true(tasks_announced(&f->tasks, 11));
	assert_int_equal(f->tasks.asked.n_used, 1);
}

/*
 * A requested thread that was reported meanwhile and has ended keeps its name, with any answer, or
 * without one.
 */
TEST(test_answered_late)
{
	struct fixture *f = *state;
	const struct rec_identity nobody = { .pid = 10, .tid = 10, .comm = "?" };

	assert_int_equal(lifecycle_announce(&f->l, 10), 0);
	assert_asked(f, "10 ");
	on_exit_(f, 120, identity(10, 10, "a"), 0, true);
	assert_story(f, PROCESS("10", "a", PLAIN) "thread 10/10 'a' real 0\n"
						  "120 exit 10/10 code 0 signal 0 ends\n");
	assert_int_equal(lifecycle_answered(&f->l, &nobody, true), 0);
	assert_int_equal(lifecycle_close(&f->l), 0);
	assert_story(f, "");
}

/*
 * A requested thread whose tid has another owner before the answer comes or can be written gets an
 * object: its koid is in the archive, and the new owner has another one.
 */
TEST(test_asked_then_other_owner)
{
	struct fixture *f = *state;
	const struct rec_identity first = identity(10, 10, "first");
	struct rec_identity second = identity(10, 10, "second");

	second.start_ns = 5000;
	list(f, 1, 1, "init");
	assert_int_equal(lifecycle_announce(&f->l, 20), 0);
	assert_int_equal(tasks_belongs(&f->tasks, 20, 19), 0);
	on_fork(f, 200, 1, 1, identity(20, 20, "new"));
	assert_story(f, "process 19 '?' parent 0 uid 4294967295 cgroup 0 '' real 0\n"
			"thread 19/19 '?' real 0\n"
			"thread 19/20 '?' real 0\n" PROCESS(SECOND_20, "new", "'' real 20") //
		     "thread " SECOND_20 "/" SECOND_20 " 'new' real 20\n"
		     "200 fork 1/1 > " SECOND_20 "/" SECOND_20 "\n");
	assert_int_equal(lifecycle_announce(&f->l, 10), 0);
	assert_int_equal(lifecycle_answered(&f->l, &first, false), 0);
	assert_story(f, "");
	on_exit_(f, 300, second, 0, true);
	assert_story(f, PROCESS("10", "first", PLAIN) "thread 10/10 'first' real 0\n" //
		     PROCESS(SECOND_10, "second", "'' real 10")                       //
		     "thread " SECOND_10 "/" SECOND_10 " 'second' real 10\n"
		     "300 exit " SECOND_10 "/" SECOND_10 " code 0 signal 0 ends\n");
	assert_int_equal(lifecycle_close(&f->l), 0);
	assert_story(f, "");
}

/* A task without an answer still gets an object. */
TEST(test_close_unanswered)
{
	struct fixture *f = *state;

	assert_int_equal(lifecycle_announce(&f->l, 10), 0);
	assert_story(f, "");
	assert_int_equal(lifecycle_close(&f->l), 0);
	assert_string_equal(tasks_get(&f->tasks, 10)->comm, "?");
	assert_true(tasks_get(&f->tasks, 10)->uid == EVENT_UID_UNKNOWN);
	assert_true(tasks_announced(&f->tasks, 10));
}

/* A migration has named its process. */
TEST(test_close_unanswered_belongs)
{
	struct fixture *f = *state;

	assert_int_equal(tasks_belongs(&f->tasks, 10, 9), 0);
	assert_int_equal(lifecycle_announce(&f->l, 10), 0);
	assert_int_equal(tasks_belongs(&f->tasks, 10, 9), 0);
	assert_int_equal(tasks_belongs(&f->tasks, 11, 9), 0);
	assert_int_equal(lifecycle_close(&f->l), 0);
	assert_int_equal(tasks_get(&f->tasks, 10)->pid, 9);
	assert_null(tasks_get(&f->tasks, 11));
}

TEST(test_learned)
{
	struct fixture *f = *state;
	struct rec_identity id = identity(10, 10, "a");

	assert_int_equal(lifecycle_learned(&f->l, &id, true), 0);
	assert_story(f, PROCESS("10", "a", PLAIN) "thread 10/10 'a' real 0\n");
	assert_int_equal(lifecycle_learned(&f->l, &id, true), 0);
	assert_story(f, "");
	id.uid = 7;
	assert_int_equal(lifecycle_learned(&f->l, &id, false), 0);
	assert_story(f, "");
	assert_int_equal(lifecycle_learned(&f->l, &id, true), 0);
	assert_story(f, "process 10 'a' parent 1 uid 7 cgroup 5 '' real 0\n"
			"thread 10/10 'a' real 0\n");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, lifecycle_set_up, lifecycle_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_announce),
		CASE(test_announce_nobody_to_ask),
		CASE(test_cgroup),
		CASE(test_answered),
		CASE(test_answered_unwritten),
		CASE(test_answered_late),
		CASE(test_asked_then_other_owner),
		CASE(test_close_unanswered),
		CASE(test_close_unanswered_belongs),
		CASE(test_learned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
