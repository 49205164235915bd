/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The load of the CPUs over time, and the processes that caused it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "cli/common/markup.h"
#include "cli/report/report.h"
#include "cli/report/report-table.h"
#include "reader/views/summary-groups.h"

enum {
	CPUS_SHOWN = 16,
	PROCESSES_SHOWN = 25,
	HIGH = 100, /* height of a picture, in its own units; a bin is 1 wide */
	TICKS = 5,
};

/* The length of the recording, as a number of bins. */
static double report_cpus_width(const struct report *r)
{
	const struct cpu_timeline *t = r->timeline;

	return (double)(r->summary->end_ns - t->start_ns) / (double)t->width_ns;
}

/* The mean busy share, in BIN, of all CPUs that the archive has. */
static double report_cpus_mean(const struct report *r, size_t bin)
{
	const struct summary *s = r->summary;
	double sum = 0;
	size_t n = 0;

	for (size_t cpu = 0; cpu < s->n_cpus; cpu++) {
		if (!s->cpus[cpu].seen)
			continue;
		sum += cpu_timeline_share(r->timeline, cpu, bin);
		n++;
	}
	return n ? sum / (double)n : 0;
}

static void report_cpus_add_pauses(const struct cpu_timeline *t, struct outbuf *out)
{
	for (size_t i = 0; i < t->n_pauses; i++) {
		uint64_t from_ns = t->pauses[i].from_ns, to_ns = t->pauses[i].to_ns;

		if (from_ns < t->start_ns)
			from_ns = t->start_ns;
		if (to_ns > from_ns)
			outbuf_print(out,
				     "<rect x=\"%.2f\" y=\"0\" width=\"%.2f\" height=\"%d\">"
				     "<title>not recorded</title></rect>",
				     (double)(from_ns - t->start_ns) / (double)t->width_ns,
				     (double)(to_ns - from_ns) / (double)t->width_ns, HIGH);
	}
}

/*
 * Adds the picture of CPU, or for SIZE_MAX, of the mean of all CPUs. LABEL describes the picture in
 * words.
 */
static void report_cpus_add_picture(const struct report *r, struct outbuf *out, size_t cpu,
				    const char *label)
{
	const struct cpu_timeline *t = r->timeline;
	int last = HIGH;

	outbuf_print(out,
		     "<td class=\"load\"><svg viewBox=\"0 0 %.4f %d\" preserveAspectRatio=\"none\" "
		     "role=\"img\" aria-label=\"%s\"><path d=\"M0 %d",
		     report_cpus_width(r), HIGH, label, HIGH);
	for (size_t bin = 0; bin < t->n_bins; bin++) {
		double share = cpu == SIZE_MAX ? report_cpus_mean(r, bin)
					       : cpu_timeline_share(t, cpu, bin);
		int y = HIGH - (int)(share * HIGH + 0.5);

		if (y != last)
			outbuf_print(out, "H%zuV%d", bin, y);
		last = y;
	}
	outbuf_print(out, "H%zuV%dZ\"/>", t->n_bins, HIGH);
	report_cpus_add_pauses(t, out);
	outbuf_print(out, "</svg></td>");
}

static void report_cpus_add_row(const struct report *r, struct outbuf *out, size_t cpu, bool other)
{
	const struct summary *s = r->summary;
	const struct summary_cpu *c = &s->cpus[cpu];
	char label[64];

	snprintf(label, sizeof(label), "CPU %zu was busy for %.1f %% of the time", cpu,
		 report_percent(c->busy_ns, s->recorded_ns));
	outbuf_print(out, "<tr><th scope=\"row\">%zu</th>", cpu);
	report_cpus_add_picture(r, out, cpu, label);
	report_cell(out, "%.1f\u00a0%%", report_percent(c->busy_ns, s->recorded_ns));
	if (other)
		report_cell(out, "%.1f\u00a0%%", report_percent(c->other_ns, s->recorded_ns));
	report_cell(out, "%" PRIu64, c->switches);
	report_row_end(out);
}

static void report_cpus_add_all(const struct report *r, struct outbuf *out, size_t n, bool other)
{
	const struct summary *s = r->summary;
	uint64_t busy_ns = 0, other_ns = 0, switches = 0;
	char label[64];

	for (size_t i = 0; i < s->n_cpus; i++) {
		busy_ns += s->cpus[i].busy_ns;
		other_ns += s->cpus[i].other_ns;
		switches += s->cpus[i].switches;
	}
	snprintf(label, sizeof(label), "all CPUs were busy for %.1f %% of the time",
		 report_percent(busy_ns, s->recorded_ns * n));
	outbuf_print(out, "<tr><th scope=\"row\">all</th>");
	report_cpus_add_picture(r, out, SIZE_MAX, label);
	report_cell(out, "%.1f\u00a0%%", report_percent(busy_ns, s->recorded_ns * n));
	if (other)
		report_cell(out, "%.1f\u00a0%%", report_percent(other_ns, s->recorded_ns * n));
	report_cell(out, "%" PRIu64, switches);
	report_row_end(out);
}

