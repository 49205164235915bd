/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/bus-client.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-bus.h>

#include "base/clock.h"

#define NAME              "org.kymo.Trace1"
#define MANAGER_PATH      "/org/kymo/Trace1"
#define MANAGER_INTERFACE "org.kymo.Trace1.Manager"
#define SESSION_INTERFACE "org.kymo.Trace1.Session"

#define ANSWER_USEC UINT64_C(30000000) /* what answers at once, and programs being loaded */
#define STUCK_USEC  UINT64_C(5000000)  /* an output without progress, after Stop */

struct bus_client {
	sd_bus *bus;
	sd_bus_message *capabilities; /* holds the strings that were given out */
	/* The session that is watched. */
	char *path;
	struct session_view last; /* as far as signals have told */
	bool finished, gone;
	char error[1024];
};

struct bus_client *bus_client_new(void)
{
	return calloc(1, sizeof(struct bus_client));
}

struct bus_client *bus_client_free(struct bus_client *c)
{
	if (!c)
		return NULL;
	session_view_deinit(&c->last);
	free(c->path);
	sd_bus_message_unref(c->capabilities);
	sd_bus_flush_close_unref(c->bus);
	free(c);
	return NULL;
}

const char *bus_client_error(const struct bus_client *c)
{
	return c->error;
}

__attribute__((format(printf, 3, 4))) static int fail(struct bus_client *c, int error,
						      const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(c->error, sizeof(c->error), format, ap);
	va_end(ap);
	return error;
}

/* A call that did not succeed: what the other side said, or else what the errno means. */
static int fail_call(struct bus_client *c, int error, const sd_bus_error *e)
{
	if (e && e->name && strncmp(e->name, NAME ".Error.", strlen(NAME ".Error.")) == 0)
		return fail(c, error, "%s", e->message);
	if (e && e->name &&
	    (strcmp(e->name, SD_BUS_ERROR_NO_REPLY) == 0 ||
	     strcmp(e->name, SD_BUS_ERROR_DISCONNECTED) == 0))
		return fail(c, error, "the service kymod does not answer any more");
	if (e && e->message)
		return fail(c, error, "the service kymod could not be asked: %s", e->message);
	return fail(c, error, "the service kymod could not be asked: %s", strerror(-error));
}

static int open_bus(const char *address, sd_bus **ret)
{
	_cleanup_(sd_bus_unrefp) sd_bus *bus = NULL;
	int r;

	if (!address)
		return sd_bus_open_system_with_description(ret, "kymo");
	r = sd_bus_new(&bus);
	if (r < 0)
		return r;
	r = sd_bus_set_address(bus, address);
	if (r < 0)
		return r;
	r = sd_bus_set_bus_client(bus, true);
	if (r < 0)
		return r;
	r = sd_bus_start(bus);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(bus);
	return 0;
}

int bus_client_connect(struct bus_client *c, const char *address)
{
	_cleanup_(sd_bus_error_free) sd_bus_error e = SD_BUS_ERROR_NULL;
	const char *bus = address ? "bus " : "system bus";
	int r;

	r = open_bus(address, &c->bus);
	if (r < 0)
		return fail(c, -ENXIO, "there is no %s%s: %s", bus, address ?: "", strerror(-r));
	/* Starts it too, where the bus knows how. */
	r = sd_bus_call_method(c->bus, NAME, MANAGER_PATH, "org.freedesktop.DBus.Peer", "Ping", &e,
			       NULL, NULL);
	if (r >= 0)
		return 0;
	if (sd_bus_error_has_name(&e, SD_BUS_ERROR_SERVICE_UNKNOWN) ||
	    sd_bus_error_has_name(&e, SD_BUS_ERROR_NAME_HAS_NO_OWNER))
		return fail(c, -ENXIO, "the service kymod does not run on the %s%s", bus,
			    address ?: "");
	return fail(c, -ENXIO, "the service kymod cannot be reached on the %s%s: %s", bus,
		    address ?: "", e.message ?: strerror(-r));
}

