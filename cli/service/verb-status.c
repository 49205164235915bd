/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo status: shows everything that the daemon reports about a session; or about itself and all
 * sessions.
 */
#include <dirent.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/value.h"
#include "capture/options/option-table.h"
#include "cli/bus/bus-host.h"
#include "cli/service/client-options.h"
#include "cli/common/json.h"
#include "cli/common/stacks-text.h"
#include "cli/common/verb.h"
#include "cli/ship/ship-status.h"

static const char *verb_status_user_of(char to[static 64], uint32_t uid)
{
	const struct passwd *user = getpwuid(uid);

	if (user)
		snprintf(to, 64, "%s (%" PRIu32 ")", user->pw_name, uid);
	else
		snprintf(to, 64, "%" PRIu32, uid);
	return to;
}

/* Converts TS_NS, in CLOCK_BOOTTIME, to the wall clock. */
static const char *verb_status_time_of(char to[static 64], uint64_t ts_ns)
{
	struct clock_snapshot now = clock_snapshot();
	time_t t = (time_t)((now.real_ns - (now.boot_ns - ts_ns)) / 1000000000);
	struct tm tm;

	if (ts_ns == 0 || ts_ns > now.boot_ns || !localtime_r(&t, &tm) ||
	    strftime(to, 64, "%Y-%m-%d %H:%M:%S", &tm) == 0)
		snprintf(to, 64, "?");
	return to;
}

/* Returns the share of the CPU time NS in the duration of the session. */
static double verb_status_share_of(const struct session_view *v, uint64_t ns)
{
	uint64_t all = session_view_duration_ns(v);

	return all ? 100.0 * (double)ns / (double)all : 0.0;
}

static void verb_status_print_cost(const struct session_view *v)
{
	uint64_t bpf_ns = v->counters.bpf.ns, daemon_ns = v->counters.daemon_cpu_ns;

	printf("    cost:     %s of CPU time of the service, %s of programs in the kernel",
	       TEXT_TIME(daemon_ns), TEXT_TIME(bpf_ns));
	if (session_view_duration_ns(v))
		printf(" (%.2f%% of a CPU)", verb_status_share_of(v, daemon_ns + bpf_ns));
	putchar('\n');
}

/*
 * Returns the number of CPUs to which the limit of SHED refers. The list of stopped parts does not
 * contain this number, so it is searched in the list of steps.
 */
static unsigned verb_status_share_of_shed(const struct session_view *v,
					  const struct session_shed *shed)
{
	for (size_t i = 0; i < v->n_steps; i++)
		if (v->steps[i].what == shed->what && v->steps[i].ts_ns == shed->ts_ns)
			return v->steps[i].n_cpus;
	return shed->n_cpus;
}

/* Prints which parts are stopped because of their overhead, and which part was resumed last. */
static void verb_status_print_budget(const struct session_view *v)
{
	const struct session_shed *back = NULL;
	char when[64];

	for (size_t i = 0; i < v->n_sheds; i++) {
		unsigned n_cpus = verb_status_share_of_shed(v, &v->sheds[i]);

		printf("    shed:     %s at %.2f%% of %s, the limit is %.2f%%%s\n",
		       budget_shed_names[v->sheds[i].what],
		       value_share(v->sheds[i].cost_ppm, n_cpus), value_share_of(n_cpus),
		       value_share(v->sheds[i].limit_ppm, n_cpus),
		       v->sheds[i].what == SHED_SESSION && v->counters.stop_ns == 0 ? ": paused"
										    : "");
	}
	for (size_t i = 0; i < v->n_steps; i++)
		if (v->steps[i].back)
			back = &v->steps[i];
	if (back)
		printf("    returned: %s at %s\n", budget_shed_names[back->what],
		       verb_status_time_of(when, back->ts_ns));
}

/* Prints the limit of a flight recorder. It can be lower than the requested limit. */
static void verb_status_print_limit(const struct session_view *v)
{
	uint64_t asked = strtoull(session_view_option(v, "flight_bytes"), NULL, 10);

	if (v->counters.flight_limit && v->counters.flight_limit < asked)
		printf("    keeps:    %s instead of %s: the runtime directory of the service has "
		       "too little free space\n",
		       TEXT_SIZE(v->counters.flight_limit), TEXT_SIZE(asked));
}

