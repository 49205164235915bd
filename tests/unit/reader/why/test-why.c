/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "tests/support/fixtures/why-views.h"

/* LOW has a lock, HIGH needs it, and MID runs instead of LOW. Another CPU sleeps. */
static void invert(struct views *v)
{
	begin(v, 0);
	task(v, HIGH, "high");
	task(v, LOW, "low");
	task(v, MID, "mid");
	frame(v, KERNEL + MUTEX_AT, "futex_lock_pi");
	sw_on(v, 1, 1, 0, 'R', 0);
	sw_on(v, 0, 1, 0, 'R', HIGH);
	sw_on(v, 0, 10 * MS, HIGH, 'S', LOW);
	wake(v, 11 * MS, MID, LOW);
	sw_on(v, 0, 11 * MS, LOW, 'R', MID);
	sw_on(v, 0, 91 * MS, MID, 'S', LOW);
	wake(v, 92 * MS, HIGH, LOW);
	sw_on(v, 0, 93 * MS, LOW, 'R', HIGH);
	offcpu(v, HIGH, 10 * MS, 93 * MS, MUTEX_AT, NULL, NULL);
	sw_on(v, 0, 99 * MS, HIGH, 'S', LOW);
}

TEST(test_inversion)
{
	uint32_t wanted = HIGH;
	const struct why_instance *worst;
	const struct why_times *t;
	struct views v;

	open_views(&v, (struct why_options){ .wants = wants_one, .userdata = &wanted });
	invert(&v);
	end(&v, 100 * MS, 0);
	assert_int_equal(v.why->n_threads, 1);
	assert_true(v.why->n_worst >= 1);
	worst = &v.why->worst[0];
	assert_int_equal(worst->from_ns, 10 * MS);
	assert_int_equal(worst->to_ns, 93 * MS);
	assert_int_equal(worst->verdict.kind, WHY_INVERSION);
	assert_int_equal(worst->verdict.certainty, WHY_CERTAIN);
	assert_int_equal(worst->verdict.culprit, MID);
	assert_int_equal(worst->verdict.ns, 80 * MS);
	assert_int_equal(worst->verdict_of_wait.cause, WAIT_LOCK);
	assert_non_null(strstr(worst->verdict.text, "mid (13) had its CPU for 80.0 ms"));
	t = &v.why->total;
	assert_int_equal(t->blocked_ns[WAIT_LOCK], 82 * MS);
	assert_int_equal(t->runnable_ns, 1 * MS);
	assert_int_equal(t->running_ns, 16 * MS - 1);
	/* Its last wait is too short for a stack. */
	assert_int_equal(t->blocked_ns[WAIT_UNKNOWN], 1 * MS);
	close_views(&v);
}

/* The wakeup of HIGH is not recorded. The path leads to the owner of the lock, LOW. */
TEST(test_owner_of_ended_wait)
{
	const struct why_instance *worst;
	struct views v;

	wait_in(&v, NULL, 0);
	sw_on(&v, 1, 10 * MS, 0, 'R', LOW);
	sw_on(&v, 1, 11 * MS, LOW, 'R', MID);
	sw_on(&v, 1, 91 * MS, MID, 'S', LOW);
	woken_at(&v, HIGH, 10 * MS, 93 * MS, 0, LOW);
	sw_on(&v, 0, 93 * MS, 0, 'R', HIGH);
	end(&v, 100 * MS, 0);
	worst = &v.why->worst[0];
	assert_int_equal(worst->path.n_steps, 3);
	assert_int_equal(worst->path.steps[0].tid, LOW);
	assert_int_equal(worst->path.steps[0].kind, PATH_RUNNING);
	assert_int_equal(worst->path.steps[1].kind, PATH_RUNNABLE);
	assert_int_equal(worst->path.steps[1].holder, MID);
	assert_false(worst->path.steps[1].has_lock);
	assert_int_equal(worst->path.steps[2].tid, LOW);
	assert_int_equal(worst->path.steps[2].via, HIGH);
	assert_true(worst->path.steps[2].has_lock);
	assert_int_equal(worst->verdict.kind, WHY_INVERSION);
	assert_int_equal(worst->verdict.culprit, MID);
	assert_string_equal(
		worst->verdict.text,
		"high (11) waited 83.0 ms for a lock of the program. low (12) was ready "
		"for 80.0 ms, but mid (13) had its CPU for 80.0 ms. low (12) had the lock "
		"when the wait began.");
	close_views(&v);
}

