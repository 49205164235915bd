/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes are derived by hand from the specification. The expected calls are texts.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "reader/apitrace/apitrace-reader.h"
#include "reader/apitrace/apitrace-text.h"
#include "reader/pack/unpack.h"
#include "tests/support/unit.h"
#include "writer/apitrace/apitrace-writer.h"

struct result {
	struct outbuf text;
	unsigned found[APITRACE_FINDING_MAX];
	struct apitrace_damage damage; /* .what NULL = none */
	int outcome;                   /* of the header */
};

static void found(void *userdata, enum apitrace_finding_id id, uint64_t offset)
{
	struct result *r = userdata;

	r->found[id]++;
}

static void result_deinit(struct result *r)
{
	outbuf_deinit(&r->text);
}

#define _result_ _cleanup_(result_deinit) struct result

static void read_calls(struct result *ret, const void *p, size_t n,
		       const struct apitrace_text_options *options)
{
	_cleanup_(apitrace_reader_freep) struct apitrace_reader *reader = NULL;
	const struct apitrace_header *h;
	const struct apitrace_call *call;
	int r;

	*ret = (struct result){ 0 };
	ret->outcome = apitrace_reader_new_memory(&reader, p, n, found, ret);
	if (ret->outcome != 0)
		return;
	h = apitrace_reader_header(reader);
	for (size_t i = 0; i < h->n_properties; i++)
		apitrace_text_property(&ret->text, &h->properties[i], options);
	while ((r = apitrace_reader_next(reader, &call)) > 0) {
		if (r == APITRACE_CALL) {
			apitrace_text_call(&ret->text, call, options);
			continue;
		}
		assert_null(ret->damage.what);
		ret->damage = *apitrace_reader_damage(reader);
	}
	assert_int_equal(r, 0);
	assert_int_equal(apitrace_reader_next(reader, &call), APITRACE_END);
}

static void assert_text(const struct result *r, const char *text)
{
	char got[4096];

	snprintf(got, sizeof(got), "%.*s", (int)r->text.size,
		 r->text.data ? (char *)r->text.data : "");
	assert_string_equal(got, text);
}

/* The bytes of the string LITERAL are the calls in TEXT, without damage. */
#define ASSERT_READ(literal, text)                                                                 \
	do {                                                                                       \
		static const struct apitrace_text_options o = { .thread_ids = true };              \
		_result_ r;                                                                        \
                                                                                                   \
		read_calls(&r, literal, sizeof(literal) - 1, &o);                                  \
		assert_int_equal(r.outcome, 0);                                                    \
		assert_null(r.damage.what);                                                        \
		assert_text(&r, text);                                                             \
	} while (0)

/* The same with damage, reported as WHAT at byte AT. */
#define ASSERT_DAMAGED(literal, text, at, says)                                                    \
	do {                                                                                       \
		static const struct apitrace_text_options o;                                       \
		_result_ r;                                                                        \
                                                                                                   \
		read_calls(&r, literal, sizeof(literal) - 1, &o);                                  \
		assert_int_equal(r.outcome, 0);                                                    \
		assert_non_null(r.damage.what);                                                    \
		assert_string_equal(r.damage.what, says);                                          \
		assert_int_equal(r.damage.offset, at);                                             \
		assert_text(&r, text);                                                             \
	} while (0)

/* ---- versions ---- */

/* A function's signature with id 0: f(x, y). */
#define F                                                                                          \
	"\x00\x01"                                                                                 \
	"f\x02\x01x\x01y"
#define VOID                                                                                       \
	"\x00\x01"                                                                                 \
	"f\x00"
#define CUT "the trace ends in the middle of an event"

TEST(version_0)
{
	/* The thread is a detail. An enum has one name, which is its value. */
	ASSERT_READ("\x00"
		    "\x00" F "\x03\x2a\x01\x00\x09\x00\x01"
		    "A\x04\x07\x00"
		    "\x01\x00\x02\x09\x00\x00"
		    "\x00\x00\x01\x01\x09\x01\x02"
		    "BC\x03\x01\x00"
		    "\x01\x01\x00",
		    "0 @2a f(x = A, y = ?) = A\n1 @0 f(x = ?, y = BC)\n");
}

