/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The storage of a flight recorder: the last chunks of a recording, in files without names, or in
 * files on a file system in memory (tmpfs). Files on a tmpfs stay when this process ends.
 * docs/architecture/chunks.md, "Flight recorder".
 *
 * Each chunk has two files, N.head and N.body, with increasing N. The oldest chunk is removed when
 * the other chunks cover enough time, when there are too many bytes, or when the file system has
 * less free space than the recorder uses. The kept data has no gap: if a single chunk is too large,
 * its further data is dropped, and when the next chunk begins, everything before it is removed.
 *
 * A snapshot is a head, all bodies from there on, and a tail. A snapshot holds the files open, so
 * neither taking nor writing a snapshot blocks any other work. Meanwhile the files' memory is not
 * freed.
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
	 * empty directory for the files, whose descriptor is duplicated; -1 = files without names
	 * (memfd)
	 */
	int dir_fd;
	uint64_t keep_ns;   /* at least this much time is kept; 0 = as much as fits */
	uint64_t max_bytes; /* the maximum size of all files together; required */
};

struct flight_snapshot;

/* Returns 0, -EINVAL (the limit in bytes is missing), or another errno. */
int flight_new(const struct flight_options *o, struct store **ret);

/* Returns true if STORE is a flight recorder. */
bool flight_is(const struct store *s);

/*
 * For any thread. Takes all current data of the flight recorder STORE, and the tail if the last
 * chunk has ended. Returns 0, -ENODATA, -EAGAIN (the current chunk was too large; data is available
 * again from the next chunk on), or another errno.
 */
int flight_take_snapshot(struct store *s, struct flight_snapshot **ret);

/*
 * For any thread. Returns the number of the oldest chunk in STORE. All chunks that have begun are
 * counted from 0. UINT64_MAX = STORE has no chunk.
 */
uint64_t flight_oldest(struct store *s);

/*
 * For any thread. Returns the current limit of STORE in bytes: max_bytes, or less if there is
 * little free space.
 */
uint64_t flight_limit(struct store *s);

/* Takes the data that a dead process left in DIR_FD. Returns like flight_take_snapshot(). */
int flight_recover(int dir_fd, struct flight_snapshot **ret);

/* Appends TAIL (owned data; moved). Without a tail, the archive ends as if it were truncated. */
void flight_snapshot_set_tail(struct flight_snapshot *f, struct outbuf *tail);

/*
 * Writes the whole snapshot to TO (begin, write, end). If a process died while it wrote the data,
 * writes up to the last whole record. Can take long. Returns 0 or a negative errno.
 */
int flight_snapshot_write(const struct flight_snapshot *f, struct store *to);

/* Finds how the data is compressed. Returns 0 or a negative errno. */
int flight_snapshot_packed(const struct flight_snapshot *f, enum pack_method *ret);

/* Returns the number of bytes that would be written, as they are stored (compressed). */
uint64_t flight_snapshot_bytes(const struct flight_snapshot *f);
struct flight_snapshot *flight_snapshot_free(struct flight_snapshot *f);

DEFINE_CLEANUP(struct flight_snapshot *, flight_snapshot_free)

/* Removes all chunk files in DIR_FD. */
void flight_clear(int dir_fd);
