/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which code is mapped where, in each process, at each time: from EVENT_MAPPING, EVENT_FORK,
 * EVENT_EXEC, EVENT_EXIT and EVENT_TASK. Here and not in reader/, since Perfetto's packets say of
 * each frame which mapping it is in, when they are written.
 *
 * That something is unmapped is not recorded: a mapping holds until another one covers it, or until
 * exec. A child has what its parent had at the fork. Of a process about which neither is known (the
 * archive begins later, or the record got lost) it is taken that it has what its parent has, unless
 * it is known to have called exec. Mappings of a new program stand behind its exec, or at its time.
 *
 * What is mapped when an archive begins (at its EVENT_START) was mapped before: stacks with which a
 * thread left its CPU can be older than the archive.
 *
 * With MAPS_OF_ALL_TIMES what was covered or replaced is found again by its time: memory grows with
 * the mappings that were made, at most MAPS_MAX of them; a fork copies nothing until somebody maps.
 * maps_forget() forgets what is over, for who reads a stream without end.
 * Without, only what is mapped now is kept, and nothing of processes that have ended.
 *
 * Who says again what is mapped (the head of a chunk) bounds what is kept: maps_bound(),
 * maps_each().
 *
 * In an archive merged from those of several machines the koids of each are moved by a part of
 * their range (docs/FXT-MAPPING.md). Which machines there are is known from EVENT_START and from
 * what their kernels have mapped.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/table.h"
#include "writer/event.h"
#include "writer/koids.h"

/* More are counted, and not found. */
enum { MAPS_MAX = 1 << 20 };

/* One executable mapping. It lives as long as its maps (MAPS_OF_ALL_TIMES), or as it is mapped. */
struct mapping {
	uint64_t number; /* no two of one maps have the same; from 1 */
	uint32_t pid;    /* whose mapping it was first; children share it */
	uint64_t ts_ns;  /* from then on; 0: when the archive began, or before */
	uint64_t start, size, file_offset;
	uint64_t device, inode; /* 0 = not known */
	char *path;
	uint32_t module_id;
	uint32_t build_id_size; /* 0 = not known */
	uint8_t *build_id;
	unsigned n_refs; /* of maps.c */
};

enum maps_mode {
	MAPS_OF_NOW,
	MAPS_OF_ALL_TIMES,
};

struct maps;

int maps_new(struct maps **ret, enum maps_mode mode);
struct maps *maps_free(struct maps *m);
DEFINE_CLEANUP(struct maps *, maps_free)

/*
 * From now on at most BYTES are kept: what is more is dropped. A process that has more than OF_ONE
 * ranges loses its oldest mappings.
 */
void maps_bound(struct maps *m, size_t bytes, size_t of_one);

/* Takes EV in; what is of no use here is passed over. Returns 0 or -ENOMEM. */
int maps_add(struct maps *m, const struct event *ev);

/* Nothing is known of the process PID any more. */
void maps_remove(struct maps *m, uint32_t pid);

/*
 * Calls FN with all that is mapped now, process by process; of one in the order in which it came:
 * said again like that it means the same. PID is whose it is: children share the mapping. Returns
 * what FN returned when that is not 0, or -ENOMEM.
 */
typedef int (*maps_fn)(void *userdata, uint32_t pid, const struct mapping *mapping);
int maps_each(const struct maps *m, maps_fn fn, void *userdata);

/*
 * Forgets what was over (covered, replaced by exec, of a process that has ended) before BEFORE_NS:
 * nobody will ask for that time any more. Mappings that were found are found anew before they are
 * used.
 */
void maps_forget(struct maps *m, uint64_t before_ns);

/*
 * The mapping that ADDRESS of process PID (the kernel's: kthreadd's) was in at TS_NS, or NULL. With
 * MAPS_OF_NOW, TS_NS means nothing.
 */
const struct mapping *maps_find(const struct maps *m, uint32_t pid, uint64_t address,
				uint64_t ts_ns);

/*
 * A number for what is mapped now in process PID. While it stays the same each address is in the
 * same mapping; no two processes have the same, but those of which nothing is known (0), or which
 * have what their parent has.
 */
uint64_t maps_version(const struct maps *m, uint32_t pid);

/* An address of the kernel's half. */
static inline bool maps_is_kernel(uint64_t address)
{
	return address >> 63;
}

/* Whether frame I of a stack, innermost first, is where a call returns to: the others are addresses
 * that were interrupted, the first of the stack and the first of user space below the kernel's. */
static inline bool maps_is_return(const uint64_t *frames, unsigned i)
{
	return i > 0 && (!maps_is_kernel(frames[i - 1]) || maps_is_kernel(frames[i]));
}

/*
 * The same of the stack of an EVENT_SAMPLE: one that allocations name begins with where their
 * function returned to.
 */
static inline bool maps_sample_returns(const struct event *ev, unsigned i)
{
	return ev->sample.kind == SAMPLE_NAMED || maps_is_return(ev->sample.frames, i);
}

/*
 * The process whose mappings and frames say what ADDRESS, in a stack of PID, is: for the kernel's,
 * the kthreadd of PID's machine.
 */
uint32_t maps_owner(const struct maps *m, uint32_t pid, uint64_t address);

/* Whether the process PID is kthreadd, of whatever machine. */
static inline bool maps_is_kthreadd(uint64_t pid)
{
	return (pid & FXT_KOID_TID_MASK) == FXT_KOID_KTHREADD;
}

/* Mappings that are not kept, because there are MAPS_MAX, or more than maps_bound() allows. */
uint64_t maps_n_dropped(const struct maps *m);
