/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bus/option-bus.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "capture/options/filter-values.h"

const char *option_bus_type(const struct option_row *row)
{
	static const char *const types[OPTION_TYPES_MAX] = {
		[OPTION_TIME] = "t",        [OPTION_SIZE] = "t",
		[OPTION_COUNT] = "t",       [OPTION_SHARE] = "t",
		[OPTION_BOOL] = "b",        [OPTION_OWN] = "b",
		[OPTION_CHOICE] = "s",      [OPTION_TEXT] = "s",
		[OPTION_CATEGORIES] = "as", [OPTION_TRIGGERS] = "a{st}",
		[OPTION_PIDS] = "au",       [OPTION_USERS] = "au",
		[OPTION_COMMS] = "as",      [OPTION_CGROUPS] = "a(tus)",
		[OPTION_FILES] = "ah",      [OPTION_CALLS] = "as",
		[OPTION_MOMENTS] = "as",    [OPTION_TRACEPOINTS] = "as",
		[OPTION_APP] = "as",
	};

	return row->bus ? types[row->type] : NULL;
}

/* ---- reading ---- */

static int option_bus_set_number(const struct option_row *row, struct session_options *to,
				 uint64_t value, char *why)
{
	if (!option_in_range(row, value))
		return value_refuse(why,
				    "%" PRIu64 " is out of range: %" PRIu64 " to %" PRIu64
				    ", or 0 for the default",
				    value, row->min, row->max);
	option_set(row, to, value);
	return 0;
}

static int option_bus_read_text(sd_bus_message *m, const struct option_row *row,
				struct session_options *to, char *why)
{
	const char *text;
	int r = sd_bus_message_read(m, "s", &text);

	if (r < 0)
		return r;
	if (*text || row->type == OPTION_TEXT)
		return option_parse(row, to, text, why);
	option_set(row, to, 0);
	return 0;
}

static int option_bus_read_category(sd_bus_message *m, struct session_options *to, char *why)
{
	const char *word;
	uint32_t bits;
	int r = sd_bus_message_read(m, "s", &word);

	if (r <= 0)
		return r;
	if (strchr(word, ',') || categories_parse(word, &bits, NULL, NULL) < 0)
		return value_refuse(why, "unknown category '%.80s'", word);
	to->categories |= bits;
	return 1;
}

static int option_bus_read_trigger(sd_bus_message *m, struct session_options *to, char *why)
{
	const struct option_row *row;
	char wrong[VALUE_WHY_MAX];
	const char *name;
	uint64_t value;
	int r = sd_bus_message_read(m, "{st}", &name, &value);

	if (r <= 0)
		return r;
	row = option_of_trigger(name, strlen(name));
	if (!row)
		return value_refuse(why, "unknown trigger '%.80s'", name);
	r = option_bus_set_number(row, to, value, wrong);
	return r < 0 ? value_refuse(why, "'%s': %.200s", name, wrong) : 1;
}

static int option_bus_read_number(sd_bus_message *m, const struct option_row *row,
				  struct session_options *to, char *why)
{
	bool pids = row->type == OPTION_PIDS;
	uint32_t value;
	int r = sd_bus_message_read(m, "u", &value);

	if (r <= 0)
		return r;
	if (value < row->min || value > row->max)
		return value_refuse(why, "%u is not the id of a %s", value,
				    pids ? "process" : "user");
	r = pids ? filter_add_pid(&to->filter, value, why)
		 : filter_add_uid(&to->filter, value, why);
	return r < 0 ? r : 1;
}

static int option_bus_read_comm(sd_bus_message *m, struct session_options *to, char *why)
{
	const char *name;
	int r = sd_bus_message_read(m, "s", &name);

	if (r > 0)
		r = filter_add_comm(&to->filter, name, why);
	return r < 0 ? r : 1;
}

static int option_bus_read_call(sd_bus_message *m, const struct option_row *row,
				struct session_options *to, char *why)
{
	const char *text;
	int r = sd_bus_message_read(m, "s", &text);

	if (r > 0)
		r = option_parse(row, to, text, why) ?: 1;
	return r;
}

