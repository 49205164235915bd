/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state at a moment: the last record of each thing, and nothing that has ended.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "edit/edit-sort.h"
#include "edit/edit-state.h"
#include "tests/support/fixtures/edit-archives.h"
#include "tests/support/unit.h"

static int give(void *userdata, const struct fxt_provider *from, struct fxt_record *record)
{
	return edit_copy_record(userdata, from, record);
}

/* Passes the state at the end of ARCHIVE to WRITE. */
static void give_state(const struct outbuf *archive, edit_state_fn write, void *userdata)
{
	_cleanup_(fxt_reader_freep) struct fxt_reader *reader = NULL;
	_cleanup_(edit_sort_freep) struct edit_sort *sort = NULL;
	_cleanup_(edit_state_freep) struct edit_state *s = NULL;
	const struct fxt_record *record;
	struct edit_sorted item;

	OK(edit_sort_new(&sort, 1));
	OK(edit_state_new(&s));
	OK(fxt_reader_new_memory(&reader, archive->data, archive->size));
	while (fxt_reader_next(reader, &record) == FXT_READER_RECORD) {
		OK(edit_sort_put(sort, record->provider, record));
		while (edit_sort_pop(sort, true, &item) > 0)
			assert_true(edit_state_process(s, item.kept, item.record) >= 0);
	}
	OK(edit_state_flush(s, write, userdata));
}

/* The state at the end of ARCHIVE, as in edited_text(); new. */
static char *state_text(const struct outbuf *archive)
{
	_cleanup_(edit_copy_freep) struct edit_copy *c = NULL;
	struct edit_output out;
	char *text;

	OK(edit_output_init(&out));
	OK(edit_copy_new(&c, &out, NULL));
	give_state(archive, give, c);
	text = edited_text(&out.bytes);
	edit_output_deinit(&out);
	return text;
}

static int count(void *userdata, const struct fxt_provider *from, struct fxt_record *record)
{
	unsigned *n = userdata;

	(void)from;
	assert_int_equal(record->name.length, FXT_STRING_BYTES_MAX);
	++*n;
	return 0;
}

TEST(test_state_last_word)
{
	_cleanup_free_ char *text = NULL;
	struct source s;

	source_init(&s);
	put_process(&s, 5, "old", 1);
	put_thread(&s, 5, 5, "old");
	put_process(&s, 6, "six", 5);
	put_process(&s, 5, "new", 1);
	as_app(&s);
	put_event(&s, FXT_EVENT_COUNTER, 10, 5, "c", "n", 1);
	put_event(&s, FXT_EVENT_COUNTER, 20, 5, "c", "n", 2);
	put_event(&s, FXT_EVENT_COUNTER, 30, 5, "c", "n", 1);
	put_event(&s, FXT_EVENT_INSTANT, 40, 5, "c", "n", 0);
	OK(fxt_write_module(&s.w, &(struct fxt_module){ 50, { 5, 5 }, 1, "libc", "\1", 1 }));
	OK(fxt_write_mmap(&s.w, &(struct fxt_mmap){ 60, { 5, 5 }, 1, 5, 4096, 8192, 0 }));
	OK(fxt_write_mmap(&s.w, &(struct fxt_mmap){ 70, { 5, 5 }, 2, 5, 4096, 4096, 0 }));
	text = state_text(&s.bytes);
	assert_string_equal(text, "kymo: thread 5 'old' process:koid=5\n"
				  "kymo: process 6 'six' parent:koid=5\n"
				  "kymo: process 5 'new' parent:koid=1\n"
				  "app: 20 counter c/n 5/5 id 2\n"
				  "app: 30 counter c/n 5/5 id 1\n"
				  "app: 50 module 1 libc 01 5/5\n"
				  "app: 70 mmap 2 flags 5 1000 1000 0 5/5\n");
	source_deinit(&s);
}

