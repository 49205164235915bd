/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/archive/summary-by.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/string-table.h"
#include "base/text.h"
#include "cli/common/verb.h"

int summary_by_parse(void *by, char *text)
{
	int i = STRING_TABLE_FIND(summary_by_names, text);

	if (i < 0)
		return cli_usage_error("--by: '%s' must be one of unit, container, process and "
				       "thread",
				       text);
	*(enum summary_by *)by = (enum summary_by)i;
	return CLI_OK;
}

static void summary_by_print_row(const struct summary *s, enum summary_by by,
				 const struct summary_group *g)
{
	printf("%10s %5.1f%% %10s %9s %9" PRIu64 " %9" PRIu64 " %8" PRIu64 "  ",
	       TEXT_TIME(g->cpu_ns),
	       s->recorded_ns ? 100.0 * (double)g->cpu_ns / (double)s->recorded_ns : 0.0,
	       TEXT_TIME(g->runnable_ns), TEXT_TIME(g->max_wakeup_latency_ns), g->switches,
	       g->wakeups, g->samples);
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
		printf("    ... and %zu others (-n shows more)\n", groups->n - limit);
	return 0;
}

int summary_by_json(struct json_object *o, const struct summary *s, enum summary_by by)
{
	_cleanup_(summary_groups_freep) struct summary_groups *groups = NULL;
	bool thread = by == SUMMARY_BY_THREAD;
	int r = summary_groups_new(s, by, &groups);

	if (r < 0)
		return r;
	JSON_ADD(o, JSON("by", summary_by_names[by]),
		 JSON("groups",
		      JSON_LIST(g, groups->list, groups->n,
				JSON_OBJECT(
					JSON_OF(g, name), JSON_IF(thread, "tid", g->tid),
					JSON_IF(thread || by == SUMMARY_BY_PROCESS, "pid", g->pid),
					JSON_OF(g, cpu_ns, runnable_ns, after_wakeup_ns,
						until_preempted_ns, blocked_ns, switches, preempted,
						wakeups, max_wakeup_latency_ns, samples),
					JSON("processes", g->n_processes),
					JSON("threads", g->n_threads)))));
	return 0;
}