/* Without a name, waits for unknown causes are no instances. */
TEST(test_everything)
{
	struct views v;

	open_views(&v, (struct why_options){ .min_ns = 2 * MS });
	invert(&v);
	end(&v, 100 * MS, 0);
	assert_int_equal(v.why->n_threads, 3);
	assert_int_equal(v.why->n_worst, 3);
	assert_int_equal(v.why->worst[0].tid, HIGH);
	/* LOW was ready meanwhile, and then while HIGH ran. */
	assert_int_equal(v.why->worst[1].tid, LOW);
	assert_int_equal(v.why->worst[1].verdict.kind, WHY_CPU_IDLE);
	assert_int_equal(v.why->worst[1].verdict.culprit, MID);
	assert_int_equal(v.why->worst[1].idle_cpu, 1);
	assert_int_equal(v.why->worst[2].tid, LOW);
	close_views(&v);
}

TEST(test_window)
{
	uint32_t wanted = LOW;
	struct views v;

	open_views(&v, (struct why_options){ .what = WHY_INSTANCE_WINDOW,
					     .wants = wants_one,
					     .userdata = &wanted,
					     .from_ns = 20 * MS,
					     .to_ns = 50 * MS });
	invert(&v);
	end(&v, 100 * MS, 0);
	assert_int_equal(v.why->from_ns, 20 * MS);
	assert_int_equal(v.why->to_ns, 50 * MS);
	assert_int_equal(v.why->n_worst, 1);
	assert_int_equal(v.why->worst[0].times.runnable_ns, 30 * MS);
	assert_int_equal(v.why->total.total_ns, 30 * MS);
	assert_int_equal(v.why->n_instances, 1);
	assert_int_equal(v.why->threads[0].n_waits, 1);
	assert_int_equal(v.why->threads[0].longest_ns, 30 * MS);
	close_views(&v);
}

/* A thread that is not among the first eight for any victim can be the first one of all. */
TEST(test_total_holders)
{
	enum { VICTIMS = 20, HOLDERS = 8, FIRST = 1000 };
	struct views v;

	open_views(&v, (struct why_options){ 0 });
	begin(&v, 0);
	for (uint32_t i = 0; i < VICTIMS; i++) {
		uint64_t at = i * 10 * MS;
		uint32_t victim = FIRST + i;

		sw_on(&v, 0, at + 1, i ? LOW : 0, 'S', victim);
		for (uint32_t k = 0; k < HOLDERS; k++)
			sw_on(&v, 0, at + 10 + k * 10000, k ? 2000 + i * HOLDERS + k - 1 : victim,
			      k ? 'S' : 'R', 2000 + i * HOLDERS + k);
		sw_on(&v, 0, at + 100000, 2000 + i * HOLDERS + HOLDERS - 1, 'S', LOW);
		sw_on(&v, 0, at + 109000, LOW, 'S', victim);
		sw_on(&v, 0, at + 110000, victim, 'S', LOW);
	}
	end(&v, 1000 * MS, 0);
	assert_int_equal(v.why->total.holders[0].tid, LOW);
	assert_int_equal(v.why->total.holders[0].ns, VICTIMS * 9000);
	close_views(&v);
}

/* HIGH waits twice, and no record of the schedule says when it was woken. */
static void wait_without_wakeups(struct views *v)
{
	static uint32_t wanted = HIGH;

	open_views(v, (struct why_options){ .wants = wants_one, .userdata = &wanted });
	begin(v, 0);
	task(v, HIGH, "high");
	task(v, LOW, "low");
	sw_on(v, 0, 1, 0, 'R', HIGH);
	sw_on(v, 1, 1, 0, 'R', LOW);
	sw_on(v, 0, 10 * MS, HIGH, 'S', MID);
	sw_on(v, 0, 90 * MS, MID, 'R', HIGH);
	sw_on(v, 0, 92 * MS, HIGH, 'S', MID);
	sw_on(v, 0, 95 * MS, MID, 'R', HIGH);
}

