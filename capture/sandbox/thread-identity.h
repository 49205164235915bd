/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The identity of a thread for file systems. What a thread writes for a user is to be the user's
 * when the kernel hands out space: else blocks that are reserved for root (ext4), and what
 * capabilities allow beyond limits, would be spent on users.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct thread_identity {
	bool other; /* false: as the process */
	uid_t uid;
};

/* The identity to write with for UID; for root it is that of the process. */
static inline struct thread_identity thread_identity_of(uid_t uid)
{
	return (struct thread_identity){ .other = uid != 0, .uid = uid };
}

/*
 * Gives the calling thread, and no other, identity ID for file systems, no group and no capability.
 * Open files stay open. For signals and debuggers nothing changes. Returns 0 or a negative errno.
 */
int thread_identity_take(const struct thread_identity *id);
