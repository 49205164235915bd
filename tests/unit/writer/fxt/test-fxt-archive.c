/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * docs/FXT-MAPPING.md specifies the records of each event; the lines here are its rows. The reader
 * reads them back (tests/support/fixtures/archive-text.h), so the two are held to each other.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/support/fixtures/archive-fixture.h"
#include "tests/support/fixtures/archive-text.h"
#include "tests/support/fixtures/event-set.h"
#include "tests/support/unit.h"

/* The thread of events about mapped code, named before its first event. */
#define CODE "process 4915200 'Code'\nthread 4915200 'Code' process:koid=4915200\n"

#define HEAD "magic\nprovider 1 'kymo'\nsection 1\nticks 1000000000\n"

static void assert_text(struct fixture *f, const char *want)
{
	_cleanup_free_ char *text = archive_text(&f->out);

	assert_string_equal(text, want);
}

/* ---- one row per kind ---- */

#define AT(n) .ts_ns = (n), .pid = 10, .tid = 11

static const struct event_value khz[] = { { "kHz", true, { .u64 = 7 } } };
static const struct event_value load[] = {
	{ "1 minute", false, { .f64 = 0.25 } },
	{ "runnable", true, { .u64 = 2 } },
};

static const struct {
	struct event ev;
	const char *text;
} rows[] = {
	{ { .kind = EVENT_SWITCH,
	    .ts_ns = 5,
	    .cpu = 2,
	    .tid = 0,
	    .sw = { .next_tid = 11,
		    .prev_prio = INT32_MIN,
		    .next_prio = 120,
		    .out_state = FXT_STATE_RUNNING,
		    .synthetic = true } },
	  "5 switch cpu 2 0>11 state 1 outgoing_weight:int32=-2147483648 "
	  "incoming_weight:int32=120 synthetic:bool=true\n" },
	{ { .kind = EVENT_SWITCH,
	    .ts_ns = 5,
	    .cpu = 2,
	    .tid = 11,
	    .sw = { .prev_prio = -1,
		    .next_prio = INT32_MIN,
		    .out_state = FXT_STATE_BLOCKED,
		    .synthetic = true } },
	  "5 switch cpu 2 11>0 state 3 outgoing_weight:int32=-1 "
	  "incoming_weight:int32=-2147483648 synthetic:bool=true\n" },
	{ { .kind = EVENT_TASK,
	    .pid = 10,
	    .tid = 10,
	    .task = { .comm = "sh",
		      .command_line = "sh -c x",
		      .start_ns = 7,
		      .cgroup_id = 8,
		      .cgroup_path = "/a.slice",
		      .parent_pid = 1,
		      .uid = 1000,
		      .real_tid = 9,
		      .is_process = true } },
	  "process 10 'sh' parent:koid=1 uid:uint32=1000 start_time:uint64=7 "
	  "command_line:string='sh -c x' cgroup:uint64=8 cgroup_path:string='/a.slice' "
	  "real_id:uint32=9\n"
	  "thread 10 'sh' process:koid=10 start_time:uint64=7 real_id:uint32=9\n" },
	{ { .kind = EVENT_TASK,
	    .pid = 10,
	    .tid = 10,
	    .task = { .comm = "?", .command_line = "", .is_process = true } },
	  "process 10 '?' uid:uint32=0\nthread 10 '?' process:koid=10\n" },
	{ { .kind = EVENT_TASK,
	    .pid = 10,
	    .tid = 11,
	    .task = { .comm = "t",
		      .command_line = "not said of threads",
		      .uid = 1000,
		      .start_ns = 7,
		      .parent_pid = 1,
		      .cgroup_id = 8 } },
	  "thread 11 't' process:koid=10 start_time:uint64=7\n" },
	{ { .kind = EVENT_FORK, AT(5), .fork = { .child_pid = 20, .child_tid = 21 } },
	  "5 instant process/fork of 10/11 child_process:koid=20 child_thread:koid=21\n" },
	{ { .kind = EVENT_EXEC, AT(5), .exec = { .file = "/bin/x", .command_line = "x y" } },
	  "5 instant process/exec of 10/11 file:string='/bin/x' command_line:string='x y'\n" },
	{ { .kind = EVENT_EXEC, AT(5), .exec = { .file = "", .command_line = "", .old_tid = 12 } },
	  "5 instant process/exec of 10/11 file:string='' command_line:string='' "
	  "old_thread:koid=12\n" },
	{ { .kind = EVENT_EXIT, AT(5), .exit = { .code = 3, .process_ends = true } },
	  "5 instant process/exit of 10/11 exit_code:int32=3 signal:int32=0 "
	  "process_ends:bool=true\n" },
	{ { .kind = EVENT_EXIT, AT(5), .exit = { .signal = 9 } },
	  "5 instant process/exit of 10/11 exit_code:int32=0 signal:int32=9 "
	  "process_ends:bool=false\n" },
	{ { .kind = EVENT_RENAME, AT(5), .rename = { .from = "a", .to = "b" } },
	  "5 instant process/rename of 10/11 from:string='a' to:string='b'\n" },
	{ { .kind = EVENT_MARK, AT(5), .mark = { .text = "hi" } },
	  "5 instant kymo/mark of 4194304/4194304 text:string='hi'\n" },
	{ { .kind = EVENT_SHED, AT(5), .shed = { "wakeups", NULL, 60000, 50000 } },
	  "5 instant kymo/shed of 4194304/4194304 class:string='wakeups' value:uint64=60000 "
	  "limit:uint64=50000\n" },
	{ { .kind = EVENT_SHED, AT(5), .shed = { "session", "s", 1000, 50000, 4, true } },
	  "5 instant kymo/returned of 4194304/4194304 class:string='session' value:uint64=1000 "
	  "limit:uint64=50000 cpus:uint32=4 session:string='s'\n" },
	{ { .kind = EVENT_TRIGGER, AT(5), .trigger = { "offcpu", 7, 6, 2, 11 } },
	  "5 instant kymo/trigger of 4194304/4194304 reason:string='offcpu' value:uint64=7 "
	  "limit:uint64=6 count:uint64=2 thread:koid=11\n" },
	{ { .kind = EVENT_TRIGGER, AT(5), .trigger = { "pressure_cpu", 7, 6, 1, 0 } },
	  "5 instant kymo/trigger of 4194304/4194304 reason:string='pressure_cpu' "
	  "value:uint64=7 limit:uint64=6 count:uint64=1\n" },
	{ { .kind = EVENT_DAMAGE, AT(5), .damage = { .offset = 16, .bytes = 8, .what = "zeros" } },
	  "5 instant kymo/damage of 4194304/4194304 offset:uint64=16 bytes:uint64=8 "
	  "reason:string='zeros'\n" },
	{ { .kind = EVENT_PART, AT(5), .part = { .what = "state", .id = 7, .first_ns = 5 } },
	  "5 instant kymo/part of 4194304/4194304 class:string='state' id:uint64=7 "
	  "first:uint64=5\n" },
	{ { .kind = EVENT_SAMPLING, AT(5), .sampling = { 99, "cycles", 1000 } },
	  "5 instant profile/sampling of 4194304/4194304 frequency:uint32=99 "
	  "clock:string='cycles' threshold:uint64=1000\n" },
	{ { .kind = EVENT_MAPPING,
	    AT(5),
	    .mapping = { .path = "/bin/x",
			 .build_id = (const uint8_t[]){ 1, 0xab },
			 .build_id_size = 2,
			 .start = 0x1000,
			 .size = 16,
			 .file_offset = 32,
			 .module_id = 3,
			 .device = 4,
			 .inode = 5 } },
	  CODE
	  "5 instant profile/mapping of 4915200/4915200 process:koid=10 path:string='/bin/x' file_offset:uint64=32 "
	  "start:pointer=0x1000 size:uint64=16 module_id:uint32=3 device:uint64=4 inode:uint64=5 "
	  "build_id:string='01ab'\n"
	  "5 module 3 of 10/10 '/bin/x' build id of 2 bytes\n"
	  "5 mmap of module 3 of 10/10 0x1000+16 vaddr 32 flags 5\n" },
	{ { .kind = EVENT_MAPPING, AT(5), .mapping = { .path = "/a", .start = 1, .size = 2 } },
	  CODE
	  "5 instant profile/mapping of 4915200/4915200 process:koid=10 path:string='/a' file_offset:uint64=0 "
	  "start:pointer=0x1 size:uint64=2 module_id:uint32=0\n"
	  "5 module 0 of 10/10 '/a' build id of 0 bytes\n"
	  "5 mmap of module 0 of 10/10 0x1+2 vaddr 0 flags 5\n" },
	{ { .kind = EVENT_SAMPLE,
	    AT(5),
	    .sample = { .frames = (const uint64_t[]){ 1, 2 }, .n_frames = 2 } },
	  "5 backtrace of 10/11 0x1 0x2\n" },
	{ { .kind = EVENT_SAMPLE, AT(5), .sample = { .n_frames = 0 } }, "5 backtrace of 10/11\n" },
	{ { .kind = EVENT_SAMPLE,
	    AT(5),
	    .sample = { .frames = (const uint64_t[]){ 1 },
			.n_frames = 1,
			.kind = SAMPLE_NAMED,
			.id = 7 } },
	  "5 instant memory/stack of 10/10 id:uint64=7\n"
	  "5 backtrace of 10/10 0x1\n" },
	{ { .kind = EVENT_OFFCPU,
	    AT(5),
	    .offcpu = { .end_ns = 9,
			.waker_tid = 12,
			.state = 'D',
			.woken_ns = 8,
			.syscall = "read",
			.fd = 0 } },
	  "5 complete profile/offcpu of 10/11 to 9 waker:koid=12 state:string='D' "
	  "woken:uint64=8 syscall:string='read' fd:int32=0\n" },
	{ { .kind = EVENT_OFFCPU, AT(5), .offcpu = { .end_ns = 5, .fd = -1 } },
	  "5 complete profile/offcpu of 10/11 to 5\n" },
	{ { .kind = EVENT_FRAME,
	    AT(5),
	    .frame = { .process = 10,
		       .address = 0x20,
		       .depth = 1,
		       .function = "f",
		       .source = "s.c",
		       .line = 7,
		       .module = "m" } },
	  CODE "5 instant profile/frame of 4915200/4915200 process:koid=10 address:pointer=0x20 "
	       "depth:uint32=1 function:string='f' source:string='s.c' line:uint32=7 "
	       "module:string='m'\n" },
	{ { .kind = EVENT_FRAME,
	    AT(5),
	    .frame = { .process = 10, .function = "", .source = "", .module = "" } },
	  CODE "5 instant profile/frame of 4915200/4915200 process:koid=10 address:pointer=0 "
	       "depth:uint32=0\n" },
	{ { .kind = EVENT_CLOCK, AT(5), .clock = { .boot_ns = 1, .mono_ns = 2, .real_ns = 3 } },
	  "5 instant kymo/clock of 4194304/4194304 boottime:uint64=1 monotonic:uint64=2 "
	  "realtime:uint64=3\n" },
	{ { .kind = EVENT_LOST,
	    AT(5),
	    .cpu = 2,
	    .lost = { .class_name = "sched", .count = 3, .first_ns = 5, .last_ns = 6 } },
	  "provider event 0\n"
	  "5 instant kymo/lost of 4194304/4194307 class:string='sched' cpu:uint32=2 "
	  "count:uint64=3 first:uint64=5 last:uint64=6\n"
	  "5 counter kymo/lost of 4194304/4194304 id 2 sched:uint64=3\n" },
	{ { .kind = EVENT_INTERVAL,
	    .ts_ns = 5,
	    .cpu = 2,
	    .interval = { INTERVAL_IRQ, "eth0-rx", .end_ns = 9, .number = 36, .handled = true } },
	  "process 4390912 'IRQ'\nthread 4390915 'irq cpu 2' process:koid=4390912\n"
	  "5 complete irq/eth0-rx of 4390912/4390915 to 9 irq:int32=36 handled:bool=true\n" },
	{ { .kind = EVENT_INTERVAL,
	    .ts_ns = 5,
	    .cpu = 0,
	    .interval = { INTERVAL_SOFTIRQ, "NET_RX", .end_ns = 5 } },
	  "process 4521984 'Softirq'\nthread 4521985 'softirq cpu 0' process:koid=4521984\n"
	  "5 complete softirq/NET_RX of 4521984/4521985 to 5\n" },
	{ { .kind = EVENT_INTERVAL,
	    .ts_ns = 5,
	    .cpu = 1,
	    .interval = { INTERVAL_IDLE, "C6", .end_ns = 9, .number = 3 } },
	  "process 4653056 'Power'\nthread 4653058 'idle cpu 1' process:koid=4653056\n"
	  "5 complete power/C6 of 4653056/4653058 to 9 state:uint32=3\n" },
	{ { .kind = EVENT_INTERVAL,
	    AT(5),
	    .cpu = 1,
	    .interval = { INTERVAL_WORK, "f", .end_ns = 9 } },
	  "5 complete workqueue/f of 10/11 to 9\n" },
	{ { .kind = EVENT_COUNTER,
	    .ts_ns = 5,
	    .counter = { "power", "CPU frequency", 3, khz, ARRAY_SIZE(khz) } },
	  "process 4653056 'Power'\nthread 4653056 'Power' process:koid=4653056\n"
	  "5 counter power/CPU frequency of 4653056/4653056 id 3 kHz:uint64=7\n" },
	{ { .kind = EVENT_COUNTER,
	    .ts_ns = 5,
	    .counter = { "counters", "load", 0, load, ARRAY_SIZE(load) } },
	  "process 4784128 'Counters'\nthread 4784128 'Counters' process:koid=4784128\n"
	  "5 counter counters/load of 4784128/4784128 id 0 1 minute:double=0.25 "
	  "runnable:uint64=2\n" },
	{ { .kind = EVENT_STOP,
	    AT(5),
	    .stop = { .reason = "duration",
		      .events = 1,
		      .lost = 2,
		      .dismissed = 3,
		      .unreported = 4,
		      .bytes = 5,
		      .daemon_cpu_ns = 6,
		      .bpf_cpu_ns = 7 } },
	  "5 instant kymo/session_stop of 4194304/4194304 reason:string='duration' "
	  "events:uint64=1 lost:uint64=2 dismissed:uint64=3 unreported:uint64=4 "
	  "bytes:uint64=5 daemon_cpu:uint64=6 bpf_cpu:uint64=7\n" },
	{ { .kind = EVENT_STOP,
	    AT(5),
	    .stop = { .reason = "snapshot", .session = "s", .dropped_bytes = 8 } },
	  "5 instant kymo/session_stop of 4194304/4194304 reason:string='snapshot' "
	  "events:uint64=0 lost:uint64=0 dismissed:uint64=0 unreported:uint64=0 "
	  "bytes:uint64=0 daemon_cpu:uint64=0 bpf_cpu:uint64=0 full:uint64=8 session:string='s'\n" },
};

