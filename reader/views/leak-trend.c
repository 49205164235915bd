/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/views/leak-trend.h"

/* Joins pairs of windows. The value of a new window is the later one of both values. */
static void leak_trend_halve(struct leak_trend *t)
{
	uint32_t n = (t->n + 1) / 2;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t last = 2 * i + 1 < t->n ? 2 * i + 1 : 2 * i;

		t->values[i] = t->values[last];
	}
	t->n = n;
	t->window_ns *= 2;
}

/* Extends the values to N windows. */
static void leak_trend_extend(struct leak_trend *t, uint32_t n)
{
	uint64_t value = t->n > 0 ? t->values[t->n - 1] : 0;

	while (t->n < n)
		t->values[t->n++] = value;
}

/* Returns the number of the window that contains AGE_NS. Widens the windows if it is beyond the
 * last. */
static uint32_t leak_trend_window_of(struct leak_trend *t, uint64_t age_ns)
{
	if (t->window_ns == 0)
		t->window_ns = LEAK_WINDOW_NS;
	while (age_ns / t->window_ns >= LEAK_WINDOWS_MAX)
		leak_trend_halve(t);
	return (uint32_t)(age_ns / t->window_ns);
}

void leak_trend_set(struct leak_trend *t, uint64_t age_ns, uint64_t value)
{
	uint32_t window = leak_trend_window_of(t, age_ns);

	if (t->n > 0 && window < t->n - 1)
		window = t->n - 1;
	leak_trend_extend(t, window + 1);
	t->values[window] = value;
}

static double leak_trend_slope(const uint64_t *values, uint32_t n, uint64_t window_ns)
{
	double mean_x = (n - 1) / 2.0, mean = 0, sum = 0, squares = 0;

	for (uint32_t i = 0; i < n; i++)
		mean += (double)values[i] / n;
	for (uint32_t i = 0; i < n; i++) {
		sum += (i - mean_x) * ((double)values[i] - mean);
		squares += (i - mean_x) * (i - mean_x);
	}
	return squares > 0 ? sum / squares * 1e9 / (double)window_ns : 0;
}

/* Ends the last window at AGE_NS, the end of the watch. If this window is shorter than half a
 * window, it is joined with the window before. */
static void leak_trend_end_windows(struct leak_trend *t, uint64_t age_ns)
{
	uint32_t last = leak_trend_window_of(t, age_ns);

	leak_trend_extend(t, last + 1);
	if (last > 0 && age_ns % t->window_ns < t->window_ns / 2) {
		t->values[last - 1] = t->values[last];
		t->n = last;
	}
}

void leak_trend_finish(struct leak_trend *t, uint64_t age_ns, uint64_t min_window_ns,
		       struct leak_growth *ret)
{
	uint32_t first = 0, quarters = 0;
	uint64_t before = 0;

	leak_trend_end_windows(t, age_ns);
	while (t->window_ns < min_window_ns && t->n > 1)
		leak_trend_halve(t);
	while (first < t->n && t->values[first] == 0)
		first++;
	*ret = (struct leak_growth){ .window_ns = t->window_ns, .windows = t->n - first };
	for (uint32_t i = first; i < t->n; i++) {
		if (t->values[i] > before) {
			ret->grew++;
			quarters |= 1u << (4 * (i - first) / ret->windows);
		}
		ret->fell += t->values[i] < before;
		before = t->values[i];
	}
	for (; quarters; quarters &= quarters - 1)
		ret->quarters++;
	if (ret->windows > 1)
		ret->per_second = leak_trend_slope(t->values + first, ret->windows, t->window_ns);
}
