/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A flight recorder's memory: the last chunks of a recording, in files on a file system that is
 * memory (tmpfs) and outlives this process, or without names. docs/architecture/chunks.md, "Flight
 * recorder".
 *
 * Each chunk is two files, N.head and N.body, N counting up. The oldest chunk goes when there is
 * still enough time without it, or the bytes are too many, or the file system has fewer left free.
 * What is kept has no gap: a chunk that alone is too large is dropped from there on, and at the
 * next one everything before it goes.
 *
 * A snapshot is a head, all bodies from there on, and a tail. It holds the files open, so taking it
 * and writing it out does not wait for anything and nothing waits for it; as long as it does, their
 * memory is not free.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "capture/store/store.h"
#include "writer/pack/pack.h"

/* More chunks are never kept; two open files each. */
enum { FLIGHT_CHUNKS_MAX = 32 };

struct flight_options {
	/* Empty directory for the files; a duplicate is kept. -1: files without names (memfd) */
	int dir_fd;
	uint64_t keep_ns;   /* at least this much time is kept; 0 = no limit */
	uint64_t max_bytes; /* never more than this in all files; must be set */
};

struct flight_snapshot;

/* Returns 0, -EINVAL (no limit of bytes), or another errno. */
int flight_new(const struct flight_options *o, struct store **ret);

/* Whether STORE is one. */
bool flight_is(const struct store *s);

/*
 * Any thread: all that is in STORE now, a flight recorder, with the tail of a chunk that has ended.
 * Returns 0, -ENODATA, -EAGAIN (the chunk of this moment was too large: there is something again
 * from the next one on), or another errno.
 */
int flight_take(struct store *s, struct flight_snapshot **ret);

/*
 * Any thread: the number of the oldest chunk that STORE keeps, of those that have begun, from 0.
 * UINT64_MAX: it keeps none.
 */
uint64_t flight_oldest(struct store *s);

/* Any thread: how many bytes STORE may keep at present: max_bytes, or as many as are left free. */
uint64_t flight_limit(struct store *s);

/* What a dead process has left in DIR_FD. Returns as flight_take(). */
int flight_recover(int dir_fd, struct flight_snapshot **ret);

/* Moves TAIL (owned data) behind it; without one an archive ends as one that was cut off. */
void flight_snapshot_set_tail(struct flight_snapshot *f, struct outbuf *tail);

/*
 * Writes all of it to TO (begin, write, end), up to what is whole where a process died while
 * writing. May take its time. Returns 0 or a negative errno.
 */
int flight_snapshot_write(const struct flight_snapshot *f, struct store *to);

/* How it is packed. Returns 0 or a negative errno. */
int flight_snapshot_packed(const struct flight_snapshot *f, enum pack_method *ret);

/* Of all that would be written, as it is packed. */
uint64_t flight_snapshot_bytes(const struct flight_snapshot *f);
struct flight_snapshot *flight_snapshot_free(struct flight_snapshot *f);

DEFINE_CLEANUP(struct flight_snapshot *, flight_snapshot_free)

/* Removes all chunk files in DIR_FD. */
void flight_clear(int dir_fd);
