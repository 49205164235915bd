/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for the addresses of a leak report, from the mapped files that it lists: reader/symbols
 * behind the callbacks of struct rtrace_postprocess_io.
 *
 * A report has no build ids, so it is not checked whether a file is the mapped file: a user who
 * asks for names asserts this. A frame has only one name. If functions are inlined, this is the
 * function that contains them, with its line.
 */
#pragma once

#include "base/table.h"
#include "cli/common/symbol-options.h"
#include "writer/rtrace/rtrace-record.h"

struct rtrace_names {
	struct symbols *symbols; /* borrowed */
	struct rtrace_names_map {
		char *path;  /* owned */
		char *shown; /* path as written in a report; owned */
		uint64_t start, end;
		uint64_t n_asked, n_unnamed;
	} * maps; /* owned */
	size_t n, room;
	struct table known; /* address -> struct known_name, owned */
	uint64_t n_asked, n_unmapped;
	char text[RTRACE_LINE_WRITE_MAX];
};

void rtrace_names_init(struct rtrace_names *names, struct symbols *symbols);
void rtrace_names_deinit(struct rtrace_names *names);

/* Adds a mapped file. Returns 0 or -ENOMEM. */
int rtrace_names_map(struct rtrace_names *names, const struct rtrace_map *map);

/* The function name() of struct rtrace_postprocess_io; *RET is valid until the next call. */
int rtrace_names_find(struct rtrace_names *names, uint64_t address, uint64_t n_maps,
		      struct rtrace_text *ret);

/* Prints on stderr a line for each file with unnamed addresses, and the problems. */
void rtrace_names_print_missing(const struct rtrace_names *names);
