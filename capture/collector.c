/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/collector.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <linux/membarrier.h>
#include <sys/random.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/kymo.skel.h"
#include "capture/cpus.h"
#include "capture/decode.h"
#include "capture/exit-hook.h"
#include "capture/kernel-btf.h"
#include "capture/map-rings.h"
#include "capture/perf-event.h"
#include "capture/resource-calls.h"
#include "capture/sampler.h"

/* 1000 whole lives of processes between two drains, on each CPU. */
#define LIFECYCLE_RING_BYTES ((uint64_t)1 << 20)

/* Unless the user asks for more: a CPU's word ring, and all of them together. */
#define RING_BYTES_DEFAULT  ((uint64_t)4 << 20)
#define RINGS_BYTES_DEFAULT ((uint64_t)256 << 20)

/* The rings of the other categories are so much smaller: there is less in them. */
enum { OTHER_RINGS_SHARE = 4 };

/* The word rings of one map. */
struct word_rings {
	uint64_t bytes; /* of each; 0 = there are none */
	size_t stride;  /* from one to the next */
	uint8_t *map;   /* mapped */
	size_t map_size;
};

struct collector {
	struct kymo_bpf *skel;
	const struct cpu_costs *costs; /* mapped, an element a CPU */
	uint32_t categories;
	unsigned n_cpus;
	struct word_rings sched, cpu;
	struct ring_buffer *records; /* the BPF ring buffers of all CPUs */
	struct ring_buffer *doorbell;
	struct map_rings *map_rings;         /* NULL = not attached */
	uint64_t ring_bytes;                 /* as the options have it */
	struct sampler *sampler;             /* of whoever attaches */
	const char *clock;                   /* of the sampler */
	uint32_t frequency;                  /* likewise */
	enum probes_way way;                 /* with CATEGORIES_MEMORY */
	bool *online;                        /* room for a list */
	uint32_t departures[CPU_DEPARTURES]; /* of CPUs, that we know of */
	struct rec_state *states;            /* where a look-up puts those of all CPUs */
	struct cpu_state *cpu_states;
	collector_record_fn fn; /* of the round that runs */
	void *userdata;
	uint64_t n_malformed;
};

/* ---- what libbpf says, for the error text ---- */

static __thread char libbpf_says[512];

static int keep_warning(enum libbpf_print_level level, const char *format, va_list ap)
{
	size_t used = strlen(libbpf_says);

	/* The first lines name the cause; what follows are its consequences. */
	if (level == LIBBPF_WARN && used < sizeof(libbpf_says) / 2)
		vsnprintf(libbpf_says + used, sizeof(libbpf_says) - used, format, ap);
	return 0;
}

static int failed(int error, const char *deed, char **reterr_text)
{
	const char *advice = "";
	char *p;

	if ((error == -EPERM || error == -EACCES) && strstr(deed, "perf events") &&
	    perf_event_is_restricted())
		advice =
			"; kernel.perf_event_paranoid is 3 or more, with which this kernel gives perf "
			"events to CAP_SYS_ADMIN alone: start kymo-perf.socket, which opens them for "
			"kymod.service (systemctl start kymo-perf.socket), or allow them to CAP_PERFMON "
			"(sysctl kernel.perf_event_paranoid=2)";
	else if (error == -EPERM || error == -EACCES)
		advice = "; kymo needs root, or CAP_BPF and CAP_PERFMON";
	else if (error == -ENOMEM || error == -E2BIG)
		advice = "; try smaller rings (-b)";
	for (p = libbpf_says; *p; p++)
		if (*p == '\n')
			*p = p[1] ? ' ' : '\0';
	if (asprintf(reterr_text, "cannot %s: %s%s%s%s%s", deed, strerror(-error), advice,
		     *libbpf_says ? " (" : "", libbpf_says, *libbpf_says ? ")" : "") < 0)
		*reterr_text = NULL;
	return error;
}

/* ---- load ---- */

static uint32_t filter_kinds(const struct session_options *o)
{
	const struct capture_filter *f = &o->filter;

	return (o->own ? FILTER_OWN : 0) | (f->n_pids ? FILTER_PID : 0) |
	       (f->n_comms ? FILTER_COMM : 0) | (f->n_uids ? FILTER_UID : 0) |
	       (f->n_cgroups ? FILTER_CGROUP : 0);
}

static uint64_t other_ring_bytes(uint64_t ring_bytes)
{
	uint64_t bytes = ring_bytes / OTHER_RINGS_SHARE;

	return bytes < RING_BYTES_MIN ? RING_BYTES_MIN : bytes;
}

