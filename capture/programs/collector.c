/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/programs/collector-parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <linux/membarrier.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>

#include <bpf/bpf.h>

#include "capture/proc/machine.h"
#include "capture/programs/cpus.h"
#include "capture/programs/decode.h"
#include "capture/programs/load-error.h"
#include "capture/programs/program-iterator.h"
#include "capture/programs/program-loader.h"

/* ---- load ---- */

static size_t collector_costs_bytes(const struct collector *c)
{
	size_t page = (size_t)getpagesize();

	return (c->n_cpus * sizeof(*c->costs) + page - 1) & ~(page - 1);
}

static int collector_map_costs(struct collector *c)
{
	void *p = mmap(NULL, collector_costs_bytes(c), PROT_READ, MAP_SHARED,
		       bpf_map__fd(c->skel->maps.costs), 0);

	if (p == MAP_FAILED)
		return -errno;
	c->costs = p;
	return 0;
}

/*
 * The maximum number of descriptors for maps, programs and links of a session; and the additional
 * number for each CPU.
 */
enum { DESCRIPTORS = 96, DESCRIPTORS_PER_CPU = REC_RINGS };

/*
 * Checks that there are enough descriptors for a session. libbpf would mistake a shortage for
 * missing features of the kernel.
 */
static int collector_check_descriptors(unsigned n_cpus)
{
	unsigned n = DESCRIPTORS + DESCRIPTORS_PER_CPU * n_cpus;
	_cleanup_free_ int *fds = calloc(n, sizeof(*fds));
	unsigned i = 0;
	int r = 0;

	if (!fds)
		return -ENOMEM;
	for (; r == 0 && i < n; i += r == 0) {
		fds[i] = eventfd(0, EFD_CLOEXEC);
		r = fds[i] < 0 ? -errno : 0;
	}
	while (i > 0)
		close(fds[--i]);
	return r;
}

/* Loads the programs and creates the maps for OPTIONS. */
static int collector_load(struct collector *c, const struct session_options *options,
			  char **reterr_text)
{
	_cleanup_(program_loader_freep) struct program_loader *programs = NULL;
	LIBBPF_OPTS(bpf_object_open_opts, opts);
	int r = program_loader_new(&programs, &opts.btf_custom_path);

	if (r < 0)
		return load_error(r, "open the eBPF programs", reterr_text);
	c->skel = kymo_bpf__open_opts(&opts);
	if (!c->skel)
		return load_error(-errno, "open the eBPF programs", reterr_text);
	r = collector_begin_rings(c);
	if (r < 0)
		return load_error(r, "make the rings", reterr_text);
	r = kernel_btf_open(&c->btf);
	if (r < 0)
		return load_error(r, "read the kernel's BTF", reterr_text);
	r = collector_configure(c, options)
		    ?: program_loader_prepare(programs, c->btf, c->skel->obj);
	c->btf = kernel_btf_free(c->btf);
	if (r < 0)
		return load_error(r, "configure the eBPF programs", reterr_text);
	c->skel->rodata->preempt_count_type = program_loader_cast_type(programs);
	r = kymo_bpf__load(c->skel);
	return r < 0 ? load_error(r, "load the eBPF programs", reterr_text) : 0;
}

int collector_new(const struct session_options *options, struct collector **ret, char **reterr_text)
{
	_cleanup_(collector_freep) struct collector *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return load_error(-ENOMEM, "make a session", reterr_text);
	load_error_begin();
	r = libbpf_num_possible_cpus();
	if (r < 0)
		return load_error(r, "count the CPUs", reterr_text);
	c->n_cpus = (unsigned)r;
	c->categories = options->categories;
	c->frequency = (uint32_t)options->frequency;
	c->ring_bytes = options->ring_bytes;
	unwind_seen_init(&c->seen);
	c->online = calloc(c->n_cpus, sizeof(*c->online));
	c->states = calloc(c->n_cpus, sizeof(*c->states));
	c->cpu_states = calloc(c->n_cpus, sizeof(*c->cpu_states));
	if (!c->states || !c->cpu_states || !c->online)
		return load_error(-ENOMEM, "make a session", reterr_text);
	if (c->categories & (CATEGORIES_MEMORY | CATEGORY_CALLS | CATEGORY_MOMENTS))
		c->way = probes_way();
	c->clock = sampler_clock(&r);
	if (!c->clock && c->categories & CATEGORY_PROFILE)
		return load_error_perf(r, "take samples (perf events)", reterr_text);
	r = collector_check_descriptors(c->n_cpus);
	if (r < 0)
		return load_error(r, "load the eBPF programs", reterr_text);
	r = collector_load(c, options, reterr_text);
	if (r < 0)
		return r;
	r = collector_fill_filters(c, &options->filter);
	if (r < 0)
		return load_error(r, "set the filters", reterr_text);
	r = collector_make_rings(c) ?: collector_map_costs(c);
	if (r < 0)
		return load_error(r, "make the rings", reterr_text);
	r = collector_make_unwinder(c);
	if (r < 0)
		return load_error(r, "make unwind tables", reterr_text);
	*ret = TAKE_PTR(c);
	return 0;
}

