/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Streams of uncompressed meta-blocks, made by hand from RFC 7932.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "reader/pack/unpack.h"
#include "tests/support/unit.h"

enum { TEXT_BYTES = 60000, HEAD_BYTES = 3, BLOCKS = 8 };

/*
 * Window of 16 bits (0), not the last (0), length in four nibbles (00), LENGTH - 1, uncompressed.
 * Only the first block has a window.
 */
static void put_block(struct outbuf *b, const uint8_t *p, size_t length, bool first)
{
	uint32_t head = first ? (uint32_t)(length - 1) << 4 | 1 << 20
			      : (uint32_t)(length - 1) << 3 | 1 << 19;
	uint8_t bytes[HEAD_BYTES];

	for (unsigned i = 0; i < HEAD_BYTES; i++)
		bytes[i] = (uint8_t)(head >> 8 * i);
	outbuf_append(b, bytes, sizeof(bytes));
	outbuf_append(b, p, length);
}

/* A text of eight blocks, and its stream. */
static void make(uint8_t *text, struct outbuf *b)
{
	static const uint8_t last = 3; /* the last block, and empty */

	for (size_t i = 0; i < TEXT_BYTES; i++)
		text[i] = (uint8_t)(i * 7 + i / 256);
	for (unsigned i = 0; i < BLOCKS; i++)
		put_block(b, text + i * (TEXT_BYTES / BLOCKS), TEXT_BYTES / BLOCKS, i == 0);
	outbuf_append(b, &last, 1);
}

static bool looks_right(const uint8_t *p, size_t n)
{
	return n >= 3 && p[0] == 0 && p[1] == 7 && p[2] == 14;
}

static bool looks_wrong(const uint8_t *p, size_t n)
{
	return false;
}

static size_t drain(struct unpack *u, uint8_t *to)
{
	size_t n = 0;
	ssize_t got;

	while ((got = unpack_read(u, to + n, TEXT_BYTES + 1 - n)) > 0)
		n += (size_t)got;
	assert_int_equal(got, 0);
	return n;
}

TEST(a_stream)
{
	_cleanup_(unpack_freep) struct unpack *u = NULL;
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	static uint8_t text[TEXT_BYTES], got[TEXT_BYTES + 1];

	make(text, &b);
	assert_int_equal(unpack_new_memory_detecting(&u, b.data, b.size, looks_right), 0);
	assert_int_equal(unpack_method(u), PACK_BROTLI);
	assert_int_equal(drain(u, got), TEXT_BYTES);
	assert_memory_equal(got, text, TEXT_BYTES);
	assert_null(unpack_damage(u));
}

/* Brotli is only used if the caller can check the result, and only if the check succeeds. */
TEST(what_does_not_look_so)
{
	_cleanup_(unpack_freep) struct unpack *u = NULL, *v = NULL, *w = NULL;
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	static uint8_t text[TEXT_BYTES];

	make(text, &b);
	assert_int_equal(unpack_new_memory(&u, b.data, b.size), 0);
	assert_int_equal(unpack_method(u), PACK_NONE);
	assert_int_equal(unpack_new_memory_detecting(&v, b.data, b.size, looks_wrong), 0);
	assert_int_equal(unpack_method(v), PACK_NONE);
	assert_int_equal(unpack_new_memory_detecting(&w, text, sizeof(text), looks_right), 0);
	assert_int_equal(unpack_method(w), PACK_NONE);
}

TEST(cut_everywhere)
{
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	static uint8_t text[TEXT_BYTES], got[TEXT_BYTES + 1];

	make(text, &b);
	for (size_t n = 10; n < b.size; n += 997) {
		_cleanup_(unpack_freep) struct unpack *u = NULL;
		size_t blocks = n / (HEAD_BYTES + TEXT_BYTES / BLOCKS), made;

		assert_int_equal(unpack_new_memory_detecting(&u, b.data, n, looks_right), 0);
		assert_int_equal(unpack_method(u), PACK_BROTLI);
		made = drain(u, got);
		assert_true(made >= blocks * (TEXT_BYTES / BLOCKS) && made <= n);
		assert_memory_equal(got, text, made);
		assert_non_null(unpack_damage(u));
		assert_true(unpack_damage(u)->cut);
		assert_int_equal(unpack_damage(u)->unpacked_offset, made);
	}
}

TEST(damaged)
{
	_cleanup_(unpack_freep) struct unpack *u = NULL;
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	static uint8_t text[TEXT_BYTES], got[TEXT_BYTES + 1];
	const size_t block = HEAD_BYTES + TEXT_BYTES / BLOCKS;
	size_t made;

	make(text, &b);
	/* The third one claims to have metadata, and sets a reserved bit. */
	memset(b.data + 2 * block, 0xfe, HEAD_BYTES);
	assert_int_equal(unpack_new_memory_detecting(&u, b.data, b.size, looks_right), 0);
	assert_int_equal(unpack_method(u), PACK_BROTLI);
	made = drain(u, got);
	/* (the data that came to the decoder with it is lost) */
	assert_true(made <= 2 * (TEXT_BYTES / BLOCKS) && made >= 2 * (TEXT_BYTES / BLOCKS) - 1024);
	assert_memory_equal(got, text, made);
	assert_non_null(unpack_damage(u));
	assert_string_equal(unpack_damage(u)->what, "a damaged Brotli stream");
	assert_false(unpack_damage(u)->cut);
}

/* If the begin looks right, no more than the first bytes of a pipe are needed. */
TEST(a_pipe_that_waits)
{
	static const char archive[16] = "\x00\x07\x0e\x15 and so on";
	_cleanup_(unpack_freep) struct unpack *u = NULL;
	_cleanup_close_ int from = -1, to = -1;
	char got[sizeof(archive)];
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	from = fds[0];
	to = fds[1];
	assert_int_equal(write(to, archive, sizeof(archive)), sizeof(archive));
	alarm(20);
	assert_int_equal(unpack_new_fd_detecting(&u, from, looks_right), 0);
	assert_int_equal(unpack_method(u), PACK_NONE);
	assert_int_equal(unpack_read(u, got, sizeof(got)), sizeof(got));
	alarm(0);
	assert_memory_equal(got, archive, sizeof(got));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stream),          cmocka_unit_test(what_does_not_look_so),
		cmocka_unit_test(cut_everywhere),    cmocka_unit_test(damaged),
		cmocka_unit_test(a_pipe_that_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
