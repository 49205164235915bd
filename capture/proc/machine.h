/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts about the machine: its total CPU time, its load, and its memory. Does not block.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Returns the number of online CPUs; 1 if unknown. */
unsigned machine_n_cpus(void);

/*
 * Returns the number of thread switches since the machine was booted, from PROC ("/proc/stat"); 0
 * if unknown.
 */
uint64_t machine_switches(const char *proc);

/*
 * Returns the end of the physical memory, without that of devices, from ZONEINFO
 * ("/proc/zoneinfo"); 0 if unknown. Sets *RET_IS_ACCEPTED to whether all of it may be read: a
 * confidential virtual machine ends if it reads memory that it has not accepted yet.
 */
uint64_t machine_memory_end(const char *zoneinfo, bool *ret_is_accepted);
