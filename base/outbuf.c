/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/outbuf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
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
	/* Like outbuf_reserve(), but does not zero the bytes, since they are overwritten at once.
	 * This code runs for each scheduling record. */
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

int outbuf_print(struct outbuf *b, const char *format, ...)
{
	va_list args;
	size_t at = b->size;
	char *to;
	int n;

	va_start(args, format);
	n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (n < 0 && b->error == 0)
		b->error = -EINVAL;
	/*
	 * The reserved room includes the NUL that vsnprintf() writes, but the size at the end does
	 * not.
	 */
	to = n < 0 ? NULL : outbuf_reserve(b, (size_t)n + 1);
	if (!to)
		return b->error;
	va_start(args, format);
	vsnprintf(to, (size_t)n + 1, format, args);
	va_end(args);
	b->size = at + (size_t)n;
	return 0;
}
