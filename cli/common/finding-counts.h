/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Findings of kymo check, counted by their kind: of a format whose reader has a table of kinds
 * (base/finding.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/finding.h"
#include "cli/common/json.h"

#define FINDING_COUNTS_MAX 32

struct finding_counts {
	const struct finding_kind *kinds; /* of the format */
	size_t n_kinds;                   /* FINDING_COUNTS_MAX at most */
	bool json, all, notes, strict;    /* as the options of kymo check say */
	struct {
		uint64_t n, first; /* the first is at this byte */
	} counts[FINDING_COUNTS_MAX];
};

/* Counts a finding of the kind ID, and prints it with `all`. */
void finding_counts_add(struct finding_counts *c, unsigned id, uint64_t offset);

uint64_t finding_counts_of(const struct finding_counts *c, enum finding_severity severity);

/* The kinds that were found, for people. */
void finding_counts_print(const struct finding_counts *c);

/*
 * Adds the numbers by severity and the kinds to the report O and prints it, on one line with `all`.
 */
void finding_counts_print_json(const struct finding_counts *c, struct json_object *o);

/* The enum cli_exit that these findings mean. */
int finding_counts_exit(const struct finding_counts *c);

/* Lists N KINDS, with their explanations as JSON. */
void finding_counts_list(const struct finding_kind *kinds, size_t n, bool json);

/* A kind as JSON, with its explanation. */
struct json_object *finding_counts_explanation(const struct finding_kind *kind);
