/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tasks that live, as the programs list them (struct rec_task), for who reads about them
 * elsewhere: what /proc says of a process may be of another one by then, or of another program. Of
 * one user's own processes only (session_options.own) it must be neither: so they are listed before
 * and afterwards.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "bpf/record.h"
#include "capture/programs/collector.h"

/*
 * Adds all that live behind TASKS. Returns 0 or a negative errno; some may be there nevertheless.
 */
int task_list_read(struct collector *c, struct outbuf *tasks);

/* The task TID, NULL if it is not there; borrowed from TASKS. */
const struct rec_task *task_list_find(const struct outbuf *tasks, uint32_t tid);

/* Whether TID lives now; *RET is what is known of it. */
bool task_list_now(struct collector *c, uint32_t tid, struct rec_task *ret);

/* Whether both are there (not NULL), and it is the same task with the same program. */
bool task_list_same(const struct rec_task *before, const struct rec_task *after);
