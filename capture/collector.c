/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/collector.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/kymo.skel.h"
#include "capture/decode.h"
#include "capture/kernel-btf.h"

/* 1000 whole lives of processes between two drains, on each CPU. */
enum { LIFECYCLE_RING_BYTES = 1 << 20 };

/* Unless the user asks for more: a CPU's word ring, and all of them together. */
#define RING_BYTES_DEFAULT  ((uint64_t)4 << 20)
#define RINGS_BYTES_DEFAULT ((uint64_t)256 << 20)

struct collector {
	struct kymo_bpf *skel;
	unsigned n_cpus;
	uint64_t ring_bytes;
	size_t ring_stride; /* from one CPU's word ring to the next */
	uint8_t *rings;     /* mapped */
	size_t rings_size;
	struct ring_buffer *lifecycle; /* all CPUs' */
	struct ring_buffer *doorbell;
	struct lifecycle_state *states; /* where a look-up puts those of all CPUs */
	collector_record_fn fn;         /* of the round that runs */
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

	if (error == -EPERM || error == -EACCES)
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

static uint32_t filter_kinds(const struct capture_filter *f)
{
	return (f->n_pids ? FILTER_PID : 0) | (f->n_comms ? FILTER_COMM : 0) |
	       (f->n_uids ? FILTER_UID : 0) | (f->n_cgroups ? FILTER_CGROUP : 0);
}

static int configure(struct collector *c, const struct session_options *o)
{
	struct kymo_bpf *skel = c->skel;
	int64_t from_rq = 0;
	int r;

	c->ring_stride = sizeof(struct word_ring) + c->ring_bytes + RING_SLACK_BYTES;
	skel->rodata->sched_ring_bytes = c->ring_bytes;
	skel->rodata->lifecycle_ring_bytes = LIFECYCLE_RING_BYTES;
	skel->rodata->filter_kinds = filter_kinds(&o->filter);
	r = kernel_btf_preempt_count(&from_rq);
	if (r < 0)
		return r;
	skel->rodata->preempt_count_from_rq = from_rq;

	r = bpf_map__set_value_size(skel->maps.sched_rings, (uint32_t)c->ring_stride);
	if (r == 0)
		r = bpf_map__set_max_entries(skel->maps.sched_rings, c->n_cpus);
	if (r == 0)
		r = bpf_map__set_max_entries(skel->maps.lifecycle_rings, c->n_cpus);
	if (r == 0)
		r = bpf_map__set_max_entries(skel->maps.doorbell, (uint32_t)getpagesize());
	if (r < 0)
		return r;

	bpf_program__set_autoload(skel->progs.on_sched_process_fork, true);
	bpf_program__set_autoload(skel->progs.on_sched_process_exec, true);
	bpf_program__set_autoload(skel->progs.on_sched_process_exit, true);
	bpf_program__set_autoload(skel->progs.on_task_rename, true);
	bpf_program__set_autoload(skel->progs.on_iter_task, true);
	bpf_program__set_autoload(skel->progs.on_sched_process_free, o->filter.n_pids > 0);
	if (o->categories & CATEGORY_SCHED) {
		bpf_program__set_autoload(skel->progs.on_sched_switch, true);
		bpf_program__set_autoload(skel->progs.on_sched_waking, true);
		bpf_program__set_autoload(skel->progs.on_sched_wakeup_new, true);
		bpf_program__set_autoload(skel->progs.on_sched_migrate_task, true);
	}
	return 0;
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

static int map_word_rings(struct collector *c)
{
	size_t page = (size_t)getpagesize();
	void *p;

	c->rings_size = (c->n_cpus * c->ring_stride + page - 1) & ~(page - 1);
	p = mmap(NULL, c->rings_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		 bpf_map__fd(c->skel->maps.sched_rings), 0);
	if (p == MAP_FAILED)
		return -errno;
	c->rings = p;
	return 0;
}

static int on_lifecycle_record(void *userdata, void *data, size_t size)
{
	struct collector *c = userdata;
	const struct rec_head *rec = decode_record(data, size);

	if (!rec || rec->kind == REC_TASK || rec->cpu >= c->n_cpus) {
		c->n_malformed++;
		return 0;
	}
	return c->fn(rec, c->userdata);
}

static int make_lifecycle_rings(struct collector *c)
{
	int outer = bpf_map__fd(c->skel->maps.lifecycle_rings);

	for (uint32_t cpu = 0; cpu < c->n_cpus; cpu++) {
		_cleanup_close_ int ring = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "lifecycle_ring", 0,
							  0, LIFECYCLE_RING_BYTES, NULL);

		if (ring < 0)
			return ring;
		if (bpf_map_update_elem(outer, &cpu, &ring, BPF_ANY) < 0)
			return -errno;
		/* The manager maps the ring and needs the descriptor only meanwhile; the outer map
		 * keeps the ring alive. */
		if (!c->lifecycle) {
			c->lifecycle = ring_buffer__new(ring, on_lifecycle_record, c, NULL);
			if (!c->lifecycle)
				return -errno;
		} else {
			int r = ring_buffer__add(c->lifecycle, ring, on_lifecycle_record, c);

			if (r < 0)
				return r;
		}
	}
	return 0;
}

static int on_doorbell(void *userdata, void *data, size_t size)
{
	(void)userdata;
	(void)data;
	(void)size;
	return 0;
}

static int make_rings(struct collector *c)
{
	int r = map_word_rings(c);

	if (r == 0)
		r = make_lifecycle_rings(c);
	if (r < 0)
		return r;
	c->doorbell = ring_buffer__new(bpf_map__fd(c->skel->maps.doorbell), on_doorbell, c, NULL);
	return c->doorbell ? 0 : -errno;
}

uint64_t collector_memory(uint64_t ring_bytes)
{
	int n = libbpf_num_possible_cpus();

	return (uint64_t)(n > 0 ? n : 1) * (ring_bytes + LIFECYCLE_RING_BYTES);
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
	c->states = calloc(c->n_cpus, sizeof(*c->states));
	if (!c->states)
		return failed(-ENOMEM, "make a session", reterr_text);
	c->ring_bytes = options->ring_bytes;
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
	r = make_rings(c);
	if (r < 0)
		return failed(r, "make the rings", reterr_text);
	*ret = TAKE_PTR(c);
	return 0;
}

struct collector *collector_free(struct collector *c)
{
	if (!c)
		return NULL;
	ring_buffer__free(c->doorbell);
	ring_buffer__free(c->lifecycle);
	if (c->rings)
		munmap(c->rings, c->rings_size);
	kymo_bpf__destroy(c->skel);
	free(c->states);
	free(c);
	return NULL;
}

/* ---- attach ---- */

int collector_attach(struct collector *c, char **reterr_text)
{
	struct kymo_bpf *skel = c->skel;
	/* In this order: who a thread is must be known before it is seen running. The switches come
	 * last, so that each wakeup that matters to one has been seen. */
	const struct {
		struct bpf_program *prog;
		struct bpf_link **link;
	} rows[] = {
		{ skel->progs.on_sched_process_fork, &skel->links.on_sched_process_fork },
		{ skel->progs.on_task_rename, &skel->links.on_task_rename },
		{ skel->progs.on_sched_process_exec, &skel->links.on_sched_process_exec },
		{ skel->progs.on_sched_process_exit, &skel->links.on_sched_process_exit },
		{ skel->progs.on_sched_process_free, &skel->links.on_sched_process_free },
		{ skel->progs.on_sched_migrate_task, &skel->links.on_sched_migrate_task },
		{ skel->progs.on_sched_wakeup_new, &skel->links.on_sched_wakeup_new },
		{ skel->progs.on_sched_waking, &skel->links.on_sched_waking },
		{ skel->progs.on_sched_switch, &skel->links.on_sched_switch },
	};
	char deed[64];

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

void collector_detach(struct collector *c)
{
	kymo_bpf__detach(c->skel);
	/* One that was running when its link went may still be: wait until every CPU has passed
	 * through the scheduler. Where the call is not to be had, the wait is what it was. */
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

int collector_list_tasks(struct collector *c, collector_record_fn fn, void *userdata)
{
	_Alignas(8) uint8_t buffer[64 * sizeof(struct rec_task)];
	_cleanup_close_ int fd = -1;
	struct bpf_link *link = bpf_program__attach_iter(c->skel->progs.on_iter_task, NULL);
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
		for (used = 0; r >= 0 && have - used >= sizeof(struct rec_task);
		     used += sizeof(struct rec_task)) {
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

/* ---- rings ---- */

unsigned collector_n_cpus(const struct collector *c)
{
	return c->n_cpus;
}

struct word_ring *collector_ring(struct collector *c, unsigned cpu)
{
	return (struct word_ring *)(c->rings + cpu * c->ring_stride);
}

uint64_t collector_ring_bytes(const struct collector *c)
{
	return c->ring_bytes;
}

int collector_drain_lifecycle(struct collector *c, collector_record_fn fn, void *userdata)
{
	int r;

	c->fn = fn;
	c->userdata = userdata;
	r = ring_buffer__consume(c->lifecycle);
	return r < 0 ? r : 0;
}

struct collector_lost collector_pending_lost(struct collector *c, enum event_class class,
					     unsigned cpu)
{
	const struct word_ring *ring = collector_ring(c, cpu);
	uint32_t zero = 0;

	if (class == CLASS_SCHED)
		return (struct collector_lost){
			.count = __atomic_load_n(&ring->lost_count, __ATOMIC_RELAXED),
			.first_ns = __atomic_load_n(&ring->lost_first_ns, __ATOMIC_RELAXED),
			.last_ns = __atomic_load_n(&ring->lost_last_ns, __ATOMIC_RELAXED),
		};
	if (bpf_map_lookup_elem(bpf_map__fd(c->skel->maps.lifecycle_states), &zero, c->states) < 0)
		return (struct collector_lost){ 0 };
	return (struct collector_lost){
		.count = c->states[cpu].lost_count,
		.first_ns = c->states[cpu].lost_first_ns,
		.last_ns = c->states[cpu].lost_last_ns,
	};
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
