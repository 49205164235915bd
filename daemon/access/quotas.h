/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits of shared resources. Each user gets a part that leaves something for others, and root gets
 * the largest part. A session that records only its owner's processes, which any user may create,
 * gets less than other sessions.
 *
 * There is also a rate limit: creating and starting a session costs the machine much more than the
 * call costs the client. A client that does so in a loop must wait.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct limit {
	uint64_t all;  /* for all users together */
	uint64_t root; /* part of `all` that is reserved for root */
	uint64_t user; /* for one user */
	uint64_t own;  /* for one user's sessions with the option `own` */
};

/* The amounts in use. */
struct limit_use {
	uint64_t all;  /* all sessions */
	uint64_t user; /* part of `all`: sessions of the caller */
	uint64_t own;  /* part of `user`: sessions with the option `own` */
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

/* Unless it fits, *RET_LIMIT is the exceeded limit. */
enum limit_verdict limit_check(const struct limit *l, const struct limit_use *has,
			       const struct limit_request *wish, uint64_t *ret_limit);

/* ---- rate limit ---- */

enum {
	RATE_LIMIT_BURST = 60,  /* calls at once: creations and starts of sessions */
	RATE_LIMIT_USERS = 256, /* users with recent calls; calls of further users are refused */
};

#define RATE_LIMIT_NS UINT64_C(500000000) /* until one more call is allowed */

/* Initialize it to zero. */
struct rate_limit {
	struct effort {
		uid_t uid;
		uint64_t free_ns; /* when all of the burst is available again; past = unused */
	} users[RATE_LIMIT_USERS];
};

/*
 * Whether UID may make another call at NOW_NS. Returns 0, or -EDQUOT with the time to wait in
 * *RET_WAIT_NS. Root always may.
 */
int rate_limit_acquire(struct rate_limit *e, uid_t uid, uint64_t now_ns, uint64_t *ret_wait_ns);
