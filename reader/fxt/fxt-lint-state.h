/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The shared part of the lint's files. Internal to fxt-lint*.c.
 *
 *   fxt-lint         takes records, passes them to the parts, returns findings
 *   fxt-lint-frame   providers, initialization, losses, profiler records: in file order
 *   fxt-lint-memory  allocations: their processes and stacks; in file order
 *   fxt-lint-names   kernel objects, and missing ones: known at the end
 *   fxt-lint-order   facts, which must be checked in order of time
 *   fxt-lint-sched   CPUs and threads, by facts
 *   fxt-lint-slices  durations of threads, by facts
 *   fxt-lint-spans   async operations and flows, by facts
 */
#pragma once

#include "base/table.h"
#include "reader/fxt/fxt-check.h"
#include "reader/fxt/fxt-lint.h"
#include "reader/fxt/fxt-row.h"

/* Each takes some tens of bytes, up to a hundred. */
enum {
	FXT_LINT_THREADS_MAX = 1 << 20,
	FXT_LINT_TRACKS_MAX = 1 << 18,
	FXT_LINT_SPANS_MAX = 1 << 20,
	FXT_LINT_MODULES_MAX = 1 << 20,
	FXT_LINT_DEPTH_MAX = 1 << 10,
	FXT_LINT_PROVIDERS_MAX = 1 << 16,
	FXT_LINT_STACKS_MAX = 1 << 20,
};

struct fxt_lint_place {
	uint64_t offset, number;
};

enum fxt_lint_state {
	FXT_LINT_UNKNOWN = 0, /* or asleep, or runnable: any next state is valid */
	FXT_LINT_RUNNING,
	FXT_LINT_WOKEN,
};

/* A thread in scheduling records and kernel objects, by koid. */
struct fxt_lint_thread {
	uint64_t tid, process;
	uint64_t name; /* a hash */
	bool named, scheduled;
	bool unknown;                /* its object marks it as unknown */
	struct fxt_lint_place first; /* the first record that schedules it */

	enum fxt_lint_state state;
	uint16_t cpu;   /* where it runs */
	uint32_t epoch; /* of the state */
	uint64_t since_ns, last_ns;

	/* It was switched in here while it ran on old_cpu. */
	bool conflict;
	uint16_t old_cpu;
	uint64_t conflict_ns;
	struct fxt_lint_place conflict_place;
};

struct fxt_lint_process {
	uint64_t koid;
	uint64_t name;
	bool named;
	struct fxt_lint_place first; /* the first object of one of its threads */
};

struct fxt_lint_cpu {
	bool known;
	struct fxt_lint_thread *running; /* NULL = idle */
	struct fxt_lint_place place;     /* place of the switch to it */
	uint64_t last_ns;
};

struct fxt_lint_slice {
	uint64_t end_ns; /* UINT64_MAX = open */
	uint64_t name;
	struct fxt_lint_place place;
};

/* A thread in events, by both koids. */
struct fxt_lint_track {
	uint64_t pid, tid;
	struct fxt_lint_place first;  /* event */
	struct fxt_lint_slice *stack; /* owned */
	size_t depth, room;
	uint64_t last_ns;
	bool unknown; /* its stack can lack slices */
};

enum fxt_lint_fact_kind {
	FXT_LINT_SWITCH,           /* a, b: outgoing and incoming tid, 0 = idle */
	FXT_LINT_SYNTHETIC_SWITCH, /* the same */
	FXT_LINT_WAKEUP,           /* a: tid */
	FXT_LINT_BEGIN,            /* track */
	FXT_LINT_END,              /* track */
	FXT_LINT_COMPLETE,         /* track, b: end */
	FXT_LINT_FLOW_BEGIN,       /* track, b: id; as the next */
	FXT_LINT_FLOW_STEP,
	FXT_LINT_FLOW_END,
	FXT_LINT_ASYNC_BEGIN, /* a: key of process, name and id, b: id; as the next */
	FXT_LINT_ASYNC_INSTANT,
	FXT_LINT_ASYNC_END,
};

struct fxt_lint_fact {
	uint64_t ts_ns;
	struct fxt_lint_place place;
	union {
		uint64_t a;
		struct fxt_lint_track *track; /* borrowed */
	};
	uint64_t b;
	uint32_t name; /* for a duration: a hash of its name */
	uint16_t cpu;
	uint8_t kind; /* enum fxt_lint_fact_kind */
};

