/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows are made in two steps. First, all threads of both recordings with the same name and the same
 * command line (or thread name) become a row. Then rows of the same name are merged, unless their
 * command lines help to match processes of A and B.
 */
#include "reader/views/summary-diff.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "reader/views/summary-accounts.h"
#include "reader/views/summary-programs.h"

static const char nobody[] = "?";
static const char kworkers[] = "kworker/*";

/* ---- input ---- */

int diff_input_init(struct diff_input *in)
{
	*in = (struct diff_input){ 0 };
	return summary_new(&in->summary);
}

void diff_input_deinit(struct diff_input *in)
{
	latency_table_deinit(&in->latencies);
	in->summary = summary_free(in->summary);
}

int diff_input_add(struct diff_input *in, const struct event *ev)
{
	uint64_t ns;

	if (ev->kind == EVENT_SWITCH && summary_wakeup_latency(in->summary, ev, &ns) &&
	    latency_table_add(&in->latencies, ev->sw.next_tid, ns) < 0)
		return -ENOMEM;
	return summary_add(in->summary, ev);
}

/* ---- rows ---- */

struct builder {
	struct summary_diff *diff;
	struct table index; /* hash of a row's names -> its index + 1 */
	size_t room;
	bool by_thread;
};

static bool summary_diff_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static uint64_t summary_diff_hash(const char *text)
{
	return text ? table_hash(text, strlen(text)) : 1;
}

/*
 * Finds or adds the row with the names of CALLED. It is valid until the next call. Returns NULL if
 * there is no memory.
 */
static struct diff_row *summary_diff_get_row(struct builder *b, const struct diff_row *called)
{
	const uint64_t hashes[] = { summary_diff_hash(called->name),
				    summary_diff_hash(called->command_line),
				    summary_diff_hash(called->thread) };
	uint64_t key = table_hash(hashes, sizeof(hashes));
	struct summary_diff *d = b->diff;
	uintptr_t place;

	while ((place = (uintptr_t)table_get(&b->index, key)) != 0) {
		struct diff_row *row = &d->rows[place - 1];

		if (summary_diff_same(row->name, called->name) &&
		    summary_diff_same(row->command_line, called->command_line) &&
		    summary_diff_same(row->thread, called->thread))
			return row;
		key = key + 1 ?: 1;
	}
	if (GROW(d->rows, b->room, d->n_rows + 1) < 0)
		return NULL;
	if (table_set(&b->index, key, (void *)(uintptr_t)(d->n_rows + 1)) < 0)
		return NULL;
	d->rows[d->n_rows] = *called;
	return &d->rows[d->n_rows++];
}

static int summary_diff_add_sums(struct diff_sums *to, const struct diff_sums *from)
{
	to->n_processes += from->n_processes;
	to->cpu_ns += from->cpu_ns;
	to->wait_ns += from->wait_ns;
	to->switches += from->switches;
	to->preempted += from->preempted;
	to->wakeups += from->wakeups;
	return latency_merge(&to->latency, &from->latency);
}

static void summary_diff_sums_deinit(struct diff_sums *s)
{
	latency_deinit(&s->latency);
}

static const struct summary_process *summary_diff_process_of(const struct summary *s,
							     const struct summary_thread *t)
{
	return table_get(&s->processes, (uint64_t)t->pid + 1);
}

/*
 * Returns a common name for all workqueue threads, since the numbers in their names are random.
 */
static const char *summary_diff_without_chance(const char *name)
{
	return strncmp(name, kworkers, strlen(kworkers) - 1) == 0 ? kworkers : name;
}

/* Returns the row of T. */
static struct diff_row summary_diff_row_of(const struct builder *b, const struct summary *s,
					   const struct summary_thread *t)
{
	const struct summary_process *p = summary_diff_process_of(s, t);
	const char *thread = t->name && *t->name ? t->name : nobody;
	const char *program = programs_name(&s->programs, t->pid, t->program);
	struct diff_row row = { .name = program ?: p && p->name && *p->name ? p->name : thread };

	row.name = summary_diff_without_chance(row.name);
	if (b->by_thread)
		row.thread = summary_diff_without_chance(thread);
	else if (p && !program)
		row.command_line = p->command_line;
	return row;
}

