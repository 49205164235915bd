/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/access/quotas.h"

#include <errno.h>

static bool quotas_exceeds(uint64_t has, uint64_t wish, uint64_t limit)
{
	return wish > limit || has > limit - wish;
}

enum limit_verdict limit_check(const struct limit *l, const struct limit_use *has,
			       const struct limit_request *wish, uint64_t *ret_limit)
{
	uint64_t all = wish->uid == 0 ? l->all : l->all - l->root;

	*ret_limit = all;
	if (quotas_exceeds(has->all, wish->amount, all))
		return LIMIT_EXCEEDS_ALL;
	if (wish->uid == 0)
		return LIMIT_FITS;
	*ret_limit = l->own;
	if (wish->own && quotas_exceeds(has->own, wish->amount, l->own))
		return LIMIT_EXCEEDS_OWN;
	*ret_limit = l->user;
	return quotas_exceeds(has->user, wish->amount, l->user) ? LIMIT_EXCEEDS_USER : LIMIT_FITS;
}

/*
 * Finds the entry of UID, or an unused entry. An entry is unused when its whole burst is available
 * again.
 */
static struct effort *quotas_find(struct rate_limit *e, uid_t uid, uint64_t now_ns)
{
	struct effort *unused = NULL;

	for (size_t i = 0; i < RATE_LIMIT_USERS; i++) {
		struct effort *u = &e->users[i];

		if (u->free_ns <= now_ns)
			unused = u;
		else if (u->uid == uid)
			return u;
	}
	return unused;
}

int rate_limit_acquire(struct rate_limit *e, uid_t uid, uint64_t now_ns, uint64_t *ret_wait_ns)
{
	const uint64_t burst_ns = RATE_LIMIT_BURST * RATE_LIMIT_NS;
	struct effort *u;
	uint64_t free_ns;

	if (uid == 0)
		return 0;
	u = quotas_find(e, uid, now_ns);
	*ret_wait_ns = RATE_LIMIT_NS;
	if (!u)
		return -EDQUOT;
	free_ns = (u->free_ns > now_ns ? u->free_ns : now_ns) + RATE_LIMIT_NS;
	if (free_ns - now_ns > burst_ns) {
		*ret_wait_ns = free_ns - now_ns - burst_ns;
		return -EDQUOT;
	}
	*u = (struct effort){ uid, free_ns };
	return 0;
}
