/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calls, moments and allocations of an archive as trace points (trace-db): arguments, results
 * and collected values as variables, and what was allocated as sizes of buffers. A value that is no
 * number is a text, as people read it; an enumeration and a pointer to a string are both, two
 * variables of one name. A block that is allocated has its `address` and its `bytes`; one that is
 * freed, its `address`, whose buffer still has its size there. Auxiliary data are the time (ns),
 * and the thread with its process in the upper half.
 *
 * Addresses mean something in one address space only, so each has a trace of its own: that of a
 * process, until it executes another program.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "base/table.h"
#include "base/text-set.h"
#include "cli/moments/moment-store.h"
#include "cli/query/trace-statements.h"
#include "writer/event.h"
#include "writer/tracedb/tracedb-model.h"

struct trace_points_item;

/* An address space. */
struct trace_points_space {
	uint32_t pid;
	uint32_t number; /* of those of the process, from 0 */
};

struct trace_points {
	struct trace_points_item *items; /* calls, moments, allocations and frees; owned */
	size_t n, room;
	struct text_set names;
	const char *name_of_address, *name_of_bytes; /* of blocks; of `names`, once there are any */
	struct outbuf texts;                         /* of values, one behind the other */
	struct trace_statements statements;
	struct call_stacks stacks;
	bool has_stacks; /* trace_points_init() */
	struct moment_store moments;
	struct table spaces; /* pid + 1 -> number of its address space now */
	uint64_t n_points;   /* calls, moments and allocations */
	uint64_t n_lost;     /* calls, moments and allocations that the recording lost */
	bool has_blocks;     /* some blocks and their sizes are known */
	uint64_t sampled;    /* not 0: only some allocations were recorded */
};

/* All zeroes is good, too: then callers are not known. Returns CLI_OK or CLI_FAILED. */
int trace_points_init(struct trace_points *t);
void trace_points_deinit(struct trace_points *t);

/* Takes any event in. Returns 0 or -ENOMEM. */
int trace_points_take(void *points, const struct event *ev);

/*
 * Says on stderr if there are no points of the archive NAME, or if sizes of buffers are not known:
 * then it returns CLI_FAILED, else CLI_OK.
 */
int trace_points_complain(const struct trace_points *t, const char *name);

/*
 * The address spaces that have points, by process and in order, into a new array (free() it).
 * Returns 0 or -ENOMEM.
 */
int trace_points_spaces(const struct trace_points *t, struct trace_points_space **ret,
			size_t *ret_n);

/* Appends the trace of SPACE to TO. Returns 0 or a negative errno. */
int trace_points_write(const struct trace_points *t, const struct trace_points_space *space,
		       enum tracedb_layout layout, struct outbuf *to);
