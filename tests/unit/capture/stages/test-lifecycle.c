/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scripted records in, the story of the archive out (tests/support/fixtures/lifecycle-script.h).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/support/fixtures/archive-text.h"
#include "tests/support/fixtures/lifecycle-script.h"
#include "tests/support/unit.h"

#define SECOND_10 "8388618"
#define SECOND_20 "8388628"

/* ---- fork ---- */

TEST(test_fork_process)
{
	struct fixture *f = *state;

	list(f, 10, 11, "parent");
	on_fork(f, 200, 10, 11, identity(20, 20, "child"));
	assert_story(f, PROCESS("20", "child", PLAIN) "thread 20/20 'child' real 0\n"
						      "200 fork 10/11 > 20/20\n");
	assert_int_equal(f->l.n_events, 1);
	assert_asked(f, "");
}

TEST(test_fork_thread)
{
	struct fixture *f = *state;

	list(f, 10, 10, "parent");
	on_fork(f, 200, 10, 10, identity(10, 12, "parent"));
	assert_story(f, "thread 10/12 'parent' real 0\n200 fork 10/10 > 10/12\n");
}

/* A process is named before its thread, and unknown tasks are requested. */
TEST(test_fork_unknown_parent)
{
	struct fixture *f = *state;
	const struct rec_identity main_thread = identity(10, 10, "parent");

	on_fork(f, 200, 10, 11, identity(10, 12, "child"));
	assert_story(f, "thread 10/12 'child' real 0\n200 fork 10/11 > 10/12\n");
	assert_asked(f, "10 11 ");

	/* Requested only once; the answer is written when it arrives. */
	on_fork(f, 300, 10, 11, identity(10, 13, "child"));
	assert_story(f, "thread 10/13 'child' real 0\n300 fork 10/11 > 10/13\n");
	assert_asked(f, "");
	assert_int_equal(lifecycle_learned(&f->l, &main_thread, true), 0);
	assert_story(f, PROCESS("10", "parent", PLAIN) "thread 10/10 'parent' real 0\n");
}

/* The parent is not found any more: it is a thread of the process that the record names. */
TEST(test_fork_lost_parent)
{
	struct fixture *f = *state;
	const struct rec_identity nobody = {
		.pid = 11,
		.tid = 11,
		.uid = EVENT_UID_UNKNOWN,
		.comm = "?",
	};

	list(f, 10, 10, "main");
	on_fork(f, 200, 10, 11, identity(10, 12, "child"));
	assert_story(f, "thread 10/12 'child' real 0\n200 fork 10/11 > 10/12\n");
	assert_asked(f, "11 ");
	assert_int_equal(lifecycle_answered(&f->l, &nobody, true), 0);
	assert_story(f, "thread 10/11 '?' real 0\n");
}

/* A reused tid gets another koid. */
TEST(test_fork_again)
{
	struct fixture *f = *state;
	struct rec_identity second = identity(20, 20, "second");

	second.start_ns = 5000;
	list(f, 1, 1, "init");
	list(f, 20, 20, "first");
	on_exit_(f, 200, identity(20, 20, "first"), 0, 1);
	assert_story(f, "200 exit 20/20 code 0 signal 0 ends\n");
	on_fork(f, 300, 1, 1, second);
	assert_story(f, PROCESS(SECOND_20, "second", "'' real 20") //
		     "thread " SECOND_20 "/" SECOND_20 " 'second' real 20\n"
		     "300 fork 1/1 > " SECOND_20 "/" SECOND_20 "\n");
	on_exit_(f, 400, second, 9, 1);
	assert_story(f, "400 exit " SECOND_20 "/" SECOND_20 " code 0 signal 9 ends\n");
}

/* ---- exec ---- */

TEST(test_exec)
{
	struct fixture *f = *state;

	list(f, 10, 10, "sh");
	on_exec(f, 200, identity(10, 10, "ls"), 10, "/bin/ls");
	assert_story(f, PROCESS("10", "ls",
				"'ls -l' real 0") "thread 10/10 'ls' real 0\n"
						  "200 exec 10/10 '/bin/ls' 'ls -l' old 0\n");
	/* The same program again needs no new object, but it is an event. */
	on_exec(f, 300, identity(10, 10, "ls"), 10, "/bin/ls");
	assert_story(f, "300 exec 10/10 '/bin/ls' 'ls -l' old 0\n");
}

