/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The declarations that the files of the collector share. Internal to collector*.c.
 *
 *   collector.c             loads programs; their tables and state
 *   collector-configure.c   applies options to programs and maps, before they are loaded
 *   collector-attach.c      attaches and detaches programs, all or those of one part
 *   collector-lists.c       lists of tasks, cgroups, registers and waiting threads
 *   collector-unwind.c      stacks by tables
 *   collector-rings.c       the rings: sizes, records, losses
 *   collector-own.c         the programs of kymo's own tracepoints
 */
#pragma once

#include <bpf/libbpf.h>

/* With sanitizers, gcc takes ten seconds to find the variables of the generated functions. */
#ifndef __clang__
#pragma GCC push_options
#pragma GCC optimize("no-var-tracking")
#endif
#include "bpf/kymo.skel.h"
#ifndef __clang__
#pragma GCC pop_options
#endif

#include "capture/programs/collector.h"
#include "capture/programs/fault-events.h"
#include "capture/programs/kernel-btf.h"
#include "capture/proc/proc-records.h"
#include "capture/programs/map-rings.h"
#include "capture/programs/sampler.h"
#include "base/table.h"
#include "capture/unwind/unwind-listed.h"
#include "capture/unwind/unwind-seen.h"
#include "capture/unwind/unwinder.h"

/* The word rings of one map. */
struct word_rings {
	uint64_t bytes; /* size of each ring; 0 = no rings */
	size_t stride;  /* distance between two rings */
	uint8_t *map;   /* the mapped memory of the map */
	size_t map_size;
};

struct collector {
	struct kymo_bpf *skel;
	struct kernel_btf *btf;        /* exists until the programs are loaded */
	const struct cpu_costs *costs; /* mapped memory, one element for each CPU */
	uint32_t categories;
	unsigned n_cpus;
	struct word_rings sched, cpu;
	struct bpf_ring **records; /* the BPF ring buffers of all CPUs */
	size_t n_records;
	pthread_t rings_thread; /* the thread that makes `records` */
	bool rings_begun;       /* `rings_thread` must be joined */
	int rings_error;        /* result of `rings_thread` */
	struct ring_buffer *doorbell;
	struct map_rings *map_rings; /* NULL = not attached */
	uint64_t ring_bytes;         /* the size that the options have */
	uint64_t wakes;              /* see collector_wakes() */
	struct sampler *sampler;     /* belongs to the attaching thread */
	const char *clock;           /* clock of the sampler */
	struct fault_events *faults; /* NULL = page faults are not recorded */
	uint64_t n_faults_skipped;   /* by the kernel */
	uint32_t frequency;          /* frequency of the sampler */
	/* How probes are attached, with CATEGORIES_MEMORY or CATEGORY_CALLS. */
	enum probes_way way;
	bool no_wakeups; /* wakeups are stopped */
	/* How many walks of copied stacks have ended in each way. */
	uint64_t resumed[WALK_ENDS_MAX];
	uint64_t n_copied;
	bool has_kept; /* since the last pause, walks were put off for a later attempt */
	bool *online;  /* space for a list of online CPUs */
	uint32_t departures[CPU_DEPARTURES]; /* how often each CPU is known to have gone offline */
	/* files that collector_check_mapped() has seen: hash -> number */
	struct table mapped_files;
	/*
	 * processes whose mappings collector_check_piece() and collector_check_mapped() have had
	 * listed
	 */
	struct unwind_listed listed_walked, listed_mappers;
	bool lists_full;           /* the unwinder had no room for a list in this drain */
	struct unwind_seen seen;   /* filled by collector_check_mapped() */
	struct unwinder *unwinder; /* NULL = stacks are not walked with tables */
	uint64_t ready_ns_max;     /* the maximum wait for tables before the recording begins */
	uint64_t table_bytes_max;
	struct rec_state *states; /* buffer in which values of all CPUs are looked up */
	struct cpu_state *cpu_states;
	collector_record_fn fn; /* called for records of the current round */
	void *userdata;
	uint64_t n_malformed;
	uint64_t n_ends_skipped; /* result of collector_pids_have_ended(): ends without a record */
};

