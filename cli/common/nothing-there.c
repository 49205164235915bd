/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/nothing-there.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "capture/options/options.h"
#include "cli/common/verb.h"

enum { CATEGORIES_OF_ONE = 6 };

static const struct nothing_row {
	const char *what, *reason, *how;
	/* Names of the categories that contain the part; NULL ends the list. */
	const char *categories[CATEGORIES_OF_ONE];
} rows[NOTHING_PARTS] = {
	[NOTHING_SWITCHES] = { "no switches of threads",
			       "no selected thread ran",
			       "record them with 'kymo record -e sched'",
			       { "sched" } },
	[NOTHING_STACKS] = { "no call stacks",
			     "no selected thread was running when a sample was due (-F), and none "
			     "was off a CPU for long enough (--offcpu-min)",
			     "record them with 'kymo record -e profile'",
			     { "profile", "offcpu" } },
	[NOTHING_ALLOCATIONS] = { "no allocation data",
				  "no process was watched",
				  "record it with 'kymo leaks -p PID' or 'kymo record -e memory -p "
				  "PID'",
				  { "memory", "fd", "shm", "threads" } },
	[NOTHING_CALLS] = { "no calls",
			    "no selected thread called a function of --call",
			    "record them with 'kymo record --call=SPEC'",
			    { "calls" } },
	[NOTHING_MOMENTS] = { "no moments",
			      "no selected thread reached a point (--moment, -e usdt)",
			      "record them with 'kymo record --moment=SPEC'",
			      { "moments" } },
};

/* The part that each kind of event shows, plus 1; 0 = no part. */
static const uint8_t parts[EVENT_KIND_MAX] = {
	[EVENT_SWITCH] = 1 + NOTHING_SWITCHES, [EVENT_SAMPLE] = 1 + NOTHING_STACKS,
	[EVENT_OFFCPU] = 1 + NOTHING_STACKS,   [EVENT_WATCH_BEGIN] = 1 + NOTHING_ALLOCATIONS,
	[EVENT_CALL] = 1 + NOTHING_CALLS,      [EVENT_LEFT_OUT] = 1 + NOTHING_CALLS,
	[EVENT_MOMENT] = 1 + NOTHING_MOMENTS,
};

static bool nothing_there_is_default(const char *category)
{
	for (const struct category_row *row = category_rows; row->name; row++)
		if (strcmp(row->name, category) == 0)
			return row->bit & CATEGORIES_DEFAULT;
	return false;
}

/* Returns true if the recording of EV, an EVENT_START, had CATEGORY enabled. */
static bool nothing_there_has_category(const struct event *ev, const char *category)
{
	static const char key[] = "categories=";
	const char *p = ev->start.options ? strstr(ev->start.options, key) : NULL;
	size_t n, bytes = strlen(category);

	/* (options with their default value are left out) */
	if (!p)
		return ev->start.options && *ev->start.options &&
		       nothing_there_is_default(category);
	for (p += strlen(key);; p += n + 1) {
		n = strcspn(p, ", ");
		if (n == bytes && memcmp(p, category, n) == 0)
			return true;
		if (p[n] != ',')
			return false;
	}
}

static void nothing_there_note_start(struct nothing_there *n, const struct event *ev)
{
	for (unsigned part = 0; part < NOTHING_PARTS; part++)
		for (size_t i = 0; i < CATEGORIES_OF_ONE && rows[part].categories[i]; i++)
			if (nothing_there_has_category(ev, rows[part].categories[i]))
				n->recording_request |= 1u << part;
}

void nothing_there_note(struct nothing_there *n, const struct event *ev)
{
	if (ev->kind == EVENT_START)
		nothing_there_note_start(n, ev);
	else if (parts[ev->kind] && !(ev->kind == EVENT_SWITCH && ev->sw.synthetic))
		n->seen |= 1u << (parts[ev->kind] - 1);
}

const char *nothing_there_explain(char to[static NOTHING_TEXT_MAX], const struct nothing_there *n,
				  enum nothing_part part)
{
	const struct nothing_row *row = &rows[part];
	bool asked = n->recording_request & 1u << part;

	snprintf(to, NOTHING_TEXT_MAX, "%s%s %s", row->what, asked ? ":" : ";",
		 asked ? row->reason : row->how);
	return to;
}

int nothing_there_say(const struct nothing_there *n, enum nothing_part part, const char *name)
{
	char text[NOTHING_TEXT_MAX];

	cli_error("%s contains %s", name, nothing_there_explain(text, n, part));
	return n->recording_request & 1u << part ? CLI_OK : CLI_FAILED;
}

void nothing_there_say_missing(const struct nothing_there *n, const char *name)
{
	for (unsigned part = 0; part < NOTHING_PARTS; part++)
		if (n->recording_request & ~n->seen & 1u << part)
			nothing_there_say(n, part, name);
}

void nothing_there_name_files(const struct other_files *o, const char *name)
{
	_cleanup_free_ char *text = other_files_text(o);
	char clean[4096];

	if (!text)
		return;
	text_clean(clean, sizeof(clean), text, strlen(text));
	cli_error("%s: %s", name, clean);
}
