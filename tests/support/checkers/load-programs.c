/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load-programs: loads the eBPF programs as sessions of all kinds do, and attaches none.
 *
 * Prints "session NAME" for each kind of session whose programs the kernel accepts, and "refused
 * NAME WHY" for each other one. Then it prints, for each program of the object, "loaded NAME", or
 * "unused NAME" if no session has loaded it, because this kernel does not need it. The line "cast
 * yes" or "cast no" says whether the programs read the preempt count without a helper. The last
 * lines, "verified N NAME", have the largest number of instructions that the verifier has examined
 * for a program. The verifier refuses a program at 1,000,000. Exits 1 if the kernel has refused any
 * session.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "capture/options/options-complete.h"
#include "capture/options/options.h"
#include "capture/programs/collector-parts.h"

enum { PROGRAMS_MAX = 256, ALL = ((CATEGORY_BLOCK << 1) - 1) | CATEGORY_WAKER_STACKS };

static struct {
	const char *name;
	bool loaded;
	uint32_t n_verified;
} programs[PROGRAMS_MAX];
static size_t n_programs;
static bool casts;

static uint32_t ids[] = { 1000 };
static char comms[][REC_COMM_BYTES] = { "nobody" };
static struct filter_cgroup cgroups[] = { { .parent_id = 1, .level = 1, .name = "nobody" } };

/* (the eBPF programs are the same whatever the functions are) */
static char spec[] = "syscall:openat", *specs[] = { spec };
static char plan[] = "point\tp\t\tfile\tf\t\tat\t1", *plans[] = { plan };
static char *tracepoints[] = { (char[]){ "sched:sched_switch" }, (char[]){ "kymo:*" } };
static int files[] = { STDIN_FILENO };

static const struct kind {
	const char *name;
	struct session_options options;
} kinds[] = {
	{ "machine", { .categories = ALL & ~CATEGORIES_MEMORY } },
	{ "triage", { .categories = CATEGORIES_MEMORY, .memory = { .triage = true } } },
	{ "process",
	  { .categories = ALL & ~CATEGORIES_UNFILTERED,
	    .memory = { .reach = MEMORY_REACH_LOOK },
	    .filter = { .pids = ids,
			.n_pids = 1,
			.comms = comms,
			.n_comms = 1,
			.cgroups = cgroups,
			.n_cgroups = 1 } } },
	{ "log",
	  { .categories = CATEGORY_MEMORY,
	    .memory = { .log = true, .interval = 65536, .min_bytes = 64 },
	    .filter = { .pids = ids,
			.n_pids = 1,
			.uids = ids,
			.n_uids = 1,
			.comms = comms,
			.n_comms = 1 } } },
	/* (without the programs that walk stacks) */
	{ "calls", { .categories = CATEGORY_CALLS } },
	{ "own", { .categories = ALL & ~CATEGORIES_NOT_OWN, .own = true, .own_uid = 1000 } },
};

/* The number of instructions that the verifier has examined; 0 = the program is not loaded. */
static uint32_t count_verified(const struct bpf_program *program)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);
	int fd = bpf_program__fd(program);

	return fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &size) == 0 ? info.verified_insns : 0;
}

static void note_programs(const struct kymo_bpf *skel)
{
	struct bpf_program *program;
	size_t i = 0;

	bpf_object__for_each_program(program, skel->obj)
	{
		uint32_t n_verified = count_verified(program);

		if (i >= PROGRAMS_MAX)
			exit(2);
		if (i == n_programs) {
			programs[n_programs].name = strdup(bpf_program__name(program));
			n_programs++;
		}
		programs[i].loaded |= bpf_program__fd(program) >= 0;
		if (n_verified > programs[i].n_verified)
			programs[i].n_verified = n_verified;
		i++;
	}
}

static bool load(const struct kind *kind)
{
	_cleanup_(collector_freep) struct collector *collector = NULL;
	_cleanup_free_ char *why = NULL;
	struct session_options options = kind->options;
	int r;

	snprintf(options.name, sizeof(options.name), "%s", kind->name);
	options.ring_bytes = RING_BYTES_MIN;
	if (options.categories & CATEGORY_MOMENTS)
		options.moments = (struct call_options){ plans, 1, { files, 1 } };
	if (options.categories & CATEGORY_TRACEPOINTS)
		options.tracepoints = (struct call_options){ tracepoints, 2, { 0 } };
	if (options.categories & CATEGORIES_CALLS)
		options.calls = (struct call_options){ specs, 1, { files, 1 } };
	r = session_options_complete(&options);
	if (r == 0)
		r = collector_new(&options, &collector, &why);
	if (r < 0) {
		printf("refused %s %s\n", kind->name, why ? why : "its options are not valid");
		return false;
	}
	note_programs(collector->skel);
	casts = collector->skel->rodata->preempt_count_type != 0;
	printf("session %s\n", kind->name);
	return true;
}

int main(void)
{
	bool good = true;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		good &= load(&kinds[i]);
	for (size_t i = 0; i < n_programs; i++)
		printf("%s %s\n", programs[i].loaded ? "loaded" : "unused", programs[i].name);
	printf("cast %s\n", casts ? "yes" : "no");
	for (size_t i = 0; i < n_programs; i++)
		if (programs[i].loaded)
			printf("verified %u %s\n", programs[i].n_verified, programs[i].name);
	return good ? 0 : 1;
}
