/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The times that a summary covers: begin and end, joined archives, pauses, and the parts of a
 * recording in progress.
 */
#include "tests/support/fixtures/summary-events.h"
#include "tests/support/unit.h"
#include "reader/views/summary-accounts.h"

#define SECOND UINT64_C(1000000000)

FIXTURE(set_up)
{
	return summary_new((struct summary **)state);
}

FIXTURE(tear_down)
{
	summary_free(*state);
	return 0;
}

/* ---- begin and end ---- */

/* Without session_stop, the recording ends with its last time; running threads run until then. */
TEST(test_cut_off)
{
	struct summary *s = *state;

	start(s, 100);
	sw(s, 100, (struct sw){ .in = 10, .synthetic = true });
	wake(s, 400, 11);
	summary_finish(s);

	assert_false(s->stopped);
	assert_int_equal(s->duration_ns, 300);
	assert_int_equal(s->cpus[0].busy_ns, 300);
}

/* Times outside of the recording, from a damaged file, do not count. */
TEST(test_outside)
{
	struct summary *s = *state;

	start(s, 1000);
	sw(s, 500, (struct sw){ .cpu = 0, .in = 10 });
	sw(s, 1000, (struct sw){ .cpu = 1, .in = 20 });
	sw(s, 1000, (struct sw){ .cpu = 2, .in = 30 });
	sw(s, 1600, (struct sw){ .cpu = 2, .out = 30, .in = FXT_KOID_OTHER, .state = BLOCKED });
	/* Not known to be outside yet. */
	sw(s, 9000, (struct sw){ .cpu = 3, .in = 40 });
	sw(s, 99000, (struct sw){ .cpu = 3, .out = 40, .in = FXT_KOID_OTHER, .state = BLOCKED });
	tell(s, (struct event){ .kind = EVENT_STOP, .ts_ns = 2000, .stop = { .reason = "" } });
	sw(s, 5000, (struct sw){ .cpu = 0, .out = 10, .in = 11, .state = BLOCKED });
	sw(s, 7000, (struct sw){ .cpu = 0, .out = 11, .in = 10, .state = PREEMPTED });
	wake(s, 8000, 30);
	sw(s, 9000, (struct sw){ .cpu = 2, .out = FXT_KOID_OTHER, .in = 30, .state = BLOCKED });
	summary_finish(s);

	assert_int_equal(s->end_ns, 2000);
	assert_int_equal(s->duration_ns, 1000);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(s->cpus[i].busy_ns + s->cpus[i].other_ns + s->cpus[i].idle_ns,
				 1000);
	assert_int_equal(s->cpus[0].busy_ns, 1000);
	assert_int_equal(thread(s, 10)->cpu_ns, 1000);
	assert_int_equal(thread(s, 10)->blocked_ns, 0);
	assert_int_equal(thread(s, 11)->cpu_ns, 0);
	assert_int_equal(thread(s, 11)->runnable_ns, 0);
	assert_int_equal(s->cpus[1].busy_ns, 1000);
	assert_int_equal(s->cpus[2].busy_ns, 600);
	assert_int_equal(s->cpus[2].other_ns, 400);
	assert_int_equal(thread(s, 30)->blocked_ns, 400);
	assert_int_equal(thread(s, 30)->runnable_ns, 0);
	assert_int_equal(thread(s, 30)->max_wakeup_latency_ns, 0);
}

/*
 * In joined archives, the later one continues after the first one's session_stop. Nothing is
 * recorded in between: the time counts for no state.
 */
