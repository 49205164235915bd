/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * As whom a thread uses files. What it writes for somebody else is to be his in all that the kernel looks at when space is given out: blocks that
 * are kept for root (ext4) and limits that some capabilities pass by would otherwise be spent on whoever asks.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct thread_identity {
	bool other; /* false: as the process */
	uid_t uid;
};

/* That of UID, for whom something is done: root's is the process's own. */
static inline struct thread_identity thread_identity_of(uid_t uid)
{
	return (struct thread_identity){ .other = uid != 0, .uid = uid };
}

/*
 * The calling thread, and no other, is ID for file systems from now on, in no group, and without capabilities. What is open stays open. Nobody
 * gets a way into the process by it: for signals and debuggers it is who it was. Returns 0 or a negative errno.
 */
int thread_identity_take(const struct thread_identity *id);
