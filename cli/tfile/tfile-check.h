/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo check of one of GDB's trace files: is it whole, and what will GDB make of it?
 */
#pragma once

#include "cli/common/json.h"
#include "cli/common/open-trace.h"

struct tfile_check {
	bool json, all, notes, strict;
	struct open_trace *trace; /* borrowed */
	struct {
		uint64_t n, first; /* the first is at this byte */
	} kinds[TFILE_FINDING_MAX];
};

/* A finding of the reader; USERDATA is the struct tfile_check. */
void tfile_check_found(void *userdata, enum tfile_finding_id id, uint64_t offset);

/* Lists the kinds of findings of trace files. */
void tfile_check_list(bool json);

/* The kind that is called ID, or NULL. */
const struct tfile_finding_kind *tfile_check_kind(const char *id);

/* It as JSON, with its explanation. */
struct json_object *tfile_check_explanation(const struct tfile_finding_kind *kind);

/* Reads all of c->trace and reports. Returns an enum cli_exit. */
int tfile_check(struct tfile_check *c);
