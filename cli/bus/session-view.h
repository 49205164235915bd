/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A session as people see it, whether the daemon has it or it runs in this process.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/session/session.h"

struct json_object;

/* Files that a flight recorder of a collection has written, or should have. */
enum session_view_files {
	VIEW_FILES_WRITTEN,
	VIEW_FILES_FAILED,
	VIEW_FILES_PASSED_OVER, /* came too soon after another one */
	VIEW_FILES_MAX,
};

extern const char *const session_view_file_names[VIEW_FILES_MAX];

struct session_view {
	char name[65];
	char state[16];
	char reason[64];
	char error[512]; /* a sentence; "" = none */
	uint32_t uid;
	struct session_counters counters;
	bool has_events_of; /* counters.events_of is known: an older service does not say */
	struct session_shed sheds[SHED_MAX]; /* what has gone and is not back */
	size_t n_sheds;
	struct session_shed steps[SESSION_STEPS_MAX]; /* the last ones */
	size_t n_steps;
	char profile[65];     /* that it was made of; "" = of none */
	char directory[4096]; /* of the collection: where its files go */
	uint64_t files[VIEW_FILES_MAX];
	struct json_object *options; /* owned; NULL = not known */
};

void session_view_deinit(struct session_view *v);

/* Fills V from a session of this process. */
void session_view_of(const struct session *s, struct session_view *ret);

/* What its options say of NAME, or "". Borrowed. */
const char *session_view_option(const struct session_view *v, const char *name);
bool session_view_is_flight(const struct session_view *v);

/* How long it recorded, or has so far. */
uint64_t session_view_duration_ns(const struct session_view *v);
uint64_t session_view_lost(const struct session_view *v);

/*
 * Says on stderr what became of a recording: "WHAT: 3.00 s, 123456 events, 5.9 MiB", what was lost
 * and what to do about it, and why it failed if it did. Returns what the process exits with.
 */
int session_view_report(const struct session_view *v, const char *what);

/* The same, without the first line: silent if all went well. */
int session_view_complain(const struct session_view *v, const char *what);

/* V as a JSON object (json-c; the caller puts it). */
struct json_object *session_view_json(const struct session_view *v);