TEST(test_missing_wakeups)
{
	const struct why_times *t;
	struct views v;

	wait_without_wakeups(&v);
	woken_at(&v, HIGH, 10 * MS, 90 * MS, 30 * MS, LOW);
	woken_at(&v, HIGH, 92 * MS, 95 * MS, 93 * MS, 0);
	end(&v, 100 * MS, 0);
	assert_int_equal(v.why->sources.filled_wakeups, 2);
	assert_true(why_find_wait(v.why, HIGH, 10 * MS)->fills);
	t = &v.why->total;
	assert_int_equal(t->blocked_ns[WAIT_LOCK], 20 * MS);
	assert_int_equal(why_split_blocked(t), 21 * MS);
	assert_int_equal(t->runnable_ns, 62 * MS);
	assert_int_equal(t->woken_ns, 62 * MS);
	assert_int_equal(t->holders[0].tid, MID);
	assert_int_equal(v.why->worst[0].waker, LOW);
	/* LOW ran until it woke HIGH. Then HIGH was ready. */
	assert_int_equal(v.why->worst[0].path.n_steps, 2);
	assert_int_equal(v.why->worst[0].path.steps[0].tid, LOW);
	assert_int_equal(v.why->worst[0].path.steps[0].to_ns, 30 * MS);
	assert_int_equal(v.why->worst[0].path.steps[1].kind, PATH_RUNNABLE);
	assert_int_equal(v.why->worst[0].verdict.kind, WHY_CPU_TAKEN);
	close_views(&v);
}

/* With the records of the schedule, these are used. Estimates are not used. */
TEST(test_known_wakeups)
{
	const char *const unknown = "unknown";
	struct views v;

	wait_without_wakeups(&v);
	woken_at(&v, HIGH, 10 * MS, 90 * MS, 90 * MS, LOW);
	offcpu(&v, HIGH, 92 * MS, 95 * MS, MUTEX_AT, unknown, NULL);
	end(&v, 100 * MS, 0);
	assert_int_equal(v.why->sources.filled_wakeups, 0);
	assert_int_equal(v.why->total.runnable_ns, 0);
	close_views(&v);

	wait_in(&v, NULL, 0);
	sw_on(&v, 1, 11 * MS, 0, 'R', LOW);
	wake(&v, 30 * MS, HIGH, LOW);
	sw_on(&v, 0, 90 * MS, 0, 'R', HIGH);
	woken_at(&v, HIGH, 10 * MS, 90 * MS, 40 * MS, LOW);
	end(&v, 100 * MS, 0);
	assert_int_equal(v.why->sources.filled_wakeups, 0);
	assert_int_equal(v.why->total.runnable_ns, 60 * MS);
	close_views(&v);
}

/* Records of the schedule were lost while HIGH waited. */
TEST(test_lost_wakeups)
{
	const struct why_times *t;
	struct views v;

	wait_in(&v, NULL, 0);
	sw_on(&v, 1, 11 * MS, 0, 'R', LOW);
	feed(&v, (struct event){ .kind = EVENT_LOST,
				 .ts_ns = 20 * MS,
				 .lost = { .class_name = "sched", .count = 3 } });
	woken_at(&v, HIGH, 10 * MS, 50 * MS, 40 * MS, LOW);
	sw_on(&v, 0, 90 * MS, HIGH, 'R', 0);
	end(&v, 100 * MS, 0);
	assert_int_equal(v.why->sources.filled_wakeups, 1);
	t = &v.why->total;
	assert_int_equal(why_split_blocked(t), 30 * MS);
	assert_int_equal(t->woken_ns, 10 * MS);
	/* It ran again then, and it is not known for how long. */
	assert_int_equal(t->unknown_ns, 40 * MS);
	close_views(&v);
}

