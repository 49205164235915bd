/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The memory that GDB reads to find the shared libraries of a process: the program's headers and
 * .dynamic, struct r_debug, and each struct link_map with its name. If the first frame of a trace
 * file has this memory, GDB's command `sharedlibrary` loads the libraries at their addresses.
 *
 * The process has written all this memory, so it is not trusted: loops in lists, names without an
 * end and absurd counts end the search, and are noted in `missing`. Only 64-bit little-endian
 * programs are supported.
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
	/* Maximum number of blocks before adjacent ones are joined. */
	TFILE_LINK_MAP_BLOCKS_MAX = 4096,
	TFILE_LINK_MAP_BYTES_MAX = 1 << 20, /* maximum size of all blocks */
};

struct tfile_link_map {
	struct tfile_link_map_block
		*blocks; /* owned; sorted by address, disjoint and not adjacent */
	size_t n_blocks;
	uint64_t bias;      /* the load bias of the program */
	size_t n_libraries; /* libraries found, including the program itself */
	/* The reason why the memory is incomplete, static text; NULL = it is complete */
	const char *missing;
};

/*
 * Reads N bytes at ADDRESS of the process into TO. Returns 0, or a negative errno if it cannot read
 * all of them.
 */
typedef int (*tfile_link_map_read_fn)(void *userdata, uint64_t address, void *to, size_t n);

/*
 * Finds the blocks of the program whose ELF header is at BASE (where offset 0 of its file is
 * mapped). Returns 0 with the blocks that could be read in *RET; -ENOEXEC if the memory at BASE is
 * no such program, or is unreadable; or -ENOMEM.
 */
int tfile_link_map_find(struct tfile_link_map *ret, tfile_link_map_read_fn read, void *userdata,
			uint64_t base);

void tfile_link_map_deinit(struct tfile_link_map *m);
