/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Says whether tasks still run their program, according to /proc, and lists the tasks of a process.
 * Does not block.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/*
 * Returns true if task TID of PID has ended. A zombie counts as ended: a main thread whose other
 * threads run, or a process that its parent has not reaped. If its state cannot be read, the task
 * counts as running.
 */
bool task_state_has_ended(pid_t pid, pid_t tid);

/* Returns true if the task has ended, or is exiting and will not run its program again. */
bool task_state_is_ending(pid_t pid, pid_t tid);

/*
 * Returns true if process PID has executed a program since its fork, or its state cannot be read.
 */
bool task_state_has_executed(pid_t pid);

/*
 * Returns true if all threads of process PID have ended: the process does not exist, or it is a
 * zombie. This and the next function list the threads at least twice, so other threads that begin
 * meanwhile, or call exec, are not missed.
 */
bool task_state_process_has_ended(pid_t pid);

/*
 * Returns true if all threads of process PID have ended or are exiting: no thread will run its
 * program again.
 */
bool task_state_process_is_ending(pid_t pid);

/*
 * Returns the oldest thread of PID that is not exiting. That is PID itself, unless the main thread
 * has ended and other threads continue. /proc shows the memory of such a process only for those
 * threads. 0 = no such thread.
 */
pid_t task_state_oldest(pid_t pid);

/*
 * Calls FN for each task of PID, in the order of their creation, until one call returns a value
 * other than 0. Returns that value, 0, or a negative errno if the tasks cannot be listed.
 */
typedef int (*task_state_fn)(pid_t pid, pid_t tid, void *userdata);
int task_state_each(pid_t pid, task_state_fn fn, void *userdata);
