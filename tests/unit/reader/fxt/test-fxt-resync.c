/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reader's behaviour at damage, rule by rule, and with undamaged archives of other writers.
 * tests/system/recovery.sh measures how much of a real recording is recovered.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/outbuf.h"
#include "reader/fxt/fxt-reader.h"
#include "tests/support/fixtures/recovery.h"
#include "tests/support/unit.h"

/* ---- archives ---- */

static void put_words(struct outbuf *b, size_t n, const uint64_t *words)
{
	assert_int_equal(outbuf_append(b, words, 8 * n), 0);
}

#define PUT(b, ...)                                                                                \
	put_words((b), sizeof((uint64_t[]){ __VA_ARGS__ }) / 8, (uint64_t[]){ __VA_ARGS__ })

#define PROVIDER_INFO_T(id)  0x0010000000010020 | (uint64_t)(id) << 20, 0x74 /* called "t" */
#define PROVIDER_SECTION(id) (0x0000000000020010 | (uint64_t)(id) << 20)
#define INIT(ticks)          0x21, (ticks)
/* Up to 8 bytes of text. */
#define STRING(index, text, n) (0x22 | (uint64_t)(index) << 16 | (uint64_t)(n) << 32), word_of(text)
#define INSTANT(ts, name)      (0x0000000001000024 | UINT64_C(1) << 32 | (uint64_t)(name) << 48), (ts)
#define THREAD(index, tid)     (0x33 | (uint64_t)(index) << 16), 100, (tid)

/* A switch of six words, and a wakeup of six, both with two arguments. */
#define SWITCH(ts, out, in)                                                                        \
	0x1000003000020068, (ts), (out), (in), 0x0000007800030011, 0x0000007800040011
#define WAKEUP(ts, tid) 0x2000000000020068, (ts), (tid), 0x0000007800030011, 0x0000000000040028, 100

enum { N = 40, SWITCH_BYTES = 48, RECORD_BYTES = SWITCH_BYTES };
#define T0   UINT64_C(5000000000000)
#define STEP 1000

static uint64_t word_of(const char *text)
{
	uint64_t word = 0;

	memcpy(&word, text, strlen(text) < 8 ? strlen(text) : 8);
	return word;
}

static void put_head(struct outbuf *b)
{
	PUT(b, FXT_MAGIC, PROVIDER_INFO_T(1), PROVIDER_SECTION(1), INIT(1000000000));
	PUT(b, STRING(1, "category", 8), STRING(2, "name", 4), STRING(3, "weight", 6),
	    STRING(4, "waker", 5), THREAD(1, 101));
}

/* N records of 48 bytes each. */
static void put_timeline(struct outbuf *b, uint64_t from_ns)
{
	for (uint64_t i = 0; i < N; i++) {
		if (i % 3 == 2)
			PUT(b, WAKEUP(from_ns + i * STEP, 100 + i));
		else
			PUT(b, SWITCH(from_ns + i * STEP, 100 + i, i % 2 ? 0 : 33));
	}
}

/* The result of reading an archive. */
struct result {
	unsigned records, damages, zero_damages;
	uint64_t skipped, first_damage;
	const char *what; /* of the first damage */
	bool truncated;
	uint64_t times[2 * N]; /* of the scheduling records */
	unsigned n_times, n_events, n_named;
};

static void read_all(struct fxt_reader *r, struct result *ret)
{
	const struct fxt_record *record;
	int e;

	*ret = (struct result){ 0 };
	while ((e = fxt_reader_next(r, &record)) > 0) {
		if (e == FXT_READER_DAMAGE) {
			const struct fxt_damage *d = fxt_reader_damage(r);

			if (ret->damages++ == 0) {
				ret->what = d->what;
				ret->first_damage = d->offset;
			}
			ret->zero_damages += d->bytes == 0;
			ret->skipped += d->bytes;
			ret->truncated |= d->truncated;
			continue;
		}
		ret->records++;
		assert_int_equal((uintptr_t)record->words % 8, 0);
		if (record->type == FXT_RECORD_SCHEDULING && ret->n_times < 2 * N)
			ret->times[ret->n_times++] = record->ts_ns;
		if (record->type == FXT_RECORD_EVENT) {
			ret->n_events++;
			ret->n_named += record->name.bytes && record->name.length == 4 &&
					memcmp(record->name.bytes, "name", 4) == 0;
		}
	}
	assert_int_equal(e, FXT_READER_END);
}

