/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Tracepoints of the kernel, by the formats that tracefs describes.
 *
 * One eBPF program serves all tracepoints. The cookie of an attachment is the index of a layout,
 * which user space makes from the format (record-tracepoints.h). The program checks the conditions,
 * and copies the fields without knowing their meaning.
 *
 * The kernel never runs two programs of this kind at the same time on one CPU (trace_call_bpf()).
 * So one work area per CPU is sufficient. The kernel skips the inner one of two nested events.
 */
/* An event can interrupt a change of a map. */
#define FILTER_IN_NMI
/* The loader does not change eBPF programs of this kind. */
#define CONTEXT_COPIES
#include "bpf/actor.bpf.h"
#include "bpf/calls.bpf.h"
#include "bpf/context.bpf.h"
#include "bpf/cost.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/rec-ring.bpf.h"
#include "bpf/record.h"
#include "bpf/tracepoints.bpf.h"

#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct tracepoint_layouts tracepoint_layouts SEC(".maps");
struct tracepoint_rooms tracepoint_rooms SEC(".maps");

/*
 * Returns the address of the data of a dynamic field of the event at BASE, and sets *RET_BYTES.
 * Returns 0 if the field is unreadable.
 */
static __always_inline __u64 tracepoint_dynamic(__u64 base, __u32 offset, bool is_relative,
						__u64 *ret_bytes)
{
	__u32 place = 0;

	if (bpf_probe_read_kernel(&place, sizeof(place), (const void *)(base + offset)) < 0)
		return 0;
	*ret_bytes = place >> 16;
	base += place & 0xffff;
	return is_relative ? base + offset + sizeof(place) : base;
}

/* ---- conditions ---- */

static __always_inline bool tracepoint_number_holds(__u64 base,
						    const struct tracepoint_condition *c)
{
	const void *from = (const void *)(base + c->offset);
	__u64 bytes = c->bytes, value = 0;

	if (bytes > sizeof(value))
		return false;
	tracepoint_mask(bytes, 15);
	if (bytes > sizeof(value))
		return false;
	if (bpf_probe_read_kernel(&value, bytes, from) < 0)
		return false;
	return call_holds(value, c->bytes * 8, c->op, c->is_signed, c->value);
}

static __always_inline bool tracepoint_text_holds(struct tracepoint_room *room, __u64 base,
						  const struct tracepoint_condition *c)
{
	__u64 from = base + c->offset, bytes = c->bytes, differs = 0;

	if (c->form == TRACEPOINT_DYNAMIC_TEXT)
		from = tracepoint_dynamic(base, c->offset, c->is_relative, &bytes);
	if (bytes > TRACEPOINT_TEXT_BYTES)
		bytes = TRACEPOINT_TEXT_BYTES;
	for (__u32 i = 0; i < TRACEPOINT_TEXT_BYTES / 8; i++)
		room->text[i] = 0;
	tracepoint_mask(bytes, 2 * TRACEPOINT_TEXT_BYTES - 1);
	if (bytes > TRACEPOINT_TEXT_BYTES)
		return false;
	/* (an absent text is empty; bytes after the end of a text are undefined, and not read) */
	if (bytes && bpf_probe_read_kernel_str(room->text, bytes, (const void *)from) < 0)
		return false;
	for (__u32 i = 0; i < TRACEPOINT_TEXT_BYTES / 8; i++)
		differs |= room->text[i] ^ c->text[i];
	return c->op == CALL_OP_EQ ? !differs : differs != 0;
}

__noinline int tracepoint_is_wanted(struct tracepoint_room *room, __u64 base, __u32 number)
{
	const struct tracepoint_layout *layout = bpf_map_lookup_elem(&tracepoint_layouts, &number);

	if (!room || !layout)
		return 0;
	for (__u32 i = 0; i < TRACEPOINT_CONDITIONS_MAX; i++) {
		const struct tracepoint_condition *c = &layout->conditions[i];

		if (i >= layout->n_conditions)
			break;
		if (c->form == TRACEPOINT_NUMBER ? !tracepoint_number_holds(base, c)
						 : !tracepoint_text_holds(room, base, c))
			return 0;
	}
	return 1;
}

/* ---- records ---- */

