/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/heap/heap-trace-reach.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "capture/heap/heap-records.h"
#include "capture/heap/heap-tables.h"
#include "capture/heap/reach.h"
#include "model/event.h"

enum { SEARCHES = 2 };

/*
 * The maximum time for which a process is stopped. If the search takes longer, the search has no
 * result.
 */
#define HELD_NS_MAX UINT64_C(10000000000)

struct listing {
	const struct memory_search *how;
	const struct heap_image *image;
	struct outbuf *to;
};

static int heap_trace_reach_list_block(const void *key_bytes, const void *value, void *userdata)
{
	const struct memory_key *key = key_bytes;
	const struct listing *l = userdata;
	struct memory_block block;
	struct reach_block found;

	if (key->instance != l->image->process.instance || key->resource != MEMORY_RESOURCE_MEMORY)
		return 0;
	memcpy(&block, value, sizeof(block));
	found = (struct reach_block){ key->id, block.size, block.ts_ns, REACH_UNKNOWN, 0 };
	return outbuf_append(l->to, &found, sizeof(found));
}

static int heap_trace_reach_list_blocks(struct outbuf *to, void *userdata)
{
	struct listing *l = userdata;
	const struct memory_map map = { l->how->blocks_fd, sizeof(struct memory_key),
					sizeof(struct memory_block) };

	l->to = to;
	return memory_map_each(&map, heap_trace_reach_list_block, l);
}

static int heap_trace_reach_list_thread(const struct rec_head *rec, void *userdata)
{
	return outbuf_append(userdata, rec, rec->size);
}

static int heap_trace_reach_add_killed(const struct memory_ended_thread *key,
				       const struct memory_thread_end *end, struct outbuf *to)
{
	const struct rec_registers rec = {
		.head = { .size = sizeof(rec), .kind = REC_REGISTERS, .pid = key->pid },
		.tls = key->tls,
		.altstack = end->altstack,
	};

	return outbuf_append(to, &rec, sizeof(rec));
}

static int heap_trace_reach_add_ended(const struct memory_ended_thread *key,
				      const struct memory_thread_end *end, struct outbuf *to)
{
	(void)end;
	return outbuf_append(to, &key->tls, sizeof(key->tls));
}

bool heap_trace_reach_is_of(const struct memory_ended_thread *thread,
			    const struct memory_thread_end *end, const struct rec_task *program)
{
	return thread->pid == program->task.pid && end->start_ns == program->task.start_ns &&
	       end->exec_id == program->exec_id;
}

struct listing_ended {
	int (*add)(const struct memory_ended_thread *key, const struct memory_thread_end *end,
		   struct outbuf *to);
	const struct rec_task *program;
	struct outbuf *to;
};

static int heap_trace_reach_on_ended(const void *key, const void *value, void *userdata)
{
	const struct listing_ended *l = userdata;
	struct memory_ended_thread thread;
	struct memory_thread_end end;

	memcpy(&thread, key, sizeof(thread));
	memcpy(&end, value, sizeof(end));
	return heap_trace_reach_is_of(&thread, &end, l->program) ? l->add(&thread, &end, l->to) : 0;
}

static int heap_trace_reach_each_ended(int fd, struct listing_ended *l)
{
	const struct memory_map map = { fd, sizeof(struct memory_ended_thread),
					sizeof(struct memory_thread_end) };

	return memory_map_each(&map, heap_trace_reach_on_ended, l);
}

int heap_trace_reach_list_killed(const struct memory_search *how, struct outbuf *to)
{
	struct listing_ended l = {
		.add = heap_trace_reach_add_killed,
		.program = how->program,
		.to = to,
	};

	return how->program ? heap_trace_reach_each_ended(how->killed_threads_fd, &l) : -ESRCH;
}

static int heap_trace_reach_list_threads(struct outbuf *to, void *userdata)
{
	struct listing *l = userdata;
	int r = collector_list_registers(l->how->collector, l->image->process.pid,
					 heap_trace_reach_list_thread, to);

	return r < 0 ? r : heap_trace_reach_list_killed(l->how, to);
}

/*
 * (if the program is unknown, it is unknown which ended threads were its own, so none of them
 * counts as ended)
 */
static int heap_trace_reach_list_ended(struct outbuf *to, void *userdata)
{
	struct listing *l = userdata;
	struct listing_ended ended = {
		.add = heap_trace_reach_add_ended,
		.program = l->how->program,
		.to = to,
	};

	return ended.program ? heap_trace_reach_each_ended(l->how->ended_threads_fd, &ended) : 0;
}

/* Returns the better of two results. A block is lost only if it is lost in both. */
static enum reach heap_trace_reach_better(enum reach a, enum reach b)
{
	enum reach worse = a < b ? a : b, better = a < b ? b : a;

	return worse == REACH_UNKNOWN && better <= REACH_INDIRECT ? REACH_UNKNOWN : better;
}

