/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What can be wrong with an archive: each kind of finding once, in the table of fxt-finding-rows.h.
 *
 * An error is against the specification. A warning is within it, and a reader that people use makes
 * something wrong of it. A note is right, and shown nowhere by the most used reader. The identifier
 * of a kind is stable: scripts name it.
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
	const char *id; /* lower case, digits and dashes */
	enum fxt_severity severity;
	const char *text; /* one line, without its end */
	const char
		*detail; /* one line about value[]: each '#' stands for the next of them; or NULL */
	const char *explain; /* a paragraph: what it means, who says so, what to do */
};

extern const struct fxt_finding_kind fxt_finding_kinds[FXT_FINDING_MAX];

/* One case of it. */
struct fxt_finding {
	enum fxt_finding_id id;
	uint64_t offset;   /* of the record, or the damage, in the archive */
	uint64_t number;   /* of the record, from 1; 0 = damage */
	const char *what;  /* static text that says more, or NULL */
	uint64_t value[2]; /* what the kind's detail speaks of */
};

/* "error", "warning", "note". */
const char *fxt_severity_text(enum fxt_severity severity);

/* The kind that is called ID; -1 if there is none. */
int fxt_finding_by_id(const char *id);

enum { FXT_FINDING_DETAIL_MAX = 256 };

/* What is to be said of this case alone, "" if nothing: writes to TO and returns TO. */
char *fxt_finding_detail(char to[FXT_FINDING_DETAIL_MAX], const struct fxt_finding *finding);
