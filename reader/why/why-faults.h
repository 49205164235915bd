/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The major page faults of threads, from kymo:page_fault (`-e faults`). The events name the file
 * whose pages a thread waited for.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text-set.h"
#include "model/event.h"

enum {
	WHY_FAULTS_MAX = 1 << 20, /* if an archive has more, why_faults_find() finds none */
	WHY_FAULTS_FILES_MAX = 64 /* files that are compared for one interval */
};

/* A fault is recorded at its end. */
struct why_fault {
	uint32_t tid;
	uint64_t at_ns;
	const char *file; /* in `files`; "" = memory without a file; NULL = unknown */
};

struct why_faults {
	struct why_fault *list; /* owned; when finished, sorted by thread, then by time */
	size_t n, room;
	uint64_t n_dropped;
	struct text_set files;
};

/* The major faults of a thread in an interval. */
struct why_faults_sum {
	uint64_t n;       /* all of them */
	uint64_t n_file;  /* of `file` */
	const char *file; /* the file with the most faults; "" and NULL as in struct why_fault */
};

void why_faults_deinit(struct why_faults *f);

/* Adds EV, if it is a major fault. Returns 0 or -ENOMEM. */
int why_faults_add(struct why_faults *f, const struct event *ev);

/* Sorts the list. Call it after the last event, and before why_faults_find(). */
void why_faults_finish(struct why_faults *f);

/*
 * Sums up the first MAX faults of TID that ended in [FROM_NS, TO_NS]. Returns false if there are
 * none, or if faults were dropped.
 */
bool why_faults_find(const struct why_faults *f, uint32_t tid, uint64_t from_ns, uint64_t to_ns,
		     uint64_t max, struct why_faults_sum *ret);
