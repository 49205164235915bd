/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Copies of the memory that an argument of a call points to: its size and its text, at the entry
 * and at the return. Only calls.bpf.c includes this file.
 */
#pragma once

#include "bpf/call-args.bpf.h"
#include "bpf/call-gather.bpf.h"
#include "bpf/call-pack.bpf.h"
#include "bpf/context.bpf.h"
#include "bpf/record.h"

#define CALL_PAGE_BYTES 4096 /* smallest page size */

/*
 * Copies only the part of the BYTES at ADDRESS that is in the first page. Called after an attempt
 * to read all BYTES has failed.
 */
static __always_inline void call_copy_page(struct call_text *to, const void *address, __u32 bytes)
{
	__u32 n = CALL_PAGE_BYTES - ((__u64)address & (CALL_PAGE_BYTES - 1));

	if (n >= bytes || n >= sizeof(to->text) ||
	    bpf_probe_read_user(to->text, n & (sizeof(to->text) - 1), address) < 0)
		return;
	to->bytes = (__s32)n;
	to->cut = 1;
}

/*
 * Copies BYTES at the address FROM, or a string, into TO. Returns false if not all of this memory
 * is readable. (This is a separate function, so the verifier checks it once for all texts.)
 */
__noinline bool call_copy(struct call_text *to, __u64 from, __u32 bytes)
{
	bool is_string = bytes == CALL_PENDING_STRING;
	const void *address = (const void *)from;
	__u64 n = bytes;
	long r;

	if (!to)
		return false;
	to->cut = !is_string && n > sizeof(to->text);
	/*
	 * Without the barrier, the compiler may compare a copy of N, so the verifier would not know
	 * the limit of N.
	 */
	barrier_var(n);
	if (n > sizeof(to->text))
		n = sizeof(to->text);
	if (is_string)
		r = bpf_probe_read_user_str(to->text, sizeof(to->text), address);
	else
		r = n > 0 ? bpf_probe_read_user(to->text, n, address) : 0;
	if (r < 0) {
		to->bytes = (__s32)r;
		call_copy_page(to, address, n);
		return false;
	}
	if (is_string) {
		to->cut = r == sizeof(to->text);
		n = r > 0 ? (__u32)r - 1 : 0;
	}
	to->bytes = (__s32)n;
	return true;
}

/* Like call_copy(), for memory of KIND. The call has read or written TOTAL bytes of this memory. */
static __always_inline bool call_copy_or_gather(struct call_text *to, __u64 from, __u32 bytes,
						__u32 kind, __u64 total)
{
	if (kind == CALL_MEMORY_MESSAGE || kind == CALL_MEMORY_MESSAGES)
		return call_messages(to, from, bytes, kind == CALL_MEMORY_MESSAGES, total);
	return kind > CALL_MEMORY_STRING ? call_gather(to, from, bytes, kind, total)
					 : call_copy(to, from, bytes);
}

/* Returns the number of bytes (or of elements) to copy for FROM; CALL_PENDING_STRING = a string. */
static __always_inline __u32 call_bytes(const struct call_args *args,
					const struct call_memory *from)
{
	__u64 n;

	if (from->kind == CALL_MEMORY_STRING)
		return CALL_PENDING_STRING;
	n = from->count ?: call_arg(args, from->count_arg);
	if (n >= CALL_PENDING_STRING)
		return CALL_PENDING_STRING - 1;
	if (from->unit)
		n *= from->unit;
	return n < CALL_PENDING_STRING ? n : CALL_PENDING_STRING - 1;
}

/*
 * Returns the number of written bytes: RESULT if the call returns that number, otherwise the number
 * that was known at the entry.
 */
static __always_inline __u32 call_written(__u32 bytes, bool is_whole, __u64 result)
{
	if (is_whole || bytes == CALL_PENDING_STRING)
		return bytes;
	if ((__s64)result < 0)
		return 0;
	return result < bytes ? result : bytes;
}

static __always_inline void call_copy_late_text(struct call_text *to,
						const struct call_pending *pending,
						const struct call_watch *f, __u32 i, __u64 result)
{
	to->bytes = -1;
	to->cut = 0;
	if (f->n_packed) {
		if (i > 0)
			call_pack(to, &pending->packed, f, f->n_packed_outs);
		return;
	}
	if (pending->texts[i].address)
		call_copy_or_gather(to, pending->texts[i].address,
				    call_written(pending->texts[i].bytes,
						 pending->texts[i].is_whole, result),
				    pending->texts[i].kind, (__s64)result < 0 ? 0 : result);
}
