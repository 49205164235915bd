/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/support/fixtures/golden-file.h"
#include "tests/support/known-resource.h"
#include "tests/support/unit.h"
#include "writer/rtrace/rtrace-writer.h"

#define T(literal) RTRACE_TEXT(literal)

struct fixture {
	struct outbuf out;
	struct rtrace_writer w;
};

static void begin(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	rtrace_writer_init(&f->w, &f->out, NULL);
}

static void end(struct fixture *f)
{
	outbuf_deinit(&f->out);
}

/* Compares the text written since the last call. */
static void assert_written(struct fixture *f, const char *text)
{
	assert_int_equal(f->out.size, strlen(text));
	assert_memory_equal(f->out.data, text, strlen(text));
	outbuf_reset(&f->out);
}

/* A report with a header and one resource, up to its calls. */
static void begin_calls(struct fixture *f, unsigned filters)
{
	begin(f);
	assert_int_equal(rtrace_write_header(&f->w, &(struct rtrace_header){ .filters = filters }),
			 0);
	assert_int_equal(write_known_resource(&f->w, RTRACE_KNOWN_MEMORY), 0);
	outbuf_reset(&f->out);
}

static int write_malloc(struct fixture *f, uint64_t index)
{
	return rtrace_write_call(&f->w, &(struct rtrace_call){
						.index = index,
						.name = T("malloc"),
						.size = 8,
						.id = 0x10,
					});
}

/* ---- all features, byte by byte; the file was written by hand ---- */

static void write_environment(struct rtrace_writer *w)
{
	const struct rtrace_header header = {
		.arch = T("x86_64"),
		.timestamp = T("2026.11.20 08:27:22"),
		.process = T("/usr/bin/a=b,c"),
		.pid = 4242,
		.filters = RTRACE_FILTER_LEAKS | RTRACE_FILTER_RESOLVE,
		.has_depth = true,
		.depth = 10,
		.origin = T("kymo 0.1.0"),
	};
	int r = 0;

	r |= rtrace_write_header(w, &header);
	r |= rtrace_write_attachment(w, &(struct rtrace_attachment){ T("smaps"), T("/tmp/a b") });
	r |= rtrace_write_note(w, T("## tracing module: [1] memory (1.0)"));
	r |= rtrace_write_note(w, T("## 50% of it"));
	r |= rtrace_write_note(w, T("without a mark"));
	r |= rtrace_write_note(w, T("# temporary"));
	r |= rtrace_write_context(w, &(struct rtrace_context){ 1, T("first context") });
	r |= rtrace_write_context(w, &(struct rtrace_context){ 0x80000000, T("the last") });
	r |= write_known_resource(w, RTRACE_KNOWN_MEMORY);
	r |= write_known_resource(w, RTRACE_KNOWN_FD);
	r |= write_known_resource(w, RTRACE_KNOWN_SEGMENT);
	r |= rtrace_write_map(w,
			      &(struct rtrace_map){ T("/usr/bin/a b"), 0x400000, 0x7fffffffffff });
	assert_int_equal(r, 0);
}

static void write_first_call(struct rtrace_writer *w)
{
	const struct rtrace_call call = {
		.index = 1,
		.contexts = 0x80000001,
		.has_time = true,
		.time_ns = 1002003004,
		.name = T("malloc"),
		.type = T("memory"),
		.size = 64,
		.id = 0x55d0c0ffee00,
	};
	int r = rtrace_write_call(w, &call);

	r |= rtrace_write_arg(w, &(struct rtrace_arg){ T("tid"), T("4242") });
	r |= rtrace_write_arg(w, &(struct rtrace_arg){ T("path"), T("/etc/a b") });
	r |= rtrace_write_arg(w, &(struct rtrace_arg){ .name = T("empty") });
	r |= rtrace_write_frame(w, &(struct rtrace_frame){ 0x401000, T("main() at main.c:12") });
	r |= rtrace_write_frame(w, &(struct rtrace_frame){ 0x401100, T(RTRACE_FRAME_UNKNOWN) });
	r |= rtrace_write_frame(w, &(struct rtrace_frame){ .address = 0x401200 });
	r |= rtrace_write_end(w);
	assert_int_equal(r, 0);
}

