/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/koids.h"
#include "reader/why/why.h"
#include "tests/support/unit.h"
#include "writer/fxt/fxt-wire.h"

#define MS UINT64_C(1000000)

enum { HIGH = 11, LOW = 12, MID = 13, OTHER = 14, TIMER_AT = 0x1000, MUTEX_AT = 0x2000 };

/* Addresses of the kernel. */
#define KERNEL UINT64_C(0xffffffff81000000)

/* The views of a recording. */
struct views {
	struct summary *summary;
	struct profile *profile;
	struct why *why;
};

static const struct profile_names names;

static void open_views(struct views *v, struct why_options options)
{
	*v = (struct views){ 0 };
	options.n_worst = options.n_worst ?: 10;
	options.to_ns = options.to_ns ?: UINT64_MAX;
	options.names = &names;
	assert_int_equal(summary_new(&v->summary), 0);
	assert_int_equal(profile_new(&v->profile, &(struct profile_options){ .to_ns = UINT64_MAX }),
			 0);
	assert_int_equal(why_new(&v->why, &options, v->summary, v->profile), 0);
}

static void close_views(struct views *v)
{
	why_free(v->why);
	profile_free(v->profile);
	summary_free(v->summary);
}

static void feed(struct views *v, struct event ev)
{
	assert_int_equal(summary_add(v->summary, &ev), 0);
	assert_int_equal(profile_add(v->profile, &ev), 0);
	assert_int_equal(why_add(v->why, &ev), 0);
}

static void begin(struct views *v, uint64_t ts)
{
	feed(v, (struct event){ .kind = EVENT_START,
				.ts_ns = ts,
				.start = { .session = "s",
					   .command = "",
					   .options = "",
					   .kernel = "",
					   .machine = "",
					   .host = "",
					   .version = "",
					   .n_cpus = 2 } });
}

static void end(struct views *v, uint64_t ts, int result)
{
	feed(v, (struct event){ .kind = EVENT_STOP, .ts_ns = ts, .stop = { .reason = "" } });
	assert_int_equal(summary_finish(v->summary), 0);
	assert_int_equal(why_finish(v->why), result);
}

static void task(struct views *v, uint32_t tid, const char *name)
{
	feed(v, (struct event){ .kind = EVENT_TASK,
				.pid = tid,
				.tid = tid,
				.task = { .comm = name, .command_line = "", .is_process = true } });
}

static void thread_of(struct views *v, uint32_t tid, uint32_t pid, const char *name)
{
	feed(v, (struct event){ .kind = EVENT_TASK,
				.pid = pid,
				.tid = tid,
				.task = { .comm = name, .command_line = "" } });
}

static void frame(struct views *v, uint64_t address, const char *function)
{
	feed(v, (struct event){ .kind = EVENT_FRAME,
				.frame = { .process = FXT_KOID_KTHREADD,
					   .address = address,
					   .function = function,
					   .source = "",
					   .module = "" } });
}

static void sw_on(struct views *v, uint32_t cpu, uint64_t ts, uint32_t out, char state, uint32_t in)
{
	feed(v, (struct event){ .kind = EVENT_SWITCH,
				.ts_ns = ts,
				.pid = out,
				.tid = out,
				.cpu = cpu,
				.sw = { .next_tid = in,
					.state = state,
					.out_state = state == 'R' ? FXT_STATE_RUNNING
								  : FXT_STATE_BLOCKED } });
}

static void wake(struct views *v, uint64_t ts, uint32_t tid, uint32_t waker)
{
	feed(v, (struct event){ .kind = EVENT_WAKE,
				.ts_ns = ts,
				.pid = tid,
				.tid = tid,
				.wake = { .waker_tid = waker } });
}

static void migrate(struct views *v, uint64_t ts, uint32_t tid, uint32_t to_cpu)
{
	feed(v, (struct event){ .kind = EVENT_MIGRATE,
				.ts_ns = ts,
				.tid = tid,
				.migrate = { .to_cpu = to_cpu } });
}

