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

#include <stddef.h>

#include "capture/recorder/recorder.h"

/* A stage, and the place of its state in struct recorder. */
struct recorder_stage {
	const struct stage *ops;
	size_t state;
};

extern const struct recorder_stage recorder_stages[RECORDER_STAGES];

/* The state of stage I. */
static inline void *recorder_state(const struct recorder *r, size_t i)
{
	return (char *)(uintptr_t)r + recorder_stages[i].state;
}

/*
 * Calls FUNCTION of each stage of R that has one, until one returns a value other than 0, and
 * returns that value.
 */
#define RECORDER_EACH(r, function, ...)                                                            \
	({                                                                                         \
		int each_ = 0;                                                                     \
		for (size_t i_ = 0; each_ == 0 && i_ < RECORDER_STAGES; i_++)                      \
			if (recorder_stages[i_].ops->function)                                     \
				each_ = recorder_stages[i_].ops->function(                         \
					recorder_state(r, i_) __VA_OPT__(, ) __VA_ARGS__);         \
		each_;                                                                             \
	})

/* Records which stages accept each kind of record, so that a record passes only those. */
void recorder_find_ways(struct recorder *r);

/* Passes a record of the merge to the stages that accept it. Returns 0 or a negative errno. */
int recorder_pass(struct recorder *r, const struct rec_head *rec);

/* Sets the pipeline's links between stages. */
void recorder_link(struct recorder *r);
