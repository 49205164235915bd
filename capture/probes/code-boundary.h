/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether an instruction begins at an address of a program's file. A probe anywhere else would
 * change what the program does. The file may be somebody else's, so it is read in a process without
 * rights.
 */
#pragma once

#include <stdint.h>

/* An instruction, by offsets in the file. */
struct code_boundary {
	uint64_t offset;
	uint64_t semaphore; /* of the static probe that it is; 0 = none (probe-semaphore.h) */
};

/*
 * Looks at the file that FD refers to (borrowed) and finds where VADDR, an address of the file's
 * own, is in it. Returns 0; -ENOEXEC (no program or library, or for another machine),
 * -EBADMSG (damaged), -ENXIO (no code is there), -ENODATA (it is not known where its function
 * begins), -EINVAL (in the middle of an instruction), -ETIME, or another negative errno.
 */
int code_boundary_find_sandboxed(int fd, uint64_t vaddr, struct code_boundary *ret);

/* The same of the N bytes at DATA, in this process. */
int code_boundary_find(const void *data, uint64_t n, uint64_t vaddr, struct code_boundary *ret);
