/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/outbuf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 4096 };

void outbuf_deinit(struct outbuf *b)
{
	free(b->data);
	*b = (struct outbuf){ .limit = b->limit };
}

void outbuf_reset(struct outbuf *b)
{
	b->size = 0;
	b->error = 0;
}

static int outbuf_grow(struct outbuf *b, size_t need)
{
	size_t limit = b->limit ? b->limit : OUTBUF_LIMIT_DEFAULT;
	size_t room = b->room ? b->room : FIRST_ROOM;
	uint8_t *data;

	if (need > limit)
		return -EMSGSIZE;
	while (room < need)
		room = room > limit / 2 ? limit : 2 * room;
	if (room > limit)
		room = limit;
	data = realloc(b->data, room);
	if (!data)
		return -ENOMEM;
	b->data = data;
	b->room = room;
	return 0;
}

void *outbuf_reserve(struct outbuf *b, size_t n)
{
	void *p;

	if (b->error < 0)
		return NULL;
	if (n > b->room - b->size || !b->data) {
		b->error = n > SIZE_MAX - b->size ? -EMSGSIZE : outbuf_grow(b, b->size + n);
		if (b->error < 0)
			return NULL;
	}
	p = b->data + b->size;
	memset(p, 0, n);
	b->size += n;
	return p;
}

int outbuf_append(struct outbuf *b, const void *p, size_t n)
{
	/* Like outbuf_reserve(), without zeroing what is overwritten at once: this is the path of
	 * every scheduling record. */
	if (b->error < 0)
		return b->error;
	if (n > b->room - b->size) {
		b->error = n > SIZE_MAX - b->size ? -EMSGSIZE : outbuf_grow(b, b->size + n);
		if (b->error < 0)
			return b->error;
	}
	if (n > 0)
		memcpy(b->data + b->size, p, n);
	b->size += n;
	return 0;
}
