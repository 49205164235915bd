/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The specification of tracepoints: SYSTEM:NAME, with * and ? as wildcards, and conditions in
 * brackets that must all hold: block:block_rq_issue[bytes>65536 && rwbs=="R"]. The name of a set of
 * tracepoints (tracepoint-presets.h) can be in place of SYSTEM:NAME.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/value.h"
#include "bpf/record.h"
#include "capture/options/tracepoint-presets.h"

/* Begins the word of a specification among the names of categories. */
#define TRACEPOINT_PREFIX "tp:"

enum { TRACEPOINT_NAME_MAX = 96 };

struct tracepoint_spec_condition {
	char field[TRACEPOINT_NAME_MAX];
	uint8_t op;   /* CALL_OP_* */
	bool is_text; /* `text` is compared, otherwise `value` */
	bool is_negative;
	uint64_t value; /* for a negative number, its two's complement */
	char text[TRACEPOINT_TEXT_BYTES];
};

struct tracepoint_spec {
	const struct tracepoint_preset *preset; /* NULL = none; otherwise there are no names */
	char system[TRACEPOINT_NAME_MAX], name[TRACEPOINT_NAME_MAX];
	struct tracepoint_spec_condition conditions[TRACEPOINT_CONDITIONS_MAX];
	size_t n_conditions;
};

/* Parses TEXT. Returns 0, or -EINVAL with a sentence in WHY. */
int tracepoint_spec_parse(const char *text, struct tracepoint_spec *ret,
			  char why[static VALUE_WHY_MAX]);

/* Returns true if SYSTEM or NAME has a wildcard, or if this is a set. */
bool tracepoint_spec_is_pattern(const struct tracepoint_spec *spec);

/*
 * Returns the size of the first word of the list TEXT, whose words are separated by commas. Commas
 * within brackets separate nothing.
 */
size_t tracepoint_spec_word(const char *text);