TEST(test_joined)
{
	struct summary *s = *state;

	start(s, 0);
	sw(s, 0, (struct sw){ .in = 10, .synthetic = true });
	sw(s, 0, (struct sw){ .cpu = 1, .in = 11, .synthetic = true });
	sw(s, 20, (struct sw){ .cpu = 1, .out = 11, .state = BLOCKED });
	wake(s, 90, 11);
	sw(s, 100, (struct sw){ .out = 10, .state = PREEMPTED, .synthetic = true });
	tell(s, (struct event){ .kind = EVENT_STOP, .ts_ns = 100, .stop = { .reason = "" } });
	start(s, 500);
	sw(s, 500, (struct sw){ .in = 10, .synthetic = true });
	sw(s, 530, (struct sw){ .out = 10, .state = BLOCKED });
	sw(s, 540, (struct sw){ .cpu = 1, .in = 11 });
	stop(s, 600);

	assert_true(s->stopped);
	assert_int_equal(s->duration_ns, 600);
	assert_int_equal(s->recorded_ns, 200);
	assert_int_equal(s->cpus[0].busy_ns, 130);
	assert_int_equal(s->cpus[0].idle_ns, 70);
	assert_int_equal(thread(s, 10)->cpu_ns, 130);
	assert_int_equal(thread(s, 10)->blocked_ns, 70);
	assert_int_equal(thread(s, 11)->blocked_ns, 70);
	assert_int_equal(thread(s, 11)->runnable_ns, 10);
	assert_int_equal(thread(s, 11)->max_wakeup_latency_ns, 0);
}

/* In the chunks of one recording, states last from one chunk to the next one. */
TEST(test_joined_chunks)
{
	struct summary *s = *state;

	start(s, 0);
	sw(s, 0, (struct sw){ .in = 10, .synthetic = true });
	sw(s, 40, (struct sw){ .out = 10, .state = BLOCKED });
	tell(s,
	     (struct event){ .kind = EVENT_STOP, .ts_ns = 100, .stop = { .reason = "rotated" } });
	start(s, 100);
	wake(s, 130, 10);
	sw(s, 150, (struct sw){ .in = 10 });
	stop(s, 200);

	assert_int_equal(s->recorded_ns, 200);
	assert_int_equal(thread(s, 10)->blocked_ns, 90);
	assert_int_equal(thread(s, 10)->runnable_ns, 20);
	assert_int_equal(thread(s, 10)->cpu_ns, 90);
}

/*
 * The first one of joined archives was cut off at 100, without session_stop, when 10 ran and 11 was
 * blocked. The second one begins at NEXT, has a pause of 50 and lasts 200.
 */
static void join_cut_off(struct summary *s, uint64_t next, bool filtered)
{
	tell(s, (struct event){
			.kind = EVENT_START,
			.start = { "s", "c", "o", "k", "m", "h", "v", 2, .filtered = filtered } });
	sw(s, 0, (struct sw){ .in = 10, .synthetic = true });
	sw(s, 0, (struct sw){ .cpu = 1, .in = 11, .synthetic = true });
	sw(s, 20, (struct sw){ .cpu = 1, .out = 11, .state = BLOCKED });
	wake(s, 100, 12);
	start(s, next);
	sw(s, next, (struct sw){ .in = 10, .synthetic = true });
	shed(s, next + 100, "session", false);
	shed(s, next + 150, "session", true);
	stop(s, next + 200);
}

/* The gap after it counts for no state, and later pauses are found. */
TEST(test_joined_cut_off)
{
	struct summary *s = *state;

	join_cut_off(s, SECOND + 100, false);
	assert_true(s->stopped);
	assert_false(summary_is_complete(s));
	assert_int_equal(s->duration_ns, SECOND + 300);
	assert_int_equal(s->recorded_ns, 250);
	assert_int_equal(s->cpus[0].busy_ns, 200);
	assert_int_equal(s->cpus[0].idle_ns, 50);
	assert_int_equal(thread(s, 11)->blocked_ns, 80);
}

/* A session that can be in progress is not closed: soon after an event, or with a filter. */
TEST(test_joined_perhaps_cut_off)
{
	struct summary *s = *state;

	join_cut_off(s, SECOND + 99, false);
	assert_false(s->stopped);
	assert_int_equal(s->recorded_ns, SECOND + 299);
}

TEST(test_joined_filtered)
{
	struct summary *s = *state;

	join_cut_off(s, 2 * SECOND, true);
	assert_false(s->stopped);
	assert_int_equal(s->recorded_ns, 2 * SECOND + 200);
}

/* A session has no events in its pause, and goes on after it. */
TEST(test_joined_paused)
{
	struct summary *s = *state;

	start(s, 0);
	sw(s, 10, (struct sw){ .in = 10 });
	shed(s, 100, "session", false);
	start(s, 3 * SECOND);
	shed(s, 3 * SECOND + 10, "session", true);
	tell(s, (struct event){
			.kind = EVENT_STOP, .ts_ns = 3 * SECOND + 100, .stop = { .reason = "" } });
	assert_false(s->cut_off);
	tell(s, (struct event){ .kind = EVENT_MARK, .ts_ns = 4 * SECOND, .mark = { "x" } });
	stop(s, 4 * SECOND);
	assert_true(summary_is_complete(s));
	assert_int_equal(s->duration_ns, 4 * SECOND);
	assert_int_equal(s->recorded_ns, SECOND + 100);
}

