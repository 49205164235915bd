/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/pipeline/recorder.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "capture/proc/proc-records.h"
#include "capture/programs/cpus.h"
#include "capture/programs/decode.h"
#include "capture/pipeline/recorder-parts.h"

enum { MARK_MAX = 256, OTHER_PRIO = 120 };

int recorder_init(struct recorder *r)
{
	*r = (struct recorder){ 0 };
	r->lifecycle.archive = &r->archive;
	r->lifecycle.tasks = &r->tasks;
	activity_init(&r->activity, &r->archive, &r->tasks);
	profiler_init(&r->profiler, &r->archive, &r->tasks);
	allocations_init(&r->allocations, &r->archive, &r->tasks);
	return tasks_init(&r->tasks);
}

void recorder_deinit(struct recorder *r)
{
	merge_free(r->merge);
	triggers_free(r->triggers);
	lifecycle_deinit(&r->lifecycle);
	activity_deinit(&r->activity);
	profiler_deinit(&r->profiler);
	allocations_deinit(&r->allocations);
	outbuf_deinit(&r->memory);
	outbuf_deinit(&r->mappings);
	schedule_deinit(&r->schedule);
	fxt_archive_deinit(&r->archive);
	tasks_deinit(&r->tasks);
	free(r->running);
	free(r->at_end);
	*r = (struct recorder){ 0 };
}

static int announce(uint32_t tid, void *userdata)
{
	struct recorder *r = userdata;
	const struct task *task = tasks_get(&r->tasks, tid);
	int error = lifecycle_announce(&r->lifecycle, tid);

	/* (of one that is not known nobody can say whose thread it is) */
	return error < 0 || !task ? error : profiler_selected(&r->profiler, task->pid);
}

static int belongs(uint32_t tid, uint32_t pid, void *userdata)
{
	struct recorder *r = userdata;

	return lifecycle_belongs(&r->lifecycle, tid, pid);
}

static bool ask(uint32_t tid, void *userdata)
{
	struct recorder *r = userdata;

	return r->ask(tid, r->userdata);
}

static bool ask_cgroup(uint64_t id, uint32_t pid, void *userdata)
{
	struct recorder *r = userdata;

	return r->ask_cgroup(id, pid, r->userdata);
}

static int need_mappings(uint32_t pid, uint64_t ts_ns, void *userdata)
{
	struct recorder *r = userdata;

	/* What the tables had is no proof of whose the process is when they are read. */
	if (r->own)
		ts_ns = 0;
	return profiler_need(&r->profiler, pid, ts_ns);
}

void recorder_set_buffer(struct recorder *r, struct outbuf *b)
{
	fxt_archive_set_output(&r->archive, b);
}

void recorder_set_from(struct recorder *r, uint64_t from_ns)
{
	r->schedule.from_ns = r->lifecycle.from_ns = r->activity.from_ns = r->profiler.from_ns =
		r->allocations.from_ns = from_ns;
}

void recorder_set_to(struct recorder *r, uint64_t to_ns)
{
	r->schedule.to_ns = r->lifecycle.to_ns = r->activity.to_ns = r->profiler.to_ns =
		r->allocations.to_ns = to_ns;
}

void recorder_set_end(struct recorder *r, uint64_t end_ns)
{
	r->end_ns = end_ns;
	/* (a pause has begun before) */
	if (r->pauses)
		return;
	recorder_set_to(r, end_ns);
	recorder_note_losses(r);
}

int recorder_announce_all(struct recorder *r)
{
	struct task *task;
	size_t pos = 0;
	int error = 0;

	while (error == 0 && (task = table_next(&r->tasks.by_tid, &pos)))
		if (!tasks_announced(&r->tasks, task->tid))
			error = lifecycle_announce(&r->lifecycle, task->tid);
	return error;
}

/* ---- triggers ---- */

_Static_assert(sizeof(((struct trigger *)0)->comm) == TASK_COMM_MAX, "copied whole");

static int name_for_trigger(uint32_t tid, uint32_t *ret, void *userdata)
{
	struct recorder *r = userdata;
	int error = tasks_announced(&r->tasks, tid) ? 0 : announce(tid, r);

	*ret = tasks_koid(&r->tasks, tid);
	return error;
}

