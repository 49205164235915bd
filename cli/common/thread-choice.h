/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The choice of threads by a word of the command line: `kymo why FILE WORD`. The word is resolved
 * after the archive is read, when all names are known.
 *
 *	4242              the process 4242, and the thread 4242
 *	redis-server      processes and threads of that name; * and ? are wildcards
 *	redis.service     the systemd unit: a name that ends with the suffix of a unit
 *	/system.slice/x   the cgroup, with those below it: a name that begins with '/'
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "reader/views/summary.h"

struct thread_choice {
	struct table tids; /* koid + 1 -> itself; threads that are chosen */
	const char *word;  /* borrowed; NULL = all threads */
};

/*
 * Chooses the threads of S that WORD (NULL = all; borrowed) names. Returns CLI_OK, or CLI_FAILED
 * after an error message, which has the nearest names if none matches.
 */
int thread_choice_make(struct thread_choice *ret, const struct summary *s, const char *word);
void thread_choice_deinit(struct thread_choice *c);

/* For struct why_options and struct latencies_options; USERDATA is a struct thread_choice. */
bool thread_choice_wants(void *userdata, uint32_t tid);
