/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/moments/moment-plan.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

/*
 * INDEX_UNIT, SCALE_UNIT: the number of a load's register also contains the index and the scale, in
 * these units.
 */
enum { OPS = 8, INDEX_UNIT = 32, SCALE_UNIT = 1024 };

/*
 * Returns the next field at *AT, which ends at a tab, and advances *AT. Returns NULL after the last
 * field.
 */
static char *moment_plan_field(char **at)
{
	return *at ? strsep(at, "\t") : NULL;
}

/* Parses a number from 0 to MAX. */
static bool moment_plan_parse_u64(char **at, uint64_t max, uint64_t *ret)
{
	const char *field = moment_plan_field(at);

	return field && text_parse_u64(field, max, ret) == 0;
}

static bool moment_plan_parse_u32(char **at, uint32_t max, uint32_t *ret)
{
	uint64_t value = 0;
	bool good = moment_plan_parse_u64(at, max, &value);

	*ret = (uint32_t)value;
	return good;
}

static bool moment_plan_parse_u8(char **at, uint8_t max, uint8_t *ret)
{
	uint64_t value = 0;
	bool good = moment_plan_parse_u64(at, max, &value);

	*ret = (uint8_t)value;
	return good;
}

/* Parses a number that can be negative, as modulo 2^64. */
static bool moment_plan_parse_signed(char **at, int64_t *ret)
{
	const char *field = moment_plan_field(at);
	bool minus = field && *field == '-';
	uint64_t value;

	if (!field || text_parse_u64(field + minus, UINT64_MAX, &value) < 0)
		return false;
	*ret = (int64_t)(minus ? 0 - value : value);
	return true;
}

/* Parses text. If it is the LAST field, it extends to the end of the line. */
static bool moment_plan_parse_text(char **at, bool last, const char **ret)
{
	*ret = last ? *at : moment_plan_field(at);
	if (last)
		*at = NULL;
	for (const char *p = *ret; p && *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return false;
	return *ret != NULL;
}

/* ---- lines ---- */

/* Parses a register, with the index and the scale. */
static bool moment_plan_parse_registers(char **at, struct moment_plan_load *to)
{
	uint32_t number;

	if (!moment_plan_parse_u32(at, 8 * SCALE_UNIT + SCALE_UNIT - 1, &number))
		return false;
	to->reg = (uint8_t)(number % INDEX_UNIT);
	to->index = (uint8_t)(number % SCALE_UNIT / INDEX_UNIT);
	to->scale = (uint8_t)(number / SCALE_UNIT);
	return to->reg < MOMENT_PLAN_REGISTERS && to->index < MOMENT_PLAN_REGISTERS &&
	       (to->scale & (to->scale - 1)) == 0 && (to->scale > 0 || to->index == 0);
}

static bool moment_plan_load_line(struct moment_plan *p, char **at)
{
	struct moment_plan_load *l = &p->loads[p->n_loads];

	if (p->n_loads == MOMENT_PLAN_LOADS_MAX ||
	    !moment_plan_parse_u32(at, MOMENT_PLAN_FLAGS, &l->flags) ||
	    !moment_plan_parse_u32(at, MOMENT_PLAN_BYTES_MAX, &l->bytes) ||
	    !moment_plan_parse_u8(at, MOMENT_PLAN_BASES - 1, &l->base) ||
	    !moment_plan_parse_registers(at, l) || !moment_plan_parse_signed(at, &l->offset) ||
	    !moment_plan_parse_u32(at, MOMENT_PLAN_LOADS_MAX, &l->count_at) ||
	    !moment_plan_parse_u32(at, MOMENT_PLAN_BYTES_MAX, &l->element_bytes) || l->bytes == 0)
		return false;
	while (*at)
		if (l->n_steps == MOMENT_PLAN_STEPS_MAX ||
		    !moment_plan_parse_signed(at, &l->steps[l->n_steps++]))
			return false;
	p->n_loads++;
	return true;
}

static bool moment_plan_condition_line(struct moment_plan *p, char **at)
{
	struct moment_plan_condition *c = &p->conditions[p->n_conditions];
	uint8_t is_signed = 0;
	int64_t value = 0;

	if (p->n_conditions == MOMENT_PLAN_CONDITIONS_MAX ||
	    !moment_plan_parse_u32(at, MOMENT_PLAN_LOADS_MAX + MOMENT_PLAN_TSVS_MAX, &c->at) ||
	    !moment_plan_parse_u8(at, OPS - 1, &c->op) || !moment_plan_parse_u8(at, 64, &c->bits) ||
	    !moment_plan_parse_u8(at, 1, &is_signed) || !moment_plan_parse_signed(at, &value))
		return false;
	c->is_signed = is_signed;
	c->value = (uint64_t)value;
	p->n_conditions++;
	return c->at > 0 && c->op > 0 && c->bits > 0;
}

bool moment_plan_is_tsv(const char *name, size_t n)
{
	if (n == 0 || n >= MOMENT_PLAN_TSV_BYTES || isdigit((unsigned char)*name))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '_')
			return false;
	return true;
}

static bool moment_plan_tsv_line(struct moment_plan *p, char **at)
{
	struct moment_plan_tsv *t = &p->tsvs[p->n_tsvs];
	uint8_t is_counted = 0;

	if (p->n_tsvs == MOMENT_PLAN_TSVS_MAX || !moment_plan_parse_text(at, false, &t->name) ||
	    !moment_plan_parse_u8(at, 1, &is_counted))
		return false;
	t->is_counted = is_counted;
	p->n_tsvs++;
	return moment_plan_is_tsv(t->name, strlen(t->name));
}

