/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/heap/reach-jemalloc.h"

#include <string.h>
#include <sys/uio.h>

#define MARK_BEFORE UINT64_C(0x7a7a7a7a7a7a7a7a)
#define MARK_AFTER  UINT64_C(0xa7a7a7a7a7a7a7a7)

#define BASE_BYTES (UINT64_C(2) << 20)
#define BASE_MAX   (UINT64_C(1) << 40)

enum { STACKS_BYTES_MAX = 1 << 20, PIECE_BYTES = 4096 };

/* The beginning of a base block. */
struct base {
	uint64_t size, next;
	uint64_t bits, rest, rest_bytes; /* block's unused rest: size word, address and bytes */
};

static uint64_t reach_jemalloc_base_end(const struct reach_page *page)
{
	struct base base;
	uint64_t end;

	if (page->address % BASE_BYTES || page->n_bytes < sizeof(base))
		return 0;
	memcpy(&base, page->data, sizeof(base));
	end = page->address + base.size;
	if (base.size == 0 || base.size % BASE_BYTES || base.size > BASE_MAX ||
	    base.next % BASE_BYTES || base.rest <= page->address || base.rest > end ||
	    base.rest_bytes != end - base.rest)
		return 0;
	return end;
}

static const uint8_t *reach_jemalloc_find_mark(const uint8_t *data, size_t n_bytes)
{
	const uint64_t mark = MARK_AFTER;

	for (size_t at = 0; at + sizeof(mark) <= n_bytes; at += sizeof(mark))
		if (memcmp(data + at, &mark, sizeof(mark)) == 0)
			return data + at;
	return NULL;
}

/*
 * Returns the end of the stacks of a thread's cache that begin at PAGE. Bytes after PAGE's data are
 * read from the task.
 */
static uint64_t reach_jemalloc_stacks_end(const struct reach_page *page, uint64_t *ret_seen)
{
	size_t n_bytes = page->n_bytes < STACKS_BYTES_MAX ? page->n_bytes : STACKS_BYTES_MAX;
	const uint8_t *mark = reach_jemalloc_find_mark(page->data, n_bytes);
	uint8_t piece[PIECE_BYTES];
	const struct iovec to = { piece, sizeof(piece) };
	uint64_t at = page->address + n_bytes;

	if (mark)
		return page->address + (uint64_t)(mark - page->data) + sizeof(uint64_t);
	for (; at < page->address + STACKS_BYTES_MAX; at += sizeof(piece)) {
		const struct iovec from = { (void *)(uintptr_t)at, sizeof(piece) };

		if (process_vm_readv(page->task, &to, 1, &from, 1, 0) != sizeof(piece))
			break;
		mark = reach_jemalloc_find_mark(piece, sizeof(piece));
		if (mark)
			return at + (uint64_t)(mark - piece) + sizeof(uint64_t);
	}
	*ret_seen = at;
	return 0;
}

uint64_t reach_jemalloc_end(const struct reach_page *page, uint64_t *ret_seen)
{
	uint64_t first;

	*ret_seen = 0;
	if (page->n_bytes < sizeof(first))
		return 0;
	memcpy(&first, page->data, sizeof(first));
	return first == MARK_BEFORE ? reach_jemalloc_stacks_end(page, ret_seen)
				    : reach_jemalloc_base_end(page);
}
