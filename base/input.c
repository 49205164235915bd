/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

/* Small enough for a second-level cache, large enough to make the cost of system calls
 * negligible. */
enum { FIRST_ROOM = 256 * 1024 };

static int input_init(struct input *in, size_t room)
{
	in->data = malloc(room);
	if (!in->data)
		return -ENOMEM;
	in->room = room;
	return 0;
}

int input_init_fd(struct input *in, int fd)
{
	struct stat st;

	*in = (struct input){ .fd = fd };
	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	return input_init(in, FIRST_ROOM);
}

int input_init_memory(struct input *in, const void *p, size_t n)
{
	*in = (struct input){ .fd = -1, .memory = p, .memory_left = n };
	/*
	 * The buffer has at least 1 byte, and room for the whole input if that is smaller than
	 * FIRST_ROOM.
	 */
	return input_init(in, n < FIRST_ROOM ? n + 1 : FIRST_ROOM);
}

int input_init_source(struct input *in, input_read_fn read, void *userdata)
{
	*in = (struct input){ .fd = -1, .read = read, .userdata = userdata };
	return input_init(in, FIRST_ROOM);
}

void input_deinit(struct input *in)
{
	free(in->data);
	*in = (struct input){ .fd = -1, .eof = true };
}

/* Reads the next bytes, at most ROOM, to TO. Returns the number of bytes; 0 at the end. */
static ssize_t input_get(struct input *in, void *to, size_t room)
{
	ssize_t n;

	if (in->read)
		return in->read(in->userdata, to, room);
	if (in->fd < 0) {
		n = (ssize_t)(room < in->memory_left ? room : in->memory_left);
		if (n > 0)
			memcpy(to, in->memory, (size_t)n);
		in->memory += n;
		in->memory_left -= (size_t)n;
		return n;
	}
	do
		n = read(in->fd, to, room);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* Makes room at the end of the buffer. */
static int input_make_room(struct input *in)
{
	size_t kept = in->keep < in->begin ? in->keep : in->begin, from = in->begin - kept;

	if (from > 0) {
		memmove(in->data, in->data + from, in->end - from);
		in->end -= from;
		in->begin = kept;
	}
	return GROW(in->data, in->room, in->end + 1);
}

int input_fill(struct input *in, size_t n)
{
	while (input_ready(in) < n) {
		ssize_t got;
		int r;

		if (in->eof)
			return 0;
		/*
		 * Moves the bytes that are not taken yet, and the bytes to keep, to the front, if
		 * there is too little room behind them.
		 */
		if (in->begin + n > in->room || in->end == in->room) {
			r = input_make_room(in);
			if (r < 0)
				return r;
		}
		got = input_get(in, in->data + in->end, in->room - in->end);
		if (got < 0)
			return (int)got;
		if (got == 0)
			in->eof = true;
		in->end += (size_t)got;
	}
	return 1;
}

int input_skip(struct input *in, uint64_t n)
{
	while (n > 0) {
		size_t ready;
		int r = input_need(in, n < FIRST_ROOM ? (size_t)n : FIRST_ROOM);

		if (r < 0)
			return r;
		ready = input_ready(in);
		if (ready == 0)
			return 0;
		if (ready > n)
			ready = (size_t)n;
		input_consume(in, ready);
		n -= ready;
	}
	return 1;
}

ssize_t input_read(struct input *in, void *to, size_t n)
{
	size_t ready = input_ready(in);
	ssize_t got;

	if (ready == 0) {
		got = in->eof ? 0 : input_get(in, to, n);
		if (got <= 0)
			return got;
		in->offset += (uint64_t)got;
		/*
		 * The bytes that were taken before cannot be given back: the next bytes do not
		 * follow them in the buffer.
		 */
		in->begin = in->end = 0;
		return got;
	}
	if (n > ready)
		n = ready;
	memcpy(to, input_peek(in), n);
	input_consume(in, n);
	return (ssize_t)n;
}
