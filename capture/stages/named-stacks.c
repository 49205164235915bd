/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/stages/named-stacks.h"

#include <errno.h>
#include <string.h>

#include "capture/proc/proc-records.h"

/* The maximum number of stacks. If there are more, all stacks are written again. */
enum { NAMED_STACKS_MAX = 65536 };

/* A waker has a stack of the kernel and a stack of user space. */
enum { NAMED_FRAMES_MAX = 2 * STACK_FRAMES_MAX };

static void named_stacks_deinit(void *stage)
{
	struct named_stacks *n = stage;

	table_deinit(&n->written);
	table_deinit(&n->mapped);
}

/* Forgets which stacks are written, so that all are written again. */
static void named_stacks_forget(struct named_stacks *n)
{
	named_stacks_deinit(n);
}

/* Returns the number of files that process PID has mapped since its stacks were forgotten. */
static uintptr_t named_stacks_mapped(const struct named_stacks *n, uint32_t pid)
{
	return (uintptr_t)table_get(&n->mapped, (uint64_t)pid + 1);
}

const struct stack *named_stacks_get(struct named_stacks *n, uint64_t id)
{
	const struct stack *stack = id ? stacks_get(n->stacks, id) : NULL;

	n->n_missing += id && !stack;
	return stack;
}

/* Returns the key of stack NAME of process PID in `written`. */
static uint64_t named_stacks_key(const struct named_stacks *n, uint32_t pid, uint64_t name)
{
	const uint64_t key[] = { pid, named_stacks_mapped(n, pid), name };

	return table_hash(key, sizeof(key));
}

int named_stacks_write(struct named_stacks *n, const struct rec_head *rec, const uint64_t *frames,
		       unsigned n_frames, uint64_t *ret_name)
{
	uint64_t copy[NAMED_FRAMES_MAX];
	uint64_t name = table_hash(frames, n_frames * sizeof(*frames)) ?: 1;
	struct event ev = {
		.kind = EVENT_SAMPLE,
		.ts_ns = rec->ts_ns,
		.cpu = rec->cpu,
		.sample = { .frames = frames,
			    .n_frames = n_frames,
			    .kind = SAMPLE_NAMED,
			    .id = name },
	};
	int r;

	*ret_name = 0;
	if (ev.ts_ns < n->pipe->from_ns || ev.ts_ns > n->pipe->to_ns)
		return 0;
	*ret_name = name;
	if (table_get(&n->written, named_stacks_key(n, rec->pid, name)))
		return 0;
	if (n->written.n_used >= NAMED_STACKS_MAX)
		named_stacks_forget(n);
	/*
	 * If the stacks were forgotten above, so were the counts of mappings. Then the stack has
	 * another key.
	 */
	r = table_set(&n->written, named_stacks_key(n, rec->pid, name), n);
	r = r < 0 ? r : pipeline_announce(n->pipe, rec->pid);
	r = r ?: n->pipe->links.need_mappings(rec->pid, ev.ts_ns, n->pipe->links.userdata);
	ev.pid = tasks_koid(n->pipe->tasks, rec->pid);
	ev.tid = ev.pid;
	if (r == 0 && n_frames > NAMED_FRAMES_MAX)
		r = -EINVAL;
	if (r == 0) {
		memcpy(copy, frames, n_frames * sizeof(*copy));
		ev.sample.frames = copy;
		r = pipeline_add_python(n->pipe, &ev, copy, n_frames);
		ev.sample.n_frames = (unsigned)r;
	}
	n->n_events++;
	return r < 0 ? r : fxt_archive_event(n->pipe->archive, &ev);
}

/*
 * Called when a process has mapped a file, possibly in the place of another one. So the stacks of
 * the process are written again when they are next needed. Mappings without a file are ignored:
 * run-time compilers make them often, and their code has no names.
 */
static int named_stacks_on_mapping(struct named_stacks *n, const struct rec_mapping *rec)
{
	uint32_t pid = rec->head.pid;

	if (n->written.n_used == 0 || rec->path_bytes == 0 || rec->path[0] != '/' ||
	    (rec->path_bytes > 1 && rec->path[1] == '/' /* "//anon" */))
		return 0;
	if (n->mapped.n_used >= NAMED_STACKS_MAX) {
		named_stacks_forget(n);
		return 0;
	}
	return table_set(&n->mapped, (uint64_t)pid + 1, (void *)(named_stacks_mapped(n, pid) + 1));
}

/* Handles records of mappings and exec. After exec, addresses belong to another program. */
static int named_stacks_record(void *stage, const struct rec_head *rec)
{
	if (rec->kind == REC_MAPPING)
		return named_stacks_on_mapping(stage, (const struct rec_mapping *)rec);
	named_stacks_forget(stage);
	return 0;
}

static int named_stacks_advance(void *stage, uint64_t horizon_ns)
{
	struct named_stacks *n = stage;

	(void)horizon_ns;
	return pipeline_write_shortage(n->pipe, CLASS_STACKS, &n->n_missing);
}

const struct stage named_stacks_stage = {
	.name = "named stacks",
	.handles = STAGE_HANDLES(REC_EXEC) | STAGE_HANDLES(REC_MAPPING),
	.record = named_stacks_record,
	.advance = named_stacks_advance,
	.deinit = named_stacks_deinit,
};
