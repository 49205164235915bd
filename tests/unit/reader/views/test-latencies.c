/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Distributions of durations, from events with times in nanoseconds. Random schedules are compared
 * with lists of all durations.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/koids.h"
#include "reader/views/latencies.h"
#include "tests/support/fixtures/summary-events.h"
#include "tests/support/unit.h"

struct test {
	struct summary *summary;
	struct latencies *latencies;
};

static void begin(struct test *t, const struct latencies_options *options)
{
	assert_int_equal(summary_new(&t->summary), 0);
	assert_int_equal(latencies_new(&t->latencies, options, t->summary), 0);
	start(t->summary, 1000);
}

static void finish(struct test *t, uint64_t ts)
{
	stop(t->summary, ts);
	assert_int_equal(latencies_finish(t->latencies), 0);
}

static void end(struct test *t)
{
	latencies_free(t->latencies);
	summary_free(t->summary);
}

/* Passes an event to both. */
static void add(struct test *t, struct event ev)
{
	tell(t->summary, ev);
	assert_int_equal(latencies_add(t->latencies, &ev), 0);
}

static void by_name(struct test *t, uint64_t ts, enum interval_kind kind, const char *name)
{
	add(t, (struct event){ .kind = EVENT_INTERVAL,
			       .ts_ns = ts,
			       .cpu = 1,
			       .interval = { .kind = kind, .name = name, .end_ns = ts + 7 } });
}

static void call(struct test *t, uint64_t ts, uint32_t tid, const char *left_by)
{
	add(t, (struct event){
		       .kind = EVENT_CALL,
		       .ts_ns = ts,
		       .tid = tid,
		       .call = { .function = "read", .end_ns = ts + tid, .left_by = left_by } });
}

/* A request from TS to END; an instant at its end if BEGUN. */
static void request(struct test *t, const char *disk, uint64_t ts, uint64_t end, bool begun,
		    bool clipped)
{
	add(t, (struct event){ .kind = EVENT_REQUEST,
			       .ts_ns = begun ? end : ts,
			       .tid = FXT_KOID_BLOCK + 1,
			       .request = { .op = "read",
					    .disk = disk,
					    .thread = 11,
					    .issued_ns = begun ? ts : 0,
					    .end_ns = end,
					    .clipped = clipped } });
}

/* The row of METRIC with this thread, process, CPU or name; NULL = none. */
static const struct latencies_row *row(const struct test *t, enum latency_metric metric,
				       const struct latencies_row *wanted)
{
	_cleanup_free_ const struct latencies_row **rows = NULL;
	size_t n;

	assert_int_equal(latencies_rows(t->latencies, metric, &rows, &n), 0);
	for (size_t i = 0; i < n; i++)
		if (rows[i]->tid == wanted->tid && rows[i]->pid == wanted->pid &&
		    rows[i]->cpu == wanted->cpu &&
		    (!wanted->name || strcmp(rows[i]->name, wanted->name) == 0))
			return rows[i];
	return NULL;
}

static const struct latencies_row *total(const struct test *t, enum latency_metric metric)
{
	return latencies_total(t->latencies, metric);
}

/* ---- random schedules ---- */

enum { THREADS = 8, CPUS = 3, EVENTS = 400, DURATIONS_MAX = EVENTS };

enum made_state { MADE_NEW, MADE_RUNNING, MADE_READY, MADE_BLOCKED };

/* A schedule while it is made, and its durations. */
struct made {
	unsigned seed;
	uint64_t now;
	uint32_t on[CPUS]; /* 0 = idle */
	struct {
		enum made_state state;
		uint64_t since, woken; /* woken: 0 = preempted */
	} threads[THREADS + 1];
	uint64_t durations[LATENCY_METRICS][THREADS + 1][DURATIONS_MAX];
	size_t n[LATENCY_METRICS][THREADS + 1];
	uint32_t queue[THREADS + 1]; /* the CPU for which the thread waits */
	uint64_t idle_beside_queue_ns, queue_ns;
	uint32_t longest;
};

static uint32_t made_random(struct made *m, uint32_t n)
{
	return (uint32_t)rand_r(&m->seed) % n;
}

