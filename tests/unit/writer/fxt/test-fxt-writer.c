/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The expected words are made by hand, from the bit positions in the specification, so the fields
 * of fxt-wire.h are tested, too.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/support/fixtures/golden-file.h"
#include "tests/support/unit.h"
#include "tests/support/fixtures/written-words.h"
#include "writer/fxt/fxt-writer.h"

struct fixture {
	struct outbuf out;
	struct fxt_writer w;
	struct fxt_out_provider p;
};

FIXTURE(set_up)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	f->w.out = &f->out;
	if (fxt_out_provider_init(&f->p, 1) < 0 || fxt_write_head(&f->w, &f->p, "kymo") < 0)
		return -1;
	outbuf_reset(&f->out);
	return 0;
}

FIXTURE(tear_down)
{
	struct fixture *f = *state;

	fxt_out_provider_deinit(&f->p);
	outbuf_deinit(&f->out);
	free(f);
	return 0;
}

/* The words written since the last call are these. */
#define assert_words(f, ...)                                                                       \
	assert_words_are(&(f)->out, (const uint64_t[]){ __VA_ARGS__ },                             \
			 ARRAY_SIZE(((const uint64_t[]){ __VA_ARGS__ })))

/* For tables. */
#define NAME(name)                                                                                 \
	{                                                                                          \
		.index = FXT_NAME_##name                                                           \
	}
#define INLINE(text_)                                                                              \
	{                                                                                          \
		.is_inline = true, .text = (text_), .length = sizeof(text_) - 1                    \
	}

static char *text_of(char c, size_t n)
{
	char *text = malloc(n + 1);

	assert_non_null(text);
	memset(text, c, n);
	text[n] = '\0';
	return text;
}

/* ---- head ---- */

static const struct {
	unsigned index;
	const char *text;
} names[] = {
#define X(id, index, text) { index, text },
	FXT_NAMES(X)
#undef X
};

TEST(test_head)
{
	struct fixture *f = *state;
	static const uint64_t want[] = {
		0x0016547846040010, /* magic */
		0x0040000000110020, /* provider info: id 1, 4 bytes of name */
		0x000000006f6d796b, /* "kymo" */
		0x0000000000120010, /* provider section: id 1 */
		0x0000000000000021, /* initialization */
		0x000000003b9aca00, /* 1,000,000,000 ticks a second */
		0x0000000f00010032, /* string 1, 15 bytes */
		0x676e696d6f636e69, /* "incoming" */
		0x007468676965775f, /* "_weight" */
	};
	const uint8_t *p;

	assert_int_equal(fxt_write_head(&f->w, &f->p, "kymo"), 0);
	assert_true(f->out.size > sizeof(want));
	assert_memory_equal(f->out.data, want, sizeof(want));

	/* The rest: all strings, in the order of the list. */
	p = f->out.data + 6 * 8;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char padded[64] = { 0 };
		size_t n = strlen(names[i].text), words = (n + 7) / 8;
		uint64_t header = 2 | (uint64_t)(1 + words) << 4 | (uint64_t)names[i].index << 16 |
				  (uint64_t)n << 32;

		memcpy(padded, names[i].text, n);
		assert_memory_equal(p, &header, 8);
		assert_memory_equal(p + 8, padded, 8 * words);
		p += 8 + 8 * words;
	}
	assert_ptr_equal(p, f->out.data + f->out.size);
}

