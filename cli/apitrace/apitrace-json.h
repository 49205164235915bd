/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls of a trace as JSON. A value without a JSON type is an object of one or two members:
 * {"pointer": "0x10"}, {"enum": "GL_ONE", "value": 1}.
 */
#pragma once

#include "cli/common/json.h"
#include "reader/apitrace/apitrace-reader.h"

struct json_object *apitrace_json_call(const struct apitrace_call *call);
struct json_object *apitrace_json_properties(const struct apitrace_header *h);
struct json_object *apitrace_json_header(const struct apitrace_header *h);
