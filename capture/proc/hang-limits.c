/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/proc/hang-limits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

enum {
	OWNER_PART = 4,   /* an owner can use a quarter of all requests */
	RESERVE_PART = 8, /* an eighth is for root alone */
	HALVINGS_MAX = 6,
};

uid_t hang_limits_owner_of(const char *root, uint32_t pid)
{
	char text[256];
	uid_t uid = (uid_t)-1;
	FILE *f;

	/*
	 * (The real user is read, since each program can make root the owner of its directory in
	 * /proc. Reading the status of a process takes none of its locks, so it does not hang.)
	 */
	snprintf(text, sizeof(text), "%s/proc/%" PRIu32 "/status", root, pid);
	f = fopen(text, "re");
	if (!f)
		return uid;
	while (fgets(text, sizeof(text), f) && sscanf(text, "Uid: %u", &uid) != 1)
		;
	fclose(f);
	return uid;
}

static bool hang_limits_hangs(const struct hang_request *q, uint64_t now_ns)
{
	return now_ns >= q->hangs_ns;
}

static uint64_t hang_limits_halve(uint64_t ns, unsigned n)
{
	return ns >> (n < HALVINGS_MAX ? n : HALVINGS_MAX);
}

int hang_limits_add(struct hang_limits *l, struct hang_request *q, uint64_t now_ns,
		    uint64_t *ret_timeout_ns)
{
	unsigned n = 0, n_hanging = 0, n_own = 0, n_own_hanging = 0;
	uint64_t timeout_ns;

	for (const struct hang_request *at = l->all; at; at = at->next) {
		bool is_own = at->owner == q->owner, hangs = hang_limits_hangs(at, now_ns);

		if (is_own && hangs && at->place == q->place)
			return -EBUSY;
		n++;
		n_hanging += hangs;
		n_own += is_own;
		n_own_hanging += is_own && hangs;
	}
	if (n >= l->n_max || (q->owner != 0 && (n_own >= l->n_max / OWNER_PART ||
						n >= l->n_max - l->n_max / RESERVE_PART)))
		return -EUSERS;
	timeout_ns = hang_limits_halve(l->timeout_ns, n_own_hanging ? n_own_hanging : n_hanging);
	if (n_own_hanging == 0 && timeout_ns < HANG_LIMITS_FLOOR_NS)
		timeout_ns = HANG_LIMITS_FLOOR_NS;
	*ret_timeout_ns = timeout_ns;
	hang_limits_put(l, q);
	return 0;
}

void hang_limits_put(struct hang_limits *l, struct hang_request *q)
{
	q->next = l->all;
	l->all = q;
}

void hang_limits_remove(struct hang_limits *l, struct hang_request *q)
{
	struct hang_request **at = &l->all;

	while (*at != q)
		at = &(*at)->next;
	*at = q->next;
}
