/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The worker's reading of /proc: identities of tasks, command lines, mappings. In a session for a
 * user's own processes, it delivers only data of such processes: the eBPF programs must select the
 * process before and after the reading, and the process must still run the same program.
 */
#include "capture/session/worker-state.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "capture/heap/task-list.h"
#include "capture/proc/mappings.h"
#include "capture/proc/proc.h"

enum { BATCH = 64 }; /* number of processes between two deliveries */

/* The interval of checks whether a user's own processes still belong to the user. Their mappings
 * are held back until such a check. */
#define OWN_LIST_NS UINT64_C(500000000)

/* A session that ends waits this long for the command lines that are not read yet. */
#define LAST_COMMANDS_NS UINT64_C(300000000)

/* ---- own processes ---- */

/*
 * Passes on a listed process that is selected. The user of the session has full access to this
 * process.
 */
static int worker_proc_pass_on_own(const struct rec_head *rec, void *userdata)
{
	const struct rec_task *task = (const struct rec_task *)rec;

	return task->task.flags & IDENTITY_SELECTED && task->task.tid == task->task.pid
		       ? worker_pass_on(rec, userdata)
		       : 0;
}

void worker_list_own(struct worker *w)
{
	if (w->options.own && w->collector)
		collector_list_tasks(w->collector, worker_proc_pass_on_own, w);
}

void worker_list_own_if_due(struct worker *w)
{
	uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);

	if (!w->next_own_list_ns || now_ns < w->next_own_list_ns)
		return;
	worker_list_own(w);
	w->next_own_list_ns = now_ns + OWN_LIST_NS;
}

/*
 * Lists the tasks again into *RET, for worker_proc_is_same(). If a task still runs the same
 * program, the data that was read about it in /proc belongs to the user.
 */
static void worker_list_again(struct worker *w, struct outbuf *ret)
{
	if (w->options.own)
		task_list_read(w->collector, ret);
}

static bool worker_proc_is_same(const struct worker *w, const struct outbuf *before,
				const struct outbuf *after, uint32_t tid)
{
	return !w->options.own ||
	       task_list_same(task_list_find(before, tid), task_list_find(after, tid));
}

/* ---- data of listed tasks ---- */

/* Data from /proc of listed tasks, to be delivered. */
struct reading {
	const struct outbuf *tasks; /* struct rec_task, listed before the reading */
	struct outbuf batch;        /* the data of several tasks, without gaps */
	struct outbuf *to;          /* a buffer in the results */
	/* Finds to which task the data AT belongs, and returns the size of the data. */
	size_t (*next)(const void *at, uint32_t *ret_tid);
	size_t n; /* number of tasks that were read */
};

/* Delivers the data of tasks that still run the same program. */
static void worker_proc_deliver(struct worker *w, struct reading *r)
{
	_cleanup_(outbuf_deinit) struct outbuf after = { 0 };
	uint32_t tid;
	size_t bytes;

	worker_list_again(w, &after);
	pthread_mutex_lock(&w->lock);
	for (size_t at = 0; at < r->batch.size; at += bytes) {
		bytes = r->next(r->batch.data + at, &tid);
		if (worker_proc_is_same(w, r->tasks, &after, tid))
			outbuf_append(r->to, r->batch.data + at, bytes);
	}
	worker_notify_owner(w);
	pthread_mutex_unlock(&w->lock);
	outbuf_reset(&r->batch);
}

/* Called when one more task was read. */
static void worker_deliver_some(struct worker *w, struct reading *r)
{
	if (++r->n % BATCH == 0)
		worker_proc_deliver(w, r);
	worker_do_due_work(w);
}

static size_t worker_next_command(const void *at, uint32_t *ret_tid)
{
	const struct proc_command *head = at;

	*ret_tid = head->tid;
	return sizeof(*head) + proc_padded(head->size);
}

/*
 * Returns true if there is no time left to read command lines. Command lines are read last, after
 * the start has been reported, so a short session can end before all of them are read. *OFF_NS is 0
 * at first.
 */
static bool worker_is_late_for_commands(struct worker *w, uint64_t *off_ns)
{
	uint64_t now_ns;

	if (!worker_called_off(w))
		return false;
	now_ns = clock_read_ns(CLOCK_MONOTONIC);
	if (*off_ns == 0)
		*off_ns = now_ns;
	return now_ns - *off_ns >= LAST_COMMANDS_NS;
}

/* Returns true if data of task ID counts as missing if it is not read from /proc. */
static bool worker_misses(const struct worker *w, const struct rec_identity *id)
{
	return !w->options.own || id->flags & IDENTITY_SELECTED;
}

