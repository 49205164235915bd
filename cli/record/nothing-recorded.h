/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports categories that were requested, but have no events, with the likely reason.
 */
#pragma once

#include "cli/options/record-options.h"
#include "cli/bus/session-view.h"

/* The request, kept until the recording has ended. */
struct recording_request {
	uint32_t categories;
	uint32_t *pids; /* owned */
	size_t n_pids;
	bool filtered;
	bool of_command; /* the filter is the pid of the command */
};

/*
 * Returns true if V shows that nothing is missing in the recording. (If a part was stopped or lost,
 * this has been reported.)
 */
bool nothing_recorded_is_certain(const struct session_view *v);

/* Stores the request in A. If there is no memory for the pids, they are omitted. */
void recording_request_set(struct recording_request *a, const struct session_options *o,
			   bool of_command);
void recording_request_deinit(struct recording_request *a);

/*
 * Reports on stderr which categories in A have no events in the recording V, and the likely reason.
 * WHAT is the name of the recording in messages. Returns CLI_DAMAGE if no category has events,
 * unless the machine may be idle; else CLI_OK.
 */
int nothing_recorded_complain(const struct recording_request *a, const struct session_view *v,
			      const char *what);
