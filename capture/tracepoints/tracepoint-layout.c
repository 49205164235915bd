/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layout of a tracepoint for the eBPF program, from its format and its conditions.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "capture/tracepoints/tracepoints.h"

_Static_assert(TRACEPOINT_FORMAT_FIELDS_MAX <= UINT8_MAX, "an index of a dynamic field");

/*
 * The fields of system calls are copied from registers. Newer kernels also describe dynamic fields
 * with the texts behind pointers, which eBPF programs do not get.
 */
static bool tracepoint_layout_has_dynamic(const char *system)
{
	return strcmp(system, "syscalls") != 0;
}

/* ---- conditions ---- */

static int tracepoint_layout_set_text(struct tracepoint_condition *to,
				      const struct tracepoint_spec_condition *c,
				      const struct tracepoint_field *f, const char *name, char *why)
{
	if (f->form != TRACEPOINT_CHARS)
		return value_refuse(why, "field '%s' of %s is not a text", c->field, name);
	to->form = f->is_dynamic ? TRACEPOINT_DYNAMIC_TEXT : TRACEPOINT_TEXT;
	/* (one byte more than the field, since a text that fills its array has no NUL) */
	to->bytes = (uint16_t)(f->size < UINT16_MAX ? f->size + 1 : f->size);
	to->is_relative = f->is_relative;
	memcpy(to->text, c->text, strlen(c->text));
	return 0;
}

static bool tracepoint_layout_in_range(const struct tracepoint_spec_condition *c,
				       const struct tracepoint_field *f)
{
	unsigned bits = 8 * f->size;
	uint64_t most =
		f->form == TRACEPOINT_INT ? UINT64_MAX >> (65 - bits) : UINT64_MAX >> (64 - bits);

	if (!c->is_negative)
		return c->value <= most;
	return f->form == TRACEPOINT_INT && ~c->value <= most;
}

static int tracepoint_layout_set_number(struct tracepoint_condition *to,
					const struct tracepoint_spec_condition *c,
					const struct tracepoint_field *f, const char *name,
					char *why)
{
	char low[24], high[24];
	unsigned bits = 8 * f->size;

	if (f->form == TRACEPOINT_CHARS)
		return value_refuse(why, "field '%s' of %s is a text: compare it with \"...\"",
				    c->field, name);
	if (f->form == TRACEPOINT_BYTES || f->count || f->is_dynamic)
		return value_refuse(why, "field '%s' of %s is neither a number nor a text",
				    c->field, name);
	if (!tracepoint_layout_in_range(c, f)) {
		snprintf(low, sizeof(low), "%lld",
			 f->form == TRACEPOINT_INT ? (long long)(INT64_MIN >> (64 - bits)) : 0LL);
		snprintf(high, sizeof(high), "%llu",
			 (unsigned long long)(UINT64_MAX >>
					      (64 - bits + (f->form == TRACEPOINT_INT))));
		return value_refuse(why, "field '%s' of %s has numbers from %s to %s", c->field,
				    name, low, high);
	}
	to->form = TRACEPOINT_NUMBER;
	to->bytes = f->size;
	to->is_signed = f->form == TRACEPOINT_INT;
	to->value = c->value;
	return 0;
}

static int tracepoint_layout_refuse_field(const struct tracepoint_format *f, const char *field,
					  const char *name, char *why)
{
	struct value_nearest near = { .text = field, .distance = VALUE_NEAR };
	char names[160] = "";
	size_t used = 0;

	for (size_t i = 0; i < f->n_fields; i++)
		value_nearest_try(&near, f->fields[i].name);
	if (near.nearest)
		return value_refuse(why, "%s has no field '%s'; did you mean '%s'?", name, field,
				    near.nearest);
	for (size_t i = 0; i < f->n_fields && used < sizeof(names); i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
					 f->fields[i].name);
	return value_refuse(why, "%s has no field '%s'; its fields are %s%s", name, field, names,
			    used >= sizeof(names) ? "..." : "");
}

static int tracepoint_layout_add_condition(struct tracepoint *t, const struct tracepoint_format *f,
					   const char *system,
					   const struct tracepoint_spec_condition *c, char *why)
{
	const struct tracepoint_field *field = tracepoint_format_find(f, c->field);
	struct tracepoint_condition *to = &t->layout.conditions[t->layout.n_conditions++];

	if (!field || (field->is_dynamic && !tracepoint_layout_has_dynamic(system)))
		return tracepoint_layout_refuse_field(f, c->field, t->name, why);
	to->offset = field->offset;
	to->op = c->op;
	return c->is_text ? tracepoint_layout_set_text(to, c, field, t->name, why)
			  : tracepoint_layout_set_number(to, c, field, t->name, why);
}

/* ---- fields ---- */

/* Adds F to the fields of T, unless a limit is exceeded. */
static void tracepoint_layout_add_field(struct tracepoint *t, const struct tracepoint_field *f,
					bool has_dynamic)
{
	struct tracepoint_layout *l = &t->layout;
	uint32_t end = f->offset + (uint32_t)f->size - TRACEPOINT_HEAD_BYTES;

	if (f->is_dynamic &&
	    (!has_dynamic || f->size < 4 || l->n_dynamic == TRACEPOINT_DYNAMIC_MAX)) {
		t->is_partial |= has_dynamic;
		return;
	}
	if (!f->is_dynamic && end > TRACEPOINT_FIXED_MAX) {
		t->is_partial = true;
		return;
	}
	if (f->is_dynamic) {
		t->dynamic[t->n_fields] = (uint8_t)l->n_dynamic;
		l->dynamic[l->n_dynamic++] =
			(struct tracepoint_dynamic){ f->offset, f->is_relative };
	} else if (end > l->fixed_bytes) {
		l->fixed_bytes = end;
	}
	t->fields[t->n_fields++] = *f;
}

int tracepoint_init(struct tracepoint *t, const struct tracepoint_format *f, const char *system,
		    const struct tracepoint_spec *spec, char why[static VALUE_WHY_MAX])
{
	int r = 0;

	*t = (struct tracepoint){ .id = f->id };
	snprintf(t->name, sizeof(t->name), "%s:%s", system, f->name);
	t->fields = calloc(f->n_fields + 1, sizeof(*t->fields));
	t->dynamic = calloc(f->n_fields + 1, sizeof(*t->dynamic));
	if (!t->fields || !t->dynamic)
		return -ENOMEM;
	for (size_t i = 0; i < f->n_fields; i++)
		tracepoint_layout_add_field(t, &f->fields[i],
					    tracepoint_layout_has_dynamic(system));
	for (size_t i = 0; r == 0 && i < spec->n_conditions; i++)
		r = tracepoint_layout_add_condition(t, f, system, &spec->conditions[i], why);
	return r;
}

void tracepoint_deinit(struct tracepoint *t)
{
	free(t->fields);
	free(t->dynamic);
	tracepoint_symbols_deinit(&t->reasons);
	*t = (struct tracepoint){ 0 };
}
