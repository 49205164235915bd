/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rule of a table for an address, as the eBPF programs find it (bpf/unwind.bpf.c).
 */
#pragma once

#include "capture/unwind/unwind-table.h"

/* The rule at ADDRESS, one of the file's own addresses; UNWIND_NONE if it is before the first
 * row. */
static inline uint32_t find_rule(const struct unwind_table *table, uint64_t address)
{
	uint64_t at = address - table->first_address;
	size_t low = 0, high = table->n_rows;

	/* The last row that begins at AT or before is below HIGH. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->rows[middle].address <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? table->rows[low - 1].rule : UNWIND_RULE(UNWIND_NONE, 0, 0);
}