/* Without room for more slices, the answer says so. */
TEST(test_budget)
{
	struct views v;

	open_views(&v, (struct why_options){ .max_slices = 1 });
	invert(&v);
	end(&v, 100 * MS, 0);
	assert_true(v.why->holders_cut);
	close_views(&v);
}

/* The limit of segments is one of all paths: the longest instance has its path, the others not. */
TEST(test_visits)
{
	struct views v;
	size_t n_cut = 0;

	for (uint64_t max_visits = 4; max_visits <= 1000; max_visits += 996) {
		open_views(&v, (struct why_options){ .max_visits = max_visits });
		begin(&v, 0);
		for (uint64_t i = 1; i < 40; i++)
			sw_on(&v, 0, i * MS + (i == 20 ? 500 : 0), i % 2 ? HIGH : LOW, 'R',
			      i % 2 ? LOW : HIGH);
		end(&v, 40 * MS, 0);
		assert_int_equal(v.why->n_worst, 10);
		assert_false(v.why->worst[0].path.cut);
		n_cut = 0;
		for (size_t i = 0; i < v.why->n_worst; i++)
			n_cut += v.why->worst[i].path.cut;
		assert_int_equal(n_cut > 0, max_visits == 4);
		assert_int_equal(v.why->paths_cut, max_visits == 4);
		assert_int_equal(v.why->paths_ended, max_visits == 4);
		if (n_cut > 0)
			assert_int_equal(v.why->worst[9].path.steps[0].kind, PATH_FORGOTTEN);
		close_views(&v);
	}
}

/* A thread waits since before the begin until the end: only `offcpu` shows it. */
TEST(test_open)
{
	struct views v;

	open_views(&v, (struct why_options){ .with_idle = true });
	begin(&v, 0);
	task(&v, HIGH, "high");
	frame(&v, KERNEL + TIMER_AT, "do_nanosleep");
	sw_on(&v, 0, 1, 0, 'R', LOW);
	offcpu(&v, HIGH, 0, 100 * MS, TIMER_AT, "open", "earlier");
	end(&v, 100 * MS, 0);
	assert_int_equal(v.why->n_threads, 2);
	assert_int_equal(v.why->worst[0].tid, HIGH);
	assert_true(v.why->worst[0].open);
	assert_int_equal(v.why->worst[0].to_ns, 100 * MS);
	assert_int_equal(v.why->worst[0].verdict.kind, WHY_SLEEP);
	assert_int_equal(v.why->threads[0].times.blocked_ns[WAIT_TIMER], 100 * MS);
	assert_true(v.why->threads[0].waits);
	close_views(&v);
}

/* HIGH was throttled from FROM_NS to TO_NS by the quota of CGROUP. */
static void throttle(struct views *v, uint64_t from_ns, uint64_t to_ns, const char *cgroup)
{
	feed(v, (struct event){ .kind = EVENT_OFFCPU,
				.ts_ns = from_ns,
				.pid = HIGH,
				.tid = HIGH,
				.offcpu = { .end_ns = to_ns,
					    .state = 'R',
					    .fd = -1,
					    .reason = "throttled",
					    .quota_ns = 20 * MS,
					    .period_ns = 100 * MS,
					    .cgroup_path = cgroup } });
}

/* A ready thread is throttled, if a time off CPU says so. */
TEST(test_throttled)
{
	uint32_t wanted = HIGH;
	const struct why_instance *worst;
	struct views v;

	open_views(&v, (struct why_options){ .wants = wants_one, .userdata = &wanted });
	begin(&v, 0);
	task(&v, HIGH, "high");
	sw_on(&v, 0, 1, 0, 'R', HIGH);
	sw_on(&v, 0, 10 * MS, HIGH, 'R', 0);
	sw_on(&v, 0, 90 * MS, 0, 'R', HIGH);
	throttle(&v, 10 * MS, 90 * MS, "/batch");
	sw_on(&v, 0, 95 * MS, HIGH, 'R', 0);
	sw_on(&v, 0, 97 * MS, 0, 'R', HIGH);
	end(&v, 100 * MS, 0);
	assert_int_equal(v.why->total.runnable_ns, 82 * MS);
	assert_int_equal(v.why->total.throttled_ns, 80 * MS);
	worst = &v.why->worst[0];
	assert_int_equal(worst->verdict.kind, WHY_QUOTA);
	assert_non_null(worst->quota);
	assert_non_null(strstr(worst->verdict.text, "was throttled for 80.0 ms: the cgroup /batch "
						    "may use 20.0 ms of CPU time in each 100 ms."));
	close_views(&v);
}