static void read_bytes(const void *data, size_t n, struct result *ret)
{
	struct fxt_reader *r = NULL;
	uint8_t *copy = malloc(n);

	memcpy(copy, data, n);
	assert_int_equal(fxt_reader_new_memory(&r, copy, n), 0);
	read_all(r, ret);
	fxt_reader_free(r);
	free(copy);
}

/* The number of the timeline's records that were read, each at most once, in order. */
static unsigned n_there(const struct result *r, uint64_t from_ns)
{
	unsigned n = 0, at = 0;

	for (uint64_t i = 0; i < N; i++) {
		for (unsigned j = at; j < r->n_times; j++) {
			if (r->times[j] == from_ns + i * STEP) {
				at = j + 1;
				n++;
				break;
			}
		}
	}
	return n;
}

struct fixture {
	struct outbuf b;
	size_t begin; /* of the timeline */
};

FIXTURE(set_up)
{
	struct fixture *f = calloc(1, sizeof(*f));

	put_head(&f->b);
	f->begin = f->b.size;
	put_timeline(&f->b, T0);
	*state = f;
	return 0;
}

FIXTURE(tear_down)
{
	struct fixture *f = *state;

	outbuf_deinit(&f->b);
	free(f);
	return 0;
}

static uint64_t get_word(const struct outbuf *b, size_t at)
{
	uint64_t word;

	memcpy(&word, b->data + at, 8);
	return word;
}

static void set_word(struct outbuf *b, size_t at, uint64_t word)
{
	memcpy(b->data + at, &word, 8);
}

/* ---- sizes ---- */

/*
 * Whatever size a record claims, its neighbours are recovered, and so is the record, by its
 * contents.
 */
TEST(test_wrong_size)
{
	struct fixture *f = *state;

	for (size_t record = 0; record < N; record += 7) {
		size_t at = f->begin + record * RECORD_BYTES;
		uint64_t head = get_word(&f->b, at);

		for (uint64_t words = 0; words <= FXT_RECORD_WORDS_MAX; words++) {
			struct result r;

			set_word(&f->b, at, fxt_with_record_words(head, words));
			read_bytes(f->b.data, f->b.size, &r);
			assert_true(n_there(&r, T0) >= N - 1);
			if (words != RECORD_BYTES / 8)
				assert_int_equal(r.damages, 1);
			if (words > 0)
				assert_int_equal(n_there(&r, T0), N);
			assert_false(r.truncated);
		}
		set_word(&f->b, at, head);
	}
}

/* Likewise the last record. It could also be cut off, but its contents are complete. */
TEST(test_wrong_size_at_end)
{
	struct fixture *f = *state;
	size_t at = f->begin + (N - 1) * RECORD_BYTES;
	struct result r;

	set_word(&f->b, at, fxt_with_record_words(get_word(&f->b, at), 7));
	read_bytes(f->b.data, f->b.size, &r);
	assert_int_equal(n_there(&r, T0), N);
	assert_int_equal(r.damages, 1);
	assert_int_equal(r.zero_damages, 1);
	/* With a byte less, it is cut off. */
	read_bytes(f->b.data, f->b.size - 1, &r);
	assert_int_equal(n_there(&r, T0), N - 1);
	assert_true(r.truncated);
	assert_int_equal(r.skipped, RECORD_BYTES - 1);
}

/* A string is not lost because of a damaged size: otherwise, all references to it would be lost. */
TEST(test_wrong_size_of_string)
{
	struct outbuf b = { 0 };
	size_t at;

	put_head(&b);
	at = b.size;
	PUT(&b, STRING(9, "name", 4));
	for (uint64_t i = 0; i < 4; i++)
		PUT(&b, INSTANT(T0 + i, 9));
	for (uint64_t words = 1; words < 100; words++) {
		struct result r;

		set_word(&b, at, fxt_with_record_words(get_word(&b, at), words));
		read_bytes(b.data, b.size, &r);
		assert_int_equal(r.n_events, 4);
		assert_int_equal(r.n_named, 4);
	}
	outbuf_deinit(&b);
}

