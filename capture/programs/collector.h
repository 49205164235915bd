/* SPDX-License-Identifier: GPL-2.0-or-later */
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

/* Called with each struct rec_*, which has been checked (decode.h). A negative result ends the
 * round after that record. */
typedef int (*collector_record_fn)(const struct rec_head *rec, void *userdata);

/*
 * Returns the size of a CPU's ring for scheduling, and of its ring for calls, a power of two. This
 * is the size in OPTIONS, rounded up, or, if OPTIONS have no size, the default size, which depends
 * on the categories and default_rings_max of OPTIONS.
 */
uint64_t collector_choose_ring_bytes(const struct session_options *options);

/* Returns the bytes of kernel memory for all rings of a collector. OPTIONS must have ring_bytes. */
uint64_t collector_memory(const struct session_options *options);

/*
 * Returns the future result of collector_records_bytes() for such a collector. User space copies
 * these records.
 */
uint64_t collector_copies_memory(const struct session_options *options);

/*
 * Loads the eBPF programs for OPTIONS, without attaching them. OPTIONS must have ring_bytes.
 * Returns 0 or a negative errno with *RETERR_TEXT, a sentence (owned by the caller, can be NULL).
 */
int collector_new(const struct session_options *options, struct collector **ret,
		  char **reterr_text);

/* Detaches and unloads everything. Returns NULL. */
struct collector *collector_free(struct collector *c);

DEFINE_CLEANUP(struct collector *, collector_free)

/*
 * Attaches the eBPF programs: first the programs for lifecycle, then the programs for the
 * scheduler. Returns like collector_new().
 */
int collector_attach(struct collector *c, char **reterr_text);

/*
 * If stacks are walked by tables: learns the existing mappings, and waits a moment for their
 * tables, unless CALLED_OFF returns true. To be called before anything is attached. Returns like
 * collector_new().
 */
int collector_prepare_unwinding(struct collector *c, bool (*called_off)(void *userdata),
				void *userdata, char **reterr_text);

/*
 * Starts walking by tables. To be called after all else is attached, and again after a pause.
 * Returns like collector_new().
 */
int collector_start_unwinding(struct collector *c, char **reterr_text);

/*
 * Returns how many walks of user stacks have ended in each way so far; all 0 if tables are not
 * used.
 */
void collector_count_walks(struct collector *c, uint64_t ret[static WALK_ENDS_MAX]);

/* Returns the numbers of stacks with functions of Python so far, except PYTHON_STACKS_UNNAMED. */
void collector_count_python(struct collector *c, uint64_t ret[static PYTHON_STACKS_MAX]);

/*
 * Stores the versions of Python, as texts, that were in stacks so far, and whose functions are
 * unknown. Returns their number.
 */
enum { COLLECTOR_PYTHONS_MAX = 8, COLLECTOR_PYTHON_TEXT = 48 };
unsigned collector_unknown_pythons(struct collector *c,
				   char to[static COLLECTOR_PYTHONS_MAX][COLLECTOR_PYTHON_TEXT]);

/*
 * Continues the walk of PIECE, which has been checked, and writes all frames to FRAMES, including
 * the frames in PIECE. Returns the number of frames. CAN_RETRY: true = if a table is missing,
 * returns 0, and the caller tries again with collector_walk_waiting().
 */
unsigned collector_resume_walk(struct collector *c, const struct rec_piece *piece, bool can_retry,
			       uint64_t frames[static STACK_FRAMES_MAX]);

/*
 * To be called for each copied stack that is dropped without collector_resume_walk(). At a pause
 * and at the end, the collector waits for tables as long as copied stacks can be in the rings.
 */
void collector_skip_walk(struct collector *c);

/*
 * Like collector_resume_walk(), for a piece of collector_list_waiting(), or a walk that is tried
 * again.
 */
unsigned collector_walk_waiting(struct collector *c, const struct rec_piece *piece, bool can_retry,
				uint64_t frames[static STACK_FRAMES_MAX]);

/*
 * After collector_detach() or collector_pause(): waits for the tables that copied stacks need, a
 * second at most. Does not wait if no copied stack is left, neither in the rings nor with a caller
 * that will try again (CAN_RETRY). Another thread may drain the rings meanwhile.
 */
void collector_await_tables(struct collector *c);

/* Counts the unwind tables so far. */
struct stack_tables collector_count_tables(struct collector *c);

/*
 * Starts samples and times off CPU. This is the last step of the start, and mappings must have been
 * listed before. Takes up to 0.1 s. Returns like collector_new(), and 0 if no stacks are recorded.
 */
int collector_start_stacks(struct collector *c, char **reterr_text);

