/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stages of the pipeline, in their order (docs/architecture/pipeline.md, "Stages"). Internal to
 * recorder*.c.
 *
 * Everything passes recorder_stages[] from the first row to the last: a record the rows that accept
 * its kind, everything else the rows that have a function for it. The first function with a result
 * other than 0 ends the pass. Finished words of the rings do not pass: see recorder_on_words() in
 * recorder.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/recorder/recorder.h"

/* The head of a chunk that is being written. */
struct recorder_head {
	const struct recorder *recorder;
	uint64_t at_ns;
	struct fxt_archive part;
	uint64_t *named; /* a bit per tid: the head has named it. Owned */
};

/* A loss in a ring begins, or ends. */
struct recorder_loss {
	enum event_class class;
	unsigned cpu;
	const struct ring_lost *mark;
};

/* A bit for each kind of record. */
#define STAGE_TAKES(kind) (UINT64_C(1) << (kind))

/*
 * Each function returns 0 or a negative errno; `advance` can end the round like after_record().
 * NULL = none.
 */
struct recorder_stage {
	const char *name;
	uint64_t takes;      /* kinds of records that come through the merge */
	uint64_t takes_news; /* kinds of records from the worker */
	int (*record)(struct recorder *r, const struct rec_head *rec);
	int (*loss_begins)(struct recorder *r, const struct recorder_loss *loss);
	int (*loss_ends)(struct recorder *r, const struct recorder_loss *loss);
	/* The pipeline begins; its context is set. */
	int (*begin)(struct recorder *r, const struct session_options *o);
	/* The archive begins, or continues after a pause: existing state. */
	int (*open)(struct recorder *r);
	/* A round begins; and everything up to HORIZON_NS has been processed. */
	int (*prepare)(struct recorder *r);
	int (*advance)(struct recorder *r, uint64_t horizon_ns);
	/* A pause begins: open items are closed. And it ends: the context is set again. */
	int (*pause)(struct recorder *r);
	int (*resume)(struct recorder *r);
	/* A chunk ends at AT_NS: waiting items must not wait longer. */
	int (*split)(struct recorder *r, uint64_t at_ns);
	/* Writes the tail to TO as if the body ended at AT_NS, without changing state. */
	int (*tail)(const struct recorder *r, struct fxt_archive *to, uint64_t at_ns);
	/* The next chunk begins at AT_NS. */
	void (*next_chunk)(struct recorder *r, uint64_t at_ns);
	/* Writes existing state to the head of the next chunk, without changing state. */
	int (*head)(struct recorder_head *h);
	/* The recording ends. */
	int (*end)(struct recorder *r);
	void (*deinit)(struct recorder *r);
};

extern const struct recorder_stage recorder_stages[RECORDER_STAGES];

/*
 * Calls FUNCTION of each stage that has one, until one returns a value other than 0, and returns
 * that value.
 */
#define RECORDER_EACH(function, ...)                                                               \
	({                                                                                         \
		int each_ = 0;                                                                     \
		for (size_t i_ = 0; each_ == 0 && i_ < RECORDER_STAGES; i_++)                      \
			if (recorder_stages[i_].function)                                          \
				each_ = recorder_stages[i_].function(__VA_ARGS__);                 \
		each_;                                                                             \
	})

/* Records which stages accept each kind of record, so that a record passes only those. */
void recorder_find_ways(struct recorder *r);

/* Passes a record to the stages that accept it. Return 0 or a negative errno. */
int recorder_take(struct recorder *r, const struct rec_head *rec);
int recorder_take_news(struct recorder *r, const struct rec_head *rec);

/* ERROR, or the owner's answer about continuing. */
static inline int recorder_after(const struct recorder *r, int error)
{
	return error < 0 ? error : r->pipe.owner.after_record(r->pipe.owner.userdata);
}

/* Sets the pipeline's links between stages. */
void recorder_link(struct recorder *r);

/* In heads: the identity of TID, and of its process. */
int recorder_head_name(uint32_t tid, void *userdata);

/* For heads (recorder-chunk.c). */
int recorder_head_tasks(struct recorder_head *h);
int recorder_head_mappings(struct recorder_head *h);
int recorder_head_marks(struct recorder_head *h);
int recorder_head_blocks(struct recorder_head *h);
int recorder_head_timelines(struct recorder_head *h);

/* For tails (recorder-chunk.c). */
int recorder_tail_asked(const struct recorder *r, struct fxt_archive *to, uint64_t at_ns);
int recorder_tail_timelines(const struct recorder *r, struct fxt_archive *to, uint64_t at_ns);

/* Splits (recorder-chunk.c). */
int recorder_split_lifecycle(struct recorder *r, uint64_t at_ns);
void recorder_next_timelines(struct recorder *r, uint64_t at_ns);

/* The input of triggers (recorder-triggers.c). */
int recorder_trigger_begin(struct recorder *r, const struct session_options *o);
int recorder_trigger_record(struct recorder *r, const struct rec_head *rec);
int recorder_trigger_fire(const struct trigger *t, void *recorder);
int recorder_trigger_words(struct recorder *r, const uint64_t *words, unsigned n_words);
