/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/session/chunks.h"

#include "base/cleanup.h"

/* A chunk has this share of the data that a flight recorder keeps: 1 / CHUNKS_KEPT. */
enum { CHUNKS_KEPT = 8 };

/* The interval between checks for room. */
#define NO_ROOM_NS UINT64_C(1000000000)

static struct chunk_begin *chunks_begin_of(struct chunks *c, uint64_t n)
{
	return &c->begins[n % ARRAY_SIZE(c->begins)];
}

void chunks_begin(struct chunks *c, const struct chunk_begin *begin, uint64_t dropped)
{
	struct chunk_begin *now = chunks_begin_of(c, c->n++);

	*now = *begin;
	now->head_bytes = 0;
	now->body_bytes = c->body_bytes;
	c->bytes = 0;
	c->dropped = dropped;
	c->due_ns = 0;
	c->wanted = false;
}

void chunks_add(struct chunks *c, enum store_part part, uint64_t bytes)
{
	c->all_bytes += bytes;
	c->bytes += bytes;
	if (part == STORE_BODY)
		c->body_bytes += bytes;
	if (part == STORE_HEAD)
		chunks_begin_of(c, c->n - 1)->head_bytes += bytes;
}

const struct chunk_begin *chunks_begun(const struct chunks *c, uint64_t n)
{
	bool known = n < c->n && c->n - n <= ARRAY_SIZE(c->begins);

	return &c->begins[(known ? n : c->n - 1) % ARRAY_SIZE(c->begins)];
}

const struct chunk_begin *chunks_now(const struct chunks *c)
{
	return chunks_begun(c, c->n - 1);
}

uint64_t chunks_bytes_since(const struct chunks *c, const struct chunk_begin *begin)
{
	return begin->head_bytes + c->body_bytes - begin->body_bytes;
}

/* Returns the size of this chunk in its file. If bytes are not compressed yet, their compressed
 * size is estimated with the ratio so far. */
static uint64_t chunks_file_bytes(const struct chunks *c, const struct session_options *o,
				  const struct output_status *status)
{
	if (o->compress == PACK_NONE || c->all_bytes == 0)
		return c->bytes;
	return (uint64_t)((double)c->bytes * (double)status->bytes / (double)c->all_bytes);
}

/*
 * Returns true if the chunk of a flight recorder must end. A chunk whose head is larger than its
 * body is inefficient, so such a chunk may be longer. If the output had no room for data of this
 * chunk, the chunk ends at once.
 */
static bool chunks_flight_is_due(const struct chunks *c, const struct session_options *o,
				 const struct output_status *status, uint64_t age_ns)
{
	uint64_t share = c->bytes >= 2 * chunks_now(c)->head_bytes ? CHUNKS_KEPT : 2;
	uint64_t keeps = status->limit_known ? status->limit : o->flight_bytes;

	/*
	 * If there was no room even for the head, an immediate retry would fail, too, so the chunk
	 * does not end at once.
	 */
	if (status->dropped != c->dropped && status->head_bytes > 0)
		return true;
	if (status->dropped != c->dropped || keeps == 0)
		return age_ns >= NO_ROOM_NS;
	if (chunks_file_bytes(c, o, status) >= keeps / share)
		return true;
	return o->flight_ns && age_ns >= o->flight_ns / share;
}

bool chunks_due(const struct chunks *c, const struct session_options *o,
		const struct output_status *status, uint64_t at_ns)
{
	const struct chunk_begin *begin = chunks_now(c);
	uint64_t age_ns = at_ns > begin->ns ? at_ns - begin->ns : 0;

	if (age_ns == 0)
		return false;
	if (c->wanted)
		return true;
	if (o->mode == SESSION_FLIGHT)
		return chunks_flight_is_due(c, o, status, age_ns);
	return (o->rotate_ns && age_ns >= o->rotate_ns) ||
	       (o->rotate_bytes && chunks_file_bytes(c, o, status) >= o->rotate_bytes &&
		c->bytes >= 2 * begin->head_bytes);
}