/* A large record that does not exist: 60 MiB and 32 GiB, in the middle. */
TEST(test_large_lies)
{
	static const uint64_t words[] = { 5000, 60 << 17, FXT_LARGE_WORDS_MAX };
	struct fixture *f = *state;
	size_t at = f->begin + 10 * RECORD_BYTES;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		struct result r;

		set_word(&f->b, at, fxt_put_record_type(15) | fxt_put_large_words(words[i]));
		read_bytes(f->b.data, f->b.size, &r);
		assert_int_equal(n_there(&r, T0), N - 1);
		assert_int_equal(r.damages, 1);
		assert_int_equal(r.first_damage, at);
		assert_int_equal(r.skipped, RECORD_BYTES);
		assert_false(r.truncated);
	}
}

/* ---- bytes ---- */

/* Any number of bytes is missing anywhere: only the records that they belong to are lost. */
TEST(test_bytes_missing)
{
	struct fixture *f = *state;

	for (size_t n = 1; n <= 60; n++) {
		for (size_t from = 0; from < RECORD_BYTES; from++) {
			size_t at = f->begin + 7 * RECORD_BYTES + from;
			unsigned touched = (unsigned)((from + n - 1) / RECORD_BYTES + 1);
			struct outbuf b = { 0 };
			struct result r;

			outbuf_append(&b, f->b.data, at);
			outbuf_append(&b, f->b.data + at + n, f->b.size - at - n);
			read_bytes(b.data, b.size, &r);
			assert_true(n_there(&r, T0) >= N - touched);
			assert_false(r.truncated);
			outbuf_deinit(&b);
		}
	}
}

TEST(test_bytes_inserted)
{
	static const uint8_t values[] = { 0x00, 0x11, 0x24, 0x68, 0xff };
	struct fixture *f = *state;

	for (size_t n = 1; n <= 20; n++) {
		for (size_t from = 0; from <= RECORD_BYTES; from++) {
			size_t at = f->begin + 7 * RECORD_BYTES + from;
			unsigned touched = from % RECORD_BYTES ? 1 : 0;
			uint8_t bytes[20];
			struct outbuf b = { 0 };
			struct result r;

			memset(bytes, values[(n + from) % ARRAY_SIZE(values)], n);
			outbuf_append(&b, f->b.data, at);
			outbuf_append(&b, bytes, n);
			outbuf_append(&b, f->b.data + at, f->b.size - at);
			read_bytes(b.data, b.size, &r);
			if (n_there(&r, T0) < N - touched)
				fail_msg("%zu bytes of %#x inserted at %zu: %u", n, bytes[0], from,
					 n_there(&r, T0));
			assert_true(r.damages >= 1);
			outbuf_deinit(&b);
		}
	}
}

/* A run of damage is one report, with its offset and length. */
TEST(test_one_report)
{
	struct fixture *f = *state;
	size_t at = f->begin + 10 * RECORD_BYTES;
	struct result r;

	memset(f->b.data + at, 0, 5 * RECORD_BYTES);
	read_bytes(f->b.data, f->b.size, &r);
	assert_int_equal(n_there(&r, T0), N - 5);
	assert_int_equal(r.damages, 1);
	assert_int_equal(r.first_damage, at);
	assert_int_equal(r.skipped, 5 * RECORD_BYTES);
	assert_string_equal(r.what, "zeros where a record should be");
	for (size_t i = 0; i < 5 * RECORD_BYTES; i++)
		f->b.data[at + i] = (uint8_t)(i * 101 >> 2);
	read_bytes(f->b.data, f->b.size, &r);
	assert_int_equal(n_there(&r, T0), N - 5);
	assert_int_equal(r.damages, 1);
	assert_int_equal(r.skipped, 5 * RECORD_BYTES);
}

