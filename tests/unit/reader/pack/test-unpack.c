/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <zlib.h>
#include <zstd.h>

#include "base/cleanup.h"
#include "reader/pack/unpack.h"
#include "tests/support/unit.h"
#include "writer/pack/pack.h"

/* The whole result, in blocks of STEP bytes. */
static struct outbuf drain(struct unpack *u, size_t step)
{
	struct outbuf out = { 0 };
	uint8_t piece[4096];
	ssize_t n;

	assert_true(step <= sizeof(piece));
	while ((n = unpack_read(u, piece, step)) > 0)
		assert_int_equal(outbuf_append(&out, piece, (size_t)n), 0);
	assert_int_equal(n, 0);
	/* The end is final. */
	assert_int_equal(unpack_read(u, piece, step), 0);
	return out;
}

/* Unpacks N bytes at DATA, copied so that a sanitizer detects reads past the end. */
static struct outbuf unpack_all(const void *data, size_t n, struct unpack_damage *ret)
{
	_cleanup_free_ uint8_t *copy = malloc(n ? n : 1);
	struct unpack *u;
	struct outbuf out;

	assert_non_null(copy);
	if (n)
		memcpy(copy, data, n);
	assert_int_equal(unpack_new_memory(&u, copy, n), 0);
	out = drain(u, 4096);
	*ret = unpack_damage(u) ? *unpack_damage(u) : (struct unpack_damage){ 0 };
	unpack_free(u);
	return out;
}

static void assert_unpacks(const void *data, size_t n, const void *to, size_t n_to)
{
	struct unpack_damage damage;
	struct outbuf out = unpack_all(data, n, &damage);

	assert_null(damage.what);
	assert_int_equal(out.size, n_to);
	if (n_to)
		assert_memory_equal(out.data, to, n_to);
	outbuf_deinit(&out);
}

/* The result before and after the damage is TO. */
static void assert_damaged(const void *data, size_t n, const char *what, uint64_t packed_offset,
			   bool cut, const char *to)
{
	struct unpack_damage damage;
	struct outbuf out = unpack_all(data, n, &damage);

	assert_non_null(damage.what);
	assert_non_null(strstr(damage.what, what));
	assert_int_equal(damage.packed_offset, packed_offset);
	assert_true(damage.packed_offset + damage.packed_bytes <= n);
	assert_true(damage.unpacked_offset <= out.size);
	assert_int_equal(damage.cut, cut);
	assert_int_equal(out.size, strlen(to));
	if (out.size)
		assert_memory_equal(out.data, to, out.size);
	outbuf_deinit(&out);
}

/* Blocks of a text with some repetitions. *RET_ENDS[i] is the end of block i in the file. */
enum { N_PIECES = 5, PIECE = 700 };

static void make_text(uint8_t *text)
{
	uint32_t x = 7;

	for (size_t i = 0; i < N_PIECES * PIECE; i++) {
		x = x * 1664525 + 1013904223;
		text[i] = (uint8_t)(x >> 28);
	}
}

static struct outbuf pack_text(enum pack_method method, const uint8_t *text, size_t *ret_ends)
{
	struct outbuf b = { 0 };
	struct pack p;

	assert_int_equal(pack_init(&p, method), 0);
	for (size_t i = 0; i < N_PIECES; i++) {
		assert_int_equal(pack_put(&p, text + i * PIECE, PIECE, &b), 0);
		ret_ends[i] = b.size;
	}
	pack_deinit(&p);
	return b;
}

/* ---- golden bytes ---- */

#define BYTES(literal) (literal), sizeof(literal) - 1

