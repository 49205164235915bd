/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ranges of addresses that may overlap and lie in each other, sorted once, then searched often for the
 * innermost one around an address.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct range {
	uint64_t start, end; /* END is the first address behind it */
	uint64_t reach;      /* the greatest END so far; set by range_list_sort() */
	uint32_t value;      /* the owner's */
	uint32_t rank;       /* of ranges with one start the one with the lowest is found first */
};

struct range_list {
	struct range *items; /* owned */
	size_t n, room;
};

void range_list_deinit(struct range_list *l);

/* Adds [START, END); an empty one is never found. Returns 0 or -ENOMEM. */
int range_list_add(struct range_list *l, uint64_t start, uint64_t end, uint32_t value,
		   uint32_t rank);

/* Sorts the list by start; must come between adding and finding. Gives back spare room. */
void range_list_sort(struct range_list *l);

/*
 * The range around ADDRESS that starts last, or NULL. Ranges that lie in each other many times over
 * are not looked through to the end: then there may be one although NULL is returned.
 */
const struct range *range_list_find(const struct range_list *l, uint64_t address);

/* The first one that starts after ADDRESS, or NULL. */
const struct range *range_list_after(const struct range_list *l, uint64_t address);
