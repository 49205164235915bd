/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Identities: the tasks that a session knows, the koids that stand for them in its archive, and
 * whether the archive has it.
 *
 * Kernel records name threads by tid. The koid of a thread is its tid, unless the tid had another
 * owner within this archive; then koids of later owners differ (fxt-names.h), and the words that
 * the programs wrote are patched. Both hot questions, "which koid" and "is it announced", are a
 * look into an array.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/table.h"
#include "bpf/record.h"
#include "writer/event.h"
#include "writer/fxt/fxt-names.h"

/* A comm made valid UTF-8: each byte may become three. */
enum { TASK_COMM_MAX = 3 * REC_COMM_BYTES, TASK_COMMAND_MAX = REC_ARGS_BYTES };

struct task {
	uint32_t tid, pid; /* the kernel's; pid is 2 for kernel threads */
	uint32_t parent_pid;
	uint32_t uid;
	uint64_t start_ns;
	uint64_t cgroup_id;
	uint64_t cgroup_asked; /* that it was asked for by this task */
	char comm[TASK_COMM_MAX];
	char *command_line; /* owned; NULL = not known */
	bool command_old;   /* it may have run another program since */
	uint64_t died;    /* of one that has ended: which one it was, counted from 1; 0 = not yet */
	uint64_t gone_ns; /* it had ended by then, by what was seen, not reported; 0 = it had not */
};

/* So many of those that have ended are known on, where a recording is split. */
enum { TASKS_DEAD_MAX = 16384 };

/* One that may be forgotten. */
struct task_dead {
	uint32_t tid;
	uint64_t died;
};

struct tasks {
	struct table by_tid;  /* owns its struct task */
	uint64_t *announced;  /* a bit per tid */
	uint64_t *named;      /* a bit per tid: ever announced, by whatever owner */
	uint64_t *ended;      /* a bit per tgid: its process has ended */
	uint16_t *owner;      /* per tid: 0, or 2..1023; allocated when first needed */
	uint64_t n_merged;    /* owners that got no koid of their own any more */
	struct table cgroups; /* id -> path, owned */

	/*
	 * Where a recording is split: who has ended may still have to be named in the next chunk.
	 */
	bool splits;
	struct table dead; /* by tid; owns its struct task */
	struct task_dead
		*dead_order; /* a ring of TASKS_DEAD_MAX: the next one goes over the oldest */
	uint64_t n_dead, n_died;
};

enum { TASKS_TID_MAX = 1 << FXT_KOID_TID_BITS };

/* Paths of cgroups that are kept; beyond that those without a task are forgotten. */
enum { TASKS_CGROUPS_MAX = 32768 };

int tasks_init(struct tasks *t);

/*
 * The recording will be split. From now on who has ended is known on for a while (a main thread as
 * long as its process lives), and koids of a tid that have run out are given out again from the
 * first one on: their owners are in other chunks. Returns 0 or -ENOMEM.
 */
int tasks_will_split(struct tasks *t);

/*
 * A chunk begins: those that live stay announced, since its head names them, and others are to be
 * named again.
 */
int tasks_split(struct tasks *t);
void tasks_deinit(struct tasks *t);

/* The koid of the present owner of a tid. */
static inline uint32_t tasks_koid(const struct tasks *t, uint32_t tid)
{
	if (__builtin_expect(!t->owner, 1) || tid >= TASKS_TID_MAX)
		return tid;
	return (uint32_t)t->owner[tid] << FXT_KOID_TID_BITS | tid;
}

/* Whether the archive knows the present owner of a tid. True for what is no task (tid 0, and the
 * pseudo-threads). */
static inline bool tasks_announced(const struct tasks *t, uint32_t tid)
{
	if (tid == 0 || tid >= TASKS_TID_MAX)
		return true;
	return t->announced[tid / 64] >> (tid % 64) & 1;
}

void tasks_set_announced(struct tasks *t, uint32_t tid);

/* The task, or NULL if nothing is known about it. Borrowed until it is forgotten. */
struct task *tasks_get(const struct tasks *t, uint32_t tid);

/* The same, also if it has ended lately (tasks_will_split()). */
const struct task *tasks_find(const struct tasks *t, uint32_t tid);

/*
 * Takes in what a record says about a task. A new owner of the tid (another start time, or IS_NEW:
 * it was just forked) gets a koid of its own if the archive has seen the old one. Something that
 * changed makes it unannounced. Returns 0, or -ENOMEM.
 */
int tasks_update(struct tasks *t, const struct rec_identity *id, bool is_new);

/* Sets the command line: N bytes, arguments separated by NUL. Returns 1 if that is news, 0, or
 * -ENOMEM. A task of another start time (if START_NS is not 0) is left alone. */
int tasks_set_command(struct tasks *t, uint32_t tid, uint64_t start_ns, const char *args, size_t n);

/* Sets the name, to what the kernel has. Returns 1 if it is another than before. */
int tasks_set_comm(struct tasks *t, uint32_t tid, const char comm[static REC_COMM_BYTES]);

/*
 * The path of cgroup ID: what is written from now on of processes in it has it, and of those that
 * were announced without it, it is news. Returns 0 or -ENOMEM.
 */
int tasks_set_cgroup(struct tasks *t, uint64_t id, const char *path);

/*
 * Whether to ask where TASK is: it is a process, the path of its cgroup is unknown, and this
 * process was not asked yet. (Others in the same cgroup may have ended before they could be asked.)
 */
bool tasks_asks_cgroup(const struct tasks *t, const struct task *task);

/* The process PID has ended. Returns true, but only the first time that it is said. */
bool tasks_set_ended(struct tasks *t, uint32_t pid);

/* The task has ended: what is known of it goes, its koid stays until its tid is given out again. */
void tasks_forget(struct tasks *t, uint32_t tid);

/*
 * Those that had ended by AT_NS, as IS_GONE says, which was not reported; which is asked of all of
 * them; they may be missed once. *RET is the caller's. Returns how many, or -ENOMEM.
 */
ssize_t tasks_find_gone(struct tasks *t, uint64_t at_ns, bool (*is_gone)(uint32_t tid),
			uint32_t **ret);

/* Fills an EVENT_TASK about TASK; strings are borrowed from it. */
void tasks_describe(const struct tasks *t, const struct task *task, struct event *ret);
