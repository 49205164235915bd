/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/programs/collector-parts.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/syscall.h>

#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "capture/programs/fentry.h"
#include "capture/programs/kernel-btf.h"
#include "capture/programs/resource-calls.h"

static uint32_t configure_filter_kinds(const struct session_options *o)
{
	const struct capture_filter *f = &o->filter;

	return (o->own ? FILTER_OWN : 0) | (f->n_pids ? FILTER_PID : 0) |
	       (f->n_comms ? FILTER_COMM : 0) | (f->n_uids ? FILTER_UID : 0) |
	       (f->n_cgroups ? FILTER_CGROUP : 0);
}

static int configure_stacks(struct collector *c, const struct session_options *o)
{
	struct kymo_bpf *skel = c->skel;
	const struct {
		struct bpf_map *map;
		uint32_t categories;
	} rows[] = {
		{ skel->maps.stack_rooms, CATEGORIES_STACKS },
		/*
		 * CATEGORY_CALLS is included, because Linux 6.1 verifies the function that sends
		 * stacks even if nothing calls it.
		 */
		{ skel->maps.stacks_sent, CATEGORIES_STACKS | CATEGORY_CALLS },
		{ skel->maps.ticks_taken, CATEGORY_PROFILE },
		{ skel->maps.offcpu_threads, CATEGORY_OFFCPU },
		{ skel->maps.offcpu_blank, CATEGORY_OFFCPU },
		{ skel->maps.waiting_rooms, CATEGORY_OFFCPU },
		{ skel->maps.call_rooms, CATEGORY_CALL_STACKS | CATEGORY_MOMENTS },
		{ skel->maps.moment_points, CATEGORY_MOMENTS },
		{ skel->maps.moment_counters, CATEGORY_MOMENTS },
		{ skel->maps.moment_rooms, CATEGORY_MOMENTS },
		{ skel->maps.tracepoint_layouts, CATEGORY_TRACEPOINTS },
		{ skel->maps.tracepoint_rooms, CATEGORY_TRACEPOINTS },
		{ skel->maps.block_requests, CATEGORY_BLOCK },
	};
	uint64_t seed = 0;
	int r = 0;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) < 0)
		seed = clock_boot_ns();
	skel->rodata->stack_seed = seed;
	skel->rodata->stacks_of_none = o->stacks == STACKS_NONE;
	skel->rodata->call_walks = o->categories & (CATEGORY_CALL_STACKS | CATEGORY_MOMENTS);
	skel->rodata->call_stacks =
		o->categories & CATEGORY_CALL_STACKS && o->stacks != STACKS_NONE;
	skel->rodata->offcpu_wakers = o->categories & CATEGORY_WAKER_STACKS;
	skel->rodata->offcpu_min_ns = o->categories & CATEGORY_OFFCPU ? o->offcpu_min_ns : 0;
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(rows); i++)
		r = bpf_map__set_autocreate(rows[i].map, o->categories & rows[i].categories);
	return r;
}

void collector_probe_programs(struct kymo_bpf *skel, struct bpf_program *ret[PROBES_PROGRAMS])
{
	ret[PROBES_ENTRY] = skel->progs.on_memory_entry;
	ret[PROBES_CALL] = skel->progs.on_memory_call;
	ret[PROBES_RETURN] = skel->progs.on_memory_return;
	ret[PROBES_RET] = skel->progs.on_memory_ret;
	ret[PROBES_BOTH] = skel->progs.on_memory_session;
}

/*
 * Prepares PROGRAMS, the programs for probes. If they are WANTED, those that the way of attaching
 * uses will be loaded; otherwise none of them.
 */
static int configure_probes(const struct collector *c, struct bpf_program *const *programs,
			    bool wanted)
{
	int r = 0;

	for (enum probes_program i = 0; r == 0 && i < PROBES_PROGRAMS; i++) {
		bpf_program__set_autoload(programs[i], wanted && probes_use(c->way, i));
		if (wanted)
			r = bpf_program__set_expected_attach_type(
				programs[i], (enum bpf_attach_type)probes_attach_type(c->way, i));
	}
	return r;
}