static int option_bus_read_cgroup(sd_bus_message *m, struct session_options *to, char *why)
{
	struct filter_cgroup c = { 0 };
	const char *name;
	uint64_t parent_id;
	uint32_t level;
	int r = sd_bus_message_read(m, "(tus)", &parent_id, &level, &name);

	if (r <= 0)
		return r;
	if (*name == '\0' || strchr(name, '/') || strlen(name) >= sizeof(c.name) ||
	    parent_id == 0 || level == 0)
		return value_refuse(why,
				    "(%" PRIu64
				    ", %u, \"%.80s\") is not the id of a parent, a level "
				    "and a name",
				    parent_id, level, name);
	c.parent_id = parent_id;
	c.level = level;
	strcpy(c.name, name);
	return filter_add_cgroups(&to->filter, &c, 1, why) ?: 1;
}

/* Reads one element of a list. Returns 1, 0 at its end, or a negative errno. */
static int option_bus_read_one(sd_bus_message *m, const struct option_row *row,
			       struct session_options *to, char *why)
{
	switch (row->type) {
	case OPTION_CATEGORIES:
		return option_bus_read_category(m, to, why);
	case OPTION_TRIGGERS:
		return option_bus_read_trigger(m, to, why);
	case OPTION_COMMS:
		return option_bus_read_comm(m, to, why);
	case OPTION_CGROUPS:
		return option_bus_read_cgroup(m, to, why);
	case OPTION_CALLS:
	case OPTION_MOMENTS:
	case OPTION_TRACEPOINTS:
	case OPTION_APP:
		return option_bus_read_call(m, row, to, why);
	default:
		return option_bus_read_number(m, row, to, why);
	}
}

static int option_bus_read_list(sd_bus_message *m, const struct option_row *row,
				struct session_options *to, char *why)
{
	int r = sd_bus_message_enter_container(m, 'a', option_bus_type(row) + 1);

	if (r < 0)
		return r;
	while (sd_bus_message_at_end(m, false) == 0) {
		r = option_bus_read_one(m, row, to, why);
		/* Too many values are the caller's error. */
		if (r < 0)
			return *why && r != -ENOMEM ? -EINVAL : r;
	}
	return sd_bus_message_exit_container(m);
}

int option_bus_read(sd_bus_message *m, const struct option_row *row, struct session_options *to,
		    char why[static VALUE_WHY_MAX])
{
	const char *type = option_bus_type(row);
	uint64_t value;
	int yes, r;

	*why = '\0';
	switch (*type) {
	case 't':
		r = sd_bus_message_read(m, type, &value);
		return r < 0 ? r : option_bus_set_number(row, to, value, why);
	case 'b':
		r = sd_bus_message_read(m, type, &yes);
		if (r >= 0)
			option_set(row, to, (uint64_t)yes);
		return r < 0 ? r : 0;
	case 's':
		return option_bus_read_text(m, row, to, why);
	default:
		return option_bus_read_list(m, row, to, why);
	}
}

/* ---- appending ---- */

static int option_bus_append_categories(sd_bus_message *m, uint32_t categories)
{
	int r = 0;

	for (const struct category_row *c = category_rows; r >= 0 && c->name; c++)
		if (categories & c->bit)
			r = sd_bus_message_append(m, "s", c->name);
	return r;
}

static int option_bus_append_triggers(sd_bus_message *m, const struct session_options *o)
{
	int r = 0;

	OPTION_FOR_EACH(row)
		if (r >= 0 && row->trigger && option_value(row, o))
			r = sd_bus_message_append(m, "{st}", row->trigger, option_value(row, o));
	return r;
}

static int option_bus_append_numbers(sd_bus_message *m, const char *type, const void *values,
				     size_t n)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < n; i++)
		r = sd_bus_message_append(m, type, ((const uint32_t *)values)[i]);
	return r;
}

static int option_bus_append_names(sd_bus_message *m, const struct capture_filter *f)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < f->n_comms; i++)
		r = sd_bus_message_append(m, "s", f->comms[i]);
	return r;
}