/* The category that fills the CPU_RING_* or REC_RING_* of that number; 0 = all do. */
static const uint32_t cpu_ring_categories[CPU_RINGS] = {
	[CPU_RING_IRQ] = CATEGORY_IRQ,
	[CPU_RING_SOFTIRQ] = CATEGORY_SOFTIRQ,
	[CPU_RING_IDLE] = CATEGORY_POWER,
};
static const uint32_t rec_ring_categories[REC_RINGS] = {
	[REC_RING_WORKQUEUE] = CATEGORY_WORKQUEUE,
	[REC_RING_FREQUENCY] = CATEGORY_POWER,
	[REC_RING_STACKS] = CATEGORIES_STACKS,
	[REC_RING_MEMORY] = CATEGORIES_MEMORY,
};

static bool has_rec_ring(uint32_t categories, unsigned ring)
{
	return rec_ring_categories[ring] == 0 || categories & rec_ring_categories[ring];
}

static uint64_t rec_ring_bytes(uint64_t ring_bytes, unsigned ring)
{
	uint64_t bytes = other_ring_bytes(ring_bytes);

	return ring == REC_RING_LIFECYCLE && bytes < LIFECYCLE_RING_BYTES ? LIFECYCLE_RING_BYTES
									  : bytes;
}

static uint64_t map_ring_bytes(uint64_t ring_bytes)
{
	return other_ring_bytes(ring_bytes) / 2;
}

/* Sets up a map of N word rings of BYTES each; without any, the map is not made. */
static int configure_rings(struct word_rings *rings, struct bpf_map *map, unsigned n,
			   uint64_t bytes)
{
	int r;

	if (n == 0)
		return bpf_map__set_autocreate(map, false);
	rings->bytes = bytes;
	rings->stride = sizeof(struct word_ring) + bytes + RING_SLACK_BYTES;
	rings->map_size = n * rings->stride;
	r = bpf_map__set_value_size(map, (uint32_t)rings->stride);
	return r < 0 ? r : bpf_map__set_max_entries(map, n);
}

static int configure_stacks(struct collector *c, const struct session_options *o)
{
	struct kymo_bpf *skel = c->skel;
	const struct {
		struct bpf_map *map;
		uint32_t categories;
	} rows[] = {
		{ skel->maps.stack_rooms, CATEGORIES_STACKS },
		{ skel->maps.stacks_sent, CATEGORIES_STACKS },
		{ skel->maps.ticks_taken, CATEGORY_PROFILE },
		{ skel->maps.offcpu_threads, CATEGORY_OFFCPU },
		{ skel->maps.offcpu_blank, CATEGORY_OFFCPU },
	};
	uint64_t seed = 0;
	int r = 0;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) < 0)
		seed = clock_boot_ns();
	skel->rodata->stack_seed = seed;
	skel->rodata->offcpu_min_ns = o->categories & CATEGORY_OFFCPU ? o->offcpu_min_ns : 0;
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(rows); i++)
		r = bpf_map__set_autocreate(rows[i].map, o->categories & rows[i].categories);
	return r;
}

/* The programs for probes on functions, by their place. */
static void probe_programs(struct kymo_bpf *skel, struct bpf_program *ret[PROBES_PROGRAMS])
{
	ret[PROBES_ENTRY] = skel->progs.on_memory_entry;
	ret[PROBES_CALL] = skel->progs.on_memory_call;
	ret[PROBES_RETURN] = skel->progs.on_memory_return;
	ret[PROBES_RET] = skel->progs.on_memory_ret;
	ret[PROBES_BOTH] = skel->progs.on_memory_session;
}

static int configure_memory(struct collector *c, const struct session_options *o)
{
	struct kymo_bpf *skel = c->skel;
	bool wanted = o->categories & CATEGORIES_MEMORY;
	struct bpf_map *maps[] = {
		skel->maps.memory_processes, skel->maps.memory_ended,
		skel->maps.memory_blocks,    skel->maps.memory_stacks,
		skel->maps.memory_threads,   skel->maps.memory_happenings,
	};
	struct bpf_program *programs[PROBES_PROGRAMS];
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(maps); i++)
		r = bpf_map__set_autocreate(maps[i], wanted);
	probe_programs(skel, programs);
	for (enum probes_program i = 0; i < PROBES_PROGRAMS; i++)
		bpf_program__set_autoload(programs[i], wanted && probes_use(c->way, i));
	if (r < 0 || !wanted)
		return r;
	for (enum probes_program i = 0; r == 0 && i < PROBES_PROGRAMS; i++)
		r = bpf_program__set_expected_attach_type(
			programs[i], (enum bpf_attach_type)probes_attach_type(c->way, i));
	skel->rodata->memory_log = o->memory.log;
	skel->rodata->memory_interval = o->memory.interval;
	skel->rodata->memory_min_bytes = o->memory.min_bytes;
	skel->rodata->resource_fds = o->categories & CATEGORY_FD ? 1 : 0;
	resource_calls_fill((uint8_t *)skel->rodata->resource_calls, o->categories);
	return r < 0 ? r
		     : bpf_map__set_max_entries(skel->maps.memory_blocks,
						(uint32_t)o->memory.blocks_max);
}

