/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every record type of the writer, compared with words that were made by hand: those of
 * support/fxt-golden.h, and here the other form of each reference, from the bit positions in the
 * specification; and the bounds of each.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/support/fixtures/fxt-golden.h"
#include "tests/support/unit.h"
#include "tests/support/fixtures/written-words.h"
#include "writer/fxt/fxt-writer.h"

/* Provider 7: string 1 is "category", string 2 "\u00e4", thread 3 is 1000/1001. */
struct fixture {
	struct outbuf out;
	struct fxt_writer w;
	struct fxt_out_provider p;
};

static const struct fxt_out_string category = { .index = 1 }, umlaut = { .index = 2 };
static const struct fxt_out_thread thread_3 = { 1000, 1001 }, inline_5_6 = { 5, 6, true };
static const struct fxt_out_arg weight = { FXT_ARG_INT32, { .index = 2 }, .i32 = 120 };

static int log_of(struct fixture *f, uint64_t pid, uint64_t tid)
{
	return fxt_write_log(&f->w, &(struct fxt_log){ .thread = { pid, tid } });
}

FIXTURE(set_up)
{
	struct fixture *f = calloc(1, sizeof(*f));
	int r;

	*state = f;
	f->w.out = &f->out;
	r = fxt_out_provider_init(&f->p, 7);
	if (r == 0)
		r = fxt_write_provider_info(&f->w, &f->p, "kymo-test");
	if (r == 0)
		r = fxt_write_string(&f->w, 1, "category", 8);
	if (r == 0)
		r = fxt_write_string(&f->w, 2, "\u00e4", 2);
	for (uint64_t i = 0; r == 0 && i < 2; i++)
		r = log_of(f, i, i);
	if (r == 0)
		r = log_of(f, 1000, 1001);
	outbuf_reset(&f->out);
	return r;
}

FIXTURE(tear_down)
{
	struct fixture *f = *state;

	fxt_out_provider_deinit(&f->p);
	outbuf_deinit(&f->out);
	free(f);
	return 0;
}

/* R is 0, and the words written since the last call are the N words. */
static void assert_wrote(struct fixture *f, int r, const uint64_t *want, size_t n)
{
	assert_int_equal(r, 0);
	assert_words_are(&f->out, want, n);
}

#define assert_words(f, r, ...)                                                                    \
	assert_wrote(f, r, (const uint64_t[]){ __VA_ARGS__ },                                      \
		     ARRAY_SIZE(((const uint64_t[]){ __VA_ARGS__ })))

static void assert_golden_record(struct fixture *f, int r, enum golden which)
{
	assert_wrote(f, r, golden_records[which].words, golden_records[which].n_words);
}

/* R is the error, and nothing was written or changed. */
static void assert_refused(struct fixture *f, int r, int error)
{
	assert_int_equal(r, error);
	assert_int_equal(f->out.size, 0);
	assert_int_equal(f->out.error, 0);
}

static char *text_of(char c, size_t n)
{
	char *text = malloc(n + 1);

	assert_non_null(text);
	memset(text, c, n);
	text[n] = '\0';
	return text;
}

/* ---- the frame ---- */

TEST(test_frame)
{
	struct fixture *f = *state;

	assert_golden_record(f, fxt_write_magic(&f->w), GOLDEN_MAGIC);
	assert_golden_record(f, fxt_write_provider_info(&f->w, &f->p, "kymo-test"),
			     GOLDEN_PROVIDER_INFO);
	assert_golden_record(f, fxt_write_section(&f->w, &f->p), GOLDEN_PROVIDER_SECTION);
	assert_golden_record(f, fxt_write_provider_event(&f->w, 0), GOLDEN_PROVIDER_EVENT);
	assert_golden_record(f, fxt_write_initialization(&f->w, 2000000000), GOLDEN_INITIALIZATION);
	assert_golden_record(f, fxt_write_string(&f->w, 1, "category", 8), GOLDEN_STRING);
	assert_golden_record(f, fxt_write_string(&f->w, 2, "\u00e4", 2), GOLDEN_STRING_2);
	assert_words(f, fxt_write_initialization(&f->w, UINT64_MAX), 0x21, UINT64_MAX);
	assert_words(f, fxt_write_string(&f->w, 255, "", 0), 0x0000000000ff0012);
}

