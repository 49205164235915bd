/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sums of a summary (summary.h), and the last known state of each CPU and thread. A "part" is
 * the time since summary_begin_part(), or since the begin of the recording.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "model/event.h"
#include "reader/views/activity-sums.h"
#include "reader/views/programs.h"
#include "reader/views/summary-sessions.h"
#include "reader/views/thread-states.h"

struct summary_cpu {
	bool seen;
	uint64_t busy_ns;  /* time in which a known thread was running */
	uint64_t idle_ns;  /* time in which no thread ran, or the running thread is unknown */
	uint64_t other_ns; /* time in which "other" ran: a thread that is not selected */
	uint64_t switches; /* number of switches, without synthetic ones */
	/* state that is used while events are read: */
	uint32_t tid; /* the running thread; 0 = idle or unknown */
	uint64_t since_ns;
};

struct summary_thread {
	uint32_t tid, pid; /* pid 0 = unknown */
	char *name;        /* owned; NULL = unknown */
	uint64_t cpu_ns, runnable_ns, blocked_ns;
	uint64_t after_wakeup_ns; /* part of runnable_ns: between a wakeup and the next run */
	/*
	 * Part of cpu_ns: the time from the wakeup of another thread until that thread preempted
	 * this one
	 */
	uint64_t until_preempted_ns;
	uint64_t switches;  /* number of switches to this thread, without synthetic ones */
	uint64_t preempted; /* number of switches away from it while it could go on */
	uint64_t wakeups;
	uint64_t max_wakeup_latency_ns; /* maximum duration from a wakeup to running */
	uint64_t samples;               /* number of on-CPU samples */
	uint32_t program; /* number of its last program within its process (programs.h) */
	/*
	 * The parts of the sums above that belong to earlier programs, the last one first; owned.
	 * These structs have no name.
	 */
	struct summary_thread *earlier;
	/* Sum of all earlier programs; owned; NULL = no earlier programs. */
	struct summary_thread *before;
	uint64_t until_ns;           /* end of the program; only in `earlier` */
	uint64_t program_latency_ns; /* max_wakeup_latency_ns of its last program */
	bool exited;
};

struct summary_process {
	uint32_t pid, parent_pid, uid;
	char *name;         /* owned; NULL = unknown */
	char *command_line; /* owned; NULL = unknown */
	char *cgroup_path;  /* path of its last cgroup; owned; NULL = unknown */
	uint64_t cgroup_id; /* 0 = unknown */
	uint64_t start_ns;  /* 0 = unknown */
	uint64_t exit_ns;
	int32_t exit_code, signal;
	bool described; /* uid and parent of the process are known */
	bool exited;
};

struct summary_mark {
	uint64_t ts_ns;
	char *text; /* owned */
};

struct summary_shed {
	/* ts_ns is the begin of the shed; cost and limit are in millionths of a CPU. */
	uint64_t ts_ns, cost_ppm, limit_ppm;
	uint64_t until_ns; /* end of the shed; 0 = not ended */
	uint32_t n_cpus;   /* the limit is a share of these CPUs; 0 = of one CPU */
	char *what;        /* owned */
	char *session;     /* owned; NULL = unknown */
};

/* The maximum number of sheds. One recording has fewer, but merged archives can have more. */
enum { SUMMARY_SHEDS_MAX = 16 };

struct summary_trigger {
	char *what; /* owned */
	uint64_t count;
	uint64_t worst, worst_ns; /* greatest value, and its time */
};

/* The maximum number of kinds of triggers; triggers of further kinds count as the last one. */
enum { SUMMARY_TRIGGERS_MAX = 16 };

/* The maximum number of marks (texts that users put into the recording); further marks are only
 * counted. */
#define SUMMARY_MARKS_MAX 65536

/* The maximum number of classes of loss; losses of further classes count as the last one. */
enum { SUMMARY_LOST_MAX = 16 };

/* The maximum number of unknown versions of Python, and the bytes for the text of each. */
enum { SUMMARY_PYTHONS_MAX = 8, SUMMARY_PYTHON_TEXT = 48 };

/* The maximum number of views that listen to the segments. */
enum { SUMMARY_LISTENERS_MAX = 3 };

