/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lifecycle records into the archive: keeps the table of tasks up to date and writes kernel
 * objects and the events fork, exec, exit, rename and lost.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"
#include "bpf/record.h"
#include "capture/pipeline/pipeline.h"

struct lifecycle {
	const struct pipeline *pipe; /* borrowed */
	uint64_t n_events;           /* written */
	uint64_t lost;               /* sum of all losses so far */
	bool cgroups_refused;        /* since lifecycle_ask_again() */
	struct table
		asked; /* tid that was asked for and not answered -> its pid + 1, as far as known */
};

void lifecycle_deinit(struct lifecycle *l);

/* The next record in the order of time. Returns 0 or the archive's error. */
int lifecycle_record(struct lifecycle *l, const struct rec_head *rec);

/*
 * Writes who TID is, and its process before it; asks if that is not known. TID then counts as
 * announced, unless it could not even be asked for. Returns 0 or the archive's error.
 */
int lifecycle_announce(struct lifecycle *l, uint32_t tid);

/* TID is one of process PID: should the question about it get no answer, that at least is known. */
int lifecycle_belongs(struct lifecycle *l, uint32_t tid, uint32_t pid);

/* There is room for questions again: asks for the cgroups that were refused. */
void lifecycle_ask_again(struct lifecycle *l);

/* The answer to a question. What was reported meanwhile is left alone. */
int lifecycle_answered(struct lifecycle *l, const struct rec_identity *id, bool wanted);

/* The end: writes those that were asked for in vain, as tasks of which nothing is known. */
int lifecycle_close(struct lifecycle *l);

/*
 * Writes to TO, and changes nothing: a task of which nothing is known; all that were asked for and
 * not answered, as such.
 */
int lifecycle_say_unknown(const struct lifecycle *l, struct fxt_archive *to, uint32_t tid,
			  uint32_t pid);
int lifecycle_say_asked(const struct lifecycle *l, struct fxt_archive *to);

/*
 * A chunk ends: these are written, too, and nobody is waited for. Answers that come later are news,
 * and who is named again is asked for again.
 */
int lifecycle_split(struct lifecycle *l);

/* A task that lives was listed. If WANTED, its identity is written. */
int lifecycle_learned(struct lifecycle *l, const struct rec_identity *id, bool wanted);
