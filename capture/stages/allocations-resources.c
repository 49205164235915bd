/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/stages/allocations-parts.h"

#include <string.h>

#include "base/text.h"
#include "capture/programs/resource-calls.h"
#include "capture/stages/resources.h"

/* ---- records ---- */

/* Writes EVENT_ALLOC or EVENT_FREE for BLOCK, which CALL has made or released. */
static int allocations_log_block(struct watch *w, enum event_kind kind,
				 const struct resource_block *block,
				 const struct rec_resource *call)
{
	struct allocations *a = w->of;
	struct event ev;
	int r;

	if (!a->log || !call || call->head.ts_ns < a->pipe->from_ns ||
	    call->head.ts_ns > a->pipe->to_ns)
		return 0;
	r = pipeline_announce_thread(a->pipe, call->head.tid, w->pid);
	ev = allocations_about(a, w, kind, call->head.ts_ns);
	ev.tid = tasks_koid(a->pipe->tasks, call->head.tid);
	ev.cpu = call->head.cpu;
	ev.block.resource = block->resource;
	ev.block.id = block->id;
	ev.block.size = kind == EVENT_ALLOC ? block->size : 0;
	ev.block.stack = kind == EVENT_ALLOC ? block->origin.stack : 0;
	ev.block.context = kind == EVENT_ALLOC ? block->origin.context : 0;
	ev.block.function = resource_call_name(call->operation);
	ev.block.text = "";
	return r < 0 ? r : allocations_write_event(a, &ev);
}

static int allocations_on_made(const struct resource_block *block, const struct rec_resource *call,
			       void *userdata)
{
	return allocations_log_block(userdata, EVENT_ALLOC, block, call);
}

static int allocations_on_freed(const struct resource_block *block, const struct rec_resource *call,
				void *userdata)
{
	return allocations_log_block(userdata, EVENT_FREE, block, call);
}

int allocations_write_sums(struct allocations *a, struct watch *w, uint64_t ts_ns)
{
	struct event ev = allocations_about(a, w, EVENT_USAGE, ts_ns);
	struct resource_sums *sums;
	int r = 0;

	for (size_t pos = 0;
	     r == 0 && w->resources && (sums = resources_next_sums(w->resources, &pos));) {
		if (!sums->changed || (sums->stack && !table_get(&w->stacks, sums->stack)))
			continue;
		sums->changed = false;
		ev.usage.resource = sums->resource;
		ev.usage.stack = sums->stack;
		ev.usage.blocks = sums->blocks;
		ev.usage.bytes = sums->bytes;
		ev.usage.allocations = sums->allocations;
		ev.usage.allocated_bytes = sums->allocated_bytes;
		r = allocations_write_event(a, &ev);
	}
	return r;
}

int allocations_on_resource(struct allocations *a, struct watch *w, const struct rec_head *rec)
{
	const struct resources_sink sink = { allocations_on_made, allocations_on_freed, w };
	int r = w->resources ? 0 : resources_new(&sink, &w->resources);

	if (r == 0 && rec->ts_ns >= w->next_sums_ns) {
		r = w->next_sums_ns ? allocations_write_sums(a, w, rec->ts_ns) : 0;
		w->next_sums_ns = rec->ts_ns + a->usage_interval_ns;
	}
	if (r < 0)
		return r;
	switch (rec->kind) {
	case REC_LISTING:
		return resources_listing(w->resources, (const struct rec_listing *)rec);
	case REC_FOUND:
		return resources_found(w->resources, (const struct rec_found *)rec);
	default:
		return resources_record(w->resources, (const struct rec_resource *)rec);
	}
}

/* ---- blocks ---- */

/* Receives blocks from the books (capture/stages/resources.h). */
struct block_writer {
	const struct allocations *allocations;
	const struct watch *watch;
	struct fxt_archive *to;
	uint64_t ts_ns;
	int (*name)(uint32_t tid, void *userdata); /* writes the name of TID */
	void *userdata;
};

static int allocations_count_resource(const struct resource_block *block, void *userdata)
{
	uint64_t *n = userdata;

	(void)block;
	++*n;
	return 0;
}

/* Returns the event for BLOCK. Its text is cleaned into TEXT. */
static struct event allocations_block_event(const struct allocations *a, const struct watch *w,
					    const struct resource_block *block, uint64_t ts_ns,
					    char text[static BLOCK_TEXT_MAX])
{
	struct event ev = allocations_about(a, w, EVENT_BLOCK, ts_ns);

	text_clean(text, BLOCK_TEXT_MAX, block->text, strlen(block->text));
	ev.block.resource = block->resource;
	ev.block.id = block->id;
	ev.block.size = block->size;
	ev.block.stack = block->origin.stack;
	ev.block.context = block->origin.context;
	ev.block.since_ns = block->origin.since_ns;
	ev.block.thread = block->origin.tid ? tasks_koid_at(a->pipe->tasks, block->origin.tid,
							    block->origin.since_ns)
					    : w->koid;
	ev.block.function = resource_call_name(block->origin.operation);
	ev.block.text = text;
	return ev;
}

static int allocations_write_block(const struct resource_block *block, void *userdata)
{
	const struct block_writer *s = userdata;
	int r = block->origin.tid ? s->name(block->origin.tid, s->userdata) : 0;
	char text[BLOCK_TEXT_MAX];
	struct event ev = allocations_block_event(s->allocations, s->watch, block, s->ts_ns, text);

	return r < 0 ? r : fxt_archive_event(s->to, &ev);
}

static int allocations_announce_thread(uint32_t tid, void *userdata)
{
	const struct allocations *a = userdata;

	return pipeline_announce(a->pipe, tid);
}

int allocations_count_resources(const struct watch *w, bool execed, uint64_t *ret)
{
	*ret = 0;
	return w->resources ? resources_each(w->resources, execed, allocations_count_resource, ret)
			    : 0;
}

int allocations_write_resources(struct allocations *a, const struct watch *w, uint64_t ts_ns,
				bool execed)
{
	struct block_writer s = { a, w, a->pipe->archive, ts_ns, allocations_announce_thread, a };

	return w->resources ? resources_each(w->resources, execed, allocations_write_block, &s) : 0;
}

int allocations_head(const void *stage, const struct stage_head *h)
{
	const struct allocations *a = stage;
	struct block_writer s = { a, NULL, h->to, h->at_ns, h->name, h->userdata };
	int r = 0;

	for (size_t pos = 0; r == 0 && a->log && (s.watch = table_next(&a->watches, &pos));)
		if (s.watch->resources)
			r = resources_each(s.watch->resources, false, allocations_write_block, &s);
	return r;
}
