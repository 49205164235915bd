/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shapes of records, and archives of big-endian machines: a swapper makes them. It was written from
 * the specification and shares no code with the reader, so the two must agree.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "reader/fxt/fxt-reader.h"
#include "reader/fxt/fxt-shape.h"
#include "tests/support/fixtures/fxt-golden.h"
#include "tests/support/unit.h"
#include "tests/support/fixtures/whole-file.h"

/* ---- the swapper ---- */

struct swapper {
	uint64_t *at, *end;
};

/* Swaps the next N words. Returns the last one, unswapped. */
static uint64_t turn(struct swapper *s, uint64_t n)
{
	uint64_t word = 0;

	for (; n > 0; n--) {
		assert_true(s->at < s->end);
		word = *s->at;
		*s->at++ = __builtin_bswap64(word);
	}
	return word;
}

static void pass_bytes(struct swapper *s, uint64_t n)
{
	s->at += (n + 7) / 8;
	assert_true(s->at <= s->end);
}

/* A string reference of 16 bits: the highest one says that the bytes follow. */
static void pass_string(struct swapper *s, uint64_t ref)
{
	if (ref >> 15 & 1)
		pass_bytes(s, ref & 0x7fff);
}

static void turn_args(struct swapper *s, uint64_t n)
{
	for (; n > 0; n--) {
		uint64_t head = turn(s, 1), type = head & 15;

		pass_string(s, head >> 16 & 0xffff);
		if (type == 6)
			pass_string(s, head >> 32 & 0xffff);
		else if (type == 10)
			pass_bytes(s, head >> 32);
		else if (type == 3 || type == 4 || type == 5 || type == 7 || type == 8)
			turn(s, 1);
	}
}

static void turn_event(struct swapper *s, uint64_t head)
{
	turn(s, head >> 24 & 0xff ? 1 : 3);
	pass_string(s, head >> 32 & 0xffff);
	pass_string(s, head >> 48);
	turn_args(s, head >> 20 & 15);
}

static void turn_large(struct swapper *s, uint64_t head)
{
	uint64_t format = turn(s, 1);

	pass_string(s, format & 0xffff);
	pass_string(s, format >> 16 & 0xffff);
	if ((head >> 40 & 15) == 0) {
		turn(s, format >> 36 & 0xff ? 1 : 3);
		turn_args(s, format >> 32 & 15);
	}
	pass_bytes(s, turn(s, 1));
}

static void turn_record(struct swapper *s)
{
	uint64_t *begin = s->at, head = turn(s, 1), type = head & 15;
	uint64_t words = type == 15 ? head >> 4 & 0xffffffff : head >> 4 & 0xfff;

	if (type == 0 && (head >> 16 & 15) == 1) {
		pass_bytes(s, head >> 52 & 0xff);
	} else if (type == 2) {
		pass_bytes(s, head >> 32 & 0x7fff);
	} else if (type == 4) {
		turn_event(s, head);
	} else if (type == 5) {
		pass_string(s, head >> 16 & 0xffff);
		pass_bytes(s, head >> 32 & 0x7fff);
	} else if (type == 6) {
		turn(s, head >> 16 & 0xff ? 1 : 2);
		pass_string(s, head >> 24 & 0xffff);
		turn_args(s, head >> 40 & 15);
	} else if (type == 7) {
		turn(s, 1);
		pass_string(s, head >> 24 & 0xffff);
		turn_args(s, head >> 40 & 15);
	} else if (type == 8 && head >> 60 != 0) {
		turn(s, head >> 60 == 1 ? 3 : 2);
		turn_args(s, head >> 16 & 15);
	} else if (type == 9) {
		turn(s, head >> 32 & 0xff ? 1 : 3);
		pass_bytes(s, head >> 16 & 0x7fff);
	} else if (type == 10 && (head >> 16 & 15) == 0) {
		turn(s, head >> 20 & 0xff ? 1 : 3);
		pass_bytes(s, head >> 44 & 0xff);
		pass_bytes(s, head >> 52 & 0xff);
	} else if (type == 15) {
		turn_large(s, head);
	}
	/* The others have words only. */
	turn(s, words - (uint64_t)(s->at - begin));
}

