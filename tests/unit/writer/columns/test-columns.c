/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/outbuf.h"
#include "reader/columns/columns-join.h"
#include "reader/pack/unpack.h"
#include "tests/support/unit.h"
#include "writer/columns/columns-split.h"
#include "writer/pack/columns-piece.h"
#include "writer/pack/pack.h"

enum { N_MAX = 1 << 20 };

static uint32_t seed;

static uint32_t any(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)seed * below >> 32);
}

static void put_words(struct outbuf *b, const uint64_t *words, size_t n)
{
	uint8_t *p = outbuf_reserve(b, n * 8);

	assert_non_null(p);
	for (size_t i = 0; i < n; i++)
		columns_put_word(p + i * 8, words[i]);
}

static void put_switch(struct outbuf *b, unsigned cpu, uint64_t ts, uint64_t out, uint64_t in)
{
	const uint64_t words[6] = { fxt_switch_header(6, 2, cpu, FXT_STATE_BLOCKED),
				    ts,
				    out,
				    in,
				    0x7800020011,
				    0x7800010011 };

	put_words(b, words, 6);
}

static void put_wakeup(struct outbuf *b, unsigned cpu, uint64_t ts, uint64_t woken, uint64_t waker)
{
	const uint64_t words[6] = {
		fxt_wakeup_header(6, 2, cpu), ts, woken, 0x7800030011, 0x40028, waker
	};

	put_words(b, words, 6);
}

/*
 * Splits and joins the N bytes at DATA, in buffers of the exact size. Returns the size of the
 * columns.
 */
static size_t assert_same(const void *data, size_t n)
{
	_cleanup_(columns_split_freep) struct columns_split *s = columns_split_new(n);
	_cleanup_(columns_join_freep) struct columns_join *j = columns_join_new();
	struct columns_bytes streams[COLUMNS_STREAM_MAX], copies[COLUMNS_STREAM_MAX];
	_cleanup_free_ uint8_t *back = malloc(n ? n : 1);
	uint8_t *copy[COLUMNS_STREAM_MAX];
	size_t sum = 0;

	assert_non_null(s);
	assert_non_null(j);
	assert_non_null(back);
	columns_split(s, data, n, streams);
	for (unsigned i = 0; i < COLUMNS_STREAM_MAX; i++) {
		copy[i] = malloc(streams[i].n ? streams[i].n : 1);
		assert_non_null(copy[i]);
		memcpy(copy[i], streams[i].data, streams[i].n);
		copies[i] = (struct columns_bytes){ copy[i], streams[i].n };
		sum += streams[i].n;
	}
	assert_true(sum <= n + COLUMNS_EXTRA_BYTES);
	assert_int_equal(columns_join(j, copies, back, n), 0);
	if (n > 0) {
		assert_memory_equal(back, data, n);
		assert_int_equal(columns_join(j, copies, back, n - 1), -EBADMSG);
	}
	for (unsigned i = 0; i < COLUMNS_STREAM_MAX; i++)
		free(copy[i]);
	return sum;
}

TEST(test_empty)
{
	assert_int_equal(assert_same("", 0), 0);
}

/* Bytes that are no records, with each size modulo 8. */
TEST(test_noise)
{
	uint8_t data[4099];

	seed = 1;
	for (size_t n = 1; n < sizeof(data); n += 1 + n / 7) {
		for (size_t i = 0; i < n; i++)
			data[i] = (uint8_t)any(256);
		assert_same(data, n);
	}
}

/* A load that can be predicted after the first round takes one operation and one time per event. */
TEST(test_predicted)
{
	enum { ROUNDS = 1000 };
	struct outbuf b = { 0 };
	uint64_t ts = 1000000;

	for (unsigned i = 0; i < ROUNDS; i++) {
		put_wakeup(&b, 1, ts += 900, 78, 77);
		put_switch(&b, 0, ts += 100, 77, 0);
		put_switch(&b, 1, ts += 500, 0, 78);
		put_wakeup(&b, 0, ts += 900, 77, 78);
		put_switch(&b, 1, ts += 100, 78, 0);
		put_switch(&b, 0, ts += 500, 0, 77);
	}
	/* An operation, two bytes of time, and the CPU of a waker, or of a switch elsewhere. */
	assert_in_range(assert_same(b.data, b.size), ROUNDS * 6 * 3, ROUNDS * 6 * 4 + 200);
	outbuf_deinit(&b);
}

