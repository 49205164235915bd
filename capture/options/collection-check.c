/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks of keys that depend on other keys.
 */
#include <stdarg.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "capture/options/collection-rows.h"

struct checker {
	const struct collection *c;
	const unsigned *lines;
	collection_complaint_fn complain;
	void *userdata;
};

__attribute__((format(printf, 3, 4))) static void
collection_check_add(const struct checker *k, unsigned line, const char *format, ...)
{
	char text[COLLECTION_TEXT_MAX];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	k->complain(line, text, k->userdata);
}

static void collection_check_on_complaint(const struct option_row *row, const char *why,
					  void *userdata)
{
	const struct checker *k = userdata;

	collection_check_add(k, k->lines[row - option_rows], "%s=: %s", row->key, why);
}

static void collection_check_filter_size(const struct checker *k)
{
	size_t n = 0;

	for (char **p = k->c->units; p && *p; p++)
		n++;
	for (char **p = k->c->cgroups; p && *p; p++)
		n++;
	if (n > FILTER_CGROUPS_MAX)
		collection_check_add(
			k,
			collection_line_of(k->lines, "Filter", "Unit")
				?: collection_line_of(k->lines, "Filter", "CGroup"),
			"there are %zu Unit= and CGroup= lines, and the limit is %d: use a "
			"slice that contains them",
			n, FILTER_CGROUPS_MAX);
}

static void collection_check_output(const struct checker *k)
{
	const struct collection *c = k->c;
	unsigned size = collection_line_of(k->lines, "Output", "KeepSize"),
		 time = collection_line_of(k->lines, "Output", "KeepTime");

	if (size && c->keep_bytes && c->keep_bytes < c->session.rotate_bytes)
		collection_check_add(
			k, size,
			"KeepSize= is %s, less than the %s of one chunk (RotateSize=): no "
			"earlier chunk would be kept",
			TEXT_SIZE(c->keep_bytes), TEXT_SIZE(c->session.rotate_bytes));
	if (time && c->keep_ns && c->keep_ns < c->session.rotate_ns)
		collection_check_add(
			k, time,
			"KeepTime= is %s, less than the %s of one chunk (RotateTime=): no "
			"earlier chunk would be kept",
			TEXT_TIME(c->keep_ns), TEXT_TIME(c->session.rotate_ns));
}

static void collection_check_export(const struct checker *k)
{
	const struct collection *c = k->c;
	unsigned format = collection_line_of(k->lines, "Export", "Format");
	uint32_t categories = c->session.categories ?: CATEGORIES_DEFAULT;

	if (format && !collection_line_of(k->lines, "Export", "To") &&
	    !collection_line_of(k->lines, "Export", "Run"))
		collection_check_add(k, format,
				     "Format= has no effect without To= or Run=: add one of them");
	if ((c->ship_format == SHIP_PPROF || c->ship_format == SHIP_OTLP) &&
	    !(categories & (CATEGORY_PROFILE | CATEGORY_OFFCPU)))
		collection_check_add(
			k, format,
			"Format=%s needs 'profile' or 'offcpu' among the categories: other "
			"ones have no stacks of this kind",
			ship_format_names[c->ship_format]);
}

void collection_check(const struct collection *c, const unsigned *lines,
		      collection_complaint_fn complain, void *userdata)
{
	struct checker k = { c, lines, complain, userdata };
	unsigned chosen = c->units || c->cgroups ? OPTION_CHECK_CHOSEN : 0;

	option_check(&c->session, OPTION_CHECK_PROFILE | chosen, collection_check_on_complaint, &k);
	collection_check_filter_size(&k);
	collection_check_output(&k);
	collection_check_export(&k);
}
