/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts the findings of kymo check by kind, for formats whose reader has a table of kinds
 * (base/finding.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/finding.h"
#include "cli/common/json.h"

#define FINDING_COUNTS_MAX 32

struct finding_counts {
	const struct finding_kind *kinds; /* the kinds of the format */
	size_t n_kinds;                   /* at most FINDING_COUNTS_MAX */
	bool json, all, notes, strict;    /* the options of kymo check */
	struct {
		uint64_t n, first; /* number of findings of this kind, and offset of the first */
	} counts[FINDING_COUNTS_MAX];
};

/* Counts a finding of the kind ID at OFFSET. */
void finding_counts_add(struct finding_counts *c, unsigned id, uint64_t offset);

uint64_t finding_counts_of(const struct finding_counts *c, enum finding_severity severity);

/* Prints the kinds that were found as text. */
void finding_counts_print(const struct finding_counts *c);

/* Adds the kinds, and the numbers by severity, to the report O, and prints the report; on one line
 * if `all` is set. */
void finding_counts_print_json(const struct finding_counts *c, struct json_object *o);

/* Returns the enum cli_exit for these findings. */
int finding_counts_exit(const struct finding_counts *c);

/* Lists N KINDS; JSON also has their explanations. */
void finding_counts_list(const struct finding_kind *kinds, size_t n, bool json);

/* Returns a kind of finding as JSON, with its explanation. */
struct json_object *finding_counts_explanation(const struct finding_kind *kind);
