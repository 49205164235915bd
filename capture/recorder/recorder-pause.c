/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pauses of a recording (docs/architecture/budgets.md).
 *
 * A pause ends a recording and begins it again within one archive: open items are closed, and
 * earlier state becomes unknown. Only the identities of tasks stay. After the pause, the identities
 * are compared with the new list of tasks, since meanwhile a tid can belong to another task, and a
 * process can run another program.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "capture/recorder/recorder-parts.h"

enum { LISTED_WORDS = TASKS_TID_MAX / 64 };

void recorder_set_pause(struct recorder *r, uint64_t at_ns)
{
	r->pauses = true;
	r->pipe.to_ns = at_ns;
	recorder_note_losses(r);
}

int recorder_pause(struct recorder *r)
{
	struct task *task;
	int error = 0;

	for (unsigned cpu = 0; error == 0 && cpu < r->pipe.n_cpus; cpu++)
		error = recorder_close_cpu(r, cpu);
	if (error == 0)
		error = RECORDER_EACH(r, pause);
	for (size_t pos = 0; (task = table_next(&r->tasks.by_tid, &pos));)
		task->command_old = true;
	collector_forget_lost(r->pipe.collector);
	r->paused = true;
	return error;
}

void recorder_set_resumed(struct recorder *r, const struct worker_results *news)
{
	r->start_ns = news->start_ns;
	r->listed_ns = news->listed_ns;
}

/* Forgets known tasks that are not listed: they have ended meanwhile. */
static int recorder_pause_forget_ended(struct recorder *r, const struct outbuf *tasks)
{
	const struct rec_task *list = (const struct rec_task *)tasks->data;
	_cleanup_free_ uint64_t *listed = calloc(LISTED_WORDS, sizeof(*listed));
	_cleanup_free_ uint32_t *ended = calloc(r->tasks.by_tid.n_used + 1, sizeof(*ended));
	const struct task *task;
	size_t n = 0;
	int error = listed && ended ? 0 : -ENOMEM;

	for (size_t i = 0; error == 0 && i < tasks->size / sizeof(*list); i++)
		if (list[i].task.tid < TASKS_TID_MAX)
			listed[list[i].task.tid / 64] |= UINT64_C(1) << (list[i].task.tid % 64);
	for (size_t pos = 0; error == 0 && (task = table_next(&r->tasks.by_tid, &pos));)
		if (!(listed[task->tid / 64] >> (task->tid % 64) & 1))
			ended[n++] = task->tid;
	while (error == 0 && n > 0)
		error = recorder_forget_task(r, ended[--n], r->start_ns);
	return error;
}

/*
 * Enters listed tasks that are unknown, since they are new. The tids of these tasks may have
 * belonged to other tasks before.
 */
static int recorder_learn_new(struct recorder *r, const struct outbuf *tasks)
{
	const struct rec_task *list = (const struct rec_task *)tasks->data;
	int error = 0;

	for (size_t i = 0; error == 0 && i < tasks->size / sizeof(*list); i++)
		if (!tasks_get(&r->tasks, list[i].task.tid))
			error = tasks_update(&r->tasks, &list[i].task, true);
	return error;
}

int recorder_resume(struct recorder *r, const struct worker_results *news)
{
	int error = recorder_pause_forget_ended(r, &news->tasks);

	r->pipe.from_ns = news->start_ns;
	r->pipe.to_ns = UINT64_MAX;
	r->pipe.seen_ns = news->attach_ns;
	memset(r->at_end, 0, (size_t)CLASS_MAX * r->pipe.n_cpus * sizeof(*r->at_end));
	if (error == 0)
		error = RECORDER_EACH(r, resume);
	if (error == 0)
		error = recorder_learn_new(r, &news->tasks);
	if (error == 0)
		error = recorder_learn_tasks(r, &news->tasks);
	if (error == 0)
		error = RECORDER_EACH(r, open);
	r->pauses = r->paused = false;
	return error;
}