static int option_bus_append_cgroups(sd_bus_message *m, const struct capture_filter *f)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < f->n_cgroups; i++)
		r = sd_bus_message_append(m, "(tus)", (uint64_t)f->cgroups[i].parent_id,
					  (uint32_t)f->cgroups[i].level, f->cgroups[i].name);
	return r;
}

static int option_bus_append_calls(sd_bus_message *m, const struct call_options *o)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < o->n_specs; i++)
		r = sd_bus_message_append(m, "s", o->specs[i]);
	return r;
}

static int option_bus_append_app(sd_bus_message *m, const char *patterns)
{
	char pattern[OPTION_APP_MAX];
	int r = 0;

	for (size_t n; r >= 0 && patterns && *patterns; patterns += n + (patterns[n] == ',')) {
		n = strcspn(patterns, ",");
		snprintf(pattern, sizeof(pattern), "%.*s", (int)n, patterns);
		r = sd_bus_message_append(m, "s", pattern);
	}
	return r;
}

static int option_bus_append_items(sd_bus_message *m, const struct option_row *row,
				   const struct session_options *o)
{
	const struct capture_filter *f = &o->filter;
	const struct option_files *files;

	switch (row->type) {
	case OPTION_CATEGORIES:
		return option_bus_append_categories(m, o->categories);
	case OPTION_TRIGGERS:
		return option_bus_append_triggers(m, o);
	case OPTION_PIDS:
		return option_bus_append_numbers(m, "u", f->pids, f->n_pids);
	case OPTION_USERS:
		return option_bus_append_numbers(m, "u", f->uids, f->n_uids);
	case OPTION_COMMS:
		return option_bus_append_names(m, f);
	case OPTION_CGROUPS:
		return option_bus_append_cgroups(m, f);
	case OPTION_CALLS:
	case OPTION_MOMENTS:
	case OPTION_TRACEPOINTS:
		return option_bus_append_calls(m, option_at(row, o));
	case OPTION_APP:
		return option_bus_append_app(m, o->app);
	default:
		files = option_at(row, o);
		return option_bus_append_numbers(m, "h", files->fds, files->n);
	}
}

static int option_bus_append_value(sd_bus_message *m, const struct option_row *row,
				   const struct session_options *o)
{
	const char *type = option_bus_type(row);
	uint64_t value = option_value(row, o);
	int r;

	if (*type == 't')
		return sd_bus_message_append(m, type, value);
	if (*type == 'b')
		return sd_bus_message_append(m, type, (int)value);
	if (row->type == OPTION_TEXT)
		return sd_bus_message_append(m, type, *(char **)option_at(row, o) ?: "");
	if (row->type == OPTION_CHOICE)
		return sd_bus_message_append(m, type, row->choice((unsigned)value));
	r = sd_bus_message_open_container(m, 'a', type + 1);
	if (r >= 0)
		r = option_bus_append_items(m, row, o);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

static int option_bus_append_entry(sd_bus_message *m, const struct option_row *row,
				   const struct session_options *o)
{
	int r = sd_bus_message_open_container(m, 'e', "sv");

	if (r >= 0)
		r = sd_bus_message_append(m, "s", row->bus);
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'v', option_bus_type(row));
	if (r >= 0)
		r = option_bus_append_value(m, row, o);
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

static bool option_bus_has_trigger(const struct session_options *o)
{
	OPTION_FOR_EACH(row)
		if (row->trigger && option_value(row, o))
			return true;
	return false;
}

/*
 * Returns true if the option must be sent to the service. Older services do not know all options.
 */
static bool option_bus_is_sent(const struct option_row *row, const struct session_options *o)
{
	if (row->type == OPTION_TRIGGERS)
		return option_bus_has_trigger(o);
	return option_is_number(row) ? option_value(row, o) != 0 : option_is_set(row, o);
}

int option_bus_append(sd_bus_message *m, const struct session_options *o, bool shown)
{
	int r = 0;

	OPTION_FOR_EACH(row)
		if (r >= 0 && row->bus &&
		    (shown ? row->type != OPTION_FILES : option_bus_is_sent(row, o)))
			r = option_bus_append_entry(m, row, o);
	return r < 0 ? r : 0;
}
