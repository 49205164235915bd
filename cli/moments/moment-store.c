/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/moments/moment-store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void moment_store_deinit(struct moment_store *s)
{
	struct moment_plan *plan;

	for (size_t pos = 0; (plan = table_next(&s->plans, &pos));)
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
	/* (a plan with all bytes zero is empty) */
	moment_plan_deinit(kept);
	*kept = plan;
	return 0;
}

const struct moment_plan *moment_store_plan(const struct moment_store *s, const struct event *ev)
{
	return table_get(&s->plans, (uint64_t)ev->moment.point + 1);
}
