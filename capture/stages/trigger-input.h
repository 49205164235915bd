/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The input of triggers, and what follows when a trigger fires: an event, and a notification of the
 * owner. A stage of the pipeline.
 */
#pragma once

#include "capture/stages/stage.h"
#include "capture/stages/triggers.h"

struct trigger_input {
	const struct pipeline *pipe;
	struct triggers *triggers; /* NULL = no triggers are configured. Owned */
};

extern const struct stage trigger_input_stage;

/*
 * A function for trigger_ops: called when T has fired, at a record that is written. INPUT is a
 * struct trigger_input.
 */
int trigger_input_fire(const struct trigger *t, void *input);

/* Handles the next record of CLASS_SCHED, if there are triggers. Returns 0 or a negative errno. */
int trigger_input_words(struct trigger_input *in, const uint64_t *words, unsigned n_words);

/*
 * Writes the triggers that have been summed so far, at HORIZON_NS (triggers.h). INPUT is a struct
 * trigger_input. Returns 0 or a negative errno.
 */
int trigger_input_settle(void *input, uint64_t horizon_ns);
