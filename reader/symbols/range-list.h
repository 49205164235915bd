/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ranges of addresses that can overlap and nest, sorted once, then searched often for the innermost
 * one around an address.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct range {
	uint64_t start, end; /* END is exclusive */
	uint32_t value;      /* for the owner of the list */
	uint32_t rank;       /* of ranges with equal starts, the lowest is innermost */
};

struct range_list {
	struct range *items; /* owned */
	size_t n, room;
	/* Set by range_list_sort(): the addresses at which the innermost range changes. */
	struct range_piece {
		uint64_t start;
		uint32_t item; /* UINT32_MAX = none */
	} * pieces;            /* owned */
	size_t n_pieces;
};

void range_list_deinit(struct range_list *l);

/* Adds [START, END); an empty range is never found. Returns 0 or -ENOMEM. */
int range_list_add(struct range_list *l, uint64_t start, uint64_t end, uint32_t value,
		   uint32_t rank);

/*
 * Sorts the list by start; of equal starts, the innermost range is the last one. Must be called
 * after the last change and before finding. Returns 0, or -ENOMEM (then nothing is found).
 */
int range_list_sort(struct range_list *l);

/* Returns the innermost range around ADDRESS: the one that starts last. NULL = none. */
const struct range *range_list_find(const struct range_list *l, uint64_t address);

/* Returns the size of L in memory, in bytes. */
size_t range_list_bytes(const struct range_list *l);