/* Each instance has the cgroup that has throttled the thread then. */
TEST(test_throttled_twice)
{
	uint32_t wanted = HIGH;
	struct views v;

	open_views(&v, (struct why_options){ .wants = wants_one, .userdata = &wanted });
	begin(&v, 0);
	task(&v, HIGH, "high");
	sw_on(&v, 0, 1, 0, 'R', HIGH);
	sw_on(&v, 0, 10 * MS, HIGH, 'R', 0);
	sw_on(&v, 0, 60 * MS, 0, 'R', HIGH);
	throttle(&v, 10 * MS, 60 * MS, "/batch");
	sw_on(&v, 0, 65 * MS, HIGH, 'R', 0);
	sw_on(&v, 0, 95 * MS, 0, 'R', HIGH);
	throttle(&v, 65 * MS, 95 * MS, "/other");
	end(&v, 100 * MS, 0);
	assert_true(v.why->n_worst >= 2);
	assert_non_null(v.why->worst[0].quota);
	assert_non_null(v.why->worst[1].quota);
	assert_string_equal(v.why->worst[0].quota->cgroup, "/batch");
	assert_string_equal(v.why->worst[1].quota->cgroup, "/other");
	close_views(&v);
}

/*
 * Of a process, a thread without work (LOW) waits for longer than the one that waits for a disk.
 * The latter is first. So is the one that another thread has woken (MID).
 */
TEST(test_order)
{
	static uint32_t only_low = LOW;
	const struct why_options options[] = {
		{ .with_idle = true },
		{ .with_idle = true, .wants = wants_one, .userdata = &only_low },
	};

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		const struct why *w;
		struct views v;

		open_views(&v, options[i]);
		begin(&v, 0);
		frame(&v, KERNEL + TIMER_AT, "io_schedule");
		frame(&v, KERNEL + MUTEX_AT, "do_epoll_wait");
		sw_on(&v, 0, 0, 0, 'R', MID);
		sw_on(&v, 0, 1 * MS, MID, 'S', LOW);
		sw_on(&v, 0, 5 * MS, LOW, 'S', HIGH);
		sw_on(&v, 0, 10 * MS, HIGH, 'D', 0);
		run_after_wakeup(&v, FXT_KOID_IRQ + 1, 30 * MS);
		wake(&v, 40 * MS, MID, HIGH);
		sw_on(&v, 0, 40 * MS, HIGH, 'R', MID);
		offcpu(&v, LOW, 5 * MS, 100 * MS, MUTEX_AT, "open", NULL);
		offcpu(&v, HIGH, 10 * MS, 30 * MS, TIMER_AT, NULL, NULL);
		offcpu(&v, MID, 1 * MS, 40 * MS, MUTEX_AT, NULL, NULL);
		end(&v, 100 * MS, 0);
		w = v.why;
		assert_int_equal(w->worst[0].for_work, false);
		if (i == 1) {
			/* A thread that is named alone has no others before it. */
			assert_int_equal(w->n_worst, 1);
			assert_int_equal(w->worst[0].tid, LOW);
		} else {
			assert_int_equal(w->worst[0].tid, HIGH);
			assert_int_equal(w->worst[1].tid, MID);
			assert_int_equal(w->worst[2].tid, HIGH);
			assert_int_equal(w->worst[3].tid, LOW);
			assert_int_equal(w->worst[3].for_work, true);
			assert_int_equal(w->worst[3].to_ns - w->worst[3].from_ns, 95 * MS);
		}
		close_views(&v);
	}
}