static int configure_memory(struct collector *c, const struct session_options *o)
{
	struct kymo_bpf *skel = c->skel;
	bool wanted = o->categories & CATEGORIES_MEMORY;
	struct bpf_map *maps[] = {
		skel->maps.memory_processes,      skel->maps.memory_ended,
		skel->maps.memory_blocks,         skel->maps.memory_stacks,
		skel->maps.memory_threads,        skel->maps.memory_events,
		skel->maps.memory_owners,         skel->maps.memory_ended_threads,
		skel->maps.memory_killed_threads, skel->maps.memory_shared,
	};
	struct bpf_program *programs[PROBES_PROGRAMS];
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(maps); i++)
		r = bpf_map__set_autocreate(maps[i], wanted);
	collector_probe_programs(skel, programs);
	r = r ?: configure_probes(c, programs, wanted);
	if (r < 0 || !wanted)
		return r;
	skel->rodata->memory_log = o->memory.log;
	skel->rodata->memory_interval = o->memory.interval;
	skel->rodata->memory_min_bytes = o->memory.min_bytes;
	skel->rodata->memory_reach = o->memory.reach != MEMORY_REACH_NO;
	skel->rodata->resource_fds = o->categories & CATEGORY_FD ? 1 : 0;
	resource_calls_fill((uint8_t *)skel->rodata->resource_calls, o->categories);
	return bpf_map__set_max_entries(skel->maps.memory_blocks, (uint32_t)o->memory.blocks_max);
}

void collector_call_programs(struct kymo_bpf *skel, struct bpf_program *ret[PROBES_PROGRAMS])
{
	ret[PROBES_ENTRY] = skel->progs.on_call_entry;
	ret[PROBES_CALL] = skel->progs.on_call_entry;
	ret[PROBES_RETURN] = skel->progs.on_call_return;
	ret[PROBES_RET] = skel->progs.on_call_ret;
	ret[PROBES_BOTH] = skel->progs.on_call_session;
}

static int configure_calls(struct collector *c, const struct session_options *o)
{
	struct bpf_program *programs[PROBES_PROGRAMS];
	bool wanted = o->categories & CATEGORY_CALLS;
	bool syscalls = wanted && call_options_have_syscalls(&o->calls);
	int r = bpf_map__set_autocreate(c->skel->maps.call_functions, wanted)
			?: bpf_map__set_autocreate(c->skel->maps.call_pending, wanted)
			?: bpf_map__set_autocreate(c->skel->maps.call_shares, wanted)
			?: bpf_map__set_autocreate(c->skel->maps.call_syscalls, syscalls);

	bpf_program__set_autoload(c->skel->progs.on_call_sys_enter, syscalls);
	bpf_program__set_autoload(c->skel->progs.on_call_sys_exit, syscalls);
	collector_call_programs(c->skel, programs);
	return r ?: configure_probes(c, programs, wanted);
}

static int configure_moments(struct collector *c, const struct session_options *o)
{
	struct bpf_program *program = c->skel->progs.on_moment;

	if (!(o->categories & CATEGORY_MOMENTS))
		return 0;
	return bpf_program__set_expected_attach_type(
		program, (enum bpf_attach_type)probes_attach_type(c->way, PROBES_ENTRY));
}

static int configure_maps(struct collector *c, const struct session_options *o)
{
	struct kymo_bpf *skel = c->skel;
	int r = bpf_map__set_max_entries(skel->maps.costs, c->n_cpus)
			?: collector_configure_rings(c, o);

	if (r == 0)
		r = bpf_map__set_autocreate(skel->maps.work_states,
					    o->categories & CATEGORY_WORKQUEUE);
	if (r == 0)
		r = bpf_map__set_autocreate(skel->maps.work_functions,
					    o->categories & CATEGORY_WORKQUEUE);
	r = r ?: collector_configure_own(c, o) ?: configure_memory(c, o) ?: configure_calls(c, o)
		    ?: configure_moments(c, o)
		    ?: collector_configure_unwinding(c, o);
	return r < 0 ? r : configure_stacks(c, o);
}

/* Sets the user whose own processes are selected. */
static int configure_own(struct collector *c, const struct session_options *o)
{
	struct kymo_bpf *skel = c->skel;
	int with_memory = o->own ? kernel_btf_exits_with_memory(c->btf) : 1;

	if (with_memory < 0)
		return with_memory;
	/*
	 * If this hook is not available, exits are not shown, because the user of an exiting task
	 * is unknown.
	 */
	bpf_program__set_autoload(skel->progs.on_own_exit,
				  !with_memory && fentry_works(c->btf, "do_exit"));
	skel->rodata->own_uid = o->own_uid;
	skel->rodata->own_n_gids = (uint32_t)o->n_own_gids;
	for (size_t i = 0; i < o->n_own_gids; i++)
		skel->rodata->own_gids[i] = o->own_gids[i];
	return bpf_map__set_autocreate(skel->maps.own_exiting, o->own);
}