TEST(test_event)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *want = NULL;

		archive_tear_down(state);
		assert_int_equal(archive_set_up(state), 0);
		f = *state;
		archive_write(f, &rows[i].ev, 1);
		assert_true(asprintf(&want, HEAD "%s", rows[i].text) > 0);
		assert_text(f, want);
	}
}

#define OWN_OBJECTS                                                                                \
	"blob 3 'perfetto' 29 bytes\n"                                                             \
	"process 4194304 'kymo'\n"                                                                 \
	"thread 4194304 'kymo' process:koid=4194304\n"                                             \
	"thread 4194305 'cpu 0' process:koid=4194304\n"                                            \
	"thread 4194306 'cpu 1' process:koid=4194304\n"                                            \
	"thread 4194307 'cpu 2' process:koid=4194304\n"                                            \
	"thread 4194308 'cpu 3' process:koid=4194304\n"

#define SESSION_START                                                                              \
	"5 instant kymo/session_start of 4194304/4194304 session:string='s' command:string='c' "   \
	"options:string='o' kernel:string='6.1.0' machine:string='x86_64' host:string='h' "        \
	"version:string='v' cpus:uint32=4 "

TEST(test_event_start)
{
	const struct event ev = START_EVENT(false);

	archive_write(*state, &ev, 1);
	assert_text(*state, HEAD OWN_OBJECTS SESSION_START "filtered:bool=false\n");
}

