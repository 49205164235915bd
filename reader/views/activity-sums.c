/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/views/activity-sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "model/moment-data.h"
#include "writer/fxt/fxt-wire.h"

static void activity_sums_free_interval(struct activity_sum *a)
{
	free(a->name);
	free(a->cpu_ns);
	free(a);
}

static void activity_sums_free_counter(struct counter_sum *c)
{
	free(c->category);
	free(c->name);
	free(c->value);
	free(c);
}

static void activity_sums_free_request(struct request_sum *q)
{
	free(q->disk);
	free(q->op);
	free(q);
}

static void activity_sums_free_name(struct name_sum *t)
{
	free(t->name);
	free(t);
}

void activity_sums_deinit(struct activity_sums *s)
{
	struct name_sum *t;
	struct activity_sum *a;
	struct counter_sum *c;
	struct request_sum *q;
	size_t pos;

	for (pos = 0; (a = table_next(&s->intervals, &pos));)
		activity_sums_free_interval(a);
	for (pos = 0; (c = table_next(&s->counters, &pos));)
		activity_sums_free_counter(c);
	for (pos = 0; (q = table_next(&s->requests, &pos));)
		activity_sums_free_request(q);
	for (pos = 0; (t = table_next(&s->tracepoints, &pos));)
		activity_sums_free_name(t);
	for (pos = 0; (t = table_next(&s->moments, &pos));)
		activity_sums_free_name(t);
	table_deinit(&s->tracepoints);
	table_deinit(&s->moments);
	table_deinit(&s->points);
	table_deinit(&s->requests);
	table_deinit(&s->intervals);
	table_deinit(&s->counters);
}

/* Returns the key to try after KEY: names with equal hashes have consecutive keys. */
static uint64_t activity_sums_next_key(uint64_t key)
{
	return key + 1 ?: 1;
}

/* ---- intervals ---- */

static bool activity_sums_is_sum_of(const struct activity_sum *a, const struct event *ev)
{
	return a->kind == ev->interval.kind && a->number == ev->interval.number &&
	       strcmp(a->name, ev->interval.name) == 0;
}

static struct activity_sum *activity_sums_get_interval(struct activity_sums *s,
						       const struct event *ev)
{
	uint64_t key = table_hash(ev->interval.name, strlen(ev->interval.name)) ^
		       ((uint64_t)(uint32_t)ev->interval.number << 8 | ev->interval.kind);
	struct activity_sum *a;

	key = key ?: 1;
	while ((a = table_get(&s->intervals, key))) {
		if (activity_sums_is_sum_of(a, ev))
			return a;
		key = activity_sums_next_key(key);
	}
	a = calloc(1, sizeof(*a));
	if (!a)
		return NULL;
	a->kind = ev->interval.kind;
	a->number = ev->interval.number;
	a->name = strdup(ev->interval.name);
	if (!a->name || table_set(&s->intervals, key, a) < 0) {
		activity_sums_free_interval(a);
		return NULL;
	}
	return a;
}

static int activity_sums_add_to_cpu(struct activity_sum *a, uint32_t cpu, uint64_t ns)
{
	uint64_t *cpu_ns;

	if (cpu > FXT_CPU_MAX)
		return 0;
	if (cpu >= a->n_cpus) {
		cpu_ns = reallocarray(a->cpu_ns, (size_t)cpu + 1, sizeof(*cpu_ns));
		if (!cpu_ns)
			return -ENOMEM;
		memset(cpu_ns + a->n_cpus, 0, (cpu + 1 - a->n_cpus) * sizeof(*cpu_ns));
		a->cpu_ns = cpu_ns;
		a->n_cpus = (size_t)cpu + 1;
	}
	a->cpu_ns[cpu] += ns;
	return 0;
}

int activity_sums_add_interval(struct activity_sums *s, const struct event *ev, uint64_t ns)
{
	struct activity_sum *a = activity_sums_get_interval(s, ev);

	if (!a)
		return -ENOMEM;
	a->count++;
	a->total_ns += ns;
	if (ns > a->max_ns)
		a->max_ns = ns;
	return a->kind == INTERVAL_WORK ? 0 : activity_sums_add_to_cpu(a, ev->cpu, ns);
}

