/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * References of a file to its debug information: .gnu_debuglink (a name and a checksum),
 * .gnu_debugaltlink (a name and a build id; made by dwz for data that several files share).
 */
#pragma once

#include "reader/symbols/elf-file.h"

/*
 * Reads .gnu_debuglink. NAME has room for NAME_MAX + 1 bytes. Returns false if there is no usable
 * link. It must contain a name, and not a path.
 */
bool debug_link_read(const struct elf_file *f, char *name, uint32_t *ret_crc);

/*
 * The checksum of the whole file FD, as .gnu_debuglink contains it. Returns 0 or a negative errno,
 * -EFBIG for more than 2 GiB.
 */
int debug_link_checksum(int fd, uint32_t *ret_crc);

bool debug_link_has_alternate(const struct elf_file *f);

/* Reads .gnu_debugaltlink. Returns the number of bytes in the build id, 0 if it is unusable. */
size_t debug_link_read_alternate(const struct elf_file *f, char *name, size_t room, uint8_t *id,
				 size_t id_room);