static int configure_maps(struct collector *c, const struct session_options *o)
{
	struct kymo_bpf *skel = c->skel;
	unsigned n_cpu_rings = 0;
	int r;

	skel->rodata->sched_ring_bytes = o->categories & CATEGORY_SCHED ? o->ring_bytes : 0;
	skel->rodata->cpu_ring_bytes = other_ring_bytes(o->ring_bytes);
	for (unsigned i = 0; i < CPU_RINGS; i++) {
		skel->rodata->cpu_rings_from[i] = n_cpu_rings;
		if (o->categories & cpu_ring_categories[i])
			n_cpu_rings += c->n_cpus;
	}
	for (unsigned i = 0; i < REC_RINGS; i++)
		skel->rodata->rec_ring_bytes[i] = rec_ring_bytes(o->ring_bytes, i);
	r = bpf_map__set_max_entries(skel->maps.costs, c->n_cpus);
	if (r < 0)
		return r;
	r = configure_rings(&c->sched, skel->maps.sched_rings,
			    o->categories & CATEGORY_SCHED ? c->n_cpus : 0, o->ring_bytes);
	if (r == 0)
		r = configure_rings(&c->cpu, skel->maps.cpu_rings, n_cpu_rings,
				    other_ring_bytes(o->ring_bytes));
	if (r == 0)
		r = bpf_map__set_max_entries(skel->maps.rec_rings, REC_RINGS * c->n_cpus);
	if (r == 0)
		r = bpf_map__set_max_entries(skel->maps.doorbell, (uint32_t)getpagesize());
	if (r == 0)
		r = bpf_map__set_autocreate(skel->maps.work_states,
					    o->categories & CATEGORY_WORKQUEUE);
	if (r == 0)
		r = bpf_map__set_autocreate(skel->maps.work_functions,
					    o->categories & CATEGORY_WORKQUEUE);
	if (r == 0)
		r = configure_memory(c, o);
	return r < 0 ? r : configure_stacks(c, o);
}

/* Whose own processes are wanted. */
static int configure_own(struct collector *c, const struct session_options *o)
{
	struct kymo_bpf *skel = c->skel;
	int with_memory = o->own ? kernel_btf_exits_with_memory() : 1;

	if (with_memory < 0)
		return with_memory;
	/* (without the hook exits are not shown, as there is nothing to say whose they are) */
	bpf_program__set_autoload(skel->progs.on_own_exit, !with_memory && exit_hook_works());
	skel->rodata->own_uid = o->own_uid;
	skel->rodata->own_n_gids = (uint32_t)o->n_own_gids;
	for (size_t i = 0; i < o->n_own_gids; i++)
		skel->rodata->own_gids[i] = o->own_gids[i];
	return bpf_map__set_autocreate(skel->maps.own_exiting, o->own);
}

