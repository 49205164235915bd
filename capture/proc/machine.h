/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The facts about the machine that budgets need: its total CPU time, and its load. Does not block.
 */
#pragma once

#include <stdint.h>

/* Returns the number of online CPUs; 1 if unknown. */
unsigned machine_n_cpus(void);

/*
 * Returns the number of thread switches since the machine was booted, from PROC ("/proc/stat"); 0
 * if unknown.
 */
uint64_t machine_switches(const char *proc);