int collector_configure(struct collector *c, const struct session_options *o)
{
	struct kymo_bpf *skel = c->skel;
	const struct {
		struct bpf_program *prog;
		bool wanted;
	} rows[] = {
		{ skel->progs.on_sched_process_fork, true },
		{ skel->progs.on_sched_process_exec, true },
		{ skel->progs.on_sched_process_exit, true },
		{ skel->progs.on_task_rename, true },
		{ skel->progs.on_iter_task, true },
		{ skel->progs.on_iter_cgroups, true },
		{ skel->progs.on_iter_follow, o->filter.n_pids > 0 },
		{ skel->progs.on_kernel_text, !o->own },
		{ skel->progs.on_sched_process_free, o->filter.n_pids > 0 || o->own },
		{ skel->progs.on_cpuhp_exit, true },
		{ skel->progs.on_sched_switch, o->categories & CATEGORY_SCHED },
		{ skel->progs.on_sched_waking, o->categories & CATEGORY_SCHED },
		{ skel->progs.on_sched_wakeup_new, o->categories & CATEGORY_SCHED },
		{ skel->progs.on_softirq_raise,
		  o->categories & (CATEGORY_SCHED | CATEGORY_OFFCPU | CATEGORY_TRACEPOINTS) },
		{ skel->progs.on_sched_migrate_task, o->categories & CATEGORY_SCHED },
		{ skel->progs.on_irq_handler_entry, o->categories & CATEGORY_IRQ },
		{ skel->progs.on_irq_handler_exit, o->categories & CATEGORY_IRQ },
		{ skel->progs.on_softirq_entry, o->categories & CATEGORY_SOFTIRQ },
		{ skel->progs.on_softirq_exit, o->categories & CATEGORY_SOFTIRQ },
		{ skel->progs.on_work_start, o->categories & CATEGORY_WORKQUEUE },
		{ skel->progs.on_work_end, o->categories & CATEGORY_WORKQUEUE },
		{ skel->progs.on_bh_work_start, o->categories & CATEGORY_WORKQUEUE },
		{ skel->progs.on_bh_work_end, o->categories & CATEGORY_WORKQUEUE },
		{ skel->progs.on_cpu_idle, o->categories & CATEGORY_POWER },
		{ skel->progs.on_cpu_frequency, o->categories & CATEGORY_POWER },
		{ skel->progs.on_tick, o->categories & CATEGORY_PROFILE },
		{ skel->progs.on_offcpu_switch, o->categories & CATEGORY_OFFCPU },
		{ skel->progs.on_offcpu_waking, o->categories & CATEGORY_OFFCPU },
		{ skel->progs.on_offcpu_text, o->categories & CATEGORY_WAKER_STACKS && !o->own },
		{ skel->progs.on_iter_offcpu, o->categories & CATEGORY_OFFCPU },
		{ skel->progs.on_iter_waiting, o->categories & CATEGORY_OFFCPU },
		{ skel->progs.on_find_present_pages, o->categories & CATEGORY_OFFCPU },
		{ skel->progs.on_moment, o->categories & CATEGORY_MOMENTS },
		{ skel->progs.on_block_insert, o->categories & CATEGORY_BLOCK },
		{ skel->progs.on_block_issue, o->categories & CATEGORY_BLOCK },
		{ skel->progs.on_block_merge, o->categories & CATEGORY_BLOCK },
		{ skel->progs.on_block_complete, o->categories & CATEGORY_BLOCK },
		{ skel->progs.on_tracepoint, o->categories & CATEGORY_TRACEPOINTS },
		{ skel->progs.on_memory_fork, o->categories & CATEGORIES_MEMORY },
		{ skel->progs.on_memory_share, o->categories & CATEGORY_MEMORY },
		{ skel->progs.on_memory_exec, o->categories & CATEGORIES_MEMORY },
		{ skel->progs.on_memory_exit, o->categories & CATEGORIES_MEMORY },
		{ skel->progs.on_iter_registers,
		  o->categories & CATEGORY_MEMORY && o->memory.reach != MEMORY_REACH_NO },
		{ skel->progs.on_resource_enter, o->categories & CATEGORIES_SYSCALLS },
		{ skel->progs.on_resource_exit, o->categories & CATEGORIES_SYSCALLS },
		{ skel->progs.on_resource_fork, o->categories & CATEGORY_THREADS },
		{ skel->progs.on_resource_thread_end, o->categories & CATEGORY_THREADS },
	};
	int64_t from_rq = 0;
	int r = kernel_btf_preempt_count(c->btf, &from_rq);

	if (r < 0)
		return r;
	skel->rodata->preempt_count_from_rq = from_rq;
	skel->rodata->possible_cpus = c->n_cpus;
	skel->rodata->report_cpus_gone = (o->categories & CATEGORY_SCHED) != 0;
	skel->rodata->filter_kinds = configure_filter_kinds(o);
	r = configure_own(c, o);
	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		bpf_program__set_autoload(rows[i].prog, rows[i].wanted);
	return configure_maps(c, o);
}

