/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which CPUs are there: they may come and go.
 *
 * One that went and came back between two looks has lost its perf events like any other: the kernel's device events tell
 * of it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Sets RET[cpu] for each of the N CPUs that is online. Without sysfs all are taken to be. */
void cpus_online(bool *ret, unsigned n);

/* Likewise, from TEXT ("0-3,7"), what /sys has. False, with nothing set, if it is no such list. */
bool cpus_parse(const char *text, bool *ret, unsigned n);

/* Begins to listen to device events. Returns a descriptor, or a negative errno where that is not allowed. */
int cpus_listen(void);

/* Clears RET[cpu] for each of the N CPUs that went offline since the last call, whether it is back or not; all of them
 * if some may have been missed. FD is cpus_listen()'s, or -1. Returns whether any was cleared. */
bool cpus_clear_gone(int fd, bool *ret, unsigned n);

/* Whether a device event, BYTES long, says that a CPU went offline; *RET_CPU is which one. */
bool cpus_parse_gone(const char *message, size_t bytes, unsigned *ret_cpu);
