/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "tests/support/fixtures/why-views.h"

static void call(struct views *v, uint32_t tid, const char *function, uint64_t from, uint64_t to,
		 const char *left_by)
{
	feed(v,
	     (struct event){ .kind = EVENT_CALL,
			     .ts_ns = from,
			     .pid = tid,
			     .tid = tid,
			     .call = { .function = function, .end_ns = to, .left_by = left_by } });
}

static void mark(struct views *v, uint64_t ts, const char *text)
{
	feed(v, (struct event){ .kind = EVENT_MARK, .ts_ns = ts, .mark = { .text = text } });
}

/*
 * HIGH runs for 10 ms, waits for a lock that LOW has until 40 ms, is ready until 50 ms, since LOW
 * has its CPU, and runs until 60 ms. It waits until 70 ms for a timer, and runs until the end.
 */
static void work(struct views *v)
{
	begin(v, 0);
	task(v, HIGH, "high");
	task(v, LOW, "low");
	frame(v, KERNEL + MUTEX_AT, "futex_lock_pi");
	frame(v, KERNEL + TIMER_AT, "do_nanosleep");
	sw_on(v, 0, 0, 0, 'R', HIGH);
	sw_on(v, 0, 10 * MS, HIGH, 'S', LOW);
	wake(v, 40 * MS, HIGH, LOW);
	sw_on(v, 0, 50 * MS, LOW, 'S', HIGH);
	offcpu(v, HIGH, 10 * MS, 50 * MS, MUTEX_AT, NULL, NULL);
	sw_on(v, 0, 60 * MS, HIGH, 'S', 0);
	sw_on(v, 0, 70 * MS, 0, 'R', HIGH);
	offcpu(v, HIGH, 60 * MS, 70 * MS, TIMER_AT, NULL, NULL);
}

static struct why_options calls_of(const char *function)
{
	return (struct why_options){ .what = WHY_INSTANCE_CALL, .span = function };
}

static struct why_options between(const char *from, const char *to)
{
	return (struct why_options){ .what = WHY_INSTANCE_BETWEEN,
				     .between_from = from,
				     .between_to = to };
}

/* A call is split by cause, explained by its longest wait, and has a path without gaps. */
TEST(test_call)
{
	const struct why_instance *worst;
	uint64_t ns = 0;
	struct views v;

	open_views(&v, calls_of("fsync"));
	work(&v);
	call(&v, HIGH, "fsync", 5 * MS, 55 * MS, "");
	call(&v, HIGH, "fsync", 56 * MS, 57 * MS, "");
	call(&v, HIGH, "read", 58 * MS, 99 * MS, "");
	end(&v, 100 * MS, 0);
	assert_int_equal(v.why->n_instances, 2);
	assert_int_equal(v.why->n_worst, 2);
	worst = &v.why->worst[0];
	assert_int_equal(worst->what, WHY_INSTANCE_CALL);
	assert_int_equal(worst->tid, HIGH);
	assert_string_equal(worst->name, "fsync");
	assert_int_equal(worst->from_ns, 5 * MS);
	assert_int_equal(worst->to_ns, 55 * MS);
	assert_int_equal(worst->times.running_ns, 10 * MS);
	assert_int_equal(worst->times.blocked_ns[WAIT_LOCK], 30 * MS);
	assert_int_equal(worst->times.runnable_ns, 10 * MS);
	assert_int_equal(worst->times.holders[0].tid, LOW);
	assert_int_equal(worst->verdict_of_wait.cause, WAIT_LOCK);
	assert_int_equal(worst->wait_ns, 10 * MS);
	assert_int_equal(worst->verdict.kind, WHY_LOCK_HELD);
	assert_int_equal(worst->verdict.culprit, LOW);
	for (size_t i = 0; i < worst->path.n_steps; i++)
		ns += worst->path.steps[i].to_ns - worst->path.steps[i].from_ns;
	assert_int_equal(ns, 50 * MS);
	assert_int_equal(v.why->worst[1].verdict.kind, WHY_RUNS);
	/* The sums are those of the calls. */
	assert_int_equal(v.why->n_threads, 1);
	assert_int_equal(v.why->threads[0].n_waits, 2);
	assert_int_equal(v.why->total.total_ns, 51 * MS);
	assert_int_equal(v.why->total.running_ns, 11 * MS);
	assert_int_equal(v.why->total.holders[0].ns, 10 * MS);
	assert_int_equal(v.why->threads[0].times.holders[0].ns, 10 * MS);
	assert_int_equal(v.why->durations.n, 2);
	assert_int_equal(v.why->durations.max_ns, 50 * MS);
	assert_int_equal(v.why->n_partial, 0);
	close_views(&v);
}

