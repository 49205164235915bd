/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Requests of block devices. A request is inserted in a queue (or skips the queue), then issued to
 * the driver, and then completed, perhaps in parts. One record is sent for each request, at its
 * completion.
 *
 * The thread of a request is the one that inserted it in the queue, since a worker of the kernel
 * can issue a queued request later. If the request skips the queue, its thread is the one that
 * issued it. Bio-based devices (such as device mapper) have no requests; the devices below them
 * have requests.
 */
#include "bpf/context.bpf.h"
#include "bpf/cost.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/rec-ring.bpf.h"
#include "bpf/record.h"

#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define REQ_OP_MASK 0xff

/* Open requests by the address of the request. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, BLOCK_REQUESTS_MAX);
	__type(key, __u64);
	__type(value, struct block_request);
} block_requests SEC(".maps");

/* Sets the parts of REQUEST that are known when RQ is issued. */
static __always_inline void block_fill(struct block_request *request, struct request *rq,
				       __u64 now_ns)
{
	__u64 sector = rq->__sector;

	request->issued_ns = now_ns;
	request->sector = sector == ~0ULL ? 0 : sector; /* (a flush has none) */
	request->bytes = rq->__data_len;
	request->op = rq->cmd_flags & REQ_OP_MASK;
}

/*
 * Remembers RQ, if its thread is selected. IS_ISSUED: true = RQ is issued now, false = RQ is queued
 * now.
 */
static __always_inline void block_begin(struct request *rq, bool is_issued, __u64 now_ns)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct block_request request = { .seen_ns = now_ns };
	__u64 key = (__u64)rq;

	if (!in_interrupt(p))
		request.who = rec_who(p);
	/*
	 * With a filter, requests from interrupts are dropped, since they belong to no selected
	 * thread.
	 */
	if (filter_kinds && (!request.who || !filter_selects(p))) {
		bpf_map_delete_elem(&block_requests, &key);
		return;
	}
	if (is_issued)
		block_fill(&request, rq, now_ns);
	else
		request.queued_ns = now_ns;
	if (bpf_map_update_elem(&block_requests, &key, &request, BPF_ANY) < 0)
		rec_lose(REC_REQUEST_RING, now_ns);
}

SEC("?tp_btf/block_rq_insert")
int TIMED_PROG(COST_BLOCK, on_block_insert, struct request *rq)
{
	block_begin(rq, false, bpf_ktime_get_boot_ns());
	return 0;
}

/* If the driver was busy, it gets the request again. Only the time of the last issue counts. */
SEC("?tp_btf/block_rq_issue")
int TIMED_PROG(COST_BLOCK, on_block_issue, struct request *rq)
{
	__u64 key = (__u64)rq, now_ns = bpf_ktime_get_boot_ns();
	struct block_request *request = bpf_map_lookup_elem(&block_requests, &key);

	if (request)
		block_fill(request, rq, now_ns);
	else
		block_begin(rq, true, now_ns);
	return 0;
}

/*
 * RQ, a queued request, is merged into another one. The record of the other request contains the
 * bytes of RQ, so RQ is forgotten.
 */
SEC("?tp_btf/block_rq_merge")
int TIMED_PROG(COST_BLOCK, on_block_merge, struct request *rq)
{
	__u64 key = (__u64)rq;

	bpf_map_delete_elem(&block_requests, &key);
	return 0;
}

SEC("?tp_btf/block_rq_complete")
int TIMED_PROG(COST_BLOCK, on_block_complete, struct request *rq, unsigned int status,
	       unsigned int bytes)
{
	__u64 key = (__u64)rq, now_ns;
	struct block_request *request = bpf_map_lookup_elem(&block_requests, &key);
	struct gendisk *disk;
	struct rec_request *rec;

	/* If a request completes in parts, only the last part is recorded. */
	if (!request || bytes < rq->__data_len)
		return 0;
	now_ns = bpf_ktime_get_boot_ns();
	if (request->issued_ns == 0) /* the driver has refused it */
		block_fill(request, rq, now_ns);
	rec = rec_reserve(REC_REQUEST_RING, sizeof(*rec), now_ns);
	if (rec) {
		rec_fill_head_of(&rec->head, now_ns, REC_REQUEST, sizeof(*rec), request->who);
		rec->seen_ns = request->seen_ns;
		rec->queued_ns = request->queued_ns;
		rec->issued_ns = request->issued_ns;
		rec->sector = request->sector;
		rec->bytes = request->bytes;
		rec->op = request->op;
		rec->status = status;
		rec->pad_0[0] = rec->pad_0[1] = 0;
		rec->major = rec->minor = 0;
		__builtin_memset(rec->disk, 0, sizeof(rec->disk));
		disk = rq->q->disk;
		if (disk) { /* (for example, a tape has no disk) */
			rec->major = disk->major;
			rec->minor = disk->first_minor;
			bpf_probe_read_kernel_str(rec->disk, sizeof(rec->disk), disk->disk_name);
		}
		bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	}
	bpf_map_delete_elem(&block_requests, &key);
	return 0;
}