/*
 * Combines the results of two searches. BLOCKS has the result of the later search, and receives the
 * combined result. Blocks that are not in both results are unknown.
 */
static void heap_trace_reach_combine(struct reach_block *blocks, size_t n,
				     struct reach_block *before, size_t n_before)
{
	for (size_t i = 0; i < n; i++) {
		const struct reach_block *b = reach_block_at(before, n_before, blocks[i].address);

		if (!b || b->birth_ns != blocks[i].birth_ns)
			blocks[i].reach = REACH_UNKNOWN;
		else
			blocks[i].reach = heap_trace_reach_better(b->reach, blocks[i].reach);
	}
}

static bool heap_trace_reach_all_known(const struct session_options *o,
				       const struct heap_image *image)
{
	return image->complete && memory_image_gap(image) == WATCHED_GAP_NONE &&
	       o->memory.interval == 0 && o->memory.min_bytes == 0 && image->process.full == 0 &&
	       image->process.lost == 0;
}

/*
 * If the process is the user's own, gives its search the rights of the user, and the group of the
 * process. This group must be one of the user's groups or, if these are unknown, not root's.
 */
static int heap_trace_reach_set_owner(const struct session_options *o,
				      struct reach_request *request)
{
	char path[32];
	struct stat st;

	request->as_owner = o->own && o->own_uid != 0;
	if (!request->as_owner)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d", (int)request->pid);
	if (stat(path, &st) < 0)
		return -ESRCH;
	request->uid = o->own_uid;
	request->gid = st.st_gid;
	for (size_t i = 0; i < o->n_own_gids; i++)
		if (o->own_gids[i] == st.st_gid)
			return 0;
	return o->n_own_gids == 0 && st.st_gid != 0 ? 0 : -EPERM;
}

static int heap_trace_reach_search_once(const struct memory_search *how, struct heap_image *image,
					struct reach_block **ret, size_t *ret_n)
{
	uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
	struct listing listing = { .how = how, .image = image };
	const int keep[] = {
		how->blocks_fd,
		how->ended_threads_fd,
		how->killed_threads_fd,
		collector_registers_fd(how->collector),
	};
	struct reach_request request = {
		.pid = (pid_t)image->process.pid,
		.list_blocks = heap_trace_reach_list_blocks,
		.list_threads = heap_trace_reach_list_threads,
		.list_ended = heap_trace_reach_list_ended,
		.userdata = &listing,
		.keep = keep,
		.n_keep = ARRAY_SIZE(keep),
		.blocks_max = how->options->memory.blocks_max,
		.all_known = heap_trace_reach_all_known(how->options, image),
		.hold = !how->still && how->options->memory.reach == MEMORY_REACH_FREEZE,
		.timeout_ns = how->deadline_ns > now_ns ? how->deadline_ns - now_ns : 0,
	};
	struct reach_result result = { 0 };
	int r = heap_trace_reach_set_owner(how->options, &request);

	if (r < 0)
		return r;
	if (request.timeout_ns == 0)
		return -ETIME;
	if ((request.hold || how->still) && request.timeout_ns > HELD_NS_MAX)
		request.timeout_ns = HELD_NS_MAX;
	r = reach_find(&request, ret, ret_n, &result);
	if (r == 0 && image->unsearched == WATCHED_UNSEARCHED_NONE)
		image->unsearched = result.secret_bytes    ? WATCHED_UNSEARCHED_SECRET
				    : result.skipped_bytes ? WATCHED_UNSEARCHED_LARGE
							   : WATCHED_UNSEARCHED_NONE;
	return r;
}

/* Returns the WATCHED_UNSEARCHED_* that says why a search failed; R is its error. */
static uint32_t heap_trace_reach_explain(int r)
{
	switch (r) {
	case -ETIME:
		return WATCHED_UNSEARCHED_TIME;
	case -ENOTSUP:
		return WATCHED_UNSEARCHED_32BIT;
	case -ESRCH: /* the process has ended; the report of its end says so */
		return WATCHED_UNSEARCHED_NONE;
	default:
		return WATCHED_UNSEARCHED_FAILED;
	}
}

int heap_trace_reach_search(const struct memory_search *how, struct heap_image *image)
{
	struct reach_block *found[SEARCHES] = { NULL };
	unsigned last = how->still ? 0 : SEARCHES - 1;
	size_t n[SEARCHES] = { 0 };
	int r = 0;

	memory_image_forget_reach(image);
	for (unsigned i = 0; r == 0 && i <= last; i++)
		r = heap_trace_reach_search_once(how, image, &found[i], &n[i]);
	if (r == 0) {
		if (last > 0)
			heap_trace_reach_combine(found[last], n[last], found[0], n[0]);
		image->reach = TAKE_PTR(found[last]);
		image->n_reach = n[last];
		image->searched = true;
		image->held = how->still;
	} else {
		image->unsearched = heap_trace_reach_explain(r);
	}
	for (unsigned i = 0; i < SEARCHES; i++)
		free(found[i]);
	return r;
}
