/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * probe-cost [ROUNDS]: measures the cost of a probe at the chosen offset, and of one at the first
 * instruction, for functions of the C library of this process: plain uprobes that only count, by
 * perf_event_open(). Both take turns, and the best round of each counts. Needs root.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "capture/probes/allocators.h"

enum { CALLS = 20000, ROUNDS = 10 };

static void call_malloc(void)
{
	void *p = malloc(64);

	__asm__ volatile("" : : "r"(p) : "memory");
	free(p);
}

static void call_calloc(void)
{
	void *p = calloc(1, 64);

	__asm__ volatile("" : : "r"(p) : "memory");
	free(p);
}

static void call_realloc(void)
{
	void *p = realloc(NULL, 64);

	__asm__ volatile("" : : "r"(p) : "memory");
	free(p);
}

static void call_posix_memalign(void)
{
	void *p = NULL;

	if (posix_memalign(&p, 64, 64) == 0)
		free(p);
}

static const struct {
	const char *name;
	uint32_t function;
	void (*call)(void); /* calls it once, and free() */
	uintptr_t address;
} functions[] = {
	{ "malloc", MEMORY_FN_MALLOC, call_malloc, (uintptr_t)malloc },
	{ "free", MEMORY_FN_FREE, call_malloc, (uintptr_t)free },
	{ "calloc", MEMORY_FN_CALLOC, call_calloc, (uintptr_t)calloc },
	{ "realloc", MEMORY_FN_REALLOC, call_realloc, (uintptr_t)realloc },
	{ "posix_memalign", MEMORY_FN_POSIX_MEMALIGN, call_posix_memalign,
	  (uintptr_t)posix_memalign },
};

static int read_type(void)
{
	FILE *f = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
	int type = -1;

	if (f && fscanf(f, "%d", &type) != 1)
		type = -1;
	if (f)
		fclose(f);
	return type;
}

static int probe_cost_attach(int type, const char *path, uint64_t offset)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = (uint32_t)type,
		.config1 = (uint64_t)(uintptr_t)path,
		.config2 = offset,
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* The time of a call in ns. */
static double probe_cost_measure(void (*call)(void))
{
	uint64_t start = clock_read_ns(CLOCK_MONOTONIC);

	for (int i = 0; i < CALLS; i++)
		call();
	return (double)(clock_read_ns(CLOCK_MONOTONIC) - start) / CALLS;
}

static double probe_cost_least(double a, double b)
{
	return a < b ? a : b;
}

/* Measures with the probe at OFFSET, or without one (-1). *RET_COUNT is the number of hits. */
static double run_once(int type, const char *path, int64_t offset, void (*call)(void),
		       uint64_t *ret_count)
{
	_cleanup_close_ int fd = offset < 0 ? -1 : probe_cost_attach(type, path, (uint64_t)offset);
	double ns;

	if (offset >= 0 && fd < 0) {
		fprintf(stderr, "probe-cost: no probe at %#jx of %s: %s\n", (uintmax_t)offset, path,
			strerror(errno));
		exit(1);
	}
	ns = probe_cost_measure(call);
	*ret_count = 0;
	if (fd >= 0 && read(fd, ret_count, sizeof(*ret_count)) != sizeof(*ret_count))
		*ret_count = 0;
	return ns;
}

/* Finds the file that ADDRESS is mapped from, and the offset of the address in it. */
static int64_t find_file(uintptr_t address, char *to, size_t room)
{
	FILE *f = fopen("/proc/self/maps", "re");
	int64_t found = -1;
	char line[4400];

	while (f && found < 0 && fgets(line, sizeof(line), f)) {
		uintptr_t start, end;
		uint64_t offset;
		char path[4097];

		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %" SCNx64 " %*s %*s %4096s", &start,
			   &end, &offset, path) != 4 ||
		    address < start || address >= end)
			continue;
		snprintf(to, room, "%s", path);
		found = (int64_t)(address - start + offset);
	}
	if (f)
		fclose(f);
	return found;
}

static const struct allocator_probe *probe_of(const struct allocator_list *l, uint32_t function,
					      int64_t first)
{
	for (size_t i = 0; i < l->n; i++) {
		if (l->probes[i].function == function && l->probes[i].kind != ALLOCATOR_PROBE_RET &&
		    l->probes[i].offset - (uint64_t)first < 32)
			return &l->probes[i];
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS, type = read_type();
	char path[4097];

	if (rounds < 1 || type < 0) {
		fputs(rounds < 1 ? "Usage: probe-cost [ROUNDS]\n"
				 : "probe-cost: this kernel has no uprobes\n",
		      stderr);
		return 2;
	}
	printf("%-16s %6s %10s %10s %10s   (ns, best of %d)\n", "function", "offset", "none",
	       "at offset", "at +0", rounds);
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		int64_t first = find_file(functions[i].address, path, sizeof(path));
		_cleanup_close_ int fd = first < 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC);
		struct allocator_list list = { 0 };
		const struct allocator_probe *probe;
		double none = 1e9, chosen = 1e9, plain = 1e9;
		uint64_t counts[3];

		if (fd < 0 || allocators_find_sandboxed(fd, ALLOCATORS_NS_MAX, &list) < 0 ||
		    !(probe = probe_of(&list, functions[i].function, first))) {
			printf("%-16s is not in a file\n", functions[i].name);
			allocator_list_deinit(&list);
			continue;
		}
		for (int round = 0; round < rounds; round++) {
			void (*call)(void) = functions[i].call;

			none = probe_cost_least(none, run_once(type, path, -1, call, &counts[0]));
			chosen = probe_cost_least(chosen,
						  run_once(type, path, (int64_t)probe->offset, call,
							   &counts[1]));
			plain = probe_cost_least(plain,
						 run_once(type, path, first, call, &counts[2]));
		}
		if (counts[1] != counts[2] || counts[1] < CALLS)
			printf("%-16s counted %ju calls at the offset and %ju at +0\n",
			       functions[i].name, (uintmax_t)counts[1], (uintmax_t)counts[2]);
		printf("%-16s %+6d %10.0f %10.0f %10.0f\n", functions[i].name,
		       (int)(probe->offset - (uint64_t)first), none, chosen, plain);
		allocator_list_deinit(&list);
	}
	return 0;
}