TEST(test_frame_bounds)
{
	struct fixture *f = *state;
	_cleanup_free_ char *text = text_of('s', 32001);
	struct fxt_out_provider foreign_uid = { .id = 8 };
	struct fxt_writer none = { .out = &f->out };

	assert_refused(f, fxt_write_initialization(&f->w, 0), -EINVAL);
	assert_refused(f, fxt_write_string(&f->w, 0, "a", 1), -EINVAL);
	assert_refused(f, fxt_write_string(&f->w, 288, "a", 1), -EINVAL);
	assert_refused(f, fxt_write_string(&f->w, 3, text, 32001), -EMSGSIZE);
	assert_int_equal(fxt_write_string(&f->w, 3, text, 32000), 0);
	assert_int_equal(((uint64_t *)f->out.data)[0], 0x00007d000003fa12); /* 4001 words */
	assert_int_equal(f->out.size, 8 * 4001);
	outbuf_reset(&f->out);
	assert_int_equal(fxt_write_string(&f->w, 3, text, 31999), 0);
	assert_int_equal(((uint64_t *)f->out.data)[0], 0x00007cff0003fa12);
	outbuf_reset(&f->out);
	assert_refused(f, fxt_write_provider_info(&f->w, &f->p, text), -EMSGSIZE);
	assert_refused(f, fxt_write_section(&f->w, &foreign_uid), -EINVAL);

	/* No provider, no tables. */
	assert_refused(f, fxt_write_string(&none, 1, "a", 1), -EINVAL);
	assert_refused(f, fxt_write_provider_event(&none, 0), -EINVAL);
	assert_refused(f, fxt_write_log(&none, &(struct fxt_log){ .thread = inline_5_6 }), -EINVAL);
}

/* ---- events ---- */

TEST(test_instant)
{
	struct fixture *f = *state;
	struct fxt_event ev = {
		.category = category,
		.name = fxt_inline("now"),
		.ts_ticks = 2000,
		.thread = inline_5_6,
	};

	assert_golden_record(f, fxt_write_event(&f->w, &ev), GOLDEN_INSTANT);

	/* Category inline, and name through the table, which begins at 288; the thread indexed. */
	ev.category = fxt_inline("category2");
	ev.name = fxt_interned("now");
	ev.thread = thread_3;
	assert_words(f, fxt_write_event(&f->w, &ev), 0x0000000301200022, 0x776f6e,
		     0x0120800903000044, 2000, 0x79726f6765746163, 0x32);
	assert_words(f, fxt_write_event(&f->w, &ev), 0x0120800903000044, 2000, 0x79726f6765746163,
		     0x32);

	/* Both inline. Empty ones are always the reference 0. */
	ev.name = fxt_inline("\u00e4");
	assert_words(f, fxt_write_event(&f->w, &ev), 0x8002800903000054, 2000, 0x79726f6765746163,
		     0x32, 0xa4c3);
	ev.category = fxt_inline("");
	ev.name = fxt_interned("");
	assert_words(f, fxt_write_event(&f->w, &ev), 0x0000000003000024, 2000);

	/* A new thread: its record comes before the event. Koids have 64 bits. */
	ev.thread = (struct fxt_out_thread){ UINT64_MAX, 1 };
	assert_words(f, fxt_write_event(&f->w, &ev), 0x0000000000040033, UINT64_MAX, 1,
		     0x0000000004000024, 2000);
}

TEST(test_event_types)
{
	struct fixture *f = *state;
	static const struct {
		enum fxt_event_type type;
		uint64_t id;
		enum golden golden;
	} rows[] = {
		{ FXT_EVENT_DURATION_BEGIN, 0, GOLDEN_DURATION_BEGIN },
		{ FXT_EVENT_DURATION_END, 0, GOLDEN_DURATION_END },
		{ FXT_EVENT_DURATION_COMPLETE, 8000, GOLDEN_DURATION_COMPLETE },
		{ FXT_EVENT_ASYNC_BEGIN, 11, GOLDEN_ASYNC_BEGIN },
		{ FXT_EVENT_ASYNC_INSTANT, 11, GOLDEN_ASYNC_INSTANT },
		{ FXT_EVENT_ASYNC_END, 11, GOLDEN_ASYNC_END },
		{ FXT_EVENT_FLOW_BEGIN, 12, GOLDEN_FLOW_BEGIN },
		{ FXT_EVENT_FLOW_STEP, 12, GOLDEN_FLOW_STEP },
		{ FXT_EVENT_FLOW_END, 12, GOLDEN_FLOW_END },
	};
	const struct fxt_out_arg nine = { FXT_ARG_INT32, { .index = 2 }, .i32 = 9 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct fxt_event ev = {
			.type = rows[i].type,
			.category = category,
			.name = umlaut,
			.ts_ticks = 6000,
			.thread = thread_3,
			.args = &nine,
			.n_args = 1,
			.id = rows[i].id,
		};

		assert_golden_record(f, fxt_write_event(&f->w, &ev), rows[i].golden);
	}
}

