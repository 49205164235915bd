/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
#include "bpf/piece.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

__noinline __u32 piece_copy_last(struct piece_part *to, __u64 sp)
{
	__u32 n = 0;

	if (!to)
		return 0;
#pragma clang loop unroll(disable)
	for (; n < PIECE_STEP; n += PIECE_SMALL_STEP)
		if (bpf_probe_read_user(to->bytes + n, PIECE_SMALL_STEP, (const void *)(sp + n)) <
		    0)
			break;
	return n;
}

/*
 * Frame pointers lead to return addresses. Stores in PIECE the calls before these addresses, so
 * that user space can check the addresses in the same way as a walk in the kernel.
 */
static __always_inline void piece_fill_calls(struct rec_piece *piece, const struct unwind_walk *w)
{
	__u64 bp = w->bp, next;
	__u32 i = 0;

#pragma clang loop unroll(disable)
	for (; i < PIECE_CALLS_MAX; i++) {
		if (bp < w->sp || bpf_probe_read_user(&next, sizeof(next), (const void *)bp) < 0)
			break;
		piece->calls[i].bp = bp;
		piece->calls[i].called = unwind_called_from(w, bp, false);
		piece->calls[i].linked = unwind_called_from(w, bp, true);
		if (next <= bp) {
			i++;
			break;
		}
		bp = next;
	}
	piece->n_calls = i;
}

__noinline int piece_fill_walk(struct rec_piece *piece, const struct unwind_walk *w)
{
	if (!piece || !w)
		return 0;
	piece->is_skipped = w->is_skipped;
	piece->ip = w->ip;
	piece->sp = w->sp;
	piece->bp = w->bp;
	piece->exact = w->exact;
	piece_fill_calls(piece, w);
	piece_copy_mappings(piece, bpf_get_current_task_btf());
	return 0;
}
