/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tick-time SECONDS: prints the number of runs of the timer of cpu-clock samples on all CPUs in
 * that time, and their total time in ns.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/types.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench/tick-time.h"
#include "bench/tick-time.skel.h"

static uint64_t address_of(const char *function)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[512], name[256];
	uint64_t address, found = 0;

	while (f && !found && fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 " %*c %255s", &address, name) == 2 &&
		    strcmp(name, function) == 0)
			found = address;
	if (f)
		fclose(f);
	return found;
}

static int print_times(struct tick_time_bpf *skel)
{
	int n_cpus = libbpf_num_possible_cpus(), r;
	struct tick_time *times = n_cpus > 0 ? calloc((size_t)n_cpus, sizeof(*times)) : NULL;
	uint64_t n = 0, ns = 0;
	__u32 zero = 0;

	if (!times)
		return -ENOMEM;
	r = bpf_map_lookup_elem(bpf_map__fd(skel->maps.times), &zero, times);
	for (int i = 0; i < n_cpus; i++) {
		n += times[i].n;
		ns += times[i].ns;
	}
	free(times);
	if (r == 0)
		printf("%" PRIu64 " %" PRIu64 "\n", n, ns);
	return r;
}

int main(int argc, char **argv)
{
	unsigned seconds = argc == 2 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
	uint64_t sampler = address_of("perf_swevent_hrtimer");
	struct tick_time_bpf *skel;
	int r;

	if (seconds == 0 || sampler == 0) {
		fprintf(stderr, "tick-time: %s\n",
			seconds ? "/proc/kallsyms does not say where perf_swevent_hrtimer is"
				: "usage: tick-time SECONDS");
		return 1;
	}
	skel = tick_time_bpf__open();
	if (!skel)
		return 1;
	skel->rodata->sampler = sampler;
	r = tick_time_bpf__load(skel);
	if (r == 0)
		r = tick_time_bpf__attach(skel);
	if (r == 0) {
		sleep(seconds);
		r = print_times(skel);
	}
	tick_time_bpf__destroy(skel);
	if (r < 0)
		fprintf(stderr, "tick-time: %s\n", strerror(-r));
	return r < 0;
}