static int configure(struct collector *c, const struct session_options *o)
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
		{ skel->progs.on_sched_process_free, o->filter.n_pids > 0 || o->own },
		{ skel->progs.on_cpuhp_exit, true },
		{ skel->progs.on_sched_switch, o->categories & CATEGORY_SCHED },
		{ skel->progs.on_sched_waking, o->categories & CATEGORY_SCHED },
		{ skel->progs.on_sched_wakeup_new, o->categories & CATEGORY_SCHED },
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
		{ skel->progs.on_memory_fork, o->categories & CATEGORIES_MEMORY },
		{ skel->progs.on_memory_exec, o->categories & CATEGORIES_MEMORY },
		{ skel->progs.on_memory_exit, o->categories & CATEGORIES_MEMORY },
		{ skel->progs.on_iter_registers,
		  o->categories & CATEGORY_MEMORY && o->memory.reach == MEMORY_REACH_LOOK },
		{ skel->progs.on_resource_enter, o->categories & CATEGORIES_CALLS },
		{ skel->progs.on_resource_exit, o->categories & CATEGORIES_CALLS },
		{ skel->progs.on_resource_fork, o->categories & CATEGORY_THREADS },
		{ skel->progs.on_resource_thread_end, o->categories & CATEGORY_THREADS },
	};
	int64_t from_rq = 0;
	int r = kernel_btf_preempt_count(&from_rq);

	if (r < 0)
		return r;
	skel->rodata->preempt_count_from_rq = from_rq;
	skel->rodata->possible_cpus = c->n_cpus;
	skel->rodata->tell_cpus_gone = (o->categories & CATEGORY_SCHED) != 0;
	skel->rodata->filter_kinds = filter_kinds(o);
	r = configure_own(c, o);
	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		bpf_program__set_autoload(rows[i].prog, rows[i].wanted);
	return configure_maps(c, o);
}

