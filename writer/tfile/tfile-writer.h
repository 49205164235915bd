/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes a GDB trace file, part by part, into buffers of the caller's. A file is a head,
 * frames and an end:
 *
 *	tfile_writer_init(&w, &frames, head.register_bytes, TFILE_LITTLE);
 *	r = tfile_writer_frame(&w, &frame) ...;
 *	r = tfile_writer_end(&w);
 *	head.status.frames = w.frames;
 *	head.status.has |= TFILE_HAS_FRAMES;
 *	r = tfile_writer_head(&head_bytes, &head);
 *
 * The number of frames is in the head: so either make the frames first, in a buffer of their own,
 * or count before. Start another file after TFILE_FRAMES_GOOD frames. Each part is in the buffer
 * when its function has returned 0, and not at all when it has failed; the caller may take the
 * bytes out of the buffer between two parts. Nothing that is passed is kept, nothing is changed but
 * the buffer and W.
 *
 * Errors, the same for all of them: -EINVAL = something cannot be said in the format (a number out
 * of its range, a list that is too long, a text with a line feed, registers of another size),
 * -EOVERFLOW = a text is too long for a line, or a frame or the head too long for a file, or what
 * the buffer failed with.
 *
 * For x86-64 see tfile-x86-64.h; what GDB needs to find shared libraries, tfile-link-map.h; the
 * script that opens the file, tfile-script.h.
 */
#pragma once

#include "base/outbuf.h"
#include "writer/tfile/tfile-model.h"

enum tfile_order { TFILE_LITTLE, TFILE_BIG };

struct tfile_writer {
	struct outbuf *out; /* borrowed */
	uint32_t register_bytes;
	enum tfile_order order;
	uint64_t frames; /* written so far; may be set to 0 where another file begins */
};

/* Writes HEAD to OUT: magic, lines, and the empty line behind them. */
int tfile_writer_head(struct outbuf *out, const struct tfile_head *head);

/* Makes W one that writes frames to OUT, with REGISTER_BYTES as in the head. Writes nothing. */
void tfile_writer_init(struct tfile_writer *w, struct outbuf *out, uint32_t register_bytes,
		       enum tfile_order order);

/*
 * Writes FRAME. Its blocks come in their order; memory of more than TFILE_MEMORY_MAX bytes becomes
 * several blocks, memory of none is left out. A frame needs no registers, but GDB
 * guesses the pc then and has no backtrace; there is one block of them at most.
 */
int tfile_writer_frame(struct tfile_writer *w, const struct tfile_frame *frame);

/* Writes the end behind the last frame. */
int tfile_writer_end(struct tfile_writer *w);