static void put_mapped(struct source *s, uint64_t ts, uint32_t id, const char *name, uint64_t start)
{
	OK(fxt_write_module(&s->w, &(struct fxt_module){ ts, { 5, 5 }, id, name, "\1", 1 }));
	OK(fxt_write_mmap(&s->w, &(struct fxt_mmap){ ts, { 5, 5 }, id, 5, start, 4096, 0 }));
}

/*
 * An id of a module that is used again: mappings keep the module that they had, which is forgotten
 * with the last of them.
 */
TEST(test_state_module_again)
{
	_cleanup_free_ char *text = NULL;
	struct source s;

	source_init(&s);
	put_mapped(&s, 10, 1, "old", 0x1000);
	OK(fxt_write_mmap(&s.w, &(struct fxt_mmap){ 11, { 5, 5 }, 1, 5, 0x2000, 4096, 0 }));
	put_mapped(&s, 20, 2, "gone", 0x3000);
	put_mapped(&s, 30, 2, "same", 0x3000);
	put_mapped(&s, 40, 1, "new", 0x4000);
	put_mapped(&s, 50, 1, "newer", 0x1000);
	put_mapped(&s, 60, 2, "same", 0x3000);
	text = state_text(&s.bytes);
	assert_string_equal(text, "kymo: 10 module 1 old 01 5/5\n"
				  "kymo: 11 mmap 1 flags 5 2000 1000 0 5/5\n"
				  "kymo: 40 module 1 new 01 5/5\n"
				  "kymo: 40 mmap 1 flags 5 4000 1000 0 5/5\n"
				  "kymo: 50 module 1 newer 01 5/5\n"
				  "kymo: 50 mmap 1 flags 5 1000 1000 0 5/5\n"
				  "kymo: 60 module 2 same 01 5/5\n"
				  "kymo: 60 mmap 2 flags 5 3000 1000 0 5/5\n");
	source_deinit(&s);
}

static void put_exit(struct source *s, uint64_t ts, uint64_t tid)
{
	const struct fxt_out_arg ends = { FXT_ARG_BOOL, fxt_interned("process_ends"),
					  .boolean = true };

	put_event_args(s, ts, tid, "process", "exit", &ends, 1);
}

/* An ended thread keeps its name as long as its last records can still arrive. */
TEST(test_state_ends)
{
	const uint64_t second = 1000000000;
	_cleanup_free_ char *text = NULL;
	struct source s;

	source_init(&s);
	for (uint64_t tid = 5; tid <= 8; tid++) {
		put_task(&s, tid, "task", 1);
		put_event(&s, FXT_EVENT_COUNTER, 10, tid, "c", "n", 1);
	}
	put_exit(&s, 1 * second, 5);
	put_exit(&s, 2 * second, 6);
	put_task(&s, 6, "again", 1);
	put_exit(&s, 4 * second, 7);
	text = state_text(&s.bytes);
	assert_string_equal(text, "kymo: process 7 'task' parent:koid=1\n"
				  "kymo: thread 7 'task' process:koid=7\n"
				  "kymo: process 8 'task' parent:koid=1\n"
				  "kymo: thread 8 'task' process:koid=8\n"
				  "kymo: 10 counter c/n 8/8 id 1\n"
				  "kymo: process 6 'again' parent:koid=1\n"
				  "kymo: thread 6 'again' process:koid=6\n");
	source_deinit(&s);
}

/* A thread that called exec for its process has no exit of its own. */
TEST(test_state_exec_of_thread)
{
	const uint64_t second = 1000000000;
	const struct fxt_out_arg old = { FXT_ARG_KOID, fxt_interned("old_thread"), .u64 = 6 };
	_cleanup_free_ char *text = NULL;
	struct source s;

	source_init(&s);
	put_task(&s, 5, "task", 1);
	put_thread(&s, 5, 6, "caller");
	put_task(&s, 9, "other", 1);
	put_event_args(&s, 1 * second, 5, "process", "exec", &old, 1);
	put_exit(&s, 2 * second, 5);
	put_exit(&s, 4 * second, 8);
	text = state_text(&s.bytes);
	assert_string_equal(text, "kymo: process 9 'other' parent:koid=1\n"
				  "kymo: thread 9 'other' process:koid=9\n");
	source_deinit(&s);
}