static int fill_filters(struct collector *c, const struct capture_filter *f)
{
	uint8_t one = FILTER_PID_LIVES;
	int r = 0;

	for (size_t i = 0; r == 0 && i < f->n_pids; i++)
		r = bpf_map__update_elem(c->skel->maps.filter_pids, &f->pids[i], sizeof(uint32_t),
					 &one, sizeof(one), BPF_ANY);
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

static int map_word_rings(struct word_rings *rings, struct bpf_map *map)
{
	size_t page = (size_t)getpagesize();
	void *p;

	if (rings->bytes == 0)
		return 0;
	rings->map_size = (rings->map_size + page - 1) & ~(page - 1);
	p = mmap(NULL, rings->map_size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	if (p == MAP_FAILED)
		return -errno;
	rings->map = p;
	return 0;
}

static size_t costs_bytes(const struct collector *c)
{
	size_t page = (size_t)getpagesize();

	return (c->n_cpus * sizeof(*c->costs) + page - 1) & ~(page - 1);
}

static int map_costs(struct collector *c)
{
	void *p = mmap(NULL, costs_bytes(c), PROT_READ, MAP_SHARED,
		       bpf_map__fd(c->skel->maps.costs), 0);

	if (p == MAP_FAILED)
		return -errno;
	c->costs = p;
	return 0;
}

static int on_record(void *userdata, void *data, size_t size)
{
	struct collector *c = userdata;
	const struct rec_head *rec = decode_record(data, size);

	if (!rec || rec->kind == REC_TASK || rec->cpu >= c->n_cpus) {
		c->n_malformed++;
		return 0;
	}
	return c->fn(rec, c->userdata);
}

/* Makes the BPF ring buffer that stands at INDEX. */
static int make_rec_ring(struct collector *c, uint32_t index, uint64_t bytes)
{
	_cleanup_close_ int ring =
		bpf_map_create(BPF_MAP_TYPE_RINGBUF, "rec_ring", 0, 0, (uint32_t)bytes, NULL);

	if (ring < 0)
		return ring;
	if (bpf_map_update_elem(bpf_map__fd(c->skel->maps.rec_rings), &index, &ring, BPF_ANY) < 0)
		return -errno;
	/* The manager maps the ring and needs the descriptor only meanwhile; the outer map keeps the
	 * ring alive. */
	if (c->records)
		return ring_buffer__add(c->records, ring, on_record, c);
	c->records = ring_buffer__new(ring, on_record, c, NULL);
	return c->records ? 0 : -errno;
}

static int make_rec_rings(struct collector *c, uint64_t ring_bytes)
{
	int r = 0;

	for (unsigned ring = 0; ring < REC_RINGS; ring++) {
		if (!has_rec_ring(c->categories, ring))
			continue;
		for (uint32_t cpu = 0; r == 0 && cpu < c->n_cpus; cpu++)
			r = make_rec_ring(c, ring * c->n_cpus + cpu,
					  rec_ring_bytes(ring_bytes, ring));
	}
	return r;
}

static int on_doorbell(void *userdata, void *data, size_t size)
{
	(void)userdata;
	(void)data;
	(void)size;
	return 0;
}

static int make_rings(struct collector *c, uint64_t ring_bytes)
{
	int r = map_word_rings(&c->sched, c->skel->maps.sched_rings);

	if (r == 0)
		r = map_word_rings(&c->cpu, c->skel->maps.cpu_rings);
	if (r == 0)
		r = make_rec_rings(c, ring_bytes);
	if (r == 0)
		r = map_costs(c);
	if (r < 0)
		return r;
	c->doorbell = ring_buffer__new(bpf_map__fd(c->skel->maps.doorbell), on_doorbell, c, NULL);
	return c->doorbell ? 0 : -errno;
}

uint64_t collector_memory(const struct session_options *o)
{
	uint64_t bytes = o->categories & CATEGORY_SCHED ? o->ring_bytes : 0;
	int n = libbpf_num_possible_cpus();

	for (unsigned i = 0; i < CPU_RINGS; i++)
		if (o->categories & cpu_ring_categories[i])
			bytes += other_ring_bytes(o->ring_bytes);
	for (unsigned i = 0; i < REC_RINGS; i++)
		if (has_rec_ring(o->categories, i))
			bytes += rec_ring_bytes(o->ring_bytes, i);
	bytes *= (uint64_t)(n > 0 ? n : 1);
	return bytes + map_rings_memory((unsigned)(n > 0 ? n : 1), map_ring_bytes(o->ring_bytes));
}

uint64_t collector_choose_ring_bytes(uint64_t wanted)
{
	int n = libbpf_num_possible_cpus();
	uint64_t bytes = RING_BYTES_MIN, most = RINGS_BYTES_DEFAULT / (uint64_t)(n > 0 ? n : 1);

	if (wanted == 0) {
		wanted = most < RING_BYTES_DEFAULT ? most : RING_BYTES_DEFAULT;
		while (2 * bytes <= wanted)
			bytes *= 2;
	} else {
		while (bytes < wanted && bytes < RING_BYTES_MAX)
			bytes *= 2;
	}
	return bytes;
}

int collector_new(const struct session_options *options, struct collector **ret, char **reterr_text)
{
	_cleanup_(collector_freep) struct collector *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return failed(-ENOMEM, "make a session", reterr_text);
	libbpf_set_print(keep_warning);
	*libbpf_says = '\0';
	r = libbpf_num_possible_cpus();
	if (r < 0)
		return failed(r, "count the CPUs", reterr_text);
	c->n_cpus = (unsigned)r;
	c->categories = options->categories;
	c->frequency = (uint32_t)options->frequency;
	c->ring_bytes = options->ring_bytes;
	c->online = calloc(c->n_cpus, sizeof(*c->online));
	c->states = calloc(c->n_cpus, sizeof(*c->states));
	c->cpu_states = calloc(c->n_cpus, sizeof(*c->cpu_states));
	if (!c->states || !c->cpu_states || !c->online)
		return failed(-ENOMEM, "make a session", reterr_text);
	if (c->categories & CATEGORIES_MEMORY)
		c->way = probes_way();
	c->clock = sampler_clock(&r);
	if (!c->clock && c->categories & CATEGORY_PROFILE)
		return failed(r, "take samples (perf events)", reterr_text);
	c->skel = kymo_bpf__open();
	if (!c->skel)
		return failed(-errno, "open the eBPF programs", reterr_text);
	r = configure(c, options);
	if (r < 0)
		return failed(r, "configure the eBPF programs", reterr_text);
	r = kymo_bpf__load(c->skel);
	if (r < 0)
		return failed(r, "load the eBPF programs", reterr_text);
	r = fill_filters(c, &options->filter);
	if (r < 0)
		return failed(r, "set the filters", reterr_text);
	r = make_rings(c, options->ring_bytes);
	if (r < 0)
		return failed(r, "make the rings", reterr_text);
	*ret = TAKE_PTR(c);
	return 0;
}

struct collector *collector_free(struct collector *c)
{
	if (!c)
		return NULL;
	sampler_free(c->sampler);
	map_rings_free(c->map_rings);
	ring_buffer__free(c->doorbell);
	ring_buffer__free(c->records);
	if (c->sched.map)
		munmap(c->sched.map, c->sched.map_size);
	if (c->cpu.map)
		munmap(c->cpu.map, c->cpu.map_size);
	if (c->costs)
		munmap((void *)c->costs, costs_bytes(c));
	kymo_bpf__destroy(c->skel);
	free(c->states);
	free(c->cpu_states);
	free(c->online);
	free(c);
	return NULL;
}

/* ---- attach ---- */

/* Before everything else: what is listed later is what was mapped by then. */
static int start_map_rings(struct collector *c, char **reterr_text)
{
	int r;

	*libbpf_says = '\0';
	/* Or one that goes now would be missed. */
	c->skel->links.on_cpuhp_exit = bpf_program__attach(c->skel->progs.on_cpuhp_exit);
	if (!c->skel->links.on_cpuhp_exit)
		return failed(-errno, "attach on_cpuhp_exit", reterr_text);
	r = map_rings_new(c->n_cpus, map_ring_bytes(c->ring_bytes), &c->map_rings);
	if (r == 0)
		r = map_rings_watch(c->map_rings, ring_buffer__epoll_fd(c->doorbell));
	return r < 0 ? failed(r, "watch what is mapped (perf events)", reterr_text) : 0;
}

int collector_attach(struct collector *c, char **reterr_text)
{
	struct kymo_bpf *skel = c->skel;
	/* In this order: who a thread is must be known before it is seen running. The switches come
	 * last, so that each wakeup that matters to one has been seen. Ends come before begins
	 * (cpu.bpf.c). */
	const struct {
		struct bpf_program *prog;
		struct bpf_link **link;
	} rows[] = {
		/* What is said of a program at its end comes before that; and what of a thread, before it. */
		{ skel->progs.on_resource_thread_end, &skel->links.on_resource_thread_end },
		{ skel->progs.on_memory_exit, &skel->links.on_memory_exit },
		{ skel->progs.on_memory_exec, &skel->links.on_memory_exec },
		{ skel->progs.on_sched_process_fork, &skel->links.on_sched_process_fork },
		{ skel->progs.on_task_rename, &skel->links.on_task_rename },
		{ skel->progs.on_sched_process_exec, &skel->links.on_sched_process_exec },
		{ skel->progs.on_sched_process_exit, &skel->links.on_sched_process_exit },
		{ skel->progs.on_sched_process_free, &skel->links.on_sched_process_free },
		{ skel->progs.on_own_exit, &skel->links.on_own_exit },
		/* Behind the one by which the filter follows. */
		{ skel->progs.on_memory_fork, &skel->links.on_memory_fork },
		{ skel->progs.on_resource_exit, &skel->links.on_resource_exit },
		{ skel->progs.on_resource_enter, &skel->links.on_resource_enter },
		{ skel->progs.on_resource_fork, &skel->links.on_resource_fork },
		{ skel->progs.on_irq_handler_exit, &skel->links.on_irq_handler_exit },
		{ skel->progs.on_irq_handler_entry, &skel->links.on_irq_handler_entry },
		{ skel->progs.on_softirq_exit, &skel->links.on_softirq_exit },
		{ skel->progs.on_softirq_entry, &skel->links.on_softirq_entry },
		{ skel->progs.on_work_end, &skel->links.on_work_end },
		{ skel->progs.on_work_start, &skel->links.on_work_start },
		{ skel->progs.on_bh_work_end, &skel->links.on_bh_work_end },
		{ skel->progs.on_bh_work_start, &skel->links.on_bh_work_start },
		{ skel->progs.on_cpu_idle, &skel->links.on_cpu_idle },
		{ skel->progs.on_cpu_frequency, &skel->links.on_cpu_frequency },
		{ skel->progs.on_sched_migrate_task, &skel->links.on_sched_migrate_task },
		{ skel->progs.on_sched_wakeup_new, &skel->links.on_sched_wakeup_new },
		{ skel->progs.on_sched_waking, &skel->links.on_sched_waking },
		{ skel->progs.on_offcpu_waking, &skel->links.on_offcpu_waking },
		{ skel->progs.on_sched_switch, &skel->links.on_sched_switch },
		/* Behind it: they run in this order. */
		{ skel->progs.on_offcpu_switch, &skel->links.on_offcpu_switch },
	};
	char deed[64];
	int r = start_map_rings(c, reterr_text);

	if (r < 0)
		return r;
	*libbpf_says = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!bpf_program__autoload(rows[i].prog))
			continue;
		*rows[i].link = bpf_program__attach(rows[i].prog);
		if (*rows[i].link)
			continue;
		snprintf(deed, sizeof(deed), "attach %s", bpf_program__name(rows[i].prog));
		return failed(-errno, deed, reterr_text);
	}
	return 0;
}

