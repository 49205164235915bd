/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a session is asked to do, and the rows that command line and bus turn into it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/value.h"
#include "bpf/record.h"
#include "writer/pack/pack.h"

/* Categories of -e. Lifecycle and mappings are always recorded. Later ones find their bit here. */
enum capture_category {
	CATEGORY_SCHED = 1 << 0,
	CATEGORY_IRQ = 1 << 1,
	CATEGORY_SOFTIRQ = 1 << 2,
	CATEGORY_WORKQUEUE = 1 << 3,
	CATEGORY_POWER = 1 << 4,
	CATEGORY_COUNTERS = 1 << 5,
	CATEGORY_PROFILE = 1 << 6,
	CATEGORY_OFFCPU = 1 << 7,
	CATEGORY_MEMORY = 1 << 8,
	CATEGORY_FD = 1 << 9,
	CATEGORY_SHM = 1 << 10,
	CATEGORY_THREADS = 1 << 11,
	CATEGORY_CALLS = 1 << 12,       /* not without session_options.calls */
	CATEGORY_CALL_STACKS = 1 << 13, /* likewise */
	CATEGORY_MOMENTS = 1 << 14,     /* not without session_options.moments */
	/* Without CATEGORY_PROFILE where no samples can be taken. */
	CATEGORIES_DEFAULT = CATEGORY_SCHED | CATEGORY_PROFILE,
	/* With call stacks that cross once, by themselves. */
	CATEGORIES_STACKS =
		CATEGORY_PROFILE | CATEGORY_OFFCPU | CATEGORY_CALL_STACKS | CATEGORY_MOMENTS,
	/* Of processes that are watched: what they allocate. Only with a filter. */
	CATEGORIES_MEMORY = CATEGORY_MEMORY | CATEGORY_FD | CATEGORY_SHM | CATEGORY_THREADS,
	/* With stacks of programs. */
	CATEGORIES_USER_STACKS = CATEGORIES_STACKS | CATEGORIES_MEMORY,
	/* Of these, by looking at system calls. */
	CATEGORIES_SYSCALLS = CATEGORY_FD | CATEGORY_SHM,
	/* Of these, by probes on functions. */
	CATEGORIES_PROBES = CATEGORY_MEMORY | CATEGORY_THREADS,
	/* Of functions that are named. */
	CATEGORIES_CALLS = CATEGORY_CALLS | CATEGORY_CALL_STACKS,
	/* What belongs to no thread: filters do not apply to it. */
	CATEGORIES_UNFILTERED =
		CATEGORY_IRQ | CATEGORY_SOFTIRQ | CATEGORY_POWER | CATEGORY_COUNTERS,
	/* What belongs to nobody's own processes. */
	CATEGORIES_NOT_OWN = CATEGORIES_UNFILTERED | CATEGORY_WORKQUEUE,
};

struct category_row {
	const char *name;
	uint32_t bit;
	const char *what; /* one line for people */
	const char *cost; /* what it costs, one short line */
};

extern const struct category_row category_rows[]; /* ends with a NULL name */

/*
 * Parses "sched,..." into category bits. Returns 0, or -EINVAL with *RETERR_WORD (if not NULL) at
 * the name that is unknown and *RETERR_BYTES its length.
 */
int categories_parse(const char *text, uint32_t *ret, const char **reterr_word,
		     size_t *reterr_bytes);

/* All conditions hold (and); within one kind any value will do (or). Nothing set: everything. */
struct capture_filter {
	uint32_t *pids; /* tgids; with their children. Owned */
	size_t n_pids;
	uint32_t *uids; /* effective. Owned */
	size_t n_uids;
	char (*comms)[REC_COMM_BYTES]; /* exact names, cut to 15 bytes. Owned */
	size_t n_comms;
	struct filter_cgroup *cgroups; /* with their sub-cgroups. Owned */
	size_t n_cgroups;
};

#define RING_BYTES_MIN   (64u << 10)
#define RING_BYTES_MAX   (256u << 20)
#define FLUSH_NS_MIN     UINT64_C(10000000)
#define FLUSH_NS_MAX     UINT64_C(60000000000)
#define FLUSH_NS_DEFAULT UINT64_C(250000000)

#define COUNTER_NS_MIN UINT64_C(100000000)

#define FREQUENCY_MAX     10000u
#define FREQUENCY_DEFAULT 99u

#define MEMORY_BLOCKS_MIN 1024u
#define MEMORY_BLOCKS_MAX 100000000u

