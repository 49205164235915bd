/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/proc/task-state.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"

/* PF_EXITING of linux/sched.h: the task is exiting. */
#define FLAG_EXITING 0x4
/*
 * PF_FORKNOEXEC: the process has not executed a program since its fork. The kernel clears the flag
 * in exec, before it closes descriptors.
 */
#define FLAG_FORKED 0x40

/*
 * The maximum number of attempts to list the threads of a process. If a thread ends meanwhile, the
 * list can end, too.
 */
enum { LISTINGS_MAX = 8 };

/* The state of a task is the letter in /proc, '?' if the letter cannot be read, or TASK_GONE. */
enum { TASK_GONE = 0 };

static bool task_state_means_gone(int error)
{
	return error == ENOENT || error == ESRCH;
}

/* Returns the state of task TID of PID. Sets *RET_FLAGS to its flags, 0 if they are unknown. */
static char task_state_read(pid_t pid, pid_t tid, unsigned *ret_flags)
{
	char path[64], text[512], state = '?';
	const char *end;
	FILE *f;

	*ret_flags = 0;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	f = fopen(path, "re");
	if (!f)
		return task_state_means_gone(errno) ? TASK_GONE : '?';
	errno = 0;
	if (fgets(text, sizeof(text), f)) {
		/* The name can contain any characters, also ')'. */
		end = strrchr(text, ')');
		if (end)
			sscanf(end + 1, " %c %*d %*d %*d %*d %*d %u", &state, ret_flags);
	} else if (task_state_means_gone(errno)) {
		state = TASK_GONE;
	}
	fclose(f);
	return state;
}

static bool task_state_is_end(char state)
{
	return state == TASK_GONE || state == 'Z' || state == 'X';
}

bool task_state_has_ended(pid_t pid, pid_t tid)
{
	unsigned flags;

	return task_state_is_end(task_state_read(pid, tid, &flags));
}

bool task_state_is_ending(pid_t pid, pid_t tid)
{
	unsigned flags;

	return task_state_is_end(task_state_read(pid, tid, &flags)) || flags & FLAG_EXITING;
}

bool task_state_has_executed(pid_t pid)
{
	unsigned flags;

	task_state_read(pid, pid, &flags);
	return !(flags & FLAG_FORKED);
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
	while (r == 0) {
		pid_t tid;

		errno = 0;
		entry = readdir(dir);
		if (!entry) {
			r = -errno;
			break;
		}
		tid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (tid > 0)
			r = fn(pid, tid, userdata);
	}
	closedir(dir);
	return r;
}

/* The result of listing the tasks of a process, if no task is alive. */
struct listing {
	unsigned ending_flags; /* a task with one of them counts as ended */
	uint64_t tids;         /* a hash of all tids */
	bool has_gone;         /* a listed task had ended when it was read */
};

/* Returns 1 if the task is alive. */
static int task_state_on_task(pid_t pid, pid_t tid, void *userdata)
{
	struct listing *l = userdata;
	unsigned flags;
	char state = task_state_read(pid, tid, &flags);
	const uint64_t next[] = { l->tids, (uint64_t)tid };

	l->tids = table_hash(next, sizeof(next));
	l->has_gone |= state == TASK_GONE;
	return !task_state_is_end(state) && !(flags & l->ending_flags);
}

/*
 * Returns true if no task of PID is alive. One list is not sufficient: a listed thread can create
 * another one and end before it is read; and a thread that calls exec takes the id of the first
 * thread, which was read as a zombie. So two lists must have the same tasks, and the tasks of the
 * second list must still exist when they are read. A process whose tasks change all the time counts
 * as alive.
 */
static bool task_state_none_lives(pid_t pid, unsigned ending_flags)
{
	struct listing before = { 0 };

	for (unsigned i = 0; i < LISTINGS_MAX; i++) {
		struct listing l = { .ending_flags = ending_flags };
		int r = task_state_each(pid, task_state_on_task, &l);

		/*
		 * The list can also fail because hidepid= hides the processes of other users. So
		 * kill() decides.
		 */
		if (r < 0)
			return kill(pid, 0) < 0 && errno == ESRCH;
		if (r > 0)
			return false;
		if (i > 0 && l.tids == before.tids && !l.has_gone)
			return true;
		before = l;
	}
	return false;
}

bool task_state_process_has_ended(pid_t pid)
{
	return task_state_none_lives(pid, 0);
}

bool task_state_process_is_ending(pid_t pid)
{
	return task_state_none_lives(pid, FLAG_EXITING);
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
