/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads and writes values of options, in the struct and as text.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/moments/moment-plan.h"
#include "capture/options/call-spec.h"
#include "capture/options/filter-values.h"
#include "capture/options/option-table.h"
#include "capture/options/tracepoint-spec.h"

uint64_t option_value(const struct option_row *row, const void *options)
{
	const void *p = option_at(row, options);

	if (option_is_number(row))
		return *(const uint64_t *)p;
	if (row->type == OPTION_BOOL || row->type == OPTION_OWN)
		return *(const bool *)p;
	if (row->type == OPTION_CHOICE || row->type == OPTION_CATEGORIES)
		return *(const uint32_t *)p;
	return 0;
}

bool option_is_set(const struct option_row *row, const void *options)
{
	if (row->type == OPTION_OVERHEAD || row->type == OPTION_TRIGGERS)
		return false; /* these types set other options, which have their own rows */
	if (row->type == OPTION_TEXT || row->type > OPTION_OWN)
		return *(void *const *)option_at(row, options) != NULL;
	return option_value(row, options) != row->usual && option_value(row, options) != 0;
}

void option_set(const struct option_row *row, void *options, uint64_t value)
{
	void *p = option_at(row, options);

	if (option_is_number(row))
		*(uint64_t *)p = value;
	else if (row->type == OPTION_CHOICE)
		*(uint32_t *)p = (uint32_t)value;
	else
		*(bool *)p = value;
}

bool option_set_choice(const struct option_row *row, void *options, const char *name)
{
	for (unsigned i = 0; row->choice(i); i++) {
		if (strcmp(row->choice(i), name) == 0) {
			option_set(row, options, i);
			return true;
		}
	}
	return false;
}

static int option_parse_number(const struct option_row *row, void *options, const char *text,
			       char *why)
{
	bool none = row->flags & OPTION_INFINITY && strcasecmp(text, "infinity") == 0;
	uint64_t value = 0;
	int r = none ? 0
		     : value_parse((enum value_unit)row->type, text, row->min, row->max, &value,
				   why);

	if (r == 0)
		option_set(row, options, value);
	return r;
}

static int option_parse_choice(const struct option_row *row, void *options, const char *text,
			       char *why)
{
	char values[OPTION_VALUES_MAX], ignored[VALUE_WHY_MAX];
	bool yes;

	if (*text && option_set_choice(row, options, text))
		return 0;
	if (!(row->flags & OPTION_YES_NO) || value_parse_bool(text, &yes, ignored) < 0)
		return value_refuse(why, "'%.40s' is not one of %s", text,
				    option_values(row, values));
	option_set_choice(row, options, yes ? row->implied : "");
	return 0;
}

static int option_parse_text(const struct option_row *row, void *options, const char *text,
			     char *why)
{
	char **to = option_at(row, options);

	if (strlen(text) > row->n_max)
		return value_refuse(why, "longer than %zu bytes", row->n_max);
	free(*to);
	*to = strdup(text);
	return *to ? 0 : -ENOMEM;
}

/* Adds a specification of calls. The caller finds and opens the file. */
static int option_parse_call(const struct option_row *row, struct session_options *o,
			     const char *text, char *why)
{
	struct call_spec_error error;
	struct call_spec spec;
	int r;

	if (call_spec_parse(text, &spec, &error) < 0)
		return value_refuse(why, "'%.80s', byte %zu: %s", text, error.at, error.why);
	r = call_options_add(&o->calls, text);
	return r == -E2BIG ? value_refuse(why, "at most %zu are possible", row->n_max) : r;
}

/* Adds a compiled moment. The caller finds and opens the file. */
static int option_parse_moment(const struct option_row *row, struct session_options *o,
			       const char *text, char *why)
{
	char reason[MOMENT_PLAN_WHY_MAX];
	struct moment_plan plan;
	int r = moment_plan_parse(text, &plan, reason);

	if (r < 0)
		return r == -EINVAL ? value_refuse(why, "%s", reason) : r;
	moment_plan_deinit(&plan);
	r = call_options_add(&o->moments, text);
	return r == -E2BIG ? value_refuse(why, "at most %zu are possible", row->n_max) : r;
}

static int option_parse_tracepoint(const struct option_row *row, struct session_options *o,
				   const char *text, char *why)
{
	struct tracepoint_spec spec;
	int r = tracepoint_spec_parse(text, &spec, why);

	r = r ?: call_options_add(&o->tracepoints, text);
	return r == -E2BIG ? value_refuse(why, "at most %zu are possible", row->n_max) : r;
}

static int option_parse_app(struct session_options *o, const char *text, char *why)
{
	int r = session_options_add_app(o, text);

	if (r == -EINVAL)
		return value_refuse(why,
				    "name a category of programs, as in app:render or app:net*");
	return r == -E2BIG ? value_refuse(why, "the names of categories of programs are too long")
			   : r;
}

int option_parse(const struct option_row *row, void *options, const char *text,
		 char why[static VALUE_WHY_MAX])
{
	struct session_options *o = options;
	bool yes = true;
	int r = 0;

	switch (row->type) {
	case OPTION_BOOL:
		r = value_parse_bool(text, &yes, why);
		if (r == 0)
			option_set(row, options, yes);
		return r;
	case OPTION_CHOICE:
		return option_parse_choice(row, options, text, why);
	case OPTION_TEXT:
		return option_parse_text(row, options, text, why);
	case OPTION_OVERHEAD:
		return session_options_parse_overhead(o, text, why);
	case OPTION_CALLS:
		return option_parse_call(row, options, text, why);
	case OPTION_MOMENTS:
		return option_parse_moment(row, options, text, why);
	case OPTION_TRACEPOINTS:
		return option_parse_tracepoint(row, options, text, why);
	case OPTION_APP:
		return option_parse_app(o, text, why);
	case OPTION_COMMS:
		return filter_add_comm(&o->filter, text, why);
	case OPTION_USERS:
		return filter_add_user(&o->filter, text, why);
	default:
		return option_parse_number(row, options, text, why);
	}
}

char *option_values(const struct option_row *row, char to[static OPTION_VALUES_MAX])
{
	static const char *const units[] = {
		[OPTION_TIME] = "a time",
		[OPTION_SIZE] = "a size",
		[OPTION_COUNT] = "a number",
		[OPTION_SHARE] = "a percentage",
	};
	const char *none = row->flags & OPTION_INFINITY ? ", or infinity" : "";
	char low[TEXT_FORMAT_MAX], high[TEXT_FORMAT_MAX];
	size_t n;

	if (option_is_number(row)) {
		value_format((enum value_unit)row->type, row->max, high);
		snprintf(to, OPTION_VALUES_MAX, "%s%s: %s%s%s", units[row->type], none,
			 value_format((enum value_unit)row->type, row->min, low),
			 row->max < INT64_MAX ? " to " : " or more",
			 row->max < INT64_MAX ? high : "");
		return to;
	}
	snprintf(to, OPTION_VALUES_MAX, "%s",
		 row->values
			 ?: row->type == OPTION_BOOL ? "yes or no"
		    : row->flags & OPTION_YES_NO     ? "no, yes"
		    : row->choice                    ? row->choice(0)
						     : "text");
	for (unsigned i = 1; row->choice && row->choice(i); i++) {
		n = strlen(to);
		snprintf(to + n, OPTION_VALUES_MAX - n, "%s%s", row->choice(2) ? ", " : " or ",
			 row->choice(i));
	}
	return to;
}
