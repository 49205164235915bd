/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/programs/map-rings.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>

#include "base/clock.h"
#include "capture/programs/cpus.h"
#include "capture/perf/perf-event.h"

/* The size that every user may lock (kernel.perf_event_mlock_kb, without the first page). */
enum { RING_BYTES_LEAST = 512 << 10 };

/* After this time, the other half of a record is no longer expected. */
#define HALF_NS UINT64_C(1000000)

/* PERF_FORMAT_LOST of linux/perf_event.h, since 6.0. */
#define FORMAT_LOST (1u << 4)

struct ring {
	int fds[2];           /* the events with build ids and with inodes; -1 = not open */
	uint64_t inode_event; /* the id of the event with inodes */
	struct perf_event_mmap_page *page;
	size_t bytes; /* bytes after the first page */
};

struct cpu {
	struct ring ring;         /* only for the draining thread */
	struct ring next;         /* replaces RING at the next drain; guarded by the lock */
	struct map_records state; /* this and the members below are only for the draining thread */
	uint64_t lost;            /* losses that were reported in the ring */
	uint64_t drained_ns;      /* the last time when the ring was empty */
};

struct map_rings {
	unsigned n_cpus;
	size_t page_bytes;
	size_t ring_bytes; /* the size that was requested */
	int epoll_fd;      /* borrowed */
	pthread_mutex_t lock;
	bool *online; /* only for the thread that sets it */
	bool stopped;
	struct cpu *cpus;
	uint8_t *record; /* copy of a record that wraps around the end of its ring */
};

static const struct ring no_ring = { .fds = { -1, -1 } };

/* ---- one ring ---- */

static void map_close_ring(const struct map_rings *m, struct ring *ring)
{
	if (ring->page)
		munmap(ring->page, m->page_bytes + ring->bytes);
	/*
	 * The second event writes into the ring of the first, so the second event is closed first.
	 */
	close_fd(ring->fds[1]);
	close_fd(ring->fds[0]);
	*ring = no_ring;
}

static int map_rings_open_event(unsigned cpu, bool build_ids)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_ID,
		.read_format = FORMAT_LOST,
		.sample_id_all = 1,
		.disabled = 1,
		.mmap = 1,
		.mmap2 = 1,
		.build_id = build_ids,
		.comm = build_ids, /* one of the two events suffices */
		.comm_exec = build_ids,
		.watermark = 1,
		.wakeup_watermark = RING_BYTES_LEAST / 4,
		.use_clockid = 1,
		.clockid = CLOCK_BOOTTIME,
	};

	return perf_event_open_cpu(&attr, cpu);
}

