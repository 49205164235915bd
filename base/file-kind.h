/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kind of file of a client's descriptor. fstat() asks the file system, which may never answer,
 * so code that must not block uses these functions.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Stores the type of FD's file, as in S_IFMT, in *RET; 0 = another type (such as an eventfd). Does
 * not ask the file system. Returns 0 or a negative errno: -EACCES for a FUSE file system that only
 * its user may access.
 */
int file_type_of(int fd, mode_t *ret);

/*
 * Returns true if a file system of TYPE (statfs()) is on a device or in memory of this machine.
 * Others, such as FUSE and network file systems, may never answer.
 */
bool file_system_is_local(uint32_t type);

/*
 * Returns a number for the place of FD's file, which is whatever can make an access to the file
 * block: usually its file system. Files of one place have the same number; files of different
 * places rarely do. Never asks the file system.
 */
uint64_t file_place_of(int fd);

/*
 * Returns the name of the kernel file system with FD's file, or NULL for other file systems.
 * Writing to such files controls the kernel. Asks the file system, so it can block forever.
 */
const char *file_kernel_filesystem(int fd);
