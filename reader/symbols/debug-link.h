/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The references of a file to its debug information: .gnu_debuglink (a name and a checksum), and
 * .gnu_debugaltlink (a name and a build id; dwz makes it for data that several files share).
 */
#pragma once

#include "reader/symbols/elf-file.h"

/*
 * Reads .gnu_debuglink. NAME has room for NAME_MAX + 1 bytes. Returns false if there is no usable
 * link: its name must be a file name, not a path.
 */
bool debug_link_read(const struct elf_file *f, char *name, uint32_t *ret_crc);

/*
 * Computes the checksum of the whole file FD, as in .gnu_debuglink. Returns 0 or a negative errno
 * (-EFBIG if the file has more than 2 GiB).
 */
int debug_link_checksum(int fd, uint32_t *ret_crc);

bool debug_link_has_alternate(const struct elf_file *f);

/* Reads .gnu_debugaltlink. Returns the number of bytes of the build id; 0 = there is no usable
 * link. */
size_t debug_link_read_alternate(const struct elf_file *f, char *name, size_t room, uint8_t *id,
				 size_t id_room);
