/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Implements `kymo postprocess`: leaks, grouping by backtrace, order, selection, names.
 *
 *	rtrace-choose   pass 1: selects the calls to show
 *	this file       pass 2: shows them, in the order of the report; or
 *	rtrace-group    collects them in pass 2, and then shows them in another order
 *
 * Without any option, there is one pass, which copies the bytes of the report. Otherwise, records
 * that do not belong to calls are kept unchanged in their places (before all calls, if calls are
 * sorted). Temporary comments ("# ") are dropped, and the header lists the options. A compressed
 * report stays compressed.
 *
 * A report is read by offset, since it is read twice, and its calls a third time if they are
 * sorted. Calls that were added after the first pass are ignored. Otherwise, the report must not
 * change meanwhile.
 */
#pragma once

#include "reader/rtrace/rtrace-choose.h"
#include "reader/rtrace/rtrace-showing.h"

struct rtrace_postprocess_result {
	struct rtrace_choose_counts counts;
	uint64_t shown;       /* number of calls that were shown */
	bool unsorted;        /* the report's calls are not in the order of their indices */
	bool context_missing; /* a context that was selected by name is not in the report */
};

/*
 * Returns 0, an enum rtrace_alien, or a negative errno: an error of IO, -ENOMEM, -ESTALE if the
 * report has become shorter, -EOVERFLOW if it has more calls than can be counted.
 */
int rtrace_postprocess(const struct rtrace_postprocess_options *options,
		       const struct rtrace_postprocess_io *io,
		       struct rtrace_postprocess_result *ret);
