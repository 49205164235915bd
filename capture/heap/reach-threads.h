/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stops the threads of a process for a moment, and reads their registers.
 *
 * The threads are stopped by ptrace, which releases them automatically when the stopping process
 * ends for any reason. The program does not notice it: there is no signal and no job control. Only
 * the thread that called reach_hold() can release them.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/outbuf.h"
#include "bpf/record.h"

/*
 * Stops all threads of process PID, by DEADLINE_NS (CLOCK_MONOTONIC), and appends their registers
 * to THREADS, struct rec_registers. Returns 0; -ESRCH: the process does not exist (any more);
 * -EPERM: another process traces it, or it is not permitted; -ETIME: a thread does not stop,
 * because it is in an uninterruptible system call. Threads that are stopped after a failure must be
 * released by reach_release_threads(), too.
 */
int reach_hold(pid_t pid, uint64_t deadline_ns, struct outbuf *threads);

/*
 * Returns a live task of process PID, through which its memory is accessible: PID itself, unless
 * its main thread has ended before others. Without a live task, it is PID.
 */
pid_t reach_living_task(pid_t pid);

/* Appends the stacks for signals of THREADS to WORDS (uint64_t). Returns 0 or -ENOMEM. */
int reach_threads_altstacks(const struct outbuf *threads, struct outbuf *words);

/*
 * Returns the block with glibc's dtv of the thread with thread pointer TLS in process TASK. The dtv
 * is the table of the thread-local memory of libraries that were loaded later. glibc's pointer
 * leads behind its first element, which has the length of the table. Returns 0 if the block is
 * unknown, or if the C library is another one.
 */
uint64_t reach_threads_dtv(pid_t task, uint64_t tls);

/* Releases all threads in THREADS. */
void reach_release_threads(const struct outbuf *threads);
