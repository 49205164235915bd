/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/stages/lifecycle.h"

#include <string.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "capture/proc/loader-name.h"

static uint32_t lifecycle_queried_pid(uint64_t asked)
{
	return (uint32_t)((asked & ~TASKS_ASKED_WITHOUT_RESULT) - 1);
}

/*
 * Asks for the identity of TID. If the query is possible, TID counts as announced, since the answer
 * will come.
 */
static int lifecycle_query(struct lifecycle *l, uint32_t tid)
{
	uint64_t asked = tasks_asked(l->pipe->tasks, tid);

	if (asked == 0 || asked & TASKS_ASKED_WITHOUT_RESULT) {
		bool has_room = l->pipe->owner.ask(tid, l->pipe->owner.userdata);
		int r;

		asked = (asked ?: tid + UINT64_C(1)) & ~TASKS_ASKED_WITHOUT_RESULT;
		r = tasks_set_asked(l->pipe->tasks, tid,
				    has_room ? asked : asked | TASKS_ASKED_WITHOUT_RESULT);
		if (r < 0 || !has_room)
			return r;
	}
	tasks_set_announced(l->pipe->tasks, tid);
	return 0;
}

int lifecycle_announce(struct lifecycle *l, uint32_t tid)
{
	const struct task *task = tasks_find(l->pipe->tasks, tid);
	struct event ev;
	int r = 0;

	if (!task)
		return lifecycle_query(l, tid);
	tasks_set_announced(l->pipe->tasks, tid);
	if (!tasks_announced(l->pipe->tasks, task->pid))
		r = lifecycle_announce(l, task->pid);
	if (r < 0)
		return r;
	tasks_describe(l->pipe->tasks, task, &ev);
	return fxt_archive_event(l->pipe->archive, &ev);
}

static int lifecycle_announce_if_new(struct lifecycle *l, uint32_t tid)
{
	return tasks_announced(l->pipe->tasks, tid) ? 0 : lifecycle_announce(l, tid);
}

int lifecycle_learned(struct lifecycle *l, const struct rec_identity *id, bool wanted)
{
	int r = tasks_update(l->pipe->tasks, id, false);

	return r < 0 || !wanted ? r : lifecycle_announce_if_new(l, id->tid);
}

int lifecycle_answered(struct lifecycle *l, const struct rec_identity *id, bool wanted)
{
	uint64_t asked = tasks_asked(l->pipe->tasks, id->tid);
	struct rec_identity task = *id;
	int r = 0;

	if (!tasks_get(l->pipe->tasks, id->tid)) {
		/* If a thread was reported and has ended, an unknown identity adds nothing. */
		if (!asked && id->start_ns == 0)
			return 0;
		/*
		 * The thread has ended, so only earlier records say which process it belonged to.
		 */
		if (asked && id->uid == EVENT_UID_UNKNOWN)
			task.pid = lifecycle_queried_pid(asked);
		r = lifecycle_learned(l, &task, wanted);
	} else if (asked && wanted) {
		r = lifecycle_announce_if_new(l, id->tid);
	}
	/*
	 * If the answer cannot be written now, the query stays open, and the answer is written at
	 * the end.
	 */
	if (wanted)
		table_remove(&l->pipe->tasks->asked, id->tid);
	return r;
}

/* Returns an event about the task of REC. */
static struct event lifecycle_about(const struct lifecycle *l, enum event_kind kind,
				    const struct rec_head *rec)
{
	return (struct event){
		.kind = kind,
		.ts_ns = rec->ts_ns,
		.pid = tasks_koid(l->pipe->tasks, rec->pid),
		.tid = tasks_koid(l->pipe->tasks, rec->tid),
		.cpu = rec->cpu,
	};
}

/* If the time of EV is in the recording, writes the identity of the task of REC, then EV. */
static int lifecycle_write_event(struct lifecycle *l, const struct event *ev,
				 const struct rec_head *rec)
{
	int r;

	if (ev->ts_ns <= l->pipe->from_ns || ev->ts_ns > l->pipe->to_ns)
		return 0;
	r = lifecycle_announce_if_new(l, rec->tid)
		    ?: tasks_belongs(l->pipe->tasks, rec->tid, rec->pid);
	if (r < 0)
		return r;
	l->n_events++;
	return fxt_archive_event(l->pipe->archive, ev);
}

int lifecycle_write_unknown(const struct lifecycle *l, struct fxt_archive *to, uint32_t tid,
			    uint32_t pid)
{
	const struct task unknown = {
		.tid = tid,
		.pid = pid,
		.uid = EVENT_UID_UNKNOWN,
		.comm = "?",
	};
	struct event ev;

	tasks_describe(l->pipe->tasks, &unknown, &ev);
	return fxt_archive_event(to, &ev);
}