struct collector *collector_free(struct collector *c)
{
	if (!c)
		return NULL;
	sampler_free(c->sampler);
	unwinder_free(c->unwinder);
	table_deinit(&c->mapped_files);
	unwind_listed_deinit(&c->listed_walked);
	unwind_listed_deinit(&c->listed_mappers);
	unwind_seen_deinit(&c->seen);
	map_rings_free(c->map_rings);
	collector_free_rings(c);
	if (c->costs)
		munmap((void *)c->costs, collector_costs_bytes(c));
	kymo_bpf__destroy(c->skel);
	kernel_btf_free(c->btf);
	free(c->states);
	free(c->cpu_states);
	free(c->online);
	return free_ptr(c);
}

/* ---- iterators ---- */

/* Returns true if the N bytes at DATA begin with a whole record. */
static bool collector_has_record(const void *data, size_t n)
{
	const struct rec_head *head = data;

	return n >= sizeof(*head) && n >= head->size;
}

/* The size of the kernel's buffer for an iterator. It contains only whole records. */
#define ITERATOR_BYTES (32 << 10)
_Static_assert(sizeof(struct waiting_room) < ITERATOR_BYTES, "the largest record");

/*
 * Passes all records of ITERATOR, which is a descriptor or a negative errno, to FN. Closes the
 * descriptor.
 */
static int collector_iterate_fd(int iterator, collector_record_fn fn, void *userdata)
{
	_Alignas(8) uint8_t buffer[ITERATOR_BYTES];
	_cleanup_close_ int fd = iterator;
	size_t have = 0, used;
	ssize_t n;
	int r = 0;

	if (fd < 0)
		return fd;
	while (r >= 0 &&
	       (n = program_iterator_read(fd, buffer + have, sizeof(buffer) - have)) > 0) {
		have += (size_t)n;
		for (used = 0; r >= 0 && collector_has_record(buffer + used, have - used);) {
			const struct rec_head *rec = decode_record(buffer + used, have - used);

			if (!rec)
				return -EBADMSG;
			r = fn(rec, userdata);
			used += rec->size;
		}
		have -= used;
		memmove(buffer, buffer + used, have);
	}
	if (r < 0)
		return r;
	return n < 0 ? (int)n : 0;
}

static int collector_iterate(struct bpf_program *prog, collector_record_fn fn, void *userdata)
{
	return collector_iterate_fd(program_iterator_open(prog), fn, userdata);
}

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

/* ---- attach ---- */

/*
 * Starts the rings for mappings. They start before all other programs, so that each mapping is
 * either reported or listed.
 */
static int collector_start_map_rings(struct collector *c, char **reterr_text)
{
	static const char deed[] = "watch the mappings (perf events)";
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
		return load_error_memlock(deed, reterr_text);
	return r < 0 ? load_error_perf(r, deed, reterr_text) : 0;
}

