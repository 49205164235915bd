/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Moments: the contents of registers and memory when a recorded program hits a point.
 *
 * User space defines the loads of each point (record-moments.h). The eBPF programs run the loads in
 * order, store the results in a work area of this CPU, and put them into the ring as one record.
 * Unreadable memory is marked as such. Only memory of the process is read, and the process never
 * waits.
 */
#include "bpf/calls.bpf.h"
#include "bpf/context.bpf.h"
#include "bpf/cost.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/rec-ring.bpf.h"
#include "bpf/record.h"

#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MOMENT_POINTS_MAX);
	__type(key, __u32);
	__type(value, struct moment_point);
} moment_points SEC(".maps");

/* Trace state variables. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MOMENT_COUNTERS_MAX);
	__type(key, __u32);
	__type(value, __u64);
} moment_counters SEC(".maps");

/*
 * A thread can preempt another one on this CPU in the middle of a moment. The second thread then
 * uses another work area.
 */
#define MOMENT_ROOMS 2

struct moment_room {
	struct rec_moment rec;
	__u64 registers[32]; /* the record's registers; the number of elements is a power of two for
			      * the verifier */
	__u64 tsvs[MOMENT_TSVS_MAX];
	__u64 image; /* address in the process minus address in the file */
	__u32 in_use;
	__u32 pad_0;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, MOMENT_ROOMS);
	__type(key, __u32);
	__type(value, struct moment_room);
} moment_rooms SEC(".maps");

/*
 * Tells the verifier that VALUE is at most MASK. The verifier of Linux 6.1 forgets a comparison if
 * the value is stored on the stack. Compilers omit masks that seem to change nothing.
 */
#define moment_mask(value, mask) asm volatile("%0 &= %1" : "+r"(value) : "i"(mask))

#define MOMENT_EFAULT (-14)
#define MOMENT_ENOSPC (-28)

static __always_inline struct moment_room *moment_acquire_room(void)
{
	struct moment_room *room;

	for (__u32 i = 0; i < MOMENT_ROOMS; i++) {
		__u32 key = i;

		room = bpf_map_lookup_elem(&moment_rooms, &key);
		if (room && __sync_val_compare_and_swap(&room->in_use, 0, 1) == 0)
			return room;
	}
	return NULL;
}

/* ---- loads ---- */

/*
 * Stores the address that load L reads in *RET. Returns false if a pointer on the way to this
 * address is unreadable.
 */
static __always_inline bool moment_address(const struct moment_room *room,
					   const struct moment_load *l, __u64 *ret)
{
	__u64 address = 0;

	if (l->base == MOMENT_BASE_REGISTER)
		address = room->registers[l->reg & 31];
	else if (l->base == MOMENT_BASE_IMAGE)
		address = room->image;
	address += l->offset + room->registers[l->index & 31] * l->scale;
	for (__u32 i = 0; i < MOMENT_STEPS_MAX; i++) {
		if (i >= l->n_steps)
			break;
		if (bpf_probe_read_user(&address, sizeof(address), (const void *)address) < 0)
			return false;
		address += l->steps[i];
	}
	*ret = address;
	return true;
}

/*
 * Reads the number (at most 8 bytes) that load AT of point NUMBER yields into *RET. Returns 0 or
 * negative. (This and the following functions are separate, so the verifier checks each once.)
 */
__noinline int moment_number(struct moment_room *room, __u32 number, __u32 at, __u64 *ret)
{
	const struct moment_point *point = bpf_map_lookup_elem(&moment_points, &number);
	const struct moment_load *l;
	__u64 address, value = 0;
	__u64 bytes;
	long r;

	if (!room || !ret || !point || at >= MOMENT_LOADS_MAX)
		return -1;
	l = &point->loads[at];
	if (!moment_address(room, l, &address))
		return -1;
	if (l->flags & MOMENT_LOAD_VALUE) {
		*ret = address;
		return 0;
	}
	bytes = l->bytes;
	if (bytes >= sizeof(value)) {
		r = bpf_probe_read_user(&value, sizeof(value), (const void *)address);
	} else {
		moment_mask(bytes, sizeof(value) - 1);
		r = bpf_probe_read_user(&value, bytes, (const void *)address);
	}
	*ret = value;
	return r < 0 ? -1 : 0;
}

/*
 * Returns the number of elements that load AT reads; POINT has the index NUMBER. A negative number
 * counts as 0.
 */