/* Sends CALL and waits up to TIMEOUT_USEC (UINT64_MAX = for ever). */
static int call(struct bus_client *c, sd_bus_message *m, uint64_t timeout_usec,
		sd_bus_message **ret)
{
	_cleanup_(sd_bus_error_free) sd_bus_error e = SD_BUS_ERROR_NULL;
	int r = sd_bus_call(c->bus, m, timeout_usec, &e, ret);

	return r < 0 ? fail_call(c, r, &e) : 0;
}

static int new_call(struct bus_client *c, const char *path, const char *method,
		    sd_bus_message **ret)
{
	const char *interface =
		strcmp(path, MANAGER_PATH) == 0 ? MANAGER_INTERFACE : SESSION_INTERFACE;
	int r = sd_bus_message_new_method_call(c->bus, ret, NAME, path, interface, method);

	return r < 0 ? fail_call(c, r, NULL) : 0;
}

/* A call without arguments. */
static int call_plain(struct bus_client *c, const char *path, const char *method,
		      sd_bus_message **ret)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	int r = new_call(c, path, method, &m);

	return r < 0 ? r : call(c, m, ANSWER_USEC, ret);
}

static int append_u64(sd_bus_message *m, const char *name, uint64_t value)
{
	return value ? sd_bus_message_append(m, "{sv}", name, "t", value) : 0;
}

/* Opens {sv} up to the value, an array of TYPE. */
static int open_array(sd_bus_message *m, const char *name, const char *type)
{
	char array[16];
	int r;

	snprintf(array, sizeof(array), "a%s", type);
	r = sd_bus_message_open_container(m, 'e', "sv");
	if (r >= 0)
		r = sd_bus_message_append(m, "s", name);
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'v', array);
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', type);
	return r;
}

static int close_array(sd_bus_message *m)
{
	int r = 0;

	for (int i = 0; r >= 0 && i < 3; i++)
		r = sd_bus_message_close_container(m);
	return r;
}

static int append_u32s(sd_bus_message *m, const char *name, const uint32_t *values, size_t n)
{
	int r;

	if (n == 0)
		return 0;
	r = open_array(m, name, "u");
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = sd_bus_message_append(m, "u", values[i]);
	return r < 0 ? r : close_array(m);
}

static int append_filter(sd_bus_message *m, const struct capture_filter *f)
{
	int r = append_u32s(m, "pids", f->pids, f->n_pids);

	if (r >= 0)
		r = append_u32s(m, "uids", f->uids, f->n_uids);
	if (r >= 0 && f->n_comms) {
		r = open_array(m, "comms", "s");
		for (size_t i = 0; r >= 0 && i < f->n_comms; i++)
			r = sd_bus_message_append(m, "s", f->comms[i]);
		r = r < 0 ? r : close_array(m);
	}
	if (r >= 0 && f->n_cgroups) {
		r = open_array(m, "cgroups", "(tus)");
		for (size_t i = 0; r >= 0 && i < f->n_cgroups; i++)
			r = sd_bus_message_append(m, "(tus)", (uint64_t)f->cgroups[i].parent_id,
						  (uint32_t)f->cgroups[i].level,
						  f->cgroups[i].name);
		r = r < 0 ? r : close_array(m);
	}
	return r;
}

static int append_categories(sd_bus_message *m, uint32_t categories)
{
	int r;

	if (categories == 0)
		return 0;
	r = open_array(m, "categories", "s");
	for (const struct category_row *c = category_rows; r >= 0 && c->name; c++) {
		if (categories & c->bit)
			r = sd_bus_message_append(m, "s", c->name);
	}
	return r < 0 ? r : close_array(m);
}

