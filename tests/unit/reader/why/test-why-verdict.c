/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "base/cleanup.h"
#include "tests/support/fixtures/why-views.h"

TEST(test_ends_of_waits)
{
	struct views v;

	wait_in(&v, "hrtimer_nanosleep", 90 * MS);
	run_after_wakeup(&v, FXT_KOID_IRQ + 1, 90 * MS);
	expect_verdict(&v, WHY_SLEEP, 0, "high (11) slept for 80.0 ms by its own choice.");

	/* (the switch that ended the wait was missed) */
	wait_in(&v, NULL, 0);
	frame(&v, KERNEL + MUTEX_AT, "hrtimer_nanosleep");
	offcpu(&v, HIGH, 10 * MS, 90 * MS, MUTEX_AT, "unknown", NULL);
	run_after_wakeup(&v, FXT_KOID_IRQ + 1, 90 * MS);
	expect_verdict(&v, WHY_SLEEP, 0,
		       "Probably: high (11) slept for 80.0 ms by its own choice.");

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

static void add_request(struct views *v, const char *disk, uint32_t tid, uint64_t from_ns,
			uint64_t to_ns)
{
	feed(v,
	     (struct event){
		     .kind = EVENT_REQUEST,
		     .ts_ns = from_ns,
		     .tid = FXT_KOID_BLOCK + 1,
		     .request = { .op = "read", .disk = disk, .thread = tid, .end_ns = to_ns } });
}

/* A wait for a disk names the disk; other waits do not. */
TEST(test_disks)
{
	struct views v;

	wait_in(&v, "io_schedule", 90 * MS);
	add_request(&v, "sda", HIGH, 20 * MS, 90 * MS);
	add_request(&v, "sdb", LOW, 10 * MS, 90 * MS);
	run_after_wakeup(&v, FXT_KOID_IRQ + 1, 90 * MS);
	expect_verdict(&v, WHY_SLOW_DISK, 0,
		       "high (11) waited 80.0 ms for a disk. high (11) sent 1 request to sda; the "
		       "longest took 70.0 ms.");

	wait_in(&v, "io_schedule", 90 * MS);
	add_request(&v, "sdb", LOW, 20 * MS, 30 * MS);
	add_request(&v, "sdb", LOW, 30 * MS, 60 * MS);
	run_after_wakeup(&v, FXT_KOID_IRQ + 1, 90 * MS);
	expect_verdict(
		&v, WHY_SLOW_DISK, 0,
		"high (11) waited 80.0 ms for a disk. Meanwhile, sdb had 2 requests of other "
		"threads; the longest took 30.0 ms.");

	/* Its own requests are evidence if the function is unknown. */
	wait_in(&v, NULL, 0);
	add_request(&v, "sda", HIGH, 20 * MS, 90 * MS);
	run_after_wakeup(&v, FXT_KOID_IRQ + 1, 90 * MS);
	expect_verdict(&v, WHY_TOO_LITTLE, 0,
		       "high (11) was blocked for 80.0 ms; the cause is unknown. high (11) sent 1 "
		       "request to sda; the longest took 70.0 ms.");

	wait_in(&v, "tcp_recvmsg", 90 * MS);
	add_request(&v, "sda", HIGH, 20 * MS, 90 * MS);
	run_after_wakeup(&v, FXT_KOID_SOFTIRQ + 1, 90 * MS);
	expect_verdict(&v, WHY_REMOTE, 0, "high (11) waited 80.0 ms for a socket.");
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

/*
 * Another thread had the CPU of ksoftirqd for most of the wait, or for a small part of it; or for
 * most of it, and ksoftirqd has run in between.
 */
TEST(test_late_softirqs)
{
	static const struct {
		uint64_t woken_ms, between_ms;
		const char *text;
		enum why_verdict_kind kind;
		uint32_t culprit;
	} waits[] = {
		{ 15, 0,
		  "high (11) waited 80.0 ms for a socket. ksoftirqd/1 (12) was ready for 74.0 ms, "
		  "but mid (13) had its CPU for 74.0 ms.",
		  WHY_PROGRAM, MID },
		{ 80, 0, "high (11) waited 80.0 ms for a socket.", WHY_REMOTE, 0 },
		{ 15, 40,
		  "high (11) waited 80.0 ms for a socket. ksoftirqd/1 (12) was ready for 72.0 ms, "
		  "but mid (13) had its CPU for 72.0 ms.",
		  WHY_PROGRAM, MID },
	};

	for (size_t i = 0; i < ARRAY_SIZE(waits); i++) {
		struct views v;

		wait_in(&v, "tcp_recvmsg", 90 * MS);
		thread_of(&v, LOW, FXT_KOID_KTHREADD, "ksoftirqd/1");
		sw_on(&v, 1, 4 * MS, 0, 'R', LOW);
		sw_on(&v, 1, 5 * MS, LOW, 'S', MID);
		wake(&v, waits[i].woken_ms * MS, LOW, FXT_KOID_SOFTIRQ + 2);
		migrate(&v, waits[i].woken_ms * MS, LOW, 1);
		if (waits[i].between_ms) {
			sw_on(&v, 1, waits[i].between_ms * MS, MID, 'R', LOW);
			sw_on(&v, 1, (waits[i].between_ms + 2) * MS, LOW, 'R', MID);
		}
		sw_on(&v, 1, 89 * MS, MID, 'R', LOW);
		run_after_wakeup(&v, LOW, 90 * MS);
		expect_verdict(&v, waits[i].kind, waits[i].culprit, waits[i].text);
	}
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

static void add_fault(struct views *v, uint64_t ts, bool major, const char *file)
{
	const struct call_value args[] = {
		{ .name = "file", .form = CALL_VALUE_TEXT, .text = file },
		{ .name = "major", .form = CALL_VALUE_BOOL, .yes = major },
		{ .name = "mapped", .form = CALL_VALUE_BOOL, .yes = true },
	};

	feed(v, (struct event){ .kind = EVENT_TRACEPOINT,
				.ts_ns = ts,
				.pid = HIGH,
				.tid = HIGH,
				.tracepoint = { .name = "kymo:page_fault",
						.args = args,
						.n_args = ARRAY_SIZE(args) } });
}

/* A wait in a page fault names the file of the fault that ends next. */
TEST(test_major_faults)
{
	struct views v;

	wait_in(&v, "handle_mm_fault", 90 * MS);
	add_fault(&v, 5 * MS, true, "/earlier");
	run_after_wakeup(&v, FXT_KOID_IRQ + 1, 90 * MS);
	add_fault(&v, 95 * MS, false, "minor");
	add_fault(&v, 96 * MS, true, "/data");
	add_fault(&v, 97 * MS, true, "/later");
	expect_verdict(&v, WHY_FAULTS, 0,
		       "high (11) waited 80.0 ms in page faults. This was a major page fault of "
		       "/data.");

	wait_in(&v, "handle_mm_fault", 90 * MS);
	run_after_wakeup(&v, FXT_KOID_IRQ + 1, 90 * MS);
	add_fault(&v, 96 * MS, true, "");
	expect_verdict(&v, WHY_FAULTS, 0,
		       "high (11) waited 80.0 ms in page faults. This was a major page fault of "
		       "memory without a file.");

	/* Another wait does not. */
	wait_in(&v, "do_signal_stop", 90 * MS);
	run_after_wakeup(&v, FXT_KOID_IRQ + 1, 90 * MS);
	add_fault(&v, 96 * MS, true, "/data");
	expect_verdict(&v, WHY_HELD_BACK, 0, "high (11) was stopped for 80.0 ms.");
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

/* LOW lets HIGH run again. Its own sleep meanwhile is not the reason. */
TEST(test_held_back)
{
	static const struct {
		const char *function, *text;
	} waits[] = {
		{ "do_signal_stop", "high (11) was stopped for 80.0 ms, until low (12) woke it." },
		{ "__refrigerator", "high (11) was frozen for 80.0 ms, until low (12) woke it." },
	};

	for (size_t i = 0; i < ARRAY_SIZE(waits); i++) {
		struct views v;

		wait_in(&v, waits[i].function, 90 * MS);
		sw_on(&v, 1, 5 * MS, 0, 'R', LOW);
		sw_on(&v, 1, 11 * MS, LOW, 'S', 0);
		wake(&v, 89 * MS, LOW, FXT_KOID_IRQ + 2);
		sw_on(&v, 1, 89 * MS, 0, 'R', LOW);
		run_after_wakeup(&v, LOW, 90 * MS);
		expect_verdict(&v, WHY_HELD_BACK, LOW, waits[i].text);
	}
}

static void reclaim(struct views *v, uint64_t ts_ns, bool begins)
{
	feed(v,
	     (struct event){ .kind = EVENT_TRACEPOINT,
			     .ts_ns = ts_ns,
			     .tid = HIGH,
			     .tracepoint.name = begins ? "vmscan:mm_vmscan_direct_reclaim_begin"
						       : "vmscan:mm_vmscan_direct_reclaim_end" });
}

/* Reclaim is a reason to run, and to wait for memory, without any stack. */
TEST(test_reclaim)
{
	const struct why_options window = { .what = WHY_INSTANCE_WINDOW,
					    .wants = wants_one,
					    .userdata = &only_high };
	struct views v;

	open_views(&v, window);
	begin(&v, 0);
	task(&v, HIGH, "high");
	sw_on(&v, 0, 0, 0, 'R', HIGH);
	reclaim(&v, 10 * MS, true);
	sw_on(&v, 0, 50 * MS, HIGH, 'D', 0);
	wake(&v, 70 * MS, HIGH, FXT_KOID_IRQ + 1);
	sw_on(&v, 0, 70 * MS, 0, 'R', HIGH);
	reclaim(&v, 75 * MS, false);
	sw_on(&v, 0, 80 * MS, HIGH, 'D', 0);
	wake(&v, 99 * MS, HIGH, FXT_KOID_IRQ + 1);
	sw_on(&v, 0, 99 * MS, 0, 'R', HIGH);
	end(&v, 100 * MS, 0);
	assert_int_equal(v.why->total.running_ns, 61 * MS);
	assert_int_equal(v.why->total.reclaim_ns, 45 * MS);
	assert_int_equal(v.why->total.blocked_ns[WAIT_MEMORY], 20 * MS);
	assert_int_equal(v.why->total.blocked_ns[WAIT_KERNEL], 19 * MS);
	assert_int_equal(v.why->worst[0].verdict.kind, WHY_MEMORY_LIMIT);
	assert_string_equal(v.why->worst[0].verdict.text,
			    "high (11) used its CPU for 61.0 ms, and searched for free memory for "
			    "45.0 ms of it.");
	close_views(&v);
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

/* Without names of the kernel's functions, the system call tells the cause. */
TEST(test_syscall)
{
	const struct why_wait *wait;
	struct views v;

	wait_in(&v, NULL, 0);
	feed(&v, (struct event){ .kind = EVENT_OFFCPU,
				 .ts_ns = 10 * MS,
				 .pid = HIGH,
				 .tid = HIGH,
				 .offcpu = { .end_ns = 95 * MS,
					     .state = 'S',
					     .woken_ns = 90 * MS,
					     .syscall = "nanosleep",
					     .fd = -1,
					     .address = 5 } });
	wait = why_find_wait(v.why, HIGH, 10 * MS);
	assert_string_equal(wait->syscall, "nanosleep");
	assert_int_equal(wait->woken_ns, 90 * MS);
	assert_int_equal(wait->fd, -1);
	assert_int_equal(wait->address, 5);
	run_after_wakeup(&v, FXT_KOID_IRQ + 1, 90 * MS);
	expect_verdict(&v, WHY_SLEEP, 0, "high (11) slept for 80.0 ms by its own choice.");
}

/* Two threads, each of which waits for the lock of the other one; a third waits for one of them. */
TEST(test_deadlock)
{
	const struct why *w;
	struct views v;

	open_views(&v, (struct why_options){ 0 });
	begin(&v, 0);
	task(&v, HIGH, "high");
	thread_of(&v, LOW, HIGH, "low");
	thread_of(&v, MID, HIGH, "mid");
	sw_on(&v, 0, 0, 0, 'R', MID);
	sw_on(&v, 0, 5 * MS, MID, 'S', HIGH);
	sw_on(&v, 0, 10 * MS, HIGH, 'S', LOW);
	sw_on(&v, 0, 20 * MS, LOW, 'S', 0);
	wait_for_lock(&v, MID, 5 * MS, 100 * MS, LOW);
	wait_for_lock(&v, HIGH, 10 * MS, 100 * MS, LOW);
	wait_for_lock(&v, LOW, 20 * MS, 100 * MS, HIGH);
	end(&v, 100 * MS, 0);
	w = v.why;
	assert_int_equal(w->n_worst, 3);
	assert_int_equal(w->worst[0].tid, HIGH);
	assert_int_equal(w->worst[0].verdict.kind, WHY_DEADLOCK);
	assert_int_equal(w->worst[0].verdict.culprit, LOW);
	assert_string_equal(w->worst[0].verdict.text,
			    "deadlock: high (11) has waited 90.0 ms for the lock at 0x100b, which "
			    "low (12) has; low (12) waits for a lock that high (11) has.");
	assert_int_equal(w->worst[1].tid, LOW);
	assert_int_equal(w->worst[1].verdict.kind, WHY_DEADLOCK);
	/* The third one has waited longer, but is in no circle. */
	assert_int_equal(w->worst[2].tid, MID);
	assert_int_not_equal(w->worst[2].verdict.kind, WHY_DEADLOCK);
	assert_int_equal(w->n_open_waits, 3);
	assert_int_equal(w->open_waits[0].n_deadlocked, 2);
	assert_int_equal(w->open_waits[2].n_deadlocked, 0);
	close_views(&v);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends_of_waits), cmocka_unit_test(test_disks),
		cmocka_unit_test(test_other_threads), cmocka_unit_test(test_no_cpu),
		cmocka_unit_test(test_pulled),        cmocka_unit_test(test_main_thread),
		cmocka_unit_test(test_syscall),       cmocka_unit_test(test_deadlock),
		cmocka_unit_test(test_crowd),         cmocka_unit_test(test_softirqs),
		cmocka_unit_test(test_late_softirqs), cmocka_unit_test(test_large_koids),
		cmocka_unit_test(test_no_lock),       cmocka_unit_test(test_whole),
		cmocka_unit_test(test_idle_cpu),      cmocka_unit_test(test_major_faults),
		cmocka_unit_test(test_own_waits),     cmocka_unit_test(test_windows),
		cmocka_unit_test(test_own_function),  cmocka_unit_test(test_reclaim),
		cmocka_unit_test(test_held_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
