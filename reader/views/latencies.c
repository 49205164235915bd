/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * While events are read, there is a distribution for each thread, CPU or name, depending on the
 * kind of rows. Only at the end, the names of processes and units and the selected threads are
 * known. Then the distributions are merged into rows.
 */
#include "reader/views/latencies.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/table.h"
#include "base/text-set.h"
#include "reader/views/cgroup-names.h"

const char *const latency_metric_names[LATENCY_METRICS] = {
	[LATENCY_WAKEUP] = "wakeup", [LATENCY_READY] = "ready",     [LATENCY_BLOCKED] = "blocked",
	[LATENCY_RUN] = "run",       [LATENCY_CALL] = "call",       [LATENCY_IRQ] = "irq",
	[LATENCY_WORK] = "work",     [LATENCY_SOFTIRQ] = "softirq", [LATENCY_BLOCK] = "block",
};

const char *const latency_metric_titles[LATENCY_METRICS] = {
	[LATENCY_WAKEUP] = "woken, until it runs",
	[LATENCY_READY] = "woken or preempted, until it runs",
	[LATENCY_BLOCKED] = "off CPU, until woken",
	[LATENCY_RUN] = "on a CPU",
	[LATENCY_CALL] = "functions and system calls",
	[LATENCY_IRQ] = "interrupt handlers",
	[LATENCY_SOFTIRQ] = "softirqs",
	[LATENCY_WORK] = "work items",
	[LATENCY_BLOCK] = "requests of block devices",
};

const char *const latencies_by_names[LATENCIES_BY_MAX] = {
	[LATENCIES_TOTAL] = "total",        [LATENCIES_BY_THREAD] = "thread",
	[LATENCIES_BY_PROCESS] = "process", [LATENCIES_BY_CPU] = "cpu",
	[LATENCIES_BY_UNIT] = "unit",       [LATENCIES_BY_CGROUP] = "cgroup",
	[LATENCIES_BY_NAME] = "name",
};

static const char unknown[] = "?";

enum { REQUEST_NAME_MAX = 128 }; /* the device and the operation */

/* The durations of one thread or of all threads, and of one CPU or name or of all. */
struct distribution {
	uint32_t tid; /* 0 = any, or none */
	uint32_t sub; /* number of the CPU or the name + 1; 0 = any, or unknown */
	struct latency times;
	uint64_t n_open, longest_open_ns;
};

struct metric {
	struct table by_key;      /* owned distributions */
	struct distribution rest; /* of further keys */
	struct latencies_row total;
	struct table rows; /* hash of what identifies a row -> struct latencies_row, owned */
};

struct latencies {
	struct latencies_options options;
	struct summary *summary; /* borrowed */
	struct metric metrics[LATENCY_METRICS];
	struct run_queues queues;
	struct table first_parts; /* tid -> begin of a segment that continues; owned */
	struct text_set texts;
	struct table name_numbers; /* hash of the name -> its number + 1 */
	const char **names;        /* of the text set; owned */
	size_t n_names, room_names;
};

static int latencies_on_segment(void *userdata, const struct thread_segment *segment);

int latencies_new(struct latencies **ret, const struct latencies_options *options,
		  struct summary *summary)
{
	struct latencies *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->options = *options;
	l->summary = summary;
	summary_listen(summary, latencies_on_segment, l);
	*ret = l;
	return 0;
}

static void latencies_metric_deinit(struct metric *m)
{
	struct distribution *d;
	struct latencies_row *row;

	for (size_t pos = 0; (d = table_next(&m->by_key, &pos));)
		latency_deinit(&d->times);
	table_deinit_free(&m->by_key);
	for (size_t pos = 0; (row = table_next(&m->rows, &pos));)
		latency_deinit(&row->times);
	table_deinit_free(&m->rows);
	latency_deinit(&m->rest.times);
	latency_deinit(&m->total.times);
}

struct latencies *latencies_free(struct latencies *l)
{
	if (!l)
		return NULL;
	for (size_t i = 0; i < LATENCY_METRICS; i++)
		latencies_metric_deinit(&l->metrics[i]);
	run_queues_deinit(&l->queues);
	table_deinit_free(&l->first_parts);
	table_deinit(&l->name_numbers);
	text_set_deinit(&l->texts);
	free(l->names);
	return free_ptr(l);
}

/* ---- durations ---- */

struct duration {
	enum latency_metric metric;
	uint32_t tid;
	uint32_t sub; /* as in a distribution */
	uint64_t from_ns, to_ns;
	bool open; /* its begin or end was not observed */
};

/* True if METRIC needs a distribution for each thread, to find rows or to select threads at the
 * end. */