TEST(versions_1_to_3)
{
	/* An opaque pointer, a blob. malloc is just a name. */
	ASSERT_READ("\x01"
		    "\x00" F "\x01\x00\x0d\x80\x01\x01\x01\x08\x02zz\x00"
		    "\x01\x00\x00",
		    "0 @0 f(x = 0x80, y = blob(2))\n");
	ASSERT_READ("\x02"
		    "\x00\x00\x06malloc\x01\x04size\x01\x00\x04\x40\x00"
		    "\x01\x00\x02\x0d\x10\x00",
		    "0 @0 malloc(size = 64) = 0x10\n");
	/* From version 3 on, an enum has all its names. */
	ASSERT_READ("\x03"
		    "\x00" F "\x03\x05\x01\x00\x09\x00\x02\x01"
		    "A\x04\x01\x01"
		    "B\x03\x01\x03\x01\x00"
		    "\x01\x00\x01\x01\x09\x00\x04\x01\x02\x09\x00\x04\x63\x00",
		    "0 @5 f(x = B, y = A) = 99\n");
}

TEST(versions_4_and_5)
{
	ASSERT_READ("\x04"
		    "\x00\x92\x21" VOID "\x00"
		    "\x01\x00\x02\x02\x00",
		    "0 @1092 f() = true\n");
	ASSERT_READ("\x05"
		    "\x00\x01" VOID "\x04\x02\x00\x01\x01m\x02\x01g\x03\x03"
		    "c.c\x04\x07\x05\x10\x00"
		    "\x01\x00\x00"
		    "\x01\x00\x04\x01\x00\x00",
		    "0 @1 f()\nBacktrace:\nm: g+0x10: c.c:7\n");
}

TEST(version_6)
{
	ASSERT_READ("\x06\x05\x01n\x03v\"w\x00"
		    "\x00\x01" VOID "\x05\x01\x00"
		    "\x01\x00\x00",
		    "// n = \"v\\\"w\"\n0 @1 f() // fake\n");
}

TEST(versions_that_are_not_known)
{
	static const struct apitrace_text_options o;
	_result_ r;

	read_calls(&r, "\x07", 1, &o);
	assert_int_equal(r.outcome, APITRACE_ALIEN_VERSION);
	assert_int_equal(apitrace_head_version((const uint8_t *)"\x87\x01", 2), 135);
	read_calls(&r, "", 0, &o);
	assert_int_equal(r.outcome, APITRACE_ALIEN_EMPTY);
}

TEST(semantics_above_the_version)
{
	static const struct apitrace_text_options o;
	_result_ r;

	read_calls(&r, "\x06\x07\x00", 3, &o);
	assert_int_equal(r.outcome, 0);
	assert_int_equal(r.found[APITRACE_SEMANTICS], 1);
}

/* ---- values ---- */

/* A call of version 4 that returns VALUE. */
#define RETURNS(value)            "\x04\x00\x01" VOID "\x00\x01\x00\x02" value "\x00"
#define ASSERT_VALUE(value, text) ASSERT_READ(RETURNS(value), "0 @1 f() = " text "\n")

