/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * list-blocks ARCHIVE: what was seen of allocations, a line each, for tests:
 *
 *	watch    PID COMPLETE ALLOCATORS
 *	watched  PID REASON UNMATCHED FAILED LOST FULL NO_STACK
 *	snapshot PID SEQUENCE FINAL BLOCKS
 *	block    PID RESOURCE SIZE FUNCTION ADDRESS THREAD FRAMES
 *	usage    PID RESOURCE BLOCKS BYTES ALLOCATIONS ALLOCATED_BYTES FRAMES
 *	alloc    PID RESOURCE SIZE FUNCTION ADDRESS THREAD FRAMES
 *	free     PID RESOURCE 0 FUNCTION ADDRESS THREAD
 *
 * FRAMES: "ADDRESS@PATH", innermost first, with commas between them; the path is empty where nothing is
 * mapped. "-" = none.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "tests/support/archive-passes.h"

struct stack {
	uint32_t pid;
	uint64_t id;
	unsigned n_frames;
	uint64_t frames[];
};

struct list {
	const struct maps *maps;
	struct table stacks; /* by a hash of process and id; owned */
};

static uint64_t key_of(uint32_t pid, uint64_t id)
{
	const uint64_t both[] = { pid, id };

	return table_hash(both, sizeof(both));
}

static int keep_stack(struct list *l, const struct event *ev)
{
	uint64_t key = key_of(ev->pid, ev->sample.id);
	size_t size = ev->sample.n_frames * sizeof(uint64_t);
	struct stack *stack = malloc(sizeof(*stack) + size);

	if (!stack)
		return -ENOMEM;
	stack->pid = ev->pid;
	stack->id = ev->sample.id;
	stack->n_frames = ev->sample.n_frames;
	memcpy(stack->frames, ev->sample.frames, size);
	free(table_remove(&l->stacks, key));
	return table_set(&l->stacks, key, stack);
}

static void print_frames(const struct list *l, const struct event *ev, uint64_t id)
{
	const struct stack *stack = table_get(&l->stacks, key_of(ev->pid, id));

	if (!stack || stack->pid != ev->pid || stack->id != id || stack->n_frames == 0) {
		puts(id ? " unknown" : " -");
		return;
	}
	for (unsigned i = 0; i < stack->n_frames; i++) {
		uint64_t address = stack->frames[i];
		const struct mapping *m = maps_find(l->maps, ev->pid, address, ev->ts_ns);

		printf("%c%016" PRIx64 "@%s", i ? ',' : ' ', address, m ? m->path : "");
	}
	putchar('\n');
}

static void print_block(const struct list *l, const struct event *ev)
{
	const char *kind = ev->kind == EVENT_BLOCK ? "block"
			   : ev->kind == EVENT_ALLOC ? "alloc"
						     : "free";

	printf("%s %u %s %" PRIu64 " %s %" PRIu64 " %u", kind, ev->pid,
	       resource_names[ev->block.resource], ev->block.size,
	       *ev->block.function ? ev->block.function : "-", ev->block.id,
	       ev->kind == EVENT_BLOCK ? ev->block.thread : ev->tid);
	if (ev->kind == EVENT_FREE)
		putchar('\n');
	else
		print_frames(l, ev, ev->block.stack);
}

static int on_event(const struct maps *maps, const struct event *ev, void *userdata)
{
	struct list *l = userdata;

	l->maps = maps;
	switch (ev->kind) {
	case EVENT_SAMPLE:
		return ev->sample.kind == SAMPLE_NAMED ? keep_stack(l, ev) : 0;
	case EVENT_WATCH:
		printf("watch %u %d %s\n", ev->pid, ev->watch.complete, ev->watch.allocators);
		break;
	case EVENT_WATCHED:
		printf("watched %u %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
		       "\n",
		       ev->pid, ev->watched.reason, ev->watched.unmatched, ev->watched.failed,
		       ev->watched.lost, ev->watched.full, ev->watched.no_stack);
		break;
	case EVENT_SNAPSHOT:
		printf("snapshot %u %u %d %" PRIu64 "\n", ev->pid, ev->snapshot.sequence,
		       ev->snapshot.final, ev->snapshot.blocks);
		break;
	case EVENT_BLOCK:
	case EVENT_ALLOC:
	case EVENT_FREE:
		print_block(l, ev);
		break;
	case EVENT_USAGE:
		printf("usage %u %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, ev->pid,
		       resource_names[ev->usage.resource], ev->usage.blocks, ev->usage.bytes,
		       ev->usage.allocations, ev->usage.allocated_bytes);
		print_frames(l, ev, ev->usage.stack);
		break;
	default:
		break;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct list l = {};
	struct stack *stack;
	size_t pos = 0;
	int r = argc == 2 ? archive_passes(argv[1], on_event, &l) : -EINVAL;

	while ((stack = table_next(&l.stacks, &pos)))
		free(stack);
	table_deinit(&l.stacks);
	if (r < 0)
		fprintf(stderr, "list-blocks: %s\n", strerror(-r));
	return r < 0;
}
