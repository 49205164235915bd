/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/python-text.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/common/json.h"
#include "cli/common/verb.h"

static const char *const python_text_rest[PYTHON_STACKS_MAX] = {
	[PYTHON_STACKS_NO_THREAD] = "of threads whose state was not found",
	[PYTHON_STACKS_UNREADABLE] = "at a function that cannot be read",
	[PYTHON_STACKS_FULL] = "at the limit of frames",
};

const char *python_text_format(char to[static PYTHON_TEXT_MAX],
			       const uint64_t stacks[static PYTHON_STACKS_MAX])
{
	const char *before = "; incomplete: ";
	int at;

	*to = '\0';
	if (stacks[PYTHON_STACKS_ALL] == 0)
		return to;
	at = snprintf(to, PYTHON_TEXT_MAX, "%" PRIu64 " stacks", stacks[PYTHON_STACKS_ALL]);
	for (size_t i = 0; i < PYTHON_STACKS_MAX; i++) {
		if (!python_text_rest[i] || stacks[i] == 0)
			continue;
		at += snprintf(to + at, PYTHON_TEXT_MAX - (size_t)at, "%s%" PRIu64 " %s", before,
			       stacks[i], python_text_rest[i]);
		before = ", ";
	}
	if (stacks[PYTHON_STACKS_UNNAMED])
		snprintf(to + at, PYTHON_TEXT_MAX - (size_t)at, "; %" PRIu64 " frames have no name",
			 stacks[PYTHON_STACKS_UNNAMED]);
	return to;
}

const char *python_text_unknown(char to[static PYTHON_TEXT_MAX], const char *version)
{
	snprintf(to, PYTHON_TEXT_MAX, "frames of Python %s are not known", version);
	return to;
}

void python_text_report_unknown(const struct summary *s)
{
	char text[PYTHON_TEXT_MAX];

	for (unsigned i = 0; i < s->n_unknown_pythons; i++)
		cli_error("%s: its stacks have the functions of the interpreter instead",
			  python_text_unknown(text, s->unknown_pythons[i]));
}

struct json_object *python_text_json(const struct summary *s)
{
	const uint64_t *n = s->python;

	if (n[PYTHON_STACKS_ALL] == 0 && s->n_unknown_pythons == 0)
		return NULL;
	return JSON_OBJECT(
		JSON("stacks", n[PYTHON_STACKS_ALL]), JSON("no_thread", n[PYTHON_STACKS_NO_THREAD]),
		JSON("unreadable", n[PYTHON_STACKS_UNREADABLE]),
		JSON("full", n[PYTHON_STACKS_FULL]), JSON("unnamed", n[PYTHON_STACKS_UNNAMED]),
		JSON("unknown",
		     JSON_LIST(v, s->unknown_pythons, s->n_unknown_pythons, (const char *)*v)));
}
