/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A window has the counts of a summary and a profile since its begin, when both were reset. The
 * displayed values are copied, so that the copy can be used while the next window is counted.
 */
#include "reader/views/live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/table.h"
#include "reader/views/latency.h"
#include "reader/views/profile.h"
#include "reader/views/summary.h"
#include "reader/views/summary-accounts.h"
#include "writer/fxt/fxt-wire.h"

#define WAIT_PERCENT 99.0

static const char unknown[] = "[unknown]", nobody[] = "?";

struct pids {
	uint32_t *list; /* owned */
	size_t n, room;
};

struct live {
	uint64_t interval_ns;
	uint64_t begin_ns; /* begin of the grid; 0 = unknown */
	uint64_t start_ns, end_ns;
	uint64_t n_events;
	uint64_t n_lost_before; /* number of lost events before the window */
	struct summary *summary;
	struct profile *profile;
	struct table latencies; /* tid -> struct latency, owned */
	/* Processes that have ended in this window, and those that ended in the previous one. */
	struct pids ending, ended;
};

void live_window_deinit(struct live_window *w)
{
	free(w->lost);
	free(w->cpus);
	free(w->functions);
	free(w->threads);
	free(w->processes);
	text_set_deinit(&w->texts);
	*w = (struct live_window){ 0 };
}

int live_new(struct live **ret, uint64_t interval_ns)
{
	_cleanup_(live_freep) struct live *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return -ENOMEM;
	l->interval_ns = interval_ns;
	r = summary_new(&l->summary);
	if (r == 0)
		r = profile_new(&l->profile, &(struct profile_options){ .on_cpu = true,
									.innermost = true,
									.to_ns = UINT64_MAX });
	if (r < 0)
		return r;
	*ret = TAKE_PTR(l);
	return 0;
}

struct live *live_free(struct live *l)
{
	if (!l)
		return NULL;
	summary_free(l->summary);
	profile_free(l->profile);
	latency_table_deinit(&l->latencies);
	free(l->ending.list);
	free(l->ended.list);
	return free_ptr(l);
}

/* ---- events ---- */

uint64_t live_end_ns(const struct live *l)
{
	return l->end_ns;
}

/* Returns true if EV comes in order of time, and its time is the time at which it happened. */
static bool live_is_timed(const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_SWITCH:
	case EVENT_WAKE:
	case EVENT_MIGRATE:
	case EVENT_FORK:
	case EVENT_EXEC:
	case EVENT_EXIT:
	case EVENT_SAMPLE:
		return true;
	default:
		return false;
	}
}

bool live_is_over(const struct live *l, const struct event *ev)
{
	return l->end_ns != 0 && ev->ts_ns >= l->end_ns && live_is_timed(ev);
}

static int live_add_ending(struct pids *p, uint32_t pid)
{
	if (GROW(p->list, p->room, p->n + 1) < 0)
		return -ENOMEM;
	p->list[p->n++] = pid;
	return 0;
}

int live_add(struct live *l, const struct event *ev)
{
	uint64_t ns;
	int r = 0;

	if (ev->kind == EVENT_START && l->begin_ns == 0) {
		l->begin_ns = l->start_ns = ev->ts_ns;
		l->end_ns = ev->ts_ns + l->interval_ns;
	}
	l->n_events +=
		ev->kind != EVENT_TASK && ev->kind != EVENT_MAPPING && ev->kind != EVENT_FRAME;
	if (ev->kind == EVENT_SWITCH && summary_wakeup_latency(l->summary, ev, &ns))
		r = latency_table_add(&l->latencies, ev->sw.next_tid, ns);
	if (r == 0 && ev->kind == EVENT_EXIT && ev->exit.process_ends)
		r = live_add_ending(&l->ending, ev->pid);
	r = r ?: summary_add(l->summary, ev);
	return r < 0 ? r : profile_add(l->profile, ev);
}

const uint32_t *live_ended(const struct live *l, size_t *ret_n)
{
	*ret_n = l->ended.n;
	return l->ended.list;
}

/* ---- CPUs and losses ---- */

