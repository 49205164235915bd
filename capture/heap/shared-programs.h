/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The programs whose memory another process uses, or has used: the map `memory_shared` of the eBPF
 * programs. The eBPF programs remove an entry when the program in it ends, except during a pause.
 * They also count the programs that did not fit into the map.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

#include "bpf/record.h"

struct shared_programs {
	int fd;                /* the map; borrowed */
	const __u64 *n_missed; /* number of programs that did not fit into the map; borrowed */
	uint64_t n_seen;       /* the last value of *N_MISSED */
	/* Time until which programs can be missing, CLOCK_BOOTTIME; 0 = no programs are missing. */
	uint64_t missed_ns;
	/* Time of the last sweep for missing programs, CLOCK_BOOTTIME; 0 = no sweep yet. */
	uint64_t swept_ns;
};

/* Removes processes that do not exist any more. */
void shared_programs_sweep(const struct shared_programs *s);

/*
 * Returns true if the program of process PID may be in the map, so that shared_programs_has() must
 * be asked. If programs are missing from now on, the map is swept, at most once per second.
 */
bool shared_programs_may_have(struct shared_programs *s, uint32_t pid);

/*
 * Returns true if the map has NOW, the program of process PID (NULL if unknown). Also true if NOW
 * can be missing from the map, because it began when the map was full. An earlier program of PID is
 * removed.
 */
bool shared_programs_has(const struct shared_programs *s, uint32_t pid,
			 const struct memory_program *now);
