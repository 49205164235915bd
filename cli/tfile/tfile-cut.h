/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo cut of a GDB trace file: selects frames by number, tracepoint, thread, process, CPU and
 * time. The last four are trace state variables, which a file can lack.
 */
#pragma once

#include "cli/common/open-trace.h"
#include "cli/common/part-options.h"
#include "cli/common/verb-options.h"
#include "cli/tfile/tfile-copy.h"

enum { TFILE_CUT_RANGES = 64 };

/* Numbers from FIRST to LAST. */
struct tfile_cut_ranges {
	struct {
		uint64_t first, last;
	} list[TFILE_CUT_RANGES];
	size_t n; /* number of ranges; 0 = all numbers */
};

struct tfile_cut_options {
	struct tfile_cut_ranges frames, tracepoints;
	struct part_ids tids;
};

/* The parser of --frames and --tracepoint, for a struct tfile_cut_ranges: "0,5-9,20-". */
int tfile_cut_parse_ranges(void *userdata, char *value);

/* The rows of the options, for verb_options_parse(). */
#define TFILE_CUT_ROWS(o)                                                                          \
	OPTION_VALUE("frames", 0, tfile_cut_parse_ranges, &(o)->frames),                           \
		OPTION_VALUE("tid", 0, part_options_tids, &(o)->tids),                             \
		OPTION_VALUE("tracepoint", 0, tfile_cut_parse_ranges, &(o)->tracepoints)

#define TFILE_CUT_HELP                                                                             \
	"\nFor GDB trace files only:\n"                                                            \
	"      --frames=SET   only these frames: 5, 2-4, 10-, ...\n"                               \
	"      --tid=TID,...  only frames of these threads\n"                                      \
	"      --tracepoint=SET\n"                                                                 \
	"                     only frames of these tracepoints\n"

struct tfile_cut {
	const struct part_options *part;
	const struct tfile_cut_options *only;
	struct tfile_copy *copy; /* the copy, which gets the findings since T was opened */
	bool force, json;
};

/* Returns true if an option was given that applies only to GDB trace files. */
bool tfile_cut_is_requested(const struct tfile_cut_options *o);

/* Writes the selected part of T to a file at TO. Returns an enum cli_exit. */
int tfile_cut(const struct tfile_cut *cut, struct open_trace *t, const char *to);
