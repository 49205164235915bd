/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Memory that an argument of a call leads to in more than one step: arrays of strings, of pointers
 * and of buffers, and lists of entries (CALL_MEMORY_*). Only call-texts.bpf.h includes this file.
 *
 * The loops use bpf_loop(), since the verifier would examine each pass of a plain loop. Text is
 * read in pieces of GATHER_PIECE bytes, since the verifier does not know that an offset and a size
 * together stay below the size of the copy.
 */
#pragma once

#include "bpf/context.bpf.h"
#include "bpf/record.h"

/* The call takes all of the memory. */
#define CALL_TOTAL_UNKNOWN (~0ull)

#define GATHER_PIECE      16
#define GATHER_USED_MAX   (CALL_TEXT_BYTES - GATHER_PIECE)
#define GATHER_PIECES_MAX 192
/* Positions in struct linux_dirent64. */
#define GATHER_ENTRY_SIZE_AT 16
#define GATHER_ENTRY_MIN     19

struct call_gather {
	struct call_text *to;
	__u64 list; /* the next element of the list */
	__u64 at;   /* the next byte of the current element; 0 = the next element follows */
	__u64 left; /* number of bytes of the current element that are not copied yet */
	__u64 total;
	__u32 used, n, max;
	__u32 is_done;
	__u32 end;        /* the copy of the buffers ends here at the latest */
	__u32 part_bytes; /* maximum number of bytes of a buffer's data */
};

/* ---- arrays of strings ---- */

/*
 * Advances to the next string. Returns false at the end, if the list is unreadable, or if the copy
 * has no room.
 */
static __always_inline bool gather_next_string(struct call_gather *g)
{
	__u32 used = g->used;
	__u64 string = 0;

	if (bpf_probe_read_user(&string, sizeof(string), (const void *)g->list) < 0) {
		g->to->cut |= CALL_CUT_ELEMENTS;
		return false;
	}
	if (!string)
		return false;
	if (used >= GATHER_USED_MAX) {
		g->to->cut |= CALL_CUT_ELEMENTS;
		return false;
	}
	g->to->text[used] = CALL_ARGV_STRING;
	g->used = used + 1;
	g->list += sizeof(string);
	g->at = string;
	g->n = 0;
	return true;
}

/* Replaces the current string, of which no byte is readable, by its address. */
static __always_inline void gather_put_address(struct call_gather *g)
{
	__u32 used = g->used;

	if (used == 0 || used > GATHER_USED_MAX)
		return;
	g->to->text[used - 1] = CALL_ARGV_ADDRESS;
	bpf_probe_read_kernel(g->to->text + used, sizeof(g->at), &g->at);
	g->used = used + sizeof(g->at);
}

static long gather_string_piece(__u64 i, struct call_gather *g)
{
	__u32 used;
	long r;

	if (!g->at)
		return !gather_next_string(g);
	used = g->used;
	if (used > GATHER_USED_MAX) {
		g->to->cut |= CALL_CUT_MEMORY;
		g->at = 0;
		return 0;
	}
	r = bpf_probe_read_user_str(g->to->text + used, GATHER_PIECE, (const void *)g->at);
	if (r < 0 && g->n == 0) {
		gather_put_address(g);
		g->at = 0;
	} else if (r < 0 || r > GATHER_PIECE) {
		g->to->cut |= CALL_CUT_MEMORY | CALL_CUT_ELEMENTS;
		return 1;
	} else if (r < GATHER_PIECE) {
		g->used = used + r;
		g->at = 0;
	} else {
		/* (the last byte is a NUL, which the next piece overwrites) */
		g->used = used + GATHER_PIECE - 1;
		g->at += GATHER_PIECE - 1;
		g->n = 1;
	}
	return 0;
}

static __always_inline bool gather_argv(struct call_gather *g)
{
	__u64 first;

	if (bpf_probe_read_user(&first, sizeof(first), (const void *)g->list) < 0)
		return false;
	if (bpf_loop(GATHER_PIECES_MAX, gather_string_piece, g, 0) == GATHER_PIECES_MAX)
		g->to->cut |= CALL_CUT_ELEMENTS;
	g->to->bytes = (__s32)g->used;
	return true;
}

/* ---- numbers of pointers and of entries ---- */

static __always_inline void gather_put_number(struct call_gather *g)
{
	__u32 n = g->n;

	bpf_probe_read_kernel(g->to->text, sizeof(n), &n);
	g->to->bytes = sizeof(n);
}

static long gather_pointer(__u64 i, struct call_gather *g)
{
	__u64 pointer = 0;

	if (bpf_probe_read_user(&pointer, sizeof(pointer), (const void *)g->list) < 0)
		return 1;
	if (!pointer) {
		g->is_done = 1;
		return 1;
	}
	g->list += sizeof(pointer);
	g->n++;
	return 0;
}

