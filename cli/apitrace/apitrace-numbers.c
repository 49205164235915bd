/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/apitrace/apitrace-numbers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "reader/apitrace/apitrace-text.h"

void apitrace_numbers_deinit(struct apitrace_numbers *s)
{
	free(s->ranges);
	*s = (struct apitrace_numbers){ 0 };
}

static bool apitrace_numbers_take_number(const char **text, uint64_t *ret)
{
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	errno = 0;
	*ret = strtoull(*text, &end, 10);
	*text = end;
	return errno == 0;
}

static bool apitrace_numbers_take(const char **text, const char *what)
{
	size_t n = strlen(what);

	if (strncmp(*text, what, n) != 0)
		return false;
	*text += n;
	return true;
}

/* Parses one range. It contains no comma. */
static bool apitrace_numbers_parse(const char **text, struct apitrace_range *r)
{
	*r = (struct apitrace_range){ .last = UINT64_MAX, .step = 1 };
	if (apitrace_numbers_take(text, "frame")) {
		r->frames = true;
		return true;
	}
	if (!apitrace_numbers_take(text, "*")) {
		if (!apitrace_numbers_take_number(text, &r->first))
			return false;
		if (!apitrace_numbers_take(text, "-"))
			r->last = r->first;
		else if (**text >= '0' && **text <= '9' &&
			 !apitrace_numbers_take_number(text, &r->last))
			return false;
	}
	if (!apitrace_numbers_take(text, "/"))
		return true;
	r->frames = apitrace_numbers_take(text, "frame");
	return r->frames || (apitrace_numbers_take_number(text, &r->step) && r->step > 0);
}

int apitrace_numbers_add(struct apitrace_numbers *s, const char *text)
{
	do {
		if (GROW(s->ranges, s->room, s->n + 1) < 0)
			return -ENOMEM;
		if (!apitrace_numbers_parse(&text, &s->ranges[s->n]))
			return -EINVAL;
		s->n++;
	} while (apitrace_numbers_take(&text, ","));
	return *text ? -EINVAL : 0;
}

static bool apitrace_range_has(const struct apitrace_range *r, const struct apitrace_call *call)
{
	return call->no >= r->first && call->no <= r->last &&
	       (call->no - r->first) % r->step == 0 &&
	       (!r->frames || apitrace_ends_frame(&call->function->name));
}

bool apitrace_numbers_has(const struct apitrace_numbers *s, const struct apitrace_call *call)
{
	for (size_t i = 0; i < s->n; i++)
		if (apitrace_range_has(&s->ranges[i], call))
			return true;
	return s->n == 0;
}
