/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The balance of the CPUs: how long threads waited for a CPU while another one was idle.
 *
 * The queue of a CPU has the thread that runs and those that wait for this CPU: the CPU of their
 * wakeup or preemption, or of their last migration. Affinities are not recorded, so the idle CPU
 * need not have been allowed for the waiting thread. With a filter, only selected threads wait.
 * After a loss, threads wait from their next event on.
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
	uint64_t from_ns, to_ns; /* the window, in the time of the archive; set by the owner */
	/* Results */
	uint64_t known_ns; /* in which the running threads of all CPUs were known */
	/* Part of known_ns: a CPU had a queue of two or more, and another one was idle. */
	uint64_t idle_beside_queue_ns;
	uint64_t queue_ns; /* sum over all CPUs of the length of the queue times its duration */
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

/* Takes in EV, which STATES has already. Returns 0 or -ENOMEM. */
int run_queues_add(struct run_queues *q, const struct thread_states *states,
		   const struct event *ev);
