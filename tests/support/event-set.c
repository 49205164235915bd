/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/event-set.h"

#include <string.h>

#include "base/cleanup.h"
#include "writer/fxt/fxt-names.h"
#include "writer/fxt/fxt-wire.h"

enum { IDLE = FXT_IDLE_WEIGHT };

#define WIDE                                                                                       \
	"gr\xc3\xbc\xc3\x9f\x65 \xe2\x82\xac \xf0\x9f\x98\x80" /* 2, 3 and 4 bytes a character */
#define REPLACED "\xef\xbf\xbd"

/* As long as a producer makes them: a command line of 511 bytes, a file of 255, a comm of 45. */
#define X10(s)          s s s s s s s s s s
#define LONGEST_COMMAND X10(X10("0123 ")) "0123456789a"
#define LONGEST_FILE    X10("/a-directory-with-a-name") "/and-a-file-yes"
#define LONGEST_COMM                                                                               \
	REPLACED REPLACED REPLACED REPLACED REPLACED REPLACED REPLACED REPLACED REPLACED REPLACED  \
		REPLACED REPLACED REPLACED REPLACED REPLACED
_Static_assert(sizeof(LONGEST_COMMAND) == 512, "as text_join_args() cuts it");
_Static_assert(sizeof(LONGEST_FILE) == 256, "as text_clean() cuts it");
_Static_assert(sizeof(LONGEST_COMM) == 46, "15 bytes, each of them wrong");

#define KYMO         .pid = FXT_KOID_KYMO, .tid = FXT_KOID_KYMO
#define KYMO_CPU(n)  .pid = FXT_KOID_KYMO, .tid = FXT_KOID_KYMO_CPU + (n), .cpu = (n)
#define SECOND_OWNER (2u << FXT_KOID_TID_BITS)
#define LAST_OWNER   (1023u << FXT_KOID_TID_BITS)
#define TASK(...)    .kind = EVENT_TASK, .task = { __VA_ARGS__ }
#define SWITCH(...)  .kind = EVENT_SWITCH, .sw = { __VA_ARGS__ }
#define WAKE(...)    .kind = EVENT_WAKE, .wake = { __VA_ARGS__ }
#define EXEC(...)    .kind = EVENT_EXEC, .exec = { __VA_ARGS__ }
#define EXIT(...)    .kind = EVENT_EXIT, .exit = { __VA_ARGS__ }
#define RENAME(...)  .kind = EVENT_RENAME, .rename = { __VA_ARGS__ }
#define LOST(...)    .kind = EVENT_LOST, .lost = { __VA_ARGS__ }

#define TRACK(process, n) .pid = FXT_KOID_##process, .tid = FXT_KOID_##process + 1 + (n), .cpu = (n)
#define INTERVAL(...)     .kind = EVENT_INTERVAL, .interval = { __VA_ARGS__ }
#define COUNTER(...)      .kind = EVENT_COUNTER, .counter = { __VA_ARGS__ }
#define WHOLE(n, v)                                                                                \
	{                                                                                          \
		.name = n, .whole = true, .u64 = v                                                 \
	}
#define REAL(n, v)                                                                                 \
	{                                                                                          \
		.name = n, .f64 = v                                                                \
	}

static const struct event_value frequency[] = { WHOLE("kHz", UINT64_MAX) };
static const struct event_value load[] = { REAL("1 minute", 0.25), WHOLE("runnable", 0) };
static const struct event_value most[EVENT_VALUES_MAX] = {
	REAL("a", 1e300), REAL("b", -0.0), WHOLE("c", 1),  WHOLE("d", 2),  WHOLE("e", 3),
	WHOLE("f", 4),    WHOLE("g", 5),   WHOLE("h", 6),  WHOLE("i", 7),  WHOLE("j", 8),
	WHOLE("k", 9),    WHOLE("l", 10),  WHOLE("m", 11), WHOLE("n", 12), WHOLE(WIDE, 13),
};

