/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/heap/listed.h"

static int keep(const struct rec_head *rec, void *userdata)
{
	return outbuf_append(userdata, rec, rec->size);
}

int listed_read(struct collector *c, struct outbuf *tasks)
{
	return collector_list_tasks(c, keep, tasks);
}

const struct rec_task *listed_find(const struct outbuf *tasks, uint32_t tid)
{
	const struct rec_task *list = (const struct rec_task *)tasks->data;

	for (size_t i = 0; i < tasks->size / sizeof(*list); i++)
		if (list[i].task.tid == tid)
			return &list[i];
	return NULL;
}

bool listed_now(struct collector *c, uint32_t tid, struct rec_task *ret)
{
	_cleanup_(outbuf_deinit) struct outbuf tasks = { 0 };
	const struct rec_task *task;

	listed_read(c, &tasks);
	task = listed_find(&tasks, tid);
	if (task)
		*ret = *task;
	return task != NULL;
}

bool listed_same(const struct rec_task *before, const struct rec_task *after)
{
	return before && after && before->task.start_ns == after->task.start_ns &&
	       before->exec_id == after->exec_id;
}
