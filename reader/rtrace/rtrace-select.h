/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Selects calls of a report by their resource, origin and size.
 */
#pragma once

#include "reader/rtrace/rtrace-reader.h"

/* A range of addresses: a selected call has a frame in it. */
struct rtrace_call_range {
	/*
	 * The end of the path of a mapped file. START is then relative to that file. NULL = START
	 * is an address.
	 */
	const char *target;
	uint64_t start, size; /* range in bytes */
};

/* Criteria. Criteria that are not set are ignored. All pointers are borrowed. */
struct rtrace_select {
	/* Types of resources, or bits of their masks. Calls without a resource never match. */
	const char *const *types;
	size_t n_types;
	uint32_t type_mask;
	/* Contexts that were active, by name or bit; or calls in no context. */
	const char *const *contexts;
	size_t n_contexts;
	uint32_t context_mask;
	bool no_context;
	bool has_size, has_index;
	uint64_t min_size, max_size;   /* range of sizes, for allocations and their deallocations */
	uint64_t min_index, max_index; /* range of indices of calls, both included */
	const uint64_t *include;       /* indices of selected calls, sorted; NULL = all */
	size_t n_include;
	const uint64_t *exclude; /* indices of excluded calls */
	size_t n_exclude;
	/* Range that calls must come from; NULL = any address. */
	const struct rtrace_call_range *range;
};

/* The state of a selection: bits of contexts, and addresses of the target, both as far as known. */
struct rtrace_select_state {
	const struct rtrace_select *select;
	/* Bits of the selected contexts, including the names that are known so far. */
	uint32_t context_mask;
	size_t n_found; /* number of contexts that were selected by name and found */
	struct rtrace_span {
		uint64_t start, end;
	} spans[64]; /* ranges at which the target was mapped */
	size_t n_spans;
};

void rtrace_select_init(struct rtrace_select_state *s, const struct rtrace_select *select);

/* Records contexts and mapped files of the report. */
void rtrace_select_learn(struct rtrace_select_state *s, const struct rtrace_record *record);

/*
 * Returns true if a call is selected, regardless of its size and backtrace. TYPES are those of the
 * reader.
 */
bool rtrace_select_call(const struct rtrace_select_state *s, const struct rtrace_record *record,
			const struct rtrace_type *types);

bool rtrace_select_size(const struct rtrace_select_state *s, uint64_t size);

/* Returns true if ADDRESS is in the range that calls must come from. */
bool rtrace_select_address(const struct rtrace_select_state *s, uint64_t address);
