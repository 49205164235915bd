/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/heap/reach-memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "capture/heap/reach-roots.h"

enum { SPANS = 512 }; /* number of page ranges in one scan */

#define PAGE_PRESENT (UINT64_C(1) << 63)
#define PAGE_SWAPPED (UINT64_C(1) << 62)
#define PAGE_OF_FILE (UINT64_C(1) << 61) /* the page belongs to a file, or is shared */

/*
 * If the page map is read page by page: an unwritable mapping of more than RESERVED_BYTES can be
 * reserved address space, without own pages. Such a mapping is searched up to SEARCHED_BYTES_MAX.
 */
#define RESERVED_BYTES     (UINT64_C(1) << 30)
#define SEARCHED_BYTES_MAX (UINT64_C(1) << 36)

/* The kernel's struct page_region (linux/fs.h). */
struct reach_span {
	uint64_t begin, end, flags;
};

int reach_memory_init(struct reach_memory *m, pid_t task, uint64_t deadline_ns)
{
	char path[32];

	*m = (struct reach_memory){ .task = task, .deadline_ns = deadline_ns };
	m->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	m->buffer = malloc(REACH_BUFFER_BYTES);
	m->spans = malloc(SPANS * sizeof(*m->spans));
	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)m->task);
	m->pagemap_fd = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)m->task);
	m->mem_fd = open(path, O_RDONLY | O_CLOEXEC);
	return m->buffer && m->spans ? 0 : -ENOMEM;
}

int reach_memory_check_time(const struct reach_memory *m)
{
	return clock_read_ns(CLOCK_MONOTONIC) < m->deadline_ns ? 0 : -ETIME;
}

/* Memory without read permission is read through /proc/PID/mem, as debuggers do. */
ssize_t reach_memory_read(struct reach_memory *m, uint64_t address, size_t n)
{
	const struct iovec to = { m->buffer, n };
	const struct iovec from = { (void *)(uintptr_t)address, n };
	ssize_t r = process_vm_readv(m->task, &to, 1, &from, 1, 0);

	if (r >= 0)
		return r;
	if (errno != EFAULT)
		return -errno;
	r = pread(m->mem_fd, m->buffer, n, (off_t)address);
	return r < 0 ? 0 : r;
}

/* Reads present memory from FROM to TO, at most the size of the buffer. */
static int reach_memory_read_present(struct reach_memory *m, uint64_t from, uint64_t to,
				     reach_memory_fn fn, void *userdata)
{
	while (from < to) {
		ssize_t n = reach_memory_read(m, from, to - from);
		uint64_t next;

		if (n < 0)
			return (int)n;
		fn(from, m->buffer, (size_t)n, userdata);
		m->searched_bytes += (uint64_t)n;
		next = (from + m->page_bytes) & ~(m->page_bytes - 1);
		if (n == 0)
			m->refused_bytes += (next < to ? next : to) - from;
		from = n == 0 ? next : from + (uint64_t)n;
	}
	return 0;
}

/* From linux/fs.h, since 6.7. */
struct scan_request {
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
	uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};
#define PAGEMAP_SCAN _IOWR('f', 16, struct scan_request)
#define IS_OF_FILE   (UINT64_C(1) << 2)
#define IS_PRESENT   (UINT64_C(1) << 3)
#define IS_SWAPPED   (UINT64_C(1) << 4)

/*
 * Lists the present pages from FROM to TO, as far as there is room. Empty parts of the page table
 * are skipped quickly. Returns the end of the listed range, or 0 if the kernel does not support
 * this.
 */
static uint64_t reach_memory_scan_pages(struct reach_memory *m, uint64_t from, uint64_t to)
{
	struct scan_request scan = {
		.size = sizeof(scan),
		.start = from,
		.end = to,
		.vec = (uint64_t)(uintptr_t)m->spans,
		.vec_len = SPANS,
		.category_inverted = m->only_own ? IS_OF_FILE : 0,
		.category_mask = m->only_own ? IS_OF_FILE : 0,
		.category_anyof_mask = IS_PRESENT | IS_SWAPPED,
		.return_mask = IS_PRESENT | IS_SWAPPED,
	};
	int n = ioctl(m->pagemap_fd, PAGEMAP_SCAN, &scan);

	if (n < 0 || scan.walk_end <= from)
		return 0;
	m->n_spans = (size_t)n;
	return scan.walk_end;
}

/*
 * Like reach_memory_scan_pages(), but reads the page map. If the page map is unavailable, all pages
 * count as present.
 */
static uint64_t reach_memory_read_pages(struct reach_memory *m, uint64_t from, uint64_t to)
{
	uint64_t pages[SPANS];
	size_t n = (size_t)((to - from) / m->page_bytes);
	ssize_t r = -1;

	if (n > SPANS)
		n = SPANS;
	if (m->pagemap_fd >= 0)
		r = pread(m->pagemap_fd, pages, n * sizeof(*pages),
			  (off_t)(from / m->page_bytes * sizeof(*pages)));
	if (r >= (ssize_t)sizeof(*pages))
		n = (size_t)r / sizeof(*pages);
	m->n_spans = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t at = from + i * m->page_bytes;
		struct reach_span *last = m->n_spans ? &m->spans[m->n_spans - 1] : NULL;

		if (r > 0 && (!(pages[i] & (PAGE_PRESENT | PAGE_SWAPPED)) ||
			      (m->only_own && pages[i] & PAGE_OF_FILE)))
			continue;
		if (last && last->end == at)
			last->end += m->page_bytes;
		else
			m->spans[m->n_spans++] = (struct reach_span){ at, at + m->page_bytes, 0 };
	}
	return from + n * m->page_bytes;
}

/*
 * Returns true if the unwritable mapping from FROM to TO is left out: reading its page map would
 * take too long. Its own pages, if it has any, are counted.
 */
static bool reach_memory_is_reserved(struct reach_memory *m, uint64_t from, uint64_t to)
{
	uint64_t own;

	if (to - from <= RESERVED_BYTES)
		return false;
	own = reach_roots_own_bytes(m->task, from, m->deadline_ns);
	if (own > 0 && to - from <= SEARCHED_BYTES_MAX)
		return false;
	m->skipped_bytes += own == UINT64_MAX ? to - from : own;
	return true;
}

int reach_memory_each(struct reach_memory *m, uint64_t from, uint64_t to, reach_memory_fn fn,
		      void *userdata)
{
	uint64_t page = from & ~(m->page_bytes - 1);
	uint64_t end = (to + m->page_bytes - 1) & ~(m->page_bytes - 1);
	int r = 0;

	while (r == 0 && page < end) {
		uint64_t next = reach_memory_scan_pages(m, page, end);

		if (!next && m->only_own && page == from && reach_memory_is_reserved(m, page, end))
			return 0;
		if (!next)
			next = reach_memory_read_pages(m, page, end);
		for (size_t i = 0; r == 0 && i < m->n_spans; i++) {
			uint64_t at = m->spans[i].begin < from ? from : m->spans[i].begin;
			uint64_t last = m->spans[i].end > to ? to : m->spans[i].end, step;

			for (; r == 0 && at < last; at = step) {
				step = last - at > REACH_BUFFER_BYTES ? at + REACH_BUFFER_BYTES
								      : last;
				r = reach_memory_read_present(m, at, step, fn, userdata)
					    ?: reach_memory_check_time(m);
			}
		}
		page = next;
		r = r ?: reach_memory_check_time(m);
	}
	return r;
}
