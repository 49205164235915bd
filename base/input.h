/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where bytes come from: a descriptor (file, pipe, socket), memory, or a caller that brings them,
 * in one pass, through one buffer.
 *
 * Files are read and not mapped: a mapped file that somebody cuts while it is read kills the
 * reader, and reading through a buffer that stays in the cache is not slower. The buffer is aligned
 * for any type, and so is what is taken as long as all that was taken is. It grows only as far as
 * bytes really arrive, whatever size was claimed to the caller.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Puts up to N bytes to TO. Returns how many, 0 at the end, or a negative errno. */
typedef ssize_t (*input_read_fn)(void *userdata, void *to, size_t n);

struct input {
	input_read_fn read; /* NULL = from the descriptor or memory */
	void *userdata;
	int fd;                /* borrowed; -1 = from memory */
	const uint8_t *memory; /* borrowed; what is not in the buffer yet */
	size_t memory_left;
	uint8_t *data;           /* owned */
	size_t room, begin, end; /* data[begin..end) is there and not taken */
	size_t keep;     /* so many bytes that were taken stay, for input_back(); the owner's */
	uint64_t offset; /* of data[begin] in the input */
	bool eof;
};

/* Reads from FD, where it stands. Returns 0 or a negative errno (-EISDIR, -ENOMEM, fstat()'s). */
int input_init_fd(struct input *in, int fd);

/* Reads N bytes at P, which must stay there. Returns 0 or -ENOMEM. */
int input_init_memory(struct input *in, const void *p, size_t n);

/* Reads what READ brings. Returns 0 or -ENOMEM. */
int input_init_source(struct input *in, input_read_fn read, void *userdata);

void input_deinit(struct input *in);

/* Gets more until N bytes are there. Returns 1, 0 if the input ends before, or a negative errno. */
int input_fill(struct input *in, size_t n);

/* Skips N bytes. Returns 1, 0 if the input ended before, or a negative errno. */
int input_skip(struct input *in, uint64_t n);

/* Takes up to N bytes to TO, past the buffer if it is empty. Returns how many, 0 at the end, or a
 * negative errno. */
ssize_t input_read(struct input *in, void *to, size_t n);

static inline size_t input_ready(const struct input *in)
{
	return in->end - in->begin;
}

/* 1 if N bytes are there or could be brought, else as input_fill(). */
static inline int input_need(struct input *in, size_t n)
{
	return input_ready(in) >= n ? 1 : input_fill(in, n);
}

static inline const uint8_t *input_peek(const struct input *in)
{
	return in->data + in->begin;
}

/* Takes N bytes that are ready. What was there stays valid until the next fill or skip. */
static inline const void *input_take(struct input *in, size_t n)
{
	const void *p = in->data + in->begin;

	in->begin += n;
	in->offset += n;
	return p;
}

/* How far input_back() can go: at least as far as `keep` said since those bytes were taken. */
static inline size_t input_kept(const struct input *in)
{
	return in->begin;
}

/* Gives back the last N bytes, which are taken anew. */
static inline void input_back(struct input *in, size_t n)
{
	in->begin -= n;
	in->offset -= n;
}