/* ---- the beginning ---- */

TEST(test_lost_start)
{
	struct fixture *f = *state;
	struct result r;

	f->b.data[3] ^= 0x40;
	read_bytes(f->b.data, f->b.size, &r);
	assert_int_equal(n_there(&r, T0), N);
	assert_int_equal(r.damages, 1);
	assert_int_equal(r.skipped, 8);
	/* Without all introductions, and not aligned. */
	read_bytes(f->b.data + f->begin + 5, f->b.size - f->begin - 5, &r);
	assert_int_equal(n_there(&r, T0), N - 1);
	assert_int_equal(r.skipped, RECORD_BYTES - 5);
}

/* A file that is no archive is not read as one. */
TEST(test_no_archive)
{
	enum { SIZE = 200000 };
	uint8_t *data = malloc(SIZE);
	uint32_t x = 5;

	for (int kind = 0; kind < 4; kind++) {
		struct fxt_reader *r = NULL;

		for (size_t i = 0; i < SIZE; i++) {
			x = x * 1664525 + 1013904223;
			data[i] = kind == 0   ? (uint8_t)(x >> 24)
				  : kind == 1 ? (uint8_t)(x >> 30)
				  : kind == 2 ? "some text of no meaning\n"[i % 24]
					      : (uint8_t)(i % 8 ? 0 : x >> 25);
		}
		assert_int_equal(fxt_reader_new_memory(&r, data, SIZE), FXT_ALIEN_OTHER);
		assert_null(r);
	}
	free(data);
}

/* ---- tables ---- */

/* After a damaged header come arguments that look like records that change tables. */
TEST(test_garbage_changes_nothing)
{
	static const uint64_t lookalikes[][2] = {
		{ 0x0000000000020012, 0 },          /* uint32 0, named 2: the empty string 2 */
		{ 0x0000000000120010, 0 },          /* null, named 0x12: the section of 1 */
		{ 0x0000000000220010, 0 },          /* the section of 2, which does not exist */
		{ 0x0000000000010023, 0x65 },       /* int64: too short for a thread */
		{ 0x0000000000000021, 4194304 },    /* an initialization */
		{ 0x0000000100020022, 0x0100000b }, /* the string 2, with bytes that are no text */
	};

	for (size_t i = 0; i < ARRAY_SIZE(lookalikes); i++) {
		struct outbuf b = { 0 };
		struct result r;

		put_head(&b);
		put_timeline(&b, T0);
		/* An instant without its header. */
		PUT(&b, 0xfffffffffffffff7, T0);
		put_words(&b, lookalikes[i][1] ? 2 : 1, lookalikes[i]);
		for (uint64_t j = 0; j < 4; j++)
			PUT(&b, INSTANT(T0 + N * STEP + j, 2));
		read_bytes(b.data, b.size, &r);
		assert_int_equal(r.n_events, 4);
		assert_int_equal(r.n_named, 4);
		assert_int_equal(r.damages, 1);
		outbuf_deinit(&b);
	}
}

/* Records that change tables and have reserved bits can be of another type: they are not used. */
TEST(test_reserved_bits_change_nothing)
{
	struct outbuf b = { 0 };
	struct result r;

	put_head(&b);
	PUT(&b, 0x0010000000020022 | UINT64_C(5) << 32, word_of("other"));
	PUT(&b, PROVIDER_SECTION(1) | UINT64_C(1) << 60);
	for (uint64_t i = 0; i < 4; i++)
		PUT(&b, INSTANT(T0 + i, 2));
	read_bytes(b.data, b.size, &r);
	assert_int_equal(r.n_events, 4);
	assert_int_equal(r.n_named, 4);
	assert_int_equal(r.damages, 2);
	assert_int_equal(r.skipped, 0);
	outbuf_deinit(&b);
}

