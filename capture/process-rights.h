/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Less rights, for a process that is forked to do something for somebody else. Both are for good. System calls and not the
 * library's functions, which would tell threads that the child does not have.
 */
#pragma once

#include <sys/types.h>

/* Becomes user UID with group GID and no other. Returns 0 or a negative errno. */
int rights_become(uid_t uid, gid_t gid);

/*
 * Without any capability, for no other process to look into, and ended with the one that forked it. Returns 0 or
 * a negative errno.
 */
int rights_give_up(void);
