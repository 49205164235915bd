/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether an instruction begins at an address of a program's file. A probe at another address would
 * change the program. The file can belong to another user, so it is read in the sandbox.
 */
#pragma once

#include <stdint.h>

/* An instruction, as offsets in the file. */
struct code_boundary {
	uint64_t offset;
	/* Semaphore of the static probe here; 0 = no semaphore (probe-semaphore.h). */
	uint64_t semaphore;
};

/*
 * Finds the instruction at VADDR, an address in the file FD (borrowed). Returns 0; -ENOEXEC (not a
 * program or library, or for another machine), -EBADMSG (damaged), -ENXIO (no code at VADDR),
 * -ENODATA (the beginning of its function is unknown), -EINVAL (in the middle of an instruction),
 * -ETIME, or another negative errno.
 */
int code_boundary_find_sandboxed(int fd, uint64_t vaddr, struct code_boundary *ret);

/* Like code_boundary_find_sandboxed(), for the N bytes at DATA, in this process. */
int code_boundary_find(const void *data, uint64_t n, uint64_t vaddr, struct code_boundary *ret);