/* The state of TID ends. */
static void made_end(struct made *m, uint32_t tid)
{
	static const enum latency_metric metrics[] = { LATENCY_METRICS, LATENCY_RUN, LATENCY_READY,
						       LATENCY_BLOCKED };
	enum latency_metric metric = metrics[m->threads[tid].state];

	if (metric == LATENCY_METRICS)
		return;
	m->durations[metric][tid][m->n[metric][tid]++] = m->now - m->threads[tid].since;
	if (metric == LATENCY_READY && m->threads[tid].woken)
		m->durations[LATENCY_WAKEUP][tid][m->n[LATENCY_WAKEUP][tid]++] =
			m->now - m->threads[tid].woken;
}

static void made_begin(struct made *m, uint32_t tid, enum made_state state)
{
	m->threads[tid].state = state;
	m->threads[tid].since = m->now;
	m->threads[tid].woken = 0;
}

static void made_tell_switch(struct test *t, uint64_t ts, struct sw w)
{
	add(t,
	    (struct event){
		    .kind = EVENT_SWITCH,
		    .ts_ns = ts,
		    .cpu = w.cpu,
		    .tid = w.out,
		    .sw = { .next_tid = w.in, .out_state = w.state, .synthetic = w.synthetic } });
}

/* A switch on a random CPU to a random thread that can run. */
static void made_switch(struct made *m, struct test *t)
{
	uint32_t cpu = made_random(m, CPUS), in = made_random(m, THREADS + 1), out = m->on[cpu];
	bool blocks = made_random(m, 2);

	if (in && m->threads[in].state != MADE_NEW && m->threads[in].state != MADE_READY)
		in = 0;
	if (in == out)
		return;
	if (out) {
		made_end(m, out);
		made_begin(m, out, blocks ? MADE_BLOCKED : MADE_READY);
		m->queue[out] = cpu;
	}
	if (in) {
		made_end(m, in);
		made_begin(m, in, MADE_RUNNING);
	}
	m->on[cpu] = in;
	made_tell_switch(
		t, m->now,
		(struct sw){
			.cpu = cpu, .out = out, .in = in, .state = blocks ? BLOCKED : PREEMPTED });
}

/* A waiting thread moves to another CPU. */
static void made_migrate(struct made *m, struct test *t)
{
	uint32_t tid = 1 + made_random(m, THREADS), cpu = made_random(m, CPUS);

	if (m->threads[tid].state != MADE_READY)
		return;
	m->queue[tid] = cpu;
	add(t, (struct event){ .kind = EVENT_MIGRATE,
			       .ts_ns = m->now,
			       .tid = tid,
			       .migrate = { .to_cpu = cpu } });
}

static void made_wake(struct made *m, struct test *t)
{
	uint32_t tid = 1 + made_random(m, THREADS);

	if (m->threads[tid].state == MADE_BLOCKED) {
		made_end(m, tid);
		made_begin(m, tid, MADE_READY);
		m->threads[tid].woken = m->now;
		m->queue[tid] = 0;
	}
	if (m->threads[tid].state != MADE_NEW)
		add(t, (struct event){ .kind = EVENT_WAKE, .ts_ns = m->now, .tid = tid });
}

/* The queues stay as they are for NS. */
static void made_pass(struct made *m, uint64_t ns)
{
	uint32_t lengths[CPUS] = { 0 };
	bool idle = false, is_long = false;

	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		lengths[cpu] += m->on[cpu] != 0;
	for (uint32_t tid = 1; tid <= THREADS; tid++)
		lengths[m->queue[tid]] += m->threads[tid].state == MADE_READY;
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		idle |= lengths[cpu] == 0;
		is_long |= lengths[cpu] >= 2;
		m->queue_ns += lengths[cpu] * ns;
		m->longest = lengths[cpu] > m->longest ? lengths[cpu] : m->longest;
	}
	m->idle_beside_queue_ns += idle && is_long ? ns : 0;
	m->now += ns;
}

static void compare_queues(const struct made *m, const struct test *t)
{
	const struct run_queues *q = latencies_run_queues(t->latencies);

	assert_int_equal(q->known_ns, m->now - 1000);
	assert_int_equal(q->n_cpus, CPUS);
	assert_int_equal(q->queue_ns, m->queue_ns);
	assert_int_equal(q->idle_beside_queue_ns, m->idle_beside_queue_ns);
	assert_int_equal(q->longest_queue, m->longest);
}

