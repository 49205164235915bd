/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calls, moments and allocations of an archive as trace points (trace-db). Arguments, results
 * and collected values are variables, and allocations are sizes of buffers. A value that is not a
 * number is a text; an enumeration and a pointer to a string are both, as two variables with the
 * same name. An allocated block has the variables `address` and `bytes`; a freed one has `address`,
 * whose buffer still has its size there. Auxiliary data are the time (ns), and the thread with its
 * process in the upper half.
 *
 * Addresses are valid in one address space only, so each address space has its own trace: the
 * memory of a process until its next exec.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cli/common/open-trace.h"
#include "base/outbuf.h"
#include "base/table.h"
#include "base/text-set.h"
#include "cli/moments/moment-store.h"
#include "cli/query/trace-statements.h"
#include "model/event.h"
#include "writer/tracedb/tracedb-model.h"

struct trace_points_item;

/* An address space. */
struct trace_points_space {
	uint32_t pid;
	uint32_t number; /* number of the address space in its process, from 0 */
};

struct trace_points {
	struct trace_points_item *items; /* calls, moments, allocations and frees; owned */
	size_t n, room;
	struct text_set names;
	const char *name_of_address,
		/* Names of the variables of blocks, in `names`; NULL before the first block. */
		*name_of_bytes;
	struct outbuf texts; /* texts of values, concatenated */
	struct trace_statements statements;
	struct call_stacks stacks;
	bool has_stacks; /* trace_points_init() was called */
	struct moment_store moments;
	struct table spaces; /* pid + 1 -> number of its current address space */
	uint64_t n_points;   /* number of calls, moments and allocations */
	uint64_t n_lost;     /* number of calls, moments and allocations that the recording lost */
	bool has_blocks;     /* some blocks and their sizes are known */
	uint64_t sampled;    /* if not 0: only some allocations were recorded */
};

/*
 * Initializes T. A struct with all bytes zero is valid, too, but has no callers. Returns CLI_OK or
 * CLI_FAILED.
 */
int trace_points_init(struct trace_points *t);
void trace_points_deinit(struct trace_points *t);

/* Adds an event of any kind. Returns 0 or -ENOMEM. */
int trace_points_on_event(void *points, const struct event *ev);

/* Reports on stderr if T, read from OF, has no points, or if sizes of buffers are unknown. In these
 * cases, returns CLI_FAILED, unless the recording was asked for points; otherwise CLI_OK. */
int trace_points_complain(const struct trace_points *t, const struct open_trace *of);

/* The address spaces with points, sorted by process and time, as a new array (free() it). Returns 0
 * or -ENOMEM. */
int trace_points_spaces(const struct trace_points *t, struct trace_points_space **ret,
			size_t *ret_n);

/* Appends the trace of SPACE to TO. Returns 0 or a negative errno. */
int trace_points_write(const struct trace_points *t, const struct trace_points_space *space,
		       enum tracedb_layout layout, struct outbuf *to);
