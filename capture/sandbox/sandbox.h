/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a file of somebody else's in a process of its own: whatever the file makes the code there
 * do, that process has no rights, can open nothing, sees none of the memory that we share with
 * others, and has a limited time and memory. All that leaves it is an answer of a limited size,
 * which is to be checked like any other input.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/outbuf.h"

/*
 * Runs there. Writes an answer about the N bytes of the file; what it returns is for sandbox_run().
 */
typedef int (*sandbox_fn)(const void *data, size_t n, struct outbuf *answer);

/*
 * Runs FN over the file that FD refers to (borrowed) for TIMEOUT_NS at most, and waits for it. Its
 * answer, of at most MAX bytes, is appended to ANSWER. Returns 0; the negative errno that FN
 * returned, or that kept it from running; -EBADMSG if the process came to an end by itself, or said
 * nonsense; -ETIME if it did not.
 */
int sandbox_run(int fd, sandbox_fn fn, uint64_t timeout_ns, size_t max, struct outbuf *answer);

/* Likewise, with something of the caller's: USERDATA is in the memory of the process as it was. */
typedef int (*sandbox_with_fn)(const void *data, size_t n, struct outbuf *answer,
			       const void *userdata);
int sandbox_run_with(int fd, sandbox_with_fn fn, const void *userdata, uint64_t timeout_ns,
		     size_t max, struct outbuf *answer);

/*
 * Maps the file that FD refers to: the caller unmaps it. The bytes may change, and the process that
 * makes the file shorter makes that a SIGBUS. Returns 0, -ENOEXEC if it is no file with content, or
 * the error.
 */
int sandbox_map_file(int fd, void **ret, size_t *ret_n);