static void compare(const struct latencies_row *is, const uint64_t *durations, size_t n)
{
	_cleanup_(latency_deinit) struct latency expected = { 0 };

	for (size_t i = 0; i < n; i++)
		assert_int_equal(latency_add(&expected, durations[i]), 0);
	assert_int_equal(is ? is->times.n : 0, n);
	if (!is)
		return;
	assert_int_equal(is->times.sum_ns, expected.sum_ns);
	assert_int_equal(is->times.max_ns, expected.max_ns);
	for (unsigned percent = 0; percent <= 100; percent += 5)
		assert_int_equal(latency_percentile_ns(&is->times, percent),
				 latency_percentile_ns(&expected, percent));
}

static void compare_all(const struct made *m, const struct test *t)
{
	static const enum latency_metric open[] = { LATENCY_METRICS, LATENCY_RUN, LATENCY_READY,
						    LATENCY_BLOCKED };

	for (enum latency_metric i = 0; i <= LATENCY_RUN; i++) {
		for (uint32_t tid = 1; tid <= THREADS; tid++) {
			const struct latencies_row *is =
				row(t, i, &(struct latencies_row){ .tid = tid });
			enum made_state state = m->threads[tid].state;
			bool is_open =
				open[state] == i || (i == LATENCY_WAKEUP && m->threads[tid].woken);

			compare(is, m->durations[i][tid], m->n[i][tid]);
			assert_int_equal(is ? is->n_open : 0, is_open);
			if (is_open)
				assert_int_equal(is->longest_open_ns,
						 m->now - m->threads[tid].since);
			if (is && i == LATENCY_WAKEUP)
				assert_int_equal(is->times.max_ns,
						 thread(t->summary, tid)->max_wakeup_latency_ns);
		}
	}
}

TEST(test_random_schedules)
{
	struct made *m = malloc(sizeof(*m));

	assert_non_null(m);
	for (unsigned round = 0; round < unit_rounds(200); round++) {
		struct test t;

		memset(m, 0, sizeof(*m));
		m->seed = round;
		m->now = 1000;
		begin(&t, &(struct latencies_options){ .by = LATENCIES_BY_THREAD,
						       .to_ns = UINT64_MAX });
		for (uint32_t cpu = 0; cpu < CPUS; cpu++)
			made_tell_switch(&t, 1000, (struct sw){ .cpu = cpu, .synthetic = true });
		for (size_t i = 0; i < EVENTS; i++) {
			made_pass(m, made_random(m, 4) ? made_random(m, 3) : made_random(m, 5000));
			made_random(m, 3)   ? made_switch(m, &t)
			: made_random(m, 4) ? made_wake(m, &t)
					    : made_migrate(m, &t);
		}
		made_pass(m, 0);
		add(&t, (struct event){
				.kind = EVENT_STOP, .ts_ns = m->now, .stop = { .reason = "" } });
		assert_int_equal(summary_finish(t.summary), 0);
		assert_int_equal(latencies_finish(t.latencies), 0);
		compare_all(m, &t);
		compare_queues(m, &t);
		end(&t);
	}
	free(m);
}

/* ---- rows ---- */

/* One thread that waits twice: after a wakeup, and after a preemption on another CPU. */
static void schedule(struct summary *s)
{
	task(s, 50, 0, "sh");
	task(s, 50, 10, "one");
	task(s, 50, 11, "two");
	sw(s, 1000, (struct sw){ .in = 10 });
	sw(s, 1010, (struct sw){ .out = 10, .state = BLOCKED });
	wake(s, 1030, 10);
	sw(s, 1035, (struct sw){ .in = 10 });
	sw(s, 1100, (struct sw){ .cpu = 1, .in = 11 });
	sw(s, 1150, (struct sw){ .cpu = 1, .out = 11, .state = PREEMPTED });
	sw(s, 1190, (struct sw){ .cpu = 1, .in = 11 });
}