/* Records of every shape, with unpredictable fields, and bytes between them. */
TEST(test_unpredicted)
{
	struct outbuf b = { 0 };

	seed = 2;
	for (unsigned i = 0; i < 3000; i++) {
		unsigned n = 6 + any(3);
		uint64_t words[8];

		words[0] = any(2) ? fxt_switch_header(n, any(16), any(4), any(6))
				  : fxt_wakeup_header(n, any(4), any(4));
		/*
		 * Records that no program writes: more CPUs than exist, times that run backwards.
		 */
		if (any(50) == 0)
			words[0] |= fxt_put_sched_cpu(FXT_CPU_MAX);
		if (any(50) == 0)
			words[0] |= 1ull << (40 + any(20));
		words[1] = any(10) ? i * 1000 + any(1000) : (uint64_t)any(1u << 31) << any(33);
		for (unsigned k = 2; k < n; k++)
			words[k] = any(20) ? any(300) : (uint64_t)any(1u << 31) << any(33);
		put_words(&b, words, n);
		if (any(30) == 0)
			put_words(&b, (const uint64_t[]){ 0x0010, any(1000), 0x24, 7 }, 4);
	}
	assert_same(b.data, b.size);
	/* Pieces begin and end in the middle of records. */
	for (size_t at = 0; at < b.size; at += 4801)
		assert_same(b.data + at, b.size - at < 4801 ? b.size - at : 4801);
	outbuf_deinit(&b);
}

/* More threads, CPUs and shapes than the model can hold. */
TEST(test_too_many)
{
	struct outbuf b = { 0 };

	for (unsigned i = 0; i < 3 * COLUMNS_ID_MAX; i++) {
		put_switch(&b, i % (2 * COLUMNS_CPU_MAX), i * 100, i + 1, i + 2);
		put_words(&b,
			  (const uint64_t[]){ fxt_wakeup_header(6, i % 16, 0) | (uint64_t)(i % 16)
											<< 40,
					      i * 100 + 50, i, 1, 2, 3 },
			  6);
	}
	assert_same(b.data, b.size);
	outbuf_deinit(&b);
}

/* Records that contradict all earlier ones become one literal. */
TEST(test_contradicting)
{
	struct outbuf b = { 0 };

	seed = 3;
	for (unsigned i = 0; i < 1300; i++) {
		uint64_t words[8] = { fxt_wakeup_header(6, 2, any(1024)) };

		for (unsigned k = 1; k < 6; k++)
			words[k] = (uint64_t)any(1u << 31) << 33 | any(1u << 31);
		put_words(&b, words, 6);
	}
	assert_in_range(assert_same(b.data, b.size), b.size, b.size + 8);
	outbuf_deinit(&b);
}

/* An unknown kind of scheduling record, and the old kind of switch. */
TEST(test_other_kinds)
{
	struct outbuf b = { 0 };

	for (unsigned kind = 0; kind < 16; kind++)
		for (unsigned n = 1; n < 12; n++) {
			uint64_t words[12] = { fxt_put_record_type(FXT_RECORD_SCHEDULING) |
					       fxt_put_record_words(n) | fxt_put_sched_type(kind) };

			put_words(&b, words, n);
		}
	assert_same(b.data, b.size);
	/* The last record is longer than the rest of the data. */
	for (size_t n = b.size - 100; n < b.size; n++)
		assert_same(b.data, n);
	outbuf_deinit(&b);
}

/* ---- by the specification ---- */

#define PIECE_HEAD "\xd7KCL\1\0\0\0"

