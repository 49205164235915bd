/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rights of this thread; and fewer rights, for good, for a process that is forked to do
 * something for somebody else. System calls and not the library's functions, which would notify
 * threads that the child does not have.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Numbers of capabilities: system headers may be older than CAP_PERFMON and CAP_BPF. */
enum {
	RIGHTS_IPC_LOCK = 14,
	RIGHTS_SYS_ADMIN = 21,
	RIGHTS_SYS_RESOURCE = 24,
	RIGHTS_PERFMON = 38,
	RIGHTS_BPF = 39,
};

/* Whether this thread has CAPABILITY in effect. */
bool rights_has(int capability);

/* Becomes user UID with group GID and no other. Returns 0 or a negative errno. */
int rights_become(uid_t uid, gid_t gid);

/*
 * Without any capability, for no other process to look into, and ended with the one that forked it.
 * Returns 0 or a negative errno.
 */
int rights_give_up(void);
