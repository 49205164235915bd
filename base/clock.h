/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The three clocks of a trace, in nanoseconds. CLOCK_BOOTTIME is the time of every record.
 * CLOCK_BOOTTIME is monotonic, and continues during suspend.
 */
#pragma once

#include <stdint.h>
#include <time.h>

struct clock_snapshot {
	uint64_t boot_ns;
	uint64_t mono_ns;
	uint64_t real_ns;
};

static inline uint64_t clock_read_ns(clockid_t id)
{
	struct timespec ts = { 0 };

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline uint64_t clock_boot_ns(void)
{
	return clock_read_ns(CLOCK_BOOTTIME);
}

/* Reads the three clocks, as close together as user space can. */
static inline struct clock_snapshot clock_snapshot(void)
{
	return (struct clock_snapshot){
		.boot_ns = clock_boot_ns(),
		.mono_ns = clock_read_ns(CLOCK_MONOTONIC),
		.real_ns = clock_read_ns(CLOCK_REALTIME),
	};
}
