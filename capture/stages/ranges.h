/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ranges of addresses with their origins: the mappings of a process. They do not overlap. Cut,
 * moved and split ranges keep their origin.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RANGE_TEXT_BYTES = 64 };

/* The thread that made a range, and the time. */
struct origin {
	uint64_t since_ns; /* CLOCK_BOOTTIME */
	uint64_t stack;    /* id; 0 = unknown */
	uint32_t tid;
	uint32_t operation; /* RESOURCE_OP_* */
	uint32_t context;   /* bits of the open contexts */
};

struct range {
	uint64_t start, end; /* end is exclusive; start < end */
	struct origin origin;
	char text[RANGE_TEXT_BYTES]; /* ends with NUL */
};

struct ranges {
	struct range *list; /* sorted by address; owned */
	size_t n, room;
	size_t n_max;    /* 0 = no limit */
	uint64_t n_full; /* ranges for which there was no room */
};

/*
 * Receives removed ranges (made false) and new ones (true). A range that is cut is removed as a
 * whole, and its rest is new.
 */
typedef void (*ranges_changed_fn)(const struct range *range, bool made, void *userdata);

struct ranges_sink {
	ranges_changed_fn changed; /* NULL = not reported */
	void *userdata;
};

void ranges_deinit(struct ranges *set);

/*
 * Adds RANGE, and removes ranges that it covers. Returns 0 or -ENOMEM. Without room, counts the
 * range instead, and returns 0.
 */
int ranges_add(struct ranges *set, const struct range *range, const struct ranges_sink *sink);

/* Removes the ranges from START to END that existed by UNTIL_NS. Returns 0 or -ENOMEM. */
int ranges_remove(struct ranges *set, uint64_t start, uint64_t end, uint64_t until_ns,
		  const struct ranges_sink *sink);

/* The effect of mremap(): BYTES at FROM have become NEW_BYTES at TO. */
struct ranges_move {
	uint64_t from, bytes, to, new_bytes;
	uint64_t begun_ns; /* ranges made at FROM later are not affected */
	bool keep;         /* the old range is kept, too */
};

/* Moves known ranges. A grown part has the origin of the last one. Returns 0 or -ENOMEM. */
int ranges_move(struct ranges *set, const struct ranges_move *move, const struct ranges_sink *sink);

/* The first range that ends after ADDRESS, or the end of the list. */
struct range *ranges_from(const struct ranges *set, uint64_t address);