TEST(test_head_provider)
{
	struct fixture *f = *state;
	_cleanup_free_ char *longest = text_of('p', 255), *too_long = text_of('p', 256);

	assert_int_equal(fxt_write_head(&f->w, &f->p, too_long), -EMSGSIZE);
	assert_int_equal(f->out.size, 0);
	assert_int_equal(f->out.error, 0);

	f->p.id = UINT32_MAX;
	/* id ffffffff in bits 20..51, 255 in bits 52..59, 33 words in bits 4..15 */
	assert_int_equal(fxt_write_head(&f->w, &f->p, longest), 0);
	assert_int_equal(((uint64_t *)f->out.data)[1], 0x0ffffffffff10210);
	assert_memory_equal(f->out.data + 16, longest, 255);
	assert_int_equal(f->out.data[16 + 255], 0);
	assert_int_equal(((uint64_t *)f->out.data)[34], 0x000ffffffff20010);

	outbuf_reset(&f->out);
	f->p.id = 2;
	assert_int_equal(fxt_write_head(&f->w, &f->p, ""), 0);
	assert_int_equal(((uint64_t *)f->out.data)[1], 0x0000000000210010);
	assert_int_equal(((uint64_t *)f->out.data)[2], 0x0000000000220010);
}

/* ---- kernel objects ---- */

static int write_object(struct fixture *f, unsigned type, uint64_t koid, const char *name,
			const struct fxt_out_arg *args, unsigned n_args)
{
	return fxt_write_kernel_object(&f->w, &(struct fxt_kernel_object){
						      .type = type,
						      .koid = koid,
						      .name = fxt_interned(name),
						      .args = args,
						      .n_args = n_args,
					      });
}

TEST(test_kernel_object)
{
	struct fixture *f = *state;
	const struct fxt_out_arg process = { FXT_ARG_KOID, NAME(PROCESS), .u64 = 1000 };

	assert_int_equal(write_object(f, 1, 1000, "worker", NULL, 0), 0);
	assert_words(f, 0x0000000601200022, 0x000072656b726f77, /* string 288 "worker" */
		     0x0000000120010027, 1000);

	/* The string is registered now; type 2, one argument. */
	assert_int_equal(write_object(f, 2, UINT64_MAX, "worker", &process, 1), 0);
	assert_words(f, 0x0000010120020047, UINT64_MAX, 0x0000000000150028, 1000);

	assert_int_equal(write_object(f, 255, 3, "12345678", NULL, 0), 0);
	assert_words(f, 0x0000000801210022, 0x3837363534333231, 0x0000000121ff0027, 3);

	assert_int_equal(write_object(f, 2, 4, "", NULL, 0), 0);
	assert_words(f, 0x0000000000020027, 4);
}

TEST(test_kernel_object_longest_name)
{
	struct fixture *f = *state;
	_cleanup_free_ char *longest = text_of('n', 32000), *too_long = text_of('n', 32001);
	const uint64_t *words;

	assert_int_equal(write_object(f, 1, 1, too_long, NULL, 0), -EMSGSIZE);
	assert_int_equal(f->out.size, 0);
	assert_int_equal(write_object(f, 1, 1, longest, NULL, 0), 0);
	words = (const uint64_t *)f->out.data;
	assert_int_equal(f->out.size, 8 * (4001 + 2));
	assert_int_equal(words[0], 0x00007d000120fa12); /* 4001 words, 32000 bytes */
	assert_int_equal(words[4001], 0x0000000120010027);
}

/* ---- events ---- */

static struct fxt_event instant(const struct fxt_out_arg *args, unsigned n_args)
{
	return (struct fxt_event){
		.type = FXT_EVENT_INSTANT,
		.category = NAME(KYMO),
		.name = NAME(MARK),
		.ts_ticks = 5000,
		.thread = { 10, 11 },
		.args = args,
		.n_args = n_args,
	};
}

TEST(test_event_thread)
{
	struct fixture *f = *state;
	struct fxt_event ev = instant(NULL, 0);

	assert_int_equal(fxt_write_event(&f->w, &ev), 0);
	assert_words(f, 0x0000000000010033, 10, 11, /* thread 1 */
		     0x0029001601000024, 5000);
	assert_int_equal(fxt_write_event(&f->w, &ev), 0);
	assert_words(f, 0x0029001601000024, 5000);
	ev.thread.tid = UINT32_MAX;
	assert_int_equal(fxt_write_event(&f->w, &ev), 0);
	assert_words(f, 0x0000000000020033, 10, 0xffffffff, 0x0029001602000024, 5000);
}

