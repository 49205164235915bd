/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads a leak report, line by line, in one pass and bounded memory.
 *
 * Every byte of the input is in the raw text of exactly one record, in order, so copying these
 * texts copies the report. Other text is a comment (RTRACE_NOTE). Errors in a line are reported by
 * a callback, and never make the reader fail. Only the first RTRACE_LINE_MAX bytes of a line are
 * parsed, as other readers do; the rest of a longer line follows as comments.
 *
 * Relations between lines are resolved here: the calls that share a backtrace, the call of each
 * argument and frame, and the registered resource of each call.
 */
#pragma once

#include "base/cleanup.h"
#include "base/input.h"
#include "writer/rtrace/rtrace-record.h"

/* The positive results of rtrace_reader_new_*(). */
enum rtrace_alien {
	RTRACE_ALIEN_EMPTY = 1, /* the input has no bytes */
	RTRACE_ALIEN_OTHER,     /* the input does not begin with a header */
};

/* An error in a line; the texts are static. */
struct rtrace_problem {
	uint64_t line;
	const char *what;
	const char *done; /* the treatment of the line */
};

typedef void (*rtrace_problem_fn)(void *userdata, const struct rtrace_problem *problem);

/* A kind of resource to which calls can belong. */
struct rtrace_type {
	uint32_t mask;
	bool refcount;
	char *type, *description; /* owned */
};

struct rtrace_reader;

/*
 * Start to read by the callback READ, or N bytes at P (borrowed). PROBLEM can be NULL. Wait for the
 * first bytes. Return 0, an enum rtrace_alien, or a negative errno.
 */
int rtrace_reader_new_source(struct rtrace_reader **ret, input_read_fn read, void *source,
			     rtrace_problem_fn problem, void *userdata);
int rtrace_reader_new_memory(struct rtrace_reader **ret, const void *p, size_t n,
			     rtrace_problem_fn problem, void *userdata);

struct rtrace_reader *rtrace_reader_free(struct rtrace_reader *r);
DEFINE_CLEANUP(struct rtrace_reader *, rtrace_reader_free)

/*
 * Reads the next record. Returns 1 with *RET, which is valid until the next call; 0 at the end; or
 * a negative errno.
 */
int rtrace_reader_next(struct rtrace_reader *r, const struct rtrace_record **ret);

/* Returns the resources that were registered so far, in order of resource_number. */
const struct rtrace_type *rtrace_reader_types(const struct rtrace_reader *r, size_t *ret_n);

/*
 * Resolves the type of a call that does not come from a reader. Returns the number of its resource:
 * the one that the call names, or the first one if the call names none. Returns -1 if the resource
 * is not in TYPES. Text that was parsed as an unknown type becomes a part of the function's name,
 * like the arguments of a template.
 */
int rtrace_settle_type(const struct rtrace_type *types, size_t n, struct rtrace_call *c);