static void write_calls(struct rtrace_writer *w)
{
	const struct rtrace_call calls[] = {
		{ .index = 2,
		  .has_time = true,
		  .time_ns = UINT64_C(108000001) * 1000000,
		  .name = T("free"),
		  .type = T("memory"),
		  .is_free = true,
		  .id = 0x55d0c0ffee00 },
		/* A time below a millisecond counts as none. */
		{ .index = 3,
		  .has_time = true,
		  .time_ns = 999999,
		  .name = T("operator new(unsigned long)"),
		  .type = T("memory"),
		  .size = UINT64_C(3000000000),
		  .id = 0x10 },
		{ .index = 4,
		  .has_time = true,
		  .time_ns = RTRACE_TIME_MAX_NS,
		  .name = T("std::vector<int>"),
		  .type = T("memory"),
		  .id = UINT64_MAX },
		{ .index = RTRACE_INT_MAX,
		  .name = T("shmget"),
		  .type = T("segment"),
		  .size = 1,
		  .id = 7 },
	};

	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(rtrace_write_call(w, &calls[i]), 0);
		if (i == 1)
			assert_int_equal(rtrace_write_frame(
						 w, &(struct rtrace_frame){ .address = 0x401000 }),
					 0);
		assert_int_equal(rtrace_write_end(w), 0);
	}
}

TEST(test_everything)
{
	const struct rtrace_resource memory = rtrace_known_resource(RTRACE_KNOWN_MEMORY);
	struct fixture f;

	begin(&f);
	write_environment(&f.w);
	write_first_call(&f.w);
	write_calls(&f.w);
	assert_int_equal(rtrace_write_leaks_summary(&f.w,
						    &(struct rtrace_summary){
							    .type = memory.type,
							    .description = memory.description,
							    .count = 1,
							    .size = UINT64_C(3000000000),
						    }),
			 0);
	assert_golden("rtrace/everything.txt", f.out.data, f.out.size);
	end(&f);
}

TEST(test_compressed)
{
	static const uint64_t sizes[] = { 10, 20 };
	struct fixture f;
	int r;

	begin(&f);
	r = rtrace_write_header(&f.w, &(struct rtrace_header){ .filters = RTRACE_FILTER_COMPRESS });
	r |= write_known_resource(&f.w, RTRACE_KNOWN_MEMORY);
	r |= rtrace_write_map(&f.w, &(struct rtrace_map){ T("/bin/a"), 0x1000, 0x2000 });
	for (unsigned i = 0; i < 2; i++)
		r |= rtrace_write_call(&f.w, &(struct rtrace_call){
						     .index = i + 1,
						     .has_time = true,
						     .time_ns = (i + 1) * UINT64_C(1000000),
						     .name = T("malloc"),
						     .size = sizes[i],
						     .id = 0x10 * (i + 1),
					     });
	r |= rtrace_write_arg(&f.w, &(struct rtrace_arg){ T("tid"), T("1") });
	assert_int_equal(rtrace_write_end(&f.w), -EINVAL);
	assert_int_equal(rtrace_write_frame(&f.w, &(struct rtrace_frame){ .address = 1 }), -EINVAL);
	r |= rtrace_write_calls_summary(&f.w, 2, 30);
	assert_int_equal(write_malloc(&f, 9), -EINVAL);
	r |= rtrace_write_frame(&f.w, &(struct rtrace_frame){ .address = 0x1100 });
	r |= rtrace_write_frame(&f.w, &(struct rtrace_frame){ .address = 0x1200 });
	r |= rtrace_write_end(&f.w);
	/* A name that looks like one with a type gets its type. */
	r |= rtrace_write_call(
		&f.w, &(struct rtrace_call){
			      .index = 3, .name = T("vector<int>"), .size = 1, .id = 0x30 });
	r |= rtrace_write_calls_summary(&f.w, 1, 1);
	r |= rtrace_write_end(&f.w);
	assert_int_equal(r, 0);
	assert_golden("rtrace/compressed.txt", f.out.data, f.out.size);
	end(&f);
}

