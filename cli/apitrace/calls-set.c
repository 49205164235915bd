/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/apitrace/calls-set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "reader/apitrace/apitrace-text.h"

void calls_set_deinit(struct calls_set *s)
{
	free(s->ranges);
	*s = (struct calls_set){ 0 };
}

static bool calls_set_take_number(const char **text, uint64_t *ret)
{
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	errno = 0;
	*ret = strtoull(*text, &end, 10);
	*text = end;
	return errno == 0;
}

static bool calls_set_take(const char **text, const char *what)
{
	size_t n = strlen(what);

	if (strncmp(*text, what, n) != 0)
		return false;
	*text += n;
	return true;
}

/* Parses one range, which contains no comma. */
static bool calls_set_parse(const char **text, struct calls_range *r)
{
	*r = (struct calls_range){ .last = UINT64_MAX, .step = 1 };
	if (calls_set_take(text, "frame")) {
		r->frames = true;
		return true;
	}
	if (!calls_set_take(text, "*")) {
		if (!calls_set_take_number(text, &r->first))
			return false;
		if (!calls_set_take(text, "-"))
			r->last = r->first;
		else if (**text >= '0' && **text <= '9' && !calls_set_take_number(text, &r->last))
			return false;
	}
	if (!calls_set_take(text, "/"))
		return true;
	r->frames = calls_set_take(text, "frame");
	return r->frames || (calls_set_take_number(text, &r->step) && r->step > 0);
}

int calls_set_add(struct calls_set *s, const char *text)
{
	do {
		if (GROW(s->ranges, s->room, s->n + 1) < 0)
			return -ENOMEM;
		if (!calls_set_parse(&text, &s->ranges[s->n]))
			return -EINVAL;
		s->n++;
	} while (calls_set_take(&text, ","));
	return *text ? -EINVAL : 0;
}

static bool calls_range_has(const struct calls_range *r, const struct apitrace_call *call)
{
	return call->no >= r->first && call->no <= r->last &&
	       (call->no - r->first) % r->step == 0 &&
	       (!r->frames || apitrace_ends_frame(&call->function->name));
}

bool calls_set_has(const struct calls_set *s, const struct apitrace_call *call)
{
	for (size_t i = 0; i < s->n; i++)
		if (calls_range_has(&s->ranges[i], call))
			return true;
	return s->n == 0;
}