static bool summary_diff_did_anything(const struct summary_thread *t)
{
	return t->cpu_ns != 0 || t->runnable_ns != 0 || t->switches != 0 || t->wakeups != 0;
}

/* True if a thread is the first one counted of its process, or of a program of its process. */
struct firsts {
	bool of_process, of_program;
};

static int summary_diff_add_thread(struct builder *b, enum diff_side_index side,
				   const struct summary_thread *t, struct firsts first)
{
	const struct diff_input *in = b->diff->input[side];
	/* (latencies are kept by thread, not by program: all count for the thread's last
	 * program) */
	const struct latency *latency = t->until_ns ? NULL : table_get(&in->latencies, t->tid);
	struct diff_sums sums = {
		.n_processes = b->by_thread || first.of_program,
		.cpu_ns = t->cpu_ns,
		.wait_ns = t->runnable_ns,
		.switches = t->switches,
		.preempted = t->preempted,
		.wakeups = t->wakeups,
	};
	struct diff_row name, *row;

	if (latency)
		sums.latency = *latency;
	name = summary_diff_row_of(b, in->summary, t);
	row = summary_diff_get_row(b, &name);
	if (!row || summary_diff_add_sums(&row->side[side], &sums) < 0)
		return -ENOMEM;
	sums.n_processes = b->by_thread || first.of_process;
	return summary_diff_add_sums(&b->diff->total[side], &sums);
}

/* Adds KEY to MET. Returns 1 if KEY is new, 0 if not, or -ENOMEM. */
static int summary_diff_match(struct table *met, uint64_t key)
{
	if (table_get(met, key))
		return 0;
	return table_set(met, key, met) < 0 ? -ENOMEM : 1;
}

static int summary_diff_match_thread(const struct summary *s, const struct summary_thread *t,
				     struct table *processes, struct table *programs,
				     struct firsts *ret)
{
	const uint32_t program[] = { t->pid, t->program };
	int of_process = summary_diff_match(processes, (uint64_t)t->pid + 1);
	int of_program = summary_diff_match(programs, table_hash(program, sizeof(program)));
	bool foreign_uid = !summary_diff_process_of(s, t);

	if (of_process < 0 || of_program < 0)
		return -ENOMEM;
	*ret = (struct firsts){ foreign_uid || of_process, foreign_uid || of_program };
	return 0;
}

/*
 * Adds all threads of one recording. A process counts once, with its first active thread; in rows
 * by process, once for each of its programs.
 */
static int summary_diff_add_side(struct builder *b, enum diff_side_index side)
{
	const struct summary *s = b->diff->input[side]->summary;
	_cleanup_free_ struct summary_thread *threads = NULL;
	struct table processes = { 0 }, programs = { 0 };
	size_t n;
	int r = summary_programs_by_cpu(s, &threads, &n);

	for (size_t i = 0; r == 0 && i < n; i++) {
		struct firsts first;

		if (!summary_diff_did_anything(&threads[i]))
			continue;
		r = summary_diff_match_thread(s, &threads[i], &processes, &programs, &first)
			    ?: summary_diff_add_thread(b, side, &threads[i], first);
	}
	table_deinit(&processes);
	table_deinit(&programs);
	return r;
}

/* ---- rows of one name ---- */

static bool summary_diff_is_in(const struct diff_row *row, enum diff_side_index side)
{
	return row->side[side].n_processes != 0;
}

DEFINE_ORDER(compare_names, struct diff_row,
	     strcmp(x->name, y->name) ?: strcmp(x->command_line ?: "", y->command_line ?: ""))

/* Adds row FROM to row TO and leaves it empty. */
static int summary_diff_merge_row(struct diff_row *to, struct diff_row *from)
{
	if (!summary_diff_same(to->command_line, from->command_line))
		to->command_line = NULL;
	for (enum diff_side_index i = 0; i < DIFF_SIDES; i++) {
		if (summary_diff_add_sums(&to->side[i], &from->side[i]) < 0)
			return -ENOMEM;
		summary_diff_sums_deinit(&from->side[i]);
		from->side[i] = (struct diff_sums){ 0 };
	}
	return 0;
}

/* Merges the N rows of one name: all of them, if the name has only one or too many command lines;
 * otherwise those that are in only one recording. */
