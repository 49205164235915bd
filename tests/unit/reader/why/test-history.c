/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "model/event.h"
#include "reader/why/cpu-use.h"
#include "reader/why/history.h"
#include "tests/support/unit.h"

enum { THREADS = 6, SEGMENTS = 60, CPUS = 3, TURNS = 80 };

static unsigned pick(unsigned *seed, unsigned n)
{
	*seed = *seed * 1103515245 + 12345;
	return *seed / 65536 % n;
}

static void sw(struct history *h, uint64_t ts, uint32_t cpu, uint32_t out, uint32_t in)
{
	const struct event ev = {
		.kind = EVENT_SWITCH, .ts_ns = ts, .cpu = cpu, .tid = out, .sw.next_tid = in
	};

	assert_int_equal(history_add(h, &ev), 0);
}

static void interrupt(struct history *h, uint32_t cpu, uint64_t from, uint64_t to)
{
	const struct event ev = { .kind = EVENT_INTERVAL,
				  .ts_ns = from,
				  .cpu = cpu,
				  .interval = {
					  .kind = INTERVAL_IRQ, .name = "eth0", .end_ns = to } };

	assert_int_equal(history_add(h, &ev), 0);
}

static struct thread_segment random_segment(unsigned *seed, uint32_t tid, uint64_t from_ns)
{
	static const char letters[] = { 0, 'R', 'S', 'D', 'T', 't', 'X', 'Z', 'P', 'I' };

	return (struct thread_segment){
		.tid = tid,
		.state = pick(seed, THREAD_STATES),
		.end = pick(seed, 3),
		.from_ns = from_ns,
		.to_ns = from_ns + pick(seed, 4),
		.cpu = pick(seed, 65536),
		.letter = letters[pick(seed, sizeof(letters))],
		.throttled = pick(seed, 2),
		.preempted = pick(seed, 2),
		.continued = pick(seed, 2),
		.waker_tid = pick(seed, 65536) << 8,
		.woken = pick(seed, 2),
	};
}

static void assert_same(const struct thread_segment *a, const struct thread_segment *b)
{
	assert_int_equal(a->tid, b->tid);
	assert_int_equal(a->state, b->state);
	assert_int_equal(a->end, b->end);
	assert_int_equal(a->from_ns, b->from_ns);
	assert_int_equal(a->to_ns, b->to_ns);
	assert_int_equal(a->cpu, b->cpu);
	assert_int_equal(a->letter, b->letter);
	assert_int_equal(a->throttled, b->throttled);
	assert_int_equal(a->preempted, b->preempted);
	assert_int_equal(a->continued, b->continued);
	assert_int_equal(a->waker_tid, b->waker_tid);
	assert_int_equal(a->woken, b->woken);
}

/* Segments of a thread follow each other. They are added in turns. */
static void make_segments(struct history *h, unsigned *seed,
			  struct thread_segment list[THREADS][SEGMENTS])
{
	uint64_t to_ns[THREADS];

	for (unsigned t = 0; t < THREADS; t++)
		to_ns[t] = 10 + pick(seed, 10);
	for (unsigned i = 0; i < SEGMENTS; i++) {
		for (unsigned t = 0; t < THREADS; t++) {
			list[t][i] = random_segment(seed, 100 - t, to_ns[t]);
			to_ns[t] = list[t][i].to_ns;
			assert_int_equal(history_add_segment(h, &list[t][i]), 0);
		}
	}
}

static const struct thread_segment *find_plainly(const struct thread_segment list[SEGMENTS],
						 uint64_t at_ns)
{
	for (unsigned i = 0; i < SEGMENTS; i++)
		if (list[i].from_ns < at_ns && at_ns <= list[i].to_ns)
			return &list[i];
	return NULL;
}

static void compare(const struct history *h, const struct thread_segment list[SEGMENTS],
		    uint64_t from_ns)
{
	struct history_span span;

	for (uint64_t at = from_ns ?: 1; at < 20 + 4 * SEGMENTS; at++) {
		const struct thread_segment *s = find_plainly(list, at);

		size_t pos = history_seek(h, list[0].tid, at - 1);

		assert_int_equal(history_find(h, list[0].tid, at, &span), s != NULL);
		if (!s)
			continue;
		assert_same(&span.segment, s);
		assert_true(history_next(h, list[0].tid, &pos, &span));
		assert_same(&span.segment, s);
	}
}

