/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command of a recording is held at its exit, with what it has forked, until the recording
 * has searched its memory for what is lost.
 */
#pragma once

#include "cli/common/exit-hold.h"
#include "cli/record/recording.h"

struct exit_search {
	struct exit_hold hold;
	struct recording *recording; /* borrowed */
	const char *name;            /* of the command; borrowed; NULL = nothing is held */
	pid_t asked[EXIT_HOLD_MAX];  /* being searched */
	unsigned n_asked;
	bool gave_up;
};

#define EXIT_SEARCH_NULL                                                                           \
	{                                                                                          \
		.hold = EXIT_HOLD_NULL                                                             \
	}

/*
 * From now on PID, our child that is about to become the program NAME, is held at its exit. Where
 * that cannot be, it is said why, and nothing is.
 */
void exit_search_begin(struct exit_search *s, const char *name, pid_t pid);

/* Whether it could be. */
static inline bool exit_search_is_on(const struct exit_search *s)
{
	return s->name;
}

/*
 * In any case. INTERRUPTED: the user does not want to wait for the recording any
 * more.
 */
void exit_search_look(struct exit_search *s, bool interrupted);

/* The recording has ended: all go on. Returns whether one that was held is only ending now. */
bool exit_search_end(struct exit_search *s);
