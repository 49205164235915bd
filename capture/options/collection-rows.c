/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/options/collection-rows.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/string-table.h"
#include "base/text.h"
#include "capture/options/filter-values.h"
#include "capture/options/tracepoint-presets.h"

const struct option_row *collection_row_of(const char *section, const char *key)
{
	OPTION_FOR_EACH(row)
		if (row->key && strcmp(row->section, section) == 0 && strcmp(row->key, key) == 0)
			return row;
	return NULL;
}

unsigned collection_line_of(const unsigned *lines, const char *section, const char *key)
{
	const struct option_row *row = collection_row_of(section, key);

	return row ? lines[row - option_rows] : 0;
}

static int collection_set_string(char **to, const char *text)
{
	free(*to);
	*to = strdup(text);
	return *to ? 0 : -ENOMEM;
}

static int collection_rows_parse_categories(struct collection *to, const char *text, char *why)
{
	_cleanup_free_ char *copy = strdup(text);
	char *rest = copy, *word;
	uint32_t bits, all = 0;
	int r = 0;

	if (!copy)
		return -ENOMEM;
	while ((word = strsep(&rest, ", \t"))) {
		bits = CATEGORY_TRACEPOINTS;
		if (tracepoint_preset_find(word, strlen(word))) {
			r = option_parse(option_of_bus("tracepoints"), &to->session, word, why);
		} else if (strncmp(word, APP_PREFIX, strlen(APP_PREFIX)) == 0) {
			bits = CATEGORY_APP;
			r = option_parse(option_of_bus("app"), &to->session,
					 word + strlen(APP_PREFIX), why);
		} else if (*word && categories_parse(word, &bits, NULL, NULL) < 0) {
			return value_refuse(
				why, "unknown category '%.40s'; `kymo record -e help` lists them",
				word);
		}
		if (r < 0)
			return r;
		all |= *word ? bits : 0;
	}
	if (all == 0)
		return value_refuse(why, "'%.40s' contains no category", text);
	to->session.categories |= all;
	return 0;
}

static int collection_rows_append(char ***list, const char *text)
{
	size_t n = 0;
	char **more;

	while (*list && (*list)[n])
		n++;
	more = reallocarray(*list, n + 2, sizeof(*more));
	if (!more)
		return -ENOMEM;
	*list = more;
	more[n] = strdup(text);
	more[n + 1] = NULL;
	return more[n] ? 0 : -ENOMEM;
}

/*
 * Checks that the unit is of a kind that contains processes, and that its name has only permitted
 * characters.
 */
static int collection_parse_unit(const struct option_row *row, struct collection *to,
				 const char *text, char *why)
{
	static const char *const suffixes[] = { "service", "scope", "slice",
						"socket",  "mount", "swap" };
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789:_.\\@-";
	size_t n = strspn(text, letters);
	const char *dot = strrchr(text, '.');

	if (text[n] != '\0' && strchr(" \t,", text[n]))
		return value_refuse(why, "'%.80s' is more than one unit: use a line %s= for each",
				    text, row->key);
	if (text[n] != '\0' || dot == text)
		return value_refuse(why, "'%.80s' is not a valid name for a unit", text);
	if (dot && STRING_TABLE_FIND(suffixes, dot + 1) < 0)
		return value_refuse(
			why,
			"'%.80s' is not a unit with processes: use a service, scope, slice, "
			"socket, mount or swap",
			text);
	if (strlen(text) + (dot ? 0 : strlen(".service")) >= FILTER_CGROUP_BYTES)
		return value_refuse(why, "'%.40s...' is longer than %d bytes", text,
				    FILTER_CGROUP_BYTES - 1);
	return collection_rows_append(option_at(row, to), text);
}

/* Returns true if PATH is short enough and has no "." and ".." components. */
static bool collection_is_plain(const char *path)
{
	for (const char *p = path; *p; p += strspn(p, "/")) {
		size_t n = strcspn(p, "/");

		if (n > NAME_MAX || (n == 1 && *p == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
			return false;
		p += n;
	}
	return strlen(path) < PATH_MAX;
}

static int collection_parse_cgroup(const struct option_row *row, struct collection *to,
				   const char *text, char why[static VALUE_WHY_MAX])
{
	const char *last = strrchr(text, '/');

	if (!collection_is_plain(text) || strspn(text, "/") == strlen(text))
		return value_refuse(why, "'%.80s' is not the path of a cgroup below the root",
				    text);
	if (strlen(last ? last + 1 : text) >= FILTER_CGROUP_BYTES)
		return value_refuse(why, "the last name in '%.80s' is longer than %d bytes", text,
				    FILTER_CGROUP_BYTES - 1);
	return collection_rows_append(option_at(row, to), text);
}

static int collection_check_path(const char *text, char *why)
{
	if (*text != '/' || !collection_is_plain(text))
		return value_refuse(why, "'%.80s' is not an absolute path without \".\" and \"..\"",
				    text);
	return 0;
}

static int collection_parse_program(const struct option_row *row, struct collection *to,
				    const char *text, char why[static VALUE_WHY_MAX])
{
	size_t n = 0;
	int r = collection_check_path(text, why);

	if (r < 0)
		return r;
	while (to->programs && to->programs[n])
		n++;
	if (n == ALLOCATOR_FILES_MAX)
		return value_refuse(why, "at most %d are possible", ALLOCATOR_FILES_MAX);
	return collection_rows_append(option_at(row, to), text);
}

static int collection_parse_directory(const struct option_row *row, struct collection *to,
				      const char *text, char why[static VALUE_WHY_MAX])
{
	char **path = option_at(row, to);
	size_t n = strlen(text);
	int r = collection_check_path(text, why) ?: collection_set_string(path, text);

	/* Remove slashes at the end, so that paths can be compared and shown. */
	for (; r == 0 && n > 1 && (*path)[n - 1] == '/'; n--)
		(*path)[n - 1] = '\0';
	if (r == 0 && strcmp(*path, "/") == 0)
		return value_refuse(why, "'/' cannot be the directory of chunks");
	return r;
}

static int collection_parse_negated(const struct option_row *row, struct collection *to,
				    const char *text, char *why)
{
	int r = option_parse(row, to, text, why);

	if (r == 0)
		option_set(row, to, !option_value(row, to));
	return r;
}

int collection_parse_value(const struct option_row *row, struct collection *to, const char *text,
			   char why[static VALUE_WHY_MAX])
{
	int r;

	switch (row->type) {
	case OPTION_CATEGORIES:
		return collection_rows_parse_categories(to, text, why);
	case OPTION_UNIT:
		return collection_parse_unit(row, to, text, why);
	case OPTION_CGROUP:
		return collection_parse_cgroup(row, to, text, why);
	case OPTION_PROGRAM:
		return collection_parse_program(row, to, text, why);
	case OPTION_DIRECTORY:
		return collection_parse_directory(row, to, text, why);
	default:
		r = row->flags & OPTION_NEGATED ? collection_parse_negated(row, to, text, why)
						: option_parse(row, to, text, why);
		return r == -ENOMEM ? r : r < 0 ? -EINVAL : 0;
	}
}
