/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values of trace points, as text and as JSON.
 */
#pragma once

#include "cli/common/json.h"
#include "writer/tracedb/tracedb-model.h"

/* Returns the name NAME without control characters; valid until the next call. */
const char *tracedb_text_name(const struct tracedb_dictionary *d, uint32_t name);

/*
 * Returns the name of TYPE without control characters, in another buffer than the result of
 * tracedb_text_name(); valid until the next call.
 */
const char *tracedb_text_type(const struct tracedb_dictionary *d, uint32_t type);

/* Returns the name of FORMAT, such as "signed". */
const char *tracedb_text_format(uint32_t format);

void tracedb_text_print_value(const struct tracedb_dictionary *d, const struct tracedb_value *v);

/* Returns a value as JSON, with its name and type. */
struct json_object *tracedb_text_json(const struct tracedb_dictionary *d,
				      const struct tracedb_value *v);