/* ---- forms ---- */

TEST(test_one_resource_is_not_named)
{
	struct fixture f;

	begin_calls(&f, 0);
	assert_int_equal(write_malloc(&f, 1), 0);
	assert_written(&f, "1. malloc(8) = 0x10\n");
	end(&f);
}

TEST(test_spec_time)
{
	const struct rtrace_writer_options options = { .spec_time = true };
	struct rtrace_call call = { .index = 1, .has_time = true, .name = T("f"), .id = 1 };
	struct fixture f;

	begin_calls(&f, 0);
	f.w.options = options;
	assert_int_equal(rtrace_write_call(&f.w, &call), 0);
	assert_written(&f, "1. [00:00:00.000000] f(0) = 0x1\n");
	assert_int_equal(rtrace_write_end(&f.w), 0);
	outbuf_reset(&f.out);
	call.time_ns = UINT64_C(3723004005006);
	assert_int_equal(rtrace_write_call(&f.w, &call), 0);
	assert_written(&f, "1. [01:02:03.004005] f(0) = 0x1\n");
	end(&f);
}

TEST(test_timestamp)
{
	char text[RTRACE_TIMESTAMP_MAX];

	assert_string_equal(rtrace_format_timestamp(text, 0), "1970.1.1 00:00:00");
	assert_string_equal(rtrace_format_timestamp(text, 1795163242), "2026.11.20 08:27:22");
	assert_true(strlen(rtrace_format_timestamp(text, INT64_MAX)) > 0);
}

TEST(test_header_values_are_made_to_fit)
{
	char longest[3000];
	const struct rtrace_header header = {
		.process = { longest, sizeof(longest) },
		.origin = T("a\nb=c,d"),
	};
	char expected[1000] = "version=2.0, process=";
	struct fixture f;

	memset(longest, 'x', sizeof(longest));
	memset(expected + strlen(expected), 'x', RTRACE_NAME_MAX);
	strcat(expected, ", origin=a_b_c_d, \n");
	begin(&f);
	assert_int_equal(rtrace_write_header(&f.w, &header), 0);
	assert_written(&f, expected);
	end(&f);
}

TEST(test_comments_have_no_format)
{
	_cleanup_(outbuf_deinit) struct outbuf out = { 0 };

	assert_int_equal(rtrace_line_note(&out, T("%n")), 0);
	assert_int_equal(rtrace_line_note(&out, T("")), 0);
	assert_int_equal(out.size, strlen("## \\045n\n## \n"));
	assert_memory_equal(out.data, "## \\045n\n## \n", out.size);
}

/* ---- refused calls write nothing ---- */

static struct rtrace_text repeat(char *to, char c, size_t n)
{
	memset(to, c, n);
	return (struct rtrace_text){ to, n };
}

