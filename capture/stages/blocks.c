/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/stages/blocks.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"
#include "base/text.h"

int blocks_find_lane(struct blocks *b, uint64_t begin_ns, uint64_t end_ns)
{
	int best = -1;

	/*
	 * Takes the lane that became free last. Requests arrive in the order of their ends, so with
	 * this choice, there are never more lanes than simultaneous requests.
	 */
	for (int i = 0; i < FXT_BLOCK_LANES; i++)
		if (b->lanes[i] <= begin_ns && (best < 0 || b->lanes[i] > b->lanes[best]))
			best = i;
	if (best >= 0)
		b->lanes[best] = end_ns;
	return best;
}

static const char *blocks_op_name(uint8_t op)
{
	static const char *const names[] = {
		[BLOCK_OP_READ] = "read",
		[BLOCK_OP_WRITE] = "write",
		[BLOCK_OP_FLUSH] = "flush",
		[BLOCK_OP_DISCARD] = "discard",
		[BLOCK_OP_SECURE_ERASE] = "secure erase",
		[BLOCK_OP_WRITE_ZEROES] = "write zeroes",
	};

	return op < ARRAY_SIZE(names) && names[op] ? names[op] : "other";
}

/* The errno for a blk_status_t of the kernel. Numbers from 14 on differ between kernels. */
static int32_t blocks_errno(uint8_t status)
{
	static const uint8_t errnos[] = {
		[1] = EOPNOTSUPP, [2] = ETIMEDOUT, [3] = ENOSPC, [4] = ENOLINK, [5] = EREMOTEIO,
		[6] = EBADE,      [7] = ENODATA,   [8] = EILSEQ, [9] = ENOMEM,  [10] = EIO,
		[11] = EREMCHG,   [12] = EAGAIN,   [13] = EBUSY,
	};

	return status < ARRAY_SIZE(errnos) ? errnos[status] : EIO;
}

static int blocks_record(void *stage, const struct rec_head *head)
{
	struct blocks *b = stage;
	const struct rec_request *rec = (const struct rec_request *)head;
	char disk[3 * BLOCK_DISK_BYTES];
	struct event ev = {
		.kind = EVENT_REQUEST,
		.ts_ns = rec->issued_ns,
		.pid = FXT_KOID_BLOCK,
		.request = {
			.op = blocks_op_name(rec->op),
			.disk = disk,
			.device = makedev(rec->major, rec->minor),
			.sector = rec->sector,
			.bytes = rec->bytes,
			.queued_ns = rec->queued_ns,
			.end_ns = head->ts_ns,
			.error = blocks_errno(rec->status),
		},
	};
	int lane, r = 0;

	/*
	 * (if a request began before the end of a pause, its record can be a mix of two requests)
	 */
	if (ev.ts_ns < b->pipe->from_ns || rec->seen_ns < b->pipe->seen_ns ||
	    head->ts_ns > b->pipe->to_ns)
		return 0;
	text_clean(disk, sizeof(disk), rec->disk, strlen(rec->disk));
	if (head->tid) {
		r = pipeline_announce_thread(b->pipe, head->tid, head->pid);
		ev.request.thread = tasks_koid(b->pipe->tasks, head->tid);
	}
	lane = blocks_find_lane(b, ev.ts_ns, head->ts_ns);
	if (lane < 0) {
		lane = 0;
		ev.request.issued_ns = ev.ts_ns;
		ev.ts_ns = head->ts_ns;
	}
	ev.tid = fxt_archive_track_koid(FXT_TRACK_BLOCK, (uint32_t)lane);
	r = r
		    ?: fxt_archive_track(b->pipe->archive, FXT_TRACK_BLOCK,
					 lane < 0 ? 0 : (uint32_t)lane);
	b->n_events++;
	return r ?: fxt_archive_event(b->pipe->archive, &ev);
}

/* Accepts REC_REQUEST. */
const struct stage blocks_stage = {
	.name = "blocks",
	.handles = STAGE_HANDLES(REC_REQUEST),
	.record = blocks_record,
};
