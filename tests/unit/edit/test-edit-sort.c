/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records in order of time, each with its meaning, although the tables of its provider change.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "edit/edit-sort.h"
#include "tests/support/fixtures/edit-archives.h"
#include "tests/support/unit.h"

/* Sorts ARCHIVE in a window of WINDOW bytes. The result is new. */
static char *sort(const struct outbuf *archive, size_t window, struct edit_counts *ret_counts)
{
	_cleanup_(fxt_reader_freep) struct fxt_reader *reader = NULL;
	_cleanup_(edit_sort_freep) struct edit_sort *s = NULL;
	_cleanup_(edit_copy_freep) struct edit_copy *c = NULL;
	const struct fxt_record *record;
	struct edit_sorted item;
	struct edit_output out;
	char *text;
	int r;

	OK(edit_output_init(&out));
	OK(edit_copy_new(&c, &out, NULL));
	OK(edit_sort_new(&s, window));
	OK(fxt_reader_new_memory(&reader, archive->data, archive->size));
	while ((r = fxt_reader_next(reader, &record)) == FXT_READER_RECORD) {
		OK(edit_sort_put(s, record->provider, record));
		while ((r = edit_sort_pop(s, false, &item)) > 0)
			OK(edit_copy_record(c, item.from, item.record));
		assert_false(edit_sort_is_full(s));
		OK(r);
	}
	reader = fxt_reader_free(reader);
	while ((r = edit_sort_pop(s, true, &item)) > 0)
		OK(edit_copy_record(c, item.from, item.record));
	OK(r);
	if (ret_counts)
		*ret_counts = *edit_sort_counts(s);
	text = edited_text(&out.bytes);
	edit_output_deinit(&out);
	return text;
}

TEST(test_sort_order)
{
	_cleanup_free_ char *text = NULL;
	struct source s;

	source_init(&s);
	as_app(&s);
	put_event(&s, FXT_EVENT_INSTANT, 30, 5, "c", "third", 0);
	put_event(&s, FXT_EVENT_INSTANT, 20, 5, "c", "first at 20", 0);
	put_event(&s, FXT_EVENT_INSTANT, 20, 5, "c", "second at 20", 0);
	put_event(&s, FXT_EVENT_INSTANT, UINT64_MAX, 5, "c", "last", 0);
	put_event(&s, FXT_EVENT_INSTANT, 0, 5, "c", "zero", 0);
	text = sort(&s.bytes, 1 << 20, NULL);
	assert_string_equal(text, "app: 0 instant c/zero 5/5\n"
				  "app: 20 instant c/first at 20 5/5\n"
				  "app: 20 instant c/second at 20 5/5\n"
				  "app: 30 instant c/third 5/5\n"
				  "app: 18446744073709551615 instant c/last 5/5\n");
	source_deinit(&s);
}

/* Objects keep their order, and leave just before the first record that follows them. */
TEST(test_sort_objects)
{
	_cleanup_free_ char *text = NULL;
	struct source s;

	source_init(&s);
	as_app(&s);
	put_process(&s, 1, "one", 0);
	put_event(&s, FXT_EVENT_INSTANT, 10, 5, "c", "a", 0);
	put_process(&s, 2, "two", 0);
	put_process(&s, 3, "three", 0);
	put_event(&s, FXT_EVENT_INSTANT, 40, 5, "c", "d", 0);
	put_process(&s, 4, "four", 0);
	put_event(&s, FXT_EVENT_INSTANT, 30, 5, "c", "c", 0);
	put_process(&s, 5, "five", 0);
	put_event(&s, FXT_EVENT_INSTANT, 50, 5, "c", "e", 0);
	put_event(&s, FXT_EVENT_INSTANT, 20, 5, "c", "b", 0);
	put_event(&s, FXT_EVENT_INSTANT, 60, 5, "c", "f", 0);
	put_process(&s, 6, "six", 0);
	put_event(&s, FXT_EVENT_INSTANT, 70, 5, "c", "g", 0);
	put_process(&s, 7, "seven", 0);
	text = sort(&s.bytes, 1 << 20, NULL);
	assert_string_equal(text, "app: process 1 'one'\n"
				  "app: 10 instant c/a 5/5\n"
				  "app: process 2 'two'\n"
				  "app: process 3 'three'\n"
				  "app: process 4 'four'\n"
				  "app: process 5 'five'\n"
				  "app: 20 instant c/b 5/5\n"
				  "app: 30 instant c/c 5/5\n"
				  "app: 40 instant c/d 5/5\n"
				  "app: 50 instant c/e 5/5\n"
				  "app: 60 instant c/f 5/5\n"
				  "app: process 6 'six'\n"
				  "app: 70 instant c/g 5/5\n"
				  "app: process 7 'seven'\n");
	source_deinit(&s);
}

/* Unsorted times, more than fit into the first rooms: the result is stable and in order. */
TEST(test_sort_jumble)
{
	_cleanup_free_ char *text = NULL;
	unsigned long long last_ns = 0, last_id = 0, n = 0;
	uint64_t random = 88172645463325252;
	struct source s;

	source_init(&s);
	as_app(&s);
	for (unsigned i = 0; i < 20000; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		put_event(&s, FXT_EVENT_COUNTER, i / 8 + random % 500, 5, "c", "n", i);
	}
	text = sort(&s.bytes, 64 << 20, NULL);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), n++) {
		unsigned long long ns, id;

		assert_int_equal(sscanf(line, "app: %llu counter c/n 5/5 id %llu", &ns, &id), 2);
		assert_true(ns > last_ns || (ns == last_ns && (id > last_id || n == 0)));
		last_ns = ns;
		last_id = id;
	}
	assert_int_equal(n, 20000);
	source_deinit(&s);
}

