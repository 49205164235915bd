/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks the privileges of this thread, and permanently reduces the privileges of a process that is
 * forked to work for another user. The functions make system calls directly, because the library's
 * functions would notify threads that the child does not have.
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

/* Returns true if this thread has CAPABILITY in effect. */
bool rights_has(int capability);

/* Becomes user UID with only the group GID. Returns 0 or a negative errno. */
int rights_become(uid_t uid, gid_t gid);

/*
 * Drops all capabilities, forbids access by other processes, and makes this process end when its
 * parent ends. Returns 0 or a negative errno.
 */
int rights_drop(void);
