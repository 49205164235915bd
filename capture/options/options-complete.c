/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/options/options-complete.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "capture/options/option-table.h"

static bool options_complete_value_is_valid(const struct option_row *row,
					    const struct session_options *o)
{
	if (row->type == OPTION_CHOICE)
		return row->choice((unsigned)option_value(row, o)) != NULL;
	return !option_is_number(row) || option_in_range(row, option_value(row, o));
}

/*
 * FILTER_PIDS_MAX is larger than OPTION_PIDS_MAX, since the eBPF programs also add children to
 * their table.
 */
static bool options_complete_filter_is_valid(const struct capture_filter *f)
{
	return f->n_pids <= FILTER_PIDS_MAX && f->n_uids <= FILTER_VALUES_MAX &&
	       f->n_comms <= FILTER_VALUES_MAX && f->n_cgroups <= FILTER_CGROUPS_MAX;
}

int session_options_complete(struct session_options *o)
{
	if (!session_name_valid(o->name) || !options_complete_filter_is_valid(&o->filter) ||
	    o->memory.allocators.n > ALLOCATOR_FILES_MAX || o->calls.files.n != o->calls.n_specs ||
	    o->moments.files.n != o->moments.n_specs || option_check(o, 0, NULL, NULL) > 0)
		return -EINVAL;
	session_options_fill_flight(o);
	o->categories = o->categories ?: CATEGORIES_DEFAULT;
	OPTION_FOR_EACH(row) {
		if (option_is_of_profile(row))
			continue;
		if (!options_complete_value_is_valid(row, o))
			return -EINVAL;
		if (option_is_number(row) && option_value(row, o) == 0)
			option_set(row, o, row->usual);
	}
	return 0;
}

/* Returns true if ROW is part of the description. */
static bool options_complete_is_described(const struct option_row *row,
					  const struct session_options *o)
{
	if (row->trigger)
		return triggers_wanted(&o->triggers) && option_value(row, o);
	if (!row->stored_as || (row->categories && !(row->categories & o->categories)) ||
	    (row->mode && row->mode != OPTION_IN(o->mode) &&
	     row->mode != OPTION_IN(SESSION_STREAM)))
		return false;
	if (row->needs && !*((const bool *)o + row->needs))
		return false;
	if (row->type == OPTION_CATEGORIES)
		return o->categories && o->categories != CATEGORIES_DEFAULT;
	return row->flags & OPTION_STORED || option_value(row, o);
}

/* The values of triggers and limits are written exactly, without rounding. */
static void options_complete_describe_number(FILE *f, const struct option_row *row, uint64_t value)
{
	static const char *const units[] = { "ns", "B", "", "ppm" };
	char text[TEXT_FORMAT_MAX];

	if (row->trigger)
		fprintf(f, " trigger_%s=%" PRIu64 "%s", row->trigger, value, units[row->type]);
	else if (row->flags & OPTION_STORED_N)
		fprintf(f, " %s=%" PRIu64, row->stored_as, value);
	else if (row->type == OPTION_TIME && value == 0)
		fprintf(f, " %s=all", row->stored_as);
	else
		fprintf(f, " %s=%s", row->stored_as,
			value_format((enum value_unit)row->type, value, text));
}

static void options_complete_describe_row(FILE *f, const struct option_row *row,
					  const struct session_options *o)
{
	char categories[CATEGORIES_TEXT_MAX];

	if (option_is_number(row))
		options_complete_describe_number(f, row, option_value(row, o));
	else if (row->type == OPTION_CATEGORIES)
		fprintf(f, " %s=%s", row->stored_as, categories_format(categories, o->categories));
	else if (row->type == OPTION_CHOICE)
		fprintf(f, " %s=%s", row->stored_as, row->choice((unsigned)option_value(row, o)));
	else
		fprintf(f, " %s", row->stored_as);
}

/* Options with a rank come first, in the order of ranks, then all others. */
char *session_options_describe(const struct session_options *o)
{
	unsigned last = 0;
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		return NULL;
	OPTION_FOR_EACH(row)
		last = row->rank > last ? row->rank : last;
	for (unsigned i = 1; i <= last + 1; i++)
		OPTION_FOR_EACH(row)
			if (row->rank == i % (last + 1) && options_complete_is_described(row, o))
				options_complete_describe_row(f, row, o);
	if (fclose(f) != 0) {
		free(text);
		return NULL;
	}
	return memmove(text, text + 1, n);
}