/* A time off CPU, with the innermost function of its stack. */
static void offcpu(struct views *v, uint32_t tid, uint64_t from, uint64_t to, uint64_t at,
		   const char *left_by, const char *begun)
{
	const uint64_t frames[] = { KERNEL + at };

	feed(v, (struct event){
			.kind = EVENT_OFFCPU,
			.ts_ns = from,
			.pid = tid,
			.tid = tid,
			.offcpu = {
				.end_ns = to, .state = 'S', .left_by = left_by, .begun = begun } });
	feed(v, (struct event){
			.kind = EVENT_SAMPLE,
			.ts_ns = from,
			.pid = tid,
			.tid = tid,
			.sample = { .frames = frames, .n_frames = 1, .kind = SAMPLE_OFF_CPU } });
}

static bool wants_one(void *userdata, uint32_t tid)
{
	return tid == *(const uint32_t *)userdata;
}

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

/* The longest wait of HIGH, from 10 to 90 ms, has this verdict. */
static void expect_verdict(struct views *v, enum why_verdict_kind kind, uint32_t culprit,
			   const char *text)
{
	const struct why_verdict *verdict;

	end(v, 100 * MS, 0);
	assert_int_equal(v->why->worst[0].tid, HIGH);
	assert_int_equal(v->why->worst[0].from_ns, 10 * MS);
	verdict = &v->why->worst[0].verdict;
	assert_string_equal(verdict->text, text);
	assert_int_equal(verdict->kind, kind);
	assert_int_equal(verdict->culprit, culprit);
	close_views(v);
}

static uint32_t only_high = HIGH;

/* HIGH waits from 10 ms on, in FUNCTION, if it is not NULL. */
static void wait_in(struct views *v, const char *function, uint64_t to)
{
	open_views(v, (struct why_options){
			      .wants = wants_one, .userdata = &only_high, .with_idle = true });
	begin(v, 0);
	task(v, HIGH, "high");
	task(v, LOW, "low");
	task(v, MID, "mid");
	sw_on(v, 0, 0, 0, 'R', HIGH);
	sw_on(v, 0, 10 * MS, HIGH, 'S', 0);
	if (!function)
		return;
	frame(v, KERNEL + MUTEX_AT, function);
	offcpu(v, HIGH, 10 * MS, to, MUTEX_AT, to == 100 * MS ? "open" : NULL, NULL);
}

static void run_after_wakeup(struct views *v, uint32_t waker, uint64_t ts)
{
	wake(v, ts, HIGH, waker);
	sw_on(v, 0, ts, 0, 'R', HIGH);
}

TEST(test_ends_of_waits)
{
	struct views v;

	wait_in(&v, "hrtimer_nanosleep", 90 * MS);
	run_after_wakeup(&v, FXT_KOID_IRQ + 1, 90 * MS);
	expect_verdict(&v, WHY_SLEEP, 0, "high (11) slept for 80.0 ms by its own choice.");

	wait_in(&v, "io_schedule", 90 * MS);
	run_after_wakeup(&v, FXT_KOID_IRQ + 1, 90 * MS);
	expect_verdict(&v, WHY_SLOW_DISK, 0, "high (11) waited 80.0 ms for a disk.");

	wait_in(&v, "tcp_recvmsg", 90 * MS);
	run_after_wakeup(&v, FXT_KOID_SOFTIRQ + 1, 90 * MS);
	expect_verdict(&v, WHY_REMOTE, 0, "high (11) waited 80.0 ms for a socket.");

	wait_in(&v, "futex_lock_pi", 100 * MS);
	expect_verdict(&v, WHY_LOCK_OPEN, 0,
		       "high (11) has waited 90.0 ms for a lock of the program, until the end of "
		       "the recording.");

	wait_in(&v, NULL, 0);
	run_after_wakeup(&v, FXT_KOID_IRQ + 1, 90 * MS);
	expect_verdict(&v, WHY_TOO_LITTLE, 0,
		       "high (11) was blocked for 80.0 ms; the cause is unknown.");
}

