/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of each stage of the pipeline, and the order of the stages. The state of a stage is
 * in its own module; this file only connects them.
 */
#include "capture/recorder/recorder-stages.h"

#include <string.h>

#include "base/clock.h"
#include "capture/calls/call-targets.h"
#include "capture/recorder/recorder-parts.h"
#include "capture/programs/rec-rings.h"
#include "writer/fxt/fxt-holds.h"

/* ---- news: the worker's data about watched processes ---- */

/* Processes the fetched data up to TS_NS. */
static int recorder_stage_news_at_hand(struct recorder *r, uint64_t ts_ns)
{
	const struct rec_head *rec;
	int error = 0;

	while (error == 0 && r->memory_at < r->memory.size) {
		rec = (const struct rec_head *)(r->memory.data + r->memory_at);
		if (rec->ts_ns > ts_ns)
			break;
		r->memory_at += rec->size;
		error = recorder_take_news(r, rec);
	}
	return error;
}

static int recorder_stage_news_record(struct recorder *r, const struct rec_head *rec)
{
	return recorder_stage_news_at_hand(r, rec->ts_ns);
}

/* Fetches and processes all data up to HORIZON_NS. */
static int recorder_stage_news_advance(struct recorder *r, uint64_t horizon_ns)
{
	const struct pipeline_owner *owner = &r->pipe.owner;
	int error;

	if (!r->pipe.own && !(r->pipe.categories & CATEGORIES_MEMORY))
		return 0;
	for (;;) {
		error = recorder_after(r, recorder_stage_news_at_hand(r, horizon_ns));
		if (error != 0 || r->memory_at < r->memory.size)
			return error;
		outbuf_deinit(&r->memory);
		r->memory_at = 0;
		if (!owner->take_memory || !owner->take_memory(&r->memory, owner->userdata))
			return 0;
	}
}

static void recorder_stage_news_deinit(struct recorder *r)
{
	outbuf_deinit(&r->memory);
}

/* ---- triggers ---- */

static int recorder_stage_triggers_loss_begins(struct recorder *r, const struct recorder_loss *loss)
{
	if (r->triggers && loss->class == CLASS_SCHED)
		triggers_loss(r->triggers);
	return 0;
}

static int recorder_stage_triggers_pause(struct recorder *r)
{
	int error = recorder_settle_triggers(r, UINT64_MAX);

	if (r->triggers)
		triggers_loss(r->triggers);
	return error;
}

static int recorder_stage_triggers_split(struct recorder *r, uint64_t at_ns)
{
	(void)at_ns;
	return recorder_settle_triggers(r, UINT64_MAX);
}

static int recorder_stage_triggers_end(struct recorder *r)
{
	return recorder_settle_triggers(r, UINT64_MAX);
}

static void recorder_stage_triggers_deinit(struct recorder *r)
{
	triggers_free(r->triggers);
}

/* ---- selection: mappings that are held back until their owner is known ---- */

/* Only a selected task has such a record, so the task was selected at that time. */
static int recorder_stage_selection_record(struct recorder *r, const struct rec_head *rec)
{
	int error = r->pipe.own ? profiler_need(&r->profiler, rec->pid, rec->ts_ns) : 0;

	return error == 0 && rec->kind == REC_FORK ? profiler_selected(&r->profiler, rec->pid)
						   : error;
}

/* Mappings that existed at the start. They bypass the merge, since there can be many. */
static int recorder_write_listed_mappings(struct recorder *r)
{
	const struct rec_mapping *rec;
	int error = 0;

	while (error == 0 && r->mappings_at < r->mappings.size) {
		rec = (const struct rec_mapping *)(r->mappings.data + r->mappings_at);
		r->mappings_at += rec->head.size;
		error = recorder_after(r, profiler_listed(&r->profiler, rec));
	}
	if (error == 0 && r->mappings_at > 0) {
		outbuf_deinit(&r->mappings);
		r->mappings_at = 0;
	}
	return error;
}

/* Runs before the round, when the losses among its records are already counted. */
static void recorder_look_for_loss(struct recorder *r)
{
	uint64_t lost = recorder_lost(r, CLASS_LIFECYCLE) + recorder_lost(r, CLASS_MAPPINGS) +
			recorder_lost(r, CLASS_MALFORMED);

	if (lost != r->own_lost)
		profiler_doubt(&r->profiler, clock_boot_ns());
	r->own_lost = lost;
}

