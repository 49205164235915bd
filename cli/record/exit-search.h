/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds the command of a recording and its descendants at their exit, until the recording has
 * searched their memory for lost blocks.
 */
#pragma once

#include "cli/hold/exit-hold.h"
#include "cli/record/recording.h"

struct exit_search {
	struct exit_hold hold;
	struct recording *recording; /* borrowed */
	const char *name;            /* name of the command in messages */
	pid_t asked[EXIT_HOLD_MAX];  /* searches in progress */
	unsigned n_asked;
	uint64_t gave_up_ns; /* time of the interruption; 0 = not interrupted */
};

#define EXIT_SEARCH_NULL                                                                           \
	{                                                                                          \
		.hold = EXIT_HOLD_NULL                                                             \
	}

/* Holds PID at its exit from now on. PID is a child of this process that is about to execute the
 * program NAME. If PID cannot be held, prints the reason. */
void exit_search_begin(struct exit_search *s, const char *name, pid_t pid);

/* Returns true if processes are held. */
static inline bool exit_search_is_on(const struct exit_search *s)
{
	return s->name;
}

/* Returns true if exit_search_poll() must be called soon, also without an event. */
static inline bool exit_search_is_urgent(const struct exit_search *s)
{
	return s->gave_up_ns && s->n_asked > 0;
}

/* Must be called regularly, whether processes are held or not. INTERRUPTED = true: the user does
 * not want to wait for the recording. */
void exit_search_poll(struct exit_search *s, bool interrupted);

/* Releases all processes after the end of the recording. Returns whether a held process exits only
 * now. */
bool exit_search_end(struct exit_search *s);
