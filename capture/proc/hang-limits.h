/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits for requests about processes that can hang, such as a read of /proc/PID/maps, or the open
 * of a file that a process maps. Each hanging request occupies a process, and each new one delays
 * the session until its time is over. So the users of the processes have limits of their own, and
 * the more requests of a user hang, the less time the next one has. The processes of one user
 * cannot take much time from those of another one.
 *
 * The caller has a lock for each struct hang_limits.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* A request, which is part of a struct of the caller. */
struct hang_request {
	struct hang_request *next;
	uid_t owner; /* of the process: hang_limits_owner_of() */
	/* The place at which the request can hang: a number of the caller's choice. */
	uint64_t place;
	/* The request hangs from then on (CLOCK_MONOTONIC); UINT64_MAX = it does not hang. */
	uint64_t hangs_ns;
};

struct hang_limits {
	struct hang_request *all; /* NULL at first */
	/* Maximum number of requests; root can use all of them, other owners a part. */
	unsigned n_max;
	uint64_t timeout_ns; /* of a request while none hangs */
};

/* The time of a request is at least this if no other request of its owner hangs. */
#define HANG_LIMITS_FLOOR_NS UINT64_C(1000000000)

/* The real user of process or thread PID. (uid_t)-1 = unknown. ROOT is the root directory. */
uid_t hang_limits_owner_of(const char *root, uint32_t pid);

/*
 * Adds Q, whose members are set, to L at NOW_NS. Sets *RET_TIMEOUT_NS to the time that Q has.
 * Returns 0; -EBUSY if another request of this owner hangs at the same place; or -EUSERS if there
 * are too many requests. Then Q was not added.
 */
int hang_limits_add(struct hang_limits *l, struct hang_request *q, uint64_t now_ns,
		    uint64_t *ret_timeout_ns);

/* Adds Q without regard to the limits. */
void hang_limits_put(struct hang_limits *l, struct hang_request *q);

/* Removes Q, which was added to L. */
void hang_limits_remove(struct hang_limits *l, struct hang_request *q);
