/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/programs/capabilities.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/options/tracepoint-own.h"
#include "capture/options/tracepoint-spec.h"
#include "capture/proc/proc.h"
#include "capture/programs/fentry.h"
#include "capture/programs/kernel-btf.h"
#include "capture/perf/perf-event.h"
#include "capture/perf/tracefs.h"
#include "capture/probes/probes.h"
#include "capture/sandbox/process-rights.h"
#include "capture/programs/sampler.h"

#define BTF_PATH "/sys/kernel/btf/vmlinux"

static bool capabilities_may_load(void)
{
	return rights_has(RIGHTS_SYS_ADMIN) ||
	       (rights_has(RIGHTS_BPF) && rights_has(RIGHTS_PERFMON));
}

static bool capabilities_kernel_at_least(unsigned major, unsigned minor)
{
	unsigned a = 0, b = 0;
	struct utsname u;

	if (uname(&u) < 0 || sscanf(u.release, "%u.%u", &a, &b) != 2)
		return true; /* unknown version: try it */
	return a > major || (a == major && b >= minor);
}

static struct capability capabilities_waker_context(const struct kernel_btf *btf)
{
	struct capability c = { .name = "waker_context" };
	int64_t from_rq;

	if (!btf) {
		c.detail = "unknown without BTF";
	} else if (kernel_btf_preempt_count(btf, &from_rq) == 1) {
		c.available = true;
		c.detail = "exact: from the kernel's preempt count (per CPU)";
	} else {
#if defined(__x86_64__)
		c.detail = "guessed: this kernel's preempt count cannot be found; wakeups from "
			   "interrupts are attributed to the interrupted thread";
#else
		c.available = true;
		c.detail = "exact: from the preempt count of the thread";
#endif
	}
	return c;
}

/* The categories that need special tracepoints. */
static const struct {
	const char *name;
	const char *tracepoints[2];
	const char *has, *lacks;
} hooks[] = {
	{ "irq",
	  { "irq_handler_entry", "irq_handler_exit" },
	  "handlers of hardware interrupts",
	  "this kernel has no tracepoints irq_handler_entry and irq_handler_exit" },
	{ "softirq",
	  { "softirq_entry", "softirq_exit" },
	  "softirqs",
	  "this kernel has no tracepoints softirq_entry and softirq_exit" },
	{ "workqueue",
	  { "workqueue_execute_start", "workqueue_execute_end" },
	  "work items, with the names of their functions",
	  "this kernel has no tracepoints workqueue_execute_start and workqueue_execute_end" },
	{ "power",
	  { "cpu_idle", "cpu_frequency" },
	  "idle states, and frequencies where the kernel sets them",
	  "this kernel has no tracepoints cpu_idle and cpu_frequency (CONFIG_CPU_IDLE)" },
	{ "block",
	  { "block_rq_issue", "block_rq_complete" },
	  "requests of block devices",
	  "this kernel has no tracepoints block_rq_issue and block_rq_complete (CONFIG_BLOCK)" },
};

enum { N_TRACEPOINTS = 2 * ARRAY_SIZE(hooks) };

/*
 * Adds rows for the categories that need special tracepoints. ALL: true = the common prerequisites
 * are available.
 */
static int capabilities_probe_hooks(struct capability *caps, const struct kernel_btf *btf, bool all)
{
	const char *names[N_TRACEPOINTS];
	bool has[N_TRACEPOINTS] = { 0 };

	for (size_t i = 0; i < N_TRACEPOINTS; i++)
		names[i] = hooks[i / 2].tracepoints[i % 2];
	if (all && kernel_btf_tracepoints(btf, names, N_TRACEPOINTS, has) < 0)
		all = false;
	for (size_t i = 0; i < ARRAY_SIZE(hooks); i++) {
		bool available = all && has[2 * i] && has[2 * i + 1];

		caps[i] = (struct capability){ hooks[i].name, available,
					       available ? hooks[i].has
					       : all     ? hooks[i].lacks
							 : "see btf, privilege and kernel" };
	}
	return ARRAY_SIZE(hooks);
}

/*
 * Returns the row for the counters that can be sampled. Sampling needs no privileges, but a session
 * does.
 */
