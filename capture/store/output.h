/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where an archive goes: a store (store.h), a thread that writes to it, and a bounded queue between
 * the two. The one who fills buffers never waits; when all buffers are on their way, there is none
 * to be had until the thread has written one.
 *
 * A buffer holds whole records, and what was written when writing fails ends with one.
 *
 * The thread is also where the archive is packed, if it is: each buffer into a block of its own (or
 * several, if it is large), so that what is in the store can be unpacked up to there. It then ends
 * with a whole block.
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
	uint64_t bytes;       /* written, and left in the store, in all chunks: packed, if it is */
	uint64_t head_bytes;  /* likewise, of the chunk that was begun last */
	uint64_t chunk_bytes; /* of all of that chunk, with what there was no room for */
	uint64_t dropped;     /* what there was no room for, but no error either (flight.h) */
	uint64_t limit;       /* of a flight recorder: what it may keep by now, if ... */
	bool limit_known;
	uint64_t n_begun; /* chunks, by the thread */
	uint64_t cpu_ns;  /* CPU time of the thread */
	int error;        /* 0, or why nothing more is written */
	bool done;        /* output_finish() was called, and nothing is left to write */
};

/*
 * Starts a thread that packs by METHOD and writes to STORE; WHOLE is asked when writing fails in
 * the middle of a buffer, and when a buffer makes several blocks. Takes over STORE, only on
 * success. A thread that hangs when it is let go of counts in LEFT_BEHIND (NULL = nowhere). Returns
 * 0 or a negative errno.
 */
int output_new(struct store *store, pack_whole_fn whole, enum pack_method method,
	       struct left_behind *left_behind, struct output **ret);

/*
 * Lets go: what is queued but not written is dropped, a wait for a slow reader ends. If the thread
 * hangs in the kernel, it keeps what it needs until it comes back. Returns NULL.
 */
struct output *output_free(struct output *o);

DEFINE_CLEANUP(struct output *, output_free)

/* An empty buffer to fill, or NULL when all are on their way. Borrowed until it is put back. */
struct outbuf *output_take(struct output *o);

/*
 * In the order of these calls a chunk begins, has what is in the buffer as PART, and ends. None of
 * them waits. A chunk has a buffer at least; what is put before the first one is begun goes
 * nowhere, and one that is not ended ends when the output is finished.
 */
void output_begin(struct output *o, const struct store_moment *at);
void output_put(struct output *o, struct outbuf *b, enum store_part part);
void output_end(struct output *o, const struct store_moment *at);

/*
 * In the same order: a snapshot is taken of the store, which must be a flight recorder (flight.h),
 * with the bytes of TAIL (owned data; moved, packed as the rest is) behind it, and S gets it, or an
 * error.
 */
void output_snapshot(struct output *o, struct outbuf *tail, struct snapshot *s);

/* The store: for what is asked of it from any thread, no longer than O is. */
struct store *output_store(const struct output *o);

/* No more buffers come: when the last one is written, the status is `done`. */
void output_finish(struct output *o);

/* Becomes readable (eventfd, borrowed) when a buffer was written or the work is done. */
int output_fd(const struct output *o);

/* Resets the descriptor and returns how things stand. */
struct output_status output_poll(struct output *o);