/* Packed by hand: a switch on CPU 2 from thread 7 to thread 9, and three other bytes. */
TEST(test_golden)
{
	static const uint8_t body[] = {
		/* lengths: operations, CPUs, ids, exceptions, literals, times */
		2, 2, 1, 1, 2, 2, 2, 2, 27, 27, 3, 3, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0,
		0,
		/* all predictions are wrong; a literal */
		0xf0, 0x0f,
		/* CPU 2 instead of 0 */
		2,
		/* ids 1 and 2 */
		1, 2, 0, 0,
		/* the shape; koids 0 + 7, 7 + 2; words 5 and 6; the length of the literal */
		0x68, 0, 2, 0, 0x30, 0, 0, 0x10, 14, 4, 0x11, 0, 2, 0, 0x78, 0, 0, 0, 0x11, 0, 1, 0,
		0x78, 0, 0, 0, 3,
		/* the literal; 0x234 ticks */
		'a', 'b', 'c', 0x34, 2
	};
	struct outbuf expected = { 0 }, piece = { 0 }, packed = { 0 };
	uint8_t head[COLUMNS_HEAD_BYTES] = PIECE_HEAD, back[100];
	struct unpack *u;
	struct pack p;

	put_switch(&expected, 2, 0x234, 7, 9);
	outbuf_append(&expected, "abc", 3);
	pack_put_length(head + COLUMNS_AT_SIZE, 51);
	pack_put_length(head + COLUMNS_AT_LENGTH, sizeof(body));
	pack_put_length(head + COLUMNS_AT_CHECKSUM,
			columns_checksum(head, sizeof(head), body, sizeof(body)));
	outbuf_append(&piece, head, sizeof(head));
	outbuf_append(&piece, body, sizeof(body));

	assert_int_equal(unpack_new_memory(&u, piece.data, piece.size), 0);
	assert_int_equal(unpack_method(u), PACK_COLUMNS);
	assert_int_equal(unpack_read(u, back, sizeof(back)), 51);
	assert_null(unpack_damage(u));
	assert_memory_equal(back, expected.data, 51);
	unpack_free(u);

	assert_int_equal(pack_init(&p, PACK_COLUMNS), 0);
	assert_int_equal(pack_put(&p, expected.data, expected.size, &packed), 0);
	assert_int_equal(packed.size, piece.size);
	assert_memory_equal(packed.data, piece.data, piece.size);
	assert_int_equal(pack_ops(PACK_COLUMNS)->whole(packed.data, packed.size, true),
			 packed.size);
	assert_int_equal(pack_ops(PACK_COLUMNS)->whole(packed.data, packed.size - 1, true), 0);
	pack_deinit(&p);
	outbuf_deinit(&expected);
	outbuf_deinit(&piece);
	outbuf_deinit(&packed);
}

/*
 * Each byte of the streams is replaced by others. The result is always 0 or -EBADMSG, and never too
 * long.
 */
TEST(test_wrong_streams)
{
	_cleanup_(columns_split_freep) struct columns_split *s = columns_split_new(N_MAX);
	_cleanup_(columns_join_freep) struct columns_join *j = columns_join_new();
	struct columns_bytes streams[COLUMNS_STREAM_MAX];
	struct outbuf b = { 0 };
	_cleanup_free_ uint8_t *back = NULL;
	unsigned n_bad = 0;

	for (unsigned i = 0; i < 20; i++) {
		put_wakeup(&b, i % 3, 10000 * i, 70 + i % 5, 80 + i % 3);
		put_switch(&b, i % 3, 10000 * i + 70000, 80 + i % 3, 70 + i % 5);
		outbuf_append(&b, "12345678", 8);
	}
	back = malloc(b.size);
	columns_split(s, b.data, b.size, streams);
	for (unsigned k = 0; k < COLUMNS_STREAM_MAX; k++) {
		uint8_t *data = (uint8_t *)streams[k].data;

		for (size_t i = 0; i < streams[k].n; i++)
			for (unsigned bit = 0; bit < 8; bit++) {
				int r;

				data[i] ^= 1u << bit;
				r = columns_join(j, streams, back, b.size);
				assert_true(r == 0 || r == -EBADMSG);
				n_bad += r < 0;
				data[i] ^= 1u << bit;
			}
		if (streams[k].n > 0) {
			streams[k].n--;
			assert_int_equal(columns_join(j, streams, back, b.size), -EBADMSG);
			streams[k].n++;
		}
	}
	assert_true(n_bad > 100);
	assert_int_equal(columns_join(j, streams, back, b.size), 0);
	assert_memory_equal(back, b.data, b.size);
	outbuf_deinit(&b);
}

