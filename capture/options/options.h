/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options of a session, and the lists of names that command line and bus use for them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/value.h"
#include "bpf/record.h"
#include "writer/pack/pack.h"

/*
 * Categories of -e. Lifecycle and mappings are always recorded. The bits of new categories are
 * added here.
 */
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
	CATEGORY_CALLS = 1 << 12,       /* requires session_options.calls */
	CATEGORY_CALL_STACKS = 1 << 13, /* requires session_options.calls */
	CATEGORY_MOMENTS = 1 << 14,     /* requires session_options.moments */
	CATEGORY_TRACEPOINTS = 1 << 15, /* requires session_options.tracepoints */
	CATEGORY_BLOCK = 1 << 16,
	CATEGORY_APP = 1 << 17,          /* recorded if session_set_providers() was called */
	CATEGORY_WAKER_STACKS = 1 << 18, /* requires CATEGORY_OFFCPU */
	/* CATEGORY_PROFILE is left out where samples are unavailable. */
	CATEGORIES_DEFAULT = CATEGORY_SCHED | CATEGORY_PROFILE,
	/* These categories have call stacks, which are separate records that are sent once. */
	CATEGORIES_STACKS = CATEGORY_PROFILE | CATEGORY_OFFCPU | CATEGORY_WAKER_STACKS |
			    CATEGORY_CALL_STACKS | CATEGORY_MOMENTS,
	/*
	 * These categories record the allocations of watched processes. These categories need a
	 * filter.
	 */
	CATEGORIES_MEMORY = CATEGORY_MEMORY | CATEGORY_FD | CATEGORY_SHM | CATEGORY_THREADS,
	/* These categories have stacks of user space. */
	CATEGORIES_USER_STACKS = CATEGORIES_STACKS | CATEGORIES_MEMORY,
	/* These categories of CATEGORIES_MEMORY trace system calls. */
	CATEGORIES_SYSCALLS = CATEGORY_FD | CATEGORY_SHM,
	/* These categories of CATEGORIES_MEMORY use probes on functions. */
	CATEGORIES_PROBES = CATEGORY_MEMORY | CATEGORY_THREADS,
	/* These categories record calls of the specified functions. */
	CATEGORIES_CALLS = CATEGORY_CALLS | CATEGORY_CALL_STACKS,
	/* Events of these categories belong to no thread, so filters do not apply to them. */
	CATEGORIES_UNFILTERED =
		CATEGORY_IRQ | CATEGORY_SOFTIRQ | CATEGORY_POWER | CATEGORY_COUNTERS,
	/* A session that records only the processes of one user cannot record these events. */
	CATEGORIES_NOT_OWN =
		CATEGORIES_UNFILTERED | CATEGORY_WORKQUEUE | CATEGORY_TRACEPOINTS | CATEGORY_BLOCK,
};

struct category_row {
	const char *name;
	uint32_t bit;
	const char *what; /* what it records, in one line for people */
	const char *cost; /* what it costs, in one short line */
};

extern const struct category_row category_rows[]; /* ends with a NULL name */

/*
 * Parses "sched,..." into category bits. Returns 0, or -EINVAL with *RETERR_WORD (if not NULL) at
 * the unknown name and the length of the name in *RETERR_BYTES.
 */
int categories_parse(const char *text, uint32_t *ret, const char **reterr_word,
		     size_t *reterr_bytes);

/* Categories whose events are counted together (session_counters.events_of). */
enum category_group {
	GROUP_SCHED,   /* switches, wakeups, migrations */
	GROUP_CPU,     /* interrupts, work items, idle states */
	GROUP_STACKS,  /* samples, and times off a CPU */
	GROUP_MEMORY,  /* watched processes and their allocations */
	GROUP_CALLS,   /* calls of functions */
	GROUP_MOMENTS, /* moments at points of programs */
	GROUP_TRACEPOINTS,
	GROUP_BLOCK, /* requests of block devices */
	GROUP_APP,   /* events that programs write themselves */
	GROUPS,
};

extern const char *const category_group_names[GROUPS];
extern const uint32_t category_group_bits[GROUPS]; /* CATEGORY_* */

/*
 * A process must match all kinds of conditions; of each kind, one matching value is enough. An
 * empty filter selects everything.
 */
