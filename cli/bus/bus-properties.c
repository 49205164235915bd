/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the properties of a session, a{sv}.
 */
#include <errno.h>
#include <json-c/json.h>
#include <string.h>

#include "base/string-table.h"
#include "base/text.h"
#include "cli/bus/bus-call.h"
#include "cli/bus/bus-client.h"

/* Reads a value of any type as JSON. Returns NULL with *RETERR < 0 on failure. */
static struct json_object *bus_properties_read_json(sd_bus_message *m, int *reterr);

/*
 * Reads the entries of an entered dictionary. ENTRY is the type of an entry, whose key is a string.
 */
static struct json_object *bus_properties_read_entries(sd_bus_message *m, const char *entry,
						       int *reterr)
{
	struct json_object *o = json_object_new_object();
	/* (without its brackets) */
	_cleanup_free_ char *pair = strndup(entry + 1, strlen(entry) - 2);
	const char *key;

	*reterr = pair ? 0 : -ENOMEM;
	while (*reterr >= 0 && (*reterr = sd_bus_message_enter_container(m, 'e', pair)) > 0) {
		*reterr = sd_bus_message_read(m, "s", &key);
		if (*reterr >= 0)
			json_object_object_add(o, key, bus_properties_read_json(m, reterr));
		if (*reterr >= 0)
			*reterr = sd_bus_message_exit_container(m);
	}
	return o;
}

/* Reads the elements of a container that has been entered. */
static struct json_object *bus_properties_read_elements(sd_bus_message *m, int *reterr)
{
	struct json_object *list = json_object_new_array();

	while (sd_bus_message_at_end(m, false) == 0) {
		struct json_object *element = bus_properties_read_json(m, reterr);

		if (*reterr < 0)
			break;
		json_object_array_add(list, element);
	}
	return list;
}

static struct json_object *bus_properties_read_basic(sd_bus_message *m, char type, int *reterr)
{
	union {
		const char *s;
		uint64_t t;
		uint32_t u;
		int b;
	} v;

	*reterr = sd_bus_message_read_basic(m, type, &v);
	if (*reterr < 0)
		return NULL;
	switch (type) {
	case 's':
	case 'o':
		return json_object_new_string(v.s);
	case 't':
		return json_object_new_uint64(v.t);
	case 'u':
		return json_object_new_uint64(v.u);
	case 'b':
		return json_object_new_boolean(v.b);
	default:
		return NULL;
	}
}

static struct json_object *bus_properties_read_json(sd_bus_message *m, int *reterr)
{
	struct json_object *value;
	const char *contents;
	char type;

	*reterr = sd_bus_message_peek_type(m, &type, &contents);
	if (*reterr < 0)
		return NULL;
	if (!contents && strchr("sotub", type))
		return bus_properties_read_basic(m, type, reterr);
	if (!contents) {
		char skip[2] = { type, '\0' };

		*reterr = sd_bus_message_skip(m, skip);
		return NULL;
	}
	*reterr = sd_bus_message_enter_container(m, type, contents);
	if (*reterr < 0)
		return NULL;
	if (type == 'v')
		value = bus_properties_read_json(m, reterr);
	else if (type == 'a' && strncmp(contents, "{s", 2) == 0)
		value = bus_properties_read_entries(m, contents, reterr);
	else
		value = bus_properties_read_elements(m, reterr);
	if (*reterr >= 0)
		*reterr = sd_bus_message_exit_container(m);
	return value;
}

/* Reads a dictionary a{sv}. */
static struct json_object *bus_properties_read_json_dict(sd_bus_message *m, int *reterr)
{
	struct json_object *o;

	*reterr = sd_bus_message_enter_container(m, 'a', "{sv}");
	if (*reterr < 0)
		return NULL;
	o = bus_properties_read_entries(m, "{sv}", reterr);
	if (*reterr >= 0)
		*reterr = sd_bus_message_exit_container(m);
	return o;
}