int collector_attach_rows(const struct attach_row *rows, size_t n, char **reterr_text)
{
	char deed[64];

	load_error_begin();
	for (size_t i = 0; i < n; i++) {
		if (!bpf_program__autoload(rows[i].prog) || *rows[i].link)
			continue;
		*rows[i].link = bpf_program__attach(rows[i].prog);
		if (*rows[i].link)
			continue;
		snprintf(deed, sizeof(deed), "attach %s", bpf_program__name(rows[i].prog));
		return load_error(-errno, deed, reterr_text);
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

/* Attaches all programs except those for stacks and for stopped parts. */
static int collector_attach_program(struct collector *c, char **reterr_text)
{
	struct kymo_bpf *skel = c->skel;
	/* The order matters. The identity of a thread must be known before the thread is seen
	 * running. Switches come last, so that all wakeups that lead to one are seen. Programs
	 * for ends come before those for begins (cpu.bpf.c). */
	const struct attach_row rows[] = {
		/* Reports about an ending thread or program come before the report of its end. */
		{ skel->progs.on_resource_thread_end, &skel->links.on_resource_thread_end },
		{ skel->progs.on_memory_exit, &skel->links.on_memory_exit },
		{ skel->progs.on_memory_exec, &skel->links.on_memory_exec },
		/* The end of each process that a fork has selected is seen. */
		{ skel->progs.on_sched_process_exit, &skel->links.on_sched_process_exit },
		{ skel->progs.on_sched_process_free, &skel->links.on_sched_process_free },
		{ skel->progs.on_sched_process_fork, &skel->links.on_sched_process_fork },
		{ skel->progs.on_task_rename, &skel->links.on_task_rename },
		{ skel->progs.on_sched_process_exec, &skel->links.on_sched_process_exec },
		{ skel->progs.on_own_exit, &skel->links.on_own_exit },
		/* This one comes after the program with which the filter follows forks. */
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
	/* on_offcpu_switch uses times of on_sched_switch, and programs run in the order of
	 * attaching. (on_softirq_raise is already attached, unless it was stopped with the
	 * stacks.) */
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

/*
 * Finds where the kernel maps all physical memory. Without it, the stacks and locks of waiting
 * threads are unknown.
 */
static void collector_find_memory(struct collector *c)
{
	_Alignas(PRESENT_KNOWN_BYTES) uint8_t bytes[PRESENT_KNOWN_BYTES];
	bool is_accepted;
	struct present_known known = {
		.address = (uintptr_t)bytes,
		.memory_end = machine_memory_end("/proc/zoneinfo", &is_accepted),
		.can_search = is_accepted,
	};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &known, .ctx_size_in = sizeof(known));
	int fd = bpf_program__fd(c->skel->progs.on_find_present_pages);

	/* (the kernel can move the page meanwhile) */
	for (unsigned i = 0; i < 3 && fd >= 0 && c->skel->bss->present_pages_base == 0; i++)
		if (getrandom(bytes, sizeof(bytes), GRND_NONBLOCK) == sizeof(bytes))
			bpf_prog_test_run_opts(fd, &opts);
}

int collector_list_waiting(struct collector *c, collector_record_fn fn, void *userdata)
{
	if (!c->skel->links.on_offcpu_switch)
		return 0;
	collector_find_memory(c);
	c->skel->bss->waiting_n_copied = 0;
	c->skel->bss->waiting_listed_ns = clock_boot_ns();
	return collector_iterate(c->skel->progs.on_iter_waiting, fn, userdata);
}

struct collector_memory collector_memory_tables(struct collector *c)
{
	struct kymo_bpf *skel = c->skel;
	struct bpf_program *programs[PROBES_PROGRAMS];
	struct collector_memory ret = {
		.way = c->way,
		.processes_fd = bpf_map__fd(skel->maps.memory_processes),
		.ended_fd = bpf_map__fd(skel->maps.memory_ended),
		.owners_fd = bpf_map__fd(skel->maps.memory_owners),
		.ended_threads_fd = bpf_map__fd(skel->maps.memory_ended_threads),
		.killed_threads_fd = bpf_map__fd(skel->maps.memory_killed_threads),
		.stacks_fd = bpf_map__fd(skel->maps.memory_stacks),
		.blocks_fd = bpf_map__fd(skel->maps.memory_blocks),
		.events_fd = bpf_map__fd(skel->maps.memory_events),
		.shared_fd = bpf_map__fd(skel->maps.memory_shared),
		.instances = &skel->bss->memory_instances,
		.n_copied = &skel->bss->memory_copied,
		.events_unreported = &skel->bss->memory_unreported_events,
		.ends_unreported = &skel->bss->memory_unreported_ends,
		.shares_unreported = &skel->bss->memory_unreported_shares,
	};

	collector_probe_programs(skel, programs);
	for (enum probes_program i = 0; i < PROBES_PROGRAMS; i++)
		ret.programs[i] = bpf_program__fd(programs[i]);
	return ret;
}

struct collector_calls collector_call_tables(struct collector *c)
{
	struct bpf_program *programs[PROBES_PROGRAMS];
	struct collector_calls ret = {
		.way = c->way,
		.functions_fd = bpf_map__fd(c->skel->maps.call_functions),
		.syscalls_fd = bpf_map__fd(c->skel->maps.call_syscalls),
	};

	collector_call_programs(c->skel, programs);
	for (enum probes_program i = 0; i < PROBES_PROGRAMS; i++)
		ret.programs[i] = bpf_program__fd(programs[i]);
	return ret;
}

struct collector_moments collector_moment_tables(struct collector *c)
{
	return (struct collector_moments){
		.way = c->way,
		.program = bpf_program__fd(c->skel->progs.on_moment),
		.points_fd = bpf_map__fd(c->skel->maps.moment_points),
	};
}

struct collector_tracepoints collector_tracepoint_tables(struct collector *c)
{
	return (struct collector_tracepoints){
		.program = bpf_program__fd(c->skel->progs.on_tracepoint),
		.layouts_fd = bpf_map__fd(c->skel->maps.tracepoint_layouts),
	};
}

void collector_set_context(struct collector *c, uint32_t bits)
{
	__atomic_store_n(&c->skel->bss->memory_context, bits, __ATOMIC_RELAXED);
}

const char *collector_sample_clock(const struct collector *c)
{
	return c->clock ? c->clock : "";
}

static void collector_set_online(struct collector *c)
{
	map_rings_set_online(c->map_rings, c->online);
	if (c->sampler)
		sampler_set_online(c->sampler, c->online);
}

void collector_check_cpus(struct collector *c)
{
	if (!c->map_rings)
		return;
	__atomic_add_fetch(&c->skel->bss->unwind_clock, 1, __ATOMIC_RELAXED);
	/*
	 * First handle all CPUs that went offline since the last check, then those that came back.
	 */
	cpus_online(c->online, c->n_cpus);
	if (cpus_clear_gone(c->skel->bss->cpu_departures, c->departures, c->online, c->n_cpus)) {
		collector_set_online(c);
		cpus_online(c->online, c->n_cpus);
	}
	collector_set_online(c);
}

void collector_forget_stacks(struct collector *c)
{
	__atomic_add_fetch(&c->skel->bss->stack_generation, 1, __ATOMIC_RELAXED);
}

void collector_forget_python(struct collector *c)
{
	__atomic_add_fetch(&c->skel->bss->python_generation, 1, __ATOMIC_RELAXED);
}

void collector_forget_cgroups(struct collector *c)
{
	memset(c->skel->bss->cgroups_sent, 0, sizeof(c->skel->bss->cgroups_sent));
}

static void collector_drop_link(struct bpf_link **link)
{
	bpf_link__destroy(*link);
	*link = NULL;
}

/* A program can still be running after its link is removed. Waits until every CPU has passed
 * through the scheduler. If the system call is unavailable, there is no additional wait. */
static void collector_wait_for_programs(void)
{
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

/*
 * If on_offcpu_switch WAS_ATTACHED until now, reports the threads that are off CPU, because that
 * program cannot report them any more. This fails only without memory. The times of these threads
 * are then missing.
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
 * Forgets threads that were off CPU when the programs were detached. Some of them have run since
 * then.
 */
static void collector_forget_off_cpu(struct collector *c)
{
	int fd = bpf_map__fd(c->skel->maps.offcpu_threads);
	uint32_t tid;

	while (fd >= 0 && bpf_map_get_next_key(fd, NULL, &tid) == 0)
		if (bpf_map_delete_elem(fd, &tid) < 0)
			break;
}

/* Forgets the open intervals of each CPU. They may have ended since the programs were detached. */
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

void collector_detach(struct collector *c)
{
	bool has_offcpu = c->skel->links.on_offcpu_switch;

	/* The sampler was started last. */
	c->sampler = sampler_free(c->sampler);
	/* on_offcpu_switch uses times of on_sched_switch, so it is detached first. */
	collector_drop_link(&c->skel->links.on_offcpu_switch);
	kymo_bpf__detach(c->skel);
	collector_wait_for_programs();
	collector_report_off_cpu(c, has_offcpu);
	if (c->map_rings)
		map_rings_stop(c->map_rings);
}

int collector_list_tasks(struct collector *c, collector_record_fn fn, void *userdata)
{
	return collector_iterate(c->skel->progs.on_iter_task, fn, userdata);
}

int collector_list_process(struct collector *c, uint32_t pid, collector_record_fn fn,
			   void *userdata)
{
	struct bpf_program *prog = c->skel->progs.on_iter_task;

	return collector_iterate_fd(program_iterator_open_process(prog, pid), fn, userdata);
}

int collector_list_cgroups(struct collector *c, collector_record_fn fn, void *userdata)
{
	return collector_iterate(c->skel->progs.on_iter_cgroups, fn, userdata);
}

int collector_list_registers(struct collector *c, uint32_t pid, collector_record_fn fn,
			     void *userdata)
{
	c->skel->bss->reach_pid = pid;
	return collector_iterate(c->skel->progs.on_iter_registers, fn, userdata);
}

int collector_registers_fd(const struct collector *c)
{
	return bpf_program__fd(c->skel->progs.on_iter_registers);
}

unsigned collector_n_cpus(const struct collector *c)
{
	return c->n_cpus;
}

uint64_t collector_left_out(struct collector *c, uint32_t function)
{
	struct call_share share = { 0 };

	bpf_map_lookup_elem(bpf_map__fd(c->skel->maps.call_shares), &function, &share);
	return share.left_out;
}

uint64_t collector_foreign_calls(struct collector *c)
{
	return __atomic_load_n(&c->skel->bss->calls_foreign, __ATOMIC_RELAXED);
}

/* Returns how many times the kernel skipped PROG because it was already running on that CPU. */
static uint64_t collector_count_skips(const struct bpf_program *prog)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);

	return bpf_program__autoload(prog) &&
			       bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &size) == 0
		       ? info.recursion_misses
		       : 0;
}

uint64_t collector_skipped(struct collector *c, enum event_class class)
{
	const struct kymo_bpf *skel = c->skel;
	const struct {
		enum event_class class;
		const struct bpf_program *prog;
	} rows[] = {
		{ CLASS_IRQ, skel->progs.on_irq_handler_exit },
		{ CLASS_SOFTIRQ, skel->progs.on_softirq_exit },
		{ CLASS_IDLE, skel->progs.on_cpu_idle },
		{ CLASS_FREQUENCY, skel->progs.on_cpu_frequency },
		{ CLASS_TRACEPOINTS, skel->progs.on_tracepoint },
		{ CLASS_BLOCK, skel->progs.on_block_complete },
	};
	uint64_t n = class == CLASS_LIFECYCLE ? c->n_ends_skipped : 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].class == class)
			n += collector_count_skips(rows[i].prog);
	return n;
}

