/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intervals on CPUs and sampled counters, for the archive: hard interrupts, softirqs, work items,
 * idle states, frequencies, counters.
 *
 * Intervals are cut to the time of the recording.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"
#include "bpf/record.h"
#include "capture/stages/stage.h"

struct activity {
	const struct pipeline *pipe; /* borrowed */
	uint64_t n_events;           /* number of events that were written */
	uint64_t lost[CLASS_MAX];
	struct table functions;   /* address -> name of the function, owned */
	struct table idle_states; /* CPU and state -> name of the state, owned */
};

extern const struct stage activity_stage;

void activity_init(struct activity *a, const struct pipeline *pipe);
void activity_deinit(void *activity);

/*
 * Handles the next record in order of time, from the ring of CLASS and CPU. decode_ring_words() has
 * checked the record. The words are changed in place. Returns 0 or the archive's error.
 */
int activity_words(struct activity *a, enum event_class class, unsigned cpu, uint64_t *words,
		   unsigned n_words);

/* Handles a struct rec_* like activity_words(). Records of tasks are not for this function. */
int activity_record(struct activity *a, const struct rec_head *rec);

/* Called when records of CLASS were lost on CPU. */
int activity_lost(struct activity *a, enum event_class class, unsigned cpu,
		  const struct rec_lost *lost);

/*
 * Writes the idle state of CPU that began at BEGIN_NS and has not ended, at the end of the
 * recording.
 */
int activity_close_idle(struct activity *a, unsigned cpu, uint32_t state, uint64_t begin_ns);
