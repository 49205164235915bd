/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/options/option-table.h"

#include <string.h>

#include "base/cleanup.h"

#define AT(member) offsetof(struct collection, session.member)
#define OF(member) offsetof(struct collection, member)
#define SECONDS    UINT64_C(1000000000)
#define NO_MAX     INT64_MAX
#define EVERY      "every process"
#define ON_PRESSURE                                                                                \
	OPTION_SHARE, .min = TRIGGER_PPM_MIN, .max = TRIGGER_PPM_MAX, .shown_profile = "never"

_Static_assert(offsetof(struct collection, session) == 0, "offsets are of both");

static const char *mode_name(unsigned i)
{
	return i < SESSION_MODE_MAX ? session_mode_names[i] : NULL;
}

static const char *reach_name(unsigned i)
{
	return i < MEMORY_REACH_MAX ? memory_reach_names[i] : NULL;
}

static const char *pack_name(unsigned i)
{
	return i < PACK_METHOD_MAX ? pack_ops(i)->name : NULL;
}

#define WHAT   "What is recorded:"
#define WHOSE  "Of which processes (kinds of filters must all hold):"
#define BLOCKS "Of what processes allocate (categories memory, fd, shm, threads):"
#define HOW    "How it is recorded, and when it ends:"
#define FLIGHT "The last of it, kept in memory:"