/* Maps a ring of the requested size, or of the largest size that may be locked. */
static void *map_ring(const struct map_rings *m, int fd, size_t *ret_bytes)
{
	void *page = MAP_FAILED;

	for (size_t bytes = m->ring_bytes; page == MAP_FAILED && bytes >= RING_BYTES_LEAST;
	     bytes /= 2) {
		page = mmap(NULL, m->page_bytes + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		*ret_bytes = bytes;
	}
	return page;
}

static int map_open_ring(struct map_rings *m, unsigned cpu, struct ring *ring)
{
	void *page;

	*ring = no_ring;
	for (int i = 0; i < 2; i++) {
		ring->fds[i] = map_rings_open_event(cpu, i == 0);
		if (ring->fds[i] < 0) {
			int r = ring->fds[i];

			map_close_ring(m, ring);
			return r;
		}
	}
	page = map_ring(m, ring->fds[0], &ring->bytes);
	if (page != MAP_FAILED)
		ring->page = page;
	if (page == MAP_FAILED ||
	    ioctl(ring->fds[1], PERF_EVENT_IOC_SET_OUTPUT, ring->fds[0]) < 0 ||
	    ioctl(ring->fds[1], PERF_EVENT_IOC_ID, &ring->inode_event) < 0 ||
	    ioctl(ring->fds[0], PERF_EVENT_IOC_ENABLE, 0) < 0 ||
	    ioctl(ring->fds[1], PERF_EVENT_IOC_ENABLE, 0) < 0) {
		/* mmap() returns EPERM only if the limit on locked memory is exceeded. */
		int r = page == MAP_FAILED && errno == EPERM ? MAP_RINGS_LOCKED : -errno;

		map_close_ring(m, ring);
		return r;
	}
	return 0;
}

static int map_watch_ring(const struct map_rings *m, const struct ring *ring)
{
	struct epoll_event ev = { .events = EPOLLIN };

	if (m->epoll_fd < 0 || ring->fds[0] < 0)
		return 0;
	return epoll_ctl(m->epoll_fd, EPOLL_CTL_ADD, ring->fds[0], &ev) < 0 ? -errno : 0;
}

/* Returns the losses of both events, as the kernel has counted them. */
static uint64_t map_count_lost(const struct ring *ring)
{
	uint64_t total = 0, values[2]; /* the value of the event, and its losses */

	for (int i = 0; i < 2; i++)
		if (ring->fds[i] >= 0 &&
		    read(ring->fds[i], values, sizeof(values)) == sizeof(values))
			total += values[1];
	return total;
}

/* ---- draining ---- */

static int map_report_loss(struct cpu *c, uint64_t count, uint64_t now_ns, map_record_fn fn,
			   void *userdata)
{
	const struct rec_lost rec = {
		.head = { .ts_ns = c->drained_ns,
			  .size = sizeof(rec),
			  .kind = REC_LOST,
			  .cpu = (uint16_t)c->state.cpu },
		.count = count,
		.first_ns = c->drained_ns,
		.last_ns = now_ns,
		.ring = REC_RING_MAPPINGS,
	};

	c->lost += count;
	return fn(&rec.head, userdata);
}

/* Returns the record of SIZE bytes at AT in the ring, as one piece of memory. */
static const void *map_record_at(struct map_rings *m, const struct ring *ring, uint64_t at,
				 size_t size)
{
	const uint8_t *bytes = (const uint8_t *)ring->page + m->page_bytes;
	size_t from = at % ring->bytes, first = ring->bytes - from;

	if (size <= first)
		return bytes + from;
	memcpy(m->record, bytes + from, first);
	memcpy(m->record + first, bytes, size - first);
	return m->record;
}

static int map_drain_ring(struct map_rings *m, struct cpu *c, map_record_fn fn, void *userdata)
{
	struct perf_event_mmap_page *page = c->ring.page;
	uint64_t now_ns = clock_boot_ns(), lost = 0, head, tail;
	const struct perf_event_header *header;
	int r = 0;

	if (!page)
		return 0;
	c->state.inode_event = c->ring.inode_event;
	head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	tail = page->data_tail;
	while (r == 0 && head - tail >= sizeof(*header)) {
		header = map_record_at(m, &c->ring, tail, sizeof(*header));
		/*
		 * This never happens. After a record with an invalid size, later records could not
		 * be found either.
		 */
		if (header->size < sizeof(*header) || header->size > head - tail) {
			tail = head;
			break;
		}
		r = map_records_decode(&c->state, map_record_at(m, &c->ring, tail, header->size),
				       header->size, fn, userdata, &lost);
		tail += header->size;
		if (r == 0 && lost) {
			r = map_report_loss(c, lost, now_ns, fn, userdata);
			lost = 0;
		}
	}
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
	if (r == 0)
		r = map_records_flush(&c->state, m->stopped ? UINT64_MAX : now_ns - HALF_NS, fn,
				      userdata);
	c->drained_ns = now_ns;
	return r;
}

int map_rings_drain(struct map_rings *m, map_record_fn fn, void *userdata)
{
	int r = 0;

	for (unsigned cpu = 0; r == 0 && cpu < m->n_cpus; cpu++) {
		struct cpu *c = &m->cpus[cpu];

		r = map_drain_ring(m, c, fn, userdata);
		if (r < 0 || __atomic_load_n(&c->next.page, __ATOMIC_RELAXED) == NULL)
			continue;
		pthread_mutex_lock(&m->lock);
		map_close_ring(m, &c->ring);
		c->ring = c->next;
		c->next = no_ring;
		c->lost = 0;
		map_watch_ring(m, &c->ring);
		pthread_mutex_unlock(&m->lock);
		r = map_drain_ring(m, c, fn, userdata);
	}
	return r;
}

void map_rings_translate(struct map_rings *m, int ids_fd)
{
	for (unsigned cpu = 0; cpu < m->n_cpus; cpu++) {
		m->cpus[cpu].state.translates = true;
		m->cpus[cpu].state.ids_fd = ids_fd;
	}
}

struct map_rings_lost map_rings_pending_lost(struct map_rings *m, unsigned cpu)
{
	const struct cpu *c = &m->cpus[cpu];
	uint64_t total = map_count_lost(&c->ring);

	return (struct map_rings_lost){
		.count = total > c->lost ? total - c->lost : 0,
		.first_ns = c->drained_ns,
		.last_ns = clock_boot_ns(),
	};
}

/* ---- life ---- */

static uint64_t map_choose_bytes(uint64_t ring_bytes)
{
	return ring_bytes > RING_BYTES_LEAST ? ring_bytes : RING_BYTES_LEAST;
}

uint64_t map_rings_memory(unsigned n_cpus, uint64_t ring_bytes)
{
	return n_cpus * (map_choose_bytes(ring_bytes) + (uint64_t)getpagesize());
}

int map_rings_new(unsigned n_cpus, uint64_t ring_bytes, struct map_rings **ret)
{
	_cleanup_(map_rings_freep) struct map_rings *m = calloc(1, sizeof(*m));
	int r = 0;

	if (!m)
		return -ENOMEM;
	pthread_mutex_init(&m->lock, NULL);
	m->n_cpus = n_cpus;
	m->page_bytes = (size_t)getpagesize();
	m->ring_bytes = (size_t)map_choose_bytes(ring_bytes);
	m->epoll_fd = -1;
	m->cpus = calloc(n_cpus, sizeof(*m->cpus));
	m->online = calloc(n_cpus, sizeof(*m->online));
	m->record = malloc(MAP_RECORD_MAX);
	if (!m->cpus || !m->online || !m->record)
		return -ENOMEM;
	cpus_online(m->online, n_cpus);
	for (unsigned cpu = 0; cpu < n_cpus; cpu++) {
		m->cpus[cpu].ring = m->cpus[cpu].next = no_ring;
		m->cpus[cpu].state.cpu = cpu;
		m->cpus[cpu].drained_ns = clock_boot_ns();
	}
	for (unsigned cpu = 0; r == 0 && cpu < n_cpus; cpu++) {
		if (!m->online[cpu])
			continue;
		r = map_open_ring(m, cpu, &m->cpus[cpu].ring);
		if (r == -ENODEV) { /* the CPU has just gone offline */
			m->online[cpu] = false;
			r = 0;
		}
	}
	if (r < 0)
		return r;
	*ret = TAKE_PTR(m);
	return 0;
}

struct map_rings *map_rings_free(struct map_rings *m)
{
	if (!m)
		return NULL;
	for (unsigned cpu = 0; m->cpus && cpu < m->n_cpus; cpu++) {
		map_close_ring(m, &m->cpus[cpu].ring);
		map_close_ring(m, &m->cpus[cpu].next);
	}
	pthread_mutex_destroy(&m->lock);
	free(m->cpus);
	free(m->online);
	free(m->record);
	return free_ptr(m);
}

int map_rings_watch(struct map_rings *m, int epoll_fd)
{
	int r = 0;

	m->epoll_fd = epoll_fd;
	for (unsigned cpu = 0; r == 0 && cpu < m->n_cpus; cpu++)
		r = map_watch_ring(m, &m->cpus[cpu].ring);
	return r;
}

static void map_stop_ring(const struct ring *ring)
{
	for (int i = 0; i < 2; i++)
		if (ring->fds[i] >= 0)
			ioctl(ring->fds[i], PERF_EVENT_IOC_DISABLE, 0);
}

void map_rings_stop(struct map_rings *m)
{
	pthread_mutex_lock(&m->lock);
	for (unsigned cpu = 0; cpu < m->n_cpus; cpu++) {
		map_stop_ring(&m->cpus[cpu].ring);
		map_stop_ring(&m->cpus[cpu].next);
	}
	pthread_mutex_unlock(&m->lock);
	m->stopped = true;
}

void map_rings_start(struct map_rings *m)
{
	m->stopped = false;
	memset(m->online, false, m->n_cpus * sizeof(*m->online));
}

void map_rings_forget_lost(struct map_rings *m, unsigned cpu)
{
	m->cpus[cpu].lost = map_count_lost(&m->cpus[cpu].ring);
}

void map_rings_set_online(struct map_rings *m, const bool *online)
{
	struct ring ring;

	for (unsigned cpu = 0; cpu < m->n_cpus; cpu++) {
		bool back = online[cpu] && !m->online[cpu];

		if (back && map_open_ring(m, cpu, &ring) < 0)
			continue; /* the CPU is not ready yet: the next check tries again */
		m->online[cpu] = online[cpu];
		if (!back)
			continue;
		pthread_mutex_lock(&m->lock);
		map_close_ring(m, &m->cpus[cpu].next);
		m->cpus[cpu].next = ring;
		pthread_mutex_unlock(&m->lock);
	}
}