/* Whether the blocks of snapshots are looked for in the memory of their process. */
enum heap_trace_reach {
	MEMORY_REACH_NO,
	MEMORY_REACH_LOOK,   /* while it runs */
	MEMORY_REACH_FREEZE, /* while it is stopped */
	MEMORY_REACH_MAX,
};

/* How they are called on the bus. */
extern const char *const memory_reach_names[MEMORY_REACH_MAX];

/* How the stacks of programs are walked. */
enum stack_way {
	STACKS_AUTO, /* by unwind tables, where that is possible */
	STACKS_FP,   /* by frame pointers alone */
	STACKS_EH,   /* by unwind tables, made of .eh_frame */
	STACKS_NONE, /* not at all: stacks have but the innermost frame */
	STACKS_MAX,
};

/* How they are called on the bus. */
extern const char *const stack_way_names[STACKS_MAX];

#define STACK_TABLES_MIN     (UINT64_C(1) << 20)
#define STACK_TABLES_MAX     (UINT64_C(1) << 30)
#define STACK_TABLES_DEFAULT (UINT64_C(64) << 20)

#define ALLOCATOR_FILES_MAX 64
#define OPTION_CALLS_MAX    64
#define OPTION_MOMENTS_MAX  64
#define OPTION_PIDS_MAX     4096 /* processes to begin with; their children come on top */

/* Open ones. Owned. */
struct option_files {
	int *fds;
	size_t n;
};

/* With CATEGORIES_MEMORY. */
struct memory_options {
	bool log;                   /* each allocation and each free, too */
	uint64_t interval;          /* one block each so many bytes, at random; 0 = all */
	uint64_t min_bytes;         /* smaller blocks are passed over */
	uint64_t blocks_max;        /* that can be remembered at once; 0 = default */
	uint64_t usage_interval_ns; /* between two looks at the sums; 0 = default */
	enum heap_trace_reach reach;
	/*
	 * Of all processes, those that grow (triage.h); without a filter. A look each so often; 0 =
	 * default.
	 */
	bool triage;
	uint64_t triage_interval_ns;
	/* Programs and libraries that the processes will load: they are probed before. */
	struct option_files allocators;
};

/*
 * Which calls are recorded: specifications, and the file of each, in the same order. The same of
 * moments, whose specifications are compiled ones (base/moments/moment-plan.h).
 */
struct call_options {
	char **specs; /* texts (call-spec.h). Owned */
	size_t n_specs;
	struct option_files files;
	bool fast_returns; /* by return probes, whatever may pass */
};

/* What becomes of the archive. */
enum session_mode {
	SESSION_STREAM, /* it goes to the output as it is made */
	SESSION_FLIGHT, /* the last of it is kept in memory, for snapshots (flight.h) */
	SESSION_MODE_MAX,
};

/* How they are called on the bus and the command line. */
extern const char *const session_mode_names[SESSION_MODE_MAX];

#define FLIGHT_NS_DEFAULT    UINT64_C(10000000000)
#define FLIGHT_BYTES_MIN     (UINT64_C(1) << 20)
#define FLIGHT_BYTES_MAX     (UINT64_C(1) << 30)
#define FLIGHT_BYTES_DEFAULT (UINT64_C(64) << 20)

#define ROTATE_NS_MIN    UINT64_C(1000000000)
#define ROTATE_BYTES_MIN (UINT64_C(1) << 20)

#define OVERHEAD_PPM_MIN 1000u /* of one CPU: 0.1 % */

#define OVERHEAD_PPM_MAX 1000000000u /* of a thousand CPUs */

#define OVERHEAD_MACHINE_PPM_MIN 100u /* of all CPUs together: 0.01 % */
#define OVERHEAD_MACHINE_PPM_MAX 1000000u

/* When a flight recorder has something to keep: each 0 = never. */
struct trigger_options {
	uint64_t wakeup_ns; /* a thread waited as long for a CPU, from its wakeup on */
	uint64_t offcpu_ns; /* a thread that was blocked came back after so long */
	uint64_t pressure_ppm
		[3];          /* of the last seconds some task stalled so much: cpu, memory, io */
	uint64_t leak_bytes;  /* a watched process has allocated so much more within a minute */
	uint64_t interval_ns; /* not more often than this; 0 = default */
};

/* Whether any is asked for. */
bool triggers_wanted(const struct trigger_options *o);

