/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables in the kernel, for walks in user space (capture/unwind/unwind-resume.h). This module keeps
 * the descriptors of the latest tables.
 *
 * Any thread may call these functions. A table is identified by file number and generation, as in
 * mappings.
 */
#pragma once

#include <pthread.h>
#include <stdint.h>

#include "bpf/record-unwind.h"

enum { UNWIND_KEPT_MAX = 256 };

struct unwind_kept {
	pthread_mutex_t lock;            /* guards all members */
	unsigned next;                   /* the slot for the next table */
	const struct unwind_file *files; /* UNWIND_FILES_MAX elements; set once; borrowed */
	struct unwind_kept_table {
		int fd; /* descriptor of a map with blocks, owned; -1 = no table */
		uint32_t number;
		struct unwind_file file; /* the file as it was when the table was added */
	} tables[UNWIND_KEPT_MAX];
};

void unwind_kept_init(struct unwind_kept *k);
void unwind_kept_deinit(struct unwind_kept *k);

/*
 * Keeps the table in BLOCKS_FD (borrowed), the table of FILE. NUMBER is the number of FILE. If no
 * descriptor is available, the table is not kept.
 */
void unwind_kept_put(struct unwind_kept *k, uint32_t number, const struct unwind_file *file,
		     int blocks_fd);

/* Removes the table of file NUMBER. */
void unwind_kept_remove(struct unwind_kept *k, uint32_t number);

/*
 * Returns the rule for OFFSET in file NUMBER of GENERATION; UNWIND_NONE if the file describes no
 * frame there, UNWIND_MISSING if its table is not here.
 */
uint32_t unwind_kept_find(struct unwind_kept *k, uint16_t number, uint16_t generation,
			  uint64_t offset);
