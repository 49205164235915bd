/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which chunks of a collection were handed over. The state is in a file, which is replaced after
 * each chunk.
 *
 * A chunk is in the state as long as its file exists. If the file of a chunk vanishes before the
 * chunk was handed over, the chunk is lost, and counted: the retention of the collection has
 * removed it.
 *
 * The state identifies the directory by its device and inode. These also change if the file system
 * gets another device number, so the chunks in the directory decide whether it is another one: see
 * ship_state_update().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/store/chunk-list.h"

struct ship_chunk {
	struct chunk chunk;
	bool taken;
	bool tried;        /* in this round */
	unsigned n_failed; /* how often it could not be converted, since the start of the service */
};

struct ship_directory {
	uint64_t device, inode;
};

/* All zeroes is an empty state. */
struct ship_state {
	struct ship_directory directory; /* that of CHUNKS */
	struct ship_chunk *chunks;       /* the oldest one first; owned */
	size_t n;
	uint64_t n_taken; /* since the state exists */
	uint64_t n_lost, lost_bytes;
};

void ship_state_deinit(struct ship_state *s);

/*
 * Reads the state of the collection NAME from the directory DIR_FD. If there is no file, the state
 * is empty. Returns 0, -EBADMSG if the file is damaged, or another errno.
 */
int ship_state_load(struct ship_state *s, int dir_fd, const char *name);

/* Writes the state to the disk. Returns 0, or a negative errno: the old file is then kept. */
int ship_state_save(const struct ship_state *s, int dir_fd);

/*
 * Compares the state with the N existing CHUNKS of DIRECTORY, the oldest one first: adds new ones,
 * and removes those that do not exist. Returns 1 if the state has changed, 0, or a negative errno.
 *
 * Returns -ESTALE, and changes nothing, if DIRECTORY is not the known directory and has none of the
 * known chunks: DIRECTORY can be a mount point whose file system is not mounted.
 */
int ship_state_update(struct ship_state *s, const struct ship_directory *directory,
		      const struct chunk *chunks, size_t n);

/* Forgets all chunks, because they are in a directory that is not used anymore. */
void ship_state_forget(struct ship_state *s);

/* Returns true if there is a file with the state. */
bool ship_state_is_saved(int dir_fd);

/* Notes that the chunk was handed over. */
void ship_state_take(struct ship_state *s, struct ship_chunk *c);

/* Counts the chunks that were not handed over, and returns the oldest of them, or NULL. */
const struct ship_chunk *ship_state_waiting(const struct ship_state *s, uint64_t *ret_n,
					    uint64_t *ret_bytes);
