/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/bus/session-view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/value.h"
#include "cli/bus/bus-host.h"
#include "cli/common/json.h"
#include "cli/common/stacks-text.h"
#include "cli/common/verb.h"

const char *const session_view_file_names[VIEW_FILES_MAX] = {
	[VIEW_FILES_WRITTEN] = "written",
	[VIEW_FILES_FAILED] = "failed",
	[VIEW_FILES_PASSED_OVER] = "passed_over",
};

void session_view_deinit(struct session_view *v)
{
	json_object_put(v->options);
	v->options = NULL;
}

void session_view_of(const struct session *s, struct session_view *ret)
{
	const struct session_shed *step;
	_cleanup_free_ char *other_files = session_other_files(s);
	const char *error;

	*ret = (struct session_view){ .uid = (uint32_t)geteuid() };
	snprintf(ret->name, sizeof(ret->name), "%s", session_options(s)->name);
	snprintf(ret->state, sizeof(ret->state), "%s", session_state_names[session_state(s)]);
	snprintf(ret->reason, sizeof(ret->reason), "%s", session_reason(s));
	session_error(s, &error);
	snprintf(ret->error, sizeof(ret->error), "%s", error);
	if (other_files)
		text_clean(ret->other_files, sizeof(ret->other_files), other_files,
			   strlen(other_files));
	session_counters(s, &ret->counters);
	ret->has_events_of = true;
	ret->n_sheds = session_sheds(s, ret->sheds);
	for (uint64_t i = 0; i < ret->counters.n_steps; i++)
		if ((step = session_step(s, i)))
			ret->steps[ret->n_steps++] = *step;
}

const char *session_view_option(const struct session_view *v, const char *name)
{
	struct json_object *value;

	return v->options && json_object_object_get_ex(v->options, name, &value)
		       ? json_object_get_string(value)
		       : "";
}

bool session_view_is_flight(const struct session_view *v)
{
	return strcmp(session_view_option(v, "mode"), session_mode_names[SESSION_FLIGHT]) == 0;
}

uint64_t session_view_duration_ns(const struct session_view *v)
{
	uint64_t end = v->counters.stop_ns ?: clock_boot_ns();

	/*
	 * The duration of a running session is unknown, since the other machine's current time is.
	 */
	if (v->counters.stop_ns == 0 && bus_host_has_other_clock())
		return 0;
	if (v->counters.start_ns == 0 || end < v->counters.start_ns)
		return 0;
	return end - v->counters.start_ns;
}

uint64_t session_view_lost(const struct session_view *v)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < CLASS_MAX; i++)
		lost += v->counters.lost[i];
	return lost;
}

int session_view_report(const struct session_view *v, const char *what)
{
	fprintf(stderr, "%s: %s, %" PRIu64 " event%s, %s\n", what,
		TEXT_TIME(session_view_duration_ns(v)), v->counters.events,
		text_s(v->counters.events), TEXT_SIZE(v->counters.bytes));
	return session_view_complain(v, what);
}

static const char *const shed_texts[SHED_MAX] = {
	[SHED_STACKS] = "call stacks stopped",
	[SHED_WAKEUPS] = "wakeups stopped",
	[SHED_SESSION] = "ended",
};

static const char *const back_texts[SHED_MAX] = {
	[SHED_STACKS] = "call stacks resumed",
	[SHED_WAKEUPS] = "wakeups resumed",
	[SHED_SESSION] = "resumed",
};

static void session_view_complain_of_step(const struct session_view *v,
					  const struct session_shed *step, const char *what)
{
	bool ended = strcmp(v->reason, "overhead") == 0;
	const char *text = step->back                             ? back_texts[step->what]
			   : step->what == SHED_SESSION && !ended ? "paused"
								  : shed_texts[step->what];

	fprintf(stderr,
		"%s: %s at %.1f s: recording took %.2f%% of %s, and --max-overhead is %.2f%%\n",
		what, text,
		step->ts_ns > v->counters.start_ns
			? (double)(step->ts_ns - v->counters.start_ns) / 1e9
			: 0.0,
		value_share(step->cost_ppm, step->n_cpus), value_share_of(step->n_cpus),
		value_share(step->limit_ppm, step->n_cpus));
}

