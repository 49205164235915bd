/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What users may take of what there is once: as much as leaves others something, and root most of
 * all. A user who may trace only his own processes, which is any user, gets less than one who may
 * trace all.
 *
 * And how often: making and starting a session costs the machine much more than asking for it, so a
 * client that does it in a loop has to wait.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct limit {
	uint64_t all;  /* of all together */
	uint64_t root; /* of these only for root */
	uint64_t user; /* of one user */
	uint64_t own;  /* of one user's sessions that see only what is his own */
};

/* What there is of something. */
struct limit_use {
	uint64_t all;  /* what sessions have */
	uint64_t user; /* of these, those of who asks */
	uint64_t own;  /* of these, those that see only what is his own */
};

/* What is asked for. */
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

/* *RET_LIMIT, unless it fits, is what may not be exceeded. */
enum limit_verdict limit_check(const struct limit *l, const struct limit_use *has,
			       const struct limit_request *wish, uint64_t *ret_limit);

/* ---- how often ---- */

enum {
	RATE_LIMIT_BURST = 60,  /* sessions made and started at once, each counts */
	RATE_LIMIT_USERS = 256, /* who is remembered; more at once are refused */
};

#define RATE_LIMIT_NS UINT64_C(500000000) /* until there may be one more */

/* All zero is the beginning. */
struct rate_limit {
	struct effort {
		uid_t uid;
		uint64_t free_ns; /* when all of the burst is there again; past = nobody */
	} users[RATE_LIMIT_USERS];
};

/*
 * Whether UID may make one more effort at NOW_NS. Returns 0, or -EDQUOT and in *RET_WAIT_NS how
 * long to wait. Root always may.
 */
int rate_limit_take(struct rate_limit *e, uid_t uid, uint64_t now_ns, uint64_t *ret_wait_ns);
