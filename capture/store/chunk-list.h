/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The complete chunks in a directory.
 */
#pragma once

#include <limits.h>
#include <stddef.h>

#include "capture/store/chunk-name.h"

struct chunk {
	char file[NAME_MAX + 1];
	struct chunk_name name;
	uint64_t bytes;
};

enum chunk_list_how {
	CHUNK_LIST_WHOLE, /* a chunk that cannot be examined is an error, as an incomplete list */
	CHUNK_LIST_READABLE, /* leaves out such chunks */
};

/*
 * Lists the chunks of the collection NAME in DIR_FD, the oldest one first. The caller frees *RET.
 * Returns 0 or a negative errno.
 */
int chunk_list_read(int dir_fd, const char *name, enum chunk_list_how how, struct chunk **ret,
		    size_t *ret_n);
