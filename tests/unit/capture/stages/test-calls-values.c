/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The values of calls: arguments, results, copied texts and sets of descriptors.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "capture/calls/call-values.h"
#include "tests/support/fixtures/archive-text.h"
#include "tests/support/fixtures/calls-stage.h"
#include "tests/support/unit.h"

static void value_line(const struct event *ev, void *to)
{
	for (unsigned i = 0; ev->kind == EVENT_CALL && i < ev->call.n_args; i++) {
		const struct call_value *v = &ev->call.args[i];

		if (v->form == CALL_VALUE_TEXT)
			fprintf(to, "%s=%s ", v->name, v->text);
		else if (v->form == CALL_VALUE_BOOL)
			fprintf(to, "%s=%s ", v->name, v->yes ? "yes" : "no");
		else
			fprintf(to, "%s=%d:%jd ", v->name, (int)v->form, (intmax_t)v->i64);
	}
	if (ev->kind == EVENT_CALL && ev->call.result.form == CALL_VALUE_TEXT)
		fprintf(to, "-> %s\n", ev->call.result.text);
	else if (ev->kind == EVENT_CALL)
		fprintf(to, "-> %jd\n", (intmax_t)ev->call.result.i64);
}

static void argument_line(const struct event *ev, void *to)
{
	if (ev->kind == EVENT_CALL && ev->call.args[0].form == CALL_VALUE_TEXT)
		fprintf(to, "%s=%s ", ev->call.args[0].name, ev->call.args[0].text);
}

TEST(test_values)
{
	struct fixture *f = *state;
	struct rec_call rec = {
		.head = { .ts_ns = 110, .kind = REC_CALL, .size = REC_CALL_BYTES(2), .tid = 7 },
		.function = TEXT,
		.n_texts = 2,
		.sp = 8000,
		.args = { 0xffffffff00000003, 0x5000, 0x6000, 5, 0xff00, 0x1ff },
		.texts = { { .bytes = 5,
			     .cut = 1,
			     .text = "a\"\n\1"
				     "2" },
			   { .bytes = 3, .text = { 0, (char)0xff, 'x' } } },
	};
	struct rec_call_end end = {
		.head = { .ts_ns = 120, .kind = REC_CALL_END, .size = sizeof(end), .tid = 7 },
		.function = TEXT,
		.sp = 8000,
		.result = (uint32_t)-ENOENT,
	};
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	assert_int_equal(calls_record(&f->calls, &rec.head), 0);
	assert_int_equal(calls_record(&f->calls, &end.head), 0);
	rec.texts[0].bytes = -EFAULT;
	rec.args[2] = 0;
	rec.args[4] = 1;
	assert_int_equal(calls_record(&f->calls, &rec.head), 0);
	end.result = 3;
	assert_int_equal(calls_record(&f->calls, &end.head), 0);
	archive_events(&f->out, value_line, to);
	fclose(to);
	assert_string_equal(text,
			    "to=1:3 s=\"a\\\"\\n\\0012\"... b=\"\\0\\377x\" n=2:5 y=no c=1:-1 "
			    "-> ENOENT\n"
			    "to=1:3 s=3:20480 b=3:0 n=2:5 y=yes c=1:-1 -> 3\n");
}

/*
 * Texts that are read at the return: those that are only valid then, and those that were unreadable
 * before.
 */
TEST(test_late_texts)
{
	struct fixture *f = *state;
	struct call_spec_error error;
	struct rec_call rec = {
		.head = { .ts_ns = 110, .kind = REC_CALL, .size = REC_CALL_BYTES(1), .tid = 7 },
		.function = TEXT,
		.n_texts = 1,
		.sp = 8000,
		.args = { 3, 0x5000, 0x6000, 0x42 },
		.texts = { { .bytes = -EFAULT } },
	};
	struct rec_call_end end = {
		.head = { .ts_ns = 120,
			  .kind = REC_CALL_END,
			  .size = REC_CALL_END_BYTES(2),
			  .tid = 7 },
		.function = TEXT,
		.n_texts = 2,
		.sp = 8000,
		.result = 2,
		.texts = { { .bytes = 4, .text = "path" }, { .bytes = 2, .text = "ab" } },
	};
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	assert_int_equal(call_spec_parse("f:text(fd to, out buf[9] b, str s, flags:open o) -> int",
					 &f->specs[TEXT], &error),
			 0);
	assert_int_equal(calls_record(&f->calls, &rec.head), 0);
	assert_int_equal(calls_record(&f->calls, &end.head), 0);
	end.n_texts = 0;
	assert_int_equal(calls_record(&f->calls, &rec.head), 0);
	assert_int_equal(calls_record(&f->calls, &end.head), 0);
	archive_events(&f->out, value_line, to);
	fclose(to);
	assert_string_equal(text, "to=1:3 b=\"ab\" s=\"path\" o=O_RDWR|O_CREAT -> 2\n"
				  "to=1:3 b=3:20480 s=3:24576 o=O_RDWR|O_CREAT -> 2\n");
}

