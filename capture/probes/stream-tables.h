/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of glibc's streams. A FILE points to a table of functions, one for each action.
 * Functions of libc end with a jump through this table. For example, if the buffer is empty, getc()
 * jumps to the function that refills the buffer of this kind of stream. All tables are in a section
 * of their own, since glibc checks before each use whether the pointer leads there.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "capture/probes/elf-image.h"

enum { STREAM_FUNCTIONS_MAX = 32 };

/*
 * Writes to TO the functions at offset AT of the tables in IMAGE, and to *RET_BEGIN the address of
 * the first table. Returns their number; 0 = the file has no tables.
 */
size_t stream_tables_functions(const struct elf_image *image, uint32_t at,
			       uint64_t to[static STREAM_FUNCTIONS_MAX], uint64_t *ret_begin);