static int append_memory(sd_bus_message *m, const struct memory_options *o)
{
	int r = sd_bus_message_append(m, "{sv}", "memory_log", "b", (int)o->log);

	if (r >= 0)
		r = append_u64(m, "memory_interval", o->interval);
	if (r >= 0)
		r = append_u64(m, "memory_min_bytes", o->min_bytes);
	if (r >= 0)
		r = append_u64(m, "memory_blocks_max", o->blocks_max);
	if (r >= 0)
		r = append_u64(m, "usage_interval_ns", o->usage_interval_ns);
	if (r >= 0)
		r = sd_bus_message_append(m, "{sv}", "reach", "s", memory_reach_names[o->reach]);
	if (r < 0 || o->n_allocator_fds == 0)
		return r;
	r = open_array(m, "allocator_fds", "h");
	for (size_t i = 0; r >= 0 && i < o->n_allocator_fds; i++)
		r = sd_bus_message_append(m, "h", o->allocator_fds[i]);
	return r < 0 ? r : close_array(m);
}

static int append_options(sd_bus_message *m, const struct bus_client_create_args *args)
{
	const struct session_options *o = args->options;
	int r = sd_bus_message_open_container(m, 'a', "{sv}");

	if (r >= 0)
		r = sd_bus_message_append(m, "{sv}", "output", "h", args->output_fd);
	if (r >= 0)
		r = sd_bus_message_append(m, "{sv}", "linger", "b", (int)args->linger);
	if (r >= 0)
		r = append_categories(m, o->categories);
	if (r >= 0)
		r = append_u64(m, "ring_bytes", o->ring_bytes);
	if (r >= 0)
		r = append_u64(m, "flush_ns", o->flush_ns);
	if (r >= 0)
		r = append_u64(m, "counter_interval_ns", o->counter_interval_ns);
	if (r >= 0)
		r = append_u64(m, "frequency", o->frequency);
	if (r >= 0)
		r = append_u64(m, "offcpu_min_ns", o->offcpu_min_ns);
	if (r >= 0 && o->no_perfetto_blobs)
		r = sd_bus_message_append(m, "{sv}", "no_perfetto_blobs", "b", 1);
	if (r >= 0 && o->categories & CATEGORIES_MEMORY)
		r = append_memory(m, &o->memory);
	if (r >= 0)
		r = append_u64(m, "duration_ns", o->duration_ns);
	if (r >= 0)
		r = append_u64(m, "max_bytes", o->max_bytes);
	if (r >= 0)
		r = sd_bus_message_append(m, "{sv}", "compress", "s", pack_ops(o->compress)->name);
	if (r >= 0 && o->command)
		r = sd_bus_message_append(m, "{sv}", "command", "s", o->command);
	if (r >= 0)
		r = append_filter(m, &o->filter);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

static int read_path(struct bus_client *c, sd_bus_message *reply, char **ret_path)
{
	const char *path;
	int r = sd_bus_message_read(reply, "o", &path);

	if (r < 0)
		return fail_call(c, r, NULL);
	*ret_path = strdup(path);
	return *ret_path ? 0 : fail_call(c, -ENOMEM, NULL);
}

int bus_client_create(struct bus_client *c, const struct bus_client_create_args *args,
		      char **ret_path)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL, *reply = NULL;
	int r = new_call(c, MANAGER_PATH, "CreateSession", &m);

	if (r < 0)
		return r;
	r = sd_bus_message_append(m, "s", args->options->name);
	if (r >= 0)
		r = append_options(m, args);
	if (r < 0)
		return fail_call(c, r, NULL);
	r = call(c, m, ANSWER_USEC, &reply);
	return r < 0 ? r : read_path(c, reply, ret_path);
}

int bus_client_find(struct bus_client *c, const char *name, char **ret_path)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL, *reply = NULL;
	int r = new_call(c, MANAGER_PATH, "GetSession", &m);

	if (r < 0)
		return r;
	r = sd_bus_message_append(m, "s", name);
	if (r < 0)
		return fail(c, r, "'%s' cannot be the name of a session", name);
	r = call(c, m, ANSWER_USEC, &reply);
	return r < 0 ? r : read_path(c, reply, ret_path);
}