/* Of two threads, HIGH gets a packet while MID has its CPU: the rest is no wait for work. */
TEST(test_ready_after_work)
{
	const struct why *w;
	struct views v;

	open_views(&v, (struct why_options){ .with_idle = true });
	begin(&v, 0);
	frame(&v, KERNEL + MUTEX_AT, "do_epoll_wait");
	sw_on(&v, 0, 0, 0, 'R', HIGH);
	sw_on(&v, 0, 1 * MS, HIGH, 'S', MID);
	wake(&v, 80 * MS, HIGH, FXT_KOID_SOFTIRQ + 1);
	sw_on(&v, 0, 95 * MS, MID, 'S', HIGH);
	offcpu(&v, HIGH, 1 * MS, 95 * MS, MUTEX_AT, NULL, NULL);
	end(&v, 100 * MS, 0);
	w = v.why;
	assert_int_equal(w->worst[0].tid, HIGH);
	assert_int_equal(w->worst[0].from_ns, 80 * MS);
	assert_int_equal(w->worst[0].verdict.kind, WHY_CPU_TAKEN);
	assert_int_equal(w->worst[0].verdict.culprit, MID);
	close_views(&v);
}

/* The recording ends in a pause, in which nothing is known. */
TEST(test_pause_at_end)
{
	struct views v;

	open_views(&v, (struct why_options){
			       .wants = wants_one, .userdata = &only_high, .with_idle = true });
	begin(&v, 0);
	task(&v, HIGH, "high");
	frame(&v, KERNEL + MUTEX_AT, "futex_lock_pi");
	sw_on(&v, 0, 1, 0, 'R', HIGH);
	sw_on(&v, 0, 10 * MS, HIGH, 'S', 0);
	offcpu(&v, HIGH, 10 * MS, 30 * MS, MUTEX_AT, "open", NULL);
	feed(&v,
	     (struct event){ .kind = EVENT_SHED, .ts_ns = 30 * MS, .shed = { .what = "session" } });
	end(&v, 100 * MS, 0);
	assert_int_equal(v.why->total.blocked_ns[WAIT_LOCK], 20 * MS);
	assert_int_equal(v.why->worst[0].to_ns, 30 * MS);
	assert_int_equal(v.why->total.unknown_ns, 70 * MS + 1);
	assert_int_equal(v.why->total.paused_ns, 70 * MS);
	close_views(&v);
}

/*
 * The recording pauses twice: in a window, the pauses have a name, and the time between them,
 * before the next event of the thread, is unknown for another reason.
 */
TEST(test_pauses_of_window)
{
	struct views v;

	open_views(&v, (struct why_options){ .what = WHY_INSTANCE_WINDOW,
					     .wants = wants_one,
					     .userdata = &only_high });
	begin(&v, 0);
	task(&v, HIGH, "high");
	sw_on(&v, 0, 0, 0, 'R', HIGH);
	for (uint64_t at = 10; at < 60; at += 30) {
		feed(&v, (struct event){ .kind = EVENT_SHED,
					 .ts_ns = at * MS,
					 .shed = { .what = "session" } });
		feed(&v, (struct event){ .kind = EVENT_SHED,
					 .ts_ns = (at + 25) * MS,
					 .shed = { .what = "session", .back = true } });
	}
	end(&v, 70 * MS, 0);
	assert_int_equal(v.why->total.running_ns, 10 * MS);
	assert_int_equal(v.why->total.unknown_ns, 60 * MS);
	assert_int_equal(v.why->total.paused_ns, 50 * MS);
	assert_string_equal(v.why->worst[0].verdict.text,
			    "Possibly: the state of high (11) is unknown for 60.0 ms; the "
			    "recording had paused for 50.0 ms of it.");
	close_views(&v);
}

