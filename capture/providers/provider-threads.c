/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/providers/provider-threads.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "model/koids.h"

enum {
	THREADS_MAX = 65536, /* ended threads included; if there are more, all are discarded */
	LOOKS_MAX = 256,
	LISTED_MAX = 8192, /* threads of a process in another pid namespace */
};

static int provider_threads_set(struct provider_threads *t, uint32_t key, uint32_t koid)
{
	if (key == 0)
		return 0;
	if (t->koids.n_used >= THREADS_MAX)
		table_clear(&t->koids);
	return table_set(&t->koids, key, (void *)(uintptr_t)koid);
}

static bool provider_threads_is_foreign(uint32_t pid)
{
	char path[32], of_process[64], own[64];
	ssize_t n, n_own = readlink("/proc/self/ns/pid", own, sizeof(own));

	snprintf(path, sizeof(path), "/proc/%u/ns/pid", pid);
	n = readlink(path, of_process, sizeof(of_process));
	return n > 0 && (n != n_own || memcmp(of_process, own, (size_t)n) != 0);
}

int provider_threads_init(struct provider_threads *t, uint32_t pid, const struct tasks *tasks)
{
	const struct task *task;
	int r = 0;

	*t = (struct provider_threads){ .pid = pid,
					.is_foreign = provider_threads_is_foreign(pid) };
	if (!t->is_foreign)
		r = provider_threads_set(t, pid, tasks_koid(tasks, pid));
	for (size_t pos = 0; r == 0 && !t->is_foreign && (task = table_next(&tasks->by_tid, &pos));)
		if (task->pid == pid)
			r = provider_threads_set(t, task->tid, tasks_koid(tasks, task->tid));
	return r;
}

void provider_threads_deinit(struct provider_threads *t)
{
	table_deinit(&t->koids);
}

int provider_threads_begun(struct provider_threads *t, uint32_t tid, const struct tasks *tasks)
{
	return t->is_foreign || t->is_closed ? 0
					     : provider_threads_set(t, tid, tasks_koid(tasks, tid));
}

/* Returns the id of thread TID in the innermost pid namespace of the process; 0 = unknown. */
static uint32_t provider_threads_inner_tid(uint32_t pid, uint32_t tid)
{
	char path[64], line[256];
	const char *last;
	uint32_t inner = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/status", pid, tid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (inner == 0 && fgets(line, sizeof(line), f)) {
		last = strrchr(line, '\t');
		if (last && strncmp(line, "NSpid:", strlen("NSpid:")) == 0)
			inner = (uint32_t)strtoul(last, NULL, 10);
	}
	fclose(f);
	return inner;
}

static void provider_threads_list(struct provider_threads *t, const struct tasks *tasks)
{
	const struct dirent *entry;
	char path[32];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%u/task", t->pid);
	dir = opendir(path);
	for (unsigned n = 0; dir && n < LISTED_MAX && (entry = readdir(dir)); n++) {
		uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);

		if (tid != 0)
			provider_threads_set(t, provider_threads_inner_tid(t->pid, tid),
					     tasks_koid(tasks, tid));
	}
	if (dir)
		closedir(dir);
}

/*
 * Looks for a thread whose begin was not reported: the report was lost, or the thread was not
 * selected then.
 */
static void provider_threads_look(struct provider_threads *t, uint32_t tid,
				  const struct tasks *tasks)
{
	const struct task *task = tasks_get(tasks, tid);
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/task/%u", t->pid, tid);
	if ((task && task->pid == t->pid) || access(path, F_OK) == 0)
		provider_threads_set(t, tid, tasks_koid(tasks, tid));
}

bool provider_threads_find(struct provider_threads *t, uint64_t tid, const struct tasks *tasks,
			   uint32_t *ret)
{
	if (tid == 0 || tid >> FXT_KOID_TID_BITS)
		return false;
	*ret = (uint32_t)(uintptr_t)table_get(&t->koids, tid);
	if (*ret)
		return true;
	if (t->is_closed || tid == t->missing || t->n_looks >= (t->is_foreign ? 2 : LOOKS_MAX))
		return false;
	t->n_looks++;
	if (t->is_foreign)
		provider_threads_list(t, tasks);
	else
		provider_threads_look(t, (uint32_t)tid, tasks);
	*ret = (uint32_t)(uintptr_t)table_get(&t->koids, tid);
	t->missing = *ret ? 0 : tid;
	return *ret != 0;
}

void provider_threads_renew(struct provider_threads *t)
{
	t->n_looks = 0;
	t->missing = 0;
}