/* An archive of a big-endian machine, to be freed with free(). */
static uint8_t *swap_archive(const void *data, size_t n)
{
	uint64_t *words = malloc(n);
	struct swapper s = { words, words + n / 8 };

	assert_non_null(words);
	memcpy(words, data, n);
	while (s.at < s.end)
		turn_record(&s);
	return (uint8_t *)words;
}

/* ---- archives ---- */

static void assert_same_text(const struct fxt_text *a, const struct fxt_text *b)
{
	assert_int_equal(a->ref, b->ref);
	assert_int_equal(a->bytes == NULL, b->bytes == NULL);
	if (!a->bytes)
		return;
	assert_int_equal(a->length, b->length);
	assert_memory_equal(a->bytes, b->bytes, a->length);
}

static void assert_same_args(const struct fxt_record *a, const struct fxt_record *b)
{
	/* Twice: the result must not depend on earlier calls. */
	for (int i = 0; i < 2; i++) {
		struct fxt_args x = a->args, y = b->args;
		struct fxt_arg p, q;
		int r;

		assert_int_equal(a->args.n_left, b->args.n_left);
		while ((r = fxt_args_next(&x, &p)) != FXT_ARGS_END) {
			assert_int_equal(fxt_args_next(&y, &q), r);
			if (r == FXT_ARGS_DAMAGE)
				continue;
			assert_int_equal(p.type, q.type);
			assert_same_text(&p.name, &q.name);
			if (p.type == FXT_ARG_STRING)
				assert_same_text(&p.text, &q.text);
		}
		assert_int_equal(fxt_args_next(&y, &q), FXT_ARGS_END);
	}
}

static struct fxt_reader *reader_of(const uint8_t *data, size_t n)
{
	struct fxt_reader *r = NULL;

	assert_int_equal(fxt_reader_new_memory(&r, data, n), 0);
	return r;
}

/*
 * Both give the same records, word by word, and the same damage. Returns the number of records. The
 * record with the byte at TOUCHED is not compared, since its words and bytes cannot be
 * distinguished.
 */
static unsigned compare_archives(const uint8_t *little, const uint8_t *big, size_t n,
				 size_t touched)
{
	_cleanup_(fxt_reader_freep) struct fxt_reader *x = reader_of(little, n);
	_cleanup_(fxt_reader_freep) struct fxt_reader *y = reader_of(big, n);
	const struct fxt_record *a, *b;
	unsigned n_records = 0;
	int r;

	assert_false(fxt_reader_swaps(x));
	assert_true(fxt_reader_swaps(y));
	while ((r = fxt_reader_next(x, &a)) > 0) {
		assert_int_equal(fxt_reader_next(y, &b), r);
		if (r == FXT_READER_DAMAGE) {
			assert_int_equal(fxt_reader_damage(x)->offset,
					 fxt_reader_damage(y)->offset);
			assert_int_equal(fxt_reader_damage(x)->bytes, fxt_reader_damage(y)->bytes);
			assert_string_equal(fxt_reader_damage(x)->what, fxt_reader_damage(y)->what);
			continue;
		}
		n_records++;
		assert_int_equal(a->offset, b->offset);
		assert_int_equal(a->n_words, b->n_words);
		if (touched >= a->offset && touched < a->offset + 8 * a->n_words)
			continue;
		assert_memory_equal(a->words, b->words, 8 * a->n_words);
		if (a->type == FXT_RECORD_EVENT) {
			assert_int_equal(a->ts_ns, b->ts_ns);
			assert_same_text(&a->name, &b->name);
			assert_same_text(&a->category, &b->category);
		}
		assert_same_args(a, b);
	}
	assert_int_equal(r, FXT_READER_END);
	assert_int_equal(fxt_reader_next(y, &b), FXT_READER_END);
	return n_records;
}