static long gather_entry(__u64 i, struct call_gather *g)
{
	__u16 bytes = 0;

	if (g->left == 0) {
		g->is_done = 1;
		return 1;
	}
	if (bpf_probe_read_user(&bytes, sizeof(bytes),
				(const void *)(g->list + GATHER_ENTRY_SIZE_AT)) < 0 ||
	    bytes < GATHER_ENTRY_MIN || bytes > g->left)
		return 1;
	g->list += bytes;
	g->left -= bytes;
	g->n++;
	return 0;
}

/* ---- arrays of buffers ---- */

/*
 * Advances to the next buffer. Returns false at the end, if the list is unreadable, or if the copy
 * has no room.
 */
static __always_inline bool gather_next_part(struct call_gather *g)
{
	__u64 part[2] = { 0, 0 }; /* struct iovec: the address and the length */
	__u32 used = g->used;
	__u64 bytes;

	if (g->n >= g->max)
		return false;
	if (used > GATHER_USED_MAX || used + sizeof(part) > g->end ||
	    bpf_probe_read_user(part, sizeof(part), (const void *)g->list) < 0) {
		g->to->cut |= CALL_CUT_ELEMENTS;
		return false;
	}
	bpf_probe_read_kernel(g->to->text + used, sizeof(part), part);
	bytes = part[1] < g->total ? part[1] : g->total;
	g->total -= bytes;
	g->used = used + sizeof(part);
	g->list += sizeof(part);
	g->at = part[0];
	g->left = bytes < g->part_bytes ? bytes : g->part_bytes;
	g->is_done = 0;
	g->n++;
	if (g->left == 0)
		g->at = 0;
	return true;
}

/* Marks the current buffer as unreadable, and removes its data. */
static __always_inline void gather_drop_part(struct call_gather *g)
{
	__u64 length = 0;
	__u32 at = g->used - g->is_done - 8;

	g->used -= g->is_done;
	g->at = 0;
	if (at > GATHER_USED_MAX)
		return;
	bpf_probe_read_kernel(&length, sizeof(length), g->to->text + at);
	length |= CALL_PART_UNREADABLE;
	bpf_probe_read_kernel(g->to->text + at, sizeof(length), &length);
}

/* (is_done is the number of bytes of the current buffer that have been copied) */
static long gather_part_piece(__u64 i, struct call_gather *g)
{
	__u64 n = g->left < GATHER_PIECE ? g->left : GATHER_PIECE;
	__u32 used;

	if (!g->at)
		return !gather_next_part(g);
	used = g->used;
	if (used > GATHER_USED_MAX)
		return 1;
	barrier_var(n);
	if (n > GATHER_PIECE)
		n = GATHER_PIECE;
	if (bpf_probe_read_user(g->to->text + used, n, (const void *)g->at) < 0) {
		gather_drop_part(g);
		return 0;
	}
	g->used = used + n;
	g->is_done += n;
	g->left -= n;
	g->at = g->left ? g->at + n : 0;
	return 0;
}

static __always_inline bool gather_parts(struct call_gather *g)
{
	__u64 first;

	if (g->max && bpf_probe_read_user(&first, sizeof(first), (const void *)g->list) < 0)
		return false;
	g->end = CALL_TEXT_BYTES;
	g->part_bytes = CALL_PART_BYTES(g->max);
	bpf_loop(GATHER_PIECES_MAX, gather_part_piece, g, 0);
	g->to->bytes = (__s32)g->used;
	return true;
}

/* ---- messages ---- */

/* Positions in struct msghdr and struct mmsghdr, and their sizes. */
#define GATHER_PARTS_AT      16
#define GATHER_CONTROL_AT    32
#define GATHER_FLAGS_AT      48
#define GATHER_LENGTH_AT     56
#define GATHER_MMSGHDR_BYTES 64

static long gather_block_piece(__u64 i, struct call_gather *g)
{
	__u64 n = g->left < GATHER_PIECE ? g->left : GATHER_PIECE;
	__u32 used = g->used;

	if (n == 0)
		return 1;
	barrier_var(n);
	if (used > GATHER_USED_MAX || n > GATHER_PIECE ||
	    bpf_probe_read_user(g->to->text + used, n, (const void *)g->at) < 0)
		return 1;
	g->used = used + n;
	g->at += n;
	g->left -= n;
	return 0;
}

/*
 * Copies the g->left bytes at g->at, but uses at most half of what is left of the message's share
 * of the copy. Returns the number of copied bytes.
 */
static __always_inline __u32 gather_block(struct call_gather *g)
{
	__u32 before = g->used, max = before < g->end ? (g->end - before) / 2 : 0;

	if (!g->at)
		return 0;
	if (g->left > max)
		g->left = max;
	bpf_loop(CALL_TEXT_BYTES / GATHER_PIECE, gather_block_piece, g, 0);
	return g->used - before;
}

