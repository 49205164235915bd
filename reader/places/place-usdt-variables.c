/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/places/place-usdt-variables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "reader/places/place-expression.h"

enum { WORD = 8, TEXT_BYTES = 32 };

static struct place_variable *usdt_variables_add(struct place_locals *to, const char *name,
						 const char *type)
{
	size_t room = to->n;
	struct place_variable *v;

	if (GROW(to->list, room, to->n + 1) < 0)
		return NULL;
	v = &to->list[to->n++];
	*v = (struct place_variable){ .name = strdup(name),
				      .type = strdup(type),
				      .scope = PLACE_ARGUMENT };
	return v->name && v->type ? v : NULL;
}

/* Sets the shape of V to TEXT. */
static int usdt_variables_set_shape(struct place_variable *v, const char *text)
{
	v->shape = strdup(text);
	return v->shape ? 1 : -ENOMEM;
}

static int usdt_variables_value(const struct place_argument *a, struct place_locals *to)
{
	char type[TEXT_BYTES], shape[TEXT_BYTES];
	struct place_variable *v;
	size_t n = 0;

	if (a->kind == 'f')
		snprintf(type, sizeof(type), "%s", a->bytes == 4 ? "float" : "double");
	else
		snprintf(type, sizeof(type), "%sint%u_t", a->kind == 'u' ? "u" : "", 8u * a->bytes);
	v = usdt_variables_add(to, a->name, type);
	if (!v)
		return -ENOMEM;
	v->reason = a->reason;
	if (a->reason)
		return 1;
	v->loads[v->n_loads++] = a->load;
	if (a->shift) {
		/* (a formula works on numbers of eight bytes) */
		v->loads[0].bytes = WORD;
		n = (size_t)snprintf(shape, sizeof(shape), "(#0 %u >>)", a->shift);
	}
	snprintf(shape + n, sizeof(shape) - n, "%c%u", a->kind, a->bytes);
	return usdt_variables_set_shape(v, shape);
}

/*
 * Adds a variable ITEM for the memory to which A points: COUNT characters; COUNT 0 = a string.
 */
static int usdt_variables_memory(const struct place_argument *a, const char *item, uint32_t count,
				 struct place_locals *to)
{
	char type[TEXT_BYTES] = "char *", shape[TEXT_BYTES] = "p8c1";
	struct place_load load = a->load;
	struct place_variable *v;

	if (count) {
		snprintf(type, sizeof(type), "char [%u]", count);
		snprintf(shape, sizeof(shape), "a%uc1", count);
	}
	v = usdt_variables_add(to, item, type);
	if (!v)
		return -ENOMEM;
	v->scope = PLACE_MEMORY;
	v->reason = a->reason;
	if (!v->reason && (a->bytes != WORD || a->shift || !place_load_follow(&load)))
		v->reason = PLACE_REASON_NO_POINTER;
	if (v->reason)
		return 1;
	load.is_string = count == 0;
	load.bytes = count ?: PLACE_STRING_BYTES_MAX;
	if (!count)
		v->loads[v->n_loads++] = a->load;
	v->loads[v->n_loads++] = load;
	return usdt_variables_set_shape(v, shape);
}

static const struct place_argument *usdt_variables_find(const struct place_arguments *a,
							const char *name, size_t n)
{
	for (size_t i = 0; i < a->n; i++)
		if (strlen(a->list[i].name) == n && memcmp(a->list[i].name, name, n) == 0)
			return &a->list[i];
	return NULL;
}

static int usdt_variables_pointed(const struct place_arguments *a, const char *item,
				  struct place_locals *to)
{
	size_t n = strcspn(item + 1, "@");
	const struct place_argument *of = usdt_variables_find(a, item + 1, n);
	char *end = (char *)item + 1 + n;
	unsigned long count = 0;

	if (of && *end) {
		count = strtoul(end + 1, &end, 0);
		if (count == 0 || count > PLACE_LOAD_BYTES_MAX)
			return 0;
	}
	return of && !*end ? usdt_variables_memory(of, item, (uint32_t)count, to) : 0;
}

int place_usdt_variables(const struct place_arguments *a, const char *item, struct place_locals *to)
{
	bool all = strcmp(item, "args") == 0;
	int r = all;

	if (*item == '*')
		return usdt_variables_pointed(a, item, to);
	for (size_t i = 0; r >= 0 && i < a->n; i++)
		if (all || strcmp(a->list[i].name, item) == 0)
			r = usdt_variables_value(&a->list[i], to);
	return r;
}
