/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state that the files fxt-lint*.c share.
 *
 *   fxt-lint         takes records, passes them to the parts, returns findings
 *   fxt-lint-frame   providers, initialization, losses, profiler records: in file order
 *   fxt-lint-memory  allocations: their processes and stacks; in file order
 *   fxt-lint-names   kernel objects; at the end, those that are missing
 *   fxt-lint-order   sorts facts that must be checked in order of time
 *   fxt-lint-sched   CPUs and threads, by facts
 *   fxt-lint-slices  durations of threads, by facts
 *   fxt-lint-spans   async operations and flows, by facts
 */
#pragma once

#include "base/table.h"
#include "reader/fxt/fxt-check.h"
#include "reader/fxt/fxt-lint.h"
#include "reader/fxt/fxt-row.h"

/* The limits of the lint. Each element takes up to a hundred bytes. */
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
	FXT_LINT_UNKNOWN = 0, /* unknown, asleep or ready: any next state is valid */
	FXT_LINT_RUNNING,
	FXT_LINT_WOKEN,
};

/* A thread that scheduling records or kernel objects name; identified by its koid. */
struct fxt_lint_thread {
	uint64_t tid, process;
	uint64_t name; /* hash of the name */
	bool named, scheduled;
	bool unknown;                /* the kernel object says that the name is unknown */
	struct fxt_lint_place first; /* first record that schedules the thread */

	enum fxt_lint_state state;
	uint16_t cpu;   /* CPU on which the thread runs */
	uint32_t epoch; /* epoch in which the state was set */
	uint64_t since_ns, last_ns;

	/* The thread was switched in on `cpu`, while it still ran on old_cpu. */
	bool conflict;
	uint16_t old_cpu;
	uint64_t conflict_ns;
	struct fxt_lint_place conflict_place;
};

struct fxt_lint_process {
	uint64_t koid;
	uint64_t name;
	bool named;
	struct fxt_lint_place first; /* first kernel object of one of its threads */
};

struct fxt_lint_cpu {
	bool known;
	struct fxt_lint_thread *running; /* the thread that runs; NULL = idle */
	struct fxt_lint_place place;     /* place of the switch at which `running` began to run */
	uint64_t last_ns;
};

struct fxt_lint_slice {
	uint64_t end_ns; /* end of the duration; UINT64_MAX = it is open */
	uint64_t name;
	struct fxt_lint_place place;
};

/* A thread that has events; identified by the koids of its process and thread. */
struct fxt_lint_track {
	uint64_t pid, tid;
	struct fxt_lint_place first;  /* first event of the thread */
	struct fxt_lint_slice *stack; /* open durations, innermost last; owned */
	size_t depth, room;
	uint64_t last_ns;
	bool unknown;    /* the stack can lack durations */
	bool of_program; /* belongs to a provider that is not kymo's */
};

enum fxt_lint_fact_kind {
	FXT_LINT_SWITCH,           /* a, b: tids of the outgoing and incoming thread; 0 = idle */
	FXT_LINT_SYNTHETIC_SWITCH, /* a, b: as for FXT_LINT_SWITCH */
	FXT_LINT_WAKEUP,           /* a: tid of the thread */
	FXT_LINT_BEGIN,            /* begin of a duration on `track` */
	FXT_LINT_END,              /* end of a duration on `track` */
	FXT_LINT_COMPLETE,         /* a complete duration on `track`; b: its end */
	FXT_LINT_FLOW_BEGIN,       /* FLOW facts are on `track`; b: id of the flow */
	FXT_LINT_FLOW_STEP,
	FXT_LINT_FLOW_END,
	FXT_LINT_ASYNC_BEGIN, /* ASYNC facts: a = key of process, name and id; b = id */
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
	uint32_t name; /* for a duration: hash of its name */
	uint16_t cpu;
	uint8_t kind; /* enum fxt_lint_fact_kind */
};

struct fxt_lint_order {
	struct fxt_lint_fact *facts, *spare; /* both owned; `spare` is room for sorting */
	size_t n, room;
	bool unsorted;
};

/* A process with allocations. */
struct fxt_lint_watch {
	bool open, unwatched_reported;
	uint32_t number;  /* number of times that tracing of the process has begun */
	uint64_t missing; /* blocks of the last snapshot that have not followed yet */
	uint64_t snapshot_ns;
	struct fxt_lint_place snapshot;
};

struct fxt_lint_provider {
	const struct fxt_provider *tables; /* borrowed from the reader */
	uint32_t id;
	bool introduced, has_init, timed;
	bool is_kymo; /* its tables were kymo's at any time */
	uint64_t ticks_per_second;
	uint64_t process; /* process of the provider's last event: koid + 1; 0 = no event */
	/* Where kymo introduced the id again, until the next event; number 0 = it did not. */
	struct fxt_lint_place again;
};

struct fxt_lint {
	fxt_lint_found_fn found;
	void *userdata;
	int error; /* 0 or -ENOMEM */
	uint64_t n_not_judged;
	struct fxt_lint_place here; /* place of the current record */
	bool finishing;             /* at the end: findings are collected in `last`, to be sorted */
	struct fxt_finding *last;   /* collected findings; owned */
	size_t n_last, last_room;
	struct fxt_findings findings; /* findings in the current record */

	/* State of fxt-lint-frame. */
	struct table providers;             /* id + 1 -> struct fxt_lint_provider, owned */
	struct fxt_lint_provider *provider; /* the provider of the current records */
	bool any_provider;
	bool has_kymo;            /* a provider is kymo's, so all others are recorded programs */
	uint64_t reported_offset; /* offset of the last record with an error */
	uint64_t n_losses;
	struct fxt_lint_place first_loss;
	bool loss_reported;
	uint64_t n_wakers;
	uint64_t synthetic_ns;  /* time of the last synthetic switch */
	uint64_t sched_last_ns; /* the latest time of a scheduling record */
	struct table modules;   /* set: hash of process and module, or of process alone */

	/* State of fxt-lint-memory. */
	struct table watches; /* koid + 1 -> struct fxt_lint_watch, owned */
	struct table stacks;  /* set: hash of process, watch and stack id */
	struct fxt_named named;
	struct fxt_lint_place named_at;

	struct table threads, processes, tracks; /* koid or hash -> struct ..., owned */
	struct table flows, asyncs;              /* key -> struct fxt_lint_span, owned */
	struct fxt_lint_cpu *cpus;               /* by number, as many as needed; owned */
	size_t n_cpus;
	uint32_t epoch; /* number of synthetic switches so far */
	struct fxt_lint_order order;
};

/* Reports the finding ID at PLACE with the values A and B. */
void fxt_lint_find(struct fxt_lint *l, enum fxt_finding_id id, struct fxt_lint_place place,
		   uint64_t a, uint64_t b);

/*
 * Finds or adds the element of T at KEY. A new element has SIZE zeroed bytes. Returns NULL if T
 * already has MAX elements, or if there is no memory (l->error is set then).
 */
void *fxt_lint_get(struct fxt_lint *l, struct table *t, uint64_t key, size_t size, size_t max);

/* The parts of the lint. They receive facts in order of time. */
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
