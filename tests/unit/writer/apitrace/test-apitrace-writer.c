/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/support/unit.h"
#include "writer/apitrace/apitrace-writer.h"

#define T(text) APITRACE_TEXT(text)

static const struct apitrace_text xy[] = { T("x"), T("y") };
static const struct apitrace_number_name ab[] = { { T("A"), 0 }, { T("B"), 1 } };

/* The common begin of all tests: a writer that has entered f(x, y) and is at its first value. */
struct fixture {
	struct outbuf out;
	struct apitrace_writer w;
	struct apitrace_names f, s;
	struct apitrace_set set;
};

static void begin(struct fixture *x)
{
	*x = (struct fixture){
		.f = { .name = T("f"), .names = xy, .n = 2 },
		.s = { .name = T("S"), .names = xy, .n = 2 },
		.set = { .values = ab, .n = 2 },
	};
	apitrace_writer_init(&x->w, &x->out);
}

static void begin_value(struct fixture *x)
{
	begin(x);
	assert_int_equal(apitrace_writer_enter(&x->w, 1, &x->f), 0);
	apitrace_writer_arg(&x->w, 0);
	outbuf_reset(&x->out);
}

static void deinit(struct fixture *x)
{
	outbuf_deinit(&x->out);
}

#define _fixture_ _cleanup_(deinit) struct fixture

/* The output is the bytes of the string LITERAL. */
#define ASSERT_BYTES(x, literal)                                                                   \
	do {                                                                                       \
		assert_int_equal((x)->out.size, sizeof(literal) - 1);                              \
		assert_memory_equal((x)->out.data, literal, sizeof(literal) - 1);                  \
	} while (0)

#define ASSERT_VALUE(put, literal)                                                                 \
	do {                                                                                       \
		_fixture_ x;                                                                       \
		struct apitrace_writer *w = &x.w;                                                  \
                                                                                                   \
		begin_value(&x);                                                                   \
		put;                                                                               \
		ASSERT_BYTES(&x, literal);                                                         \
		assert_int_equal(w->error, 0);                                                     \
		assert_int_equal(w->missing, 0);                                                   \
	} while (0)

/* ---- values ---- */

