/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The major page faults of threads, from kymo:page_fault (`-e faults`): they name the file whose
 * pages a thread waited for.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text-set.h"
#include "model/event.h"

enum {
	WHY_FAULTS_MAX = 1 << 20, /* of an archive with more, nothing is claimed */
	WHY_FAULTS_FILES_MAX = 64 /* files that are compared for one interval */
};

/* A fault is recorded at its end. */
struct why_fault {
	uint32_t tid;
	uint64_t at_ns;
	const char *file; /* of the text set; "" = memory without a file; NULL = unknown */
};

struct why_faults {
	struct why_fault *list; /* owned; when finished, in order of threads and times */
	size_t n, room;
	uint64_t n_dropped;
	struct text_set files;
};

/* The major faults of a thread in an interval. */
struct why_faults_sum {
	uint64_t n;       /* all of them */
	uint64_t n_file;  /* of `file` */
	const char *file; /* the file with most of them; "" and NULL as above */
};

void why_faults_deinit(struct why_faults *f);

/* Takes one event in. Returns 0 or -ENOMEM. */
int why_faults_add(struct why_faults *f, const struct event *ev);

/* After the last event, and before the functions below. */
void why_faults_finish(struct why_faults *f);

/*
 * Sums up the faults of TID that ended in [FROM_NS, TO_NS]; of them, only the first MAX. Returns
 * false if there are none, or if some were dropped.
 */
bool why_faults_find(const struct why_faults *f, uint32_t tid, uint64_t from_ns, uint64_t to_ns,
		     uint64_t max, struct why_faults_sum *ret);