/* A call of one nanosecond, in which nothing but the state of the thread is known. */
TEST(test_shortest_call)
{
	struct views v;

	open_views(&v, calls_of("f"));
	work(&v);
	call(&v, HIGH, "f", 5 * MS, 5 * MS + 1, "");
	call(&v, HIGH, "f", 6 * MS, 6 * MS, "");
	end(&v, 100 * MS, 0);
	assert_int_equal(v.why->n_instances, 2);
	assert_int_equal(v.why->durations.n, 2);
	assert_int_equal(v.why->n_worst, 1);
	assert_int_equal(v.why->worst[0].verdict.kind, WHY_RUNS);
	close_views(&v);
}

/* A thread that did not exist for most of the time. */
TEST(test_absent)
{
	struct why_options options = between("a", "b");
	struct views v;

	options.wants = wants_one;
	options.userdata = &only_high;
	open_views(&v, options);
	begin(&v, 0);
	task(&v, LOW, "low");
	sw_on(&v, 0, 0, 0, 'R', LOW);
	mark(&v, 10 * MS, "a");
	feed(&v, (struct event){ .kind = EVENT_FORK,
				 .ts_ns = 70 * MS,
				 .pid = LOW,
				 .tid = LOW,
				 .fork = { .child_pid = HIGH, .child_tid = HIGH } });
	task(&v, HIGH, "high");
	wake(&v, 70 * MS, HIGH, LOW);
	sw_on(&v, 0, 80 * MS, LOW, 'R', HIGH);
	mark(&v, 90 * MS, "b");
	end(&v, 100 * MS, 0);
	assert_int_equal(v.why->n_instances, 1);
	assert_int_equal(v.why->worst[0].times.absent_ns, 60 * MS);
	assert_string_equal(v.why->worst[0].verdict.text,
			    "high (11) ran for 10.0 ms, was ready for 10.0 ms and waited for 0 ns; "
			    "it did not exist for 60.0 ms.");
	close_views(&v);
}

static uint64_t count_calls(const char *pattern)
{
	struct views v;
	uint64_t n;

	open_views(&v, calls_of(pattern));
	work(&v);
	call(&v, HIGH, "fsync", 5 * MS, 6 * MS, "");
	call(&v, HIGH, "fdatasync", 7 * MS, 8 * MS, "");
	call(&v, LOW, "ns::sync", 20 * MS, 21 * MS, "");
	end(&v, 100 * MS, 0);
	n = v.why->n_instances;
	close_views(&v);
	return n;
}

TEST(test_patterns)
{
	assert_int_equal(count_calls("fsync"), 1);
	assert_int_equal(count_calls("libc.so.6:fsync"), 1);
	assert_int_equal(count_calls("syscall:f*sync"), 2);
	assert_int_equal(count_calls("*"), 3);
	assert_int_equal(count_calls("ns::sync"), 1);
	assert_int_equal(count_calls("prog:ns::sync"), 1);
	assert_int_equal(count_calls("sync"), 0);
	assert_int_equal(count_calls("fsync:"), 0);
}

/* A call that has not ended, that began before the part, or that the window cuts. */
TEST(test_partial_calls)
{
	struct why_options options = calls_of("f");
	struct views v;

	options.from_ns = 20 * MS;
	options.to_ns = 90 * MS;
	open_views(&v, options);
	work(&v);
	call(&v, HIGH, "f", 1 * MS, 20 * MS, "");     /* before it */
	call(&v, HIGH, "f", 5 * MS, 40 * MS, "");     /* 20 ms in it */
	call(&v, HIGH, "f", 50 * MS, 55 * MS, "");    /* whole */
	call(&v, HIGH, "f", 56 * MS, 57 * MS, "cut"); /* began before the part */
	call(&v, HIGH, "f", 58 * MS, 100 * MS, "open");
	call(&v, HIGH, "f", 90 * MS, 91 * MS, ""); /* after it */
	end(&v, 100 * MS, 0);
	assert_int_equal(v.why->n_instances, 4);
	assert_int_equal(v.why->n_partial, 3);
	assert_int_equal(v.why->durations.n, 1);
	assert_int_equal(v.why->durations.max_ns, 5 * MS);
	assert_int_equal(v.why->worst[0].from_ns, 58 * MS);
	assert_int_equal(v.why->worst[0].to_ns, 90 * MS);
	assert_true(v.why->worst[0].partial);
	/* (the window ends before the call does) */
	assert_false(v.why->worst[0].open);
	assert_int_equal(v.why->worst[1].from_ns, 20 * MS);
	assert_int_equal(v.why->worst[1].to_ns, 40 * MS);
	close_views(&v);
}