/*
 * To be called after the recording of times off CPU has started. Begins the times of threads that
 * already wait, and passes their copied stacks to FN, as struct rec_piece. Returns 0 (also if times
 * off CPU are not recorded) or a negative errno.
 */
int collector_list_waiting(struct collector *c, collector_record_fn fn, void *userdata);

/*
 * The maps and programs of bpf/memory.bpf.h, for capture/heap/heap-trace.h. These maps and programs
 * exist with CATEGORIES_MEMORY, and the collector owns them.
 */
struct collector_memory {
	enum probes_way way;
	int programs[PROBES_PROGRAMS];
	int processes_fd, ended_fd, owners_fd, ended_threads_fd, killed_threads_fd;
	int stacks_fd, blocks_fd, events_fd, shared_fd;
	/* Number of the last instance; user space and the eBPF programs assign these numbers. */
	__u32 *instances;
	/* Number of copied stacks in the table; user space subtracts those that it removes. */
	__s32 *n_copied;
	__u64 *events_unreported; /* number of events without room for a report */
	__u64 *ends_unreported;   /* number of ended programs without room for a report */
	__u64 *shares_unreported; /* number of programs without room in the map of shared_fd */
};

struct collector_memory collector_memory_tables(struct collector *c);

/*
 * The programs and the map of bpf/calls.bpf.c. They exist with CATEGORY_CALLS, and the collector
 * owns them.
 */
struct collector_calls {
	enum probes_way way;
	int programs[PROBES_PROGRAMS]; /* negative = not loaded */
	int functions_fd, syscalls_fd; /* syscalls_fd is negative without system calls */
};

struct collector_calls collector_call_tables(struct collector *c);

/*
 * The program and the map of bpf/moments.bpf.c. They exist with CATEGORY_MOMENTS, and the collector
 * owns them.
 */
struct collector_moments {
	enum probes_way way;
	int program, points_fd;
};

struct collector_moments collector_moment_tables(struct collector *c);

/*
 * The program and the map of bpf/tracepoints.bpf.c. They exist with CATEGORY_TRACEPOINTS, and the
 * collector owns them.
 */
struct collector_tracepoints {
	int program, layouts_fd;
};

struct collector_tracepoints collector_tracepoint_tables(struct collector *c);

/*
 * Attaches the program of kymo's tracepoint OWN (TRACEPOINT_OWN_*), whose events get the layout
 * NUMBER. collector_detach() detaches it. Returns 0 or a negative errno with a sentence.
 */
int collector_attach_own(struct collector *c, unsigned own, uint32_t number, char **reterr_text);

/* From now on, allocations belong to the contexts BITS. */
void collector_set_context(struct collector *c, uint32_t bits);

/* Returns the clock of samples: "cycles" or "cpu-clock". */
const char *collector_sample_clock(const struct collector *c);

/*
 * Resumes work on CPUs that came back online. The thread that has called collector_attach() must
 * call this function periodically.
 */
void collector_check_cpus(struct collector *c);

/*
 * These functions reduce the recording, by detaching eBPF programs: no call stacks, no wakeups, or
 * nothing is recorded any more. Each function can take a while. After collector_pause(), no program
 * runs, as after collector_detach(), but the content of the rings stays.
 */
void collector_shed_stacks(struct collector *c);
void collector_shed_wakeups(struct collector *c);
void collector_pause(struct collector *c);

/*
 * These functions extend the recording again, in reverse order. Open intervals are discarded, and
 * records can have a beginning that was not observed. They return like collector_new().
 */
int collector_return_stacks(struct collector *c, char **reterr_text);
int collector_return_wakeups(struct collector *c, char **reterr_text);
int collector_resume(struct collector *c, char **reterr_text);

/*
 * Forgets the losses, after they have been reported. The draining thread calls this function during
 * a pause.
 */
void collector_forget_lost(struct collector *c);

/*
 * These functions make the eBPF programs send again what they have sent before: each stack, each
 * code object of Python, and the path of each cgroup.
 */
void collector_forget_stacks(struct collector *c);
void collector_forget_python(struct collector *c);
void collector_forget_cgroups(struct collector *c);

/* Detaches the eBPF programs. When this function returns, no eBPF program runs any more. */
void collector_detach(struct collector *c);

/* Passes every live task to FN, as struct rec_task. Returns 0 or a negative errno. */
int collector_list_tasks(struct collector *c, collector_record_fn fn, void *userdata);

/* Like collector_list_tasks(), but only for the task PID (see program_iterator_open_process()). */
int collector_list_process(struct collector *c, uint32_t pid, collector_record_fn fn,
			   void *userdata);