static int live_show_cpus(const struct live *l, struct live_window *w)
{
	const struct summary *s = l->summary;
	size_t n = s->recording.n_cpus > FXT_CPU_MAX ? 0 : s->recording.n_cpus;

	/* CPUs without a switch were idle in the whole window, and are shown, too. */
	if (n < s->n_cpus)
		n = s->n_cpus;
	w->cpus = calloc(n + 1, sizeof(*w->cpus));
	if (!w->cpus)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct summary_cpu none = { 0 };
		const struct summary_cpu *cpu = i < s->n_cpus ? &s->cpus[i] : &none;

		if (!cpu->seen && i >= s->recording.n_cpus)
			continue;
		w->cpus[w->n_cpus++] =
			(struct live_cpu){ (uint32_t)i, cpu->busy_ns, cpu->switches };
		w->busy_ns += cpu->busy_ns;
	}
	return 0;
}

static int live_show_lost(const struct live *l, struct live_window *w)
{
	const struct summary *s = l->summary;

	w->lost = calloc(s->n_lost + 1, sizeof(*w->lost));
	if (!w->lost)
		return -ENOMEM;
	w->n_lost = summary_lost(s);
	w->n_lost_ever = l->n_lost_before + w->n_lost;
	for (size_t i = 0; i < s->n_lost; i++) {
		const char *name = text_set_keep(&w->texts, s->lost[i].class_name);

		if (!name)
			return -ENOMEM;
		if (s->lost[i].count > 0)
			w->lost[w->n_classes++] = (struct live_loss){ name, s->lost[i].count };
	}
	return 0;
}

/* ---- functions ---- */

static const char *live_process_name(const struct live *l, uint32_t pid)
{
	const struct summary_process *p = table_get(&l->summary->processes, (uint64_t)pid + 1);

	if (pid == 0)
		return "idle";
	return p && p->name && *p->name ? p->name : nobody;
}

/* The name of a place; NULL = not looked up yet. */
struct label {
	const char *name, *module;
};

/* Returns the last component of the path of PLACE or FRAME; "[kernel]" for the kernel's own text,
 * "[anon]" for memory without a file. */
static const char *live_module_of(const struct profile_place *place, const struct frame *frame)
{
	const char *path = place->mapping           ? place->mapping->path
			   : frame && frame->module ? frame->module
						    : "";

	if (maps_is_kernel(place->address) && (*path == '\0' || strncmp(path, "[kernel", 7) == 0))
		return "[kernel]";
	if (strcmp(path, "//anon") == 0)
		return "[anon]";
	return profile_names_base(path);
}

static int live_find_name(const struct live *l, const struct profile_names *names,
			  const struct profile_place *place, struct live_window *w,
			  struct label *ret)
{
	const struct frame *frames = NULL;
	int n = profile_names_find(l->profile, names, place, &frames);

	if (n < 0)
		return n;
	if (n == 0)
		frames = NULL;
	ret->name =
		text_set_keep(&w->texts, frames && *frames->function ? frames->function : unknown);
	ret->module = text_set_keep_path(&w->texts, live_module_of(place, frames));
	return ret->name && ret->module ? 0 : -ENOMEM;
}

DEFINE_ORDER_OF_POINTERS(live_compare_stacks, struct profile_stack,
			 COMPARE(y->count, x->count) ?: COMPARE(x, y))

DEFINE_ORDER(live_compare_functions, struct live_function,
	COMPARE(y->samples, x->samples) ?: strcmp(x->name, y->name)
		?: strcmp(x->process, y->process))

/* Counts the samples of STACK for its function. NUMBERS maps the hash of a function to its index +
 * 1. */
static int live_count_function(const struct live *l, const struct profile_stack *stack,
			       const struct label *label, bool kernel, struct table *numbers,
			       struct live_window *w)
{
	const char *process = text_set_keep(&w->texts, live_process_name(l, stack->pid));
	const void *const key[] = { label->name, label->module, process };
	uint64_t hash = table_hash(key, sizeof(key));
	size_t number;