static const uint8_t build_id[] = { 0x00, 0x12, 0xef, 0xff };
static const struct call_value call_args[] = {
	{ .name = "path", .form = CALL_VALUE_TEXT, .text = "\"/etc/passwd\"..." },
	{ .name = "flags", .form = CALL_VALUE_TEXT, .text = "O_RDONLY|O_CLOEXEC" },
	{ .name = "least", .form = CALL_VALUE_INT, .i64 = INT64_MIN },
	{ .name = "most", .form = CALL_VALUE_UINT, .u64 = UINT64_MAX },
	{ .name = "at", .form = CALL_VALUE_POINTER, .u64 = UINT64_MAX },
	{ .name = "no", .form = CALL_VALUE_BOOL },
	{ .name = "yes", .form = CALL_VALUE_BOOL, .yes = true },
	{ .name = "a7", .form = CALL_VALUE_INT, .i64 = 7 },
	{ .name = "a8", .form = CALL_VALUE_INT, .i64 = 8 },
	{ .name = "a9", .form = CALL_VALUE_INT, .i64 = 9 },
	{ .name = "a10_" WIDE, .form = CALL_VALUE_TEXT, .text = WIDE },
};
_Static_assert(ARRAY_SIZE(call_args) == EVENT_CALL_ARGS_MAX, "as many as there can be");

static const uint64_t stack[] = { UINT64_MAX, 0xffffffff81000010, 0x401010, 0x7f0000001000, 0 };
static uint64_t longest_stack[FXT_BACKTRACE_MAX];

/* Registers, and a block of three bytes. */
static const uint64_t moment[EVENT_MOMENT_REGISTERS + 3] = {
	1, UINT64_MAX, [EVENT_MOMENT_REGISTERS] = 0x7000, UINT64_C(3) << 32 | 5, 0x030201
};

