/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for the addresses of a leak report, from the files that it says were mapped: reader/symbols
 * behind the callbacks of struct rtrace_postprocess_io.
 *
 * A report has no build ids, so nothing says that a file is the one that was mapped; whoever asks
 * for names vouches for that. Of inlined functions the line shows the one that they were inlined
 * into, with the line in it: a frame has one name.
 */
#pragma once

#include "base/table.h"
#include "cli/common/symbol-options.h"
#include "writer/rtrace/rtrace-record.h"

struct rtrace_names {
	struct symbols *symbols; /* borrowed */
	struct rtrace_names_map {
		char *path;  /* owned */
		char *shown; /* owned; as it is written in a report */
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

/* A file is mapped. Returns 0 or -ENOMEM. */
int rtrace_names_map(struct rtrace_names *names, const struct rtrace_map *map);

/* name() of struct rtrace_postprocess_io; *RET is valid until the next call. */
int rtrace_names_find(struct rtrace_names *names, uint64_t address, uint64_t n_maps,
		      struct rtrace_text *ret);

/* On stderr: a line for each file without names for what lies in it, and the problems met. */
void rtrace_names_print_missing(const struct rtrace_names *names);
