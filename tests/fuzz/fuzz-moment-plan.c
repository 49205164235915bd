/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses the input as the plan of a point: either there is an error with its place, or all values
 * are within bounds.
 */
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/moments/moment-plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_load(const struct moment_plan *p, const struct moment_plan_load *l)
{
	assert(l->bytes > 0 && l->bytes <= MOMENT_PLAN_BYTES_MAX);
	assert(l->base < MOMENT_PLAN_BASES && l->reg < MOMENT_PLAN_REGISTERS);
	assert(l->index < MOMENT_PLAN_REGISTERS && l->scale <= 8);
	assert(l->n_steps <= MOMENT_PLAN_STEPS_MAX && !(l->flags & ~MOMENT_PLAN_FLAGS));
	assert(l->count_at <= p->n_loads);
}

static void check_condition(const struct moment_plan *p, const struct moment_plan_condition *c)
{
	assert(c->at > 0 && c->op > 0 && c->bits > 0 && c->bits <= 64);
	assert(c->at <= MOMENT_PLAN_LOADS_MAX ? c->at <= p->n_loads
					      : c->at - MOMENT_PLAN_LOADS_MAX <= p->n_tsvs);
}

static void check_variable(const struct moment_plan *p, const struct moment_plan_variable *v)
{
	assert(v->name && v->type && (!v->shape != !v->reason));
	assert((uint64_t)v->first + v->n <= p->n_loads);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = strndup((const char *)data, size);
	char why[MOMENT_PLAN_WHY_MAX] = "";
	struct moment_plan p;
	int r = text ? moment_plan_parse(text, &p, why) : -ENOMEM;

	if (r < 0) {
		assert(r == -ENOMEM || *why);
		return 0;
	}
	assert(*p.name && *p.file && p.source);
	assert(p.n_loads <= MOMENT_PLAN_LOADS_MAX && p.n_variables <= MOMENT_PLAN_VARIABLES_MAX);
	assert(p.n_conditions <= MOMENT_PLAN_CONDITIONS_MAX && p.n_tsvs <= MOMENT_PLAN_TSVS_MAX);
	for (uint32_t i = 0; i < p.n_conditions; i++)
		check_condition(&p, &p.conditions[i]);
	for (uint32_t i = 0; i < p.n_tsvs; i++)
		assert(moment_plan_is_tsv(p.tsvs[i].name, strlen(p.tsvs[i].name)));
	for (uint32_t i = 0; i < p.n_loads; i++)
		check_load(&p, &p.loads[i]);
	for (uint32_t i = 0; i < p.n_variables; i++)
		check_variable(&p, &p.variables[i]);
	moment_plan_deinit(&p);
	return 0;
}