/* Operation 15 with flags is neither a literal nor a 16th shape. */
TEST(test_too_many_shapes)
{
	_cleanup_(columns_join_freep) struct columns_join *j = columns_join_new();
	enum { N = COLUMNS_SHAPE_MAX + 1, BYTES = COLUMNS_SCHED_BYTES_MIN };
	uint8_t operations[N], exceptions[N * 8], times[N] = { 0 }, cpus[1] = { 0 };
	struct columns_bytes streams[COLUMNS_STREAM_MAX] = {
		[COLUMNS_OPERATIONS] = { operations, N - 1 },
		[COLUMNS_EXCEPTIONS] = { exceptions, sizeof(exceptions) - 8 },
		[COLUMNS_CPUS] = { cpus, 0 },
	};
	uint8_t back[N * BYTES];

	for (unsigned i = 0; i < N; i++) {
		operations[i] = (uint8_t)i;
		columns_put_word(exceptions + i * 8, fxt_switch_header(6, i, 0, 0));
	}
	operations[N - 1] |= COLUMNS_OTHER_CPU;
	for (unsigned i = 0; i < COLUMNS_TIME_GROUPS; i++)
		streams[COLUMNS_TIMES_LOW + i] = streams[COLUMNS_TIMES_HIGH + i] =
			(struct columns_bytes){ times,
						i < COLUMNS_TIME_GROUPS - 1 ? 1 : N - 1 - i };
	assert_int_equal(columns_join(j, streams, back, sizeof(back) - BYTES), 0);

	streams[COLUMNS_OPERATIONS].n++;
	streams[COLUMNS_EXCEPTIONS].n += 8;
	streams[COLUMNS_CPUS].n++;
	streams[COLUMNS_TIMES_LOW + COLUMNS_TIME_GROUPS - 1].n++;
	streams[COLUMNS_TIMES_HIGH + COLUMNS_TIME_GROUPS - 1].n++;
	assert_int_equal(columns_join(j, streams, back, sizeof(back)), -EBADMSG);
}

/* The body of a piece is wrong, with a correct checksum. */
static const char *damage_of(uint8_t version, uint32_t size, const void *body, size_t n)
{
	uint8_t piece[COLUMNS_HEAD_BYTES + 300] = PIECE_HEAD, back[300];
	const char *what = NULL;
	struct unpack *u;

	assert_true(n <= 300);
	piece[COLUMNS_AT_VERSION] = version;
	pack_put_length(piece + COLUMNS_AT_SIZE, size);
	pack_put_length(piece + COLUMNS_AT_LENGTH, (uint32_t)n);
	memcpy(piece + COLUMNS_HEAD_BYTES, body, n);
	pack_put_length(piece + COLUMNS_AT_CHECKSUM,
			columns_checksum(piece, COLUMNS_HEAD_BYTES + n, NULL, 0));
	assert_int_equal(unpack_new_memory(&u, piece, COLUMNS_HEAD_BYTES + n), 0);
	if (unpack_read(u, back, sizeof(back)) == 0) {
		assert_non_null(unpack_damage(u));
		assert_int_equal(unpack_damage(u)->packed_offset, 0);
		what = unpack_damage(u)->what;
	}
	unpack_free(u);
	return what;
}

TEST(test_wrong_body)
{
	uint8_t body[64] = { [0] = 1,     [1] = 1,  [8] = 1,    [9] = 1,    [10] = 3,  [11] = 3,
			     [28] = 0x0f, [29] = 3, [30] = 'a', [31] = 'b', [32] = 'c' };
	static const struct {
		unsigned at, value;
	} rows[] = {
		{ 0, 0xff }, { 1, 2 },     { 1, 0 },  { 2, 1 },     { 10, 100 }, { 11, 2 },
		{ 27, 1 },   { 28, 0x0e }, { 29, 0 }, { 29, 0x80 }, { 29, 4 },
	};

	assert_null(damage_of(1, 3, body, 33));
	assert_string_equal(damage_of(1, 2, body, 33), "a damaged piece of columns");
	assert_string_equal(damage_of(1, 4, body, 33), "a damaged piece of columns");
	assert_string_equal(damage_of(1, 3, body, 34), "a damaged piece of columns");
	assert_string_equal(damage_of(1, 3, body, 20), "a damaged piece of columns");
	assert_string_equal(damage_of(1, 0, body, 33), "a damaged piece of columns");
	assert_string_equal(damage_of(1, PACK_CHUNK_MAX + 1, body, 33),
			    "a damaged piece of columns");
	assert_non_null(strstr(damage_of(2, 3, body, 33), "later version"));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint8_t was = body[rows[i].at];

		body[rows[i].at] = (uint8_t)rows[i].value;
		assert_non_null(damage_of(1, 3, body, 33));
		body[rows[i].at] = was;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),         cmocka_unit_test(test_noise),
		cmocka_unit_test(test_predicted),     cmocka_unit_test(test_unpredicted),
		cmocka_unit_test(test_too_many),      cmocka_unit_test(test_contradicting),
		cmocka_unit_test(test_other_kinds),   cmocka_unit_test(test_golden),
		cmocka_unit_test(test_wrong_streams), cmocka_unit_test(test_too_many_shapes),
		cmocka_unit_test(test_wrong_body),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
