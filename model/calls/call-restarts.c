/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/calls/call-restarts.h"

#include <stddef.h>
#include <string.h>

#include "base/cleanup.h"

/* From the kernel's include/linux/errno.h. The numbers are stable. */
static const struct {
	int64_t result;
	const char *name, *meaning;
} restarts[] = {
	{ -512, "ERESTARTSYS", "interrupted; restarted unless a handler without SA_RESTART runs" },
	{ -513, "ERESTARTNOINTR", "interrupted; restarted" },
	{ -514, "ERESTARTNOHAND", "interrupted; restarted unless a handler runs" },
	{ -516, "ERESTART_RESTARTBLOCK",
	  "interrupted; continued by restart_syscall unless a handler runs" },
};

const char *call_restart_name(int64_t result)
{
	for (size_t i = 0; i < ARRAY_SIZE(restarts); i++)
		if (restarts[i].result == result)
			return restarts[i].name;
	return NULL;
}

const char *call_restart_meaning(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(restarts); i++)
		if (strcmp(restarts[i].name, name) == 0)
			return restarts[i].meaning;
	return NULL;
}
