/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The last step of post-processing: counts the records shown, truncates backtraces, adds names to
 * frames, and passes everything to the caller.
 */
#pragma once

#include "reader/rtrace/rtrace-showing.h"

struct rtrace_output {
	const struct rtrace_postprocess_options *options;
	const struct rtrace_postprocess_io *io;
	uint64_t n_maps;   /* number of maps so far */
	uint64_t shown;    /* number of calls that were shown */
	uint32_t n_frames; /* number of frames of the current backtrace */
	int type;          /* resource of the last call that was shown; -1 = no resource */
	bool clamped;      /* the size of that call did not fit into its field */
	struct rtrace_output_sum {
		uint64_t count, size;
		/* Sums of allocations; the first element is for calls without a resource. */
	} sums[RTRACE_RESOURCE_MAX + 1];
};

/* Writes the header, with the filters applied to the report. */
int rtrace_output_header(struct rtrace_output *o, const struct rtrace_record *record);

/* Write a call, whose resource was resolved before, and an argument of the last call. */
int rtrace_output_call(struct rtrace_output *o, const struct rtrace_record *record);
int rtrace_output_arg(struct rtrace_output *o, const struct rtrace_record *record);

/*
 * Writes a frame that was recorded after N_MAPS maps. Returns 1, 0 if the backtrace has too many
 * frames already, or a negative errno.
 */
int rtrace_output_frame(struct rtrace_output *o, const struct rtrace_record *record,
			uint64_t n_maps);

/* Ends a backtrace. RECORD is its end in the report; NULL = the report does not contain it. */
int rtrace_output_end(struct rtrace_output *o, const struct rtrace_record *record);

/* Writes any other record unchanged. */
int rtrace_output_other(struct rtrace_output *o, const struct rtrace_record *record);

/* Writes how much of each of TYPES was leaked. */
int rtrace_output_leaks(struct rtrace_output *o, const struct rtrace_type *types, size_t n);
