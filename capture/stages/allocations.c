/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/stages/allocations-parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/string-table.h"
#include "base/text.h"
#include "capture/programs/collector.h"
#include "capture/programs/resource-calls.h"
#include "capture/stages/resources.h"

enum { WAITING_BYTES_MAX = 32 << 20 };

/* Names of functions with probes. Functions without a name here have no probes. */
static const char *const function_names[MEMORY_FN_MAX] = {
	[MEMORY_FN_MALLOC] = "malloc",
	[MEMORY_FN_CALLOC] = "calloc",
	[MEMORY_FN_REALLOC] = "realloc",
	[MEMORY_FN_REALLOCARRAY] = "reallocarray",
	[MEMORY_FN_FREE] = "free",
	[MEMORY_FN_POSIX_MEMALIGN] = "posix_memalign",
	[MEMORY_FN_ALIGNED_ALLOC] = "aligned_alloc",
	[MEMORY_FN_MEMALIGN] = "memalign",
	[MEMORY_FN_VALLOC] = "valloc",
	[MEMORY_FN_PVALLOC] = "pvalloc",
	[MEMORY_FN_NEW] = "operator new",
	[MEMORY_FN_NEW_DIRECT] = "operator new",
	[MEMORY_FN_DELETE_DIRECT] = "operator delete",
	[MEMORY_FN_MALLOCX] = "mallocx",
	[MEMORY_FN_RALLOCX] = "rallocx",
	[MEMORY_FN_DALLOCX] = "dallocx",
	[MEMORY_FN_PTHREAD_CREATE] = "pthread_create",
	[MEMORY_FN_PTHREAD_JOIN] = "pthread_join",
	[MEMORY_FN_PTHREAD_DETACH] = "pthread_detach",
	[MEMORY_FN_SHM_OPEN] = "shm_open",
	[MEMORY_FN_SHM_UNLINK] = "shm_unlink",
};

static const char *allocations_name_of(uint32_t function)
{
	const char *name = function >= MEMORY_FN_MAX ? resource_call_name(function - MEMORY_FN_MAX)
						     : function_names[function];

	return name ? name : "";
}

void allocations_init(struct allocations *a, const struct pipeline *pipe)
{
	*a = (struct allocations){ .pipe = pipe };
}

static void allocations_watch_free(struct watch *w)
{
	if (!w)
		return;
	w->of->n_in_snapshot -= w->missing > 0;
	table_deinit(&w->stacks);
	resources_free(w->resources);
	free(w);
}

void allocations_deinit(void *stage)
{
	struct allocations *a = stage;
	struct watch *w;

	for (size_t pos = 0; (w = table_next(&a->watches, &pos));)
		allocations_watch_free(w);
	table_deinit(&a->watches);
	table_deinit(&a->pids);
	outbuf_deinit(&a->waiting);
	heap_copies_deinit(&a->copies);
	watch_gap_deinit(&a->files);
}

int allocations_begin(void *stage, const struct session_options *options)
{
	struct allocations *a = stage;

	a->usage_interval_ns = options->memory.usage_interval_ns;
	a->log = options->memory.log;
	a->interval = options->memory.interval;
	a->min_bytes = options->memory.min_bytes;
	return watch_gap_begin(&a->files, options);
}

/* Writes the mappings that later stacks of PID need. */
static int allocations_need_mappings(const struct allocations *a, uint32_t pid, uint64_t ts_ns)
{
	return a->pipe->links.need_mappings(pid, ts_ns, a->pipe->links.userdata);
}

static struct watch *allocations_watch_of(const struct allocations *a, uint32_t instance)
{
	return instance ? table_get(&a->watches, instance) : NULL;
}

bool allocations_watches(const struct allocations *a, uint32_t pid)
{
	return table_get(&a->pids, (uint64_t)pid + 1) != NULL;
}

void allocations_ended(struct allocations *a, uint32_t pid)
{
	table_remove(&a->pids, (uint64_t)pid + 1);
}

/* Limits TS_NS to the time of the chunk and of the recording, since some data arrives late. */
static uint64_t allocations_clamp(const struct allocations *a, uint64_t ts_ns)
{
	uint64_t from_ns = a->pipe->split_ns ? a->pipe->split_ns : a->pipe->from_ns;

	return ts_ns < from_ns ? from_ns : ts_ns > a->pipe->to_ns ? a->pipe->to_ns : ts_ns;
}