int session_view_complain(const struct session_view *v, const char *what)
{
	int exit_status = CLI_OK;

	for (size_t i = 0; i < CLASS_MAX; i++) {
		if (v->counters.lost[i] == 0)
			continue;
		if (i == CLASS_MALFORMED)
			fprintf(stderr,
				"%s: omitted %" PRIu64 " record%s that contradict%s the format: "
				"an error in kymo; please report it\n",
				what, v->counters.lost[i], text_s(v->counters.lost[i]),
				v->counters.lost[i] == 1 ? "s" : "");
		else if (i == CLASS_APP)
			fprintf(stderr,
				"%s: lost %" PRIu64
				" record%s of programs: their buffers were full (use -b to enlarge "
				"them), they were killed, or they wrote wrong records\n",
				what, v->counters.lost[i], text_s(v->counters.lost[i]));
		else if (i == CLASS_COUNTERS)
			fprintf(stderr,
				"%s: lost %" PRIu64 " sample%s of counters: the output was too "
				"slow\n",
				what, v->counters.lost[i], text_s(v->counters.lost[i]));
		else if (i == CLASS_TRACEPOINTS)
			fprintf(stderr,
				"%s: lost %" PRIu64
				" event%s of tracepoints: the ring of a CPU was "
				"full (use -b to enlarge it), they interrupted the recording of "
				"another event, or they were page faults while a thread of their "
				"CPU changed an eBPF map\n",
				what, v->counters.lost[i], text_s(v->counters.lost[i]));
		else
			fprintf(stderr,
				"%s: lost %" PRIu64 " %s event%s: the ring of a CPU was full; "
				"use -b to enlarge it\n",
				what, v->counters.lost[i], event_class_names[i],
				text_s(v->counters.lost[i]));
		exit_status = CLI_DAMAGE;
	}
	if (v->counters.foreign_calls) {
		fprintf(stderr,
			"%s: %" PRIu64 " system call%s of 32-bit programs %s not recorded: only "
			"those of 64-bit programs can be\n",
			what, v->counters.foreign_calls, text_s(v->counters.foreign_calls),
			v->counters.foreign_calls == 1 ? "was" : "were");
		exit_status = CLI_DAMAGE;
	}
	/*
	 * (calls in these files are not recorded, but this is no failure: programs of containers
	 * have files of their own)
	 */
	if (*v->other_files)
		fprintf(stderr, "%s: %s\n", what, v->other_files);
	/* (an older service reports only stopped parts) */
	for (size_t i = 0; i < (v->n_steps ? v->n_steps : v->n_sheds); i++) {
		session_view_complain_of_step(v, v->n_steps ? &v->steps[i] : &v->sheds[i], what);
		exit_status = CLI_DAMAGE;
	}
	if (v->counters.dropped_bytes) {
		fprintf(stderr,
			"%s: events came faster than the flight recorder can keep them: %s had no "
			"room, so its data begins later; enlarge it with --keep-size\n",
			what, TEXT_SIZE(v->counters.dropped_bytes));
		exit_status = CLI_DAMAGE;
	}
	if (strcmp(v->reason, "size") == 0)
		fprintf(stderr, "%s: ended at --max-size\n", what);
	if (strcmp(v->reason, "moment") == 0)
		fprintf(stderr, "%s: ended by the action 'stop' of a moment\n", what);
	if (strcmp(v->reason, SESSION_REASON_ENDED) == 0)
		fprintf(stderr, "%s: ended, since the selected processes have ended\n", what);
	if (*v->error || strcmp(v->state, session_state_names[SESSION_FAILED]) == 0) {
		cli_error("the recording failed: %s", *v->error ? v->error : v->reason);
		exit_status = CLI_FAILED;
	}
	return exit_status;
}

/*
 * Returns the N sheds or steps in LIST as JSON. STEPS = true: with the members that only steps
 * have.
 */
static struct json_object *session_view_sheds_json(const struct session_shed *list, size_t n,
						   bool steps)
{
	return JSON_LIST(s, list, n,
			 JSON_OBJECT(JSON("what", budget_shed_names[s->what]),
				     JSON_IF(steps, "back", s->back),
				     JSON_OF(s, ts_ns, cost_ppm, limit_ppm),
				     JSON_IF(steps && s->n_cpus, "cpus", s->n_cpus)));
}

struct json_object *session_view_json(const struct session_view *v)
{
	const struct session_counters *c = &v->counters;

	return JSON_OBJECT(
		JSON_OF(v, name, state, reason, error, uid), JSON_OF(c, start_ns, stop_ns),
		JSON("duration_ns", session_view_duration_ns(v)), JSON_OF(c, events),
		JSON_IF(v->has_events_of, "events_of",
			JSON_MAP(n, c->events_of, GROUPS,
				 JSON(category_group_names[n - c->events_of], *n))),
		JSON("lost",
		     JSON_MAP(n, c->lost, CLASS_MAX, JSON(event_class_names[n - c->lost], *n))),
		JSON("stacks", stacks_json(c->walks)),
		JSON_OF(c, bytes, dropped_bytes, flight_limit, daemon_cpu_ns),
		JSON("bpf_ns", c->bpf.ns), JSON("bpf_runs", c->bpf.runs),
		JSON("bpf_classes_ns",
		     JSON_MAP(cost, c->bpf_classes, COST_CLASSES,
			      JSON_IF(cost->ns, cost_names[cost - c->bpf_classes], cost->ns))),
		JSON("cpu_ppm", c->cost_ppm),
		JSON("shed", session_view_sheds_json(v->sheds, v->n_sheds, false)),
		JSON("steps", session_view_sheds_json(v->steps, v->n_steps, true)),
		JSON_IF(*v->other_files, "other_files", v->other_files),
		JSON_IF(*v->profile, "profile", v->profile),
		JSON_IF(*v->profile, "directory", v->directory),
		JSON_IF(*v->profile && session_view_is_flight(v), "snapshots",
			JSON_MAP(n, v->files, VIEW_FILES_MAX,
				 JSON(session_view_file_names[n - v->files], *n))),
		JSON_IF(v->options, "options", json_object_get(v->options)));
}
