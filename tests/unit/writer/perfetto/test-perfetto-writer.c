/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Native Perfetto traces, read field by field: the packets for given events.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/protobuf.h"
#include "base/table.h"
#include "model/koids.h"
#include "tests/support/fixtures/protobuf-cursor.h"
#include "tests/support/unit.h"
#include "writer/perfetto/perfetto-heap.h"
#include "writer/perfetto/perfetto-writer.h"

/* ---- a reader of protobuf ---- */

/* The fields of bytes that are text, by the path to them. */
static bool is_text(const char *path)
{
	static const char *const texts[] = { "1.1.2.4.1", "1.1.2.4.5",  "1.1.4.5",   "1.2.1.3",
					     "1.2.2.2",   "1.1.2.36.2", "1.60.2",    "1.60.8.6",
					     "1.11.22",   "1.11.23",    "1.11.4.10", "1.11.4.6",
					     "1.45.1.1",  "1.45.1.3",   "1.45.1.4",  "1.12.26.2",
					     "1.39.1.6",  "1.39.1.8",   "1.37.5.11" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (strcmp(path, texts[i]) == 0)
			return true;
	return false;
}

/* Prints the fields of C as "3:7 5{1:2}", texts in quotes, packed numbers in brackets. */
static void put_message(FILE *f, struct cursor c, const char *path)
{
	const char *space = "";

	while (c.p < c.end) {
		uint64_t tag = get_varint(&c), n;
		struct cursor inner;
		char here[64];

		snprintf(here, sizeof(here), "%s%s%u", path, *path ? "." : "",
			 (unsigned)(tag >> 3));
		fprintf(f, "%s%u", space, (unsigned)(tag >> 3));
		space = *path ? " " : "\n";
		if ((tag & 7) == 0) {
			fprintf(f, ":%llu", (unsigned long long)get_varint(&c));
			continue;
		}
		if ((tag & 7) == 1) {
			uint64_t bits;
			double v;

			assert_true(c.end - c.p >= 8);
			memcpy(&bits, c.p, 8);
			memcpy(&v, c.p, 8);
			c.p += 8;
			if (bits < 1000)
				fprintf(f, ":%llu", (unsigned long long)bits);
			else
				fprintf(f, ":%g", v);
			continue;
		}
		assert_int_equal(tag & 7, 2);
		n = get_varint(&c);
		assert_true(n <= (size_t)(c.end - c.p));
		inner = (struct cursor){ c.p, c.p + n };
		c.p += n;
		if (is_text(here)) {
			fprintf(f, "'%.*s'", (int)n, (const char *)inner.p);
		} else if (strncmp(here, "1.1.4.", 6) == 0) {
			for (const char *s = "["; inner.p < inner.end; s = " ")
				fprintf(f, "%s%llu", s, (unsigned long long)get_varint(&inner));
			fputc(']', f);
		} else {
			fputc('{', f);
			put_message(f, inner, here);
			fputc('}', f);
		}
	}
}

/* Compares all packets of W with WANT, and empties it. */
static void assert_packets(struct perfetto_writer *w, const char *want)
{
	_cleanup_free_ char *text = NULL;
	struct outbuf *packets = perfetto_writer_packets(w);
	size_t size;
	FILE *f = open_memstream(&text, &size);

	put_message(f, (struct cursor){ packets->data, packets->data + packets->size }, "");
	fclose(f);
	assert_string_equal(text, want);
	outbuf_reset(packets);
}

static struct perfetto_writer *new_writer(void)
{
	struct perfetto_writer *w;

	assert_int_equal(perfetto_writer_new(&w), 0);
	return w;
}

static void add(struct perfetto_writer *w, const struct event *ev)
{
	assert_int_equal(perfetto_writer_add(w, ev), 0);
}

static void flush(struct perfetto_writer *w)
{
	assert_int_equal(perfetto_writer_flush(w), 0);
}

/* ---- tasks and the recording ---- */

static void add_task(struct perfetto_writer *w, uint64_t ts_ns, uint32_t pid, uint32_t tid,
		     const char *comm)
{
	const struct event ev = {
		.kind = EVENT_TASK,
		.ts_ns = ts_ns,
		.pid = pid,
		.tid = tid,
		.task = { .comm = comm, .command_line = "", .uid = EVENT_UID_UNKNOWN },
	};

	add(w, &ev);
}

TEST(test_process)
{
	_cleanup_(perfetto_writer_freep) struct perfetto_writer *w = new_writer();
	struct event ev = {
		.kind = EVENT_TASK,
		.ts_ns = 5,
		.pid = 10,
		.tid = 10,
		.task = { .comm = "sh",
			  .command_line = "/bin/sh -c true",
			  .start_ns = 3,
			  .parent_pid = 1,
			  .uid = 1000,
			  .is_process = true },
	};

	add(w, &ev);
	assert_packets(w, "1{8:5 10:2 2{1{1:10 2:1 3'/bin/sh' 3'-c true' 5:1000 7:3} "
			  "2{1:10 2'sh' 3:10}}}");
	/* Another parent does not make it another process. */
	ev.task.parent_pid = 7;
	ev.task.command_line = "true";
	ev.task.comm = "true";
	add(w, &ev);
	assert_packets(w, "1{8:5 10:2 2{1{1:10 2:1 3'true' 5:1000 7:3} 2{1:10 2'true' 3:10}}}");
	/* Without a command line, it has the name of its thread, and says so. In an archive, a
	 * process is without its thread, and has no time. */
	ev.ts_ns = 0;
	ev.pid = 11;
	ev.tid = 0;
	ev.task.command_line = "";
	ev.task.uid = EVENT_UID_UNKNOWN;
	ev.task.start_ns = 0;
	add(w, &ev);
	assert_packets(w, "1{8:5 10:2 2{1{1:11 2:7 3'true' 9:1}}}");
	/* A thread */
	add_task(w, 6, 10, 12, "t");
	assert_packets(w, "1{8:6 10:2 2{2{1:12 2't' 3:10}}}");
}

TEST(test_recording)
{
	_cleanup_(perfetto_writer_freep) struct perfetto_writer *w = new_writer();

	add(w, &(struct event){ .kind = EVENT_START,
				.start = { .kernel = "6.1.0", .machine = "x86_64" } });
	add(w, &(struct event){ .kind = EVENT_CLOCK, .ts_ns = 9, .clock = { 9, 8, 7 } });
	assert_packets(w, "1{10:2 45{1{1'Linux' 3'6.1.0' 4'x86_64'}}}\n"
			  "1{8:9 10:2 6{1{1:6 2:9} 1{1:3 2:8} 1{1:1 2:7} 2:6}}");
}

/* ---- schedule ---- */

static void add_switch(struct perfetto_writer *w, uint64_t ts_ns, uint32_t cpu, uint32_t prev,
		       char state, uint32_t next)
{
	const struct event ev = {
		.kind = EVENT_SWITCH,
		.ts_ns = ts_ns,
		.cpu = cpu,
		.tid = prev,
		.sw = { .next_tid = next,
			.prev_prio = prev ? 120 : INT32_MIN,
			.next_prio = next ? 110 : INT32_MIN,
			.out_state = state == 'R' ? 1 : 3,
			.state = state },
	};

	add(w, &ev);
}

static void add_wake(struct perfetto_writer *w, uint64_t ts_ns, uint32_t cpu, uint32_t tid,
		     uint32_t waker)
{
	const struct event ev = {
		.kind = EVENT_WAKE,
		.ts_ns = ts_ns,
		.cpu = cpu,
		.tid = tid,
		.wake = { .waker_tid = waker, .prio = 130 },
	};

	add(w, &ev);
}

/* The first switch of a CPU has both threads; columns have differences of times. */
TEST(test_switches)
{
	_cleanup_(perfetto_writer_freep) struct perfetto_writer *w = new_writer();

	add_task(w, 1, 10, 10, "a");
	add_task(w, 1, 11, 11, "b");
	outbuf_reset(perfetto_writer_packets(w));
	add_switch(w, 1000, 1, 0, 'R', 10);
	add_switch(w, 1010, 1, 10, 'D', 11);
	add_switch(w, 1500, 1, 11, 'S', 10);
	add_switch(w, 1500, 1, 10, 'Z', 0);
	add_switch(w, 1600, 1, 0, 0, 12);
	assert_packets(w, "");
	flush(w);
	assert_packets(w, "1{1{1:1 4{1[1010 490 0 100] 2[2 1 32 1] 3[11 10 0 12] "
			  "4[110 110 120 110] 5'b' 5'a' 5'swapper' 5'' 6[0 1 2 3]} "
			  "2{1:1000 2:0 4{1'swapper' 2:0 3:120 4:0 5'a' 6:10 7:110}}} 10:3}");
	flush(w);
	assert_packets(w, "");
}

/* Only a preemption in the kernel is R+, in a row and in a single event. */
TEST(test_preempted)
{
	_cleanup_(perfetto_writer_freep) struct perfetto_writer *w = new_writer();
	struct event ev = {
		.kind = EVENT_SWITCH,
		.ts_ns = 1000,
		.tid = 10,
		.sw = { .next_tid = 11, .prev_prio = 120, .next_prio = 110, .preempted = true },
	};

	add(w, &ev);
	ev.ts_ns = 1001;
	add(w, &ev);
	ev.ts_ns = 1002;
	ev.sw.preempted = false;
	ev.sw.out_state = 1;
	add(w, &ev);
	flush(w);
	assert_packets(w, "1{1{1:0 4{1[1001 1] 2[256 0] 3[11 11] 4[110 110] 5'' 6[0 0]} "
			  "2{1:1000 2:10 4{1'' 2:10 3:120 4:256 5'' 6:11 7:110}}} 10:3}");
}

/* A bundle begins with a whole time and its own names; so does one after a step back in time. */
TEST(test_bundles)
{
	_cleanup_(perfetto_writer_freep) struct perfetto_writer *w = new_writer();

	add_task(w, 1, 10, 10, "a");
	add_switch(w, 1000, 0, 0, 'R', 10);
	add_switch(w, 2000, 0, 10, 'R', 10);
	add_task(w, 2000, 10, 10, "c");
	outbuf_reset(perfetto_writer_packets(w));
	add_switch(w, 2001, 0, 10, 'R', 10);
	add_switch(w, 1999, 0, 10, 'R', 10);
	assert_packets(w, "1{1{1:0 4{1[2000 1] 2[0 0] 3[10 10] 4[110 110] 5'a' 5'c' 6[0 1]} "
			  "2{1:1000 2:0 4{1'swapper' 2:0 3:120 4:0 5'a' 6:10 7:110}}} 10:3}");
	flush(w);
	assert_packets(w, "1{1{1:0 4{1[1999] 2[0] 3[10] 4[110] 5'c' 6[0]}} 10:3}");
}

/* A wakeup is in the bundle of the CPU of its waker, or names it. */
TEST(test_wakes)
{
	_cleanup_(perfetto_writer_freep) struct perfetto_writer *w = new_writer();

	add_task(w, 1, 10, 10, "a");
	add_task(w, 1, 11, 11, "b");
	add_switch(w, 1000, 1, 0, 'R', 10);
	outbuf_reset(perfetto_writer_packets(w));
	add_wake(w, 1000, 0, 11, 10); /* (Perfetto may not have seen the switch) */
	add_wake(w, 1001, 0, 11, 10);
	add_wake(w, 1003, 0, 11, FXT_KOID_SOFTIRQ + 1 + 1);
	add_wake(w, 1004, 0, 11, FXT_KOID_IRQ + 1 + 1);
	add_wake(w, 1005, 0, 11, 0);
	add_wake(w, 1006, 0, 11, 12);
	add_switch(w, 1007, 1, 10, 'S', 0);
	add_wake(w, 1008, 0, 11, 10); /* (it does not run any more) */
	flush(w);
	assert_packets(w, "1{1{1:1 4{1[1007] 2[1] 3[0] 4[120] 5'b' 5'swapper' 6[1] "
			  "7[1001 2 1] 8[11 11 11] 9[0 0 0] 10[130 130 130] 11[0 0 0] 12[0 16 8]} "
			  "2{1:1000 2:0 4{1'swapper' 2:0 3:120 4:0 5'a' 6:10 7:110}}} 10:3}\n"
			  "1{1{1:0 2{1:1000 2:10 20{2:11 3:130 5:0}} "
			  "2{1:1005 2:0 20{2:11 3:130 5:0}} 2{1:1006 2:12 20{2:11 3:130 5:0}} "
			  "2{1:1008 2:10 20{2:11 3:130 5:0}}} 10:3}");
}

/*
 * A wakeup at the time at which its thread leaves its CPU follows that switch, also if it arrives
 * late: both are single events. Other switches of that time stay in columns.
 */
TEST(test_wake_of_leaving)
{
	_cleanup_(perfetto_writer_freep) struct perfetto_writer *w = new_writer();

	add_task(w, 1, 10, 10, "a");
	add_task(w, 1, 11, 11, "b");
	add_switch(w, 1000, 0, 0, 'R', 10);
	add_switch(w, 1000, 1, 0, 'R', 11);
	flush(w);
	outbuf_reset(perfetto_writer_packets(w));
	add_switch(w, 1001, 1, 11, 'D', 0);
	add_switch(w, 1003, 1, 0, 'R', 11);
	add_switch(w, 1005, 1, 11, 'D', 10);
	add_wake(w, 1005, 1, 10, 11); /* (another thread left it) */
	add_wake(w, 1001, 1, 11, 10);
	add_wake(w, 1001, 1, 11, FXT_KOID_IRQ + 1);
	flush(w);
	assert_packets(w, "1{1{1:1 4{1[1003 2] 2[0 2] 3[11 10] 4[110 110] 5'swapper' 5'b' 5'a' "
			  "6[1 2]} 2{1:1005 2:11 20{2:10 3:130 5:1}} "
			  "2{1:1001 2:11 4{2:11 3:120 4:2 6:0 7:120}} "
			  "2{1:1001 2:10 20{2:11 3:130 5:1}} "
			  "2{1:1001 2:4390913 20{2:11 3:130 5:1}}} 10:3}");
}

TEST(test_cpu_of)
{
	_cleanup_(perfetto_writer_freep) struct perfetto_writer *w = new_writer();

	add_switch(w, 1000, 3, 0, 'R', 10);
	add_switch(w, 1001, 4, 0, 'R', 11);
	assert_int_equal(perfetto_writer_cpu_of(w, 10), 3);
	assert_int_equal(perfetto_writer_cpu_of(w, 11), 4);
	add_switch(w, 1002, 3, 10, 'R', 0);
	add_switch(w, 1003, 5, 0, 'R', 10);
	assert_int_equal(perfetto_writer_cpu_of(w, 10), 5);
	add_switch(w, 1004, 5, 10, 'R', 0);
	assert_int_equal(perfetto_writer_cpu_of(w, 10), 5);
	assert_int_equal(perfetto_writer_cpu_of(w, 12), 0);
}

/* Perfetto does not read a trace with more than 1024 CPUs. */
TEST(test_many_cpus)
{
	_cleanup_(perfetto_writer_freep) struct perfetto_writer *w = new_writer();

	add_switch(w, 1000, 1023, 0, 'R', 10);
	assert_int_equal(perfetto_writer_left_out(w), 0);
	add_switch(w, 1000, 1024, 0, 'R', 11);
	add_wake(w, 1001, 65535, 11, 10);
	add_wake(w, 1001, 0, 12, FXT_KOID_IRQ + 1 + 1024);
	assert_int_equal(perfetto_writer_left_out(w), 2);
	flush(w);
	assert_packets(w, "1{1{1:0 2{1:1001 2:4391937 20{2:12 3:130 5:0}}} 10:3}\n"
			  "1{1{1:1023 2{1:1000 2:0 4{1'swapper' 2:0 3:120 4:0 5'' 6:10 7:110}}} "
			  "10:3}");
}

/* ---- the other events ---- */

static void add_interval(struct perfetto_writer *w, enum interval_kind kind, uint64_t ts_ns,
			 const char *name, int32_t number)
{
	const struct event ev = {
		.kind = EVENT_INTERVAL,
		.ts_ns = ts_ns,
		.pid = 2,
		.tid = 30,
		.cpu = 1,
		.interval = { kind, name, ts_ns + 5, number, true },
	};

	add(w, &ev);
}

TEST(test_intervals)
{
	_cleanup_(perfetto_writer_freep) struct perfetto_writer *w = new_writer();

	add_interval(w, INTERVAL_IRQ, 10, "disk", 7);
	add_interval(w, INTERVAL_SOFTIRQ, 20, "NET_RX", 0);
	add_interval(w, INTERVAL_IDLE, 30, "C1", 1);
	flush(w);
	assert_packets(w, "1{1{1:1 2{1:10 2:0 36{1:7 2'disk'}} 2{1:15 2:0 37{1:7 2:1}} "
			  "2{1:20 2:0 24{1:3}} 2{1:25 2:0 25{1:3}} "
			  "2{1:30 2:0 13{1:1 2:1}} 2{1:35 2:0 13{1:4294967295 2:1}}} 10:3}");
	add_interval(w, INTERVAL_WORK, 40, "work_fn", 0);
	flush(w);
	assert_packets(w, "1{10:4 60{1:1099511627806 4{1:2 2:30}}}\n"
			  "1{8:40 10:4 11{9:1 11:1099511627806 22'workqueue' 23'work_fn'}}\n"
			  "1{8:45 10:4 11{9:2 11:1099511627806}}");
}

TEST(test_marks)
{
	_cleanup_(perfetto_writer_freep) struct perfetto_writer *w = new_writer();

	add(w, &(struct event){ .kind = EVENT_MARK, .ts_ns = 3, .mark = { "here" } });
	add(w, &(struct event){
		       .kind = EVENT_LOST, .ts_ns = 4, .cpu = 1, .lost = { "sched", 20, 4, 9 } });
	assert_packets(w, "1{10:4 60{1:1 2'marks'}}\n"
			  "1{8:3 10:4 11{9:3 11:1 22'kymo' 23'here'}}\n"
			  "1{10:4 60{1:2 2'lost events'}}\n"
			  "1{8:4 10:4 11{9:3 11:2 22'kymo' 23'lost' 4{10'class' 6'sched'} "
			  "4{10'cpu' 3:1} 4{10'count' 3:20} 4{10'first' 3:4} 4{10'last' 3:9}}}");
}

/* Counters have ids of tracks that are hashes; the frequency has a packet of its own. */
TEST(test_counters)
{
	_cleanup_(perfetto_writer_freep) struct perfetto_writer *w = new_writer();
	const struct event_value values[] = {
		{ .name = "free (bytes)", .whole = true, .u64 = 77 },
		{ .name = "CPU some (%)", .f64 = 2.5 },
	};
	const struct event_value khz = { .name = "kHz", .whole = true, .u64 = 2000000 };
	struct event ev = { .kind = EVENT_COUNTER,
			    .ts_ns = 8,
			    .counter = { "counters", "memory", 0, values, 2 } };
	char want[512];
	unsigned long long first, second;

	add(w, &ev);
	first = UINT64_C(1) << 63 | table_hash("memory:free (bytes)", 19);
	second = UINT64_C(1) << 63 | table_hash("memory:CPU some (%)", 19);
	snprintf(want, sizeof(want),
		 "1{10:4 60{1:%llu 2'memory:free (bytes)' 8{3:3}}}\n"
		 "1{8:8 10:4 11{9:4 11:%llu 30:77}}\n"
		 "1{10:4 60{1:%llu 2'memory:CPU some (%%)' 8{6'%%'}}}\n"
		 "1{8:8 10:4 11{9:4 11:%llu 44:2.5}}",
		 first, first, second, second);
	assert_packets(w, want);
	ev.counter.category = "power";
	ev.counter.name = "CPU frequency";
	ev.counter.id = 1;
	ev.counter.values = &khz;
	ev.counter.n_values = 1;
	add(w, &ev);
	flush(w);
	assert_packets(w, "1{1{1:1 2{1:8 2:0 11{1:2000000 2:1}}} 10:3}");
}

/* ---- reasons of waits ---- */

static void add_wait(struct perfetto_writer *w, uint64_t ts_ns, uint32_t tid, const char *reason,
		     const char *function)
{
	const char *functions[] = { "__schedule", "schedule", "io_schedule", function, "other" };
	const uint64_t frame = UINT64_C(1) << 63;
	const struct event offcpu = {
		.kind = EVENT_OFFCPU,
		.ts_ns = ts_ns,
		.pid = tid,
		.tid = tid,
		.offcpu = { .end_ns = ts_ns + 10, .state = 'D', .reason = reason, .fd = -1 },
	};
	const struct event sample = {
		.kind = EVENT_SAMPLE,
		.ts_ns = ts_ns,
		.pid = tid,
		.tid = tid,
		.sample = { .frames = &frame, .n_frames = 1, .kind = SAMPLE_OFF_CPU },
	};

	add(w, &offcpu);
	assert_int_equal(perfetto_writer_add_wait(w, &sample, functions, ARRAY_SIZE(functions)), 0);
}

TEST(test_waits)
{
	_cleanup_(perfetto_writer_freep) struct perfetto_writer *w = new_writer();
	struct event ev = {
		.kind = EVENT_SWITCH,
		.ts_ns = 100,
		.tid = 7,
		.sw = { .state = 'D', .out_state = 3, .prev_prio = 120, .next_prio = INT32_MIN },
	};

	add_task(w, 0, 7, 7, "a");
	add(w, &ev); /* on CPU 0, where it was not seen before */
	ev.ts_ns = 150;
	ev.tid = 0;
	ev.sw.next_tid = 7;
	add(w, &ev);
	outbuf_reset(perfetto_writer_packets(w));
	add_wait(w, 100, 7, "io", "folio_wait_bit");
	add_wait(w, 100, 7, NULL, "futex_wait");
	add_wait(w, 100, 7, NULL, "folio_wait_bit");
	add_wait(w, 100, 7, "io", "");            /* without a name */
	add_wait(w, 100, 7, NULL, "");            /* nothing is known */
	add_wait(w, 90, 7, NULL, "futex_wait");   /* of another switch */
	add_wait(w, 100, 8, NULL, "futex_wait");  /* of an unknown thread */
	outbuf_reset(perfetto_writer_packets(w)); /* (the slices) */
	flush(w);
	assert_packets(w, "1{1{1:0 4{1[150] 2[2] 3[7] 4[120] 5'a' 6[0]} 2{1:100 2:7 4{1'a' "
			  "2:7 3:120 4:2 5'swapper' 6:0 7:120}} 2{1:101 2:0 18{1:7 2:1 "
			  "3:1}} 2{1:101 2:0 18{1:7 2:2 3:0}} 2{1:101 2:0 18{1:7 2:1 3:0}} "
			  "2{1:101 2:0 18{1:7 3:1}}} 10:3 12{26{1:1 2'folio_wait_bit'} "
			  "26{1:2 2'futex_wait'}} 13:1}");
}

/* ---- plain events ---- */

TEST(test_plain)
{
	_cleanup_(perfetto_writer_freep) struct perfetto_writer *w = new_writer();
	const struct perfetto_plain_arg args[] = {
		{ .name = "i", .form = PLAIN_ARG_INT, .i64 = 1 },
		{ .name = "d", .form = PLAIN_ARG_DOUBLE, .f64 = 0.5 },
		{ .name = "s", .form = PLAIN_ARG_TEXT, .text = "t" },
	};
	struct perfetto_plain p = {
		.form = PLAIN_COMPLETE,
		.pid = 5,
		.tid = 6,
		.ts_ns = 10,
		.end_ns = 20,
		.category = "c",
		.name = "n",
		.args = args,
		.n_args = ARRAY_SIZE(args),
	};
	const struct event clock = { .kind = EVENT_CLOCK,
				     .clock = { .boot_ns = 1, .real_ns = 1001 } };

	assert_int_equal(perfetto_writer_add_plain(w, &p), 0);
	assert_packets(w, "1{10:4 60{1:1099511627782 4{1:5 2:6}}}\n"
			  "1{8:10 10:4 11{9:1 11:1099511627782 22'c' 23'n' 4{10'i' 4:1} "
			  "4{10'd' 5:0.5} 4{10's' 6't'}}}\n"
			  "1{8:20 10:4 11{9:2 11:1099511627782}}");
	p.form = PLAIN_COUNTER;
	p.id = 3;
	assert_int_equal(perfetto_writer_add_plain(w, &p), 0);
	assert_packets(w, "1{10:4 60{1:2199023255557 3{1:5}}}\n"
			  "1{10:4 60{1:13100602545693237771 2'n:i:3' 5:2199023255557 8{}}}\n"
			  "1{8:10 10:4 11{9:4 11:13100602545693237771 30:1}}\n"
			  "1{10:4 60{1:17849120829217639744 2'n:d:3' 5:2199023255557 8{}}}\n"
			  "1{8:10 10:4 11{9:4 11:17849120829217639744 44:0.5}}");
	p.n_args = 0;
	p.form = PLAIN_FLOW_BEGIN;
	assert_int_equal(perfetto_writer_add_plain(w, &p), 0);
	p.form = PLAIN_FLOW_END;
	assert_int_equal(perfetto_writer_add_plain(w, &p), 0);
	assert_packets(w, "1{8:10 10:4 11{9:3 11:1099511627782 22'c' 23'n' 47:3}}\n"
			  "1{8:10 10:4 11{9:3 11:1099511627782 22'c' 23'n' 48:3}}");
	p.form = PLAIN_ASYNC_BEGIN;
	assert_int_equal(perfetto_writer_add_plain(w, &p), 0);
	p.form = PLAIN_ASYNC_END;
	assert_int_equal(perfetto_writer_add_plain(w, &p), 0);
	assert_packets(w, "1{10:4 60{1:12700689285082123852 2'n' 5:2199023255557}}\n"
			  "1{8:10 10:4 11{9:1 11:12700689285082123852 22'c' 23'n'}}\n"
			  "1{8:10 10:4 11{9:2 11:12700689285082123852}}");
	p.form = PLAIN_LOG; /* the clocks are unknown */
	assert_int_equal(perfetto_writer_add_plain(w, &p), 0);
	assert_packets(w, "1{8:10 10:4 11{9:3 11:1099511627782 22'c' 23'n'}}");
	add(w, &clock);
	outbuf_reset(perfetto_writer_packets(w));
	assert_int_equal(perfetto_writer_add_plain(w, &p), 0);
	assert_packets(w, "1{8:10 10:4 39{1{2:5 3:6 5:1010 6'c' 7:4 8'n'}}}");
}

/* ---- heap ---- */

/* Sums per process and stack; a packet for each process and time, in the order of the changes. */
TEST(test_heap)
{
	_cleanup_(perfetto_writer_freep) struct perfetto_writer *w = new_writer();
	_cleanup_(perfetto_heap_freep) struct perfetto_heap *h = NULL;
	_cleanup_(outbuf_deinit) struct outbuf interned = { 0 };
	struct outbuf *to = perfetto_writer_packets(w);
	const struct {
		uint32_t pid;
		uint64_t ts_ns, now_ns, callstack;
		struct perfetto_heap_change change;
	} changes[] = {
		{ 7, 100, 100, 1, { 2, 20, 0, 0 } }, { 7, 100, 100, 2, { 1, 5, 1, 5 } },
		{ 8, 100, 100, 1, { 1, 9, 0, 0 } },  { 7, 200, 210, 1, { 1, 10, 2, 15 } },
		{ 7, 150, 210, 2, { 0, 0, 0, 1 } },
	};

	assert_int_equal(perfetto_heap_new(&h), 0);
	perfetto_heap_flush(h, &interned, to);
	assert_packets(w, "");
	protobuf_add_u64(&interned, 3, 4);
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++)
		assert_int_equal(perfetto_heap_add(h, changes[i].pid, changes[i].ts_ns,
						   changes[i].now_ns, changes[i].callstack,
						   &changes[i].change, &interned, to),
				 0);
	perfetto_heap_flush(h, &interned, to);
	assert_int_equal(interned.size, 0);
	assert_packets(w, "1{8:100 10:5 6{1{1:6 2:100} 1{1:4 2:100} 2:6}}\n"
			  "1{8:100 10:5 13:1 12{3:4} 37{5{1:7 2{1:1 2:20 5:2} "
			  "2{1:2 2:5 3:5 5:1 6:1} 9:100 11'libc.malloc'} 7:0}}\n"
			  "1{8:100 10:5 37{5{1:8 2{1:1 2:9 5:1} 9:100 11'libc.malloc'} 7:1}}\n"
			  "1{8:210 10:5 37{5{1:7 2{1:1 2:30 3:15 5:3 6:2} 9:200 "
			  "11'libc.malloc'} 7:2}}\n"
			  "1{8:210 10:5 37{5{1:7 2{1:2 2:5 3:6 5:1 6:1} 9:150 "
			  "11'libc.malloc'} 7:3}}");
}

