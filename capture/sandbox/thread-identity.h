/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The identity of a thread for file systems. If data is written for a user, file systems must
 * charge it to that user. Otherwise users could use blocks that are reserved for root (ext4), and
 * exceed limits that capabilities override.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct thread_identity {
	bool other; /* false = use the identity of the process */
	uid_t uid;
};

/* Returns the identity for writing as UID. For root, this is the identity of the process. */
static inline struct thread_identity thread_identity_of(uid_t uid)
{
	return (struct thread_identity){ .other = uid != 0, .uid = uid };
}

/*
 * Gives the calling thread, and no other, the identity ID for file systems, without groups and
 * capabilities. Open files stay open. Nothing changes for signals and debuggers. Returns 0 or a
 * negative errno.
 */
int thread_identity_assume(const struct thread_identity *id);