/* Reads the command lines of the listed processes. */
void worker_read_commands(struct worker *w, const struct outbuf *tasks)
{
	struct reading r = { .tasks = tasks,
			     .to = &w->results.commands,
			     .next = worker_next_command };
	const struct rec_task *list = (const struct rec_task *)tasks->data;
	char text[REC_ARGS_BYTES + 1]; /* one more byte shows that there are more */
	uint64_t n_unread = 0, off_ns = 0;
	bool late = false;

	for (size_t i = 0; i < tasks->size / sizeof(*list); i++) {
		const struct rec_identity *id = &list[i].task;
		struct proc_command head = { .start_ns = id->start_ns, .tid = id->tid };
		ssize_t n;
		char *p;

		if (id->tid != id->pid || id->flags & IDENTITY_KTHREAD)
			continue;
		late = late || worker_is_late_for_commands(w, &off_ns);
		n = late ? -ETIME : proc_command(id->tid, text, sizeof(text), &w->helper_cpu_ns);
		n_unread += n < 0 && worker_misses(w, id);
		if (n <= 0)
			continue;
		head.size = (uint32_t)n;
		p = outbuf_reserve(&r.batch, sizeof(head) + proc_padded(head.size));
		if (!p)
			break;
		memcpy(p, &head, sizeof(head));
		memcpy(p + sizeof(head), text, head.size);
		worker_deliver_some(w, &r);
	}
	pthread_mutex_lock(&w->lock);
	w->results.n_unread += n_unread;
	pthread_mutex_unlock(&w->lock);
	worker_proc_deliver(w, &r);
	outbuf_deinit(&r.batch);
}

static int worker_keep_mapping(const struct rec_mapping *rec, void *userdata)
{
	return outbuf_append(userdata, rec, rec->head.size);
}

static size_t worker_next_mapping(const void *at, uint32_t *ret_tid)
{
	const struct rec_head *head = at;

	*ret_tid = head->pid;
	return head->size;
}

/* Returns true if the mappings of the listed process ID must be read. */
static bool worker_has_mappings(const struct worker *w, const struct rec_identity *id)
{
	const struct capture_filter *f = &w->options.filter;
	bool by_pid_only = f->n_pids && !f->n_uids && !f->n_comms && !f->n_cgroups;

	if (id->tid != id->pid || id->flags & IDENTITY_KTHREAD)
		return false;
	/* Names, users and cgroups can change, so other processes can be selected later. */
	return !by_pid_only || id->flags & IDENTITY_SELECTED;
}

/*
 * Reads the current mappings of the listed processes. If the session ends meanwhile, the rest
 * counts as not listed.
 */
void worker_read_mappings(struct worker *w, const struct outbuf *tasks)
{
	struct reading r = { .tasks = tasks,
			     .to = &w->results.mappings,
			     .next = worker_next_mapping };
	const struct rec_task *list = (const struct rec_task *)tasks->data;
	struct kernel_text text;
	uint64_t n_unlisted = 0;
	bool off = false;

	if (!w->options.own)
		mappings_of_kernel("", collector_kernel_text(w->collector, &text) ? &text : NULL,
				   worker_keep_mapping, &r.batch);
	for (size_t i = 0; i < tasks->size / sizeof(*list); i++) {
		const struct rec_identity *id = &list[i].task;

		if (!worker_has_mappings(w, id))
			continue;
		off = off || worker_called_off(w);
		if (off || mappings_of_process_bounded("", id->tid, worker_keep_mapping, &r.batch,
						       &w->helper_cpu_ns) < 0)
			n_unlisted += worker_misses(w, id);
		if (!off)
			worker_deliver_some(w, &r);
	}
	pthread_mutex_lock(&w->lock);
	/* (before stacks and probes have begun, nothing needs mappings) */
	if (!off || w->results.complete)
		w->results.n_unlisted += n_unlisted;
	pthread_mutex_unlock(&w->lock);
	worker_proc_deliver(w, &r);
	outbuf_deinit(&r.batch);
}

/* ---- one task ---- */

/* Gets the identity from the kernel, since /proc may describe a later task with the same id. */
static bool worker_identify_own(struct worker *w, uint32_t tid, struct rec_task *ret)
{
	return w->collector && task_list_now(w->collector, tid, ret);
}

void worker_identify(struct worker *w, uint32_t tid)
{
	struct rec_task rec = {
		.head = { .size = sizeof(rec), .kind = REC_TASK, .tid = tid },
	};

	if (w->options.own ? !worker_identify_own(w, tid, &rec) : proc_identity(tid, &rec.task) < 0)
		rec.task = (struct rec_identity){
			.pid = tid,
			.tid = tid,
			.uid = EVENT_UID_UNKNOWN,
			.comm = "?",
		};
	pthread_mutex_lock(&w->lock);
	outbuf_append(&w->results.looked_up, &rec, sizeof(rec));
	worker_notify_owner(w);
	pthread_mutex_unlock(&w->lock);
}
