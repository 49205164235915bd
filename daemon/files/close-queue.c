/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/files/close-queue.h"

#include <errno.h>
#include <stdlib.h>

#include "base/foreign-fds.h"

struct close_pending {
	struct close_pending *next;
	int fd;
};

struct close_line {
	uint64_t key;
	struct close_owner *owner;
	struct close_line *next; /* next line in the owner's list of waiting lines */
	struct close_pending *first, **last;
	size_t n;          /* number of descriptors, including the one that is being closed */
	uint64_t since_ns; /* start of the current close; 0 = no descriptor is being closed */
};

struct close_owner {
	uint64_t id;
	struct close_owner *next, *previous; /* neighbours in the ring of owners */
	struct close_line *first, **last;    /* list of waiting lines */
	unsigned n_busy, n_lines;
	size_t n; /* number of descriptors */
};

static uint64_t close_queue_close_line_key(const struct close_queue *q, uint64_t owner,
					   uint64_t place)
{
	const uint64_t words[] = { owner, place };

	return table_hash_seeded(q->seed, words, sizeof(words));
}

static struct close_owner *close_queue_close_owner_get(struct close_queue *q, uint64_t id)
{
	struct close_owner *o = table_get(&q->owners, id);

	if (o)
		return o;
	o = table_make(&q->owners, id, sizeof(*o));
	if (!o)
		return NULL;
	o->id = id;
	o->last = &o->first;
	o->next = o->previous = o;
	if (q->next) {
		o->next = q->next;
		o->previous = q->next->previous;
		o->previous->next = o->next->previous = o;
	} else {
		q->next = o;
	}
	return o;
}

static void close_queue_close_owner_drop(struct close_queue *q, struct close_owner *o)
{
	if (o->n_lines > 0)
		return;
	if (q->next == o)
		q->next = o->next == o ? NULL : o->next;
	o->previous->next = o->next;
	o->next->previous = o->previous;
	table_remove(&q->owners, o->id);
	free(o);
}

static void close_queue_close_line_wait(struct close_line *line)
{
	line->next = NULL;
	*line->owner->last = line;
	line->owner->last = &line->next;
}

static struct close_line *close_queue_close_line_get(struct close_queue *q, uint64_t owner,
						     uint64_t place)
{
	uint64_t key = close_queue_close_line_key(q, owner, place);
	struct close_line *line = table_get(&q->lines, key);
	struct close_owner *o;

	if (line)
		return line;
	o = close_queue_close_owner_get(q, owner);
	if (!o)
		return NULL;
	line = table_make(&q->lines, key, sizeof(*line));
	if (!line) {
		close_queue_close_owner_drop(q, o);
		return NULL;
	}
	line->key = key;
	line->owner = o;
	line->last = &line->first;
	o->n_lines++;
	close_queue_close_line_wait(line);
	return line;
}

int close_queue_add(struct close_queue *q, uint64_t owner, uint64_t place, int fd)
{
	struct close_pending *pending = malloc(sizeof(*pending));
	struct close_line *line;

	if (!pending)
		return -ENOMEM;
	line = close_queue_close_line_get(q, owner, place);
	if (!line) {
		free(pending);
		return -ENOMEM;
	}
	*pending = (struct close_pending){ NULL, fd };
	*line->last = pending;
	line->last = &pending->next;
	line->n++;
	line->owner->n++;
	q->n++;
	return 0;
}

static bool close_queue_close_owner_is_root(const struct close_owner *o)
{
	return o->id == FOREIGN_FD_OF(0);
}

/* Returns true if the limits allow one more active line of O. */
static bool close_queue_close_owner_may(const struct close_queue *q, const struct close_owner *o)
{
	if (q->n_busy >= CLOSE_AT_ONCE_MAX)
		return false;
	if (close_queue_close_owner_is_root(o))
		return true;
	if (q->n_busy - q->n_busy_root >= CLOSE_AT_ONCE_MAX - CLOSE_AT_ONCE_ROOT)
		return false;
	return o->n_busy <
	       (o->id == FOREIGN_FD_UNKNOWN ? CLOSE_AT_ONCE_UNKNOWN : CLOSE_AT_ONCE_PER_OWNER);
}

