/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/proc/cgroup-queries.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/table.h"
#include "bpf/record.h"
#include "capture/proc/proc-answers.h"

/* Between two looks at the queue: most of what belongs together has come by then. */
#define ASKS_NS       UINT64_C(50000000)
#define WALK_NS       UINT64_C(2000000)  /* a piece of the walk */
#define FIRST_WALK_NS UINT64_C(20000000) /* before anything is reported */

/* What took a time is done again when that many times it have gone. */
enum { ASKS_SHARE = 20, WALK_SHARE = 100 };

/* As struct proc_cgroup. */
static int cgroup_queries_keep(uint64_t id, const char *path, void *userdata)
{
	struct proc_cgroup head = { .id = id, .size = (uint32_t)strlen(path) + 1 };
	char *p = outbuf_reserve(userdata, sizeof(head) + proc_padded(head.size));

	if (!p)
		return -ENOMEM;
	memcpy(p, &head, sizeof(head));
	memcpy(p + sizeof(head), path, head.size);
	return 0;
}

/* The walk goes on, or does ALL of its first piece. */
static void cgroup_queries_walk(struct cgroup_queries *a, bool all, struct outbuf *found)
{
	uint64_t before_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID), took_ns;

	a->walking = (all ? cgroup_paths_list(a->paths, FIRST_WALK_NS, cgroup_queries_keep, found)
			  : cgroup_paths_walk(a->paths, WALK_NS, cgroup_queries_keep, found)) > 0;
	took_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns;
	a->walk_ns = clock_read_ns(CLOCK_MONOTONIC) + (WALK_SHARE - 1) * took_ns;
}

/* Whether the cgroup of ID is to be asked for, at the beginning. */
static bool cgroup_queries_is_wanted(const struct rec_identity *id, bool own, struct table *seen)
{
	if (id->tid != id->pid || id->cgroup_id == 0 || (own && !(id->flags & IDENTITY_SELECTED)) ||
	    table_get(seen, id->cgroup_id))
		return false;
	/* (without memory it is asked for again) */
	table_set(seen, id->cgroup_id, seen);
	return true;
}

void cgroup_queries_begin(struct cgroup_queries *a, const struct outbuf *tasks, bool own,
			  struct outbuf *found)
{
	const struct rec_task *list = (const struct rec_task *)tasks->data;
	struct table seen = { 0 };

	if (!a->paths && cgroup_paths_new("", &a->paths) < 0)
		return;
	for (size_t i = 0; i < tasks->size / sizeof(*list); i++) {
		const struct rec_identity *id = &list[i].task;

		if (cgroup_queries_is_wanted(id, own, &seen))
			cgroup_paths_find(a->paths, id->cgroup_id, id->pid, cgroup_queries_keep,
					  found);
	}
	table_deinit(&seen);
	cgroup_queries_walk(a, true, found);
}

void cgroup_queries_deinit(struct cgroup_queries *a)
{
	a->paths = cgroup_paths_free(a->paths);
}

bool cgroup_queries_add(struct cgroup_queries *a, const struct cgroup_ask *ask)
{
	if (a->n == CGROUP_ASKS_MAX)
		return false;
	a->queue[a->n++] = *ask;
	return true;
}

uint64_t cgroup_queries_next_ns(const struct cgroup_queries *a)
{
	uint64_t asks_ns = a->n > 0 ? a->next_ns : UINT64_MAX;
	uint64_t walk_ns = a->walking ? a->walk_ns : UINT64_MAX;

	return asks_ns < walk_ns ? asks_ns : walk_ns;
}

unsigned cgroup_queries_take(struct cgroup_queries *a, struct cgroup_ask batch[CGROUP_ASKS_AT_ONCE])
{
	unsigned n = a->n < CGROUP_ASKS_AT_ONCE ? a->n : CGROUP_ASKS_AT_ONCE;

	if (clock_read_ns(CLOCK_MONOTONIC) < a->next_ns)
		return 0;
	memcpy(batch, a->queue, n * sizeof(*batch));
	a->n -= n;
	memmove(a->queue, a->queue + n, a->n * sizeof(*a->queue));
	return n;
}

/* Whether the last of the N in BATCH asks for a cgroup that an earlier one has FOUND. */
static bool is_answered(const struct cgroup_ask *batch, unsigned n, const bool *found)
{
	for (unsigned i = 0; i + 1 < n; i++)
		if (found[i] && batch[i].id == batch[n - 1].id)
			return true;
	return false;
}

static void ask_processes(struct cgroup_queries *a, const struct cgroup_ask *batch, unsigned n,
			  struct outbuf *found)
{
	bool answered[CGROUP_ASKS_AT_ONCE];
	size_t before;

	for (unsigned i = 0; i < n; i++) {
		before = found->size;
		answered[i] = false;
		if (is_answered(batch, i + 1, answered))
			continue;
		cgroup_paths_find(a->paths, batch[i].id, batch[i].pid, cgroup_queries_keep, found);
		answered[i] = found->size > before;
	}
}

void cgroup_queries_answer(struct cgroup_queries *a, const struct cgroup_ask *batch, unsigned n,
			   struct outbuf *found)
{
	uint64_t before_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID), took_ns, now_ns;

	if (a->paths)
		ask_processes(a, batch, n, found);
	now_ns = clock_read_ns(CLOCK_MONOTONIC);
	if (n > 0) {
		a->walking = a->paths != NULL;
		took_ns = ASKS_SHARE * (clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns);
		a->next_ns = now_ns + (took_ns > ASKS_NS ? took_ns : ASKS_NS);
	}
	if (a->walking && now_ns >= a->walk_ns)
		cgroup_queries_walk(a, false, found);
}
