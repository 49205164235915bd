/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Describes what is known about functions of Python in the stacks of a recording.
 */
#pragma once

#include <json-c/json.h>
#include <stdint.h>

#include "model/event.h"
#include "reader/views/summary.h"

#define PYTHON_TEXT_MAX 320

/*
 * Writes STACKS, by enum python_stacks, to TO, and returns TO: "1203 stacks; incomplete: 9 at the
 * limit of frames"; "" without stacks.
 */
const char *python_text_format(char to[static PYTHON_TEXT_MAX],
			       const uint64_t stacks[static PYTHON_STACKS_MAX]);

/* Writes to TO what to say about VERSION, whose functions are unknown, and returns TO. */
const char *python_text_unknown(char to[static PYTHON_TEXT_MAX], const char *version);

/* Reports on standard error the versions in S whose functions are unknown. */
void python_text_report_unknown(const struct summary *s);

/* The stacks of Python in S as a JSON object, owned by the caller; NULL if S has none. */
struct json_object *python_text_json(const struct summary *s);