TEST(test_event_start_filtered)
{
	const struct event ev = START_EVENT(true);

	archive_write(*state, &ev, 1);
	assert_text(*state, HEAD OWN_OBJECTS
		    "process 4325376 'other'\n"
		    "thread 4325376 'other cpu 0' process:koid=4325376\n"
		    "thread 4325377 'other cpu 1' process:koid=4325376\n"
		    "thread 4325378 'other cpu 2' process:koid=4325376\n"
		    "thread 4325379 'other cpu 3' process:koid=4325376\n" SESSION_START
		    "filtered:bool=true\n");
}

/* The counter holds the total of its CPU and class. */
TEST(test_event_lost_total)
{
	static const struct event events[] = {
		{ .kind = EVENT_LOST,
		  .ts_ns = 1,
		  .cpu = 1,
		  .lost = { "sched", .count = 3, .first_ns = 1, .last_ns = 2 } },
		{ .kind = EVENT_LOST,
		  .ts_ns = 3,
		  .cpu = 1,
		  .lost = { "lifecycle", .count = 10, .first_ns = 3, .last_ns = 4 } },
		{ .kind = EVENT_LOST,
		  .ts_ns = 5,
		  .cpu = 3,
		  .lost = { "sched", .count = 100, .first_ns = 5, .last_ns = 6 } },
		{ .kind = EVENT_LOST,
		  .ts_ns = 7,
		  .cpu = 1,
		  .lost = { "sched", .count = 4, .first_ns = 7, .last_ns = 8 } },
		{ .kind = EVENT_LOST,
		  .ts_ns = 9,
		  .cpu = 1,
		  .lost = { "lifecycle", .count = 1, .first_ns = 9, .last_ns = 9 } },
	};
	static const char *const counters[] = {
		"1 counter kymo/lost of 4194304/4194304 id 1 sched:uint64=3\n",
		"3 counter kymo/lost of 4194304/4194304 id 1 lifecycle:uint64=10\n",
		"5 counter kymo/lost of 4194304/4194304 id 3 sched:uint64=100\n",
		"7 counter kymo/lost of 4194304/4194304 id 1 sched:uint64=7\n",
		"9 counter kymo/lost of 4194304/4194304 id 1 lifecycle:uint64=11\n",
	};
	struct fixture *f = *state;
	_cleanup_free_ char *text = NULL;

	archive_write(f, events, ARRAY_SIZE(events));
	text = archive_text(&f->out);
	for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
		assert_non_null(strstr(text, counters[i]));
}

