/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Windows of a stream, from events in this file with times in nanoseconds: an interval is 100.
 */
#include <stdlib.h>
#include <string.h>

#include "reader/views/live.h"
#include "tests/support/unit.h"
#include "writer/fxt/fxt-wire.h"
#include "model/maps.h"

#define START_NS 1000
#define INTERVAL 100
#define KERNEL   UINT64_C(0xffffffff81000000)

/* ---- functions for events ---- */

static void tell(struct live *l, struct event ev)
{
	assert_int_equal(live_add(l, &ev), 0);
}

static void task(struct live *l, uint32_t pid, uint32_t tid, const char *name)
{
	tell(l, (struct event){ .kind = EVENT_TASK,
				.pid = pid,
				.tid = tid,
				.task = { .comm = name,
					  .command_line = tid ? "" : "its command",
					  .is_process = tid == 0 } });
}

static struct event sw(uint64_t ts, uint32_t cpu, uint32_t out, uint32_t in)
{
	return (struct event){ .kind = EVENT_SWITCH,
			       .ts_ns = ts,
			       .cpu = cpu,
			       .tid = out,
			       .sw = { .next_tid = in, .out_state = FXT_STATE_BLOCKED } };
}

static void wake(struct live *l, uint64_t ts, uint32_t tid)
{
	tell(l, (struct event){ .kind = EVENT_WAKE, .ts_ns = ts, .tid = tid });
}

static void sample(struct live *l, uint64_t ts, uint32_t pid, uint32_t tid, uint64_t address)
{
	const uint64_t frames[] = { address, 0x1234 };

	tell(l, (struct event){ .kind = EVENT_SAMPLE,
				.ts_ns = ts,
				.pid = pid,
				.tid = tid,
				.sample = { .frames = frames, .n_frames = address ? 2 : 0 } });
}

static void map(struct live *l, uint32_t pid, uint64_t start, const char *path)
{
	tell(l, (struct event){ .kind = EVENT_MAPPING,
				.ts_ns = START_NS,
				.pid = pid,
				.mapping = { .path = path, .start = start, .size = 0x1000 } });
}

/* Two processes on two CPUs. */
FIXTURE(set_up)
{
	struct live *l;

	assert_int_equal(live_new(&l, INTERVAL), 0);
	assert_int_equal(live_end_ns(l), 0);
	tell(l, (struct event){ .kind = EVENT_START,
				.ts_ns = START_NS,
				.start = { "s", "c", "o", "k", "m", "h", "v", 2, false } });
	assert_int_equal(live_end_ns(l), START_NS + INTERVAL);
	task(l, 10, 0, "ten");
	task(l, 10, 10, "ten");
	task(l, 10, 11, "helper");
	task(l, 20, 0, "twenty");
	task(l, 20, 20, "twenty");
	map(l, 10, 0x40000, "/bin/ten");
	map(l, 20, 0x50000, "/bin/twenty");
	*state = l;
	return 0;
}

FIXTURE(tear_down)
{
	live_free(*state);
	return 0;
}

/* The even addresses have names. */
static int find(void *userdata, const struct profile_place *place, const struct frame **ret)
{
	static struct frame frame = { .function = "even", .source = "", .module = "[mod]" };

	++*(unsigned *)userdata;
	*ret = &frame;
	return place->address % 2 == 0;
}

static unsigned n_asked;
static const struct profile_names names = { .find = find, .userdata = &n_asked };

static struct live_window close_at(struct live *l, uint64_t now_ns)
{
	struct live_window w = { 0 };

	n_asked = 0;
	assert_int_equal(
		live_close(l, &(struct live_close_args){ .now_ns = now_ns, .names = &names }, &w),
		0);
	return w;
}

#define _window_ _cleanup_(live_window_deinit) struct live_window

/* ---- tests ---- */