/* A call that is open is described so only if its thread still waits. */
TEST(test_open_call)
{
	struct views v;

	open_views(&v, calls_of("*"));
	begin(&v, 0);
	task(&v, HIGH, "high");
	frame(&v, KERNEL + MUTEX_AT, "futex_lock_pi");
	sw_on(&v, 0, 1, 0, 'R', HIGH);
	sw_on(&v, 0, 10 * MS, HIGH, 'S', 0);
	offcpu(&v, HIGH, 10 * MS, 100 * MS, MUTEX_AT, "open", NULL);
	call(&v, HIGH, "lock", 5 * MS, 100 * MS, "open");
	end(&v, 100 * MS, 0);
	assert_true(v.why->worst[0].open);
	assert_int_equal(v.why->worst[0].verdict.kind, WHY_LOCK_OPEN);
	assert_int_equal(v.why->durations.n, 0);
	assert_int_equal(v.why->n_partial, 1);
	close_views(&v);

	open_views(&v, calls_of("*"));
	work(&v);
	call(&v, HIGH, "lock", 5 * MS, 100 * MS, "open");
	end(&v, 100 * MS, 0);
	assert_true(v.why->worst[0].open);
	assert_int_not_equal(v.why->worst[0].verdict.kind, WHY_LOCK_OPEN);
	close_views(&v);
}

/* Without scheduling records of a thread, its waits are unknown, but its calls count. */
TEST(test_call_without_schedule)
{
	struct views v;

	open_views(&v, calls_of("*"));
	work(&v);
	call(&v, OTHER, "f", 5 * MS, 10 * MS, "");
	end(&v, 100 * MS, 0);
	assert_int_equal(v.why->n_threads, 1);
	assert_int_equal(v.why->worst[0].tid, OTHER);
	assert_int_equal(v.why->worst[0].times.unknown_ns, 5 * MS);
	assert_int_equal(v.why->worst[0].verdict.certainty, WHY_POSSIBLE);
	assert_int_equal(v.why->worst[0].verdict.kind, WHY_TOO_LITTLE);
	assert_string_equal(v.why->worst[0].verdict.text,
			    "Possibly: the state of thread 14 is unknown for 5.00 ms.");
	close_views(&v);
}

TEST(test_left_out)
{
	struct views v;

	open_views(&v, calls_of("libc.so.6:fsync"));
	work(&v);
	feed(&v, (struct event){ .kind = EVENT_LEFT_OUT,
				 .left_out = { .function = "fsync", .count = 3 } });
	feed(&v, (struct event){ .kind = EVENT_LEFT_OUT,
				 .left_out = { .function = "read", .count = 5 } });
	call(&v, HIGH, "fsnyc", 5 * MS, 10 * MS, "");
	end(&v, 100 * MS, 0);
	assert_int_equal(why_get_spans(v.why)->n_left_out, 3);
	assert_true(why_get_spans(v.why)->seen);
	assert_string_equal(why_get_spans(v.why)->near.nearest, "fsnyc");
	assert_int_equal(v.why->n_threads, 0);
	close_views(&v);
}

/* Further calls are counted, but not split. */
TEST(test_too_many_calls)
{
	struct why_options options = calls_of("f");
	struct views v;

	options.max_splits = 2;
	open_views(&v, options);
	work(&v);
	for (uint64_t i = 0; i < 5; i++)
		call(&v, HIGH, "f", (1 + i) * MS, (2 + i) * MS, "");
	end(&v, 100 * MS, 0);
	assert_int_equal(v.why->n_instances, 2);
	assert_int_equal(v.why->n_spans_dropped, 3);
	close_views(&v);
}