static bool latencies_needs_tid(const struct latencies *l, enum latency_metric metric)
{
	switch (l->options.by) {
	case LATENCIES_BY_THREAD:
	case LATENCIES_BY_PROCESS:
	case LATENCIES_BY_UNIT:
	case LATENCIES_BY_CGROUP:
		return true;
	case LATENCIES_BY_NAME:
		return metric <= LATENCY_RUN || l->options.wants;
	default:
		return l->options.wants;
	}
}

/* Finds or adds the distribution for D. Returns NULL if there is no memory. */
static struct distribution *latencies_distribution(struct latencies *l, const struct duration *d)
{
	struct metric *m = &l->metrics[d->metric];
	uint32_t tid = latencies_needs_tid(l, d->metric) ? d->tid : 0;
	uint64_t key = ((uint64_t)tid << 32 | d->sub) ?: UINT64_MAX;
	struct distribution *to;

	if (m->by_key.n_used >= LATENCIES_KEYS_MAX && !table_get(&m->by_key, key))
		return &m->rest;
	to = table_make(&m->by_key, key, sizeof(*to));
	if (to) {
		to->tid = tid;
		to->sub = d->sub;
	}
	return to;
}

/* Converts NS, a time of the options, to a time of the archive. */
static uint64_t latencies_absolute(const struct latencies *l, uint64_t ns)
{
	uint64_t begin_ns = l->options.absolute ? 0 : l->summary->start_ns;

	return ns > UINT64_MAX - begin_ns ? UINT64_MAX : begin_ns + ns;
}

/* True if a duration that ends at TO_NS counts. */
static bool latencies_is_in_window(const struct latencies *l, uint64_t to_ns)
{
	return (l->options.from_ns == 0 || to_ns >= latencies_absolute(l, l->options.from_ns)) &&
	       (l->options.to_ns == UINT64_MAX || to_ns < latencies_absolute(l, l->options.to_ns));
}

static int latencies_count(struct latencies *l, const struct duration *d)
{
	uint64_t ns = summary_recorded(l->summary, d->from_ns, d->to_ns);
	struct distribution *to;

	if (!latencies_is_in_window(l, d->to_ns))
		return 0;
	to = latencies_distribution(l, d);
	if (!to)
		return -ENOMEM;
	if (!d->open)
		return latency_add(&to->times, ns);
	to->n_open++;
	if (ns > to->longest_open_ns)
		to->longest_open_ns = ns;
	return 0;
}

/*
 * Finds the begin of the state of SEGMENT: the begin of SEGMENT, or that of its first part. If
 * another part follows, keeps the begin, and sets *RET_DONE to false. Returns 0 or -ENOMEM.
 */
static int latencies_join_parts(struct latencies *l, const struct thread_segment *segment,
				uint64_t *ret_from_ns, bool *ret_done)
{
	uint64_t *first = segment->continued ? table_get(&l->first_parts, segment->tid) : NULL;

	*ret_from_ns = first ? *first : segment->since_ns;
	*ret_done = !segment->split;
	if (!segment->split) {
		if (first)
			free(table_remove(&l->first_parts, segment->tid));
		return 0;
	}
	return table_copy(&l->first_parts, segment->tid, ret_from_ns, sizeof(*ret_from_ns))
		       ? 0
		       : -ENOMEM;
}

/* The metric of segments with STATE; LATENCY_METRICS = none. */
static enum latency_metric latencies_metric_of(enum thread_state state)
{
	switch (state) {
	case THREAD_RUNNABLE:
		return LATENCY_READY;
	case THREAD_BLOCKED:
		return LATENCY_BLOCKED;
	case THREAD_RUNNING:
		return LATENCY_RUN;
	default:
		return LATENCY_METRICS;
	}
}

static int latencies_on_segment(void *userdata, const struct thread_segment *segment)
{
	struct latencies *l = userdata;
	struct duration d = {
		.metric = latencies_metric_of(segment->state),
		.tid = segment->tid,
		.sub = l->options.by == LATENCIES_BY_CPU ? segment->cpu + 1 : 0,
		/* (the times of the records, as in the summary) */
		.to_ns = segment->until_ns,
		.open = segment->end != THREAD_END_EVENT || segment->earlier,
	};
	bool done = false;
	int r = 0;

	if (d.metric != LATENCY_METRICS)
		r = latencies_join_parts(l, segment, &d.from_ns, &done);
	if (r == 0 && done)
		r = latencies_count(l, &d);
	d.metric = LATENCY_WAKEUP;
	if (r == 0 && segment->served_ns) {
		d.from_ns = segment->served_ns;
		d.open = false;
		return latencies_count(l, &d);
	}
	if (r == 0 && done && d.open && segment->woken && segment->state == THREAD_RUNNABLE)
		return latencies_count(l, &d);
	return r;
}

