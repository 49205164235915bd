/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/store/whole-blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "writer/fxt/fxt-writer.h"

enum {
	WINDOW_BYTES = 2 << 20, /* larger than any block of kymo and nearly all records */
	WINDOW_BYTES_MAX = 64 << 20,
};

_Static_assert(WINDOW_BYTES > SNAPPY_BLOCK_MAX + 64, "a piece fits");

void whole_blocks_init(struct whole_blocks *p, int fd, uint64_t bytes, enum pack_method method,
		       bool first)
{
	*p = (struct whole_blocks){ .fd = fd, .end = bytes, .method = method, .first = first };
}

void whole_blocks_deinit(struct whole_blocks *p)
{
	free(p->window);
	*p = (struct whole_blocks){ .fd = -1 };
}

int whole_blocks_detect(int fd, enum pack_method *ret)
{
	uint8_t magic[PACK_MAGIC_BYTES_MAX];
	ssize_t n = pread(fd, magic, sizeof(magic), 0);

	if (n < 0)
		return -errno;
	*ret = pack_of_bytes(magic, (size_t)n);
	return 0;
}

/* Fills the window from the current position. *RET_N is the number of bytes read. */
static int whole_blocks_fill(struct whole_blocks *p, size_t *ret_n)
{
	size_t want = p->end - p->at < p->room ? (size_t)(p->end - p->at) : p->room;
	ssize_t n;

	*ret_n = 0;
	while (*ret_n < want) {
		n = pread(p->fd, p->window + *ret_n, want - *ret_n, (off_t)(p->at + *ret_n));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break; /* the file is shorter than expected */
		*ret_n += (size_t)n;
	}
	return 0;
}

static size_t whole_blocks_whole(const struct whole_blocks *p, size_t n)
{
	if (p->method == PACK_NONE)
		return fxt_whole_records(p->window, n);
	return pack_ops(p->method)->whole(p->window, n, p->first);
}

static int whole_blocks_grow(struct whole_blocks *p)
{
	size_t room = p->room ? 2 * p->room : WINDOW_BYTES;
	uint8_t *more = room > WINDOW_BYTES_MAX ? NULL : realloc(p->window, room);

	if (!more)
		return room > WINDOW_BYTES_MAX ? 0 : -ENOMEM;
	p->window = more;
	p->room = room;
	return 1;
}

int whole_blocks_next(struct whole_blocks *p, const uint8_t **ret, size_t *ret_n)
{
	size_t have = 0, n = 0;
	int r = p->room ? 1 : whole_blocks_grow(p);

	/* A record can be larger than the window. */
	for (; r > 0; r = whole_blocks_grow(p)) {
		int e = whole_blocks_fill(p, &have);

		if (e < 0)
			return e;
		n = whole_blocks_whole(p, have);
		if (n > 0 || have < p->room)
			break;
	}
	if (r < 0)
		return r;
	p->at += n;
	if (n > 0)
		p->first = false;
	*ret = p->window;
	*ret_n = n;
	return 0;
}
