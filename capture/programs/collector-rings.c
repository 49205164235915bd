/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/programs/collector-parts.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "capture/programs/bpf-ring.h"
#include "capture/programs/decode.h"
#include "capture/programs/rec-rings.h"
#include "capture/sandbox/thread.h"

/*
 * The ring of a CPU has room for the records of 1000 processes that begin and end between two
 * drains. The size of the rings of all CPUs together is limited, since not all CPUs start that many
 * processes at once.
 */
#define LIFECYCLE_RING_BYTES  ((uint64_t)1 << 20)
#define LIFECYCLE_RINGS_BYTES ((uint64_t)64 << 20)

/*
 * The default size of a CPU's ring for scheduling or for calls, and the default maximum of memory
 * for all rings and the copies of their records. In the service, this maximum is lower
 * (daemon/sessions/limits.h).
 */
#define RING_BYTES_DEFAULT   ((uint64_t)4 << 20)
#define RINGS_MEMORY_DEFAULT ((uint64_t)1 << 30)

/*
 * All rings except those for scheduling and calls are smaller by this factor, since these rings get
 * less data.
 */
enum { OTHER_RINGS_SHARE = 4 };

static uint64_t collector_n_possible_cpus(void)
{
	int n = libbpf_num_possible_cpus();

	return n > 0 ? (uint64_t)n : 1;
}

static uint64_t collector_other_ring_bytes(uint64_t ring_bytes)
{
	uint64_t bytes = ring_bytes / OTHER_RINGS_SHARE;

	return bytes < RING_BYTES_MIN ? RING_BYTES_MIN : bytes;
}

/* The category whose events fill each CPU_RING_*. */
static const uint32_t cpu_ring_categories[CPU_RINGS] = {
	[CPU_RING_IRQ] = CATEGORY_IRQ,
	[CPU_RING_SOFTIRQ] = CATEGORY_SOFTIRQ,
	[CPU_RING_IDLE] = CATEGORY_POWER,
};

static uint64_t collector_lifecycle_ring_bytes(void)
{
	uint64_t bytes = LIFECYCLE_RING_BYTES;

	while (bytes > RING_BYTES_MIN &&
	       bytes * collector_n_possible_cpus() > LIFECYCLE_RINGS_BYTES)
		bytes /= 2;
	return bytes;
}

static uint64_t collector_rec_ring_bytes(uint64_t ring_bytes, unsigned ring)
{
	uint64_t bytes = collector_other_ring_bytes(ring_bytes);
	uint64_t least = ring == REC_RING_LIFECYCLE ? collector_lifecycle_ring_bytes() : 0;

	/*
	 * A thread can make 5,000 system calls with data in the 10 ms until user space runs, so
	 * these rings are larger.
	 */
	if (ring == REC_RING_CALLS || ring == REC_RING_TRACEPOINTS)
		return ring_bytes;
	return bytes < least ? least : bytes;
}

uint64_t collector_map_ring_bytes(uint64_t ring_bytes)
{
	return collector_other_ring_bytes(ring_bytes) / 2;
}

