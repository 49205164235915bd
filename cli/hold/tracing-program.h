/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that can trace other programs: debuggers, strace.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* A file is read for a second at most, since its file system may never answer. */
#define TRACING_PROGRAM_NS UINT64_C(1000000000)

/* So many threads can wait for a file at the same time. They end with this process. */
enum { TRACING_PROGRAM_HANGING_MAX = 8 };

/*
 * Whether the program of process PID uses ptrace(): its file has this name among its symbols.
 * Returns 1, 0 (also if there is no such file), or a negative errno if that is not known: -ETIME
 * (the file system does not answer), -EAGAIN (too many do not, or no thread can be made).
 */
int tracing_program(pid_t pid);
