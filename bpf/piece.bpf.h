/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Stacks that cannot be walked yet, since the unwind table of a file is still being made, or the
 * mappings of the process are being changed. The data for continuing the walk in user space is put
 * into the ring (struct rec_piece). The number of copies is limited to UNWIND_COPIES_MAX for each
 * file whose table is missing, and PIECES_PER_SECOND for each CPU. Beyond these limits, stacks end
 * where the walk has stopped.
 *
 * Copies for threads that leave their CPU have separate limits: most waits are short, and their
 * copies are not used. These copies leave more of the ring free, so they do not displace the copies
 * of samples. Copies for allocations have separate limits, too: a program can make many allocations
 * while a table is made. These copies do not displace the other records of their ring.
 */
#pragma once

#include "bpf/rec-ring.bpf.h"
#include "bpf/record.h"
#include "bpf/stack.bpf.h"
#include "bpf/unwind.bpf.h"

#define PIECES_PER_SECOND             256
#define PIECES_PER_SECOND_WAITS       64
#define PIECES_PER_SECOND_ALLOCATIONS 256
/*
 * The number of bytes that are copied at once, and the smaller number at the end of a stack. (The
 * end of a stack is unknown.)
 */
#define PIECE_STEP       4096
#define PIECE_SMALL_STEP 256
/* The number of attempts to read mappings that another thread is changing. */
#define PIECE_ATTEMPTS 8

/* An index of PIECE_SIZES. User space increments it if stacks turn out to be deeper. */
extern __u32 piece_size;

struct piece_budgets {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct piece_budget);
};

extern struct piece_budgets piece_budgets SEC(".maps");

/* Returns true if this CPU's budget allows another copy of this kind. */
static __always_inline bool piece_is_allowed(__u64 now_ns, enum stack_copies kind)
{
	__u32 zero = 0;
	struct piece_budget *b = bpf_map_lookup_elem(&piece_budgets, &zero);
	__u64 second = now_ns / 1000000000;

	if (!b)
		return false;
	if (b->second != second) {
		b->second = second;
		b->n = b->n_waits = b->n_allocations = 0;
	}
	switch (kind) {
	case STACK_COPIES_OF_WAIT:
		return b->n_waits < PIECES_PER_SECOND_WAITS;
	case STACK_COPIES_OF_ALLOCATION:
		return b->n_allocations < PIECES_PER_SECOND_ALLOCATIONS;
	default:
		return b->n < PIECES_PER_SECOND;
	}
}

/*
 * Returns KIND if a walk at NOW_NS may copy the stack for that purpose, otherwise
 * STACK_COPIES_NONE.
 */
static __always_inline enum stack_copies piece_copies(__u64 now_ns, enum stack_copies kind)
{
	return unwind_by_tables && piece_is_allowed(now_ns, kind) ? kind : STACK_COPIES_NONE;
}

/*
 * Counts a copy of an allocation's stack for which the ring had no room: this copy has taken time,
 * too.
 */
static __always_inline void piece_count_unsent(void)
{
	__u32 zero = 0;
	struct piece_budget *b = bpf_map_lookup_elem(&piece_budgets, &zero);

	if (b)
		b->n_allocations++;
}

static __always_inline void piece_count(__u16 file, enum stack_copies kind)
{
	__u32 zero = 0, number = file;
	struct piece_budget *b = bpf_map_lookup_elem(&piece_budgets, &zero);
	struct unwind_file *f = bpf_map_lookup_elem(&unwind_files, &number);

	if (b) {
		b->n += kind == STACK_COPIES_OF_RUNNING;
		b->n_waits += kind == STACK_COPIES_OF_WAIT;
		b->n_allocations += kind == STACK_COPIES_OF_ALLOCATION;
		/* (atomic, since an interrupt can count here, too) */
		__sync_fetch_and_add(&b->sent, 1);
	}
	if (!f)
		return;
	if (kind == STACK_COPIES_OF_WAIT)
		__sync_fetch_and_add(&f->copied_waits, 1);
	else if (kind == STACK_COPIES_OF_ALLOCATION)
		__sync_fetch_and_add(&f->copied_allocations, 1);
	else
		__sync_fetch_and_add(&f->copied, 1);
}

struct piece_part {
	__u8 bytes[PIECE_STEP];
};

/* Copies as much of the stack above SP as there is, into TO. Returns the number of bytes. */
__u32 piece_copy_last(struct piece_part *to, __u64 sp);

/*
 * Copies the stack above SP into the N_ROOM bytes after PIECE. (The number of copied bytes is read
 * back from PIECE, so the verifier does not know this number. It examines the following code only
 * once, and not for each end of the loop.)
 */
static __always_inline void piece_copy(struct rec_piece *piece, __u32 n_room, __u64 sp)
{
	__u8 *to = (__u8 *)(piece + 1);
	__u32 n = 0;

#pragma clang loop unroll(disable)
	for (; n < n_room; n += PIECE_STEP)
		if (bpf_probe_read_user(to + n, PIECE_STEP, (const void *)(sp + n)) < 0)
			break;
	piece->n_bytes = n;
	n = *(volatile __u32 *)&piece->n_bytes;
	if (n <= n_room - PIECE_STEP)
		piece->n_bytes += piece_copy_last((struct piece_part *)(to + n), sp + n);
}

/*
 * Copies the mappings of P, if they are known. Another thread can be changing the mappings. A
 * change takes some microseconds. If the change continues after some attempts, the copied sequence
 * number is odd.
 */