/* If the window is smaller than a record, each record is written at once, unchanged. */
TEST(test_sort_no_window)
{
	_cleanup_free_ char *text = NULL, *source = NULL;
	struct source s;

	source_init(&s);
	as_app(&s);
	for (unsigned i = 100; i > 0; i--)
		put_event(&s, FXT_EVENT_INSTANT, i, 5, "c", "n", 0);
	text = sort(&s.bytes, 1, NULL);
	source = edited_text(&s.bytes);
	assert_string_equal(text, source);
	source_deinit(&s);
}

/* A provider event keeps its place. */
TEST(test_sort_provider_event)
{
	_cleanup_free_ char *text = NULL;
	struct source s;

	source_init(&s);
	put_wakeup(&s, 10, 0, 5);
	OK(fxt_write_provider_event(&s.w, 0));
	put_wakeup(&s, 20, 0, 5);
	text = sort(&s.bytes, 1 << 20, NULL);
	assert_string_equal(text,
			    "kymo: 10 wake 5 @0\nkymo: provider event 0\nkymo: 20 wake 5 @0\n");
	source_deinit(&s);
}

/* The strings, threads and providers of a record are those of its place in the source. */
TEST(test_sort_tables_change)
{
	_cleanup_free_ char *text = NULL;
	struct source s;

	source_init(&s);
	OK(fxt_write_provider_info(&s.w, &s.app, "one"));
	OK(fxt_write_string(&s.w, 200, "before", 6));
	OK(fxt_write_event(&s.w, &(struct fxt_event){ .name = { .index = 200 },
						      .ts_ticks = 10,
						      .thread = { 5, 6 } }));
	OK(fxt_write_provider_info(&s.w, &s.app, "two"));
	OK(fxt_write_string(&s.w, 200, "behind", 6));
	OK(fxt_write_event(&s.w, &(struct fxt_event){ .name = { .index = 200 },
						      .ts_ticks = 20,
						      .thread = { 7, 8 } }));
	text = sort(&s.bytes, 1 << 20, NULL);
	assert_string_equal(text, "one: 10 instant /before 5/6\ntwo: 20 instant /behind 7/8\n");
	source_deinit(&s);
}

/* Fifteen arguments, each with a name and a text of the maximum length. */
TEST(test_sort_large_record)
{
	static char texts[2 * FXT_ARGS_MAX][FXT_STRING_BYTES_MAX + 1];
	struct fxt_out_arg args[FXT_ARGS_MAX];
	_cleanup_free_ char *text = NULL, *source = NULL;
	struct edit_counts counts;
	struct source s;

	for (unsigned i = 0; i < 2 * FXT_ARGS_MAX; i++)
		memset(texts[i], 'a' + (int)(i % 26), FXT_STRING_BYTES_MAX - i);
	for (unsigned i = 0; i < FXT_ARGS_MAX; i++)
		args[i] = (struct fxt_out_arg){ FXT_ARG_STRING, fxt_interned(texts[2 * i]),
						.text = fxt_interned(texts[2 * i + 1]) };
	source_init(&s);
	as_app(&s);
	put_event_args(&s, 10, 5, "c", "n", args, FXT_ARGS_MAX);
	text = sort(&s.bytes, 1 << 20, &counts);
	source = edited_text(&s.bytes);
	assert_string_equal(text, source);
	assert_int_equal(counts.refused, 0);
	source_deinit(&s);
}

/* The longest record, with its thread in a table: it does not fit with the thread inline. */
TEST(test_sort_longest_record)
{
	static uint8_t bytes[(FXT_RECORD_WORDS_MAX - 3) * FXT_WORD_BYTES];
	const struct fxt_out_arg arg = { FXT_ARG_BLOB, fxt_interned("b"),
					 .blob = { bytes, sizeof(bytes) } };
	_cleanup_free_ char *text = NULL, *source = NULL;
	struct source s;

	source_init(&s);
	as_app(&s);
	put_event_args(&s, 10, 5, "c", "n", &arg, 1);
	put_event_args(&s, 20, 6, "c", "n", &arg, 1);
	OK(fxt_write_userspace_object(&s.w, &(struct fxt_userspace_object){ .pointer = 1,
									    .process = { 5, 6 },
									    .name = { 0 } }));
	OK(fxt_write_userspace_object(
		&s.w, &(struct fxt_userspace_object){
			      .pointer = 2, .process = { 5, 0, true }, .name = { 0 } }));
	text = sort(&s.bytes, 1, NULL);
	source = edited_text(&s.bytes);
	assert_string_equal(text, source);
	source_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sort_order),
		cmocka_unit_test(test_sort_objects),
		cmocka_unit_test(test_sort_jumble),
		cmocka_unit_test(test_sort_no_window),
		cmocka_unit_test(test_sort_provider_event),
		cmocka_unit_test(test_sort_tables_change),
		cmocka_unit_test(test_sort_large_record),
		cmocka_unit_test(test_sort_longest_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
