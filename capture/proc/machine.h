/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine as budgets see it: how much CPU time it has, and how busy it is. Does not block.
 */
#pragma once

#include <stdint.h>

/* CPUs that are online; 1 where that is not known. */
unsigned machine_n_cpus(void);

/*
 * Switches of threads since the machine has booted, of PROC ("/proc/stat"); 0 where that is not
 * known.
 */
uint64_t machine_switches(const char *proc);