static __always_inline __u64 moment_count(struct moment_room *room, __u32 number,
					  const struct moment_point *point, __u32 at)
{
	const struct moment_load *l;
	__u64 n = 0;
	__u32 above;

	if (at >= MOMENT_LOADS_MAX || moment_number(room, number, at, &n) < 0)
		return 0;
	l = &point->loads[at];
	/* A register has more bits than the variable in it, so the upper bits are removed. */
	above = l->bytes < sizeof(n) ? 64 - 8 * l->bytes : 0;
	n <<= above;
	if (l->flags & MOMENT_LOAD_SIGNED && (__s64)n < 0)
		return 0;
	return n >> above;
}

/* Returns the number of bytes of L, a load with a count; POINT has the index NUMBER. */
static __always_inline __u32 moment_counted(struct moment_room *room, __u32 number,
					    const struct moment_point *point,
					    const struct moment_load *l)
{
	__u64 n = moment_count(room, number, point, l->count_at - 1);

	if (n >= l->bytes)
		return l->bytes;
	n *= l->element_bytes;
	return n < l->bytes ? n : l->bytes;
}

/*
 * Reads BYTES at ADDRESS in pieces, up to the first unreadable one. Returns the number of bytes, or
 * a negative number.
 */
__noinline int moment_read_pieces(struct moment_room *room, __u32 at, __u64 address, __u32 bytes)
{
	__u32 got = 0;

	if (!room || at > MOMENT_BEGIN_MAX)
		return MOMENT_EFAULT;
	for (__u32 i = 0; i < MOMENT_BLOCK_BYTES_MAX / MOMENT_PIECE_BYTES; i++) {
		__u32 done = i * MOMENT_PIECE_BYTES;
		__u64 n;
		struct moment_block *block = (struct moment_block *)&room->rec.data[at];
		__u8 *to = (__u8 *)(block + 1) + done;

		if (done >= bytes)
			break;
		n = bytes - done;
		if (n > MOMENT_PIECE_BYTES)
			n = MOMENT_PIECE_BYTES;
		moment_mask(n, 2 * MOMENT_PIECE_BYTES - 1);
		if (bpf_probe_read_user(to, n, (const void *)(address + done)) < 0)
			break;
		got += n;
	}
	return got ? (int)got : MOMENT_EFAULT;
}

/*
 * Return probes replace return addresses. Restores the original addresses in the GOT bytes that
 * were read from ADDRESS on the stack.
 */
#if defined(__TARGET_ARCH_x86)
#define MOMENT_PROBED_MAX 16

__noinline int moment_repair_stack(struct moment_room *room, __u32 at, __u64 address, __u32 got)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct return_instance *i = BPF_CORE_READ(p, utask, return_instances);

	if (!room || at > MOMENT_BEGIN_MAX || got > MOMENT_BLOCK_BYTES_MAX || got < 8)
		return 0;
	for (__u32 n = 0; i && n < MOMENT_PROBED_MAX; n++) {
		__u64 where = BPF_CORE_READ(i, stack) - address;

		if (where <= got - 8 && where <= MOMENT_BLOCK_BYTES_MAX - 8) {
			struct moment_block *block = (struct moment_block *)&room->rec.data[at];

			*(__u64 *)((__u8 *)(block + 1) + where) = BPF_CORE_READ(i, orig_ret_vaddr);
		}
		i = BPF_CORE_READ(i, next);
	}
	return 0;
}
#else
static __always_inline int moment_repair_stack(struct moment_room *room, __u32 at, __u64 address,
					       __u32 got)
{
	return 0;
}
#endif

/*
 * Reads memory at ADDRESS into the block at AT, after its head. Returns the number of bytes, or
 * negative.
 */
static __always_inline int moment_read(struct moment_room *room, const struct moment_load *l,
				       __u32 at, __u64 address, __u32 bytes)
{
	struct moment_block *block = (struct moment_block *)&room->rec.data[at];
	__u64 n = bytes;
	long r;

	if (l->flags & MOMENT_LOAD_VALUE) {
		*(__u64 *)(block + 1) = address;
		return bytes < sizeof(address) ? bytes : sizeof(address);
	}
	moment_mask(n, 2 * MOMENT_BLOCK_BYTES_MAX - 1);
	if (l->flags & MOMENT_LOAD_STRING)
		return bpf_probe_read_user_str(block + 1, n, (const void *)address);
	r = bpf_probe_read_user(block + 1, n, (const void *)address);
	return r < 0 ? r : (int)bytes;
}

/*
 * Runs load AT of point NUMBER, and adds the result to ROOM. Returns 0, or a negative number if
 * ROOM is full.
 */