static int recorder_stage_selection_prepare(struct recorder *r)
{
	int error = recorder_write_listed_mappings(r);

	if (r->pipe.own)
		recorder_look_for_loss(r);
	return error;
}

static int recorder_stage_selection_end(struct recorder *r)
{
	return profiler_finish(&r->profiler);
}

static void recorder_stage_selection_deinit(struct recorder *r)
{
	outbuf_deinit(&r->mappings);
}

/* ---- lifecycle ---- */

static int recorder_stage_lifecycle_take(struct recorder *r, const struct rec_head *rec)
{
	int error;

	if (rec->kind == REC_LOST && ((const struct rec_lost *)rec)->ring != REC_RING_LIFECYCLE)
		return 0;
	error = lifecycle_record(&r->lifecycle, rec);
	recorder_forget_cgroups(r);
	return error;
}

/* With a filter, threads are named when they occur in records. */
static int recorder_stage_lifecycle_open(struct recorder *r)
{
	return r->pipe.filtered ? 0 : recorder_announce_all(r);
}

static int recorder_stage_lifecycle_end(struct recorder *r)
{
	return lifecycle_close(&r->lifecycle);
}

static void recorder_stage_lifecycle_forget(struct recorder *r)
{
	lifecycle_deinit(&r->lifecycle);
}

/* ---- schedule ---- */

static int recorder_stage_schedule_begin(struct recorder *r, const struct session_options *o)
{
	(void)o;
	return schedule_init(&r->schedule, &r->pipe, r->n_cpus);
}

static int recorder_stage_schedule_take(struct recorder *r, const struct rec_head *rec)
{
	const struct rec_exec *exec = (const struct rec_exec *)rec;

	if (rec->kind == REC_CPU_GONE)
		return schedule_cpu_gone(&r->schedule, ((const struct rec_cpu_gone *)rec)->gone_cpu,
					 rec->ts_ns);
	if (exec->old_tid == rec->tid)
		return 0;
	return schedule_renumber(&r->schedule, rec->cpu, rec->ts_ns, exec->old_tid, rec->tid);
}

static int recorder_stage_schedule_take_loss(struct recorder *r, const struct recorder_loss *loss)
{
	return loss->class == CLASS_SCHED
		       ? schedule_loss_begins(&r->schedule, loss->cpu, loss->mark)
		       : 0;
}

static int recorder_stage_schedule_take_loss_end(struct recorder *r,
						 const struct recorder_loss *loss)
{
	return loss->class == CLASS_SCHED ? schedule_loss_ends(&r->schedule, loss->cpu, loss->mark)
					  : 0;
}

static int recorder_stage_schedule_stop(struct recorder *r)
{
	return schedule_pause(&r->schedule);
}

static int recorder_stage_schedule_resume(struct recorder *r)
{
	r->schedule.from_ns = r->pipe.from_ns;
	r->schedule.start_ns = 0;
	recorder_forget_running(r);
	return 0;
}

static int recorder_stage_schedule_end(struct recorder *r)
{
	return schedule_close(&r->schedule);
}

static void recorder_stage_schedule_forget(struct recorder *r)
{
	schedule_deinit(&r->schedule);
}

/* ---- profiler ---- */

static int recorder_stage_profiler_begin(struct recorder *r, const struct session_options *o)
{
	(void)o;
	return r->pipe.splits ? profiler_will_split(&r->profiler) : 0;
}

/*
 * The worker can report data about a process after its exec or exit. Its mappings would be lost by
 * then, so they are needed now.
 */
static bool recorder_may_be_watched(const struct recorder *r, uint32_t pid)
{
	return r->pipe.categories & CATEGORIES_MEMORY &&
	       (r->pipe.filtered || allocations_watches(&r->allocations, pid));
}

static int recorder_stage_profiler_exec(struct recorder *r, const struct rec_head *rec)
{
	int error = profiler_executed(&r->profiler, rec->pid, rec->ts_ns);

	return error == 0 && recorder_may_be_watched(r, rec->pid)
		       ? profiler_need(&r->profiler, rec->pid, rec->ts_ns)
		       : error;
}

