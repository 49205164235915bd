/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/heap/task-list.h"

static int task_list_keep(const struct rec_head *rec, void *userdata)
{
	return outbuf_append(userdata, rec, rec->size);
}

int task_list_read(struct collector *c, struct outbuf *tasks)
{
	return collector_list_tasks(c, task_list_keep, tasks);
}

const struct rec_task *task_list_find(const struct outbuf *tasks, uint32_t tid)
{
	const struct rec_task *list = (const struct rec_task *)tasks->data;

	for (size_t i = 0; i < tasks->size / sizeof(*list); i++)
		if (list[i].task.tid == tid)
			return &list[i];
	return NULL;
}

static bool task_list_get(const struct outbuf *tasks, uint32_t tid, struct rec_task *ret)
{
	const struct rec_task *task = task_list_find(tasks, tid);

	if (task)
		*ret = *task;
	return task != NULL;
}

bool task_list_now(struct collector *c, uint32_t tid, struct rec_task *ret)
{
	_cleanup_(outbuf_deinit) struct outbuf tasks = { 0 };

	task_list_read(c, &tasks);
	return task_list_get(&tasks, tid, ret);
}

bool task_list_process(struct collector *c, uint32_t pid, struct rec_task *ret)
{
	_cleanup_(outbuf_deinit) struct outbuf tasks = { 0 };

	collector_list_process(c, pid, task_list_keep, &tasks);
	/*
	 * Newer kernels also find a thread of another process with this id, so the process is
	 * checked.
	 */
	return task_list_get(&tasks, pid, ret) && ret->task.pid == pid;
}

bool task_list_same(const struct rec_task *before, const struct rec_task *after)
{
	return before && after && before->task.start_ns == after->task.start_ns &&
	       before->exec_id == after->exec_id;
}