/* The calls of the part that was forgotten are forgotten, too. */
TEST(test_forgotten_calls)
{
	const struct history_limits limits = { .segments = 500 };
	struct why_options options = calls_of("f");
	struct views v;

	options.limits = &limits;
	open_views(&v, options);
	begin(&v, 0);
	for (uint64_t i = 1; i < 2000; i++) {
		sw_on(&v, 0, i * MS, i % 2 ? HIGH : LOW, 'R', i % 2 ? LOW : HIGH);
		call(&v, HIGH, "f", i * MS, i * MS + MS / 2, "");
	}
	end(&v, 2000 * MS, 0);
	assert_true(v.why->forgotten_ns > 1000 * MS);
	assert_true(v.why->n_instances > 0);
	assert_true(v.why->n_instances <= (v.why->to_ns - v.why->from_ns) / MS + 1);
	assert_int_equal(v.why->total.unknown_ns, 0);
	close_views(&v);
}

/* From each mark to the next one: the marks can be late in the file, and an end can serve twice. */
TEST(test_between)
{
	struct why_options options = between("a*", "b");
	struct views v;

	options.wants = wants_one;
	options.userdata = &only_high;
	options.with_idle = true;
	open_views(&v, options);
	work(&v);
	mark(&v, 55 * MS, "b");
	mark(&v, 20 * MS, "a2");
	mark(&v, 5 * MS, "a1");
	mark(&v, 60 * MS, "b");
	mark(&v, 70 * MS, "c");
	mark(&v, 95 * MS, "a3");
	end(&v, 100 * MS, 0);
	assert_int_equal(v.why->n_instances, 3);
	assert_int_equal(v.why->worst[0].from_ns, 5 * MS);
	assert_int_equal(v.why->worst[0].to_ns, 55 * MS);
	assert_string_equal(v.why->worst[0].name, "a1 to b");
	assert_int_equal(v.why->worst[0].verdict.kind, WHY_LOCK_HELD);
	assert_int_equal(v.why->worst[1].from_ns, 20 * MS);
	assert_int_equal(v.why->worst[1].to_ns, 55 * MS);
	assert_int_equal(v.why->worst[1].times.blocked_ns[WAIT_LOCK], 20 * MS);
	/* Without a mark at its end, it lasts until the end. */
	assert_int_equal(v.why->worst[2].from_ns, 95 * MS);
	assert_int_equal(v.why->worst[2].to_ns, 100 * MS);
	assert_true(v.why->worst[2].open);
	assert_string_equal(v.why->worst[2].name, "a3 to the end");
	assert_int_equal(v.why->durations.n, 2);
	assert_int_equal(v.why->n_partial, 1);
	close_views(&v);
}

/* The same pattern for both: from each mark to the next. A mark does not end its own interval. */
TEST(test_between_same)
{
	struct why_options options = between("frame", "frame");
	struct views v;

	options.wants = wants_one;
	options.userdata = &only_high;
	open_views(&v, options);
	work(&v);
	for (uint64_t i = 1; i <= 5; i++)
		mark(&v, i * 10 * MS, "frame");
	end(&v, 100 * MS, 0);
	assert_int_equal(v.why->n_instances, 5);
	assert_int_equal(v.why->durations.n, 4);
	assert_int_equal(v.why->durations.max_ns, 10 * MS);
	assert_int_equal(v.why->durations.sum_ns, 40 * MS);
	close_views(&v);
}

/* Of all threads, those that did nothing but wait for work are no instances. */
TEST(test_between_all)
{
	struct views v;

	open_views(&v, between("a", "b"));
	task(&v, MID, "mid");
	work(&v);
	sw_on(&v, 1, 1 * MS, 0, 'R', MID);
	sw_on(&v, 1, 2 * MS, MID, 'S', 0);
	offcpu(&v, MID, 2 * MS, 100 * MS, TIMER_AT, "open", NULL);
	mark(&v, 5 * MS, "a");
	mark(&v, 55 * MS, "b");
	end(&v, 100 * MS, 0);
	assert_int_equal(v.why->n_instances, 2);
	/* Both are equally long. HIGH was busy for the whole time, LOW was for 40 ms of it. */
	assert_int_equal(v.why->worst[0].tid, HIGH);
	assert_int_equal(v.why->worst[1].tid, LOW);
	assert_int_equal(v.why->worst[1].times.running_ns, 40 * MS);
	assert_int_equal(v.why->threads[0].tid, HIGH);
	close_views(&v);
}

