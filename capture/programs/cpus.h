/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which CPUs are there: they may come and go.
 *
 * One that went and came back between two looks has lost its perf events like any other: so a
 * program counts how often each has gone.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Sets RET[cpu] for each of the N CPUs that is online. Without sysfs all are taken to be. */
void cpus_online(bool *ret, unsigned n);

/* Likewise, from TEXT ("0-3,7"), what /sys has. False, with nothing set, if it is no such list. */
bool cpus_parse(const char *text, bool *ret, unsigned n);

/*
 * Clears RET[cpu] for each of the N CPUs that has gone, by DEPARTURES (CPU_DEPARTURES counts),
 * since the counts were as in SEEN, which follows. Returns whether any was cleared.
 */
bool cpus_clear_gone(const uint32_t *departures, uint32_t *seen, bool *ret, unsigned n);
