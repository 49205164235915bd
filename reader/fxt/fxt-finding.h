/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The possible errors of an archive: each kind of finding once, in the table of fxt-finding-rows.h.
 *
 * An error violates the specification. A warning is about valid data that a known reader shows
 * wrongly. A note is about correct data that the most used reader does not show. The identifier of
 * a kind is stable: scripts use it.
 */
#pragma once

#include <stdint.h>

enum fxt_severity {
	FXT_SEVERITY_ERROR,
	FXT_SEVERITY_WARNING,
	FXT_SEVERITY_NOTE,
	FXT_SEVERITY_MAX,
};

enum fxt_finding_id {
#define FINDING(name, ...) FXT_FINDING_##name,
#include "reader/fxt/fxt-finding-rows.h"
#undef FINDING
	FXT_FINDING_MAX,
};

struct fxt_finding_kind {
	const char *id; /* identifier: lower case, digits and dashes */
	enum fxt_severity severity;
	const char *text; /* one line, without a line feed */
	const char
		/* one line about value[]: each '#' is replaced by the next value; or NULL */
		*detail;
	const char *explain; /* a paragraph: meaning, source, remedy */
};

extern const struct fxt_finding_kind fxt_finding_kinds[FXT_FINDING_MAX];

/* One occurrence of a kind of finding. */
struct fxt_finding {
	enum fxt_finding_id id;
	uint64_t offset;   /* of the record or the damage, in the archive */
	uint64_t number;   /* of the record, from 1; 0 = damage, which is no record */
	const char *what;  /* static text with details, or NULL */
	uint64_t value[2]; /* the values in the kind's detail */
};

/* "error", "warning", "note". */
const char *fxt_severity_text(enum fxt_severity severity);

/* Returns the number of the kind with the identifier ID; -1 = no such kind. */
int fxt_finding_by_id(const char *id);

enum { FXT_FINDING_DETAIL_MAX = 256 };

/* Writes the detail of FINDING to TO ("" if its kind has none), and returns TO. */
char *fxt_finding_detail(char to[FXT_FINDING_DETAIL_MAX], const struct fxt_finding *finding);