/* Prints how completely user stacks are walked. */
static void verb_status_print_stacks(const struct session_view *v)
{
	char text[STACKS_TEXT_MAX];

	if (*stacks_text_format(text, v->counters.walks))
		printf("    stacks:   %s\n", text);
}

/* Prints the losses, and the data that a flight recorder could not keep. */
static void verb_status_print_loss(const struct session_view *v)
{
	for (size_t i = 0; i < CLASS_MAX; i++) {
		if (v->counters.lost[i])
			printf("    lost:     %" PRIu64 " of class %s\n", v->counters.lost[i],
			       event_class_names[i]);
	}
	if (session_view_lost(v) == 0)
		printf("    lost:     none\n");
	if (v->counters.dropped_bytes)
		printf("    dropped:  %s for lack of room, with everything before that\n",
		       TEXT_SIZE(v->counters.dropped_bytes));
	verb_status_print_limit(v);
}

/*
 * Reads the backlog of the collection NAME. Returns false if its chunks are not handed over, or if
 * the service is not on this machine.
 */
static bool verb_status_read_export(const char *name, struct ship_status *ret)
{
	return *name && !bus_host_is_elsewhere() && ship_status_read(name, ret) == 0;
}

static void verb_status_print_export(const char *name)
{
	struct ship_status export;

	if (verb_status_read_export(name, &export))
		ship_status_print(&export, name);
}

static void verb_status_print_profile(const struct session_view *v)
{
	printf("    profile:  %s, to %s\n", v->profile, v->directory);
	if (session_view_is_flight(v))
		printf("    files:    %" PRIu64 " written, %" PRIu64 " failed, %" PRIu64 " "
		       "skipped\n",
		       v->files[VIEW_FILES_WRITTEN], v->files[VIEW_FILES_FAILED],
		       v->files[VIEW_FILES_PASSED_OVER]);
	verb_status_print_export(v->profile);
}

/* Returns true if VALUE is the value of an option that was not set. */
static bool verb_status_is_unset(struct json_object *value)
{
	switch (json_object_get_type(value)) {
	case json_type_array:
		return json_object_array_length(value) == 0;
	case json_type_object:
		return json_object_object_length(value) == 0;
	case json_type_string:
		return json_object_get_string_len(value) == 0;
	case json_type_int:
		return json_object_get_uint64(value) == 0;
	case json_type_boolean:
		return !json_object_get_boolean(value);
	default:
		return false;
	}
}

/* Prints triggers: "wakeup=1.00 ms,leak=1.0 MiB". */
static void verb_status_print_triggers(struct json_object *triggers)
{
	const char *between = "triggers ";

	json_object_object_foreach(triggers, name, value) {
		const struct option_row *row = option_of_trigger(name, strlen(name));
		char text[TEXT_FORMAT_MAX];

		/* (a newer service can have other triggers) */
		value_format(row ? (enum value_unit)row->type : VALUE_COUNT,
			     json_object_get_uint64(value), text);
		printf("%s%s=%s", between, name, text);
		between = ",";
	}
}

/*
 * Prints an option. Values of names that end with _ns, _bytes or _ppm are times, sizes and shares.
 */
static void verb_status_print_option(const char *name, struct json_object *value)
{
	char text[TEXT_FORMAT_MAX] = "";
	const char *unit = strrchr(name, '_');
	uint64_t n = json_object_get_uint64(value);

	if (json_object_is_type(value, json_type_int) && unit) {
		if (strcmp(unit, "_ns") == 0)
			text_format_time(text, n);
		else if (strcmp(unit, "_bytes") == 0)
			text_format_size(text, n);
		else if (strcmp(unit, "_ppm") == 0)
			value_format_percent(text, n);
	}
	if (*text) {
		printf("%.*s %s", (int)(unit - name), name, text);
		return;
	}
	if (strcmp(name, "triggers") == 0 && json_object_is_type(value, json_type_object)) {
		verb_status_print_triggers(value);
		return;
	}
	printf("%s ", name);
	json_print_value(value, JSON_C_TO_STRING_SPACED);
}

