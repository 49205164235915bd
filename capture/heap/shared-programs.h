/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The programs whose memory another process uses, or has used: the map `memory_shared` of the eBPF
 * programs. They remove a program at its end, but not if it ends during a pause, and they count the
 * programs that did not fit into the map.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

#include "bpf/record.h"

struct shared_programs {
	int fd;                /* the map; borrowed */
	const __u64 *n_missed; /* programs that did not fit into it; borrowed */
	uint64_t n_seen;       /* the last value of *N_MISSED */
	uint64_t missed_ns; /* programs can be missing until this time, CLOCK_BOOTTIME; 0 = none */
	uint64_t swept_ns;  /* the last sweep for missing programs; likewise */
};

/* Removes processes that do not exist any more. */
void shared_programs_sweep(const struct shared_programs *s);

/*
 * Whether the program of process PID may be one, so that shared_programs_has() must be asked. If
 * programs are missing from now on, the map is swept, at most once per second.
 */
bool shared_programs_may_have(struct shared_programs *s, uint32_t pid);

/*
 * Whether NOW, the program of process PID (NULL if unknown), is one, or can be missing: it began
 * when the map was full. An earlier program of PID is removed.
 */
bool shared_programs_has(const struct shared_programs *s, uint32_t pid,
			 const struct memory_program *now);
