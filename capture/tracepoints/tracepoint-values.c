/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/tracepoints/tracepoint-values.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

/*
 * The name of the value with the remaining fields. (It has a space, so no field can have this
 * name.)
 */
#define MORE_FIELDS "more fields"

/* The name of a value whose field is called "cpu", since kymo itself has an argument "cpu". */
#define FIELD_CPU "field cpu"

enum {
	BYTES_SHOWN = 64,   /* maximum number of bytes that are shown as digits */
	NUMBERS_SHOWN = 32, /* maximum number of numbers of a list */
	NUMBER_BYTES = 24,  /* maximum size of a number, with its separator */
};

/* The bytes of a field in a record. */
struct field_data {
	const uint8_t *p;
	uint32_t n;
	bool is_cut; /* the event has more bytes */
};

static bool tracepoint_values_find(const struct tracepoint *t, size_t i,
				   const struct rec_tracepoint *rec, struct field_data *ret)
{
	const struct tracepoint_field *f = &t->fields[i];
	uint32_t at = TRACEPOINT_ROUND(t->layout.fixed_bytes), n = f->size, d = t->dynamic[i];

	if (!f->is_dynamic) {
		at = f->offset - TRACEPOINT_HEAD_BYTES;
	} else {
		n = rec->dynamic_bytes[d];
		for (uint32_t before = 0; before < d; before++)
			at += TRACEPOINT_ROUND((uint32_t)rec->dynamic_bytes[before]);
	}
	if (at > rec->bytes || n > rec->bytes - at)
		return false;
	*ret = (struct field_data){ rec->data + at, n, f->is_dynamic && rec->is_cut >> d & 1 };
	return true;
}

static uint64_t tracepoint_values_unsigned(const uint8_t *p, unsigned size)
{
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;

	switch (size) {
	case 1:
		return *p;
	case 2:
		memcpy(&u16, p, sizeof(u16));
		return u16;
	case 4:
		memcpy(&u32, p, sizeof(u32));
		return u32;
	default:
		memcpy(&u64, p, sizeof(u64));
		return u64;
	}
}

static int64_t tracepoint_values_signed(const uint8_t *p, unsigned size)
{
	unsigned above = 64 - 8 * size;

	return (int64_t)(tracepoint_values_unsigned(p, size) << above) >> above;
}

/* ---- texts ---- */

static size_t tracepoint_values_print_number(char *to, size_t room,
					     const struct tracepoint_field *f, const uint8_t *p)
{
	if (f->form == TRACEPOINT_INT)
		return (size_t)snprintf(to, room, "%" PRId64,
					tracepoint_values_signed(p, f->element));
	return (size_t)snprintf(to, room, f->form == TRACEPOINT_POINTER ? "0x%" PRIx64 : "%" PRIu64,
				tracepoint_values_unsigned(p, f->element));
}

static size_t tracepoint_values_print_list(char *to, const struct tracepoint_field *f,
					   struct field_data *data)
{
	uint32_t n = data->n / f->element;
	size_t used = 0;

	*to = '\0';
	if (n > NUMBERS_SHOWN) {
		n = NUMBERS_SHOWN;
		data->is_cut = true;
	}
	for (uint32_t i = 0; i < n; i++) {
		used += (size_t)snprintf(to + used, NUMBER_BYTES, "%s", i ? ", " : "");
		used += tracepoint_values_print_number(to + used, NUMBER_BYTES, f,
						       data->p + i * f->element);
	}
	return used;
}

static size_t tracepoint_values_print_bytes(char *to, struct field_data *data)
{
	uint32_t n = data->n;
	size_t used = 0;

	*to = '\0';
	if (n > BYTES_SHOWN) {
		n = BYTES_SHOWN;
		data->is_cut = true;
	}
	for (uint32_t i = 0; i < n; i++)
		used += (size_t)snprintf(to + used, 3, "%02x", data->p[i]);
	return used;
}

static size_t tracepoint_values_print_chars(char *to, struct field_data *data)
{
	size_t n = strnlen((const char *)data->p, data->n);

	data->is_cut &= n == data->n;
	if (n > TRACEPOINT_DYNAMIC_BYTES) {
		n = TRACEPOINT_DYNAMIC_BYTES;
		data->is_cut = true;
	}
	return text_clean(to, 3 * TRACEPOINT_DYNAMIC_BYTES + 1, (const char *)data->p, n);
}

/* Writes the text of field F to TO, which has room for TRACEPOINT_VALUE_BYTES. */
static size_t tracepoint_values_print(char *to, const struct tracepoint_field *f,
				      struct field_data data)
{
	size_t n;

	if (f->form == TRACEPOINT_CHARS)
		n = tracepoint_values_print_chars(to, &data);
	else if (f->form == TRACEPOINT_BYTES)
		n = tracepoint_values_print_bytes(to, &data);
	else if (f->count || f->is_dynamic)
		n = tracepoint_values_print_list(to, f, &data);
	else
		n = tracepoint_values_print_number(to, NUMBER_BYTES, f, data.p);
	if (data.is_cut)
		n += (size_t)snprintf(to + n, sizeof("..."), "...");
	return n;
}

