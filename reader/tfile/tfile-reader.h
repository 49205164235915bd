/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads GDB trace files, unpacked, frame by frame, in one pass: those of gdbserver, of GDB's
 * `tsave` and of others, in either byte order and with registers of any size.
 *
 * Nothing says where a frame begins but the end of the one before, so damage ends the file; the
 * frames before it have been given, and what stands of one that is not whole is not. No size that
 * the file claims is believed: memory is allocated for bytes that have arrived, and tfile-model.h
 * has the limits.
 */
#pragma once

#include "base/cleanup.h"
#include "base/input.h"
#include "reader/tfile/tfile-finding.h"
#include "writer/tfile/tfile-model.h"

/* What tfile_reader_new_*() answer, beside 0 and negative errnos: it is no trace file. */
enum { TFILE_ALIEN = 1 };

/* What tfile_reader_next() answers, beside negative errnos. */
enum tfile_outcome {
	TFILE_TRACE_END = 0,
	TFILE_FRAME = 1,
	TFILE_DAMAGE = 2, /* once; then TFILE_TRACE_END */
};

struct tfile_damage {
	uint64_t offset;  /* of the line, frame or block in the unpacked file */
	const char *what; /* static text */
	bool truncated;   /* the file ends where more must come */
};

struct tfile_reader;

/* Whether the N bytes at P are the beginning of a trace file. */
bool tfile_reader_is_trace(const uint8_t *p, size_t n);

/*
 * Start to read what READ brings, or N bytes at P (borrowed), and read the head. FINDING is told
 * what is wrong, then and later, and may be NULL. Return 0, TFILE_ALIEN, or a negative errno. Where
 * the head is damaged there is as much of it as could be read, and no frame.
 */
int tfile_reader_new_source(struct tfile_reader **ret, input_read_fn read, void *source,
			    tfile_finding_fn finding, void *userdata);
int tfile_reader_new_memory(struct tfile_reader **ret, const void *p, size_t n,
			    tfile_finding_fn finding, void *userdata);

struct tfile_reader *tfile_reader_free(struct tfile_reader *r);
DEFINE_CLEANUP(struct tfile_reader *, tfile_reader_free)

/* Holds as long as the reader. Maps are in the description, too. */
const struct tfile_head *tfile_reader_head(const struct tfile_reader *r);

/* The numbers in frames have the byte order of a big-endian machine. */
bool tfile_reader_is_big_endian(const struct tfile_reader *r);

/* Reads on. Returns an enum tfile_outcome or a negative errno. *RET holds until the next call. */
int tfile_reader_next(struct tfile_reader *r, const struct tfile_frame **ret);

/* After TFILE_DAMAGE. */
const struct tfile_damage *tfile_reader_damage(const struct tfile_reader *r);

/* Where the frame that was given last begins in the unpacked file, and where the next one does. */
uint64_t tfile_reader_frame_offset(const struct tfile_reader *r);
uint64_t tfile_reader_offset(const struct tfile_reader *r);