/* Copies dynamic field I of layout NUMBER into the record. Unreadable data has no bytes. */
__noinline int tracepoint_copy_dynamic(struct tracepoint_room *room, __u64 base, __u32 number,
				       __u32 i)
{
	const struct tracepoint_layout *layout = bpf_map_lookup_elem(&tracepoint_layouts, &number);
	__u64 bytes = 0, from;
	__u32 at;

	if (!room || !layout || i >= TRACEPOINT_DYNAMIC_MAX)
		return 0;
	from = tracepoint_dynamic(base, layout->dynamic[i].offset, layout->dynamic[i].is_relative,
				  &bytes);
	if (bytes > TRACEPOINT_DYNAMIC_BYTES) {
		room->rec.is_cut |= 1U << i;
		bytes = TRACEPOINT_DYNAMIC_BYTES;
	}
	at = room->rec.bytes;
	if (at > REC_TRACEPOINT_DATA_MAX - TRACEPOINT_DYNAMIC_BYTES || !from)
		return 0;
	tracepoint_mask(bytes, 2 * TRACEPOINT_DYNAMIC_BYTES - 1);
	if (bpf_probe_read_kernel(&room->rec.data[at], bytes, (const void *)from) < 0)
		return 0;
	room->rec.dynamic_bytes[i] = bytes;
	room->rec.bytes = at + TRACEPOINT_ROUND((__u32)bytes);
	return 0;
}

/*
 * Copies the fields of the event at BASE into the record. Returns false if the fields of constant
 * size are unreadable.
 */
static __always_inline bool tracepoint_copy(struct tracepoint_room *room, __u64 base, __u32 number,
					    const struct tracepoint_layout *layout)
{
	__u64 bytes = layout->fixed_bytes;

	room->rec.is_cut = 0;
	*(__u64 *)room->rec.dynamic_bytes = 0;
	room->rec.bytes = TRACEPOINT_ROUND((__u32)bytes);
	tracepoint_mask(bytes, 2 * TRACEPOINT_FIXED_MAX - 1);
	if (bytes > TRACEPOINT_FIXED_MAX ||
	    bpf_probe_read_kernel(room->rec.data, bytes,
				  (const void *)(base + TRACEPOINT_HEAD_BYTES)) < 0)
		return false;
	for (__u32 i = 0; i < TRACEPOINT_DYNAMIC_MAX; i++) {
		if (i >= layout->n_dynamic)
			break;
		tracepoint_copy_dynamic(room, base, number, i);
	}
	return true;
}

SEC("?tracepoint")
int TIMED_WITH(COST_TRACEPOINTS, on_tracepoint, void *, ctx)
{
	struct task_struct *p = bpf_get_current_task_btf();
	__u32 number = bpf_get_attach_cookie(ctx), at = number, which = TRACEPOINT_ROOM_KERNEL,
	      actor = tracepoint_actor(p);
	const struct tracepoint_layout *layout = bpf_map_lookup_elem(&tracepoint_layouts, &at);
	struct tracepoint_room *room = bpf_map_lookup_elem(&tracepoint_rooms, &which);
	__u64 base = context_address(ctx), now_ns;
	__u32 bytes;

	/* Events in an interrupt do not belong to the current thread. */
	if (!layout || !room || (filter_kinds && actor != TRACEPOINT_BY_TASK) || !filter_selects(p))
		return 0;
	if (layout->n_conditions && !tracepoint_is_wanted(room, base, number))
		return 0;
	now_ns = bpf_ktime_get_boot_ns();
	if (!tracepoint_copy(room, base, number, layout)) {
		rec_lose(REC_RING_TRACEPOINTS, now_ns);
		return 0;
	}
	bytes = room->rec.bytes;
	if (bytes > REC_TRACEPOINT_DATA_MAX)
		return 0;
	room->rec.tracepoint = number;
	room->rec.actor = actor;
	rec_fill_head(&room->rec.head, now_ns, REC_TRACEPOINT, REC_TRACEPOINT_BYTES(bytes), p);
	rec_output(REC_RING_TRACEPOINTS, &room->rec, REC_TRACEPOINT_BYTES(bytes), now_ns);
	return 0;
}