struct fxt_lint_order {
	struct fxt_lint_fact *facts, *spare; /* owned; spare is room to sort */
	size_t n, room;
	bool unsorted;
};

/* A process with allocations. */
struct fxt_lint_watch {
	bool open, unwatched_reported;
	uint32_t number;  /* the number of instances of its process */
	uint64_t missing; /* expected blocks of the last snapshot */
	uint64_t snapshot_ns;
	struct fxt_lint_place snapshot;
};

struct fxt_lint_provider {
	const struct fxt_provider *tables; /* borrowed from the reader */
	uint32_t id;
	bool introduced, has_init, timed;
	uint64_t ticks_per_second;
};

struct fxt_lint {
	fxt_lint_found_fn found;
	void *userdata;
	int error; /* 0 or -ENOMEM */
	uint64_t n_not_judged;
	struct fxt_lint_place here; /* the current record */
	bool finishing;             /* findings are collected, to be sorted */
	struct fxt_finding *last;   /* those; owned */
	size_t n_last, last_room;
	struct fxt_findings findings; /* findings in the record */

	/* frame */
	struct table providers;             /* id + 1 -> struct fxt_lint_provider, owned */
	struct fxt_lint_provider *provider; /* the provider of the current records */
	bool any_provider;
	uint64_t reported_offset; /* offset of the last record with an error */
	uint64_t n_losses;
	struct fxt_lint_place first_loss;
	bool loss_reported;
	uint64_t n_wakers;
	uint64_t synthetic_ns;  /* time of the last synthetic switch */
	uint64_t sched_last_ns; /* the latest time of a scheduling record */
	struct table modules;   /* hash of process and module, or of process -> &lint_seen */

	/* memory */
	struct table watches; /* koid + 1 -> struct fxt_lint_watch, owned */
	struct table stacks;  /* hash of process, watch and id -> anything */
	struct fxt_named named;
	struct fxt_lint_place named_at;

	struct table threads, processes, tracks; /* koid or hash -> struct ..., owned */
	struct table flows, asyncs;              /* key -> struct fxt_lint_span, owned */
	struct fxt_lint_cpu *cpus;               /* by number, as many as needed; owned */
	size_t n_cpus;
	uint32_t epoch; /* synthetic switches so far, in time */
	struct fxt_lint_order order;
};

/* Returns the finding ID at PLACE with the values A and B. */
void fxt_lint_find(struct fxt_lint *l, enum fxt_finding_id id, struct fxt_lint_place place,
		   uint64_t a, uint64_t b);

/*
 * The value at KEY of T, SIZE zeroed bytes if it is new; NULL if T has MAX, or without memory
 * (l->error is then set).
 */
void *fxt_lint_get(struct fxt_lint *l, struct table *t, uint64_t key, size_t size, size_t max);

/* The parts. Facts are passed in order of time. */
void fxt_lint_frame(struct fxt_lint *l, const struct fxt_record *r);
void fxt_lint_frame_finish(struct fxt_lint *l);
void fxt_lint_memory(struct fxt_lint *l, const struct fxt_record *r);
void fxt_lint_memory_finish(struct fxt_lint *l);
void fxt_lint_object(struct fxt_lint *l, const struct fxt_record *r);
void fxt_lint_names_finish(struct fxt_lint *l);
void fxt_lint_order_add(struct fxt_lint *l, const struct fxt_lint_fact *fact);
void fxt_lint_order_finish(struct fxt_lint *l);
void fxt_lint_sched(struct fxt_lint *l, const struct fxt_record *r);
void fxt_lint_sched_fact(struct fxt_lint *l, const struct fxt_lint_fact *fact);
void fxt_lint_sched_finish(struct fxt_lint *l);
void fxt_lint_event(struct fxt_lint *l, const struct fxt_record *r);
void fxt_lint_slice_fact(struct fxt_lint *l, const struct fxt_lint_fact *fact);
void fxt_lint_slices_finish(struct fxt_lint *l);
uint64_t fxt_lint_async_key(const struct fxt_record *r);
void fxt_lint_span_fact(struct fxt_lint *l, const struct fxt_lint_fact *fact);
void fxt_lint_spans_finish(struct fxt_lint *l);
