/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/programs/fault-events.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "bpf/record.h"
#include "capture/perf/perf-event.h"
#include "capture/programs/cpus.h"

enum { FAULT_KINDS = 2 };

static const struct {
	uint64_t config, cookie;
} fault_kinds[FAULT_KINDS] = {
	{ PERF_COUNT_SW_PAGE_FAULTS_MIN, TRACEPOINT_FAULT_MINOR },
	{ PERF_COUNT_SW_PAGE_FAULTS_MAJ, TRACEPOINT_FAULT_MAJOR },
};

struct fault_cpu {
	int event[FAULT_KINDS], link[FAULT_KINDS]; /* -1 = none */
	bool refused; /* it has had no events since it came online, which is counted once */
};

struct fault_events {
	int prog_fd, runs_fd;
	unsigned n_cpus;
	uint64_t *runs;      /* of each CPU: room for the kernel's answer */
	uint64_t runs_begun; /* before these events were opened */
	uint64_t n_closed;   /* number of events of CPUs that went offline */
	uint64_t n_refused;  /* how often a CPU got no events, although it was online */
	bool is_partial;     /* the number of some events is unknown */
	struct fault_cpu *cpus;
};

static uint64_t fault_events_runs(const struct fault_events *f)
{
	uint32_t zero = 0;
	uint64_t sum = 0;

	if (bpf_map_lookup_elem(f->runs_fd, &zero, f->runs) < 0)
		return 0;
	for (unsigned cpu = 0; cpu < f->n_cpus; cpu++)
		sum += f->runs[cpu];
	return sum;
}

/* Returns the number of events of C. If some are unknown, sets *RET_PARTIAL. */
static uint64_t fault_events_count(const struct fault_cpu *c, bool *ret_partial)
{
	uint64_t sum = 0, n;

	for (unsigned i = 0; i < FAULT_KINDS; i++) {
		if (c->event[i] < 0)
			continue;
		if (read(c->event[i], &n, sizeof(n)) == sizeof(n))
			sum += n;
		else
			*ret_partial = true;
	}
	return sum;
}

static void fault_events_close(struct fault_cpu *c)
{
	for (unsigned i = 0; i < FAULT_KINDS; i++) {
		if (c->link[i] >= 0)
			close(c->link[i]);
		if (c->event[i] >= 0)
			close(c->event[i]);
		c->link[i] = c->event[i] = -1;
	}
}

static int fault_events_open(struct fault_events *f, unsigned cpu)
{
	struct fault_cpu *c = &f->cpus[cpu];

	for (unsigned i = 0; i < FAULT_KINDS; i++) {
		LIBBPF_OPTS(bpf_link_create_opts, opts,
			    .perf_event.bpf_cookie = fault_kinds[i].cookie);
		struct perf_event_attr attr = {
			.type = PERF_TYPE_SOFTWARE,
			.config = fault_kinds[i].config,
			.sample_period = 1,
			.disabled = 1,
		};

		c->event[i] = perf_event_open_cpu(&attr, cpu);
		if (c->event[i] < 0)
			return c->event[i];
		c->link[i] = bpf_link_create(f->prog_fd, c->event[i], BPF_PERF_EVENT, &opts);
		if (c->link[i] < 0)
			return -errno;
		if (ioctl(c->event[i], PERF_EVENT_IOC_ENABLE, 0) < 0)
			return -errno;
	}
	return 0;
}

/* Opens the events of CPU. If CPU has just gone offline, opens none and returns 0. */
static int fault_events_begin(struct fault_events *f, unsigned cpu)
{
	int r = fault_events_open(f, cpu);

	if (r < 0)
		fault_events_close(&f->cpus[cpu]);
	return r == -ENODEV ? 0 : r;
}

int fault_events_new(int prog_fd, int runs_fd, unsigned n_cpus, struct fault_events **ret)
{
	_cleanup_(fault_events_freep) struct fault_events *f = calloc(1, sizeof(*f));
	_cleanup_free_ bool *online = calloc(n_cpus, sizeof(*online));
	int r = 0;

	if (!f || !online)
		return -ENOMEM;
	f->prog_fd = prog_fd;
	f->runs_fd = runs_fd;
	f->runs = calloc(n_cpus, sizeof(*f->runs));
	f->cpus = calloc(n_cpus, sizeof(*f->cpus));
	if (!f->runs || !f->cpus)
		return -ENOMEM;
	f->n_cpus = n_cpus;
	for (unsigned cpu = 0; cpu < n_cpus; cpu++)
		f->cpus[cpu] = (struct fault_cpu){ { -1, -1 }, { -1, -1 }, false };
	f->runs_begun = fault_events_runs(f);
	cpus_online(online, n_cpus);
	for (unsigned cpu = 0; r == 0 && cpu < n_cpus; cpu++)
		if (online[cpu])
			r = fault_events_begin(f, cpu);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(f);
	return 0;
}

struct fault_events *fault_events_free(struct fault_events *f)
{
	if (!f)
		return NULL;
	for (unsigned cpu = 0; cpu < f->n_cpus; cpu++)
		fault_events_close(&f->cpus[cpu]);
	free(f->cpus);
	free(f->runs);
	return free_ptr(f);
}

void fault_events_set_online(struct fault_events *f, const bool *online)
{
	for (unsigned cpu = 0; cpu < f->n_cpus; cpu++) {
		bool has = f->cpus[cpu].event[0] >= 0;

		if (!online[cpu] && has) {
			f->n_closed += fault_events_count(&f->cpus[cpu], &f->is_partial);
			fault_events_close(&f->cpus[cpu]);
		} else if (online[cpu] && !has) {
			/* May fail if the CPU is not ready yet: the next check tries again. */
			bool refused = fault_events_begin(f, cpu) < 0;

			f->n_refused += refused && !f->cpus[cpu].refused;
			f->cpus[cpu].refused = refused;
		}
	}
}

void fault_events_stop(struct fault_events *f)
{
	for (unsigned cpu = 0; cpu < f->n_cpus; cpu++)
		for (unsigned i = 0; i < FAULT_KINDS; i++)
			if (f->cpus[cpu].event[i] >= 0)
				ioctl(f->cpus[cpu].event[i], PERF_EVENT_IOC_DISABLE, 0);
}

uint64_t fault_events_skipped(const struct fault_events *f)
{
	uint64_t runs = fault_events_runs(f) - f->runs_begun, events = f->n_closed;
	bool is_partial = f->is_partial;

	for (unsigned cpu = 0; cpu < f->n_cpus; cpu++)
		events += fault_events_count(&f->cpus[cpu], &is_partial);
	/*
	 * If the number of some events is unknown, EVENTS is too small. Then at least one event
	 * counts as skipped.
	 */
	return f->n_refused + (events > runs ? events - runs : is_partial);
}
