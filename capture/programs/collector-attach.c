/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/programs/collector-parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>

#include <bpf/bpf.h>

#include "capture/proc/proc.h"
#include "capture/programs/load-error.h"

/* ---- attach ---- */

/*
 * Counts the selected processes that live, and selects their existing descendants, in rounds, until
 * a round finds no other process. Later children are selected at their fork.
 */
static int collector_follow_present(struct collector *c, char **reterr_text)
{
	uint32_t *followed = &c->skel->bss->filter_followed, before;
	int r;

	if (!bpf_program__autoload(c->skel->progs.on_iter_follow))
		return 0;
	load_error_begin();
	do {
		before = __atomic_load_n(followed, __ATOMIC_RELAXED);
		r = collector_iterate(c->skel->progs.on_iter_follow, NULL, NULL);
	} while (r == 0 && __atomic_load_n(followed, __ATOMIC_RELAXED) != before);
	return r < 0 ? load_error(r, "list the children of the selected processes", reterr_text)
		     : 0;
}

/*
 * Starts the rings for mappings. These rings start before all eBPF programs, so that each mapping
 * is either reported or listed.
 */
static int collector_start_map_rings(struct collector *c, char **reterr_text)
{
	static const char action[] = "watch the mappings (perf events)";
	int r;

	load_error_begin();
	/*
	 * This program is attached first. Otherwise, a CPU that goes offline now would be missed.
	 */
	c->skel->links.on_cpuhp_exit = bpf_program__attach(c->skel->progs.on_cpuhp_exit);
	if (!c->skel->links.on_cpuhp_exit)
		return load_error(-errno, "attach on_cpuhp_exit", reterr_text);
	r = map_rings_new(c->n_cpus, collector_map_ring_bytes(c->ring_bytes), &c->map_rings)
		    ?: map_rings_watch(c->map_rings, ring_buffer__epoll_fd(c->doorbell));
	if (r == MAP_RINGS_LOCKED)
		return load_error_memlock(action, reterr_text);
	if (r == 0 && !proc_sees_all())
		map_rings_translate(c->map_rings, bpf_map__fd(c->skel->maps.unwind_seen_ids));
	return r < 0 ? load_error_perf(r, action, reterr_text) : 0;
}

int collector_attach_rows(const struct attach_row *rows, size_t n, char **reterr_text)
{
	char action[64];

	load_error_begin();
	for (size_t i = 0; i < n; i++) {
		if (!bpf_program__autoload(rows[i].prog) || *rows[i].link)
			continue;
		*rows[i].link = bpf_program__attach(rows[i].prog);
		if (*rows[i].link)
			continue;
		snprintf(action, sizeof(action), "attach %s", bpf_program__name(rows[i].prog));
		return load_error(-errno, action, reterr_text);
	}
	return 0;
}

static int collector_attach_wakeups(struct collector *c, char **reterr_text)
{
	struct kymo_bpf *skel = c->skel;
	const struct attach_row rows[] = {
		{ skel->progs.on_softirq_raise, &skel->links.on_softirq_raise },
		{ skel->progs.on_sched_wakeup_new, &skel->links.on_sched_wakeup_new },
		{ skel->progs.on_sched_waking, &skel->links.on_sched_waking },
	};

	return collector_attach_rows(rows, ARRAY_SIZE(rows), reterr_text);
}