static void close_queue_close_owner_count(struct close_queue *q, struct close_owner *o, int n)
{
	o->n_busy += (unsigned)n;
	q->n_busy += (unsigned)n;
	if (close_queue_close_owner_is_root(o))
		q->n_busy_root += (unsigned)n;
}

/* Removes the next descriptor from LINE, which must have one. */
static int close_queue_close_line_begin(struct close_line *line, uint64_t now_ns)
{
	struct close_pending *pending = line->first;
	int fd = pending->fd;

	line->first = pending->next;
	if (!line->first)
		line->last = &line->first;
	line->since_ns = now_ns;
	free(pending);
	return fd;
}

/* Returns the next owner in turn whose line can become active, or NULL. */
static struct close_owner *close_queue_close_owner_next(const struct close_queue *q)
{
	struct close_owner *o = q->next;

	while (o) {
		if (o->first && close_queue_close_owner_may(q, o))
			return o;
		o = o->next == q->next ? NULL : o->next;
	}
	return NULL;
}

bool close_queue_is_ready(const struct close_queue *q)
{
	return close_queue_close_owner_next(q) != NULL;
}

struct close_line *close_queue_pop(struct close_queue *q, uint64_t now_ns, int *ret_fd)
{
	struct close_owner *o = close_queue_close_owner_next(q);
	struct close_line *line;

	if (!o)
		return NULL;
	line = o->first;
	o->first = line->next;
	if (!o->first)
		o->last = &o->first;
	close_queue_close_owner_count(q, o, 1);
	q->next = o->next;
	*ret_fd = close_queue_close_line_begin(line, now_ns);
	return line;
}

bool close_queue_done(struct close_queue *q, struct close_line *line, uint64_t now_ns, int *ret_fd)
{
	struct close_owner *o = line->owner;

	line->n--;
	o->n--;
	q->n--;
	if (line->first) {
		*ret_fd = close_queue_close_line_begin(line, now_ns);
		return true;
	}
	close_queue_close_owner_count(q, o, -1);
	table_remove(&q->lines, line->key);
	free(line);
	o->n_lines--;
	close_queue_close_owner_drop(q, o);
	return false;
}

size_t close_queue_backlog(const struct close_queue *q, uint64_t owner, uint64_t place,
			   uint64_t now_ns)
{
	const struct close_line *line =
		table_get(&q->lines, close_queue_close_line_key(q, owner, place));

	if (!line || line->n < CLOSE_QUEUED_MAX)
		return 0;
	return line->since_ns && now_ns - line->since_ns < CLOSE_STUCK_NS ? 0 : line->n;
}

bool close_queue_has_room(const struct close_queue *q, uint64_t owner, size_t files_max)
{
	const struct close_owner *o = table_get(&q->owners, owner);
	size_t owned_max = files_max / CLOSE_OWNED_PART;

	if (owner == FOREIGN_FD_OF(0))
		return q->n < files_max / CLOSE_ALL_PART_ROOT;
	if (owned_max > CLOSE_OWNED_MAX)
		owned_max = CLOSE_OWNED_MAX;
	return (o ? o->n : 0) < owned_max && q->n < files_max / CLOSE_ALL_PART;
}

void close_queue_deinit(struct close_queue *q)
{
	struct close_line *line;

	for (size_t pos = 0; (line = table_next(&q->lines, &pos));) {
		while (line->first)
			close_queue_close_line_begin(line, 0);
	}
	table_deinit_free(&q->lines);
	table_deinit_free(&q->owners);
	*q = (struct close_queue){ .seed = q->seed };
}