TEST(test_golden)
{
	assert_unpacks(BYTES(""), BYTES(""));
	assert_unpacks(BYTES("a"), BYTES("a"));
	assert_unpacks(BYTES("plain text"), BYTES("plain text"));
	/* Snappy: literals; a copy of 5 bytes from 5 back; two chunks. */
	assert_unpacks(BYTES("at"), BYTES(""));
	assert_unpacks(BYTES("at\x07\0\0\0\x05\x10kymo!"), BYTES("kymo!"));
	assert_unpacks(BYTES("at\x09\0\0\0\x0a\x10kymo!\x05\x05"), BYTES("kymo!kymo!"));
	assert_unpacks(BYTES("at\x03\0\0\0\x01\0x\x03\0\0\0\x01\0y"), BYTES("xy"));
	/* zstd: a frame of one raw block; two of them; one to skip between and before. */
	assert_unpacks(BYTES("\x28\xb5\x2f\xfd\x20\x02\x11\0\0hi"), BYTES("hi"));
	assert_unpacks(
		BYTES("\x28\xb5\x2f\xfd\x20\x02\x11\0\0hi\x28\xb5\x2f\xfd\x20\x02\x11\0\0ho"),
		BYTES("hiho"));
	assert_unpacks(BYTES("\x5a\x2a\x4d\x18\x03\0\0\0xyz\x28\xb5\x2f\xfd\x20\x02\x11\0\0hi"),
		       BYTES("hi"));
	/* gzip: a stored block, its CRC and size; two members; padding. */
#define MEMBER "\x1f\x8b\x08\0\0\0\0\0\0\xff\x01\x01\0\xfe\xff\x61\x43\xbe\xb7\xe8\x01\0\0\0"
	assert_unpacks(BYTES(MEMBER), BYTES("a"));
	assert_unpacks(BYTES(MEMBER MEMBER), BYTES("aa"));
	assert_unpacks(BYTES(MEMBER "\0\0\0"), BYTES("a"));
}

TEST(test_method)
{
	static const struct {
		const char *bytes;
		size_t n;
		enum pack_method method;
	} rows[] = {
		{ BYTES(""), PACK_NONE },
		{ BYTES("a"), PACK_NONE },
		{ BYTES("at"), PACK_SNAPPY },
		{ BYTES("\x1f"), PACK_NONE },
		{ BYTES("\x1f\x8b"), PACK_GZIP },
		{ BYTES("\x28\xb5\x2f"), PACK_NONE },
		{ BYTES("\x28\xb5\x2f\xfd"), PACK_ZSTD },
		{ BYTES("\x50\x2a\x4d\x18"), PACK_ZSTD },
		{ BYTES("\x5f\x2a\x4d\x18"), PACK_ZSTD },
		{ BYTES("\x60\x2a\x4d\x18"), PACK_NONE },
		{ BYTES("\xd7KCL"), PACK_COLUMNS },
		{ BYTES("\xd7KCl"), PACK_NONE },
		{ BYTES("\x10\0\x04\x46\x78\x54\x16\0"), PACK_NONE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(unpack_freep) struct unpack *u = NULL;

		assert_int_equal(unpack_new_memory(&u, rows[i].bytes, rows[i].n), 0);
		assert_int_equal(unpack_method(u), rows[i].method);
		assert_null(unpack_damage(u));
	}
}

/* ---- round trips ---- */

TEST(test_round_trip)
{
	uint8_t text[N_PIECES * PIECE];
	size_t ends[N_PIECES];

	make_text(text);
	for (enum pack_method m = 0; m < PACK_METHOD_MAX; m++) {
		struct outbuf b = pack_text(m, text, ends);

		assert_unpacks(b.data, b.size, text, sizeof(text));
		outbuf_deinit(&b);
	}
}

/* In requests of any size, and with pieces of any size. */
TEST(test_round_trip_pipe)
{
	static const size_t steps[] = { 1, 7, 4096 };
	uint8_t text[N_PIECES * PIECE];
	size_t ends[N_PIECES];

	make_text(text);
	for (enum pack_method m = 0; m < PACK_METHOD_MAX; m++) {
		struct outbuf b = pack_text(m, text, ends);

		for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
			struct outbuf out;
			struct unpack *u;
			int fds[2];

			assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
			assert_int_equal(write(fds[1], b.data, b.size), b.size);
			close(fds[1]);
			assert_int_equal(unpack_new_fd(&u, fds[0]), 0);
			out = drain(u, steps[i]);
			assert_null(unpack_damage(u));
			assert_int_equal(out.size, sizeof(text));
			assert_memory_equal(out.data, text, sizeof(text));
			outbuf_deinit(&out);
			unpack_free(u);
			close(fds[0]);
		}
		outbuf_deinit(&b);
	}
}

