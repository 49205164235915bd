/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a recording was to have and does not: categories without any event, with the likely reason.
 */
#pragma once

#include "cli/service/record-options.h"
#include "cli/bus/session-view.h"

/* What was asked for, kept until the recording has ended. */
struct asked_for {
	uint32_t categories;
	uint32_t *pids; /* owned */
	size_t n_pids;
	bool filtered;
	bool of_command; /* of a command, whose pid is the filter */
};

/* Notes it; where memory is short, without the pids. */
void asked_for_note(struct asked_for *a, const struct session_options *o, bool of_command);
void asked_for_deinit(struct asked_for *a);

/*
 * Says on stderr which of the categories in A have no event in the recording V, WHAT, and the
 * likely reason. Returns CLI_DAMAGE if none of them has one, unless it is an idle machine, else
 * CLI_OK.
 */
int nothing_recorded_complain(const struct asked_for *a, const struct session_view *v,
			      const char *what);