	if (!process)
		return -ENOMEM;
	/* (texts of a window are kept once, so equal texts have equal addresses) */
	while ((number = (size_t)(uintptr_t)table_get(numbers, hash)) > 0) {
		const struct live_function *f = &w->functions[number - 1];

		if (f->name == label->name && f->module == label->module && f->process == process)
			break;
		hash = hash + 1 ?: 1;
	}
	if (number == 0) {
		number = w->n_functions + 1;
		if (table_set(numbers, hash, (void *)(uintptr_t)number) < 0)
			return -ENOMEM;
		w->functions[w->n_functions++] = (struct live_function){
			.name = label->name,
			.module = label->module,
			.process = process,
			.kernel = kernel,
		};
	}
	w->functions[number - 1].samples += stack->count;
	return 0;
}

static int live_show_functions(const struct live *l, const struct profile_names *names,
			       struct live_window *w)
{
	const struct profile *p = l->profile;
	_cleanup_free_ const struct profile_stack **stacks =
		calloc(p->n_stacks + 1, sizeof(*stacks));
	_cleanup_free_ struct label *labels = calloc(p->n_places + 1, sizeof(*labels));
	const struct label none = { unknown, "" };
	struct table numbers = { 0 };
	int r = 0;

	w->functions = calloc(p->n_stacks + 1, sizeof(*w->functions));
	if (!stacks || !labels || !w->functions)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_stacks; i++)
		stacks[i] = &p->stacks[i];
	SORT(stacks, p->n_stacks, live_compare_stacks);
	for (size_t i = 0; r == 0 && i < p->n_stacks; i++) {
		uint32_t node = stacks[i]->node, number = p->nodes[node].place;
		const struct profile_place *place = node ? &p->places[number] : NULL;
		struct label *label = place ? &labels[number] : NULL;

		if (label && !label->name)
			r = live_find_name(l, names, place, w, label);
		if (r == 0)
			r = live_count_function(l, stacks[i], label ?: &none,
						place && maps_is_kernel(place->address), &numbers,
						w);
	}
	table_deinit(&numbers);
	SORT(w->functions, w->n_functions, live_compare_functions);
	return r;
}

/* ---- threads and processes ---- */

static uint64_t live_count_of(const struct table *t, uint32_t tid)
{
	return (uintptr_t)table_get(t, (uint64_t)tid + 1);
}

/* Sums up the samples of each thread in COUNTS: tid + 1 -> count. */
static int live_count_samples(const struct profile *p, struct table *counts)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < p->n_stacks; i++) {
		const struct profile_stack *s = &p->stacks[i];
		uint64_t n = live_count_of(counts, s->tid) + s->count;

		r = table_set(counts, (uint64_t)s->tid + 1, (void *)(uintptr_t)n);
	}
	return r;
}

static int live_show_thread(const struct live *l, const struct summary_thread *t, uint64_t samples,
			    struct live_window *w)
{
	const struct latency *latency = table_get(&l->latencies, t->tid);
	struct live_task task = {
		.pid = t->pid,
		.tid = t->tid,
		.name = text_set_keep(&w->texts, t->name && *t->name ? t->name : nobody),
		.process = text_set_keep(&w->texts, live_process_name(l, t->pid)),
		.cpu_ns = t->cpu_ns,
		.runnable_ns = t->runnable_ns,
		.switches = t->switches,
		.wakeups = t->wakeups,
		.samples = samples,
		.n_threads = 1,
	};

	if (!task.name || !task.process)
		return -ENOMEM;
	if (latency)
		task.wait_ns = latency_percentile_ns(latency, WAIT_PERCENT);
	w->threads[w->n_threads++] = task;
	return 0;
}

static int live_show_threads(const struct live *l, struct live_window *w)
{
	_cleanup_free_ struct summary_thread **threads = NULL;
	struct table samples = { 0 };
	size_t n = 0;
	int r = summary_threads_by_cpu(l->summary, &threads, &n)
			?: live_count_samples(l->profile, &samples);

	w->threads = calloc(n + 1, sizeof(*w->threads));
	if (r == 0 && !w->threads)
		r = -ENOMEM;
	for (size_t i = 0; r == 0 && i < n; i++) {
		const struct summary_thread *t = threads[i];
		uint64_t count = live_count_of(&samples, t->tid);

		if (t->cpu_ns || t->runnable_ns || t->switches || t->wakeups || count)
			r = live_show_thread(l, t, count, w);
	}
	table_deinit(&samples);
	return r;
}

