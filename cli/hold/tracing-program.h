/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that can trace other programs: debuggers, strace.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* A file is read for a second at most, since its file system may never answer. */
#define TRACING_PROGRAM_NS UINT64_C(1000000000)

/*
 * The maximum number of threads that wait for a file at the same time. They end with this process.
 */
enum { TRACING_PROGRAM_HANGING_MAX = 8 };

/*
 * Finds out whether the program of process PID uses ptrace(): whether its file has this name among
 * its symbols. Returns 1 or 0 (also if the process has no file), or a negative errno if this is
 * unknown: -ETIME (the file system does not answer), -EAGAIN (too many file systems do not answer,
 * or no thread can be made).
 */
int tracing_program(pid_t pid);
