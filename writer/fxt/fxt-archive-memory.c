/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What programs allocate: events of category `memory`.
 */
#include <errno.h>

#include "writer/fxt/fxt-archive-args.h"

static const enum fxt_name resource_fxt_names[RESOURCE_MAX] = {
	[RESOURCE_MEMORY] = FXT_NAME_MEMORY,
	[RESOURCE_MAPPING] = FXT_NAME_MAPPING,
	[RESOURCE_FD] = FXT_NAME_FD,
	[RESOURCE_SEGMENT] = FXT_NAME_SEGMENT,
	[RESOURCE_ATTACHMENT] = FXT_NAME_ATTACHMENT,
	[RESOURCE_SHM] = FXT_NAME_SHM,
	[RESOURCE_THREAD] = FXT_NAME_THREAD,
};

static const enum fxt_name reach_fxt_names[REACH_MAX] = {
	[REACH_LOST] = FXT_NAME_LOST,
	[REACH_POSSIBLE] = FXT_NAME_POSSIBLE,
	[REACH_REACHABLE] = FXT_NAME_REACHABLE,
};

static void fxt_archive_memory_add_named(struct args *args, enum fxt_name name, enum fxt_name value)
{
	archive_args_add(args, FXT_ARG_STRING, name)->text = fxt_named(value);
}

static void add_interned(struct args *args, enum fxt_name name, const char *text)
{
	if (*text)
		archive_args_add(args, FXT_ARG_STRING, name)->text = fxt_interned(text);
}

static int write_memory(struct fxt_archive *a, const struct event *ev, enum fxt_name name,
			const struct args *args)
{
	return fxt_archive_instant(a, ev, FXT_NAME_MEMORY, name, args);
}

/* On the main thread of EV's process. */
static int write_of_process(struct fxt_archive *a, const struct event *ev, enum fxt_name name,
			    const struct args *args)
{
	const struct event at_process = { .ts_ns = ev->ts_ns, .pid = ev->pid, .tid = ev->pid };

	return write_memory(a, &at_process, name, args);
}

int fxt_archive_stack_name(struct fxt_archive *a, const struct event *ev)
{
	struct args args = { .n = 0 };

	add_u64(&args, FXT_NAME_ID, ev->sample.id);
	return write_memory(a, ev, FXT_NAME_STACK, &args);
}

int fxt_archive_watch(struct fxt_archive *a, const struct event *ev)
{
	struct args args = { .n = 0 };

	archive_args_add_text(&args, FXT_NAME_RESOURCES, ev->watch.resources);
	if (*ev->watch.allocators)
		archive_args_add_text(&args, FXT_NAME_ALLOCATORS, ev->watch.allocators);
	add_bool(&args, FXT_NAME_COMPLETE, ev->watch.complete);
	add_u64(&args, FXT_NAME_INTERVAL, ev->watch.interval);
	add_u64(&args, FXT_NAME_MIN_BYTES, ev->watch.min_bytes);
	return write_of_process(a, ev, FXT_NAME_WATCH, &args);
}

int fxt_archive_watched(struct fxt_archive *a, const struct event *ev)
{
	struct args args = { .n = 0 };

	archive_args_add_text(&args, FXT_NAME_REASON, ev->watched.reason);
	add_u64(&args, FXT_NAME_UNMATCHED, ev->watched.unmatched);
	add_u64(&args, FXT_NAME_FAILED, ev->watched.failed);
	add_u64(&args, FXT_NAME_LOST, ev->watched.lost);
	add_u64(&args, FXT_NAME_FULL, ev->watched.full);
	add_u64(&args, FXT_NAME_NO_STACK, ev->watched.no_stack);
	return write_of_process(a, ev, FXT_NAME_WATCHED, &args);
}

static int add_resource(struct args *args, enum resource resource)
{
	if (resource >= RESOURCE_MAX)
		return -EINVAL;
	fxt_archive_memory_add_named(args, FXT_NAME_RESOURCE, resource_fxt_names[resource]);
	return 0;
}

