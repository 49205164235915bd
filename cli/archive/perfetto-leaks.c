/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An event EVENT_USAGE has the sum of the live blocks of one stack at one time. The report of `kymo
 * leaks` is made from the live blocks themselves, including those without a stack. At the end of a
 * watch, the differences between the last sums and the report are written. If the allocations were
 * sampled, the report has estimates, and the sums are not used.
 */
#include "cli/archive/perfetto-leaks.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/table.h"
#include "reader/views/leaks.h"
#include "writer/perfetto/perfetto-heap.h"

/* The live blocks of a callstack in a watch: as last written, and (final_*) as in the report. */
struct perfetto_leaks_live {
	const struct leak_watch *watch;
	uint64_t callstack;
	uint64_t blocks, bytes;
	uint64_t final_blocks, final_bytes;
};

/*
 * The live blocks and bytes at one time, and the blocks and bytes that were allocated until then.
 */
struct perfetto_leaks_amount {
	uint64_t blocks, bytes, allocations, allocated_bytes;
};

/* The last sum of a stack, by the id of the stack, in a watch. */
struct perfetto_leaks_sum {
	struct perfetto_leaks_live *live; /* borrowed */
	struct perfetto_leaks_amount amount;
};

struct perfetto_leaks {
	struct fxt_perfetto_samples *samples; /* borrowed */
	struct perfetto_heap *heap;
	struct leaks *leaks;  /* NULL before the first watch */
	struct table stacks;  /* hash of a process and the id of a stack -> callstack */
	struct table nodes;   /* innermost call of a stack + 1 -> callstack */
	struct table sums;    /* hash of a watch and the id of a stack -> sum, owned */
	struct table lives;   /* hash of a watch and a callstack -> live, owned */
	uint64_t no_stack_id; /* callstack of blocks without a stack; 0 = not needed yet */
	uint64_t now_ns;
};

int perfetto_leaks_new(struct perfetto_leaks **ret, struct fxt_perfetto_samples *samples)
{
	_cleanup_(perfetto_leaks_freep) struct perfetto_leaks *p = calloc(1, sizeof(*p));

	if (!p || perfetto_heap_new(&p->heap) < 0)
		return -ENOMEM;
	p->samples = samples;
	*ret = TAKE_PTR(p);
	return 0;
}

struct perfetto_leaks *perfetto_leaks_free(struct perfetto_leaks *p)
{
	if (!p)
		return NULL;
	leaks_free(p->leaks);
	perfetto_heap_free(p->heap);
	table_deinit(&p->stacks);
	table_deinit(&p->nodes);
	table_deinit_free(&p->sums);
	table_deinit_free(&p->lives);
	return free_ptr(p);
}

static uint64_t perfetto_leaks_key(uint64_t of, uint64_t id)
{
	const uint64_t key[] = { of, id };

	return table_hash(key, sizeof(key));
}

/* ---- stacks ---- */

static int perfetto_leaks_add_stack(struct perfetto_leaks *p, const struct event *ev)
{
	uint64_t callstack;
	uint32_t node;

	if (ev->sample.id == 0)
		return 0;
	/* (the profile has this stack already; the call only returns its node) */
	if (profile_keep_stack(p->leaks->profile, ev, &node) < 0 ||
	    fxt_perfetto_samples_keep_stack(p->samples, ev, &callstack) < 0 ||
	    table_set(&p->nodes, (uint64_t)node + 1, (void *)(uintptr_t)callstack) < 0)
		return -ENOMEM;
	return table_set(&p->stacks, perfetto_leaks_key(ev->pid, ev->sample.id),
			 (void *)(uintptr_t)callstack);
}

/*
 * Sets *RET to CALLSTACK or, if CALLSTACK is NULL, to the callstack of blocks without a stack.
 * Returns 0 or -ENOMEM.
 */
static int perfetto_leaks_callstack(struct perfetto_leaks *p, const void *callstack, uint64_t *ret)
{
	int r = 0;

	if (!callstack && p->no_stack_id == 0)
		r = fxt_perfetto_samples_keep_stack(p->samples, NULL, &p->no_stack_id);
	*ret = callstack ? (uintptr_t)callstack : p->no_stack_id;
	return r;
}