/* The child has the mappings of its parent, which the selection stage has processed before. */
static int recorder_stage_profiler_fork(struct recorder *r, const struct rec_head *rec)
{
	const uint32_t child = ((const struct rec_fork *)rec)->child.pid;
	int error = profiler_forked(&r->profiler, rec->pid, child);

	if (error == 0 && r->pipe.own && child != rec->pid)
		error = profiler_trust(&r->profiler, child, rec->ts_ns);
	return error == 0 ? profiler_selected(&r->profiler, child) : error;
}

static int recorder_stage_profiler_exit(struct recorder *r, const struct rec_head *rec)
{
	int error = 0;

	if (!((const struct rec_exit *)rec)->process_ends)
		return 0;
	if (recorder_may_be_watched(r, rec->pid))
		error = profiler_need(&r->profiler, rec->pid, rec->ts_ns);
	return error == 0 ? profiler_ended(&r->profiler, rec->pid) : error;
}

/* An incomplete stack is walked to its end, and then handled like any other stack. */
static int recorder_stage_profiler_piece(struct recorder *r, const struct rec_head *head)
{
	const struct rec_piece *piece = (const struct rec_piece *)head;
	struct rec_stack whole = { .head = *head, .id = piece->id };
	uint64_t frames[STACK_FRAMES_MAX];
	unsigned n = collector_resume_walk(r->collector, piece, frames);

	memcpy(whole.frames, frames, n * sizeof(*frames));
	whole.head.kind = REC_STACK;
	whole.head.size = REC_STACK_BYTES(n);
	return profiler_record(&r->profiler, &whole.head);
}

static int recorder_stage_profiler_take(struct recorder *r, const struct rec_head *rec)
{
	switch (rec->kind) {
	case REC_PIECE:
		return recorder_stage_profiler_piece(r, rec);
	case REC_EXEC:
		return recorder_stage_profiler_exec(r, rec);
	case REC_FORK:
		return recorder_stage_profiler_fork(r, rec);
	case REC_EXIT:
		return recorder_stage_profiler_exit(r, rec);
	case REC_RENAME:
		profiler_renamed(&r->profiler, rec->pid);
		return 0;
	default:
		return profiler_record(&r->profiler, rec);
	}
}

static int recorder_stage_profiler_advance(struct recorder *r, uint64_t horizon_ns)
{
	int error;

	if (stacks_turn(&r->profiler.stacks, horizon_ns, clock_boot_ns()))
		collector_forget_stacks(r->collector);
	error = recorder_write_shortage(r, CLASS_STACKS, &r->profiler.n_homeless);
	/* (not lost by the kernel, so it raises no doubt about other records) */
	r->own_lost += r->profiler.n_dropped;
	return error == 0 ? recorder_write_shortage(r, CLASS_MAPPINGS, &r->profiler.n_dropped)
			  : error;
}

static int recorder_stage_profiler_resume(struct recorder *r)
{
	return profiler_forget_mappings(&r->profiler);
}

static void recorder_stage_profiler_forget(struct recorder *r)
{
	profiler_deinit(&r->profiler);
}

/* ---- activity ---- */

static int recorder_stage_activity_take_lost(struct recorder *r, const struct rec_head *head)
{
	const struct rec_lost *rec = (const struct rec_lost *)head;

	if (rec->ring == REC_RING_LIFECYCLE)
		return 0;
	return activity_lost(&r->activity, rec_ring_rows[rec->ring].class, head->cpu, rec);
}

/* Counters may be sampled for triggers alone. */
static int recorder_stage_activity_take(struct recorder *r, const struct rec_head *rec)
{
	if (rec->kind == REC_LOST)
		return recorder_stage_activity_take_lost(r, rec);
	if (rec->kind == REC_COUNTERS && !(r->pipe.categories & CATEGORY_COUNTERS))
		return 0;
	return activity_record(&r->activity, rec);
}

static int recorder_stage_activity_take_loss(struct recorder *r, const struct recorder_loss *loss)
{
	return loss->class == CLASS_SCHED
		       ? 0
		       : recorder_write_loss(r, loss->class, loss->cpu, loss->mark);
}

static void recorder_stage_activity_forget(struct recorder *r)
{
	activity_deinit(&r->activity);
}

/* ---- marks ---- */

/* Mappings are in writer/maps, sampling settings in the options, and single allocations are not
 * repeated. */
static int recorder_stage_marks_begin(struct recorder *r, const struct session_options *o)
{
	const uint32_t without =
		1u << FXT_HOLDS_MAPPING | 1u << FXT_HOLDS_SAMPLING | 1u << FXT_HOLDS_ALLOC;
	int error = r->pipe.splits ? fxt_holds_new(&r->holds, &fxt_holds_events, without) : 0;

	(void)o;
	r->archive.holds = r->holds;
	return error;
}