/*
 * Passes the paths of the cgroups of all live tasks to FN, as struct rec_cgroup, except those that
 * were passed or sent before. Only one thread may call this function. Returns 0 or a negative
 * errno.
 */
int collector_list_cgroups(struct collector *c, collector_record_fn fn, void *userdata);

/*
 * Passes the registers of process PID's threads to FN, as struct rec_registers. Not to be called
 * with MEMORY_REACH_NO. Returns 0 or a negative errno.
 */
int collector_list_registers(struct collector *c, uint32_t pid, collector_record_fn fn,
			     void *userdata);

/* The only descriptor that collector_list_registers() needs: of its program. */
int collector_registers_fd(const struct collector *c);

/* Finds the location of the kernel's text. Returns false if this location is hidden from this
 * process, or if only the processes of one user are recorded. */
bool collector_kernel_text(struct collector *c, struct kernel_text *ret);

/*
 * Returns the address of the kernel's function that wakes threads, at which stacks of wakers begin;
 * 0 = unknown, or not needed.
 */
uint64_t collector_wakes(const struct collector *c);

unsigned collector_n_cpus(const struct collector *c);

/*
 * The first function returns the word ring of CPU for CLASS, or NULL if that class has no ring. The
 * second one returns the size of such rings (a power of two).
 */
struct word_ring *collector_ring(struct collector *c, enum event_class class, unsigned cpu);
uint64_t collector_ring_bytes(const struct collector *c, enum event_class class);

/*
 * Passes to FN the records that all BPF ring buffers and the rings for mappings have now. Records
 * of one buffer are passed in order. If FN returns a positive number, the record stays in its
 * buffer, and all later records with it; this is not possible for a record of REC_RING_MAPPINGS.
 * Returns 0 or the negative result of FN that ended the call.
 */
int collector_drain_records(struct collector *c, collector_record_fn fn, void *userdata);

/* Returns the maximum number of bytes in the buffers that collector_drain_records() drains. */
uint64_t collector_records_bytes(const struct collector *c);

/* Returns the losses in CLASS on CPU that have no mark in its ring yet. */
struct collector_lost collector_pending_lost(struct collector *c, enum event_class class,
					     unsigned cpu);

/*
 * Returns how many times the kernel skipped a program of CLASS because it was already running on
 * that CPU: records are missing at unknown times. Skips for work items are not counted: each hook
 * has two programs, and each ignores the items of the other, so that skips have no effect.
 * CLASS_SCHED is not counted either. For CLASS_LIFECYCLE, only the ends that
 * collector_pids_have_ended() has found are counted.
 */
uint64_t collector_skipped(struct collector *c, enum event_class class);

/*
 * Returns the number of calls of function number FUNCTION that were left out because of its limit.
 */
uint64_t collector_left_out(struct collector *c, uint32_t function);

/* System calls are recorded only in 64-bit programs. Returns the number of calls with requested
 * names that were left out in 32-bit programs. */
uint64_t collector_foreign_calls(struct collector *c);

/*
 * Returns the counts that the eBPF programs keep of their own costs, one element for each CPU
 * (costs.h). The counts can change while the caller reads them.
 */
const struct cpu_costs *collector_costs(const struct collector *c);

/*
 * If CPU is in an idle state whose begin was observed, sets the two results and returns true. To be
 * called after detaching.
 */
bool collector_idle(struct collector *c, unsigned cpu, uint32_t *ret_state, uint64_t *ret_begin_ns);

/* Returns a descriptor that becomes readable when another quarter of a ring has been filled. */
int collector_doorbell_fd(const struct collector *c);
void collector_answer_doorbell(struct collector *c);

/*
 * After collector_attach(): returns false if all processes that the filter has selected by pid, and
 * their descendants, have ended. The eBPF programs count these processes, so a child counts even if
 * its parent has ended. In a pause, ends are not noticed until collector_resume().
 */
bool collector_pids_live(const struct collector *c);

/*
 * Returns true if the kernel has skipped the eBPF program that counts ends, because this program
 * was already running on the same CPU (one exit has preempted another). Then collector_pids_live()
 * can stay true forever.
 */
bool collector_skips_ends(const struct collector *c);

/*
 * For each process that the eBPF programs count as living, asks the kernel whether it has ended.
 * Returns true if all these processes have ended. Then the number of these processes is the result
 * of collector_skipped() for CLASS_LIFECYCLE. This does not wait, but takes some system calls for
 * each selected process. Not to be called in a pause.
 */
bool collector_pids_have_ended(struct collector *c);

/* Returns the number of records that were discarded because their size or kind was invalid. */
uint64_t collector_n_malformed(const struct collector *c);
