/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses the input as the format of a tracepoint, and makes a layout of it. All values are within
 * bounds, and no event can be read beyond its end: the rest of the input is the data of an event.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "capture/tracepoints/tracepoint-values.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_field(const struct tracepoint_format *f, const struct tracepoint_field *field)
{
	assert(*field->name && strlen(field->name) < TRACEPOINT_NAME_MAX);
	assert(field->offset >= TRACEPOINT_HEAD_BYTES && field->size > 0);
	assert(field->offset + (uint32_t)field->size <= f->end);
	assert(field->element == 1 || field->element == 2 || field->element == 4 ||
	       field->element == 8);
	assert(!field->count || field->count * (uint32_t)field->element == field->size);
	assert(!field->is_dynamic || field->size == 4);
}

static void check_layout(const struct tracepoint *t)
{
	const struct tracepoint_layout *l = &t->layout;

	assert(l->fixed_bytes <= TRACEPOINT_FIXED_MAX && l->n_dynamic <= TRACEPOINT_DYNAMIC_MAX);
	for (size_t i = 0; i < t->n_fields; i++)
		assert(t->fields[i].is_dynamic ||
		       t->fields[i].offset + (uint32_t)t->fields[i].size <=
			       l->fixed_bytes + TRACEPOINT_HEAD_BYTES);
}

static void check_values(const struct tracepoint_values *v)
{
	assert(v->n <= EVENT_TRACEPOINT_ARGS_MAX);
	for (unsigned i = 0; i < v->n; i++)
		if (v->list[i].form == CALL_VALUE_TEXT)
			assert(text_is_utf8(v->list[i].text, strlen(v->list[i].text)));
}

/* Takes N bytes at DATA as the data of an event. */
static void check_event(const struct tracepoint *t, const uint8_t *data, size_t n)
{
	static struct tracepoint_values values;
	static struct rec_tracepoint whole;
	_cleanup_free_ struct rec_tracepoint *rec = NULL;

	if (n > REC_TRACEPOINT_DATA_MAX)
		n = REC_TRACEPOINT_DATA_MAX;
	whole.bytes = (uint32_t)n;
	whole.is_cut = n ? data[0] & 15 : 0;
	for (size_t i = 0; i < TRACEPOINT_DYNAMIC_MAX; i++)
		whole.dynamic_bytes[i] = i < n ? data[i] : 0;
	memcpy(whole.data, data, n);
	rec = malloc(REC_TRACEPOINT_BYTES(n));
	if (!rec)
		return;
	memcpy(rec, &whole, REC_TRACEPOINT_BYTES(n));
	if (tracepoint_values_fill(&values, t, rec))
		check_values(&values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct tracepoint_format format;
	static const struct tracepoint_spec spec = { .system = "s", .name = "n" };
	const uint8_t *end = memchr(data, '\0', size);
	size_t n = end ? (size_t)(end - data) : size;
	char why[VALUE_WHY_MAX];
	struct tracepoint t;

	if (tracepoint_format_parse((const char *)data, n, &format) < 0)
		return 0;
	for (size_t i = 0; i < format.n_fields; i++)
		check_field(&format, &format.fields[i]);
	if (tracepoint_init(&t, &format, "s", &spec, why) == 0 &&
	    tracepoint_symbols_parse((const char *)data, n, &t.reasons) == 0) {
		check_layout(&t);
		check_event(&t, data + n, size - n);
	}
	tracepoint_deinit(&t);
	return 0;
}
