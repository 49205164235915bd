/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The mappings of code in each process, at each time, from EVENT_MAPPING, EVENT_FORK, EVENT_EXEC,
 * EVENT_EXIT and EVENT_TASK. The FXT writer uses this module, too, since Perfetto's packets name
 * the mapping of each frame when they are written.
 *
 * munmap is not recorded: a mapping is valid until another one covers it, or until exec. A child
 * has the mappings of its parent at the fork. If neither its fork nor its mappings are known (the
 * archive begins later, or the record was lost), a process is assumed to have its parent's
 * mappings, unless it has called exec. Mappings of a new program follow its exec, or have the same
 * time as the exec.
 *
 * Mappings at the beginning of an archive (at its EVENT_START) existed before: stacks with which a
 * thread left its CPU can be older than the archive.
 *
 * With MAPS_OF_ALL_TIMES, covered and replaced mappings are found by their time. Memory then grows
 * with the number of mappings, at most MAPS_MAX; a fork copies nothing until one of the two
 * processes adds a mapping. maps_forget() discards old ones, for readers of endless streams.
 * Otherwise, only current mappings are kept, and none of ended processes.
 *
 * Code that writes all mappings again (the head of a chunk) bounds them: maps_bound(), maps_each().
 *
 * In an archive merged from several machines, the koids of each machine are shifted by a part of
 * their range (docs/FXT-MAPPING.md). The machines are known from EVENT_START and from the mappings
 * of their kernels.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/table.h"
#include "model/event.h"
#include "model/koids.h"

/* Mappings beyond this number are only counted, and not found. */
enum { MAPS_MAX = 1 << 20 };

/*
 * An executable mapping. It is valid as long as the maps (MAPS_OF_ALL_TIMES), or until it is
 * unmapped.
 */
struct mapping {
	uint64_t number; /* number of the mapping, unique within one struct maps; from 1 */
	/*
	 * A hash of the file and the position: in mappings with equal hashes, equal addresses have
	 * the same names. Never 0
	 */
	uint64_t code;
	uint32_t pid;   /* first process with the mapping; its children share the mapping */
	uint64_t ts_ns; /* valid from this time on; 0 = it existed before the archive */
	uint64_t start, size, file_offset;
	uint64_t device, inode; /* 0 = unknown */
	char *path;
	/*
	 * The mapping is of the program's own file: the process, or an ancestor, mapped no other
	 * file before it. False if that is unknown, since neither an exec was seen nor a list at
	 * the begin of the archive. If records of the first mappings were lost, this can be true
	 * for a later file.
	 */
	bool is_program;
	uint32_t module_id;
	uint32_t build_id_size; /* size of the build id; 0 = unknown */
	uint8_t *build_id;
	unsigned n_refs; /* number of references, for maps.c */
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
 * From now on, at most BYTES of mappings are kept, and mappings beyond that are dropped. A process
 * with more than OF_ONE ranges loses its oldest mappings.
 */
void maps_bound(struct maps *m, size_t bytes, size_t of_one);

/* Updates the maps by EV. Other events are ignored. Returns 0 or -ENOMEM. */
int maps_add(struct maps *m, const struct event *ev);

/* Discards all data of process PID. */
void maps_remove(struct maps *m, uint32_t pid);

/*
 * Calls FN with all current mappings, process by process, with the mappings of each process in
 * their original order, so that writing them again gives the same state. PID is the process:
 * children share mappings. Returns the result of FN if it is not 0, or -ENOMEM.
 */
typedef int (*maps_fn)(void *userdata, uint32_t pid, const struct mapping *mapping);
int maps_each(const struct maps *m, maps_fn fn, void *userdata);

/*
 * Discards mappings that ended (covered, replaced by exec, of an ended process) before BEFORE_NS:
 * earlier times will not be queried any more. Pointers that maps_find() has returned become
 * invalid.
 */
void maps_forget(struct maps *m, uint64_t before_ns);

/*
 * Returns the mapping of ADDRESS in process PID (kthreadd for addresses of the kernel) at TS_NS, or
 * NULL. With MAPS_OF_NOW, TS_NS is ignored.
 */
const struct mapping *maps_find(const struct maps *m, uint32_t pid, uint64_t address,
				uint64_t ts_ns);

/*
 * Returns a version number of the current mappings of process PID. While it is unchanged, each
 * address is in the same mapping. Different processes have different numbers, except unknown
 * processes (0), and processes that share their parent's mappings.
 */
uint64_t maps_version(const struct maps *m, uint32_t pid);

/* Returns true if ADDRESS is in the kernel's half of the address space. */
static inline bool maps_is_kernel(uint64_t address)
{
	return address >> 63;
}

/*
 * Returns true if frame I of a stack, innermost first, is a return address. The others are
 * interrupted addresses: the first of the stack, and the first user address below the kernel's.
 */
static inline bool maps_is_return(const uint64_t *frames, unsigned i)
{
	return i > 0 && (!maps_is_kernel(frames[i - 1]) || maps_is_kernel(frames[i]));
}

/*
 * Returns true if frame I of the stack of an EVENT_SAMPLE is a return address. Stacks of
 * allocations begin with a return address.
 */
static inline bool maps_sample_returns(const struct event *ev, unsigned i)
{
	return ev->sample.kind == SAMPLE_NAMED || maps_is_return(ev->sample.frames, i);
}

/*
 * Returns true if the stack EV of a sample or wait has as many frames of the program as the
 * recorder takes: its outermost calls are missing, and FRAMES_CUT_NAME (frames.h) represents them.
 * (A stack with exactly this number of calls looks the same.)
 */
static inline bool maps_sample_is_cut(const struct event *ev)
{
	unsigned n = ev->sample.n_frames;

	if (ev->sample.kind == SAMPLE_NAMED || n < EVENT_SAMPLE_FRAMES_MAX)
		return false;
	/* (the kernel's frames are the innermost ones) */
	return !maps_is_kernel(ev->sample.frames[n - EVENT_SAMPLE_FRAMES_MAX]);
}

/*
 * Returns the process whose mappings and frames describe ADDRESS in a stack of PID: for kernel
 * addresses, the kthreadd of PID's machine.
 */
uint32_t maps_owner(const struct maps *m, uint32_t pid, uint64_t address);

/* Returns true if process PID is kthreadd, of any machine. */
static inline bool maps_is_kthreadd(uint64_t pid)
{
	return (pid & FXT_KOID_TID_MASK) == FXT_KOID_KTHREADD;
}

/* Returns the number of mappings that are not kept because of MAPS_MAX or maps_bound(). */
uint64_t maps_n_dropped(const struct maps *m);