/* ---- events without a record ---- */

TEST(test_event_refused)
{
	static const struct event events[] = {
		{ .kind = 0 },
		{ .kind = EVENT_KIND_MAX },
		{ .kind = EVENT_KIND_MAX + 1 },
		{ .kind = EVENT_WAKE }, /* programs write these as words */
		{ .kind = EVENT_MIGRATE },
		{ .kind = EVENT_SWITCH, .sw = { .synthetic = false } },
		{ .kind = EVENT_SWITCH, .cpu = 65536, .sw = { .synthetic = true } },
		{ .kind = EVENT_LOST, .cpu = 0, .lost = { .class_name = "of none" } },
		{ .kind = EVENT_LOST, .cpu = 0, .lost = { .class_name = "" } },
		{ .kind = EVENT_LOST, .cpu = EVENT_SET_CPUS, .lost = { .class_name = "sched" } },
		{ .kind = EVENT_INTERVAL, .interval = { .kind = INTERVAL_KIND_MAX, .name = "x" } },
		{ .kind = EVENT_INTERVAL,
		  .cpu = EVENT_SET_CPUS,
		  .interval = { .kind = INTERVAL_IRQ, .name = "x" } },
		{ .kind = EVENT_COUNTER,
		  .counter = { "counters", "x", .n_values = FXT_ARGS_MAX + 1 } },
	};
	struct fixture *f = *state;
	size_t size = f->out.size;

	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		assert_int_equal(fxt_archive_event(&f->a, &events[i]), -EINVAL);
	assert_int_equal(f->out.size, size);
	assert_int_equal(f->out.error, 0);
}

