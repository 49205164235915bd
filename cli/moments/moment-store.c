/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/moments/moment-store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "reader/places/place-print.h"

void moment_store_deinit(struct moment_store *s)
{
	struct moment_plan *plan;
	size_t pos = 0;

	while ((plan = table_next(&s->plans, &pos)))
		moment_plan_deinit(plan);
	table_deinit_free(&s->plans);
}

int moment_store_add(struct moment_store *s, const struct event *ev)
{
	char why[MOMENT_PLAN_WHY_MAX];
	struct moment_plan plan, *kept;
	int r;

	if (ev->kind != EVENT_MOMENT_POINT)
		return 0;
	r = moment_plan_parse(ev->moment_point.plan, &plan, why);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	kept = table_make(&s->plans, (uint64_t)ev->moment_point.number + 1, sizeof(*kept));
	if (!kept) {
		moment_plan_deinit(&plan);
		return -ENOMEM;
	}
	/* (all zeroes is an empty one) */
	moment_plan_deinit(kept);
	*kept = plan;
	return 0;
}

const struct moment_plan *moment_store_plan(const struct moment_store *s, const struct event *ev)
{
	return table_get(&s->plans, (uint64_t)ev->moment.point + 1);
}

/* The bytes of load NUMBER at EV go to TO. Returns 0, or a negative errno: what kept them from being read. */
static int moment_store_append(const struct event *ev, uint32_t number, struct outbuf *to)
{
	struct moment_data_block b;
	uint32_t at = 0;

	while (moment_data_next(ev, &at, &b))
		if (b.load == number)
			return b.bytes < 0 ? b.bytes : outbuf_append(to, b.data, (size_t)b.bytes);
	return -ENOENT;
}

bool moment_store_tsv(const struct moment_plan *plan, const struct event *ev, uint32_t i,
		      uint64_t *ret)
{
	struct moment_data_block b;
	uint32_t at = 0;

	while (i < plan->n_tsvs && moment_data_next(ev, &at, &b))
		if (b.load == MOMENT_PLAN_LOADS_MAX + i && b.bytes == sizeof(*ret)) {
			memcpy(ret, b.data, sizeof(*ret));
			return true;
		}
	return false;
}

bool moment_store_print(const struct moment_plan_variable *v, const struct event *ev, char *to,
			size_t size)
{
	_cleanup_(outbuf_deinit) struct outbuf bytes = { 0 };
	int r = 0;

	if (!v->shape) {
		snprintf(to, size, "%s", v->reason);
		return false;
	}
	for (uint32_t i = 0; r == 0 && i < v->n; i++)
		r = moment_store_append(ev, v->first + i, &bytes);
	/* (without its last load, which may be a string that cannot be read, it has the others) */
	if (r < 0 && (bytes.size == 0 || r == -ENOENT)) {
		snprintf(to, size, "%s",
			 r == -ENOENT ? "there was no room for it" : "its memory cannot be read");
		return false;
	}
	place_print(&(struct place_bytes){ v->shape, bytes.data, bytes.size }, to, size);
	return true;
}
