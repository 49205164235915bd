/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Merges all rings of a collector into one sequence in order of time.
 *
 * A round looks at the current content of the rings, and returns records up to a horizon. A round
 * reads all rings up to the horizon before it returns the first record. Later records wait, in the
 * rings or as copies. Records of one ring keep their order. So a record is late only if its eBPF
 * program publishes it after the round that should have returned the record. Intervals are placed
 * at their end. At equal times, struct rec_* come first, then wakeups, then switches, and a switch
 * that takes a thread off a CPU comes before the switch that puts it on another CPU. (FXT readers
 * use a stable sort by time, so the order in the file decides.)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "capture/programs/collector.h"

struct merge;

/* Names a word ring. */
struct merge_ring {
	enum event_class class;
	unsigned cpu;
};

/*
 * Receives the records. Each function returns 0 to continue, a positive number to end the round
 * after this record, or a negative errno.
 */
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

/*
 * A merge copies records: up to collector_records_bytes() plus MERGE_SPARE_BYTES of records from
 * rings, and up to MERGE_SPARE_BYTES of added records. Records that have no room stay in their
 * rings.
 */
#define MERGE_SPARE_BYTES     ((size_t)16 << 20)
#define MERGE_SPARE_BYTES_ALL (2 * MERGE_SPARE_BYTES)

/* The horizon that includes everything. */
#define MERGE_ALL (UINT64_MAX - 1)

/*
 * Does one round: passes records up to HORIZON_NS to SINK. Returns 0 when all have been passed, the
 * positive number that ended the round early, -EBADMSG if a ring contains data that kymo's eBPF
 * programs never write, or the sink's error.
 */
int merge_round(struct merge *m, uint64_t horizon_ns, const struct merge_sink *sink);

/*
 * Adds a checked record from another source; the record is copied. Records must be added in order
 * of time. Returns 0, -ENOMEM, or -ENOBUFS if too many added records are waiting.
 */
int merge_add(struct merge *m, const struct rec_head *rec);

/*
 * Returns true if the next item in the ring of CPU for CLASS_SCHED is the mark of a loss that began
 * by TO_NS. *RET_FIRST_NS is its time.
 */
bool merge_peek_loss(struct merge *m, unsigned cpu, uint64_t to_ns, uint64_t *ret_first_ns);

/* The results of merge_peek_switch(). */
enum {
	MERGE_PEEK_NOTHING,
	MERGE_PEEK_SWITCH,
	MERGE_PEEK_LOSS, /* a loss comes before any switch */
};

struct merge_switch {
	uint32_t out_tid; /* the thread that is switched out */
	int32_t out_prio;
};

/*
 * Looks ahead, without consuming anything, for the first switch on CPU after FROM_NS and not after
 * TO_NS. Returns a MERGE_PEEK_*, with *RET set if it is a switch.
 */
int merge_peek_switch(struct merge *m, unsigned cpu, uint64_t from_ns, uint64_t to_ns,
		      struct merge_switch *ret);
