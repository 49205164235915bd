/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/tables/table-heap.h"

#include <errno.h>

/* The last snapshot of a process. */
struct table_snapshot {
	uint32_t sequence;
	bool final;
};

void table_heap_deinit(struct table_heap *h)
{
	table_deinit_free(&h->snapshots);
}

static int table_heap_note_snapshot(struct table_heap *h, const struct event *ev)
{
	struct table_snapshot *s = table_make(&h->snapshots, (uint64_t)ev->pid + 1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	*s = (struct table_snapshot){ ev->snapshot.sequence, ev->snapshot.final };
	return 0;
}

static int table_heap_put_event(struct table_heap *h, const struct event *ev)
{
	const enum table_number t = TABLE_ALLOCATIONS;
	bool alloc = ev->kind == EVENT_ALLOC;
	uint64_t stack = table_stacks_named(h->stacks, ev->pid, ev->block.stack);

	table_put_time(h->set, t, ALLOCATION_TIME, ev->ts_ns);
	table_put_text(h->set, t, ALLOCATION_WHAT, alloc ? "alloc" : "free");
	table_put_text(h->set, t, ALLOCATION_RESOURCE, resource_names[ev->block.resource]);
	table_put(h->set, t, ALLOCATION_ID, ev->block.id);
	if (alloc)
		table_put(h->set, t, ALLOCATION_SIZE, ev->block.size);
	table_put_text(h->set, t, ALLOCATION_FUNCTION, ev->block.function);
	if (stack)
		table_put(h->set, t, ALLOCATION_STACK, stack);
	return table_put_thread(h->set, t, ALLOCATION_THREAD, ev->tid, ev->pid)
		       ?: table_end_row(h->set, t);
}

static int table_heap_put_block(struct table_heap *h, const struct event *ev)
{
	const struct table_snapshot *s = table_get(&h->snapshots, (uint64_t)ev->pid + 1);
	uint64_t stack = table_stacks_named(h->stacks, ev->pid, ev->block.stack);
	const enum table_number t = TABLE_BLOCKS;

	table_put_time(h->set, t, BLOCK_TIME, ev->ts_ns);
	if (s)
		table_put(h->set, t, BLOCK_SNAPSHOT, s->sequence);
	table_put(h->set, t, BLOCK_FINAL, s && s->final);
	table_put_text(h->set, t, BLOCK_RESOURCE, resource_names[ev->block.resource]);
	table_put(h->set, t, BLOCK_ID, ev->block.id);
	table_put(h->set, t, BLOCK_SIZE, ev->block.size);
	if (ev->block.since_ns)
		table_put_time(h->set, t, BLOCK_SINCE, ev->block.since_ns);
	table_put_text(h->set, t, BLOCK_REACH, reach_names[ev->block.reach]);
	table_put_text(h->set, t, BLOCK_FUNCTION, ev->block.function);
	table_put_text(h->set, t, BLOCK_TEXT, ev->block.text);
	if (stack)
		table_put(h->set, t, BLOCK_STACK, stack);
	return table_put_thread(h->set, t, BLOCK_THREAD, ev->block.thread, ev->pid)
		       ?: table_end_row(h->set, t);
}

static int table_heap_put_usage(struct table_heap *h, const struct event *ev)
{
	uint64_t stack = table_stacks_named(h->stacks, ev->pid, ev->usage.stack);
	const enum table_number t = TABLE_USAGE;

	table_put_time(h->set, t, USAGE_TIME, ev->ts_ns);
	table_put(h->set, t, USAGE_PROCESS, ev->pid);
	table_put_text(h->set, t, USAGE_RESOURCE, resource_names[ev->usage.resource]);
	table_put(h->set, t, USAGE_BLOCKS, ev->usage.blocks);
	table_put(h->set, t, USAGE_BYTES, ev->usage.bytes);
	table_put(h->set, t, USAGE_ALLOCATIONS, ev->usage.allocations);
	table_put(h->set, t, USAGE_ALLOCATED, ev->usage.allocated_bytes);
	if (stack)
		table_put(h->set, t, USAGE_STACK, stack);
	return table_end_row(h->set, t);
}

int table_heap_add(struct table_heap *h, const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_SNAPSHOT:
		return table_heap_note_snapshot(h, ev);
	case EVENT_ALLOC:
	case EVENT_FREE:
		return table_heap_put_event(h, ev);
	case EVENT_USAGE:
		return table_heap_put_usage(h, ev);
	case EVENT_BLOCK:
		return table_heap_put_block(h, ev);
	default:
		return 0;
	}
}
