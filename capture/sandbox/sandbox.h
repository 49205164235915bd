/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads an untrusted file in a separate process. Even if the file takes over the code, that process
 * has no privileges, can open nothing, sees no shared memory, and has limited time and memory. The
 * only output of the process is an answer of limited size, which must be checked like any other
 * input.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/outbuf.h"

/* Runs in the sandbox, and writes an answer about the N bytes of the file. If it returns an error,
 * sandbox_run() returns that. */
typedef int (*sandbox_fn)(const void *data, size_t n, struct outbuf *answer);

/*
 * Runs FN over the file FD (borrowed) for at most TIMEOUT_NS, and waits for it. The answer of FN,
 * at most MAX bytes, is appended to ANSWER. Returns 0; the negative errno of FN or of a failure to
 * run it; -EBADMSG if the process died, or its answer was invalid; -ETIME if it did not end. If the
 * process cannot even be killed, since the file system does not answer, sandbox_run() waits for a
 * second more. While the process hangs, other files of this file system are not read (-EBUSY),
 * unless the file system is local.
 */
int sandbox_run(int fd, sandbox_fn fn, uint64_t timeout_ns, size_t max, struct outbuf *answer);

/*
 * Like sandbox_run(), with data of the caller: USERDATA points to the copy of the caller's memory
 * that the sandboxed process has.
 */
typedef int (*sandbox_with_fn)(const void *data, size_t n, struct outbuf *answer,
			       const void *userdata);
int sandbox_run_with(int fd, sandbox_with_fn fn, const void *userdata, uint64_t timeout_ns,
		     size_t max, struct outbuf *answer);

/*
 * Maps the file FD; the caller unmaps it. Does not ask a FUSE file system. The bytes can change,
 * and truncation of the file causes SIGBUS. Returns 0, -ENOEXEC if FD is not a file with content,
 * or another negative errno.
 */
int sandbox_map_file(int fd, void **ret, size_t *ret_n);
