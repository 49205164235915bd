/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/proc/task-state.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* PF_EXITING of linux/sched.h: the task is exiting. */
#define FLAG_EXITING 0x4

/*
 * Returns the state of task TID of PID, 'Z' if it is gone. Sets its flags, 0 if they are unknown.
 */
static char task_state_read(pid_t pid, pid_t tid, unsigned *ret_flags)
{
	char path[64], text[512], state = 'Z';
	const char *end;
	FILE *f;

	*ret_flags = 0;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	f = fopen(path, "re");
	if (!f)
		return 'Z';
	if (fgets(text, sizeof(text), f)) {
		/* The name can contain any characters, also ')'. */
		end = strrchr(text, ')');
		if (end)
			sscanf(end + 1, " %c %*d %*d %*d %*d %*d %u", &state, ret_flags);
	}
	fclose(f);
	return state;
}

bool task_state_has_ended(pid_t pid, pid_t tid)
{
	unsigned flags;
	char state = task_state_read(pid, tid, &flags);

	return state == 'Z' || state == 'X';
}

bool task_state_is_ending(pid_t pid, pid_t tid)
{
	unsigned flags;
	char state = task_state_read(pid, tid, &flags);

	return state == 'Z' || state == 'X' || flags & FLAG_EXITING;
}

int task_state_each(pid_t pid, task_state_fn fn, void *userdata)
{
	const struct dirent *entry;
	char path[32];
	DIR *dir;
	int r = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while (r == 0 && (entry = readdir(dir))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0)
			r = fn(pid, tid, userdata);
	}
	closedir(dir);
	return r;
}

static int task_state_on_task(pid_t pid, pid_t tid, void *userdata)
{
	(void)userdata;
	return !task_state_has_ended(pid, tid);
}

bool task_state_process_has_ended(pid_t pid)
{
	int r = task_state_each(pid, task_state_on_task, NULL);

	/* (hidepid= hides the processes of other users) */
	return r < 0 ? kill(pid, 0) < 0 && errno == ESRCH : r == 0;
}

static int task_state_on_ending_task(pid_t pid, pid_t tid, void *userdata)
{
	(void)userdata;
	return !task_state_is_ending(pid, tid);
}

bool task_state_process_is_ending(pid_t pid)
{
	int r = task_state_each(pid, task_state_on_ending_task, NULL);

	return r < 0 ? kill(pid, 0) < 0 && errno == ESRCH : r == 0;
}

static int task_state_find_oldest(pid_t pid, pid_t tid, void *userdata)
{
	(void)userdata;
	return task_state_is_ending(pid, tid) ? 0 : (int)tid;
}

pid_t task_state_oldest(pid_t pid)
{
	int r = task_state_each(pid, task_state_find_oldest, NULL);

	return r < 0 ? 0 : (pid_t)r;
}