__noinline int moment_collect_load(struct moment_room *room, __u32 number, __u32 at)
{
	const struct moment_point *point = bpf_map_lookup_elem(&moment_points, &number);
	const struct moment_load *l;
	struct moment_block *block;
	__u32 begin, bytes;
	__u64 address = 0;
	int got;

	if (!room || !point || at >= MOMENT_LOADS_MAX)
		return -1;
	l = &point->loads[at];
	begin = room->rec.bytes;
	if (l->flags & MOMENT_LOAD_QUIET)
		return 0;
	if (begin > MOMENT_BEGIN_MAX)
		return MOMENT_ENOSPC;
	bytes = l->count_at ? moment_counted(room, number, point, l) : l->bytes;
	if (bytes > MOMENT_BLOCK_BYTES_MAX)
		bytes = MOMENT_BLOCK_BYTES_MAX;
	if (!moment_address(room, l, &address)) {
		got = MOMENT_EFAULT;
	} else if (l->flags & MOMENT_LOAD_PIECES) {
		got = moment_read_pieces(room, begin, address, bytes);
		if (got > 0)
			moment_repair_stack(room, begin, address, got);
	} else {
		got = moment_read(room, l, begin, address, bytes);
	}
	/* The barrier and the check are for the verifier, as in moment_read(). */
	barrier_var(begin);
	if (begin > MOMENT_BEGIN_MAX)
		return MOMENT_ENOSPC;
	block = (struct moment_block *)&room->rec.data[begin];
	block->address = l->flags & MOMENT_LOAD_VALUE ? 0 : address;
	block->load = at;
	block->bytes = got;
	if (got < 0)
		got = 0;
	room->rec.bytes = begin + sizeof(*block) + ((got + 7) & ~7u);
	return 0;
}

/* ---- trace state variables ---- */

/* Returns the value of trace state variable AT of POINT; NULL = none. */
static __always_inline __u64 *moment_find_tsv(const struct moment_point *point, __u32 at)
{
	__u32 key;

	if (at >= MOMENT_TSVS_MAX)
		return NULL;
	key = point->tsvs[at];
	return bpf_map_lookup_elem(&moment_counters, &key);
}

/* Increments the counters of the point, and stores the values of all its variables in ROOM. */
__noinline int moment_count_tsvs(struct moment_room *room, __u32 number)
{
	const struct moment_point *point = bpf_map_lookup_elem(&moment_points, &number);

	if (!room || !point)
		return -1;
	for (__u32 i = 0; i < MOMENT_TSVS_MAX; i++) {
		__u64 *value;

		if (i >= point->n_tsvs)
			break;
		value = moment_find_tsv(point, i);
		if (!value)
			return -1;
		if (point->counted & 1U << i)
			room->tsvs[i] = __sync_fetch_and_add(value, 1) + 1;
		else
			room->tsvs[i] = *(volatile __u64 *)value;
	}
	return 0;
}

/* Puts the values of the variables into the record, which is still empty. */
__noinline int moment_put_tsvs(struct moment_room *room, __u32 number)
{
	const struct moment_point *point = bpf_map_lookup_elem(&moment_points, &number);
	__u32 n = 0;

	if (!room || !point)
		return -1;
	for (__u32 i = 0; i < MOMENT_TSVS_MAX; i++) {
		struct moment_block *block =
			(struct moment_block *)&room->rec.data[i * (sizeof(*block) + 8)];

		if (i >= point->n_tsvs)
			break;
		block->address = 0;
		block->load = MOMENT_LOADS_MAX + i;
		block->bytes = 8;
		*(__u64 *)(block + 1) = room->tsvs[i];
		n = i + 1;
	}
	room->rec.bytes = n * (sizeof(struct moment_block) + 8);
	return 0;
}

/* ---- moments ---- */

#if defined(__TARGET_ARCH_x86)
static __always_inline void moment_collect_registers(struct pt_regs *ctx, struct moment_room *room)
{
	struct task_struct *p = bpf_get_current_task_btf();
	__u64 *r = room->registers;

	r[0] = ctx->ax;
	r[1] = ctx->dx;
	r[2] = ctx->cx;
	r[3] = ctx->bx;
	r[4] = ctx->si;
	r[5] = ctx->di;
	r[6] = ctx->bp;
	r[7] = ctx->sp;
	r[8] = ctx->r8;
	r[9] = ctx->r9;
	r[10] = ctx->r10;
	r[11] = ctx->r11;
	r[12] = ctx->r12;
	r[13] = ctx->r13;
	r[14] = ctx->r14;
	r[15] = ctx->r15;
	r[16] = ctx->ip;
	r[17] = ctx->flags;
	r[18] = BPF_CORE_READ(p, thread.fsbase);
	r[19] = 0;
	for (__u32 i = 0; i < MOMENT_REGISTERS; i++)
		room->rec.registers[i] = r[i];
}
#else
static __always_inline void moment_collect_registers(struct pt_regs *ctx, struct moment_room *room)
{
	room->registers[MOMENT_REG_SP] = PT_REGS_SP(ctx);
	room->registers[MOMENT_REG_IP] = PT_REGS_IP(ctx);
}
#endif

