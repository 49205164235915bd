/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events from records, as docs/FXT-MAPPING.md defines them, and from other writers. The records are
 * made here, word by word. Strings are inline, so no table is needed.
 */
#include <stdlib.h>
#include <string.h>

#include "base/outbuf.h"
#include "reader/fxt/fxt-events.h"
#include "tests/support/fixtures/fxt-golden.h"
#include "tests/support/unit.h"

/* ---- making records ---- */

struct record {
	uint64_t words[512];
	unsigned n;
};

static void put_text(struct record *r, const char *text)
{
	size_t n = strlen(text);

	memcpy(&r->words[r->n], text, n);
	r->n += (unsigned)fxt_stream_words(n);
}

static uint64_t inline_ref(const char *text)
{
	return *text ? 0x8000 | strlen(text) : 0;
}

static void put_arg32(struct record *r, unsigned type, const char *name, uint32_t value)
{
	r->words[r->n++] = fxt_put_arg_type(type) |
			   fxt_put_arg_words(1 + fxt_stream_words(strlen(name))) |
			   fxt_put_arg_name(inline_ref(name)) | fxt_put_arg_value32(value);
	put_text(r, name);
}

static void put_arg64(struct record *r, unsigned type, const char *name, uint64_t value)
{
	r->words[r->n++] = fxt_put_arg_type(type) |
			   fxt_put_arg_words(2 + fxt_stream_words(strlen(name))) |
			   fxt_put_arg_name(inline_ref(name));
	put_text(r, name);
	r->words[r->n++] = value;
}

static void put_arg_text(struct record *r, const char *name, const char *value)
{
	r->words[r->n++] = fxt_put_arg_type(FXT_ARG_STRING) |
			   fxt_put_arg_words(1 + fxt_stream_words(strlen(name)) +
					     fxt_stream_words(strlen(value))) |
			   fxt_put_arg_name(inline_ref(name)) |
			   fxt_put_arg_value_ref(inline_ref(value));
	put_text(r, name);
	put_text(r, value);
}

/* An event at time 1000 of thread PID/TID. Except for instants, a word follows the arguments. */
static struct record event_of(enum fxt_event_type type, uint32_t pid, uint32_t tid,
			      const char *category, const char *name, unsigned n_args)
{
	struct record r = { .n = 1 };

	r.words[0] = fxt_put_record_type(FXT_RECORD_EVENT) | fxt_put_event_type(type) |
		     fxt_put_event_n_args(n_args) | fxt_put_event_category(inline_ref(category)) |
		     fxt_put_event_name(inline_ref(name));
	r.words[r.n++] = 1000;
	r.words[r.n++] = pid;
	r.words[r.n++] = tid;
	put_text(&r, category);
	put_text(&r, name);
	return r;
}

/* An instant event at time 1000 of thread 50/51. */
static struct record instant(const char *category, const char *name, unsigned n_args)
{
	return event_of(FXT_EVENT_INSTANT, 50, 51, category, name, n_args);
}

static struct record kernel_object(unsigned type, uint64_t koid, const char *name, unsigned n_args)
{
	struct record r = { .n = 1 };

	r.words[0] =
		fxt_put_record_type(FXT_RECORD_KERNEL_OBJECT) | fxt_put_kernel_object_type(type) |
		fxt_put_kernel_object_name(inline_ref(name)) | fxt_put_kernel_object_n_args(n_args);
	r.words[r.n++] = koid;
	put_text(&r, name);
	return r;
}

static struct record context_switch(unsigned cpu, unsigned state, uint64_t out, uint64_t in,
				    unsigned n_args)
{
	struct record r = { .n = 4 };

	r.words[0] = fxt_put_record_type(FXT_RECORD_SCHEDULING) |
		     fxt_put_sched_type(FXT_SCHED_SWITCH) | fxt_put_sched_cpu(cpu) |
		     fxt_put_sched_out_state(state) | fxt_put_sched_n_args(n_args);
	r.words[1] = 2000;
	r.words[2] = out;
	r.words[3] = in;
	return r;
}

/* ---- reading a record ---- */

struct fixture {
	struct outbuf archive;
	struct fxt_reader *reader;
	struct fxt_events *events;
	struct event ev;
	const char *what;
};