TEST(test_refused_lines)
{
	_cleanup_(outbuf_deinit) struct outbuf out = { 0 };
	char room[8192];
	const struct rtrace_resource memory = rtrace_known_resource(RTRACE_KNOWN_MEMORY);
	struct rtrace_resource bad = memory;

	assert_int_equal(rtrace_line_header(&out, &(struct rtrace_header){ .pid = 10000000 }),
			 -EINVAL);
	assert_int_equal(rtrace_line_header(&out, &(struct rtrace_header){ .filters = 8 }),
			 -EINVAL);
	assert_int_equal(rtrace_line_context(&out, &(struct rtrace_context){ 0, T("x") }), -EINVAL);
	assert_int_equal(rtrace_line_context(&out, &(struct rtrace_context){ 1, T("a\nb") }),
			 -EINVAL);
	assert_int_equal(rtrace_line_context(&out, &(struct rtrace_context){ 1, T("") }), -EINVAL);
	bad.mask = 3;
	assert_int_equal(rtrace_line_resource(&out, &bad), -EINVAL);
	bad.mask = 1;
	bad.type = T("two words");
	assert_int_equal(rtrace_line_resource(&out, &bad), -EINVAL);
	bad.type = memory.type;
	bad.description = T("a (b)");
	assert_int_equal(rtrace_line_resource(&out, &bad), -EINVAL);
	assert_int_equal(rtrace_line_map(&out, &(struct rtrace_map){ T("/a"), 2, 2 }), -EINVAL);
	assert_int_equal(rtrace_line_map(&out, &(struct rtrace_map){ T(""), 1, 2 }), -EINVAL);
	assert_int_equal(rtrace_line_map(&out,
					 &(struct rtrace_map){ repeat(room, 'x', 4000), 1, 2 }),
			 -EMSGSIZE);
	/* Each of these becomes four bytes. */
	assert_int_equal(rtrace_line_map(&out,
					 &(struct rtrace_map){ repeat(room, ' ', 1000), 1, 2 }),
			 -EMSGSIZE);
	assert_int_equal(rtrace_line_arg(&out, &(struct rtrace_arg){ T("a b"), T("c") }), -EINVAL);
	assert_int_equal(rtrace_line_arg(&out,
					 &(struct rtrace_arg){ repeat(room, 'x', 121), T("c") }),
			 -EMSGSIZE);
	assert_int_equal(rtrace_line_frame(&out, &(struct rtrace_frame){ 1, T("a\nb") }), -EINVAL);
	assert_int_equal(rtrace_line_frame(&out,
					   &(struct rtrace_frame){ 1, repeat(room, 'x', 3998) }),
			 -EMSGSIZE);
	assert_int_equal(rtrace_line_note(&out, T("a\nb")), -EINVAL);
	assert_int_equal(rtrace_line_note(&out, repeat(room, '%', 1000)), -EMSGSIZE);
	assert_int_equal(out.size, 0);
	assert_int_equal(out.error, 0);
}

/* The longest line, and one byte more. */
TEST(test_line_limit)
{
	_cleanup_(outbuf_deinit) struct outbuf out = { 0 };
	char room[4096];

	assert_int_equal(
		rtrace_line_frame(&out, &(struct rtrace_frame){ 1, repeat(room, 'x', 3995) }), 0);
	assert_int_equal(out.size, RTRACE_LINE_WRITE_MAX + 1);
	assert_int_equal(rtrace_line_frame(&out,
					   &(struct rtrace_frame){ 1, repeat(room, 'x', 3996) }),
			 -EMSGSIZE);
	assert_int_equal(out.size, RTRACE_LINE_WRITE_MAX + 1);
}

TEST(test_refused_calls)
{
	const struct rtrace_call good = { .index = 1, .name = T("malloc"), .size = 1, .id = 1 };
	char room[600];
	struct fixture f;

	begin_calls(&f, 0);
#define ASSERT_REFUSED(e, ...)                                                                     \
	do {                                                                                       \
		struct rtrace_call c = good;                                                       \
		__VA_ARGS__;                                                                       \
		assert_int_equal(rtrace_write_call(&f.w, &c), e);                                  \
	} while (0)
	ASSERT_REFUSED(-EINVAL, c.index = UINT64_C(1) << 31);
	ASSERT_REFUSED(-EINVAL, c.has_time = true; c.time_ns = RTRACE_TIME_MAX_NS + 1);
	ASSERT_REFUSED(-EINVAL, c.name = T(""));
	ASSERT_REFUSED(-EINVAL, c.name = T(" malloc"));
	ASSERT_REFUSED(-EINVAL, c.name = T("mal\tloc"));
	ASSERT_REFUSED(-EINVAL, c.name = T("@f"));
	ASSERT_REFUSED(-EINVAL, c.name = T("[f]"));
	ASSERT_REFUSED(-EMSGSIZE, c.name = repeat(room, 'x', RTRACE_NAME_MAX + 1));
	ASSERT_REFUSED(-EINVAL, c.type = T("fd"));
#undef ASSERT_REFUSED
	assert_written(&f, "");
	assert_int_equal(rtrace_write_call(&f.w, &good), 0);
	end(&f);
}