static int summary_diff_merge_name(struct diff_row *rows, size_t n)
{
	size_t in[DIFF_SIDES] = { 0 }, only[DIFF_SIDES] = { 0 };
	struct diff_row *left = NULL;
	bool all;
	int r = 0;

	for (size_t i = 0; i < n; i++) {
		bool a = summary_diff_is_in(&rows[i], DIFF_A),
		     b = summary_diff_is_in(&rows[i], DIFF_B);

		in[DIFF_A] += a;
		in[DIFF_B] += b;
		only[DIFF_A] += a && !b;
		only[DIFF_B] += b && !a;
	}
	all = (in[DIFF_A] <= 1 && in[DIFF_B] <= 1) || in[DIFF_A] > DIFF_SPLIT_MAX ||
	      in[DIFF_B] > DIFF_SPLIT_MAX;
	/* If only one recording has command lines of its own, there is no counterpart to merge them
	 * with. */
	if (!all && (only[DIFF_A] == 0 || only[DIFF_B] == 0))
		return 0;
	for (size_t i = 0; r == 0 && i < n; i++) {
		if (!all && summary_diff_is_in(&rows[i], DIFF_A) &&
		    summary_diff_is_in(&rows[i], DIFF_B))
			continue;
		if (left) {
			r = summary_diff_merge_row(left, &rows[i]);
		} else {
			left = &rows[i];
			left->others = !all;
		}
	}
	return r;
}

/* Moves the remaining rows of one name to AT. Returns the index after them. */
static size_t summary_diff_keep_rows(struct summary_diff *d, size_t at, const struct diff_row *rows,
				     size_t n)
{
	size_t end = at;

	for (size_t i = 0; i < n; i++)
		if (summary_diff_is_in(&rows[i], DIFF_A) || summary_diff_is_in(&rows[i], DIFF_B))
			d->rows[end++] = rows[i];
	for (size_t i = at; i < end; i++)
		d->rows[i].several = end - at > 1;
	return end;
}

static int summary_diff_merge_names(struct summary_diff *d)
{
	size_t n, kept = 0;

	if (d->n_rows == 0)
		return 0;
	SORT(d->rows, d->n_rows, compare_names);
	for (size_t i = 0; i < d->n_rows; i += n) {
		for (n = 1; i + n < d->n_rows; n++)
			if (strcmp(d->rows[i].name, d->rows[i + n].name) != 0)
				break;
		if (summary_diff_merge_name(&d->rows[i], n) < 0)
			return -ENOMEM;
		kept = summary_diff_keep_rows(d, kept, &d->rows[i], n);
	}
	d->n_rows = kept;
	return 0;
}

int summary_diff_new(const struct diff_input *a, const struct diff_input *b, bool by_thread,
		     struct summary_diff **ret)
{
	_cleanup_(summary_diff_freep) struct summary_diff *d = calloc(1, sizeof(*d));
	struct builder builder = { .diff = d, .by_thread = by_thread };
	int r = 0;

	if (!d)
		return -ENOMEM;
	d->input[DIFF_A] = a;
	d->input[DIFF_B] = b;
	for (enum diff_side_index i = 0; r == 0 && i < DIFF_SIDES; i++)
		r = summary_diff_add_side(&builder, i);
	table_deinit(&builder.index);
	if (r == 0 && !by_thread)
		r = summary_diff_merge_names(d);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(d);
	return 0;
}

struct summary_diff *summary_diff_free(struct summary_diff *d)
{
	if (!d)
		return NULL;
	for (enum diff_side_index i = 0; i < DIFF_SIDES; i++) {
		summary_diff_sums_deinit(&d->total[i]);
		for (size_t j = 0; j < d->n_rows; j++)
			summary_diff_sums_deinit(&d->rows[j].side[i]);
	}
	free(d->rows);
	return free_ptr(d);
}

/* ---- values ---- */