/* Blocks larger than any buffer. */
TEST(test_round_trip_large)
{
	_cleanup_free_ uint8_t *data = malloc(PACK_CHUNK_MAX);
	uint32_t x = 1;

	assert_non_null(data);
	for (size_t i = 0; i < PACK_CHUNK_MAX; i++) {
		x = x * 1664525 + 1013904223;
		data[i] = (uint8_t)(x >> 24);
	}
	for (enum pack_method m = 0; m < PACK_METHOD_MAX; m++) {
		struct unpack_damage damage;
		struct outbuf b = { 0 }, out;
		struct pack p;

		assert_int_equal(pack_init(&p, m), 0);
		for (int i = 0; i < 3; i++)
			assert_int_equal(pack_put(&p, data, PACK_CHUNK_MAX, &b), 0);
		out = unpack_all(b.data, b.size, &damage);
		assert_null(damage.what);
		assert_int_equal(out.size, 3 * PACK_CHUNK_MAX);
		for (int i = 0; i < 3; i++)
			assert_memory_equal(out.data + i * PACK_CHUNK_MAX, data, PACK_CHUNK_MAX);
		outbuf_deinit(&out);
		outbuf_deinit(&b);
		pack_deinit(&p);
	}
}

/* ---- damage ---- */

/* Cut at every byte: all complete blocks come, and the cut is reported with its place. */
TEST(test_cut_everywhere)
{
	uint8_t text[N_PIECES * PIECE];
	size_t ends[N_PIECES];

	make_text(text);
	for (enum pack_method m = PACK_SNAPPY; m < PACK_METHOD_MAX; m++) {
		struct outbuf b = pack_text(m, text, ends);

		for (size_t n = PACK_MAGIC_BYTES_MAX; n < b.size; n++) {
			size_t begin = m == PACK_SNAPPY ? 2 : 0, whole = 0;
			struct unpack_damage damage;
			struct outbuf out = unpack_all(b.data, n, &damage);

			while (ends[whole] <= n)
				begin = ends[whole++];
			assert_true(out.size >= whole * PIECE);
			assert_true(out.size <= (whole + 1) * PIECE);
			assert_memory_equal(out.data ? out.data : text, text, out.size);
			assert_int_equal(damage.what != NULL, n != begin);
			assert_int_equal(damage.cut, n != begin);
			if (damage.what) {
				assert_non_null(strstr(damage.what, "cut off"));
				assert_int_equal(damage.packed_offset, begin);
				assert_int_equal(damage.unpacked_offset, out.size);
			}
			outbuf_deinit(&out);
		}
		outbuf_deinit(&b);
	}
}

/* Any bit is flipped: no crash, and with a checksum, wrong bytes always give an error. */
TEST(test_flipped)
{
	uint8_t text[N_PIECES * PIECE];
	size_t ends[N_PIECES];

	make_text(text);
	for (enum pack_method m = PACK_SNAPPY; m < PACK_METHOD_MAX; m++) {
		struct outbuf b = pack_text(m, text, ends);

		for (size_t i = 0; i < b.size; i++) {
			struct unpack_damage damage;
			struct outbuf out;
			size_t piece = 0;

			b.data[i] ^= 1u << i % 8;
			out = unpack_all(b.data, b.size, &damage);
			b.data[i] ^= 1u << i % 8;
			while (ends[piece] <= i)
				piece++;
			/* Without its magic number, a file is not packed. */
			if (i >= PACK_MAGIC_BYTES_MAX) {
				assert_true(out.size >= piece * PIECE);
				assert_memory_equal(out.data ? out.data : text, text,
						    piece * PIECE);
				if (m != PACK_SNAPPY && !damage.what) {
					assert_int_equal(out.size, sizeof(text));
					assert_memory_equal(out.data, text, sizeof(text));
				}
			}
			outbuf_deinit(&out);
		}
		outbuf_deinit(&b);
	}
}