/* Sets up MAP with N word rings of BYTES each. If N is 0, the map is not created. */
static int collector_configure_words(struct word_rings *rings, struct bpf_map *map, unsigned n,
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

int collector_configure_rings(struct collector *c, const struct session_options *o)
{
	struct kymo_bpf *skel = c->skel;
	unsigned n_cpu_rings = 0;
	int r;

	skel->rodata->sched_ring_bytes = o->categories & CATEGORY_SCHED ? o->ring_bytes : 0;
	skel->rodata->cpu_ring_bytes = collector_other_ring_bytes(o->ring_bytes);
	for (unsigned i = 0; i < CPU_RINGS; i++) {
		skel->rodata->cpu_rings_from[i] = n_cpu_rings;
		if (o->categories & cpu_ring_categories[i])
			n_cpu_rings += c->n_cpus;
	}
	for (unsigned i = 0; i < REC_RINGS; i++)
		skel->rodata->rec_ring_bytes[i] = collector_rec_ring_bytes(o->ring_bytes, i);
	r = collector_configure_words(&c->sched, skel->maps.sched_rings,
				      o->categories & CATEGORY_SCHED ? c->n_cpus : 0,
				      o->ring_bytes);
	if (r == 0)
		r = collector_configure_words(&c->cpu, skel->maps.cpu_rings, n_cpu_rings,
					      collector_other_ring_bytes(o->ring_bytes));
	return r < 0 ? r : bpf_map__set_max_entries(skel->maps.doorbell, (uint32_t)getpagesize());
}

static int collector_map_word_rings(struct word_rings *rings, struct bpf_map *map)
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

static int collector_rings_on_record(void *data, size_t size, void *userdata)
{
	struct collector *c = userdata;
	const struct rec_head *rec = decode_ring_record(data, size);
	int r;

	if (!rec || rec->cpu >= c->n_cpus) {
		c->n_malformed++;
		return 0;
	}
	r = c->fn(rec, c->userdata);
	if (r > 0)
		return r;
	if (rec->kind == REC_PIECE || rec->kind == REC_HEAP_PIECE)
		collector_check_piece(c, (const struct rec_piece *)rec);
	if (rec->kind == REC_FORK)
		collector_check_fork(c, (const struct rec_fork *)rec);
	return r;
}

/* Creates a BPF ring buffer in *RET_FD, and adds it to the rings that are drained. */
static int collector_make_rec_ring(struct collector *c, uint64_t bytes, int *ret_fd)
{
	int r;

	*ret_fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "rec_ring", 0, 0, (uint32_t)bytes, NULL);
	if (*ret_fd < 0)
		return *ret_fd;
	r = bpf_ring_new(*ret_fd, (size_t)bytes, &c->records[c->n_records]);
	if (r == 0)
		c->n_records++;
	return r;
}

/* The rings that were created: their indices in the map, and their descriptors. */
struct rec_ring_set {
	uint32_t n;
	uint32_t *at;
	int *fds;
};

static void collector_rec_ring_set_deinit(struct rec_ring_set *set)
{
	for (uint32_t i = 0; set->fds && i < set->n; i++)
		close_fd(set->fds[i]);
	free(set->fds);
	free(set->at);
}

/*
 * Puts the rings into the map. For a whole batch, the kernel waits for one grace period, instead of
 * one for each ring. The descriptors can be closed afterwards, since the rings are mapped, and the
 * outer map keeps them alive.
 */
static int collector_put_rec_rings(struct collector *c, const struct rec_ring_set *set)
{
	int fd = bpf_map__fd(c->skel->maps.rec_rings);
	uint32_t n = set->n;

	if (bpf_map_update_batch(fd, set->at, set->fds, &n, NULL) == 0)
		return 0;
	for (uint32_t i = 0; i < set->n; i++)
		if (bpf_map_update_elem(fd, &set->at[i], &set->fds[i], BPF_ANY) < 0)
			return -errno;
	return 0;
}

static int collector_make_rec_rings(struct collector *c, uint64_t ring_bytes)
{
	_cleanup_(collector_rec_ring_set_deinit) struct rec_ring_set set = {
		.at = calloc((size_t)REC_RINGS * c->n_cpus, sizeof(*set.at)),
		.fds = calloc((size_t)REC_RINGS * c->n_cpus, sizeof(*set.fds)),
	};
	int r = 0;

	c->records = calloc((size_t)REC_RINGS * c->n_cpus, sizeof(*c->records));
	if (!set.at || !set.fds || !c->records)
		return -ENOMEM;
	for (unsigned ring = 0; ring < REC_RINGS; ring++) {
		if (!rec_ring_is_used(ring, c->categories))
			continue;
		for (uint32_t cpu = 0; r == 0 && cpu < c->n_cpus; cpu++) {
			set.at[set.n] = ring * c->n_cpus + cpu;
			r = collector_make_rec_ring(c, collector_rec_ring_bytes(ring_bytes, ring),
						    &set.fds[set.n++]);
		}
	}
	return r < 0 ? r : collector_put_rec_rings(c, &set);
}

static void *collector_rings_run(void *userdata)
{
	struct collector *c = userdata;

	c->rings_error = collector_make_rec_rings(c, c->ring_bytes);
	return NULL;
}