/* Finds or adds the process of THREAD in W. Returns NULL if there is no memory. */
static struct live_task *live_get_process(const struct live *l, struct table *numbers,
					  const struct live_task *thread, struct live_window *w)
{
	/* A thread whose process is unknown counts as a process of its own. */
	uint64_t key = thread->pid ? (uint64_t)thread->pid + 1 : (uint64_t)thread->tid << 32;
	size_t number = (size_t)(uintptr_t)table_get(numbers, key);
	const struct summary_process *p;
	struct live_task *task;

	if (number > 0)
		return &w->processes[number - 1];
	if (table_set(numbers, key, (void *)(uintptr_t)(w->n_processes + 1)) < 0)
		return NULL;
	p = table_get(&l->summary->processes, (uint64_t)thread->pid + 1);
	task = &w->processes[w->n_processes++];
	*task = (struct live_task){
		.pid = thread->pid ?: thread->tid,
		.name = p ? thread->process : thread->name,
		.process = text_set_keep(&w->texts, p && p->command_line ? p->command_line : ""),
	};
	return task->process ? task : NULL;
}

DEFINE_ORDER(compare_tasks, struct live_task,
	     COMPARE(y->cpu_ns, x->cpu_ns) ?: COMPARE(x->pid, y->pid))

static int live_show_processes(const struct live *l, struct live_window *w)
{
	_cleanup_free_ struct latency *latencies = calloc(w->n_threads + 1, sizeof(*latencies));
	struct table numbers = { 0 };
	int r = 0;

	w->processes = calloc(w->n_threads + 1, sizeof(*w->processes));
	if (!w->processes || !latencies)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < w->n_threads; i++) {
		const struct live_task *from = &w->threads[i];
		const struct latency *latency = table_get(&l->latencies, from->tid);
		struct live_task *to = live_get_process(l, &numbers, from, w);

		r = to ? 0 : -ENOMEM;
		if (r == 0 && latency)
			r = latency_merge(&latencies[to - w->processes], latency);
		if (r < 0)
			break;
		to->cpu_ns += from->cpu_ns;
		to->runnable_ns += from->runnable_ns;
		to->switches += from->switches;
		to->wakeups += from->wakeups;
		to->samples += from->samples;
		to->n_threads++;
	}
	for (size_t i = 0; i < w->n_processes; i++) {
		w->processes[i].wait_ns = latency_percentile_ns(&latencies[i], WAIT_PERCENT);
		latency_deinit(&latencies[i]);
	}
	table_deinit(&numbers);
	SORT(w->processes, w->n_processes, compare_tasks);
	return r;
}

/* ---- windows ---- */

static int live_show(const struct live *l, const struct profile_names *names, struct live_window *w)
{
	w->start_ns = l->start_ns;
	w->end_ns = l->end_ns;
	w->n_events = l->n_events;
	w->n_samples = l->profile->n_samples;
	w->n_unmapped = profile_n_unmapped(l->profile);
	return live_show_cpus(l, w) ?: live_show_lost(l, w) ?: live_show_functions(l, names, w)
		       ?: live_show_threads(l, w) ?: live_show_processes(l, w);
}

static int live_begin(struct live *l)
{
	struct pids ended = l->ended;

	l->ended = l->ending;
	l->ending = ended;
	l->ending.n = 0;
	l->n_events = 0;
	l->n_lost_before += summary_lost(l->summary);
	latency_table_deinit(&l->latencies);
	/* (records can be a little late) */
	profile_begin_part(l->profile, l->start_ns);
	l->start_ns = l->end_ns;
	l->end_ns += l->interval_ns;
	return summary_begin_part(l->summary, l->start_ns, LIVE_THREADS_MAX);
}

int live_close(struct live *l, const struct live_close_args *args, struct live_window *ret)
{
	uint64_t lines;
	int r = 0;

	if (args->last) {
		l->end_ns = args->now_ns > l->start_ns ? args->now_ns : l->start_ns;
	} else if (args->now_ns > l->end_ns) {
		lines = (args->now_ns - l->begin_ns) / l->interval_ns;
		l->end_ns = l->begin_ns + lines * l->interval_ns;
	}
	summary_end_part(l->summary, l->end_ns);
	if (ret)
		r = live_show(l, args->names, ret);
	return r < 0 ? r : live_begin(l);
}
