/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Describes why allocations of a watched program can be missing although its allocators have
 * probes.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct rec_watched;

/*
 * Writes the reason that REC gives to TEXT, which has SIZE bytes; "" = no allocations are missing.
 * The recording began at FROM_NS.
 */
void watch_gap_describe(const struct rec_watched *rec, uint64_t from_ns, char *text, size_t size);
