/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/pack/unpack.h"

#include <errno.h>
#include <string.h>

#include "reader/pack/unpack-method.h"

/*
 * A block that kymo writes has at most 1 MiB (PACK_CHUNK_MAX) of data, so the whole block is
 * decompressed and verified before its data are returned. The beginning of a larger block is
 * returned before the block is verified.
 */
enum { STAGE_BYTES = PACK_CHUNK_MAX };

/*
 * The maximum ratio of output to input. Traces shrink to 5 or 10 percent. Snappy cannot exceed this
 * ratio, gzip reaches 1032, zstd 30,000.
 */
enum { RATIO_MAX = 500 };

#define RATIO_FREE_BYTES (UINT64_C(1) << 30)

/* The maximum work in a search for a good block, per byte that is searched. */
enum { WORK_PER_BYTE = 64, WORK_FREE = 16 << 20 };

/* ---- uncompressed ---- */

static ssize_t unpack_read_plain(void *state, struct unpack *u, uint8_t *to, size_t n)
{
	ssize_t got = input_read(&u->input, to, n);

	u->ended = got == 0;
	return got;
}

static const struct unpack_ops plain_ops = { .read = unpack_read_plain };

/* ---- compressed blocks ---- */

/* Decompresses a block, or the part that fits into the stage. Returns 0 or a negative errno. */
static int unpack_fill_stage(struct unpack *u)
{
	u->staged = u->stage_given = 0;
	u->streaming = false;
	do {
		ssize_t got =
			u->ops->read(u->state, u, u->stage + u->staged, STAGE_BYTES - u->staged);

		if (got == -EBADMSG && u->bad_checksum)
			u->staged = 0;
		/*
		 * At the end of a truncated file, the existing part of the last block is returned,
		 * even if it was found by a search.
		 */
		if (got == -EBADMSG && u->staged > 0 && (!u->searching || u->bad.cut)) {
			u->bad_is_late = true;
			return 0;
		}
		if (got < 0)
			return (int)got;
		u->staged += (size_t)got;
	} while (u->inside && u->staged < STAGE_BYTES);
	u->streaming = u->inside;
	return 0;
}

/* Like unpack_read(), but returns -EBADMSG at the next damage. */
static ssize_t unpack_read_good(struct unpack *u, uint8_t *to, size_t n)
{
	for (;;) {
		ssize_t got;

		if (u->stage_given < u->staged) {
			if (n > u->staged - u->stage_given)
				n = u->staged - u->stage_given;
			memcpy(to, u->stage + u->stage_given, n);
			u->stage_given += n;
			return (ssize_t)n;
		}
		if (u->bad_is_late) {
			u->bad_is_late = false;
			u->bad.unpacked_offset = u->given;
			return -EBADMSG;
		}
		if (u->ended)
			return 0;
		if (u->ops->staged && !u->streaming) {
			got = unpack_fill_stage(u);
		} else {
			got = u->ops->read(u->state, u, to, n);
			u->streaming &= u->inside;
			if (got > 0)
				return got;
		}
		if (got < 0)
			return got;
	}
}

/* ---- search after damage ---- */

static void unpack_report_damage(struct unpack *u, const struct unpack_damage *damage, uint64_t to)
{
	struct unpack_damage *last = &u->damages[UNPACK_DAMAGES - 1];

	if (u->n_damages == UNPACK_DAMAGES) {
		last->packed_bytes = to - last->packed_offset;
		return;
	}
	u->damages[u->n_damages] = *damage;
	u->damages[u->n_damages++].packed_bytes = to - damage->packed_offset;
}

/*
 * Advances to the next byte at which a block can begin. Returns 1, 0 at the end, or a negative
 * errno.
 */
static int unpack_find_begin(struct unpack *u)
{
	struct input *in = &u->input;

	for (;;) {
		int r = input_need(in, UNPACK_BEGIN_BYTES);

		if (r < 0)
			return r;
		if (input_ready(in) == 0)
			return 0;
		if (u->ops->begins(input_peek(in), input_ready(in)))
			return 1;
		input_consume(in, 1);
	}
}

/* Finds the next block that may be good, after damage in the last data. Returns 1, 0 if no such
 * block follows, or a negative errno. */