/* Finds or adds NAME. *RET is its number + 1; 0 = there are too many names. Returns 0 or
 * -ENOMEM. */
static int latencies_number(struct latencies *l, const char *name, uint32_t *ret)
{
	uint64_t key = table_hash(name, strlen(name));
	uintptr_t number;

	while ((number = (uintptr_t)table_get(&l->name_numbers, key)) != 0) {
		if (strcmp(l->names[number - 1], name) == 0) {
			*ret = (uint32_t)number;
			return 0;
		}
		key = key + 1 ?: 1;
	}
	*ret = 0;
	if (l->n_names == LATENCIES_KEYS_MAX)
		return 0;
	if (GROW(l->names, l->room_names, l->n_names + 1) < 0)
		return -ENOMEM;
	l->names[l->n_names] = text_set_keep(&l->texts, name);
	if (!l->names[l->n_names] || table_set(&l->name_numbers, key, (void *)(l->n_names + 1)) < 0)
		return -ENOMEM;
	*ret = (uint32_t)++l->n_names;
	return 0;
}

static int latencies_count_named(struct latencies *l, struct duration *d, const char *name)
{
	int r = 0;

	if (l->options.by == LATENCIES_BY_NAME)
		r = latencies_number(l, name, &d->sub);
	return r < 0 ? r : latencies_count(l, d);
}

static int latencies_add_interval(struct latencies *l, const struct event *ev)
{
	static const enum latency_metric metrics[INTERVAL_KIND_MAX] = {
		[INTERVAL_IRQ] = LATENCY_IRQ,
		[INTERVAL_SOFTIRQ] = LATENCY_SOFTIRQ,
		[INTERVAL_WORK] = LATENCY_WORK,
		[INTERVAL_IDLE] = LATENCY_METRICS,
	};
	struct duration d = { .metric = metrics[ev->interval.kind],
			      .tid = ev->tid,
			      .from_ns = ev->ts_ns,
			      .to_ns = ev->interval.end_ns };

	if (d.metric == LATENCY_METRICS)
		return 0;
	if (l->options.by == LATENCIES_BY_CPU && d.metric != LATENCY_WORK)
		d.sub = ev->cpu + 1;
	return latencies_count_named(l, &d, ev->interval.name);
}

static int latencies_add_request(struct latencies *l, const struct event *ev)
{
	struct duration d = { .metric = LATENCY_BLOCK,
			      .tid = ev->request.thread,
			      .from_ns = ev->request.issued_ns ?: ev->ts_ns,
			      .to_ns = ev->request.end_ns,
			      .open = ev->request.clipped };
	char name[REQUEST_NAME_MAX];

	snprintf(name, sizeof(name), "%.96s %.24s", *ev->request.disk ? ev->request.disk : unknown,
		 ev->request.op);
	return latencies_count_named(l, &d, name);
}

static int latencies_add_queues(struct latencies *l, const struct event *ev)
{
	l->queues.from_ns = latencies_absolute(l, l->options.from_ns);
	l->queues.to_ns = latencies_absolute(l, l->options.to_ns);
	return run_queues_add(&l->queues, l->summary->states, ev);
}

int latencies_add(struct latencies *l, const struct event *ev)
{
	struct duration call = { .metric = LATENCY_CALL, .tid = ev->tid, .from_ns = ev->ts_ns };

	if (ev->kind == EVENT_INTERVAL)
		return latencies_add_interval(l, ev);
	if (ev->kind == EVENT_REQUEST)
		return latencies_add_request(l, ev);
	if (ev->kind != EVENT_CALL)
		return latencies_add_queues(l, ev);
	call.to_ns = ev->call.end_ns;
	call.open = *ev->call.left_by;
	return latencies_count_named(l, &call, ev->call.function);
}

/* ---- rows ---- */

/* Returns the fields that identify the row of D. If the name of the row is not borrowed, it is
 * written to NAME. */