/* ---- pauses ---- */

/* A thread that runs, a woken one and a blocked one, when a pause begins at 100. */
static void begin_pause(struct summary *s)
{
	start(s, 0);
	sw(s, 0, (struct sw){ .cpu = 0, .in = 10, .synthetic = true });
	sw(s, 0, (struct sw){ .cpu = 1, .in = 11, .synthetic = true });
	sw(s, 20, (struct sw){ .cpu = 1, .out = 11, .in = 12, .state = BLOCKED });
	sw(s, 40, (struct sw){ .cpu = 1, .out = 12, .state = BLOCKED });
	/* Earlier records can follow in the file. */
	shed(s, 100, "session", false);
	wake(s, 60, 11);
	sw(s, 100, (struct sw){ .cpu = 0, .out = 10, .state = PREEMPTED, .synthetic = true });
}

static void check_begin(const struct summary *s)
{
	assert_int_equal(s->cpus[0].busy_ns, 100);
	assert_int_equal(thread(s, 10)->cpu_ns, 100);
	assert_int_equal(thread(s, 10)->runnable_ns, 0);
	assert_int_equal(thread(s, 11)->blocked_ns, 40);
	assert_int_equal(thread(s, 11)->runnable_ns, 40);
	assert_int_equal(thread(s, 11)->after_wakeup_ns, 40);
	assert_int_equal(thread(s, 12)->blocked_ns, 60);
}

/* The time of a pause up to the end counts for no thread, and for no CPU as idle. */
TEST(test_pause_at_end)
{
	struct summary *s = *state;

	begin_pause(s);
	stop(s, 1000);

	assert_int_equal(s->duration_ns, 1000);
	assert_int_equal(s->recorded_ns, 100);
	check_begin(s);
	assert_int_equal(s->cpus[0].idle_ns, 0);
	assert_int_equal(s->cpus[1].idle_ns, 60);
}

/* The same without a session_stop, and without the switch that ends the running thread's time. */
TEST(test_pause_cut_off)
{
	struct summary *s = *state;

	start(s, 0);
	sw(s, 0, (struct sw){ .in = 10, .synthetic = true });
	shed(s, 100, "session", false);
	tell(s, (struct event){ .kind = EVENT_MARK, .ts_ns = 300, .mark = { "x" } });
	summary_finish(s);

	assert_int_equal(s->duration_ns, 300);
	assert_int_equal(s->recorded_ns, 100);
	assert_int_equal(s->cpus[0].busy_ns, 100);
	assert_int_equal(thread(s, 10)->cpu_ns, 100);
}

/* After a pause, all states are unknown until their first events. */
TEST(test_pause_in_the_middle)
{
	struct summary *s = *state;
	uint64_t ns;

	begin_pause(s);
	/* The switches at the end of the pause can come before its end. */
	sw(s, 500, (struct sw){ .cpu = 0, .in = 13, .synthetic = true });
	shed(s, 500, "session", true);
	assert_false(summary_wakeup_latency(
		s, &(struct event){ .kind = EVENT_SWITCH, .ts_ns = 510, .sw = { .next_tid = 11 } },
		&ns));
	sw(s, 510, (struct sw){ .cpu = 1, .in = 11 });
	sw(s, 520, (struct sw){ .cpu = 0, .out = 13, .in = 10, .state = BLOCKED });
	stop(s, 600);

	assert_int_equal(s->duration_ns, 600);
	assert_int_equal(s->recorded_ns, 200);
	assert_int_equal(s->cpus[0].busy_ns, 200);
	assert_int_equal(s->cpus[1].busy_ns, 40 + 90);
	assert_int_equal(s->cpus[1].idle_ns, 70);
	assert_int_equal(thread(s, 10)->cpu_ns, 100 + 80);
	assert_int_equal(thread(s, 10)->runnable_ns, 0);
	assert_int_equal(thread(s, 11)->cpu_ns, 20 + 90);
	assert_int_equal(thread(s, 11)->runnable_ns, 40);
	assert_int_equal(thread(s, 11)->max_wakeup_latency_ns, 0);
	assert_int_equal(thread(s, 12)->blocked_ns, 60);
	assert_int_equal(thread(s, 13)->cpu_ns, 20);
	assert_int_equal(thread(s, 13)->blocked_ns, 80);
}

