/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses the input as the specification of a tracepoint: either there is an error message, or all
 * values are within bounds.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "capture/options/tracepoint-spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct tracepoint_spec *spec)
{
	/* (the specification of a preset has neither a system nor a name) */
	assert(!*spec->system == !!spec->preset && strlen(spec->system) < TRACEPOINT_NAME_MAX);
	assert(!*spec->name == !!spec->preset && strlen(spec->name) < TRACEPOINT_NAME_MAX);
	assert(!strpbrk(spec->system, "/.") && !strpbrk(spec->name, "/."));
	assert(spec->n_conditions <= TRACEPOINT_CONDITIONS_MAX);
	for (size_t i = 0; i < spec->n_conditions; i++) {
		const struct tracepoint_spec_condition *c = &spec->conditions[i];

		assert(*c->field && strlen(c->field) < TRACEPOINT_NAME_MAX);
		assert(c->op > CALL_OP_NONE && c->op < CALL_OP_MAX);
		assert(strlen(c->text) < TRACEPOINT_TEXT_BYTES - 1);
		assert(!c->is_negative || (int64_t)c->value < 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = malloc(size + 1);
	char why[VALUE_WHY_MAX] = "";
	struct tracepoint_spec spec;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	assert(tracepoint_spec_word(text) <= strlen(text));
	if (tracepoint_spec_parse(text, &spec, why) == 0)
		check(&spec);
	else
		assert(*why && strlen(why) < VALUE_WHY_MAX);
	return 0;
}
