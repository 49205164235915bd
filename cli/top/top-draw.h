/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A window of `kymo top` for people and for programs.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "reader/views/live.h"

struct json_object;
struct top_usages;

enum top_view {
	TOP_ALL, /* functions, and processes */
	TOP_FUNCTIONS,
	TOP_PROCESSES,
	TOP_THREADS,
	TOP_HELP, /* what the keys and the columns are */
};

/* What processes and threads are sorted by. */
enum top_sort {
	TOP_BY_CPU,
	TOP_BY_SWITCHES,
	TOP_BY_WAIT,
	TOP_BY_MEMORY,
	TOP_BY_IO,
	TOP_SORT_MAX,
};

/* What is shown beside the window itself. */
struct top_state {
	uint64_t real_ns;   /* wall clock at its end */
	uint64_t own_ns;    /* CPU time that this process took, in ... */
	uint64_t own_of_ns; /* ... this time */
	uint64_t behind_ns; /* how far the stream is behind; small = not worth saying */
	uint64_t n_damages; /* of the stream, so far */
	const struct top_usages *usages; /* borrowed; NULL = nothing is known */
	enum top_view view;
	enum top_sort sort;
	bool paused;
};

/* USAGES, which may be NULL, are only looked at to sort by memory and I/O. */
void top_sort(struct live_window *w, const struct top_usages *usages, enum top_sort by);

/*
 * Appends it to B as text: for a terminal of ROWS lines of COLUMNS, which it fills, or with both 0
 * for a file. Returns 0 or -ENOMEM.
 */
int top_draw(struct outbuf *b, const struct live_window *w, const struct top_state *s,
	     unsigned rows, unsigned columns);

/* As a JSON object (json-c; the caller puts it). */
struct json_object *top_json(const struct live_window *w, const struct top_state *s);