/* But if nothing else is known, they are used: all references to them have a name. */
TEST(test_reserved_bits_are_read)
{
	const uint64_t bit = UINT64_C(1) << 60;
	struct fxt_reader *reader = NULL;
	const struct fxt_record *record;
	struct outbuf b = { 0 };
	struct result r;
	int e;

	PUT(&b, FXT_MAGIC, PROVIDER_INFO_T(1), PROVIDER_SECTION(1), 0x21 | bit, 1000000);
	PUT(&b, (0x22 | UINT64_C(1) << 16 | UINT64_C(8) << 32) | bit, word_of("category"));
	PUT(&b, (0x22 | UINT64_C(2) << 16 | UINT64_C(4) << 32) | bit, word_of("name"));
	PUT(&b, (0x33 | UINT64_C(1) << 16) | bit, 100, 101);
	for (uint64_t i = 0; i < 4; i++)
		PUT(&b, INSTANT(T0 + i, 2));
	read_bytes(b.data, b.size, &r);
	assert_int_equal(r.n_named, 4);
	assert_int_equal(r.damages, 0);
	assert_int_equal(fxt_reader_new_memory(&reader, b.data, b.size), 0);
	while ((e = fxt_reader_next(reader, &record)) > 0) {
		if (record->type != FXT_RECORD_EVENT)
			continue;
		assert_int_equal(record->thread.tid, 101);
		assert_int_equal(record->ts_ns, record->ts_ticks * 1000);
	}
	assert_int_equal(e, FXT_READER_END);
	fxt_reader_free(reader);
	outbuf_deinit(&b);
}

/* ---- other writers ---- */

static void assert_undamaged(const struct outbuf *b, unsigned n_records)
{
	struct result r;

	read_bytes(b->data, b->size, &r);
	assert_int_equal(r.damages, 0);
	assert_int_equal(r.records, n_records);
}

/* An initialization of four words, no provider, a pool of reused strings. */
TEST(test_pool_of_strings)
{
	struct outbuf b = { 0 };
	struct result r;

	PUT(&b, FXT_MAGIC, 0x41, 1000000000, T0, T0);
	PUT(&b, STRING(1, "category", 8), STRING(2, "name", 4), THREAD(1, 101));
	for (uint64_t i = 0; i < 100; i++) {
		PUT(&b, STRING(7, i % 2 ? "odd" : "even", i % 2 ? 3 : 4), INSTANT(T0 + i, 7));
		PUT(&b, INSTANT(T0 + i, 2));
	}
	assert_undamaged(&b, 5 + 300);
	read_bytes(b.data, b.size, &r);
	assert_int_equal(r.n_named, 100);
	outbuf_deinit(&b);
}

/* An undocumented word after each instant, and a record of an unknown type between them. */
TEST(test_words_behind)
{
	struct outbuf b = { 0 };

	put_head(&b);
	for (uint64_t i = 0; i < 100; i++) {
		PUT(&b, fxt_with_record_words(0x0002000101000024, 3), T0 + i, i % 3);
		if (i % 10 == 0)
			PUT(&b, 0x000000000000004c, i, ~i, T0);
	}
	assert_undamaged(&b, 9 + 110);
	outbuf_deinit(&b);
}

/* The format grows within its types, too: unknown kinds do not affect their neighbours. */
TEST(test_unknown_kinds)
{
	static const uint64_t heads[] = {
		UINT64_C(3) << 60 | 0x48,   /* scheduling */
		UINT64_C(15) << 60 | 0x48,  /* the highest */
		UINT64_C(0x3) << 16 | 0x4a, /* profiler */
		UINT64_C(0xf) << 16 | 0x4a, /* the highest */
		UINT64_C(1) << 36 | 0x4f,   /* large */
		UINT64_C(0x2) << 40 | 0x4f, /* a large BLOB of another format */
		0x4b,                       /* of unknown type */
	};

	for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
		struct outbuf b = { 0 };
		struct result r;
		size_t at;

		put_head(&b);
		at = b.size;
		for (uint64_t j = 0; j < 50; j++)
			PUT(&b, heads[i], T0 + j, ~j, j, INSTANT(T0 + j, 2));
		assert_undamaged(&b, 9 + 100);
		/* Nor after damage, where references do not help. */
		b.data[at + 32] = 0xff;
		for (size_t j = at + 32 + 48; j < b.size; j += 48)
			b.data[j + 6] = 77;
		read_bytes(b.data, b.size, &r);
		assert_int_equal(r.n_events, 49);
		assert_int_equal(r.damages, 1);
		outbuf_deinit(&b);
	}
}

