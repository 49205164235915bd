/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A record as a JSON object. Its fields have the names of the specification.
 */
#pragma once

#include "cli/common/json.h"
#include "reader/fxt/fxt-reader.h"

/* Returns the name of RECORD: "context_switch", "event", ... */
const char *dump_record_name(const struct fxt_record *record);

/*
 * Returns the name of an event type, argument type or thread state; NULL if the number is unknown.
 */
const char *dump_event_type(unsigned type);
const char *dump_arg_type(unsigned type);
const char *dump_thread_state(unsigned state);

/* Makes *RET (to be released by json_object_put()) from RECORD. Returns NULL, or the error in the
 * arguments (static text); the object then has only the valid arguments. */
const char *dump_json_record(const struct fxt_record *record, struct json_object **ret);
