/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/programs/sampler.h"

#include <errno.h>
#include <time.h>

#include <bpf/libbpf.h>

#include "capture/programs/cpus.h"
#include "capture/options/options.h"
#include "capture/perf/perf-event.h"

/* Maximum time between the starts on the first CPU and on the last. */
#define STAGGER_NS_MAX UINT64_C(100000000)

struct sampler {
	struct bpf_program *prog;
	unsigned n_cpus;
	uint32_t frequency;
	struct bpf_link **links; /* indexed by CPU; NULL = the CPU is not sampled */
};

static struct perf_event_attr sampler_attr_of(bool cycles, uint32_t frequency)
{
	return (struct perf_event_attr){
		.type = cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.config = cycles ? (uint64_t)PERF_COUNT_HW_CPU_CYCLES
				 : (uint64_t)PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = frequency,
		.exclude_idle = 1,
		.disabled = 1,
	};
}

/* Tries the clock on the first CPU that is online. */
static int sampler_try_clock(bool cycles)
{
	struct perf_event_attr attr = sampler_attr_of(cycles, FREQUENCY_DEFAULT);
	int fd = -ENODEV;

	for (unsigned cpu = 0; fd == -ENODEV && cpu < 1024; cpu++)
		fd = perf_event_open_cpu(&attr, cpu);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

const char *sampler_clock(int *reterr)
{
	if (sampler_try_clock(true) == 0)
		return "cycles";
	*reterr = sampler_try_clock(false);
	return *reterr == 0 ? "cpu-clock" : NULL;
}

uint32_t sampler_default_categories(void)
{
	int error;

	return sampler_clock(&error) ? CATEGORIES_DEFAULT : CATEGORIES_DEFAULT & ~CATEGORY_PROFILE;
}

static int sampler_begin(struct sampler *s, unsigned cpu, bool cycles)
{
	struct perf_event_attr attr = sampler_attr_of(cycles, s->frequency);
	int fd = perf_event_open_cpu(&attr, cpu);

	if (fd < 0)
		return fd;
	/* From here on, the link owns the descriptor. */
	s->links[cpu] = bpf_program__attach_perf_event(s->prog, fd);
	if (s->links[cpu])
		return 0;
	close(fd);
	return -errno;
}

/*
 * Starts sampling with cycles, if available. A machine can have CPUs that count cycles and others
 * that do not.
 */
static int sampler_begin_any(struct sampler *s, unsigned cpu)
{
	int r = sampler_begin(s, cpu, true);

	return r < 0 ? sampler_begin(s, cpu, false) : r;
}

static void sampler_end(struct sampler *s, unsigned cpu)
{
	bpf_link__destroy(s->links[cpu]);
	s->links[cpu] = NULL;
}

int sampler_new(struct bpf_program *prog, unsigned n_cpus, uint32_t frequency, struct sampler **ret)
{
	_cleanup_(sampler_freep) struct sampler *s = calloc(1, sizeof(*s));
	_cleanup_free_ bool *online = calloc(n_cpus, sizeof(*online));
	uint64_t step_ns = UINT64_C(1000000000) / frequency / n_cpus;
	int r = 0;

	if (step_ns > STAGGER_NS_MAX / n_cpus)
		step_ns = STAGGER_NS_MAX / n_cpus;
	if (!s || !online)
		return -ENOMEM;
	s->prog = prog;
	s->n_cpus = n_cpus;
	s->frequency = frequency;
	s->links = calloc(n_cpus, sizeof(struct bpf_link *));
	if (!s->links)
		return -ENOMEM;
	cpus_online(online, n_cpus);
	for (unsigned cpu = 0; r == 0 && cpu < n_cpus; cpu++) {
		const struct timespec step = { .tv_nsec = (long)step_ns };

		if (!online[cpu])
			continue;
		r = sampler_begin_any(s, cpu);
		if (r == -ENODEV)
			r = 0; /* the CPU has just gone offline */
		nanosleep(&step, NULL);
	}
	if (r < 0)
		return r;
	*ret = TAKE_PTR(s);
	return 0;
}

struct sampler *sampler_free(struct sampler *s)
{
	if (!s)
		return NULL;
	for (unsigned cpu = 0; s->links && cpu < s->n_cpus; cpu++)
		sampler_end(s, cpu);
	free(s->links);
	return free_ptr(s);
}

void sampler_set_online(struct sampler *s, const bool *online)
{
	for (unsigned cpu = 0; cpu < s->n_cpus; cpu++) {
		if (!online[cpu] && s->links[cpu])
			sampler_end(s, cpu);
		else if (online[cpu] && !s->links[cpu])
			/* May fail if the CPU is not ready yet: the next check tries again. */
			sampler_begin_any(s, cpu);
	}
}