/* After damage, records with an additional word are found like others. */
TEST(test_words_behind_damage)
{
	enum { EVENTS = 1000, BYTES = 24 };
	struct outbuf b = { 0 };
	size_t at;

	put_head(&b);
	at = b.size;
	for (uint64_t i = 0; i < EVENTS; i++)
		PUT(&b, fxt_with_record_words(0x0002000101000024, 3), T0 + i, i % 3);
	for (size_t i = 0; i < EVENTS; i += 100) {
		static const uint64_t heads[] = { 0, 0xffffffffffffffff, 0x0002000101000004,
						  0x00020001010000f4, 0x00020001010ffff4 };

		for (size_t j = 0; j < ARRAY_SIZE(heads); j++) {
			uint64_t head = get_word(&b, at + i * BYTES);
			struct result r;

			set_word(&b, at + i * BYTES, heads[j]);
			read_bytes(b.data, b.size, &r);
			assert_in_range(r.n_events, EVENTS - 1, EVENTS);
			assert_int_equal(r.damages, 1);
			set_word(&b, at + i * BYTES, head);
		}
	}
	outbuf_deinit(&b);
}

/* An unknown record that contains others because its header is damaged is not kept. */
TEST(test_unknown_takes_in)
{
	struct fixture *f = *state;
	size_t at = f->begin + 10 * RECORD_BYTES;
	struct result r;

	set_word(&f->b, at, 0xabcdef000000000c | 10 * RECORD_BYTES / 8 << 4);
	read_bytes(f->b.data, f->b.size, &r);
	assert_int_equal(n_there(&r, T0), N - 1);
	assert_int_equal(r.damages, 1);
	assert_int_equal(r.skipped, RECORD_BYTES);
}

/* Alternating sections, each with the times of its own provider, which run backwards. */
TEST(test_sections)
{
	struct outbuf b = { 0 };

	PUT(&b, FXT_MAGIC);
	for (uint64_t p = 1; p <= 3; p++)
		PUT(&b, PROVIDER_INFO_T(p), INIT(p * 1000000000), STRING(1, "category", 8),
		    STRING(2, "name", 4), THREAD(1, 101));
	for (uint64_t i = 0; i < 10; i++) {
		for (uint64_t p = 1; p <= 3; p++) {
			PUT(&b, PROVIDER_SECTION(p));
			for (uint64_t j = 0; j < 5; j++)
				PUT(&b, INSTANT(p * (T0 + i * 100000 + j), 2));
		}
	}
	assert_undamaged(&b, 1 + 15 + 30 * 6);
	outbuf_deinit(&b);
}

/* Another archive after the first one. */
TEST(test_archives_in_a_row)
{
	struct outbuf b = { 0 };

	for (uint64_t i = 0; i < 3; i++) {
		put_head(&b);
		put_timeline(&b, T0 / (i + 1));
	}
	assert_undamaged(&b, 3 * (9 + N));
	outbuf_deinit(&b);
}

/* ---- sources, time ---- */

static ssize_t drip(void *userdata, void *to, size_t n)
{
	struct outbuf *b = userdata;

	(void)n;
	if (b->size == 0)
		return 0;
	*(uint8_t *)to = *b->data++;
	b->size--;
	return 1;
}

/* From a source that gives single bytes, damage is the same as in memory. */
TEST(test_source)
{
	struct fixture *f = *state;
	struct fxt_reader *reader = NULL;
	struct result a, b;
	struct outbuf rest;

	memset(f->b.data + f->begin + 500, 0xa5, 100);
	f->b.data[f->begin + 1000] ^= 0x70;
	read_bytes(f->b.data, f->b.size - 3, &a);
	rest = (struct outbuf){ .data = f->b.data, .size = f->b.size - 3 };
	assert_int_equal(fxt_reader_new_source(&reader, drip, &rest), 0);
	read_all(reader, &b);
	fxt_reader_free(reader);
	assert_int_equal(a.records, b.records);
	assert_int_equal(a.damages, b.damages);
	assert_int_equal(a.skipped, b.skipped);
	assert_memory_equal(a.times, b.times, sizeof(a.times));
}