TEST(test_profiler_refused)
{
	static const uint8_t build_id[FXT_BUILD_ID_BYTES_MAX + 1];
	static const struct event events[] = {
		{ .kind = EVENT_MAPPING, .mapping = { .path = "", .module_id = 65536 } },
		{ .kind = EVENT_MAPPING,
		  .mapping = { .path = "",
			       .build_id = build_id,
			       .build_id_size = sizeof(build_id) } },
		{ .kind = EVENT_OFFCPU, AT(5), .offcpu = { .end_ns = 4 } },
	};
	struct fixture *f = *state;
	size_t size = f->out.size;

	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		assert_int_equal(fxt_archive_event(&f->a, &events[i]), -EINVAL);
	assert_int_equal(f->out.size, size);
}

/* The name of a module is the end of its path, from a complete character on. */
TEST(test_mapping_long_path)
{
	char path[302];
	struct event ev = { .kind = EVENT_MAPPING, AT(5), .mapping = { .path = path } };
	_cleanup_free_ char *text = NULL;

	memset(path, 'x', sizeof(path));
	path[0] = '/';
	/* 254 bytes follow the euro sign; one byte of it would still fit */
	memcpy(path + 44, "\u20ac", 3);
	path[301] = '\0';
	archive_write(*state, &ev, 1);
	text = archive_text(&((struct fixture *)*state)->out);
	assert_non_null(strstr(text, path));
	path[46] = '\'';
	path[301] = '\0';
	assert_non_null(strstr(text, path + 46));
	assert_null(strchr(strstr(text, "5 module 0 of 10/10 "), 0xe2));
}

