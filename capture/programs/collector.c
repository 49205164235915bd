/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/programs/collector-parts.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

#include <bpf/bpf.h>

#include "capture/programs/cpus.h"
#include "capture/programs/load-error.h"
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
	fault_events_free(c->faults);
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

/* ---- tables and state ---- */

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
	if (c->faults)
		fault_events_set_online(c->faults, c->online);
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
		{ CLASS_TRACEPOINTS, skel->progs.on_tcp_rtt },
		{ CLASS_BLOCK, skel->progs.on_block_complete },
	};
	uint64_t n = class == CLASS_LIFECYCLE     ? c->n_ends_skipped
		     : class == CLASS_TRACEPOINTS ? c->n_faults_skipped
						  : 0;

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