/* More pauses than the list of sheds has room for, and a chunk that repeats the last one. */
TEST(test_pauses_many)
{
	struct summary *s = *state;

	start(s, 0);
	for (uint64_t i = 0; i < 50; i++) {
		shed(s, 10 + i * 20, "session", false);
		shed(s, 20 + i * 20, "session", true);
	}
	shed(s, 1010, "session", false);
	tell(s,
	     (struct event){ .kind = EVENT_STOP, .ts_ns = 1100, .stop = { .reason = "rotated" } });
	start(s, 1100);
	shed(s, 1100, "session", false);
	stop(s, 1200);

	assert_int_equal(s->duration_ns, 1200);
	assert_int_equal(s->recorded_ns, 510);
}

/* ---- sessions that overlap ---- */

static void start_session(struct summary *s, uint64_t ts, const char *name)
{
	tell(s, (struct event){ .kind = EVENT_START,
				.ts_ns = ts,
				.start = { name, "c", "o", "k", "m", "h", "v", 2, false } });
}

static void stop_session(struct summary *s, uint64_t ts, const char *name, const char *reason)
{
	tell(s, (struct event){ .kind = EVENT_STOP,
				.ts_ns = ts,
				.stop = { .reason = reason, .session = name } });
}

static void pause_session(struct summary *s, uint64_t ts, const char *name, bool back)
{
	tell(s, (struct event){ .kind = EVENT_SHED,
				.ts_ns = ts,
				.shed = { .what = "session", .session = name, .back = back } });
}

/* Time is recorded while one of two sessions records, whichever of them pauses, or stops first. */
TEST(test_sessions_pause)
{
	struct summary *s = *state;

	start_session(s, 0, "a");
	sw(s, 0, (struct sw){ .in = 10, .synthetic = true });
	start_session(s, 100, "b");
	pause_session(s, 200, "a", false);
	pause_session(s, 300, "b", false);
	pause_session(s, 350, "b", true);
	sw(s, 350, (struct sw){ .in = 10, .synthetic = true });
	pause_session(s, 400, "a", true);
	pause_session(s, 500, "b", false);
	stop_session(s, 600, "a", "requested");
	pause_session(s, 680, "b", true);
	sw(s, 680, (struct sw){ .in = 10, .synthetic = true });
	stop_session(s, 700, "b", "requested");
	summary_finish(s);

	assert_true(summary_is_complete(s));
	assert_true(s->many_sessions);
	assert_int_equal(s->duration_ns, 700);
	assert_int_equal(s->recorded_ns, 700 - 50 - 80);
	assert_int_equal(thread(s, 10)->cpu_ns, 700 - 50 - 80);
	assert_int_equal(s->n_sheds, 3);
	assert_string_equal(s->sheds[0].session, "a");
	assert_int_equal(s->sheds[0].until_ns, 400);
	assert_string_equal(s->sheds[1].session, "b");
	assert_int_equal(s->sheds[1].until_ns, 350);
	assert_int_equal(s->sheds[2].until_ns, 680);
}

/* The session that pauses stops: nothing changes for the other one. And a new one begins. */
TEST(test_sessions_stop_paused)
{
	struct summary *s = *state;

	start_session(s, 0, "a");
	start_session(s, 0, "b");
	pause_session(s, 100, "a", false);
	stop_session(s, 200, "a", "requested");
	/* (a session that is unknown, since its begin was lost) */
	stop_session(s, 250, "lost", "requested");
	pause_session(s, 300, "b", false);
	start_session(s, 400, "c");
	stop_session(s, 500, "c", "requested");
	stop_session(s, 600, "b", "requested");
	summary_finish(s);

	assert_true(s->stopped);
	assert_int_equal(s->recorded_ns, 400);
	assert_int_equal(s->n_sheds, 2);
	assert_int_equal(s->sheds[0].until_ns, 200);
}

