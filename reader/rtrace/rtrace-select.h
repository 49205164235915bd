/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Selects calls of a report by their resource, origin and size.
 */
#pragma once

#include "reader/rtrace/rtrace-reader.h"

/* The addresses that a call must come from. */
struct rtrace_call_range {
	const char *target; /* the end of a mapped file's path, which START counts from; or NULL */
	uint64_t start, size; /* bytes */
};

/* Criteria; those that are not set are ignored. All pointers are borrowed. */
struct rtrace_select {
	/* Types, or bits of their masks. Calls without a resource never match. */
	const char *const *types;
	size_t n_types;
	uint32_t type_mask;
	/* Contexts that were active, by name or bit; or no context at all. */
	const char *const *contexts;
	size_t n_contexts;
	uint32_t context_mask;
	bool no_context;
	bool has_size, has_index;
	uint64_t min_size, max_size;   /* of allocations, and of their deallocations */
	uint64_t min_index, max_index; /* of calls, both included */
	const uint64_t *include;       /* only these indices, sorted; NULL = all */
	size_t n_include;
	const uint64_t *exclude; /* none of these */
	size_t n_exclude;
	const struct rtrace_call_range *range; /* NULL = from anywhere */
};

/* A name that a --context had, and the bit it was found to be. */
struct rtrace_select_state {
	const struct rtrace_select *select;
	uint32_t context_mask; /* including the contexts with the names, as far as they are known */
	size_t n_found;        /* contexts that were named and found */
	struct rtrace_span {
		uint64_t start, end;
	} spans[64]; /* where the range was mapped */
	size_t n_spans;
};

void rtrace_select_init(struct rtrace_select_state *s, const struct rtrace_select *select);

/* Records contexts and mapped files of the report. */
void rtrace_select_learn(struct rtrace_select_state *s, const struct rtrace_record *record);

/* Whether a call is selected, regardless of its size and backtrace. TYPES are those of the
 * reader. */
bool rtrace_select_call(const struct rtrace_select_state *s, const struct rtrace_record *record,
			const struct rtrace_type *types);

bool rtrace_select_size(const struct rtrace_select_state *s, uint64_t size);

/* Whether ADDRESS is in the range that calls must come from. */
bool rtrace_select_address(const struct rtrace_select_state *s, uint64_t address);
