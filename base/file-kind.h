/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a descriptor of somebody else's leads to. fstat() asks the file system, which may be a server that never answers; so who must not
 * wait asks here.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

struct file_kind {
	mode_t type; /* as S_IFMT has it; 0 = none of these (an eventfd, say) */
	uint64_t
		place; /* the same for two files that one server answers for, and hardly ever for others */
};

/* Without asking the file system for what the kernel knows anyway. Returns 0 or a negative errno. */
int file_kind_of(int fd, struct file_kind *ret);

/*
 * The name of the kernel filesystem that FD is on, or NULL if it is on another one. Their files are the kernel's knobs: what is written
 * there is a command to it. Asks the file system: it may take for ever.
 */
const char *file_kernel_filesystem(int fd);
