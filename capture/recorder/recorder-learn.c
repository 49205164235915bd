/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Learns identities: enters the worker's data about tasks and cgroups into the tables. If the
 * archive already has the name of a task, the name is written again.
 */
#include "capture/recorder/recorder-parts.h"

static int recorder_learn_task(struct recorder *r, const struct rec_task *rec)
{
	timelines_learned(&r->timelines, rec);
	return lifecycle_learned(&r->lifecycle, &rec->task, false);
}

int recorder_learn_tasks(struct recorder *r, const struct outbuf *tasks)
{
	const struct rec_task *list = (const struct rec_task *)tasks->data;
	int error = 0;

	for (size_t i = 0; error == 0 && i < tasks->size / sizeof(*list); i++)
		error = recorder_learn_task(r, &list[i]);
	return error;
}

/* Enters requested identities that no record has reported meanwhile. */
static int recorder_learn_queried(struct recorder *r, const struct outbuf *tasks, bool write)
{
	const struct rec_task *list = (const struct rec_task *)tasks->data;
	int error = 0;

	for (size_t i = 0; error == 0 && i < tasks->size / sizeof(*list); i++)
		error = lifecycle_answered(&r->lifecycle, &list[i].task, write);
	return error;
}

static int recorder_learn_command(struct recorder *r, const struct proc_command *head, bool write)
{
	const struct task *task = tasks_get(&r->tasks, head->tid);
	int n;

	/* If the task already has a command line, a later exec has set it, so it is newer. */
	if (!task || (task->command_line && !task->command_old))
		return 0;
	n = tasks_set_command(&r->tasks, head->tid, head->start_ns, (const char *)(head + 1),
			      head->size < REC_ARGS_BYTES ? head->size : REC_ARGS_BYTES,
			      head->size > REC_ARGS_BYTES);
	/* A filtered archive names only tasks that it shows. */
	if (n <= 0 || !write || r->pipe.filtered)
		return n < 0 ? n : 0;
	return lifecycle_announce(&r->lifecycle, head->tid);
}

static int recorder_learn_commands(struct recorder *r, const struct outbuf *commands, bool write)
{
	const struct proc_command *head;
	int error = 0;

	for (size_t at = 0; error == 0 && at + sizeof(*head) <= commands->size;
	     at += sizeof(*head) + proc_padded(head->size)) {
		head = (const struct proc_command *)(commands->data + at);
		error = recorder_learn_command(r, head, write);
	}
	return error;
}

int recorder_learn_cgroups(struct recorder *r, const struct outbuf *cgroups)
{
	const struct rec_cgroup *rec;
	int error = 0;

	for (size_t at = 0; error == 0 && at < cgroups->size; at += rec->head.size) {
		rec = (const struct rec_cgroup *)(cgroups->data + at);
		error = tasks_set_cgroup(&r->tasks, rec);
	}
	pipeline_forget_cgroups(&r->pipe);
	return error;
}

int recorder_learn(struct recorder *r, const struct worker_results *news, bool write)
{
	int error = recorder_learn_cgroups(r, &news->cgroups);

	r->n_unread += news->n_unread;
	watch_gap_examined(&r->allocations.files, &news->examined);
	if (error == 0)
		error = recorder_learn_queried(r, &news->looked_up, write);
	return error < 0 ? error : recorder_learn_commands(r, &news->commands, write);
}
