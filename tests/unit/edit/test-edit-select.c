/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The selection of records by processes and CPUs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "edit/edit-select.h"
#include "tests/support/fixtures/edit-archives.h"
#include "tests/support/unit.h"

/* The selected part of ARCHIVE, as in edited_text(); new. */
static char *select_text(const struct outbuf *archive, const uint32_t *pids, size_t n_pids,
			 const bool *cpus, size_t n_cpus)
{
	_cleanup_(fxt_reader_freep) struct fxt_reader *reader = NULL;
	_cleanup_(edit_select_freep) struct edit_select *s = NULL;
	_cleanup_(edit_copy_freep) struct edit_copy *c = NULL;
	struct edit_rules rules = { .arg = edit_select_arg };
	const struct fxt_record *record;
	struct edit_output out;
	char *text;

	OK(edit_select_new(&s, pids, n_pids, cpus, n_cpus));
	rules.userdata = s;
	OK(edit_output_init(&out));
	OK(edit_copy_new(&c, &out, &rules));
	OK(fxt_reader_new_memory(&reader, archive->data, archive->size));
	while (fxt_reader_next(reader, &record) == FXT_READER_RECORD) {
		struct fxt_record changed = *record;

		OK(edit_select_learn(s, record));
		if (edit_select_apply(s, &changed))
			OK(edit_copy_record(c, record->provider, &changed));
	}
	text = edited_text(&out.bytes);
	edit_output_deinit(&out);
	return text;
}

static void put_fork(struct source *s, uint64_t ts, uint64_t parent, uint64_t child)
{
	const struct fxt_out_arg args[] = {
		{ FXT_ARG_KOID, fxt_interned("child_process"), .u64 = child },
		{ FXT_ARG_KOID, fxt_interned("child_thread"), .u64 = child },
	};

	put_event_args(s, ts, parent, "process", "fork", args, 2);
}

/* A process with its children, by objects and by forks. The rest is "other". */
TEST(test_select_process)
{
	const uint32_t pids[] = { 10 };
	const struct fxt_out_arg waker[] = {
		{ FXT_ARG_KOID, fxt_interned("waker"), .u64 = 20 },
	};
	_cleanup_free_ char *text = NULL;
	struct source s;

	source_init(&s);
	put_task(&s, 10, "ten", 1);
	put_task(&s, 20, "twenty", 1);
	put_task(&s, 11, "child", 10);
	put_fork(&s, 5, 11, 12);
	put_switch(&s, 10, 0, 20, 12, FXT_STATE_BLOCKED);
	put_switch(&s, 20, 0, 12, 0, FXT_STATE_BLOCKED);
	put_switch(&s, 30, 0, 0, 20, FXT_STATE_RUNNING);
	OK(fxt_write_wakeup(&s.w, &(struct fxt_wakeup){ 40, 0, 12, waker, 1 }));
	put_wakeup(&s, 50, 0, 20);
	as_app(&s);
	put_event(&s, FXT_EVENT_INSTANT, 60, 20, "c", "n", 0);
	put_event(&s, FXT_EVENT_INSTANT, 70, 12, "c", "n", 0);
	text = select_text(&s.bytes, pids, 1, NULL, 0);
	assert_string_equal(text, "kymo: process 10 'ten' parent:koid=1\n"
				  "kymo: thread 10 'ten' process:koid=10\n"
				  "kymo: process 11 'child' parent:koid=10\n"
				  "kymo: thread 11 'child' process:koid=11\n"
				  "kymo: 5 instant process/fork 11/11 child_process:koid=12"
				  " child_thread:koid=12\n"
				  "kymo: 10 cpu0 4325376>12 running\n"
				  "kymo: 20 cpu0 12>4325376 blocked\n"
				  "kymo: 40 wake 12 @0\n"
				  "app: 70 instant c/n 12/12\n");
	source_deinit(&s);
}