static double summary_diff_ratio(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

/* Returns the percentile that METRIC is; 0 = METRIC is no percentile. */
static double summary_diff_percent(enum diff_metric metric)
{
	switch (metric) {
	case DIFF_P50:
		return 50;
	case DIFF_P99:
		return 99;
	case DIFF_P99_9:
		return 99.9;
	default:
		return 0;
	}
}

bool diff_metric_is_latency(enum diff_metric metric)
{
	return metric == DIFF_LATENCY || summary_diff_percent(metric) > 0;
}

/* Returns the number of durations beyond PERCENT. */
static uint64_t summary_diff_beyond(const struct latency *l, double percent)
{
	return (uint64_t)((double)l->n * (100 - percent) / 100 + 0.001);
}

bool diff_is_percentile_small(const struct latency *l, double percent)
{
	return summary_diff_beyond(l, percent) < DIFF_SAMPLES_FEW;
}

double summary_diff_value(const struct summary_diff *d, enum diff_side_index side,
			  const struct diff_sums *sums, enum diff_metric metric)
{
	double recorded_ns = (double)d->input[side]->summary->recorded_ns;

	switch (metric) {
	case DIFF_CPU:
		return summary_diff_ratio((double)sums->cpu_ns, recorded_ns);
	case DIFF_SWITCHES:
		return summary_diff_ratio((double)sums->switches, recorded_ns / 1e9);
	case DIFF_LATENCY:
		return summary_diff_ratio((double)sums->latency.sum_ns, (double)sums->latency.n);
	case DIFF_P50:
	case DIFF_P99:
	case DIFF_P99_9:
		return (double)latency_percentile_ns(&sums->latency, summary_diff_percent(metric));
	case DIFF_WAIT:
		return summary_diff_ratio((double)sums->wait_ns, recorded_ns);
	default:
		return 0;
	}
}

bool diff_row_has(const struct diff_row *row, enum diff_side_index side, enum diff_metric metric)
{
	return diff_metric_is_latency(metric) ? row->side[side].latency.n != 0
					      : summary_diff_is_in(row, side);
}

static uint64_t summary_diff_samples(const struct diff_sums *s, enum diff_metric metric)
{
	switch (metric) {
	case DIFF_LATENCY:
		return s->latency.n;
	case DIFF_P50:
	case DIFF_P99:
	case DIFF_P99_9:
		return summary_diff_beyond(&s->latency, summary_diff_percent(metric));
	case DIFF_WAIT:
		return s->wakeups + s->preempted;
	default:
		return s->switches;
	}
}

bool diff_row_is_small(const struct diff_row *row, enum diff_metric metric)
{
	for (enum diff_side_index i = 0; i < DIFF_SIDES; i++)
		if (diff_row_has(row, i, metric) &&
		    summary_diff_samples(&row->side[i], metric) < DIFF_SAMPLES_FEW)
			return true;
	return false;
}

struct order {
	const struct summary_diff *diff;
	enum diff_metric metric;
};

/* Returns the group of a row: 0 = significant, 1 = few samples, 2 = no value in A or in B. Rows are
 * sorted by group first. */
static int summary_diff_group_of(const struct diff_row *row, enum diff_metric metric)
{
	if (!diff_metric_is_latency(metric))
		return 0;
	if (!diff_row_has(row, DIFF_A, metric) || !diff_row_has(row, DIFF_B, metric))
		return 2;
	return diff_row_is_small(row, metric);
}

static double summary_diff_change_of(const struct order *o, const struct diff_row *row)
{
	return fabs(summary_diff_value(o->diff, DIFF_B, &row->side[DIFF_B], o->metric) -
		    summary_diff_value(o->diff, DIFF_A, &row->side[DIFF_A], o->metric));
}

static int summary_diff_compare_change(const void *a, const void *b, void *userdata)
{
	const struct diff_row *x = a, *y = b;
	const struct order *o = userdata;
	int group = summary_diff_group_of(x, o->metric) - summary_diff_group_of(y, o->metric);
	double change_x = summary_diff_change_of(o, x), change_y = summary_diff_change_of(o, y);

	if (group != 0)
		return group;
	if (change_x != change_y)
		return change_x < change_y ? 1 : -1;
	group = compare_names(x, y);
	return group ? group : strcmp(x->thread ?: "", y->thread ?: "");
}

void summary_diff_sort(struct summary_diff *d, enum diff_metric metric)
{
	struct order o = { d, metric };

	if (d->n_rows > 0)
		qsort_r(d->rows, d->n_rows, sizeof(*d->rows), summary_diff_compare_change, &o);
}
