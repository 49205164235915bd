/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The maps of a session that its programs find tables in (bpf/unwind.h), seen from user space:
 * which files have a number, and what is known of each.
 *
 * For one thread, while the programs use the maps. The descriptors are copies: the session may go
 * before this does.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "bpf/unwind.h"
#include "capture/unwind/unwind-kept.h"
#include "capture/unwind/unwind-publisher.h"
#include "capture/unwind/unwind-table.h"

struct unwind_maps {
	int asks_fd, files_fd, tables_fd, names_fd, free_names_fd, processes_fd; /* owned */
	struct unwind_publisher *publisher;
	struct unwind_kept kept; /* for any thread, unlike the rest */
	struct unwind_file
		*files; /* mapped, UNWIND_FILES_MAX of them; the programs write to them, too */
	uint64_t bytes[UNWIND_FILES_MAX]; /* of the table of each */
	uint64_t all_bytes;
};

/*
 * Takes copies of the six descriptors in FROM, maps what is to be mapped, and hands out all names
 * but that of the vdso. Returns 0 or a negative errno; MAPS may be deinitialised either way.
 */
int unwind_maps_init(struct unwind_maps *maps, const struct unwind_maps *from);
void unwind_maps_deinit(struct unwind_maps *maps);

/* Bytes of kernel memory that TABLE takes in the maps. */
uint64_t unwind_maps_table_bytes(const struct unwind_table *table);

/*
 * Puts TABLE in for file NUMBER, whose state says that it has been asked for. Returns 0 or a
 * negative errno.
 */
int unwind_maps_put(struct unwind_maps *maps, uint32_t number, const struct unwind_table *table);

/* File NUMBER has no table, and nobody is to ask for it again. */
void unwind_maps_put_nothing(struct unwind_maps *maps, uint32_t number);

/*
 * Whether the programs still have the mapping that ASK is about; then *RET_SEQUENCE counts what the
 * process has changed until now.
 */
bool unwind_maps_has(const struct unwind_maps *maps, const struct unwind_ask *ask,
		     uint32_t *ret_sequence);

/* The table of file NUMBER could not be made now: the next walk that needs it asks again. */
void unwind_maps_ask_again(struct unwind_maps *maps, uint32_t number);

/*
 * Takes the table of file NUMBER out: the next walk that needs it asks again. All that was put or
 * taken before must have settled, and this must, before another table is put there.
 */
void unwind_maps_take(struct unwind_maps *maps, uint32_t number);

/*
 * Waits until no program sees any other tables than it should: 10 to 30 ms, if there is anything to
 * wait for.
 */
void unwind_maps_settle(struct unwind_maps *maps);

/*
 * The file with a table whose last use is longest ago, but not KEEP; UNWIND_FILE_NONE if there is
 * none.
 */
uint32_t unwind_maps_least_used(const struct unwind_maps *maps, uint32_t keep);

/*
 * Takes tables out, those first whose last use is longest ago, but not that of file NUMBER, until
 * there is room for BYTES of BYTES_MAX, and a sixteenth of all besides: it takes its time. None
 * where that is of no use. Returns whether there is room, and in *RET_N_TAKEN how many had to go.
 */
bool unwind_maps_make_room(struct unwind_maps *maps, uint32_t number, uint64_t bytes,
			   uint64_t bytes_max, uint64_t *ret_n_taken);

/* Takes back the names of files that have not been of use for long, if there are few left. */
void unwind_maps_recycle_names(struct unwind_maps *maps);