/* The 256th thread replaces the least recently used one. */
TEST(test_event_threads_full)
{
	struct fixture *f = *state;
	struct fxt_event ev = instant(NULL, 0);

	for (ev.thread.tid = 1; ev.thread.tid <= 255; ev.thread.tid++)
		assert_int_equal(fxt_write_event(&f->w, &ev), 0);
	outbuf_reset(&f->out);
	ev.thread.tid = 1;
	assert_int_equal(fxt_write_event(&f->w, &ev), 0);
	assert_words(f, 0x0029001601000024, 5000);
	ev.thread.tid = 256;
	assert_int_equal(fxt_write_event(&f->w, &ev), 0);
	assert_words(f, 0x0000000000020033, 10, 256, 0x0029001602000024, 5000);
	ev.thread.tid = 2;
	assert_int_equal(fxt_write_event(&f->w, &ev), 0);
	assert_words(f, 0x0000000000030033, 10, 2, 0x0029001603000024, 5000);
}

TEST(test_event_types)
{
	struct fixture *f = *state;
	static const struct {
		enum fxt_event_type type;
		uint64_t header;
		bool has_id;
	} rows[] = {
		{ FXT_EVENT_INSTANT, 0x0029001601100034, false },
		{ FXT_EVENT_COUNTER, 0x0029001601110044, true },
		{ FXT_EVENT_DURATION_BEGIN, 0x0029001601120034, false },
		{ FXT_EVENT_DURATION_END, 0x0029001601130034, false },
		{ FXT_EVENT_DURATION_COMPLETE, 0x0029001601140044, true },
		{ FXT_EVENT_ASYNC_BEGIN, 0x0029001601150044, true },
		{ FXT_EVENT_ASYNC_INSTANT, 0x0029001601160044, true },
		{ FXT_EVENT_ASYNC_END, 0x0029001601170044, true },
		{ FXT_EVENT_FLOW_BEGIN, 0x0029001601180044, true },
		{ FXT_EVENT_FLOW_STEP, 0x0029001601190044, true },
		{ FXT_EVENT_FLOW_END, 0x00290016011a0044, true },
	};
	const struct fxt_out_arg cpu = { FXT_ARG_UINT32, NAME(CPU), .u32 = 7 };
	struct fxt_event ev = instant(&cpu, 1);

	assert_int_equal(fxt_write_event(&f->w, &ev), 0);
	outbuf_reset(&f->out);
	ev.ts_ticks = 0x8000000000000000;
	ev.id = 0x8000000000000001;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		ev.type = rows[i].type;
		assert_int_equal(fxt_write_event(&f->w, &ev), 0);
		if (rows[i].has_id)
			assert_words(f, rows[i].header, 0x8000000000000000, 0x0000000700520012,
				     0x8000000000000001);
		else
			assert_words(f, rows[i].header, 0x8000000000000000, 0x0000000700520012);
	}
}

