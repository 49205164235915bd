/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Resolved specifications of calls: the result of call_resolve() (cli/places/call-resolve.h).
 */
#pragma once

#include <stddef.h>

enum { CALL_SOURCE_MAX = 320 };

struct call_resolved {
	struct call_resolved_one {
		char *spec;                   /* owned */
		char source[CALL_SOURCE_MAX]; /* "file.c:42", or "" */
	} * list;                             /* owned */
	size_t n;
	/* Messages about matching functions that are left out, or NULL; owned: */
	char *left_out; /* names that mean several functions, or a label */
	char *refused;  /* functions on which the kernel sets no probe */
	/* Sentences about functions that are recorded: */
	char *clipped; /* functions with more values than are recorded */
	char *untyped; /* functions whose arguments and results are unknown */
};

void call_resolved_deinit(struct call_resolved *r);
