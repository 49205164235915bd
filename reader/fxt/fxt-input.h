/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the bytes of an archive come from: a descriptor (file, pipe, socket), memory, or whoever
 * unpacks them, in one pass, through one buffer.
 *
 * Files are read and not mapped: a mapped file that somebody cuts while it is read kills the
 * reader, and reading through a buffer that stays in the cache is not slower. The buffer starts at
 * a multiple of eight bytes of the input and of memory, so records in it are aligned. It grows only
 * as far as bytes really arrive, whatever a record claims to be.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Puts up to N bytes to TO. Returns how many, 0 at the end, or a negative errno. */
typedef ssize_t (*fxt_input_read_fn)(void *userdata, void *to, size_t n);

struct fxt_input {
	fxt_input_read_fn read; /* NULL = from the descriptor or memory */
	void *userdata;
	int fd;                /* borrowed; -1 = from memory */
	const uint8_t *memory; /* borrowed; what is not in the buffer yet */
	size_t memory_left;
	uint8_t *data;           /* owned */
	size_t room, begin, end; /* data[begin..end) is there and not taken */
	uint64_t offset;         /* of data[begin] in the input */
	bool eof;
};

/* Reads from FD, where it stands. Returns 0 or a negative errno. */
int fxt_input_init_fd(struct fxt_input *in, int fd);

/* Reads N bytes at P, which must stay there. Returns 0 or -ENOMEM. */
int fxt_input_init_memory(struct fxt_input *in, const void *p, size_t n);

/* Reads what READ brings. Returns 0 or -ENOMEM. */
int fxt_input_init_source(struct fxt_input *in, fxt_input_read_fn read, void *userdata);

void fxt_input_deinit(struct fxt_input *in);

/* Gets more until N bytes are there. Returns 1, 0 if the input ends before, or a negative errno. */
int fxt_input_fill(struct fxt_input *in, size_t n);

/* Skips N bytes. Returns 1, 0 if the input ended before, or a negative errno. */
int fxt_input_skip(struct fxt_input *in, uint64_t n);

static inline size_t fxt_input_ready(const struct fxt_input *in)
{
	return in->end - in->begin;
}

/* 1 if N bytes are there or could be brought, else as fxt_input_fill(). */
static inline int fxt_input_need(struct fxt_input *in, size_t n)
{
	return fxt_input_ready(in) >= n ? 1 : fxt_input_fill(in, n);
}

/* Takes N bytes that are ready. What was there stays valid until the next fill or skip. */
static inline const void *fxt_input_take(struct fxt_input *in, size_t n)
{
	const void *p = in->data + in->begin;

	in->begin += n;
	in->offset += n;
	return p;
}
