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
#include "capture/stages/stage.h"

struct lifecycle {
	const struct pipeline *pipe; /* borrowed */
	uint64_t n_events;           /* written */
	uint64_t lost;               /* sum of all losses so far */
	/* tid with an open query, or that is to be queried -> its pid + 1, as far as known */
	struct table asked;
};

extern const struct stage lifecycle_stage;

void lifecycle_deinit(void *lifecycle);

/* The next record in the order of time. Returns 0 or the archive's error. */
int lifecycle_record(struct lifecycle *l, const struct rec_head *rec);

/*
 * Writes the identity of TID, after the identity of its process. Queries it if it is unknown. TID
 * then counts as announced, unless the query was impossible. Returns 0 or the archive's error.
 */
int lifecycle_announce(struct lifecycle *l, uint32_t tid);

/* TID is a thread of process PID. This is used if the query about TID gets no answer. */
int lifecycle_belongs(struct lifecycle *l, uint32_t tid, uint32_t pid);

/*
 * The answer to a query. Later reports take precedence. If it is not WANTED, since nothing can be
 * written now, the query stays open, and its thread is written at the end.
 */
int lifecycle_answered(struct lifecycle *l, const struct rec_identity *id, bool wanted);

/* The end: writes tasks with an open query; those without an answer as unknown ones. */
int lifecycle_close(void *lifecycle);

/* Writes an unknown task to TO without changing state. */
int lifecycle_write_unknown(const struct lifecycle *l, struct fxt_archive *to, uint32_t tid,
			    uint32_t pid);

/* A live task was listed. If WANTED, its identity is written. */
int lifecycle_learned(struct lifecycle *l, const struct rec_identity *id, bool wanted);