/* A thread that calls exec takes over the id of its process; its own id ends. */
TEST(test_exec_thread)
{
	struct fixture *f = *state;

	list(f, 10, 10, "sh");
	list(f, 10, 11, "thread");
	on_exec(f, 200, identity(10, 10, "ls"), 11, "/bin/ls");
	assert_story(f, PROCESS("10", "ls",
				"'ls -l' real 0") "thread 10/10 'ls' real 0\n"
						  "200 exec 10/10 '/bin/ls' 'ls -l' old 11\n");
	assert_null(tasks_get(&f->tasks, 11));
	assert_non_null(tasks_get(&f->tasks, 10));
}

TEST(test_exec_bad_utf8)
{
	struct fixture *f = *state;

	list(f, 10, 10, "sh");
	on_exec(f, 200, identity(10, 10, "\xff"), 10, "/\xc3(");
	assert_story(f, PROCESS("10", "\xef\xbf\xbd", "'ls -l' real 0") //
		     "thread 10/10 '\xef\xbf\xbd' real 0\n"
		     "200 exec 10/10 '/\xef\xbf\xbd(' 'ls -l' old 0\n");
}

/* Its fork was lost: the record itself shows that the tid has another owner. */
TEST(test_exec_other_owner)
{
	struct fixture *f = *state;
	struct rec_identity other = identity(10, 10, "ls");

	other.start_ns = 5000;
	list(f, 10, 10, "sh");
	on_exec(f, 200, other, 10, "/bin/ls");
	assert_story(f, PROCESS(SECOND_10, "ls", "'ls -l' real 10") //
		     "thread " SECOND_10 "/" SECOND_10 " 'ls' real 10\n"
		     "200 exec " SECOND_10 "/" SECOND_10 " '/bin/ls' 'ls -l' old 0\n");
}

/* TID, named COMM by the kernel, executes FILE with the N bytes of ARGS. */
static void on_exec_args(struct fixture *f, uint64_t ts, struct rec_identity id, const char *file,
			 const char *args, size_t n)
{
	struct rec_exec rec = { .head = HEAD(REC_EXEC, ts, id.pid, id.tid),
				.task = id,
				.old_tid = id.tid,
				.args_bytes = (uint32_t)n };

	memcpy(rec.args, args, n);
	memcpy(rec.file, file, strlen(file));
	feed(f, &rec.head, sizeof(rec));
}

/* A program that is started through the dynamic loader has its own name, and so do its threads. */
TEST(test_exec_through_loader)
{
	static const char args[] = "/lib64/ld.so\0--argv0\0x\0--library-path\0/l\0/bin/burn\0-v";
	struct rec_identity id = identity(10, 10, "ld-linux-x86-64");
	struct fixture *f = *state;

	list(f, 10, 10, "sh");
	on_rename(f, 199, identity(10, 10, "sh"), "ld-linux-x86-64");
	assert_story(f, "");
	on_exec_args(f, 200, id, "/lib64/ld.so", args, sizeof(args));
	assert_story(f, "process 10 'burn' parent 1 uid 0 cgroup 5 '/lib64/ld.so --argv0 x "
			"--library-path /l /bin/burn -v' real 0\n"
			"thread 10/10 'burn' real 0\n"
			"200 rename 10/10 'sh' 'burn'\n"
			"200 exec 10/10 '/lib64/ld.so' '/lib64/ld.so --argv0 x --library-path /l "
			"/bin/burn -v' old 0\n");
	on_fork(f, 300, 10, 10, identity(10, 11, "ld-linux-x86-64"));
	assert_story(f, "thread 10/11 'burn' real 0\n300 fork 10/10 > 10/11\n");
	/* Then it executes another one. */
	on_rename(f, 400, id, "ls");
	on_exec(f, 400, identity(10, 10, "ls"), 10, "/bin/ls");
	assert_story(f, "process 10 'ls' parent 1 uid 0 cgroup 5 '/lib64/ld.so --argv0 x "
			"--library-path /l /bin/burn -v' real 0\n"
			"thread 10/10 'ls' real 0\n"
			"400 rename 10/10 'burn' 'ls'\n"
			"process 10 'ls' parent 1 uid 0 cgroup 5 'ls -l' real 0\n"
			"thread 10/10 'ls' real 0\n"
			"400 exec 10/10 '/bin/ls' 'ls -l' old 0\n");
}