static void report_cpus_add_axis(const struct report *r, struct outbuf *out, unsigned n_columns)
{
	uint64_t ns = r->summary->end_ns - r->timeline->start_ns;

	outbuf_print(out, "<tr><td></td><td class=\"load\"><div class=\"axis\">");
	for (unsigned i = 0; i < TICKS; i++)
		outbuf_print(out, "<span>%s</span>", i ? TEXT_TIME(ns / (TICKS - 1) * i) : "0");
	outbuf_print(out, "</div></td><td colspan=\"%u\"></td></tr>\n", n_columns - 2);
}

/* Returns the busy time of the least busy CPU that is shown. */
static uint64_t report_cpus_limit(const struct summary *s)
{
	uint64_t top[CPUS_SHOWN] = { 0 };

	for (size_t i = 0; i < s->n_cpus; i++) {
		uint64_t ns = s->cpus[i].seen ? s->cpus[i].busy_ns + 1 : 0;

		for (size_t k = 0; k < CPUS_SHOWN; k++)
			if (ns > top[k]) {
				uint64_t swap = top[k];

				top[k] = ns;
				ns = swap;
			}
	}
	return top[CPUS_SHOWN - 1] ? top[CPUS_SHOWN - 1] - 1 : 0;
}

static void report_cpus_add_table(const struct report *r, struct outbuf *out, size_t n, bool other)
{
	static const char *const columns[] = { "CPU", "Load", ">Busy", ">Switches", NULL };
	static const char *const with_other[] = { "CPU",           "Load",      ">Busy",
						  ">Not selected", ">Switches", NULL };
	const struct summary *s = r->summary;
	uint64_t limit_ns = report_cpus_limit(s);
	size_t shown = 0;
	char caption[160];

	snprintf(caption, sizeof(caption),
		 "The share of time in which each CPU ran a thread, in steps of %s",
		 TEXT_TIME(r->timeline->width_ns));
	report_table_begin(out, caption, other ? with_other : columns);
	if (n > 1)
		report_cpus_add_all(r, out, n, other);
	for (size_t i = 0; i < s->n_cpus && shown < CPUS_SHOWN; i++)
		if (s->cpus[i].seen && s->cpus[i].busy_ns >= limit_ns) {
			report_cpus_add_row(r, out, i, other);
			shown++;
		}
	report_row_rest(out, n - shown, other ? 5 : 4, "CPUs, which were less busy");
	report_cpus_add_axis(r, out, other ? 5 : 4);
	report_table_end(out);
}

int report_cpus(const struct report *r, struct outbuf *out)
{
	const struct summary *s = r->summary;
	char text[NOTHING_TEXT_MAX];
	bool other = false;
	size_t n = 0;

	for (size_t i = 0; i < s->n_cpus; i++) {
		n += s->cpus[i].seen;
		other |= s->cpus[i].other_ns > 0;
	}
	if (n == 0 || r->timeline->n_bins == 0)
		report_none(out, nothing_there_explain(text, r->parts, NOTHING_SWITCHES));
	else
		report_cpus_add_table(r, out, n, other);
	if (n > 0 && other)
		report_note(out, "The pictures show the selected threads only.");
	return out->error;
}

static void report_cpus_add_process(const struct report *r, struct outbuf *out,
				    const struct summary_group *g)
{
	report_row_begin(out);
	report_cell_name(out, g->name);
	report_cell(out, "%" PRIu32, g->pid);
	report_cell(out, "%s", TEXT_TIME(g->cpu_ns));
	report_cell_share(out, g->cpu_ns, r->summary->recorded_ns);
	report_cell(out, "%s", TEXT_TIME(g->runnable_ns));
	report_cell(out, "%s", TEXT_TIME(g->max_wakeup_latency_ns));
	report_cell(out, "%" PRIu64, g->switches);
	report_cell(out, "%" PRIu64, g->samples);
	report_row_end(out);
}

int report_processes(const struct report *r, struct outbuf *out)
{
	static const char *const columns[] = {
		"Process",  ">PID",      ">CPU time", ">Of a CPU", ">Waited for a CPU",
		">At most", ">Switches", ">Samples",  NULL
	};
	_cleanup_(summary_groups_freep) struct summary_groups *groups = NULL;
	char text[NOTHING_TEXT_MAX];
	size_t n = 0;

	if (summary_groups_new(r->summary, SUMMARY_BY_PROCESS, &groups) < 0)
		return -ENOMEM;
	if (groups->n == 0 || r->timeline->n_cpus == 0) {
		report_none(out, nothing_there_explain(text, r->parts, NOTHING_SWITCHES));
		return out->error;
	}
	while (n < groups->n && n < PROCESSES_SHOWN &&
	       (groups->list[n].cpu_ns || groups->list[n].samples))
		n++;
	report_table_begin(
		out,
		"\u201cAt most\u201d is the longest time from a wakeup of a thread until "
		"it ran.",
		columns);
	for (size_t i = 0; i < n; i++)
		report_cpus_add_process(r, out, &groups->list[i]);
	report_row_rest(out, groups->n - n, 8, "processes (kymo summary --by=process)");
	report_table_end(out);
	return out->error;
}