struct summary {
	uint64_t start_ns, end_ns, duration_ns; /* duration_ns is the length of the part */
	uint64_t recorded_ns;                   /* duration_ns without its pauses */
	uint64_t part_ns;      /* begin of the part; 0 = the begin of the recording */
	bool started, stopped; /* session_start and session_stop were seen */
	bool cut_off;          /* an earlier session had no session_stop when the next one began */
	/* Number of wakeups that were not recorded, since the thread was awake. */
	uint64_t dismissed;
	uint64_t walks[WALK_ENDS_MAX]; /* numbers of stack walks, by the reason for their end */
	struct stack_tables tables; /* sums over all sessions and chunks; of `bytes`, the maximum */
	uint64_t python[PYTHON_STACKS_MAX];
	/* versions of Python whose functions are unknown */
	char unknown_pythons[SUMMARY_PYTHONS_MAX][SUMMARY_PYTHON_TEXT];
	unsigned n_unknown_pythons;
	uint64_t unreported; /* number of switches that the kernel did not report to kymo */
	/* Number of unreadable places that the archive had before its repair */
	uint64_t n_damages;
	uint64_t damaged_bytes;
	bool filtered;
	struct {
		char *session, *command, *options, *kernel, *machine, *host, *version;
		uint32_t n_cpus;
		uint32_t chunk; /* number of this chunk; 0 = the recording is not split */
	} recording;            /* owned, NULL without session_start */
	uint64_t switches, wakeups, migrations, forks, execs, exits;
	/* Number of switches to a thread other than idle, including synthetic ones */
	uint64_t sched_slices;
	struct {
		char *class_name; /* owned */
		uint64_t count;
	} lost[SUMMARY_LOST_MAX];
	size_t n_lost;
	/* Owned; indexed by the number of the CPU; only elements with `seen` are valid. */
	struct summary_cpu *cpus;
	size_t n_cpus;
	struct programs programs;   /* the programs of the processes */
	struct table threads;       /* tid -> struct summary_thread, owned */
	struct table processes;     /* pid + 1 -> struct summary_process, owned */
	struct summary_mark *marks; /* owned */
	size_t n_marks, room_marks;
	uint64_t n_marks_dropped;
	struct summary_shed sheds[SUMMARY_SHEDS_MAX];
	size_t n_sheds;
	struct summary_trigger triggers[SUMMARY_TRIGGERS_MAX];
	size_t n_triggers;
	uint64_t daemon_cpu_ns, bpf_cpu_ns; /* CPU times in session_stop */
	/* From session_stop: number of bytes for which the flight recorder had no room */
	uint64_t dropped_bytes;
	struct activity_sums activity;

	struct thread_states *states; /* owned */
	struct {
		thread_states_fn fn;
		void *userdata;
	} listeners[SUMMARY_LISTENERS_MAX]; /* receive the segments, too */
	size_t n_listeners;
	bool paused; /* nothing is recorded from paused_at_ns on */
	uint64_t paused_at_ns;
	uint64_t paused_ns; /* duration of ended pauses within the part */
	bool any_stop;      /* a session_stop was seen */
	bool many_sessions; /* there are sessions with different names */
	struct summary_sessions sessions;
	bool timed; /* start_ns and end_ns are set */
};

/* Finds or adds thread TID (not 0). Returns NULL if there is no memory. */
struct summary_thread *summary_thread(struct summary *s, uint32_t tid);

/*
 * Returns the time from FROM to TO that is inside the recording, and before a pause that has not
 * ended. (Only damaged files have times outside of the recording.)
 */
uint64_t summary_recorded(const struct summary *s, uint64_t from, uint64_t to);

/* Like summary_recorded(), but returns only the time that is inside the current part. */
uint64_t summary_counted(const struct summary *s, uint64_t from, uint64_t to);

/* Returns true if the archive has the begin of a session, and no session was cut off before its
 * end. */
bool summary_is_complete(const struct summary *s);

/* Returns the number of lost events. */
uint64_t summary_lost(const struct summary *s);

/*
 * Stores the threads, the largest CPU time first, in a new array, which the caller frees. Returns 0
 * or -ENOMEM.
 */
int summary_threads_by_cpu(const struct summary *s, struct summary_thread ***ret, size_t *ret_n);

/* Stores the processes, by pid, like summary_threads_by_cpu(). */
int summary_processes_by_pid(const struct summary *s, struct summary_process ***ret, size_t *ret_n);
