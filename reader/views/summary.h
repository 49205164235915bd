/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a recording says in sum: how busy each CPU was, what each thread did with its time, which
 * processes there were, and what was lost. Computed from events in one pass, in file order.
 *
 * The recording lasts from its session_start to its session_stop; without them, from the first to
 * the last time seen. Per CPU, busy + other + idle is exactly that; what nobody knows (before a
 * CPU's first switch, while records were lost) counts as idle, as the archive has it. "Other" is
 * the pseudo-thread that stands for what a filter left out.
 *
 * A thread's time is running (cpu), runnable (woken or preempted, waiting for a CPU), or blocked.
 * Time before the first event that shows it, and time in which scheduling records were lost, is
 * none of them, so the three need not add up to the duration.
 *
 * Of what a damaged file has outside of the recording nothing counts as time.
 *
 * A recording that is still going on is summed up in parts, one after the other:
 * summary_end_part(), look, summary_begin_part().
 *
 * Events may be a little late in file order (docs/FXT-MAPPING.md, "Order of an archive"); then
 * intervals are cut to what does not contradict itself.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/table.h"
#include "reader/views/activity-sums.h"
#include "writer/event.h"

struct summary_cpu {
	bool seen;
	uint64_t busy_ns, idle_ns, other_ns; /* of threads, of none, of the pseudo-thread "other" */
	uint64_t switches;                   /* that happened; synthetic ones are none */
	/* while events come in */
	uint32_t tid; /* that runs; 0 = idle or not known */
	uint64_t since_ns;
};

enum summary_state {
	SUMMARY_UNKNOWN,
	SUMMARY_RUNNING,
	SUMMARY_RUNNABLE,
	SUMMARY_BLOCKED,
	SUMMARY_DEAD,
};

struct summary_thread {
	uint32_t tid, pid; /* pid 0 = not known */
	char *name;        /* owned; NULL = not known */
	uint64_t cpu_ns, runnable_ns, blocked_ns;
	uint64_t switches;  /* times it got a CPU, by switches that happened */
	uint64_t preempted; /* times it lost the CPU while it could have run on */
	uint64_t wakeups;
	uint64_t max_wakeup_latency_ns; /* from wakeup to running */
	uint64_t samples;               /* of what it did on CPUs */
	/* while events come in */
	enum summary_state state;
	uint32_t cpu; /* where it runs */
	uint64_t since_ns;
	uint64_t woken_ns; /* of the wakeup that its next switch-in answers; 0 = none */
	uint64_t epoch;    /* n_gaps when state and since_ns were set */
	bool exited;
};

struct summary_process {
	uint32_t pid, parent_pid, uid;
	char *name;         /* owned; NULL = not known */
	char *command_line; /* owned; NULL = not known */
	char *cgroup_path;  /* of where it was last; likewise */
	uint64_t cgroup_id; /* 0 = not known */
	uint64_t start_ns;  /* 0 = not known */
	uint64_t exit_ns;
	int32_t exit_code, signal;
	bool described; /* uid and parent are known */
	bool exited;
};

struct summary_mark {
	uint64_t ts_ns;
	char *text; /* owned */
};

struct summary_shed {
	uint64_t ts_ns, cost_ppm, limit_ppm; /* of one CPU */
	uint64_t until_ns;                   /* when it was back; 0 = not */
	uint32_t n_cpus;                     /* the limit is a share of so many; 0 = of one */
	char *what;                          /* owned */
};

/* Sheddings that are told apart: more than one recording can do, since archives may be joined. */
enum { SUMMARY_SHEDS_MAX = 16 };

struct summary_trigger {
	char *what; /* owned */
	uint64_t count;
	uint64_t worst, worst_ns; /* the greatest value, and when */
};

/* Kinds of triggers that are told apart; more are added to the last one. */
enum { SUMMARY_TRIGGERS_MAX = 16 };

/* More marks than this are counted and not kept. */
#define SUMMARY_MARKS_MAX 65536

/* Classes of loss that are told apart; more are added to the last one. */
enum { SUMMARY_LOST_MAX = 16 };

struct summary {
	uint64_t start_ns, end_ns, duration_ns; /* duration: of the part */
	uint64_t part_ns;                       /* the part began; 0 = with the recording */
	bool started, stopped;                  /* session_start and session_stop were seen */
	uint64_t dismissed; /* wakeups of threads that were awake, which were not written */
	uint64_t walks[WALK_ENDS_MAX]; /* of stacks of programs, by how they have ended */
	struct stack_tables tables;    /* of all sessions and chunks; bytes: of the one with most */
	uint64_t unreported;           /* switches that the kernel made and did not report */
	/* Places of the archive that could not be read, before it was repaired */
	uint64_t n_damages;
	uint64_t damaged_bytes;
	bool filtered;
	struct {
		char *session, *command, *options, *kernel, *machine, *host, *version;
		uint32_t n_cpus;
		uint32_t chunk; /* of a recording that is split: which one this is; else 0 */
	} recording;            /* owned, NULL without session_start */
	uint64_t switches, wakeups, migrations, forks, execs, exits;
	/* Times that a thread other than idle got a CPU, synthetic ones too */
	uint64_t sched_slices;
	struct {
		char *class_name; /* owned */
		uint64_t count;
	} lost[SUMMARY_LOST_MAX];
	size_t n_lost;
	struct summary_cpu *cpus; /* owned; by number; look at .seen */
	size_t n_cpus;
	struct table threads;       /* tid -> struct summary_thread, owned */
	struct table processes;     /* pid + 1 -> struct summary_process, owned */
	struct summary_mark *marks; /* owned */
	size_t n_marks, room_marks;
	uint64_t n_marks_dropped;
	struct summary_shed sheds[SUMMARY_SHEDS_MAX];
	size_t n_sheds;
	struct summary_trigger triggers[SUMMARY_TRIGGERS_MAX];
	size_t n_triggers;
	uint64_t daemon_cpu_ns, bpf_cpu_ns; /* as session_stop says */
	uint64_t dropped_bytes;             /* likewise: a flight recorder had no room for them */
	struct activity_sums activity;

	uint64_t n_gaps;     /* losses of scheduling records so far */
	bool any_stop;       /* a session_stop was seen */
	unsigned n_sessions; /* that have begun and not stopped */
	bool timed;          /* start_ns and end_ns hold something */
};

int summary_new(struct summary **ret);
struct summary *summary_free(struct summary *s);
DEFINE_CLEANUP(struct summary *, summary_free)

/* Takes one event in. Returns 0 or -ENOMEM. */
int summary_add(struct summary *s, const struct event *ev);

/*
 * For who wants more than the greatest wakeup latency: whether EV, a switch that is not taken in
 * yet, answers a wakeup; *RET_NS is the time since then.
 */
bool summary_wakeup_latency(const struct summary *s, const struct event *ev, uint64_t *ret_ns);

/* Closes what is open at the end of the recording. Once, after the last event. */
void summary_finish(struct summary *s);

/*
 * Sums up to END_NS, which is not before the beginning of the part. Nothing is taken in until the
 * next part begins.
 */
void summary_end_part(struct summary *s, uint64_t end_ns);

/*
 * Begins a part at START_NS, where the one before has ended: all counts and times are 0 again, what
 * holds (who runs where, who is who) is kept. What has ended before is forgotten; and, if there
 * would be more than THREADS_MAX threads, all that did nothing in the part before: ends may be
 * lost, too. Returns 0 or -ENOMEM.
 */
int summary_begin_part(struct summary *s, uint64_t start_ns, size_t threads_max);

/* All events that were lost. */
uint64_t summary_lost(const struct summary *s);

/*
 * The threads, most CPU time first, or the processes, by pid, into a new array (free() it).
 * Returns 0 or -ENOMEM.
 */
int summary_threads_by_cpu(const struct summary *s, struct summary_thread ***ret, size_t *ret_n);
int summary_processes_by_pid(const struct summary *s, struct summary_process ***ret, size_t *ret_n);

/* What the process of T is called, or NULL. */
const char *summary_process_name(const struct summary *s, const struct summary_thread *t);
