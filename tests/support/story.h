/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A story in steps, of which each is something else that a recording can have: what the programs
 * and the worker say of it. At the beginning thread 10 runs on CPU 0, and CPU 1 is idle.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "bpf/record.h"
#include "capture/programs/collector.h"
#include "capture/recorder/merge.h"
#include "capture/recorder/recorder.h"
#include "writer/fxt/fxt-wire.h"

enum { STORY_CPUS = 2, STORY_STEPS = 50, STORY_STEP_NS = 1000000 };

/* (before the clock of any machine that has booted: some stages also ask the clock) */
#define STORY_BASE  UINT64_C(1000000000)
#define STORY_AT(n) (STORY_BASE + (uint64_t)(n)*STORY_STEP_NS)

/* In what state a thread is switched out. */
enum story_state { READY = FXT_STATE_RUNNING, BLOCKED = FXT_STATE_BLOCKED, DEAD = FXT_STATE_DEAD };

/* Where it goes; all borrowed. */
struct story {
	struct collector *collector; /* a fake one of STORY_CPUS */
	struct merge *merge;
	struct outbuf *memory; /* what the worker reads of tables */
};

/* All that becomes known at step N, from 1 to STORY_STEPS - 1, up to STORY_AT(N). */
void story_play(const struct story *s, unsigned n);

/*
 * What a recorder asks of its owner, of whom nothing is expected: what the worker reads of tables
 * is taken from MEMORY.
 */
struct pipeline_owner story_owner(struct outbuf *memory);

/*
 * Lists a task that is selected: TASKS are struct rec_task. Or all that there are at the beginning.
 */
void story_list(struct outbuf *tasks, uint32_t pid, uint32_t tid, uint64_t start_ns,
		const char *comm, uint32_t flags);
void story_list_all(struct outbuf *tasks);

/* The same things, for other stories. */
struct rec_identity story_identity(uint32_t pid, uint32_t tid, uint64_t start_ns, const char *comm);
void story_put_switch(const struct story *s, uint64_t ts, unsigned cpu, uint32_t out, uint32_t in,
		      unsigned state);
void story_put_wakeup(const struct story *s, uint64_t ts, uint32_t tid, unsigned cpu, bool on_rq,
		      uint32_t waker);
void story_put_loss(const struct story *s, unsigned cpu, uint64_t first, uint64_t last,
		    uint64_t count, uint32_t tid);
void story_put_mapping(const struct story *s, uint64_t ts, uint32_t pid, uint64_t start,
		       const char *path);
void story_put_stack(const struct story *s, uint64_t ts, uint64_t id, uint64_t address);
void story_put_stack_sample(const struct story *s, uint64_t ts, uint32_t pid, uint32_t tid,
			    uint64_t stack);
void story_put_fork(const struct story *s, uint64_t ts, uint32_t pid, uint32_t child_pid,
		    uint32_t child_tid);
