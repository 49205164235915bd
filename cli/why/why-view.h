/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The two outputs of `kymo why`.
 */
#pragma once

#include "reader/views/profile-names.h"
#include "reader/why/why.h"

/* Data for the output. */
struct why_view {
	const struct why *why;
	const struct summary *summary;
	const struct profile *profile;
	const struct profile_names *names;
	enum why_what what; /* the instances */
	const char *file;   /* name of the archive, for messages */
	const char *word;   /* that selects threads; NULL = all */
};

/* The state of a thread in a step of each kind: "runs", "waits for a disk". */
extern const char *const why_text_kinds[PATH_KINDS];

/*
 * Sets *RET_BEFORE and *RET_AFTER to the words before and after the name of the thread to which S
 * leads. Returns that thread; 0 = none.
 */
uint32_t why_text_link(const struct path_step *s, const char **ret_before, const char **ret_after);

void why_text_print(const struct why_view *v);

/* Returns 0 or -ENOMEM. */
int why_json_print(const struct why_view *v);

/* The name of the thread TID in the archive; NULL = unknown. */
static inline const char *why_view_name(const struct why_view *v, uint32_t tid)
{
	const struct summary_thread *t = tid ? table_get(&v->summary->threads, tid) : NULL;

	return t && t->name && *t->name ? t->name : NULL;
}
