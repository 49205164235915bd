/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The operations of a stage of the pipeline (docs/architecture/pipeline.md, "Stages").
 *
 * Each stage has one file, which defines its table. STAGE is the state of the stage, a struct that
 * the header of that file defines. The recorder lists the tables in order, and calls the stages in
 * this order. A record passes the stages that accept its kind. Other data passes the stages that
 * have the operation. The first result other than 0 ends the pass.
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

/* Allocations of log mode, and resources. */
#define STAGE_TAKES_HEAP                                                                           \
	(STAGE_HANDLES(REC_ALLOC) | STAGE_HANDLES(REC_FREE) | STAGE_HANDLES(REC_NAMED) |           \
	 STAGE_HANDLES(REC_HEAP_PIECE) | STAGE_HANDLES(REC_RESOURCE))

#define STAGE_TAKES_ALL (~UINT64_C(0))

/* The beginning or the end of a loss in a ring. */
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
 * Each function returns 0 or a negative errno; `advance` and `prepare` can end the round with a
 * positive number (pipeline_after()). NULL = the stage does not have the operation.
 */
struct stage {
	const char *name;
	uint64_t handles;         /* kinds of records that come through the merge */
	uint64_t handles_results; /* kinds of records from the worker */
	int (*record)(void *stage, const struct rec_head *rec);
	int (*loss_begins)(void *stage, const struct stage_loss *loss);
	int (*loss_ends)(void *stage, const struct stage_loss *loss);
	/* Called when the pipeline begins. Its context is set. */
	int (*begin)(void *stage, const struct session_options *o);
	/*
	 * Called when the archive begins, or continues after a pause. Writes the state that exists.
	 */
	int (*open)(void *stage);
	/*
	 * `prepare` is called when a round begins, `advance` when all records up to HORIZON_NS have
	 * been processed.
	 */
	int (*prepare)(void *stage);
	int (*advance)(void *stage, uint64_t horizon_ns);
	/*
	 * `pause` is called when a pause begins, and closes open items. `resume` is called when the
	 * pause ends. The context is then set again.
	 */
	int (*pause)(void *stage);
	int (*resume)(void *stage);
	/* Called when a chunk ends at AT_NS. Items that wait must be written. */
	int (*split)(void *stage, uint64_t at_ns);
	/* Writes the tail to TO as if the body ended at AT_NS, without changing state. */
	int (*tail)(const void *stage, struct fxt_archive *to, uint64_t at_ns);
	/* Called when the next chunk begins at AT_NS. */
	void (*next_chunk)(void *stage, uint64_t at_ns);
	/* Writes the state that exists to the head of the next chunk, without changing it. */
	int (*head)(const void *stage, const struct stage_head *h);
	/* Called when the recording ends. */
	int (*end)(void *stage);
	void (*deinit)(void *stage);
};