/* If the loader runs nothing, or the arguments do not contain it, the loader is the program. */
TEST(test_exec_of_loader)
{
	static const struct {
		const char *args;
		size_t n;
		const char *name;
	} rows[] = {
#define ROW(args, name) { args, sizeof(args), name }
		ROW("ld.so\0/bin/burn", "burn"),
		ROW("ld.so\0./a-name-of-more-than-fifteen", "a-name-of-more-"),
		ROW("ld.so\0--library-path=/l\0--\0burn", "burn"),
		ROW("ld.so\0--list\0/bin/burn", "ld-musl-x86_64."),
		ROW("ld.so\0--preload\0/l", "ld-musl-x86_64."),
		ROW("ld.so\0--preload", "ld-musl-x86_64."),
		ROW("ld.so\0", "ld-musl-x86_64."),
		ROW("ld.so", "ld-musl-x86_64."),
		{ "ld.so\0/bin/bu", 13, "ld-musl-x86_64." },
		{ "ld.so", 5, "ld-musl-x86_64." },
		{ "", 0, "ld-musl-x86_64." },
#undef ROW
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint32_t pid = 100 + (uint32_t)i;

		on_exec_args(f, 200, identity(pid, pid, "ld-musl-x86_64."),
			     "/lib/ld-musl-x86_64.so.1", rows[i].args, rows[i].n);
		assert_string_equal(tasks_get(&f->tasks, pid)->comm, rows[i].name);
	}
}

/* ---- exit ---- */

TEST(test_exit)
{
	struct fixture *f = *state;
	static const struct {
		uint32_t code, ends, flags;
		const char *how;
	} rows[] = {
		{ 0, 1, 0, "code 0 signal 0 ends" },
		{ 3 << 8, 0, 0, "code 3 signal 0" },
		{ 255 << 8, 1, 0, "code 255 signal 0 ends" },
		{ 9, 1, 0, "code 0 signal 9 ends" },
		{ 0x80 | 11, 1, 0, "code 0 signal 11 ends" }, /* dumped core */
		{ 64, 2, 0, "code 0 signal 64" },
		{ 0, 1, IDENTITY_KTHREAD, "code 0 signal 0" }, /* their process does not end */
	};

	for (uint32_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint32_t pid = 100 + 10 * i, tid = pid + 1;
		struct rec_identity id = identity(pid, tid, "t");
		char want[128];

		list(f, pid, pid, "main");
		list(f, pid, tid, "t");
		id.flags = rows[i].flags;
		on_exit_(f, 200, id, rows[i].code, rows[i].ends);
		snprintf(want, sizeof(want), "200 exit %u/%u %s\n", pid, tid, rows[i].how);
		assert_story(f, want);
		assert_null(tasks_get(&f->tasks, tid));
	}
}

/* Each of the last two threads can consider itself the last one: the process ends once. */
TEST(test_exit_ends_once)
{
	struct fixture *f = *state;
	struct rec_identity again = identity(10, 10, "again");

	list(f, 1, 1, "init");
	list(f, 10, 10, "main");
	list(f, 10, 11, "t");
	on_exit_(f, 200, identity(10, 11, "t"), 0, 1);
	on_exit_(f, 201, identity(10, 10, "main"), 0, 1);
	assert_story(f, "200 exit 10/11 code 0 signal 0 ends\n201 exit 10/10 code 0 signal 0\n");
	/* The next owner of the id is another process. */
	again.start_ns = 5000;
	on_fork(f, 300, 1, 1, again);
	on_exit_(f, 301, again, 0, 1);
	assert_story(f, PROCESS(SECOND_10, "again", "'' real 10") //
		     "thread " SECOND_10 "/" SECOND_10 " 'again' real 10\n"
		     "300 fork 1/1 > " SECOND_10 "/" SECOND_10 "\n"
		     "301 exit " SECOND_10 "/" SECOND_10 " code 0 signal 0 ends\n");
}

/* An unknown task: all data comes from the record itself. */
TEST(test_exit_unknown)
{
	struct fixture *f = *state;

	on_exit_(f, 200, identity(10, 10, "brief"), 0, 1);
	assert_story(f, PROCESS("10", "brief", PLAIN) "thread 10/10 'brief' real 0\n"
						      "200 exit 10/10 code 0 signal 0 ends\n");
	assert_asked(f, "");
}

