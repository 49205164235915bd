/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Identities: the tasks that a session knows, their koids in its archive, and whether the archive
 * has them.
 *
 * Kernel records name threads by tid. The koid of a thread is its tid, unless the tid had another
 * owner within this archive. The koids of later owners differ (fxt-names.h), and the ids in the
 * words from the eBPF programs are changed. The two frequent queries, for the koid and for
 * "announced", only read an array.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/table.h"
#include "bpf/record.h"
#include "model/event.h"
#include "writer/fxt/fxt-names.h"

/* The size of a comm that was made valid UTF-8: each byte may become three. */
enum {
	TASK_COMM_MAX = 3 * REC_COMM_BYTES,
	TASK_COMMAND_MAX = REC_ARGS_BYTES, /* with the NUL, and TEXT_CUT_MARK if it is cut */
	TASK_CGROUP_MAX = 3 * CGROUP_PATH_BYTES + 8,
};

struct task {
	uint32_t tid, pid; /* ids that the kernel uses; `pid` is 2 for kernel threads */
	uint32_t parent_pid;
	uint32_t uid;
	uint64_t start_ns;
	uint64_t cgroup_id;
	char comm[TASK_COMM_MAX];
	/*
	 * If the kernel's name is that of a dynamic loader: the name of the program that the loader
	 * runs. "" = unknown.
	 */
	char loaded[REC_COMM_BYTES];
	char *given_name;   /* that its program has given to the thread; owned; NULL = none */
	bool is_loader;     /* the kernel's name of the task is the name of a loader */
	char *command_line; /* owned; NULL = unknown */
	bool command_old;   /* the task may have run another program since the command line was
			     * read */
	uint64_t died;      /* the number of this task among the ended tasks, from 1; 0 = alive */
	/* The time when its end was observed, without a report; 0 = not observed. */
	uint64_t gone_ns;
};

/* The number of ended tasks that are kept, if a recording is split. */
enum { TASKS_DEAD_MAX = 16384 };

/* The number of changes of owner that are kept for late records. */
enum { TASKS_CHANGES_MAX = 16384 };

/* The number of ended tids whose start times are kept. If there are more, all are discarded. */
enum { TASKS_STARTS_MAX = 65536 };

/* A tid has got another owner, with another koid. */
struct task_change {
	uint64_t start_ns; /* start of the new owner */
	uint32_t tid, koid_before;
};

/* A task that can be discarded. */
struct task_dead {
	uint32_t tid;
	uint64_t died;
};

struct tasks {
	struct table by_tid;         /* tid -> struct task, owned */
	uint64_t *announced;         /* a bit for each tid: the archive has its current owner */
	uint64_t *named;             /* a bit for each tid: the archive has an owner of it */
	uint64_t *ended;             /* a bit for each tgid: its process has ended */
	uint16_t *owner;             /* for each tid: 0, or 2..1023; allocated when first needed */
	struct table last_starts;    /* ended tid -> start time + 1; at most TASKS_STARTS_MAX */
	uint64_t n_merged;           /* number of owners that have no koid of their own */
	struct task_change *changes; /* a ring of TASKS_CHANGES_MAX; allocated when first needed */
	uint64_t n_changes;
	struct table cgroups;         /* id -> path, owned */
	struct table cgroups_aside;   /* id -> path, owned; discarded the next time */
	struct table cgroups_missing; /* ids of cgroups that have tasks, and whose paths have not
				       * arrived yet */
	bool cgroups_forgotten;       /* paths were set aside since the last check by the owner */
	/* Unknown tids with a query of lifecycle, open or in the future -> pid + 1, and a flag of
	 * lifecycle */
	struct table asked;

	/* If a recording is split: ended tasks whose names the next chunk may need. */
	bool splits;
	struct table dead; /* tid -> struct task, owned */
	struct task_dead
		*dead_order; /* a ring of TASKS_DEAD_MAX: the next ended task replaces the oldest */
	uint64_t n_dead, n_died;
};

enum { TASKS_TID_MAX = 1 << FXT_KOID_TID_BITS };

/*
 * The number of paths of cgroups that are kept. If there are more, paths without a task are set
 * aside, and discarded the next time.
 */
enum { TASKS_CGROUPS_MAX = 16384 };

int tasks_init(struct tasks *t);

/*
 * Called if the recording will be split. From now on, ended tasks are kept for a while (a main
 * thread as long as its process lives). If all koids of a tid have been used, they are reused from
 * the first one on: the earlier owners of these koids are in other chunks. Returns 0 or -ENOMEM.
 */
int tasks_will_split(struct tasks *t);

/*
 * Called when a chunk begins. Live tasks stay announced, since the head of the chunk has their
 * names. Other tasks must be announced again.
 */
int tasks_split(struct tasks *t);
void tasks_deinit(struct tasks *t);

/* Returns the koid of the current owner of a tid. */
static inline uint32_t tasks_koid(const struct tasks *t, uint32_t tid)
{
	if (__builtin_expect(!t->owner, 1) || tid >= TASKS_TID_MAX)
		return tid;
	return (uint32_t)t->owner[tid] << FXT_KOID_TID_BITS | tid;
}

