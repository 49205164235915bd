/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks a single record that the reader could parse: whether the fields that the reader ignores
 * conform to the specification, and whether other readers show the record correctly. Checks across
 * records are in fxt-lint.h, which calls this one.
 */
#pragma once

#include <stdbool.h>

#include "reader/fxt/fxt-finding.h"
#include "reader/fxt/fxt-reader.h"

enum { FXT_CHECK_MAX = 16 };

/* The statements of a record's arguments that are checked across records. */
struct fxt_check_facts {
	bool out_idle, in_idle; /* the out or in side of a switch has the idle weight */
	bool out_weight, in_weight;
	bool waker;
	bool synthetic;      /* a switch that kymo added, since it was not real or was lost */
	bool has_process;    /* a kernel object has a koid argument `process` */
	uint64_t process;    /* value of the argument `process` */
	const uint64_t *end; /* behind the last argument; NULL = arguments are damaged */
};

struct fxt_findings {
	struct fxt_finding list[FXT_CHECK_MAX]; /* findings of a record, each kind at most once */
	unsigned n;
	unsigned n_errors;
	struct fxt_check_facts facts;
};

void fxt_check_record(const struct fxt_record *record, struct fxt_findings *ret);

/* ---- shared by the parts of the check ---- */

/* Adds the finding ID with VALUE as value[0], unless F has this finding already. */
void fxt_findings_add(struct fxt_findings *f, enum fxt_finding_id id, uint64_t value);

/* Report reserved BITS that are not zero, and padding that is not zero after the N bytes of a
 * stream. */
void fxt_check_reserved(struct fxt_findings *f, uint64_t bits);
void fxt_check_padding(struct fxt_findings *f, const void *p, uint64_t n);

/* Check inline text, and text by reference. */
void fxt_check_stream(struct fxt_findings *f, const struct fxt_text *t);
void fxt_check_ref(struct fxt_findings *f, const struct fxt_text *t);

/* Checks all arguments of R, and fills f->facts. */
void fxt_check_args(struct fxt_findings *f, const struct fxt_record *r);