/* After each complete block comes damaged data. */
TEST(test_lies)
{
#define WHOLE "at\x07\0\0\0\x05\x10kymo!"
#define FRAME "\x28\xb5\x2f\xfd\x20\x02\x11\0\0hi"
	/* Lengths of chunks that cannot be: 0, one more than readers have room for, a lot. */
	assert_damaged(BYTES(WHOLE "\0\0\0\0"), "an impossible size", 13, false, "kymo!");
	assert_damaged(BYTES(WHOLE "\xcb\xaa\x12\0"), "an impossible size", 13, false, "kymo!");
	assert_damaged(BYTES(WHOLE "\xff\xff\xff\xff"), "an impossible size", 13, false, "kymo!");
	assert_damaged(BYTES(WHOLE "\xca\xaa\x12\0"), "cut off", 13, true, "kymo!");
	/* Nothing in it; more than it can hold; a length without end; other than it holds. */
	assert_damaged(BYTES(WHOLE "\x01\0\0\0\0"), "empty Snappy chunk", 13, false, "kymo!");
	assert_damaged(BYTES(WHOLE "\x07\0\0\0\xff\xff\xff\xff\x0f\0x"), "claims more", 13, false,
		       "kymo!");
	assert_damaged(BYTES(WHOLE "\x06\0\0\0\xff\xff\xff\xff\xff\xff"), "begin with its size", 13,
		       false, "kymo!");
	assert_damaged(BYTES(WHOLE "\x03\0\0\0\x02\0x"), "damaged Snappy", 13, false, "kymo!x");
	/* A copy from before the start. */
	assert_damaged(BYTES(WHOLE "\x03\0\0\0\x04\x01\x09"), "damaged Snappy", 13, false, "kymo!");
	/* A copy from before the start. */
	assert_damaged(BYTES(FRAME "what?"), "not a zstd frame", 11, false, "hi");
	assert_damaged(BYTES(FRAME "\x25\xb5\x2f\xfd\0\0\0"), "not a zstd frame", 11, false, "hi");
	assert_damaged(BYTES(FRAME "\x28\xb5\x2f\xfd\0\xa0\x11\0\0hi"), "128 MiB", 11, false, "hi");
	assert_damaged(BYTES(FRAME "\x28\xb5\x2f\xfd\x20\x02\x17\0\0ho"), "damaged zstd", 11, false,
		       "hi");
	assert_damaged(BYTES(FRAME "\x28\xb5"), "cut off", 11, true, "hi");
	/* Data after a member; data after its padding; a wrong CRC. */
	assert_damaged(BYTES(MEMBER "what?"), "damaged gzip", 24, false, "a");
	assert_damaged(BYTES(MEMBER "\0\0" MEMBER), "padding", 24, false, "aa");
	assert_damaged(
		BYTES("\x1f\x8b\x08\0\0\0\0\0\0\xff\x01\x01\0\xfe\xff\x61\0\xbe\xb7\xe8\x01\0"
		      "\0\0"),
		"damaged gzip", 0, false, "");
	/* After invalid data, another block is found. */
	assert_damaged(BYTES(WHOLE "\xff\xff\xff\xff"
				   "\x05\0\0\0\x03\x08"
				   "abc"),
		       "an impossible size", 13, false, "kymo!abc");
	assert_damaged(BYTES(FRAME "what?" FRAME), "not a zstd frame", 11, false, "hihi");
	assert_damaged(BYTES(FRAME "\x28\xb5\x2f\xfd\x20\x02\x17\0\0ho" FRAME), "damaged zstd", 11,
		       false, "hihi");
	assert_damaged(BYTES(MEMBER "what?" MEMBER MEMBER), "damaged gzip", 24, false, "aaa");
	/* A length that includes the next chunk, and all of the file. */
	assert_damaged(BYTES("at\x12\0\0\0\x05\x10kymo!\x07\0\0\0\x05\x10kymo!"), "damaged Snappy",
		       2, false, "kymo!kymo!");
	assert_damaged(BYTES("at\xf0\0\0\0\x05\x10kymo!\x07\0\0\0\x05\x10kymo!"), "wrong length", 2,
		       false, "kymo!kymo!");
}