TEST(test_select_cpus)
{
	const bool cpus[] = { false, true };
	const struct fxt_out_arg move[] = {
		{ FXT_ARG_UINT32, fxt_interned("from_cpu"), .u32 = 0 },
		{ FXT_ARG_UINT32, fxt_interned("to_cpu"), .u32 = 2 },
	};
	_cleanup_free_ char *text = NULL;
	struct source s;

	source_init(&s);
	put_task(&s, 10, "ten", 1);
	put_switch(&s, 10, 0, 0, 10, FXT_STATE_RUNNING);
	put_switch(&s, 10, 1, 0, 11, FXT_STATE_RUNNING);
	put_switch(&s, 10, FXT_CPU_MAX, 0, 12, FXT_STATE_RUNNING);
	put_wakeup(&s, 20, 0, 13);
	put_wakeup(&s, 20, 1, 14);
	put_event_args(&s, 30, 14, "sched", "migrate", move, 2);
	as_app(&s);
	put_event(&s, FXT_EVENT_INSTANT, 40, 10, "c", "on cpu 0", 0);
	put_event(&s, FXT_EVENT_INSTANT, 40, 11, "c", "on cpu 1", 0);
	put_event(&s, FXT_EVENT_INSTANT, 40, 15, "c", "nowhere", 0);
	text = select_text(&s.bytes, NULL, 0, cpus, 2);
	assert_string_equal(text, "kymo: process 10 'ten' parent:koid=1\n"
				  "kymo: thread 10 'ten' process:koid=10\n"
				  "kymo: 10 cpu1 0>11 running\n"
				  "kymo: 20 wake 14 @1\n"
				  "app: 40 instant c/on cpu 1 11/11\n"
				  "app: 40 instant c/nowhere 15/15\n");
	source_deinit(&s);
}

static void put_about_code(struct source *s, uint64_t ts, const char *name, uint64_t process)
{
	const struct fxt_out_arg arg = { FXT_ARG_KOID, fxt_interned("process"), .u64 = process };

	put_event_args(s, ts, FXT_KOID_CODE, "profile", name, &arg, 1);
}

/*
 * A record of mapped code belongs to the process that it names, and not to its thread's process.
 * The kernel's mappings belong to all.
 */
TEST(test_select_code)
{
	const uint32_t pids[] = { 10 };
	_cleanup_free_ char *text = NULL;
	struct source s;

	source_init(&s);
	for (uint64_t process = 10; process <= 20; process += 10) {
		put_about_code(&s, 10, "mapping", process);
		put_about_code(&s, 20, "frame", process);
		/* As kymo 0.1 wrote it. */
		put_event(&s, FXT_EVENT_INSTANT, 30, process, "profile", "mapping", 0);
	}
	put_about_code(&s, 40, "mapping", 2);
	put_about_code(&s, 50, "frame", 2);
	text = select_text(&s.bytes, pids, 1, NULL, 0);
	assert_string_equal(text,
			    "kymo: 10 instant profile/mapping 4915200/4915200 process:koid=10\n"
			    "kymo: 20 instant profile/frame 4915200/4915200 process:koid=10\n"
			    "kymo: 30 instant profile/mapping 10/10\n"
			    "kymo: 40 instant profile/mapping 4915200/4915200 process:koid=2\n"
			    "kymo: 50 instant profile/frame 4915200/4915200 process:koid=2\n");
	source_deinit(&s);
}

/* Ids that no machine has, and a cycle of parents. */
TEST(test_select_hostile)
{
	const uint32_t pids[] = { 10 };
	_cleanup_free_ char *text = NULL;
	struct source s;

	source_init(&s);
	put_task(&s, UINT64_MAX, "max", UINT64_MAX - 1);
	put_task(&s, UINT64_MAX - 1, "max - 1", UINT64_MAX);
	put_task(&s, 1, "one", UINT64_MAX);
	put_task(&s, 21, "circle", 22);
	put_task(&s, 22, "circle", 21);
	put_fork(&s, 5, UINT64_MAX, UINT64_MAX);
	put_fork(&s, 5, UINT64_MAX, 0);
	put_switch(&s, 10, 0, UINT64_MAX, 22, FXT_STATE_BLOCKED);
	put_wakeup(&s, 10, 0, UINT64_MAX);
	put_event(&s, FXT_EVENT_INSTANT, 20, UINT64_MAX, "c", "n", 0);
	/* The second owner of a tid. */
	put_task(&s, 10 + (2 << FXT_KOID_TID_BITS), "ten again", 1);
	text = select_text(&s.bytes, pids, 1, NULL, 0);
	assert_string_equal(text, "kymo: process 8388618 'ten again' parent:koid=1\n"
				  "kymo: thread 8388618 'ten again' process:koid=8388618\n");
	source_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_select_process),
		cmocka_unit_test(test_select_cpus),
		cmocka_unit_test(test_select_code),
		cmocka_unit_test(test_select_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
