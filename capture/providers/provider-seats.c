/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/providers/provider-seats.h"

#include <errno.h>
#include <stddef.h>

static struct provider_seat *provider_seats_find(const struct provider_seats *s, uint64_t session)
{
	for (size_t i = 0; i < PROVIDER_SEATS; i++)
		if (s->seats[i].state != PROVIDER_SEAT_FREE && s->seats[i].session == session)
			return (struct provider_seat *)&s->seats[i];
	return NULL;
}

/* Returns a seat that a session of UID can have, or NULL. */
static const struct provider_seat *provider_seats_free(const struct provider_seats *s, uint32_t uid)
{
	const struct provider_seat *found = NULL;
	unsigned n = 0;

	for (size_t i = 0; i < PROVIDER_SEATS; i++) {
		if (s->seats[i].state == PROVIDER_SEAT_FREE)
			found = &s->seats[i];
		else
			n += s->seats[i].uid == uid;
	}
	return uid != 0 && n >= PROVIDER_SEATS / 2 ? NULL : found;
}

bool provider_seats_have_room(const struct provider_seats *s, uint32_t uid)
{
	return provider_seats_free(s, uid) != NULL;
}

struct provider_seat *provider_seats_take(struct provider_seats *s, uint64_t session, uint32_t uid)
{
	struct provider_seat *seat = (struct provider_seat *)provider_seats_free(s, uid);

	if (seat)
		*seat = (struct provider_seat){ .state = PROVIDER_SEAT_ASKED,
						.session = session,
						.uid = uid };
	return seat;
}

bool provider_seats_expect(const struct provider_seats *s, const struct provider_packet *packet)
{
	const struct provider_seat *seat = provider_seats_find(s, packet->session);

	/* (answers of an earlier session can come late) */
	if (!seat)
		return true;
	/* (STOPPED can come only after the answer to START, which comes once) */
	return packet->kind == PROVIDER_STOPPED ? seat->is_answered : !seat->is_answered;
}

bool provider_seats_answer(struct provider_seats *s, const struct provider_packet *packet)
{
	struct provider_seat *seat = provider_seats_find(s, packet->session);
	bool has_ended = packet->kind == PROVIDER_STOPPED || packet->error < 0;

	if (!seat)
		return false;
	if (packet->kind == PROVIDER_STARTED) {
		seat->is_answered = true;
		seat->error = packet->error;
	}
	if (has_ended)
		seat->state = seat->state == PROVIDER_SEAT_LEFT ? PROVIDER_SEAT_FREE
								: PROVIDER_SEAT_STOPPED;
	else if (seat->state == PROVIDER_SEAT_ASKED)
		seat->state = PROVIDER_SEAT_STARTED;
	return seat->state == PROVIDER_SEAT_FREE;
}

bool provider_seat_leave(struct provider_seat *seat)
{
	bool runs = seat->state == PROVIDER_SEAT_ASKED || seat->state == PROVIDER_SEAT_STARTED;

	if (seat->state != PROVIDER_SEAT_LEFT)
		seat->state = runs ? PROVIDER_SEAT_LEFT : PROVIDER_SEAT_FREE;
	return runs;
}

/* ---- memory ---- */

int provider_memory_take(struct provider_memory *m, uint32_t uid, uint64_t bytes)
{
	uint64_t key = (uint64_t)uid + 1, sum = (uintptr_t)table_get(&m->of_users, key);
	int r;

	if (m->bytes + bytes > PROVIDER_BUFFERS_BYTES_MAX)
		return -ENOBUFS;
	if (uid != 0 && m->bytes + bytes > PROVIDER_BUFFERS_BYTES_MAX - PROVIDER_BUFFERS_BYTES_ROOT)
		return -ENOBUFS;
	if (uid != 0 && sum > 0 &&
	    (sum + bytes > PROVIDER_BUFFERS_BYTES_MAX / 2 ||
	     sum + bytes > PROVIDER_BUFFERS_BYTES_MAX - m->bytes))
		return -ENOBUFS;
	r = table_set(&m->of_users, key, (void *)(uintptr_t)(sum + bytes));
	if (r == 0)
		m->bytes += bytes;
	return r;
}

void provider_memory_give(struct provider_memory *m, uint32_t uid, uint64_t bytes)
{
	uint64_t key = (uint64_t)uid + 1, sum = (uintptr_t)table_get(&m->of_users, key);

	m->bytes -= bytes;
	if (sum > bytes)
		table_set(&m->of_users, key, (void *)(uintptr_t)(sum - bytes));
	else
		table_remove(&m->of_users, key);
}
