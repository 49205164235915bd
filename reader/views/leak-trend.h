/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The change of a value over time: its values at the ends of at most LEAK_WINDOWS_MAX windows of
 * equal length. If more are needed, windows are joined in pairs, so memory does not grow with time.
 */
#pragma once

#include <stdint.h>

enum { LEAK_WINDOWS_MAX = 32 };

/* The length of the windows of a new trend. */
#define LEAK_WINDOW_NS UINT64_C(100000000)

/* A struct with all bytes zero is an empty trend. */
struct leak_trend {
	uint64_t window_ns; /* 0 = LEAK_WINDOW_NS */
	uint32_t n;         /* number of windows with a value */
	uint64_t values[LEAK_WINDOWS_MAX];
};

/*
 * Sets the value from AGE_NS after the begin on. Ages must not decrease: a lower age counts as the
 * last age.
 */
void leak_trend_set(struct leak_trend *t, uint64_t age_ns, uint64_t value);

struct leak_growth {
	uint64_t window_ns;
	uint32_t windows;    /* number of windows from the first one with a value on */
	uint32_t grew, fell; /* numbers of windows in which the value grew, or fell */
	uint32_t quarters;   /* number of quarters of these windows in which the value grew */
	double per_second;   /* the slope, by least squares */
};

/*
 * Computes the growth until AGE_NS. The windows become at least MIN_WINDOW_NS long, the time
 * between two readings of the value. T must not be used afterwards.
 */
void leak_trend_finish(struct leak_trend *t, uint64_t age_ns, uint64_t min_window_ns,
		       struct leak_growth *ret);
