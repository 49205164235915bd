/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/calls/call-restarts.h"

#include <stddef.h>
#include <string.h>

#include "base/cleanup.h"

/*
 * The meanings are those of strace. The numbers are from the kernel's include/linux/errno.h, and
 * stable.
 */
static const struct {
	int64_t result;
	const char *name, *meaning;
} restarts[] = {
	{ -512, "ERESTARTSYS", "To be restarted if SA_RESTART is set" },
	{ -513, "ERESTARTNOINTR", "To be restarted" },
	{ -514, "ERESTARTNOHAND", "To be restarted if no handler" },
	{ CALL_RESTART_KILLED, "KILLED", "" },
	{ -516, "ERESTART_RESTARTBLOCK", "Interrupted by signal" },
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
