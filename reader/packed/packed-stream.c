/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/packed/packed-stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static ssize_t packed_stream_read_unpacked(void *stream, void *to, size_t n)
{
	struct packed_stream *s = stream;
	ssize_t got = unpack_read(s->unpack, to, n);

	s->damaged = unpack_damage(s->unpack) != NULL;
	return got;
}

static int packed_stream_init(struct packed_stream *s, int error)
{
	return error ?: input_init_source(&s->head, packed_stream_read_unpacked, s);
}

int packed_stream_init_fd(struct packed_stream *s, int fd, unpack_detect_fn detect)
{
	*s = (struct packed_stream){ 0 };
	return packed_stream_init(s, unpack_new_fd_detecting(&s->unpack, fd, detect));
}

int packed_stream_init_memory(struct packed_stream *s, const void *p, size_t n,
			      unpack_detect_fn detect)
{
	*s = (struct packed_stream){ 0 };
	return packed_stream_init(s, unpack_new_memory_detecting(&s->unpack, p, n, detect));
}

void packed_stream_deinit(struct packed_stream *s)
{
	input_deinit(&s->head);
	s->unpack = unpack_free(s->unpack);
}

ssize_t packed_stream_read(void *stream, void *to, size_t n)
{
	struct packed_stream *s = stream;

	return input_read(&s->head, to, n);
}

ssize_t packed_stream_read_to_gap(void *stream, void *to, size_t n)
{
	struct packed_stream *s = stream;
	uint64_t at = s->head.offset, end = UINT64_MAX;
	ssize_t got;

	if (s->damaged)
		end = unpack_damage(s->unpack)->unpacked_offset;
	if (at >= end)
		return 0;
	if (n > end - at)
		n = end - at;
	got = input_read(&s->head, to, n);
	/* There may be damage before the data that was just read. */
	if (got > 0 && end == UINT64_MAX && s->damaged &&
	    unpack_damage(s->unpack)->unpacked_offset <= at)
		return 0;
	return got;
}

bool packed_stream_is_archive(const uint8_t *p, size_t n)
{
	static const uint8_t magic[] = { 0x10, 0, 4, 'F' }, swapped[] = { 0, 0x16, 'T', 'x' };

	return n >= sizeof(magic) &&
	       (memcmp(p, magic, sizeof(magic)) == 0 || memcmp(p, swapped, sizeof(swapped)) == 0);
}

/* Takes the next damage of the container. It has caused BYTES of the archive to be skipped. */
static int packed_stream_get_damage(struct packed_stream *s, uint64_t bytes, struct fxt_damage *ret)
{
	const struct unpack_damage *d = unpack_damage(s->unpack);
	int n = snprintf(s->text, sizeof(s->text), "%s, at byte %" PRIu64 " of the file", d->what,
			 d->packed_offset);

	if (!d->cut && !d->stopped && n > 0 && (size_t)n < sizeof(s->text))
		snprintf(s->text + n, sizeof(s->text) - (size_t)n, "; it goes on at byte %" PRIu64,
			 d->packed_offset + d->packed_bytes);
	*ret = (struct fxt_damage){
		.offset = d->unpacked_offset,
		.bytes = bytes,
		.what = s->text,
		.truncated = d->cut,
	};
	unpack_pop_damage(s->unpack);
	s->damaged = unpack_damage(s->unpack) != NULL;
	return FXT_READER_DAMAGE;
}

/* Returns true if the container is damaged between FROM and TO of the archive. */
static bool packed_stream_is_damaged_at(const struct packed_stream *s, uint64_t from, uint64_t to)
{
	const struct unpack_damage *d = s->damaged ? unpack_damage(s->unpack) : NULL;

	return d && d->unpacked_offset >= from && d->unpacked_offset <= to;
}

int packed_stream_next_record(struct packed_stream *s, struct fxt_reader *reader,
			      const struct fxt_record **ret, struct fxt_damage *ret_damage)
{
	int r;

	*ret = NULL;
	if (packed_stream_is_damaged_at(s, 0, fxt_reader_offset(reader)))
		return packed_stream_get_damage(s, 0, ret_damage);
	r = fxt_reader_next(reader, ret);
	if (r == FXT_READER_RECORD)
		return r;
	if (r == FXT_READER_END && s->damaged)
		return packed_stream_get_damage(s, 0, ret_damage);
	if (r != FXT_READER_DAMAGE)
		return r;
	*ret_damage = *fxt_reader_damage(reader);
	/* A record that could not be decompressed completely is not separate damage. */
	if (packed_stream_is_damaged_at(s, ret_damage->offset,
					ret_damage->offset + ret_damage->bytes))
		return packed_stream_get_damage(s, ret_damage->bytes, ret_damage);
	return r;
}
