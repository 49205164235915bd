/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a file says of where its debug information is: .gnu_debuglink (a name and a checksum),
 * .gnu_debugaltlink (a name and a build id; made by dwz, which moves there what several files
 * share).
 */
#pragma once

#include "reader/symbols/elf-file.h"

/*
 * Reads .gnu_debuglink. NAME has room for NAME_MAX + 1 bytes. Returns false if there is none that
 * can be used: it must be a name, not a path.
 */
bool debug_link_read(const struct elf_file *f, char *name, uint32_t *ret_crc);

/*
 * The checksum that such a link has of the file at FD, all of it. Returns 0 or a negative errno,
 * -EFBIG for more than 2 GiB.
 */
int debug_link_checksum(int fd, uint32_t *ret_crc);

bool debug_link_has_alternate(const struct elf_file *f);

/* Reads .gnu_debugaltlink. Returns how many bytes of build id there are, 0 if it cannot be used. */
size_t debug_link_read_alternate(const struct elf_file *f, char *name, size_t room, uint8_t *id,
				 size_t id_room);
