/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The messages that wait for an answer. Each sender has a queue. Only the first message of a queue
 * is ever put back into the read queue of the connection, where the filter sees it again. While it
 * waits, the filter appends later messages of the sender to the queue, so they stay in order.
 */
#include "daemon/access/access-parts.h"

#include <errno.h>
#include <string.h>

#include "daemon/common/bus-error.h"
#include "daemon/common/log.h"

#define CROWDED_USER "too many calls of this user wait for an answer"

/* Returns the number of waiting messages of P's user, over all connections. */
static size_t access_count_held_of_user(const struct peer *p)
{
	size_t n = 0;

	for (const struct peer *o = p->access->peers; o; o = o->next)
		n += o->known && o->uid == p->uid ? o->n_held : 0;
	return n;
}

/* Returns the reason why P cannot have another waiting message, or NULL. */
static const char *access_why_full(const struct peer *p)
{
	size_t n = 0;

	for (const struct peer *o = p->access->peers; o; o = o->next)
		n += o->n_held;
	if (p->n_held == ACCESS_HELD_PER_PEER)
		return "too many calls are waiting for the first answer";
	if (p->known && p->uid != 0 && access_count_held_of_user(p) >= p->access->held_per_user_max)
		return CROWDED_USER;
	return n >= p->access->held_max ? "too many calls wait for an answer" : NULL;
}

int access_hold(struct peer *p, sd_bus_message *m, sd_bus_error *reterr)
{
	const char *why = access_why_full(p);

	if (why)
		return bus_error_set(reterr, -EDQUOT, "%s", why);
	p->held[p->n_held++] = sd_bus_message_ref(m);
	return 0;
}

void access_refuse_surplus(struct peer *p)
{
	size_t n = access_count_held_of_user(p);

	if (p->uid == 0)
		return;
	for (; p->n_held > 0 && n > p->access->held_per_user_max; n--) {
		sd_bus_message *m = p->held[--p->n_held];

		bus_error_reply(m, -EDQUOT, CROWDED_USER);
		sd_bus_message_unref(m);
	}
}

void access_pop_held(struct peer *p)
{
	sd_bus_message_unref(p->held[0]);
	memmove(&p->held[0], &p->held[1], --p->n_held * sizeof(p->held[0]));
	for (size_t i = 0; i < RIGHT_MAX; i++)
		if (p->answered & RIGHT_BIT(i) && p->answers[i].until_ns == 0)
			access_forget_answer(&p->answers[i]);
	p->answered = 0;
}

void access_advance(struct peer *p)
{
	while (p->known && !p->check && !p->queued && p->n_held > 0) {
		int r = sd_bus_enqueue_for_read(p->access->bus, p->held[0]);

		if (r >= 0) {
			p->queued = true;
			return;
		}
		log_warning(r, "cannot requeue a message of %s; it was refused", p->name);
		bus_error_reply(p->held[0], r, NULL);
		access_pop_held(p);
	}
}
