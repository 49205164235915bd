/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A growing output buffer in which a record is written completely or not at all.
 *
 * The writer of a record reserves its full size first and then fills it in, so a partial record is
 * never visible. The first failure sticks: later reservations fail, too, and the error is checked
 * once, when the buffer is passed on. The buffer does no I/O.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct outbuf {
	uint8_t *data; /* owned */
	size_t size;   /* bytes written */
	size_t room;   /* bytes allocated */
	size_t limit;  /* never grows beyond this; 0 = OUTBUF_LIMIT_DEFAULT */
	int error;     /* 0, -ENOMEM, or -EMSGSIZE when the limit was hit */
};

#define OUTBUF_LIMIT_DEFAULT ((size_t)256 << 20)

/* Frees the bytes. B is then empty, without an error, and usable. Keeps the limit. */
void outbuf_deinit(struct outbuf *b);

/* Empties B, keeps its memory, forgets the error. */
void outbuf_reset(struct outbuf *b);

/*
 * Makes room for N more bytes and counts them as written. Returns their address (zeroed, aligned to
 * 8 if all earlier sizes were multiples of 8; valid until the next reservation), or NULL with
 * b->error set.
 */
void *outbuf_reserve(struct outbuf *b, size_t n);

/* Appends a copy of N bytes. Returns 0 or b->error. */
int outbuf_append(struct outbuf *b, const void *p, size_t n);

/* Appends the output of printf(), without a NUL. Returns 0 or b->error. */
int outbuf_print(struct outbuf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