static const struct {
	struct fxt_out_arg arg;
	unsigned n_words;
	uint64_t words[3];
} arg_rows[] = {
	{ { FXT_ARG_NULL, NAME(TEXT) }, 1, { 0x0000000000560010 } },
	{ { FXT_ARG_INT32, NAME(TEXT), .i32 = -5 }, 1, { 0xfffffffb00560011 } },
	{ { FXT_ARG_INT32, NAME(TEXT), .i32 = INT32_MIN }, 1, { 0x8000000000560011 } },
	{ { FXT_ARG_UINT32, NAME(TEXT), .u32 = UINT32_MAX }, 1, { 0xffffffff00560012 } },
	{ { FXT_ARG_INT64, NAME(TEXT), .i64 = -2 }, 2, { 0x0000000000560023, 0xfffffffffffffffe } },
	{ { FXT_ARG_UINT64, NAME(TEXT), .u64 = 1 }, 2, { 0x0000000000560024, 1 } },
	{ { FXT_ARG_DOUBLE, NAME(TEXT), .f64 = 1.5 },
	  2,
	  { 0x0000000000560025, 0x3ff8000000000000 } },
	{ { FXT_ARG_STRING, NAME(TEXT), .text = INLINE("") }, 1, { 0x0000000000560016 } },
	{ { FXT_ARG_STRING, NAME(TEXT), .text = INLINE("str") },
	  2,
	  { 0x0000800300560026, 0x0000000000727473 } },
	{ { FXT_ARG_STRING, NAME(TEXT), .text = INLINE("12345678") },
	  2,
	  { 0x0000800800560026, 0x3837363534333231 } },
	{ { FXT_ARG_STRING, NAME(TEXT), .text = INLINE("12345678\xc3\xa4") },
	  3,
	  { 0x0000800a00560036, 0x3837363534333231, 0x000000000000a4c3 } },
	{ { FXT_ARG_POINTER, NAME(TEXT), .u64 = 0xdeadbeef },
	  2,
	  { 0x0000000000560027, 0xdeadbeef } },
	{ { FXT_ARG_KOID, NAME(TEXT), .u64 = 1001 }, 2, { 0x0000000000560028, 1001 } },
	{ { FXT_ARG_BOOL, NAME(TEXT), .boolean = true }, 1, { 0x0000000100560019 } },
	{ { FXT_ARG_BOOL, NAME(TEXT), .boolean = false }, 1, { 0x0000000000560019 } },
	{ { FXT_ARG_BLOB, NAME(TEXT), .blob = { "\1\2\3", 3 } },
	  2,
	  { 0x000000030056002a, 0x0000000000030201 } },
	{ { FXT_ARG_BLOB, NAME(TEXT), .blob = { NULL, 0 } }, 1, { 0x000000000056001a } },
};

TEST(test_event_args)
{
	struct fixture *f = *state;
	struct fxt_event ev = instant(NULL, 0);

	assert_int_equal(fxt_write_event(&f->w, &ev), 0);
	outbuf_reset(&f->out);
	ev.n_args = 1;
	for (size_t i = 0; i < ARRAY_SIZE(arg_rows); i++) {
		uint64_t want[5] = { 0x0029001601100004 | (2 + arg_rows[i].n_words) << 4, 5000 };

		memcpy(want + 2, arg_rows[i].words, 8 * arg_rows[i].n_words);
		ev.args = &arg_rows[i].arg;
		assert_int_equal(fxt_write_event(&f->w, &ev), 0);
		assert_words_are(&f->out, want, 2 + arg_rows[i].n_words);
	}
}

/* Fifteen, the most that the four bits of their number allow. */
TEST(test_event_n_args)
{
	struct fixture *f = *state;
	struct fxt_out_arg args[16] = {};
	struct fxt_event ev = instant(args, 16);

	for (size_t i = 0; i < ARRAY_SIZE(args); i++)
		args[i] = (struct fxt_out_arg){ FXT_ARG_NULL, NAME(CPU) };
	assert_int_equal(fxt_write_event(&f->w, &ev), -EINVAL);
	assert_int_equal(write_object(f, 1, 1, "n", args, 16), -EINVAL);
	assert_int_equal(f->out.size, 0);
	assert_int_equal(f->out.error, 0);
	ev.n_args = 15;
	assert_int_equal(fxt_write_event(&f->w, &ev), 0);
	assert_int_equal(f->out.size, 8 * (3 + 2 + 15));
	assert_int_equal(((uint64_t *)f->out.data)[3], 0x0029001601f00114);
	outbuf_reset(&f->out);
	assert_int_equal(write_object(f, 1, 1, "", args, 15), 0);
	assert_int_equal(((uint64_t *)f->out.data)[0], 0x00000f0000010117);
}