static int on_trigger(const struct trigger *t, void *userdata)
{
	struct recorder *r = userdata;
	struct event ev = {
		.kind = EVENT_TRIGGER,
		.ts_ns = t->ts_ns,
		.trigger = {
			.what = trigger_names[t->kind],
			.value = t->value,
			.limit = t->limit,
			.count = t->count,
			.thread = t->koid,
		},
	};
	const struct task *task = t->tid ? tasks_find(&r->tasks, t->tid) : NULL;
	int error = fxt_archive_event(&r->archive, &ev);
	struct trigger named = *t;

	if (error < 0 || !t->tell || !r->triggered)
		return error;
	if (task)
		memcpy(named.comm, task->comm, sizeof(named.comm));
	r->triggered(&named, r->userdata);
	return 0;
}

int recorder_settle_triggers(struct recorder *r, uint64_t horizon_ns)
{
	return r->triggers ? triggers_settle(r->triggers, horizon_ns) : 0;
}

static int begin_triggers(struct recorder *r, const struct session_options *o)
{
	if (!triggers_wanted(&o->triggers))
		return 0;
	return triggers_new(&o->triggers, r->schedule.filtered,
			    &(struct trigger_ops){ on_trigger, name_for_trigger, r }, &r->triggers);
}

/* What happened before the recording, or after it, is not told of. */
static bool is_recorded(const struct recorder *r, uint64_t ts_ns)
{
	return ts_ns > r->start_ns && ts_ns <= r->schedule.to_ns;
}

static int trigger_by_words(struct recorder *r, const uint64_t *words, unsigned n_words)
{
	if (__builtin_expect(!r->triggers, 1) || !is_recorded(r, words[WORD_TS]))
		return 0;
	return triggers_words(r->triggers, words, n_words);
}

static int trigger_by_record(struct recorder *r, const struct rec_head *rec)
{
	if (!r->triggers || !is_recorded(r, rec->ts_ns))
		return 0;
	return triggers_record(r->triggers, rec);
}

uint64_t recorder_n_triggers(const struct recorder *r)
{
	return r->triggers ? triggers_count(r->triggers) : 0;
}

/* ---- the beginning ---- */

void recorder_forget_running(struct recorder *r)
{
	for (unsigned cpu = 0; cpu < r->n_cpus; cpu++)
		r->running[cpu] = r->schedule.filtered
					  ? (uint64_t)OTHER_PRIO << 32 | (FXT_KOID_OTHER + cpu)
					  : 0;
}

int recorder_begin(struct recorder *r, const struct worker_news *news,
		   const struct session_options *options)
{
	bool filtered = session_options_filtered(options);
	int error;

	r->collector = news->collector;
	r->n_cpus = collector_n_cpus(r->collector);
	r->categories = options->categories;
	r->running = calloc(r->n_cpus, sizeof(*r->running));
	r->at_end = calloc((size_t)CLASS_MAX * r->n_cpus, sizeof(*r->at_end));
	if (!r->running || !r->at_end)
		return -ENOMEM;
	error = merge_new(r->collector, &r->merge);
	if (error == 0)
		error = fxt_archive_init(&r->archive, NULL, r->n_cpus);
	if (error == 0)
		error = schedule_init(&r->schedule, &r->archive, &r->tasks, r->n_cpus);
	if (error < 0)
		return error;
	error = session_options_splits(options) ? recorder_will_split(r) : 0;
	if (error < 0)
		return error;
	r->start_ns = r->chunk_ns = news->start_ns;
	r->listed_ns = news->listed_ns;
	r->schedule.filtered = filtered;
	recorder_set_from(r, r->start_ns);
	recorder_set_to(r, UINT64_MAX);
	r->schedule.announce = r->activity.announce = r->profiler.announce =
		r->allocations.announce = announce;
	r->allocations.need_mappings = need_mappings;
	r->allocations.userdata = r;
	allocations_begin(&r->allocations, options);
	r->schedule.belongs = belongs;
	r->schedule.userdata = r->activity.userdata = r->profiler.userdata = r;
	r->profiler.filtered = filtered;
	r->profiler.is_gone = r->is_gone;
	r->own = r->profiler.own = options->own;
	r->archive.no_perfetto_samples = options->no_perfetto_blobs;
	r->lifecycle.ask = ask;
	r->lifecycle.ask_cgroup = ask_cgroup;
	r->lifecycle.userdata = r;
	error = begin_triggers(r, options);
	if (error < 0)
		return error;
	recorder_forget_running(r);
	error = recorder_learn_cgroups(r, &news->cgroups);
	return error < 0 ? error : recorder_learn_tasks(r, &news->tasks);
}