static int convert(struct fixture *f, struct record *r)
{
	const struct fxt_record *record;

	r->words[0] |= fxt_put_record_words(r->n);
	outbuf_reset(&f->archive);
	f->reader = fxt_reader_free(f->reader);
	assert_int_equal(outbuf_append(&f->archive, golden_records[GOLDEN_MAGIC].words, 8), 0);
	assert_int_equal(outbuf_append(&f->archive, r->words, 8 * r->n), 0);
	assert_int_equal(fxt_reader_new_memory(&f->reader, f->archive.data, f->archive.size), 0);
	assert_int_equal(fxt_reader_next(f->reader, &record), FXT_READER_RECORD);
	assert_int_equal(fxt_events_get(f->events, record, &f->ev, &f->what), FXT_EVENTS_NONE);
	assert_int_equal(fxt_reader_next(f->reader, &record), FXT_READER_RECORD);
	memset(&f->ev, 0xa5, sizeof(f->ev));
	return fxt_events_get(f->events, record, &f->ev, &f->what);
}

static void assert_event(struct fixture *f, struct record r, enum event_kind kind)
{
	assert_int_equal(convert(f, &r), FXT_EVENTS_EVENT);
	assert_int_equal(f->ev.kind, kind);
}

FIXTURE(set_up)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	return fxt_events_new(&f->events);
}

FIXTURE(tear_down)
{
	struct fixture *f = *state;

	fxt_reader_free(f->reader);
	fxt_events_free(f->events);
	outbuf_deinit(&f->archive);
	free(f);
	return 0;
}

/* ---- scheduling ---- */

TEST(test_switch)
{
	struct fixture *f = *state;
	struct record r = context_switch(300, FXT_STATE_BLOCKED, 51, 0, 4);

	put_arg32(&r, FXT_ARG_INT32, "outgoing_weight", 98);
	put_arg32(&r, FXT_ARG_INT32, "incoming_weight", 0x80000000);
	put_arg_text(&r, "prev_state", "D");
	put_arg32(&r, FXT_ARG_BOOL, "synthetic", 1);
	assert_event(f, r, EVENT_SWITCH);
	assert_int_equal(f->ev.ts_ns, 2000);
	assert_int_equal(f->ev.cpu, 300);
	assert_int_equal(f->ev.pid, 0);
	assert_int_equal(f->ev.tid, 51);
	assert_int_equal(f->ev.sw.next_tid, 0);
	assert_int_equal(f->ev.sw.prev_prio, 98);
	assert_int_equal(f->ev.sw.next_prio, INT32_MIN);
	assert_int_equal(f->ev.sw.out_state, FXT_STATE_BLOCKED);
	assert_int_equal(f->ev.sw.state, 'D');
	assert_true(f->ev.sw.synthetic);
}

TEST(test_switch_bare)
{
	struct fixture *f = *state;

	assert_event(f, context_switch(1, FXT_STATE_RUNNING, 51, 52, 0), EVENT_SWITCH);
	assert_int_equal(f->ev.sw.prev_prio, 0);
	assert_int_equal(f->ev.sw.next_prio, 0);
	assert_int_equal(f->ev.sw.state, 0);
	assert_false(f->ev.sw.synthetic);
	assert_false(f->ev.sw.preempted);
	/* Only kymo writes this state for a preemption. */
	assert_event(f, context_switch(1, FXT_STATE_PREEMPTED, 51, 52, 0), EVENT_SWITCH);
	assert_false(f->ev.sw.preempted);
}

/* Other writers give idle threads koids; their weight identifies them. */
TEST(test_switch_foreign_idle)
{
	struct fixture *f = *state;
	struct record r = context_switch(1, FXT_STATE_RUNNING, 4711, 52, 1);

	put_arg32(&r, FXT_ARG_INT32, "outgoing_weight", 0x80000000);
	assert_event(f, r, EVENT_SWITCH);
	assert_int_equal(f->ev.tid, 0);
	assert_int_equal(f->ev.sw.next_tid, 52);
}

TEST(test_legacy_switch)
{
	struct fixture *f = *state;
	struct record r = { .words = { 0x0100000003000008 | 2 << 16, 2000, 50, 51, 0, 99 },
			    .n = 6 };

	assert_event(f, r, EVENT_SWITCH);
	assert_int_equal(f->ev.cpu, 2);
	assert_int_equal(f->ev.pid, 50);
	assert_int_equal(f->ev.tid, 51);
	assert_int_equal(f->ev.sw.next_prio, 16);
	r.words[0] = 0x0000100003000008;
	assert_event(f, r, EVENT_SWITCH);
	assert_int_equal(f->ev.sw.next_tid, 0);
	assert_int_equal(f->ev.sw.next_prio, INT32_MIN);
}