TEST(test_order)
{
	const struct rtrace_header header = { 0 };
	const struct rtrace_resource memory = rtrace_known_resource(RTRACE_KNOWN_MEMORY);
	struct fixture f;

	begin(&f);
	assert_int_equal(rtrace_write_resource(&f.w, &memory), -EINVAL);
	assert_int_equal(rtrace_write_header(&f.w, &header), 0);
	assert_int_equal(rtrace_write_header(&f.w, &header), -EINVAL);
	/* A call without a registered resource would crash a reader. */
	assert_int_equal(write_malloc(&f, 1), -EINVAL);
	assert_int_equal(rtrace_write_resource(&f.w, &memory), 0);
	assert_int_equal(rtrace_write_resource(&f.w, &memory), -EINVAL);
	assert_int_equal(rtrace_write_arg(&f.w, &(struct rtrace_arg){ T("a"), T("b") }), -EINVAL);
	assert_int_equal(rtrace_write_frame(&f.w, &(struct rtrace_frame){ .address = 1 }), -EINVAL);
	assert_int_equal(rtrace_write_end(&f.w), -EINVAL);
	assert_int_equal(write_malloc(&f, 1), 0);
	/* Without an end, it would share the backtrace of the next call. */
	assert_int_equal(write_malloc(&f, 2), -EINVAL);
	assert_int_equal(rtrace_write_note(&f.w, T("## x")), -EINVAL);
	assert_int_equal(rtrace_write_calls_summary(&f.w, 1, 8), -EINVAL);
	assert_int_equal(rtrace_write_frame(&f.w, &(struct rtrace_frame){ .address = 1 }), 0);
	assert_int_equal(rtrace_write_arg(&f.w, &(struct rtrace_arg){ T("a"), T("b") }), -EINVAL);
	assert_int_equal(rtrace_write_end(&f.w), 0);
	assert_int_equal(write_known_resource(&f.w, RTRACE_KNOWN_FD), -EINVAL);
	assert_int_equal(rtrace_write_note(&f.w, T("## x")), 0);
	end(&f);
}

/* With more than one resource, a call without one belongs to none. */
TEST(test_untyped_call)
{
	struct fixture f;

	begin_calls(&f, 0);
	assert_int_equal(write_known_resource(&f.w, RTRACE_KNOWN_FD), 0);
	assert_int_equal(write_malloc(&f, 1), -EINVAL);
	end(&f);
}

TEST(test_buffer_is_full)
{
	struct fixture f;

	begin(&f);
	f.out.limit = 8;
	assert_int_equal(rtrace_write_header(&f.w, &(struct rtrace_header){ 0 }), -EMSGSIZE);
	assert_int_equal(f.out.size, 0);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everything),
		cmocka_unit_test(test_compressed),
		cmocka_unit_test(test_one_resource_is_not_named),
		cmocka_unit_test(test_spec_time),
		cmocka_unit_test(test_timestamp),
		cmocka_unit_test(test_header_values_are_made_to_fit),
		cmocka_unit_test(test_comments_have_no_format),
		cmocka_unit_test(test_refused_lines),
		cmocka_unit_test(test_line_limit),
		cmocka_unit_test(test_refused_calls),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_untyped_call),
		cmocka_unit_test(test_buffer_is_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
