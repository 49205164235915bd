/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/options/option-table.h"

#include <string.h>

#include "base/cleanup.h"

#define AT(member) offsetof(struct collection, session.member)
#define OF(member) offsetof(struct collection, member)
#define MS         UINT64_C(1000000)
#define SECONDS    (1000 * MS)
#define TIB        (UINT64_C(1) << 40)
#define NO_MAX     INT64_MAX
#define EVERY      "every process"
#define ON_PRESSURE                                                                                \
	OPTION_SHARE, .min = 100 /* the kernel is not more precise */, .max = 1000000,             \
		      .shown_profile = "never"

_Static_assert(offsetof(struct collection, session) == 0, "offsets are of both");

static const char *option_mode_name(unsigned i)
{
	return i < SESSION_MODE_MAX ? session_mode_names[i] : NULL;
}

const char *const ship_format_names[SHIP_FORMAT_MAX] = {
	[SHIP_AS_IT_IS] = "none",
	[SHIP_PARQUET] = "parquet",
	[SHIP_PPROF] = "pprof",
	[SHIP_OTLP] = "otlp",
};

static const char *option_ship_name(unsigned i)
{
	return i < SHIP_FORMAT_MAX ? ship_format_names[i] : NULL;
}

static const char *option_reach_name(unsigned i)
{
	return i < MEMORY_REACH_MAX ? memory_reach_names[i] : NULL;
}

static const char *option_stack_way_name(unsigned i)
{
	return i < STACKS_MAX ? stack_way_names[i] : NULL;
}

static const char *option_pack_name(unsigned i)
{
	return i < PACK_METHOD_MAX ? pack_ops(i)->name : NULL;
}

/* Members that many rows have. */
#define NUMBER(unit, at, least, most)                                                              \
	.type = OPTION_##unit, .offset = (at), .min = (least), .max = (most)
#define USUALLY(value, text)     .usual = (value), .shown = (text)
#define STORED(as, place)        .stored_as = (as), .rank = (place)
#define ALWAYS_STORED(as, place) STORED(as, place), .flags = OPTION_STORED

/* Begins the second line of a help text. */
#define NEXT "\n                             "

#define WHAT   "Events:"
#define WHOSE  "Filters (a process must match each kind that is given):"
#define BLOCKS "Allocations (categories memory, fd, shm, threads):"
#define HOW    "Recording:"
#define FLIGHT "Flight recorder:"