/* Data that looks like records and is none takes linear time. */
TEST(test_time_is_bounded)
{
	enum { SIZE = 4 << 20 };
	static const uint64_t patterns[][4] = {
		{ 0x4444444444444444, 0x4444444444444444, 0x4444444444444444, 0x4444444444444444 },
		{ 0x0000000000000021, 1000000000, 0x0000000000000021, 1000000000 },
		{ 0x0002000101000024, 1, 0x0002000101000024, 2 },
		{ 0x0000000000000ffc, 0x0000000000000ffc, 0x0000000000000ffc, 0x0000000000000ffc },
		{ 0x7ff800010000fff4, 0x1000000000000048, 1, 2 },
		{ 0x00007fb800020ff2, 0x2020202020202020, 0x2020202020202020, 0x00007fb800020ff2 },
		{ 0x0000000fffffffff, 0x0000000fffffffff, 0, 0 },
		{ 0x0000000000f00ff8, 0x1000000000f00ff8, 0x1000000000000ff1, 0x2000000000f00ff8 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		struct outbuf b = { 0 };
		uint64_t begin, ns, n;

		put_head(&b);
		put_timeline(&b, T0);
		while (b.size < SIZE)
			put_words(&b, 4, patterns[i]);
		begin = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
		recovery_read(b.data, b.size, &n);
		ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) - begin;
		if (ns / b.size > 2000)
			fail_msg("pattern %zu: %llu ns for each byte", i,
				 (unsigned long long)(ns / b.size));
		outbuf_deinit(&b);
	}
}

/* Many kinds of damage, in an archive with all kinds of records. */
TEST(test_recovery)
{
	enum { ROUNDS = 400 };
	struct outbuf b = { 0 };

	put_head(&b);
	for (uint64_t i = 0; i < ROUNDS; i++) {
		uint64_t now = T0 + i * 100000, tid = 1000 + i * 7 % 5000;

		/* A process and its thread, a fork with its arguments, inline text. */
		PUT(&b, 0x0000008006010037, tid, word_of("worker"));
		PUT(&b, 0x0000018006020057, tid, word_of("worker"), 0x0000000000020028, tid);
		PUT(&b, 0x0002000100200074 | 0x1000000, now, 0x0000000000030024, tid,
		    0x0000800700040026, word_of("inline!"), 0);
		b.size -= 8;
		set_word(&b, b.size - 48, 0x0002000100200064 | 0x1000000);
		put_timeline(&b, now);
	}
	assert_undamaged(&b, 9 + ROUNDS * (3 + N));
	assert_int_equal(recovery_try_all(b.data, b.size, unit_rounds(120), 995), 0);
	outbuf_deinit(&b);
}

#define WITH_TIMELINE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		WITH_TIMELINE(test_wrong_size),
		WITH_TIMELINE(test_wrong_size_at_end),
		cmocka_unit_test(test_wrong_size_of_string),
		WITH_TIMELINE(test_large_lies),
		WITH_TIMELINE(test_bytes_missing),
		WITH_TIMELINE(test_bytes_inserted),
		WITH_TIMELINE(test_one_report),
		WITH_TIMELINE(test_lost_start),
		cmocka_unit_test(test_no_archive),
		cmocka_unit_test(test_garbage_changes_nothing),
		cmocka_unit_test(test_reserved_bits_change_nothing),
		cmocka_unit_test(test_reserved_bits_are_read),
		cmocka_unit_test(test_pool_of_strings),
		cmocka_unit_test(test_words_behind),
		cmocka_unit_test(test_unknown_kinds),
		cmocka_unit_test(test_words_behind_damage),
		WITH_TIMELINE(test_unknown_takes_in),
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_archives_in_a_row),
		WITH_TIMELINE(test_source),
		cmocka_unit_test(test_time_is_bounded),
		cmocka_unit_test(test_recovery),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