/* The outermost frames of a deep stack are cut off. */
TEST(test_sample_deep)
{
	uint64_t frames[FXT_BACKTRACE_MAX + 1];
	struct fixture *f = *state;
	struct event ev = { .kind = EVENT_SAMPLE, AT(5), .sample = { frames, ARRAY_SIZE(frames) } };
	_cleanup_free_ char *text = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(frames); i++)
		frames[i] = i + 1;
	archive_write(f, &ev, 1);
	text = archive_text(&f->out);
	assert_non_null(strstr(text, "5 backtrace of 10/11 0x1 0x2 "));
	assert_non_null(strstr(text, " 0xfe 0xff\n"));
}

static bool has_packets(struct fixture *f)
{
	_cleanup_free_ char *text = archive_text(&f->out);

	return strstr(text, "blob 3 'perfetto_samples'");
}

/* Perfetto's packets: every four seconds and at the end, and only if selected. */
TEST(test_perfetto_samples)
{
	static const uint64_t stack[] = { 1 };
	const struct event stop = { .kind = EVENT_STOP, .stop = { .reason = "" } };
	struct event sample = { .kind = EVENT_SAMPLE, AT(1000000000), .sample = { stack, 1 } };
	struct fixture *f = *state;

	archive_write(f, &sample, 1);
	sample.ts_ns = 4999999999;
	archive_write(f, &sample, 1);
	assert_false(has_packets(f));
	sample.ts_ns = 5000000000;
	archive_write(f, &sample, 1);
	assert_true(has_packets(f));

	archive_tear_down(state);
	assert_int_equal(archive_set_up(state), 0);
	f = *state;
	archive_write(f, &sample, 1);
	assert_false(has_packets(f));
	archive_write(f, &stop, 1);
	assert_true(has_packets(f));

	archive_tear_down(state);
	assert_int_equal(archive_set_up(state), 0);
	f = *state;
	fxt_archive_set_perfetto(&f->a, false);
	archive_write(f, &sample, 1);
	archive_write(f, &stop, 1);
	assert_false(has_packets(f));
}

