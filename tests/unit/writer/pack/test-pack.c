/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <snappy-c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/cleanup.h"
#include "tests/support/unit.h"
#include "writer/pack/pack.h"

TEST(test_parse)
{
	static const struct {
		const char *name;
		int r;
		enum pack_method method;
	} rows[] = {
		{ "snappy", 0, PACK_SNAPPY }, { "zstd", 0, PACK_ZSTD },
		{ "gzip", 0, PACK_GZIP },     { "columns", 0, PACK_COLUMNS },
		{ "", -EINVAL, PACK_NONE },   { "none", -EINVAL, 0 },
		{ "Zstd", -EINVAL, 0 },       { "zst", -EINVAL, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		enum pack_method method = PACK_NONE;

		assert_int_equal(pack_parse(rows[i].name, &method), rows[i].r);
		assert_int_equal(method, rows[i].method);
	}
	assert_string_equal(pack_ops(PACK_NONE)->suffix, "");
	assert_string_equal(pack_ops(PACK_SNAPPY)->suffix, ".sz");
	assert_string_equal(pack_ops(PACK_ZSTD)->suffix, ".zst");
	assert_string_equal(pack_ops(PACK_GZIP)->suffix, ".gz");
	assert_string_equal(pack_ops(PACK_COLUMNS)->suffix, ".cols");
}

TEST(test_of_suffix)
{
	static const struct {
		const char *name;
		enum pack_method method;
	} rows[] = {
		{ "a.fxt", PACK_NONE },        { "a.fxt.zst", PACK_ZSTD },
		{ "/x.gz/a.sz", PACK_SNAPPY }, { "a.b.gz", PACK_GZIP },
		{ "/x.gz/a", PACK_NONE },      { ".gz", PACK_NONE },
		{ "a.zst.x", PACK_NONE },      { "", PACK_NONE },
		{ "zst", PACK_NONE },          { "a.fxt.cols", PACK_COLUMNS },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(pack_of_suffix(rows[i].name), rows[i].method);
}

/* "Records" of three bytes. */
static size_t whole_threes(const uint8_t *data, size_t n)
{
	(void)data;
	return n - n % 3;
}

static size_t whole_none(const uint8_t *data, size_t n)
{
	(void)data;
	(void)n;
	return 0;
}

TEST(test_block_bytes)
{
	static const size_t sizes[] = { 0, 1, 3, PACK_CHUNK_MAX - 1, PACK_CHUNK_MAX };
	static const uint8_t data[2 * PACK_CHUNK_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		assert_int_equal(pack_piece_bytes(whole_threes, data, sizes[i]), sizes[i]);
	assert_int_equal(pack_piece_bytes(whole_threes, data, PACK_CHUNK_MAX + 1),
			 PACK_CHUNK_MAX - PACK_CHUNK_MAX % 3);
	assert_int_equal(pack_piece_bytes(whole_none, data, sizeof(data)), PACK_CHUNK_MAX);
}

/* The result for a block. */
static struct outbuf pack_one(enum pack_method method, const void *data, size_t n)
{
	struct outbuf b = { 0 };
	struct pack p;

	assert_int_equal(pack_init(&p, method), 0);
	assert_int_equal(pack_put(&p, data, n, &b), 0);
	pack_deinit(&p);
	return b;
}

/* An empty input gives an empty output: an empty chunk would confuse readers. */
TEST(test_put_nothing)
{
	for (enum pack_method m = 0; m < PACK_METHOD_MAX; m++) {
		struct outbuf b = pack_one(m, "", 0);

		assert_int_equal(b.size, 0);
		outbuf_deinit(&b);
	}
}

TEST(test_put_none_copies)
{
	struct outbuf b = pack_one(PACK_NONE, "abc", 3);

	assert_int_equal(b.size, 3);
	assert_memory_equal(b.data, "abc", 3);
	outbuf_deinit(&b);
}

/* Derived from the format: bytes without repetitions are one literal. */
TEST(test_snappy_bytes)
{
	static const uint8_t expected[] = {
		'a',
		't',
		7,
		0,
		0,
		0,
		5,
		4 << 2,
		'k',
		'y',
		'm',
		'o',
		'!',
		/* the next chunk */
		3,
		0,
		0,
		0,
		1,
		0 << 2,
		'x',
	};
	struct outbuf b = { 0 };
	struct pack p;

	assert_int_equal(pack_init(&p, PACK_SNAPPY), 0);
	assert_int_equal(pack_put(&p, (const uint8_t *)"kymo!", 5, &b), 0);
	assert_int_equal(pack_put(&p, NULL, 0, &b), 0);
	assert_int_equal(pack_put(&p, (const uint8_t *)"x", 1, &b), 0);
	assert_int_equal(b.size, sizeof(expected));
	assert_memory_equal(b.data, expected, sizeof(expected));
	outbuf_deinit(&b);
	pack_deinit(&p);
}

/* Bytes without repetitions. */
static uint8_t *noise(size_t n)
{
	uint8_t *p = malloc(n);
	uint32_t x = 1;

	assert_non_null(p);
	for (size_t i = 0; i < n; i++) {
		x = x * 1664525 + 1013904223;
		p[i] = (uint8_t)(x >> 24);
	}
	return p;
}

/* The largest block of the worst content fits into the buffers of readers. */
TEST(test_snappy_largest)
{
	_cleanup_free_ uint8_t *data = noise(PACK_CHUNK_MAX);
	struct outbuf b = pack_one(PACK_SNAPPY, data, PACK_CHUNK_MAX);
	_cleanup_free_ char *back = malloc(PACK_CHUNK_MAX);
	size_t n = PACK_CHUNK_MAX;
	uint32_t length;

	length = pack_get_length(b.data + 2);
	assert_true(length <= 1223370);
	assert_int_equal(b.size, 2 + 4 + length);
	assert_int_equal(snappy_uncompress((const char *)b.data + 6, length, back, &n), SNAPPY_OK);
	assert_int_equal(n, PACK_CHUNK_MAX);
	assert_memory_equal(back, data, n);
	outbuf_deinit(&b);
}

/* Each frame is self-contained, and contains its size and a checksum. */
TEST(test_zstd_frames)
{
	static const char text[] = "one piece is one frame, one piece is one frame";
	uint8_t back[sizeof(text)];
	struct outbuf b = { 0 };
	struct pack p;
	size_t first, n;

	assert_int_equal(pack_init(&p, PACK_ZSTD), 0);
	assert_int_equal(pack_put(&p, (const uint8_t *)text, sizeof(text), &b), 0);
	first = b.size;
	assert_int_equal(pack_put(&p, (const uint8_t *)text, sizeof(text), &b), 0);
	for (size_t at = 0; at < b.size; at += n) {
		assert_memory_equal(b.data + at, PACK_MAGIC_ZSTD, 4);
		/* Bit 2 of the frame header: a checksum follows. */
		assert_int_equal(b.data[at + 4] & 4, 4);
		assert_int_equal(ZSTD_getFrameContentSize(b.data + at, b.size - at), sizeof(text));
		n = ZSTD_findFrameCompressedSize(b.data + at, b.size - at);
		assert_int_equal(n, first);
		memset(back, 0, sizeof(back));
		assert_int_equal(ZSTD_decompress(back, sizeof(back), b.data + at, n), sizeof(text));
		assert_memory_equal(back, text, sizeof(text));
	}
	outbuf_deinit(&b);
	pack_deinit(&p);
}

/* Each member is self-contained. Its header has the method deflate, no flags, no time. */
TEST(test_gzip_members)
{
	static const uint8_t head[] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0 };
	static const char text[] = "one piece is one member, one piece is one member";
	struct outbuf b = { 0 };
	struct pack p;
	size_t at = 0;

	assert_int_equal(pack_init(&p, PACK_GZIP), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pack_put(&p, (const uint8_t *)text, sizeof(text), &b), 0);
	for (int i = 0; i < 3; i++) {
		uint8_t back[sizeof(text) + 1];
		z_stream z = {
			.next_in = b.data + at,
			.avail_in = (uInt)(b.size - at),
			.next_out = back,
			.avail_out = sizeof(back),
		};

		assert_memory_equal(b.data + at, head, sizeof(head));
		assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
		assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
		assert_int_equal(z.total_out, sizeof(text));
		assert_memory_equal(back, text, sizeof(text));
		at += z.total_in;
		inflateEnd(&z);
	}
	assert_int_equal(at, b.size);
	outbuf_deinit(&b);
	pack_deinit(&p);
}

/* Without room, each method returns an error. */
TEST(test_put_no_room)
{
	_cleanup_free_ uint8_t *data = noise(1000);

	for (enum pack_method m = 0; m < PACK_METHOD_MAX; m++) {
		struct outbuf b = { .limit = 100 };
		struct pack p;

		assert_int_equal(pack_init(&p, m), 0);
		assert_int_equal(pack_put(&p, data, 1000, &b), -EMSGSIZE);
		outbuf_deinit(&b);
		pack_deinit(&p);
	}
}

/* ---- unpacking by standard commands ---- */

TEST(test_commands_unpack)
{
	static const struct {
		enum pack_method method;
		const char *there, *command;
	} rows[] = {
		{ PACK_GZIP, "command -v gzip >/dev/null", "gzip -dc" },
		{ PACK_ZSTD, "command -v zstd >/dev/null", "zstd -qdc" },
	};
	_cleanup_free_ uint8_t *data = noise(300000);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char path[] = "/tmp/kymo-pack.XXXXXX", command[128];
		_cleanup_free_ uint8_t *back = malloc(600001);
		struct outbuf b = { 0 };
		struct pack p;
		FILE *f;
		int fd;

		if (system(rows[i].there) != 0)
			continue;
		fd = mkstemp(path);
		assert_true(fd >= 0);
		assert_int_equal(pack_init(&p, rows[i].method), 0);
		assert_int_equal(pack_put(&p, data, 300000, &b), 0);
		assert_int_equal(pack_put(&p, data, 300000, &b), 0);
		assert_int_equal(write(fd, b.data, b.size), b.size);
		close(fd);
		snprintf(command, sizeof(command), "%s <%s", rows[i].command, path);
		f = popen(command, "re");
		assert_non_null(f);
		assert_int_equal(fread(back, 1, 600001, f), 600000);
		assert_int_equal(pclose(f), 0);
		assert_memory_equal(back, data, 300000);
		assert_memory_equal(back + 300000, data, 300000);
		unlink(path);
		outbuf_deinit(&b);
		pack_deinit(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),           cmocka_unit_test(test_of_suffix),
		cmocka_unit_test(test_block_bytes),     cmocka_unit_test(test_put_nothing),
		cmocka_unit_test(test_put_none_copies), cmocka_unit_test(test_snappy_bytes),
		cmocka_unit_test(test_snappy_largest),  cmocka_unit_test(test_zstd_frames),
		cmocka_unit_test(test_gzip_members),    cmocka_unit_test(test_put_no_room),
		cmocka_unit_test(test_commands_unpack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
