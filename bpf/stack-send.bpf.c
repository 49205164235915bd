/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Sends a walked stack to user space. The function is not inlined, so that the verifier checks it
 * once, like the functions of stack.bpf.c.
 */
#include "bpf/stack.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile __u64 stack_seed = 0;
__u32 stack_generation = 0;

struct stacks_sent stacks_sent SEC(".maps");

__noinline __u64 stack_hash_record(__u64 h, const struct rec_stack *s, __u32 at, __u32 n)
{
	return s ? stack_hash_stride(h, s->frames, at, n, STACK_FRAMES_MAX) : h;
}

__noinline __u64 stack_hash_of(const struct rec_stack *s, __u32 n)
{
	__u64 h = stack_mix(stack_seed, *(volatile __u32 *)&stack_generation);

	if (!s)
		return 0;
#pragma clang loop unroll(disable)
	for (__u32 at = 0; at < STACK_FRAMES_MAX; at += STACK_STRIDE) {
		if (at >= n)
			break;
		h = stack_hash_record(h, s, at, n);
	}
	return stack_hash_end(h, n);
}

__noinline bool stack_send_of(struct rec_stack *s, __u32 n, __u64 who, __u64 now_ns, __u64 *ret_id)
{
	struct stack_set *set;
	__u64 id;
	__u32 at;

	if (!s || !ret_id)
		return false;
	if (n > STACK_FRAMES_MAX)
		n = STACK_FRAMES_MAX;
	*ret_id = id = stack_hash_of(s, n);
	at = id % STACK_SETS;
	set = bpf_map_lookup_elem(&stacks_sent, &at);
	if (!set)
		return false;
	for (int i = 0; i < STACK_WAYS; i++)
		if (set->ids[i] == id)
			return true;
	s->id = id;
	rec_fill_head_of(&s->head, now_ns, REC_STACK, REC_STACK_BYTES(n), who);
	if (!rec_output(REC_STACK_RING, s, REC_STACK_BYTES(n), now_ns))
		return false;
	for (int i = STACK_WAYS - 1; i > 0; i--)
		set->ids[i] = set->ids[i - 1];
	set->ids[0] = id;
	return true;
}