static __always_inline void piece_copy_mappings(struct rec_piece *piece, struct task_struct *p)
{
	const struct unwind_process *process;
	__u32 tgid = p->tgid;

	piece->vdso = (__u64)BPF_CORE_READ(p, mm, context.vdso);
	piece->process.mm = (__u64)BPF_CORE_READ(p, mm);
	piece->process.sequence = piece->process.n = 0;
	process = bpf_map_lookup_elem(&unwind_processes, &tgid);
	if (!process || process->mm != piece->process.mm)
		return;
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < PIECE_ATTEMPTS; i++) {
		bpf_probe_read_kernel(&piece->process, sizeof(piece->process), process);
		if (piece->process.sequence != *(volatile __u32 *)&process->sequence)
			piece->process.sequence |= 1;
		if (!(piece->process.sequence & 1))
			break;
	}
}

/*
 * Fills PIECE with the stopped walk W, and with the mappings of the current task. (This is a
 * separate function, so the verifier checks it once, and not for each size.)
 */
int piece_fill_walk(struct rec_piece *piece, const struct unwind_walk *w);

/* A stack to be copied. */
struct piece_source {
	enum stack_copies kind;
	__u32 instance;               /* as in struct rec_piece */
	bool is_modest;               /* true = this copy must leave more of the ring free */
	const struct unwind_walk *at; /* position at which the walk has stopped */
	const __u64 *frames;          /* frames that were found so far, followed by unused room */
	__u32 n_frames, n_frames_room;
	__u64 hash; /* hash of `frames` */
};

/* Fills PIECE, and the N_ROOM bytes after it, from S. */
static __always_inline void piece_fill(struct rec_piece *piece, __u32 n_room,
				       const struct piece_source *s)
{
	piece->is_wait = s->kind == STACK_COPIES_OF_WAIT;
	piece->instance = s->instance;
	piece->n_frames = s->n_frames;
	piece->n_room = n_room;
	bpf_probe_read_kernel(piece->frames, s->n_frames_room * sizeof(*s->frames), s->frames);
	piece_copy(piece, n_room, s->at->sp);
	piece_fill_walk(piece, s->at);
}

/*
 * Returns the share of RING that a copy of SIZE bytes may use, as for rec_reserve_spare(). If the
 * ring is large enough, modest copies leave room for other copies and for events.
 */
static __always_inline __u32 piece_share(__u32 ring, __u64 size, const struct piece_source *s)
{
	return s->is_modest && size <= rec_ring_bytes[ring] >> 2 ? 2 : 1;
}

/*
 * Sends the stack S of the current task at NOW_NS. Stores the id of the stack in *RET_ID. Returns
 * false if nothing was sent: then the stack only has the frames so far.
 */
#define PIECE_SEND(i)                                                                              \
	piece = rec_reserve_spare(ring, sizeof(*piece) + PIECE_BYTES(i),                           \
				  piece_share(ring, sizeof(*piece) + PIECE_BYTES(i), s), now_ns);  \
	if (!piece)                                                                                \
		return false;                                                                      \
	rec_fill_head(&piece->head, now_ns, kind, sizeof(*piece) + PIECE_BYTES(i), p);             \
	piece_fill(piece, PIECE_BYTES(i), s)

static __always_inline bool piece_send(const struct piece_source *s, __u64 now_ns, __u64 *ret_id)
{
	bool is_allocation = s->kind == STACK_COPIES_OF_ALLOCATION;
	__u32 ring = is_allocation ? REC_HEAP_PIECE_RING : REC_PIECE_RING;
	__u16 kind = is_allocation ? REC_HEAP_PIECE : REC_PIECE;
	struct task_struct *p = bpf_get_current_task_btf();
	struct rec_piece *piece;
	__u32 size = piece_size;

	if (size == 0) {
		PIECE_SEND(0);
	} else if (size == 1) {
		PIECE_SEND(1);
	} else {
		PIECE_SEND(2);
	}
	/* The id is unique, since no other stack has both the same time and the same CPU. */
	piece->id = *ret_id =
		stack_mix(s->hash, now_ns ^ (__u64)bpf_get_smp_processor_id() << 48) | 1;
	bpf_ringbuf_submit(piece, BPF_RB_NO_WAKEUP);
	piece_count(s->at->awaited, s->kind);
	return true;
}

/*
 * Sends a stack like piece_send(). WALKED has the N frames that were found so far, and STOPPED is
 * where the walk has stopped.
 */
static __always_inline bool piece_send_record(const struct unwind_walk *stopped,
					      const struct rec_stack *walked, __u32 n,
					      enum stack_copies kind, __u64 now_ns, __u64 *ret_id)
{
	const struct piece_source s = {
		.kind = kind,
		.is_modest = kind == STACK_COPIES_OF_WAIT,
		.at = stopped,
		.frames = walked->frames,
		.n_frames = n,
		.n_frames_room = STACK_FRAMES_MAX,
		.hash = stack_hash_of(walked, n),
	};

	return piece_send(&s, now_ns, ret_id);
}

/*
 * Sends the N frames in WALKED, the stack of P at NOW_NS. If the walk has STOPPED, also sends the
 * data for continuing the walk. Otherwise like stack_send().
 */
static __always_inline bool piece_or_stack_send(const struct unwind_walk *stopped,
						struct rec_stack *walked, __u32 n,
						struct task_struct *p, __u64 now_ns, __u64 *ret_id)
{
	if (stopped->ip) {
		if (piece_send_record(stopped, walked, n, STACK_COPIES_OF_RUNNING, now_ns, ret_id))
			return true;
		unwind_count_end(UNWIND_END_TABLE);
	}
	return stack_send(walked, n, p, now_ns, ret_id);
}
