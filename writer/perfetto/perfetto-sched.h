/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The schedule as Perfetto packets: bundles of a CPU's events, in columns (CompactSched) with
 * differences of times. Each bundle has its own table of names, so it refers to nothing outside of
 * itself.
 */
#pragma once

#include <stdbool.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "model/event.h"

/* The name of a thread. Equal names of different threads can have different numbers, but equal
 * numbers mean equal names. */
struct perfetto_name {
	uint64_t number; /* from 1 on */
	const char *text;
};

struct perfetto_sched;

int perfetto_sched_new(struct perfetto_sched **ret);
struct perfetto_sched *perfetto_sched_free(struct perfetto_sched *s);
DEFINE_CLEANUP(struct perfetto_sched *, perfetto_sched_free)

/*
 * Add an EVENT_SWITCH with the names of both threads, or an EVENT_WAKE with the name of the woken
 * thread. If a bundle is full, or cannot hold the event, it is written to TO first. Return 0 or
 * -ENOMEM.
 */
int perfetto_sched_switch(struct perfetto_sched *s, const struct event *ev,
			  const struct perfetto_name *prev, const struct perfetto_name *next,
			  struct outbuf *to);
int perfetto_sched_wake(struct perfetto_sched *s, const struct event *ev,
			const struct perfetto_name *woken, struct outbuf *to);

/*
 * Adds the reason of TID's wait that began at TS_NS, when a switch took TID off its CPU: the kernel
 * FUNCTION (NULL = unknown), and whether TID waits for I/O. Returns 0 or -ENOMEM.
 */
int perfetto_sched_blocked(struct perfetto_sched *s, uint64_t ts_ns, uint32_t tid, bool io,
			   const char *function, struct outbuf *to);

/* Returns true if the outgoing thread of EV, an EVENT_SWITCH, waits afterwards. */
bool perfetto_sched_blocks(const struct event *ev);

/* Adds EV, an EVENT_INTERVAL, if its kind belongs to a CPU. Returns 0 or -ENOMEM. */
int perfetto_sched_interval(struct perfetto_sched *s, const struct event *ev, struct outbuf *to);

/* Adds the frequency of a CPU from TS_NS on. Returns 0 or -ENOMEM. */
int perfetto_sched_frequency(struct perfetto_sched *s, uint64_t ts_ns, uint32_t cpu, uint64_t khz,
			     struct outbuf *to);

/* Returns the number of the CPU on which TID runs, or ran last; 0 = unknown. */
uint32_t perfetto_sched_cpu_of(const struct perfetto_sched *s, uint32_t tid);

/* Returns the number of events that were left out, since Perfetto has no such CPU. */
uint64_t perfetto_sched_left_out(const struct perfetto_sched *s);

/* Writes all bundles to TO. */
void perfetto_sched_flush(struct perfetto_sched *s, struct outbuf *to);
