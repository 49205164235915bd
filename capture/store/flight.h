/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The storage of a flight recorder: the last chunks of a recording, in files on a file system in
 * memory (tmpfs), which outlive this process, or in files without names.
 * docs/architecture/chunks.md, "Flight recorder".
 *
 * Each chunk has two files, N.head and N.body, with increasing N. The oldest chunk is removed when
 * enough time is left without it, when there are too many bytes, or when the file system has less
 * free space than the recorder uses. The kept data has no gap: if a single chunk is too large, its
 * further data is dropped, and when the next chunk begins, everything before it is removed.
 *
 * A snapshot is a head, all bodies from there on, and a tail. It holds the files open, so neither
 * taking nor writing it blocks any other work. Meanwhile the files' memory is not freed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "capture/store/store.h"
#include "writer/pack/pack.h"

/* The maximum number of chunks; each has two open files. */
enum { FLIGHT_CHUNKS_MAX = 32 };

struct flight_options {
	/*
	 * empty directory for the files, of which a duplicate is kept; -1: files without names
	 * (memfd)
	 */
	int dir_fd;
	uint64_t keep_ns;   /* at least this much time is kept; 0 = no limit */
	uint64_t max_bytes; /* at most this much in all files; required */
};

struct flight_snapshot;

/* Returns 0, -EINVAL (no limit of bytes), or another errno. */
int flight_new(const struct flight_options *o, struct store **ret);

/* Whether STORE is a flight recorder. */
bool flight_is(const struct store *s);

/*
 * Any thread: all current data of STORE, which is a flight recorder, with the tail of a finished
 * chunk. Returns 0, -ENODATA, -EAGAIN (the current chunk was too large; data is available again
 * from the next one on), or another errno.
 */
int flight_take_snapshot(struct store *s, struct flight_snapshot **ret);

/*
 * Any thread: the number of the oldest chunk in STORE, counted from 0 over all chunks that have
 * begun. UINT64_MAX if there is none.
 */
uint64_t flight_oldest(struct store *s);

/* Any thread: the current limit of STORE in bytes: max_bytes, or the free space if it is lower. */
uint64_t flight_limit(struct store *s);

/* The data that a dead process left in DIR_FD. Returns as flight_take_snapshot(). */
int flight_recover(int dir_fd, struct flight_snapshot **ret);

/* Appends TAIL (owned data; moved). Without a tail, the archive ends like a truncated one. */
void flight_snapshot_set_tail(struct flight_snapshot *f, struct outbuf *tail);

/*
 * Writes all of it to TO (begin, write, end), up to the last whole record if a process died while
 * writing. Can take long. Returns 0 or a negative errno.
 */
int flight_snapshot_write(const struct flight_snapshot *f, struct store *to);

/* The compression of the data. Returns 0 or a negative errno. */
int flight_snapshot_packed(const struct flight_snapshot *f, enum pack_method *ret);

/* The number of bytes that would be written, compressed as stored. */
uint64_t flight_snapshot_bytes(const struct flight_snapshot *f);
struct flight_snapshot *flight_snapshot_free(struct flight_snapshot *f);

DEFINE_CLEANUP(struct flight_snapshot *, flight_snapshot_free)

/* Removes all chunk files in DIR_FD. */
void flight_clear(int dir_fd);