/* ---- rename ---- */

TEST(test_rename)
{
	struct fixture *f = *state;

	list(f, 10, 10, "old");
	on_rename(f, 200, identity(10, 10, "old"), "new");
	assert_story(f, PROCESS("10", "new", PLAIN) "thread 10/10 'new' real 0\n"
						    "200 rename 10/10 'old' 'new'\n");
	on_rename(f, 300, identity(10, 10, "new"), "new");
	assert_story(f, "");
	on_rename(f, 400, identity(10, 10, "new"), "");
	assert_story(f, PROCESS("10", "", PLAIN) "thread 10/10 '' real 0\n"
						 "400 rename 10/10 'new' ''\n");
	assert_int_equal(f->l.n_events, 2);
}

TEST(test_rename_other_owner)
{
	struct fixture *f = *state;
	struct rec_identity other = identity(10, 10, "b");

	other.start_ns = 5000;
	list(f, 10, 10, "a");
	on_rename(f, 200, other, "c");
	assert_story(f, PROCESS(SECOND_10, "c", "'' real 10") //
		     "thread " SECOND_10 "/" SECOND_10 " 'c' real 10\n"
		     "200 rename " SECOND_10 "/" SECOND_10 " 'b' 'c'\n");
}

/* ---- lost ---- */

TEST(test_lost)
{
	struct fixture *f = *state;
	struct rec_lost rec = {
		.head = { .kind = REC_LOST, .cpu = 3 }, .count = 5, .first_ns = 200, .last_ns = 210
	};

	feed(f, &rec.head, sizeof(rec));
	assert_story(f, "200 lost lifecycle cpu3 5 200..210\n");
	feed(f, &rec.head, sizeof(rec));
	assert_int_equal(f->l.lost, 10);
	assert_int_equal(f->l.n_events, 0);
}

/* ---- the time of the recording ---- */

/* Events outside of the recording are learned and not written. */
TEST(test_outside)
{
	struct fixture *f = *state;
	static const struct {
		uint64_t ts_ns;
		bool written;
	} rows[] = {
		{ 1, false }, { 100, false }, { 101, true }, { 1000, true }, { 1001, false },
	};
	uint32_t tid = 20;

	list(f, 1, 1, "init");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++, tid++) {
		_cleanup_free_ char *story = NULL;

		on_fork(f, rows[i].ts_ns, 1, 1, identity(tid, tid, "child"));
		story = archive_story(&f->out);
		assert_int_equal(strstr(story, " fork ") != NULL, rows[i].written);
		assert_non_null(tasks_get(&f->tasks, tid));
		on_exit_(f, rows[i].ts_ns, identity(tid, tid, "child"), 0, 1);
		assert_null(tasks_get(&f->tasks, tid));
		outbuf_reset(&f->out);
		fxt_archive_deinit(&f->archive);
		assert_int_equal(fxt_archive_init(&f->archive, &f->out, 4), 0);
		assert_int_equal(fxt_archive_begin(&f->archive), 0);
	}
	assert_int_equal(f->l.n_events, 4);
}

/* ---- failure ---- */

TEST(test_output_full)
{
	struct fixture *f = *state;
	_cleanup_(outbuf_deinit) struct outbuf full = { .limit = 16 };
	struct rec_fork rec = { .head = HEAD(REC_FORK, 200, 1, 1),
				.child = identity(20, 20, "child") };

	rec.head.size = sizeof(rec);
	fxt_archive_set_output(&f->archive, &full);
	assert_int_equal(lifecycle_record(&f->l, &rec.head), -EMSGSIZE);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, lifecycle_set_up, lifecycle_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_fork_process),
		CASE(test_fork_thread),
		CASE(test_fork_unknown_parent),
		CASE(test_fork_lost_parent),
		CASE(test_fork_again),
		CASE(test_exec),
		CASE(test_exec_thread),
		CASE(test_exec_through_loader),
		CASE(test_exec_of_loader),
		CASE(test_exec_bad_utf8),
		CASE(test_exec_other_owner),
		CASE(test_exit),
		CASE(test_exit_ends_once),
		CASE(test_exit_unknown),
		CASE(test_rename),
		CASE(test_rename_other_owner),
		CASE(test_lost),
		CASE(test_outside),
		CASE(test_output_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