/* Reads a dictionary a{st}: writes the values of the N NAMES to TO, in the order of NAMES. */
static int bus_properties_read_counts(sd_bus_message *m, const char *const *names, uint64_t *to,
				      size_t n)
{
	const char *name;
	uint64_t count;
	int r = sd_bus_message_enter_container(m, 'a', "{st}");

	while (r >= 0 && (r = sd_bus_message_read(m, "{st}", &name, &count)) > 0) {
		int i = string_table_find(names, n, name);

		if (i >= 0)
			to[i] = count;
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int bus_properties_read_cost(sd_bus_message *m, struct session_view *v)
{
	const struct {
		const char *name;
		uint64_t *to;
	} rows[] = {
		{ "daemon_cpu_ns", &v->counters.daemon_cpu_ns },
		{ "bpf_ns", &v->counters.bpf.ns },
		{ "bpf_runs", &v->counters.bpf.runs },
		{ "cpu_ppm", &v->counters.cost_ppm },
	};
	struct json_object *cost, *classes, *value;
	int r;

	cost = bus_properties_read_json_dict(m, &r);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (json_object_object_get_ex(cost, rows[i].name, &value))
			*rows[i].to = json_object_get_uint64(value);
	if (json_object_object_get_ex(cost, "bpf_classes_ns", &classes)) {
		for (size_t i = 0; i < COST_CLASSES; i++)
			if (json_object_object_get_ex(classes, cost_names[i], &value))
				v->counters.bpf_classes[i].ns = json_object_get_uint64(value);
	}
	json_object_put(cost);
	return r;
}

/*
 * Returns the part of the recording with the name WHAT; SHED_MAX if this version does not know the
 * part.
 */
static enum budget_shed bus_properties_shed_of(const char *what)
{
	int shed = STRING_TABLE_FIND(budget_shed_names, what);

	return shed < 0 ? SHED_MAX : (enum budget_shed)shed;
}

static int bus_properties_read_sheds(sd_bus_message *m, struct session_view *v)
{
	struct session_shed shed = { 0 };
	const char *what;
	int r = sd_bus_message_enter_container(m, 'a', "(sttt)");

	v->n_sheds = 0;
	while (r >= 0 && (r = sd_bus_message_read(m, "(sttt)", &what, &shed.ts_ns, &shed.cost_ppm,
						  &shed.limit_ppm)) > 0) {
		shed.what = bus_properties_shed_of(what);
		if (shed.what < SHED_MAX && v->n_sheds < SHED_MAX)
			v->sheds[v->n_sheds++] = shed;
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int bus_properties_read_steps(sd_bus_message *m, struct session_view *v)
{
	struct session_shed step = { 0 };
	const char *what;
	int back, r = sd_bus_message_enter_container(m, 'a', "(sbtttu)");

	v->n_steps = 0;
	while (r >= 0 &&
	       (r = sd_bus_message_read(m, "(sbtttu)", &what, &back, &step.ts_ns, &step.cost_ppm,
					&step.limit_ppm, &step.n_cpus)) > 0) {
		step.back = back;
		step.what = bus_properties_shed_of(what);
		if (step.what < SHED_MAX && v->n_steps < SESSION_STEPS_MAX)
			v->steps[v->n_steps++] = step;
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

#define AT(member) offsetof(struct session_view, member)
#define TEXT(property, member)                                                                     \
	{                                                                                          \
		property, "s", AT(member), sizeof(((struct session_view *)0)->member)              \
	}

/* The destinations of simple properties. */
static const struct property_row {
	const char *name;
	const char *type;
	size_t offset, room;
} property_rows[] = {
	TEXT("Name", name),
	TEXT("State", state),
	TEXT("Reason", reason),
	TEXT("Error", error),
	TEXT("OtherFiles", other_files),
	TEXT("Profile", profile),
	TEXT("Directory", directory),
	{ "Owner", "u", AT(uid), sizeof(uint32_t) },
	{ "StartTime", "t", AT(counters.start_ns), sizeof(uint64_t) },
	{ "StopTime", "t", AT(counters.stop_ns), sizeof(uint64_t) },
	{ "Events", "t", AT(counters.events), sizeof(uint64_t) },
	{ "Bytes", "t", AT(counters.bytes), sizeof(uint64_t) },
	{ "Dropped", "t", AT(counters.dropped_bytes), sizeof(uint64_t) },
	{ "FlightLimit", "t", AT(counters.flight_limit), sizeof(uint64_t) },
	{ "ForeignCalls", "t", AT(counters.foreign_calls), sizeof(uint64_t) },
	{ "SnapshotsDue", "t", AT(counters.snapshots_due), sizeof(uint64_t) },
};

/* Reads the value of property NAME from its variant. The variant has been entered. */
static int bus_properties_read_property(sd_bus_message *m, const char *name, struct session_view *v)
{
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(property_rows); i++) {
		const struct property_row *row = &property_rows[i];
		char *to = (char *)v + row->offset;
		const char *text;

		if (strcmp(row->name, name) != 0)
			continue;
		if (*row->type != 's')
			return sd_bus_message_read_basic(m, *row->type, to);
		r = sd_bus_message_read_basic(m, 's', &text);
		if (r >= 0)
			text_clean(to, row->room, text, strlen(text));
		return r;
	}
	if (strcmp(name, "EventsOf") == 0) {
		v->has_events_of = true;
		return bus_properties_read_counts(m, category_group_names, v->counters.events_of,
						  GROUPS);
	}
	if (strcmp(name, "Lost") == 0)
		return bus_properties_read_counts(m, event_class_names, v->counters.lost,
						  CLASS_MAX);
	if (strcmp(name, "Stacks") == 0)
		return bus_properties_read_counts(m, walk_end_names, v->counters.walks,
						  WALK_ENDS_MAX);
	if (strcmp(name, "Cost") == 0)
		return bus_properties_read_cost(m, v);
	if (strcmp(name, "Shed") == 0)
		return bus_properties_read_sheds(m, v);
	if (strcmp(name, "BudgetSteps") == 0)
		return bus_properties_read_steps(m, v);
	if (strcmp(name, "Snapshots") == 0)
		return bus_properties_read_counts(m, session_view_file_names, v->files,
						  VIEW_FILES_MAX);
	if (strcmp(name, "Options") == 0) {
		json_object_put(v->options);
		v->options = bus_properties_read_json_dict(m, &r);
		return r;
	}
	json_object_put(bus_properties_read_json(m, &r)); /* unknown property of a newer daemon */
	return r;
}

int bus_read_view(sd_bus_message *reply, struct session_view *v)
{
	const char *name, *contents;
	int r = sd_bus_message_enter_container(reply, 'a', "{sv}");

	while (r >= 0 && (r = sd_bus_message_enter_container(reply, 'e', "sv")) > 0) {
		r = sd_bus_message_read(reply, "s", &name);
		if (r >= 0)
			r = sd_bus_message_peek_type(reply, NULL, &contents);
		if (r >= 0)
			r = sd_bus_message_enter_container(reply, 'v', contents);
		if (r >= 0)
			r = bus_properties_read_property(reply, name, v);
		if (r >= 0)
			r = sd_bus_message_exit_container(reply);
		if (r >= 0)
			r = sd_bus_message_exit_container(reply);
	}
	return r;
}
