/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads a leak report, line by line, in one pass and bounded memory.
 *
 * Every byte of the input is in the raw text of exactly one record, in order, so that who copies
 * those copies the report. What is no record is a comment (RTRACE_NOTE), and what is wrong with a
 * line is reported by a callback; nothing in a report makes the reader fail. A line longer than
 * RTRACE_LINE_MAX is read as far as that, as others do; the rest of it follows as comments.
 *
 * What depends on other lines is settled here: which calls share a backtrace, that arguments and
 * frames have a call, and which of the registered resources a call is of.
 */
#pragma once

#include "base/cleanup.h"
#include "base/input.h"
#include "writer/rtrace/rtrace-record.h"

/* What rtrace_reader_new_*() answer, beside 0 and negative errnos. */
enum rtrace_alien {
	RTRACE_ALIEN_EMPTY = 1, /* no byte at all */
	RTRACE_ALIEN_OTHER,     /* does not begin with a header */
};

/* What was wrong with a line; the texts are static. */
struct rtrace_problem {
	uint64_t line;
	const char *what;
	const char *done; /* what became of it */
};

typedef void (*rtrace_problem_fn)(void *userdata, const struct rtrace_problem *problem);

/* A resource that calls may be of. */
struct rtrace_type {
	uint32_t mask;
	bool refcount;
	char *type, *description; /* owned */
};

struct rtrace_reader;

/*
 * Start to read what READ brings, or N bytes at P (borrowed). PROBLEM may be NULL. Wait for the
 * first bytes. Return 0, an enum rtrace_alien, or a negative errno.
 */
int rtrace_reader_new_source(struct rtrace_reader **ret, input_read_fn read, void *source,
			     rtrace_problem_fn problem, void *userdata);
int rtrace_reader_new_memory(struct rtrace_reader **ret, const void *p, size_t n,
			     rtrace_problem_fn problem, void *userdata);

struct rtrace_reader *rtrace_reader_free(struct rtrace_reader *r);
DEFINE_CLEANUP(struct rtrace_reader *, rtrace_reader_free)

/*
 * Reads on. Returns 1 with *RET, which holds until the next call; 0 at the end; or a negative
 * errno.
 */
int rtrace_reader_next(struct rtrace_reader *r, const struct rtrace_record **ret);

/* The resources that were registered so far, in that order: what resource_number counts. */
const struct rtrace_type *rtrace_reader_types(const struct rtrace_reader *r, size_t *ret_n);

/*
 * The number of the resource that a call is of: the one that it names, the first if it names none,
 * -1 if it is none of TYPES. What was taken for a type and is none goes back to the function's
 * name, as a template's arguments do. For calls that did not come out of a reader; those that did
 * are settled.
 */
int rtrace_settle_type(const struct rtrace_type *types, size_t n, struct rtrace_call *c);