static uint64_t activity_sums_smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void activity_sums_finish(struct activity_sums *s, uint64_t duration_ns)
{
	struct activity_sum *a;

	for (size_t pos = 0; (a = table_next(&s->intervals, &pos));) {
		if (a->max_ns <= duration_ns)
			continue;
		a->max_ns = duration_ns;
		a->total_ns = a->kind == INTERVAL_WORK
				      ? activity_sums_smaller(a->total_ns, duration_ns)
				      : 0;
		for (size_t cpu = 0; cpu < a->n_cpus; cpu++) {
			a->cpu_ns[cpu] = activity_sums_smaller(a->cpu_ns[cpu], duration_ns);
			a->total_ns += a->cpu_ns[cpu];
		}
	}
}

DEFINE_ORDER_OF_POINTERS(compare_intervals, struct activity_sum,
	COMPARE(y->total_ns, x->total_ns) ?: strcmp(x->name, y->name)
		?: COMPARE(x->number, y->number))

int activity_sums_by_time(const struct activity_sums *s, enum interval_kind kind,
			  struct activity_sum ***ret, size_t *ret_n)
{
	struct activity_sum **list;
	size_t n;

	*ret_n = 0;
	*ret = list = (struct activity_sum **)table_sorted(&s->intervals, compare_intervals, &n);
	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (list[i]->kind == kind)
			list[(*ret_n)++] = list[i];
	return 0;
}

/* ---- counters ---- */

static struct counter_sum *activity_sums_get_counter(struct activity_sums *s,
						     const struct event *ev, const char *value)
{
	uint64_t key = table_hash(value, strlen(value)) ^
		       table_hash(ev->counter.name, strlen(ev->counter.name)) * 3 ^ ev->counter.id;
	struct counter_sum *c;

	key = key ?: 1;
	while ((c = table_get(&s->counters, key))) {
		if (c->id == ev->counter.id && strcmp(c->value, value) == 0 &&
		    strcmp(c->name, ev->counter.name) == 0 &&
		    strcmp(c->category, ev->counter.category) == 0)
			return c;
		key = activity_sums_next_key(key);
	}
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->id = ev->counter.id;
	c->category = strdup(ev->counter.category);
	c->name = strdup(ev->counter.name);
	c->value = strdup(value);
	if (!c->category || !c->name || !c->value || table_set(&s->counters, key, c) < 0) {
		activity_sums_free_counter(c);
		return NULL;
	}
	return c;
}

int activity_sums_add_counter(struct activity_sums *s, const struct event *ev)
{
	for (unsigned i = 0; i < ev->counter.n_values; i++) {
		const struct event_value *v = &ev->counter.values[i];
		double value = v->whole ? (double)v->u64 : v->f64;
		struct counter_sum *c;

		if (!__builtin_isfinite(value))
			continue;
		c = activity_sums_get_counter(s, ev, v->name);
		if (!c)
			return -ENOMEM;
		if (c->count == 0 || value < c->min)
			c->min = value;
		if (c->count == 0 || value > c->max)
			c->max = value;
		c->sum += value;
		c->count++;
	}
	return 0;
}

DEFINE_ORDER_OF_POINTERS(compare_counters, struct counter_sum,
	strcmp(x->category, y->category) ?: strcmp(x->name, y->name) ?: strcmp(x->value, y->value)
		?: COMPARE(x->id, y->id))

int activity_sums_counters(const struct activity_sums *s, struct counter_sum ***ret, size_t *ret_n)
{
	*ret = (struct counter_sum **)table_sorted(&s->counters, compare_counters, ret_n);
	return *ret ? 0 : -ENOMEM;
}

/* ---- requests of block devices ---- */