int allocations_write_event(struct allocations *a, const struct event *ev)
{
	a->n_events++;
	return fxt_archive_event(a->pipe->archive, ev);
}

struct event allocations_about(const struct allocations *a, const struct watch *w,
			       enum event_kind kind, uint64_t ts_ns)
{
	return (struct event){
		.kind = kind,
		.ts_ns = allocations_clamp(a, ts_ns),
		.pid = w->koid,
		.tid = w->koid,
	};
}

/* ---- watches ---- */

static int allocations_write_waiting(struct allocations *a);

/* Writes the reports of stacks that were given up or have arrived, if ANY were. */
static int allocations_write_given_up(struct allocations *a, bool any)
{
	int r = any ? allocations_write_waiting(a) : 0;

	heap_copies_forget_given_up(&a->copies);
	return r;
}

/* Writes all reports of INSTANCE (0 = all) that wait for the copies of their stacks. */
static int allocations_write_awaited(struct allocations *a, uint32_t instance)
{
	return allocations_write_given_up(a, heap_copies_give_up(&a->copies, instance));
}

/*
 * Called when the next program of process PID begins. If the end of the earlier program is waiting,
 * writes it now: readers assign an end to the last beginning before it.
 */
static int allocations_end_earlier(struct allocations *a, uint32_t pid)
{
	struct watch *w;
	int r = 0;

	for (size_t pos = 0; r == 0 && (w = table_next(&a->watches, &pos));) {
		if (w->pid != pid || !w->ends)
			continue;
		w->hurries = true;
		heap_copies_give_up(&a->copies, w->instance);
		r = allocations_write_given_up(a, true);
		pos = 0; /* (a removal moves other entries) */
	}
	return r;
}