static struct perfetto_leaks_live *
perfetto_leaks_live(struct perfetto_leaks *p, const struct leak_watch *w, uint64_t callstack)
{
	struct perfetto_leaks_live *live =
		table_make(&p->lives, perfetto_leaks_key((uintptr_t)w, callstack), sizeof(*live));

	if (live) {
		live->watch = w;
		live->callstack = callstack;
	}
	return live;
}

/* ---- changes ---- */

/*
 * Writes that LIVE has the blocks and bytes of NOW from TS_NS on. The allocations in NOW are those
 * since the last change, as far as they are known; there can have been more.
 */
static int perfetto_leaks_change(struct perfetto_leaks *p, struct perfetto_leaks_live *live,
				 uint64_t ts_ns, const struct perfetto_leaks_amount *now,
				 struct outbuf *to)
{
	struct perfetto_heap_change c = {
		.allocations = now->allocations,
		.allocated_bytes = now->allocated_bytes,
	};

	if (live->blocks + c.allocations < now->blocks)
		c.allocations = now->blocks - live->blocks;
	if (live->bytes + c.allocated_bytes < now->bytes)
		c.allocated_bytes = now->bytes - live->bytes;
	c.frees = live->blocks + c.allocations - now->blocks;
	c.freed_bytes = live->bytes + c.allocated_bytes - now->bytes;
	live->blocks = now->blocks;
	live->bytes = now->bytes;
	if (c.allocations + c.allocated_bytes + c.frees + c.freed_bytes == 0)
		return 0;
	return perfetto_heap_add(p->heap, live->watch->pid, ts_ns, p->now_ns, live->callstack, &c,
				 fxt_perfetto_samples_kept(p->samples), to);
}

/*
 * Returns the sum for EV in W, or NULL if there is no memory. The sum keeps the first callstack of
 * its id, since the frames of a stack can get other names later.
 */
static struct perfetto_leaks_sum *
perfetto_leaks_sum(struct perfetto_leaks *p, const struct leak_watch *w, const struct event *ev)
{
	struct perfetto_leaks_sum *sum = table_make(
		&p->sums, perfetto_leaks_key((uintptr_t)w, ev->usage.stack), sizeof(*sum));
	uint64_t callstack;

	if (!sum || sum->live)
		return sum;
	if (perfetto_leaks_callstack(
		    p, table_get(&p->stacks, perfetto_leaks_key(ev->pid, ev->usage.stack)),
		    &callstack) < 0)
		return NULL;
	sum->live = perfetto_leaks_live(p, w, callstack);
	return sum->live ? sum : NULL;
}

static int perfetto_leaks_add_usage(struct perfetto_leaks *p, const struct event *ev,
				    struct outbuf *to)
{
	const struct leak_watch *w = leaks_watch_at(p->leaks, ev->pid, ev->ts_ns);
	const struct perfetto_leaks_amount amount = { ev->usage.blocks, ev->usage.bytes,
						      ev->usage.allocations,
						      ev->usage.allocated_bytes };
	struct perfetto_leaks_amount now = { 0 };
	struct perfetto_leaks_sum *sum;

	if (!w || w->interval > 0 || ev->usage.resource != RESOURCE_MEMORY)
		return 0;
	sum = perfetto_leaks_sum(p, w, ev);
	if (!sum)
		return -ENOMEM;
	/* (several ids can have the same stack) */
	now.blocks = sum->live->blocks + amount.blocks - sum->amount.blocks;
	now.bytes = sum->live->bytes + amount.bytes - sum->amount.bytes;
	if (amount.allocations > sum->amount.allocations)
		now.allocations = amount.allocations - sum->amount.allocations;
	if (amount.allocated_bytes > sum->amount.allocated_bytes)
		now.allocated_bytes = amount.allocated_bytes - sum->amount.allocated_bytes;
	sum->amount = amount;
	return perfetto_leaks_change(p, sum->live, ev->ts_ns, &now, to);
}

