/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/hold/exit-hold-parts.h"

#include <stdio.h>
#include <time.h>

#include "base/clock.h"

/* The pause between two searches for processes that other threads have forked. The pause is longer
 * if a search takes more than 1 / WALK_PART of a CPU. */
#define WALK_NS   UINT64_C(100000000)
#define WALK_PART 20

enum { WALK_DEPTH_MAX = 64 };

/* Adopts the descendants of TID, but not those of a program that traces others. */
static bool exit_hold_adopt_children(struct exit_hold *h, pid_t pid, pid_t tid)
{
	char path[64];
	int child;
	FILE *f;

	if (h->ending || h->depth == WALK_DEPTH_MAX || exit_hold_has_tracer(h, pid) ||
	    h->n_more_tracers > 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)tid);
	f = fopen(path, "re");
	if (!f)
		return false;
	h->depth++;
	while (!h->ending && fscanf(f, "%d", &child) == 1) {
		exit_hold_adopt(h, (pid_t)child);
		exit_hold_each_task(h, (pid_t)child, exit_hold_adopt_children);
	}
	h->depth--;
	fclose(f);
	return true;
}

void exit_hold_walk_if_due(struct exit_hold *h)
{
	/*
	 * (only CPU time counts, since a search that waits for a busy CPU costs nothing meanwhile)
	 */
	uint64_t took_ns, begin_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);

	if (clock_read_ns(CLOCK_MONOTONIC) < h->next_walk_ns)
		return;
	exit_hold_forget_ended_tracers(h);
	/*
	 * (the command may be untraced: an exec by another thread replaces the first thread, which
	 * alone was traced)
	 */
	exit_hold_adopt(h, h->command);
	exit_hold_each_task(h, h->command, exit_hold_adopt_children);
	if (h->gave_up)
		return;
	took_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	/* (a search that reads files can take long without a CPU: the pause begins at its end) */
	h->next_walk_ns = clock_read_ns(CLOCK_MONOTONIC) +
			  (took_ns * WALK_PART > WALK_NS ? took_ns * WALK_PART : WALK_NS);
}