/* clang-format off */
const struct option_row option_rows[] = {
	{ .section = "Collection", .key = "Description", .type = OPTION_TEXT,
	  .offset = OF(description), .n_max = 4096 },
	{ "events", 'e', "CATEGORY,...", OPTION_OF_REPORTS, WHAT,
	  "categories; 'help' lists them and their cost",
	  "categories", "Collection", "Categories", .type = OPTION_CATEGORIES,
	  .flags = OPTION_LIST, .offset = AT(categories),
	  .values = "names of categories", .shown = "default", .shown_profile = "sched profile",
	  .told = "categories", .rank = 6 },
	{ "mode", 0, "MODE", OPTION_OF_ARCHIVES, FLIGHT,
	  "'flight' keeps the last of it, for snapshots",
	  "mode", "Collection", "Mode", .type = OPTION_CHOICE, .choice = mode_name,
	  .offset = AT(mode), .shown = "stream",
	  .told = "mode", .rank = 19 },
	{ "compress", 0, "METHOD", OPTION_OF_ARCHIVES, HOW,
	  "pack the archive by zstd (the default), snappy or gzip",
	  "compress", "Collection", "Compress", .type = OPTION_CHOICE,
	  .flags = OPTION_OPTIONAL | OPTION_YES_NO, .choice = pack_name,
	  .implied = "zstd", .offset = AT(compress), .shown_profile = "no", .told = "compress",
	  .rank = 5 },
	{ "buffer", 'b', "SIZE", OPTION_OF_ALL, HOW,
	  "ring of each CPU; enlarge it when events are lost",
	  "ring_bytes", "Collection", "RingSize", .type = OPTION_SIZE, .offset = AT(ring_bytes),
	  .min = RING_BYTES_MIN, .max = RING_BYTES_MAX, .shown = "4M", .told = "ring",
	  .flags = OPTION_TOLD, .rank = 1 },
	{ "frequency", 'F', "HZ", OPTION_OF_ARCHIVES | OPTION_OF_TOP, WHAT,
	  "samples a second of each CPU",
	  "frequency", "Collection", "Frequency", .type = OPTION_COUNT, .offset = AT(frequency),
	  .min = 1, .max = FREQUENCY_MAX,
	  .usual = FREQUENCY_DEFAULT, .shown = "99", .categories = CATEGORY_PROFILE,
	  .told = "frequency", .flags = OPTION_TOLD, .rank = 8 },
	{ "offcpu-min", 0, "TIME", OPTION_OF_ARCHIVES, WHAT,
	  "shortest time off a CPU that is recorded",
	  "offcpu_min_ns", "Collection", "OffCpuMin", .type = OPTION_TIME,
	  .offset = AT(offcpu_min_ns), .min = OFFCPU_NS_MIN,
	  .max = OFFCPU_NS_MAX, .usual = OFFCPU_NS_DEFAULT, .shown = "1ms",
	  .categories = CATEGORY_OFFCPU,
	  .told = "offcpu_min", .flags = OPTION_TOLD, .rank = 9 },
	{ "counter-interval", 0, "TIME", OPTION_OF_ARCHIVES, WHAT,
	  "time between two samples of the counters",
	  "counter_interval_ns", "Collection", "CounterInterval", .type = OPTION_TIME,
	  .offset = AT(counter_interval_ns),
	  .min = COUNTER_NS_MIN, .max = COUNTER_NS_MAX, .usual = COUNTER_NS_DEFAULT, .shown = "1s",
	  .categories = CATEGORY_COUNTERS,
	  .told = "counters", .flags = OPTION_TOLD, .rank = 7 },
	{ "flush", 0, "TIME", OPTION_OF_ARCHIVES, HOW, "write at least this often",
	  "flush_ns", "Collection", "FlushInterval", .type = OPTION_TIME, .offset = AT(flush_ns),
	  .min = FLUSH_NS_MIN, .max = FLUSH_NS_MAX,
	  .usual = FLUSH_NS_DEFAULT, .shown = "250ms", .told = "flush", .flags = OPTION_TOLD,
	  .rank = 2 },
	{ "no-perfetto-blobs", 0, NULL, OPTION_OF_ARCHIVES, HOW,
	  "write samples once, without the copy that Perfetto shows",
	  "no_perfetto_blobs", "Collection", "PerfettoBlobs", .type = OPTION_BOOL,
	  .flags = OPTION_NEGATED, .offset = AT(no_perfetto_blobs),
	  .shown_profile = "yes", .told = "no_perfetto_blobs", .rank = 10 },
	{ "max-overhead", 0, "SHARE", OPTION_OF_ARCHIVES, HOW,
	  "most CPU time that it may take: 2% of all, or 0.5cpu",
	  .section = "Collection", .key = "MaxOverhead", .type = OPTION_OVERHEAD,
	  .values = "a percentage of the machine's CPU time, or CPUs, as 0.5cpu",
	  .shown_profile = "no limit" },
	{ .bus = "max_overhead_ppm", .type = OPTION_SHARE, .offset = AT(max_overhead_ppm),
	  .min = OVERHEAD_PPM_MIN, .max = OVERHEAD_PPM_MAX,
	  .told = "max_overhead_ppm", .flags = OPTION_TOLD_N, .rank = 22 },
	{ .bus = "max_overhead_machine_ppm", .type = OPTION_SHARE,
	  .offset = AT(max_overhead_machine_ppm), .min = OVERHEAD_MACHINE_PPM_MIN,
	  .max = OVERHEAD_MACHINE_PPM_MAX, .told = "max_overhead_machine_ppm",
	  .flags = OPTION_TOLD_N, .rank = 23 },
	{ "duration", 'd', "TIME", OPTION_OF_ALL, HOW, "end after TIME (5, 500ms, 2m)",
	  "duration_ns", "Collection", "Duration", .type = OPTION_TIME, .offset = AT(duration_ns),
	  .min = 1, .max = NO_MAX,
	  .shown_profile = "infinity", .told = "duration_ns",
	  .flags = OPTION_INFINITY | OPTION_TOLD | OPTION_TOLD_N, .rank = 3 },
	{ "max-size", 0, "SIZE", OPTION_OF_REPORTS, HOW, "end when the archive has this size",
	  "max_bytes", .type = OPTION_SIZE, .offset = AT(max_bytes), .min = 1, .max = NO_MAX,
	  .mode = OPTION_IN(SESSION_STREAM),
	  .told = "max_bytes", .flags = OPTION_INFINITY | OPTION_TOLD | OPTION_TOLD_N, .rank = 4 },
	{ "trigger", 0, "WHAT=LIMIT,...", OPTION_OF_ARCHIVES, HOW,
	  "mark where something gets worse than LIMIT (below)",
	  "triggers", .type = OPTION_TRIGGERS },

	{ "pid", 'p', "PID,...", OPTION_OF_ARCHIVES | OPTION_OF_TOP, WHOSE,
	  "only these processes, with their children",
	  "pids", .type = OPTION_PIDS, .offset = AT(filter.pids), .min = 1, .max = INT32_MAX,
	  .n_max = OPTION_PIDS_MAX },
	{ "unit", 0, "UNIT", OPTION_OF_ALL, WHOSE, "only this systemd unit, over its restarts too",
	  .section = "Filter", .key = "Unit", .type = OPTION_UNIT, .flags = OPTION_LIST,
	  .offset = OF(units),
	  .values = "the name of a unit", .shown_profile = EVERY },
	{ "cgroup", 0, "PATH", OPTION_OF_ALL, WHOSE, "only this cgroup, with those below it",
	  .section = "Filter", .key = "CGroup", .type = OPTION_CGROUP, .flags = OPTION_LIST,
	  .offset = OF(cgroups),
	  .values = "a path", .shown_profile = EVERY },
	{ "comm", 0, "NAME", OPTION_OF_ALL, WHOSE, "only threads of this name, of 15 bytes at most",
	  "comms", "Filter", "Comm", .type = OPTION_COMMS, .flags = OPTION_LIST,
	  .offset = AT(filter.comms), .n_max = FILTER_VALUES_MAX,
	  .values = "the name of a thread", .shown_profile = EVERY },
	{ "uid", 0, "USER,...", OPTION_OF_ALL, WHOSE,
	  "only processes of this user, a name or a number",
	  "uids", "Filter", "User", .type = OPTION_USERS, .flags = OPTION_LIST,
	  .offset = AT(filter.uids), .max = UINT32_MAX - 1,
	  .n_max = FILTER_VALUES_MAX, .values = "a user's name or number", .shown_profile = EVERY },
	{ "own", 0, NULL, OPTION_OF_ALL, WHOSE,
	  "only processes of your own that you might attach a debugger to",
	  "own", .type = OPTION_OWN, .offset = AT(own), .told = "own", .rank = 11 },
	{ .bus = "cgroups", .type = OPTION_CGROUPS, .offset = AT(filter.cgroups),
	  .n_max = FILTER_CGROUPS_MAX },

	{ "memory-log", 0, NULL, OPTION_OF_REPORTS, BLOCKS, "each allocation and each free, too",
	  "memory_log", "Memory", "Log", .type = OPTION_BOOL, .offset = AT(memory.log),
	  .shown_profile = "no",
	  .categories = CATEGORIES_MEMORY, .told = "log", .rank = 14 },
	{ "memory-interval", 0, "SIZE", OPTION_OF_REPORTS, BLOCKS,
	  "one block each SIZE bytes, at random, instead of all",
	  "memory_interval", "Memory", "Interval", .type = OPTION_SIZE,
	  .offset = AT(memory.interval), .min = 1, .max = MEMORY_INTERVAL_MAX,
	  .shown_profile = "each block", .categories = CATEGORIES_MEMORY, .told = "interval",
	  .rank = 15 },
	{ "memory-min", 0, "SIZE", OPTION_OF_REPORTS, BLOCKS, "pass over smaller blocks",
	  "memory_min_bytes", "Memory", "MinSize", .type = OPTION_SIZE,
	  .offset = AT(memory.min_bytes), .min = 1, .max = MEMORY_SIZE_MAX,
	  .shown_profile = "1", .categories = CATEGORIES_MEMORY, .told = "min", .rank = 16 },
	{ "memory-blocks", 0, "N", OPTION_OF_REPORTS, BLOCKS,
	  "blocks that can be remembered at once",
	  "memory_blocks_max", "Memory", "Blocks", .type = OPTION_COUNT,
	  .offset = AT(memory.blocks_max), .min = MEMORY_BLOCKS_MIN,
	  .max = MEMORY_BLOCKS_MAX, .usual = MEMORY_BLOCKS_DEFAULT, .shown = "1000000",
	  .categories = CATEGORIES_MEMORY,
	  .told = "blocks_max", .flags = OPTION_TOLD, .rank = 13 },
	{ "usage-interval", 0, "TIME", OPTION_OF_REPORTS, BLOCKS,
	  "time between two looks at what is allocated",
	  "usage_interval_ns", "Memory", "UsageInterval", .type = OPTION_TIME,
	  .offset = AT(memory.usage_interval_ns), .min = USAGE_NS_MIN,
	  .max = USAGE_NS_MAX, .usual = USAGE_NS_DEFAULT, .shown = "1s",
	  .categories = CATEGORIES_MEMORY,
	  .told = "usage", .flags = OPTION_TOLD, .rank = 12 },
	{ "reach", 0, "HOW", OPTION_OF_REPORTS, BLOCKS,
	  "say which blocks can be reached: 'look', or 'freeze' it",
	  "reach", "Memory", "Reach", .type = OPTION_CHOICE, .choice = reach_name,
	  .offset = AT(memory.reach), .shown = "no",
	  .categories = CATEGORY_MEMORY, .told = "reach", .rank = 17 },
	{ "triage", 0, "TIME", OPTION_OF_REPORTS, BLOCKS,
	  "watch those of all processes that grow; look each TIME (5s)",
	  "triage", "Memory", "Triage", .type = OPTION_BOOL, .flags = OPTION_OPTIONAL,
	  .offset = AT(memory.triage), .shown_profile = "no",
	  .categories = CATEGORY_MEMORY },
	{ .bus = "triage_interval_ns", .section = "Memory", .key = "TriageInterval",
	  .type = OPTION_TIME,
	  .offset = AT(memory.triage_interval_ns), .min = TRIAGE_NS_MIN, .max = TRIAGE_NS_MAX,
	  .usual = TRIAGE_NS_DEFAULT, .shown = "5s",
	  .categories = CATEGORY_MEMORY, .needs = AT(memory.triage), .told = "triage",
	  .flags = OPTION_TOLD, .rank = 18 },
	{ .section = "Memory", .key = "Program", .type = OPTION_PROGRAM, .flags = OPTION_LIST,
	  .offset = OF(programs),
	  .n_max = ALLOCATOR_FILES_MAX, .values = "an absolute path",
	  .categories = CATEGORIES_PROBES },
	{ .bus = "allocator_fds", .type = OPTION_FILES, .offset = AT(memory.allocator_fds),
	  .n_max = ALLOCATOR_FILES_MAX },

	{ .section = "Output", .key = "Directory", .type = OPTION_DIRECTORY,
	  .offset = OF(directory), .values = "an absolute path",
	  .shown_profile = COLLECTION_DIRECTORY_PREFIX "/NAME" },
	{ .section = "Output", .key = "RotateSize", .type = OPTION_SIZE, .flags = OPTION_INFINITY,
	  .offset = AT(rotate_bytes),
	  .min = ROTATE_BYTES_MIN, .max = NO_MAX, .shown_profile = "64M",
	  .mode = OPTION_IN(SESSION_STREAM) },
	{ .section = "Output", .key = "RotateTime", .type = OPTION_TIME, .flags = OPTION_INFINITY,
	  .offset = AT(rotate_ns),
	  .min = ROTATE_NS_MIN, .max = NO_MAX, .shown_profile = "infinity",
	  .mode = OPTION_IN(SESSION_STREAM) },
	{ .section = "Output", .key = "KeepSize", .type = OPTION_SIZE, .flags = OPTION_INFINITY,
	  .offset = OF(keep_bytes),
	  .min = ROTATE_BYTES_MIN, .max = NO_MAX, .shown_profile = "1G" },
	{ .section = "Output", .key = "KeepTime", .type = OPTION_TIME, .flags = OPTION_INFINITY,
	  .offset = OF(keep_ns),
	  .min = ROTATE_NS_MIN, .max = NO_MAX, .shown_profile = "infinity" },

	{ "keep", 0, "TIME", OPTION_OF_ARCHIVES, FLIGHT,
	  "at least so much of it (10s; with --keep-size, what fits)",
	  "flight_ns", "Flight", "Keep", .type = OPTION_TIME, .offset = AT(flight_ns), .min = 1,
	  .max = NO_MAX, .shown_profile = "10s",
	  .mode = OPTION_IN(SESSION_FLIGHT), .told = "keep", .flags = OPTION_TOLD, .rank = 20 },
	{ "keep-size", 0, "SIZE", OPTION_OF_ARCHIVES, FLIGHT, "but never more than this",
	  "flight_bytes", "Flight", "KeepSize", .type = OPTION_SIZE, .offset = AT(flight_bytes),
	  .min = FLIGHT_BYTES_MIN,
	  .max = FLIGHT_BYTES_MAX, .shown = "64M", .mode = OPTION_IN(SESSION_FLIGHT),
	  .told = "keep_size", .flags = OPTION_TOLD, .rank = 21 },

	{ .help = "a thread waited as long for a CPU", .trigger = "wakeup", .section = "Trigger",
	  .key = "WakeupLatency", .type = OPTION_TIME,
	  .offset = AT(triggers.wakeup_ns), .min = TRIGGER_NS_MIN, .max = TRIGGER_NS_MAX,
	  .shown_profile = "never",
	  .categories = CATEGORY_SCHED },
	{ .help = "a thread that was blocked came back after so long", .trigger = "offcpu",
	  .section = "Trigger", .key = "OffCpu",
	  .type = OPTION_TIME, .offset = AT(triggers.offcpu_ns), .min = TRIGGER_NS_MIN,
	  .max = TRIGGER_NS_MAX, .shown_profile = "never",
	  .categories = CATEGORY_SCHED },
	{ .help = "tasks stalled for want of a CPU, a share of the time",
	  .trigger = "pressure_cpu", .section = "Trigger", .key = "CpuPressure",
	  .offset = AT(triggers.pressure_ppm[0]), .type = ON_PRESSURE },
	{ .help = "likewise, of memory", .trigger = "pressure_memory", .section = "Trigger",
	  .key = "MemoryPressure",
	  .offset = AT(triggers.pressure_ppm[1]), .type = ON_PRESSURE },
	{ .help = "likewise, of input and output", .trigger = "pressure_io", .section = "Trigger",
	  .key = "IoPressure",
	  .offset = AT(triggers.pressure_ppm[2]), .type = ON_PRESSURE },
	{ .help = "a watched process allocated so much more in a minute", .trigger = "leak",
	  .section = "Trigger", .key = "LeakGrowth",
	  .type = OPTION_SIZE, .offset = AT(triggers.leak_bytes), .min = TRIGGER_BYTES_MIN,
	  .max = TRIGGER_BYTES_MAX,
	  .shown_profile = "never", .categories = CATEGORY_MEMORY },
	{ .help = "at most one trigger each (10s)", .trigger = "interval", .section = "Trigger",
	  .key = "Interval", .type = OPTION_TIME,
	  .offset = AT(triggers.interval_ns), .min = TRIGGER_INTERVAL_NS_MIN,
	  .max = TRIGGER_INTERVAL_NS_MAX,
	  .usual = TRIGGER_INTERVAL_NS_DEFAULT, .shown_profile = "1min" },
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