TEST(test_segments)
{
	struct thread_segment list[THREADS][SEGMENTS];

	for (unsigned round = 0; round < unit_rounds(1000); round++) {
		_cleanup_(history_freep) struct history *h = NULL;
		unsigned seed = round;
		const uint32_t *tids;
		size_t n;

		assert_int_equal(history_new(&h, NULL), 0);
		make_segments(h, &seed, list);
		for (unsigned t = 0; t < THREADS; t++)
			compare(h, list[t], 0);
		tids = history_threads(h, &n);
		assert_int_equal(n, THREADS);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(tids[i], 100 - THREADS + 1 + i);
		/* The rest is unchanged. */
		history_forget(h, 60);
		assert_int_equal(history_begin_ns(h), 60);
		for (unsigned t = 0; t < THREADS; t++)
			compare(h, list[t], 61);
	}
}

TEST(test_limits)
{
	const struct history_limits limits = { .segments = 400, .slices = 100, .interrupts = 100 };
	struct thread_segment s = { .tid = 5, .state = THREAD_RUNNING };
	_cleanup_(history_freep) struct history *h = NULL;
	struct history_span span;
	int r = 0;

	assert_int_equal(history_new(&h, &limits), 0);
	for (unsigned i = 0; r == 0; i++) {
		assert_true(i < 400);
		s.from_ns = s.to_ns;
		s.to_ns += 10;
		r = history_add_segment(h, &s);
	}
	assert_int_equal(r, -ENOBUFS);
	assert_true(history_is_full(h));
	history_forget(h, s.from_ns / 2);
	assert_false(history_is_full(h));
	assert_false(history_find(h, 5, 10, &span));
	assert_int_equal(history_add_segment(h, &s), 0);
	assert_true(history_find(h, 5, s.to_ns, &span));
	/* A thread that has nothing any more is forgotten. */
	history_forget(h, s.to_ns + 1);
	assert_int_equal(history_end_ns(h, 5), 0);
}

/* Gaps and overlaps do not occur in sound archives. */
TEST(test_disorder)
{
	struct thread_segment s = { .tid = 5, .state = THREAD_RUNNING, .from_ns = 10, .to_ns = 20 };
	_cleanup_(history_freep) struct history *h = NULL;
	struct history_span span;

	assert_int_equal(history_new(&h, NULL), 0);
	assert_int_equal(history_add_segment(h, &s), 0);
	s.from_ns = 15;
	s.to_ns = 18;
	assert_int_equal(history_add_segment(h, &s), 0);
	s.from_ns = 30;
	s.to_ns = 40;
	assert_int_equal(history_add_segment(h, &s), 0);
	assert_true(history_find(h, 5, 25, &span));
	assert_int_equal(span.segment.state, THREAD_UNKNOWN);
	assert_int_equal(span.segment.from_ns, 20);
	assert_int_equal(span.segment.to_ns, 30);
	s.tid = 0;
	assert_int_equal(history_add_segment(h, &s), 0);
	assert_false(history_find(h, 0, 35, &span));
}

TEST(test_creation)
{
	const struct event fork = { .kind = EVENT_FORK,
				    .ts_ns = 10,
				    .tid = 7,
				    .fork = { .child_pid = 8, .child_tid = 8 } };
	struct thread_segment s = {
		.tid = 8, .state = THREAD_RUNNABLE, .from_ns = 10, .to_ns = 20
	};
	_cleanup_(history_freep) struct history *h = NULL;
	struct history_span span;
	size_t pos = 0;

	assert_int_equal(history_new(&h, NULL), 0);
	assert_int_equal(history_add(h, &fork), 0);
	assert_false(history_next(h, 8, &pos, &span));
	assert_int_equal(history_add_segment(h, &s), 0);
	s.from_ns = 20;
	s.to_ns = 30;
	assert_int_equal(history_add_segment(h, &s), 0);
	assert_true(history_next(h, 8, &pos, &span));
	assert_int_equal(span.creator_tid, 7);
	assert_true(history_next(h, 8, &pos, &span));
	assert_int_equal(span.creator_tid, 0);
	assert_false(history_next(h, 8, &pos, &span));
	/* The first segment is gone. */
	history_forget(h, 25);
	pos = 0;
	assert_true(history_next(h, 8, &pos, &span));
	assert_int_equal(span.creator_tid, 0);
}

