/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the lists of free chunks in an arena of glibc's malloc(), including its fast bins, and the
 * top of its heap. The lists and the top contain addresses of free chunks. A free chunk begins 16
 * bytes before its memory, and its first word can be the last word of the block before it. So these
 * addresses do not count as references.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part of some data, as offsets. */
struct reach_glibc_lists {
	size_t from, to;
};

/*
 * Finds the lists of the first arena in the N_BYTES of DATA. This data is at ADDRESS in the
 * process. Returns false if the data contains no arena.
 */
bool reach_glibc_find_lists(uint64_t address, const uint8_t *data, size_t n_bytes,
			    struct reach_glibc_lists *ret);