/* States continue in the next chunk of a session, while another one pauses. */
TEST(test_sessions_chunks)
{
	struct summary *s = *state;

	start_session(s, 0, "a");
	sw(s, 0, (struct sw){ .in = 10, .synthetic = true });
	sw(s, 40, (struct sw){ .out = 10, .state = BLOCKED });
	start_session(s, 50, "b");
	pause_session(s, 60, "b", false);
	stop_session(s, 100, "a", "rotated");
	start_session(s, 100, "a");
	wake(s, 130, 10);
	stop_session(s, 200, "a", "requested");
	stop_session(s, 300, "b", "requested");
	summary_finish(s);

	assert_int_equal(s->recorded_ns, 200);
	assert_int_equal(thread(s, 10)->blocked_ns, 90);
	assert_int_equal(thread(s, 10)->runnable_ns, 70);
}

/* More sessions than the list has room for: they record until all of them have stopped. */
TEST(test_sessions_many)
{
	struct summary *s = *state;

	for (uint64_t i = 0; i < SUMMARY_SESSIONS_MAX + 2; i++)
		start_session(s, i, "s");
	for (uint64_t i = 0; i < SUMMARY_SESSIONS_MAX; i++)
		pause_session(s, 100, "s", false);
	for (uint64_t i = 0; i < SUMMARY_SESSIONS_MAX + 2; i++) {
		assert_false(s->stopped);
		stop_session(s, 200 + i, i % 2 ? "s" : NULL, "requested");
	}
	summary_finish(s);
	assert_true(s->stopped);
}

/* Other parts that stop, and a pause of one of two sessions, are no pause of the recording. */
TEST(test_pause_of_others)
{
	struct summary *s = *state;

	start(s, 0);
	shed(s, 10, "stacks", false);
	start(s, 20);
	sw(s, 30, (struct sw){ .in = 10 });
	shed(s, 40, "session", false);
	tell(s, (struct event){ .kind = EVENT_STOP, .ts_ns = 90, .stop = { .reason = "" } });
	stop(s, 100);

	assert_int_equal(s->recorded_ns, 100);
	assert_int_equal(s->cpus[0].busy_ns, 70);
	assert_int_equal(s->n_sheds, 2);
}

/* A pause over two parts; a part lists the sheds that last, and those that end in it. */
TEST(test_pause_in_parts)
{
	struct summary *s = *state;

	begin_pause(s);
	summary_end_part(s, 300);
	assert_int_equal(s->duration_ns, 300);
	assert_int_equal(s->recorded_ns, 100);
	check_begin(s);
	assert_int_equal(summary_begin_part(s, 300, 100), 0);
	assert_int_equal(s->n_sheds, 1);
	shed(s, 400, "session", true);
	sw(s, 400, (struct sw){ .in = 10, .synthetic = true });
	summary_end_part(s, 500);
	assert_int_equal(s->duration_ns, 200);
	assert_int_equal(s->recorded_ns, 100);
	assert_int_equal(thread(s, 10)->cpu_ns, 100);
	assert_int_equal(thread(s, 12)->blocked_ns, 0);
	assert_int_equal(s->n_sheds, 1);
	assert_int_equal(s->sheds[0].until_ns, 400);
	assert_int_equal(summary_begin_part(s, 500, 100), 0);
	assert_int_equal(s->n_sheds, 0);
}

/* ---- parts ---- */