int bus_client_start(struct bus_client *c, const char *path)
{
	return call_plain(c, path, "Start", NULL);
}

int bus_client_remove(struct bus_client *c, const char *path)
{
	return call_plain(c, path, "Remove", NULL);
}

int bus_client_mark(struct bus_client *c, const char *path, const char *text)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	int r = new_call(c, path, "Mark", &m);

	if (r < 0)
		return r;
	r = sd_bus_message_append(m, "s", text);
	return r < 0 ? fail_call(c, r, NULL) : call(c, m, ANSWER_USEC, NULL);
}

/* Any value, as JSON says it; NULL with *RETERR < 0 on failure. */
static struct json_object *read_json(sd_bus_message *m, int *reterr);

/* The elements of a container that has been entered. */
static struct json_object *read_elements(sd_bus_message *m, int *reterr)
{
	struct json_object *list = json_object_new_array();

	while (sd_bus_message_at_end(m, false) == 0) {
		struct json_object *element = read_json(m, reterr);

		if (*reterr < 0)
			break;
		json_object_array_add(list, element);
	}
	return list;
}

static struct json_object *read_basic(sd_bus_message *m, char type, int *reterr)
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

static struct json_object *read_json(sd_bus_message *m, int *reterr)
{
	struct json_object *value;
	const char *contents;
	char type;

	*reterr = sd_bus_message_peek_type(m, &type, &contents);
	if (*reterr < 0)
		return NULL;
	if (!contents && strchr("sotub", type))
		return read_basic(m, type, reterr);
	if (!contents) {
		char skip[2] = { type, '\0' };

		*reterr = sd_bus_message_skip(m, skip);
		return NULL;
	}
	*reterr = sd_bus_message_enter_container(m, type, contents);
	if (*reterr < 0)
		return NULL;
	value = type == 'v' ? read_json(m, reterr) : read_elements(m, reterr);
	if (*reterr >= 0)
		*reterr = sd_bus_message_exit_container(m);
	return value;
}

/* a{sv} */
static struct json_object *read_json_dict(sd_bus_message *m, int *reterr)
{
	struct json_object *o = json_object_new_object();
	const char *key;
	int r = sd_bus_message_enter_container(m, 'a', "{sv}");

	while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
		r = sd_bus_message_read(m, "s", &key);
		if (r >= 0)
			json_object_object_add(o, key, read_json(m, &r));
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
	}
	if (r >= 0)
		r = sd_bus_message_exit_container(m);
	*reterr = r;
	return o;
}

static int read_lost(sd_bus_message *m, struct session_view *v)
{
	const char *class_name;
	uint64_t count;
	int r = sd_bus_message_enter_container(m, 'a', "{st}");

	while (r >= 0 && (r = sd_bus_message_read(m, "{st}", &class_name, &count)) > 0) {
		for (size_t i = 0; i < CLASS_MAX; i++) {
			if (strcmp(event_class_names[i], class_name) == 0)
				v->counters.lost[i] = count;
		}
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int read_cost(sd_bus_message *m, struct session_view *v)
{
	struct json_object *cost, *ns;
	int r;

	cost = read_json_dict(m, &r);
	if (json_object_object_get_ex(cost, "daemon_cpu_ns", &ns))
		v->counters.daemon_cpu_ns = json_object_get_uint64(ns);
	json_object_put(cost);
	return r;
}

#define AT(member) offsetof(struct session_view, member)
#define TEXT(property, member)                                                                     \
	{                                                                                          \
		property, "s", AT(member), sizeof(((struct session_view *)0)->member)              \
	}

/* Where simple properties go. */
static const struct property_row {
	const char *name;
	const char *type;
	size_t offset, room;
} property_rows[] = {
	TEXT("Name", name),
	TEXT("State", state),
	TEXT("Reason", reason),
	TEXT("Error", error),
	{ "Owner", "u", AT(uid), sizeof(uint32_t) },
	{ "StartTime", "t", AT(counters.start_ns), sizeof(uint64_t) },
	{ "StopTime", "t", AT(counters.stop_ns), sizeof(uint64_t) },
	{ "Events", "t", AT(counters.events), sizeof(uint64_t) },
	{ "Bytes", "t", AT(counters.bytes), sizeof(uint64_t) },
};

/* Reads the value of property NAME from its variant, which has been entered. */
static int read_property(sd_bus_message *m, const char *name, struct session_view *v)
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
			snprintf(to, row->room, "%s", text);
		return r;
	}
	if (strcmp(name, "Lost") == 0)
		return read_lost(m, v);
	if (strcmp(name, "Cost") == 0)
		return read_cost(m, v);
	if (strcmp(name, "Options") == 0) {
		json_object_put(v->options);
		v->options = read_json_dict(m, &r);
		return r;
	}
	json_object_put(read_json(m, &r)); /* of a newer daemon */
	return r;
}