int perfetto_leaks_add(struct perfetto_leaks *p, const struct event *ev, struct outbuf *to)
{
	int r = 0;

	if (ev->ts_ns > p->now_ns)
		p->now_ns = ev->ts_ns;
	if (ev->kind == EVENT_CLOCK && ev->clock.boot_ns > p->now_ns)
		p->now_ns = ev->clock.boot_ns;
	if (!p->leaks && ev->kind == EVENT_WATCH_BEGIN)
		r = leaks_new(&p->leaks, &(struct leaks_options){ .resources = 0 });
	if (!p->leaks || r < 0)
		return r;
	if (ev->kind == EVENT_SAMPLE && ev->sample.kind != SAMPLE_NAMED)
		return 0;
	r = leaks_add(p->leaks, ev);
	if (r == 0 && ev->kind == EVENT_SAMPLE)
		return perfetto_leaks_add_stack(p, ev);
	if (r == 0 && ev->kind == EVENT_USAGE)
		return perfetto_leaks_add_usage(p, ev, to);
	return r;
}

/* ---- the end ---- */

/* Returns the time at which the blocks in the groups of W were live. */
static uint64_t perfetto_leaks_end(const struct leak_watch *w)
{
	return w->n_snapshots > 0 && !w->logged ? w->snapshot_ns : w->end_ns;
}

static uint64_t perfetto_leaks_round(double v)
{
	return v > 0 ? (uint64_t)(v + 0.5) : 0;
}

static int perfetto_leaks_add_group(struct perfetto_leaks *p, const struct leak_watch *w,
				    const struct leak_group *g)
{
	struct perfetto_leaks_live *live;
	uint64_t callstack;

	if (g->resource != RESOURCE_MEMORY)
		return 0;
	if (perfetto_leaks_callstack(p,
				     g->node ? table_get(&p->nodes, (uint64_t)g->node + 1) : NULL,
				     &callstack) < 0)
		return -ENOMEM;
	live = perfetto_leaks_live(p, w, callstack);
	if (!live)
		return -ENOMEM;
	live->final_blocks += perfetto_leaks_round(g->all.blocks);
	live->final_bytes += perfetto_leaks_round(g->all.bytes);
	return 0;
}

DEFINE_ORDER_OF_POINTERS(compare_lives, struct perfetto_leaks_live,
	COMPARE(perfetto_leaks_end(x->watch), perfetto_leaks_end(y->watch))
		?: COMPARE(x->watch->pid, y->watch->pid)
		?: COMPARE(x->watch->number, y->watch->number)
		?: COMPARE(x->callstack, y->callstack))

static int perfetto_leaks_write_ends(struct perfetto_leaks *p, struct perfetto_leaks_live **lives,
				     size_t n, struct outbuf *to)
{
	const struct perfetto_leaks_amount none = { 0 };
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		const struct perfetto_leaks_amount end = { lives[i]->final_blocks,
							   lives[i]->final_bytes, 0, 0 };

		r = perfetto_leaks_change(p, lives[i], perfetto_leaks_end(lives[i]->watch), &end,
					  to);
	}
	/* After an exec, the next program of the process does not have the memory of this one. */
	for (size_t i = 0; r == 0 && i < n; i++)
		if (strcmp(lives[i]->watch->reason, "exec") == 0)
			r = perfetto_leaks_change(p, lives[i], lives[i]->watch->end_ns + 1, &none,
						  to);
	return r;
}

int perfetto_leaks_finish(struct perfetto_leaks *p, struct outbuf *to)
{
	_cleanup_free_ struct perfetto_leaks_live **lives = NULL;
	struct perfetto_leaks_live *live;
	size_t n = 0, room = 0;
	int r;

	if (!p->leaks)
		return 0;
	r = leaks_finish(p->leaks);
	for (size_t i = 0; r == 0 && i < p->leaks->n_watches; i++) {
		const struct leak_watch *w = p->leaks->watches[i];

		for (size_t j = 0; r == 0 && j < w->n_groups; j++)
			r = perfetto_leaks_add_group(p, w, w->groups[j]);
	}
	for (size_t pos = 0; r == 0 && (live = table_next(&p->lives, &pos));) {
		if (GROW(lives, room, n + 1) < 0)
			return -ENOMEM;
		lives[n++] = live;
	}
	if (r < 0 || n == 0)
		return r;
	SORT(lives, n, compare_lives);
	r = perfetto_leaks_write_ends(p, lives, n, to);
	perfetto_heap_flush(p->heap, fxt_perfetto_samples_kept(p->samples), to);
	return r < 0 || to->error < 0 ? -ENOMEM : 0;
}