static struct request_sum *activity_sums_get_request(struct activity_sums *s,
						     const struct event *ev)
{
	const uint64_t parts[] = { table_hash(ev->request.disk, strlen(ev->request.disk)),
				   table_hash(ev->request.op, strlen(ev->request.op)) };
	uint64_t key = table_hash(parts, sizeof(parts));
	struct request_sum *q;

	while ((q = table_get(&s->requests, key))) {
		if (strcmp(q->disk, ev->request.disk) == 0 && strcmp(q->op, ev->request.op) == 0)
			return q;
		key = activity_sums_next_key(key);
	}
	q = calloc(1, sizeof(*q));
	if (!q)
		return NULL;
	q->disk = strdup(ev->request.disk);
	q->op = strdup(ev->request.op);
	if (!q->disk || !q->op || table_set(&s->requests, key, q) < 0) {
		activity_sums_free_request(q);
		return NULL;
	}
	return q;
}

int activity_sums_add_request(struct activity_sums *s, const struct event *ev)
{
	uint64_t ns = ev->request.end_ns - (ev->request.issued_ns ?: ev->ts_ns);
	struct request_sum *q = activity_sums_get_request(s, ev);

	if (!q)
		return -ENOMEM;
	q->count++;
	q->bytes += ev->request.bytes;
	q->total_ns += ns;
	q->n_errors += ev->request.error != 0;
	if (ns > q->max_ns)
		q->max_ns = ns;
	return 0;
}

DEFINE_ORDER_OF_POINTERS(compare_requests, struct request_sum,
	COMPARE(y->total_ns, x->total_ns) ?: strcmp(x->disk, y->disk) ?: strcmp(x->op, y->op))

int activity_sums_requests(const struct activity_sums *s, struct request_sum ***ret, size_t *ret_n)
{
	*ret = (struct request_sum **)table_sorted(&s->requests, compare_requests, ret_n);
	return *ret ? 0 : -ENOMEM;
}

/* ---- tracepoints and moments ---- */

/* Finds or adds the sum of NAME, which has N bytes, in OF. Returns NULL if there is no memory. */
static struct name_sum *activity_sums_get_name(struct table *of, const char *name, size_t n)
{
	uint64_t key = table_hash(name, n);
	struct name_sum *t;

	while ((t = table_get(of, key))) {
		if (strncmp(t->name, name, n) == 0 && t->name[n] == '\0')
			return t;
		key = activity_sums_next_key(key);
	}
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->name = strndup(name, n);
	if (!t->name || table_set(of, key, t) < 0) {
		activity_sums_free_name(t);
		return NULL;
	}
	return t;
}

int activity_sums_add_tracepoint(struct activity_sums *s, const struct event *ev)
{
	const char *name = ev->tracepoint.name;
	struct name_sum *t = activity_sums_get_name(&s->tracepoints, name, strlen(name));

	if (!t)
		return -ENOMEM;
	t->count++;
	return 0;
}

int activity_sums_add_point(struct activity_sums *s, const struct event *ev)
{
	size_t n;
	const char *name = moment_data_point_name(ev->moment_point.plan, &n);
	struct name_sum *t = activity_sums_get_name(&s->moments, name, n);

	return t ? table_set(&s->points, ev->moment_point.number + UINT64_C(1), t) : -ENOMEM;
}

int activity_sums_add_moment(struct activity_sums *s, const struct event *ev)
{
	struct name_sum *t = table_get(&s->points, ev->moment.point + UINT64_C(1));

	/* (the record with the point's name can be in a damaged part of the archive) */
	t = t ?: activity_sums_get_name(&s->moments, "?", 1);
	if (!t)
		return -ENOMEM;
	t->count++;
	return 0;
}

DEFINE_ORDER_OF_POINTERS(compare_names, struct name_sum,
			 COMPARE(y->count, x->count) ?: strcmp(x->name, y->name))

int activity_sums_by_count(const struct table *of, struct name_sum ***ret, size_t *ret_n)
{
	*ret = (struct name_sum **)table_sorted(of, compare_names, ret_n);
	return *ret ? 0 : -ENOMEM;
}