/* clang-format off */
const struct option_row option_rows[] = {
	{ .section = "Collection", .key = "Description", .type = OPTION_TEXT,
	  .offset = OF(description), .n_max = 4096 },
	{ "events", 'e', "CATEGORY,...", OPTION_OF_REPORTS, WHAT,
	  "categories or sets; 'help' lists them and their cost", "categories", "Collection", "Categories",
	  .type = OPTION_CATEGORIES, .flags = OPTION_LIST, .offset = AT(categories),
	  .values = "names of categories", .shown = "set 'default'", .shown_profile = "sched profile",
	  STORED("categories", 6) },
	{ "mode", 0, "MODE", OPTION_OF_ARCHIVES, FLIGHT,
	  "'flight' keeps the most recent events", "mode", "Collection", "Mode",
	  .type = OPTION_CHOICE, .choice = option_mode_name, .offset = AT(mode), .shown = "stream",
	  STORED("mode", 19) },
	{ "compress", 0, "METHOD", OPTION_OF_ARCHIVES, HOW,
	  "compress the archive: zstd (the default), columns, snappy or gzip", "compress", "Collection",
	  "Compress", .type = OPTION_CHOICE, .flags = OPTION_OPTIONAL | OPTION_YES_NO,
	  .choice = option_pack_name, .implied = "zstd", .offset = AT(compress), .shown_profile = "no",
	  STORED("compress", 5) },
	{ "buffer", 'b', "SIZE", OPTION_OF_ALL, HOW,
	  "ring of each CPU; enlarge it if events are lost", "ring_bytes", "Collection",
	  "RingSize", NUMBER(SIZE, AT(ring_bytes), RING_BYTES_MIN, RING_BYTES_MAX), .shown = "4M",
	  ALWAYS_STORED("ring", 1) },
	{ "frequency", 'F', "HZ", OPTION_OF_ARCHIVES | OPTION_OF_TOP, WHAT,
	  "samples per second on each CPU", "frequency", "Collection", "Frequency",
	  NUMBER(COUNT, AT(frequency), 1, FREQUENCY_MAX), USUALLY(FREQUENCY_DEFAULT, "99"),
	  .categories = CATEGORY_PROFILE, ALWAYS_STORED("frequency", 8) },
	{ "offcpu-min", 0, "TIME", OPTION_OF_ARCHIVES, WHAT,
	  "the shortest recorded time off a CPU", "offcpu_min_ns", "Collection", "OffCpuMin",
	  NUMBER(TIME, AT(offcpu_min_ns), 1000, 3600 * SECONDS), USUALLY(MS, "1ms"),
	  .categories = CATEGORY_OFFCPU, ALWAYS_STORED("offcpu_min", 9) },
	{ "counter-interval", 0, "TIME", OPTION_OF_ARCHIVES, WHAT,
	  "interval between samples of the counters", "counter_interval_ns", "Collection",
	  "CounterInterval", NUMBER(TIME, AT(counter_interval_ns), COUNTER_NS_MIN, 60 * SECONDS),
	  USUALLY(SECONDS, "1s"), .categories = CATEGORY_COUNTERS, ALWAYS_STORED("counters", 7) },
	{ "stacks", 0, "HOW", OPTION_OF_REPORTS, WHAT,
	  "walk stacks by tables ('eh'), frame pointers ('fp') or 'none'", "stacks",
	  "Collection", "Stacks", .type = OPTION_CHOICE, .choice = option_stack_way_name,
	  .offset = AT(stacks), .shown = "auto", .categories = CATEGORIES_USER_STACKS,
	  STORED("stacks", 10) },
	{ "stack-tables", 0, "SIZE", OPTION_OF_REPORTS, WHAT,
	  "maximum kernel memory for unwind tables", "stack_tables_bytes", "Collection",
	  "StackTables", NUMBER(SIZE, AT(stack_tables_bytes), STACK_TABLES_MIN, STACK_TABLES_MAX),
	  USUALLY(STACK_TABLES_DEFAULT, "64M"), .categories = CATEGORIES_USER_STACKS,
	  STORED("stack_tables", 10) },
	{ "call", 0, "SPEC", OPTION_OF_ARCHIVES, WHAT,
	  "calls of FILE:FUNCTION(TYPE NAME, ...) -> TYPE", "calls", "Collection", "Call",
	  .type = OPTION_CALLS, .flags = OPTION_LIST, .offset = AT(calls),
	  .n_max = OPTION_CALLS_MAX, .values = "a specification of calls",
	  .categories = CATEGORY_CALLS },
	{ "fast-returns", 0, NULL, OPTION_OF_ARCHIVES, WHAT,
	  "use cheaper return probes; programs must not throw" NEXT
	  "through them; at most 64 nested calls", "fast_returns",
	  .type = OPTION_BOOL, .offset = AT(calls.fast_returns), STORED("fast_returns", 10) },
	{ "force-fast-returns", 0, NULL, OPTION_OF_ARCHIVES, WHAT,
	  "use them also in programs that switch stacks;" NEXT
	  "this can kill these programs", "force_fast_returns",
	  .type = OPTION_BOOL, .offset = AT(calls.force_fast_returns),
	  STORED("force_fast_returns", 10) },
	{ .bus = "call_files", .type = OPTION_FILES, .offset = AT(calls.files),
	  .n_max = OPTION_CALLS_MAX, .categories = CATEGORY_CALLS },
	{ "moment", 0, "SPEC", OPTION_OF_ARCHIVES, WHAT,
	  "registers and memory at FILE:FUNCTION or FILE:SOURCE:LINE", "moments",
	  .type = OPTION_MOMENTS, .flags = OPTION_LIST, .offset = AT(moments),
	  .n_max = OPTION_MOMENTS_MAX, .values = "a point of a program",
	  .categories = CATEGORY_MOMENTS },
	{ .bus = "moment_files", .type = OPTION_FILES, .offset = AT(moments.files),
	  .n_max = OPTION_MOMENTS_MAX, .categories = CATEGORY_MOMENTS },
	{ .bus = "tracepoints", .section = "Collection", .key = "Tracepoint",
	  .type = OPTION_TRACEPOINTS, .flags = OPTION_LIST, .offset = AT(tracepoints),
	  .n_max = OPTION_TRACEPOINTS_MAX, .values = "SYSTEM:NAME or a set, with a condition in brackets",
	  .categories = CATEGORY_TRACEPOINTS },
	{ .bus = "app", .type = OPTION_APP, .offset = AT(app), .n_max = OPTION_APP_MAX,
	  .values = "a category of programs, as render or net*", .categories = CATEGORY_APP },
	{ "flush", 0, "TIME", OPTION_OF_ARCHIVES, HOW, "write at least this often", "flush_ns",
	  "Collection", "FlushInterval", NUMBER(TIME, AT(flush_ns), FLUSH_NS_MIN, FLUSH_NS_MAX),
	  USUALLY(FLUSH_NS_DEFAULT, "250ms"), ALWAYS_STORED("flush", 2) },
	{ "no-perfetto-blobs", 0, NULL, OPTION_OF_ARCHIVES, HOW,
	  "write samples once, without the copy that Perfetto shows", "no_perfetto_blobs",
	  "Collection", "PerfettoBlobs", .type = OPTION_BOOL, .flags = OPTION_NEGATED,
	  .offset = AT(no_perfetto_blobs), .shown_profile = "yes", STORED("no_perfetto_blobs", 10) },
	{ "max-overhead", 0, "SHARE", OPTION_OF_ARCHIVES, HOW,
	  "maximum cost: 2% of the time of all CPUs, or 0.5cpu", .section = "Collection",
	  .key = "MaxOverhead", .type = OPTION_OVERHEAD,
	  .values = "a percentage of the machine's CPU time, or CPUs, as 0.5cpu",
	  .shown_profile = "no limit" },
	{ .bus = "max_overhead_ppm",
	  NUMBER(SHARE, AT(max_overhead_ppm), OVERHEAD_PPM_MIN, OVERHEAD_PPM_MAX),
	  .stored_as = "max_overhead_ppm", .flags = OPTION_STORED_N, .rank = 22 },
	{ .bus = "max_overhead_machine_ppm",
	  NUMBER(SHARE, AT(max_overhead_machine_ppm), OVERHEAD_MACHINE_PPM_MIN,
		 OVERHEAD_MACHINE_PPM_MAX),
	  .stored_as = "max_overhead_machine_ppm", .flags = OPTION_STORED_N, .rank = 23 },
	{ "duration", 'd', "TIME", OPTION_OF_ALL, HOW, "end after TIME (5, 500ms, 2m)",
	  "duration_ns", "Collection", "Duration", NUMBER(TIME, AT(duration_ns), 1, NO_MAX),
	  .shown_profile = "infinity", .stored_as = "duration_ns",
	  .flags = OPTION_INFINITY | OPTION_STORED | OPTION_STORED_N, .rank = 3 },
	{ "max-size", 0, "SIZE", OPTION_OF_REPORTS, HOW, "end when the archive has this size",
	  "max_bytes", NUMBER(SIZE, AT(max_bytes), 1, NO_MAX), .mode = OPTION_IN(SESSION_STREAM),
	  .stored_as = "max_bytes", .flags = OPTION_INFINITY | OPTION_STORED | OPTION_STORED_N, .rank = 4 },
	{ "trigger", 0, "WHAT=LIMIT,...", OPTION_OF_ARCHIVES, HOW,
	  "write an event when a value reaches LIMIT (see below)", "triggers",
	  .type = OPTION_TRIGGERS },

	{ "pid", 'p', "PID,...", OPTION_OF_ARCHIVES | OPTION_OF_TOP, WHOSE,
	  "only these processes, with their children", "pids", .type = OPTION_PIDS,
	  .offset = AT(filter.pids), .min = 1, .max = INT32_MAX, .n_max = OPTION_PIDS_MAX },
	{ .bus = "command_waits", .type = OPTION_BOOL, .offset = AT(command_waits) },
	{ "unit", 0, "UNIT", OPTION_OF_ALL, WHOSE, "only this systemd unit, across restarts",
	  .section = "Filter", .key = "Unit", .type = OPTION_UNIT, .flags = OPTION_LIST,
	  .offset = OF(units), .values = "the name of a unit", .shown_profile = EVERY },
	{ "cgroup", 0, "PATH", OPTION_OF_ALL, WHOSE, "only this cgroup, with those below it",
	  .section = "Filter", .key = "CGroup", .type = OPTION_CGROUP, .flags = OPTION_LIST,
	  .offset = OF(cgroups), .values = "a path", .shown_profile = EVERY },
	{ "comm", 0, "NAME", OPTION_OF_ALL, WHOSE, "only threads of this name, at most 15 bytes",
	  "comms", "Filter", "Comm", .type = OPTION_COMMS, .flags = OPTION_LIST,
	  .offset = AT(filter.comms), .n_max = FILTER_VALUES_MAX, .values = "the name of a thread",
	  .shown_profile = EVERY },
	{ "uid", 0, "USER,...", OPTION_OF_ALL, WHOSE,
	  "only processes of this user, a name or a number", "uids", "Filter", "User",
	  .type = OPTION_USERS, .flags = OPTION_LIST, .offset = AT(filter.uids),
	  .max = UINT32_MAX - 1, .n_max = FILTER_VALUES_MAX, .values = "a user's name or number",
	  .shown_profile = EVERY },
	{ "own", 0, NULL, OPTION_OF_ALL, WHOSE,
	  "only processes to which you could attach a debugger", "own",
	  .type = OPTION_OWN, .offset = AT(own), STORED("own", 11) },
	{ .bus = "cgroups", .type = OPTION_CGROUPS, .offset = AT(filter.cgroups),
	  .n_max = FILTER_CGROUPS_MAX },

	{ "memory-log", 0, NULL, OPTION_OF_REPORTS, BLOCKS, "record each allocation and each free",
	  "memory_log", "Memory", "Log", .type = OPTION_BOOL, .offset = AT(memory.log),
	  .shown_profile = "no", .categories = CATEGORIES_MEMORY, STORED("log", 14) },
	{ "memory-interval", 0, "SIZE", OPTION_OF_REPORTS, BLOCKS,
	  "sample one random block per SIZE bytes", "memory_interval", "Memory",
	  "Interval", NUMBER(SIZE, AT(memory.interval), 1, TIB / 512),
	  .shown_profile = "each block", .categories = CATEGORIES_MEMORY, STORED("interval", 15) },
	{ "memory-min", 0, "SIZE", OPTION_OF_REPORTS, BLOCKS, "ignore smaller blocks",
	  "memory_min_bytes", "Memory", "MinSize", NUMBER(SIZE, AT(memory.min_bytes), 1, TIB),
	  .shown_profile = "1", .categories = CATEGORIES_MEMORY, STORED("min", 16) },
	{ "memory-blocks", 0, "N", OPTION_OF_REPORTS, BLOCKS,
	  "maximum number of tracked blocks", "memory_blocks_max", "Memory", "Blocks",
	  NUMBER(COUNT, AT(memory.blocks_max), MEMORY_BLOCKS_MIN, MEMORY_BLOCKS_MAX),
	  USUALLY(MEMORY_BLOCKS_DEFAULT, "1000000"), .categories = CATEGORIES_MEMORY,
	  ALWAYS_STORED("blocks_max", 13) },
	{ "usage-interval", 0, "TIME", OPTION_OF_REPORTS, BLOCKS,
	  "interval between sums of allocations", "usage_interval_ns", "Memory",
	  "UsageInterval", NUMBER(TIME, AT(memory.usage_interval_ns), 10 * MS, 3600 * SECONDS),
	  USUALLY(SECONDS, "1s"), .categories = CATEGORIES_MEMORY, ALWAYS_STORED("usage", 12) },
	{ "reach", 0, "HOW", OPTION_OF_REPORTS, BLOCKS,
	  "at the end, search for pointers while the process" NEXT
	  "runs ('look') or is stopped ('freeze')",
	  "reach", "Memory", "Reach",
	  .type = OPTION_CHOICE, .choice = option_reach_name, .offset = AT(memory.reach), .shown = "no",
	  .categories = CATEGORY_MEMORY, STORED("reach", 17) },
	{ "triage", 0, "TIME", OPTION_OF_REPORTS, BLOCKS,
	  "watch processes that grow; check each TIME (5s)", "triage", "Memory",
	  "Triage", .type = OPTION_BOOL, .flags = OPTION_OPTIONAL, .offset = AT(memory.triage),
	  .shown_profile = "no", .categories = CATEGORY_MEMORY },
	{ .bus = "triage_interval_ns", .section = "Memory", .key = "TriageInterval",
	  NUMBER(TIME, AT(memory.triage_interval_ns), 100 * MS, 3600 * SECONDS),
	  USUALLY(5 * SECONDS, "5s"), .categories = CATEGORY_MEMORY, .needs = AT(memory.triage),
	  ALWAYS_STORED("triage", 18) },
	{ .section = "Memory", .key = "Program", .type = OPTION_PROGRAM, .flags = OPTION_LIST,
	  .offset = OF(programs), .n_max = ALLOCATOR_FILES_MAX, .values = "an absolute path",
	  .categories = CATEGORIES_PROBES },
	{ .bus = "allocator_fds", .type = OPTION_FILES, .offset = AT(memory.allocators),
	  .n_max = ALLOCATOR_FILES_MAX },

	{ .section = "Output", .key = "Directory", .type = OPTION_DIRECTORY,
	  .offset = OF(directory), .values = "an absolute path",
	  .shown_profile = COLLECTION_DIRECTORY_PREFIX "/NAME" },
	{ .section = "Output", .key = "RotateSize",
	  NUMBER(SIZE, AT(rotate_bytes), ROTATE_BYTES_MIN, NO_MAX), .flags = OPTION_INFINITY,
	  .shown_profile = "64M", .mode = OPTION_IN(SESSION_STREAM) },
	{ .section = "Output", .key = "RotateTime",
	  NUMBER(TIME, AT(rotate_ns), ROTATE_NS_MIN, NO_MAX), .flags = OPTION_INFINITY,
	  .shown_profile = "infinity", .mode = OPTION_IN(SESSION_STREAM) },
	{ .section = "Output", .key = "KeepSize",
	  NUMBER(SIZE, OF(keep_bytes), ROTATE_BYTES_MIN, NO_MAX), .flags = OPTION_INFINITY,
	  .shown_profile = "1G" },
	{ .section = "Output", .key = "KeepTime", NUMBER(TIME, OF(keep_ns), ROTATE_NS_MIN, NO_MAX),
	  .flags = OPTION_INFINITY, .shown_profile = "infinity" },

	{ .section = "Export", .key = "Format", .type = OPTION_CHOICE, .choice = option_ship_name,
	  .offset = OF(ship_format), .shown_profile = "none" },
	{ .section = "Export", .key = "To", .type = OPTION_DIRECTORY, .offset = OF(ship_to),
	  .values = "an absolute path" },
	{ .section = "Export", .key = "Run", .type = OPTION_TEXT, .offset = OF(ship_run),
	  .values = "a command of the shell", .n_max = 4096 },

	{ "keep", 0, "TIME", OPTION_OF_ARCHIVES, FLIGHT,
	  "minimum time to keep (10s; with --keep-size, as much as fits)", "flight_ns", "Flight",
	  "Keep", NUMBER(TIME, AT(flight_ns), 1, NO_MAX), .shown_profile = "10s",
	  .mode = OPTION_IN(SESSION_FLIGHT), ALWAYS_STORED("keep", 20) },
	{ "keep-size", 0, "SIZE", OPTION_OF_ARCHIVES, FLIGHT, "maximum memory to use",
	  "flight_bytes", "Flight", "KeepSize",
	  NUMBER(SIZE, AT(flight_bytes), FLIGHT_BYTES_MIN, FLIGHT_BYTES_MAX), .shown = "64M",
	  .mode = OPTION_IN(SESSION_FLIGHT), ALWAYS_STORED("keep_size", 21) },

	{ .help = "a thread waited this long for a CPU", .trigger = "wakeup", .section = "Trigger",
	  .key = "WakeupLatency", NUMBER(TIME, AT(triggers.wakeup_ns), 1000, 3600 * SECONDS),
	  .shown_profile = "never", .categories = CATEGORY_SCHED },
	{ .help = "a thread was blocked for this long", .trigger = "offcpu",
	  .section = "Trigger", .key = "OffCpu",
	  NUMBER(TIME, AT(triggers.offcpu_ns), 1000, 3600 * SECONDS), .shown_profile = "never",
	  .categories = CATEGORY_SCHED },
	{ .help = "share of the time in which tasks waited for a CPU", .trigger = "pressure_cpu",
	  .section = "Trigger", .key = "CpuPressure", .offset = AT(triggers.pressure_ppm[0]),
	  .type = ON_PRESSURE },
	{ .help = "share of the time in which tasks waited for memory", .trigger = "pressure_memory", .section = "Trigger",
	  .key = "MemoryPressure", .offset = AT(triggers.pressure_ppm[1]), .type = ON_PRESSURE },
	{ .help = "share of the time in which tasks waited for I/O", .trigger = "pressure_io",
	  .section = "Trigger",
	  .key = "IoPressure", .offset = AT(triggers.pressure_ppm[2]), .type = ON_PRESSURE },
	{ .help = "growth of a watched process in a minute", .trigger = "leak",
	  .section = "Trigger", .key = "LeakGrowth",
	  NUMBER(SIZE, AT(triggers.leak_bytes), 4096, 1024 * TIB), .shown_profile = "never",
	  .categories = CATEGORY_MEMORY },
	{ .help = "at most one event per interval (10s)", .trigger = "interval", .section = "Trigger",
	  .key = "Interval", NUMBER(TIME, AT(triggers.interval_ns), MS, 86400 * SECONDS),
	  .usual = 10 * SECONDS, .shown_profile = "1min" },
	{ .bus = "command", .type = OPTION_TEXT, .offset = AT(command), .n_max = 4096 },
#ifdef OPTION_MADE_UP_ROW /* tests/support/made-up-option.h */
	OPTION_MADE_UP_ROW
#endif
};
/* clang-format on */

const size_t option_n_rows = ARRAY_SIZE(option_rows);

_Static_assert(ARRAY_SIZE(option_rows) <= OPTION_ROWS_MAX, "room for a flag each");

const struct option_row *option_of_bus(const char *name)
{
	OPTION_FOR_EACH(row)
		if (row->bus && strcmp(row->bus, name) == 0)
			return row;
	return NULL;
}

const struct option_row *option_of_name(const char *name)
{
	OPTION_FOR_EACH(row)
		if (row->name && strcmp(row->name, name) == 0)
			return row;
	return NULL;
}

const struct option_row *option_of_trigger(const char *name, size_t n)
{
	OPTION_FOR_EACH(row)
		if (row->trigger && strlen(row->trigger) == n && memcmp(row->trigger, name, n) == 0)
			return row;
	return NULL;
}
