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

bool task_state_process_has_ended(pid_t pid)
{
	struct dirent *entry;
	char path[64];
	bool ended = true;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	/* (hidepid= hides the processes of other users) */
	if (!tasks)
		return kill(pid, 0) < 0 && errno == ESRCH;
	while (ended && (entry = readdir(tasks)))
		ended = entry->d_name[0] == '.' ||
			task_state_has_ended(pid, (pid_t)atoi(entry->d_name));
	closedir(tasks);
	return ended;
}

pid_t task_state_oldest(pid_t pid)
{
	const struct dirent *entry;
	pid_t found = 0;
	char path[32];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	/* (tasks are listed in the order of their creation) */
	while (dir && !found && (entry = readdir(dir))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0 && !task_state_is_ending(pid, tid))
			found = tid;
	}
	if (dir)
		closedir(dir);
	return found;
}
