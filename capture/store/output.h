/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The destination of an archive: a store (store.h), a thread that writes to it, and a bounded queue
 * between the two. The thread that fills buffers never waits. When all buffers are queued, no
 * buffer is available until the writer thread has written one.
 *
 * A buffer holds whole records. If a write fails, the written data ends with a whole record.
 *
 * The thread also compresses the archive, if requested: each buffer becomes a separate block (or
 * several, if it is large), so that the data in the store can be decompressed up to the end of the
 * last block. If a write fails, the data then ends with a whole block.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "capture/store/snapshot.h"
#include "capture/store/store.h"
#include "capture/sandbox/user-counts.h"
#include "writer/pack/pack.h"

struct output;

struct output_status {
	/* Bytes that were written to the store and kept, in all chunks, after compression. */
	uint64_t bytes;
	uint64_t head_bytes;  /* the same bytes, but only of the head of the last chunk */
	uint64_t chunk_bytes; /* all bytes of that chunk, including dropped bytes */
	uint64_t dropped;     /* bytes for which there was no room, without an error (flight.h) */
	uint64_t limit;       /* the current limit of a flight recorder, if limit_known */
	bool limit_known;
	uint64_t n_begun; /* number of chunks that the thread has begun */
	uint64_t cpu_ns;  /* CPU time of the thread */
	int error;        /* 0, or the error that ended writing */
	bool done;        /* output_finish() was called, and all data has been written */
};

/*
 * Starts a thread that compresses by METHOD and writes to STORE. WHOLE is called when a write fails
 * in the middle of a buffer, and when a buffer makes several blocks. On success, takes ownership of
 * STORE. If the thread hangs when it is released, ABANDONED_THREADS counts it (NULL = not
 * counted). Returns 0 or a negative errno.
 */
int output_new(struct store *store, pack_whole_fn whole, enum pack_method method,
	       struct abandoned_threads *abandoned_threads, struct output **ret);

/*
 * Releases the output: drops queued data, and ends a wait for a slow reader. If the thread hangs in
 * the kernel, it keeps its resources until it returns. Returns NULL.
 */
struct output *output_free(struct output *o);

DEFINE_CLEANUP(struct output *, output_free)

/* Returns an empty buffer to fill, or NULL if all are queued. Borrowed until it is put back. */
struct outbuf *output_get_buffer(struct output *o);

/*
 * These functions begin a chunk, pass a buffer to it as PART, and end it, in the order of the
 * calls. These functions do not wait. A chunk has at least one buffer. Data before the first chunk
 * is discarded. If a chunk is not ended by a call, it ends when the output is finished.
 */
void output_begin(struct output *o, const struct store_moment *at);
void output_put(struct output *o, struct outbuf *b, enum store_part part);
void output_end(struct output *o, const struct store_moment *at);

/*
 * Takes a snapshot of the store, which must be a flight recorder (flight.h), in the order of the
 * calls above. The bytes of TAIL (owned data; moved, and compressed like the rest) follow the data
 * of the snapshot. S receives the snapshot, or an error.
 */
void output_snapshot(struct output *o, struct outbuf *tail, struct snapshot *s);

/* Returns the store, for functions that any thread may call. Valid as long as O. */
struct store *output_store(const struct output *o);

/*
 * Called when no more buffers follow. When the last buffer has been written, the status is `done`.
 */
void output_finish(struct output *o);

/*
 * Returns a descriptor (eventfd, borrowed) that becomes readable when a buffer was written or all
 * work is done.
 */
int output_fd(const struct output *o);

/* Resets the descriptor and returns the status. */
struct output_status output_poll(struct output *o);
