/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo check of a call trace: is it whole, and what will other readers make of it?
 */
#pragma once

#include "cli/common/json.h"
#include "cli/common/open-trace.h"

struct calls_check {
	bool json, all, notes, strict;
	struct open_trace *trace; /* borrowed */
	struct {
		uint64_t n, first; /* the first is at this byte */
	} kinds[APITRACE_FINDING_MAX];
};

/* A finding of the reader; USERDATA is the struct calls_check. */
void calls_check_found(void *userdata, enum apitrace_finding_id id, uint64_t offset);

/* Lists the kinds of findings of call traces. */
void calls_check_list(bool json);

/* The kind that is called ID, or NULL. */
const struct apitrace_finding_kind *calls_check_kind(const char *id);

/* It as JSON, with its explanation. */
struct json_object *calls_check_explanation(const struct apitrace_finding_kind *kind);

/* Reads all of c->trace and reports. Returns an enum cli_exit. */
int calls_check(struct calls_check *c);
