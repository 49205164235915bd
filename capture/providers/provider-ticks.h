/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stamps of the CPU's counter as times of CLOCK_BOOTTIME. The manager reads both clocks together,
 * at the beginning of a session and after each copy of a buffer, so each stamp of a copy is between
 * two readings, and its time is interpolated. Times never decrease with stamps.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "provider/provider-wire.h"

enum { PROVIDER_TICKS_READINGS = 256 };

struct provider_ticks_reading {
	uint64_t stamp, boot_ns;
};

struct provider_ticks {
	struct provider_ticks_reading readings[PROVIDER_TICKS_READINGS]; /* oldest first */
	unsigned n;
};

/* Returns the clock that programs use: PROVIDER_CLOCK_TSC if the kernel uses the TSC, too. */
enum provider_clock provider_ticks_clock(void);

/*
 * Adds a reading of both clocks. If there is no room, every second reading of the older half is
 * removed.
 */
void provider_ticks_read(struct provider_ticks *t);

/* Whether STAMP is later than now. */
bool provider_ticks_is_future(uint64_t stamp);

/* Adds a reading: like provider_ticks_read(), for tests. Earlier stamps or times are ignored. */
void provider_ticks_add(struct provider_ticks *t, uint64_t stamp, uint64_t boot_ns);

/*
 * Sets *RET_NS to the time of STAMP. Returns false if STAMP is before the first reading, or after
 * the last: no record of a session has such a stamp.
 */
bool provider_ticks_ns(const struct provider_ticks *t, uint64_t stamp, uint64_t *ret_ns);
