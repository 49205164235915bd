/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader/fxt/fxt-input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Small enough to stay in a second-level cache, large enough that the system calls do not count. */
enum { FIRST_ROOM = 256 * 1024 };

static int init(struct fxt_input *in)
{
	in->data = malloc(FIRST_ROOM);
	if (!in->data)
		return -ENOMEM;
	in->room = FIRST_ROOM;
	return 0;
}

int fxt_input_init_fd(struct fxt_input *in, int fd)
{
	struct stat st;

	*in = (struct fxt_input){ .fd = fd };
	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	return init(in);
}

int fxt_input_init_memory(struct fxt_input *in, const void *p, size_t n)
{
	*in = (struct fxt_input){ .fd = -1, .memory = p, .memory_left = n };
	return init(in);
}

int fxt_input_init_source(struct fxt_input *in, fxt_input_read_fn read, void *userdata)
{
	*in = (struct fxt_input){ .fd = -1, .read = read, .userdata = userdata };
	return init(in);
}

void fxt_input_deinit(struct fxt_input *in)
{
	free(in->data);
	*in = (struct fxt_input){ .fd = -1, .eof = true };
}

/* Appends what comes next, at most ROOM bytes. Returns how many; 0 at the end. */
static ssize_t get(struct fxt_input *in, size_t room)
{
	uint8_t *to = in->data + in->end;
	ssize_t n;

	if (in->read)
		return in->read(in->userdata, to, room);
	if (in->fd < 0) {
		n = (ssize_t)(room < in->memory_left ? room : in->memory_left);
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

/* Makes free room at the end of the buffer. */
static int make_room(struct fxt_input *in)
{
	uint8_t *data;

	if (in->begin > 0) {
		memmove(in->data, in->data + in->begin, in->end - in->begin);
		in->end -= in->begin;
		in->begin = 0;
	}
	if (in->end < in->room)
		return 0;
	data = realloc(in->data, 2 * in->room);
	if (!data)
		return -ENOMEM;
	in->data = data;
	in->room *= 2;
	return 0;
}

int fxt_input_fill(struct fxt_input *in, size_t n)
{
	while (fxt_input_ready(in) < n) {
		ssize_t got;
		int r;

		if (in->eof)
			return 0;
		/* Moving the rest to the front is cheap only while the rest is small. */
		if (in->begin + n > in->room || in->end == in->room) {
			r = make_room(in);
			if (r < 0)
				return r;
		}
		got = get(in, in->room - in->end);
		if (got < 0)
			return (int)got;
		if (got == 0)
			in->eof = true;
		in->end += (size_t)got;
	}
	return 1;
}

int fxt_input_skip(struct fxt_input *in, uint64_t n)
{
	while (n > 0) {
		size_t ready;
		int r = fxt_input_need(in, n < FIRST_ROOM ? (size_t)n : FIRST_ROOM);

		if (r < 0)
			return r;
		ready = fxt_input_ready(in);
		if (ready == 0)
			return 0;
		if (ready > n)
			ready = (size_t)n;
		fxt_input_take(in, ready);
		n -= ready;
	}
	return 1;
}
