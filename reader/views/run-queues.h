/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The balance of the CPUs: how long threads waited for a CPU while another one was idle.
 *
 * The queue of a CPU has the thread that runs there, and the threads that wait for this CPU: those
 * that were woken, preempted or last migrated there. Affinities are not recorded, so the waiting
 * thread was possibly not allowed on the idle CPU. With a filter, only selected threads count as
 * waiting. After a loss, a thread counts as waiting only from its next event on.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "model/event.h"
#include "reader/views/thread-states.h"

struct run_queue;

struct run_queues {
	uint64_t from_ns, to_ns; /* the window, in times of the archive; the owner sets it */
	/* Results */
	uint64_t known_ns; /* time in which the running threads of all CPUs were known */
	/* Part of known_ns: a CPU had at least two threads in its queue, and another CPU was
	 * idle. */
	uint64_t idle_beside_queue_ns;
	uint64_t queue_ns; /* sum of the queue lengths of all CPUs, integrated over known_ns */
	uint32_t longest_queue, longest_cpu;
	uint64_t longest_at_ns;
	size_t n_cpus; /* number of CPUs that had a switch */

	/* State that is used while events are read. */
	struct run_queue *cpus; /* owned */
	size_t room;
	struct table waiting;           /* tid -> number of the CPU + 1 */
	size_t n_known, n_idle, n_long; /* numbers of CPUs */
	uint64_t length;                /* of all queues */
	uint64_t now_ns;
};

void run_queues_deinit(struct run_queues *q);

/* Adds EV, which STATES must have got before. Returns 0 or -ENOMEM. */
int run_queues_add(struct run_queues *q, const struct thread_states *states,
		   const struct event *ev);
