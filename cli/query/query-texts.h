/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks the constants that an expression compares with names of functions, types or variables:
 * some name must be able to fulfil each comparison. A misspelt name makes the comparison always
 * false. This must be reported, since an empty result would hide it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "reader/query/query-expression.h"

/* The maximum number of checked comparisons, and the size of a similar name. */
enum { QUERY_TEXTS_MAX = 32, QUERY_TEXT_MAX = 64 };

struct query_texts {
	struct query_texts_check {
		enum query_kind what;         /* QUERY_FUNCTION, QUERY_TYPE or QUERY_NAME */
		enum query_kind how;          /* QUERY_IS, QUERY_MATCHES or QUERY_CONTAINS */
		const char *text;             /* the constant in the expression */
		bool seen;                    /* some name in the trace fulfils the comparison */
		unsigned distance;            /* edit distance of the nearest name */
		char nearest[QUERY_TEXT_MAX]; /* "" = no name is similar */
	} list[QUERY_TEXTS_MAX];
	size_t n;
};

/* Finds the comparisons of E, which T borrows. */
void query_texts_init(struct query_texts *t, const struct query_expression *e);

/* Notes that the trace has a function, a type or a variable (WHAT) with this name. */
void query_texts_add(struct query_texts *t, enum query_kind what, const char *name);

/*
 * Reports on stderr the comparisons that are false for each point of the trace NAME. Returns
 * whether there are any. HAS_FUNCTIONS: the trace can have names of functions.
 */
bool query_texts_say(const struct query_texts *t, const char *name, bool has_functions);