/* Writes TID, which was queried, unless the archive has it. */
static int lifecycle_write_if_new(const struct lifecycle *l, struct fxt_archive *to, uint32_t tid,
				  uint32_t pid)
{
	const struct task *task = tasks_find(l->pipe->tasks, tid);
	struct event ev;

	if (!task)
		return lifecycle_write_unknown(l, to, tid, pid);
	if (tasks_announced(l->pipe->tasks, tid))
		return 0;
	tasks_describe(l->pipe->tasks, task, &ev);
	return fxt_archive_event(to, &ev);
}

/* Writes process PID, and TID as an unknown thread of PID. */
static int lifecycle_name_unknown(struct lifecycle *l, uint32_t tid, uint32_t pid)
{
	int r = pid == tid ? 0 : lifecycle_write_if_new(l, l->pipe->archive, pid, pid);

	/* TID counts as announced, so that it keeps its koid. */
	tasks_set_announced(l->pipe->tasks, tid);
	return r ?: lifecycle_write_unknown(l, l->pipe->archive, tid, pid);
}

/*
 * Called when a record contains the identity of a task, so that an open query about the task is
 * obsolete. (The task may end before the answer comes.) If the query was about an earlier owner of
 * the tid, this owner is written now as unknown: its koid is in the archive, and no other task gets
 * that koid.
 */
static int lifecycle_update_task(struct lifecycle *l, const struct rec_identity *id, bool is_new)
{
	uint64_t asked = tasks_asked(l->pipe->tasks, id->tid);
	int r = 0;

	if (asked && tasks_get(l->pipe->tasks, id->tid))
		r = lifecycle_announce_if_new(l, id->tid);
	else if (asked && is_new)
		r = lifecycle_name_unknown(l, id->tid, lifecycle_queried_pid(asked));
	r = r ?: tasks_update(l->pipe->tasks, id, is_new);
	if (asked)
		table_remove(&l->pipe->tasks->asked, id->tid);
	return r;
}

static int lifecycle_on_fork(struct lifecycle *l, const struct rec_head *head)
{
	const struct rec_fork *rec = (const struct rec_fork *)head;
	struct event ev;
	int r = lifecycle_update_task(l, &rec->child, true);

	if (r < 0)
		return r;
	ev = lifecycle_about(l, EVENT_FORK, head);
	ev.fork.child_pid = tasks_koid(l->pipe->tasks, rec->child.pid);
	ev.fork.child_tid = tasks_koid(l->pipe->tasks, rec->child.tid);
	r = lifecycle_announce_if_new(l, rec->child.tid);
	return r < 0 ? r : lifecycle_write_event(l, &ev, head);
}

/*
 * Writes the rename of a program that the dynamic loader runs: REC is its exec, and FROM is its
 * previous name. The new name comes from the command line. The kernel's rename was not written
 * (lifecycle_on_rename()).
 */
static int lifecycle_name_loaded(struct lifecycle *l, const struct rec_head *rec, const char *from)
{
	const struct task *task = tasks_get(l->pipe->tasks, rec->tid);
	struct event ev = lifecycle_about(l, EVENT_RENAME, rec);

	if (!task || !task->is_loader || !*from || strcmp(task->comm, from) == 0)
		return 0;
	ev.rename.from = from;
	ev.rename.to = task->comm;
	return lifecycle_write_event(l, &ev, rec);
}

static int lifecycle_on_exec(struct lifecycle *l, const struct rec_head *head)
{
	const struct rec_exec *rec = (const struct rec_exec *)head;
	const struct task *before = tasks_get(l->pipe->tasks, head->tid);
	char file[REC_FILE_BYTES], command[TASK_COMMAND_MAX], from[TASK_COMM_MAX] = "";
	struct event ev;
	int r;

	if (before && before->start_ns == rec->task.start_ns)
		memcpy(from, before->comm, sizeof(from));
	text_clean(file, sizeof(file), rec->file, strlen(rec->file));
	text_join_args(command, sizeof(command), rec->args, rec->args_bytes, rec->args_cut);
	tasks_drop_name(l->pipe->tasks, head->tid);
	r = lifecycle_update_task(l, &rec->task, false);
	ev = lifecycle_about(l, EVENT_EXEC, head);
	ev.exec.file = file;
	ev.exec.command_line = command;
	if (rec->old_tid != head->tid) {
		/*
		 * The thread is now the main thread of its process, and its former id no longer
		 * exists.
		 */
		ev.exec.old_tid = tasks_koid(l->pipe->tasks, rec->old_tid);
		tasks_forget(l->pipe->tasks, rec->old_tid);
	}
	r = r
		    ?: tasks_set_command(l->pipe->tasks, head->tid, 0, rec->args, rec->args_bytes,
					 rec->args_cut);
	if (r >= 0)
		r = lifecycle_announce_if_new(l, head->tid) ?: lifecycle_name_loaded(l, head, from);
	return r < 0 ? r : lifecycle_write_event(l, &ev, head);
}

