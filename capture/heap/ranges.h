/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ranges of addresses with their origins: the mappings of a process. They do not overlap. If a
 * range is cut, moved or split, it keeps its origin.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RANGE_TEXT_BYTES = 64 };

/* Which thread made a range, and when. */
struct origin {
	uint64_t since_ns; /* when the range was made (CLOCK_BOOTTIME) */
	uint64_t stack;    /* id of the stack; 0 = unknown */
	uint32_t tid;
	uint32_t operation; /* RESOURCE_OP_* */
	uint32_t context;   /* bits of the contexts that were open */
};

struct range {
	uint64_t start, end; /* `end` is the first address after the range; start < end */
	struct origin origin;
	char text[RANGE_TEXT_BYTES]; /* ends with NUL */
};

struct ranges {
	struct range *list; /* sorted by address; owned */
	size_t n, room;
	size_t n_max;    /* 0 = no limit */
	uint64_t n_full; /* number of ranges for which there was no room */
};

/*
 * Receives removed ranges (made false) and new ones (true). If a range is cut, the whole range is
 * removed, and the rest of it is new.
 */
typedef void (*ranges_changed_fn)(const struct range *range, bool made, void *userdata);

struct ranges_sink {
	ranges_changed_fn changed; /* NULL = changes are not reported */
	void *userdata;
};

void ranges_deinit(struct ranges *set);

/*
 * Adds RANGE, and removes ranges that it covers. Returns 0 or -ENOMEM. If there is no room, the
 * range is only counted, and the result is 0.
 */
int ranges_add(struct ranges *set, const struct range *range, const struct ranges_sink *sink);

/* Removes the ranges from START to END that existed by UNTIL_NS. Returns 0 or -ENOMEM. */
int ranges_remove(struct ranges *set, uint64_t start, uint64_t end, uint64_t until_ns,
		  const struct ranges_sink *sink);

/* The effect of mremap(): BYTES at FROM have become NEW_BYTES at TO. */
struct ranges_move {
	uint64_t from, bytes, to, new_bytes;
	uint64_t begun_ns; /* ranges that were made at FROM later than this are not affected */
	bool keep;         /* the old range is kept, too */
};

/*
 * Moves known ranges. If memory has grown, the new part has the origin of the last range. Returns 0
 * or -ENOMEM.
 */
int ranges_move(struct ranges *set, const struct ranges_move *move, const struct ranges_sink *sink);

/* Returns the first range that ends after ADDRESS, or the end of the list. */
struct range *ranges_from(const struct ranges *set, uint64_t address);