TEST(test_wakeup)
{
	struct fixture *f = *state;
	struct record r = { .words = { 0x2000000000320008, 2000, 51 }, .n = 3 };

	put_arg32(&r, FXT_ARG_INT32, "weight", 120);
	put_arg64(&r, FXT_ARG_KOID, "waker", 77);
	assert_event(f, r, EVENT_WAKE);
	assert_int_equal(f->ev.cpu, 3);
	assert_int_equal(f->ev.tid, 51);
	assert_int_equal(f->ev.wake.prio, 120);
	assert_int_equal(f->ev.wake.waker_tid, 77);
}

TEST(test_migrate)
{
	struct fixture *f = *state;
	struct record r = instant("sched", "migrate", 2);

	put_arg32(&r, FXT_ARG_UINT32, "from_cpu", 3);
	put_arg32(&r, FXT_ARG_UINT32, "to_cpu", 4);
	assert_event(f, r, EVENT_MIGRATE);
	assert_int_equal(f->ev.ts_ns, 1000);
	assert_int_equal(f->ev.tid, 51);
	assert_int_equal(f->ev.migrate.from_cpu, 3);
	assert_int_equal(f->ev.migrate.to_cpu, 4);
}

/* ---- allocations of programs ---- */

/* An unknown resource makes an event foreign. A duplicate one is harmless. */
TEST(test_resource)
{
	static const char *const said[][2] = {
		{ "fd", "bogus" },
		{ "bogus", "fd" },
		{ "bogus", "bogus" },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(said); i++) {
		struct record r = instant("memory", "free", 2);

		put_arg_text(&r, "resource", said[i][0]);
		put_arg_text(&r, "resource", said[i][1]);
		if (i == 2) {
			assert_int_equal(convert(f, &r), FXT_EVENTS_NONE);
			continue;
		}
		assert_event(f, r, EVENT_FREE);
		assert_int_equal(f->ev.block.resource, RESOURCE_FD);
	}
}

/* ---- processes and threads ---- */

TEST(test_process)
{
	struct fixture *f = *state;
	struct record r = kernel_object(FXT_OBJECT_PROCESS, 50, "sh", 7);

	put_arg64(&r, FXT_ARG_KOID, "parent", 1);
	put_arg32(&r, FXT_ARG_UINT32, "uid", 1000);
	put_arg64(&r, FXT_ARG_UINT64, "start_time", 999);
	put_arg_text(&r, "command_line", "sh -c true");
	put_arg64(&r, FXT_ARG_UINT64, "cgroup", 4242);
	put_arg_text(&r, "cgroup_path", "/system.slice/x.service");
	put_arg32(&r, FXT_ARG_UINT32, "real_id", 49);
	assert_event(f, r, EVENT_TASK);
	assert_int_equal(f->ev.pid, 50);
	assert_int_equal(f->ev.tid, 0);
	assert_true(f->ev.task.is_process);
	assert_string_equal(f->ev.task.comm, "sh");
	assert_string_equal(f->ev.task.command_line, "sh -c true");
	assert_int_equal(f->ev.task.parent_pid, 1);
	assert_int_equal(f->ev.task.uid, 1000);
	assert_int_equal(f->ev.task.start_ns, 999);
	assert_int_equal(f->ev.task.cgroup_id, 4242);
	assert_string_equal(f->ev.task.cgroup_path, "/system.slice/x.service");
	assert_int_equal(f->ev.task.real_tid, 49);
}

TEST(test_thread)
{
	struct fixture *f = *state;
	struct record r = kernel_object(FXT_OBJECT_THREAD, 51, "work\xff\x1b", 1);

	put_arg64(&r, FXT_ARG_KOID, "process", 50);
	assert_event(f, r, EVENT_TASK);
	assert_int_equal(f->ev.pid, 50);
	assert_int_equal(f->ev.tid, 51);
	assert_false(f->ev.task.is_process);
	assert_string_equal(f->ev.task.comm, "work\ufffd\ufffd");
	assert_string_equal(f->ev.task.command_line, "");
}

TEST(test_other_object)
{
	struct record r = kernel_object(17, 51, "socket", 0);

	assert_int_equal(convert(*state, &r), FXT_EVENTS_NONE);
}

