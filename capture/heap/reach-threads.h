/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads of a process, held for a moment, and their registers.
 *
 * Held by ptrace, which lets go of them by itself when the process that holds them ends, whatever
 * it dies of, and of which they do not notice: no signal, no job control. Each belongs to the
 * thread that called reach_hold().
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/outbuf.h"
#include "bpf/record.h"

/*
 * Holds all threads of process PID, by DEADLINE_NS (CLOCK_MONOTONIC), and appends what is in their
 * registers to THREADS, struct rec_registers. Returns 0; -ESRCH: there is no such process (any
 * more); -EPERM: somebody else holds it, or we may not; -ETIME: one of them does not stop, because
 * it is in the middle of something that cannot be interrupted. Threads that are held after a
 * failure are let go by reach_let_go(), too.
 */
int reach_hold(pid_t pid, uint64_t deadline_ns, struct outbuf *threads);

/*
 * A task of process PID that is there, and so has its memory: PID itself, if its first thread has
 * not ended before the others; PID if there is none.
 */
pid_t reach_living_task(pid_t pid);

/* Lets go of all that THREADS lists. */
void reach_let_go(const struct outbuf *threads);