static int unpack_search(struct unpack *u, const struct unpack_damage *first)
{
	struct input *in = &u->input;
	uint64_t back;
	int r;

	u->search_work += in->offset - u->piece_offset + u->staged;
	u->staged = u->stage_given = 0;
	u->streaming = u->inside = false;
	/* The search begins one byte after the beginning of the damaged block, or at the oldest
	 * byte that is still available. */
	back = in->offset - u->piece_offset;
	back = back > 0 ? back - 1 : 0;
	if (back > input_kept(in))
		back = input_kept(in);
	if (in->offset == u->piece_offset && input_ready(in) > 0)
		input_consume(in, 1);
	input_back(in, (size_t)back);
	if (u->search_work > WORK_FREE + WORK_PER_BYTE * (in->offset - u->search_begin))
		r = 0;
	else
		r = unpack_find_begin(u);
	if (r > 0)
		u->ops->restart(u->state);
	if (r == 0) {
		u->ended = true;
		unpack_report_damage(u, first, in->offset + input_ready(in));
	}
	return r;
}

/*
 * Returns true if the output is so large for the input that reading it would only waste time. Then
 * reports, once, that reading stops.
 */
static bool unpack_is_too_much(struct unpack *u)
{
	static const char *const what[PACK_READ_MAX] = {
		[PACK_ZSTD] = "it unpacks to more than 500 times its size, and reading stopped "
			      "('zstd -dc FILE | kymo ... -' reads all)",
		[PACK_GZIP] = "it unpacks to more than 500 times its size, and reading stopped "
			      "('gzip -dc FILE | kymo ... -' reads all)",
		[PACK_BROTLI] = "it unpacks to more than 500 times its size, and reading stopped "
				"('brotli -dc FILE | kymo ... -' reads all)",
		[PACK_COLUMNS] = "it unpacks to more than 500 times its size, and reading stopped",
	};

	if (u->stopped || u->given < RATIO_FREE_BYTES || u->given / RATIO_MAX <= u->input.offset)
		return u->stopped;
	u->stopped = true;
	unpack_fail(u, false, what[u->method]);
	u->bad.stopped = true;
	u->bad.packed_offset = u->input.offset;
	unpack_report_damage(u, &u->bad, u->input.offset);
	return true;
}

ssize_t unpack_read(struct unpack *u, void *to, size_t n)
{
	struct unpack_damage first = { 0 };

	if (n == 0 || unpack_is_too_much(u))
		return 0;
	for (;;) {
		ssize_t got = unpack_read_good(u, to, n);
		int r;

		if (got == 0 && u->searching)
			unpack_report_damage(u, &first, u->input.offset);
		if (got > 0 && u->searching) {
			/* The file continues, so it was not truncated. Instead, the block has a
			 * wrong length, which extended beyond the end of the file. */
			if (first.cut)
				first.what = "a piece with a wrong length";
			first.cut = false;
			unpack_report_damage(u, &first, u->piece_offset);
		}
		if (got >= 0)
			u->searching = false;
		if (got > 0)
			u->given += (uint64_t)got;
		if (got != -EBADMSG || !u->bad.what)
			return got;
		if (!u->searching) {
			first = u->bad;
			u->searching = true;
			u->search_begin = u->piece_offset;
			u->search_work = 0;
		}
		r = unpack_search(u, &first);
		if (r == 0)
			u->searching = false;
		if (r <= 0)
			return r;
	}
}

const struct unpack_damage *unpack_damage(const struct unpack *u)
{
	return u->n_damages > 0 ? &u->damages[0] : NULL;
}

void unpack_pop_damage(struct unpack *u)
{
	if (u->n_damages == 0)
		return;
	u->n_damages--;
	memmove(u->damages, u->damages + 1, u->n_damages * sizeof(*u->damages));
}

int unpack_fail(struct unpack *u, bool cut, const char *what)
{
	u->bad = (struct unpack_damage){
		.what = what,
		.cut = cut,
		.packed_offset = u->piece_offset,
		.unpacked_offset = u->given,
	};
	u->bad_checksum = false;
	return -EBADMSG;
}

/* ---- begin and end ---- */

