/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/calls/call-errors.h"

#include <stddef.h>
#include <string.h>

#include "model/calls/call-restarts.h"
#include "model/calls/call-syscalls.h"

enum { ERRNO_LAST = 133 };

const char *call_errno_meaning(const char *name)
{
	if (name[0] != 'E')
		return NULL;
	for (int i = 1; i <= ERRNO_LAST; i++) {
		const char *known = strerrorname_np(i);

		if (known && strcmp(known, name) == 0)
			return strerror(i);
	}
	return NULL;
}

bool call_returns_minus_one(const char *function)
{
	/* (a call with an unknown number has the name syscall_NUMBER) */
	return call_syscall_by_name(function) || strncmp(function, "syscall_0x", 10) == 0;
}

bool call_is_error(const char *name)
{
	return strncmp(name, "EAI_", 4) == 0 || call_errno_meaning(name) ||
	       call_restart_meaning(name);
}
