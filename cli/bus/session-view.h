/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of a session as shown to the user. The session belongs to the daemon or to this
 * process.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/session/session.h"

struct json_object;

/* The files of a flight recorder of a collection, by result. */
enum session_view_files {
	VIEW_FILES_WRITTEN,
	VIEW_FILES_FAILED,
	/* Not written, since it was requested too soon after the previous file. */
	VIEW_FILES_PASSED_OVER,
	VIEW_FILES_MAX,
};

extern const char *const session_view_file_names[VIEW_FILES_MAX];

struct session_view {
	char name[65];
	char state[16];
	char reason[64];
	char error[512];        /* a sentence; "" = no error */
	char other_files[4096]; /* a sentence (model/other-files.h); "" = no such files */
	uint32_t uid;
	struct session_counters counters;
	bool has_events_of; /* counters.events_of is known: an older service does not report it */
	struct session_shed sheds[SHED_MAX]; /* the parts that are stopped now */
	size_t n_sheds;
	struct session_shed steps[SESSION_STEPS_MAX]; /* the last stops and resumptions of parts */
	size_t n_steps;
	char profile[65];     /* name of the collection; "" = no collection */
	char directory[4096]; /* directory for the files of the collection */
	uint64_t files[VIEW_FILES_MAX];
	struct json_object *options; /* owned; NULL = unknown */
};

void session_view_deinit(struct session_view *v);

/* Fills *RET from a session of this process. */
void session_view_of(const struct session *s, struct session_view *ret);

/* Returns the value of the session's option NAME, or "". Borrowed. */
const char *session_view_option(const struct session_view *v, const char *name);
bool session_view_is_flight(const struct session_view *v);

/* Returns the duration of the recording so far. */
uint64_t session_view_duration_ns(const struct session_view *v);
uint64_t session_view_lost(const struct session_view *v);

/* Prints the result of a recording on stderr: "WHAT: 3.00 s, 123456 events, 5.9 MiB", the losses
 * with a remedy, and the error if it failed. Returns the exit status of the process. */
int session_view_report(const struct session_view *v, const char *what);

/*
 * Reports problems like session_view_report(), but without the first line. Prints nothing if there
 * were no problems.
 */
int session_view_complain(const struct session_view *v, const char *what);

/* V as a JSON object (json-c), owned by the caller. */
struct json_object *session_view_json(const struct session_view *v);
