/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses the input as the specification of a call: either there is an error with its place, or all
 * values are within bounds.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/calls/call-sets.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "capture/options/call-spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_set(const struct call_type *type)
{
	const struct call_set *set = call_set_by_number(type->set);

	assert(!set == (type->set == CALL_SET_NONE));
	assert(!set ||
	       (type->bits == set->bits &&
		(type->form == CALL_HEX || type->form == CALL_INT || type->form == CALL_FD)));
}

static void check_arg(const struct call_spec *spec, const struct call_arg *arg)
{
	const struct call_type *type = &arg->type;

	assert(type->form > CALL_VOID && type->form != CALL_ERRNO && type->form < CALL_FORM_MAX);
	check_set(type);
	assert(*call_type_name(type) && *arg->name && strlen(arg->name) < CALL_NAME_MAX);
	if (type->form == CALL_BUF && type->count == 0) {
		const struct call_type *count = &spec->args[type->count_arg].type;

		assert(type->count_arg < spec->n_args);
		assert(count->form != CALL_STR && count->form != CALL_BUF);
	}
	assert(type->count <= CALL_BUF_MAX);
	assert(type->words < CALL_WORDS_MAX);
	assert(arg->location.kind <= CALL_ORIGIN_CONSTANT && arg->location.shift < 64);
	assert(arg->location.reg < CALL_REGISTERS && arg->location.index < CALL_REGISTERS);
	assert(arg->location.scale <= 8);
	assert(arg->location.reason < CALL_REASON_MAX);
}

static void check(const struct call_spec *spec)
{
	assert(*spec->file && strlen(spec->file) < CALL_FILE_MAX);
	assert(*spec->function && strlen(spec->function) < CALL_FUNCTION_MAX);
	assert(spec->n_args <= CALL_ARGS_MAX && spec->ret.form < CALL_FORM_MAX);
	check_set(&spec->ret);
	assert(memchr(spec->words, '\0', sizeof(spec->words)));
	assert(!spec->range.is_used || spec->range.at < spec->range.bytes);
	assert(spec->ret.form != CALL_BUF && *call_type_name(&spec->ret));
	assert(spec->condition.op < CALL_OP_MAX);
	assert(spec->condition.op == CALL_OP_NONE || spec->condition.arg < spec->n_args);
	for (size_t i = 0; i < spec->n_args; i++)
		check_arg(spec, &spec->args[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = malloc(size + 1);
	struct call_spec_error error = { 0 };
	struct call_spec spec;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (call_spec_parse(text, &spec, &error) == 0) {
		check(&spec);
		return 0;
	}
	assert(error.at <= strlen(text) && *error.why);
	assert(text_is_utf8(error.why, strlen(error.why)));
	return 0;
}