static int read_view(sd_bus_message *reply, struct session_view *v)
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
			r = read_property(reply, name, v);
		if (r >= 0)
			r = sd_bus_message_exit_container(reply);
		if (r >= 0)
			r = sd_bus_message_exit_container(reply);
	}
	return r;
}

int bus_client_view(struct bus_client *c, const char *path, struct session_view *ret)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL, *reply = NULL;
	_cleanup_(session_view_deinit) struct session_view v = { 0 };
	int r;

	r = sd_bus_message_new_method_call(c->bus, &m, NAME, path,
					   "org.freedesktop.DBus.Properties", "GetAll");
	if (r >= 0)
		r = sd_bus_message_append(m, "s", SESSION_INTERFACE);
	if (r < 0)
		return fail_call(c, r, NULL);
	r = call(c, m, ANSWER_USEC, &reply);
	if (r < 0)
		return r;
	r = read_view(reply, &v);
	if (r < 0)
		return fail_call(c, r, NULL);
	*ret = v;
	v.options = NULL;
	return 0;
}

struct bus_client_session *bus_client_list_free(struct bus_client_session *list)
{
	for (struct bus_client_session *s = list; s && s->name; s++) {
		free(s->name);
		free(s->path);
		free(s->state);
	}
	free(list);
	return NULL;
}

static int read_list(sd_bus_message *reply, struct bus_client_session **list)
{
	const char *name, *path, *state;
	size_t n = 0;
	int r = sd_bus_message_enter_container(reply, 'a', "(sos)");

	while (r >= 0 && (r = sd_bus_message_read(reply, "(sos)", &name, &path, &state)) > 0) {
		struct bus_client_session *more = reallocarray(*list, n + 2, sizeof(*more));

		if (!more)
			return -ENOMEM;
		*list = more;
		more[n] = (struct bus_client_session){ strdup(name), strdup(path), strdup(state) };
		more[++n] = (struct bus_client_session){ 0 };
		if (!more[n - 1].name || !more[n - 1].path || !more[n - 1].state)
			return -ENOMEM;
	}
	return r;
}

int bus_client_list(struct bus_client *c, struct bus_client_session **ret)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	struct bus_client_session *list = calloc(1, sizeof(*list));
	int r = list ? call_plain(c, MANAGER_PATH, "ListSessions", &reply)
		     : fail_call(c, -ENOMEM, NULL);

	if (r >= 0) {
		r = read_list(reply, &list);
		if (r < 0)
			fail_call(c, r, NULL);
	}
	if (r < 0) {
		bus_client_list_free(list);
		return r;
	}
	*ret = list;
	return 0;
}

int bus_client_capabilities(struct bus_client *c, struct capability caps[static CAPABILITIES_MAX])
{
	sd_bus_message *reply = NULL;
	int available, n = 0, r;

	r = call_plain(c, MANAGER_PATH, "GetCapabilities", &reply);
	if (r < 0)
		return r;
	sd_bus_message_unref(c->capabilities);
	c->capabilities = reply;
	r = sd_bus_message_enter_container(reply, 'a', "{sv}");
	while (r >= 0 && n < CAPABILITIES_MAX &&
	       (r = sd_bus_message_read(reply, "{sv}", &caps[n].name, "(bs)", &available,
					&caps[n].detail)) > 0)
		caps[n++].available = available;
	return r < 0 ? fail_call(c, r, NULL) : n;
}