/*
 * Returns the koid of the owner that a tid had at TS_NS. (When the worker reports a process, the
 * process can have ended, and its id can belong to another process.)
 */
uint32_t tasks_koid_at(const struct tasks *t, uint32_t tid, uint64_t ts_ns);

/*
 * Returns true if the archive knows the current owner of a tid. True for ids that are not tasks
 * (tid 0, and the pseudo-threads).
 */
static inline bool tasks_announced(const struct tasks *t, uint32_t tid)
{
	if (tid == 0 || tid >= TASKS_TID_MAX)
		return true;
	return t->announced[tid / 64] >> (tid % 64) & 1;
}

void tasks_set_announced(struct tasks *t, uint32_t tid);

/* Returns the entry of TID in `asked`; 0 = no entry. */
static inline uint64_t tasks_asked(const struct tasks *t, uint32_t tid)
{
	return t->asked.n_used > 0 ? (uintptr_t)table_get(&t->asked, tid) : 0;
}

/* Sets the entry of TID in `asked`. Returns 0 or -ENOMEM. */
int tasks_set_asked(struct tasks *t, uint32_t tid, uint64_t asked);

/* A flag in `asked`, in addition to the pid: there was no room for the query, so it is repeated. */
#define TASKS_ASKED_WITHOUT_RESULT (UINT64_C(1) << 40)

/*
 * Notes that TID is a thread of process PID, as a record shows. This is needed if a query about TID
 * gets no answer. Returns 0 or -ENOMEM.
 */
static inline int tasks_belongs(struct tasks *t, uint32_t tid, uint32_t pid)
{
	uint64_t asked = tasks_asked(t, tid);

	if (__builtin_expect(!asked, 1))
		return 0;
	return tasks_set_asked(t, tid, (asked & TASKS_ASKED_WITHOUT_RESULT) | (pid + UINT64_C(1)));
}

/* Returns the task, or NULL if it is unknown. Borrowed until the task is discarded. */
struct task *tasks_get(const struct tasks *t, uint32_t tid);

/* Like tasks_get(), but also returns recently ended tasks (tasks_will_split()). */
const struct task *tasks_find(const struct tasks *t, uint32_t tid);

/*
 * Takes the data about a task from a record. A new owner of the tid (with another start time, or
 * just forked: IS_NEW) gets a new koid if the archive has the old owner. The fork of a task that is
 * selected later, for example by its name, is not recorded. So an unknown task is a new owner, too,
 * if an ended owner, which the archive has, had another start time, and no query is open. If the
 * data changes, the task must be announced again. Returns 0, or -ENOMEM.
 */
int tasks_update(struct tasks *t, const struct rec_identity *id, bool is_new);

/*
 * Sets the command line: N bytes, arguments separated by NUL. IS_CUT: true = the process has more
 * arguments. A task with the name of the dynamic loader gets the name of the program in its command
 * line. Returns 1 if the command line is new, otherwise 0, or -ENOMEM. A task with another start
 * time (if START_NS is not 0) is unchanged.
 */
int tasks_set_command(struct tasks *t, uint32_t tid, uint64_t start_ns, const char *args, size_t n,
		      bool is_cut);

/*
 * Sets COMM, the name that the kernel has for TID. The name of a dynamic loader is replaced by the
 * name of its program, if that name is known. Returns 1 if the name has changed, otherwise 0.
 */
int tasks_set_comm(struct tasks *t, uint32_t tid, const char comm[static REC_COMM_BYTES]);

/*
 * Notes the name of N bytes that the program itself has given to the thread KOID. From now on, the
 * archive has this name whenever the thread is announced again. Without such a task, nothing is
 * noted. Returns 0 or -ENOMEM.
 */
int tasks_give_name(struct tasks *t, uint32_t koid, const char *name, size_t n);

/* Called when the thread TID executes a new program, and has the kernel's name again. */
void tasks_drop_name(struct tasks *t, uint32_t tid);

/*
 * Sets the path of a cgroup. Later output about its processes includes the path. Processes that
 * were announced without the path must be announced again. Returns 0 or -ENOMEM.
 */
int tasks_set_cgroup(struct tasks *t, const struct rec_cgroup *rec);

/*
 * Returns the path of cgroup ID, or NULL if it is not known. The path is valid until the next
 * tasks_set_cgroup().
 */
const char *tasks_cgroup_path(const struct tasks *t, uint64_t id);

/* Notes that process PID has ended. Returns true only at the first call. */
bool tasks_set_ended(struct tasks *t, uint32_t pid);

/*
 * Called when the task has ended. Its data is discarded, and its koid stays until its tid is
 * reused.
 */
void tasks_forget(struct tasks *t, uint32_t tid);

/*
 * Finds the tasks that ended by AT_NS without a report. Calls IS_GONE for all tasks. A task that
 * has just ended may be found only at the next call. The caller owns *RET. Returns the number of
 * tasks found, or -ENOMEM.
 */
ssize_t tasks_find_gone(struct tasks *t, uint64_t at_ns, bool (*is_gone)(uint32_t tid),
			uint32_t **ret);

/* Fills in an EVENT_TASK about TASK, whose strings are borrowed. */
void tasks_describe(const struct tasks *t, const struct task *task, struct event *ret);