static int lifecycle_on_exit(struct lifecycle *l, const struct rec_head *head)
{
	const struct rec_exit *rec = (const struct rec_exit *)head;
	struct event ev;
	int r = lifecycle_update_task(l, &rec->task, false)
			?: lifecycle_announce_if_new(l, head->tid);

	if (r < 0)
		return r;
	ev = lifecycle_about(l, EVENT_EXIT, head);
	ev.exit.code = WEXITSTATUS(rec->exit_code);
	ev.exit.signal = WTERMSIG(rec->exit_code);
	/*
	 * If several threads end together, each of them can see that no thread is left, so each of
	 * their records can have this flag. Only the first of these records counts.
	 */
	ev.exit.process_ends = rec->process_ends == 1 && !(rec->task.flags & IDENTITY_KTHREAD) &&
			       tasks_set_ended(l->pipe->tasks, head->pid);
	r = lifecycle_write_event(l, &ev, head);
	tasks_forget(l->pipe->tasks, head->tid);
	return r;
}

static int lifecycle_on_rename(struct lifecycle *l, const struct rec_head *head)
{
	const struct rec_rename *rec = (const struct rec_rename *)head;
	char from[TASK_COMM_MAX], to[TASK_COMM_MAX];
	const struct task *task;
	struct event ev;
	int r = lifecycle_update_task(l, &rec->task, false);

	if (r < 0)
		return r;
	ev = lifecycle_about(l, EVENT_RENAME, head);
	/* An exec follows, which names the program that the loader runs. */
	if (loader_name_is(rec->comm))
		return 0;
	task = tasks_get(l->pipe->tasks, head->tid);
	if (task)
		memcpy(from, task->comm, sizeof(from));
	else
		text_clean(from, sizeof(from), rec->task.comm, strlen(rec->task.comm));
	text_clean(to, sizeof(to), rec->comm, strlen(rec->comm));
	ev.rename.from = from;
	ev.rename.to = to;
	tasks_set_comm(l->pipe->tasks, head->tid, rec->comm);
	r = lifecycle_announce_if_new(l, head->tid);
	if (r < 0 || strcmp(from, to) == 0)
		return r;
	return lifecycle_write_event(l, &ev, head);
}

static int lifecycle_on_lost(struct lifecycle *l, const struct rec_head *head)
{
	const struct rec_lost *rec = (const struct rec_lost *)head;
	struct event ev = {
		.kind = EVENT_LOST,
		.ts_ns = rec->first_ns,
		.cpu = head->cpu,
		.lost = {
			.class_name = event_class_names[CLASS_LIFECYCLE],
			.count = rec->count,
			.first_ns = rec->first_ns,
			.last_ns = rec->last_ns,
		},
	};

	l->lost += rec->count;
	return fxt_archive_event(l->pipe->archive, &ev);
}

int lifecycle_record(struct lifecycle *l, const struct rec_head *rec)
{
	switch (rec->kind) {
	case REC_FORK:
		return lifecycle_on_fork(l, rec);
	case REC_EXEC:
		return lifecycle_on_exec(l, rec);
	case REC_EXIT:
		return lifecycle_on_exit(l, rec);
	case REC_RENAME:
		return lifecycle_on_rename(l, rec);
	case REC_CGROUP:
		return tasks_set_cgroup(l->pipe->tasks, (const struct rec_cgroup *)rec);
	case REC_LOST:
		return lifecycle_on_lost(l, rec);
	default:
		return 0;
	}
}

static int lifecycle_learn_unknown(struct lifecycle *l, uint32_t tid, uint32_t pid)
{
	const struct rec_identity unknown = {
		.pid = pid,
		.tid = tid,
		.uid = EVENT_UID_UNKNOWN,
		.comm = "?",
	};

	return tasks_get(l->pipe->tasks, tid) ? lifecycle_announce_if_new(l, tid)
					      : lifecycle_learned(l, &unknown, true);
}

/* Finds the next task with an open query. Returns false if no such task is left. */
static bool lifecycle_next_queried(const struct lifecycle *l, size_t *pos, uint32_t *ret_tid,
				   uint32_t *ret_pid)
{
	const struct table_slot *slot;

	while (*pos < l->pipe->tasks->asked.n_slots) {
		slot = &l->pipe->tasks->asked.slots[(*pos)++];
		if (slot->key == 0)
			continue;
		*ret_tid = (uint32_t)slot->key;
		*ret_pid = lifecycle_queried_pid((uintptr_t)slot->value);
		return true;
	}
	return false;
}