TEST(test_event_bounds)
{
	struct fixture *f = *state;
	_cleanup_free_ char *longest = text_of('s', 32000), *too_long = text_of('s', 32001);
	/* All of it is new to the tables, and nothing of it may remain. */
	struct fxt_event ev = {
		.category = fxt_interned("new"),
		.name = fxt_interned("newer"),
		.thread = { 77, 78 },
		.ts_ticks = 10,
	};
	struct fxt_event bad;

	bad = ev;
	bad.type = FXT_EVENT_FLOW_END + 1;
	assert_refused(f, fxt_write_event(&f->w, &bad), -EINVAL);
	bad.type = FXT_EVENT_DURATION_COMPLETE;
	bad.id = 9;
	assert_refused(f, fxt_write_event(&f->w, &bad), -EINVAL);
	bad = ev;
	bad.name = fxt_named(3); /* was not registered */
	assert_refused(f, fxt_write_event(&f->w, &bad), -EINVAL);
	bad.name.index = 288; /* is the table's, not the caller's */
	assert_refused(f, fxt_write_event(&f->w, &bad), -EINVAL);
	bad.name.index = 0x8001; /* an inline reference */
	assert_refused(f, fxt_write_event(&f->w, &bad), -EINVAL);
	bad.name = fxt_interned(too_long);
	assert_refused(f, fxt_write_event(&f->w, &bad), -EMSGSIZE);
	bad.name = fxt_inline(too_long);
	assert_refused(f, fxt_write_event(&f->w, &bad), -EMSGSIZE);
	bad.name = bad.category = fxt_inline(longest); /* each fits, both do not */
	assert_refused(f, fxt_write_event(&f->w, &bad), -EMSGSIZE);

	bad = ev;
	bad.name = fxt_inline(longest);
	assert_int_equal(fxt_write_event(&f->w, &bad), 0);
	assert_int_equal(f->out.size, 8 * (3 + 2 + 2 + 4000)); /* thread 4 and string 288, too */
	assert_int_equal(((uint64_t *)f->out.data)[5], 0xfd0001200400fa24);
}

/* ---- arguments ---- */

TEST(test_args_inline_names)
{
	struct fixture *f = *state;
	const struct fxt_out_arg args[] = {
		{ FXT_ARG_NULL, fxt_inline("n") },
		{ FXT_ARG_INT32, fxt_inline("i"), .i32 = -5 },
		{ FXT_ARG_UINT32, fxt_inline("u"), .u32 = 4000000000 },
		{ FXT_ARG_INT64, fxt_inline("I"), .i64 = -(INT64_C(1) << 40) },
		{ FXT_ARG_UINT64, fxt_inline("U"), .u64 = UINT64_MAX },
		{ FXT_ARG_DOUBLE, fxt_inline("d"), .f64 = 1.5 },
		{ FXT_ARG_STRING, fxt_inline("s"), .text = fxt_inline("str") },
		{ FXT_ARG_POINTER, fxt_inline("p"), .u64 = 0xdeadbeef },
		{ FXT_ARG_KOID, fxt_inline("k"), .u64 = 1001 },
		{ FXT_ARG_BOOL, fxt_inline("b"), .boolean = true },
		{ FXT_ARG_BLOB, fxt_inline("B"), .blob = { "\1\2\3", 3 } },
	};
	const struct fxt_event ev = {
		.type = FXT_EVENT_COUNTER,
		.category = category,
		.name = umlaut,
		.ts_ticks = 4000,
		.thread = thread_3,
		.args = args,
		.n_args = ARRAY_SIZE(args),
		.id = 77,
	};

	assert_golden_record(f, fxt_write_event(&f->w, &ev), GOLDEN_COUNTER);
}