/* Locks count; sleeps count only if the thread was named. The longest is the first. */
static void end_with_open_waits(struct views *v)
{
	begin(v, 0);
	task(v, HIGH, "high");
	task(v, LOW, "low");
	task(v, MID, "mid");
	frame(v, KERNEL + MUTEX_AT, "futex_lock_pi");
	frame(v, KERNEL + TIMER_AT, "do_nanosleep");
	sw_on(v, 0, 1, 0, 'R', LOW);
	sw_on(v, 0, 20 * MS, LOW, 'S', HIGH);
	sw_on(v, 0, 30 * MS, HIGH, 'S', 0);
	offcpu(v, LOW, 20 * MS, 100 * MS, MUTEX_AT, "open", NULL);
	offcpu(v, HIGH, 30 * MS, 100 * MS, TIMER_AT, "open", NULL);
	offcpu(v, MID, 0, 100 * MS, MUTEX_AT, "open", "earlier");
}

TEST(test_open_waits)
{
	const struct why_open_wait *o;
	struct views v;

	open_views(&v, (struct why_options){ 0 });
	end_with_open_waits(&v);
	end(&v, 100 * MS, 0);
	assert_int_equal(v.why->n_open_waits, 2);
	assert_int_equal(v.why->n_open_waits_all, 2);
	o = v.why->open_waits;
	assert_int_equal(o[0].tid, MID);
	assert_int_equal(o[0].ns, 100 * MS);
	assert_true(o[0].earlier);
	assert_int_equal(o[1].tid, LOW);
	assert_int_equal(o[1].ns, 80 * MS);
	assert_false(o[1].earlier);
	assert_int_equal(o[1].verdict.cause, WAIT_LOCK);
	assert_non_null(why_find_wait(v.why, LOW, o[1].from_ns));
	close_views(&v);

	open_views(&v, (struct why_options){ .with_idle = true });
	end_with_open_waits(&v);
	end(&v, 100 * MS, 0);
	assert_int_equal(v.why->n_open_waits, 3);
	assert_int_equal(v.why->open_waits[2].tid, HIGH);
	assert_int_equal(v.why->open_waits[2].ns, 70 * MS);
	close_views(&v);

	/* At the end of a window, a wait is open even if it ended later. */
	open_views(&v, (struct why_options){ .to_ns = 30 * MS });
	work(&v);
	end(&v, 100 * MS, 0);
	assert_int_equal(v.why->n_open_waits, 1);
	assert_int_equal(v.why->open_waits[0].tid, HIGH);
	assert_int_equal(v.why->open_waits[0].ns, 20 * MS);
	close_views(&v);
}

/* The recording ends in a pause: the wait is known until its begin. */
TEST(test_open_wait_before_pause)
{
	struct views v;

	open_views(&v, (struct why_options){ 0 });
	begin(&v, 0);
	task(&v, HIGH, "high");
	frame(&v, KERNEL + MUTEX_AT, "futex_lock_pi");
	sw_on(&v, 0, 1, 0, 'R', HIGH);
	sw_on(&v, 0, 10 * MS, HIGH, 'S', 0);
	offcpu(&v, HIGH, 10 * MS, 30 * MS, MUTEX_AT, "open", NULL);
	feed(&v,
	     (struct event){ .kind = EVENT_SHED, .ts_ns = 30 * MS, .shed = { .what = "session" } });
	end(&v, 100 * MS, 0);
	assert_int_equal(v.why->n_open_waits, 1);
	assert_int_equal(v.why->open_waits[0].ns, 20 * MS);
	close_views(&v);
}

/* Waits have percentiles, too. Those that the window cuts do not count. */
TEST(test_durations_of_waits)
{
	struct views v;

	open_views(&v, (struct why_options){
			       .wants = wants_one, .userdata = &only_high, .with_idle = true });
	work(&v);
	sw_on(&v, 0, 99 * MS, HIGH, 'S', 0);
	end(&v, 100 * MS, 0);
	assert_int_equal(v.why->n_instances, 3);
	assert_int_equal(v.why->durations.n, 2);
	assert_int_equal(v.why->durations.max_ns, 40 * MS);
	assert_int_equal(v.why->n_partial, 1);
	close_views(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_call),
		cmocka_unit_test(test_shortest_call),
		cmocka_unit_test(test_absent),
		cmocka_unit_test(test_patterns),
		cmocka_unit_test(test_partial_calls),
		cmocka_unit_test(test_open_call),
		cmocka_unit_test(test_call_without_schedule),
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_too_many_calls),
		cmocka_unit_test(test_forgotten_calls),
		cmocka_unit_test(test_between),
		cmocka_unit_test(test_between_same),
		cmocka_unit_test(test_between_all),
		cmocka_unit_test(test_open_waits),
		cmocka_unit_test(test_open_wait_before_pause),
		cmocka_unit_test(test_durations_of_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