int lifecycle_close(void *stage)
{
	struct lifecycle *l = stage;
	uint32_t tid, pid;
	int r = 0;

	for (size_t pos = 0; r == 0 && lifecycle_next_queried(l, &pos, &tid, &pid);) {
		/* The process comes first, so that it is not queried because of its thread. */
		r = lifecycle_learn_unknown(l, pid, pid) ?: lifecycle_learn_unknown(l, tid, pid);
	}
	return r;
}

/* Writes all tasks with an open query. Tasks without an answer are unknown tasks. */
static int lifecycle_write_queried(const struct lifecycle *l, struct fxt_archive *to)
{
	uint32_t tid, pid;
	int r = 0;

	for (size_t pos = 0; r == 0 && lifecycle_next_queried(l, &pos, &tid, &pid);) {
		if (pid != tid)
			r = lifecycle_write_if_new(l, to, pid, pid);
		if (r == 0)
			r = lifecycle_write_if_new(l, to, tid, pid);
	}
	return r;
}

/* ---- the stage ---- */

static int lifecycle_on_record(void *stage, const struct rec_head *rec)
{
	struct lifecycle *l = stage;
	int r;

	if (rec->kind == REC_LOST && ((const struct rec_lost *)rec)->ring != REC_RING_LIFECYCLE)
		return 0;
	r = lifecycle_record(l, rec);
	pipeline_forget_cgroups(l->pipe);
	return r;
}

/*
 * Writes the names of all tasks. With a filter, the name of a thread is written when the thread
 * occurs in records.
 */
static int lifecycle_open(void *stage)
{
	struct lifecycle *l = stage;
	const struct task *task;
	int r = 0;

	if (l->pipe->filtered)
		return 0;
	for (size_t pos = 0; r == 0 && (task = table_next(&l->pipe->tasks->by_tid, &pos));)
		if (!tasks_announced(l->pipe->tasks, task->tid))
			r = lifecycle_announce(l, task->tid);
	return r;
}

/*
 * Forgets tasks that have ended without a record: the filter no longer selected them (they had
 * another name, or had run a program with other rights), or the record was lost. Heads of chunks
 * have the names of live tasks only.
 */
static int lifecycle_forget_gone(struct lifecycle *l, uint64_t at_ns)
{
	const struct pipeline *pipe = l->pipe;
	_cleanup_free_ uint32_t *gone = NULL;
	ssize_t n = pipe->owner.is_gone
			    ? tasks_find_gone(pipe->tasks, at_ns, pipe->owner.is_gone, &gone)
			    : 0;
	int r = n < 0 ? (int)n : 0;

	for (ssize_t i = 0; r == 0 && i < n; i++)
		r = pipe->links.forget_task(gone[i], at_ns, pipe->links.userdata);
	return r;
}

/*
 * Called when a chunk ends: also writes tasks with an open query, without waiting for the answer.
 * Answers are written when they come. If the name of a task is needed again, another query is made.
 * (Packets go into the body, since a snapshot has several bodies and one tail.)
 */
static int lifecycle_split(void *stage, uint64_t at_ns)
{
	struct lifecycle *l = stage;
	int r = lifecycle_forget_gone(l, at_ns);

	if (r == 0)
		r = fxt_archive_packets(l->pipe->archive, true);
	if (r < 0)
		return r;
	r = lifecycle_write_queried(l, l->pipe->archive);
	table_clear(&l->pipe->tasks->asked);
	return r;
}

static int lifecycle_tail(const void *stage, struct fxt_archive *to, uint64_t at_ns)
{
	(void)at_ns;
	return lifecycle_write_queried(stage, to);
}

/* Writes the names of all live tasks; with a filter, only of tasks that the archive shows. */
static int lifecycle_head(const void *stage, const struct stage_head *h)
{
	const struct lifecycle *l = stage;
	const struct tasks *tasks = l->pipe->tasks;
	const struct task *task;
	int r = 0;

	for (size_t pos = 0; r == 0 && (task = table_next(&tasks->by_tid, &pos));)
		if (!l->pipe->filtered || tasks_announced(tasks, task->tid))
			r = h->name(task->tid, h->userdata);
	return r;
}

const struct stage lifecycle_stage = {
	.name = "lifecycle",
	.handles = STAGE_TAKES_TASKS | STAGE_HANDLES(REC_LOST) | STAGE_HANDLES(REC_CGROUP),
	.record = lifecycle_on_record,
	.open = lifecycle_open,
	.split = lifecycle_split,
	.tail = lifecycle_tail,
	.head = lifecycle_head,
	.end = lifecycle_close,
};
