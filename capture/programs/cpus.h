/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The online CPUs, which can change.
 *
 * A CPU that went offline has lost its perf events, even if it came back before the next check. So
 * an eBPF program counts how often each CPU went offline.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Sets RET[cpu] for each of the N CPUs that is online. Without sysfs, all CPUs count as online. */
void cpus_online(bool *ret, unsigned n);

/*
 * Sets RET like cpus_online(), from TEXT ("0-3,7"), as in /sys. Returns false and sets nothing if
 * TEXT is invalid.
 */
bool cpus_parse(const char *text, bool *ret, unsigned n);

/*
 * Clears RET[cpu] for each of the N CPUs that went offline. The counts of these CPUs in DEPARTURES
 * (of CPU_DEPARTURES) differ from the counts in SEEN, which is updated. Returns true if any element
 * was cleared.
 */
bool cpus_clear_gone(const uint32_t *departures, uint32_t *seen, bool *ret, unsigned n);
