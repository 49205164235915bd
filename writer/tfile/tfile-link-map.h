/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The memory that GDB reads to find the shared libraries of a process: its program's headers and
 * .dynamic, struct r_debug, each struct link_map and its name. With these in the first frame of a
 * trace file, `sharedlibrary` loads the libraries at their addresses.
 *
 * All this memory was written by the process, and is not trusted: loops in lists, names without an
 * end and absurd counts end the search without an error. Only 64-bit little-endian programs are
 * supported.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct tfile_link_map_block {
	uint64_t address;
	uint32_t bytes;
};

enum {
	TFILE_LINK_MAP_LIBRARIES_MAX = 1024,
	TFILE_LINK_MAP_NAME_MAX = 4096, /* maximum size of a name, NUL included */
	/* Maximum number of blocks, before adjacent blocks are joined. */
	TFILE_LINK_MAP_BLOCKS_MAX = 4096,
	TFILE_LINK_MAP_BYTES_MAX = 1 << 20, /* maximum size of all blocks */
};

struct tfile_link_map {
	struct tfile_link_map_block
		*blocks; /* owned; sorted by address, neither overlapping nor adjacent */
	size_t n_blocks;
	uint64_t bias;      /* the load bias of the program */
	size_t n_libraries; /* libraries found, including the program itself */
	/* The reason why the memory is incomplete, static text; NULL = it is complete */
	const char *missing;
};

/*
 * Reads N bytes at ADDRESS of the process to TO. Returns 0, or a negative errno if not all bytes
 * could be read.
 */
typedef int (*tfile_link_map_read_fn)(void *userdata, uint64_t address, void *to, size_t n);

/*
 * Finds the blocks of the program whose ELF header is at BASE (the start of the mapping of its file
 * offset 0). Returns 0 with the blocks that could be read in *RET; -ENOEXEC if no such program is
 * at BASE, or it is unreadable; or -ENOMEM.
 */
int tfile_link_map_find(struct tfile_link_map *ret, tfile_link_map_read_fn read, void *userdata,
			uint64_t base);

void tfile_link_map_deinit(struct tfile_link_map *m);
