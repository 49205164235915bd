/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/options/options.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/foreign-fds.h"
#include "base/text.h"
#include "capture/options/call-spec.h"

const struct category_row category_rows[] = {
	{ "sched", CATEGORY_SCHED, "context switches, wakeups, migrations",
	  "48 bytes and about 0.25 microseconds per event" },
	{ "irq", CATEGORY_IRQ, "handlers of hardware interrupts",
	  "about 70 bytes and 0.33 microseconds per interrupt" },
	{ "softirq", CATEGORY_SOFTIRQ, "softirqs: timers, network, block devices, RCU, ...",
	  "40 bytes and about 0.2 microseconds per softirq" },
	{ "workqueue", CATEGORY_WORKQUEUE, "work items that kernel workers run",
	  "40 bytes and about 0.5 microseconds per work item" },
	{ "power", CATEGORY_POWER, "idle states and frequencies of CPUs",
	  "48 bytes and about 0.33 microseconds per idle period" },
	{ "block", CATEGORY_BLOCK, "requests of block devices, from issue to completion",
	  "about 1 microsecond and 120 bytes per request" },
	{ "counters", CATEGORY_COUNTERS,
	  "memory, load, pressure and CPU frequencies, sampled (--counter-interval)",
	  "0.5 KiB and about 0.15 ms of CPU time per sample, in the recorder" },
	{ "profile", CATEGORY_PROFILE, "call stacks of running threads, sampled (-F)",
	  "about 200 bytes and 4 to 9 microseconds per sample" },
	{ "offcpu", CATEGORY_OFFCPU,
	  "call stacks of threads that were off CPU for long (--offcpu-min)",
	  "about 300 bytes per time off CPU; under 1 microsecond per switch, 0.17 "
	  "per wakeup" },
	{ "waker-stacks", CATEGORY_WAKER_STACKS,
	  "the call stack of the thread or interrupt that ends a long wait (with offcpu)",
	  "3 to 6 microseconds per long wait, added to the latency of its wakeup" },
	{ "memory", CATEGORY_MEMORY,
	  "allocations of selected processes that are not freed, with call stacks (-p, ...)",
	  "2 to 4 microseconds per allocation and its free; 80 bytes per live block" },
	{ "fd", CATEGORY_FD, "file descriptors that selected processes open and do not close",
	  "0.15 microseconds per system call of the machine; 0.5 to 4 per call on "
	  "descriptors" },
	{ "shm", CATEGORY_SHM, "mappings and shared memory that selected processes keep",
	  "0.15 microseconds per system call of the machine (shared with fd); 0.8 "
	  "per call on mappings" },
	{ "threads", CATEGORY_THREADS, "threads of selected processes that end and are not joined",
	  "a few microseconds per thread" },
	{ "calls", CATEGORY_CALLS, "calls of functions, with arguments and results (--call)",
	  "2 to 3 microseconds and 200 bytes per call" },
	{ "call-stacks", CATEGORY_CALL_STACKS, "the call stack of each recorded call (with calls)",
	  "0.5 to 3 microseconds per call" },
	{ "moments", CATEGORY_MOMENTS,
	  "registers, stack and variables at points of programs (--moment)",
	  "3 to 6 microseconds and the collected bytes per moment" },
	{ "tracepoints", CATEGORY_TRACEPOINTS,
	  "tracepoints of the kernel, with their fields (tp:SYSTEM:NAME)",
	  "0.5 microseconds and 100 bytes per event" },
	{ "app", CATEGORY_APP,
	  "events that programs write themselves, with libkymo-provider (app:CATEGORY)",
	  "15 nanoseconds and 24 bytes per event in the program, 0.2 microseconds to copy it" },
	{ 0 },
};

const char *const category_group_names[GROUPS] = {
	[GROUP_SCHED] = "sched",
	[GROUP_CPU] = "cpu",
	[GROUP_STACKS] = "stacks",
	[GROUP_MEMORY] = "memory",
	[GROUP_CALLS] = "calls",
	[GROUP_MOMENTS] = "moments",
	[GROUP_TRACEPOINTS] = "tracepoints",
	[GROUP_BLOCK] = "block",
	[GROUP_APP] = "app",
};

const uint32_t category_group_bits[GROUPS] = {
	[GROUP_SCHED] = CATEGORY_SCHED,
	[GROUP_CPU] = CATEGORY_IRQ | CATEGORY_SOFTIRQ | CATEGORY_WORKQUEUE | CATEGORY_POWER,
	[GROUP_STACKS] = CATEGORY_PROFILE | CATEGORY_OFFCPU | CATEGORY_WAKER_STACKS,
	[GROUP_MEMORY] = CATEGORIES_MEMORY,
	[GROUP_CALLS] = CATEGORY_CALLS,
	[GROUP_MOMENTS] = CATEGORY_MOMENTS,
	[GROUP_TRACEPOINTS] = CATEGORY_TRACEPOINTS,
	[GROUP_BLOCK] = CATEGORY_BLOCK,
	[GROUP_APP] = CATEGORY_APP,
};