TEST(simple_values)
{
	ASSERT_VALUE(apitrace_put_null(w), "\x00");
	ASSERT_VALUE(apitrace_put_bool(w, false), "\x01");
	ASSERT_VALUE(apitrace_put_bool(w, true), "\x02");
	ASSERT_VALUE(apitrace_put_sint(w, -1), "\x03\x01");
	ASSERT_VALUE(apitrace_put_sint(w, 5), "\x04\x05");
	ASSERT_VALUE(apitrace_put_sint(w, INT64_MIN),
		     "\x03\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01");
	ASSERT_VALUE(apitrace_put_uint(w, 0), "\x04\x00");
	ASSERT_VALUE(apitrace_put_uint(w, 127), "\x04\x7f");
	ASSERT_VALUE(apitrace_put_uint(w, 128), "\x04\x80\x01");
	ASSERT_VALUE(apitrace_put_uint(w, 300), "\x04\xac\x02");
	ASSERT_VALUE(apitrace_put_uint(w, UINT64_MAX),
		     "\x04\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	ASSERT_VALUE(apitrace_put_float(w, 1.0f), "\x05\x00\x00\x80\x3f");
	ASSERT_VALUE(apitrace_put_double(w, -2.0), "\x06\x00\x00\x00\x00\x00\x00\x00\xc0");
	ASSERT_VALUE(apitrace_put_string(w, "ab\0c", 4), "\x07\x04"
							 "ab\0c");
	ASSERT_VALUE(apitrace_put_blob(w, "\xff", 1), "\x08\x01\xff");
	ASSERT_VALUE(apitrace_put_pointer(w, 0), "\x00");
	ASSERT_VALUE(apitrace_put_pointer(w, 0x80), "\x0d\x80\x01");
	ASSERT_VALUE(apitrace_put_wstring(w, ((uint32_t[]){ 'a', 0x20ac }), 2),
		     "\x0f\x02\x61\xac\x41");
}

TEST(values_with_signatures)
{
	ASSERT_VALUE(apitrace_put_enum(w, &x.set, -1), "\x09\x00\x02\x01"
						       "A\x04\x00\x01"
						       "B\x04\x01\x03\x01");
	ASSERT_VALUE(apitrace_put_bitmask(w, &x.set, 1), "\x0a\x00\x02\x01"
							 "A\x00\x01"
							 "B\x01\x01");
	ASSERT_VALUE(
		{
			apitrace_put_array(w, 2);
			apitrace_put_null(w);
			apitrace_put_repr(w);
			apitrace_put_bool(w, true);
			apitrace_put_uint(w, 1);
		},
		"\x0b\x02\x00\x0e\x02\x04\x01");
	ASSERT_VALUE(
		{
			apitrace_put_struct(w, &x.s);
			apitrace_put_null(w);
			apitrace_put_struct(w, &x.s);
			apitrace_put_null(w);
			apitrace_put_null(w);
		},
		"\x0c\x00\x01S\x02\x01x\x01y\x00\x0c\x00\x00\x00");
	ASSERT_VALUE(apitrace_put_array(w, 0), "\x0b\x00");
}

/* ---- events ---- */

TEST(header)
{
	static const struct apitrace_property properties[] = { { T("n"), T("v") } };
	_fixture_ x;

	begin(&x);
	assert_int_equal(apitrace_writer_header(&x.w, properties, 1), 0);
	ASSERT_BYTES(&x, "\x06\x06\x01n\x01v\x00");
}

TEST(header_needs_names)
{
	static const struct apitrace_property properties[] = { { T(""), T("v") } };
	_fixture_ x;

	begin(&x);
	assert_int_equal(apitrace_writer_header(&x.w, properties, 1), -EINVAL);
	assert_int_equal(x.out.size, 0);
}

TEST(events)
{
	_fixture_ x;

	begin(&x);
	assert_int_equal(apitrace_writer_enter(&x.w, 300, &x.f), 0);
	apitrace_writer_flags(&x.w, APITRACE_FLAG_FAKE);
	apitrace_writer_arg(&x.w, 1);
	apitrace_put_null(&x.w);
	assert_int_equal(apitrace_writer_end(&x.w), 0);
	ASSERT_BYTES(&x, "\x00\xac\x02\x00\x01"
			 "f\x02\x01x\x01y\x05\x01\x01\x01\x00\x00");
	/* The signature was written before, since ids are counted. */
	outbuf_reset(&x.out);
	assert_int_equal(apitrace_writer_enter(&x.w, 1, &x.f), 1);
	assert_int_equal(apitrace_writer_end(&x.w), 0);
	assert_int_equal(apitrace_writer_enter(&x.w, 1, &x.s), 2);
	assert_int_equal(apitrace_writer_end(&x.w), 0);
	ASSERT_BYTES(&x, "\x00\x01\x00\x00\x00\x01\x01\x01S\x02\x01x\x01y\x00");
	outbuf_reset(&x.out);
	apitrace_writer_leave(&x.w, 1);
	apitrace_writer_ret(&x.w);
	apitrace_put_uint(&x.w, 9);
	assert_int_equal(apitrace_writer_end(&x.w), 0);
	ASSERT_BYTES(&x, "\x01\x01\x02\x04\x09\x00");
}

TEST(backtraces)
{
	struct apitrace_frame known = { .module = T("m"),
					.function = T("g"),
					.file = T("c"),
					.has_line = true,
					.line = 7,
					.has_offset = true,
					.offset = 128 };
	struct apitrace_frame unknown = { 0 };
	_fixture_ x;

	begin(&x);
	apitrace_writer_enter(&x.w, 1, &x.f);
	outbuf_reset(&x.out);
	apitrace_writer_backtrace(&x.w, (struct apitrace_frame *[]){ &known, &unknown, &known }, 3);
	ASSERT_BYTES(&x, "\x04\x03\x00\x01\x01m\x02\x01g\x03\x01"
			 "c\x04\x07\x05\x80\x01\x00\x01\x00\x00");
}

/* ---- errors ---- */

static void assert_refused(struct fixture *x, int error)
{
	size_t before = x->w.begin;

	assert_int_equal(apitrace_writer_end(&x->w), error);
	assert_int_equal(x->out.size, before);
	/* and the error remains */
	apitrace_writer_enter(&x->w, 1, &x->f);
	assert_int_equal(apitrace_writer_end(&x->w), error);
}

TEST(arguments_that_are_not_declared)
{
	_fixture_ x;

	begin(&x);
	apitrace_writer_enter(&x.w, 1, &x.f);
	apitrace_writer_arg(&x.w, 2);
	apitrace_put_null(&x.w);
	assert_refused(&x, -EINVAL);
}

TEST(values_too_many_or_too_few)
{
	_fixture_ few, many, none;

	begin(&few);
	apitrace_writer_enter(&few.w, 1, &few.f);
	apitrace_writer_arg(&few.w, 0);
	apitrace_put_array(&few.w, 2);
	apitrace_put_null(&few.w);
	assert_refused(&few, -EINVAL);

	begin(&many);
	apitrace_writer_enter(&many.w, 1, &many.f);
	apitrace_writer_arg(&many.w, 0);
	apitrace_put_null(&many.w);
	apitrace_put_null(&many.w);
	assert_refused(&many, -EINVAL);

	begin(&none);
	apitrace_writer_enter(&none.w, 1, &none.f);
	apitrace_writer_ret(&none.w);
	apitrace_writer_arg(&none.w, 0);
	apitrace_put_null(&none.w);
	assert_refused(&none, -EINVAL);
}

TEST(flags_of_value_0_behind_others)
{
	static const struct apitrace_number_name wrong[] = { { T("A"), 1 }, { T("B"), 0 } };
	struct apitrace_set set = { .values = wrong, .n = 2 };
	_fixture_ x;

	begin(&x);
	apitrace_writer_enter(&x.w, 1, &x.f);
	apitrace_writer_ret(&x.w);
	apitrace_put_bitmask(&x.w, &set, 0);
	assert_refused(&x, -EINVAL);
}

TEST(leaving_what_was_not_entered)
{
	_fixture_ x;

	begin(&x);
	apitrace_writer_leave(&x.w, 0);
	assert_refused(&x, -EINVAL);
}

TEST(more_calls_than_readers_can_count)
{
	_fixture_ x;

	begin(&x);
	x.w.calls = UINT32_MAX;
	assert_int_equal(apitrace_writer_enter(&x.w, 1, &x.f), UINT32_MAX);
	assert_int_equal(apitrace_writer_end(&x.w), 0);
	apitrace_writer_enter(&x.w, 1, &x.f);
	assert_refused(&x, -EOVERFLOW);
}

TEST(no_room)
{
	_fixture_ x;

	begin(&x);
	x.out.limit = 4096;
	apitrace_writer_enter(&x.w, 1, &x.f);
	assert_int_equal(apitrace_writer_end(&x.w), 0);
	apitrace_writer_enter(&x.w, 1, &x.f);
	apitrace_writer_arg(&x.w, 0);
	apitrace_put_blob(&x.w, (char[5000]){ "" }, 5000);
	assert_refused(&x, -EMSGSIZE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(simple_values),
		cmocka_unit_test(values_with_signatures),
		cmocka_unit_test(header),
		cmocka_unit_test(header_needs_names),
		cmocka_unit_test(events),
		cmocka_unit_test(backtraces),
		cmocka_unit_test(arguments_that_are_not_declared),
		cmocka_unit_test(values_too_many_or_too_few),
		cmocka_unit_test(flags_of_value_0_behind_others),
		cmocka_unit_test(leaving_what_was_not_entered),
		cmocka_unit_test(more_calls_than_readers_can_count),
		cmocka_unit_test(no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