/* LOW runs on the other CPU, and wakes HIGH; or waits itself, for a disk. */
TEST(test_other_threads)
{
	struct views v;

	wait_in(&v, "pipe_read", 90 * MS);
	sw_on(&v, 1, 10 * MS, 0, 'R', LOW);
	run_after_wakeup(&v, LOW, 90 * MS);
	expect_verdict(&v, WHY_PROGRAM, LOW,
		       "high (11) waited 80.0 ms for a pipe, until low (12) woke it; low (12) ran "
		       "for 80.0 ms of it.");

	wait_in(&v, "jbd2_log_wait_commit", 90 * MS);
	sw_on(&v, 1, 5 * MS, 0, 'R', LOW);
	frame(&v, KERNEL + TIMER_AT, "io_schedule");
	sw_on(&v, 1, 10 * MS, LOW, 'D', 0);
	wake(&v, 85 * MS, LOW, FXT_KOID_IRQ + 2);
	sw_on(&v, 1, 85 * MS, 0, 'R', LOW);
	offcpu(&v, LOW, 10 * MS, 85 * MS, TIMER_AT, NULL, NULL);
	run_after_wakeup(&v, LOW, 90 * MS);
	expect_verdict(
		&v, WHY_JOURNAL, LOW,
		"high (11) waited 80.0 ms for a file system, until low (12) woke it; low (12) "
		"waited for a disk for 75.0 ms of it.");
}

/* ksoftirqd ends a wait, but is not the reason of it; nor is any other thread. */
TEST(test_softirqs)
{
	struct views v;

	wait_in(&v, "hrtimer_nanosleep", 90 * MS);
	thread_of(&v, LOW, FXT_KOID_KTHREADD, "ksoftirqd/1");
	sw_on(&v, 1, 5 * MS, 0, 'R', LOW);
	run_after_wakeup(&v, LOW, 90 * MS);
	expect_verdict(&v, WHY_SLEEP, 0, "high (11) slept for 80.0 ms by its own choice.");

	wait_in(&v, "tcp_recvmsg", 90 * MS);
	thread_of(&v, LOW, FXT_KOID_KTHREADD, "ksoftirqd/1");
	sw_on(&v, 1, 5 * MS, 0, 'R', LOW);
	run_after_wakeup(&v, LOW, 90 * MS);
	expect_verdict(&v, WHY_REMOTE, 0, "high (11) waited 80.0 ms for a socket.");
}

/* A later owner of a tid, and the interrupts of the second machine of a merged archive. */
TEST(test_large_koids)
{
	const uint32_t later = LOW + (2u << FXT_KOID_TID_BITS), second = 512u << FXT_KOID_TID_BITS;
	struct views v;

	wait_in(&v, "tcp_recvmsg", 90 * MS);
	task(&v, later, "later");
	sw_on(&v, 1, 5 * MS, 0, 'R', later);
	run_after_wakeup(&v, later, 90 * MS);
	expect_verdict(
		&v, WHY_PROGRAM, later,
		"high (11) waited 80.0 ms for a socket on this machine, until later (8388620) "
		"woke it; later (8388620) ran for 80.0 ms of it.");

	wait_in(&v, "hrtimer_nanosleep", 90 * MS);
	thread_of(&v, FXT_KOID_IRQ + 1 + second, FXT_KOID_IRQ + second, "irq cpu 0");
	run_after_wakeup(&v, FXT_KOID_IRQ + 1 + second, 90 * MS);
	end(&v, 100 * MS, 0);
	assert_int_equal(v.why->worst[0].path.shares[0].kind, PATH_TIMER);
	assert_int_equal(v.why->worst[0].waker, 0);
	close_views(&v);
}

