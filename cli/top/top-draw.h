/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Formats a window of `kymo top` as text or JSON.
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
	TOP_HELP, /* explains the keys and columns */
};

/* The keys by which processes and threads are sorted. */
enum top_sort {
	TOP_BY_CPU,
	TOP_BY_SWITCHES,
	TOP_BY_WAIT,
	TOP_BY_MEMORY,
	TOP_BY_IO,
	TOP_SORT_MAX,
};

/* The data that is shown besides the window. */
struct top_state {
	uint64_t real_ns;                /* wall clock at the end of the window */
	uint64_t own_ns;                 /* CPU time of this process, within ... */
	uint64_t own_of_ns;              /* ... this time */
	uint64_t behind_ns;              /* delay of the stream; small values are not shown */
	uint64_t n_damages;              /* number of damages in the stream so far */
	const struct top_usages *usages; /* borrowed; NULL = unknown */
	enum top_view view;
	enum top_sort sort;
	bool paused;
};

/* Sorts the tasks of W. USAGES is only needed to sort by memory and I/O, and can be NULL. */
void top_sort(struct live_window *w, const struct top_usages *usages, enum top_sort by);

/*
 * Appends the window to B as text: for a terminal of ROWS lines and COLUMNS columns, all of which
 * are filled; or, if both are 0, for a file. Returns 0 or -ENOMEM.
 */
int top_draw(struct outbuf *b, const struct live_window *w, const struct top_state *s,
	     unsigned rows, unsigned columns);

/* Returns the window as a JSON object (json-c), owned by the caller. */
struct json_object *top_json(const struct live_window *w, const struct top_state *s);