void recorder_let_go(struct recorder *r)
{
	r->closed = true;
	r->merge = merge_free(r->merge);
	r->collector = NULL;
}

/* What ran on CPU when the recording began, and has since before it. */
int recorder_open_cpu(struct recorder *r, unsigned cpu)
{
	uint32_t tid = (uint32_t)r->running[cpu];
	int32_t prio = (int32_t)(r->running[cpu] >> 32);
	struct merge_switch first;

	/* A switch before the list was complete knows better than the list. */
	switch (merge_peek_switch(r->merge, cpu, r->start_ns, r->listed_ns, &first)) {
	case MERGE_PEEK_SWITCH:
		tid = first.out_tid;
		prio = first.out_prio;
		break;
	case MERGE_PEEK_LOSS:
		tid = 0;
		break;
	}
	return schedule_open(&r->schedule, cpu, tid, prio);
}

int recorder_open_cpus(struct recorder *r)
{
	_cleanup_free_ bool *online = calloc(r->n_cpus, sizeof(*online));
	int error = 0;

	if (!online)
		return -ENOMEM;
	cpus_online(online, r->n_cpus);
	for (unsigned cpu = 0; error == 0 && cpu < r->n_cpus; cpu++)
		if (r->categories & CATEGORY_SCHED && online[cpu])
			error = recorder_open_cpu(r, cpu);
	return error;
}

int recorder_open(struct recorder *r, const struct session_options *options)
{
	int error = fxt_archive_begin(&r->archive);

	if (error == 0)
		error = recorder_write_start(r, &r->archive, options, r->start_ns);
	if (error == 0)
		error = recorder_write_clock(&r->archive, r->start_ns);
	if (error == 0)
		error = recorder_write_sampling(r, &r->archive, options, r->start_ns);
	if (error == 0 && !r->schedule.filtered)
		error = recorder_announce_all(r);
	if (error == 0)
		error = recorder_open_cpus(r);
	r->opened = error == 0;
	return error;
}

/* ---- what happens ---- */

static int after(struct recorder *r, int error)
{
	return error < 0 ? error : r->after_record(r->userdata);
}

static int on_words(const struct merge_ring *from, uint64_t *words, unsigned n_words,
		    void *userdata)
{
	struct recorder *r = userdata;

	/* (before its words are made those of the archive) */
	if (from->class == CLASS_SCHED)
		return after(r,
			     trigger_by_words(r, words, n_words)
				     ?: schedule_record(&r->schedule, from->cpu, words, n_words));
	return after(r, activity_words(&r->activity, from->class, from->cpu, words, n_words));
}

static int on_loss_begins(const struct merge_ring *from, const struct ring_lost *mark,
			  void *userdata)
{
	struct recorder *r = userdata;
	struct ring_lost clipped = recorder_clip_to_end(r, from->class, from->cpu, mark);

	if (from->class == CLASS_SCHED && r->triggers)
		triggers_loss(r->triggers);
	if (from->class == CLASS_SCHED)
		return after(r, schedule_loss_begins(&r->schedule, from->cpu, &clipped));
	return after(r, recorder_write_loss(r, from->class, from->cpu, &clipped));
}

static int on_loss_ends(const struct merge_ring *from, const struct ring_lost *mark, void *userdata)
{
	struct recorder *r = userdata;

	if (from->class != CLASS_SCHED)
		return 0;
	return after(r, schedule_loss_ends(&r->schedule, from->cpu, mark));
}

/* REC is of a task that the programs select, and did at its time. */
static int prove(struct recorder *r, const struct rec_head *rec)
{
	return r->own ? profiler_need(&r->profiler, rec->pid, rec->ts_ns) : 0;
}

/* What the worker has read, up to TS_NS: what is at hand. */
static int write_memory_at_hand(struct recorder *r, uint64_t ts_ns)
{
	const struct rec_head *rec;
	int error = 0;

	while (error == 0 && r->memory_at < r->memory.size) {
		rec = (const struct rec_head *)(r->memory.data + r->memory_at);
		if (rec->ts_ns > ts_ns)
			break;
		r->memory_at += rec->size;
		error = trigger_by_record(r, rec);
		if (error == 0)
			error = rec->kind == REC_TASK ? prove(r, rec)
						      : allocations_record(&r->allocations, rec);
	}
	return error;
}