/* A record has at most 4095 words. A longer one is not written at all. */
TEST(test_too_long)
{
	struct fixture *f = *state;
	_cleanup_free_ char *text = text_of('t', 32001), *half = text_of('h', 16384);
	_cleanup_free_ char *blob = text_of('b', 32768);
	static const struct {
		uint32_t bytes;
		int r;
	} event_rows[] = {
		{ 32736, 0 },                               /* 2 + 1 + 4092 words */
		{ 32737, -EMSGSIZE },                       /* one more */
		{ 32744, -EMSGSIZE }, { 32752, -EMSGSIZE }, /* the argument alone has 4095 */
		{ 32760, -EMSGSIZE }, { 32768, -EMSGSIZE }, { UINT32_MAX, -EMSGSIZE },
	};
	struct fxt_out_arg arg = { FXT_ARG_BLOB, NAME(TEXT), .blob = { blob, 0 } };
	struct fxt_out_arg many[2];
	struct fxt_event ev = instant(&arg, 1);

	for (size_t i = 0; i < ARRAY_SIZE(event_rows); i++) {
		ev.thread.tid = (uint32_t)i;
		arg.blob.size = event_rows[i].bytes;
		assert_int_equal(fxt_write_event(&f->w, &ev), event_rows[i].r);
		assert_int_equal(f->out.size, event_rows[i].r ? 0 : 8 * (3 + 4095));
		assert_int_equal(f->out.error, 0);
		outbuf_reset(&f->out);
		assert_int_equal(write_object(f, 1, i, text + 32000 - i, &arg, 1), event_rows[i].r);
		if (event_rows[i].r)
			assert_int_equal(f->out.size, 0);
		outbuf_reset(&f->out);
	}

	/* One text over 32000 bytes, and two that are too long together. */
	many[0] = (struct fxt_out_arg){ FXT_ARG_STRING, NAME(TEXT), .text = fxt_inline(text) };
	ev = instant(many, 1);
	assert_int_equal(fxt_write_event(&f->w, &ev), -EMSGSIZE);
	assert_int_equal(f->out.size, 0);
	many[0].text = many[1].text = fxt_inline(half);
	many[1].type = FXT_ARG_STRING;
	many[1].name = fxt_named(FXT_NAME_TEXT);
	ev.n_args = 2;
	assert_int_equal(fxt_write_event(&f->w, &ev), -EMSGSIZE);
	assert_int_equal(f->out.size, 0);
	many[0].text = fxt_inline(text + 1);
	ev.n_args = 1;
	assert_int_equal(fxt_write_event(&f->w, &ev), 0);
	assert_int_equal(f->out.size, 8 * (3 + 2 + 4001));
}

/* ---- other records ---- */

static int write_blob(struct fixture *f, enum fxt_blob_type type, const void *data, size_t size)
{
	const struct fxt_blob blob = { NAME(PERFETTO), type, data, size };

	return fxt_write_blob(&f->w, &blob);
}

TEST(test_blob)
{
	struct fixture *f = *state;
	_cleanup_free_ char *data = text_of('d', 32768);

	assert_int_equal(write_blob(f, FXT_BLOB_PERFETTO, "bytes", 5), 0);
	assert_words(f, 0x00030005002a0025, 0x0000007365747962);
	assert_int_equal(write_blob(f, FXT_BLOB_DATA, NULL, 0), 0);
	assert_words(f, 0x00010000002a0015);
	assert_int_equal(write_blob(f, FXT_BLOB_DATA, data, 32752), 0);
	assert_int_equal(((uint64_t *)f->out.data)[0], 0x00017ff0002afff5); /* 4095 words */
	assert_int_equal(f->out.size, 32760);
	outbuf_reset(&f->out);
	for (size_t n = 32753; n <= 32768; n++)
		assert_int_equal(write_blob(f, FXT_BLOB_DATA, data, n), -EMSGSIZE);
	assert_int_equal(f->out.size, 0);
	assert_int_equal(f->out.error, 0);
}