int collector_begin_rings(struct collector *c)
{
	/*
	 * The outer map needs an example of the rings that it will contain. The sizes of the rings
	 * may differ from the size of the example.
	 */
	_cleanup_close_ int kind = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "rec_ring", 0, 0,
						  (uint32_t)getpagesize(), NULL);
	LIBBPF_OPTS(bpf_map_create_opts, opts, .inner_map_fd = (uint32_t)kind);
	_cleanup_close_ int fd = -1;
	int r;

	if (kind < 0)
		return kind;
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "rec_rings", sizeof(uint32_t),
			    sizeof(uint32_t), REC_RINGS * c->n_cpus, &opts);
	if (fd < 0)
		return fd;
	r = bpf_map__reuse_fd(c->skel->maps.rec_rings, fd)
		    ?: thread_start_joinable(collector_rings_run, c, &c->rings_thread);
	c->rings_begun = r == 0;
	return r;
}

int collector_finish_rings(struct collector *c)
{
	if (c->rings_begun)
		pthread_join(c->rings_thread, NULL);
	c->rings_begun = false;
	return c->rings_error;
}

static int collector_on_doorbell(void *userdata, void *data, size_t size)
{
	return 0;
}

int collector_make_rings(struct collector *c)
{
	int r = collector_map_word_rings(&c->sched, c->skel->maps.sched_rings)
			?: collector_map_word_rings(&c->cpu, c->skel->maps.cpu_rings);

	if (r < 0)
		return r;
	c->doorbell = ring_buffer__new(bpf_map__fd(c->skel->maps.doorbell), collector_on_doorbell,
				       c, NULL);
	return c->doorbell ? 0 : -errno;
}

void collector_free_rings(struct collector *c)
{
	collector_finish_rings(c);
	ring_buffer__free(c->doorbell);
	for (size_t i = 0; i < c->n_records; i++)
		bpf_ring_free(c->records[i]);
	free(c->records);
	if (c->sched.map)
		munmap(c->sched.map, c->sched.map_size);
	if (c->cpu.map)
		munmap(c->cpu.map, c->cpu.map_size);
}

/* Returns the number of bytes of a CPU's BPF ring buffers for CATEGORIES. */
static uint64_t collector_rec_rings_bytes(uint64_t ring_bytes, uint32_t categories)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < REC_RINGS; i++)
		if (rec_ring_is_used(i, categories))
			bytes += collector_rec_ring_bytes(ring_bytes, i);
	return bytes;
}

uint64_t collector_memory(const struct session_options *o)
{
	uint64_t bytes = o->categories & CATEGORY_SCHED ? o->ring_bytes : 0;
	uint64_t n_cpus = collector_n_possible_cpus();

	for (unsigned i = 0; i < CPU_RINGS; i++)
		if (o->categories & cpu_ring_categories[i])
			bytes += collector_other_ring_bytes(o->ring_bytes);
	bytes += collector_rec_rings_bytes(o->ring_bytes, o->categories);
	return n_cpus * bytes +
	       map_rings_memory((unsigned)n_cpus, collector_map_ring_bytes(o->ring_bytes));
}

uint64_t collector_copies_memory(const struct session_options *o)
{
	return collector_n_possible_cpus() *
	       (collector_map_ring_bytes(o->ring_bytes) +
		collector_rec_rings_bytes(o->ring_bytes, o->categories));
}

/* Returns true if rings of BYTES are not too large for a session without the option ring_bytes. */
static bool collector_is_default_size(uint64_t bytes, const struct session_options *options)
{
	const struct session_options o = { .ring_bytes = bytes, .categories = options->categories };
	uint64_t most = options->default_rings_max ?: RINGS_MEMORY_DEFAULT;

	return bytes <= RING_BYTES_DEFAULT &&
	       collector_memory(&o) + collector_copies_memory(&o) <= most;
}

uint64_t collector_choose_ring_bytes(const struct session_options *o)
{
	uint64_t bytes = RING_BYTES_MIN;

	if (o->ring_bytes == 0)
		while (collector_is_default_size(2 * bytes, o))
			bytes *= 2;
	else
		while (bytes < o->ring_bytes && bytes < RING_BYTES_MAX)
			bytes *= 2;
	return bytes;
}