static int on_finished(sd_bus_message *m, void *userdata, sd_bus_error *reterr)
{
	struct bus_client *c = userdata;
	const char *reason;

	(void)reterr;
	c->finished = true;
	if (sd_bus_message_read(m, "s", &reason) > 0)
		snprintf(c->last.reason, sizeof(c->last.reason), "%s", reason);
	return 0;
}

static int on_removed(sd_bus_message *m, void *userdata, sd_bus_error *reterr)
{
	struct bus_client *c = userdata;
	const char *name, *path;

	(void)reterr;
	if (sd_bus_message_read(m, "so", &name, &path) > 0 && strcmp(path, c->path) == 0)
		c->finished = true;
	return 0;
}

static int on_properties(sd_bus_message *m, void *userdata, sd_bus_error *reterr)
{
	struct bus_client *c = userdata;

	(void)reterr;
	if (sd_bus_message_skip(m, "s") >= 0)
		read_view(m, &c->last);
	return 0;
}

static int on_owner(sd_bus_message *m, void *userdata, sd_bus_error *reterr)
{
	struct bus_client *c = userdata;

	(void)reterr;
	(void)m;
	c->gone = true;
	return 0;
}

int bus_client_watch(struct bus_client *c, const char *path)
{
	int r;

	c->path = strdup(path);
	if (!c->path)
		return fail_call(c, -ENOMEM, NULL);
	r = sd_bus_match_signal(c->bus, NULL, NAME, path, SESSION_INTERFACE, "Finished",
				on_finished, c);
	if (r >= 0)
		r = sd_bus_match_signal(c->bus, NULL, NAME, path, "org.freedesktop.DBus.Properties",
					"PropertiesChanged", on_properties, c);
	if (r >= 0)
		r = sd_bus_match_signal(c->bus, NULL, NAME, MANAGER_PATH, MANAGER_INTERFACE,
					"SessionRemoved", on_removed, c);
	if (r >= 0)
		r = sd_bus_add_match(c->bus, NULL,
				     "type='signal',sender='org.freedesktop.DBus',"
				     "member='NameOwnerChanged',arg0='" NAME "'",
				     on_owner, c);
	return r < 0 ? fail_call(c, r, NULL) : bus_client_view(c, path, &c->last);
}

int bus_client_pollfd(struct bus_client *c, struct pollfd *ret)
{
	uint64_t until_usec, now_usec = clock_read_ns(CLOCK_MONOTONIC) / 1000;
	int events = sd_bus_get_events(c->bus);

	*ret = (struct pollfd){ sd_bus_get_fd(c->bus), (short)(events < 0 ? 0 : events), 0 };
	if (events < 0)
		return 0; /* closed: dispatch will say so */
	if (sd_bus_get_timeout(c->bus, &until_usec) < 0 || until_usec == UINT64_MAX)
		return -1;
	return until_usec <= now_usec ? 0 : (int)((until_usec - now_usec) / 1000 + 1);
}

int bus_client_dispatch(struct bus_client *c)
{
	int r;

	do
		r = sd_bus_process(c->bus, NULL);
	while (r > 0 && !c->gone);
	/* A service that ends in order finishes its sessions first. */
	if (c->finished)
		return 1;
	if (r < 0 || c->gone)
		return fail(c, -ECONNRESET,
			    "the service kymod has gone: what it had not written "
			    "yet is lost");
	return 0;
}

