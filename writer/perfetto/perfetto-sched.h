/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The schedule as Perfetto packets: a bundle of columns per CPU (CompactSched), with differences of
 * times and an own table of names. A bundle refers to nothing outside it.
 */
#pragma once

#include <stdbool.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "model/event.h"

/* The name of a thread. Equal numbers mean equal names. */
struct perfetto_name {
	uint64_t number; /* from 1 on */
	const char *text;
};

struct perfetto_sched;

int perfetto_sched_new(struct perfetto_sched **ret);
struct perfetto_sched *perfetto_sched_free(struct perfetto_sched *s);
DEFINE_CLEANUP(struct perfetto_sched *, perfetto_sched_free)

/*
 * Add an EVENT_SWITCH, with the names of both threads, and an EVENT_WAKE, with the name of the
 * woken thread. A bundle that is full, or that the event does not fit into, is written to TO.
 * Return 0 or -ENOMEM.
 */
int perfetto_sched_switch(struct perfetto_sched *s, const struct event *ev,
			  const struct perfetto_name *prev, const struct perfetto_name *next,
			  struct outbuf *to);
int perfetto_sched_wake(struct perfetto_sched *s, const struct event *ev,
			const struct perfetto_name *woken, struct outbuf *to);

/*
 * Adds what TID waited for from TS_NS on, the time at which it left its CPU in a switch. FUNCTION
 * is NULL if it is unknown. Returns 0 or -ENOMEM.
 */
int perfetto_sched_blocked(struct perfetto_sched *s, uint64_t ts_ns, uint32_t tid, bool io,
			   const char *function, struct outbuf *to);

/* Returns whether EV, an EVENT_SWITCH, leaves its thread waiting. */
bool perfetto_sched_blocks(const struct event *ev);

/* Adds an EVENT_INTERVAL that belongs to a CPU; ignores others. Returns 0 or -ENOMEM. */
int perfetto_sched_interval(struct perfetto_sched *s, const struct event *ev, struct outbuf *to);

/* Adds the frequency of a CPU from TS_NS on. Returns 0 or -ENOMEM. */
int perfetto_sched_frequency(struct perfetto_sched *s, uint64_t ts_ns, uint32_t cpu, uint64_t khz,
			     struct outbuf *to);

/* Returns the number of the CPU on which TID runs, or ran last, or 0 if it is unknown. */
uint32_t perfetto_sched_cpu_of(const struct perfetto_sched *s, uint32_t tid);

/* Returns the number of events that were left out, since Perfetto has no such CPU. */
uint64_t perfetto_sched_left_out(const struct perfetto_sched *s);

/* Writes all bundles to TO. */
void perfetto_sched_flush(struct perfetto_sched *s, struct outbuf *to);
