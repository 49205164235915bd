/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All rings of a collector as one sequence in the order of time.
 *
 * A round looks at what is in the rings now and hands out what is not younger than a horizon; the
 * rest stays where it is. Records of one ring keep their order; what has a begin and an end comes
 * at its end. At equal times struct rec_* come first, then wakeups, then switches, those that take
 * a thread off a CPU before those that put it on another one (FXT readers sort stably by time, so
 * the order in the file decides).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "capture/programs/collector.h"

struct merge;

/* A word ring. */
struct merge_ring {
	enum event_class class;
	unsigned cpu;
};

/* What gets the records. Each returns 0 to go on, a positive number to end the round after this
 * record, or a negative errno. */
struct merge_sink {
	int (*words)(const struct merge_ring *from, uint64_t *words, unsigned n_words,
		     void *userdata);
	int (*loss_begins)(const struct merge_ring *from, const struct ring_lost *mark,
			   void *userdata);
	int (*loss_ends)(const struct merge_ring *from, const struct ring_lost *mark,
			 void *userdata);
	int (*record)(const struct rec_head *rec, void *userdata);
	void *userdata;
};

/* COLLECTOR is borrowed. Returns 0 or -ENOMEM. */
int merge_new(struct collector *collector, struct merge **ret);
struct merge *merge_free(struct merge *m);

DEFINE_CLEANUP(struct merge *, merge_free)

/* The horizon that leaves nothing behind. */
#define MERGE_ALL (UINT64_MAX - 1)

/*
 * One round: hands what is not younger than HORIZON_NS to SINK. Returns 0 when all of that is
 * done, the positive number that ended the round early, -EBADMSG if a ring holds what our
 * programs never write, or the sink's error.
 */
int merge_round(struct merge *m, uint64_t horizon_ns, const struct merge_sink *sink);

/* Puts in a record from elsewhere, of its size, checked; it is copied. Those that come this way are
 * in order. Returns 0, -ENOMEM, or -ENOBUFS: too many are waiting. */
int merge_add(struct merge *m, const struct rec_head *rec);

/*
 * Whether the ring of CPU for CLASS_SCHED has a mark of a loss next that began by TO_NS;
 * *RET_FIRST_NS says when.
 */
bool merge_peek_loss(struct merge *m, unsigned cpu, uint64_t to_ns, uint64_t *ret_first_ns);

/* What a look ahead finds. */
enum {
	MERGE_PEEK_NOTHING,
	MERGE_PEEK_SWITCH,
	MERGE_PEEK_LOSS, /* before any switch */
};

struct merge_switch {
	uint32_t out_tid; /* the thread that it takes off */
	int32_t out_prio;
};

/*
 * Looks ahead, without taking anything, for the first switch on CPU after FROM_NS and not after
 * TO_NS. Returns a MERGE_PEEK_*, with *RET set if it is a switch.
 */
int merge_peek_switch(struct merge *m, unsigned cpu, uint64_t from_ns, uint64_t to_ns,
		      struct merge_switch *ret);
