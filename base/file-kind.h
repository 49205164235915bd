/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a descriptor of somebody else's leads to. fstat() asks the file system, which may be a
 * server that never answers; so who must not wait asks here.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The type of FD's file, as S_IFMT has it, in *RET; 0 = none of these (an eventfd, say). The file
 * system is not asked. Returns 0 or a negative errno: -EACCES for a FUSE file system that only the
 * user who mounted it may look at.
 */
int file_type_of(int fd, mode_t *ret);

/*
 * Whether a file system of type TYPE, as statfs() has it, is on a device or in memory of this
 * machine. Others (FUSE, those of other machines) may never answer.
 */
bool file_system_is_local(uint32_t type);

/*
 * A number for where FD leads to: the same for two files that one server answers for, and hardly
 * ever for others. Never asks the file system.
 */
uint64_t file_place_of(int fd);

/*
 * The name of the kernel filesystem that FD is on, or NULL if it is on another one. Their files are
 * the kernel's knobs: what is written there is a command to it. Asks the file system: it may take
 * for ever.
 */
const char *file_kernel_filesystem(int fd);