static struct capability capabilities_counters(bool all)
{
	static const struct {
		bool pressure, frequency;
		const char *detail;
	} rows[] = {
		{ true, true, "memory, load, pressure and CPU frequencies" },
		{ true, false,
		  "memory, load and pressure; no CPU frequencies: this machine has no cpufreq" },
		{ false, true,
		  "memory, load and CPU frequencies; no pressure: the kernel needs CONFIG_PSI, and "
		  "perhaps psi=1 on its command line" },
		{ false, false,
		  "memory and load; no pressure (the kernel needs CONFIG_PSI, and perhaps psi=1), "
		  "and no CPU frequencies (there is no cpufreq)" },
	};
	bool pressure = access("/proc/pressure/cpu", R_OK) == 0;
	bool frequency = access("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", R_OK) == 0;
	struct capability c = { .name = "counters", .available = all };

	c.detail = "see btf, privilege and kernel";
	for (size_t i = 0; all && i < ARRAY_SIZE(rows); i++)
		if (rows[i].pressure == pressure && rows[i].frequency == frequency)
			c.detail = rows[i].detail;
	return c;
}

static struct capability capabilities_profile(bool all)
{
	struct capability c = { .name = "profile" };
	int error = 0;
	const char *clock = all ? sampler_clock(&error) : NULL;

	c.available = clock != NULL;
	c.detail = !all ? "see btf, privilege and kernel"
		   : !clock && perf_event_is_restricted()
			   ? "kernel.perf_event_paranoid is 3 or more, so this kernel allows perf "
			     "events only to CAP_SYS_ADMIN: systemctl start kymo-perf.socket, or "
			     "sysctl kernel.perf_event_paranoid=2"
		   : !clock ? "the kernel refuses perf events (CONFIG_PERF_EVENTS, or a sandbox)"
		   : strcmp(clock, "cycles") == 0
			   ? "samples by hardware cycles"
			   : "samples by the CPU's clock: this machine has no hardware counters";
	return c;
}

/*
 * Adds rows for allocations, calls and moments. Like the category profile, these need perf events
 * (for mappings).
 */
static int capabilities_heap_targets(struct capability *caps, const struct capability *profile)
{
	static const char *const ways[] = {
		[PROBES_PERF] = "one probe at a time (perf_event_open)",
		[PROBES_MULTI] = "many probes at once (uprobe_multi)",
		[PROBES_SESSION] = "calls and returns in one (uprobe.session)",
	};
	static const char *const names[] = { "memory", "fd",          "shm",    "threads",
					     "calls",  "call-stacks", "moments" };
	const char *detail = profile->available ? ways[probes_way()] : profile->detail;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		caps[i] = (struct capability){ names[i], profile->available, detail };
	return ARRAY_SIZE(names);
}

/* ALL: true = the common prerequisites are available. PROFILE: the row of perf events. */
static struct capability capabilities_tracepoints(bool all, const struct capability *profile)
{
	struct capability c = { .name = "tracepoints" };
	_cleanup_close_ int dir = all ? tracefs_open() : -ENOENT;

	c.available = profile->available && dir >= 0;
	c.detail =
		!all                  ? "see btf, privilege and kernel"
		: !profile->available ? profile->detail
		: dir == -EACCES      ? "tracefs is not readable here (/sys/kernel/tracing)"
		: dir < 0
			? "there is no tracefs: mount it at /sys/kernel/tracing; the kernel needs "
			  "CONFIG_EVENT_TRACING"
			: "tracepoints of the kernel, with their fields";
	return c;
}

static bool capabilities_has_member(int dir, const char *member)
{
	const size_t n = strlen(TRACEPOINT_OWN_SYSTEM ":");
	const char *needs = member;

	if (strncmp(member, TRACEPOINT_OWN_SYSTEM ":", n) == 0)
		needs = tracepoint_own[tracepoint_own_find(member + n)].needs;
	return !needs || tracefs_has(dir, needs);
}

/*
 * Adds rows for the presets (named sets of tracepoints). TRACEPOINTS: the row of all tracepoints.
 */
static int capabilities_presets(struct capability *caps, const struct capability *tracepoints)
{
	_cleanup_close_ int dir = tracepoints->available ? tracefs_open() : -ENOENT;
	int n = 0;

	for (const struct tracepoint_preset *p = tracepoint_presets; p->name; p++) {
		size_t has = 0, all = 0;

		for (; p->members[all]; all++)
			has += dir >= 0 && capabilities_has_member(dir, p->members[all]);
		caps[n++] = (struct capability){
			p->name, has > 0,
			dir < 0      ? "see tracepoints"
			: has == 0   ? "this kernel has none of its tracepoints"
			: has == all ? p->what
				     : "a part: this kernel lacks some of its tracepoints (`kymo "
				       "record -e help` lists them)"
		};
	}
	return n;
}