/* The same with registered names, on a record without other references. */
TEST(test_args_indexed_names)
{
	struct fixture *f = *state;
	static const struct {
		struct fxt_out_arg arg;
		unsigned n_words;
		uint64_t words[2];
	} rows[] = {
		{ { FXT_ARG_NULL, { 1 } }, 1, { 0x0000000000010010 } },
		{ { FXT_ARG_INT32, { 1 }, .i32 = -5 }, 1, { 0xfffffffb00010011 } },
		{ { FXT_ARG_UINT32, { 1 }, .u32 = 4000000000 }, 1, { 0xee6b280000010012 } },
		{ { FXT_ARG_INT64, { 1 }, .i64 = -1 }, 2, { 0x0000000000010023, UINT64_MAX } },
		{ { FXT_ARG_UINT64, { 1 }, .u64 = 3 }, 2, { 0x0000000000010024, 3 } },
		{ { FXT_ARG_DOUBLE, { 1 }, .f64 = -2 },
		  2,
		  { 0x0000000000010025, 0xc000000000000000 } },
		{ { FXT_ARG_STRING, { 1 }, .text = { .index = 2 } }, 1, { 0x0000000200010016 } },
		{ { FXT_ARG_STRING, { 1 } }, 1, { 0x0000000000010016 } },
		{ { FXT_ARG_POINTER, { 1 }, .u64 = 4 }, 2, { 0x0000000000010027, 4 } },
		{ { FXT_ARG_KOID, { 1 }, .u64 = 5 }, 2, { 0x0000000000010028, 5 } },
		{ { FXT_ARG_BOOL, { 1 }, .boolean = true }, 1, { 0x0000000100010019 } },
		{ { FXT_ARG_BLOB, { 1 }, .blob = { "12345678", 8 } },
		  2,
		  { 0x000000080001002a, 0x3837363534333231 } },
		{ { FXT_ARG_BLOB, { 1 } }, 1, { 0x000000000001001a } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct fxt_kernel_object o = { 3, 9, umlaut, &rows[i].arg, 1 };
		uint64_t want[4] = { 0x0000010002030007 | (2 + rows[i].n_words) << 4, 9 };

		memcpy(want + 2, rows[i].words, sizeof(rows[i].words));
		assert_wrote(f, fxt_write_kernel_object(&f->w, &o), want, 2 + rows[i].n_words);
	}
}

/* Names and values through the table: the string records come first, in order. */
TEST(test_args_interned)
{
	struct fixture *f = *state;
	const struct fxt_out_arg args[] = {
		{ FXT_ARG_STRING, fxt_interned("key"), .text = fxt_interned("value") },
		{ FXT_ARG_STRING, fxt_interned("value"), .text = fxt_inline("key") },
	};
	const struct fxt_kernel_object o = { 1, 9, fxt_interned("key"), args, 2 };

	assert_words(f, fxt_write_kernel_object(&f->w, &o), 0x0000000301200022, 0x79656b,
		     0x0000000501210022, 0x65756c6176, 0x0000020120010057, 9, 0x0000012101200016,
		     0x0000800301210026, 0x79656b);
}

TEST(test_args_bounds)
{
	struct fixture *f = *state;
	_cleanup_free_ char *bytes = text_of('b', 32768);
	struct fxt_out_arg args[16];
	struct fxt_kernel_object o = { 1, 9, fxt_interned("new"), args, 16 };

	for (size_t i = 0; i < ARRAY_SIZE(args); i++)
		args[i] = (struct fxt_out_arg){ FXT_ARG_NULL, fxt_interned("name") };
	assert_refused(f, fxt_write_kernel_object(&f->w, &o), -EINVAL);
	o.n_args = 15;
	args[14].type = FXT_ARG_BLOB + 1;
	assert_refused(f, fxt_write_kernel_object(&f->w, &o), -EINVAL);
	args[14] = (struct fxt_out_arg){ FXT_ARG_NULL, { .index = 9 } };
	assert_refused(f, fxt_write_kernel_object(&f->w, &o), -EINVAL);
	args[14] = (struct fxt_out_arg){ FXT_ARG_STRING, umlaut, .text = { .index = 9 } };
	assert_refused(f, fxt_write_kernel_object(&f->w, &o), -EINVAL);
	args[14] = (struct fxt_out_arg){ FXT_ARG_STRING, umlaut,
					 .text = { .text = bytes, .length = 32001 } };
	assert_refused(f, fxt_write_kernel_object(&f->w, &o), -EMSGSIZE);
	args[14] = (struct fxt_out_arg){ FXT_ARG_BLOB, umlaut, .blob = { bytes, SIZE_MAX } };
	assert_refused(f, fxt_write_kernel_object(&f->w, &o), -EMSGSIZE);

	/* 4095 words: two of the record, 14 of arguments, one of the last one's header. */
	args[14].blob.size = 8 * 4078 + 1;
	assert_refused(f, fxt_write_kernel_object(&f->w, &o), -EMSGSIZE);
	args[14].blob.size = 8 * 4078;
	assert_int_equal(fxt_write_kernel_object(&f->w, &o), 0);
	assert_int_equal(f->out.size, 8 * (2 + 2 + 4095)); /* "new" and "name", too */
	assert_int_equal(((uint64_t *)f->out.data)[4], 0x00000f012001fff7);
	outbuf_reset(&f->out);
	args[14].blob.size = 8 * 4077;
	assert_int_equal(fxt_write_kernel_object(&f->w, &o), 0);
	assert_int_equal(f->out.size, 8 * 4094);
}

/* ---- bulk data and objects ---- */

TEST(test_blob)
{
	struct fixture *f = *state;
	_cleanup_free_ char *bytes = text_of('b', 32768);
	struct fxt_blob blob = { umlaut, FXT_BLOB_DATA, "bytes", 5 };

	assert_golden_record(f, fxt_write_blob(&f->w, &blob), GOLDEN_BLOB);
	blob.name = fxt_inline("inline");
	assert_words(f, fxt_write_blob(&f->w, &blob), 0x0001000580060035, 0x656e696c6e69,
		     0x7365747962);
	blob.name = fxt_interned("new");
	blob.type = FXT_BLOB_TYPE_MAX + 1;
	assert_refused(f, fxt_write_blob(&f->w, &blob), -EINVAL);
	blob.type = FXT_BLOB_TYPE_MAX;
	blob.data = bytes;
	blob.size = 32768;
	assert_refused(f, fxt_write_blob(&f->w, &blob), -EMSGSIZE);
	blob.size = 32767; /* fits its field, but not the 4095 words */
	assert_refused(f, fxt_write_blob(&f->w, &blob), -EMSGSIZE);
	blob.size = 32752;
	assert_int_equal(fxt_write_blob(&f->w, &blob), 0);
	assert_int_equal(f->out.size, 8 * (2 + 4095));
	assert_int_equal(((uint64_t *)f->out.data)[2], 0x00ff7ff00120fff5);
}

TEST(test_objects)
{
	struct fixture *f = *state;
	const struct fxt_out_arg three = { FXT_ARG_INT32, { .index = 2 }, .i32 = 3 };
	const struct fxt_out_arg process = { FXT_ARG_KOID, fxt_inline("process"), .u64 = 1000 };
	struct fxt_userspace_object user = {
		0xabc, { 1000, 0, true }, fxt_inline("object"), &three, 1
	};
	struct fxt_kernel_object kernel = { 2, 1001, fxt_inline("worker"), &process, 1 };

	assert_golden_record(f, fxt_write_userspace_object(&f->w, &user), GOLDEN_USERSPACE_OBJECT);
	assert_golden_record(f, fxt_write_kernel_object(&f->w, &kernel), GOLDEN_KERNEL_OBJECT);
	user = (struct fxt_userspace_object){ UINT64_MAX, thread_3, category };
	assert_words(f, fxt_write_userspace_object(&f->w, &user), 0x0000000001030026, UINT64_MAX);
	kernel = (struct fxt_kernel_object){ 255, UINT64_MAX, umlaut };
	assert_words(f, fxt_write_kernel_object(&f->w, &kernel), 0x0000000002ff0027, UINT64_MAX);
	kernel.type = 256;
	kernel.name = fxt_interned("new");
	assert_refused(f, fxt_write_kernel_object(&f->w, &kernel), -EINVAL);
	user.n_args = 16;
	user.name = kernel.name;
	assert_refused(f, fxt_write_userspace_object(&f->w, &user), -EINVAL);
}

TEST(test_log)
{
	struct fixture *f = *state;
	_cleanup_free_ char *text = text_of('l', 32768);
	struct fxt_log log = { 16000, thread_3, "hello, log", 10 };

	assert_golden_record(f, fxt_write_log(&f->w, &log), GOLDEN_LOG);
	log.thread = inline_5_6;
	assert_words(f, fxt_write_log(&f->w, &log), 0x00000000000a0069, 16000, 5, 6,
		     0x6c202c6f6c6c6568, 0x676f);
	log = (struct fxt_log){ .text = text, .length = 32001 };
	assert_refused(f, fxt_write_log(&f->w, &log), -EMSGSIZE);
	log.length = SIZE_MAX;
	assert_refused(f, fxt_write_log(&f->w, &log), -EMSGSIZE);
	log.thread = thread_3;
	log.length = 32000;
	assert_int_equal(fxt_write_log(&f->w, &log), 0);
	assert_int_equal(f->out.size, 8 * 4002);
	assert_int_equal(((uint64_t *)f->out.data)[0], 0x000000037d00fa29);
}

/* ---- scheduling ---- */

TEST(test_switch)
{
	struct fixture *f = *state;
	struct fxt_switch sw = { 12000, 300, FXT_STATE_RUNNING, 1001, 1002, &weight, 1 };

	assert_golden_record(f, fxt_write_switch(&f->w, &sw), GOLDEN_SWITCH);
	sw = (struct fxt_switch){ UINT64_MAX, 65535, FXT_STATE_DEAD, UINT64_MAX, 1, NULL, 0 };
	assert_words(f, fxt_write_switch(&f->w, &sw), 0x1000005ffff00048, UINT64_MAX, UINT64_MAX,
		     1);
	sw.cpu = 65536;
	assert_refused(f, fxt_write_switch(&f->w, &sw), -EINVAL);
	sw.cpu = 65534;
	sw.out_state = FXT_STATE_MAX + 1;
	assert_refused(f, fxt_write_switch(&f->w, &sw), -EINVAL);
	sw.out_state = FXT_STATE_NEW;
	sw.n_args = 16;
	assert_refused(f, fxt_write_switch(&f->w, &sw), -EINVAL);
}

TEST(test_wakeup)
{
	struct fixture *f = *state;
	const struct fxt_out_arg waker = { FXT_ARG_KOID, fxt_inline("waker"), .u64 = 1002 };
	struct fxt_wakeup wake = { 14000, 300, 1001, &weight, 1 };

	assert_golden_record(f, fxt_write_wakeup(&f->w, &wake), GOLDEN_WAKEUP);
	wake = (struct fxt_wakeup){ UINT64_MAX, 65535, UINT64_MAX, &waker, 1 };
	assert_words(f, fxt_write_wakeup(&f->w, &wake), 0x2000000ffff10068, UINT64_MAX, UINT64_MAX,
		     0x0000000080050038, 0x72656b6177, 1002);
	wake.cpu = 65536;
	assert_refused(f, fxt_write_wakeup(&f->w, &wake), -EINVAL);
	wake.cpu = 0;
	wake.n_args = 16;
	assert_refused(f, fxt_write_wakeup(&f->w, &wake), -EINVAL);
}

TEST(test_legacy_switch)
{
	struct fixture *f = *state;
	struct fxt_legacy_switch sw = {
		10000, 2, FXT_STATE_BLOCKED, thread_3, { 8, 9, true }, 1, 2
	};

	assert_golden_record(f, fxt_write_legacy_switch(&f->w, &sw), GOLDEN_LEGACY_SWITCH);
	sw = (struct fxt_legacy_switch){ 3, 255, FXT_STATE_DEAD, inline_5_6, thread_3, 255, 254 };
	assert_words(f, fxt_write_legacy_switch(&f->w, &sw), 0x0feff03005ff0048, 3, 5, 6);
	sw.in = (struct fxt_out_thread){ 7, 8, true };
	assert_words(f, fxt_write_legacy_switch(&f->w, &sw), 0x0feff00005ff0068, 3, 5, 6, 7, 8);
	sw.in = (struct fxt_out_thread){ 1, 1 }; /* thread 2 */
	sw.out = thread_3;
	assert_words(f, fxt_write_legacy_switch(&f->w, &sw), 0x0feff02035ff0028, 3);
	sw.in = (struct fxt_out_thread){ 77, 77 };
	sw.cpu = 256;
	assert_refused(f, fxt_write_legacy_switch(&f->w, &sw), -EINVAL);
	sw.cpu = 254;
	sw.out_state = FXT_STATE_MAX + 1;
	assert_refused(f, fxt_write_legacy_switch(&f->w, &sw), -EINVAL);
}

/* ---- profiler ---- */

TEST(test_module)
{
	struct fixture *f = *state;
	_cleanup_free_ char *name = text_of('m', 256);
	struct fxt_module module = { 18000, thread_3, 4, "libc", "\xaa\xbb\xcc", 3 };

	assert_golden_record(f, fxt_write_module(&f->w, &module), GOLDEN_MODULE);
	module = (struct fxt_module){ 1, inline_5_6, 65535, "", NULL, 0 };
	assert_words(f, fxt_write_module(&f->w, &module), 0x00000ffff000004a, 1, 5, 6);
	module = (struct fxt_module){ 1, thread_3, 65535, name + 1, name, 255 };
	assert_int_equal(fxt_write_module(&f->w, &module), 0);
	assert_int_equal(((uint64_t *)f->out.data)[0], 0x0ffffffff030042a);
	assert_int_equal(f->out.size, 8 * 66);
	outbuf_reset(&f->out);
	module.thread = (struct fxt_out_thread){ 77, 77 };
	module.id = 65536;
	assert_refused(f, fxt_write_module(&f->w, &module), -EINVAL);
	module.id = 65534;
	module.name = name;
	assert_refused(f, fxt_write_module(&f->w, &module), -EMSGSIZE);
	module.name = name + 2;
	module.build_id_size = 256;
	assert_refused(f, fxt_write_module(&f->w, &module), -EMSGSIZE);
}

TEST(test_mmap)
{
	struct fixture *f = *state;
	struct fxt_mmap map = { 18000, { 1000, 0, true }, 4, 5, 0x1000, 0x2000, 0x3000 };

	assert_golden_record(f, fxt_write_mmap(&f->w, &map), GOLDEN_MMAP);
	map = (struct fxt_mmap){ 1, thread_3, 65535, 7, UINT64_MAX, 2, 3 };
	assert_words(f, fxt_write_mmap(&f->w, &map), 0x00007ffff031005a, 1, UINT64_MAX, 2, 3);
	map.thread = (struct fxt_out_thread){ 77, 77 };
	map.flags = 8;
	assert_refused(f, fxt_write_mmap(&f->w, &map), -EINVAL);
	map.flags = 6;
	map.module_id = 65536;
	assert_refused(f, fxt_write_mmap(&f->w, &map), -EINVAL);
}

TEST(test_backtrace)
{
	struct fixture *f = *state;
	static const uint64_t frames[256] = { 0x11, 0x22, 0x33 };
	struct fxt_backtrace trace = { 20000, thread_3, frames, 3 };

	assert_golden_record(f, fxt_write_backtrace(&f->w, &trace), GOLDEN_BACKTRACE);
	trace.thread = inline_5_6;
	trace.n_frames = 1;
	assert_words(f, fxt_write_backtrace(&f->w, &trace), 0x000000001002005a, 20000, 5, 6, 0x11);
	trace.n_frames = 0;
	assert_words(f, fxt_write_backtrace(&f->w, &trace), 0x000000000002004a, 20000, 5, 6);
	trace.thread = (struct fxt_out_thread){ 77, 77 };
	trace.n_frames = 256;
	assert_refused(f, fxt_write_backtrace(&f->w, &trace), -EMSGSIZE);
	trace.n_frames = SIZE_MAX;
	assert_refused(f, fxt_write_backtrace(&f->w, &trace), -EMSGSIZE);
	trace.thread = thread_3;
	trace.n_frames = 255;
	assert_int_equal(fxt_write_backtrace(&f->w, &trace), 0);
	assert_int_equal(((uint64_t *)f->out.data)[0], 0x0000000ff032101a);
	assert_int_equal(f->out.size, 8 * 257);
}

/* ---- large ones ---- */

TEST(test_large_blob)
{
	struct fixture *f = *state;
	const struct fxt_out_arg one = { FXT_ARG_INT32, { .index = 2 }, .i32 = 1 };
	struct fxt_large_blob blob = {
		.category = category,
		.name = fxt_inline("big"),
		.data = "ninebytes",
		.size = 9,
		.has_metadata = true,
		.ts_ticks = 22000,
		.thread = inline_5_6,
		.args = &one,
		.n_args = 1,
	};

	assert_golden_record(f, fxt_write_large_blob(&f->w, &blob), GOLDEN_LARGE_BLOB);
	blob.category = fxt_inline("cat");
	blob.name = umlaut;
	blob.thread = thread_3;
	blob.n_args = 0;
	assert_words(f, fxt_write_large_blob(&f->w, &blob), 0x000000000000007f, 0x0000003000028003,
		     0x746163, 22000, 9, 0x65747962656e696e, 0x73);
	blob = (struct fxt_large_blob){ category, umlaut, "four", 4 };
	assert_golden_record(f, fxt_write_large_blob(&f->w, &blob), GOLDEN_LARGE_BLOB_BARE);
	blob.data = NULL;
	blob.size = 0;
	blob.category = fxt_inline("cat");
	blob.name = fxt_inline("big");
	assert_words(f, fxt_write_large_blob(&f->w, &blob), 0x000001000000005f, 0x0000000080038003,
		     0x746163, 0x676962, 0);
}

/* One record of any length; the size has 32 bits. */
TEST(test_large_blob_bounds)
{
	struct fixture *f = *state;
	_cleanup_free_ char *bytes = text_of('l', 8 * 70000);
	struct fxt_out_arg arg = { FXT_ARG_BLOB, umlaut, .blob = { bytes, 8 * 4094 + 1 } };
	struct fxt_large_blob blob = { fxt_interned("new"), umlaut, bytes, 0 };
	const struct fxt_out_string known = { .index = 1 };
	static const struct {
		size_t size;
		uint64_t header;
	} rows[] = {
		{ 8 * 4091, 0x000001000000ffef },
		{ 8 * 4092, 0x000001000000ffff },
		{ 8 * 4092 + 1, 0x000001000001000f },
		{ 8 * 70000, 0x000001000011173f },
	};

	blob.size = SIZE_MAX;
	assert_refused(f, fxt_write_large_blob(&f->w, &blob), -EMSGSIZE);
	blob.size = (size_t)FXT_LARGE_BYTES_MAX;
	assert_refused(f, fxt_write_large_blob(&f->w, &blob), -EMSGSIZE);

	/* An argument keeps its 12 bits. */
	blob.has_metadata = true;
	blob.thread = (struct fxt_out_thread){ 77, 77 };
	blob.args = &arg;
	blob.n_args = 1;
	blob.size = 1;
	assert_refused(f, fxt_write_large_blob(&f->w, &blob), -EMSGSIZE);
	blob.n_args = 16;
	assert_refused(f, fxt_write_large_blob(&f->w, &blob), -EINVAL);
	arg.blob.size--;
	blob.n_args = 1;
	blob.category = known;
	blob.thread = thread_3;
	assert_int_equal(fxt_write_large_blob(&f->w, &blob), 0);
	assert_int_equal(f->out.size, 8 * (4 + 4095 + 1));
	outbuf_reset(&f->out);

	blob = (struct fxt_large_blob){ known, umlaut, bytes, 0 };
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		blob.size = rows[i].size;
		assert_int_equal(fxt_write_large_blob(&f->w, &blob), 0);
		assert_int_equal(((uint64_t *)f->out.data)[0], rows[i].header);
		assert_int_equal(fxt_whole_records(f->out.data, f->out.size), f->out.size);
		assert_int_equal(fxt_whole_records(f->out.data, f->out.size - 1), 0);
		outbuf_reset(&f->out);
	}
}