static struct latencies_row latencies_row_of(const struct latencies *l, enum latency_metric metric,
					     const struct distribution *d,
					     char name[static CGROUP_NAME_MAX])
{
	const struct summary_thread *t = table_get(&l->summary->threads, d->tid);
	const struct summary_process *p =
		t ? table_get(&l->summary->processes, (uint64_t)t->pid + 1) : NULL;
	const char *thread = t && t->name && *t->name ? t->name : unknown;

	switch (l->options.by) {
	case LATENCIES_BY_THREAD:
		return (struct latencies_row){ .tid = d->tid,
					       .pid = t ? t->pid : 0,
					       .name = thread };
	case LATENCIES_BY_PROCESS:
		return (struct latencies_row){ .pid = t ? t->pid : 0,
					       .name = p && p->name && *p->name ? p->name
										: thread };
	case LATENCIES_BY_CPU:
		return (struct latencies_row){ .cpu = d->sub - 1, .name = d->sub ? "" : unknown };
	case LATENCIES_BY_UNIT:
		return (struct latencies_row){ .name = p && p->cgroup_path
							       ? cgroup_unit(name, p->cgroup_path)
							       : unknown };
	case LATENCIES_BY_CGROUP:
		return (struct latencies_row){ .name = p && p->cgroup_path ? p->cgroup_path
									   : unknown };
	default:
		if (metric > LATENCY_RUN)
			thread = d->sub ? l->names[d->sub - 1] : unknown;
		return (struct latencies_row){ .name = thread };
	}
}

static bool latencies_is_same(const struct latencies_row *a, const struct latencies_row *b)
{
	return a->pid == b->pid && a->tid == b->tid && a->cpu == b->cpu &&
	       (a->pid || a->tid || strcmp(a->name, b->name) == 0);
}

/* Finds or adds the row of D. Returns NULL if there is no memory. */
static struct latencies_row *latencies_get_row(struct latencies *l, enum latency_metric metric,
					       const struct distribution *d)
{
	struct table *rows = &l->metrics[metric].rows;
	char name[CGROUP_NAME_MAX];
	struct latencies_row wanted = latencies_row_of(l, metric, d, name), *row;
	const uint64_t parts[] = { wanted.pid, wanted.tid, wanted.cpu,
				   wanted.pid || wanted.tid
					   ? 0
					   : table_hash(wanted.name, strlen(wanted.name)) };
	uint64_t key = table_hash(parts, sizeof(parts));

	while ((row = table_get(rows, key))) {
		if (latencies_is_same(row, &wanted))
			return row;
		key = key + 1 ?: 1;
	}
	wanted.name = text_set_keep(&l->texts, wanted.name);
	return wanted.name ? table_copy(rows, key, &wanted, sizeof(wanted)) : NULL;
}

static int latencies_merge(struct latencies_row *to, const struct distribution *from)
{
	to->n_open += from->n_open;
	if (from->longest_open_ns > to->longest_open_ns)
		to->longest_open_ns = from->longest_open_ns;
	return latency_merge(&to->times, &from->times);
}

static int latencies_finish_metric(struct latencies *l, enum latency_metric metric)
{
	struct metric *m = &l->metrics[metric];
	const struct distribution *d;
	struct latencies_row *row;

	m->total.name = "";
	for (size_t pos = 0; (d = table_next(&m->by_key, &pos));) {
		if (l->options.wants && !l->options.wants(l->options.userdata, d->tid))
			continue;
		if (latencies_merge(&m->total, d) < 0)
			return -ENOMEM;
		if (l->options.by == LATENCIES_TOTAL)
			continue;
		row = latencies_get_row(l, metric, d);
		if (!row || latencies_merge(row, d) < 0)
			return -ENOMEM;
	}
	return l->options.wants ? 0 : latencies_merge(&m->total, &m->rest);
}

int latencies_finish(struct latencies *l)
{
	for (enum latency_metric i = 0; i < LATENCY_METRICS; i++)
		if (latencies_finish_metric(l, i) < 0)
			return -ENOMEM;
	return 0;
}

const struct latencies_row *latencies_total(const struct latencies *l, enum latency_metric metric)
{
	return &l->metrics[metric].total;
}

const struct run_queues *latencies_run_queues(const struct latencies *l)
{
	return &l->queues;
}

DEFINE_ORDER_OF_POINTERS(latencies_compare, struct latencies_row,
			 COMPARE(y->times.sum_ns, x->times.sum_ns)
				 ?: COMPARE(y->longest_open_ns, x->longest_open_ns)
				 ?: strcmp(x->name, y->name) ?: COMPARE(x->pid, y->pid)
				 ?: COMPARE(x->tid, y->tid) ?: COMPARE(x->cpu, y->cpu))

int latencies_rows(const struct latencies *l, enum latency_metric metric,
		   const struct latencies_row ***ret, size_t *ret_n)
{
	*ret = (const struct latencies_row **)table_sorted(&l->metrics[metric].rows,
							   latencies_compare, ret_n);
	return *ret ? 0 : -ENOMEM;
}

uint64_t latencies_n_keyless(const struct latencies *l, enum latency_metric metric)
{
	return l->metrics[metric].rest.times.n + l->metrics[metric].rest.n_open;
}
