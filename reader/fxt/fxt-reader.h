/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads a Fuchsia trace archive, record by record, in one pass.
 *
 * fxt_reader_next() finds the next record, parses it and returns a view of it. Everything in the
 * view is proven to be inside the record. Strings and threads are resolved through the tables of
 * the section's provider. The view and its pointers are valid until the next call. Unreadable bytes
 * are damage: they are reported with position and length, and reading continues at the next place
 * where records begin. No content of an archive can make the reader fail in another way.
 * docs/architecture/damage.md describes how records are found again.
 *
 * Archives of big-endian machines give the same results as those of little-endian ones: words are
 * converted to the native byte order, and streams (strings, blobs) are unchanged.
 *
 * Arguments are checked and resolved on demand (fxt_args_next()). References to unregistered
 * strings or threads are not damage here: the record is returned with empty text or an undefined
 * thread. fxt-check.h reports such references.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/input.h"
#include "reader/fxt/fxt-record.h"

/* Results of fxt_reader_new_*() for inputs that are not archives, besides negative errnos. */
enum fxt_alien {
	FXT_ALIEN_EMPTY = 1, /* an empty input */
	FXT_ALIEN_XZ,        /* compressed data */
	FXT_ALIEN_REPORT,    /* a leak report, which is text: "version=..." */
	FXT_ALIEN_OTHER,     /* other data: no magic number, and no records were found in it */
};

/* The results of fxt_reader_next(), besides negative errnos. */
enum fxt_reader_outcome {
	FXT_READER_END = 0,
	FXT_READER_RECORD = 1,
	FXT_READER_DAMAGE = 2,
};

/* Bytes that are not a record, or (bytes = 0) an error in a record that is returned. */
struct fxt_damage {
	uint64_t offset; /* position in the input */
	/* Number of skipped bytes; 0 = nothing was skipped. */
	uint64_t bytes;
	const char *what; /* static text */
	bool truncated;   /* the input ends inside this record */
};

struct fxt_reader;

/*
 * Start to read from FD (borrowed, from its position), from N bytes at P (borrowed), or through the
 * callback READ. The functions wait for the first bytes. They return 0, an enum fxt_alien if the
 * input is not a supported archive, or a negative errno (-EISDIR, -ENOMEM, an error of read()).
 */
int fxt_reader_new_fd(struct fxt_reader **ret, int fd);
int fxt_reader_new_memory(struct fxt_reader **ret, const void *p, size_t n);
int fxt_reader_new_source(struct fxt_reader **ret, input_read_fn read, void *userdata);

struct fxt_reader *fxt_reader_free(struct fxt_reader *r);
DEFINE_CLEANUP(struct fxt_reader *, fxt_reader_free)

/*
 * Reads up to the next record or damage. Returns FXT_READER_RECORD with the record in *RET;
 * FXT_READER_DAMAGE, with *RET set to NULL (fxt_reader_damage() then returns the damage);
 * FXT_READER_END; or a negative errno: an error of read(), or -ENOMEM.
 */
int fxt_reader_next(struct fxt_reader *r, const struct fxt_record **ret);

/* Returns the last damage. */
const struct fxt_damage *fxt_reader_damage(const struct fxt_reader *r);

/* Returns the position in the input behind everything that was read or skipped. */
uint64_t fxt_reader_offset(const struct fxt_reader *r);

/* Returns true if the input is an archive of a big-endian machine. */
bool fxt_reader_swaps(const struct fxt_reader *r);