/* Returns the row that says how stacks of programs are walked. */
static struct capability capabilities_stacks(const struct kernel_btf *btf, bool all)
{
#if defined(__x86_64__)
	return (struct capability){
		"stacks", all,
		!all ? "see btf, privilege and kernel"
		: !proc_sees_all()
			? "by unwind tables (.eh_frame) in processes of this pid namespace (a "
			  "container); those outside have neither tables nor names"
		: fentry_works(btf, "perf_event_mmap")
			? "by unwind tables (.eh_frame)"
			: "by unwind tables (.eh_frame); the kernel does not support fentry "
			  "programs, so the first stacks of a new process may end early"
	};
#else
	return (struct capability){ "stacks", all,
				    all ? "by frame pointers: unwind tables are for x86-64"
					: "see btf, privilege and kernel" };
#endif
}

/* Returns the row for BTF. R is the result of kernel_btf_open(). */
static struct capability capabilities_btf(int r)
{
	switch (r) {
	case 0:
		return (struct capability){ "btf", true,
					    "the kernel describes its types in " BTF_PATH };
	case -ENOENT:
		return (struct capability){ "btf", false,
					    "there is no " BTF_PATH
					    ": the kernel needs CONFIG_DEBUG_INFO_BTF" };
	default:
		return (struct capability){ "btf", false,
					    BTF_PATH " cannot be read, or has types that kymo does "
						     "not know" };
	}
}

int capabilities_probe(struct capability caps[static CAPABILITIES_MAX])
{
	_cleanup_(kernel_btf_freep) struct kernel_btf *btf = NULL;
	bool load = capabilities_may_load(), version = capabilities_kernel_at_least(6, 1);
	int btf_r = kernel_btf_open(&btf), n = 0;
	bool all = btf_r == 0 && load && version;

	caps[n++] = capabilities_btf(btf_r);
	caps[n++] = (struct capability){ "privilege", load,
					 load ? "CAP_BPF and CAP_PERFMON, or more"
					      : "needs root, or CAP_BPF and CAP_PERFMON" };
	caps[n++] = (struct capability){ "kernel", version,
					 version ? "6.1 or later" : "needs Linux 6.1 or later" };
	caps[n++] = (struct capability){ "sched", all,
					 all ? "context switches, wakeups and migrations"
					     : "see btf, privilege and kernel" };
	caps[n++] = (struct capability){ "lifecycle", all,
					 all ? "fork, exec, exit and rename"
					     : "see btf, privilege and kernel" };
	n += capabilities_probe_hooks(&caps[n], btf, all);
	caps[n++] = capabilities_counters(all);
	caps[n++] = capabilities_profile(all);
	caps[n] = caps[n - 1]; /* mappings need perf events, too */
	caps[n].name = "offcpu";
	if (caps[n].available)
		caps[n].detail = "stacks of threads that were off CPU";
	n++;
	caps[n] = caps[n - 1];
	caps[n].name = "waker-stacks";
	if (caps[n].available)
		caps[n].detail = "stacks of the threads and interrupts that end long waits";
	n++;
	n += capabilities_heap_targets(&caps[n], &caps[n - 3]);
	caps[n] = capabilities_tracepoints(all, &caps[n - 1]);
	n++;
	n += capabilities_presets(&caps[n], &caps[n - 1]);
	caps[n++] = (struct capability){ "app", all,
					 all ? "events that programs write with libkymo-provider"
					     : "see btf, privilege and kernel" };
	caps[n++] = capabilities_stacks(btf, all);
	caps[n++] = capabilities_waker_context(btf);
	return n;
}

int capabilities_check(const char **reterr_text)
{
	if (!capabilities_may_load()) {
		*reterr_text =
			geteuid() == 0
				? "loading eBPF programs needs CAP_BPF and CAP_PERFMON, and this "
				  "root does not have them (a container?); run kymo outside of the "
				  "container, or start the container with --cap-add=BPF "
				  "--cap-add=PERFMON"
				: "loading eBPF programs needs root, or CAP_BPF and CAP_PERFMON; "
				  "try with sudo";
		return -EPERM;
	}
	if (!capabilities_kernel_at_least(6, 1)) {
		*reterr_text = "this kernel is too old (uname -r): kymo needs Linux 6.1 or later; "
			       "boot a newer kernel";
		return -EOPNOTSUPP;
	}
	if (access(BTF_PATH, R_OK) < 0) {
		*reterr_text = "this kernel has no BTF (" BTF_PATH
			       "): boot a kernel that was built with CONFIG_DEBUG_INFO_BTF=y; "
			       "'kymo capabilities' shows what this one has";
		return -EOPNOTSUPP;
	}
	return 0;
}
