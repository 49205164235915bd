/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits of shared resources. The part of one user leaves some of the resource for other users, and
 * root has the largest part. A session that records only its owner's processes, which any user may
 * create, gets less than other sessions.
 *
 * There is also a rate limit: creating and starting a session costs the machine much more than the
 * call costs the client. A client that makes such calls in a loop must wait.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct limit {
	uint64_t all;  /* limit for all users together */
	uint64_t root; /* part of `all` that is reserved for root */
	uint64_t user; /* limit for one user */
	uint64_t own;  /* limit for one user's sessions with the option `own` */
};

/* The amounts in use. */
struct limit_use {
	uint64_t all;  /* use by all sessions */
	uint64_t user; /* part of `all` that sessions of the caller use */
	uint64_t own;  /* part of `user` that sessions with the option `own` use */
};

/* A requested amount. */
struct limit_request {
	uint64_t amount;
	uid_t uid;
	bool own;
};

enum limit_verdict {
	LIMIT_FITS,
	LIMIT_EXCEEDS_ALL,
	LIMIT_EXCEEDS_USER,
	LIMIT_EXCEEDS_OWN,
};

/* Checks the request WISH against L. If WISH does not fit, *RET_LIMIT is the exceeded limit. */
enum limit_verdict limit_check(const struct limit *l, const struct limit_use *has,
			       const struct limit_request *wish, uint64_t *ret_limit);

/* ---- rate limit ---- */

enum {
	/* Number of calls (creations and starts of sessions) that are allowed at once. */
	RATE_LIMIT_BURST = 60,
	/*
	 * Maximum number of users with recent calls; when it is reached, calls of other users are
	 * refused.
	 */
	RATE_LIMIT_USERS = 256,
};

#define RATE_LIMIT_NS UINT64_C(500000000) /* time until one more call is allowed */

/* Recent calls of users. A struct with all bytes zero is empty. */
struct rate_limit {
	struct effort {
		uid_t uid;
		/*
		 * Time at which all RATE_LIMIT_BURST calls are available again; in the past =
		 * unused entry.
		 */
		uint64_t free_ns;
	} users[RATE_LIMIT_USERS];
};

/*
 * Requests one more call for UID at NOW_NS. Returns 0 if the call is allowed, or -EDQUOT with the
 * time to wait in *RET_WAIT_NS. Root may always make a call.
 */
int rate_limit_acquire(struct rate_limit *e, uid_t uid, uint64_t now_ns, uint64_t *ret_wait_ns);
