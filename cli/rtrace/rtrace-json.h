/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of a leak report as JSON.
 */
#pragma once

#include "cli/common/json.h"
#include "writer/rtrace/rtrace-record.h"

/* Returns RECORD as a JSON object; NULL for the empty line after a backtrace. */
struct json_object *rtrace_json(const struct rtrace_record *record);