/* ---- tables ---- */

/* When all 32480 places of the table are in use, the oldest is replaced. All indices are valid. */
TEST(test_strings_full)
{
	struct fixture *f = *state;
	struct fxt_blob blob = { .type = FXT_BLOB_DATA };
	char text[5] = "";

	for (unsigned i = 0; i <= 32767 - 287; i++) {
		uint64_t index = i < 32480 ? 288 + i : 288;

		snprintf(text, sizeof(text), "%04x", i);
		blob.name = fxt_interned(text);
		assert_int_equal(fxt_write_blob(&f->w, &blob), 0);
		assert_int_equal(f->out.size, 8 * 3);
		assert_int_equal(((uint64_t *)f->out.data)[0], 0x0000000400000022 | index << 16);
		assert_int_equal(((uint64_t *)f->out.data)[2], 0x0001000000000015 | index << 16);
		outbuf_reset(&f->out);
	}
}

TEST(test_threads_full)
{
	struct fixture *f = *state;

	for (uint64_t i = 4; i <= 256; i++) {
		uint64_t index = i < 256 ? i : 1;

		assert_words(f, log_of(f, 1, i), 0x0000000000000033 | index << 16, 1, i,
			     0x0000000000000029 | index << 32, 0);
	}
}

/* ---- providers ---- */