/* A thread that waited before the recording began, and one that has no event at all. */
TEST(test_earlier)
{
	struct thread_segment s = { .tid = 5,
				    .state = THREAD_RUNNABLE,
				    .from_ns = 50,
				    .to_ns = 60,
				    .woken = true,
				    .waker_tid = 9 };
	_cleanup_(history_freep) struct history *h = NULL;
	struct history_span span;

	assert_int_equal(history_new(&h, NULL), 0);
	assert_int_equal(history_add_segment(h, &s), 0);
	history_finish(h, 100);
	assert_int_equal(history_add_earlier(h, &(struct history_earlier){ 5, 10, 60, 'D' }), 0);
	assert_int_equal(
		history_add_earlier(h, &(struct history_earlier){ 6, 10, UINT64_MAX, 'S' }), 0);
	assert_true(history_find(h, 5, 50, &span));
	assert_int_equal(span.segment.state, THREAD_BLOCKED);
	assert_int_equal(span.segment.from_ns, 10);
	assert_int_equal(span.segment.letter, 'D');
	assert_int_equal(span.segment.waker_tid, 9);
	assert_true(history_find(h, 6, 100, &span));
	assert_int_equal(span.segment.from_ns, 10);
	assert_int_equal(span.segment.end, THREAD_END_OPEN);
	/* It was not blocked earlier than its first event says. */
	assert_int_equal(history_add_earlier(h, &(struct history_earlier){ 5, 10, 60, 'D' }), 0);
	assert_true(history_find(h, 5, 60, &span));
	assert_int_equal(span.segment.from_ns, 50);
}

/* Records are missing after the end of the wait: it did not last longer than it says. */
TEST(test_earlier_end)
{
	struct thread_segment s = { .tid = 5,
				    .state = THREAD_RUNNABLE,
				    .from_ns = 50,
				    .to_ns = 60,
				    .woken = true,
				    .waker_tid = 9 };
	_cleanup_(history_freep) struct history *h = NULL;
	struct history_span span;

	assert_int_equal(history_new(&h, NULL), 0);
	assert_int_equal(history_add_segment(h, &s), 0);
	history_finish(h, 100);
	assert_int_equal(history_add_earlier(h, &(struct history_earlier){ 5, 10, 20, 'D' }), 0);
	assert_int_equal(history_add_earlier(h, &(struct history_earlier){ 6, 10, 20, 'S' }), 0);
	assert_true(history_find(h, 5, 20, &span));
	assert_int_equal(span.segment.state, THREAD_BLOCKED);
	assert_int_equal(span.segment.end, THREAD_END_GAP);
	assert_int_equal(span.segment.to_ns, 20);
	assert_false(span.segment.woken);
	assert_true(history_find(h, 5, 50, &span));
	assert_int_equal(span.segment.state, THREAD_UNKNOWN);
	assert_int_equal(history_end_ns(h, 6), 20);
}

/* Threads that were created, and have no segment, do not fill the history for ever. */
TEST(test_forks)
{
	const struct history_limits limits = { .segments = 4000 };
	_cleanup_(history_freep) struct history *h = NULL;
	size_t n;

	assert_int_equal(history_new(&h, &limits), 0);
	for (uint32_t i = 1; i <= 1000; i++) {
		const struct event fork = {
			.kind = EVENT_FORK, .ts_ns = i, .tid = 7, .fork = { .child_tid = 1000 + i }
		};
		int r = history_add(h, &fork);

		if (r == -ENOBUFS) {
			history_forget(h, i - 100);
			r = history_add(h, &fork);
		}
		assert_int_equal(r, 0);
	}
	history_threads(h, &n);
	assert_in_range(n, 100, 500);
}

