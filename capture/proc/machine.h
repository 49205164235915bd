/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine for budgets: its total CPU time, and its load. Does not block.
 */
#pragma once

#include <stdint.h>

/* Online CPUs; 1 if unknown. */
unsigned machine_n_cpus(void);

/* Thread switches since the machine booted, from PROC ("/proc/stat"); 0 if unknown. */
uint64_t machine_switches(const char *proc);