/* One block is damaged, at each of its bytes in turn: those around it are complete. */
TEST(test_goes_on)
{
	uint8_t text[N_PIECES * PIECE];
	size_t ends[N_PIECES];

	make_text(text);
	for (enum pack_method m = PACK_SNAPPY; m < PACK_METHOD_MAX; m++) {
		struct outbuf b = pack_text(m, text, ends);

		for (size_t i = ends[1]; i < ends[2]; i++) {
			const size_t behind = (N_PIECES - 3) * PIECE;
			struct unpack_damage damage;
			struct outbuf out;

			b.data[i] ^= 0xff;
			out = unpack_all(b.data, b.size, &damage);
			b.data[i] ^= 0xff;
			assert_true(out.size >= 2 * PIECE + behind);
			assert_memory_equal(out.data, text, 2 * PIECE);
			assert_memory_equal(out.data + out.size - behind, text + 3 * PIECE, behind);
			if (!damage.what) {
				/* The container has no checksum for this. */
				assert_int_equal(out.size, sizeof(text));
			} else {
				assert_int_equal(damage.packed_offset, ends[1]);
				assert_int_equal(damage.packed_bytes, ends[2] - ends[1]);
				assert_in_range(damage.unpacked_offset, 2 * PIECE, 3 * PIECE);
			}
			outbuf_deinit(&out);
		}
		outbuf_deinit(&b);
	}
}

/* Several are damaged, and each is reported. Between others, bytes are inserted or missing. */
TEST(test_several)
{
	uint8_t text[N_PIECES * PIECE];
	size_t ends[N_PIECES];

	make_text(text);
	for (enum pack_method m = PACK_SNAPPY; m < PACK_METHOD_MAX; m++) {
		struct outbuf b = pack_text(m, text, ends), broken = { 0 }, out;
		struct unpack *u;
		int n = 0;

		/* 0, other data, 1, 2 without its end, 3 without its begin, 4 */
		outbuf_append(&broken, b.data, ends[0]);
		outbuf_append(&broken, "\x1f\x8b\x08\x00something", 13);
		outbuf_append(&broken, b.data + ends[0], ends[2] - 10 - ends[0]);
		outbuf_append(&broken, b.data + ends[2] + 10, ends[4] - 10 - ends[2]);
		assert_int_equal(unpack_new_memory(&u, broken.data, broken.size), 0);
		out = drain(u, 1000);
		for (; unpack_damage(u); unpack_pop_damage(u))
			n++;
		assert_in_range(n, 2, 3);
		assert_true(out.size >= 3 * PIECE);
		assert_memory_equal(out.data, text, 2 * PIECE);
		assert_memory_equal(out.data + out.size - PIECE, text + 4 * PIECE, PIECE);
		unpack_free(u);
		outbuf_deinit(&out);
		outbuf_deinit(&broken);
		outbuf_deinit(&b);
	}
}

/* A wrong checksum at the end of a block that was not returned yet: nothing of it is. */
TEST(test_checksum)
{
	uint8_t text[N_PIECES * PIECE];
	size_t ends[N_PIECES];

	make_text(text);
	for (enum pack_method m = PACK_ZSTD; m < PACK_METHOD_MAX; m++) {
		struct outbuf b = pack_text(m, text, ends), out;
		struct unpack_damage damage;

		/* zstd: the last four bytes; gzip: four, and then the length */
		b.data[ends[1] - (m == PACK_ZSTD ? 1 : 5)] ^= 1;
		out = unpack_all(b.data, b.size, &damage);
		assert_non_null(damage.what);
		assert_int_equal(damage.packed_offset, ends[0]);
		assert_int_equal(damage.unpacked_offset, PIECE);
		assert_int_equal(out.size, (N_PIECES - 1) * PIECE);
		assert_memory_equal(out.data, text, PIECE);
		assert_memory_equal(out.data + PIECE, text + 2 * PIECE, 3 * PIECE);
		outbuf_deinit(&out);
		outbuf_deinit(&b);
	}
}

/* Endless begins of blocks, all of them false: it ends in time. */
TEST(test_false_beginnings)
{
	static const struct {
		const char *first, *begin;
		size_t n_first, n;
	} rows[] = {
		{ "at\x07\0\0\0\x05\x10kymo!", "\x40\0\0\0\x40\xf0\x3f", 13, 7 },
		/* a block of 128 KiB of one byte, then one of no known type */
		{ FRAME, "\x28\xb5\x2f\xfd\0\x58\x02\0\x10x\x07", 11, 11 },
		{ MEMBER, "\x1f\x8b\x08\0\0\0\0\0\0\xff\x03", 24, 11 },
		/* a piece of 1 MiB with a wrong checksum */
		{ "\xd7KCL", "\xd7KCL\1\0\0\0\0\0\x10\0\0\0\x10\0what", 4, 20 },
	};
	const size_t rounds = unit_rounds(2 << 20), least = (1 << 20) + (64 << 10);
	/* (more than a whole piece) */
	const size_t size = rounds > least ? rounds : least;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct outbuf b = { 0 }, out;
		struct unpack_damage damage;

		outbuf_append(&b, rows[i].first, rows[i].n_first);
		outbuf_append(&b, "\xff\xff\xff\xff", 4);
		while (b.size < size)
			outbuf_append(&b, rows[i].begin, rows[i].n);
		out = unpack_all(b.data, b.size, &damage);
		assert_non_null(damage.what);
		outbuf_deinit(&out);
		outbuf_deinit(&b);
	}
}