TEST(test_lifecycle)
{
	struct fixture *f = *state;
	struct record r = instant("process", "fork", 2);

	put_arg64(&r, FXT_ARG_KOID, "child_process", 60);
	put_arg64(&r, FXT_ARG_KOID, "child_thread", 61);
	assert_event(f, r, EVENT_FORK);
	assert_int_equal(f->ev.pid, 50);
	assert_int_equal(f->ev.fork.child_pid, 60);
	assert_int_equal(f->ev.fork.child_tid, 61);

	r = instant("process", "exec", 3);
	put_arg_text(&r, "file", "/bin/ls");
	put_arg_text(&r, "command_line", "ls -l");
	put_arg64(&r, FXT_ARG_KOID, "old_thread", 59);
	assert_event(f, r, EVENT_EXEC);
	assert_string_equal(f->ev.exec.file, "/bin/ls");
	assert_string_equal(f->ev.exec.command_line, "ls -l");
	assert_int_equal(f->ev.exec.old_tid, 59);

	r = instant("process", "exit", 3);
	put_arg32(&r, FXT_ARG_INT32, "exit_code", 3);
	put_arg32(&r, FXT_ARG_INT32, "signal", 9);
	put_arg32(&r, FXT_ARG_BOOL, "process_ends", 1);
	assert_event(f, r, EVENT_EXIT);
	assert_int_equal(f->ev.exit.code, 3);
	assert_int_equal(f->ev.exit.signal, 9);
	assert_true(f->ev.exit.process_ends);

	r = instant("process", "rename", 2);
	put_arg_text(&r, "from", "a");
	put_arg_text(&r, "to", "b");
	assert_event(f, r, EVENT_RENAME);
	assert_string_equal(f->ev.rename.from, "a");
	assert_string_equal(f->ev.rename.to, "b");
}

/* ---- the recording ---- */

TEST(test_session)
{
	struct fixture *f = *state;
	struct record r = instant("kymo", "session_start", 11);

	put_arg_text(&r, "session", "s");
	put_arg_text(&r, "command", "c");
	put_arg_text(&r, "options", "o");
	put_arg_text(&r, "kernel", "6.1");
	put_arg_text(&r, "machine", "x86_64");
	put_arg_text(&r, "host", "h");
	put_arg_text(&r, "version", "1");
	put_arg32(&r, FXT_ARG_UINT32, "cpus", 8);
	put_arg32(&r, FXT_ARG_BOOL, "filtered", 1);
	put_arg32(&r, FXT_ARG_UINT32, "chunk", 2);
	put_arg64(&r, FXT_ARG_UINT64, "first", 77);
	assert_event(f, r, EVENT_START);
	assert_string_equal(f->ev.start.session, "s");
	assert_string_equal(f->ev.start.version, "1");
	assert_string_equal(f->ev.start.kernel, "6.1");
	assert_int_equal(f->ev.start.n_cpus, 8);
	assert_true(f->ev.start.filtered);
	assert_int_equal(f->ev.start.chunk, 2);
	assert_int_equal(f->ev.start.first_ns, 77);

	r = instant("kymo", "session_stop", 8);
	put_arg_text(&r, "reason", "stopped");
	put_arg64(&r, FXT_ARG_UINT64, "events", 1);
	put_arg64(&r, FXT_ARG_UINT64, "lost", 2);
	put_arg64(&r, FXT_ARG_UINT64, "bytes", 3);
	put_arg64(&r, FXT_ARG_UINT64, "daemon_cpu", 4);
	put_arg64(&r, FXT_ARG_UINT64, "bpf_cpu", 5);
	put_arg64(&r, FXT_ARG_UINT64, "full", 6);
	put_arg_text(&r, "session", "s");
	assert_event(f, r, EVENT_STOP);
	assert_string_equal(f->ev.stop.session, "s");
	assert_string_equal(f->ev.stop.reason, "stopped");
	assert_int_equal(f->ev.stop.events, 1);
	assert_int_equal(f->ev.stop.lost, 2);
	assert_int_equal(f->ev.stop.bytes, 3);
	assert_int_equal(f->ev.stop.daemon_cpu_ns, 4);
	assert_int_equal(f->ev.stop.bpf_cpu_ns, 5);
	assert_int_equal(f->ev.stop.dropped_bytes, 6);
}