static bool unpack_starts_with(const struct input *in, const char *magic)
{
	size_t n = strlen(magic);

	return input_ready(in) >= n && memcmp(input_peek(in), magic, n) == 0;
}

bool unpack_at_zstd_frame(const struct input *in)
{
	const uint8_t *p = input_peek(in);

	if (unpack_starts_with(in, PACK_MAGIC_ZSTD))
		return true;
	return input_ready(in) >= PACK_MAGIC_BYTES_MAX &&
	       (p[0] & PACK_MAGIC_ZSTD_SKIP_MASK) == (uint8_t)PACK_MAGIC_ZSTD_SKIP[0] &&
	       memcmp(p + 1, &PACK_MAGIC_ZSTD_SKIP[1], PACK_MAGIC_BYTES_MAX - 1) == 0;
}

static enum pack_method unpack_detect(const struct input *in)
{
	if (unpack_starts_with(in, PACK_MAGIC_SNAPPY))
		return PACK_SNAPPY;
	if (unpack_at_zstd_frame(in))
		return PACK_ZSTD;
	if (unpack_starts_with(in, PACK_MAGIC_GZIP))
		return PACK_GZIP;
	if (unpack_starts_with(in, PACK_MAGIC_COLUMNS))
		return PACK_COLUMNS;
	return PACK_NONE;
}

/* Detects the compression by the first bytes. */
static int unpack_start(struct unpack *u, unpack_detect_fn detect)
{
	static const struct unpack_ops *const rows[PACK_READ_MAX] = {
		[PACK_NONE] = &plain_ops,           [PACK_SNAPPY] = &unpack_snappy_ops,
		[PACK_ZSTD] = &unpack_zstd_ops,     [PACK_GZIP] = &unpack_gzip_ops,
		[PACK_BROTLI] = &unpack_brotli_ops, [PACK_COLUMNS] = &unpack_columns_ops,
	};
	int r = input_need(&u->input, PACK_MAGIC_BYTES_MAX);

	if (r < 0)
		return r;
	u->method = unpack_detect(&u->input);
	/* Data that DETECT accepts unchanged are not compressed. */
	if (u->method == PACK_NONE && detect &&
	    !detect(input_peek(&u->input), input_ready(&u->input)) &&
	    unpack_is_brotli(&u->input, detect))
		u->method = PACK_BROTLI;
	u->ops = rows[u->method];
	u->input.keep = u->ops->keep;
	if (u->ops->staged) {
		u->stage = malloc(STAGE_BYTES);
		if (!u->stage)
			return -ENOMEM;
	}
	if (!u->ops->create)
		return 0;
	u->state = u->ops->create();
	return u->state ? 0 : -ENOMEM;
}

int unpack_new_fd_detecting(struct unpack **ret, int fd, unpack_detect_fn detect)
{
	_cleanup_(unpack_freep) struct unpack *u = calloc(1, sizeof(*u));
	int r = u ? input_init_fd(&u->input, fd) : -ENOMEM;

	if (r == 0)
		r = unpack_start(u, detect);
	if (r == 0)
		*ret = TAKE_PTR(u);
	return r;
}

int unpack_new_memory_detecting(struct unpack **ret, const void *p, size_t n,
				unpack_detect_fn detect)
{
	_cleanup_(unpack_freep) struct unpack *u = calloc(1, sizeof(*u));
	int r = u ? input_init_memory(&u->input, p, n) : -ENOMEM;

	if (r == 0)
		r = unpack_start(u, detect);
	if (r == 0)
		*ret = TAKE_PTR(u);
	return r;
}

int unpack_new_fd(struct unpack **ret, int fd)
{
	return unpack_new_fd_detecting(ret, fd, NULL);
}

int unpack_new_memory(struct unpack **ret, const void *p, size_t n)
{
	return unpack_new_memory_detecting(ret, p, n, NULL);
}

struct unpack *unpack_free(struct unpack *u)
{
	if (!u)
		return NULL;
	if (u->state)
		u->ops->destroy(u->state);
	input_deinit(&u->input);
	free(u->stage);
	free(u);
	return NULL;
}

enum pack_method unpack_method(const struct unpack *u)
{
	return u->method;
}