/* Another koid of the thread on a CPU. */
TEST(test_exec)
{
	const struct event exec = {
		.kind = EVENT_EXEC, .ts_ns = 50, .tid = 8, .exec = { .old_tid = 9 }
	};
	const struct thread_segment s = {
		.tid = 9, .state = THREAD_RUNNING, .cpu = 2, .from_ns = 10, .to_ns = 50
	};
	_cleanup_(history_freep) struct history *h = NULL;
	struct history_slice slice;
	size_t pos = 0;

	assert_int_equal(history_new(&h, NULL), 0);
	sw(h, 10, 2, 0, 9);
	assert_int_equal(history_add_segment(h, &s), 0);
	assert_int_equal(history_add(h, &exec), 0);
	history_finish(h, 100);
	assert_true(history_next_slice(h, 2, 60, &pos, &slice));
	assert_int_equal(slice.tid, 8);
	assert_int_equal(slice.from_ns, 50);
}

/* ---- CPUs ---- */

/* The thread on each CPU in each nanosecond; UINT32_MAX = unknown. */
static uint32_t runs[CPUS][TURNS * 4];

static void make_turns(struct history *h, unsigned *seed)
{
	memset(runs, 0xff, sizeof(runs));
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		uint32_t tid = 0;
		uint64_t at = 5;

		for (unsigned i = 0; i < TURNS / 2; i++) {
			uint64_t to = at + 1 + pick(seed, 5);
			uint32_t next = pick(seed, 3);

			sw(h, at, cpu, tid, next);
			for (; at < to; at++)
				runs[cpu][at] = next;
			tid = next;
		}
		for (; at < TURNS * 4; at++)
			runs[cpu][at] = tid;
	}
	history_finish(h, TURNS * 4);
}

static void check_slices(const struct history *h, uint32_t cpu, uint64_t from_ns)
{
	struct history_slice slice;
	uint64_t at = from_ns < 5 ? 5 : from_ns;

	for (size_t pos = 0; history_next_slice(h, cpu, from_ns, &pos, &slice);) {
		assert_true(slice.from_ns <= at && at < slice.to_ns);
		for (; at < slice.to_ns; at++)
			assert_int_equal(runs[cpu][at], slice.tid);
	}
	assert_int_equal(at, TURNS * 4);
}

static void check_use(const struct history *h, uint32_t cpu, uint64_t from_ns, uint64_t to_ns)
{
	_cleanup_(idle_time_deinit) struct idle_time times = { 0 };
	_cleanup_(cpu_use_deinit) struct cpu_use use = { .idle = &times };
	uint64_t ns[3] = { 0 }, unknown_ns = 0, idle_ns = 0;
	const struct cpu_share *largest;

	for (uint64_t at = from_ns; at < to_ns; at++) {
		bool idle = false;

		for (uint32_t i = 0; i < CPUS; i++)
			idle |= i != cpu && runs[i][at] == 0;
		idle_ns += idle;
		if (runs[cpu][at] == UINT32_MAX)
			unknown_ns++;
		else
			ns[runs[cpu][at]]++;
	}
	assert_int_equal(idle_time_make(&times, h), 0);
	assert_int_equal(cpu_use_add(&use, h, cpu, from_ns, to_ns), 0);
	assert_int_equal(use.unknown_ns, unknown_ns);
	assert_int_equal(use.idle_ns, idle_ns);
	largest = cpu_use_largest(&use);
	assert_int_equal(largest != NULL, ns[0] + ns[1] + ns[2] > 0);
	for (unsigned i = 0; largest && i < 3; i++)
		assert_true(largest->ns >= ns[i] && largest->ns == ns[largest->tid]);
	cpu_use_clear(&use);
	assert_null(cpu_use_largest(&use));
}

TEST(test_slices)
{
	for (unsigned round = 0; round < unit_rounds(200); round++) {
		_cleanup_(history_freep) struct history *h = NULL;
		unsigned seed = round;

		assert_int_equal(history_new(&h, NULL), 0);
		make_turns(h, &seed);
		assert_true(history_n_cpus(h) >= CPUS);
		for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
			uint64_t from = pick(&seed, TURNS * 4);

			check_slices(h, cpu, from);
			check_use(h, cpu, from, from + pick(&seed, (unsigned)(TURNS * 4 - from)));
		}
		history_forget(h, TURNS);
		for (uint32_t cpu = 0; cpu < CPUS; cpu++)
			check_slices(h, cpu, TURNS);
	}
}

