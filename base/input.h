/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads bytes from a descriptor (file, pipe, socket), memory, or a callback, in one pass, through
 * one buffer.
 *
 * Files are read and not mapped: a process that reads a mapped file is killed if the file is
 * truncated, and reading through a buffer that stays in the cache is not slower. The buffer is
 * aligned for any type. Taken bytes are aligned, too, if the sizes of all earlier ones were
 * multiples of the alignment. The buffer grows only with bytes that arrive, whatever size the data
 * claims.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Writes up to N bytes to TO. Returns the number of bytes, 0 at the end, or a negative errno. */
typedef ssize_t (*input_read_fn)(void *userdata, void *to, size_t n);

struct input {
	input_read_fn read; /* NULL = from the descriptor or memory */
	void *userdata;
	int fd;                /* borrowed; -1 = from memory */
	const uint8_t *memory; /* borrowed; the part that is not in the buffer yet */
	size_t memory_left;
	uint8_t *data;           /* owned */
	size_t room, begin, end; /* data[begin..end) has been read, but not taken yet */
	size_t keep;     /* number of taken bytes to keep for input_back(); set by the owner */
	uint64_t offset; /* offset of data[begin] in the input */
	bool eof;
};

/*
 * Reads from FD, from its current position on. Returns 0 or a negative errno (-EISDIR, -ENOMEM,
 * fstat()'s).
 */
int input_init_fd(struct input *in, int fd);

/* Reads the N bytes at P. The bytes must stay valid as long as IN is used. Returns 0 or -ENOMEM. */
int input_init_memory(struct input *in, const void *p, size_t n);

/* Reads by the callback READ. Returns 0 or -ENOMEM. */
int input_init_source(struct input *in, input_read_fn read, void *userdata);

void input_deinit(struct input *in);

/*
 * Reads until N bytes are in the buffer. Returns 1, 0 if the input ends before, or a negative
 * errno.
 */
int input_fill(struct input *in, size_t n);

/* Skips N bytes. Returns 1, 0 if the input ended before, or a negative errno. */
int input_skip(struct input *in, uint64_t n);

/*
 * Moves up to N bytes to TO. If the buffer is empty, the bytes do not pass through it. Returns the
 * number of bytes, 0 at the end, or a negative errno.
 */
ssize_t input_read(struct input *in, void *to, size_t n);

static inline size_t input_ready(const struct input *in)
{
	return in->end - in->begin;
}

/* Returns 1 if N bytes are available or could be read, otherwise the result of input_fill(). */
static inline int input_need(struct input *in, size_t n)
{
	return input_ready(in) >= n ? 1 : input_fill(in, n);
}

static inline const uint8_t *input_peek(const struct input *in)
{
	return in->data + in->begin;
}

/*
 * Takes N available bytes, and returns their address. The bytes stay valid until the next fill or
 * skip.
 */
static inline const void *input_consume(struct input *in, size_t n)
{
	const void *p = in->data + in->begin;

	in->begin += n;
	in->offset += n;
	return p;
}

/*
 * Returns the maximum for input_back(): at least `keep` of the taken bytes, if `keep` was set
 * before they were taken.
 */
static inline size_t input_kept(const struct input *in)
{
	return in->begin;
}

/* Gives back the last N bytes that were taken, so that they are taken again. */
static inline void input_back(struct input *in, size_t n)
{
	in->begin -= n;
	in->offset -= n;
}
