/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "writer/perfetto/perfetto-wait.h"

#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"

/*
 * True if the kernel has the function NAME in the section .sched.text, which has the functions that
 * wait on behalf of their callers. NAME has no underscores at its begin.
 */
static bool perfetto_wait_is_scheduler(const char *name)
{
	static const char *const beginnings[] = {
		"schedule",        "preempt_schedule",   "io_schedule",  "cond_resched",
		"yield",           "wait_on_bit",        "bit_wait",     "out_of_line_wait_on_bit",
		"wait_for_common", "do_wait_for_common", "mutex_lock",   "wait_for_completion",
		"ww_mutex_lock",   "rt_mutex_",          "down_",        "rwsem_down_",
		"percpu_down_",    "ldsem_down_",        "do_nanosleep", "usleep_range",
	};

	for (size_t i = 0; i < ARRAY_SIZE(beginnings); i++)
		if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	return strcmp(name, "down") == 0;
}

const char *perfetto_wait_function(const char *const *functions, size_t n)
{
	for (size_t i = 0; i < n && *functions[i]; i++)
		if (!perfetto_wait_is_scheduler(functions[i] + strspn(functions[i], "_")))
			return functions[i];
	return NULL;
}
