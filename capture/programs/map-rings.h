/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The perf rings through which the kernel reports every executable mapping, one a CPU: also of
 * processes of other mount namespaces, and of those that live for milliseconds.
 *
 * One thread drains; another one (which may wait for the kernel) says which CPUs are online.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "capture/programs/map-records.h"

struct map_rings;

struct map_rings_lost {
	uint64_t count, first_ns, last_ns;
};

/*
 * Opens the rings of all CPUs of N_CPUS that are online, with RING_BYTES each (a power of two; 512
 * KiB at least, and as little where no more may be locked). Returns 0, MAP_RINGS_LOCKED if not even
 * that may be, or a negative errno.
 */
#define MAP_RINGS_LOCKED (-EDQUOT)
int map_rings_new(unsigned n_cpus, uint64_t ring_bytes, struct map_rings **ret);
struct map_rings *map_rings_free(struct map_rings *r);

DEFINE_CLEANUP(struct map_rings *, map_rings_free)

/* Bytes of kernel memory that N_CPUS rings take, at most. */
uint64_t map_rings_memory(unsigned n_cpus, uint64_t ring_bytes);

/* EPOLL_FD becomes readable when a ring has filled by a quarter. Returns 0 or a negative errno. */
int map_rings_watch(struct map_rings *r, int epoll_fd);

/*
 * Hands what is in the rings to FN, and empties them; a loss is a struct rec_lost, in its place.
 * Returns 0 or what FN ended it with.
 */
int map_rings_drain(struct map_rings *r, map_record_fn fn, void *userdata);

/* What the kernel lost on CPU and has not said in its ring yet. */
struct map_rings_lost map_rings_pending_lost(struct map_rings *r, unsigned cpu);

/* Nothing more is reported from here on; what is in the rings stays. */
void map_rings_stop(struct map_rings *r);

/*
 * And from here on it is to be again: all rings are opened anew by the next map_rings_set_online().
 * (A CPU may have gone and come back meanwhile.)
 */
void map_rings_start(struct map_rings *r);

/* What was lost until now on CPU has been reported. */
void map_rings_forget_lost(struct map_rings *r, unsigned cpu);

/* Whether they are ONLINE: those that have come back get new rings. */
void map_rings_set_online(struct map_rings *r, const bool *online);