int collector_start_sampler(struct collector *c, char **reterr_text)
{
	int r;

	if (!(c->categories & CATEGORY_PROFILE))
		return 0;
	*libbpf_says = '\0';
	r = sampler_new(c->skel->progs.on_tick, c->n_cpus, c->frequency, &c->sampler);
	if (r == -EINVAL) {
		*reterr_text = strdup("the kernel does not allow this many samples a second; see "
				      "kernel.perf_event_max_sample_rate, or give a smaller -F");
		return r;
	}
	return r < 0 ? failed(r, "take samples (perf events)", reterr_text) : 0;
}

struct collector_memory collector_memory_tables(struct collector *c)
{
	struct kymo_bpf *skel = c->skel;
	struct bpf_program *programs[PROBES_PROGRAMS];
	struct collector_memory ret = {
		.way = c->way,
		.processes_fd = bpf_map__fd(skel->maps.memory_processes),
		.ended_fd = bpf_map__fd(skel->maps.memory_ended),
		.stacks_fd = bpf_map__fd(skel->maps.memory_stacks),
		.blocks_fd = bpf_map__fd(skel->maps.memory_blocks),
		.happenings_fd = bpf_map__fd(skel->maps.memory_happenings),
		.instances = &skel->bss->memory_instances,
		.unheard = &skel->bss->memory_unheard,
	};

