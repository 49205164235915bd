/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A copy has the same contents as its source, record by record. Records that cannot be copied are
 * counted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "edit/edit-copy.h"
#include "tests/support/fixtures/edit-archives.h"
#include "tests/support/fixtures/fxt-golden.h"
#include "tests/support/unit.h"

/* Copies all of ARCHIVE by RULES. The result is new, as in edited_text(). */
static char *copy(const struct outbuf *archive, const struct edit_rules *rules,
		  struct edit_counts *ret_counts)
{
	_cleanup_(fxt_reader_freep) struct fxt_reader *reader = NULL;
	_cleanup_(edit_copy_freep) struct edit_copy *c = NULL;
	const struct fxt_record *record;
	struct edit_output out;
	char *text;
	int r;

	OK(edit_output_init(&out));
	OK(edit_copy_new(&c, &out, rules));
	OK(fxt_reader_new_memory(&reader, archive->data, archive->size));
	while ((r = fxt_reader_next(reader, &record)) > 0)
		if (r == FXT_READER_RECORD)
			OK(edit_copy_record(c, record->provider, record));
	if (ret_counts)
		*ret_counts = *edit_copy_counts(c);
	text = edited_text(&out.bytes);
	edit_output_deinit(&out);
	return text;
}

static void assert_same_copy(const struct outbuf *archive)
{
	_cleanup_free_ char *source = edited_text(archive);
	_cleanup_free_ char *result = copy(archive, NULL, NULL);

	assert_string_equal(result, source);
}

static void read_file(const char *path, struct outbuf *ret)
{
	FILE *f = fopen(path, "re");
	uint8_t buf[4096];
	size_t n;

	assert_non_null(f);
	*ret = (struct outbuf){ 0 };
	while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
		OK(outbuf_append(ret, buf, n));
	fclose(f);
}

TEST(test_copy_everything)
{
	static const char *const files[] = { "everything", "events", "writer", "empty-session" };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct outbuf archive;
		char path[512];

		snprintf(path, sizeof(path), "%s/fxt/%s.fxt", GOLDEN_DIR, files[i]);
		read_file(path, &archive);
		assert_same_copy(&archive);
		outbuf_deinit(&archive);
	}
}

/* Ticks of 2 GHz become nanoseconds. The record of unknown type is counted. */
TEST(test_copy_golden)
{
	struct edit_counts counts;
	struct outbuf archive = { 0 };

	for (unsigned i = 0; i < GOLDEN_UNKNOWN; i++)
		OK(outbuf_append(&archive, golden_records[i].words,
				 golden_records[i].n_words * FXT_WORD_BYTES));
	assert_same_copy(&archive);
	OK(outbuf_append(&archive, golden_records[GOLDEN_UNKNOWN].words,
			 golden_records[GOLDEN_UNKNOWN].n_words * FXT_WORD_BYTES));
	{
		_cleanup_free_ char *text = copy(&archive, NULL, &counts);

		assert_null(strstr(text, "damage"));
		assert_int_equal(counts.refused, 1);
		assert_int_equal(counts.strings + counts.threads + counts.texts + counts.arguments,
				 0);
	}
	outbuf_deinit(&archive);
}

