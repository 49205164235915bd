/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A session's maps of unwind tables (bpf/record-unwind.h), in user space: the numbers of files, and
 * the data about each file.
 *
 * One thread may call these functions, while eBPF programs use the maps. The descriptors are
 * copies, since the session can be freed first.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "bpf/record-unwind.h"
#include "capture/unwind/unwind-kept.h"
#include "capture/unwind/unwind-publisher.h"
#include "capture/unwind/unwind-table.h"

struct unwind_maps {
	int asks_fd, files_fd, tables_fd, names_fd, free_names_fd, processes_fd; /* owned */
	/*
	 * The iterator that lists mappings, if mappings are learned only by walks; otherwise -1.
	 * Owned
	 */
	int list_fd;
	/* unwind_seen_ids; 0 or -1 = this process is in the initial pid namespace. Owned */
	int seen_fd;
	struct unwind_publisher *publisher;
	struct unwind_kept kept; /* for any thread, unlike all other members */
	struct unwind_file
		/* Mapped memory with UNWIND_FILES_MAX files. The eBPF programs also write to it. */
		*files;
	uint64_t bytes[UNWIND_FILES_MAX]; /* size of the table of each file */
	uint64_t all_bytes;
};

/*
 * Copies the descriptors in FROM, and maps the maps. Returns 0 or a negative errno; MAPS can be
 * deinitialised in each case.
 */
int unwind_maps_init(struct unwind_maps *maps, const struct unwind_maps *from);
void unwind_maps_deinit(struct unwind_maps *maps);

/* Returns the bytes of kernel memory that TABLE needs in the maps. */
uint64_t unwind_maps_table_bytes(const struct unwind_table *table);

/*
 * Adds TABLE for file NUMBER. The state of that file is "requested". Returns 0 or a negative errno.
 */
int unwind_maps_put(struct unwind_maps *maps, uint32_t number, const struct unwind_table *table);

/* Marks file NUMBER as a file without a table, so that it is not requested again. */
void unwind_maps_put_nothing(struct unwind_maps *maps, uint32_t number);

/*
 * Returns true if the eBPF programs still have the mapping of ASK. *RET_SEQUENCE is then the number
 * of changes of the process's mappings so far.
 */
bool unwind_maps_has(const struct unwind_maps *maps, const struct unwind_ask *ask,
		     uint32_t *ret_sequence);

/* Returns the id of process PID in the pid namespace of this process; 0 = unknown. */
uint32_t unwind_maps_seen_pid(const struct unwind_maps *maps, uint32_t pid);

/*
 * Gets the mappings of process PID, as the eBPF programs have them. Returns false if these programs
 * have no mappings of PID, or are changing them.
 */
bool unwind_maps_look_up(const struct unwind_maps *maps, uint32_t pid, struct unwind_process *ret);

/*
 * Makes the eBPF programs learn all mappings of process PID, if they have no hook for new mappings.
 * This can wait for the process.
 */
void unwind_maps_list(const struct unwind_maps *maps, uint32_t pid);

/*
 * Requests the table of the file that process PID has mapped as M, unless it was requested before.
 * Returns whether *RET is now a request to answer.
 */
bool unwind_maps_ask(struct unwind_maps *maps, uint32_t pid, const struct unwind_mapping *m,
		     struct unwind_ask *ret);

/*
 * Notes that the table of file NUMBER cannot be made now. The next walk that needs the table
 * requests it again.
 */
void unwind_maps_mark_new(struct unwind_maps *maps, uint32_t number);

/*
 * Removes the table of file NUMBER. The next walk that needs the table requests it again.
 * unwind_maps_settle() must be called before this, and again before another table is added for
 * NUMBER.
 */
void unwind_maps_reset_file(struct unwind_maps *maps, uint32_t number);

/* Waits until all eBPF programs see only current tables: 10 to 30 ms, if there are changes. */
void unwind_maps_settle(struct unwind_maps *maps);

/*
 * Returns the least recently used file with a table, except KEEP; UNWIND_FILE_NONE if no other file
 * has a table.
 */
uint32_t unwind_maps_least_used(const struct unwind_maps *maps, uint32_t keep);

/*
 * Removes tables, the least recently used first, until there is room for BYTES and a sixteenth of
 * BYTES_MAX. The table of file NUMBER stays. Can be slow. Removes nothing if there cannot be enough
 * room. Returns whether there is room, and in *RET_N_TAKEN the number of removed tables.
 */
bool unwind_maps_make_room(struct unwind_maps *maps, uint32_t number, uint64_t bytes,
			   uint64_t bytes_max, uint64_t *ret_n_taken);

/* If few free numbers of files are left, frees the numbers of the least recently used files. */
void unwind_maps_recycle_names(struct unwind_maps *maps);