/* Little data that unpacks to 64 MiB takes little memory. */
TEST(test_bombs)
{
	enum { BLOCK = 1 << 20, N_BLOCKS = 64 };
	_cleanup_free_ uint8_t *zeros = calloc(1, BLOCK), *to = malloc(BLOCK);
	struct rusage before, after;

	assert_non_null(zeros);
	assert_non_null(to);
	for (int kind = 0; kind < 2; kind++) {
		struct outbuf b = { 0 };
		struct unpack *u;
		uint64_t total = 0;
		ssize_t n;

		if (kind == 0) {
			ZSTD_CCtx *c = ZSTD_createCCtx();
			ZSTD_inBuffer in;
			uint8_t *p = outbuf_reserve(&b, BLOCK);
			ZSTD_outBuffer out = { .dst = p, .size = BLOCK };

			for (int i = 0; i < N_BLOCKS; i++) {
				in = (ZSTD_inBuffer){ .src = zeros, .size = BLOCK };
				while (in.pos < in.size)
					assert_false(ZSTD_isError(ZSTD_compressStream2(
						c, &out, &in, ZSTD_e_continue)));
			}
			assert_int_equal(ZSTD_compressStream2(c, &out, &in, ZSTD_e_end), 0);
			b.size = out.pos;
			ZSTD_freeCCtx(c);
		} else {
			z_stream z = { 0 };

			assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, 0), Z_OK);
			z.next_out = outbuf_reserve(&b, BLOCK);
			z.avail_out = BLOCK;
			for (int i = 0; i < N_BLOCKS; i++) {
				z.next_in = zeros;
				z.avail_in = BLOCK;
				deflate(&z, i == N_BLOCKS - 1 ? Z_FINISH : Z_NO_FLUSH);
			}
			b.size = z.total_out;
			deflateEnd(&z);
		}
		assert_true(b.size < BLOCK);
		getrusage(RUSAGE_SELF, &before);
		assert_int_equal(unpack_new_memory(&u, b.data, b.size), 0);
		while ((n = unpack_read(u, to, BLOCK)) > 0)
			total += (uint64_t)n;
		assert_int_equal(n, 0);
		assert_null(unpack_damage(u));
		assert_int_equal(total, (uint64_t)N_BLOCKS * BLOCK);
		getrusage(RUSAGE_SELF, &after);
		assert_true(after.ru_maxrss - before.ru_maxrss < 32 << 10);
		unpack_free(u);
		outbuf_deinit(&b);
	}
}

/* The size of the unpacked contents of B, which are all zeros, and the damage. */
static uint64_t count_zeros(const struct outbuf *b, struct unpack_damage *ret)
{
	enum { BLOCK = 1 << 20 };
	_cleanup_free_ uint8_t *to = malloc(BLOCK);
	uint64_t total = 0;
	struct unpack *u;
	ssize_t n;

	assert_non_null(to);
	assert_int_equal(unpack_new_memory(&u, b->data, b->size), 0);
	while ((n = unpack_read(u, to, BLOCK)) > 0) {
		assert_true(to[0] == 0 && to[n - 1] == 0);
		total += (uint64_t)n;
	}
	assert_int_equal(n, 0);
	assert_int_equal(unpack_read(u, to, BLOCK), 0);
	*ret = unpack_damage(u) ? *unpack_damage(u) : (struct unpack_damage){ 0 };
	if (ret->what) {
		unpack_pop_damage(u);
		assert_int_equal(unpack_read(u, to, BLOCK), 0);
		assert_null(unpack_damage(u));
	}
	unpack_free(u);
	return total;
}