TEST(test_provider_event)
{
	struct fixture *f = *state;

	f->p.id = 1;
	assert_int_equal(fxt_write_provider_event(&f->w, FXT_PROVIDER_EVENT_BUFFER_FILLED), 0);
	assert_words(f, 0x0000000000130010);
	f->p.id = UINT32_MAX;
	assert_int_equal(fxt_write_provider_event(&f->w, 15), 0);
	assert_words(f, 0x00fffffffff30010);
	assert_int_equal(fxt_write_provider_event(&f->w, 16), -EINVAL);
	assert_int_equal(f->out.size, 0);
}

TEST(test_words)
{
	struct fixture *f = *state;
	static const uint64_t words[] = { 1, 2, UINT64_MAX };

	assert_int_equal(fxt_write_words(&f->w, words, 3), 0);
	assert_words(f, 1, 2, UINT64_MAX);
	assert_int_equal(fxt_write_words(&f->w, words, 0), 0);
	assert_int_equal(f->out.size, 0);
}

/* ---- shared with the kernel side ---- */

TEST(test_headers)
{
	assert_int_equal(fxt_switch_header(6, 2, 0, FXT_STATE_BLOCKED), 0x1000003000020068);
	assert_int_equal(fxt_switch_header(7, 3, 65535, FXT_STATE_RUNNING), 0x1000001ffff30078);
	assert_int_equal(fxt_wakeup_header(4, 1, 5), 0x2000000000510048);
	assert_int_equal(fxt_wakeup_header(6, 2, 300), 0x2000000012c20068);
	assert_int_equal(fxt_arg32(FXT_ARG_INT32, FXT_NAME_WEIGHT, 120), 0x0000007800030011);
	assert_int_equal(fxt_arg64(FXT_ARG_KOID, FXT_NAME_WAKER), 0x0000000000040028);
}

/* ---- failure ---- */

/* After the first record that does not fit, no more are tried. */
TEST(test_full_sticks)
{
	struct fixture *f = *state;
	struct fxt_event ev = instant(NULL, 0);
	struct fxt_switch sw = { .ts_ticks = 1 };

	outbuf_deinit(&f->out);
	f->out.limit = 64;
	assert_int_equal(fxt_write_event(&f->w, &ev), 0);
	assert_int_equal(f->out.size, 40);
	assert_int_equal(fxt_write_switch(&f->w, &sw), -EMSGSIZE);
	assert_int_equal(f->out.size, 40);
	assert_int_equal(f->out.error, -EMSGSIZE);
	assert_int_equal(fxt_write_event(&f->w, &ev), -EMSGSIZE);
	assert_int_equal(fxt_write_provider_event(&f->w, 0), -EMSGSIZE);
	assert_int_equal(write_blob(f, FXT_BLOB_DATA, NULL, 0), -EMSGSIZE);
	assert_int_equal(write_object(f, 1, 1, "", NULL, 0), -EMSGSIZE);
	assert_int_equal(fxt_write_words(&f->w, &(uint64_t){ 1 }, 1), -EMSGSIZE);
	assert_int_equal(fxt_write_head(&f->w, &f->p, "kymo"), -EMSGSIZE);
	assert_int_equal(f->out.size, 40);
}

/* The head has a record for each string. None of them is cut. */
TEST(test_full_head)
{
	struct fixture *f = *state;

	for (size_t limit = 8; limit < 400; limit += 8) {
		const uint64_t *words;
		size_t at = 0;

		outbuf_deinit(&f->out);
		f->out.limit = limit;
		assert_int_equal(fxt_write_head(&f->w, &f->p, "kymo"), -EMSGSIZE);
		words = (const uint64_t *)f->out.data;
		while (at < f->out.size / 8)
			at += words[at] >> 4 & 0xfff;
		assert_int_equal(at, f->out.size / 8);
	}
}

