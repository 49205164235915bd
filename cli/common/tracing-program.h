/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that can trace other programs: debuggers, strace.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Whether the program of process PID uses ptrace(): its file has this name among its symbols. */
bool tracing_program(pid_t pid);