static void recorder_stage_marks_forget(struct recorder *r)
{
	fxt_holds_free(r->holds);
}

/* ---- allocations ---- */

static int recorder_stage_allocations_take_options(struct recorder *r,
						   const struct session_options *o)
{
	allocations_begin(&r->allocations, o);
	return 0;
}

/* The new file may contain an allocator. */
static void recorder_look_into_mapping(const struct recorder *r, uint32_t pid)
{
	if (r->pipe.categories & CATEGORIES_MEMORY && allocations_watches(&r->allocations, pid))
		r->pipe.owner.look(pid, r->pipe.owner.userdata);
}

static int recorder_stage_allocations_take(struct recorder *r, const struct rec_head *rec)
{
	switch (rec->kind) {
	case REC_EXIT:
		if (((const struct rec_exit *)rec)->process_ends)
			allocations_ended(&r->allocations, rec->pid);
		return 0;
	case REC_MAPPING:
		recorder_look_into_mapping(r, rec->pid);
		return 0;
	default:
		return allocations_record(&r->allocations, rec);
	}
}

static int recorder_stage_allocations_advance(struct recorder *r, uint64_t horizon_ns)
{
	(void)horizon_ns;
	return recorder_write_shortage(r, CLASS_MEMORY, &r->allocations.n_dropped);
}

static void recorder_stage_allocations_forget(struct recorder *r)
{
	allocations_deinit(&r->allocations);
}

/* ---- calls ---- */

static int recorder_stage_calls_record(struct recorder *r, const struct rec_head *rec)
{
	return calls_record(&r->calls, rec);
}

/* Writes the number of calls that limits have left out by AT_NS. */
static int recorder_stage_calls_leave_out(struct recorder *r, uint64_t at_ns)
{
	const struct call_targets *targets = r->calls.targets;
	int error = 0;

	/* (AT_NS is in the future while the recording has no end) */
	if (at_ns > clock_boot_ns())
		at_ns = clock_boot_ns();
	r->left_out_at_ns = at_ns;
	for (uint32_t i = 0; targets && error == 0 && i < targets->n; i++)
		if (targets->list[i].spec->limit)
			error = calls_leave_out(&r->calls, i, collector_left_out(r->collector, i),
						at_ns);
	return error
		       ?: targets
			  ? calls_leave_out_foreign(&r->calls,
						    collector_foreign_calls(r->collector), at_ns)
			  : 0;
}

static int recorder_stage_calls_advance(struct recorder *r, uint64_t horizon_ns)
{
	int error = 0;

	if (horizon_ns - r->left_out_at_ns > UINT64_C(1000000000))
		error = recorder_stage_calls_leave_out(r, horizon_ns);
	return error ?: recorder_write_shortage(r, CLASS_CALLS, &r->calls.n_dropped);
}

static int recorder_stage_calls_pause(struct recorder *r)
{
	return calls_close(&r->calls, clock_boot_ns());
}

static int recorder_stage_calls_end(struct recorder *r)
{
	return calls_close(&r->calls, r->pipe.to_ns)
		       ?: recorder_stage_calls_leave_out(r, r->pipe.to_ns);
}

static void recorder_stage_calls_deinit(struct recorder *r)
{
	calls_deinit(&r->calls);
}

/* ---- moments ---- */

static int recorder_stage_moments_open(struct recorder *r)
{
	return moments_stage_open(&r->moments);
}

static int recorder_stage_moments_record(struct recorder *r, const struct rec_head *rec)
{
	return moments_stage_record(&r->moments, rec);
}

static int recorder_stage_moments_advance(struct recorder *r, uint64_t horizon_ns)
{
	(void)horizon_ns;
	return recorder_write_shortage(r, CLASS_CALLS, &r->moments.n_dropped);
}

/* ---- stacks of calls and moments ---- */

/* (after exec, addresses belong to another program) */
static int recorder_stage_named_stacks_record(struct recorder *r, const struct rec_head *rec)
{
	(void)rec;
	named_stacks_forget(&r->named_stacks);
	return 0;
}

static int recorder_stage_named_stacks_advance(struct recorder *r, uint64_t horizon_ns)
{
	(void)horizon_ns;
	return recorder_write_shortage(r, CLASS_STACKS, &r->named_stacks.n_missing);
}