TEST(test_total)
{
	struct test t;

	begin(&t, &(struct latencies_options){ .to_ns = UINT64_MAX });
	schedule(t.summary);
	finish(&t, 1200);
	assert_int_equal(total(&t, LATENCY_WAKEUP)->times.n, 1);
	assert_int_equal(total(&t, LATENCY_WAKEUP)->times.max_ns, 5);
	assert_int_equal(total(&t, LATENCY_READY)->times.n, 2);
	assert_int_equal(total(&t, LATENCY_READY)->times.sum_ns, 45);
	assert_int_equal(total(&t, LATENCY_BLOCKED)->times.sum_ns, 20);
	assert_int_equal(total(&t, LATENCY_RUN)->times.n, 2);
	assert_int_equal(total(&t, LATENCY_RUN)->times.sum_ns, 10 + 50);
	assert_int_equal(total(&t, LATENCY_RUN)->n_open, 2);
	assert_int_equal(total(&t, LATENCY_RUN)->longest_open_ns, 1200 - 1035);
	assert_null(row(&t, LATENCY_RUN, &(struct latencies_row){ 0 }));
	end(&t);
}

TEST(test_by_process_and_cpu)
{
	const struct latencies_row process = { .pid = 50, .name = "sh" };
	const struct latencies_row cpu = { .cpu = 1, .name = "" };
	struct test t;

	begin(&t, &(struct latencies_options){ .by = LATENCIES_BY_PROCESS, .to_ns = UINT64_MAX });
	schedule(t.summary);
	finish(&t, 1200);
	assert_int_equal(row(&t, LATENCY_READY, &process)->times.n, 2);
	end(&t);

	begin(&t, &(struct latencies_options){ .by = LATENCIES_BY_CPU, .to_ns = UINT64_MAX });
	schedule(t.summary);
	by_name(&t, 1100, INTERVAL_IRQ, "eth");
	by_name(&t, 1100, INTERVAL_WORK, "work");
	finish(&t, 1200);
	assert_int_equal(row(&t, LATENCY_READY, &cpu)->times.sum_ns, 40);
	assert_int_equal(row(&t, LATENCY_IRQ, &cpu)->times.sum_ns, 7);
	assert_null(row(&t, LATENCY_WORK, &cpu));
	end(&t);
}

TEST(test_by_unit_and_cgroup)
{
	const char *const names[] = { "a.service", "/system.slice/a.service" };

	for (size_t i = 0; i < 2; i++) {
		struct test t;

		begin(&t, &(struct latencies_options){ .by = i ? LATENCIES_BY_CGROUP
							       : LATENCIES_BY_UNIT,
						       .to_ns = UINT64_MAX });
		schedule(t.summary);
		tell(t.summary, (struct event){ .kind = EVENT_TASK,
						.pid = 50,
						.task = { .comm = "sh",
							  .command_line = "",
							  .cgroup_id = 7,
							  .cgroup_path = names[1],
							  .is_process = true } });
		sw(t.summary, 1190, (struct sw){ .cpu = 2, .out = 12, .state = BLOCKED });
		wake(t.summary, 1195, 12);
		finish(&t, 1200);
		assert_int_equal(row(&t, LATENCY_READY, &(struct latencies_row){ .name = names[i] })
					 ->times.n,
				 2);
		assert_int_equal(
			row(&t, LATENCY_BLOCKED, &(struct latencies_row){ .name = "?" })->times.n,
			1);
		end(&t);
	}
}

