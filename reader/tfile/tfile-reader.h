/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads decompressed GDB trace files of any writer (gdbserver, GDB's `tsave`), frame by frame, in
 * one pass, in either byte order and with registers of any size.
 *
 * The beginning of a frame is only known from the end of the previous one, so damage ends the file.
 * The frames before the damage are returned, but not the frame that contains it. Sizes in the file
 * are not trusted: memory is allocated for bytes that have arrived, and tfile-model.h has the
 * limits.
 */
#pragma once

#include "base/cleanup.h"
#include "base/input.h"
#include "reader/tfile/tfile-finding.h"
#include "writer/tfile/tfile-model.h"

/* The positive result of tfile_reader_new_*(): the input is not a trace file. */
enum { TFILE_ALIEN = 1 };

/* The results of tfile_reader_next(), apart from negative errnos. */
enum tfile_outcome {
	TFILE_TRACE_END = 0,
	TFILE_FRAME = 1,
	TFILE_DAMAGE = 2, /* returned once; then TFILE_TRACE_END */
};

struct tfile_damage {
	uint64_t offset;  /* offset of the line, frame or block in the unpacked file */
	const char *what; /* static text */
	bool truncated;   /* the file ends before the end of this part */
};

struct tfile_reader;

/* Returns true if the N bytes at P are the beginning of a trace file. */
bool tfile_reader_is_trace(const uint8_t *p, size_t n);

/*
 * Start to read through the callback READ, or from N bytes at P (borrowed), and read the head.
 * FINDING is called for problems, now and later, and can be NULL. Return 0, TFILE_ALIEN, or a
 * negative errno. If the head is damaged, it has the data before the damage, and there are no
 * frames.
 */
int tfile_reader_new_source(struct tfile_reader **ret, input_read_fn read, void *source,
			    tfile_finding_fn finding, void *userdata);
int tfile_reader_new_memory(struct tfile_reader **ret, const void *p, size_t n,
			    tfile_finding_fn finding, void *userdata);

struct tfile_reader *tfile_reader_free(struct tfile_reader *r);
DEFINE_CLEANUP(struct tfile_reader *, tfile_reader_free)

/*
 * Returns the head of the file, valid as long as the reader. Each of its maps is also a line of its
 * description.
 */
const struct tfile_head *tfile_reader_head(const struct tfile_reader *r);

/* Returns true if the numbers in frames have the byte order of a big-endian machine. */
bool tfile_reader_is_big_endian(const struct tfile_reader *r);

/* Reads the next frame. Returns an enum tfile_outcome or a negative errno. *RET is valid until the
 * next call. */
int tfile_reader_next(struct tfile_reader *r, const struct tfile_frame **ret);

/* Returns the damage, after TFILE_DAMAGE. */
const struct tfile_damage *tfile_reader_damage(const struct tfile_reader *r);

/* The positions in the unpacked file of the last frame that was returned, and of the next frame. */
uint64_t tfile_reader_frame_offset(const struct tfile_reader *r);
uint64_t tfile_reader_offset(const struct tfile_reader *r);
