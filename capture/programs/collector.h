/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One loaded copy of our eBPF programs, with rings of its own. All of libbpf is behind this file.
 *
 * Making, attaching and detaching are slow (they wait for the kernel's grace periods) and belong
 * in a worker thread; the ring functions are for one thread that drains.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "bpf/record.h"
#include "capture/options/options.h"
#include "capture/probes/probes.h"
#include "writer/event.h"

struct collector;

struct collector_lost {
	uint64_t count, first_ns, last_ns;
};

/* Called with each struct rec_*, checked (decode.h). A negative result ends the round
 * after that record. */
typedef int (*collector_record_fn)(const struct rec_head *rec, void *userdata);

/* The size of a CPU's word ring, a power of two, for what was asked for (0: nothing was). */
uint64_t collector_choose_ring_bytes(uint64_t wanted);

/*
 * Bytes of kernel memory that all rings of a collector take; the ring_bytes of OPTIONS are chosen.
 */
uint64_t collector_memory(const struct session_options *options);

/*
 * Loads what OPTIONS asks for (its ring_bytes are chosen); nothing is attached yet. Returns 0 or a
 * negative errno with *RETERR_TEXT a sentence (owned by the caller, may be NULL).
 */
int collector_new(const struct session_options *options, struct collector **ret,
		  char **reterr_text);

/* Detaches and unloads everything. Returns NULL. */
struct collector *collector_free(struct collector *c);

DEFINE_CLEANUP(struct collector *, collector_free)

/* Lifecycle first, then the scheduler. Returns as collector_new(). */
int collector_attach(struct collector *c, char **reterr_text);

/*
 * If stacks are walked by tables: learns what is mapped, and waits a moment for the tables of it.
 * Before anything is attached. Returns as collector_new().
 */
int collector_prepare_unwinding(struct collector *c, char **reterr_text);

/*
 * Likewise, from now on: learns what is mapped. Once the rest is attached, and again after a pause.
 * Returns as collector_new().
 */
int collector_start_unwinding(struct collector *c, char **reterr_text);

/* How walks of the stacks of programs have ended so far; all 0 if they are not by tables. */
void collector_count_walks(struct collector *c, uint64_t ret[static WALK_ENDS_MAX]);

/*
 * Walks on from PIECE, checked, into FRAMES, which gets those that it has, too. Returns how many
 * there are.
 */
unsigned collector_resume_walk(struct collector *c, const struct rec_piece *piece,
			       uint64_t frames[static STACK_FRAMES_MAX]);

/* The unwind tables so far. */
struct stack_tables collector_count_tables(struct collector *c);

/*
 * What is to begin last, once what is mapped has been listed: samples and times off CPU. Takes up
 * to 0.1 s. Returns as collector_new(); 0 also if no stacks are asked for.
 */
int collector_start_stacks(struct collector *c, char **reterr_text);

/*
 * With CATEGORIES_MEMORY: the maps and programs of bpf/memory.bpf.h, for capture/heap/heap-trace.h.
 * All of it belongs to the collector.
 */
struct collector_memory {
	enum probes_way way;
	int programs[PROBES_PROGRAMS];
	int processes_fd, ended_fd, stacks_fd, blocks_fd, events_fd;
	__u32 *instances; /* given out, by both sides */
	__u64 *unheard;   /* events that there was no room to report */
	__u64 *untold;    /* programs that have ended, and there was no room to say so */
};

struct collector_memory collector_memory_tables(struct collector *c);

/*
 * With CATEGORY_CALLS: the programs and the map of bpf/calls.bpf.c. They belong to the collector.
 */
struct collector_calls {
	enum probes_way way;
	int programs[PROBES_PROGRAMS]; /* negative: it is not loaded */
	int functions_fd, syscalls_fd; /* the last is negative without any */
};

struct collector_calls collector_call_tables(struct collector *c);

/* With CATEGORY_MOMENTS: the program and the map of bpf/moments.bpf.c. Likewise. */
struct collector_moments {
	enum probes_way way;
	int program, points_fd;
};

struct collector_moments collector_moment_tables(struct collector *c);

/* From now on what is allocated belongs to the contexts of these BITS. */
void collector_set_context(struct collector *c, uint32_t bits);

/* What counts for the samples: "cycles" or "cpu-clock". */
const char *collector_sample_clock(const struct collector *c);

/*
 * To be called now and then by the thread that attached: CPUs that have come back are looked after
 * again.
 */
void collector_look_after_cpus(struct collector *c);

/*
 * Records less: takes call stacks no more, sees wakeups no more, or nothing at all; their programs
 * are detached. Each may take a while. After collector_pause() no program runs, as after
 * collector_detach(), and what is in the rings stays.
 */
void collector_shed_stacks(struct collector *c);
void collector_shed_wakeups(struct collector *c);
void collector_pause(struct collector *c);

/*
 * And more again, what went last first. What had begun meanwhile is forgotten, and what comes out
 * of the rings may have begun before, unseen. Return as collector_new().
 */
int collector_return_stacks(struct collector *c, char **reterr_text);
int collector_return_wakeups(struct collector *c, char **reterr_text);
int collector_resume(struct collector *c, char **reterr_text);

/* While it is paused, by the thread that drains it: what was lost has been reported. */
void collector_forget_lost(struct collector *c);

/* The programs are to send each stack again: those that they have sent are forgotten. */
void collector_forget_stacks(struct collector *c);

/* After it returns no program runs any more. */
void collector_detach(struct collector *c);

/* Hands every task that lives to FN, as struct rec_task. Returns 0 or a negative errno. */
int collector_list_tasks(struct collector *c, collector_record_fn fn, void *userdata);

/*
 * Hands what the threads of process PID have in their registers to FN, as struct rec_registers.
 * With MEMORY_REACH_LOOK only. Returns 0 or a negative errno.
 */
int collector_list_registers(struct collector *c, uint32_t pid, collector_record_fn fn,
			     void *userdata);

unsigned collector_n_cpus(const struct collector *c);

/*
 * The word ring of CPU for CLASS, NULL if there is none; the size of such rings (a power of two).
 */
struct word_ring *collector_ring(struct collector *c, enum event_class class, unsigned cpu);
uint64_t collector_ring_bytes(const struct collector *c, enum event_class class);

/*
 * Hands the records of all BPF ring buffers, and of what was mapped, to FN, those of one buffer in
 * order. Returns 0, or what FN ended it with.
 */
int collector_drain_records(struct collector *c, collector_record_fn fn, void *userdata);

/* What was lost in CLASS on CPU and is not marked in its ring yet. */
struct collector_lost collector_pending_lost(struct collector *c, enum event_class class,
					     unsigned cpu);

/*
 * How often the kernel has skipped a program of CLASS, because on that CPU it was already running:
 * records that nobody made, and nobody knows when. Not of work items: there the program for
 * softirqs leaves to the other what is not its own, and is skipped in vain. Nor of CLASS_SCHED and
 * CLASS_LIFECYCLE.
 */
uint64_t collector_skipped(struct collector *c, enum event_class class);

/*
 * What the programs have counted of themselves, an element a CPU (costs.h); they go on while it is
 * read.
 */
const struct cpu_costs *collector_costs(const struct collector *c);

/* The idle state that CPU is in, and since when, if it was seen to begin. Once detached. */
bool collector_idle(struct collector *c, unsigned cpu, uint32_t *ret_state, uint64_t *ret_begin_ns);

/* Becomes readable when a ring has filled by another quarter. */
int collector_doorbell_fd(const struct collector *c);
void collector_answer_doorbell(struct collector *c);

/* Records whose size or kind made no sense and which were thrown away. */
uint64_t collector_n_malformed(const struct collector *c);