	probe_programs(skel, programs);
	for (enum probes_program i = 0; i < PROBES_PROGRAMS; i++)
		ret.programs[i] = bpf_program__fd(programs[i]);
	return ret;
}

void collector_set_context(struct collector *c, uint32_t bits)
{
	__atomic_store_n(&c->skel->bss->memory_context, bits, __ATOMIC_RELAXED);
}

const char *collector_sample_clock(const struct collector *c)
{
	return c->clock ? c->clock : "";
}

static void set_online(struct collector *c)
{
	map_rings_set_online(c->map_rings, c->online);
	if (c->sampler)
		sampler_set_online(c->sampler, c->online);
}

void collector_look_after_cpus(struct collector *c)
{
	if (!c->map_rings)
		return;
	/* First those that are not there as before, then those that are back. */
	cpus_online(c->online, c->n_cpus);
	if (cpus_clear_gone(c->skel->bss->cpu_departures, c->departures, c->online, c->n_cpus)) {
		set_online(c);
		cpus_online(c->online, c->n_cpus);
	}
	set_online(c);
}

void collector_forget_stacks(struct collector *c)
{
	__atomic_add_fetch(&c->skel->bss->stack_generation, 1, __ATOMIC_RELAXED);
}

static void drop_link(struct bpf_link **link)
{
	bpf_link__destroy(*link);
	*link = NULL;
}

void collector_shed_stacks(struct collector *c)
{
	c->sampler = sampler_free(c->sampler);
	drop_link(&c->skel->links.on_offcpu_switch);
	drop_link(&c->skel->links.on_offcpu_waking);
}

void collector_shed_wakeups(struct collector *c)
{
	drop_link(&c->skel->links.on_sched_waking);
	drop_link(&c->skel->links.on_sched_wakeup_new);
}

void collector_detach(struct collector *c)
{
	/* It began last. */
	c->sampler = sampler_free(c->sampler);
	kymo_bpf__detach(c->skel);
	/* One that was running when its link went may still be: wait until every CPU has passed
	 * through the scheduler. Where the call is not to be had, the wait is what it was. */
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	if (c->map_rings)
		map_rings_stop(c->map_rings);
}

/* Hands all that the iterator PROG writes to FN, records of RECORD_BYTES. */
static int iterate(struct bpf_program *prog, size_t record_bytes, collector_record_fn fn,
		   void *userdata)
{
	_Alignas(8) uint8_t buffer[64 * sizeof(struct rec_task)];
	_cleanup_close_ int fd = -1;
	struct bpf_link *link = bpf_program__attach_iter(prog, NULL);
	size_t have = 0, used;
	ssize_t n;
	int r = 0;

	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	bpf_link__destroy(link);
	if (fd < 0)
		return fd;
	while (r >= 0 && (n = read(fd, buffer + have, sizeof(buffer) - have)) > 0) {
		have += (size_t)n;
		for (used = 0; r >= 0 && have - used >= record_bytes; used += record_bytes) {
			const struct rec_head *rec = decode_record(buffer + used, have - used);

			if (!rec)
				return -EBADMSG;
			r = fn(rec, userdata);
		}
		have -= used;
		memmove(buffer, buffer + used, have);
	}
	if (r < 0)
		return r;
	return n < 0 ? -errno : 0;
}

int collector_list_tasks(struct collector *c, collector_record_fn fn, void *userdata)
{
	return iterate(c->skel->progs.on_iter_task, sizeof(struct rec_task), fn, userdata);
}

int collector_list_registers(struct collector *c, uint32_t pid, collector_record_fn fn,
			     void *userdata)
{
	c->skel->bss->reach_pid = pid;
	return iterate(c->skel->progs.on_iter_registers, sizeof(struct rec_registers), fn,
		       userdata);
}