TEST(test_big_endian_everything)
{
	_cleanup_free_ uint8_t *big = NULL, *little = NULL;
	size_t n;

	little = whole_file(GOLDEN_DIR "/fxt/everything.fxt", &n);
	assert_non_null(little);
	big = swap_archive(little, n);
	assert_true(compare_archives(little, big, n, SIZE_MAX) > 50);
}

static uint8_t *golden_archive(size_t *ret_n)
{
	uint8_t *data = malloc(GOLDEN_MAX * sizeof(golden_records[0].words));

	assert_non_null(data);
	*ret_n = 0;
	for (int i = 0; i < GOLDEN_MAX; i++) {
		memcpy(data + *ret_n, golden_records[i].words, 8 * golden_records[i].n_words);
		*ret_n += 8 * golden_records[i].n_words;
	}
	return data;
}

TEST(test_big_endian_golden)
{
	_cleanup_free_ uint8_t *big = NULL, *little = NULL;
	size_t n;

	little = golden_archive(&n);
	big = swap_archive(little, n);
	assert_int_equal(compare_archives(little, big, n, SIZE_MAX), GOLDEN_MAX);
}

/* Damage of whole words is the same in both: each word in turn is inverted. */
TEST(test_big_endian_damaged)
{
	_cleanup_free_ uint8_t *big = NULL, *little = NULL;
	size_t n;

	little = golden_archive(&n);
	big = swap_archive(little, n);
	for (size_t at = 8; at < n; at += 8) {
		uint8_t a[8], b[8];

		memcpy(a, little + at, 8);
		memcpy(b, big + at, 8);
		/* The same in either byte order. */
		memset(little + at, 0xff, 8);
		memset(big + at, 0xff, 8);
		compare_archives(little, big, n, at);
		memcpy(little + at, a, 8);
		memcpy(big + at, b, 8);
	}
}

/* ---- shapes ---- */

TEST(test_shape_of_golden)
{
	for (int i = 0; i < GOLDEN_MAX; i++) {
		const struct golden_record *g = &golden_records[i];
		struct fxt_shape s;
		/* In a buffer of the exact size, for a sanitizer. */
		_cleanup_free_ uint8_t *bytes = malloc(8 * g->n_words + 1);

		assert_non_null(bytes);
		memcpy(bytes + 1, g->words, 8 * g->n_words);
		fxt_shape_of(bytes + 1, g->n_words, false, &s);
		assert_int_equal(s.head, g->words[0]);
		assert_int_equal(s.claimed, g->n_words);
		assert_int_equal(s.unknown, i == GOLDEN_UNKNOWN);
		assert_int_equal(s.flawed, i == GOLDEN_UNKNOWN);
		assert_int_equal(fxt_shape_begins(g->words[0]), i != GOLDEN_UNKNOWN);
		if (i == GOLDEN_UNKNOWN)
			continue;
		assert_int_equal(s.words, g->n_words);
		/*
		 * Whatever size it claims, its contents define its size; missing words are missing.
		 */
		for (uint64_t n = 1; n < g->n_words; n++) {
			_cleanup_free_ uint8_t *part = malloc(8 * n);

			assert_non_null(part);
			memcpy(part, g->words, 8 * n);
			fxt_shape_of(part, n, false, &s);
			if (fxt_get_record_type(g->words[0]) != FXT_RECORD_LARGE)
				assert_int_equal(s.words, 0);
		}
	}
}

TEST(test_shape_copy_unaligned)
{
	const struct golden_record *g = &golden_records[GOLDEN_COUNTER];
	_cleanup_free_ uint8_t *bytes = malloc(8 * g->n_words + 3);
	_cleanup_free_ uint64_t *to = malloc(8 * g->n_words);

	assert_non_null(bytes);
	memcpy(bytes + 3, g->words, 8 * g->n_words);
	fxt_shape_copy(bytes + 3, g->n_words, false, to);
	assert_memory_equal(to, g->words, 8 * g->n_words);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_big_endian_everything),
		cmocka_unit_test(test_big_endian_golden),
		cmocka_unit_test(test_big_endian_damaged),
		cmocka_unit_test(test_shape_of_golden),
		cmocka_unit_test(test_shape_copy_unaligned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