const char *const session_mode_names[SESSION_MODE_MAX] = {
	[SESSION_STREAM] = "stream",
	[SESSION_FLIGHT] = "flight",
};

const char *const stack_way_names[STACKS_MAX] = {
	[STACKS_AUTO] = "auto",
	[STACKS_FP] = "fp",
	[STACKS_EH] = "eh",
	[STACKS_NONE] = "none",
};

const char *const memory_reach_names[MEMORY_REACH_MAX] = {
	[MEMORY_REACH_NO] = "no",
	[MEMORY_REACH_LOOK] = "look",
	[MEMORY_REACH_FREEZE] = "freeze",
};

bool triggers_wanted(const struct trigger_options *o)
{
	return o->wakeup_ns || o->offcpu_ns || o->pressure_ppm[0] || o->pressure_ppm[1] ||
	       o->pressure_ppm[2] || o->leak_bytes;
}

int categories_parse(const char *text, uint32_t *ret, const char **reterr_word,
		     size_t *reterr_bytes)
{
	uint32_t bits = 0;

	for (;;) {
		size_t n = strcspn(text, ",");
		const struct category_row *row = category_rows;

		while (row->name && (strlen(row->name) != n || memcmp(row->name, text, n) != 0))
			row++;
		if (!row->name) {
			if (reterr_word)
				*reterr_word = text;
			if (reterr_bytes)
				*reterr_bytes = n;
			return -EINVAL;
		}
		bits |= row->bit;
		if (text[n] == '\0')
			break;
		text += n + 1;
	}
	*ret = bits;
	return 0;
}

char *categories_format(char ret[static CATEGORIES_TEXT_MAX], uint32_t categories)
{
	size_t used = 0;

	*ret = '\0';
	for (const struct category_row *row = category_rows; row->name; row++)
		if (categories & row->bit)
			used += (size_t)snprintf(ret + used, CATEGORIES_TEXT_MAX - used, "%s%s",
						 used ? "," : "", row->name);
	return ret;
}

bool capture_filter_is_set(const struct capture_filter *f)
{
	return f->n_pids || f->n_uids || f->n_comms || f->n_cgroups;
}

bool session_options_filtered(const struct session_options *o)
{
	return o->own || capture_filter_is_set(&o->filter);
}

bool session_options_reselects(const struct session_options *o)
{
	return o->own || o->filter.n_uids || o->filter.n_comms || o->filter.n_cgroups;
}

void session_options_set_own(struct session_options *o, uint32_t uid)
{
	const struct passwd *user = uid == 0 ? NULL : getpwuid(uid);
	gid_t gids[OWN_GIDS_MAX];
	int n = OWN_GIDS_MAX;

	o->own = true;
	o->own_uid = uid;
	o->n_own_gids = 0;
	if (!user)
		return;
	/*
	 * If the user has more groups than OWN_GIDS_MAX, the function fails, but lists the first
	 * ones.
	 */
	if (getgrouplist(user->pw_name, user->pw_gid, gids, &n) < 0)
		n = OWN_GIDS_MAX;
	for (int i = 0; i < n; i++)
		o->own_gids[o->n_own_gids++] = gids[i];
}

void session_options_fill_flight(struct session_options *o)
{
	if (o->mode != SESSION_FLIGHT)
		return;
	if (o->flight_bytes == 0 && o->flight_ns == 0)
		o->flight_ns = FLIGHT_NS_DEFAULT;
	if (o->flight_bytes == 0)
		o->flight_bytes = FLIGHT_BYTES_DEFAULT;
}

/* Rounds PPM and checks that it is between MIN and MAX. */
static int options_parse_share(double ppm, uint64_t min, uint64_t max, const char *range,
			       uint64_t *ret, const char *text, char *why)
{
	if (!(ppm + 0.5 >= (double)min && ppm <= (double)max))
		return value_refuse(why, "'%.80s' is out of range: %s", text, range);
	*ret = (uint64_t)(ppm + 0.5);
	return 0;
}

int session_options_parse_overhead(struct session_options *o, const char *text,
				   char why[static VALUE_WHY_MAX])
{
	char *end = NULL;
	double n = *text >= '0' && *text <= '9' ? strtod(text, &end) : 0;

	o->max_overhead_ppm = o->max_overhead_machine_ppm = 0;
	if (end && (*end == '\0' || strcmp(end, "%") == 0))
		return options_parse_share(
			n * 1e4, OVERHEAD_MACHINE_PPM_MIN, OVERHEAD_MACHINE_PPM_MAX,
			"0.01% to 100% of the machine's CPU time; use 1.5cpu for one and a "
			"half CPUs",
			&o->max_overhead_machine_ppm, text, why);
	if (end && (strcmp(end, "cpu") == 0 || strcmp(end, "cpus") == 0))
		return options_parse_share(n * 1e6, OVERHEAD_PPM_MIN, OVERHEAD_PPM_MAX,
					   "0.001cpu to 1000cpu", &o->max_overhead_ppm, text, why);
	return value_refuse(why,
			    "'%.80s' is not a share of CPU time, such as 2%% (of the "
			    "machine's) or 0.5cpu",
			    text);
}

