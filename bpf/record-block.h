/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Requests of block devices: the records, and the state of open requests (bpf/block.bpf.c).
 */
#pragma once

#define BLOCK_REQUESTS_MAX 16384 /* open requests of the machine; further ones are lost */
#define BLOCK_DISK_BYTES   32    /* the kernel's DISK_NAME_LEN */

/* Operations of requests: REQ_OP_* of the kernel, whose values are the same from Linux 6.1 on. */
#define BLOCK_OP_READ         0
#define BLOCK_OP_WRITE        1
#define BLOCK_OP_FLUSH        2
#define BLOCK_OP_DISCARD      3
#define BLOCK_OP_SECURE_ERASE 5
#define BLOCK_OP_WRITE_ZEROES 9

/* An open request. */
struct block_request {
	__u64 seen_ns;   /* its insertion or its issue */
	__u64 queued_ns; /* 0 = it was issued directly */
	__u64 issued_ns; /* 0 = not yet */
	__u64 sector;
	__u64 who; /* process and thread, as in rec_who(); 0 = an interrupt */
	__u32 bytes;
	__u32 op;
};

/*
 * REC_REQUEST: a request is complete. The head has the thread that inserted the request, or, if it
 * was not queued, issued it.
 */
struct rec_request {
	struct rec_head head;
	__u64 seen_ns;
	__u64 queued_ns; /* 0 = it was issued directly */
	__u64 issued_ns;
	__u64 sector;
	__u32 bytes;
	__u32 major, minor;
	__u8 op;     /* BLOCK_OP_*, or another operation of the kernel */
	__u8 status; /* blk_status_t of the kernel; 0 = success */
	__u8 pad_0[2];
	char disk[BLOCK_DISK_BYTES]; /* its name, padded with zeroes */
};
_Static_assert(sizeof(struct rec_request) == sizeof(struct rec_head) + 80, "ABI");
