/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The perf rings through which the kernel reports every executable mapping, one ring for each CPU.
 * The kernel also reports mappings of processes in other mount namespaces, and of processes that
 * live for milliseconds.
 *
 * One thread drains the rings. Another thread, which may block in the kernel, sets the online CPUs.
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
 * Opens the rings of all online CPUs of N_CPUS, of RING_BYTES each (a power of two, at least 512
 * KiB). If not enough memory can be locked, the rings are smaller, down to 512 KiB. Returns 0,
 * MAP_RINGS_LOCKED if even that fails, or a negative errno.
 */
#define MAP_RINGS_LOCKED (-EDQUOT)
int map_rings_new(unsigned n_cpus, uint64_t ring_bytes, struct map_rings **ret);
struct map_rings *map_rings_free(struct map_rings *r);

DEFINE_CLEANUP(struct map_rings *, map_rings_free)

/*
 * From now on, the ids in records are translated: the map IDS_FD has the kernel's ids, with the ids
 * of this pid namespace as keys. Records of processes that the map does not have are left out; if
 * IDS_FD is negative, all records are left out.
 */
void map_rings_translate(struct map_rings *r, int ids_fd);

/* Maximum bytes of kernel memory for N_CPUS rings. */
uint64_t map_rings_memory(unsigned n_cpus, uint64_t ring_bytes);

/*
 * From now on, EPOLL_FD becomes readable when a quarter of a ring has been filled. Returns 0 or a
 * negative errno.
 */
int map_rings_watch(struct map_rings *r, int epoll_fd);

/*
 * Passes the content of the rings to FN, and empties them. A loss becomes a struct rec_lost, in its
 * place among the records. Returns 0, or the result of FN that ended the call.
 */
int map_rings_drain(struct map_rings *r, map_record_fn fn, void *userdata);

/* Returns the losses of the kernel on CPU that are not in its ring yet. */
struct map_rings_lost map_rings_pending_lost(struct map_rings *r, unsigned cpu);

/* Stops the reports of mappings; the content of the rings stays. */
void map_rings_stop(struct map_rings *r);

/*
 * Resumes reports: the next map_rings_set_online() opens all rings again. (A CPU may have gone
 * offline and come back meanwhile.)
 */
void map_rings_start(struct map_rings *r);

/* Forgets the losses on CPU so far, which have been reported. */
void map_rings_forget_lost(struct map_rings *r, unsigned cpu);

/* Sets the ONLINE CPUs. CPUs that have come back get new rings. */
void map_rings_set_online(struct map_rings *r, const bool *online);
