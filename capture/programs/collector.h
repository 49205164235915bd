/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One loaded copy of kymo's eBPF programs, with its own rings. Only this module uses libbpf's
 * skeletons.
 *
 * Making, attaching and detaching are slow (they wait for grace periods in the kernel) and belong
 * in a worker thread. Only the draining thread may call the functions for rings.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "bpf/record.h"
#include "capture/options/options.h"
#include "capture/probes/probes.h"
#include "model/event.h"

struct collector;

struct collector_lost {
	uint64_t count, first_ns, last_ns;
};

/* Called with each struct rec_*, checked (decode.h). A negative result ends the round
 * after that record. */
typedef int (*collector_record_fn)(const struct rec_head *rec, void *userdata);

/*
 * The size of a CPU's rings for scheduling and for calls, a power of two, for the size in OPTIONS
 * (0: default, which depends on their categories and default_rings_max).
 */
uint64_t collector_choose_ring_bytes(const struct session_options *options);

/* Bytes of kernel memory for all rings of a collector; ring_bytes in OPTIONS is set. */
uint64_t collector_memory(const struct session_options *options);

/* Likewise, what collector_records_bytes() returns for it: user space copies these records. */
uint64_t collector_copies_memory(const struct session_options *options);

/*
 * Loads the programs for OPTIONS (with ring_bytes set), without attaching them. Returns 0 or a
 * negative errno with *RETERR_TEXT, a sentence (owned by the caller, can be NULL).
 */
int collector_new(const struct session_options *options, struct collector **ret,
		  char **reterr_text);

/* Detaches and unloads everything. Returns NULL. */
struct collector *collector_free(struct collector *c);

DEFINE_CLEANUP(struct collector *, collector_free)

/* Attaches the programs: lifecycle first, then the scheduler. Returns as collector_new(). */
int collector_attach(struct collector *c, char **reterr_text);

/*
 * If stacks are walked by tables: learns the existing mappings, and waits a moment for their
 * tables. Call it before anything is attached. Returns as collector_new().
 */
int collector_prepare_unwinding(struct collector *c, char **reterr_text);

/*
 * Starts walking by tables. Call it after the rest is attached, and again after a pause. Returns as
 * collector_new().
 */
int collector_start_unwinding(struct collector *c, char **reterr_text);

/* The ends of user stack walks so far; all 0 if tables are not used. */
void collector_count_walks(struct collector *c, uint64_t ret[static WALK_ENDS_MAX]);

/*
 * Continues the walk of PIECE, which was checked, into FRAMES, which include the frames of PIECE.
 * Returns their number. If a table is missing and the caller CAN_RETRY the walk by
 * collector_walk_waiting(), returns 0.
 */
unsigned collector_resume_walk(struct collector *c, const struct rec_piece *piece, bool can_retry,
			       uint64_t frames[static STACK_FRAMES_MAX]);

/*
 * Call it for each copied stack that is dropped without such a walk. Pauses and the end wait for
 * tables as long as copied stacks can be in the rings.
 */
void collector_skip_walk(struct collector *c);

/* The same for a piece of collector_list_waiting(), or a walk that is tried again. */
unsigned collector_walk_waiting(struct collector *c, const struct rec_piece *piece, bool can_retry,
				uint64_t frames[static STACK_FRAMES_MAX]);

/*
 * After collector_detach() or collector_pause(): waits for the tables that copied stacks need, a
 * second at most. Does not wait if no copied stack is left in the rings or with a caller that
 * CAN_RETRY. Another thread may drain the rings meanwhile.
 */
void collector_await_tables(struct collector *c);

/* The unwind tables so far. */
struct stack_tables collector_count_tables(struct collector *c);

/*
 * Starts the last part, after mappings have been listed: samples and times off CPU. Takes up to 0.1
 * s. Returns as collector_new(); 0 also if no stacks are recorded.
 */
int collector_start_stacks(struct collector *c, char **reterr_text);

/*
 * Call it after the recording of times off CPU has started. Begins the times of threads that
 * already wait, and passes their copied stacks to FN, as struct rec_piece. Returns 0 (also if times
 * off CPU are not recorded) or a negative errno.
 */
int collector_list_waiting(struct collector *c, collector_record_fn fn, void *userdata);

/*
 * With CATEGORIES_MEMORY: the maps and programs of bpf/memory.bpf.h, for capture/heap/heap-trace.h.
 * The collector owns them.
 */
struct collector_memory {
	enum probes_way way;
	int programs[PROBES_PROGRAMS];
	int processes_fd, ended_fd, owners_fd, ended_threads_fd, killed_threads_fd;
	int stacks_fd, blocks_fd, events_fd, shared_fd;
	__u32 *instances; /* the last instance; user space and the programs assign them */
	__s32 *n_copied;  /* copied stacks in the table; user space subtracts those it removes */
	__u64 *events_unreported; /* events without room for a report */
	__u64 *ends_unreported;   /* ended programs without room for a report */
	__u64 *shares_unreported; /* programs without room in the map of shared_fd */
};

struct collector_memory collector_memory_tables(struct collector *c);

