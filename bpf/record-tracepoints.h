/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Tracepoints of the kernel, by the formats that tracefs describes. This file has the settings of
 * the eBPF program, and the record that this program writes. bpf/record.h includes this file.
 *
 * The kernel stores the fields of an event in one block of memory: fields of constant size first,
 * then the data of dynamic fields. The eBPF program copies the block and the data, and user space
 * takes them apart.
 */
#pragma once

#define TRACEPOINTS_MAX           256
#define TRACEPOINT_HEAD_BYTES     8    /* common fields, which eBPF programs cannot see */
#define TRACEPOINT_FIXED_MAX      1024 /* maximum size of the fields of constant size */
#define TRACEPOINT_DYNAMIC_MAX    4    /* maximum number of dynamic fields */
#define TRACEPOINT_DYNAMIC_BYTES  256  /* maximum size of a dynamic field; the rest is cut off */
#define TRACEPOINT_CONDITIONS_MAX 4
#define TRACEPOINT_TEXT_BYTES     64 /* maximum size of a text in a condition, NUL included */

#define TRACEPOINT_NUMBER       0
#define TRACEPOINT_TEXT         1 /* characters in the field itself */
#define TRACEPOINT_DYNAMIC_TEXT 2 /* the field has the place of the characters */

/* A condition of a tracepoint. All conditions must hold. */
struct tracepoint_condition {
	__u64 value; /* of a number */
	__u16 offset;
	__u16 bytes; /* size of a number or of a text in the field itself */
	__u8 form;   /* TRACEPOINT_NUMBER, ... */
	__u8 op;     /* CALL_OP_*; for a text, CALL_OP_EQ or CALL_OP_NE */
	__u8 is_signed;
	__u8 is_relative; /* the place of dynamic data is relative to the end of the field */
	__u64 text[TRACEPOINT_TEXT_BYTES / 8]; /* padded with NULs */
};
_Static_assert(sizeof(struct tracepoint_condition) == 80, "ABI");

struct tracepoint_dynamic {
	__u16 offset; /* of the field that has the place and the size */
	__u16 is_relative;
};

struct tracepoint_layout {
	__u32 fixed_bytes; /* size of the fields of constant size, without the head; 0 = none */
	__u32 n_dynamic;
	__u32 n_conditions;
	__u32 pad_0;
	struct tracepoint_dynamic dynamic[TRACEPOINT_DYNAMIC_MAX];
	struct tracepoint_condition conditions[TRACEPOINT_CONDITIONS_MAX];
};
_Static_assert(sizeof(struct tracepoint_layout) == 32 + TRACEPOINT_CONDITIONS_MAX * 80, "ABI");

/* The actor of an event. */
#define TRACEPOINT_BY_TASK    0
#define TRACEPOINT_BY_SOFTIRQ 1
#define TRACEPOINT_BY_IRQ     2

#define TRACEPOINT_ROUND(bytes) (((bytes) + 7) & ~7u)

/*
 * An event of a tracepoint. head's thread was the current one. The data is the fields of constant
 * size, then the dynamic fields. Each is padded to a multiple of 8.
 */
struct rec_tracepoint {
	struct rec_head head;
	__u16 tracepoint; /* index of the layout */
	__u8 actor;       /* TRACEPOINT_BY_* */
	__u8 is_cut;      /* bits: the dynamic fields that were cut off */
	__u32 bytes;      /* size of the data */
	__u16 dynamic_bytes[TRACEPOINT_DYNAMIC_MAX];
	/* This array is larger than the data of any record, because the verifier requires it. */
	__u8 data[TRACEPOINT_FIXED_MAX + (TRACEPOINT_DYNAMIC_MAX + 2) * TRACEPOINT_DYNAMIC_BYTES];
};
#define REC_TRACEPOINT_BYTES(bytes) (sizeof(struct rec_head) + 16 + (bytes))
#define REC_TRACEPOINT_DATA_MAX                                                                    \
	(TRACEPOINT_FIXED_MAX + TRACEPOINT_DYNAMIC_MAX * TRACEPOINT_DYNAMIC_BYTES)
_Static_assert(__builtin_offsetof(struct rec_tracepoint, data) == REC_TRACEPOINT_BYTES(0), "ABI");

/* ---- kymo's own tracepoints ---- */

#define TRACEPOINT_OWN_FAULT 0
#define TRACEPOINT_OWN_RTT   1
#define TRACEPOINT_OWN_MAX   2

/*
 * The fields of constant size of kymo's own tracepoints, as capture/options/tracepoint-own.c
 * describes them. These structures have no head. `file` is the place of the text, as in __data_loc
 * fields of the kernel.
 */
struct tracepoint_fault {
	__u64 address;
	__u64 ip;
	__u64 inode;  /* 0 = memory without a file */
	__u64 offset; /* of the page in the file, in bytes */
	__u32 device; /* as st_dev of stat() */
	__u32 file;
	__u8 major;
	__u8 mapped; /* the mapping is known */
	__u8 pad_0[6];
};
_Static_assert(sizeof(struct tracepoint_fault) == 48, "ABI");

/* The cookies of the two events of page faults. */
#define TRACEPOINT_FAULT_MINOR 1
#define TRACEPOINT_FAULT_MAJOR 2

struct tracepoint_rtt {
	__u16 sport, dport;
	__u16 family;
	__u16 pad_0;
	__u8 saddr[4], daddr[4];
	__u8 saddr_v6[16], daddr_v6[16];
	__u32 srtt; /* us, as the following two */
	__u32 rttvar;
	__u32 min_rtt;
	__u32 snd_cwnd; /* packets */
	__u32 total_retrans;
	__u32 pad_1;
};
_Static_assert(sizeof(struct tracepoint_rtt) == 72, "ABI");

/*
 * A connection has at most one event in this time, unless its round trip time has doubled or
 * halved.
 */
#define TRACEPOINT_RTT_INTERVAL_NS 100000000ull
