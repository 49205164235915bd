/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Judges a record by itself, one that the reader could take apart: does it keep to the
 * specification in what the reader does not need, and what will other readers make of it? What
 * takes more than one record to see is fxt-lint.h's, which calls this.
 */
#pragma once

#include <stdbool.h>

#include "reader/fxt/fxt-finding.h"
#include "reader/fxt/fxt-reader.h"

enum { FXT_CHECK_MAX = 16 };

/* What the arguments of a record said, for those who look at several records. */
struct fxt_said {
	bool out_idle, in_idle; /* sides of a switch with the idle weight */
	bool out_weight, in_weight;
	bool waker;
	bool synthetic;      /* kymo's: a switch that did not happen, or was not reported */
	bool has_process;    /* a kernel object's argument `process`, a koid */
	uint64_t process;    /* that koid */
	const uint64_t *end; /* behind the last argument; NULL if they are damaged */
};

struct fxt_findings {
	struct fxt_finding list[FXT_CHECK_MAX]; /* each kind once, however often found */
	unsigned n;
	unsigned n_errors;
	struct fxt_said said;
};

void fxt_check_record(const struct fxt_record *record, struct fxt_findings *ret);

/* ---- between the parts of the check ---- */

/* Adds the finding ID, of which value[0] is VALUE, unless it is there. */
void fxt_findings_add(struct fxt_findings *f, enum fxt_finding_id id, uint64_t value);

/* The reserved BITS must be zero; so must what follows N bytes of a stream up to the next word. */
void fxt_check_reserved(struct fxt_findings *f, uint64_t bits);
void fxt_check_padding(struct fxt_findings *f, const void *p, uint64_t n);

/* Text that lies in the record, and text that is referred to. */
void fxt_check_stream(struct fxt_findings *f, const struct fxt_text *t);
void fxt_check_ref(struct fxt_findings *f, const struct fxt_text *t);

/* All arguments of R; fills in f->said. */
void fxt_check_args(struct fxt_findings *f, const struct fxt_record *r);