TEST(test_clock_mark_lost)
{
	struct fixture *f = *state;
	struct record r = instant("kymo", "clock", 3);

	put_arg64(&r, FXT_ARG_UINT64, "boottime", 1);
	put_arg64(&r, FXT_ARG_UINT64, "monotonic", 2);
	put_arg64(&r, FXT_ARG_UINT64, "realtime", UINT64_MAX);
	assert_event(f, r, EVENT_CLOCK);
	assert_int_equal(f->ev.clock.boot_ns, 1);
	assert_int_equal(f->ev.clock.mono_ns, 2);
	assert_true(f->ev.clock.real_ns == UINT64_MAX);

	r = instant("kymo", "mark", 1);
	put_arg_text(&r, "text", "here");
	assert_event(f, r, EVENT_MARK);
	assert_string_equal(f->ev.mark.text, "here");

	r = instant("kymo", "shed", 3);
	put_arg_text(&r, "class", "stacks");
	put_arg64(&r, FXT_ARG_UINT64, "value", 60000);
	put_arg64(&r, FXT_ARG_UINT64, "limit", 50000);
	assert_event(f, r, EVENT_SHED);
	assert_string_equal(f->ev.shed.what, "stacks");
	assert_int_equal(f->ev.shed.cost_ppm, 60000);
	assert_int_equal(f->ev.shed.limit_ppm, 50000);
	assert_int_equal(f->ev.shed.n_cpus, 0);
	assert_null(f->ev.shed.session);
	assert_false(f->ev.shed.back);

	r = instant("kymo", "returned", 3);
	put_arg_text(&r, "class", "stacks");
	put_arg_text(&r, "session", "s");
	put_arg32(&r, FXT_ARG_UINT32, "cpus", 8);
	assert_event(f, r, EVENT_SHED);
	assert_int_equal(f->ev.shed.n_cpus, 8);
	assert_string_equal(f->ev.shed.session, "s");
	assert_true(f->ev.shed.back);

	r = instant("kymo", "trigger", 2);
	put_arg_text(&r, "reason", "wakeup");
	put_arg64(&r, FXT_ARG_KOID, "thread", 7);
	assert_event(f, r, EVENT_TRIGGER);
	assert_string_equal(f->ev.trigger.what, "wakeup");
	assert_int_equal(f->ev.trigger.thread, 7);
	assert_int_equal(f->ev.trigger.count, 0);

	r = instant("kymo", "damage", 3);
	put_arg64(&r, FXT_ARG_UINT64, "offset", 16);
	put_arg64(&r, FXT_ARG_UINT64, "bytes", 8);
	put_arg_text(&r, "reason", "zeros");
	assert_event(f, r, EVENT_DAMAGE);
	assert_int_equal(f->ev.damage.offset, 16);
	assert_int_equal(f->ev.damage.bytes, 8);
	assert_string_equal(f->ev.damage.what, "zeros");

	r = instant("kymo", "lost", 5);
	put_arg_text(&r, "class", "sched");
	put_arg32(&r, FXT_ARG_UINT32, "cpu", 5);
	put_arg64(&r, FXT_ARG_UINT64, "count", 12);
	put_arg64(&r, FXT_ARG_UINT64, "first", 13);
	put_arg64(&r, FXT_ARG_UINT64, "last", 14);
	assert_event(f, r, EVENT_LOST);
	assert_string_equal(f->ev.lost.class_name, "sched");
	assert_int_equal(f->ev.cpu, 5);
	assert_int_equal(f->ev.lost.count, 12);
	assert_int_equal(f->ev.lost.first_ns, 13);
	assert_int_equal(f->ev.lost.last_ns, 14);
}