static const struct event set[] = {
	{
		.kind = EVENT_START,
		.ts_ns = 1000000,
		KYMO,
		.start = {
			.session = "all_of_it",
			.command = "kymo record -o " WIDE,
			.options = "ring=4.0 MiB flush=250 ms",
			.kernel = "6.1.0-test",
			.machine = "x86_64",
			.host = "",
			.version = "0.0",
			.n_cpus = EVENT_SET_CPUS,
			.chunk = 3,
			.filtered = true,
		},
	},
	{
		.kind = EVENT_CLOCK,
		.ts_ns = 1000001,
		KYMO,
		.clock = { .boot_ns = 1000001, .mono_ns = 900001, .real_ns = UINT64_MAX },
	},

	/* ---- who is who ---- */
	{ .pid = 1, .tid = 1,
	  TASK(.comm = "init", .command_line = "/sbin/init", .start_ns = 5, .cgroup_id = 1,
	       .cgroup_path = "/", .is_process = true) },
	{ .pid = FXT_KOID_KTHREADD, .tid = FXT_KOID_KTHREADD,
	  TASK(.comm = "kthreadd", .command_line = "", .start_ns = 6, .is_process = true) },
	{ .pid = FXT_KOID_KTHREADD, .tid = 12,
	  TASK(.comm = "kworker/0:0H-events", .command_line = "", .start_ns = 7) },
	{ .pid = 100, .tid = 100,
	  TASK(.comm = WIDE, .command_line = "name --option " WIDE, .start_ns = UINT64_MAX,
	       .cgroup_id = UINT64_MAX, .cgroup_path = "/system.slice/" WIDE ".service", .parent_pid = 1, .uid = UINT32_MAX - 1, .is_process = true) },
	{ .pid = 100, .tid = 101, TASK(.comm = "", .command_line = "", .start_ns = 8) },
	{ .pid = 102, .tid = 102, TASK(.comm = "?", .uid = EVENT_UID_UNKNOWN, .command_line = "", .is_process = true) },
	{ .pid = 103, .tid = 103,
	  TASK(.comm = LONGEST_COMM, .command_line = LONGEST_COMMAND, .uid = 1000, .parent_pid = 100,
	       .start_ns = 9, .is_process = true) },
	{ .pid = 100 + SECOND_OWNER, .tid = 100 + SECOND_OWNER,
	  TASK(.comm = "second", .command_line = "", .start_ns = 10, .real_tid = 100,
	       .parent_pid = 1, .is_process = true) },
	{ .pid = 100 + SECOND_OWNER, .tid = (1u << 22) - 1 + LAST_OWNER,
	  TASK(.comm = "last", .command_line = "", .start_ns = 11, .real_tid = (1u << 22) - 1) },

	/* ---- the schedule ---- */
	{ .ts_ns = 1000010, .cpu = 0,
	  SWITCH(.next_tid = 100, .prev_prio = IDLE, .next_prio = 120, .out_state = FXT_STATE_RUNNING,
		 .synthetic = true) },
	{ .ts_ns = 1000010, .cpu = 3,
	  SWITCH(.prev_prio = IDLE, .next_prio = IDLE, .out_state = FXT_STATE_RUNNING,
		 .synthetic = true) },
	{ .ts_ns = 1000020, .cpu = 0, .tid = 100,
	  SWITCH(.next_tid = 101, .prev_prio = 120, .next_prio = -1,
		 .out_state = FXT_STATE_BLOCKED) },
	{ .ts_ns = 1000030, .cpu = 0, .tid = 101,
	  SWITCH(.next_tid = 102, .prev_prio = -1, .next_prio = 0, .out_state = FXT_STATE_BLOCKED,
		 .state = 'D') },
	{ .ts_ns = 1000040, .cpu = 0, .tid = 102,
	  SWITCH(.next_tid = 103, .prev_prio = 0, .next_prio = 139,
		 .out_state = FXT_STATE_SUSPENDED, .state = 't') },
	{ .ts_ns = 1000050, .cpu = 0, .tid = 103,
	  SWITCH(.next_tid = 103 + LAST_OWNER, .prev_prio = 139, .next_prio = 99,
		 .out_state = FXT_STATE_RUNNING) },
	{ .ts_ns = 1000060, .cpu = 0, .tid = 103 + LAST_OWNER,
	  SWITCH(.next_tid = FXT_KOID_OTHER, .prev_prio = 99, .next_prio = 120,
		 .out_state = FXT_STATE_DEAD, .state = 'X') },
	{ .ts_ns = 1000070, .cpu = 65535, .tid = FXT_KOID_OTHER,
	  SWITCH(.prev_prio = 120, .next_prio = IDLE, .out_state = FXT_STATE_RUNNING) },
	{ .ts_ns = 1000080, .cpu = 0, .tid = 100, WAKE(.waker_tid = 101, .prio = 120) },
	{ .ts_ns = 1000081, .cpu = 1, .tid = 101, WAKE(.prio = -1) },
	{ .ts_ns = 1000082, .cpu = 65535, .tid = UINT32_MAX, WAKE(.waker_tid = UINT32_MAX) },
	{ .kind = EVENT_MIGRATE, .ts_ns = 1000090, .pid = 100, .tid = 101,
	  .migrate = { .from_cpu = 0, .to_cpu = 1 } },
	{ .kind = EVENT_MIGRATE, .ts_ns = 1000091, .pid = FXT_KOID_KTHREADD, .tid = 12,
	  .migrate = { .from_cpu = UINT32_MAX, .to_cpu = 0 } },

	/* ---- lives ---- */
	{ .kind = EVENT_FORK, .ts_ns = 1000100, .pid = 100, .tid = 101,
	  .fork = { .child_pid = 104, .child_tid = 104 } },
	{ .kind = EVENT_FORK, .ts_ns = 1000101, .pid = 100, .tid = 101,
	  .fork = { .child_pid = 100, .child_tid = 105 + SECOND_OWNER } },
	{ .ts_ns = 1000110, .pid = 104, .tid = 104,
	  EXEC(.file = "/bin/true", .command_line = "true") },
	{ .ts_ns = 1000111, .pid = 104, .tid = 104, EXEC(.file = "", .command_line = "") },
	{ .ts_ns = 1000112, .pid = 104, .tid = 104,
	  EXEC(.file = LONGEST_FILE, .command_line = LONGEST_COMMAND, .old_tid = 106) },
	{ .ts_ns = 1000120, .pid = 104, .tid = 104,
	  RENAME(.from = WIDE, .to = LONGEST_COMM) },
	{ .ts_ns = 1000121, .pid = 104, .tid = 104, RENAME(.from = "", .to = "") },
	{ .ts_ns = 1000130, .pid = 104, .tid = 104, EXIT(.code = 255, .process_ends = true) },
	{ .ts_ns = 1000131, .pid = 100, .tid = 101, EXIT(.signal = 64) },

	/* ---- losses ---- */
	{ .ts_ns = 1000140, KYMO_CPU(0),
	  LOST(.class_name = "sched", .count = 1, .first_ns = 1000140, .last_ns = 1000140) },
	{ .ts_ns = 1000150, KYMO_CPU(0),
	  LOST(.class_name = "sched", .count = UINT32_MAX, .first_ns = 1000150,
	       .last_ns = UINT64_MAX) },
	{ .ts_ns = 1000160, KYMO_CPU(EVENT_SET_CPUS - 1),
	  LOST(.class_name = "lifecycle", .count = 3, .first_ns = 0, .last_ns = 1000161) },

	{ .ts_ns = 1000162, KYMO_CPU(1),
	  LOST(.class_name = "irq", .count = 1, .first_ns = 1000162, .last_ns = 1000163) },
	{ .ts_ns = 1000162, KYMO_CPU(1),
	  LOST(.class_name = "softirq", .count = 1, .first_ns = 1000162, .last_ns = 1000163) },
	{ .ts_ns = 1000162, KYMO_CPU(1),
	  LOST(.class_name = "workqueue", .count = 1, .first_ns = 1000162, .last_ns = 1000163) },
	{ .ts_ns = 1000162, KYMO_CPU(1),
	  LOST(.class_name = "idle", .count = 1, .first_ns = 1000162, .last_ns = 1000163) },
	{ .ts_ns = 1000162, KYMO_CPU(1),
	  LOST(.class_name = "frequency", .count = 1, .first_ns = 1000162, .last_ns = 1000163) },

	/* ---- what CPUs do ---- */
	{ .ts_ns = 1000164, TRACK(IRQ, 0),
	  INTERVAL(.kind = INTERVAL_IRQ, .name = "virtio0-req.0", .end_ns = 1000165, .number = 24,
		   .handled = true) },
	{ .ts_ns = 1000164, TRACK(IRQ, EVENT_SET_CPUS - 1),
	  INTERVAL(.kind = INTERVAL_IRQ, .name = "a handler whose name is longest",
		   .end_ns = UINT64_MAX, .number = INT32_MAX) },
	{ .ts_ns = 1000164, TRACK(SOFTIRQ, 1),
	  INTERVAL(.kind = INTERVAL_SOFTIRQ, .name = "HI", .end_ns = 1000164) },
	{ .ts_ns = 1000164, TRACK(SOFTIRQ, 1),
	  INTERVAL(.kind = INTERVAL_SOFTIRQ, .name = "RCU", .end_ns = 1000167) },
	{ .ts_ns = 1000165, TRACK(SOFTIRQ, 1),
	  INTERVAL(.kind = INTERVAL_WORK, .name = "of_a_softirq", .end_ns = 1000166) },
	{ .ts_ns = 1000165, .pid = FXT_KOID_KTHREADD, .tid = 12,
	  INTERVAL(.kind = INTERVAL_WORK, .name = "work_fn [module]", .end_ns = 1000166) },
	{ .ts_ns = 0, TRACK(POWER, 2),
	  INTERVAL(.kind = INTERVAL_IDLE, .name = "C1E " WIDE, .end_ns = 1000166, .number = 3) },

	/* ---- counters ---- */
	{ .ts_ns = 1000168, .pid = FXT_KOID_POWER, .tid = FXT_KOID_POWER,
	  COUNTER(.category = "power", .name = "CPU frequency", .id = 3, .values = frequency,
		  .n_values = ARRAY_SIZE(frequency)) },
	{ .ts_ns = 1000168, .pid = FXT_KOID_COUNTERS, .tid = FXT_KOID_COUNTERS,
	  COUNTER(.category = "counters", .name = "load", .values = load,
		  .n_values = ARRAY_SIZE(load)) },
	{ .ts_ns = 1000168, .pid = FXT_KOID_COUNTERS, .tid = FXT_KOID_COUNTERS,
	  COUNTER(.category = "counters", .name = "of another time", .id = UINT64_MAX,
		  .values = most, .n_values = ARRAY_SIZE(most)) },

	/* ---- ourselves ---- */
	{ .kind = EVENT_MARK, .ts_ns = 1000170, KYMO, .mark = { .text = "here: " WIDE } },
	{ .kind = EVENT_SHED,
	  .ts_ns = 1000171,
	  KYMO,
	  .shed = { .what = "stacks", .cost_ppm = UINT64_MAX, .limit_ppm = 50000 } },
	{ .kind = EVENT_SHED,
	  .ts_ns = 1000171,
	  KYMO,
	  .shed = { .what = "stacks",
		    .cost_ppm = 1,
		    .limit_ppm = 100000,
		    .n_cpus = 2,
		    .back = true } },
	{ .kind = EVENT_TRIGGER,
	  .ts_ns = 1000172,
	  KYMO,
	  .trigger = { .what = "wakeup", .value = UINT64_MAX, .limit = 1000, .count = 4294967297,
		       .thread = 101 } },
	{ .kind = EVENT_TRIGGER, .ts_ns = 1000173, KYMO,
	  .trigger = { .what = "pressure_memory", .value = 500000, .limit = 100000, .count = 1 } },
	{ .kind = EVENT_DAMAGE,
	  .ts_ns = 1000180,
	  KYMO,
	  .damage = { .offset = UINT64_MAX, .bytes = 8, .what = "broken " WIDE } },

	/* ---- the profiler ---- */
	{ .kind = EVENT_SAMPLING,
	  .ts_ns = 1000181,
	  KYMO,
	  .sampling = { .frequency = 99, .clock = "cpu-clock", .threshold_ns = 1000000 } },
	{ .kind = EVENT_MAPPING,
	  .ts_ns = 1000182,
	  .pid = FXT_KOID_KTHREADD,
	  .tid = FXT_KOID_KTHREADD,
	  .mapping = { .path = "[kernel.kallsyms]",
		       .build_id = build_id,
		       .build_id_size = sizeof(build_id),
		       .start = 0xffffffff81000000,
		       .size = 0x1000000 } },
	{ .kind = EVENT_MAPPING,
	  .ts_ns = 1000183,
	  .pid = 100,
	  .tid = 100,
	  .mapping = { .path = "/usr/bin/" WIDE LONGEST_FILE,
		       .module_id = 1,
		       .start = 0x401000,
		       .size = 0x1000,
		       .file_offset = 0x1000,
		       .device = 8 << 20 | 1,
		       .inode = UINT64_MAX } },
	{ .kind = EVENT_MAPPING, .ts_ns = 1000184, .pid = 100, .tid = 100,
	  .mapping = { .path = "", .module_id = 65535, .size = UINT64_MAX } },
	{ .kind = EVENT_FRAME,
	  .ts_ns = 1000185,
	  KYMO,
	  .frame = { .process = 100,
		     .address = 0x401010,
		     .function = "inner<" WIDE ">",
		     .source = LONGEST_FILE,
		     .module = "/usr/bin/" WIDE,
		     .line = UINT32_MAX } },
	{ .kind = EVENT_FRAME, .ts_ns = 1000185, KYMO,
	  .frame = { .process = 100, .address = 0x401010, .depth = 1, .function = "main",
		     .source = "", .module = "" } },
	{ .kind = EVENT_FRAME, .ts_ns = 1000185, KYMO,
	  .frame = { .process = FXT_KOID_KTHREADD, .address = 0xffffffff81000010,
		     .function = "", .source = "", .module = "" } },
	{ .kind = EVENT_SAMPLE, .ts_ns = 1000186, .pid = 100, .tid = 101,
	  .sample = { .frames = stack, .n_frames = ARRAY_SIZE(stack) } },
	{ .kind = EVENT_SAMPLE, .ts_ns = 1000187, .pid = 100, .tid = 100,
	  .sample = { .frames = longest_stack, .n_frames = FXT_BACKTRACE_MAX } },
	{ .kind = EVENT_SAMPLE, .ts_ns = 1000188, .pid = 0, .tid = 0,
	  .sample = { .frames = stack } },
	{ .kind = EVENT_OFFCPU, .ts_ns = 1000010, .pid = 100, .tid = 101,
	  .offcpu = { .end_ns = 1000189, .waker_tid = 100, .state = 'S' } },
	{ .kind = EVENT_SAMPLE, .ts_ns = 1000010, .pid = 100, .tid = 101,
	  .sample = { .frames = stack, .n_frames = 2, .kind = SAMPLE_OFF_CPU } },
	{ .kind = EVENT_SAMPLE, .ts_ns = 1000010, .pid = 100, .tid = 100,
	  .sample = { .frames = stack, .n_frames = 1 } },
	{ .kind = EVENT_OFFCPU, .ts_ns = 1000190, .pid = 100, .tid = 101,
	  .offcpu = { .end_ns = 1000190 } },
	{ .kind = EVENT_SAMPLE, .ts_ns = 1000191, .pid = 100, .tid = 101,
	  .sample = { .frames = stack, .n_frames = 1 } },

	/* ---- calls ---- */
	{ .kind = EVENT_CALL, .ts_ns = 1000191, .pid = 100, .tid = 101,
	  .call = { .function = "open_" WIDE, .end_ns = 1000191, .args = call_args,
		    .n_args = ARRAY_SIZE(call_args), .return_address = UINT64_MAX,
		    .stack = UINT64_MAX,
		    .result = { .name = "", .form = CALL_VALUE_TEXT, .text = "ENOENT" },
		    .left_by = "" } },
	{ .kind = EVENT_CALL, .ts_ns = 1000191, .pid = 100, .tid = 101,
	  .call = { .function = "f", .end_ns = 1000192, .result = { .name = "" },
		    .left_by = "unwound" } },
	{ .kind = EVENT_LEFT_OUT, .ts_ns = 1000192, KYMO,
	  .left_out = { .function = "open_" WIDE, .count = UINT64_MAX } },

	/* ---- moments ---- */
	{ .kind = EVENT_MOMENT_POINT, .ts_ns = 1000192, KYMO,
	  .moment_point = { .number = UINT32_MAX, .plan = "point\t" WIDE "\t\tfile\tf" } },
	{ .kind = EVENT_MOMENT, .ts_ns = 1000192, .pid = 100, .tid = 101, .cpu = 1,
	  .moment = { .name = "point " WIDE, .point = UINT32_MAX, .hit = UINT64_MAX,
		      .stack = UINT64_MAX, .data = moment, .n_bytes = sizeof(moment) } },

	/* ---- what programs allocate ---- */
	{ .kind = EVENT_WATCH_BEGIN, .ts_ns = 1000192, .pid = 100, .tid = 100,
	  .watch = { .resources = "memory,fd", .allocators = "libc.so.6: malloc free " WIDE,
		     .complete = true, .interval = UINT64_MAX, .min_bytes = 16,
		     .unwatched = "s: stripped " WIDE } },
	{ .kind = EVENT_SAMPLE, .ts_ns = 1000193, .pid = 100, .tid = 100,
	  .sample = { .frames = stack, .n_frames = ARRAY_SIZE(stack), .kind = SAMPLE_NAMED,
		      .id = UINT64_MAX } },
	{ .kind = EVENT_CONTEXT, .ts_ns = 1000194, KYMO,
	  .context = { .name = "load " WIDE, .id = 1u << 31, .begin = true } },
	{ .kind = EVENT_ALLOC, .ts_ns = 1000195, .pid = 100, .tid = 101,
	  .block = { .resource = RESOURCE_MEMORY, .id = UINT64_MAX, .size = UINT64_MAX,
		     .stack = UINT64_MAX, .context = 1u << 31, .function = "malloc", .text = "" } },
	{ .kind = EVENT_ALLOC, .ts_ns = 1000195, .pid = 100, .tid = 101,
	  .block = { .resource = RESOURCE_THREAD, .id = 1, .function = "", .text = "" } },
	{ .kind = EVENT_FREE, .ts_ns = 1000196, .pid = 100, .tid = 101,
	  .block = { .resource = RESOURCE_FD, .id = 3, .function = "close", .text = "" } },
	{ .kind = EVENT_USAGE, .ts_ns = 1000197, .pid = 100, .tid = 100,
	  .usage = { .resource = RESOURCE_SEGMENT, .stack = 7, .blocks = 1, .bytes = 4096,
		     .allocations = UINT64_MAX, .allocated_bytes = UINT64_MAX } },
	{ .kind = EVENT_SNAPSHOT, .ts_ns = 1000198, .pid = 100, .tid = 100,
	  .snapshot = { .blocks = 4, .sequence = UINT32_MAX, .final = true } },
	{ .kind = EVENT_BLOCK, .ts_ns = 1000198, .pid = 100, .tid = 100,
	  .block = { .resource = RESOURCE_MAPPING, .id = 0x7f0000000000, .size = 4096, .stack = 7,
		     .since_ns = 1000195, .thread = 101, .context = 1, .reach = REACH_LOST,
		     .function = "mmap", .text = "/tmp/" WIDE } },
	{ .kind = EVENT_BLOCK, .ts_ns = 1000198, .pid = 100, .tid = 100,
	  .block = { .resource = RESOURCE_ATTACHMENT, .id = 1, .reach = REACH_POSSIBLE,
		     .function = "", .text = "" } },
	{ .kind = EVENT_BLOCK, .ts_ns = 1000198, .pid = 100, .tid = 100,
	  .block = { .resource = RESOURCE_SHM, .id = 1, .reach = REACH_REACHABLE,
		     .function = "", .text = "" } },
	{ .kind = EVENT_BLOCK, .ts_ns = 1000198, .pid = 100, .tid = 100,
	  .block = { .resource = RESOURCE_MEMORY, .id = 2, .reach = REACH_EPOLL,
		     .function = "", .text = "" } },
	{ .kind = EVENT_BLOCK, .ts_ns = 1000198, .pid = 100, .tid = 100,
	  .block = { .resource = RESOURCE_MEMORY, .id = 3, .reach = REACH_TAGGED,
		     .function = "", .text = "" } },
	{ .kind = EVENT_BLOCK, .ts_ns = 1000198, .pid = 100, .tid = 100,
	  .block = { .resource = RESOURCE_MEMORY, .function = "", .text = "" } },
	{ .kind = EVENT_WATCH_END, .ts_ns = 1000199, .pid = 100, .tid = 100,
	  .watched = { .reason = "stop", .unmatched = 1, .failed = 2, .lost = UINT64_MAX,
		       .full = 4, .no_stack = 5, .gap = "a gap " WIDE } },
	{ .kind = EVENT_MARK, .ts_ns = UINT64_MAX, KYMO, .mark = { .text = "" } },
	{ .kind = EVENT_STACKS, .ts_ns = 1000200, KYMO,
	  .stacks = { .walks = { 1000, 2, 3, 4, 5, 6, 7, 8 },
		      .tables = { 9, 10, 11, 123456789 } } },
	{
		.kind = EVENT_STOP,
		.ts_ns = 1000200,
		KYMO,
		.stop = {
			.reason = "requested",
			.events = UINT64_MAX,
			.bytes = 12345678901234,
			.lost = 4294967299,
			.dismissed = 17,
			.unreported = 2,
			.daemon_cpu_ns = 250000000,
			.bpf_cpu_ns = 125000000,
		},
	},
};

const struct event *event_set(size_t *ret_n)
{
	*ret_n = ARRAY_SIZE(set);
	return set;
}
