/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Damages a trace in one of the ways in which files get damaged; a seed says how, and the same one
 * always does the same. Knows of each byte of the result where it came from.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct damage {
	uint8_t *data; /* owned */
	size_t n;
	/* Of each byte: 1 + where it was in the original, or 0 if it is not from there. Owned. */
	uint64_t *origin;
	char what[64]; /* how it was damaged, for messages */
};

/*
 * Damages a copy of N bytes at ORIGINAL (an archive, or any other bytes). Never fails but by
 * abort().
 */
void damage_make(struct damage *ret, const uint8_t *original, size_t n, uint64_t seed);

void damage_deinit(struct damage *d);