TEST(test_whole_records)
{
	struct fixture *f = *state;
	size_t whole = 0;
	const uint64_t *words;

	assert_int_equal(fxt_write_head(&f->w, &f->p, "kymo"), 0);
	words = (const uint64_t *)f->out.data;
	for (size_t n = 0; n <= f->out.size; n++) {
		/* Bits 4..15 of the header define the end of the record. */
		if (whole < f->out.size && n == whole + 8 * (words[whole / 8] >> 4 & 0xfff))
			whole = n;
		assert_int_equal(fxt_whole_records(f->out.data, n), whole);
	}
	assert_int_equal(whole, f->out.size);
}

/* Headers of no writer: the count ends there. */
TEST(test_whole_records_of_damage)
{
	static const struct {
		uint64_t words[3];
		size_t whole;
	} rows[] = {
		{ { FXT_MAGIC, 0x20, 0 }, 24 },      { { FXT_MAGIC, 0, FXT_MAGIC }, 8 },
		{ { 0, FXT_MAGIC, FXT_MAGIC }, 0 },  { { 0x1f, 0, 0 }, 8 },
		{ { 0xfffffffff0 | 15, 0, 0 }, 0 },  { { 0xf, 0, 0 }, 0 },
		{ { FXT_MAGIC, UINT64_MAX, 0 }, 8 }, { { 0xfff0, 0, 0 }, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(fxt_whole_records((const uint8_t *)rows[i].words,
						   sizeof(rows[i].words)),
				 rows[i].whole);
}

/* ---- everything in a file ---- */

TEST(test_golden)
{
	struct fixture *f = *state;
	struct fxt_out_arg args[FXT_ARGS_MAX] = {};
	struct fxt_event ev = instant(args, FXT_ARGS_MAX);
	const struct fxt_out_arg sw_args[] = {
		{ FXT_ARG_INT32, NAME(OUTGOING_WEIGHT), .i32 = 0 },
		{ FXT_ARG_INT32, NAME(INCOMING_WEIGHT), .i32 = 120 },
		{ FXT_ARG_BOOL, NAME(SYNTHETIC), .boolean = true },
	};
	struct fxt_switch sw = {
		.ts_ticks = 6000, .cpu = 2, .in_tid = 11, .args = sw_args, .n_args = 3
	};

	assert_int_equal(fxt_write_head(&f->w, &f->p, "kymo"), 0);
	assert_int_equal(write_blob(f, FXT_BLOB_DATA, "bytes", 5), 0);
	assert_int_equal(write_object(f, FXT_OBJECT_PROCESS, 10, "sh", NULL, 0), 0);
	for (size_t i = 0; i < FXT_ARGS_MAX; i++)
		args[i] = arg_rows[i].arg;
	for (ev.type = FXT_EVENT_INSTANT; ev.type <= FXT_EVENT_FLOW_END; ev.type++) {
		ev.ts_ticks++;
		ev.id = ev.ts_ticks + 100; /* also an end time */
		assert_int_equal(fxt_write_event(&f->w, &ev), 0);
	}
	assert_int_equal(fxt_write_switch(&f->w, &sw), 0);
	assert_int_equal(fxt_write_provider_event(&f->w, 0), 0);
	assert_golden("fxt/writer.fxt", f->out.data, f->out.size);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_head),          CASE(test_head_provider),
		CASE(test_kernel_object), CASE(test_kernel_object_longest_name),
		CASE(test_event_thread),  CASE(test_event_threads_full),
		CASE(test_event_types),   CASE(test_event_args),
		CASE(test_event_n_args),  CASE(test_too_long),
		CASE(test_blob),          CASE(test_provider_event),
		CASE(test_words),         CASE(test_headers),
		CASE(test_full_sticks),   CASE(test_full_head),
		CASE(test_whole_records), CASE(test_whole_records_of_damage),
		CASE(test_golden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