static bool moment_plan_variable_line(struct moment_plan *p, char **at, bool there)
{
	struct moment_plan_variable *v = &p->variables[p->n_variables];

	if (p->n_variables == MOMENT_PLAN_VARIABLES_MAX ||
	    !moment_plan_parse_text(at, false, &v->name) ||
	    !moment_plan_parse_text(at, false, &v->type))
		return false;
	p->n_variables++;
	if (!there)
		return moment_plan_parse_text(at, true, &v->reason);
	return moment_plan_parse_u32(at, MOMENT_PLAN_LOADS_MAX, &v->first) &&
	       moment_plan_parse_u32(at, MOMENT_PLAN_LOADS_MAX, &v->n) &&
	       moment_plan_parse_text(at, true, &v->shape);
}

static bool moment_plan_line(struct moment_plan *p, const char *word, char **at)
{
	if (strcmp(word, "load") == 0)
		return moment_plan_load_line(p, at);
	if (strcmp(word, "var") == 0 || strcmp(word, "none") == 0)
		return moment_plan_variable_line(p, at, *word == 'v');
	if (strcmp(word, "if") == 0)
		return moment_plan_condition_line(p, at);
	if (strcmp(word, "tsv") == 0)
		return moment_plan_tsv_line(p, at);
	if (strcmp(word, "snapshot") == 0)
		return moment_plan_parse_u64(at, UINT64_MAX, &p->snapshot);
	if (strcmp(word, "stop") == 0)
		return moment_plan_parse_u64(at, UINT64_MAX, &p->stop);
	if (strcmp(word, "point") == 0)
		return moment_plan_parse_text(at, true, &p->name);
	if (strcmp(word, "file") == 0)
		return moment_plan_parse_text(at, true, &p->file);
	if (strcmp(word, "source") == 0)
		return moment_plan_parse_text(at, true, &p->source);
	if (strcmp(word, "at") == 0)
		return moment_plan_parse_u64(at, UINT64_MAX, &p->vaddr);
	return strcmp(word, "max") == 0 && moment_plan_parse_u64(at, UINT64_MAX, &p->max);
}

/* ---- the plan ---- */

/*
 * Returns true if AT, an operand of a condition, is the number of a load or of a trace state
 * variable of P.
 */
static bool moment_plan_has(const struct moment_plan *p, uint32_t at)
{
	return at <= MOMENT_PLAN_LOADS_MAX ? at <= p->n_loads
					   : at - MOMENT_PLAN_LOADS_MAX <= p->n_tsvs;
}

/* Checks that the lines of a plan agree with each other. Returns an error message or NULL. */
static const char *moment_plan_complaint(const struct moment_plan *p)
{
	if (!*p->name || !*p->file)
		return "it does not say which point it is";
	for (uint32_t i = 0; i < p->n_conditions; i++)
		if (!moment_plan_has(p, p->conditions[i].at))
			return "its condition is about nothing";
	for (uint32_t i = 0; i < p->n_loads; i++)
		if (p->loads[i].count_at > p->n_loads)
			return "a count is said to be in a load that is not there";
	for (uint32_t i = 0; i < p->n_variables; i++)
		if (p->variables[i].n > p->n_loads ||
		    p->variables[i].first > p->n_loads - p->variables[i].n)
			return "a variable is said to be in loads that are not there";
	return NULL;
}

static int moment_plan_parse_lines(struct moment_plan *p, char why[static MOMENT_PLAN_WHY_MAX])
{
	char *rest = p->text;
	const char *complaint;

	while (rest && *rest) {
		char *at = rest, *end = strstr(rest, MOMENT_PLAN_LINE_END), *word;

		rest = end ? end + strlen(MOMENT_PLAN_LINE_END) : NULL;
		if (end)
			*end = '\0';
		word = moment_plan_field(&at);
		if (!moment_plan_line(p, word, &at) || at) {
			snprintf(why, MOMENT_PLAN_WHY_MAX,
				 "a compiled moment has a line that cannot be: '%.40s'", word);
			return -EINVAL;
		}
	}
	complaint = moment_plan_complaint(p);
	if (!complaint)
		return 0;
	snprintf(why, MOMENT_PLAN_WHY_MAX, "a compiled moment makes no sense: %s", complaint);
	return -EINVAL;
}

int moment_plan_parse(const char *text, struct moment_plan *ret,
		      char why[static MOMENT_PLAN_WHY_MAX])
{
	int r;

	*ret = (struct moment_plan){
		.name = "", .file = "", .source = "", .max = MOMENT_PLAN_EACH
	};
	if (strlen(text) >= MOMENT_PLAN_TEXT_MAX) {
		snprintf(why, MOMENT_PLAN_WHY_MAX,
			 "a compiled moment of %zu bytes; %d at most: collect less", strlen(text),
			 MOMENT_PLAN_TEXT_MAX - 1);
		return -EINVAL;
	}
	ret->text = strdup(text);
	if (!ret->text)
		return -ENOMEM;
	r = moment_plan_parse_lines(ret, why);
	if (r < 0)
		moment_plan_deinit(ret);
	return r;
}

void moment_plan_deinit(struct moment_plan *p)
{
	free(p->text);
	*p = (struct moment_plan){ .name = "", .file = "", .source = "" };
}
