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
	uint64_t n_maps;   /* so far */
	uint64_t shown;    /* calls */
	uint32_t n_frames; /* frames of the backtrace that is shown */
	int type;          /* the resource of the call shown last; -1 = none */
	bool clamped;      /* its size did not fit */
	struct rtrace_output_sum {
		uint64_t count, size;
	} sums[RTRACE_RESOURCE_MAX + 1]; /* of allocations; the first: of no resource */
};

/* Writes the header, with the filters applied to the report. */
int rtrace_output_header(struct rtrace_output *o, const struct rtrace_record *record);

/* A call with its resource settled, and an argument of the last one. */
int rtrace_output_call(struct rtrace_output *o, const struct rtrace_record *record);
int rtrace_output_arg(struct rtrace_output *o, const struct rtrace_record *record);

/*
 * A frame, of when there were N_MAPS; too many are not shown: 0. Returns 1, 0, or a negative errno.
 */
int rtrace_output_frame(struct rtrace_output *o, const struct rtrace_record *record,
			uint64_t n_maps);

/* The end of a backtrace: RECORD, or NULL for one that is not in the report. */
int rtrace_output_end(struct rtrace_output *o, const struct rtrace_record *record);

/* Writes any other record unchanged. */
int rtrace_output_other(struct rtrace_output *o, const struct rtrace_record *record);

/* How much of each of TYPES has leaked. */
int rtrace_output_leaks(struct rtrace_output *o, const struct rtrace_type *types, size_t n);