static __always_inline __u32 gather_number(__u64 n)
{
	return n < 0xffffffffu ? n : 0xffffffffu;
}

/* A share of a copy: from BEGIN to END. */
#define GATHER_SHARE(begin, end) ((__u64)(begin) << 32 | (end))

/*
 * Copies the message at FROM to SHARE of TO. Returns 0 if the message is unreadable, otherwise the
 * end of the copy. (This is a separate function, so the verifier checks it once for all messages.
 * The function reads the structure in parts, since little room is left on the eBPF stack.)
 */
__noinline int gather_message(struct call_text *to, __u64 from, __u64 share, __u32 is_array,
			      __u64 total)
{
	struct call_gather g = { .to = to, .total = total };
	struct call_message m = { 0 };
	__u32 begin = share >> 32;

	if (!to || begin > CALL_TEXT_BYTES - sizeof(m) ||
	    bpf_probe_read_user(&m.name, 12, (const void *)from) < 0 ||
	    bpf_probe_read_user(&m.flags, sizeof(m.flags), (const void *)(from + GATHER_FLAGS_AT)) <
		    0)
		return 0;
	if (is_array)
		bpf_probe_read_user(&m.length, sizeof(m.length),
				    (const void *)(from + GATHER_LENGTH_AT));
	/* (at the entry of the call, the kernel has not set the length yet) */
	if (is_array && total != CALL_TOTAL_UNKNOWN)
		g.total = m.length;
	g.end = (__u32)share;
	g.used = begin + sizeof(m);
	g.at = m.name;
	g.left = m.name_bytes;
	m.name_copied = gather_block(&g);
	/*
	 * (reads an address into g.at and a number into g.left; an unreadable one of the two is 0)
	 */
	bpf_probe_read_user(&g.at, 16, (const void *)(from + GATHER_CONTROL_AT));
	m.control_bytes = gather_number(g.left);
	m.has = g.at ? CALL_MESSAGE_CONTROL : 0;
	m.control_copied = gather_block(&g);
	bpf_probe_read_user(&g.at, 16, (const void *)(from + GATHER_PARTS_AT));
	m.n_parts = gather_number(g.left);
	m.has |= g.at ? CALL_MESSAGE_PARTS : 0;
	bpf_probe_read_kernel(to->text + begin, sizeof(m), &m);
	g.list = g.at;
	g.max = g.at ? m.n_parts : 0;
	g.at = g.left = 0;
	if (g.used < g.end)
		g.part_bytes = CALL_MESSAGE_PART_BYTES(g.max, g.end - g.used);
	bpf_loop(GATHER_PIECES_MAX, gather_part_piece, &g, 0);
	return (int)g.used;
}

/*
 * Copies N messages (struct msghdr, or struct mmsghdr if IS_ARRAY), or as many as there is room
 * for. TOTAL is as for call_gather(). Returns false if the messages are unreadable.
 */
__noinline bool call_messages(struct call_text *to, __u64 from, __u32 n, __u32 is_array,
			      __u64 total)
{
	__u32 share = CALL_MESSAGE_BYTES(n);
	int used = 0;

	if (!to)
		return false;
	to->cut = 0;
	to->bytes = n ? -1 : 0;
	for (__u32 i = 0; i < CALL_MESSAGES_MAX; i++) {
		if (i >= n)
			break;
		used = gather_message(to, from + i * GATHER_MMSGHDR_BYTES,
				      GATHER_SHARE(i * share, (i + 1) * share), is_array, total);
		if (used <= 0)
			break;
		to->bytes = used;
	}
	return *(volatile __s32 *)&to->bytes >= 0;
}

/*
 * Copies the memory of KIND at FROM. BYTES is the number of elements; TOTAL is the number of bytes
 * that the call has read or written. Returns false if the memory is unreadable.
 */
__noinline bool call_gather(struct call_text *to, __u64 from, __u32 bytes, __u32 kind, __u64 total)
{
	struct call_gather g = { .to = to, .list = from, .left = total, .total = total };

	if (!to)
		return false;
	g.max = bytes;
	to->bytes = -1;
	to->cut = 0;
	/*
	 * (true even if nothing was readable: a second attempt at the return would fail, since exec
	 * has replaced the memory)
	 */
	if (kind == CALL_MEMORY_ARGV) {
		gather_argv(&g);
		return true;
	}
	if (kind == CALL_MEMORY_PARTS)
		return gather_parts(&g);
	if (kind == CALL_MEMORY_POINTERS)
		bpf_loop(CALL_POINTERS_MAX, gather_pointer, &g, 0);
	else
		bpf_loop(CALL_POINTERS_MAX, gather_entry, &g, 0);
	if (g.is_done)
		gather_put_number(&g);
	return true;
}