TEST(test_event_too_long)
{
	struct fixture *f = *state;
	size_t size = f->out.size;
	_cleanup_free_ char *text = malloc(32002);
	struct event ev = { .kind = EVENT_MARK, .mark = { .text = text } };

	memset(text, 't', 32001);
	text[32001] = '\0';
	assert_int_equal(fxt_archive_event(&f->a, &ev), -EMSGSIZE);
	assert_int_equal(f->out.size, size);
	assert_int_equal(f->out.error, 0);
	ev.mark.text++;
	assert_int_equal(fxt_archive_event(&f->a, &ev), 0);
}

TEST(test_event_output_full)
{
	struct fixture *f = *state;
	_cleanup_(outbuf_deinit) struct outbuf small = { .limit = 100 };
	const struct event ev = START_EVENT(false);

	fxt_archive_set_output(&f->a, &small);
	assert_int_equal(fxt_archive_event(&f->a, &ev), -EMSGSIZE);
	assert_int_equal(small.error, -EMSGSIZE);
	assert_int_equal(fxt_archive_event(&f->a, &rows[0].ev), -EMSGSIZE);
	assert_int_equal(fxt_archive_words(&f->a, &(uint64_t){ 1 }, 1), -EMSGSIZE);
}

/* Strings and threads stay registered when the buffer is replaced. */
TEST(test_set_output)
{
	struct fixture *f = *state;
	_cleanup_(outbuf_deinit) struct outbuf second = { 0 };
	const struct event ev = { .kind = EVENT_TASK,
				  .pid = 10,
				  .tid = 11,
				  .task = { .comm = "name", .command_line = "" } };
	_cleanup_free_ char *text = NULL;

	archive_write(f, &ev, 1);
	fxt_archive_set_output(&f->a, &second);
	archive_write(f, &ev, 1);
	assert_int_equal(second.size, 8 * 4); /* no string record */
	assert_int_equal(outbuf_append(&f->out, second.data, second.size), 0);
	text = archive_text(&f->out);
	assert_string_equal(text, HEAD "thread 11 'name' process:koid=10\n"
				       "thread 11 'name' process:koid=10\n");
}

/* ---- pseudo-threads ---- */

/* A track is named once, and a process once for all its threads. */
TEST(test_track)
{
	struct fixture *f = *state;
	_cleanup_free_ char *text = NULL;

	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(fxt_archive_track(&f->a, FXT_TRACK_IRQ, i % 2), 0);
	assert_int_equal(fxt_archive_track(&f->a, FXT_TRACK_IRQ, EVENT_SET_CPUS), -EINVAL);
	assert_int_equal(fxt_archive_track(&f->a, FXT_TRACK_COUNTERS, EVENT_SET_CPUS), 0);
	text = archive_text(&f->out);
	assert_string_equal(text, HEAD "process 4390912 'IRQ'\n"
				       "thread 4390913 'irq cpu 0' process:koid=4390912\n"
				       "thread 4390914 'irq cpu 1' process:koid=4390912\n"
				       "process 4784128 'Counters'\n"
				       "thread 4784128 'Counters' process:koid=4784128\n");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, archive_set_up, archive_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_event),
		CASE(test_event_start),
		CASE(test_event_start_filtered),
		CASE(test_event_lost_total),
		CASE(test_event_refused),
		CASE(test_profiler_refused),
		CASE(test_mapping_long_path),
		CASE(test_sample_deep),
		CASE(test_perfetto_samples),
		CASE(test_event_too_long),
		CASE(test_event_output_full),
		CASE(test_set_output),
		CASE(test_track),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