/* Foreign events, and kymo's events without their required parts. */
TEST(test_none)
{
	static const char *const rows[][2] = {
		{ "gfx", "migrate" },
		{ "sched", "fork" },
		{ "process", "fork" },
		{ "kymo", "other" },
		{ "", "" },
		{ "sched", "migrate" },
		{ "process", "exit" },
		{ "process", "exec" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct record r = instant(rows[i][0], rows[i][1], 0);

		assert_int_equal(convert(*state, &r), FXT_EVENTS_NONE);
	}
}

TEST(test_damaged_arguments)
{
	struct fixture *f = *state;
	struct record r = instant("kymo", "mark", 1);

	assert_int_equal(convert(f, &r), FXT_EVENTS_DAMAGE);
	assert_non_null(f->what);
	r = context_switch(1, FXT_STATE_RUNNING, 51, 52, 1);
	assert_int_equal(convert(f, &r), FXT_EVENTS_DAMAGE);
	r = (struct record){ .words = { 0x2000000000010008, 2000, 51 }, .n = 3 };
	assert_int_equal(convert(f, &r), FXT_EVENTS_DAMAGE);
}

/* ---- complete events and counters ---- */

/* The thread decides: on other threads, they are foreign. */
TEST(test_interval)
{
	static const struct {
		const char *category;
		uint32_t pid, tid;
		int outcome;
		enum interval_kind kind;
		uint32_t cpu;
	} rows[] = {
		{ "irq", 4390912, 4390913, FXT_EVENTS_EVENT, INTERVAL_IRQ, 0 },
		{ "softirq", 4521984, 4521985 + 65535, FXT_EVENTS_EVENT, INTERVAL_SOFTIRQ, 65535 },
		{ "power", 4653056, 4653059, FXT_EVENTS_EVENT, INTERVAL_IDLE, 2 },
		{ "workqueue", 4521984, 4521987, FXT_EVENTS_EVENT, INTERVAL_WORK, 2 },
		{ "workqueue", 2, 30, FXT_EVENTS_EVENT, INTERVAL_WORK, 0 },
		{ "irq", 4390912, 4390912, FXT_EVENTS_NONE, 0, 0 },
		{ "irq", 4390911, 4390913, FXT_EVENTS_NONE, 0, 0 },
		{ "irq", 50, 51, FXT_EVENTS_NONE, 0, 0 },
		{ "softirq", 4521984, 4521985 + 65536, FXT_EVENTS_NONE, 0, 0 },
		{ "workqueue", 4521984, 4521984, FXT_EVENTS_NONE, 0, 0 },
		{ "power", 50, 51, FXT_EVENTS_NONE, 0, 0 },
		{ "sched", 4390912, 4390913, FXT_EVENTS_NONE, 0, 0 },
		{ "counters", 4784128, 4784128, FXT_EVENTS_NONE, 0, 0 },
		{ "none of ours", 4390912, 4390913, FXT_EVENTS_NONE, 0, 0 },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct record r = event_of(FXT_EVENT_DURATION_COMPLETE, rows[i].pid, rows[i].tid,
					   rows[i].category, "name", 0);

		r.words[r.n++] = 2000;
		assert_int_equal(convert(f, &r), rows[i].outcome);
		if (rows[i].outcome == FXT_EVENTS_NONE)
			continue;
		assert_int_equal(f->ev.kind, EVENT_INTERVAL);
		assert_int_equal(f->ev.interval.kind, rows[i].kind);
		assert_int_equal(f->ev.cpu, rows[i].cpu);
		assert_int_equal(f->ev.ts_ns, 1000);
		assert_int_equal(f->ev.interval.end_ns, 2000);
		assert_string_equal(f->ev.interval.name, "name");
		assert_int_equal(f->ev.interval.number, 0);
		assert_false(f->ev.interval.handled);
	}
}

/* Values that are no numbers are left out. Without any value, it is no counter. */
TEST(test_counter)
{
	struct fixture *f = *state;
	struct record r = event_of(FXT_EVENT_COUNTER, 1, 1, "counters", "anything", 2);

	put_arg_text(&r, "text", "5");
	put_arg64(&r, FXT_ARG_UINT64, "number", UINT64_MAX);
	r.words[r.n++] = 77;
	assert_event(f, r, EVENT_COUNTER);
	assert_string_equal(f->ev.counter.category, "counters");
	assert_string_equal(f->ev.counter.name, "anything");
	assert_int_equal(f->ev.counter.id, 77);
	assert_int_equal(f->ev.counter.n_values, 1);
	assert_string_equal(f->ev.counter.values[0].name, "number");
	assert_true(f->ev.counter.values[0].whole);
	assert_int_equal(f->ev.counter.values[0].u64, UINT64_MAX);

	r = event_of(FXT_EVENT_COUNTER, 1, 1, "counters", "anything", 1);
	put_arg_text(&r, "text", "5");
	r.words[r.n++] = 77;
	assert_int_equal(convert(f, &r), FXT_EVENTS_NONE);
	r = event_of(FXT_EVENT_COUNTER, 1, 1, "kymo", "lost", 1);
	put_arg64(&r, FXT_ARG_UINT64, "sched", 5);
	r.words[r.n++] = 0;
	assert_int_equal(convert(f, &r), FXT_EVENTS_NONE);
}

#define WITH_EVENTS(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

/* Events of category `profile` that are foreign or wrong. */
TEST(test_profile_foreign)
{
	struct fixture *f = *state;
	struct record r = instant("profile", "mapping", 1);

	put_arg_text(&r, "path", "/no/size");
	assert_int_equal(convert(f, &r), FXT_EVENTS_NONE);
	r = instant("profile", "frame", 1);
	put_arg_text(&r, "function", "nowhere");
	assert_int_equal(convert(f, &r), FXT_EVENTS_NONE);
	r = instant("profile", "offcpu", 0);
	assert_int_equal(convert(f, &r), FXT_EVENTS_NONE);
	r = instant("profile", "other", 0);
	assert_int_equal(convert(f, &r), FXT_EVENTS_NONE);
}

static void assert_sample(struct fixture *f, uint32_t pid, uint32_t tid, enum sample_kind kind)
{
	struct record r = { .n = 2, .words = { 0, 1000 } };

	r.words[0] = fxt_put_record_type(FXT_RECORD_PROFILER) |
		     fxt_put_profiler_type(FXT_PROFILER_BACKTRACE) | fxt_put_backtrace_n_frames(1);
	r.words[r.n++] = pid;
	r.words[r.n++] = tid;
	r.words[r.n++] = 0x10;
	assert_event(f, r, EVENT_SAMPLE);
	assert_int_equal(f->ev.sample.kind, kind);
	assert_int_equal(f->ev.sample.id, kind == SAMPLE_NAMED ? 7 : 0);
}

/* The frames can be on any thread of the process: earlier versions wrote them so. */
TEST(test_named_stack)
{
	struct fixture *f = *state;
	struct record r = event_of(FXT_EVENT_INSTANT, 50, 50, "memory", "stack", 1);

	put_arg64(&r, FXT_ARG_UINT64, "id", 7);
	assert_int_equal(convert(f, &r), FXT_EVENTS_NONE);
	assert_sample(f, 52, 52, SAMPLE_ON_CPU);
	assert_sample(f, 50, 51, SAMPLE_NAMED);
	assert_sample(f, 50, 51, SAMPLE_ON_CPU);
}

/* An invalid build id counts as unknown. */
TEST(test_mapping_build_id)
{
	static const char *const bad[] = { "abc", "xy", "AB", "0 " };
	struct fixture *f = *state;
	struct record r;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		r = instant("profile", "mapping", 2);
		put_arg64(&r, FXT_ARG_UINT64, "size", 5);
		put_arg_text(&r, "build_id", bad[i]);
		assert_event(f, r, EVENT_MAPPING);
		assert_int_equal(f->ev.mapping.build_id_size, 0);
	}
	r = instant("profile", "mapping", 2);
	put_arg64(&r, FXT_ARG_UINT64, "size", 5);
	put_arg_text(&r, "build_id", "00ff1a");
	assert_event(f, r, EVENT_MAPPING);
	assert_int_equal(f->ev.mapping.build_id_size, 3);
	assert_memory_equal(f->ev.mapping.build_id, "\x00\xff\x1a", 3);
	assert_int_equal(f->ev.pid, 50);
	assert_int_equal(f->ev.tid, 50);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		WITH_EVENTS(test_switch),
		WITH_EVENTS(test_switch_bare),
		WITH_EVENTS(test_switch_foreign_idle),
		WITH_EVENTS(test_legacy_switch),
		WITH_EVENTS(test_wakeup),
		WITH_EVENTS(test_migrate),
		WITH_EVENTS(test_resource),
		WITH_EVENTS(test_process),
		WITH_EVENTS(test_thread),
		WITH_EVENTS(test_other_object),
		WITH_EVENTS(test_profile_foreign),
		WITH_EVENTS(test_named_stack),
		WITH_EVENTS(test_mapping_build_id),
		WITH_EVENTS(test_lifecycle),
		WITH_EVENTS(test_session),
		WITH_EVENTS(test_clock_mark_lost),
		WITH_EVENTS(test_interval),
		WITH_EVENTS(test_counter),
		WITH_EVENTS(test_none),
		WITH_EVENTS(test_damaged_arguments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