/* The waits of the part that was forgotten make room for those of the rest. */
TEST(test_forgotten_waits)
{
	const struct history_limits limits = { .segments = 500 };
	struct views v;

	open_views(&v, (struct why_options){ .limits = &limits });
	begin(&v, 0);
	frame(&v, KERNEL + MUTEX_AT, "futex_lock_pi");
	for (uint64_t i = 1; i < 2000; i++) {
		sw_on(&v, 0, i * MS, i % 2 ? HIGH : LOW, 'S', i % 2 ? LOW : HIGH);
		if (i > 1)
			offcpu(&v, i % 2 ? LOW : HIGH, (i - 1) * MS, i * MS, MUTEX_AT, NULL, NULL);
	}
	end(&v, 2000 * MS, 0);
	assert_null(why_find_wait(v.why, LOW, 2 * MS));
	assert_non_null(why_find_wait(v.why, LOW, 1998 * MS));
	assert_true(v.why->threads[0].times.blocked_ns[WAIT_LOCK] > 0);
	assert_true(why_split_blocked(&v.why->total) - v.why->total.blocked_ns[WAIT_LOCK] <=
		    2 * MS);
	close_views(&v);
}

TEST(test_no_schedule)
{
	struct views v;

	open_views(&v, (struct why_options){ .with_idle = true });
	begin(&v, 0);
	end(&v, 100 * MS, -ENODATA);
	assert_false(v.why->sources.schedule);
	close_views(&v);
}

/* With a full history, the answer is about the rest, and says so. */
TEST(test_forgetting)
{
	const struct history_limits limits = { .segments = 500 };
	struct views v;

	open_views(&v, (struct why_options){ .limits = &limits });
	begin(&v, 0);
	for (uint64_t i = 1; i < 2000; i++)
		sw_on(&v, 0, i * MS, i % 2 ? HIGH : LOW, 'R', i % 2 ? LOW : HIGH);
	end(&v, 2000 * MS, 0);
	assert_true(v.why->forgotten_ns > 1000 * MS);
	assert_int_equal(v.why->to_ns - v.why->from_ns + v.why->forgotten_ns, 2000 * MS);
	assert_int_equal(v.why->total.total_ns, 2 * (v.why->to_ns - v.why->from_ns));
	assert_true(v.why->total.unknown_ns < 2 * MS);
	close_views(&v);
}

static void interrupt_on(struct views *v, uint32_t cpu, uint64_t from, uint64_t to)
{
	feed(v, (struct event){
			.kind = EVENT_INTERVAL,
			.ts_ns = from,
			.pid = FXT_KOID_IRQ + 1 + cpu,
			.tid = FXT_KOID_IRQ + 1 + cpu,
			.cpu = cpu,
			.interval = { .kind = INTERVAL_IRQ, .end_ns = to, .name = "eth0" },
		});
}

/* A flood of interrupts fills the history while no selected thread is switched. */
TEST(test_interrupt_flood)
{
	const struct history_limits limits = { .interrupts = 500 };

	/* (then all of them at one time) */
	for (unsigned round = 0; round < 2; round++) {
		const uint64_t step = round == 0 ? MS : 0;
		struct views v;

		open_views(&v, (struct why_options){ .limits = &limits });
		begin(&v, 0);
		sw_on(&v, 0, MS, HIGH, 'R', LOW);
		sw_on(&v, 0, 2 * MS, LOW, 'R', HIGH);
		for (uint64_t i = 0; i < 5000; i++)
			interrupt_on(&v, 1, 3 * MS + i * step, 3 * MS + i * step + 1000);
		end(&v, 6000 * MS, 0);
		assert_true(v.why->sources.interrupts);
		assert_true(v.why->forgotten_ns >= 3 * MS);
		assert_int_equal(v.why->to_ns - v.why->from_ns + v.why->forgotten_ns, 6000 * MS);
		close_views(&v);
	}
}

/* The summary adds the same segments up, except those whose end is unknown. */
static void assert_same_sums(const struct views *v, const struct why_thread *t)
{
	const struct summary_thread *sums = table_get(&v->summary->threads, t->tid);

	assert_non_null(sums);
	assert_true(sums->runnable_ns <= t->times.runnable_ns);
	assert_true(sums->blocked_ns <= why_split_blocked(&t->times));
	assert_true(t->times.runnable_ns + why_split_blocked(&t->times) <=
		    sums->runnable_ns + sums->blocked_ns);
}