/* References to nothing, invalid text, unreadable arguments. */
TEST(test_copy_mends)
{
	const uint64_t undefined[] = {
		fxt_put_record_type(FXT_RECORD_EVENT) | fxt_put_record_words(2) |
			fxt_put_event_thread(9) | fxt_put_event_category(700) |
			fxt_put_event_name(800),
		50,
	};
	const uint64_t bad_args[] = {
		fxt_put_record_type(FXT_RECORD_EVENT) | fxt_put_record_words(8) |
			fxt_put_event_n_args(4),
		60,
		10,
		10,
		fxt_put_arg_type(14) | fxt_put_arg_words(1),             /* unknown */
		fxt_put_arg_type(FXT_ARG_UINT64) | fxt_put_arg_words(1), /* without its value */
		fxt_arg32(FXT_ARG_UINT32, 0, 7),
		fxt_put_arg_type(FXT_ARG_NULL) | fxt_put_arg_words(9), /* too large */
	};
	struct fxt_out_arg text = { FXT_ARG_STRING, fxt_interned("k"),
				    .text = { .text = "a\xff"
						      "b",
					      .length = 3 } };
	struct edit_counts counts;
	_cleanup_free_ char *words = NULL;
	struct source s;

	source_init(&s);
	as_app(&s);
	put_words(&s, undefined, ARRAY_SIZE(undefined));
	put_words(&s, bad_args, ARRAY_SIZE(bad_args));
	put_event_args(&s, 70, 10, "c", "n", &text, 1);
	words = copy(&s.bytes, NULL, &counts);
	assert_null(strstr(words, "damage"));
	assert_line(words, "app: 50 instant (lost)/(lost) 4325375/4325375");
	assert_line(words, "kymo: process 4325375 'unknown' uid:uint32=0");
	assert_line(words, "kymo: thread 4325375 'unknown' process:koid=4325375");
	assert_line(words, "app: 60 instant / 10/10 :uint32=7");
	assert_line(words, "app: 70 instant c/n 10/10 k:string=a\uFFFDb");
	assert_int_equal(counts.strings, 2);
	assert_int_equal(counts.threads, 1);
	assert_int_equal(counts.arguments, 3);
	assert_int_equal(counts.texts, 1);
	source_deinit(&s);
}

/* kymo's names have fixed places, so they are known even if their records were lost. */
TEST(test_copy_lost_names)
{
	const uint64_t sw[] = {
		fxt_switch_header(6, 2, 0, FXT_STATE_BLOCKED),
		100,
		5,
		0,
		fxt_arg32(FXT_ARG_INT32, FXT_NAME_OUTGOING_WEIGHT, 120),
		fxt_arg32(FXT_ARG_INT32, FXT_NAME_INCOMING_WEIGHT, (unsigned)FXT_IDLE_WEIGHT),
	};
	struct fxt_out_provider provider;
	struct outbuf bytes = { 0 };
	struct fxt_writer w = { .out = &bytes };
	_cleanup_free_ char *text = NULL;
	struct edit_counts counts;

	OK(fxt_out_provider_init(&provider, 1));
	OK(fxt_write_magic(&w));
	OK(fxt_write_provider_info(&w, &provider, "kymo"));
	OK(fxt_write_words(&w, sw, ARRAY_SIZE(sw)));
	text = copy(&bytes, NULL, &counts);
	assert_string_equal(text, "kymo: 100 cpu0 5>0 blocked\n");
	assert_int_equal(counts.strings, 0);
	fxt_out_provider_deinit(&provider);
	outbuf_deinit(&bytes);
}

/* A text that is equal to one of kymo's names is kept. */
TEST(test_copy_log_of_a_name)
{
	struct source s;

	source_init(&s);
	OK(fxt_write_log(&s.w, &(struct fxt_log){ 10, { 5, 5 }, "sched", 5 }));
	OK(fxt_write_module(&s.w, &(struct fxt_module){ 20, { 5, 5 }, 1, "kymo", "\1\2", 2 }));
	assert_same_copy(&s.bytes);
	source_deinit(&s);
}

/*
 * A provider with an earlier id and another name is a new one; with the same name, it is the
 * earlier one.
 */
TEST(test_copy_provider_again)
{
	_cleanup_free_ char *text = NULL;
	struct source s;

	source_init(&s);
	OK(fxt_write_provider_info(&s.w, &s.app, "one"));
	put_event(&s, FXT_EVENT_INSTANT, 10, 5, "c", "n", 0);
	OK(fxt_write_provider_info(&s.w, &s.app, "two"));
	put_event(&s, FXT_EVENT_INSTANT, 20, 5, "c", "n", 0);
	OK(fxt_write_provider_info(&s.w, &s.app, "two"));
	put_event(&s, FXT_EVENT_INSTANT, 30, 5, "c", "n", 0);
	text = copy(&s.bytes, NULL, NULL);
	assert_string_equal(text, "one: 10 instant c/n 5/5\n"
				  "two: 20 instant c/n 5/5\n"
				  "two: 30 instant c/n 5/5\n");
	source_deinit(&s);
}

/* More strings and threads than a table can hold. */
LARGE_TEST(test_copy_full_tables)
{
	struct source s;

	source_init(&s);
	as_app(&s);
	for (unsigned i = 0; i < 33000; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%u", i);
		put_event(&s, FXT_EVENT_INSTANT, i, 1 + i % 300, "c", name, 0);
	}
	assert_same_copy(&s.bytes);
	source_deinit(&s);
}

