/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The stacks of calls and of moments.
 */
#include "bpf/calls.bpf.h"
#include "bpf/context.bpf.h"
#include "bpf/piece.bpf.h"
#include "bpf/python.bpf.h"
#include "bpf/rec-ring.bpf.h"
#include "bpf/record.h"
#include "bpf/stack.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* The work area of a walk. Only one thread at a time uses it. */
struct call_room {
	struct rec_stack stack;
	struct unwind_walk stopped, learning;
	__u32 in_use;
	__u32 pad_0;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, CALL_ROOMS);
	__type(key, __u32);
	__type(value, struct call_room);
} call_rooms SEC(".maps");

const volatile bool call_walks = false; /* true = stacks of calls or of moments are recorded */

static __always_inline struct call_room *call_acquire_room(void)
{
	struct call_room *room;

	for (__u32 i = 0; i < CALL_ROOMS; i++) {
		__u32 key = i;

		room = bpf_map_lookup_elem(&call_rooms, &key);
		if (room && __sync_val_compare_and_swap(&room->in_use, 0, 1) == 0)
			return room;
	}
	return NULL;
}

__noinline __u64 call_collect_stack(void)
{
	struct task_struct *p = bpf_get_current_task_btf();
	__u64 now_ns = bpf_ktime_get_boot_ns(), id = 0;
	struct call_room *room;
	__u32 n;

	/*
	 * Linux 6.1 verifies this function even if no program calls it and its maps do not exist.
	 * With this check, the verifier skips the code that uses the maps.
	 */
	if (!call_walks)
		return 0;
	room = call_acquire_room();
	if (!room) {
		rec_lose(REC_RING_STACKS, now_ns);
		return 0;
	}
	room->stopped.ip = room->stopped.python = 0;
	n = stack_walk_or_stop(&room->stack, &room->stopped,
			       piece_copies(now_ns, STACK_COPIES_OF_RUNNING));
	if (room->stopped.ip)
		stack_learn_callers_if_needed(&room->stopped, &room->learning);
	else if (n != STACK_NOT_WALKED)
		n = python_add_if_any(&room->stopped, &room->stack, n, now_ns);
	if (n == STACK_NOT_WALKED ||
	    !piece_or_stack_send(&room->stopped, &room->stack, n, p, now_ns, &id))
		id = 0;
	room->in_use = 0;
	return id;
}