static void recorder_stage_named_stacks_deinit(struct recorder *r)
{
	named_stacks_deinit(&r->named_stacks);
}

/* ---- all of them ---- */

#define TASKS                                                                                      \
	(STAGE_TAKES(REC_FORK) | STAGE_TAKES(REC_EXEC) | STAGE_TAKES(REC_EXIT) |                   \
	 STAGE_TAKES(REC_RENAME))
#define HEAP                                                                                       \
	(STAGE_TAKES(REC_ALLOC) | STAGE_TAKES(REC_FREE) | STAGE_TAKES(REC_NAMED) |                 \
	 STAGE_TAKES(REC_RESOURCE))
#define STACKS                                                                                     \
	(STAGE_TAKES(REC_STACK) | STAGE_TAKES(REC_PIECE) | STAGE_TAKES(REC_SAMPLE) |               \
	 STAGE_TAKES(REC_OFFCPU) | STAGE_TAKES(REC_MAPPING) | STAGE_TAKES(REC_NEW_IMAGE))
#define ACTIVITY                                                                                   \
	(STAGE_TAKES(REC_WORK) | STAGE_TAKES(REC_FUNCTION) | STAGE_TAKES(REC_FREQUENCY) |          \
	 STAGE_TAKES(REC_COUNTERS))
#define ALL (~UINT64_C(0))

const struct recorder_stage recorder_stages[RECORDER_STAGES] = {
	{
		.name = "news",
		.takes = TASKS | HEAP,
		.record = recorder_stage_news_record,
		.advance = recorder_stage_news_advance,
		.deinit = recorder_stage_news_deinit,
	},
	{
		.name = "triggers",
		.takes = STAGE_TAKES(REC_COUNTERS),
		.takes_news = ALL,
		.record = recorder_trigger_record,
		.loss_begins = recorder_stage_triggers_loss_begins,
		.begin = recorder_trigger_begin,
		.advance = recorder_settle_triggers,
		.pause = recorder_stage_triggers_pause,
		.split = recorder_stage_triggers_split,
		.end = recorder_stage_triggers_end,
		.deinit = recorder_stage_triggers_deinit,
	},
	{
		.name = "selection",
		.takes = STAGE_TAKES(REC_FORK) | STAGE_TAKES(REC_EXIT) | HEAP,
		.takes_news = STAGE_TAKES(REC_TASK),
		.record = recorder_stage_selection_record,
		.prepare = recorder_stage_selection_prepare,
		.end = recorder_stage_selection_end,
		.deinit = recorder_stage_selection_deinit,
	},
	{
		.name = "moments",
		.takes = STAGE_TAKES(REC_MOMENT),
		.record = recorder_stage_moments_record,
		.open = recorder_stage_moments_open,
		.advance = recorder_stage_moments_advance,
	},
	/* The open calls of a thread are written before its end. */
	{
		.name = "calls",
		.takes = STAGE_TAKES(REC_CALL) | STAGE_TAKES(REC_CALL_END) | STAGE_TAKES(REC_EXIT) |
			 STAGE_TAKES(REC_EXEC),
		.record = recorder_stage_calls_record,
		.advance = recorder_stage_calls_advance,
		.pause = recorder_stage_calls_pause,
		.end = recorder_stage_calls_end,
		.deinit = recorder_stage_calls_deinit,
	},
	{
		.name = "named stacks",
		.takes = STAGE_TAKES(REC_EXEC),
		.record = recorder_stage_named_stacks_record,
		.advance = recorder_stage_named_stacks_advance,
		.deinit = recorder_stage_named_stacks_deinit,
	},
	{
		.name = "lifecycle",
		.takes = TASKS | STAGE_TAKES(REC_LOST) | STAGE_TAKES(REC_CGROUP),
		.record = recorder_stage_lifecycle_take,
		.open = recorder_stage_lifecycle_open,
		.split = recorder_split_lifecycle,
		.tail = recorder_tail_asked,
		.head = recorder_head_tasks,
		.end = recorder_stage_lifecycle_end,
		.deinit = recorder_stage_lifecycle_forget,
	},
	{
		.name = "schedule",
		.takes = STAGE_TAKES(REC_EXEC) | STAGE_TAKES(REC_CPU_GONE),
		.record = recorder_stage_schedule_take,
		.loss_begins = recorder_stage_schedule_take_loss,
		.loss_ends = recorder_stage_schedule_take_loss_end,
		.begin = recorder_stage_schedule_begin,
		.pause = recorder_stage_schedule_stop,
		.resume = recorder_stage_schedule_resume,
		.tail = recorder_tail_timelines,
		.next_chunk = recorder_next_timelines,
		.end = recorder_stage_schedule_end,
		.deinit = recorder_stage_schedule_forget,
	},
	{
		.name = "profiler",
		.takes = TASKS | STACKS,
		.record = recorder_stage_profiler_take,
		.begin = recorder_stage_profiler_begin,
		.advance = recorder_stage_profiler_advance,
		.resume = recorder_stage_profiler_resume,
		.head = recorder_head_mappings,
		.deinit = recorder_stage_profiler_forget,
	},
	{
		.name = "activity",
		.takes = ACTIVITY | STAGE_TAKES(REC_LOST),
		.record = recorder_stage_activity_take,
		.loss_begins = recorder_stage_activity_take_loss,
		.deinit = recorder_stage_activity_forget,
	},
	{
		.name = "marks",
		.begin = recorder_stage_marks_begin,
		.head = recorder_head_marks,
		.deinit = recorder_stage_marks_forget,
	},
	{
		.name = "allocations",
		.takes = STAGE_TAKES(REC_EXIT) | STAGE_TAKES(REC_MAPPING) | HEAP,
		.takes_news = ALL & ~STAGE_TAKES(REC_TASK),
		.record = recorder_stage_allocations_take,
		.begin = recorder_stage_allocations_take_options,
		.advance = recorder_stage_allocations_advance,
		.head = recorder_head_blocks,
		.deinit = recorder_stage_allocations_forget,
	},
	{
		.name = "timelines",
		.open = recorder_open_cpus,
		.head = recorder_head_timelines,
	},
};