/* What is known of a process that has ended may come after its end: then it is too late for its mappings. */
static bool may_be_watched(const struct recorder *r, uint32_t pid)
{
	return r->categories & CATEGORIES_MEMORY &&
	       (r->schedule.filtered || allocations_watches(&r->allocations, pid));
}

static int on_lifecycle(struct recorder *r, const struct rec_head *rec)
{
	const struct rec_exec *exec = (const struct rec_exec *)rec;
	const struct rec_exit *exit = (const struct rec_exit *)rec;
	const struct rec_fork *fork = (const struct rec_fork *)rec;
	int error = write_memory_at_hand(r, rec->ts_ns);

	/* Before: the child has what it has, and an end is the last word. */
	if (error == 0 && (rec->kind == REC_FORK || rec->kind == REC_EXIT))
		error = prove(r, rec);
	if (error == 0 && rec->kind == REC_FORK)
		error = profiler_selected(&r->profiler, rec->pid);
	if (error == 0)
		error = lifecycle_record(&r->lifecycle, rec);
	if (error == 0 && rec->kind == REC_EXEC && exec->old_tid != rec->tid)
		error = schedule_renumber(&r->schedule, rec->cpu, rec->ts_ns, exec->old_tid,
					  rec->tid);
	if (error == 0 && rec->kind == REC_EXEC)
		error = profiler_executed(&r->profiler, rec->pid, rec->ts_ns);
	if (error == 0 && rec->kind == REC_EXEC && may_be_watched(r, rec->pid))
		error = profiler_need(&r->profiler, rec->pid, rec->ts_ns);
	if (error == 0 && rec->kind == REC_FORK)
		error = profiler_forked(&r->profiler, rec->pid, fork->child.pid);
	if (error == 0 && rec->kind == REC_FORK && r->own && fork->child.pid != rec->pid)
		error = profiler_trust(&r->profiler, fork->child.pid, rec->ts_ns);
	if (error == 0 && rec->kind == REC_FORK)
		error = profiler_selected(&r->profiler, fork->child.pid);
	if (rec->kind == REC_RENAME)
		profiler_renamed(&r->profiler, rec->pid);
	if (error == 0 && rec->kind == REC_EXIT && exit->process_ends &&
	    may_be_watched(r, rec->pid))
		error = profiler_need(&r->profiler, rec->pid, rec->ts_ns);
	if (error == 0 && rec->kind == REC_EXIT && exit->process_ends)
		error = profiler_ended(&r->profiler, rec->pid);
	if (rec->kind == REC_EXIT && exit->process_ends)
		allocations_ended(&r->allocations, rec->pid);
	return after(r, error);
}

static int on_lost(struct recorder *r, const struct rec_head *head)
{
	const struct rec_lost *rec = (const struct rec_lost *)head;

	static const enum event_class classes[REC_SOURCES] = {
		[REC_RING_WORKQUEUE] = CLASS_WORKQUEUE, [REC_RING_FREQUENCY] = CLASS_FREQUENCY,
		[REC_RING_STACKS] = CLASS_STACKS,       [REC_RING_MEMORY] = CLASS_MEMORY,
		[REC_RING_MAPPINGS] = CLASS_MAPPINGS,
	};

	if (rec->ring == REC_RING_LIFECYCLE)
		return after(r, lifecycle_record(&r->lifecycle, head));
	return after(r, activity_lost(&r->activity, classes[rec->ring], head->cpu, rec));
}

/* What the worker has read, up to TS_NS: all that is to be had. */
static int write_memory(struct recorder *r, uint64_t ts_ns)
{
	int error;

	for (;;) {
		error = after(r, write_memory_at_hand(r, ts_ns));
		if (error != 0 || r->memory_at < r->memory.size)
			return error;
		outbuf_deinit(&r->memory);
		r->memory_at = 0;
		if (!r->take_memory || !r->take_memory(&r->memory, r->userdata))
			return 0;
	}
}

/* Behind what was said of its process before. */
static int on_allocation(struct recorder *r, const struct rec_head *rec)
{
	int error = write_memory_at_hand(r, rec->ts_ns);

	if (error == 0)
		error = prove(r, rec);
	return after(r, error < 0 ? error : allocations_record(&r->allocations, rec));
}

/* Of a process that is watched, the new file may have an allocator. */
static int on_mapping(struct recorder *r, const struct rec_head *rec)
{
	if (r->categories & CATEGORIES_MEMORY && allocations_watches(&r->allocations, rec->pid))
		r->look(rec->pid, r->userdata);
	return after(r, profiler_record(&r->profiler, rec));
}

