/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order of the stages, the way of a record through them, and the functions that stages offer to
 * each other (docs/architecture/pipeline.md, "Stages").
 */
#include "capture/recorder/recorder-parts.h"

const struct recorder_stage recorder_stages[RECORDER_STAGES] = {
	{ &news_stage, offsetof(struct recorder, news) },
	{ &trigger_input_stage, offsetof(struct recorder, trigger_input) },
	{ &selection_stage, offsetof(struct recorder, selection) },
	{ &moments_stage, offsetof(struct recorder, moments) },
	{ &tracepoints_stage, offsetof(struct recorder, tracepoints) },
	{ &blocks_stage, offsetof(struct recorder, blocks) },
	{ &calls_stage, offsetof(struct recorder, calls) },
	{ &named_stacks_stage, offsetof(struct recorder, named_stacks) },
	{ &lifecycle_stage, offsetof(struct recorder, lifecycle) },
	{ &schedule_stage, offsetof(struct recorder, schedule) },
	{ &profiler_stage, offsetof(struct recorder, profiler) },
	{ &activity_stage, offsetof(struct recorder, activity) },
	{ &providers_stage, offsetof(struct recorder, providers) },
	{ &marks_stage, offsetof(struct recorder, marks) },
	{ &allocations_stage, offsetof(struct recorder, allocations) },
	{ &timelines_stage, offsetof(struct recorder, timelines) },
};

static void recorder_find_way(struct recorder_way *way, uint64_t kind, bool news)
{
	for (uint8_t i = 0; i < RECORDER_STAGES; i++) {
		const struct stage *ops = recorder_stages[i].ops;

		if ((news ? ops->handles_results : ops->handles) & kind)
			way->stages[way->n++] = i;
	}
}

void recorder_find_ways(struct recorder *r)
{
	for (unsigned kind = 0; kind < REC_KINDS; kind++) {
		recorder_find_way(&r->ways[kind], STAGE_HANDLES(kind), false);
		recorder_find_way(&r->result_ways[kind], STAGE_HANDLES(kind), true);
	}
}

static int recorder_pass_way(struct recorder *r, const struct recorder_way *way,
			     const struct rec_head *rec)
{
	int error = 0;

	for (uint8_t i = 0; error == 0 && i < way->n; i++)
		error = recorder_stages[way->stages[i]].ops->record(
			recorder_state(r, way->stages[i]), rec);
	return error;
}

int recorder_pass(struct recorder *r, const struct rec_head *rec)
{
	return recorder_pass_way(r, &r->ways[rec->kind], rec);
}

/* ---- links ---- */

static int recorder_link_announce(uint32_t tid, void *userdata)
{
	struct recorder *r = userdata;
	const struct task *task = tasks_get(&r->tasks, tid);
	int error = lifecycle_announce(&r->lifecycle, tid);

	/* The process of an unknown thread is unknown, so no process is selected. */
	return error < 0 || !task ? error : profiler_selected(&r->profiler, task->pid);
}

static int recorder_link_need_mappings(uint32_t pid, uint64_t ts_ns, void *userdata)
{
	struct recorder *r = userdata;

	/* Data from the worker's tables does not prove that the process was selected at that
	 * time. */
	return profiler_need(&r->profiler, pid, r->pipe.own ? 0 : ts_ns);
}

static int recorder_link_add_python(const struct event *sample, uint64_t *frames, unsigned n,
				    void *userdata)
{
	struct recorder *r = userdata;

	return profiler_add_python(&r->profiler, sample, frames, n);
}

static int recorder_link_fire(const struct trigger *t, void *userdata)
{
	struct recorder *r = userdata;

	return trigger_input_fire(t, &r->trigger_input);
}

static int recorder_link_pass_news(const struct rec_head *rec, void *userdata)
{
	struct recorder *r = userdata;

	return recorder_pass_way(r, &r->result_ways[rec->kind], rec);
}

static int recorder_link_lost(enum event_class class, const struct rec_lost *lost, void *userdata)
{
	struct recorder *r = userdata;

	return activity_lost(&r->activity, class, 0, lost);
}

static uint64_t recorder_link_n_lost(enum event_class class, void *userdata)
{
	return recorder_lost(userdata, class);
}

static bool recorder_link_watches(uint32_t pid, void *userdata)
{
	struct recorder *r = userdata;

	return allocations_watches(&r->allocations, pid);
}

static int recorder_link_forget_task(uint32_t tid, uint64_t at_ns, void *userdata)
{
	return recorder_forget_task(userdata, tid, at_ns);
}

/*
 * If CPU has switched before the list of tasks was complete, the first switch tells the running
 * thread more reliably than the list.
 */
static void recorder_link_first_running(unsigned cpu, uint32_t *tid, int32_t *prio, void *userdata)
{
	struct recorder *r = userdata;
	struct merge_switch first;

	switch (merge_peek_switch(r->merge, cpu, r->start_ns, r->listed_ns, &first)) {
	case MERGE_PEEK_SWITCH:
		*tid = first.out_tid;
		*prio = first.out_prio;
		break;
	case MERGE_PEEK_LOSS:
		*tid = 0;
		break;
	}
}

static bool recorder_link_loss_is_next(unsigned cpu, uint64_t at_ns, uint64_t *ret_ns,
				       void *userdata)
{
	struct recorder *r = userdata;

	return merge_peek_loss(r->merge, cpu, at_ns, ret_ns);
}

void recorder_link(struct recorder *r)
{
	r->pipe.links = (struct pipeline_links){
		.announce = recorder_link_announce,
		.need_mappings = recorder_link_need_mappings,
		.add_python = recorder_link_add_python,
		.fire = recorder_link_fire,
		.userdata = r,
		.pass_news = recorder_link_pass_news,
		.lost = recorder_link_lost,
		.n_lost = recorder_link_n_lost,
		.watches = recorder_link_watches,
		.forget_task = recorder_link_forget_task,
		.first_running = recorder_link_first_running,
		.loss_is_next = recorder_link_loss_is_next,
	};
}