struct capture_filter {
	uint32_t *pids; /* tgids; children of these processes are included, too. Owned */
	size_t n_pids;
	uint32_t *uids; /* effective uids. Owned */
	size_t n_uids;
	char (*comms)[REC_COMM_BYTES]; /* exact names, cut to 15 bytes. Owned */
	size_t n_comms;
	struct filter_cgroup *cgroups; /* cgroups below them are included, too. Owned */
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

/* How the memory of processes is searched for references to the blocks of snapshots. */
enum heap_trace_reach {
	MEMORY_REACH_NO,
	MEMORY_REACH_LOOK,   /* while the process runs */
	MEMORY_REACH_FREEZE, /* while the process is stopped */
	MEMORY_REACH_MAX,
};

/* The names on the bus. */
extern const char *const memory_reach_names[MEMORY_REACH_MAX];

/* How user stacks are walked. */
enum stack_way {
	STACKS_AUTO, /* by unwind tables, where possible */
	STACKS_FP,   /* only by frame pointers */
	STACKS_EH,   /* by unwind tables, which are made from .eh_frame */
	STACKS_NONE, /* not at all: only the innermost frame is recorded */
	STACKS_MAX,
};

/* The names on the bus. */
extern const char *const stack_way_names[STACKS_MAX];

#define STACK_TABLES_MIN     (UINT64_C(1) << 20)
#define STACK_TABLES_MAX     (UINT64_C(1) << 30)
#define STACK_TABLES_DEFAULT (UINT64_C(64) << 20)

#define ALLOCATOR_FILES_MAX    64
#define OPTION_CALLS_MAX       64
#define OPTION_MOMENTS_MAX     64
#define OPTION_TRACEPOINTS_MAX 64   /* counts specifications, which can have many tracepoints */
#define OPTION_APP_MAX         1024 /* bytes of patterns of categories of programs */
#define OPTION_PIDS_MAX        4096 /* counts the processes at the start, not their children */

/* Open files. Owned. */
struct option_files {
	int *fds;
	size_t n;
};

/* Options of CATEGORIES_MEMORY. */
struct memory_options {
	bool log; /* record each allocation and each free, too */
	/* The average number of bytes from one sampled block to the next; 0 = all blocks. */
	uint64_t interval;
	uint64_t min_bytes;         /* ignore smaller blocks */
	uint64_t blocks_max;        /* maximum of tracked blocks; 0 = default */
	uint64_t usage_interval_ns; /* interval between sums of allocations; 0 = default */
	enum heap_trace_reach reach;
	/*
	 * Watches all processes that grow (triage.h). Cannot be combined with a filter. The
	 * interval is the time between two checks; 0 = default.
	 */
	bool triage;
	uint64_t triage_interval_ns;
	/*
	 * Programs and libraries that the processes will load. These files are probed in advance.
	 */
	struct option_files allocators;
};

/*
 * The recorded calls: specifications, and the file of each, in the same order. Recorded moments are
 * stored in the same way; their specifications are compiled (model/moments/moment-plan.h).
 */
struct call_options {
	char **specs; /* texts (call-spec.h). Owned */
	size_t n_specs;
	struct option_files files;
	bool fast_returns;       /* use return probes, even for functions that call others */
	bool force_fast_returns; /* use return probes, even in programs that switch stacks */
};

/* The destination of the archive. */
enum session_mode {
	SESSION_STREAM, /* written to the output at once */
	SESSION_FLIGHT, /* the most recent events are kept in memory, for snapshots (flight.h) */
	SESSION_MODE_MAX,
};

/* The names of modes on the bus and on the command line. */
extern const char *const session_mode_names[SESSION_MODE_MAX];

#define FLIGHT_NS_DEFAULT    UINT64_C(10000000000)
#define FLIGHT_BYTES_MIN     (UINT64_C(1) << 20)
#define FLIGHT_BYTES_MAX     (UINT64_C(1) << 30)
#define FLIGHT_BYTES_DEFAULT (UINT64_C(64) << 20)

#define ROTATE_NS_MIN    UINT64_C(1000000000)
#define ROTATE_BYTES_MIN (UINT64_C(1) << 20)

#define OVERHEAD_PPM_MIN 1000u /* 0.1 % of one CPU */

#define OVERHEAD_PPM_MAX 1000000000u /* 100 % of a thousand CPUs */

#define OVERHEAD_MACHINE_PPM_MIN 100u /* 0.01 % of all CPUs together */
#define OVERHEAD_MACHINE_PPM_MAX 1000000u

/* The conditions that trigger a flight recorder; 0 = never. */
struct trigger_options {
	uint64_t wakeup_ns; /* a thread waited this long for a CPU after its wakeup */
	uint64_t offcpu_ns; /* a thread ran again after it was blocked this long */
	uint64_t pressure_ppm
		[3]; /* how much of the last seconds some task was stalled: for cpu, memory, io */
	uint64_t leak_bytes;  /* a watched process has allocated this much more within a minute */
	uint64_t interval_ns; /* the minimum time between two triggers; 0 = default */
};

/* Returns true if any trigger is configured. */
bool triggers_wanted(const struct trigger_options *o);

struct session_options {
	char name[65]; /* [A-Za-z0-9_]{1,64} */
	enum session_mode mode;
	uint64_t flight_ns,
		/*
		 * A flight recorder keeps at least this time, and at most this size; 0 = see
		 * session_options_fill_flight()
		 */
		flight_bytes;
	uint64_t rotate_ns,
		/* When a new chunk starts; 0 = never. Used only if chunks are separate files */
		rotate_bytes;
	bool own; /* only processes of OWN_UID that this user may trace (bpf/own.bpf.h) */
	uint32_t own_uid;
	uint32_t own_gids[OWN_GIDS_MAX]; /* the user's groups; empty if unknown */
	size_t n_own_gids;
	/*
	 * The limit of all costs together, as a share of one CPU. Above this limit, less is
	 * recorded. 0 = no limit
	 */
	uint64_t max_overhead_ppm;
	/*
	 * The limit of all costs together, as a share of all online CPUs. The lower limit of the
	 * two applies
	 */
	uint64_t max_overhead_machine_ppm;
	/* If a session is still above the limit, it pauses instead of ending. For collections. */
	bool pauses;
	struct trigger_options triggers;
	uint32_t categories; /* 0 = default */
	uint64_t ring_bytes; /* per CPU, rounded up to a power of two; 0 = default */
	/* The maximum memory for rings of the default size; 0 = default. */
	uint64_t default_rings_max;
	/* At most this much time is lost if kymo is killed; 0 = default. */
	uint64_t flush_ns;
	uint64_t counter_interval_ns; /* between two samples of the counters; 0 = default */
	uint64_t frequency;           /* samples per second and CPU; 0 = default */
	uint64_t offcpu_min_ns;       /* shorter times off CPU are not recorded; 0 = default */
	enum stack_way stacks;
	uint64_t stack_tables_bytes; /* maximum kernel memory for unwind tables; 0 = default */
	bool no_perfetto_blobs;      /* leave out the copy of the samples that is for Perfetto */
	struct memory_options memory;
	struct call_options calls, moments, tracepoints; /* tracepoints have no files */
	char *app; /* patterns of categories of programs, with commas; NULL = all. Owned */
	uint64_t duration_ns; /* ends the session; 0 = never */
	uint64_t max_bytes;   /* size of the file at which the session ends; 0 = never */
	enum pack_method compress;
	char *command; /* the requesting command, for the archive; NULL = unknown. Owned */
	struct capture_filter filter;
	/*
	 * The only selected process is a command that executes its program when the recording has
	 * begun. So the recording can begin later, with all unwind tables.
	 */
	bool command_waits;
#ifdef OPTION_MADE_UP_MEMBER /* tests/support/made-up-option.h */
	OPTION_MADE_UP_MEMBER
#endif
};

/*
 * Parses the limit of overhead: "2%" or "2" is a share of the machine's CPU time, and "0.5cpu" is
 * half of one CPU. Returns 0, or -EINVAL with a sentence in WHY.
 */
int session_options_parse_overhead(struct session_options *o, const char *text,
				   char why[static VALUE_WHY_MAX]);

/* Writes the names in CATEGORIES, separated by commas, to RET. */
#define CATEGORIES_TEXT_MAX 160
char *categories_format(char ret[static CATEGORIES_TEXT_MAX], uint32_t categories);

/*
 * Adds SPEC, which is valid. Returns 0, -E2BIG (if there are already OPTION_CALLS_MAX calls or
 * moments) or -ENOMEM.
 */
int call_options_add(struct call_options *o, const char *spec);

/* In lists of categories, this comes before a pattern for categories of programs. */
#define APP_PREFIX "app:"

/*
 * Adds PATTERN to the categories of programs. Returns 0, -EINVAL if it is empty or contains a
 * comma, -E2BIG or -ENOMEM.
 */
int session_options_add_app(struct session_options *o, const char *pattern);

/* Returns true if a specification is for system calls. */
bool call_options_have_syscalls(const struct call_options *o);

/* Returns true if a filter is set. */
bool capture_filter_is_set(const struct capture_filter *f);

/* Returns true if some threads are not recorded. */
bool session_options_filtered(const struct session_options *o);

/*
 * Returns true if threads can begin or cease to be selected while they run, because their names,
 * users or cgroups change. The processes of a filter by pid stay selected, like their children.
 */
bool session_options_reselects(const struct session_options *o);

/* Sets `own` for user UID, and the user's groups from the user database; root needs no groups. */
void session_options_set_own(struct session_options *o, uint32_t uid);

/* Returns true if these categories require a filter, and F is empty. */
static inline bool categories_need_filter(uint32_t categories, const struct capture_filter *f)
{
	return categories & CATEGORIES_MEMORY && !capture_filter_is_set(f);
}

/*
 * Sets the missing limits of a flight recorder. If only a limit in bytes is set, the recorder keeps
 * as much as fits.
 */
void session_options_fill_flight(struct session_options *o);

/* Frees what O owns and clears it. */
void session_options_deinit(struct session_options *o);

/*
 * Makes *RET (uninitialised) a deep copy, with descriptors of its own. Returns 0 or a negative
 * errno.
 */
int session_options_copy(struct session_options *ret, const struct session_options *o);

/* Returns true if the recording has chunks. */
bool session_options_splits(const struct session_options *o);

/* True if NAME is [A-Za-z0-9_]{1,64}. */
bool session_name_valid(const char *name);