/* After a record that does not fit, the thread on the CPU is unknown. */
TEST(test_missing)
{
	const struct event lost = { .kind = EVENT_LOST,
				    .ts_ns = 60,
				    .lost = { .class_name = "sched", .first_ns = 50 } };
	_cleanup_(history_freep) struct history *h = NULL;
	struct history_slice slice;
	size_t pos = 0;

	assert_int_equal(history_new(&h, NULL), 0);
	sw(h, 10, 0, 0, 1);
	sw(h, 20, 0, 2, 3);
	sw(h, 30, 0, 3, 0);
	assert_int_equal(history_add(h, &lost), 0);
	history_finish(h, 100);
	assert_true(history_next_slice(h, 0, 0, &pos, &slice));
	assert_false(slice.known);
	assert_true(history_next_slice(h, 0, 0, &pos, &slice));
	assert_int_equal(slice.tid, 3);
	assert_true(slice.known);
	assert_true(history_next_slice(h, 0, 0, &pos, &slice));
	assert_int_equal(slice.to_ns, 50);
	assert_true(slice.known);
	assert_true(history_next_slice(h, 0, 0, &pos, &slice));
	assert_int_equal(slice.to_ns, 100);
	assert_false(slice.known);
	assert_false(history_next_slice(h, 0, 0, &pos, &slice));
}

TEST(test_interrupts)
{
	_cleanup_(history_freep) struct history *h = NULL;
	struct history_interrupt found;

	assert_int_equal(history_new(&h, NULL), 0);
	assert_int_equal(history_find_interrupt(h, 0, 15, &found), -ENODATA);
	/* The inner one ends first. */
	interrupt(h, 0, 14, 16);
	interrupt(h, 0, 10, 20);
	interrupt(h, 0, 30, 40);
	assert_int_equal(history_find_interrupt(h, 0, 15, &found), 1);
	assert_int_equal(found.from_ns, 14);
	assert_string_equal(found.name, "eth0");
	assert_int_equal(history_find_interrupt(h, 0, 18, &found), 1);
	assert_int_equal(found.from_ns, 10);
	assert_int_equal(history_find_interrupt(h, 0, 25, &found), 0);
	assert_int_equal(history_find_interrupt(h, 1, 15, &found), 0);
	assert_int_equal(history_interrupted_ns(h, 0, 0, 100), 20);
	assert_int_equal(history_interrupted_ns(h, 0, 12, 35), 13);
	assert_int_equal(history_interrupted_ns(h, 0, 20, 30), 0);
}

/* Handlers that overlap in any way, against each nanosecond. */
TEST(test_many_interrupts)
{
	enum { HANDLERS = 12, END = 100 };

	for (unsigned round = 0; round < unit_rounds(300); round++) {
		_cleanup_(history_freep) struct history *h = NULL;
		uint64_t from[HANDLERS], to[HANDLERS], sums[END + 1] = { 0 };
		unsigned seed = round;
		struct history_interrupt found;

		assert_int_equal(history_new(&h, NULL), 0);
		for (unsigned i = 0; i < HANDLERS; i++) {
			from[i] = pick(&seed, END);
			to[i] = from[i] + pick(&seed, i % 4 ? 8 : END);
			interrupt(h, 0, from[i], to[i]);
		}
		for (uint64_t at = 0; at < END; at++) {
			bool in = false, covers = false;

			for (unsigned i = 0; i < HANDLERS; i++) {
				in |= from[i] <= at && at <= to[i];
				covers |= from[i] <= at && at < to[i];
			}
			sums[at + 1] = sums[at] + covers;
			assert_int_equal(history_find_interrupt(h, 0, at, &found), in);
			if (in)
				assert_true(found.from_ns <= at && at <= found.to_ns);
		}
		for (uint64_t at = 0; at < END; at += 7)
			for (uint64_t end = at; end <= END; end += 3)
				assert_int_equal(history_interrupted_ns(h, 0, at, end),
						 sums[end] - sums[at]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_segments),        cmocka_unit_test(test_limits),
		cmocka_unit_test(test_disorder),        cmocka_unit_test(test_creation),
		cmocka_unit_test(test_earlier),         cmocka_unit_test(test_earlier_end),
		cmocka_unit_test(test_forks),           cmocka_unit_test(test_exec),
		cmocka_unit_test(test_many_interrupts), cmocka_unit_test(test_slices),
		cmocka_unit_test(test_missing),         cmocka_unit_test(test_interrupts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