static int allocations_on_watch(struct allocations *a, const struct rec_watch *rec)
{
	struct watch *w = allocations_watch_of(a, rec->instance);
	char resources[96];
	struct event ev;
	int r;

	if (w || rec->instance == 0)
		return 0;
	r = allocations_end_earlier(a, rec->head.pid);
	if (r < 0)
		return r;
	w = table_make(&a->watches, rec->instance, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->of = a;
	w->pid = rec->head.pid;
	w->instance = rec->instance;
	if (table_set(&a->pids, (uint64_t)w->pid + 1, a) < 0 ||
	    watch_gap_watch(&a->files, w->pid, rec->head.ts_ns) < 0)
		return -ENOMEM;
	r = pipeline_announce(a->pipe, w->pid)
		    ?: allocations_need_mappings(a, w->pid, rec->head.ts_ns);
	if (r < 0)
		return r;
	/*
	 * When this record arrives, the id of the process can belong to another process, so the
	 * koid is that of the process at the time of the record.
	 */
	w->koid = tasks_koid_at(a->pipe->tasks, rec->head.pid, rec->head.ts_ns);
	ev = allocations_about(a, w, EVENT_WATCH_BEGIN, rec->head.ts_ns);
	ev.watch.resources =
		resources_of_categories(a->pipe->categories, resources, sizeof(resources));
	ev.watch.allocators = rec->allocators;
	ev.watch.complete = rec->complete;
	ev.watch.interval = a->interval;
	ev.watch.min_bytes = a->min_bytes;
	ev.watch.unwatched = rec->unwatched;
	r = allocations_write_event(a, &ev);
	return r < 0 ? r : allocations_write_waiting(a);
}

static int allocations_defer(struct allocations *a, const struct rec_head *rec);

/*
 * Returns 1 if REC, the end of W, must wait for copies of stacks, which can still be behind an
 * unfinished record in the ring; or for the examination of files that W has mapped late. Otherwise
 * returns 0, or -ENOMEM.
 */
static int allocations_defer_end(struct allocations *a, struct watch *w,
				 const struct rec_watched *rec)
{
	w->awaits_files =
		!w->hurries && !a->is_closing && watch_gap_awaits(&a->files, rec, &a->pipe->owner);
	if (!w->awaits_files && !heap_copies_awaits_any(&a->copies, w->instance))
		return 0;
	if (a->waiting.size + rec->head.size > WAITING_BYTES_MAX) {
		w->awaits_files = false;
		return allocations_write_awaited(a, w->instance);
	}
	w->ends = true;
	return allocations_defer(a, &rec->head) ?: 1;
}

static int allocations_on_watched(struct allocations *a, const struct rec_watched *rec)
{
	static const char *const reasons[] = {
		[WATCHED_STOP] = "stop",
		[WATCHED_EXIT] = "exit",
		[WATCHED_EXEC] = "exec",
	};
	static const char *const unsearched[] = {
		[WATCHED_UNSEARCHED_SECRET] =
			"only the program can read its memory of memfd_secret()",
		[WATCHED_UNSEARCHED_LARGE] = "it has mappings that are too large to be read",
		[WATCHED_UNSEARCHED_TIME] = "the search took too long",
		[WATCHED_UNSEARCHED_32BIT] = "32-bit programs are not searched",
		[WATCHED_UNSEARCHED_FAILED] = "the search failed (no permission to read its "
					      "memory, too little memory, or too many blocks)",
	};
	struct watch *w = allocations_watch_of(a, rec->instance);
	struct event ev;
	char gap[256];
	int r;

	if (!w || !STRING_TABLE_NAME(reasons, rec->reason))
		return 0;
	r = allocations_defer_end(a, w, rec);
	if (r != 0)
		return r < 0 ? r : 0;
	ev = allocations_about(a, w, EVENT_WATCH_END, rec->head.ts_ns);
	ev.watched.reason = reasons[rec->reason];
	ev.watched.unmatched = rec->unmatched;
	if (w->resources)
		ev.watched.unmatched += resources_unmatched(w->resources);
	ev.watched.failed = rec->failed;
	ev.watched.lost = rec->lost;
	ev.watched.full = rec->full;
	if (w->resources)
		ev.watched.full += resources_full(w->resources);
	ev.watched.no_stack = rec->no_stack;
	watch_gap_describe(&a->files, rec, a->pipe->from_ns, gap, sizeof(gap));
	ev.watched.gap = gap;
	watch_gap_forget(&a->files, rec);
	ev.watched.vforked = rec->vforked;
	ev.watched.searched = rec->searched;
	ev.watched.unsearched = STRING_TABLE_NAME(unsearched, rec->unsearched) ?: "";
	allocations_watch_free(table_remove(&a->watches, rec->instance));
	r = heap_copies_forget(&a->copies, rec->instance);
	return r < 0 ? r : allocations_write_event(a, &ev);
}

/* ---- stacks and sums ---- */

static int allocations_on_named(struct allocations *a, struct watch *w, const struct rec_named *rec)
{
	struct rec_named whole;
	struct event ev;
	int r;

	/* The same stack can arrive for several resources, and from both the ring and the table. */
	if (table_get(&w->stacks, rec->id))
		return 0;
	whole = *rec;
	heap_copies_complete(&a->copies, a->pipe->collector, &whole);
	r = table_set(&w->stacks, rec->id, w)
		    ?: allocations_need_mappings(a, w->pid, rec->head.ts_ns);
	if (r < 0)
		return r;
	ev = allocations_about(a, w, EVENT_SAMPLE, rec->head.ts_ns);
	ev.sample.kind = SAMPLE_NAMED;
	ev.sample.id = rec->id;
	r = pipeline_add_python(a->pipe, &ev, (uint64_t *)whole.frames, whole.n_frames);
	if (r < 0)
		return r;
	ev.sample.frames = (const uint64_t *)whole.frames;
	ev.sample.n_frames = (unsigned)r;
	return allocations_write_event(a, &ev);
}

/*
 * Continues the walk of PIECE. With a log, the next record can be an allocation with this stack, so
 * the walk cannot wait for a missing table.
 */
static int allocations_on_piece(struct allocations *a, const struct rec_piece *piece)
{
	const struct watch *w = allocations_watch_of(a, piece->instance);
	struct rec_named whole;
	int r;

	/* The piece comes too late: the stack was given up. */
	if (w ? table_get(&w->stacks, piece->id) != NULL
	      : heap_copies_has_ended(&a->copies, piece->instance)) {
		collector_skip_walk(a->pipe->collector);
		return 0;
	}
	r = heap_copies_take(&a->copies, a->pipe->collector, piece, !a->log, &whole);
	/*
	 * Many copies can arrive at once, so the reports that have waited for them are written
	 * later, together.
	 */
	heap_copies_arrived(&a->copies, piece->id);
	return r > 0 ? allocations_record(a, &whole.head) : r;
}

static int allocations_on_usage(struct allocations *a, struct watch *w, const struct rec_usage *rec)
{
	struct event ev = allocations_about(a, w, EVENT_USAGE, rec->head.ts_ns);

	ev.usage.resource = rec->resource;
	ev.usage.stack = rec->stack;
	/* The counts change while they are read, so there can be more frees than allocations. */
	ev.usage.blocks = rec->allocations > rec->frees ? rec->allocations - rec->frees : 0;
	ev.usage.bytes = rec->allocated_bytes > rec->freed_bytes
				 ? rec->allocated_bytes - rec->freed_bytes
				 : 0;
	ev.usage.allocations = rec->allocations;
	ev.usage.allocated_bytes = rec->allocated_bytes;
	return allocations_write_event(a, &ev);
}

static bool allocations_is_resource(uint16_t kind)
{
	return kind == REC_RESOURCE || kind == REC_LISTING || kind == REC_FOUND;
}

/* ---- blocks ---- */

static void allocations_set_missing(struct watch *w, uint64_t missing)
{
	w->of->n_in_snapshot -= w->missing > 0;
	w->of->n_in_snapshot += missing > 0;
	w->missing = missing;
}

/* Writes a snapshot: first blocks of the books, then blocks of the tables. */
static int allocations_on_snapshot(struct allocations *a, struct watch *w,
				   const struct rec_snapshot *rec)
{
	struct event ev = allocations_about(a, w, EVENT_SNAPSHOT, rec->head.ts_ns);
	uint64_t n = 0;
	bool execed = rec->final == SNAPSHOT_EXECED;
	int r = allocations_write_sums(a, w, rec->head.ts_ns)
			?: allocations_count_resources(w, execed, &n);

	if (r < 0)
		return r;
	allocations_set_missing(w, rec->blocks);
	ev.snapshot.blocks = rec->blocks + n;
	a->n_events += n;
	ev.snapshot.sequence = ++w->n_snapshots;
	ev.snapshot.final = rec->final != 0;
	r = allocations_write_event(a, &ev);
	return r < 0 ? r : allocations_write_resources(a, w, rec->head.ts_ns, execed);
}

static int allocations_on_block(struct allocations *a, struct watch *w, const struct rec_block *rec)
{
	char text[BLOCK_TEXT_MAX];
	struct event ev = allocations_about(a, w, EVENT_BLOCK, rec->head.ts_ns);
	int r = pipeline_announce_thread(a->pipe, rec->block.tid, w->pid);

	if (w->missing > 0)
		allocations_set_missing(w, w->missing - 1);
	text_clean(text, sizeof(text), rec->text, rec->text_bytes);
	ev.block.resource = rec->resource;
	ev.block.id = rec->id;
	ev.block.size = rec->block.size;
	ev.block.stack = rec->block.stack;
	ev.block.since_ns = rec->block.ts_ns;
	ev.block.thread = tasks_koid_at(a->pipe->tasks, rec->block.tid, rec->block.ts_ns);
	ev.block.context = rec->block.context;
	ev.block.reach = rec->reach;
	ev.block.function = allocations_name_of(rec->block.function);
	ev.block.text = text;
	return r < 0 ? r : allocations_write_event(a, &ev);
}

/* ---- each allocation ---- */

static int allocations_on_alloc(struct allocations *a, struct watch *w, const struct rec_alloc *rec)
{
	struct event ev = allocations_about(a, w, EVENT_ALLOC, rec->head.ts_ns);
	int r = pipeline_announce_thread(a->pipe, rec->head.tid, w->pid);

	ev.tid = tasks_koid(a->pipe->tasks, rec->head.tid);
	ev.cpu = rec->head.cpu;
	ev.block.resource = rec->resource;
	ev.block.id = rec->id;
	ev.block.size = rec->size;
	ev.block.stack = rec->stack;
	ev.block.context = rec->context;
	ev.block.function = allocations_name_of(rec->function);
	ev.block.text = "";
	return r < 0 ? r : allocations_write_event(a, &ev);
}

static int allocations_on_free(struct allocations *a, struct watch *w, const struct rec_free *rec)
{
	struct event ev = allocations_about(a, w, EVENT_FREE, rec->head.ts_ns);
	int r = pipeline_announce_thread(a->pipe, rec->head.tid, w->pid);

	ev.tid = tasks_koid(a->pipe->tasks, rec->head.tid);
	ev.cpu = rec->head.cpu;
	ev.block.resource = rec->resource;
	ev.block.id = rec->id;
	ev.block.function = allocations_name_of(rec->function);
	ev.block.text = "";
	return r < 0 ? r : allocations_write_event(a, &ev);
}

static uint32_t allocations_instance_of(const struct rec_head *rec)
{
	switch (rec->kind) {
	case REC_NAMED:
		return ((const struct rec_named *)rec)->instance;
	case REC_ALLOC:
		return ((const struct rec_alloc *)rec)->instance;
	case REC_FREE:
		return ((const struct rec_free *)rec)->instance;
	case REC_USAGE:
		return ((const struct rec_usage *)rec)->instance;
	case REC_SNAPSHOT:
		return ((const struct rec_snapshot *)rec)->instance;
	case REC_BLOCK:
		return ((const struct rec_block *)rec)->instance;
	case REC_RESOURCE:
		return ((const struct rec_resource *)rec)->instance;
	case REC_LISTING:
		return ((const struct rec_listing *)rec)->instance;
	case REC_FOUND:
		return ((const struct rec_found *)rec)->instance;
	default:
		return 0;
	}
}

static int allocations_write_record(struct allocations *a, struct watch *w,
				    const struct rec_head *rec)
{
	switch (rec->kind) {
	case REC_NAMED:
		return allocations_on_named(a, w, (const struct rec_named *)rec);
	case REC_ALLOC:
		return allocations_on_alloc(a, w, (const struct rec_alloc *)rec);
	case REC_FREE:
		return allocations_on_free(a, w, (const struct rec_free *)rec);
	case REC_USAGE:
		return allocations_on_usage(a, w, (const struct rec_usage *)rec);
	case REC_SNAPSHOT:
		return allocations_on_snapshot(a, w, (const struct rec_snapshot *)rec);
	case REC_BLOCK:
		return allocations_on_block(a, w, (const struct rec_block *)rec);
	default:
		return allocations_is_resource(rec->kind) ? allocations_on_resource(a, w, rec) : 0;
	}
}

static int allocations_defer(struct allocations *a, const struct rec_head *rec)
{
	if (a->waiting.size + rec->size > WAITING_BYTES_MAX) {
		a->n_dropped++;
		return 0;
	}
	return outbuf_append(&a->waiting, rec, rec->size);
}

/*
 * Returns 1 if REC of W waits for the copy of its stack, otherwise 0, or -ENOMEM. Only reports of
 * the table wait, since the stack of a block or an allocation comes before its record.
 */
static int allocations_awaits_copy(struct allocations *a, const struct watch *w,
				   const struct rec_head *rec)
{
	const struct rec_named *named = (const struct rec_named *)rec;

	if (rec->kind == REC_USAGE)
		return heap_copies_awaits(&a->copies, ((const struct rec_usage *)rec)->stack);
	return rec->kind == REC_NAMED && !table_get(&w->stacks, named->id)
		       ? heap_copies_await(&a->copies, named)
		       : 0;
}

/* Writes REC, or keeps it if its instance or its stack is not known yet. */
static int allocations_write_or_defer(struct allocations *a, const struct rec_head *rec)
{
	uint32_t instance = allocations_instance_of(rec);
	struct watch *w = allocations_watch_of(a, instance);
	int r = w ? allocations_awaits_copy(a, w, rec) : 1;

	if (!w && heap_copies_has_ended(&a->copies, instance)) {
		a->n_dropped++;
		return 0;
	}
	return r > 0 ? allocations_defer(a, rec) : r ?: allocations_write_record(a, w, rec);
}

/* Writes the records that wait and whose instances and stacks are known by now. */
static int allocations_write_waiting(struct allocations *a)
{
	struct outbuf waiting = a->waiting;
	int r = 0;

	heap_copies_take_arrived(&a->copies);
	a->waiting = (struct outbuf){ 0 };
	for (size_t at = 0; r == 0 && at < waiting.size;) {
		const struct rec_head *rec = (const struct rec_head *)(waiting.data + at);

		r = rec->kind == REC_WATCHED
			    ? allocations_on_watched(a, (const struct rec_watched *)rec)
			    : allocations_write_or_defer(a, rec);
		at += rec->size;
	}
	outbuf_deinit(&waiting);
	return r;
}

int allocations_record(struct allocations *a, const struct rec_head *rec)
{
	if (rec->kind == REC_WATCH)
		return allocations_on_watch(a, (const struct rec_watch *)rec);
	if (rec->kind == REC_WATCHED)
		return allocations_on_watched(a, (const struct rec_watched *)rec);
	if (rec->kind == REC_HEAP_PIECE)
		return allocations_on_piece(a, (const struct rec_piece *)rec);
	/* An allocation or a free has a single time, which must be in the recording. */
	if ((rec->kind == REC_ALLOC || rec->kind == REC_FREE) &&
	    (rec->ts_ns < a->pipe->from_ns || rec->ts_ns > a->pipe->to_ns))
		return 0;
	return allocations_write_or_defer(a, rec);
}

/* ---- the stage ---- */

/* Looks into a new mapping, whose file may contain an allocator. */
static int allocations_look_into_mapping(struct allocations *a, const struct rec_head *rec)
{
	const struct pipeline_owner *owner = &a->pipe->owner;

	if (a->pipe->categories & CATEGORIES_MEMORY && allocations_watches(a, rec->pid))
		owner->check_files(rec->pid, rec->ts_ns, owner->userdata);
	return a->pipe->categories & CATEGORY_MEMORY
		       ? watch_gap_add(&a->files, (const struct rec_mapping *)rec)
		       : 0;
}

static int allocations_on_record(void *stage, const struct rec_head *rec)
{
	struct allocations *a = stage;

	switch (rec->kind) {
	case REC_EXIT:
		if (((const struct rec_exit *)rec)->process_ends) {
			allocations_ended(a, rec->pid);
			watch_gap_ended(&a->files, rec->pid, rec->ts_ns);
		}
		return 0;
	case REC_MAPPING:
		return allocations_look_into_mapping(a, rec);
	default:
		return allocations_record(a, rec);
	}
}

static int allocations_advance(void *stage, uint64_t horizon_ns)
{
	struct allocations *a = stage;
	bool any = heap_copies_give_up_old(&a->copies, horizon_ns) | a->copies.any_arrived |
		   a->files.any_arrived;
	int r;

	a->files.any_arrived = false;
	r = allocations_write_given_up(a, any);

	return r ?: pipeline_write_shortage(a->pipe, CLASS_MEMORY, &a->n_dropped);
}

/*
 * Called at the end. The rings are empty, so copies that have not arrived are lost. Files that were
 * not examined by now are not awaited.
 */
static int allocations_on_end(void *stage)
{
	struct allocations *a = stage;
	int r;

	a->is_closing = true;
	heap_copies_give_up(&a->copies, 0);
	r = allocations_write_given_up(a, true);
	a->is_closing = false;
	return r;
}

bool allocations_await_files(const struct allocations *a)
{
	const struct watch *w;

	for (size_t pos = 0; (w = table_next(&a->watches, &pos));)
		if (w->awaits_files)
			return true;
	return false;
}

const struct stage allocations_stage = {
	.name = "allocations",
	.handles = STAGE_HANDLES(REC_EXIT) | STAGE_HANDLES(REC_MAPPING) | STAGE_TAKES_HEAP,
	.handles_results = STAGE_TAKES_ALL & ~STAGE_HANDLES(REC_TASK),
	.record = allocations_on_record,
	.begin = allocations_begin,
	.advance = allocations_advance,
	.pause = allocations_on_end,
	.head = allocations_head,
	.end = allocations_on_end,
	.deinit = allocations_deinit,
};
