/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/heap/heap-targets.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/table.h"
#include "capture/heap/task-list.h"
#include "capture/heap/triage.h"

struct heap_targets {
	const struct session_options *options; /* borrowed */
	struct collector *collector;           /* borrowed */
	struct memory_sink sink;
	struct heap_trace *memory;
	struct triage *triage;   /* NULL = the filter selects the watched processes */
	uint64_t next_triage_ns; /* CLOCK_MONOTONIC */
};

static bool heap_targets_is_called_off(const struct heap_targets *w)
{
	return w->sink.called_off && w->sink.called_off(w->sink.userdata);
}

/*
 * Watches the selected processes of TASKS (struct rec_task). If the recording ends meanwhile, the
 * rest is reported as not watched.
 */
static void heap_targets_arm_selected(struct heap_targets *w, const struct outbuf *tasks)
{
	const struct rec_task *list = (const struct rec_task *)tasks->data;
	_cleanup_(table_deinit) struct table tried = { 0 };

	for (size_t i = 0; i < tasks->size / sizeof(*list); i++) {
		const struct rec_identity *id = &list[i].task;
		uint64_t key = (uint64_t)id->pid + 1;

		/*
		 * A process is selected if one of its threads is selected, for example by its name.
		 */
		if (!(id->flags & IDENTITY_SELECTED) || id->flags & IDENTITY_KTHREAD ||
		    table_get(&tried, key))
			continue;
		/* If there is no memory, the process is tried again for its next thread. */
		(void)!table_set(&tried, key, w);
		if (heap_trace_watches(w->memory, id->pid))
			continue;
		if (heap_targets_is_called_off(w))
			heap_trace_leave_out(w->memory, id->pid, id->start_ns);
		else
			heap_trace_probe(w->memory, id->pid);
	}
}

/* Watches processes that were not reported for lack of space. */
static void heap_targets_arm_missed(struct heap_targets *w)
{
	struct outbuf tasks = { 0 };

	if (task_list_read(w->collector, &tasks) == 0)
		heap_targets_arm_selected(w, &tasks);
	outbuf_deinit(&tasks);
}

static bool heap_targets_on_grown(uint32_t pid, bool trace, void *userdata)
{
	struct heap_targets *w = userdata;

	if (!trace)
		heap_trace_release(w->memory, pid);
	return !trace || heap_trace_probe(w->memory, pid) == 0;
}

/* Checks for growing processes. */
static void heap_targets_triage_if_due(struct heap_targets *w)
{
	uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC),
		 interval_ns = w->options->memory.triage_interval_ns;

	if (!w->triage || now_ns < w->next_triage_ns)
		return;
	if (triage_scan(w->triage, "") > 0)
		triage_decide(w->triage, heap_targets_on_grown, w);
	w->next_triage_ns += interval_ns * ((now_ns - w->next_triage_ns) / interval_ns + 1);
}

int heap_targets_new(const struct session_options *options, struct collector *collector,
		     const struct memory_sink *sink, const struct outbuf *tasks,
		     struct heap_targets **ret)
{
	_cleanup_(heap_targets_freep) struct heap_targets *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return -ENOMEM;
	w->options = options;
	w->collector = collector;
	w->sink = *sink;
	r = heap_trace_new(options, collector, sink, &w->memory);
	if (r == 0 && options->memory.triage)
		r = triage_new(&TRIAGE_OPTIONS_DEFAULT, &w->triage);
	if (r < 0)
		return r;
	w->next_triage_ns = clock_read_ns(CLOCK_MONOTONIC);
	if (!w->triage)
		heap_targets_arm_selected(w, tasks);
	heap_trace_begun(w->memory);
	*ret = TAKE_PTR(w);
	return 0;
}

struct heap_targets *heap_targets_free(struct heap_targets *w)
{
	if (!w)
		return NULL;
	triage_free(w->triage);
	heap_trace_free(w->memory);
	return free_ptr(w);
}

struct heap_trace *heap_targets_memory(const struct heap_targets *w)
{
	return w->memory;
}

void heap_targets_do_due_work(struct heap_targets *w)
{
	bool missed;

	heap_trace_drain_events(w->memory);
	missed = heap_trace_has_missed(w->memory);
	if (missed && !w->triage)
		heap_targets_arm_missed(w);
	heap_trace_forget_outdated(w->memory, missed);
	heap_targets_triage_if_due(w);
}

uint64_t heap_targets_next_ns(const struct heap_targets *w)
{
	uint64_t next_ns = heap_trace_next_ns(w->memory);

	return w->triage && w->next_triage_ns < next_ns ? w->next_triage_ns : next_ns;
}
