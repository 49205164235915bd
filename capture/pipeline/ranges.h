/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ranges of addresses, each with where it comes from: what is mapped in a process. None overlap.
 * What is cut or moved keeps its origin; so do the parts of what is split.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RANGE_TEXT_BYTES = 64 };

/* The thread that made something, and when. */
struct origin {
	uint64_t since_ns; /* CLOCK_BOOTTIME */
	uint64_t stack;    /* id; 0 = not known */
	uint32_t tid;
	uint32_t operation; /* RESOURCE_OP_* */
	uint32_t context;   /* bits of those that were open */
};

struct range {
	uint64_t start, end; /* end is behind it; start < end */
	struct origin origin;
	char text[RANGE_TEXT_BYTES]; /* ends with NUL */
};

struct ranges {
	struct range *list; /* by address; owned */
	size_t n, room;
	size_t n_max;    /* 0 = no limit */
	uint64_t n_full; /* that there was no room for */
};

/*
 * Gets what is no more (made false) and what is (true): a range that is cut goes as it was, and
 * comes as what is left of it.
 */
typedef void (*ranges_changed_fn)(const struct range *range, bool made, void *userdata);

struct ranges_sink {
	ranges_changed_fn changed; /* NULL = nobody */
	void *userdata;
};

void ranges_deinit(struct ranges *r);

/* Adds RANGE; what was there goes. Returns 0 or -ENOMEM; without room it is counted, and 0. */
int ranges_add(struct ranges *r, const struct range *range, const struct ranges_sink *sink);

/* Takes away what lies in START to END and was there by UNTIL_NS. Returns 0 or -ENOMEM. */
int ranges_remove(struct ranges *r, uint64_t start, uint64_t end, uint64_t until_ns,
		  const struct ranges_sink *sink);

/* What mremap() did: BYTES at FROM have become NEW_BYTES at TO. */
struct ranges_move {
	uint64_t from, bytes, to, new_bytes;
	uint64_t begun_ns; /* what was made at FROM later is not meant */
	bool keep;         /* what was there stays, too */
};

/* Moves what is there and is known; what grows is of the last one's origin. Likewise. */
int ranges_move(struct ranges *r, const struct ranges_move *move, const struct ranges_sink *sink);

/* The first one that ends behind ADDRESS, or the end of the list. */
struct range *ranges_from(const struct ranges *r, uint64_t address);