static const struct word_rings *collector_rings_of(const struct collector *c,
						   enum event_class class)
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
	const struct word_rings *rings = collector_rings_of(c, class);
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
	return collector_rings_of(c, class)->bytes;
}

static int collector_rings_on_mapping(const struct rec_head *rec, void *userdata)
{
	struct collector *c = userdata;

	if (rec->kind == REC_MAPPING)
		collector_check_mapped(c, (const struct rec_mapping *)rec);
	else if (rec->kind == REC_NEW_IMAGE)
		collector_check_new_image(c, (const struct rec_new_image *)rec);
	return c->fn(rec, c->userdata);
}

int collector_drain_records(struct collector *c, collector_record_fn fn, void *userdata)
{
	int r = 0;

	c->fn = fn;
	c->userdata = userdata;
	for (size_t i = 0; r >= 0 && i < c->n_records; i++)
		r = bpf_ring_read(c->records[i], collector_rings_on_record, c);
	if (r >= 0 && c->map_rings)
		r = map_rings_drain(c->map_rings, collector_rings_on_mapping, c);
	collector_list_mappers(c);
	return r < 0 ? r : 0;
}

uint64_t collector_records_bytes(const struct collector *c)
{
	return c->n_cpus * (collector_map_ring_bytes(c->ring_bytes) +
			    collector_rec_rings_bytes(c->ring_bytes, c->categories));
}

static struct collector_lost collector_pending_in_words(const struct word_ring *ring)
{
	return (struct collector_lost){
		.count = __atomic_load_n(&ring->lost_count, __ATOMIC_RELAXED),
		.first_ns = __atomic_load_n(&ring->lost_first_ns, __ATOMIC_RELAXED),
		.last_ns = __atomic_load_n(&ring->lost_last_ns, __ATOMIC_RELAXED),
	};
}

static struct collector_lost collector_pending_in_map_ring(struct collector *c, unsigned cpu)
{
	struct map_rings_lost lost = { 0 };

	if (c->map_rings)
		lost = map_rings_pending_lost(c->map_rings, cpu);
	return (struct collector_lost){ lost.count, lost.first_ns, lost.last_ns };
}

static void collector_forget_lost_words(struct word_ring *ring)
{
	if (!ring)
		return;
	ring->lost_count = ring->lost_first_ns = ring->lost_last_ns = 0;
	ring->lost_tid = ring->shown_tid = 0;
	ring->running = 0;
}

void collector_forget_lost(struct collector *c)
{
	int fd = bpf_map__fd(c->skel->maps.rec_states);

	for (unsigned cpu = 0; cpu < c->n_cpus; cpu++) {
		for (enum event_class class = 0; class < CLASS_MAX; class ++)
			collector_forget_lost_words(collector_ring(c, class, cpu));
		if (c->map_rings)
			map_rings_forget_lost(c->map_rings, cpu);
	}
	for (uint32_t at = 0; at < REC_RINGS; at++) {
		if (!rec_ring_is_used(at, c->categories) ||
		    bpf_map_lookup_elem(fd, &at, c->states) < 0)
			continue;
		for (unsigned cpu = 0; cpu < c->n_cpus; cpu++)
			c->states[cpu].lost_count = c->states[cpu].lost_first_ns =
				c->states[cpu].lost_last_ns = 0;
		bpf_map_update_elem(fd, &at, c->states, BPF_ANY);
	}
}

struct collector_lost collector_pending_lost(struct collector *c, enum event_class class,
					     unsigned cpu)
{
	const struct word_ring *ring = collector_ring(c, class, cpu);
	uint32_t at = rec_ring_of_class(class);

	if (ring)
		return collector_pending_in_words(ring);
	if (class == CLASS_MAPPINGS)
		return collector_pending_in_map_ring(c, cpu);
	if (at == REC_RINGS || !rec_ring_is_used(at, c->categories) ||
	    bpf_map_lookup_elem(bpf_map__fd(c->skel->maps.rec_states), &at, c->states) < 0)
		return (struct collector_lost){ 0 };
	return (struct collector_lost){
		.count = c->states[cpu].lost_count,
		.first_ns = c->states[cpu].lost_first_ns,
		.last_ns = c->states[cpu].lost_last_ns,
	};
}