static uint64_t add_1000(void *userdata, uint64_t koid)
{
	(void)userdata;
	return koid + 1000;
}

static bool not_uint64(void *userdata, const struct fxt_record *record, int name,
		       struct fxt_out_arg *arg)
{
	(void)userdata;
	(void)record;
	(void)name;
	return arg->type != FXT_ARG_UINT64;
}

static size_t upper(void *userdata, const struct fxt_record *record, enum edit_text what,
		    int arg_name, const char *text, size_t n, char *to)
{
	(void)userdata;
	(void)record;
	(void)arg_name;
	if (what != EDIT_TEXT_NAME)
		return EDIT_TEXT_AS_IT_IS;
	for (size_t i = 0; i < n; i++)
		to[i] = (char)(text[i] - 'a' + 'A');
	return n;
}

TEST(test_copy_rules)
{
	const struct edit_rules rules = {
		.koid = add_1000, .arg = not_uint64, .text = upper, .shift_ns = -15, .shift_cpu = 4
	};
	const struct fxt_out_arg args[] = {
		{ FXT_ARG_KOID, fxt_interned("k"), .u64 = 9 },
		{ FXT_ARG_UINT64, fxt_interned("u"), .u64 = 9 },
	};
	_cleanup_free_ char *text = NULL;
	struct source s;

	source_init(&s);
	put_switch(&s, 20, 1, 5, 6, FXT_STATE_BLOCKED);
	put_wakeup(&s, 10, 2, 5);
	as_app(&s);
	put_event_args(&s, UINT64_MAX, 5, "cat", "label", args, 2);
	put_event(&s, FXT_EVENT_DURATION_COMPLETE, 10, 5, "cat", "exec", 30);
	text = copy(&s.bytes, &rules, NULL);
	assert_string_equal(text,
			    "kymo: 5 cpu5 1005>1006 blocked\n"
			    "kymo: 0 wake 1005 @6\n"
			    "app: 18446744073709551600 instant cat/LABEL 1005/1005 k:koid=1009\n"
			    "app: 0 complete cat/exec 1005/1005 ..15\n");
	source_deinit(&s);
}

TEST(test_shift)
{
	assert_int_equal(edit_shift_ns(5, -6), 0);
	assert_int_equal(edit_shift_ns(5, INT64_MIN), 0);
	assert_int_equal(edit_shift_ns(5, 6), 11);
	assert_true(edit_shift_ns(UINT64_MAX - 5, 6) == UINT64_MAX);
	assert_true(edit_shift_ns(UINT64_MAX, INT64_MIN) == UINT64_MAX / 2);
}

/*
 * Koids keep their 64 bits. A CPU that does not fit into a record is refused, without further
 * damage.
 */
TEST(test_copy_switch)
{
	const struct edit_rules rules = { .shift_cpu = FXT_CPU_MAX };
	_cleanup_(edit_copy_freep) struct edit_copy *c = NULL;
	_cleanup_free_ char *text = NULL;
	struct edit_output out;

	OK(edit_output_init(&out));
	OK(edit_copy_new(&c, &out, &rules));
	OK(edit_copy_switch(c, &(struct edit_switch){ 7, 0, UINT64_MAX, 0, 120, 120 }));
	OK(edit_copy_switch(c, &(struct edit_switch){ 8, 1, 5, 0, 120, 120 }));
	text = edited_text(&out.bytes);
	assert_string_equal(text, "kymo: 7 cpu65535 18446744073709551615>0 running *\n");
	assert_int_equal(edit_copy_counts(c)->refused, 1);
	edit_output_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copy_everything),
		cmocka_unit_test(test_copy_golden),
		cmocka_unit_test(test_copy_mends),
		cmocka_unit_test(test_copy_lost_names),
		cmocka_unit_test(test_copy_log_of_a_name),
		cmocka_unit_test(test_copy_provider_again),
		cmocka_unit_test(test_copy_full_tables),
		cmocka_unit_test(test_copy_rules),
		cmocka_unit_test(test_shift),
		cmocka_unit_test(test_copy_switch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
