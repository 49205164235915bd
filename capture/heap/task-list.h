/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The live tasks, as listed by the eBPF programs (struct rec_task), for code that reads data about
 * these tasks in /proc. When the code reads such data, the data can already belong to another
 * process or another program. A session for one user's own processes (session_options.own) must not
 * use such data. So it lists the tasks both before and after it reads /proc.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "bpf/record.h"
#include "capture/programs/collector.h"

/*
 * Appends all live tasks to TASKS. Returns 0 or a negative errno, possibly after some were
 * appended.
 */
int task_list_read(struct collector *c, struct outbuf *tasks);

/* Returns the task TID, NULL if it is missing; borrowed from TASKS. */
const struct rec_task *task_list_find(const struct outbuf *tasks, uint32_t tid);

/* Returns true if TID is alive now; *RET is its data. */
bool task_list_now(struct collector *c, uint32_t tid, struct rec_task *ret);

/*
 * Returns true if the first thread of process PID is alive now; *RET is its data. Reads no other
 * tasks.
 */
bool task_list_process(struct collector *c, uint32_t pid, struct rec_task *ret);

/* Returns true if both tasks exist (are not NULL), and are the same task with the same program. */
bool task_list_same(const struct rec_task *before, const struct rec_task *after);