/* Whatever the records are, the parts of each thread are exactly the window. */
TEST(test_sums)
{
	for (unsigned round = 0; round < unit_rounds(200); round++) {
		uint32_t on[2] = { 0 };
		unsigned seed = round;
		struct views v;

		/* (half of the rounds have the whole recording, for the sums of the summary) */
		open_views(&v, (struct why_options){ .with_idle = true,
						     .from_ns = round % 2 ? round * MS : 0 });
		begin(&v, 0);
		for (uint64_t ts = 1; ts < 400 * MS; ts += (unsigned)rand_r(&seed) % MS) {
			uint32_t cpu = (unsigned)rand_r(&seed) % 2;
			uint32_t tid = (unsigned)rand_r(&seed) % 6;

			if (rand_r(&seed) % 2) {
				wake(&v, ts, tid + 1, (unsigned)rand_r(&seed) % 6);
				continue;
			}
			sw_on(&v, cpu, ts, on[cpu], "RSD"[rand_r(&seed) % 3], tid);
			on[cpu] = tid;
		}
		end(&v, 400 * MS, 0);
		for (size_t i = 0; i < v.why->n_threads; i++) {
			const struct why_times *t = &v.why->threads[i].times;

			assert_int_equal(t->total_ns, v.why->to_ns - v.why->from_ns);
			assert_int_equal(t->total_ns, t->running_ns + t->runnable_ns +
							      why_split_blocked(t) + t->unknown_ns +
							      t->absent_ns);
			if (round % 2 == 0)
				assert_same_sums(&v, &v.why->threads[i]);
		}
		for (size_t i = 0; i < v.why->n_worst; i++)
			assert_non_null(v.why->worst[i].verdict.text);
		close_views(&v);
	}
}

static void reclaim(struct views *v, uint64_t ts, const char *name)
{
	feed(v, (struct event){ .kind = EVENT_TRACEPOINT,
				.ts_ns = ts,
				.pid = HIGH,
				.tid = HIGH,
				.tracepoint.name = name });
}

static void pause_session(struct views *v, uint64_t ts, bool back)
{
	feed(v, (struct event){ .kind = EVENT_SHED,
				.ts_ns = ts,
				.shed = { .what = "session", .session = "s", .back = back } });
}

/* In a pause, one reclaim can end, and another one can begin. */
TEST(test_reclaim_in_pause)
{
	uint32_t wanted = HIGH;
	struct views v;

	open_views(&v, (struct why_options){ .wants = wants_one, .userdata = &wanted });
	begin(&v, 0);
	task(&v, HIGH, "high");
	sw_on(&v, 0, 0, 0, 'R', HIGH);
	reclaim(&v, 10 * MS, "vmscan:mm_vmscan_direct_reclaim_begin");
	pause_session(&v, 40 * MS, false);
	pause_session(&v, 60 * MS, true);
	sw_on(&v, 0, 60 * MS, 0, 'R', HIGH);
	reclaim(&v, 80 * MS, "vmscan:mm_vmscan_direct_reclaim_end");
	end(&v, 100 * MS, 0);
	assert_int_equal(v.why->total.running_ns, 80 * MS);
	assert_int_equal(v.why->total.reclaim_ns, 30 * MS);
	close_views(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inversion),
		cmocka_unit_test(test_everything),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_throttled),
		cmocka_unit_test(test_throttled_twice),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_ready_after_work),
		cmocka_unit_test(test_no_schedule),
		cmocka_unit_test(test_forgetting),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_total_holders),
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_owner_of_ended_wait),
		cmocka_unit_test(test_missing_wakeups),
		cmocka_unit_test(test_known_wakeups),
		cmocka_unit_test(test_lost_wakeups),
		cmocka_unit_test(test_visits),
		cmocka_unit_test(test_interrupt_flood),
		cmocka_unit_test(test_pause_at_end),
		cmocka_unit_test(test_pauses_of_window),
		cmocka_unit_test(test_forgotten_waits),
		cmocka_unit_test(test_reclaim_in_pause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