TEST(test_window)
{
	struct live *l = *state;
	struct event next = sw(1100, 0, 10, 0);

	tell(l, sw(1010, 0, 0, 10));
	wake(l, 1020, 20);
	wake(l, 1020, 11);
	tell(l, sw(1025, 1, 0, 20));
	tell(l, sw(1035, 1, 20, 11));
	tell(l, (struct event){ .kind = EVENT_LOST,
				.ts_ns = 1040,
				.lost = { .class_name = "sched", .count = 4 } });
	assert_false(live_is_over(l, &(struct event){ .kind = EVENT_SWITCH, .ts_ns = 1099 }));
	/* Events that begin in the past, or that hold, do not advance the time. */
	assert_false(live_is_over(l, &(struct event){ .kind = EVENT_MAPPING, .ts_ns = 1100 }));
	assert_true(live_is_over(l, &next));

	_window_ w = close_at(l, 1100);
	assert_int_equal(w.start_ns, 1000);
	assert_int_equal(w.end_ns, 1100);
	assert_int_equal(w.n_events, 7);
	assert_int_equal(w.n_lost, 4);
	assert_int_equal(w.n_classes, 1);
	assert_string_equal(w.lost[0].class_name, "sched");
	assert_int_equal(w.n_cpus, 2);
	assert_int_equal(w.cpus[0].busy_ns, 90);
	assert_int_equal(w.cpus[1].busy_ns, 75);
	assert_int_equal(w.busy_ns, 165);
	assert_int_equal(w.n_threads, 3);
	assert_int_equal(w.threads[0].tid, 10);
	assert_int_equal(w.threads[1].tid, 11);
	assert_int_equal(w.threads[1].cpu_ns, 65);
	assert_int_equal(w.threads[1].wait_ns, 15);
	assert_string_equal(w.threads[1].name, "helper");
	assert_string_equal(w.threads[1].process, "ten");
	assert_int_equal(w.n_processes, 2);
	assert_int_equal(w.processes[0].pid, 10);
	assert_int_equal(w.processes[0].cpu_ns, 155);
	assert_int_equal(w.processes[0].switches, 2);
	assert_int_equal(w.processes[0].wait_ns, 15);
	assert_int_equal(w.processes[0].n_threads, 2);
	assert_string_equal(w.processes[0].process, "its command");
	assert_int_equal(w.processes[1].cpu_ns, 10);
	assert_int_equal(w.processes[1].wait_ns, 5);

	/* The next window has the intervals that continue, and nothing else. */
	tell(l, next);
	_window_ v = close_at(l, 1200);
	assert_int_equal(v.n_events, 1);
	assert_int_equal(v.n_lost, 0);
	assert_int_equal(v.n_lost_ever, 4);
	assert_int_equal(v.cpus[0].busy_ns, 0);
	assert_int_equal(v.cpus[1].busy_ns, 100);
	assert_int_equal(v.n_threads, 1);
	assert_int_equal(v.threads[0].cpu_ns, 100);
	assert_int_equal(v.threads[0].switches, 0);
}

TEST(test_functions)
{
	struct live *l = *state;

	for (int i = 0; i < 3; i++)
		sample(l, 1010, 10, 10, 0x40010);
	sample(l, 1020, 10, 11, 0x40020); /* of the same name */
	sample(l, 1020, 20, 20, 0x50010); /* in another module */
	sample(l, 1020, 20, 20, 0x50011); /* without a name */
	sample(l, 1020, 20, 20, 0x50013);
	sample(l, 1020, 20, 20, KERNEL);
	sample(l, 1020, 10, 10, 0); /* without a stack */

	_window_ w = close_at(l, 1100);
	assert_int_equal(w.n_samples, 9);
	assert_int_equal(w.n_functions, 5);
	assert_int_equal(n_asked, 6); /* once for each address */
	assert_int_equal(w.functions[0].samples, 4);
	assert_string_equal(w.functions[0].name, "even");
	assert_string_equal(w.functions[0].module, "ten");
	assert_string_equal(w.functions[0].process, "ten");
	assert_int_equal(w.functions[1].samples, 2);
	assert_string_equal(w.functions[1].name, "[unknown]");
	assert_string_equal(w.functions[1].module, "twenty");
	for (size_t i = 2; i < 5; i++) {
		const struct live_function *f = &w.functions[i];

		assert_int_equal(f->samples, 1);
		assert_int_equal(f->kernel, strcmp(f->module, "[mod]") == 0);
		if (strcmp(f->process, "ten") == 0)
			assert_string_equal(f->module, "");
	}
	assert_int_equal(w.processes[0].samples + w.processes[1].samples, 9);

	/* Mappings are kept beyond the window. */
	sample(l, 1110, 10, 10, 0x40010);
	_window_ v = close_at(l, 1200);
	assert_int_equal(v.n_functions, 1);
	assert_string_equal(v.functions[0].module, "ten");
}