/* Counters may be sampled for triggers alone. */
static int on_sample(struct recorder *r, const struct rec_head *rec)
{
	int error = trigger_by_record(r, rec);

	if (error == 0 && r->categories & CATEGORY_COUNTERS)
		error = activity_record(&r->activity, rec);
	return after(r, error);
}

static int on_record(const struct rec_head *rec, void *userdata)
{
	struct recorder *r = userdata;

	switch (rec->kind) {
	case REC_FORK:
	case REC_EXEC:
	case REC_EXIT:
	case REC_RENAME:
		return on_lifecycle(r, rec);
	case REC_LOST:
		return on_lost(r, rec);
	case REC_CPU_GONE:
		return after(r, schedule_cpu_gone(&r->schedule,
						  ((const struct rec_cpu_gone *)rec)->gone_cpu,
						  rec->ts_ns));
	case REC_STACK:
	case REC_TICK:
	case REC_OFFCPU:
	case REC_NEW_IMAGE:
		return after(r, profiler_record(&r->profiler, rec));
	case REC_ALLOC:
	case REC_FREE:
	case REC_NAMED:
	case REC_RESOURCE:
		return on_allocation(r, rec);
	case REC_MAPPING:
		return on_mapping(r, rec);
	case REC_SAMPLE:
		return on_sample(r, rec);
	default:
		return after(r, activity_record(&r->activity, rec));
	}
}

/* What was mapped at the start: not through the merge, since it may be much. */
static int write_mappings(struct recorder *r)
{
	const struct rec_mapping *rec;
	int error = 0;

	while (error == 0 && r->mappings_at < r->mappings.size) {
		rec = (const struct rec_mapping *)(r->mappings.data + r->mappings_at);
		r->mappings_at += rec->head.size;
		error = after(r, profiler_listed(&r->profiler, rec));
	}
	if (error == 0 && r->mappings_at > 0) {
		outbuf_deinit(&r->mappings);
		r->mappings_at = 0;
	}
	return error;
}

int recorder_add_mappings(struct recorder *r, const struct worker_news *news)
{
	size_t from = r->mappings.size;
	int error = outbuf_append(&r->mappings, news->mappings.data, news->mappings.size);

	for (size_t at = from; error == 0 && at < r->mappings.size;) {
		struct rec_head *head = (struct rec_head *)(r->mappings.data + at);

		head->ts_ns = r->start_ns;
		at += head->size;
	}
	return error;
}

/* When it is noticed; at the latest at the end of the recording, since it is of it. */
static int write_shortage_of(struct recorder *r, enum event_class class, uint64_t *n)
{
	uint64_t now_ns = clock_boot_ns(), to_ns = r->schedule.to_ns;
	uint64_t ts_ns = now_ns < to_ns ? now_ns : to_ns;
	const struct rec_lost lost = { .count = *n, .first_ns = ts_ns, .last_ns = ts_ns };

	*n = 0;
	return lost.count ? activity_lost(&r->activity, class, 0, &lost) : 0;
}

static int write_malformed(struct recorder *r)
{
	uint64_t n = recorder_unsaid_malformed(r);

	r->n_malformed += n;
	return write_shortage_of(r, CLASS_MALFORMED, &n);
}

/* What came out of the rings and could not be made use of. */
static int write_shortage(struct recorder *r)
{
	int error = write_shortage_of(r, CLASS_STACKS, &r->profiler.n_homeless);

	/* (not by the kernel: it makes nothing doubtful) */
	r->own_lost += r->profiler.n_dropped;
	if (error == 0)
		error = write_shortage_of(r, CLASS_MAPPINGS, &r->profiler.n_dropped);
	if (error == 0)
		error = write_shortage_of(r, CLASS_MEMORY, &r->allocations.n_dropped);
	return error < 0 ? error : write_malformed(r);
}

/* Before the round: of all that is in it, it is known by now whether it was lost. */
static void look_for_loss(struct recorder *r)
{
	uint64_t lost = recorder_lost(r, CLASS_LIFECYCLE) + recorder_lost(r, CLASS_MAPPINGS) +
			recorder_lost(r, CLASS_MALFORMED);

	if (lost != r->own_lost)
		profiler_doubt(&r->profiler, clock_boot_ns());
	r->own_lost = lost;
}