/* With CATEGORY_CALLS: the programs and the map of bpf/calls.bpf.c. The collector owns them. */
struct collector_calls {
	enum probes_way way;
	int programs[PROBES_PROGRAMS]; /* negative = not loaded */
	int functions_fd, syscalls_fd; /* syscalls_fd is negative without system calls */
};

struct collector_calls collector_call_tables(struct collector *c);

/* With CATEGORY_MOMENTS: the program and the map of bpf/moments.bpf.c. The collector owns them. */
struct collector_moments {
	enum probes_way way;
	int program, points_fd;
};

struct collector_moments collector_moment_tables(struct collector *c);

/* From now on, allocations belong to the contexts BITS. */
void collector_set_context(struct collector *c, uint32_t bits);

/* The clock of samples: "cycles" or "cpu-clock". */
const char *collector_sample_clock(const struct collector *c);

/*
 * Resumes work on CPUs that came back online. The thread that attached must call it periodically.
 */
void collector_check_cpus(struct collector *c);

/*
 * Reduce the recording: no call stacks, no wakeups, or nothing. The programs are detached. Each can
 * take a while. After collector_pause(), no program runs, as after collector_detach(), and the
 * content of the rings stays.
 */
void collector_shed_stacks(struct collector *c);
void collector_shed_wakeups(struct collector *c);
void collector_pause(struct collector *c);

/*
 * Extend the recording again, in reverse order. Open intervals are discarded, and records can have
 * a begin that was not observed. Return as collector_new().
 */
int collector_return_stacks(struct collector *c, char **reterr_text);
int collector_return_wakeups(struct collector *c, char **reterr_text);
int collector_resume(struct collector *c, char **reterr_text);

/* Forgets the losses, which have been reported. For the draining thread, during a pause. */
void collector_forget_lost(struct collector *c);

/* Makes the programs send each stack again, or the path of each cgroup. */
void collector_forget_stacks(struct collector *c);
void collector_forget_cgroups(struct collector *c);

/* After it returns, no program runs any more. */
void collector_detach(struct collector *c);

/* Passes every live task to FN, as struct rec_task. Returns 0 or a negative errno. */
int collector_list_tasks(struct collector *c, collector_record_fn fn, void *userdata);

/* Likewise, only the task PID (see program_iterator_open_process()). */
int collector_list_process(struct collector *c, uint32_t pid, collector_record_fn fn,
			   void *userdata);

/*
 * Passes the paths of the cgroups of all live tasks to FN, as struct rec_cgroup, except those that
 * were passed or sent before. Only one thread may call it. Returns 0 or a negative errno.
 */
int collector_list_cgroups(struct collector *c, collector_record_fn fn, void *userdata);

/*
 * Passes the registers of process PID's threads to FN, as struct rec_registers. Do not call it with
 * MEMORY_REACH_NO. Returns 0 or a negative errno.
 */
int collector_list_registers(struct collector *c, uint32_t pid, collector_record_fn fn,
			     void *userdata);

/* The location of the kernel's text. False if it is hidden from this process, or if only a
 * user's own processes are recorded. */
bool collector_kernel_text(struct collector *c, struct kernel_text *ret);

unsigned collector_n_cpus(const struct collector *c);

/*
 * The word ring of CPU for CLASS, NULL if there is none; the size of such rings (a power of two).
 */
struct word_ring *collector_ring(struct collector *c, enum event_class class, unsigned cpu);
uint64_t collector_ring_bytes(const struct collector *c, enum event_class class);

/*
 * Passes the records of all BPF ring buffers and of mappings to FN, those of one buffer in order.
 * Returns 0, or the result of FN that ended it.
 */
int collector_drain_records(struct collector *c, collector_record_fn fn, void *userdata);

/* The maximum of bytes in these buffers. */
uint64_t collector_records_bytes(const struct collector *c);

/* The losses in CLASS on CPU without a mark in its ring yet. */
struct collector_lost collector_pending_lost(struct collector *c, enum event_class class,
					     unsigned cpu);

/*
 * The number of times that the kernel skipped a program of CLASS because it was already running on
 * that CPU: records are missing at unknown times. Work items are not counted: of their two
 * programs, each ignores the items of the other, so skips have no effect. CLASS_SCHED and
 * CLASS_LIFECYCLE are not counted either.
 */
uint64_t collector_skipped(struct collector *c, enum event_class class);

/* The number of calls of function number FUNCTION that its limit has left out. */
uint64_t collector_left_out(struct collector *c, uint32_t function);

/* System calls are recorded only in 64-bit programs. Returns the number of calls with requested
 * names that were left out in 32-bit programs. */
uint64_t collector_foreign_calls(struct collector *c);

/*
 * The programs' own counts, one element per CPU (costs.h). They can change while the caller reads
 * them.
 */
const struct cpu_costs *collector_costs(const struct collector *c);

/* The idle state of CPU, and its begin, if that was observed. Call it after detaching. */
bool collector_idle(struct collector *c, unsigned cpu, uint32_t *ret_state, uint64_t *ret_begin_ns);

/* Becomes readable when a ring has filled by another quarter. */
int collector_doorbell_fd(const struct collector *c);
void collector_answer_doorbell(struct collector *c);

/* Records with an invalid size or kind, which were discarded. */
uint64_t collector_n_malformed(const struct collector *c);