/* Attaches all eBPF programs except the programs for stacks and for stopped parts. */
static int collector_attach_program(struct collector *c, char **reterr_text)
{
	struct kymo_bpf *skel = c->skel;
	/*
	 * The order matters. The identity of a thread must be known before the thread is seen
	 * running. Programs for switches come last, so that all wakeups that lead to a switch are
	 * seen. Programs for ends come before those for begins (cpu.bpf.c).
	 */
	const struct attach_row rows[] = {
		/* Reports about an ending thread or program come before the report of its end. */
		{ skel->progs.on_resource_thread_end, &skel->links.on_resource_thread_end },
		{ skel->progs.on_memory_exit, &skel->links.on_memory_exit },
		{ skel->progs.on_memory_exec, &skel->links.on_memory_exec },
		/*
		 * The programs for exits come before the program for forks, so that the end of each
		 * process that a fork has selected is seen.
		 */
		{ skel->progs.on_sched_process_exit, &skel->links.on_sched_process_exit },
		{ skel->progs.on_sched_process_free, &skel->links.on_sched_process_free },
		{ skel->progs.on_sched_process_fork, &skel->links.on_sched_process_fork },
		{ skel->progs.on_task_rename, &skel->links.on_task_rename },
		{ skel->progs.on_sched_process_exec, &skel->links.on_sched_process_exec },
		{ skel->progs.on_own_exit, &skel->links.on_own_exit },
		/*
		 * on_memory_fork runs after on_sched_process_fork, in which the filter follows
		 * forks.
		 */
		{ skel->progs.on_memory_fork, &skel->links.on_memory_fork },
		{ skel->progs.on_memory_share, &skel->links.on_memory_share },
		{ skel->progs.on_resource_exit, &skel->links.on_resource_exit },
		{ skel->progs.on_resource_enter, &skel->links.on_resource_enter },
		{ skel->progs.on_resource_fork, &skel->links.on_resource_fork },
		{ skel->progs.on_call_sys_exit, &skel->links.on_call_sys_exit },
		{ skel->progs.on_call_sys_enter, &skel->links.on_call_sys_enter },
		{ skel->progs.on_irq_handler_exit, &skel->links.on_irq_handler_exit },
		{ skel->progs.on_irq_handler_entry, &skel->links.on_irq_handler_entry },
		{ skel->progs.on_softirq_exit, &skel->links.on_softirq_exit },
		{ skel->progs.on_softirq_entry, &skel->links.on_softirq_entry },
		{ skel->progs.on_work_end, &skel->links.on_work_end },
		{ skel->progs.on_work_start, &skel->links.on_work_start },
		{ skel->progs.on_bh_work_end, &skel->links.on_bh_work_end },
		{ skel->progs.on_bh_work_start, &skel->links.on_bh_work_start },
		{ skel->progs.on_block_complete, &skel->links.on_block_complete },
		{ skel->progs.on_block_merge, &skel->links.on_block_merge },
		{ skel->progs.on_block_issue, &skel->links.on_block_issue },
		{ skel->progs.on_block_insert, &skel->links.on_block_insert },
		{ skel->progs.on_cpu_idle, &skel->links.on_cpu_idle },
		{ skel->progs.on_cpu_frequency, &skel->links.on_cpu_frequency },
		{ skel->progs.on_sched_migrate_task, &skel->links.on_sched_migrate_task },
	};
	const struct attach_row last = { skel->progs.on_sched_switch,
					 &skel->links.on_sched_switch };
	int r = collector_attach_rows(rows, ARRAY_SIZE(rows), reterr_text)
			?: collector_follow_present(c, reterr_text);

	if (r == 0 && !c->no_wakeups)
		r = collector_attach_wakeups(c, reterr_text);
	return r < 0 ? r : collector_attach_rows(&last, 1, reterr_text);
}

int collector_attach(struct collector *c, char **reterr_text)
{
	int r;

	load_error_begin();
	r = collector_finish_rings(c);
	if (r < 0)
		return load_error(r, "make the rings", reterr_text);
	r = collector_start_map_rings(c, reterr_text);
	return r < 0 ? r : collector_attach_program(c, reterr_text);
}

int collector_start_stacks(struct collector *c, char **reterr_text)
{
	struct kymo_bpf *skel = c->skel;
	/* on_offcpu_switch uses times of on_sched_switch, so it is attached later: eBPF programs
	 * run in the order of attaching. (on_softirq_raise is already attached, unless it was
	 * stopped with the stacks.) */
	const struct attach_row rows[] = {
		{ skel->progs.on_softirq_raise, &skel->links.on_softirq_raise },
		{ skel->progs.on_offcpu_waking, &skel->links.on_offcpu_waking },
		{ skel->progs.on_offcpu_switch, &skel->links.on_offcpu_switch },
	};
	int r;

	collector_learn_wakes(c);
	r = collector_attach_rows(rows, ARRAY_SIZE(rows), reterr_text);
	skel->bss->call_stacks_shed = 0;
	if (r < 0 || !(c->categories & CATEGORY_PROFILE))
		return r;
	load_error_begin();
	r = sampler_new(c->skel->progs.on_tick, c->n_cpus, c->frequency, &c->sampler);
	if (r == -EINVAL) {
		*reterr_text = strdup("the kernel does not allow this many samples a second; see "
				      "kernel.perf_event_max_sample_rate, or give a smaller -F");
		return r;
	}
	return r < 0 ? load_error_perf(r, "take samples (perf events)", reterr_text) : 0;
}

/* ---- stopped parts, pauses, end ---- */

static void collector_drop_link(struct bpf_link **link)
{
	bpf_link__destroy(*link);
	*link = NULL;
}

/* An eBPF program can still be running after its link is removed. Waits until every CPU has passed
 * through the scheduler. If the system call is unavailable, there is no additional wait. */