struct attach_row {
	struct bpf_program *prog;
	struct bpf_link **link;
};

/*
 * Runs the iterator PROG, and passes its records to FN. FN may be NULL if PROG sends no records to
 * FN. Returns 0, a negative errno, or the first negative result of FN.
 */
int collector_iterate(struct bpf_program *prog, collector_record_fn fn, void *userdata);

/*
 * Attaches the programs in ROWS that are loaded and not attached, in order. Returns 0 or a negative
 * errno with a sentence.
 */
int collector_attach_rows(const struct attach_row *rows, size_t n, char **reterr_text);

/* Returns true if stacks are walked by tables in a session with options O. */
bool collector_unwinds(const struct session_options *o);

/* Returns the maximum wait for unwind tables before a recording with options O begins. */
uint64_t collector_ready_ns(const struct session_options *o);

/*
 * The first function prepares unwinding before the programs are loaded. The second one makes the
 * unwinder afterwards. Both return 0 or a negative errno.
 */
int collector_configure_unwinding(struct collector *c, const struct session_options *o);
int collector_make_unwinder(struct collector *c);

/* To be called with each drained mapping, exec and fork. */
void collector_check_mapped(struct collector *c, const struct rec_mapping *rec);
/*
 * To be called after a drain. Lists the processes whose mappings collector_check_mapped() has put
 * off.
 */
void collector_list_mappers(struct collector *c);
void collector_check_new_image(struct collector *c, const struct rec_new_image *rec);
void collector_check_fork(struct collector *c, const struct rec_fork *rec);

/*
 * To be called with each drained copied stack, whose walk is continued later. If mappings are
 * learned only by walks, this function makes the eBPF programs learn the mappings of the process,
 * once per second.
 */
void collector_check_piece(struct collector *c, const struct rec_piece *piece);

/*
 * Sets up the programs of kymo's own tracepoints, before they are loaded. Returns 0 or a negative
 * errno.
 */
int collector_configure_own(struct collector *c, const struct session_options *o);

/* Returns the programs for probes on functions, by kind. */
void collector_probe_programs(struct kymo_bpf *skel, struct bpf_program *ret[PROBES_PROGRAMS]);
void collector_call_programs(struct kymo_bpf *skel, struct bpf_program *ret[PROBES_PROGRAMS]);

/*
 * The first function sets up the programs that will be loaded; the second one sets their filters
 * after loading. Both return 0 or a negative errno.
 */
int collector_configure(struct collector *c, const struct session_options *o);
int collector_fill_filters(struct collector *c, const struct capture_filter *f);

/* Looks up the bounds of the stacks of wakers, if they are wanted. */
void collector_learn_wakes(struct collector *c);

/*
 * To be called while no eBPF program is attached. Removes the selected processes that have ended.
 * The remaining processes are counted when the eBPF programs are attached.
 */
void collector_forget_ended(struct collector *c);

/* Sets the sizes of the rings, before the programs are loaded. Returns 0 or a negative errno. */
int collector_configure_rings(struct collector *c, const struct session_options *o);

/*
 * Begins to make the BPF ring buffers, before the programs are loaded: the kernel waits for a grace
 * period. Returns 0 or a negative errno.
 */
int collector_begin_rings(struct collector *c);

/* Creates and maps the other rings, after the programs are loaded. Returns 0 or a negative
 * errno. */
int collector_make_rings(struct collector *c);

/* Waits for the BPF ring buffers. Returns 0 or a negative errno. */
int collector_finish_rings(struct collector *c);
void collector_free_rings(struct collector *c);

/* Returns the size of each ring for mappings, if the options have RING_BYTES. */
uint64_t collector_map_ring_bytes(uint64_t ring_bytes);