struct session_options {
	char name[65]; /* [A-Za-z0-9_]{1,64} */
	enum session_mode mode;
	uint64_t flight_ns,
		/*
		 * of a flight recorder: at least this time, never more bytes; 0 = see
		 * session_options_fill_flight()
		 */
		flight_bytes;
	uint64_t rotate_ns,
		/* a new chunk then; 0 = never. Only where chunks have files of their own */
		rotate_bytes;
	bool own; /* only processes of OWN_UID that it might trace (bpf/own.bpf.h) */
	uint32_t own_uid;
	uint32_t own_gids[OWN_GIDS_MAX]; /* groups that it has; none: they are not known */
	size_t n_own_gids;
	uint64_t
		/* of one CPU, all costs together; then less is recorded. 0 = whatever it costs */
		max_overhead_ppm;
	uint64_t
		/* likewise, of all CPUs that are online. With both the lower one holds */
		max_overhead_machine_ppm;
	/* What costs more than that, whatever was left out, pauses, not ends. Of collections. */
	bool pauses;
	struct trigger_options triggers;
	uint32_t categories; /* 0 = default */
	uint64_t ring_bytes; /* per CPU, rounded up to a power of two; 0 = default */
	uint64_t flush_ns;   /* at most this much is lost when we are killed; 0 = default */
	uint64_t counter_interval_ns; /* between two samples of the counters; 0 = default */
	uint64_t frequency;           /* samples a second and CPU; 0 = default */
	uint64_t offcpu_min_ns;       /* shorter times off CPU are not recorded; 0 = default */
	enum stack_way stacks;
	uint64_t stack_tables_bytes; /* kernel memory for unwind tables, at most; 0 = default */
	bool no_perfetto_blobs;      /* the samples once only, not in Perfetto's way, too */
	struct memory_options memory;
	struct call_options calls, moments;
	uint64_t duration_ns; /* ends the session; 0 = never */
	uint64_t max_bytes;   /* of the file; ends the session; 0 = never */
	enum pack_method compress;
	char *command; /* what asked for it, for the archive; NULL = not said. Owned */
	struct capture_filter filter;
#ifdef OPTION_MADE_UP_MEMBER /* tests/support/made-up-option.h */
	OPTION_MADE_UP_MEMBER
#endif
};

/*
 * What recording may cost: "2%", or "2", of the machine's CPU time, "0.5cpu" of half of one CPU.
 * Returns 0, or -EINVAL with a sentence in WHY.
 */
int session_options_take_overhead(struct session_options *o, const char *text,
				  char why[static VALUE_WHY_MAX]);

/* The names in CATEGORIES, with commas between them, into RET. */
#define CATEGORIES_TEXT_MAX 160
char *categories_format(char ret[static CATEGORIES_TEXT_MAX], uint32_t categories);

/*
 * SPEC, which is checked, is one more. Returns 0, -E2BIG (OPTION_CALLS_MAX, as many moments) or
 * -ENOMEM.
 */
int call_options_add(struct call_options *o, const char *spec);

/* Whether any of them is about system calls. */
bool call_options_have_syscalls(const struct call_options *o);

/* Whether a filter is set. */
bool capture_filter_is_set(const struct capture_filter *f);

/* Whether not all threads are recorded. */
bool session_options_filtered(const struct session_options *o);

/* OWN for user UID, with the groups that the user database has of it; root needs none. */
void session_options_set_own(struct session_options *o, uint32_t uid);

/* Whether these categories can be recorded only where there is a filter, and F is none. */
static inline bool categories_need_filter(uint32_t categories, const struct capture_filter *f)
{
	return categories & CATEGORIES_MEMORY && !capture_filter_is_set(f);
}

/*
 * Fills in what a flight recorder keeps, where it is left open: who says how many bytes, and no
 * time, has as much as fits.
 */
void session_options_fill_flight(struct session_options *o);

/*
 * Fills in all that is left open, but the size of rings. Returns 0, or -EINVAL if something is out
 * of range or goes with nothing else (option_check()).
 */
int session_options_complete(struct session_options *o);

/* Frees what O owns and clears it. */
void session_options_deinit(struct session_options *o);

/*
 * Makes *RET (uninitialised) a deep copy, with descriptors of its own. Returns 0 or a negative
 * errno.
 */
int session_options_copy(struct session_options *ret, const struct session_options *o);

/* Whether the recording is made of chunks. */
bool session_options_splits(const struct session_options *o);

/* True if NAME is [A-Za-z0-9_]{1,64}. */
bool session_name_valid(const char *name);

/*
 * The options that are no filters in words, for the archive, categories only if they are not the
 * default: a new string that the caller frees, or NULL without memory.
 */
char *session_options_describe(const struct session_options *o);