static void recorder_find_way(struct recorder_way *way, uint64_t kind, bool news)
{
	for (uint8_t i = 0; i < RECORDER_STAGES; i++)
		if ((news ? recorder_stages[i].takes_news : recorder_stages[i].takes) & kind)
			way->stages[way->n++] = i;
}

void recorder_find_ways(struct recorder *r)
{
	for (unsigned kind = 0; kind < REC_KINDS; kind++) {
		recorder_find_way(&r->ways[kind], STAGE_TAKES(kind), false);
		recorder_find_way(&r->news_ways[kind], STAGE_TAKES(kind), true);
	}
}

static int recorder_stages_take(struct recorder *r, const struct recorder_way *way,
				const struct rec_head *rec)
{
	int error = 0;

	for (uint8_t i = 0; error == 0 && i < way->n; i++)
		error = recorder_stages[way->stages[i]].record(r, rec);
	return error;
}

int recorder_take(struct recorder *r, const struct rec_head *rec)
{
	return recorder_stages_take(r, &r->ways[rec->kind], rec);
}

int recorder_take_news(struct recorder *r, const struct rec_head *rec)
{
	return recorder_stages_take(r, &r->news_ways[rec->kind], rec);
}

/* ---- links ---- */

static int recorder_link_announce(uint32_t tid, void *userdata)
{
	struct recorder *r = userdata;
	const struct task *task = tasks_get(&r->tasks, tid);
	int error = lifecycle_announce(&r->lifecycle, tid);

	/* (the process of an unknown thread is unknown) */
	return error < 0 || !task ? error : profiler_selected(&r->profiler, task->pid);
}

static int recorder_link_belongs(uint32_t tid, uint32_t pid, void *userdata)
{
	struct recorder *r = userdata;

	return lifecycle_belongs(&r->lifecycle, tid, pid);
}

static int recorder_link_need_mappings(uint32_t pid, uint64_t ts_ns, void *userdata)
{
	struct recorder *r = userdata;

	/* Data from the worker's tables does not prove that the process was selected at that
	 * time. */
	return profiler_need(&r->profiler, pid, r->pipe.own ? 0 : ts_ns);
}

void recorder_link(struct recorder *r)
{
	r->pipe.links = (struct pipeline_links){
		.announce = recorder_link_announce,
		.belongs = recorder_link_belongs,
		.need_mappings = recorder_link_need_mappings,
		.fire = recorder_trigger_fire,
		.userdata = r,
	};
}