const struct cpu_costs *collector_costs(const struct collector *c)
{
	return c->costs;
}

bool collector_idle(struct collector *c, unsigned cpu, uint32_t *ret_state, uint64_t *ret_begin_ns)
{
	uint32_t zero = 0;

	if (bpf_map_lookup_elem(bpf_map__fd(c->skel->maps.cpu_states), &zero, c->cpu_states) < 0 ||
	    c->cpu_states[cpu].idle_begin_ns == 0)
		return false;
	*ret_state = c->cpu_states[cpu].idle_state;
	*ret_begin_ns = c->cpu_states[cpu].idle_begin_ns;
	return true;
}

bool collector_kernel_text(struct collector *c, struct kernel_text *ret)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = ret, .ctx_size_in = sizeof(*ret));
	int fd = bpf_program__fd(c->skel->progs.on_kernel_text);

	*ret = (struct kernel_text){ 0 };
	return fd >= 0 && bpf_prog_test_run_opts(fd, &opts) == 0 && ret->start && ret->end;
}

int collector_doorbell_fd(const struct collector *c)
{
	return ring_buffer__epoll_fd(c->doorbell);
}

void collector_answer_doorbell(struct collector *c)
{
	ring_buffer__consume(c->doorbell);
}

bool collector_pids_live(const struct collector *c)
{
	return __atomic_load_n(&c->skel->bss->filter_n_live, __ATOMIC_RELAXED) > 0;
}

bool collector_skips_ends(const struct collector *c)
{
	return collector_count_skips(c->skel->progs.on_sched_process_exit) > 0;
}

uint64_t collector_n_malformed(const struct collector *c)
{
	return c->n_malformed;
}