TEST(test_by_name)
{
	struct test t;

	begin(&t, &(struct latencies_options){ .by = LATENCIES_BY_NAME, .to_ns = UINT64_MAX });
	schedule(t.summary);
	by_name(&t, 1100, INTERVAL_SOFTIRQ, "TIMER");
	by_name(&t, 1120, INTERVAL_SOFTIRQ, "TIMER");
	by_name(&t, 1110, INTERVAL_SOFTIRQ, "RCU");
	by_name(&t, 1110, INTERVAL_IDLE, "C1");
	request(&t, "vda", 1110, 1119, false, false);
	request(&t, "vda", 1110, 1130, true, false);
	request(&t, "vda", 1110, 1131, false, true);
	request(&t, "", 1110, 1132, false, false);
	call(&t, 1150, 11, "");
	call(&t, 1170, 12, "unwound");
	finish(&t, 1200);
	assert_int_equal(
		row(&t, LATENCY_SOFTIRQ, &(struct latencies_row){ .name = "TIMER" })->times.n, 2);
	assert_int_equal(
		row(&t, LATENCY_BLOCK, &(struct latencies_row){ .name = "vda read" })->times.n, 2);
	assert_int_equal(
		row(&t, LATENCY_BLOCK, &(struct latencies_row){ .name = "vda read" })->times.sum_ns,
		29);
	assert_int_equal(
		row(&t, LATENCY_BLOCK, &(struct latencies_row){ .name = "vda read" })->n_open, 1);
	assert_int_equal(
		row(&t, LATENCY_BLOCK, &(struct latencies_row){ .name = "? read" })->times.n, 1);
	assert_int_equal(
		row(&t, LATENCY_SOFTIRQ, &(struct latencies_row){ .name = "RCU" })->times.n, 1);
	assert_int_equal(row(&t, LATENCY_CALL, &(struct latencies_row){ .name = "read" })->times.n,
			 1);
	assert_int_equal(row(&t, LATENCY_CALL, &(struct latencies_row){ .name = "read" })->n_open,
			 1);
	assert_int_equal(row(&t, LATENCY_RUN, &(struct latencies_row){ .name = "two" })->times.n,
			 1);
	assert_int_equal(total(&t, LATENCY_SOFTIRQ)->times.n, 3);
	assert_int_equal(total(&t, LATENCY_IRQ)->times.n, 0);
	end(&t);
}

/* ---- what counts ---- */

static bool is_eleven(void *userdata, uint32_t tid)
{
	*(unsigned *)userdata += 1;
	return tid == 11;
}

TEST(test_selected_threads)
{
	unsigned asked = 0;
	struct latencies_options options = { .to_ns = UINT64_MAX,
					     .wants = is_eleven,
					     .userdata = &asked };
	struct test t;

	begin(&t, &options);
	schedule(t.summary);
	call(&t, 1150, 11, "");
	call(&t, 1150, 10, "");
	finish(&t, 1200);
	assert_int_equal(total(&t, LATENCY_READY)->times.sum_ns, 40);
	assert_int_equal(total(&t, LATENCY_WAKEUP)->times.n, 0);
	assert_int_equal(total(&t, LATENCY_CALL)->times.sum_ns, 11);
	assert_true(asked > 0);
	end(&t);
}

/* The end decides. */
static void check_window(const struct latencies_options *options)
{
	struct test t;

	begin(&t, options);
	schedule(t.summary);
	finish(&t, 1200);
	assert_int_equal(total(&t, LATENCY_BLOCKED)->times.sum_ns, 20);
	assert_int_equal(total(&t, LATENCY_WAKEUP)->times.n, 1);
	assert_int_equal(total(&t, LATENCY_READY)->times.n, 1);
	assert_int_equal(total(&t, LATENCY_RUN)->times.n, 0);
	assert_int_equal(total(&t, LATENCY_RUN)->n_open, 0);
	end(&t);
}

TEST(test_window)
{
	check_window(
		&(struct latencies_options){ .from_ns = 1030, .to_ns = 1150, .absolute = true });
	check_window(&(struct latencies_options){ .from_ns = 30, .to_ns = 150 });
}

/* A loss and a pause end durations at unknown times. */
TEST(test_unknown_ends)
{
	struct test t;

	begin(&t, &(struct latencies_options){ .to_ns = UINT64_MAX });
	sw(t.summary, 1010, (struct sw){ .out = 10, .state = BLOCKED });
	lost(t.summary, 1100, "sched", 1);
	sw(t.summary, 1150, (struct sw){ .in = 10 });
	shed(t.summary, 1200, "session", false);
	shed(t.summary, 1300, "session", true);
	sw(t.summary, 1310, (struct sw){ .out = 10, .state = BLOCKED });
	wake(t.summary, 1320, 10);
	sw(t.summary, 1300, (struct sw){ .cpu = 1, .in = 11, .synthetic = true });
	sw(t.summary, 1310, (struct sw){ .cpu = 1, .out = 11, .in = 12, .state = BLOCKED });
	sw(t.summary, 1400, (struct sw){ .cpu = 1, .out = 12, .synthetic = true });
	finish(&t, 1400);
	assert_int_equal(total(&t, LATENCY_BLOCKED)->times.sum_ns, 10);
	assert_int_equal(total(&t, LATENCY_BLOCKED)->n_open, 2);
	assert_int_equal(total(&t, LATENCY_BLOCKED)->longest_open_ns, 90);
	assert_int_equal(total(&t, LATENCY_RUN)->times.n, 0);
	assert_int_equal(total(&t, LATENCY_RUN)->n_open, 3);
	assert_int_equal(total(&t, LATENCY_RUN)->longest_open_ns, 90);
	assert_int_equal(total(&t, LATENCY_WAKEUP)->n_open, 1);
	assert_int_equal(total(&t, LATENCY_READY)->longest_open_ns, 80);
	end(&t);
}

