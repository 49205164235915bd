/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What keys say together: whether one makes sense beside the others.
 */
#include <stdarg.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "capture/options/collection-rows.h"

struct checker {
	const struct collection *c;
	const unsigned *lines;
	collection_complaint_fn complain;
	void *userdata;
};

/* The line that KEY of SECTION stands in, or 0. */
static unsigned line_of(const struct checker *k, const char *section, const char *key)
{
	for (size_t i = 0; i < collection_n_rows; i++) {
		if (strcmp(collection_rows[i].section, section) == 0 &&
		    strcmp(collection_rows[i].key, key) == 0)
			return k->lines[i];
	}
	return 0;
}

__attribute__((format(printf, 3, 4))) static void say(const struct checker *k, unsigned line,
						      const char *format, ...)
{
	char text[COLLECTION_TEXT_MAX];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	k->complain(line, text, k->userdata);
}

static uint32_t categories_of(const struct collection *c)
{
	return c->session.categories ?: CATEGORIES_DEFAULT;
}

/* What is asked for in vain. */
static void check_rows(const struct checker *k)
{
	for (size_t i = 0; i < collection_n_rows; i++) {
		const struct collection_row *row = &collection_rows[i];
		char names[CATEGORIES_TEXT_MAX];

		if (k->lines[i] == 0)
			continue;
		if (row->mode != SESSION_MODE_MAX && row->mode != k->c->session.mode)
			say(k, k->lines[i], "%s= is for Mode=%s only, and this is Mode=%s",
			    row->key, session_mode_names[row->mode],
			    session_mode_names[k->c->session.mode]);
		if (row->categories && !(row->categories & categories_of(k->c)))
			say(k, k->lines[i],
			    "%s= has nothing to do: add %s%s to Categories= of [Collection]",
			    row->key, row->categories & (row->categories - 1) ? "one of " : "",
			    categories_format(names, row->categories));
	}
}

/* Which categories go with which filter. Units and cgroups will be in the filter. */
static void check_filter(const struct checker *k)
{
	struct session_options o = k->c->session;
	unsigned line = line_of(k, "Collection", "Categories");
	const char *refused;

	if (k->c->units || k->c->cgroups)
		o.filter.n_cgroups = 1;
	o.categories = categories_of(k->c);
	/* (of modes it has been said already) */
	o.mode = SESSION_STREAM;
	o.triggers = (struct trigger_options){ 0 };
	o.flight_ns = o.flight_bytes = o.rotate_ns = o.rotate_bytes = 0;
	/* (so it has of triggers, beside their keys) */
	o.triggers = (struct trigger_options){ 0 };
	/* (that one stands beside Triage= already) */
	if (o.memory.triage && !(o.categories & CATEGORY_MEMORY))
		return;
	refused = session_options_refused(&o);
	if (refused)
		say(k, o.memory.triage ? line_of(k, "Memory", "Triage") : line, "%s", refused);
	if (k->lines && o.memory.triage_interval_ns && !o.memory.triage)
		say(k, line_of(k, "Memory", "TriageInterval"),
		    "TriageInterval= has nothing to do without Triage=yes");
}

static void check_filter_size(const struct checker *k)
{
	size_t n = 0;

	for (char **p = k->c->units; p && *p; p++)
		n++;
	for (char **p = k->c->cgroups; p && *p; p++)
		n++;
	if (n > FILTER_CGROUPS_MAX)
		say(k, line_of(k, "Filter", "Unit") ?: line_of(k, "Filter", "CGroup"),
		    "there are %zu Unit= and CGroup= lines, and %d is the limit: name a slice that "
		    "has them in it",
		    n, FILTER_CGROUPS_MAX);
}

static void collection_check_output(const struct checker *k)
{
	const struct collection *c = k->c;
	unsigned size = line_of(k, "Output", "KeepSize"), time = line_of(k, "Output", "KeepTime");
	char keep[TEXT_FORMAT_MAX], rotate[TEXT_FORMAT_MAX];

	if (size && c->keep_bytes && c->keep_bytes < c->session.rotate_bytes)
		say(k, size,
		    "KeepSize= is %s, less than the %s of one chunk (RotateSize=): nothing would "
		    "be kept of what came before",
		    text_format_size(keep, c->keep_bytes),
		    text_format_size(rotate, c->session.rotate_bytes));
	if (time && c->keep_ns && c->keep_ns < c->session.rotate_ns)
		say(k, time,
		    "KeepTime= is %s, less than the %s of one chunk (RotateTime=): nothing would "
		    "be kept of what came before",
		    text_format_time(keep, c->keep_ns),
		    text_format_time(rotate, c->session.rotate_ns));
}

void collection_check(const struct collection *c, const unsigned *lines,
		      collection_complaint_fn complain, void *userdata)
{
	const struct checker k = { c, lines, complain, userdata };

	check_rows(&k);
	check_filter(&k);
	check_filter_size(&k);
	collection_check_output(&k);
}
