/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/views/cpu-timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Runs that end later after the begin are ignored; only damaged archives have such runs. */
#define CPU_TIMELINE_NS_MAX (UINT64_C(1) << 62)

struct cpu_timeline *cpu_timeline_free(struct cpu_timeline *t)
{
	if (!t)
		return NULL;
	for (size_t i = 0; i < t->n_cpus; i++)
		free(t->cpus[i].busy_ns);
	free(t->cpus);
	return free_ptr(t);
}

static struct cpu_timeline_cpu *cpu_timeline_get(struct cpu_timeline *t, uint32_t cpu)
{
	if (GROW(t->cpus, t->room, cpu + 1) < 0)
		return NULL;
	while (t->n_cpus <= cpu)
		t->cpus[t->n_cpus++] = (struct cpu_timeline_cpu){ 0 };
	if (!t->cpus[cpu].busy_ns)
		t->cpus[cpu].busy_ns = calloc(CPU_TIMELINE_BINS, sizeof(uint64_t));
	return t->cpus[cpu].busy_ns ? &t->cpus[cpu] : NULL;
}

/* Joins the bins in pairs. */
static void cpu_timeline_widen(struct cpu_timeline *t)
{
	for (size_t cpu = 0; cpu < t->n_cpus; cpu++) {
		uint64_t *bins = t->cpus[cpu].busy_ns;

		if (!bins)
			continue;
		for (size_t i = 0; i < CPU_TIMELINE_BINS / 2; i++)
			bins[i] = bins[2 * i] + bins[2 * i + 1];
		memset(&bins[CPU_TIMELINE_BINS / 2], 0, CPU_TIMELINE_BINS / 2 * sizeof(*bins));
	}
	t->width_ns *= 2;
}

static void cpu_timeline_add_run(struct cpu_timeline *t, struct cpu_timeline_cpu *cpu,
				 uint64_t from_ns, uint64_t to_ns)
{
	cpu->total_ns += to_ns - from_ns;
	while (from_ns < to_ns) {
		uint64_t bin = (from_ns - t->start_ns) / t->width_ns;
		uint64_t end_ns = t->start_ns + (bin + 1) * t->width_ns;
		uint64_t until_ns = end_ns < to_ns ? end_ns : to_ns;

		cpu->busy_ns[bin] += until_ns - from_ns;
		from_ns = until_ns;
	}
}

/* Adds a pause, of which each thread has a segment: segments with the same end are one pause. */
static void cpu_timeline_add_pause(struct cpu_timeline *t, const struct thread_segment *segment)
{
	for (size_t i = t->n_pauses; i > 0; i--)
		if (t->pauses[i - 1].to_ns == segment->to_ns) {
			if (segment->from_ns < t->pauses[i - 1].from_ns)
				t->pauses[i - 1].from_ns = segment->from_ns;
			return;
		}
	if (t->n_pauses == CPU_TIMELINE_PAUSES_MAX)
		return;
	t->pauses[t->n_pauses].from_ns = segment->from_ns;
	t->pauses[t->n_pauses++].to_ns = segment->to_ns;
}

static int cpu_timeline_on_segment(void *userdata, const struct thread_segment *segment)
{
	struct cpu_timeline *t = userdata;
	uint64_t from_ns = segment->from_ns;
	struct cpu_timeline_cpu *cpu;

	if (!t->begun) {
		t->begun = true;
		t->start_ns = t->summary->start_ns;
	}
	if (segment->state == THREAD_UNKNOWN && segment->end == THREAD_END_PAUSE)
		cpu_timeline_add_pause(t, segment);
	if (segment->state != THREAD_RUNNING || segment->to_ns <= t->start_ns ||
	    segment->to_ns - t->start_ns > CPU_TIMELINE_NS_MAX)
		return 0;
	if (segment->cpu >= CPU_TIMELINE_CPUS_MAX) {
		t->n_beyond++;
		return 0;
	}
	if (from_ns < t->start_ns)
		from_ns = t->start_ns;
	while ((segment->to_ns - 1 - t->start_ns) / CPU_TIMELINE_BINS >= t->width_ns)
		cpu_timeline_widen(t);
	cpu = cpu_timeline_get(t, segment->cpu);
	if (!cpu)
		return -ENOMEM;
	cpu_timeline_add_run(t, cpu, from_ns, segment->to_ns);
	return 0;
}

int cpu_timeline_new(struct cpu_timeline **ret, struct summary *summary)
{
	struct cpu_timeline *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->width_ns = CPU_TIMELINE_WIDTH_NS;
	t->summary = summary;
	summary_listen(summary, cpu_timeline_on_segment, t);
	*ret = t;
	return 0;
}

void cpu_timeline_finish(struct cpu_timeline *t)
{
	uint64_t bins;

	if (!t->begun)
		t->start_ns = t->summary->start_ns;
	if (t->summary->end_ns <= t->start_ns)
		return;
	while ((t->summary->end_ns - 1 - t->start_ns) / CPU_TIMELINE_BINS >= t->width_ns)
		cpu_timeline_widen(t);
	bins = (t->summary->end_ns - 1 - t->start_ns) / t->width_ns + 1;
	t->n_bins = (size_t)bins;
}

double cpu_timeline_share(const struct cpu_timeline *t, size_t cpu, size_t bin)
{
	uint64_t from_ns = t->start_ns + bin * t->width_ns, width_ns = t->width_ns;
	double share;

	if (cpu >= t->n_cpus || !t->cpus[cpu].busy_ns || bin >= t->n_bins)
		return 0;
	if (t->summary->end_ns - from_ns < width_ns)
		width_ns = t->summary->end_ns - from_ns;
	share = (double)t->cpus[cpu].busy_ns[bin] / (double)width_ns;
	return share > 1 ? 1 : share;
}