/* Queues are not known in a pause, nor after a loss until each CPU has switched. */
TEST(test_unknown_queues)
{
	const struct event loss = { .kind = EVENT_LOST,
				    .ts_ns = 1200,
				    .lost = { .class_name = "sched", .count = 1 } };
	const struct run_queues *q;
	struct test t;

	begin(&t, &(struct latencies_options){ .to_ns = UINT64_MAX });
	made_tell_switch(&t, 1000, (struct sw){ .synthetic = true });
	made_tell_switch(&t, 1100, (struct sw){ .cpu = 1, .in = 10 });
	add(&t, loss);
	made_tell_switch(&t, 1250, (struct sw){ .in = 11 });
	made_tell_switch(&t, 1300, (struct sw){ .cpu = 1, .in = FXT_KOID_OTHER });
	add(&t, (struct event){ .kind = EVENT_SHED, .ts_ns = 1350, .shed = { .what = "session" } });
	add(&t, (struct event){ .kind = EVENT_WAKE, .ts_ns = 1400, .tid = 12 });
	finish(&t, 1500);
	q = latencies_run_queues(t.latencies);
	/* (before 1100, there is only one CPU) */
	assert_int_equal(q->known_ns, 100 + 100 + 50);
	assert_int_equal(q->queue_ns, 0 + 100 + 2 * 50);
	assert_int_equal(q->idle_beside_queue_ns, 0);
	end(&t);
}

/* A run in which another program begins is one run. */
TEST(test_exec)
{
	struct test t;

	begin(&t, &(struct latencies_options){ .to_ns = UINT64_MAX });
	sw(t.summary, 1010, (struct sw){ .in = 10 });
	for (uint64_t ts = 1020; ts <= 1040; ts += 20) {
		tell(t.summary, (struct event){ .kind = EVENT_RENAME,
						.ts_ns = ts,
						.pid = 10,
						.tid = 10,
						.rename = { "a", ts == 1020 ? "b" : "c" } });
		tell(t.summary, (struct event){ .kind = EVENT_EXEC,
						.ts_ns = ts,
						.pid = 10,
						.tid = 10,
						.exec = { .file = "f", .command_line = "" } });
	}
	assert_non_null(thread(t.summary, 10)->earlier);
	sw(t.summary, 1070, (struct sw){ .out = 10, .state = BLOCKED });
	finish(&t, 1070);
	assert_int_equal(total(&t, LATENCY_RUN)->times.n, 1);
	assert_int_equal(total(&t, LATENCY_RUN)->times.sum_ns, 60);
	end(&t);
}

/* With too many keys, further durations count in total. */
LARGE_TEST(test_many_keys)
{
	struct test t;

	begin(&t, &(struct latencies_options){ .by = LATENCIES_BY_THREAD, .to_ns = UINT64_MAX });
	for (uint32_t i = 0; i < LATENCIES_KEYS_MAX + 100; i++)
		call(&t, 1010, 1 + i, "");
	call(&t, 1010, 1, "");
	finish(&t, 200000);
	assert_int_equal(latencies_n_keyless(t.latencies, LATENCY_CALL), 100);
	assert_int_equal(total(&t, LATENCY_CALL)->times.n, LATENCIES_KEYS_MAX + 101);
	end(&t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_schedules),
		cmocka_unit_test(test_total),
		cmocka_unit_test(test_by_process_and_cpu),
		cmocka_unit_test(test_by_unit_and_cgroup),
		cmocka_unit_test(test_by_name),
		cmocka_unit_test(test_selected_threads),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_unknown_ends),
		cmocka_unit_test(test_unknown_queues),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_many_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