static void collector_wait_for_programs(void)
{
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

/*
 * If on_offcpu_switch WAS_ATTACHED until now, reports the threads that are off CPU, because
 * on_offcpu_switch cannot report them any more. This fails only if there is no memory. The times of
 * these threads are then missing.
 */
static void collector_report_off_cpu(struct collector *c, bool was_attached)
{
	if (was_attached)
		(void)collector_iterate(c->skel->progs.on_iter_offcpu, NULL, NULL);
}

void collector_shed_stacks(struct collector *c)
{
	bool has_offcpu = c->skel->links.on_offcpu_switch;

	c->sampler = sampler_free(c->sampler);
	c->skel->bss->call_stacks_shed = 1;
	collector_drop_link(&c->skel->links.on_offcpu_switch);
	collector_drop_link(&c->skel->links.on_offcpu_waking);
	if (!c->skel->links.on_sched_waking)
		collector_drop_link(&c->skel->links.on_softirq_raise);
	collector_wait_for_programs();
	collector_report_off_cpu(c, has_offcpu);
}

void collector_shed_wakeups(struct collector *c)
{
	c->no_wakeups = true;
	collector_drop_link(&c->skel->links.on_sched_waking);
	collector_drop_link(&c->skel->links.on_sched_wakeup_new);
	if (!c->skel->links.on_offcpu_waking)
		collector_drop_link(&c->skel->links.on_softirq_raise);
}

/*
 * Forgets threads that were off CPU when the eBPF programs were detached. Some of them have run
 * since then.
 */
static void collector_forget_off_cpu(struct collector *c)
{
	int fd = bpf_map__fd(c->skel->maps.offcpu_threads);
	uint32_t tid;

	while (fd >= 0 && bpf_map_get_next_key(fd, NULL, &tid) == 0)
		if (bpf_map_delete_elem(fd, &tid) < 0)
			break;
}

/*
 * Forgets the open intervals of each CPU. These intervals may have ended since the eBPF programs
 * were detached.
 */
static int collector_forget_begun(struct collector *c)
{
	_cleanup_free_ struct cpu_state *none = calloc(c->n_cpus, sizeof(*none));
	int fd = bpf_map__fd(c->skel->maps.cpu_states);
	uint32_t zero = 0;

	if (!none)
		return -ENOMEM;
	return fd >= 0 && bpf_map_update_elem(fd, &zero, none, BPF_ANY) < 0 ? -errno : 0;
}

int collector_return_stacks(struct collector *c, char **reterr_text)
{
	int r;

	collector_forget_off_cpu(c);
	r = collector_start_stacks(c, reterr_text);
	if (r < 0)
		collector_shed_stacks(c);
	return r;
}

int collector_return_wakeups(struct collector *c, char **reterr_text)
{
	int r = collector_attach_wakeups(c, reterr_text);

	if (r < 0)
		collector_shed_wakeups(c);
	c->no_wakeups = r < 0;
	return r;
}

int collector_resume(struct collector *c, char **reterr_text)
{
	const struct attach_row first = { c->skel->progs.on_cpuhp_exit,
					  &c->skel->links.on_cpuhp_exit };
	int r = collector_forget_begun(c);

	if (r < 0)
		return load_error(r, "begin again", reterr_text);
	r = collector_attach_rows(&first, 1, reterr_text);
	if (r == 0) {
		collector_forget_ended(c);
		map_rings_start(c->map_rings);
		collector_check_cpus(c);
		r = collector_attach_program(c, reterr_text);
	}
	if (r < 0)
		collector_pause(c);
	return r;
}

void collector_pause(struct collector *c)
{
	collector_detach(c);
}

/* To be called when no eBPF program runs any more. */
static void collector_end_faults(struct collector *c)
{
	if (c->faults)
		c->n_faults_skipped += fault_events_skipped(c->faults);
	c->faults = fault_events_free(c->faults);
}

void collector_detach(struct collector *c)
{
	bool has_offcpu = c->skel->links.on_offcpu_switch;

	if (c->faults)
		fault_events_stop(c->faults);
	/* The sampler was started last. */
	c->sampler = sampler_free(c->sampler);
	/* on_offcpu_switch uses times of on_sched_switch, so it is detached first. */
	collector_drop_link(&c->skel->links.on_offcpu_switch);
	kymo_bpf__detach(c->skel);
	collector_wait_for_programs();
	collector_end_faults(c);
	collector_report_off_cpu(c, has_offcpu);
	if (c->map_rings)
		map_rings_stop(c->map_rings);
}
