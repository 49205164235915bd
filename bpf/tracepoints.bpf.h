/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The common part of the eBPF programs for tracepoints of the kernel (tracepoints.bpf.c) and for
 * kymo's own ones (tracepoints-own.bpf.c): work areas, layouts and conditions.
 */
#pragma once

#include "bpf/actor.bpf.h"
#include "bpf/context.bpf.h"
#include "bpf/record.h"

struct tracepoint_layouts {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TRACEPOINTS_MAX);
	__type(key, __u32);
	__type(value, struct tracepoint_layout);
};

struct tracepoint_room {
	struct rec_tracepoint rec;
	__u64 text[TRACEPOINT_TEXT_BYTES / 8];
	__u64 is_used; /* only of kymo's own tracepoints */
};

/* The work areas. An eBPF program of one kind can interrupt a program of another kind. */
#define TRACEPOINT_ROOM_KERNEL   0
#define TRACEPOINT_ROOM_OWN(own) (1 + (own))
#define TRACEPOINT_ROOMS         (1 + TRACEPOINT_OWN_MAX)

struct tracepoint_rooms {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, TRACEPOINT_ROOMS);
	__type(key, __u32);
	__type(value, struct tracepoint_room);
};

extern struct tracepoint_layouts tracepoint_layouts SEC(".maps");
extern struct tracepoint_rooms tracepoint_rooms SEC(".maps");

/*
 * Tells the verifier that VALUE is at most MASK. Compilers omit masks that seem to change nothing.
 */
#define tracepoint_mask(value, mask) asm volatile("%0 &= %1" : "+r"(value) : "i"(mask))

/*
 * Returns 1 if all conditions of layout NUMBER hold for the event at BASE. ROOM is the work area of
 * the running program. (Not inline, so the verifier checks this function once.)
 */
int tracepoint_is_wanted(struct tracepoint_room *room, __u64 base, __u32 number);

/* Returns the TRACEPOINT_BY_* of an event on this CPU, whose current task is P. */
static __always_inline __u32 tracepoint_actor(struct task_struct *p)
{
	switch (actor_of(p)) {
	case ACTOR_SOFTIRQ:
		return TRACEPOINT_BY_SOFTIRQ;
	case ACTOR_IRQ:
		return TRACEPOINT_BY_IRQ;
	default:
		return TRACEPOINT_BY_TASK;
	}
}