_Static_assert(NUMBERS_SHOWN *NUMBER_BYTES <= TRACEPOINT_VALUE_BYTES - 4, "room for a list");
_Static_assert(2 * BYTES_SHOWN < TRACEPOINT_VALUE_BYTES - 4, "room for digits");

/*
 * Keeps the N bytes of TEXT. If there is no room, keeps nothing, and returns "...".
 */
static const char *tracepoint_values_keep(struct tracepoint_values *v, const char *text, size_t n)
{
	char *to = v->texts + v->used;

	if (n >= sizeof(v->texts) - v->used)
		return "...";
	memcpy(to, text, n);
	to[n] = '\0';
	v->used += n + 1;
	return to;
}

/* ---- values ---- */

static bool tracepoint_values_is_text(const struct tracepoint_field *f)
{
	return f->form == TRACEPOINT_CHARS || f->form == TRACEPOINT_BYTES || f->count ||
	       f->is_dynamic;
}

static void tracepoint_values_add(struct tracepoint_values *v, const struct tracepoint_field *f,
				  struct field_data data)
{
	struct call_value *to = &v->list[v->n++];
	char text[TRACEPOINT_VALUE_BYTES];

	*to = (struct call_value){ .name = strcmp(f->name, "cpu") == 0 ? FIELD_CPU : f->name };
	if (tracepoint_values_is_text(f)) {
		to->form = CALL_VALUE_TEXT;
		to->text = tracepoint_values_keep(v, text, tracepoint_values_print(text, f, data));
	} else if (f->form == TRACEPOINT_INT) {
		to->form = CALL_VALUE_INT;
		to->i64 = tracepoint_values_signed(data.p, f->size);
	} else if (f->form == TRACEPOINT_BOOL) {
		to->form = CALL_VALUE_BOOL;
		to->yes = tracepoint_values_unsigned(data.p, f->size) != 0;
	} else {
		to->form = f->form == TRACEPOINT_POINTER ? CALL_VALUE_POINTER : CALL_VALUE_UINT;
		to->u64 = tracepoint_values_unsigned(data.p, f->size);
	}
}

/* Adds the fields from FROM on as one text, "name=value name=value". */
static bool tracepoint_values_add_more(struct tracepoint_values *v, const struct tracepoint *t,
				       const struct rec_tracepoint *rec, size_t from)
{
	char all[2048] = "", text[TRACEPOINT_VALUE_BYTES];
	size_t used = 0;

	for (size_t i = from; i < t->n_fields && used < sizeof(all); i++) {
		struct field_data data;

		if (!tracepoint_values_find(t, i, rec, &data))
			return false;
		tracepoint_values_print(text, &t->fields[i], data);
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s=%s",
					 i > from ? " " : "", t->fields[i].name, text);
	}
	if (t->is_partial && used < sizeof(all))
		used += (size_t)snprintf(all + used, sizeof(all) - used, " ...");
	if (used >= sizeof(all))
		used = sizeof(all) - 1;
	v->list[v->n++] = (struct call_value){
		.name = MORE_FIELDS,
		.form = CALL_VALUE_TEXT,
		.text = tracepoint_values_keep(v, all, used),
	};
	return true;
}

/* Adds the name of the reason, if there is room. */
static void tracepoint_values_add_reason(struct tracepoint_values *v, const struct tracepoint *t)
{
	for (unsigned i = 0; i < v->n && v->n < ARRAY_SIZE(v->list); i++) {
		const struct call_value *value = &v->list[i];
		const char *name;

		if (strcmp(value->name, TRACEPOINT_SYMBOLS_FIELD) != 0 ||
		    (value->form != CALL_VALUE_INT && value->form != CALL_VALUE_UINT))
			continue;
		name = tracepoint_symbols_find(&t->reasons, value->form == CALL_VALUE_INT
								    ? (uint64_t)value->i64
								    : value->u64);
		if (name)
			v->list[v->n++] = (struct call_value){ .name = TRACEPOINT_SYMBOLS_VALUE,
							       .form = CALL_VALUE_TEXT,
							       .text = name };
		return;
	}
}

bool tracepoint_values_fill(struct tracepoint_values *to, const struct tracepoint *t,
			    const struct rec_tracepoint *rec)
{
	bool has_more = t->n_fields > EVENT_TRACEPOINT_ARGS_MAX || t->is_partial;
	size_t n = t->n_fields;

	if (has_more && n > EVENT_TRACEPOINT_ARGS_MAX - 1)
		n = EVENT_TRACEPOINT_ARGS_MAX - 1;
	to->n = 0;
	to->used = 0;
	for (size_t i = 0; i < n; i++) {
		struct field_data data;

		if (!tracepoint_values_find(t, i, rec, &data))
			return false;
		tracepoint_values_add(to, &t->fields[i], data);
	}
	if (has_more && !tracepoint_values_add_more(to, t, rec, n))
		return false;
	if (t->reasons.n > 0)
		tracepoint_values_add_reason(to, t);
	return true;
}