/* ---- rings ---- */

unsigned collector_n_cpus(const struct collector *c)
{
	return c->n_cpus;
}

static const struct word_rings *rings_of(const struct collector *c, enum event_class class)
{
	return class == CLASS_SCHED ? &c->sched : &c->cpu;
}

struct word_ring *collector_ring(struct collector *c, enum event_class class, unsigned cpu)
{
	static const int cpu_rings[CLASS_MAX] = {
		[CLASS_IRQ] = CPU_RING_IRQ + 1,
		[CLASS_SOFTIRQ] = CPU_RING_SOFTIRQ + 1,
		[CLASS_IDLE] = CPU_RING_IDLE + 1,
	};
	const struct word_rings *rings = rings_of(c, class);
	unsigned at = cpu;

	if (class != CLASS_SCHED) {
		if (!cpu_rings[class] ||
		    !(c->categories & cpu_ring_categories[cpu_rings[class] - 1]))
			return NULL;
		at += c->skel->rodata->cpu_rings_from[cpu_rings[class] - 1];
	}
	return rings->map ? (struct word_ring *)(rings->map + at * rings->stride) : NULL;
}

uint64_t collector_ring_bytes(const struct collector *c, enum event_class class)
{
	return rings_of(c, class)->bytes;
}

int collector_drain_records(struct collector *c, collector_record_fn fn, void *userdata)
{
	int r;

	c->fn = fn;
	c->userdata = userdata;
	r = ring_buffer__consume(c->records);
	if (r >= 0 && c->map_rings)
		r = map_rings_drain(c->map_rings, fn, userdata);
	return r < 0 ? r : 0;
}

static struct collector_lost pending_in_words(const struct word_ring *ring)
{
	return (struct collector_lost){
		.count = __atomic_load_n(&ring->lost_count, __ATOMIC_RELAXED),
		.first_ns = __atomic_load_n(&ring->lost_first_ns, __ATOMIC_RELAXED),
		.last_ns = __atomic_load_n(&ring->lost_last_ns, __ATOMIC_RELAXED),
	};
}

static struct collector_lost pending_in_map_ring(struct collector *c, unsigned cpu)
{
	struct map_rings_lost lost = { 0 };

	if (c->map_rings)
		lost = map_rings_pending_lost(c->map_rings, cpu);
	return (struct collector_lost){ lost.count, lost.first_ns, lost.last_ns };
}

struct collector_lost collector_pending_lost(struct collector *c, enum event_class class,
					     unsigned cpu)
{
	static const int rec_rings[CLASS_MAX] = {
		[CLASS_LIFECYCLE] = REC_RING_LIFECYCLE + 1,
		[CLASS_WORKQUEUE] = REC_RING_WORKQUEUE + 1,
		[CLASS_FREQUENCY] = REC_RING_FREQUENCY + 1,
		[CLASS_STACKS] = REC_RING_STACKS + 1,
		[CLASS_MEMORY] = REC_RING_MEMORY + 1,
	};
	const struct word_ring *ring = collector_ring(c, class, cpu);
	uint32_t at = (uint32_t)rec_rings[class] - 1;

	if (ring)
		return pending_in_words(ring);
	if (class == CLASS_MAPPINGS)
		return pending_in_map_ring(c, cpu);
	if (rec_rings[class] == 0 || !has_rec_ring(c->categories, at) ||
	    bpf_map_lookup_elem(bpf_map__fd(c->skel->maps.rec_states), &at, c->states) < 0)
		return (struct collector_lost){ 0 };
	return (struct collector_lost){
		.count = c->states[cpu].lost_count,
		.first_ns = c->states[cpu].lost_first_ns,
		.last_ns = c->states[cpu].lost_last_ns,
	};
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
	};
	uint64_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct bpf_prog_info info = { 0 };
		uint32_t size = sizeof(info);

		if (rows[i].class == class && bpf_program__autoload(rows[i].prog) &&
		    bpf_obj_get_info_by_fd(bpf_program__fd(rows[i].prog), &info, &size) == 0)
			n += info.recursion_misses;
	}
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

int collector_doorbell_fd(const struct collector *c)
{
	return ring_buffer__epoll_fd(c->doorbell);
}

void collector_answer_doorbell(struct collector *c)
{
	ring_buffer__consume(c->doorbell);
}

uint64_t collector_n_malformed(const struct collector *c)
{
	return c->n_malformed;
}