/*
 * A frame of MIB, each in 8 blocks that repeat zeros, in 4 bytes each; after SKIPPED bytes to skip.
 */
static struct outbuf make_zstd_zeros(unsigned mib, uint32_t skipped)
{
	static const uint8_t head[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38 };
	struct outbuf b = { 0 };
	uint8_t skip[] = { 0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0 };
	uint8_t *p;

	memcpy(skip + 4, &skipped, sizeof(skipped));
	if (skipped) {
		assert_int_equal(outbuf_append(&b, skip, sizeof(skip)), 0);
		p = outbuf_reserve(&b, skipped);
		assert_non_null(p);
		memset(p, 0, skipped);
	}
	assert_int_equal(outbuf_append(&b, head, sizeof(head)), 0);
	for (unsigned i = 0; i < 8 * mib; i++) {
		uint32_t block = (128U << 10) << 3 | 1 << 1 | (i == 8 * mib - 1);

		assert_int_equal(outbuf_append(&b, &block, 4), 0); /* its last byte is the zero */
	}
	return b;
}

/* More than 1 GiB, and more than 500 times the packed size, is refused. */
TEST(test_ratio)
{
	const uint64_t gib = UINT64_C(1) << 30, mib = UINT64_C(1) << 20;
	struct unpack_damage damage;
	struct outbuf b;
	uint64_t n;

	b = make_zstd_zeros(1100, 0);
	n = count_zeros(&b, &damage);
	assert_true(n >= gib && n < gib + 2 * mib);
	assert_non_null(damage.what);
	assert_non_null(strstr(damage.what, "zstd -dc"));
	assert_true(damage.stopped && !damage.cut);
	assert_true(damage.unpacked_offset == n && damage.packed_offset <= b.size);
	outbuf_deinit(&b);

	/* 1100 MiB from 2.5 MiB */
	b = make_zstd_zeros(1100, 2500 << 10);
	assert_int_equal(count_zeros(&b, &damage), 1100 * mib);
	assert_null(damage.what);
	outbuf_deinit(&b);

	b = make_zstd_zeros(1024, 0);
	assert_int_equal(count_zeros(&b, &damage), gib);
	outbuf_deinit(&b);
}

/* The same with many gzip members, each of which is harmless. */
TEST(test_ratio_gzip)
{
	enum { BLOCK = 1 << 20, N = 1100 };
	_cleanup_free_ uint8_t *zeros = calloc(1, BLOCK);
	struct outbuf member = { 0 }, b = { 0 };
	struct unpack_damage damage;
	z_stream z = { .next_in = zeros, .avail_in = BLOCK };

	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, 0), Z_OK);
	z.next_out = outbuf_reserve(&member, BLOCK);
	z.avail_out = BLOCK;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	member.size = z.total_out;
	deflateEnd(&z);
	for (int i = 0; i < N; i++)
		assert_int_equal(outbuf_append(&b, member.data, member.size), 0);
	assert_int_equal(count_zeros(&b, &damage), UINT64_C(1) << 30);
	assert_non_null(damage.what);
	assert_non_null(strstr(damage.what, "gzip -dc"));
	outbuf_deinit(&member);
	outbuf_deinit(&b);
}

/* ---- descriptors ---- */

TEST(test_new_fd_refused)
{
	_cleanup_close_ int dir = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int write_only = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct unpack *u = NULL;

	assert_int_equal(unpack_new_fd(&u, dir), -EISDIR);
	assert_int_equal(unpack_new_fd(&u, write_only), -EBADF);
	assert_int_equal(unpack_new_fd(&u, -1), -EBADF);
	assert_null(u);
	assert_null(unpack_free(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_method),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_round_trip_pipe),
		cmocka_unit_test(test_round_trip_large),
		cmocka_unit_test(test_cut_everywhere),
		cmocka_unit_test(test_flipped),
		cmocka_unit_test(test_lies),
		cmocka_unit_test(test_goes_on),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_checksum),
		cmocka_unit_test(test_false_beginnings),
		cmocka_unit_test(test_bombs),
		cmocka_unit_test(test_ratio),
		cmocka_unit_test(test_ratio_gzip),
		cmocka_unit_test(test_new_fd_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
