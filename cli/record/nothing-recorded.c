/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Explains why a part of a recording is empty. Empty means that no event was written. The reason is
 * searched after the recording, in the processes that still exist.
 */
#include "cli/record/nothing-recorded.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "capture/proc/task-state.h"
#include "cli/bus/bus-client.h"
#include "cli/bus/bus-host.h"
#include "cli/common/verb.h"

enum { REASON_MAX = 128 };

void recording_request_set(struct recording_request *a, const struct session_options *o,
			   bool of_command)
{
	const struct capture_filter *f = &o->filter;

	recording_request_deinit(a);
	a->categories = o->categories ?: CATEGORIES_DEFAULT;
	a->filtered = session_options_filtered(o);
	a->of_command = of_command;
	a->pids = f->n_pids ? calloc(f->n_pids, sizeof(*a->pids)) : NULL;
	a->n_pids = a->pids ? f->n_pids : 0;
	if (a->pids)
		memcpy(a->pids, f->pids, f->n_pids * sizeof(*f->pids));
}

void recording_request_deinit(struct recording_request *a)
{
	free(a->pids);
	*a = (struct recording_request){ 0 };
}

/*
 * Returns true if all selected processes have exited. Processes on another machine are not looked
 * up.
 */
static bool nothing_recorded_request_ended(const struct recording_request *a)
{
	if (a->n_pids == 0 || a->of_command || bus_host_is_elsewhere())
		return false;
	for (size_t i = 0; i < a->n_pids; i++)
		if (!task_state_process_has_ended((pid_t)a->pids[i]))
			return false;
	return true;
}

/* Returns true if the user selected a process, a function or a point. */
static bool nothing_recorded_request_is_chosen(const struct recording_request *a)
{
	return a->filtered || a->of_command ||
	       a->categories & (CATEGORY_CALLS | CATEGORY_MOMENTS | CATEGORIES_MEMORY);
}

static const char *nothing_recorded_reason(const struct recording_request *a,
					   enum category_group group, char ret[static REASON_MAX])
{
	const char *who = a->of_command || !a->filtered ? "no thread" : "no selected thread";

	if (nothing_recorded_request_ended(a) && a->n_pids == 1) {
		snprintf(ret, REASON_MAX, "process %" PRIu32 " has ended", a->pids[0]);
		return ret;
	}
	if (nothing_recorded_request_ended(a))
		return "the selected processes have ended";
	switch (group) {
	case GROUP_SCHED:
		snprintf(ret, REASON_MAX, "%s ran", who);
		break;
	case GROUP_STACKS:
		snprintf(ret, REASON_MAX, "%s %s%s%s", who,
			 a->categories & CATEGORY_PROFILE ? "was running when a sample was due (-F)"
							  : "",
			 (a->categories & category_group_bits[GROUP_STACKS]) ==
					 category_group_bits[GROUP_STACKS]
				 ? ", and none "
				 : "",
			 a->categories & CATEGORY_OFFCPU
				 ? "was off a CPU for long enough (--offcpu-min)"
				 : "");
		break;
	case GROUP_MEMORY:
		snprintf(ret, REASON_MAX,
			 "no process was watched: %sthe recording was too short to set its probes",
			 a->of_command || a->pids ? "" : "none was selected, or ");
		break;
	case GROUP_CALLS:
		snprintf(ret, REASON_MAX, "%s called a function of --call", who);
		break;
	case GROUP_MOMENTS:
		snprintf(ret, REASON_MAX,
			 "%s reached a point (--moment, -e usdt) that collects data", who);
		break;
	case GROUP_TRACEPOINTS:
		snprintf(ret, REASON_MAX, "%s",
			 a->filtered ? "no selected thread reached a tracepoint of -e"
				     : "no tracepoint of -e was reached, or no condition held");
		break;
	case GROUP_BLOCK:
		snprintf(ret, REASON_MAX, "%s",
			 a->filtered ? "no request of a selected thread was completed"
				     : "no request of a block device was completed");
		break;
	case GROUP_APP:
		snprintf(ret, REASON_MAX, "%s",
			 a->filtered ? "no selected program that uses libkymo-provider wrote one"
				     : "no program that uses libkymo-provider wrote one");
		break;
	default:
		snprintf(ret, REASON_MAX, "no such event happened");
	}
	return ret;
}

bool nothing_recorded_is_certain(const struct session_view *v)
{
	return v->has_events_of && !v->n_sheds && !v->n_steps && !session_view_lost(v) &&
	       !*v->error;
}

int nothing_recorded_complain(const struct recording_request *a, const struct session_view *v,
			      const char *what)
{
	char names[CATEGORIES_TEXT_MAX], reason[REASON_MAX];
	bool any = false, none = false;

	if (!nothing_recorded_is_certain(v))
		return CLI_OK;
	for (enum category_group group = 0; group < GROUPS; group++) {
		uint32_t bits = a->categories & category_group_bits[group];

		if (!bits)
			continue;
		any |= v->counters.events_of[group] > 0;
		if (v->counters.events_of[group] > 0)
			continue;
		none = true;
		fprintf(stderr, "%s: no event of category %s: %s\n", what,
			categories_format(names, bits), nothing_recorded_reason(a, group, reason));
	}
	/* (a machine can be idle) */
	return none && !any && nothing_recorded_request_is_chosen(a) ? CLI_DAMAGE : CLI_OK;
}