static void verb_status_print_options(const struct session_view *v)
{
	struct json_object_iterator at, end;
	const char *between = "    options:  ";

	if (!v->options)
		return;
	at = json_object_iter_begin(v->options);
	end = json_object_iter_end(v->options);
	for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
		struct json_object *value = json_object_iter_peek_value(&at);

		if (verb_status_is_unset(value))
			continue;
		fputs(between, stdout);
		verb_status_print_option(json_object_iter_peek_name(&at), value);
		between = ", ";
	}
	putchar('\n');
}

static void verb_status_print_text(const struct session_view *v)
{
	char user[64], since[64];
	const char *mode = session_view_option(v, "mode");

	printf("%s\n", v->name);
	printf("    state:    %s%s%s%s\n", v->state, *v->reason ? " (" : "", v->reason,
	       *v->reason ? ")" : "");
	if (*v->error)
		printf("    error:    %s\n", v->error);
	printf("    owner:    %s\n", verb_status_user_of(user, v->uid));
	if (*v->profile)
		verb_status_print_profile(v);
	if (v->counters.start_ns && !bus_host_has_other_clock())
		printf("    since:    %s\n", verb_status_time_of(since, v->counters.start_ns));
	if (v->counters.stop_ns || !bus_host_has_other_clock())
		printf("    duration: %s\n", TEXT_TIME(session_view_duration_ns(v)));
	if (*mode)
		printf("    mode:     %s\n", mode);
	printf("    events:   %" PRIu64 "\n", v->counters.events);
	verb_status_print_stacks(v);
	verb_status_print_loss(v);
	printf("    bytes:    %s\n", TEXT_SIZE(v->counters.bytes));
	verb_status_print_cost(v);
	verb_status_print_budget(v);
	verb_status_print_options(v);
}

/* ---- the service ---- */

static void verb_status_print_usage(const struct bus_client_usage *u)
{
	static const struct {
		const char *name, *shown;
		bool is_size;
	} rows[] = {
		{ "sessions", "sessions:", false },    { "ring_bytes", "rings:", true },
		{ "memory_blocks", "blocks:", false }, { "stack_tables_bytes", "tables:", true },
		{ "flight_bytes", "flights:", true },  { "buffer_bytes", "buffers:", true },
	};
	const char *shown = u->name;
	bool is_size = false;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (strcmp(u->name, rows[i].name) == 0) {
			shown = rows[i].shown;
			is_size = rows[i].is_size;
		}
	}
	if (is_size)
		printf("    %-9s %s of %s, yours %s of %s\n", shown, TEXT_SIZE(u->all),
		       TEXT_SIZE(u->all_max), TEXT_SIZE(u->user), TEXT_SIZE(u->user_max));
	else
		printf("    %-9s %" PRIu64 " of %" PRIu64 ", yours %" PRIu64 " of %" PRIu64 "\n",
		       shown, u->all, u->all_max, u->user, u->user_max);
}

static void verb_status_print_service(const struct bus_client_service *s)
{
	char since[64];

	printf("kymod %s%s\n", *s->version ? s->version : "of an older version",
	       bus_host_is_elsewhere() ? " (elsewhere)" : "");
	if (s->start_ns && !bus_host_has_other_clock())
		printf("    since:    %s\n", verb_status_time_of(since, s->start_ns));
	for (size_t i = 0; i < s->n_usage; i++)
		verb_status_print_usage(&s->usage[i]);
}

static struct json_object *verb_status_service_json(const struct bus_client_service *s)
{
	return JSON_OBJECT(JSON_OF(s, version, start_ns),
			   JSON("usage",
				JSON_MAP(u, s->usage, s->n_usage,
					 JSON(u->name, JSON_OBJECT(JSON_OF(u, all, all_max, user,
									   user_max))))));
}

static struct json_object *verb_status_session_json(const struct session_view *v)
{
	struct ship_status export;
	bool is_exported = verb_status_read_export(v->profile, &export);

	return JSON_ADD(session_view_json(v),
			JSON_IF(is_exported, "export", ship_status_json(&export)));
}

/* Prints the session at PATH, or adds it to LIST. */
static int verb_status_show(struct bus_client *c, const char *path, struct json_object *list)
{
	_cleanup_(session_view_deinit) struct session_view v = { 0 };

	if (bus_client_view(c, path, &v) < 0)
		return client_failed(c);
	if (list)
		json_append_item(list, verb_status_session_json(&v));
	else
		verb_status_print_text(&v);
	return CLI_OK;
}

