/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads of a program that writes events, and their koids. Threads that have ended are kept,
 * since their last events can be read later. A program can be in another pid namespace; its tids
 * are then translated.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"
#include "capture/stages/tasks.h"

struct provider_threads {
	uint32_t pid;
	bool is_foreign; /* the process is in another pid namespace than the recorder */
	/* The process has executed another program: new threads are not of this program. */
	bool is_closed;
	unsigned n_looks;   /* lookups in /proc since provider_threads_renew() */
	uint64_t missing;   /* the last tid that was not found since then */
	struct table koids; /* tid as the program sees it -> koid */
};

/* Begins the table of process PID, with the threads in TASKS. Returns 0 or -ENOMEM. */
int provider_threads_init(struct provider_threads *t, uint32_t pid, const struct tasks *tasks);
void provider_threads_deinit(struct provider_threads *t);

/* Adds thread TID, which has begun in the process. Returns 0 or -ENOMEM. */
int provider_threads_begun(struct provider_threads *t, uint32_t tid, const struct tasks *tasks);

/*
 * Sets *RET to the koid of the thread that the program calls TID. Returns false if the process has
 * no such thread. Between two calls of provider_threads_renew(), only some unknown tids are looked
 * up.
 */
bool provider_threads_find(struct provider_threads *t, uint64_t tid, const struct tasks *tasks,
			   uint32_t *ret);
void provider_threads_renew(struct provider_threads *t);
