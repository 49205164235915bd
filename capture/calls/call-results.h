/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The results of functions: numbers, the memory to which they lead, and values of two registers.
 */
#pragma once

#include <stdint.h>

#include "bpf/record.h"
#include "capture/calls/call-values.h"
#include "capture/options/call-spec.h"

struct call_result {
	uint64_t low, high;             /* the two registers of results */
	const struct call_text *memory; /* a copy of the memory of the result; NULL = no copy */
};

/*
 * Formats R, the result of a function with SPEC. The text can be stored in TO. Memory that was not
 * readable is shown as its address.
 */
struct call_value call_result_value(const struct call_spec *spec, const struct call_result *r,
				    char to[static CALL_VALUE_TEXT_MAX]);