int recorder_round(struct recorder *r, uint64_t horizon_ns)
{
	const struct merge_sink sink = { on_words, on_loss_begins, on_loss_ends, on_record, r };
	int error = write_mappings(r);

	if (r->own)
		look_for_loss(r);
	if (error == 0)
		error = merge_round(r->merge, horizon_ns, &sink);
	if (error == 0 && (r->own || r->categories & CATEGORIES_MEMORY))
		error = write_memory(r, horizon_ns);
	if (error == 0)
		error = recorder_settle_triggers(r, horizon_ns);
	if (error != 0)
		return error;
	if (stacks_turn(&r->profiler.stacks, horizon_ns, clock_boot_ns()))
		collector_forget_stacks(r->collector);
	return write_shortage(r);
}

int recorder_add_samples(struct recorder *r, const struct worker_news *news)
{
	const struct rec_sample *list = (const struct rec_sample *)news->samples.data;
	int error = 0;

	/* When too many are waiting for an output that has stopped, later ones are dropped. */
	for (size_t i = 0; error == 0 && i < news->samples.size / sizeof(*list); i++)
		error = merge_add(r->merge, &list[i].head);
	return error == -ENOBUFS ? 0 : error;
}

int recorder_mark(struct recorder *r, const char *text)
{
	char clean[MARK_MAX + 1];
	struct event ev = { .kind = EVENT_MARK, .ts_ns = clock_boot_ns(), .mark.text = clean };
	int error;

	text_clean(clean, sizeof(clean), text, strlen(text));
	error = fxt_archive_event(&r->archive, &ev);
	if (error == 0)
		r->n_marks++;
	return error;
}

static void forget_shed(struct recorder *r, const char *what)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_sheds; i++)
		if (strcmp(r->sheds[i].shed.what, what) != 0)
			r->sheds[n++] = r->sheds[i];
	r->n_sheds = n;
}

int recorder_shed(struct recorder *r, const struct event *ev)
{
	forget_shed(r, ev->shed.what);
	if (!ev->shed.back && r->n_sheds < ARRAY_SIZE(r->sheds))
		r->sheds[r->n_sheds++] = *ev;
	return fxt_archive_event(&r->archive, ev);
}

int recorder_context(struct recorder *r, const char *name, uint32_t bit, uint32_t open)
{
	const struct event ev = {
		.kind = EVENT_CONTEXT,
		.ts_ns = clock_boot_ns(),
		.context = { .name = name, .id = bit, .begin = open & bit },
	};
	int error;

	if (r->categories & CATEGORIES_MEMORY && r->collector)
		collector_set_context(r->collector, open);
	error = fxt_archive_event(&r->archive, &ev);
	if (error == 0)
		r->n_marks++;
	return error;
}

uint64_t recorder_n_events(const struct recorder *r)
{
	return r->schedule.n_events + r->lifecycle.n_events + r->activity.n_events +
	       r->profiler.n_events + r->allocations.n_events + r->n_marks;
}

/* ---- the end ---- */

/* What CPU was in the middle of. */
int recorder_close_cpu(struct recorder *r, unsigned cpu)
{
	uint64_t begin_ns;
	uint32_t state;
	int error = 0;

	for (enum event_class class = 0; error == 0 && class < CLASS_MAX; class ++)
		error = recorder_write_trailing_loss(r, class, cpu);
	if (error == 0 && r->categories & CATEGORY_POWER &&
	    collector_idle(r->collector, cpu, &state, &begin_ns))
		error = activity_close_idle(&r->activity, cpu, state, begin_ns);
	return error;
}

int recorder_close(struct recorder *r, const struct recorder_end *end)
{
	int error = 0;

	/* (a pause has closed them) */
	for (unsigned cpu = 0; error == 0 && !r->paused && cpu < r->n_cpus; cpu++)
		error = recorder_close_cpu(r, cpu);
	for (enum event_class class = 0; error == 0 && class < CLASS_MAX; class ++)
		error = recorder_write_skipped(r, class);
	if (error == 0)
		error = write_malformed(r);
	if (error == 0)
		error = recorder_settle_triggers(r, UINT64_MAX);
	if (error == 0)
		error = profiler_finish(&r->profiler);
	if (error == 0)
		error = lifecycle_close(&r->lifecycle);
	if (error == 0)
		error = schedule_close(&r->schedule);
	if (error == 0)
		error = recorder_write_clock(&r->archive, r->end_ns);
	if (error < 0)
		return error;
	r->closed = true;
	return recorder_write_stop(r, &r->archive, r->end_ns, end);
}
