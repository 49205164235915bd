/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads files of a process in /proc that can make the reader wait forever: while a thread of the
 * process has the lock of its address space (maps), or for a page of its memory, which a FUSE
 * server does not send (cmdline). A child process reads, and is left alone if it takes too long.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/outbuf.h"

/* The maximum time of a reading. */
#define BOUNDED_READ_NS_MAX UINT64_C(5000000000)

/*
 * Appends what it reads about process PID to TO. Runs in a child that may have been forked long
 * before, so it must use nothing but its arguments. ROOT is the root directory, "" for this
 * machine. Returns 0 or a negative errno.
 */
typedef int (*bounded_read_fn)(const char *root, uint32_t pid, struct outbuf *to);

/*
 * Runs FN in a child (capture/proc/reader-process.h), and waits for at most BOUNDED_READ_NS_MAX, or
 * less if readings of other processes hang, above all those of the same user
 * (capture/proc/hang-limits.h). *RET, which must be empty and which the caller frees, gets the
 * data, at most MAX bytes. ROOT has at most 63 characters. Adds the CPU time of the reading to
 * *CPU_NS_SUM atomically, unless that is NULL. Returns the result of FN; *RET can have data even if
 * that is negative. Returns -ETIME if the reading takes longer, -EBUSY if an earlier reading of PID
 * hangs, -EUSERS if too many readings hang, or another negative errno; then *RET is empty.
 */
int bounded_read(const char *root, uint32_t pid, bounded_read_fn fn, size_t max, struct outbuf *ret,
		 uint64_t *cpu_ns_sum);