int collector_fill_filters(struct collector *c, const struct capture_filter *f)
{
	const uint64_t requested = 0;
	uint8_t one = 1;
	int r = 0;

	for (size_t i = 0; r == 0 && i < f->n_pids; i++)
		r = bpf_map__update_elem(c->skel->maps.filter_pids, &f->pids[i], sizeof(uint32_t),
					 &requested, sizeof(requested), BPF_ANY);
	for (size_t i = 0; r == 0 && i < f->n_uids; i++)
		r = bpf_map__update_elem(c->skel->maps.filter_uids, &f->uids[i], sizeof(uint32_t),
					 &one, sizeof(one), BPF_ANY);
	for (size_t i = 0; r == 0 && i < f->n_comms; i++)
		r = bpf_map__update_elem(c->skel->maps.filter_comms, f->comms[i], REC_COMM_BYTES,
					 &one, sizeof(one), BPF_ANY);
	for (uint32_t i = 0; r == 0 && i < f->n_cgroups; i++)
		r = bpf_map__update_elem(c->skel->maps.filter_cgroups, &i, sizeof(i),
					 &f->cgroups[i], sizeof(f->cgroups[i]), BPF_ANY);
	return r;
}

void collector_forget_ended(struct collector *c)
{
	int fd = bpf_map__fd(c->skel->maps.filter_pids);
	uint32_t pid, next;
	uint64_t value;
	bool more = fd >= 0 && bpf_map_get_next_key(fd, NULL, &next) == 0;

	while (more) {
		pid = next;
		more = bpf_map_get_next_key(fd, &pid, &next) == 0;
		if (bpf_map_lookup_elem(fd, &pid, &value) < 0)
			continue;
		/* (0: a requested process that was not found at the start) */
		if (value == 0 || value & FILTER_PID_ENDED ||
		    (kill((pid_t)pid, 0) < 0 && errno == ESRCH)) {
			bpf_map_delete_elem(fd, &pid);
			continue;
		}
		value &= ~FILTER_PID_BITS;
		bpf_map_update_elem(fd, &pid, &value, BPF_EXIST);
	}
	__atomic_store_n(&c->skel->bss->filter_n_live, 0, __ATOMIC_RELAXED);
}

/*
 * Returns true if process PID has ended: all of its threads, even if it is a zombie. This never
 * waits, unlike files in /proc, so the start time is not compared. This comparison is not needed:
 * when a new process gets the id, on_sched_process_fork compares the start times, and removes the
 * entry of the ended process. (If the kernel has skipped that program, too, the session does not
 * end by itself.)
 */
static bool configure_has_ended(uint32_t pid)
{
	struct pollfd pollfd = { .events = POLLIN };
	bool has_ended;

	pollfd.fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	/* (EINVAL, or ENOENT since 6.16: the id is that of another process's thread) */
	if (pollfd.fd < 0)
		return errno == ESRCH || errno == EINVAL || errno == ENOENT;
	has_ended = poll(&pollfd, 1, 0) > 0;
	close_fd(pollfd.fd);
	return has_ended;
}

/*
 * A process is counted as long as its entry has FILTER_PID_COUNTED. The program at exit clears this
 * flag before the process has ended. If an ended process still has the flag, the kernel has skipped
 * that program, and the flag stays. So if there are as many ended processes with the flag as
 * counted processes, no counted process lives. A child is counted before its parent ends. The
 * function does not correct entries, since user space cannot change an entry and filter_n_live
 * atomically. If an entry is removed meanwhile, bpf_map_get_next_key() can begin anew: then the
 * function returns false, and the next call decides.
 */
bool collector_pids_have_ended(struct collector *c)
{
	int fd = bpf_map__fd(c->skel->maps.filter_pids);
	uint32_t pid, next, n_ended = 0;
	uint64_t value, again;
	bool more = fd >= 0 && bpf_map_get_next_key(fd, NULL, &next) == 0;

	while (more) {
		pid = next;
		more = bpf_map_get_next_key(fd, &pid, &next) == 0;
		if (bpf_map_lookup_elem(fd, &pid, &value) < 0)
			return false;
		if (!(value & FILTER_PID_COUNTED))
			continue;
		if (!configure_has_ended(pid))
			return false;
		n_ended += bpf_map_lookup_elem(fd, &pid, &again) == 0 && again == value;
	}
	if (n_ended != __atomic_load_n(&c->skel->bss->filter_n_live, __ATOMIC_ACQUIRE))
		return false;
	c->n_ends_skipped = n_ended;
	return true;
}

void collector_learn_wakes(struct collector *c)
{
	struct offcpu_text text = { 0 };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &text, .ctx_size_in = sizeof(text));
	int fd = bpf_program__fd(c->skel->progs.on_offcpu_text);

	if (fd >= 0 && bpf_prog_test_run_opts(fd, &opts) == 0)
		c->wakes = text.wakes;
}

uint64_t collector_wakes(const struct collector *c)
{
	return c->wakes;
}