/* Reads the value for condition AT of point NUMBER into *RET. Returns 0 or negative. */
static __always_inline int moment_subject(struct moment_room *room, __u32 number,
					  const struct moment_point *point, __u32 at, __u64 *ret)
{
	__u64 *tsv;

	if (at <= MOMENT_LOADS_MAX)
		return moment_number(room, number, at - 1, ret);
	tsv = moment_find_tsv(point, at - MOMENT_LOADS_MAX - 1);
	if (!tsv)
		return -1;
	*ret = *(volatile __u64 *)tsv;
	return 0;
}

/*
 * Returns true if all conditions of point NUMBER hold. A condition on unreadable memory does not
 * hold.
 */
__noinline int moment_is_wanted(struct moment_room *room, __u32 number)
{
	const struct moment_point *point = bpf_map_lookup_elem(&moment_points, &number);

	if (!room || !point)
		return 0;
	for (__u32 i = 0; i < MOMENT_CONDITIONS_MAX; i++) {
		const struct moment_condition *c = &point->conditions[i];
		__u64 value = 0;

		if (!c->at)
			break;
		if (moment_subject(room, number, point, c->at, &value) < 0 ||
		    !call_holds(value, c->bits, c->op, c->is_signed, c->value))
			return 0;
	}
	return 1;
}

static __always_inline bool moment_send(struct moment_room *room, __u32 number,
					const struct moment_point *point, __u64 hit)
{
	struct task_struct *p = bpf_get_current_task_btf();
	__u64 now_ns;
	__u32 bytes;

	room->rec.stack = call_collect_stack();
	now_ns = bpf_ktime_get_boot_ns();
	room->rec.hit = hit;
	room->rec.point = number;
	room->rec.bytes = 0;
	if (point->n_tsvs)
		moment_put_tsvs(room, number);
	for (__u32 i = 0; i < MOMENT_LOADS_MAX; i++)
		if (i >= point->n_loads || moment_collect_load(room, number, i) < 0)
			break;
	bytes = room->rec.bytes;
	if (bytes > sizeof(room->rec.data))
		return false;
	rec_fill_head(&room->rec.head, now_ns, REC_MOMENT, REC_MOMENT_BYTES(bytes), p);
	return rec_output(REC_MOMENT_RING, &room->rec, REC_MOMENT_BYTES(bytes), now_ns);
}

/*
 * Returns the actions that are due at HIT, as bits. If the ring is full, an action is postponed to
 * a later hit.
 */
static __always_inline __u32 moment_due(const struct moment_point *point, __u64 hit)
{
	__u32 notified_actions = *(volatile __u32 *)&point->notified_actions, due = 0;

	for (__u32 i = 0; i < MOMENT_ACTIONS; i++)
		if (point->actions[i] && hit >= point->actions[i])
			due |= 1U << i;
	return due & ~notified_actions;
}

/* Records a hit of point NUMBER. All conditions of the point hold. */
static __always_inline void moment_record_hit(struct moment_room *room, __u32 number,
					      struct moment_point *point)
{
	__u64 hit = __sync_fetch_and_add(&point->hits, 1) + 1;
	__u32 due = moment_due(point, hit);

	if (point->n_tsvs)
		moment_count_tsvs(room, number);
	if ((hit <= point->max || due) && moment_send(room, number, point, hit) && due)
		__sync_fetch_and_or(&point->notified_actions, due);
}

/*
 * Returns true if POINT needs no more hits. This is checked first, so that a finished point costs
 * little.
 */
static __always_inline bool moment_is_over(const struct moment_point *point)
{
	if (*(volatile __u32 *)&point->notified_actions & 1U << MOMENT_ACTION_STOP)
		return true;
	return !point->goes_on && *(volatile __u64 *)&point->hits >= point->max;
}

SEC("?uprobe")
int TIMED_WITH(COST_FUNCTIONS, on_moment, struct pt_regs *, ctx)
{
	__u32 number = CALL_COOKIE_AT(bpf_get_attach_cookie(ctx)), at = number;
	struct moment_point *point = bpf_map_lookup_elem(&moment_points, &at);
	struct moment_room *room;

	if (!point || !filter_selects(bpf_get_current_task_btf()) || moment_is_over(point))
		return 0;
	room = moment_acquire_room();
	if (!room) {
		rec_lose(REC_RING_CALLS, bpf_ktime_get_boot_ns());
		return 0;
	}
	moment_collect_registers(ctx, room);
	room->image = PT_REGS_IP(ctx) - point->vaddr;
	if (!point->conditions[0].at || moment_is_wanted(room, number))
		moment_record_hit(room, number, point);
	room->in_use = 0;
	return 0;
}