/*
 * Windows end at multiples of the interval, however late that is known, or at the end of the
 * recording.
 */
TEST(test_grid)
{
	struct live *l = *state;

	_window_ a = close_at(l, 1050);
	assert_int_equal(a.end_ns, 1100);
	_window_ b = close_at(l, 1777);
	assert_int_equal(b.start_ns, 1100);
	assert_int_equal(b.end_ns, 1700);
	assert_int_equal(live_end_ns(l), 1800);

	struct live_window c = { 0 };
	assert_int_equal(
		live_close(l, &(struct live_close_args){ .now_ns = 1750, .last = true }, &c), 0);
	assert_int_equal(c.start_ns, 1700);
	assert_int_equal(c.end_ns, 1750);
	live_window_deinit(&c);
}

/* Windows that are not shown reset the counts, too. */
TEST(test_unseen)
{
	struct live *l = *state;

	tell(l, sw(1010, 0, 0, 10));
	tell(l, (struct event){ .kind = EVENT_LOST,
				.ts_ns = 1040,
				.lost = { .class_name = "sched", .count = 4 } });
	assert_int_equal(live_close(l, &(struct live_close_args){ .now_ns = 1100 }, NULL), 0);
	_window_ w = close_at(l, 1200);
	assert_int_equal(w.n_events, 0);
	assert_int_equal(w.n_lost_ever, 4);
	/* Since the loss, the CPU's activity is unknown, except that no other thread ran there. */
	assert_int_equal(w.cpus[0].busy_ns, 100);
}

TEST(test_ended)
{
	struct live *l = *state;
	const uint32_t *pids;
	size_t n;

	tell(l, sw(1010, 0, 0, 20));
	tell(l, (struct event){ .kind = EVENT_EXIT,
				.ts_ns = 1020,
				.pid = 20,
				.tid = 20,
				.exit = { .process_ends = true } });
	tell(l, sw(1030, 0, 20, 0));
	live_ended(l, &n);
	assert_int_equal(n, 0);
	_window_ w = close_at(l, 1100);
	assert_int_equal(w.n_processes, 1);
	assert_string_equal(w.processes[0].name, "twenty");
	pids = live_ended(l, &n);
	assert_int_equal(n, 1);
	assert_int_equal(pids[0], 20);
	_window_ v = close_at(l, 1200);
	assert_int_equal(v.n_processes, 0);
	live_ended(l, &n);
	assert_int_equal(n, 0);
}

/*
 * The number of mappings without room since the begin of the recording, besides those of set_up().
 * Later windows show it, too.
 */
LARGE_TEST(test_unmapped)
{
	struct live *l = *state;

	for (unsigned i = 0; i < MAPS_MAX; i++)
		tell(l, (struct event){ .kind = EVENT_MAPPING,
					.ts_ns = 1010,
					.pid = 20,
					.tid = 20,
					.mapping = { .start = 4096 * (1 + (uint64_t)i),
						     .size = 4096,
						     .path = "/a" } });
	for (uint64_t end = 1100; end <= 1200; end += 100) {
		_window_ w = close_at(l, end);
		assert_int_equal(w.n_unmapped, 2);
	}
}

#define WITH_LIVE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		WITH_LIVE(test_window), WITH_LIVE(test_functions), WITH_LIVE(test_grid),
		WITH_LIVE(test_unseen), WITH_LIVE(test_ended),     WITH_LIVE(test_unmapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