/*
 * A register that does not have the result says neither whether the call has failed, nor how much
 * it has written. So the programs copy everything, whatever the register has.
 */
TEST(test_unavailable_result)
{
#define STATUS "{WIFSIGNALED(s) && WTERMSIG(s) == 97}"
	static const struct {
		const char *spec;
		uint8_t unit;
		const char *text; /* with the results -1, 0 and 1 */
	} rows[] = {
		{ "out buf[n] b, size_t n) -> int64@?wide", 1, "b=\"ab\" b=\"ab\" b=\"ab\" " },
		{ "out buf[n] b, size_t n) -> double@?vector", 1, "b=\"ab\" b=\"ab\" b=\"ab\" " },
		{ "out buf[n] b, size_t n)", 1, "b=\"ab\" b=\"ab\" b=\"ab\" " },
		{ "out buf[n] b, size_t n) -> long", 0, "b=\"ab\" b=\"ab\" " },
		{ "out struct:status b) -> int@?wide", 1,
		  "b=" STATUS " b=" STATUS " b=" STATUS " " },
		{ "out struct:status b) -> int", 1, "b=" STATUS " " },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct fixture *f = *state;
		struct call_spec_error error;
		struct rec_call rec = {
			.head = { .ts_ns = 110,
				  .kind = REC_CALL,
				  .size = REC_CALL_BYTES(0),
				  .tid = 7 },
			.function = TEXT,
			.sp = 8000,
			.args = { 0x5000, 2 },
		};
		struct rec_call_end end = {
			.head = { .ts_ns = 120,
				  .kind = REC_CALL_END,
				  .size = REC_CALL_END_BYTES(1),
				  .tid = 7 },
			.function = TEXT,
			.n_texts = 1,
			.sp = 8000,
			.texts = { { .bytes = strstr(rows[i].spec, "status") ? 4 : 2,
				     .text = "ab" } },
		};
		_cleanup_free_ char *text = NULL;
		char spec[128];
		size_t size;
		FILE *to = open_memstream(&text, &size);

		snprintf(spec, sizeof(spec), "f:text(%s", rows[i].spec);
		assert_int_equal(call_spec_parse(spec, &f->specs[TEXT], &error), 0);
		assert_int_equal(call_target_watch(&f->list[TEXT]).texts[0].unit, rows[i].unit);
		for (int64_t result = -1; result <= 1; result++) {
			end.result = (uint64_t)result;
			assert_int_equal(calls_record(&f->calls, &rec.head), 0);
			assert_int_equal(calls_record(&f->calls, &end.head), 0);
		}
		archive_events(&f->out, argument_line, to);
		fclose(to);
		assert_string_equal(text, rows[i].text);
		calls_stage_tear_down(state);
		calls_stage_set_up(state);
	}
}

/* The longest text, of the bytes that need most room. */
TEST(test_quote_room)
{
	struct call_spec spec;
	struct call_spec_error error;
	struct call_text bytes = { .bytes = CALL_TEXT_BYTES, .cut = 1 };
	const struct call_copies copies = { .in = &bytes };
	char text[CALL_VALUE_TEXT_MAX];

	assert_int_equal(call_spec_parse("f:f(buf[n] b, size_t n)", &spec, &error), 0);
	memset(bytes.text, 0xff, sizeof(bytes.text));
	assert_ptr_equal(
		call_value_copied(&spec.args[0].type, &copies, CALL_TEXT_BYTES, 1, text).text,
		text);
	assert_int_equal(strlen(text), 4 * CALL_TEXT_BYTES + 5);
	assert_true(strlen(text) < sizeof(text));
}

/* A set of descriptors ends after the number of them in the call. */
TEST(test_descriptors)
{
	struct call_spec spec;
	struct call_spec_error error;
	struct call_text text = { .bytes = 9, .text = "\x05\x80\xff\xff\xff\xff\xff\xff\xff" };
	const struct call_copies copies = { .in = &text };
	static const struct {
		uint64_t count;
		const char *shown;
	} sets[] = {
		{ 1, "[0]" },    { 2, "[0]" },       { 3, "[0 2]" },
		{ 15, "[0 2]" }, { 16, "[0 2 15]" }, { 17, "[0 2 15 16]" },
	};
	char to[CALL_VALUE_TEXT_MAX];

	assert_int_equal(call_spec_parse("syscall:select(int n, struct:fds[n] fds)", &spec, &error),
			 0);
	for (size_t i = 0; i < ARRAY_SIZE(sets); i++)
		assert_string_equal(
			call_value_copied(&spec.args[1].type, &copies, sets[i].count, 1, to).text,
			sets[i].shown);
	assert_int_equal(call_value_copied(&spec.args[1].type, &copies, 0, 1, to).form,
			 CALL_VALUE_POINTER);
	/* The copy has the first eight bits. */
	text.bytes = 1;
	assert_string_equal(call_value_copied(&spec.args[1].type, &copies, 64, 1, to).text,
			    "[0 2 ...]");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, calls_stage_set_up, calls_stage_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_values),     CASE(test_late_texts),  CASE(test_unavailable_result),
		CASE(test_quote_room), CASE(test_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
