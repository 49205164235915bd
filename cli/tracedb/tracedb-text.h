/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values of trace points, for people and as JSON.
 */
#pragma once

#include "cli/common/json.h"
#include "writer/tracedb/tracedb-model.h"

/* The name of VALUE, as it may go to a terminal; valid until the next call. */
const char *tracedb_text_name(const struct tracedb_dictionary *d, uint32_t name);

/* The name of its type, likewise, which is not the last one of tracedb_text_name(). */
const char *tracedb_text_type(const struct tracedb_dictionary *d, uint32_t type);

/* "signed" */
const char *tracedb_text_format(uint32_t format);

void tracedb_text_print_value(const struct tracedb_dictionary *d, const struct tracedb_value *v);

/* Name, type and value. */
struct json_object *tracedb_text_json(const struct tracedb_dictionary *d,
				      const struct tracedb_value *v);