TEST(values)
{
	ASSERT_VALUE("\x00", "NULL");
	ASSERT_VALUE("\x01", "false");
	ASSERT_VALUE("\x02", "true");
	ASSERT_VALUE("\x03\x05", "-5");
	ASSERT_VALUE("\x03\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", "-9223372036854775808");
	ASSERT_VALUE("\x04\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "18446744073709551615");
	/* A number can have more bytes than it needs. */
	ASSERT_VALUE("\x04\x85\x80\x00", "5");
	ASSERT_VALUE("\x05\xcd\xcc\xcc\x3d", "0.1");
	ASSERT_VALUE("\x06\x55\x55\x55\x55\x55\x55\xd5\x3f", "0.3333333333333333");
	ASSERT_VALUE("\x07\x06"
		     "a\n\"\\\t\x01",
		     "\"a\n\\\"\\\\\t\\1\"");
	ASSERT_VALUE("\x08\x00", "blob(0)");
	ASSERT_VALUE("\x0a\x00\x03\x01"
		     "0\x00\x01"
		     "A\x01\x01"
		     "B\x02\x03",
		     "A | B");
	ASSERT_VALUE("\x0a\x00\x03\x01"
		     "0\x00\x01"
		     "A\x01\x01"
		     "B\x02\x00",
		     "0");
	ASSERT_VALUE("\x0a\x00\x02\x01"
		     "A\x01\x01"
		     "B\x02\x06",
		     "B | 0x4");
	ASSERT_VALUE("\x0b\x00", "{}");
	ASSERT_VALUE("\x0b\x01\x00", "&NULL");
	ASSERT_VALUE("\x0b\x02\x01\x0b\x01\x02", "{false, &true}");
	ASSERT_VALUE("\x0c\x00\x01S\x01\x01x\x00", "{x = NULL}");
	ASSERT_VALUE("\x0c\x00\x01S\x02\x00\x01y\x0c\x01\x01I\x01\x01i\x00\x02",
		     "{i = NULL, y = true}");
	ASSERT_VALUE("\x0d\xff\x01", "0xff");
	ASSERT_VALUE("\x0e\x07\x01x\x04\x01", "\"x\"");
	ASSERT_VALUE("\x0f\x02w\xac\x41", "L\"w\\554\"");
}

TEST(arguments_that_come_again)
{
	ASSERT_READ("\x04\x00\x01" F "\x01\x00\x04\x01\x00"
		    "\x01\x00\x01\x00\x04\x02\x00",
		    "0 @1 f(x = 2, y = ?)\n");
}

TEST(control_characters_in_names)
{
	ASSERT_READ("\x04\x00\x01\x00\x03"
		    "f\x1b[\x00\x00"
		    "\x01\x00\x00",
		    "0 @1 f\xef\xbf\xbd[()\n");
}

/* ---- order ---- */

TEST(calls_come_as_they_end)
{
	ASSERT_READ("\x04"
		    "\x00\x01" VOID "\x00"
		    "\x00\x02\x00\x00"
		    "\x00\x03\x00\x00"
		    "\x01\x02\x00\x01\x01\x00",
		    "2 @3 f()\n1 @2 f()\n0 @1 f() // incomplete\n");
}

TEST(ends_of_nothing_are_skipped)
{
	static const struct apitrace_text_options o;
	static const char bytes[] =
		"\x04\x00\x01" VOID "\x00\x01\x05\x02\x04\x01\x00\x01\x00\x00\x01\x00\x00";
	_result_ r;

	read_calls(&r, bytes, sizeof(bytes) - 1, &o);
	assert_null(r.damage.what);
	assert_text(&r, "0 f()\n");
	assert_int_equal(r.found[APITRACE_LEAVE_WITHOUT_ENTER], 2);
}

TEST(arguments_that_are_not_declared)
{
	static const struct apitrace_text_options o;
	static const char bytes[] =
		"\x04\x00\x01" F "\x01\x02\x04\x01\x01\xff\xff\x03\x00\x00\x01\x00\x00";
	_result_ r;

	read_calls(&r, bytes, sizeof(bytes) - 1, &o);
	assert_null(r.damage.what);
	assert_text(&r, "0 f(x = ?, y = ?)\n");
	assert_int_equal(r.found[APITRACE_ARG_UNDECLARED], 2);
}

TEST(odd_signatures)
{
	static const struct apitrace_text_options o;
	static const char flags[] = RETURNS("\x0a\x00\x02\x01"
					    "A\x01\x01"
					    "B\x00\x01");
	static const char sparse[] = "\x04\x00\x01\xff\xff\xff\xff\x0f\x01"
				     "f\x00\x00";
	_result_ r, s;

	read_calls(&r, flags, sizeof(flags) - 1, &o);
	assert_int_equal(r.found[APITRACE_ZERO_FLAG], 1);
	read_calls(&s, sparse, sizeof(sparse) - 1, &o);
	assert_int_equal(s.found[APITRACE_SPARSE_ID], 1);
	assert_int_equal(s.found[APITRACE_NEVER_LEFT], 1);
	assert_text(&s, "0 f() // incomplete\n");
}

/* Calls without an end use a limited amount of memory: the oldest are dropped. */
LARGE_TEST(calls_without_an_end_are_bounded)
{
	enum { CALLS = 600000 };
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	_cleanup_(apitrace_reader_freep) struct apitrace_reader *reader = NULL;
	struct result ret = { 0 };
	const struct apitrace_call *call;
	uint64_t next = 0;
	int r;

	outbuf_append(&b, "\x04\x00\x01" VOID "\x00", 8);
	for (unsigned i = 1; i < CALLS; i++)
		outbuf_append(&b, "\x00\x01\x00\x00", 4);
	assert_int_equal(apitrace_reader_new_memory(&reader, b.data, b.size, found, &ret), 0);
	while ((r = apitrace_reader_next(reader, &call)) > 0) {
		assert_int_equal(call->no, next++);
		assert_int_equal(call->state, APITRACE_CALL_INCOMPLETE);
	}
	assert_int_equal(r, 0);
	assert_int_equal(next, CALLS);
	assert_true(ret.found[APITRACE_FORGOTTEN] > 0);
	assert_int_equal(ret.found[APITRACE_FORGOTTEN] + ret.found[APITRACE_NEVER_LEFT], CALLS);
}

/* ---- damage ---- */

/* A complete call, and an open one: 15 bytes. */
#define BEFORE "\x04\x00\x01" VOID "\x00\x01\x00\x00\x00\x01\x00\x00"
#define KEPT   "0 f()\n1 f() // incomplete\n"

TEST(damage_keeps_what_is_before_it)
{
	assert_int_equal(sizeof(BEFORE) - 1, 15);
	ASSERT_DAMAGED(BEFORE "\x02", KEPT, 15, "an unknown event");
	ASSERT_DAMAGED(BEFORE "\x00\x01\x00\x06", KEPT, 18, "an unknown detail of a call");
	ASSERT_DAMAGED(BEFORE "\x00\x01\x00\x02\x10", KEPT, 19, "a value of an unknown type");
	ASSERT_DAMAGED(BEFORE "\x00\x01\x00\x03\x01", KEPT, 18, "an unknown detail of a call");
	ASSERT_DAMAGED(BEFORE "\x00\x01\x00\x04\x01\x00\x06", KEPT, 21,
		       "an unknown detail of a stack frame");
	ASSERT_DAMAGED(BEFORE "\x00\x01\x00\x02\x09\x00\x01\x01"
			      "A\x05",
		       KEPT, 24, "the value of an enum that is no integer");
	ASSERT_DAMAGED(BEFORE "\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", KEPT, 16,
		       "a number of more than 64 bits");
	ASSERT_DAMAGED(BEFORE "\x00\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", KEPT, 17,
		       "an id that is too large");
}

TEST(absurd_counts_take_no_memory)
{
#define HUGE_COUNT "\xff\xff\xff\xff\xff\xff\xff\xff\x7f"
	ASSERT_DAMAGED(BEFORE "\x00\x01\x00\x02\x0b" HUGE_COUNT, KEPT, 29, CUT);
	ASSERT_DAMAGED(BEFORE "\x00\x01\x00\x02\x07" HUGE_COUNT, KEPT, 20,
		       "a string or blob of more than 256 MiB");
	ASSERT_DAMAGED(BEFORE "\x00\x01\x00\x02\x08\x80\x80\x80\x7f", KEPT, 24, CUT);
	ASSERT_DAMAGED(BEFORE "\x00\x01\x00\x02\x0f" HUGE_COUNT, KEPT, 20,
		       "a wide string of more than 256 MiB");
	ASSERT_DAMAGED(BEFORE "\x00\x01\x00\x04" HUGE_COUNT, KEPT, 28, CUT);
	ASSERT_DAMAGED(BEFORE "\x00\x01\x01\x01g" HUGE_COUNT, KEPT, 29, CUT);
	ASSERT_DAMAGED(BEFORE "\x00\x01\x00\x02\x09\x00" HUGE_COUNT, KEPT, 30, CUT);
	ASSERT_DAMAGED(BEFORE "\x00\x01\x00\x02\x0c\x00\x01S" HUGE_COUNT, KEPT, 32, CUT);
}

TEST(a_leave_event_that_is_cut_off)
{
	/* The call is there, with the readable part of its end. */
	ASSERT_DAMAGED("\x04\x00\x01" F "\x01\x00\x04\x01\x00\x01\x00\x02\x04\x07\x01\x01",
		       "0 f(x = 1, y = ?) = 7 // incomplete\n", 23, CUT);
}

TEST(a_header_that_is_cut_off)
{
	ASSERT_DAMAGED("\x06\x06\x01n\x01v\x05x", "// n = \"v\"\n", 7, CUT);
}

/* Wherever a file is cut, all complete calls before are there. */
TEST(cut_anywhere)
{
	static const char bytes[] =
		"\x04\x00\x01" F "\x01\x00\x0b\x02\x00\x07\x01q\x04\x01\x00\x01\x01m\x00\x00"
		"\x01\x00\x02\x0e\x00\x0c\x00\x01S\x01\x01m\x05zzzz\x00"
		"\x00\x01\x00\x00\x01\x01\x00";
	static const struct apitrace_text_options o;

	for (size_t n = 1; n < sizeof(bytes) - 1; n++) {
		_result_ r;
		/* (the ends of events) */
		bool whole = n == 1 || n == 27 || n == 45 || n == 49;

		read_calls(&r, bytes, n, &o);
		assert_int_equal(r.outcome, 0);
		assert_int_equal(r.damage.what == NULL, whole);
		assert_int_equal(r.damage.truncated, !whole);
		assert_int_equal(r.text.size > 0, n >= 27);
	}
}

TEST(values_that_nest_too_deep)
{
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	static const struct apitrace_text_options o;
	_result_ r;

	outbuf_append(&b, "\x04\x00\x01" VOID "\x02", 8);
	for (unsigned i = 0; i < 100000; i++)
		outbuf_append(&b, "\x0b\x01", 2);
	read_calls(&r, b.data, b.size, &o);
	assert_string_equal(r.damage.what, "values nested more than 200 deep");
}

/* ---- detection ---- */

TEST(heads)
{
#define IS(literal) apitrace_is_stream((const uint8_t *)(literal), sizeof(literal) - 1)
	assert_true(IS("\x06\x06\x0cprocess.name"));
	assert_true(IS("\x06\x06\x00"));
	assert_true(IS("\x06\x06\x00\x00\x01\x00\x01"
		       "f\x00"));
	assert_true(IS("\x05\x00\x01\x33\x06malloc\x01"));
	assert_true(IS("\x00\x00\x00\x06malloc\x01"));
	assert_true(IS("\x05"));
	assert_false(IS(""));
	assert_false(IS("\x06"));
	assert_false(IS("\x07\x07\x00"));
	assert_false(IS("\x06\x07\x00"));
	assert_false(IS("\x05\x01\x00\x00"));
	assert_false(IS("\x00\x00\x00\x00\x00\x00"));
	assert_false(IS("\x10\x00\x04\x46\x78\x54\x16\x00"));
	assert_false(IS("version=2.0"));
}

/* ---- reading and writing ---- */

/* The calls that were read are written again. The bytes are the same, since both count ids. */
TEST(written_as_it_was_read)
{
	static const char bytes[] = "\x06\x06\x01n\x01v\x00"
				    "\x00\x01" F "\x05\x01\x04\x02\x00\x01\x01m\x00\x00"
				    "\x01\x00\x0b\x02\x00\x07\x01q"
				    "\x01\x01\x0c\x00\x01S\x01\x01m\x0a\x00\x01\x01"
				    "A\x01\x03"
				    "\x02\x0e\x09\x00\x02\x01"
				    "A\x04\x07\x01"
				    "B\x03\x01\x03\x01\x0f\x01\x61\x00";
	static const char leave[] = "\x01\x00\x00";
	_cleanup_(apitrace_reader_freep) struct apitrace_reader *reader = NULL;
	_cleanup_(outbuf_deinit) struct outbuf in = { 0 }, out = { 0 };
	const struct apitrace_call *call;
	const struct apitrace_header *h;
	struct apitrace_writer w;

	outbuf_append(&in, bytes, sizeof(bytes) - 1);
	outbuf_append(&in, leave, sizeof(leave) - 1);
	assert_int_equal(apitrace_reader_new_memory(&reader, in.data, in.size, NULL, NULL), 0);
	h = apitrace_reader_header(reader);
	apitrace_writer_init(&w, &out);
	assert_int_equal(apitrace_writer_header(&w, h->properties, h->n_properties), 0);
	assert_int_equal(apitrace_reader_next(reader, &call), APITRACE_CALL);
	apitrace_writer_enter(&w, (uint32_t)call->thread, call->function);
	apitrace_writer_flags(&w, (uint32_t)call->flags);
	apitrace_writer_backtrace(&w, call->frames, call->n_frames);
	for (uint32_t i = 0; i < call->n_args; i++) {
		apitrace_writer_arg(&w, i);
		apitrace_put_value(&w, call->args[i].value);
	}
	apitrace_writer_ret(&w);
	apitrace_put_value(&w, call->ret);
	assert_int_equal(apitrace_writer_end(&w), 0);
	assert_int_equal(out.size, sizeof(bytes) - 1);
	assert_memory_equal(out.data, bytes, out.size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(version_0),
		cmocka_unit_test(versions_1_to_3),
		cmocka_unit_test(versions_4_and_5),
		cmocka_unit_test(version_6),
		cmocka_unit_test(versions_that_are_not_known),
		cmocka_unit_test(semantics_above_the_version),
		cmocka_unit_test(values),
		cmocka_unit_test(arguments_that_come_again),
		cmocka_unit_test(control_characters_in_names),
		cmocka_unit_test(calls_come_as_they_end),
		cmocka_unit_test(ends_of_nothing_are_skipped),
		cmocka_unit_test(arguments_that_are_not_declared),
		cmocka_unit_test(odd_signatures),
		cmocka_unit_test(calls_without_an_end_are_bounded),
		cmocka_unit_test(damage_keeps_what_is_before_it),
		cmocka_unit_test(absurd_counts_take_no_memory),
		cmocka_unit_test(a_leave_event_that_is_cut_off),
		cmocka_unit_test(a_header_that_is_cut_off),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(values_that_nest_too_deep),
		cmocka_unit_test(heads),
		cmocka_unit_test(written_as_it_was_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