/* Memory does not grow with the archive, and an event of the schedule has at most 10 bytes. */
TEST(test_size)
{
	_cleanup_(perfetto_writer_freep) struct perfetto_writer *w = new_writer();
	size_t bytes = 0, largest = 0, n = unit_rounds(100000);
	struct outbuf *packets = perfetto_writer_packets(w);

	for (uint32_t tid = 1000000; tid < 1000020; tid++)
		add_task(w, 1, tid, tid, "a thread of 15");
	outbuf_reset(packets);
	for (size_t i = 0; i < n; i++) {
		uint32_t tid = 1000000 + (uint32_t)(i % 20);

		add_switch(w, UINT64_C(5000000000000) + i * 50000, 0, tid, 'S',
			   1000000 + (uint32_t)((i + 1) % 20));
		if (packets->size > largest)
			largest = packets->size;
		bytes += packets->size;
		outbuf_reset(packets);
	}
	assert_in_range(largest, 0, 4096 * 10 + 1000);
	flush(w);
	bytes += packets->size;
	assert_in_range(bytes, n, n * 10 + 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_process),   cmocka_unit_test(test_recording),
		cmocka_unit_test(test_switches),  cmocka_unit_test(test_bundles),
		cmocka_unit_test(test_wakes),     cmocka_unit_test(test_wake_of_leaving),
		cmocka_unit_test(test_size),      cmocka_unit_test(test_cpu_of),
		cmocka_unit_test(test_many_cpus), cmocka_unit_test(test_intervals),
		cmocka_unit_test(test_marks),     cmocka_unit_test(test_counters),
		cmocka_unit_test(test_waits),     cmocka_unit_test(test_plain),
		cmocka_unit_test(test_preempted), cmocka_unit_test(test_heap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
