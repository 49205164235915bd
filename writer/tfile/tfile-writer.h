/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes a GDB trace file, part by part, into buffers of the caller. A file consists of a head,
 * frames and an end:
 *
 *	tfile_writer_init(&w, &frames, head.register_bytes, TFILE_LITTLE);
 *	r = tfile_writer_frame(&w, &frame) ...;
 *	r = tfile_writer_end(&w);
 *	head.status.frames = w.frames;
 *	head.status.has |= TFILE_HAS_FRAMES;
 *	r = tfile_writer_head(&head_bytes, &head);
 *
 * The head contains the number of frames, so write the frames first, into a separate buffer, or
 * count them in advance. Begin another file after TFILE_FRAMES_GOOD frames. If a function returns
 * 0, it has written its whole part to the buffer; otherwise, it has written nothing. The caller can
 * consume the buffer between two calls. Apart from the buffer and W, the functions keep and change
 * nothing.
 *
 * All functions return the same errors:
 *
 * - -EINVAL: the format cannot express a value (a number out of range, a list that is too long, a
 *   text with a line feed, registers of another size).
 * - -EOVERFLOW: a text is too long for a line, or a frame or the head is too long for a file.
 * - Other errors come from the buffer.
 *
 * For x86-64, see tfile-x86-64.h; for the data that GDB needs to find shared libraries,
 * tfile-link-map.h; for the script that opens the file, tfile-script.h.
 */
#pragma once

#include "base/outbuf.h"
#include "writer/tfile/tfile-model.h"

enum tfile_order { TFILE_LITTLE, TFILE_BIG };

struct tfile_writer {
	struct outbuf *out; /* borrowed */
	uint32_t register_bytes;
	enum tfile_order order;
	uint64_t frames; /* frames so far; set it to 0 to begin another file */
};

/* Writes HEAD to OUT: magic, lines, and the empty line after them. */
int tfile_writer_head(struct outbuf *out, const struct tfile_head *head);

/* Initializes W to write frames to OUT; REGISTER_BYTES is that of the head. Writes nothing. */
void tfile_writer_init(struct tfile_writer *w, struct outbuf *out, uint32_t register_bytes,
		       enum tfile_order order);

/*
 * Writes FRAME, with its blocks in their order. Memory of more than TFILE_MEMORY_MAX bytes becomes
 * several blocks, and empty memory is left out. A frame can have one block of registers. Without
 * registers, GDB guesses the pc and has no backtrace.
 */
int tfile_writer_frame(struct tfile_writer *w, const struct tfile_frame *frame);

/* Writes the end after the last frame. */
int tfile_writer_end(struct tfile_writer *w);
