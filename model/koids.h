/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Koids, the ids of threads and processes in an archive (docs/FXT-MAPPING.md, "Koids"). A thread
 * has its tid, a process its tgid, in the initial pid namespace (at most 2^22). The second owner of
 * a tid in one trace gets tid + (2 << 22), the third tid + (3 << 22), and so on up to 1023. Kernel
 * threads belong to process 2. Everything that is not a Linux task has a koid from 1 << 22 on. 0 is
 * the idle thread. All fit the 32 bits that readers keep. This header works without libc, for the
 * bpf target.
 */
#pragma once

#define FXT_KOID_TID_BITS 22
#define FXT_KOID_KTHREADD 2u
#define FXT_KOID_TID_MASK ((1u << FXT_KOID_TID_BITS) - 1)
#define FXT_KOID_KYMO     (1u << FXT_KOID_TID_BITS) /* the pseudo-process "kymo" and its thread */
/* + cpu: pseudo-thread "cpu N" of process "kymo". */
#define FXT_KOID_KYMO_CPU (FXT_KOID_KYMO + 1)
/*
 * "other": a thread that the filter does not select. There is one per CPU (+ cpu), since for
 * readers, a thread can be in only one place.
 */
#define FXT_KOID_OTHER   (FXT_KOID_KYMO + 0x20000u)
#define FXT_KOID_UNKNOWN (FXT_KOID_KYMO + 0x1ffffu) /* "unknown": a damaged reference */
/* Pseudo-processes for activities of CPUs; + 1 + cpu: their threads */
#define FXT_KOID_IRQ         (FXT_KOID_KYMO + 0x30000u)  /* "IRQ", "irq cpu N" */
#define FXT_KOID_SOFTIRQ     (FXT_KOID_KYMO + 0x50000u)  /* "Softirq", "softirq cpu N" */
#define FXT_KOID_POWER       (FXT_KOID_KYMO + 0x70000u)  /* "Power", "idle cpu N" */
#define FXT_KOID_COUNTERS    (FXT_KOID_KYMO + 0x90000u)  /* "Counters" and its thread */
#define FXT_KOID_CODE        (FXT_KOID_KYMO + 0xb0000u)  /* "Code" and its thread */
#define FXT_KOID_WHY         (FXT_KOID_KYMO + 0xd0000u)  /* "Why"; + 1 + n: its tracks */
#define FXT_KOID_BLOCK       (FXT_KOID_KYMO + 0xf0000u)  /* "Block devices"; + 1 + n: "block n" */
#define FXT_BLOCK_LANES      64                          /* threads of "Block devices" */
#define FXT_KOID_APP         (FXT_KOID_KYMO + 0x200000u) /* + n: tracks that programs make */
#define FXT_KOID_APP_TRACKS  0x100000u
#define FXT_KOID_REUSE_FIRST 2u
#define FXT_KOID_REUSE_LAST  1023u

/* Returns the tid of KOID, a thread's koid. */
static inline __attribute__((always_inline, unused)) unsigned fxt_koid_tid(unsigned long long koid)
{
	return koid & ((1u << FXT_KOID_TID_BITS) - 1);
}

/* Whether KOID is a thread or a process of Linux, of a single machine. */
static inline __attribute__((always_inline, unused)) int fxt_koid_is_task(unsigned long long koid)
{
	return koid != 0 && koid >> FXT_KOID_TID_BITS != 1;
}

/* Whether KOID is the "other" of a CPU. */
static inline __attribute__((always_inline, unused)) int fxt_koid_is_other(unsigned long long koid)
{
	return koid - FXT_KOID_OTHER <= 0xffff;
}