TEST(test_providers)
{
	struct fixture *f = *state;
	_cleanup_(fxt_out_provider_deinit) struct fxt_out_provider q;
	struct fxt_blob blob = { fxt_interned("a"), FXT_BLOB_DATA, NULL, 0 };
	struct fxt_blob fixed = { category, FXT_BLOB_DATA, NULL, 0 };

	assert_int_equal(fxt_out_provider_init(&q, 9), 0);
	assert_words(f, fxt_write_blob(&f->w, &blob), 0x0000000101200022, 'a', 0x0001000001200015);
	assert_refused(f, fxt_write_section(&f->w, &q), -EINVAL);
	assert_words(f, fxt_write_provider_info(&f->w, &q, ""), 0x0000000000910010);

	/* Names of the other provider are unknown here. */
	assert_refused(f, fxt_write_blob(&f->w, &fixed), -EINVAL);
	assert_words(f, fxt_write_blob(&f->w, &blob), 0x0000000101200022, 'a', 0x0001000001200015);
	assert_words(f, log_of(f, 1000, 1001), 0x0000000000010033, 1000, 1001, 0x0000000100000029,
		     0);
	assert_words(f, fxt_write_provider_event(&f->w, 0), 0x0000000000930010);

	assert_words(f, fxt_write_section(&f->w, &f->p), 0x0000000000720010);
	assert_words(f, fxt_write_blob(&f->w, &fixed), 0x0001000000010015);
	assert_words(f, fxt_write_blob(&f->w, &blob), 0x0001000001200015);
	assert_words(f, log_of(f, 1000, 1001), 0x0000000300000029, 0);
	assert_words(f, fxt_write_section(&f->w, &q), 0x0000000000920010);
	assert_words(f, log_of(f, 1000, 1001), 0x0000000100000029, 0);

	/* Introduced again, a provider begins without tables. */
	assert_words(f, fxt_write_provider_info(&f->w, &f->p, ""), 0x0000000000710010);
	assert_refused(f, fxt_write_blob(&f->w, &fixed), -EINVAL);
	assert_words(f, fxt_write_blob(&f->w, &blob), 0x0000000101200022, 'a', 0x0001000001200015);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_frame),
		CASE(test_frame_bounds),
		CASE(test_instant),
		CASE(test_event_types),
		CASE(test_event_bounds),
		CASE(test_args_inline_names),
		CASE(test_args_indexed_names),
		CASE(test_args_interned),
		CASE(test_args_bounds),
		CASE(test_blob),
		CASE(test_objects),
		CASE(test_log),
		CASE(test_switch),
		CASE(test_wakeup),
		CASE(test_legacy_switch),
		CASE(test_module),
		CASE(test_mmap),
		CASE(test_backtrace),
		CASE(test_large_blob),
		CASE(test_large_blob_bounds),
		CASE(test_strings_full),
		CASE(test_threads_full),
		CASE(test_providers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
