/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/archive/summary-by.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/string-table.h"
#include "base/text.h"
#include "cli/common/verb.h"

int summary_by_take(void *by, char *text)
{
	int i = STRING_TABLE_FIND(summary_by_names, text);

	if (i < 0)
		return cli_usage_error("--by: '%s' is none of unit, container, process and thread",
				       text);
	*(enum summary_by *)by = (enum summary_by)i;
	return CLI_OK;
}

static void summary_by_print_row(const struct summary *s, enum summary_by by,
				 const struct summary_group *g)
{
	char cpu[TEXT_FORMAT_MAX], runnable[TEXT_FORMAT_MAX], wait[TEXT_FORMAT_MAX];

	printf("%10s %5.1f%% %10s %9s %9" PRIu64 " %9" PRIu64 " %8" PRIu64 "  ",
	       text_format_time(cpu, g->cpu_ns),
	       s->duration_ns ? 100.0 * (double)g->cpu_ns / (double)s->duration_ns : 0.0,
	       text_format_time(runnable, g->runnable_ns),
	       text_format_time(wait, g->max_wakeup_latency_ns), g->switches, g->wakeups,
	       g->samples);
	if (by == SUMMARY_BY_THREAD || by == SUMMARY_BY_PROCESS)
		printf("%s (%" PRIu32 ")\n", g->name, by == SUMMARY_BY_THREAD ? g->tid : g->pid);
	else
		printf("%s (%" PRIu32 " %s)\n", strcmp(g->name, "?") == 0 ? "not known" : g->name,
		       g->n_processes, g->n_processes == 1 ? "process" : "processes");
}

int summary_by_print(const struct summary *s, enum summary_by by, size_t limit)
{
	_cleanup_(summary_groups_freep) struct summary_groups *groups = NULL;
	char head[16] = "";
	int r = summary_groups_new(s, by, &groups);

	if (r < 0)
		return r;
	for (size_t i = 0; summary_by_names[by][i] && i + 1 < sizeof(head); i++)
		head[i] = (char)toupper((unsigned char)summary_by_names[by][i]);
	printf("\n       CPU      %%   RUNNABLE  MAX WAIT  SWITCHES   WAKEUPS  SAMPLES  %s\n",
	       head);
	for (size_t i = 0; i < groups->n && i < limit; i++)
		summary_by_print_row(s, by, &groups->list[i]);
	if (groups->n > limit)
		printf("    ... and %zu with less (-n shows more)\n", groups->n - limit);
	return 0;
}

int summary_by_json(struct json_object *o, const struct summary *s, enum summary_by by)
{
	_cleanup_(summary_groups_freep) struct summary_groups *groups = NULL;
	struct json_object *list;
	int r = summary_groups_new(s, by, &groups);

	if (r < 0)
		return r;
	list = json_object_new_array();
	for (size_t i = 0; i < groups->n; i++) {
		const struct summary_group *g = &groups->list[i];
		struct json_object *row = json_object_new_object();

		json_add_string(row, "name", g->name);
		if (by == SUMMARY_BY_THREAD)
			json_add_u64(row, "tid", g->tid);
		if (by == SUMMARY_BY_THREAD || by == SUMMARY_BY_PROCESS)
			json_add_u64(row, "pid", g->pid);
		json_add_u64(row, "cpu_ns", g->cpu_ns);
		json_add_u64(row, "runnable_ns", g->runnable_ns);
		json_add_u64(row, "blocked_ns", g->blocked_ns);
		json_add_u64(row, "switches", g->switches);
		json_add_u64(row, "preempted", g->preempted);
		json_add_u64(row, "wakeups", g->wakeups);
		json_add_u64(row, "max_wakeup_latency_ns", g->max_wakeup_latency_ns);
		json_add_u64(row, "samples", g->samples);
		json_add_u64(row, "processes", g->n_processes);
		json_add_u64(row, "threads", g->n_threads);
		json_object_array_add(list, row);
	}
	json_add_string(o, "by", summary_by_names[by]);
	json_add(o, "groups", list);
	return 0;
}
