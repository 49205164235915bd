/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/moment-values.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/moments/place-print.h"
#include "base/outbuf.h"
#include "model/moment-data.h"

/* Finds the block of load NUMBER. Returns false if EV has no such block. */
static bool moment_values_find(const struct event *ev, uint32_t number,
			       struct moment_data_block *ret)
{
	uint32_t at = 0;

	while (moment_data_next(ev, &at, ret))
		if (ret->load == number)
			return true;
	return false;
}

bool moment_values_tsv(const struct moment_plan *plan, const struct event *ev, uint32_t i,
		       uint64_t *ret)
{
	struct moment_data_block b;

	if (i >= plan->n_tsvs || !moment_values_find(ev, MOMENT_PLAN_LOADS_MAX + i, &b) ||
	    b.bytes != sizeof(*ret))
		return false;
	memcpy(ret, b.data, sizeof(*ret));
	return true;
}

/* Appends the bytes of load NUMBER. Returns 0, or a negative errno if they were not collected. */
static int moment_values_append(const struct event *ev, uint32_t number, struct outbuf *to)
{
	struct moment_data_block b;

	if (!moment_values_find(ev, number, &b))
		return -ENOENT;
	return b.bytes < 0 ? b.bytes : outbuf_append(to, b.data, (size_t)b.bytes);
}

const char *moment_values_collect(const struct moment_plan_variable *v, const struct event *ev,
				  struct outbuf *to)
{
	int r = 0;

	if (!v->shape)
		return v->reason;
	for (uint32_t i = 0; r == 0 && i < v->n; i++)
		r = moment_values_append(ev, v->first + i, to);
	/* If an earlier load was collected, a later one that is unreadable (the string to which a
	 * pointer points) does not make the value unavailable. A load without room does. */
	if (r < 0 && (to->size == 0 || r == -ENOENT))
		return r == -ENOENT ? "there was no room for it" : "its memory cannot be read";
	return NULL;
}

bool moment_values_print(const struct moment_plan_variable *v, const struct event *ev, char *to,
			 size_t size)
{
	_cleanup_(outbuf_deinit) struct outbuf bytes = { 0 };
	const char *reason = moment_values_collect(v, ev, &bytes);

	if (reason)
		snprintf(to, size, "%s", reason);
	else
		place_print(&(struct place_bytes){ v->shape, bytes.data, bytes.size }, to, size);
	return !reason;
}

/* ---- arguments ---- */

/*
 * Returns true if SHAPE is a number that is stored as it is (little-endian). *RET_FORM and
 * *RET_BYTES describe the number.
 */
static bool moment_values_is_number(const char *shape, enum call_value_form *ret_form,
				    unsigned *ret_bytes)
{
	const char letter = *shape, digit = letter ? shape[1] : '\0';

	if (digit < '1' || digit > '8')
		return false;
	*ret_bytes = (unsigned)(digit - '0');
	*ret_form = letter == 'i'   ? CALL_VALUE_INT
		    : letter == 'u' ? CALL_VALUE_UINT
		    : letter == 'b' ? CALL_VALUE_BOOL
				    : CALL_VALUE_POINTER;
	/* A pointer to characters is shown with their text. */
	if (letter == 'p')
		return digit == '8' && shape[2] && !strchr("ch0123456789", shape[2]);
	return strchr("iub", letter) && !shape[2];
}

/*
 * Fills TO if V is a number: its value is stored as it is, and not as text. Returns false if V is
 * not a number.
 */
static bool moment_values_number(const struct moment_plan_variable *v, const struct event *ev,
				 struct call_value *to)
{
	enum call_value_form form;
	struct moment_data_block b;
	uint64_t value = 0;
	unsigned bytes, unused;

	if (v->n != 1 || !moment_values_is_number(v->shape, &form, &bytes) ||
	    !moment_values_find(ev, v->first, &b) || b.bytes < (int32_t)bytes)
		return false;
	memcpy(&value, b.data, bytes);
	if (form == CALL_VALUE_BOOL && value > 1)
		return false;
	unused = 64 - 8 * bytes;
	to->form = form;
	if (form == CALL_VALUE_BOOL)
		to->yes = value;
	else if (form == CALL_VALUE_INT)
		to->i64 = (int64_t)(value << unused) >> unused;
	else
		to->u64 = value;
	return true;
}

/* Returns true if NAME is the name of an argument that each moment has. */
static bool moment_values_is_reserved(const char *name)
{
	static const char *const taken[] = { "point", "hit", "cpu", "call stack" };

	for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
		if (strcmp(taken[i], name) == 0)
			return true;
	return false;
}

static void moment_values_add(struct moment_values *to, const struct moment_plan_variable *v,
			      const struct event *ev)
{
	struct call_value *value = &to->list[to->n];
	char *name = to->names[to->n], *text = to->texts[to->n];
	char reason[MOMENT_VALUES_TEXT_BYTES];
	int n = snprintf(name, MOMENT_VALUES_NAME_BYTES, "%s%s",
			 moment_values_is_reserved(v->name) ? "variable " : "", v->name);

	/*
	 * Omits shapes with gaps ('!'), since they can describe more memory than the value has
	 * bytes, and long names and shapes.
	 */
	if (n <= 0 || n >= MOMENT_VALUES_NAME_BYTES || !v->shape || *v->shape == '!' ||
	    strnlen(v->shape, MOMENT_VALUES_SHAPE_MAX) == MOMENT_VALUES_SHAPE_MAX)
		return;
	value->name = name;
	if (!moment_values_number(v, ev, value)) {
		value->form = CALL_VALUE_TEXT;
		value->text = text;
		if (!moment_values_print(v, ev, reason, sizeof(reason)))
			snprintf(text, MOMENT_VALUES_TEXT_BYTES, "<%.*s>",
				 MOMENT_VALUES_TEXT_BYTES - 3, reason);
		else
			memcpy(text, reason, sizeof(reason));
	}
	to->n++;
}

void moment_values_fill(struct moment_values *to, const struct moment_plan *plan,
			const struct event *ev)
{
	uint64_t value;

	to->n = 0;
	for (uint32_t i = 0; i < plan->n_tsvs && to->n < EVENT_MOMENT_VALUES_MAX; i++) {
		if (!moment_values_tsv(plan, ev, i, &value))
			continue;
		snprintf(to->names[to->n], MOMENT_VALUES_NAME_BYTES, "$%s", plan->tsvs[i].name);
		to->list[to->n] = (struct call_value){ .name = to->names[to->n],
						       .form = CALL_VALUE_UINT,
						       .u64 = value };
		to->n++;
	}
	for (uint32_t i = 0; i < plan->n_variables && to->n < EVENT_MOMENT_VALUES_MAX; i++)
		moment_values_add(to, &plan->variables[i], ev);
}
