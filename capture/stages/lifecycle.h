/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes lifecycle records to the archive: keeps the table of tasks up to date, and writes kernel
 * objects and the events fork, exec, exit, rename and lost.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"
#include "bpf/record.h"
#include "capture/stages/stage.h"

struct lifecycle {
	const struct pipeline *pipe; /* borrowed */
	uint64_t n_events;           /* number of events that were written */
	uint64_t lost;               /* sum of all losses so far */
};

extern const struct stage lifecycle_stage;

/* Handles the next record in order of time. Returns 0 or the archive's error. */
int lifecycle_record(struct lifecycle *l, const struct rec_head *rec);

/*
 * Writes the identity of TID, after the identity of its process. If the identity is unknown,
 * requests it. TID then counts as announced, unless the query was impossible. Returns 0 or the
 * archive's error.
 */
int lifecycle_announce(struct lifecycle *l, uint32_t tid);

/*
 * Handles the answer to a query. Later reports take precedence. If the answer is not WANTED, since
 * nothing can be written now, the query stays open, and the thread is written at the end.
 */
int lifecycle_answered(struct lifecycle *l, const struct rec_identity *id, bool wanted);

/*
 * To be called at the end. Writes the tasks with an open query. Tasks without an answer are unknown
 * tasks.
 */
int lifecycle_close(void *lifecycle);

/* Writes an unknown task to TO. Changes no state. */
int lifecycle_write_unknown(const struct lifecycle *l, struct fxt_archive *to, uint32_t tid,
			    uint32_t pid);

/* Takes a live task that was listed. If WANTED is true, writes its identity. */
int lifecycle_learned(struct lifecycle *l, const struct rec_identity *id, bool wanted);