static bool verb_status_has_session(const struct bus_client_session *sessions, const char *name)
{
	for (const struct bus_client_session *s = sessions; s->name; s++)
		if (strcmp(s->name, name) == 0)
			return true;
	return false;
}

static void verb_status_show_export(const char *name, const struct ship_status *export,
				    struct json_object *list)
{
	if (list) {
		json_append_item(list, JSON_OBJECT(JSON("name", json_from_text(name)),
						   JSON("export", ship_status_json(export))));
		return;
	}
	printf("\n%s\n    state:    a collection without a session\n", name);
	ship_status_print(export, name);
}

/* Prints the backlogs of collections without a session, or adds them to LIST. */
static void verb_status_show_exports(const struct bus_client_session *sessions,
				     struct json_object *list)
{
	DIR *dir = bus_host_is_elsewhere() ? NULL : opendir(ship_status_directory());
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		struct ship_status export;

		if (!session_name_valid(entry->d_name) ||
		    verb_status_has_session(sessions, entry->d_name) ||
		    !verb_status_read_export(entry->d_name, &export))
			continue;
		verb_status_show_export(entry->d_name, &export, list);
	}
	if (dir)
		closedir(dir);
}

/* Prints all sessions and backlogs, or adds them to LIST and EXPORTS. */
static int verb_status_show_all(struct bus_client *c, struct json_object *list,
				struct json_object *exports)
{
	struct bus_client_session *sessions;
	int r = CLI_OK;

	if (bus_client_list(c, &sessions) < 0)
		return client_failed(c);
	for (const struct bus_client_session *s = sessions; s->name && r == CLI_OK; s++) {
		if (!list)
			putchar('\n');
		r = verb_status_show(c, s->path, list);
	}
	if (!list && !sessions->name)
		printf("\nThere are no sessions that you are allowed to see.\n");
	verb_status_show_exports(sessions, exports);
	bus_client_list_free(sessions);
	return r;
}

/* Prints the state of the service, and of its sessions. */
static int verb_status_show_service(struct bus_client *c, bool json)
{
	struct bus_client_service service;
	struct json_object *list, *exports;
	int r;

	if (bus_client_service(c, &service) < 0)
		return client_failed(c);
	if (!json) {
		verb_status_print_service(&service);
		return verb_status_show_all(c, NULL, NULL);
	}
	list = json_object_new_array();
	exports = json_object_new_array();
	r = verb_status_show_all(c, list, exports);
	if (r == CLI_OK) {
		json_print_pretty(JSON_OBJECT(JSON("service", verb_status_service_json(&service)),
					      JSON("sessions", list), JSON("exports", exports)));
	} else {
		json_object_put(list);
		json_object_put(exports);
	}
	return r;
}

static int verb_status_show_one(struct bus_client *c, const char *name, struct json_object *list)
{
	_cleanup_free_ char *path = NULL;

	if (bus_client_find(c, name, &path) < 0)
		return client_failed(c);
	return verb_status_show(c, path, list);
}

static int verb_status(int argc, char **argv)
{
	_cleanup_(bus_client_freep) struct bus_client *c = NULL;
	struct json_object *list = NULL;
	struct client_options o;
	int r = client_options_parse(argc, argv, CLIENT_JSON, &o);

	if (r != CLIENT_OPTIONS_GO)
		return r;
	if (o.n_rest > 1)
		return cli_usage_error("expected one NAME, or none for all sessions");
	r = client_connect(&o, &c);
	if (r != CLI_OK)
		return r;
	if (o.n_rest == 0)
		return verb_status_show_service(c, o.json);
	if (o.json)
		list = json_object_new_array();
	r = verb_status_show_one(c, o.rest[0], list);
	if (list && r == CLI_OK)
		json_print_pretty(list);
	else
		json_object_put(list);
	return r;
}

const struct verb verb_status_row = {
	.name = "status",
	.synopsis = "[NAME] [OPTION ...]",
	.what = "Show the status of a session, or of the service and all sessions",
	.examples = "  kymo status\n  kymo status web --json\n",
	.options =
		"      --json         print JSON: an array for one session, otherwise an object\n"
		"                     with `service`, `sessions` and `exports`\n" CLIENT_OPTIONS_HELP,
	.run = verb_status,
};
