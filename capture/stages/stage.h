/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The operations of a stage of the pipeline (docs/architecture/pipeline.md, "Stages").
 *
 * Each stage has one file, which defines its table. STAGE is the state of the stage, a struct of
 * that file's header. The recorder lists the tables in order, and calls the stages in this order. A
 * record passes the stages that accept its kind. Other data passes the stages that have the
 * operation. The first result other than 0 ends the pass.
 */
#pragma once

#include <stdint.h>

#include "capture/stages/pipeline.h"

struct session_options;

/* A bit for each kind of record. */
#define STAGE_HANDLES(kind) (UINT64_C(1) << (kind))
_Static_assert(REC_KINDS <= 64, "a bit each");

/* Records of the life of a task, except losses. */
#define STAGE_TAKES_TASKS                                                                          \
	(STAGE_HANDLES(REC_FORK) | STAGE_HANDLES(REC_EXEC) | STAGE_HANDLES(REC_EXIT) |             \
	 STAGE_HANDLES(REC_RENAME))

/* Allocations in log mode, and resources. */
#define STAGE_TAKES_HEAP                                                                           \
	(STAGE_HANDLES(REC_ALLOC) | STAGE_HANDLES(REC_FREE) | STAGE_HANDLES(REC_NAMED) |           \
	 STAGE_HANDLES(REC_HEAP_PIECE) | STAGE_HANDLES(REC_RESOURCE))

#define STAGE_TAKES_ALL (~UINT64_C(0))

/* A loss in a ring begins, or ends. */
struct stage_loss {
	enum event_class class;
	unsigned cpu;
	const struct ring_lost *mark;
};

/* The head of a chunk that is being written. */
struct stage_head {
	struct fxt_archive *to;
	uint64_t at_ns;
	/* Writes the names of TID and of its process. Returns 0 or a negative errno. */
	int (*name)(uint32_t tid, void *userdata);
	void *userdata;
};

/*
 * Each function returns 0 or a negative errno; `advance` and `prepare` can end the round
 * with a positive number (pipeline_after()). NULL = none.
 */
struct stage {
	const char *name;
	uint64_t handles;         /* kinds of records that come through the merge */
	uint64_t handles_results; /* kinds of records from the worker */
	int (*record)(void *stage, const struct rec_head *rec);
	int (*loss_begins)(void *stage, const struct stage_loss *loss);
	int (*loss_ends)(void *stage, const struct stage_loss *loss);
	/* The pipeline begins; its context is set. */
	int (*begin)(void *stage, const struct session_options *o);
	/* The archive begins, or continues after a pause: existing state. */
	int (*open)(void *stage);
	/* prepare: a round begins. advance: everything up to HORIZON_NS has been processed. */
	int (*prepare)(void *stage);
	int (*advance)(void *stage, uint64_t horizon_ns);
	/*
	 * pause: a pause begins, and open items are closed. resume: it ends, and the context is set
	 * again.
	 */
	int (*pause)(void *stage);
	int (*resume)(void *stage);
	/* A chunk ends at AT_NS: waiting items must be written. */
	int (*split)(void *stage, uint64_t at_ns);
	/* Writes the tail to TO as if the body ended at AT_NS, without changing state. */
	int (*tail)(const void *stage, struct fxt_archive *to, uint64_t at_ns);
	/* The next chunk begins at AT_NS. */
	void (*next_chunk)(void *stage, uint64_t at_ns);
	/* Writes existing state to the head of the next chunk, without changing state. */
	int (*head)(const void *stage, const struct stage_head *h);
	/* The recording ends. */
	int (*end)(void *stage);
	void (*deinit)(void *stage);
};
