/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/why/why-requests.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Disks that are compared for one interval. */
enum { WHY_DISKS_MAX = 64 };

void why_requests_deinit(struct why_requests *r)
{
	free(r->list);
	text_set_deinit(&r->disks);
	*r = (struct why_requests){ 0 };
}

int why_requests_add(struct why_requests *r, const struct event *ev)
{
	const char *disk;

	if (ev->kind != EVENT_REQUEST || !*ev->request.disk)
		return 0;
	if (r->n == WHY_REQUESTS_MAX) {
		r->n_dropped++;
		return 0;
	}
	disk = text_set_keep(&r->disks, ev->request.disk);
	if (!disk || GROW(r->list, r->room, r->n + 1) < 0)
		return -ENOMEM;
	r->list[r->n++] = (struct why_request){
		.from_ns = ev->request.issued_ns ?: ev->ts_ns,
		.to_ns = ev->request.end_ns,
		.disk = disk,
		.tid = ev->request.thread,
	};
	return 0;
}

struct disk_sum {
	struct why_disk disk;
	uint64_t overlap_ns;
};

/* Adds a request to the sum of its disk. Disks beyond WHY_DISKS_MAX are not counted. */
static void why_requests_count(struct disk_sum *sums, size_t *n, const struct why_request *request,
			       uint64_t overlap_ns)
{
	uint64_t ns = request->to_ns - request->from_ns;
	size_t i = 0;

	while (i < *n && strcmp(sums[i].disk.name, request->disk) != 0)
		i++;
	if (i == WHY_DISKS_MAX)
		return;
	if (i == *n)
		sums[(*n)++] = (struct disk_sum){ .disk.name = request->disk };
	sums[i].overlap_ns += overlap_ns;
	sums[i].disk.n++;
	if (ns > sums[i].disk.longest_ns)
		sums[i].disk.longest_ns = ns;
}

static bool why_requests_find_of(const struct why_requests *r, uint32_t tid, uint64_t from_ns,
				 uint64_t to_ns, struct why_disk *ret)
{
	struct disk_sum sums[WHY_DISKS_MAX];
	const struct disk_sum *most = NULL;
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++) {
		const struct why_request *q = &r->list[i];
		uint64_t from = q->from_ns > from_ns ? q->from_ns : from_ns;
		uint64_t to = q->to_ns < to_ns ? q->to_ns : to_ns;

		if (from < to && (tid == 0 || q->tid == tid))
			why_requests_count(sums, &n, q, to - from);
	}
	for (size_t i = 0; i < n; i++)
		if (!most || sums[i].overlap_ns > most->overlap_ns)
			most = &sums[i];
	if (!most)
		return false;
	*ret = most->disk;
	ret->own = tid != 0;
	return true;
}

bool why_requests_find(const struct why_requests *r, uint32_t tid, uint64_t from_ns, uint64_t to_ns,
		       struct why_disk *ret)
{
	if (r->n_dropped > 0)
		return false;
	return (tid != 0 && why_requests_find_of(r, tid, from_ns, to_ns, ret)) ||
	       why_requests_find_of(r, 0, from_ns, to_ns, ret);
}