/* The verdicts about waits that no other thread explains, with their remedies. */
TEST(test_own_waits)
{
	static const struct {
		const char *function;
		enum why_verdict_kind kind;
		const char *text, *remedy;
	} waits[] = {
		{ "handle_mm_fault", WHY_FAULTS, "waited 80.0 ms in page faults", "Lock its" },
		{ "try_to_free_mem_cgroup_pages", WHY_MEMORY_LIMIT, "waited 80.0 ms for memory",
		  "Raise the memory limit" },
		{ "try_to_free_pages", WHY_MEMORY_LIMIT, "waited 80.0 ms for memory", NULL },
		{ "balance_dirty_pages", WHY_SLOW_DISK,
		  "waited 80.0 ms until less data was to be written to disks", NULL },
		{ "n_tty_read", WHY_IDLE, "waited 80.0 ms for input from a terminal", NULL },
		{ "do_sys_poll", WHY_IDLE, "waited 80.0 ms for events", NULL },
		{ "__refrigerator", WHY_HELD_BACK, "was frozen for 80.0 ms", NULL },
		{ "throttle_cfs_rq_work", WHY_QUOTA, "was throttled for 80.0 ms", "Raise the CPU" },
		{ "do_wait", WHY_CHILD, "waited 80.0 ms for a child process", NULL },
		{ "futex_wait", WHY_PROGRAM, "waited 80.0 ms for a condition of the program",
		  NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(waits); i++) {
		const struct why_verdict *verdict;
		char text[200];
		struct views v;

		wait_in(&v, waits[i].function, 90 * MS);
		run_after_wakeup(&v, FXT_KOID_IRQ + 1, 90 * MS);
		end(&v, 100 * MS, 0);
		verdict = &v.why->worst[0].verdict;
		snprintf(text, sizeof(text), "high (11) %s.", waits[i].text);
		assert_string_equal(verdict->text, text);
		assert_int_equal(verdict->kind, waits[i].kind);
		assert_int_equal(verdict->certainty, WHY_CERTAIN);
		assert_int_equal(verdict->remedy != NULL, waits[i].remedy != NULL);
		if (waits[i].remedy)
			assert_int_equal(strncmp(verdict->remedy, waits[i].remedy,
						 strlen(waits[i].remedy)),
					 0);
		close_views(&v);
	}
}

/* Windows in which HIGH ran, did a bit of everything, or was ready while interrupts ran. */
TEST(test_windows)
{
	const struct why_options window = { .what = WHY_INSTANCE_WINDOW,
					    .wants = wants_one,
					    .userdata = &only_high };
	struct views v;

	open_views(&v, window);
	begin(&v, 0);
	task(&v, HIGH, "high");
	sw_on(&v, 0, 0, 0, 'R', HIGH);
	sw_on(&v, 0, 60 * MS, HIGH, 'S', 0);
	end(&v, 100 * MS, 0);
	assert_string_equal(v.why->worst[0].verdict.text, "high (11) used its CPU for 60.0 ms.");
	assert_int_equal(v.why->worst[0].verdict.kind, WHY_RUNS);
	close_views(&v);

	open_views(&v, window);
	begin(&v, 0);
	task(&v, HIGH, "high");
	frame(&v, KERNEL + MUTEX_AT, "io_schedule");
	sw_on(&v, 0, 0, 0, 'R', HIGH);
	sw_on(&v, 0, 30 * MS, HIGH, 'R', MID);
	sw_on(&v, 0, 60 * MS, MID, 'S', HIGH);
	sw_on(&v, 0, 61 * MS, HIGH, 'D', 0);
	offcpu(&v, HIGH, 61 * MS, 100 * MS, MUTEX_AT, "open", NULL);
	end(&v, 100 * MS, 0);
	assert_string_equal(v.why->worst[0].verdict.text,
			    "high (11) ran for 31.0 ms, was ready for 30.0 ms and waited for 39.0 "
			    "ms, 39.0 ms of it for a disk.");
	assert_int_equal(v.why->worst[0].verdict.kind, WHY_NOTHING);
	close_views(&v);

	open_views(&v, window);
	begin(&v, 0);
	task(&v, HIGH, "high");
	sw_on(&v, 0, 0, 0, 'R', HIGH);
	sw_on(&v, 0, 10 * MS, HIGH, 'R', MID);
	feed(&v, (struct event){
			 .kind = EVENT_INTERVAL,
			 .ts_ns = 20 * MS,
			 .interval = { .kind = INTERVAL_IRQ, .name = "eth0", .end_ns = 90 * MS } });
	sw_on(&v, 0, 91 * MS, MID, 'R', HIGH);
	end(&v, 100 * MS, 0);
	assert_string_equal(v.why->worst[0].verdict.text,
			    "high (11) was ready for 81.0 ms; interrupts took CPU 0 for 70.0 ms of "
			    "it.");
	assert_int_equal(v.why->worst[0].verdict.kind, WHY_INTERRUPTS);
	close_views(&v);
}

/* A function of the program that is called like one of the C library decides nothing. */
TEST(test_own_function)
{
	const uint64_t frames[] = { 0x1010, 0x2010 };
	struct views v;

	wait_in(&v, NULL, 0);
	for (unsigned i = 0; i < 2; i++) {
		feed(&v, (struct event){ .kind = EVENT_MAPPING,
					 .pid = HIGH,
					 .tid = HIGH,
					 .mapping = { .path = i ? "/bin/high" : "/lib/libc.so.6",
						      .module_id = (uint16_t)(i + 1),
						      .start = 0x1000 * (i + 1),
						      .size = 0x1000 } });
		feed(&v, (struct event){ .kind = EVENT_FRAME,
					 .frame = { .process = HIGH,
						    .address = frames[i] - i,
						    .function = i ? "wait" : "read",
						    .source = "",
						    .module = "" } });
	}
	feed(&v, (struct event){ .kind = EVENT_OFFCPU,
				 .ts_ns = 10 * MS,
				 .pid = HIGH,
				 .tid = HIGH,
				 .offcpu = { .end_ns = 90 * MS, .state = 'S' } });
	feed(&v, (struct event){
			 .kind = EVENT_SAMPLE,
			 .ts_ns = 10 * MS,
			 .pid = HIGH,
			 .tid = HIGH,
			 .sample = { .frames = frames, .n_frames = 2, .kind = SAMPLE_OFF_CPU } });
	run_after_wakeup(&v, FXT_KOID_IRQ + 1, 90 * MS);
	expect_verdict(&v, WHY_TOO_LITTLE, 0,
		       "high (11) was blocked for 80.0 ms; the cause is unknown.");
}

/* LOW ran, then waited, and then MID ran, for less time than LOW took in total. */
TEST(test_main_thread)
{
	struct views v;

	wait_in(&v, "pipe_read", 95 * MS);
	sw_on(&v, 1, 1 * MS, 0, 'R', MID);
	sw_on(&v, 1, 5 * MS, MID, 'S', LOW);
	sw_on(&v, 1, 35 * MS, LOW, 'D', 0);
	wake(&v, 60 * MS, LOW, FXT_KOID_IRQ + 2);
	sw_on(&v, 1, 60 * MS, 0, 'R', LOW);
	wake(&v, 61 * MS, MID, LOW);
	sw_on(&v, 1, 61 * MS, LOW, 'S', MID);
	run_after_wakeup(&v, MID, 95 * MS);
	sw_on(&v, 1, 96 * MS, MID, 'S', 0);
	expect_verdict(&v, WHY_PROGRAM, LOW,
		       "high (11) waited 85.0 ms for a pipe, until mid (13) woke it; low (12) ran "
		       "for 26.0 ms of it.");
}

/* Several threads, for which HIGH waited, were ready one after the other, behind MID. */
TEST(test_crowd)
{
	struct views v;

	wait_in(&v, "pipe_read", 90 * MS);
	sw_on(&v, 1, 1 * MS, 0, 'R', OTHER);
	sw_on(&v, 1, 2 * MS, OTHER, 'S', LOW);
	sw_on(&v, 1, 10 * MS, LOW, 'R', MID);
	sw_on(&v, 1, 40 * MS, MID, 'R', LOW);
	wake(&v, 41 * MS, OTHER, LOW);
	migrate(&v, 41 * MS, OTHER, 1);
	sw_on(&v, 1, 41 * MS, LOW, 'S', MID);
	sw_on(&v, 1, 66 * MS, MID, 'R', OTHER);
	run_after_wakeup(&v, OTHER, 90 * MS);
	expect_verdict(&v, WHY_CPU_TAKEN, MID,
		       "high (11) waited 80.0 ms for a pipe, until thread 14 woke it. The threads "
		       "for which it waited were ready for 55.0 ms of it, but got no CPU; of the "
		       "others, mid (13) had their CPU for most time, 55.0 ms.");
}

/* Without a lock, there is no advice about locks. */
TEST(test_no_lock)
{
	struct views v;

	wait_in(&v, NULL, 0);
	sw_on(&v, 1, 5 * MS, 0, 'R', LOW);
	sw_on(&v, 1, 10 * MS, LOW, 'R', MID);
	sw_on(&v, 1, 80 * MS, MID, 'S', LOW);
	run_after_wakeup(&v, LOW, 90 * MS);
	end(&v, 100 * MS, 0);
	assert_int_equal(v.why->worst[0].verdict.kind, WHY_PROGRAM);
	assert_int_equal(v.why->worst[0].verdict.culprit, MID);
	assert_string_equal(v.why->worst[0].verdict.remedy,
			    "Move mid (13) to another CPU, or lower its priority.");
	assert_int_equal(v.why->worst[0].verdict.ns, 70 * MS);
	close_views(&v);
}

/* The window of HIGH: a long wait for a disk, and a short one for LOW, which is not the reason. */
TEST(test_whole)
{
	struct views v;

	open_views(&v, (struct why_options){ .what = WHY_INSTANCE_WINDOW,
					     .wants = wants_one,
					     .userdata = &only_high });
	begin(&v, 0);
	task(&v, HIGH, "high");
	frame(&v, KERNEL + TIMER_AT, "io_schedule");
	frame(&v, KERNEL + MUTEX_AT, "pipe_read");
	sw_on(&v, 0, 0, 0, 'R', HIGH);
	sw_on(&v, 0, 10 * MS, HIGH, 'D', 0);
	run_after_wakeup(&v, FXT_KOID_IRQ + 1, 80 * MS);
	offcpu(&v, HIGH, 10 * MS, 80 * MS, TIMER_AT, NULL, NULL);
	sw_on(&v, 1, 80 * MS, 0, 'R', LOW);
	sw_on(&v, 0, 85 * MS, HIGH, 'S', 0);
	run_after_wakeup(&v, LOW, 88 * MS);
	offcpu(&v, HIGH, 85 * MS, 88 * MS, MUTEX_AT, NULL, NULL);
	end(&v, 100 * MS, 0);
	assert_int_equal(v.why->n_worst, 1);
	/* The window is no wait. */
	assert_int_equal(v.why->threads[0].n_waits, 2);
	assert_int_equal(v.why->threads[0].longest_ns, 70 * MS);
	assert_string_equal(v.why->worst[0].verdict.text, "high (11) waited 70.0 ms for a disk.");
	assert_int_equal(v.why->worst[0].verdict.culprit, 0);
	assert_null(v.why->worst[0].verdict.remedy);
	close_views(&v);
}

/* HIGH is woken at once, but runs late. */
TEST(test_no_cpu)
{
	struct views v;

	wait_in(&v, NULL, 0);
	wake(&v, 11 * MS, HIGH, FXT_KOID_IRQ + 1);
	sw_on(&v, 0, 90 * MS, 0, 'R', HIGH);
	expect_verdict(&v, WHY_CPU_STOLEN, 0,
		       "high (11) was ready for 79.0 ms, but CPU 0 ran nothing for 79.0 ms "
		       "of it: interrupts, its CPU quota, a hypervisor, or a CPU that slept.");

	wait_in(&v, NULL, 0);
	sw_on(&v, 1, 10 * MS, 0, 'R', LOW);
	wake(&v, 11 * MS, HIGH, FXT_KOID_IRQ + 1);
	sw_on(&v, 0, 11 * MS, 0, 'R', MID);
	sw_on(&v, 0, 90 * MS, MID, 'R', HIGH);
	expect_verdict(&v, WHY_CPU_TAKEN, MID,
		       "high (11) was ready for 79.0 ms; mid (13) had CPU 0 for 79.0 ms of "
		       "it.");
}

/* HIGH is ready behind MID, until an idle CPU pulls it. */
TEST(test_pulled)
{
	struct views v;

	wait_in(&v, NULL, 0);
	sw_on(&v, 1, 10 * MS, 0, 'R', 0);
	wake(&v, 11 * MS, HIGH, FXT_KOID_IRQ + 1);
	sw_on(&v, 0, 11 * MS, 0, 'R', MID);
	migrate(&v, 89 * MS, HIGH, 1);
	sw_on(&v, 1, 90 * MS, 0, 'R', HIGH);
	expect_verdict(&v, WHY_CPU_IDLE, MID,
		       "high (11) was ready for 79.0 ms; mid (13) had its CPU for 78.0 ms "
		       "of it; another CPU was idle for 78.0 ms of it, CPU 1 for 78.0 ms.");
}

/* Another CPU is idle before HIGH is ready, and a third one while it is. */
TEST(test_idle_cpu)
{
	struct views v;

	wait_in(&v, NULL, 0);
	sw_on(&v, 1, 1 * MS, LOW, 'S', 0);
	sw_on(&v, 2, 1 * MS, 0, 'R', OTHER);
	sw_on(&v, 0, 11 * MS, 0, 'R', MID);
	sw_on(&v, 1, 50 * MS, 0, 'R', LOW);
	wake(&v, 50 * MS, HIGH, FXT_KOID_IRQ + 1);
	sw_on(&v, 2, 60 * MS, OTHER, 'S', 0);
	sw_on(&v, 2, 90 * MS, 0, 'R', OTHER);
	sw_on(&v, 0, 95 * MS, MID, 'R', HIGH);
	end(&v, 100 * MS, 0);
	assert_int_equal(v.why->worst[0].idle_cpu, 2);
	assert_int_equal(v.why->worst[0].idle_cpu_ns, 30 * MS);
	assert_int_equal(v.why->worst[0].times.idle_ns, 30 * MS);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inversion),
		cmocka_unit_test(test_everything),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_no_schedule),
		cmocka_unit_test(test_forgetting),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_ends_of_waits),
		cmocka_unit_test(test_other_threads),
		cmocka_unit_test(test_no_cpu),
		cmocka_unit_test(test_pulled),
		cmocka_unit_test(test_main_thread),
		cmocka_unit_test(test_crowd),
		cmocka_unit_test(test_softirqs),
		cmocka_unit_test(test_large_koids),
		cmocka_unit_test(test_no_lock),
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_idle_cpu),
		cmocka_unit_test(test_total_holders),
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_own_waits),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_own_function),
		cmocka_unit_test(test_pause_at_end),
		cmocka_unit_test(test_forgotten_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