/* What all that is said of a block begins with. */
static int fxt_archive_memory_add_block(struct args *args, const struct event *ev)
{
	int r = add_resource(args, ev->block.resource);

	add_pointer(args, FXT_NAME_ADDRESS, ev->block.id);
	return r;
}

static void add_origin(struct args *args, const struct event *ev)
{
	add_u64(args, FXT_NAME_SIZE, ev->block.size);
	if (ev->block.stack)
		add_u64(args, FXT_NAME_STACK, ev->block.stack);
	add_interned(args, FXT_NAME_FUNCTION, ev->block.function);
	if (ev->block.context)
		archive_args_add_u32(args, FXT_NAME_CONTEXT, ev->block.context);
}

int fxt_archive_alloc(struct fxt_archive *a, const struct event *ev)
{
	struct args args = { .n = 0 };
	int r = fxt_archive_memory_add_block(&args, ev);

	add_origin(&args, ev);
	return r < 0 ? r : write_memory(a, ev, FXT_NAME_ALLOC, &args);
}

int fxt_archive_free(struct fxt_archive *a, const struct event *ev)
{
	struct args args = { .n = 0 };
	int r = fxt_archive_memory_add_block(&args, ev);

	add_interned(&args, FXT_NAME_FUNCTION, ev->block.function);
	return r < 0 ? r : write_memory(a, ev, FXT_NAME_FREE, &args);
}

int fxt_archive_block(struct fxt_archive *a, const struct event *ev)
{
	struct args args = { .n = 0 };
	int r = fxt_archive_memory_add_block(&args, ev);

	if (r < 0 || ev->block.reach >= REACH_MAX)
		return -EINVAL;
	add_origin(&args, ev);
	if (ev->block.since_ns)
		add_u64(&args, FXT_NAME_TIME, ev->block.since_ns);
	if (ev->block.thread)
		add_koid(&args, FXT_NAME_THREAD, ev->block.thread);
	add_interned(&args, FXT_NAME_TEXT, ev->block.text);
	/* (younger than the list of names, and not in it) */
	if (ev->block.reach == REACH_INDIRECT)
		add_interned(&args, FXT_NAME_REACH, reach_names[REACH_INDIRECT]);
	else if (ev->block.reach != REACH_UNKNOWN)
		fxt_archive_memory_add_named(&args, FXT_NAME_REACH,
					     reach_fxt_names[ev->block.reach]);
	return write_of_process(a, ev, FXT_NAME_BLOCK, &args);
}

int fxt_archive_usage(struct fxt_archive *a, const struct event *ev)
{
	struct args args = { .n = 0 };
	int r = add_resource(&args, ev->usage.resource);

	if (ev->usage.stack)
		add_u64(&args, FXT_NAME_STACK, ev->usage.stack);
	add_u64(&args, FXT_NAME_BLOCKS, ev->usage.blocks);
	add_u64(&args, FXT_NAME_BYTES, ev->usage.bytes);
	add_u64(&args, FXT_NAME_ALLOCATIONS, ev->usage.allocations);
	add_u64(&args, FXT_NAME_ALLOCATED_BYTES, ev->usage.allocated_bytes);
	return r < 0 ? r : write_of_process(a, ev, FXT_NAME_USAGE, &args);
}

int fxt_archive_snapshot(struct fxt_archive *a, const struct event *ev)
{
	struct args args = { .n = 0 };

	add_u64(&args, FXT_NAME_BLOCKS, ev->snapshot.blocks);
	archive_args_add_u32(&args, FXT_NAME_SEQUENCE, ev->snapshot.sequence);
	add_bool(&args, FXT_NAME_FINAL, ev->snapshot.final);
	return write_of_process(a, ev, FXT_NAME_SNAPSHOT, &args);
}

int fxt_archive_context(struct fxt_archive *a, const struct event *ev)
{
	struct args args = { .n = 0 };

	archive_args_add_text(&args, FXT_NAME_NAME, ev->context.name);
	archive_args_add_u32(&args, FXT_NAME_ID, ev->context.id);
	add_bool(&args, FXT_NAME_BEGIN, ev->context.begin);
	return fxt_archive_on_kymo(a, ev->ts_ns, FXT_NAME_MEMORY, FXT_NAME_CONTEXT, &args);
}