/* The parts add up to the whole, and each has only its own data. */
TEST(test_parts)
{
	struct summary *s = *state;
	uint64_t ns;

	start(s, 0);
	task(s, 10, 0, "process");
	task(s, 10, 10, "thread");
	task(s, 20, 20, "short");
	sw(s, 10, (struct sw){ 0, 0, 10, 0, false });
	wake(s, 40, 20);
	summary_end_part(s, 50);
	assert_int_equal(s->duration_ns, 50);
	assert_int_equal(s->cpus[0].busy_ns, 40);
	assert_int_equal(s->cpus[0].idle_ns, 10);
	assert_int_equal(thread(s, 10)->cpu_ns, 40);
	assert_int_equal(thread(s, 10)->switches, 1);
	assert_int_equal(thread(s, 20)->runnable_ns, 10);

	assert_int_equal(summary_begin_part(s, 50, 100), 0);
	assert_int_equal(s->switches, 0);
	assert_int_equal(thread(s, 10)->cpu_ns, 0);
	lost(s, 55, "stacks", 3);
	/* A thread that was woken in one part can run in another. */
	assert_true(summary_wakeup_latency(
		s, &(struct event){ .kind = EVENT_SWITCH, .ts_ns = 60, .sw = { .next_tid = 20 } },
		&ns));
	assert_int_equal(ns, 20);
	sw(s, 60, (struct sw){ 0, 10, 20, BLOCKED, false });
	tell(s, (struct event){ .kind = EVENT_EXIT,
				.ts_ns = 70,
				.pid = 20,
				.tid = 20,
				.exit = { .process_ends = true } });
	sw(s, 75, (struct sw){ 0, 20, 0, DEAD, false });
	summary_end_part(s, 100);
	assert_int_equal(s->duration_ns, 50);
	assert_int_equal(s->switches, 2);
	assert_int_equal(s->cpus[0].busy_ns, 25);
	assert_int_equal(s->cpus[0].idle_ns, 25);
	assert_int_equal(thread(s, 10)->cpu_ns, 10);
	assert_int_equal(thread(s, 10)->blocked_ns, 40);
	assert_int_equal(thread(s, 20)->cpu_ns, 15);
	assert_int_equal(thread(s, 20)->runnable_ns, 10);
	assert_int_equal(summary_lost(s), 3);

	assert_int_equal(summary_begin_part(s, 100, 100), 0);
	assert_null(table_get(&s->threads, 20));
	assert_null(table_get(&s->processes, 21));
	assert_string_equal(thread(s, 10)->name, "thread");
	assert_int_equal(summary_lost(s), 0);
	summary_end_part(s, 150);
	assert_int_equal(s->cpus[0].idle_ns, 50);
	assert_int_equal(thread(s, 10)->blocked_ns, 50);
}

/* With too many threads, those without activity are dropped, whatever their states. */
TEST(test_parts_many)
{
	struct summary *s = *state;

	start(s, 0);
	for (uint32_t i = 1; i <= 100; i++) {
		task(s, i, 0, "process");
		task(s, i, i, "thread");
	}
	sw(s, 10, (struct sw){ 0, 0, 7, 0, false });
	sw(s, 20, (struct sw){ 0, 7, 8, BLOCKED, false });
	summary_end_part(s, 50);
	assert_int_equal(summary_begin_part(s, 50, 100), 0);
	assert_int_equal(s->threads.n_used, 100);
	assert_int_equal(s->processes.n_used, 100);
	sw(s, 60, (struct sw){ 0, 8, 9, BLOCKED, false });
	summary_end_part(s, 100);
	assert_int_equal(summary_begin_part(s, 100, 99), 0);
	assert_int_equal(s->threads.n_used, 2);
	assert_int_equal(s->processes.n_used, 2);
	summary_end_part(s, 150);
	assert_int_equal(thread(s, 9)->cpu_ns, 50);
	assert_int_equal(s->cpus[0].busy_ns, 50);
}

#define WITH_SUMMARY(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		WITH_SUMMARY(test_cut_off),
		WITH_SUMMARY(test_outside),
		WITH_SUMMARY(test_joined),
		WITH_SUMMARY(test_joined_chunks),
		WITH_SUMMARY(test_joined_cut_off),
		WITH_SUMMARY(test_joined_perhaps_cut_off),
		WITH_SUMMARY(test_joined_filtered),
		WITH_SUMMARY(test_joined_paused),
		WITH_SUMMARY(test_pause_at_end),
		WITH_SUMMARY(test_pause_cut_off),
		WITH_SUMMARY(test_pause_in_the_middle),
		WITH_SUMMARY(test_pauses_many),
		WITH_SUMMARY(test_sessions_pause),
		WITH_SUMMARY(test_sessions_stop_paused),
		WITH_SUMMARY(test_sessions_chunks),
		WITH_SUMMARY(test_sessions_many),
		WITH_SUMMARY(test_pause_of_others),
		WITH_SUMMARY(test_pause_in_parts),
		WITH_SUMMARY(test_parts),
		WITH_SUMMARY(test_parts_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
