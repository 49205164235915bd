/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/programs/bpf-ring.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct bpf_ring {
	unsigned long *consumed; /* a page that user space writes */
	unsigned long *produced; /* a page that the kernel writes; the data follows it, twice */
	size_t page_bytes, bytes;
};

int bpf_ring_new(int fd, size_t bytes, struct bpf_ring **ret)
{
	_cleanup_(bpf_ring_freep) struct bpf_ring *ring = calloc(1, sizeof(*ring));
	void *p;

	if (!ring)
		return -ENOMEM;
	ring->page_bytes = (size_t)getpagesize();
	ring->bytes = bytes;
	p = mmap(NULL, ring->page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	ring->consumed = p;
	p = mmap(NULL, ring->page_bytes + 2 * bytes, PROT_READ, MAP_SHARED, fd,
		 (off_t)ring->page_bytes);
	if (p == MAP_FAILED)
		return -errno;
	ring->produced = p;
	*ret = TAKE_PTR(ring);
	return 0;
}

struct bpf_ring *bpf_ring_free(struct bpf_ring *ring)
{
	if (!ring)
		return NULL;
	if (ring->consumed)
		munmap(ring->consumed, ring->page_bytes);
	if (ring->produced)
		munmap(ring->produced, ring->page_bytes + 2 * ring->bytes);
	return free_ptr(ring);
}

int bpf_ring_read(struct bpf_ring *ring, bpf_ring_fn fn, void *userdata)
{
	unsigned long at = *ring->consumed;
	unsigned long end = __atomic_load_n(ring->produced, __ATOMIC_ACQUIRE);
	uint8_t *data = (uint8_t *)ring->produced + ring->page_bytes;
	int r = 0;

	while (r == 0 && at < end) {
		uint8_t *record = data + (at & (ring->bytes - 1));
		uint32_t head = __atomic_load_n((uint32_t *)record, __ATOMIC_ACQUIRE);
		size_t size = head & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		if (head & BPF_RINGBUF_BUSY_BIT)
			break;
		if (!(head & BPF_RINGBUF_DISCARD_BIT))
			r = fn(record + BPF_RINGBUF_HDR_SZ, size, userdata);
		if (r > 0)
			break;
		at += (size + BPF_RINGBUF_HDR_SZ + 7) / 8 * 8;
		__atomic_store_n(ring->consumed, at, __ATOMIC_RELEASE);
	}
	return r;
}