static void put_mapping(struct source *s, uint64_t ts, uint64_t pid, uint64_t start)
{
	const struct fxt_out_arg args[] = {
		{ FXT_ARG_KOID, fxt_interned("process"), .u64 = pid },
		{ FXT_ARG_POINTER, fxt_interned("start"), .u64 = start },
		{ FXT_ARG_UINT64, fxt_interned("size"), .u64 = 4096 },
	};

	put_event_args(s, ts, FXT_KOID_CODE, "profile", "mapping", args, 3);
}

static void put_fork(struct source *s, uint64_t ts, uint64_t parent, uint64_t child)
{
	const struct fxt_out_arg args[] = {
		{ FXT_ARG_KOID, fxt_interned("child_process"), .u64 = child },
		{ FXT_ARG_KOID, fxt_interned("child_thread"), .u64 = child },
	};

	put_event_args(s, ts, parent, "process", "fork", args, 2);
}

/*
 * A child keeps its parent's data when the parent ends (as for daemons) or executes another
 * program.
 */
TEST(test_state_fork)
{
	_cleanup_free_ char *text = NULL;
	struct source s;

	source_init(&s);
	OK(fxt_write_module(&s.w, &(struct fxt_module){ 10, { 5, 5 }, 1, "libc", "\1", 1 }));
	OK(fxt_write_mmap(&s.w, &(struct fxt_mmap){ 10, { 5, 5 }, 1, 5, 4096, 4096, 0 }));
	put_mapping(&s, 10, 5, 4096);
	put_fork(&s, 20, 5, 6);
	put_mapping(&s, 30, 5, 8192); /* not its child's */
	put_exit(&s, 40, 5);
	put_fork(&s, 50, 6, 7);
	put_fork(&s, 60, 6, 8);
	put_event_args(&s, 70, 8, "process", "exec", NULL, 0);
	put_mapping(&s, 80, 8, 16384);
	/* Its first module has the number of an inherited one. */
	OK(fxt_write_module(&s.w, &(struct fxt_module){ 80, { 7, 7 }, 1, "libm", "\2", 1 }));
	put_fork(&s, 90, 6, 6); /* a thread */
	text = state_text(&s.bytes);
	assert_string_equal(text, "kymo: 10 module 1 libc 01 6/6\n"
				  "kymo: 10 mmap 1 flags 5 1000 1000 0 6/6\n"
				  "kymo: 10 instant profile/mapping 4915200/4915200 process:koid=6 "
				  "start:pointer=4096 size:uint64=4096\n"
				  "kymo: 10 module 1 libc 01 7/7\n"
				  "kymo: 10 mmap 1 flags 5 1000 1000 0 7/7\n"
				  "kymo: 10 instant profile/mapping 4915200/4915200 process:koid=7 "
				  "start:pointer=4096 size:uint64=4096\n"
				  "kymo: 80 instant profile/mapping 4915200/4915200 process:koid=8 "
				  "start:pointer=16384 size:uint64=4096\n"
				  "kymo: 80 module 1 libm 02 7/7\n");
	source_deinit(&s);
}

/* A small archive can require much memory: each of these takes 32,000 bytes. */
LARGE_TEST(test_state_bounded)
{
	static char name[FXT_STRING_BYTES_MAX + 1];
	unsigned n = 0;
	struct source s;

	memset(name, 'n', FXT_STRING_BYTES_MAX);
	source_init(&s);
	for (unsigned i = 1; i <= 5000; i++)
		put_event(&s, FXT_EVENT_COUNTER, i, 5, "c", name, i);
	give_state(&s.bytes, count, &n);
	assert_in_range(n, 3000, 4500);
	source_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_state_last_word),
		cmocka_unit_test(test_state_ends),
		cmocka_unit_test(test_state_exec_of_thread),
		cmocka_unit_test(test_state_fork),
		cmocka_unit_test(test_state_bounded),
		cmocka_unit_test(test_state_module_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
