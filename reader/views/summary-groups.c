/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/views/summary-groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "reader/views/cgroup-names.h"
#include "reader/views/summary-programs.h"

const char *const summary_by_names[] = {
	[SUMMARY_BY_THREAD] = "thread",
	[SUMMARY_BY_PROCESS] = "process",
	[SUMMARY_BY_UNIT] = "unit",
	[SUMMARY_BY_CONTAINER] = "container",
};

/* The state during the construction. */
struct making {
	const struct summary *summary;
	enum summary_by by;
	struct summary_groups *groups;
	size_t room;
	struct table by_key;     /* hash of the name or id -> index of the group + 1 */
	struct table of_process; /* pid + 1 -> index + 1 */
	struct table of_program; /* ended programs: hash of pid and program -> index + 1 */
};

struct summary_groups *summary_groups_free(struct summary_groups *g)
{
	if (!g)
		return NULL;
	for (size_t i = 0; i < g->n; i++)
		free(g->list[i].name);
	free(g->list);
	return free_ptr(g);
}

static void *summary_groups_as_value(size_t index)
{
	return (void *)(uintptr_t)(index + 1);
}

static size_t summary_groups_as_index(const void *value)
{
	return (size_t)((uintptr_t)value - 1);
}

/* Adds a group with NAME; *RET is its index. Returns 0 or -ENOMEM. */
static int summary_groups_add_group(struct making *m, const char *name, size_t *ret)
{
	struct summary_groups *g = m->groups;

	if (GROW(g->list, m->room, g->n + 1) < 0)
		return -ENOMEM;
	g->list[g->n] = (struct summary_group){ .name = strdup(name) };
	if (!g->list[g->n].name)
		return -ENOMEM;
	*ret = g->n++;
	return 0;
}

/* Finds or adds the group NAME; *RET is its index. Returns 0 or -ENOMEM. */
static int summary_groups_get_group(struct making *m, const char *name, size_t *ret)
{
	uint64_t key = table_hash(name, strlen(name));
	const void *value;

	while ((value = table_get(&m->by_key, key))) {
		*ret = summary_groups_as_index(value);
		if (strcmp(m->groups->list[*ret].name, name) == 0)
			return 0;
		key += key == UINT64_MAX ? 2 : 1; /* 0 is not a valid key */
	}
	return summary_groups_add_group(m, name, ret)
		       ?: table_set(&m->by_key, key, summary_groups_as_value(*ret));
}

static int summary_groups_place_process(struct making *m, const struct summary_process *p)
{
	char name[CGROUP_NAME_MAX];
	size_t index;
	int r;

	if (m->by == SUMMARY_BY_PROCESS) {
		r = summary_groups_add_group(m, p->name && *p->name ? p->name : "?", &index);
		if (r == 0)
			m->groups->list[index].pid = p->pid;
	} else if (!p->cgroup_path) {
		r = summary_groups_get_group(m, "?", &index);
	} else {
		r = summary_groups_get_group(m,
					     m->by == SUMMARY_BY_UNIT
						     ? cgroup_unit(name, p->cgroup_path)
						     : cgroup_container(name, p->cgroup_path),
					     &index);
	}
	if (r < 0)
		return r;
	m->groups->list[index].n_processes++;
	return table_set(&m->of_process, (uint64_t)p->pid + 1, summary_groups_as_value(index));
}

/* Finds or adds the group of the ended program of T; *RET is its index. Returns 0 or -ENOMEM. */
static int summary_groups_find_program(struct making *m, const struct summary_thread *t,
				       size_t *ret)
{
	const uint32_t of[] = { t->pid, t->program };
	uint64_t key = table_hash(of, sizeof(of));
	const void *value = table_get(&m->of_program, key);
	int r;

	if (value) {
		*ret = summary_groups_as_index(value);
		return 0;
	}
	r = summary_groups_add_group(m, programs_name(&m->summary->programs, t->pid, t->program),
				     ret);
	if (r < 0)
		return r;
	m->groups->list[*ret].pid = t->pid;
	m->groups->list[*ret].n_processes = 1;
	return table_set(&m->of_program, key, summary_groups_as_value(*ret));
}

/* Finds the group of T. */
static int summary_groups_find_group(struct making *m, const struct summary_thread *t, size_t *ret)
{
	const void *value = table_get(&m->of_process, (uint64_t)t->pid + 1);
	int r;

	if (m->by == SUMMARY_BY_PROCESS && programs_name(&m->summary->programs, t->pid, t->program))
		return summary_groups_find_program(m, t, ret);
	if (m->by == SUMMARY_BY_THREAD) {
		r = summary_groups_add_group(m, t->name && *t->name ? t->name : "?", ret);
		if (r == 0) {
			m->groups->list[*ret].pid = t->pid;
			m->groups->list[*ret].tid = t->tid;
		}
		return r;
	}
	if (!value)
		return summary_groups_get_group(m, "?", ret);
	*ret = summary_groups_as_index(value);
	return 0;
}

static int summary_groups_place_thread(struct making *m, const struct summary_thread *t)
{
	struct summary_group *g;
	size_t index;
	int r = summary_groups_find_group(m, t, &index);

	if (r < 0)
		return r;
	g = &m->groups->list[index];
	g->cpu_ns += t->cpu_ns;
	g->runnable_ns += t->runnable_ns;
	g->blocked_ns += t->blocked_ns;
	g->after_wakeup_ns += t->after_wakeup_ns;
	g->until_preempted_ns += t->until_preempted_ns;
	g->switches += t->switches;
	g->preempted += t->preempted;
	g->wakeups += t->wakeups;
	g->samples += t->samples;
	g->n_threads++;
	if (t->max_wakeup_latency_ns > g->max_wakeup_latency_ns)
		g->max_wakeup_latency_ns = t->max_wakeup_latency_ns;
	return 0;
}

DEFINE_ORDER(summary_groups_compare, struct summary_group,
	COMPARE(y->cpu_ns, x->cpu_ns) ?: COMPARE(y->samples, x->samples) ?: strcmp(x->name, y->name)
		?: COMPARE(x->pid, y->pid) ?: COMPARE(x->tid, y->tid))

static int summary_groups_place_all(struct making *m)
{
	_cleanup_free_ struct summary_process **processes = NULL;
	_cleanup_free_ struct summary_thread *threads = NULL;
	size_t n_processes, n_threads;
	int r = summary_processes_by_pid(m->summary, &processes, &n_processes)
			?: summary_programs_by_cpu(m->summary, &threads, &n_threads);

	for (size_t i = 0; r == 0 && m->by != SUMMARY_BY_THREAD && i < n_processes; i++)
		r = summary_groups_place_process(m, processes[i]);
	for (size_t i = 0; r == 0 && i < n_threads; i++)
		r = summary_groups_place_thread(m, &threads[i]);
	return r;
}

int summary_groups_new(const struct summary *s, enum summary_by by, struct summary_groups **ret)
{
	_cleanup_(summary_groups_freep) struct summary_groups *g = calloc(1, sizeof(*g));
	struct making m = { .summary = s, .by = by, .groups = g };
	int r = g ? summary_groups_place_all(&m) : -ENOMEM;

	table_deinit(&m.by_key);
	table_deinit(&m.of_process);
	table_deinit(&m.of_program);
	if (r < 0)
		return r;
	SORT(g->list, g->n, summary_groups_compare);
	*ret = TAKE_PTR(g);
	return 0;
}