int bus_client_last(struct bus_client *c, struct session_view *ret)
{
	if (bus_client_dispatch(c) <= 0)
		return -ENODATA;
	*ret = c->last;
	ret->options = json_object_get(c->last.options);
	if (strcmp(ret->state, session_state_names[SESSION_STOPPED]) == 0 ||
	    strcmp(ret->state, session_state_names[SESSION_FAILED]) == 0)
		return 0;
	/* It never came to its end. */
	snprintf(ret->state, sizeof(ret->state), "%s", session_state_names[SESSION_FAILED]);
	if (!*ret->error)
		snprintf(ret->error, sizeof(ret->error),
			 "the session was removed before its archive was complete%s%s",
			 *ret->reason ? ": " : "", ret->reason);
	return 0;
}

/* Whether an error answer to Stop means that nothing more will come of the session. */
static bool is_end(const sd_bus_error *e)
{
	/* It stops all the same; or the service has gone, which is seen otherwise. */
	return !sd_bus_error_has_name(e, NAME ".Error.LimitReached") &&
	       !sd_bus_error_has_name(e, SD_BUS_ERROR_NO_REPLY) &&
	       !sd_bus_error_has_name(e, SD_BUS_ERROR_DISCONNECTED);
}

static int on_stop_answer(sd_bus_message *m, void *userdata, sd_bus_error *reterr)
{
	struct bus_client *c = userdata;

	(void)reterr;
	/* What became of it is in its properties. */
	if (sd_bus_message_is_method_error(m, NULL) && is_end(sd_bus_message_get_error(m)))
		c->finished = true;
	return 0;
}

int bus_client_ask_stop(struct bus_client *c, const char *path)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	int r = new_call(c, path, "Stop", &m);

	if (r < 0)
		return r;
	/* As long as the output needs. */
	r = sd_bus_call_async(c->bus, NULL, m, on_stop_answer, c, UINT64_MAX);
	return r < 0 ? fail_call(c, r, NULL) : 0;
}

static int on_answer(sd_bus_message *m, void *userdata, sd_bus_error *reterr)
{
	sd_bus_message **answer = userdata;

	(void)reterr;
	*answer = sd_bus_message_ref(m);
	return 0;
}

/* Waits for ANSWER, as long as the output of the session at PATH moves. */
static int wait_stopped(struct bus_client *c, const char *path, sd_bus_message **answer)
{
	uint64_t now, moved = clock_read_ns(CLOCK_MONOTONIC), bytes = UINT64_MAX;
	int r;

	for (;;) {
		_cleanup_(session_view_deinit) struct session_view v = { 0 };

		while ((r = sd_bus_process(c->bus, NULL)) > 0 && !*answer)
			;
		if (*answer)
			return 0;
		if (r < 0)
			return fail_call(c, r, NULL);
		r = sd_bus_wait(c->bus, STUCK_USEC / 5);
		if (r < 0 && r != -EINTR)
			return fail_call(c, r, NULL);
		if (r > 0)
			continue;
		r = bus_client_view(c, path, &v);
		if (r < 0)
			return r;
		now = clock_read_ns(CLOCK_MONOTONIC);
		if (v.counters.bytes != bytes)
			moved = now;
		else if (now - moved > STUCK_USEC * 1000)
			return fail(c, -ETIMEDOUT,
				    "the output of the session takes nothing any more");
		bytes = v.counters.bytes;
	}
}

int bus_client_stop(struct bus_client *c, const char *path)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL, *answer = NULL;
	_cleanup_(sd_bus_slot_unrefp) sd_bus_slot *slot = NULL;
	int r = new_call(c, path, "Stop", &m);

	if (r < 0)
		return r;
	r = sd_bus_call_async(c->bus, &slot, m, on_answer, &answer, UINT64_MAX);
	if (r < 0)
		return fail_call(c, r, NULL);
	r = wait_stopped(c, path, &answer);
	if (r < 0)
		return r;
	if (sd_bus_message_is_method_error(answer, NULL))
		return fail_call(c, -sd_bus_message_get_errno(answer),
				 sd_bus_message_get_error(answer));
	return 0;
}