int call_options_add(struct call_options *o, const char *spec)
{
	char **specs;

	if (o->n_specs == OPTION_CALLS_MAX)
		return -E2BIG;
	specs = realloc(o->specs, (o->n_specs + 1) * sizeof(*specs));
	if (!specs)
		return -ENOMEM;
	o->specs = specs;
	specs[o->n_specs] = strdup(spec);
	if (!specs[o->n_specs])
		return -ENOMEM;
	o->n_specs++;
	return 0;
}

int session_options_add_app(struct session_options *o, const char *pattern)
{
	size_t before = o->app ? strlen(o->app) + 1 : 0, n = strlen(pattern);
	char *all;

	if (n == 0 || strchr(pattern, ','))
		return -EINVAL;
	if (before + n >= OPTION_APP_MAX)
		return -E2BIG;
	all = realloc(o->app, before + n + 1);
	if (!all)
		return -ENOMEM;
	if (before)
		all[before - 1] = ',';
	memcpy(all + before, pattern, n + 1);
	o->app = all;
	return 0;
}

bool call_options_have_syscalls(const struct call_options *o)
{
	for (size_t i = 0; i < o->n_specs; i++)
		if (strncmp(o->specs[i], CALL_SYSCALL_FILE ":", strlen(CALL_SYSCALL_FILE ":")) == 0)
			return true;
	return false;
}

static void option_files_deinit(struct option_files *files)
{
	for (size_t i = 0; i < files->n; i++)
		close_passed_fd(files->fds[i]);
	free(files->fds);
}

static void options_call_options_deinit(struct call_options *o)
{
	option_files_deinit(&o->files);
	for (size_t i = 0; i < o->n_specs; i++)
		free(o->specs[i]);
	free(o->specs);
}

void session_options_deinit(struct session_options *o)
{
	option_files_deinit(&o->memory.allocators);
	options_call_options_deinit(&o->calls);
	options_call_options_deinit(&o->moments);
	options_call_options_deinit(&o->tracepoints);
	free(o->command);
	free(o->app);
	free(o->filter.pids);
	free(o->filter.uids);
	free(o->filter.comms);
	free(o->filter.cgroups);
	*o = (struct session_options){ 0 };
}

static void *options_copy_of(const void *p, size_t n, int *reterr)
{
	void *copy = n ? malloc(n) : NULL;

	if (copy)
		memcpy(copy, p, n);
	else if (n)
		*reterr = -ENOMEM;
	return copy;
}

/* Duplicates the descriptors of FILES for RET. Returns 0 or a negative errno. */
static int option_files_copy(struct option_files *ret, const struct option_files *files)
{
	*ret = (struct option_files){ 0 };
	if (files->n == 0)
		return 0;
	ret->fds = calloc(files->n, sizeof(*ret->fds));
	if (!ret->fds)
		return -ENOMEM;
	for (size_t i = 0; i < files->n; i++) {
		ret->fds[i] = foreign_fds_dup(files->fds[i]);
		if (ret->fds[i] < 0)
			return -errno;
		ret->n++;
	}
	return 0;
}

static int options_call_options_copy(struct call_options *ret, const struct call_options *o)
{
	int r;

	*ret = (struct call_options){
		.fast_returns = o->fast_returns,
		.force_fast_returns = o->force_fast_returns,
	};
	r = option_files_copy(&ret->files, &o->files);
	for (size_t i = 0; r == 0 && i < o->n_specs; i++)
		r = call_options_add(ret, o->specs[i]);
	return r;
}

int session_options_copy(struct session_options *ret, const struct session_options *o)
{
	const struct capture_filter *f = &o->filter;
	int r = 0, allocators, calls, moments, tracepoints;

	*ret = *o;
	/* Even after a failure, all copies are made, so that *RET can be freed. */
	calls = options_call_options_copy(&ret->calls, &o->calls);
	moments = options_call_options_copy(&ret->moments, &o->moments);
	tracepoints = options_call_options_copy(&ret->tracepoints, &o->tracepoints);
	allocators = option_files_copy(&ret->memory.allocators, &o->memory.allocators);
	ret->command = options_copy_of(o->command, o->command ? strlen(o->command) + 1 : 0, &r);
	ret->app = options_copy_of(o->app, o->app ? strlen(o->app) + 1 : 0, &r);
	ret->filter.pids = options_copy_of(f->pids, f->n_pids * sizeof(*f->pids), &r);
	ret->filter.uids = options_copy_of(f->uids, f->n_uids * sizeof(*f->uids), &r);
	ret->filter.comms = options_copy_of(f->comms, f->n_comms * sizeof(*f->comms), &r);
	ret->filter.cgroups = options_copy_of(f->cgroups, f->n_cgroups * sizeof(*f->cgroups), &r);
	r = r ?: calls ?: moments ?: tracepoints ?: allocators;
	if (r < 0)
		session_options_deinit(ret);
	return r;
}

bool session_options_splits(const struct session_options *o)
{
	return o->mode == SESSION_FLIGHT || o->rotate_ns || o->rotate_bytes;
}

bool session_name_valid(const char *name)
{
	size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");

	return n >= 1 && n <= 64 && name[n] == '\0';
}
