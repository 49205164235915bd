/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/hold/exit-hold-parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"
#include "capture/proc/task-state.h"

pid_t exit_hold_ids_of(pid_t tid, pid_t *ret_inner)
{
	char path[32], line[512];
	int pid = tid;
	FILE *f;

	*ret_inner = tid;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	f = fopen(path, "re");
	if (!f)
		return tid;
	while (fgets(line, sizeof(line), f)) {
		/* (the line has an id for each namespace, the innermost one last) */
		const char *last = strncmp(line, "NStgid:", 7) == 0 ? strrchr(line, '\t') : NULL;

		if (sscanf(line, "Tgid: %d", &pid) == 1)
			*ret_inner = pid;
		if (last) {
			*ret_inner = (pid_t)strtol(last, NULL, 10);
			break;
		}
	}
	fclose(f);
	return pid;
}

pid_t exit_hold_process_of(pid_t tid)
{
	pid_t inner;

	return exit_hold_ids_of(tid, &inner);
}

/* Returns the number of the system call in which TID is stopped, or -1. */
static long exit_hold_call_of(pid_t tid)
{
	long number = -1;
	char path[32];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)tid);
	f = fopen(path, "re");
	if (!f)
		return -1;
	if (fscanf(f, "%ld", &number) != 1)
		number = -1;
	fclose(f);
	return number;
}

bool exit_hold_ends_alone(pid_t tid)
{
	return exit_hold_call_of(tid) == SYS_exit;
}

bool exit_hold_is_in_exec(struct exit_hold *h __attribute__((unused)),
			  pid_t pid __attribute__((unused)), pid_t tid)
{
	long number = exit_hold_call_of(tid);

	return number == SYS_execve || number == SYS_execveat;
}

struct exit_hold_walk {
	struct exit_hold *h;
	bool (*each)(struct exit_hold *h, pid_t pid, pid_t tid);
	unsigned n;
};

static int exit_hold_count_task(pid_t pid, pid_t tid, void *userdata)
{
	struct exit_hold_walk *walk = userdata;

	walk->n += walk->each(walk->h, pid, tid);
	return 0;
}

unsigned exit_hold_each_task(struct exit_hold *h, pid_t pid,
			     bool (*each)(struct exit_hold *h, pid_t pid, pid_t tid))
{
	struct exit_hold_walk walk = { h, each, 0 };

	task_state_each(pid, exit_hold_count_task, &walk);
	return walk.n;
}

pid_t exit_hold_tracer_of(pid_t pid)
{
	char path[32], line[512];
	int tracer = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f) && sscanf(line, "TracerPid: %d", &tracer) != 1)
		;
	fclose(f);
	return tracer;
}

bool exit_hold_program_of(pid_t pid, char to[static 256])
{
	char path[32];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, to, 255);
	to[n > 0 ? n : 0] = '\0';
	return n >= 0 || (errno != EACCES && errno != EPERM);
}

void exit_hold_note_name(pid_t pid, char to[static 64])
{
	char path[32], name[32] = "";
	FILE *f;

	if (*to)
		return;
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	f = fopen(path, "re");
	if (!f || !fgets(name, sizeof(name), f))
		snprintf(name, sizeof(name), "a program");
	text_clean(to, 64, name, strcspn(name, "\n"));
	if (f)
		fclose(f);
}
