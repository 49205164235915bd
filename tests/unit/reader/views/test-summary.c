/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sums of a recording, from events in this file with times in nanoseconds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader/views/summary-groups.h"
#include "reader/views/summary-programs.h"
#include "tests/support/fixtures/summary-events.h"
#include "tests/support/unit.h"

FIXTURE(set_up)
{
	return summary_new((struct summary **)state);
}

FIXTURE(tear_down)
{
	summary_free(*state);
	return 0;
}

/* ---- tests ---- */

TEST(test_empty)
{
	struct summary *s = *state;

	summary_finish(s);
	assert_int_equal(s->duration_ns, 0);
	assert_int_equal(summary_lost(s), 0);
}

/* One CPU: runs, blocks, is woken, runs again, is preempted. */
TEST(test_one_cpu)
{
	struct summary *s = *state;
	const struct summary_thread *t;

	start(s, 1000);
	sw(s, 1000, (struct sw){ .in = 10, .state = PREEMPTED, .synthetic = true });
	sw(s, 1100, (struct sw){ .out = 10, .state = BLOCKED });
	wake(s, 1400, 10);
	sw(s, 1450, (struct sw){ .in = 10, .state = PREEMPTED });
	sw(s, 1600, (struct sw){ .out = 10, .in = 11, .state = PREEMPTED });
	sw(s, 1700, (struct sw){ .out = 11, .in = 10, .state = BLOCKED });
	sw(s, 2000, (struct sw){ .out = 10, .state = PREEMPTED, .synthetic = true });
	stop(s, 2000);

	assert_int_equal(s->duration_ns, 1000);
	assert_int_equal(s->switches, 4);
	assert_int_equal(s->wakeups, 1);
	assert_int_equal(s->sched_slices, 4);
	assert_int_equal(s->cpus[0].busy_ns, 650);
	assert_int_equal(s->cpus[0].idle_ns, 350);
	assert_int_equal(s->cpus[0].switches, 4);
	t = thread(s, 10);
	assert_int_equal(t->cpu_ns, 100 + 150 + 300);
	assert_int_equal(t->blocked_ns, 300);
	assert_int_equal(t->runnable_ns, 50 + 100);
	assert_int_equal(t->switches, 2);
	assert_int_equal(t->preempted, 1);
	assert_int_equal(t->wakeups, 1);
	assert_int_equal(t->max_wakeup_latency_ns, 50);
	t = thread(s, 11);
	assert_int_equal(t->cpu_ns, 100);
	assert_int_equal(t->blocked_ns, 300);
}

/* Busy, other and idle add up to the duration on every CPU. */
TEST(test_cpus_add_up)
{
	struct summary *s = *state;

	start(s, 0);
	sw(s, 0,
	   (struct sw){ .cpu = 0, .in = FXT_KOID_OTHER, .state = PREEMPTED, .synthetic = true });
	sw(s, 0, (struct sw){ .cpu = 1, .state = PREEMPTED, .synthetic = true });
	sw(s, 30, (struct sw){ .cpu = 0, .out = FXT_KOID_OTHER, .in = 5, .state = BLOCKED });
	sw(s, 40, (struct sw){ .cpu = 3, .out = 6, .in = 7, .state = BLOCKED });
	sw(s, 50, (struct sw){ .cpu = 0, .out = 5, .in = FXT_KOID_OTHER, .state = BLOCKED });
	sw(s, 60, (struct sw){ .cpu = 3, .out = 8, .in = 6, .state = BLOCKED });
	stop(s, 100);

	assert_int_equal(s->cpus[0].busy_ns, 20);
	assert_int_equal(s->cpus[0].other_ns, 80);
	assert_int_equal(s->cpus[0].idle_ns, 0);
	assert_int_equal(s->cpus[1].idle_ns, 100);
	assert_false(s->cpus[2].seen);
	/* The end of 7's run before 8's is unknown. */
	assert_int_equal(s->cpus[3].busy_ns, 40);
	assert_int_equal(s->cpus[3].idle_ns, 60);
	assert_null(table_get(&s->threads, FXT_KOID_OTHER));
	assert_int_equal(s->sched_slices, 5);
}

/* A wakeup that is late in the file, right before its thread's switch-in. */
TEST(test_late_wakeup)
{
	struct summary *s = *state;

	start(s, 0);
	sw(s, 100, (struct sw){ .cpu = 0, .out = 10, .state = BLOCKED });
	sw(s, 500, (struct sw){ .cpu = 1, .out = 11, .state = BLOCKED });
	wake(s, 300, 10);
	sw(s, 600, (struct sw){ .cpu = 1, .in = 10 });
	stop(s, 700);

	assert_int_equal(thread(s, 10)->blocked_ns, 200);
	assert_int_equal(thread(s, 10)->runnable_ns, 300);
	assert_int_equal(thread(s, 10)->max_wakeup_latency_ns, 300);
	assert_int_equal(s->end_ns, 700);
}

/* A switch-out that comes after the switch-in elsewhere. */
TEST(test_late_switch_out)
{
	struct summary *s = *state;

	start(s, 0);
	sw(s, 0, (struct sw){ .cpu = 0, .in = 10, .synthetic = true });
	sw(s, 120, (struct sw){ .cpu = 1, .in = 10 });
	sw(s, 100, (struct sw){ .cpu = 0, .out = 10, .state = PREEMPTED });
	sw(s, 200, (struct sw){ .cpu = 1, .out = 10, .state = BLOCKED });
	stop(s, 300);

	assert_int_equal(thread(s, 10)->cpu_ns, 100 + 80);
	assert_int_equal(thread(s, 10)->runnable_ns, 20);
	assert_int_equal(thread(s, 10)->blocked_ns, 100);
	assert_int_equal(thread(s, 10)->preempted, 1);
}

/* A wakeup of a running or woken thread only changes the number of wakeups. */
TEST(test_needless_wakeups)
{
	struct summary *s = *state;

	start(s, 0);
	sw(s, 0, (struct sw){ .in = 10, .synthetic = true });
	wake(s, 10, 10);
	sw(s, 20, (struct sw){ .out = 10, .state = BLOCKED });
	wake(s, 30, 10);
	wake(s, 40, 10);
	sw(s, 50, (struct sw){ .in = 10 });
	stop(s, 60);

	assert_int_equal(s->wakeups, 3);
	assert_int_equal(thread(s, 10)->cpu_ns, 30);
	assert_int_equal(thread(s, 10)->blocked_ns, 10);
	assert_int_equal(thread(s, 10)->runnable_ns, 20);
	assert_int_equal(thread(s, 10)->max_wakeup_latency_ns, 20);
}

/* A thread that a woken one preempts: the kernel can count the time since the wakeup otherwise. */
TEST(test_preemption)
{
	struct summary *s = *state;

	start(s, 0);
	sw(s, 0, (struct sw){ .in = 10, .synthetic = true });
	wake(s, 30, 11);
	sw(s, 50, (struct sw){ .out = 10, .in = 11, .state = PREEMPTED });
	/* Woken before the other one ran: only the time of its run counts. */
	wake(s, 60, 12);
	sw(s, 70, (struct sw){ .out = 11, .in = 10, .state = BLOCKED });
	sw(s, 90, (struct sw){ .out = 10, .in = 12, .state = PREEMPTED });
	/* No wakeup: preempted by a thread that was preempted, too; left by itself. */
	sw(s, 110, (struct sw){ .out = 12, .in = 10, .state = PREEMPTED });
	wake(s, 115, 11);
	sw(s, 120, (struct sw){ .out = 10, .in = 11, .state = BLOCKED });
	stop(s, 130);

	assert_int_equal(thread(s, 10)->until_preempted_ns, 20 + 20);
	assert_int_equal(thread(s, 11)->until_preempted_ns, 0);
	assert_int_equal(thread(s, 12)->until_preempted_ns, 0);
	assert_int_equal(thread(s, 11)->after_wakeup_ns, 20 + 5);
	assert_int_equal(thread(s, 12)->after_wakeup_ns, 30);
}

/* During a loss, the CPU counts as idle, and no state of a thread continues. */
TEST(test_loss)
{
	struct summary *s = *state;

	start(s, 0);
	sw(s, 0, (struct sw){ .cpu = 0, .in = 10, .synthetic = true });
	sw(s, 0, (struct sw){ .cpu = 1, .in = 11, .synthetic = true });
	sw(s, 10, (struct sw){ .cpu = 1, .out = 11, .state = BLOCKED });
	lost(s, 50, "sched", 7);
	sw(s, 50, (struct sw){ .cpu = 0, .out = 10, .state = PREEMPTED, .synthetic = true });
	sw(s, 80, (struct sw){ .cpu = 0, .in = 12, .synthetic = true });
	lost(s, 85, "lifecycle", 2);
	lost(s, 86, "sched", 1);
	sw(s, 90, (struct sw){ .cpu = 1, .in = 11 });
	stop(s, 100);

	assert_int_equal(s->cpus[0].busy_ns, 70);
	assert_int_equal(s->cpus[0].idle_ns, 30);
	assert_int_equal(s->switches, 2);
	assert_int_equal(thread(s, 10)->preempted, 0);
	assert_int_equal(thread(s, 10)->runnable_ns, 0);
	assert_int_equal(thread(s, 11)->blocked_ns, 0);
	assert_int_equal(thread(s, 11)->cpu_ns, 20);
	assert_int_equal(s->n_lost, 2);
	assert_string_equal(s->lost[0].class_name, "sched");
	assert_int_equal(s->lost[0].count, 8);
	assert_int_equal(s->lost[1].count, 2);
	assert_int_equal(summary_lost(s), 10);
}

/* Nothing counts for a dead thread. */
TEST(test_dead)
{
	struct summary *s = *state;

	start(s, 0);
	sw(s, 0, (struct sw){ .in = 10, .synthetic = true });
	sw(s, 10, (struct sw){ .out = 10, .state = DEAD });
	stop(s, 100);

	assert_int_equal(thread(s, 10)->cpu_ns, 10);
	assert_int_equal(thread(s, 10)->blocked_ns, 0);
	assert_int_equal(thread(s, 10)->runnable_ns, 0);
}

TEST(test_processes)
{
	struct summary *s = *state;
	_cleanup_free_ struct summary_process **list = NULL;
	size_t n;

	start(s, 0);
	task(s, FXT_KOID_KYMO, 0, "kymo");
	task(s, 50, 0, "sh");
	task(s, 50, 50, "sh");
	tell(s, (struct event){ .kind = EVENT_FORK,
				.ts_ns = 10,
				.pid = 50,
				.tid = 50,
				.fork = { .child_pid = 60, .child_tid = 60 } });
	tell(s, (struct event){ .kind = EVENT_FORK,
				.ts_ns = 11,
				.pid = 50,
				.tid = 50,
				.fork = { .child_pid = 50, .child_tid = 61 } });
	tell(s, (struct event){ .kind = EVENT_EXEC,
				.ts_ns = 12,
				.pid = 60,
				.tid = 60,
				.exec = { .file = "/bin/ls", .command_line = "ls -l" } });
	tell(s, (struct event){ .kind = EVENT_RENAME,
				.ts_ns = 12,
				.pid = 50,
				.tid = 50,
				.rename = { .from = "sh", .to = "shell" } });
	tell(s, (struct event){ .kind = EVENT_EXIT,
				.ts_ns = 20,
				.pid = 60,
				.tid = 60,
				.exit = { .code = 3, .signal = 9, .process_ends = true } });
	stop(s, 30);

	assert_int_equal(summary_processes_by_pid(s, &list, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(list[0]->pid, 50);
	assert_string_equal(list[0]->name, "shell");
	assert_int_equal(list[0]->uid, 1000);
	assert_int_equal(list[1]->pid, 60);
	assert_int_equal(list[1]->parent_pid, 50);
	assert_int_equal(list[1]->start_ns, 10);
	assert_string_equal(list[1]->command_line, "ls -l");
	assert_true(list[1]->exited);
	assert_int_equal(list[1]->exit_code, 3);
	assert_int_equal(list[1]->signal, 9);
	assert_int_equal(thread(s, 61)->pid, 50);
	assert_string_equal(summary_process_name(s, thread(s, 61)), "shell");
	assert_int_equal(s->forks, 2);
	assert_int_equal(s->execs, 1);
	assert_int_equal(s->exits, 1);
}

/* A thread that calls exec and takes over its process's id continues under it. */
TEST(test_exec_changes_tid)
{
	struct summary *s = *state;

	start(s, 0);
	sw(s, 0, (struct sw){ .in = 61, .synthetic = true });
	tell(s, (struct event){ .kind = EVENT_EXEC,
				.ts_ns = 40,
				.pid = 60,
				.tid = 60,
				.exec = { .file = "f", .command_line = "", .old_tid = 61 } });
	sw(s, 100, (struct sw){ .out = 60, .state = BLOCKED });
	stop(s, 100);

	assert_int_equal(thread(s, 61)->cpu_ns, 40);
	assert_int_equal(thread(s, 60)->cpu_ns, 60);
	assert_int_equal(s->cpus[0].busy_ns, 100);
}

static void rename_and_exec(struct summary *s, uint64_t ts, uint32_t pid, const char *from,
			    const char *to)
{
	task(s, pid, 0, to);
	task(s, pid, pid, to);
	tell(s, (struct event){ .kind = EVENT_RENAME,
				.ts_ns = ts - 1,
				.pid = pid,
				.tid = pid,
				.rename = { from, to } });
	tell(s, (struct event){ .kind = EVENT_EXEC,
				.ts_ns = ts,
				.pid = pid,
				.tid = pid,
				.exec = { .file = "f", .command_line = "" } });
}

/* "tid name of process: cpu runnable blocked switches samples latency", one per line. */
static char *text_of_programs(const struct summary *s)
{
	_cleanup_free_ struct summary_thread *rows = NULL;
	char *text;
	size_t size, n;
	FILE *f = open_memstream(&text, &size);

	assert_int_equal(summary_programs_by_cpu(s, &rows, &n), 0);
	for (size_t i = 0; i < n; i++)
		fprintf(f, "%u %s of %s: %u %u %u %u %u %u\n", rows[i].tid, rows[i].name,
			summary_process_name(s, &rows[i]), (unsigned)rows[i].cpu_ns,
			(unsigned)rows[i].runnable_ns, (unsigned)rows[i].blocked_ns,
			(unsigned)rows[i].switches, (unsigned)rows[i].samples,
			(unsigned)rows[i].max_wakeup_latency_ns);
	fclose(f);
	return text;
}

/* The time before an exec belongs to the earlier program. */
TEST(test_programs)
{
	_cleanup_(summary_groups_freep) struct summary_groups *groups = NULL;
	_cleanup_free_ char *text = NULL;
	const struct event sample = { .kind = EVENT_SAMPLE, .ts_ns = 20, .pid = 60, .tid = 60 };
	struct summary *s = *state;

	start(s, 0);
	task(s, 60, 0, "sh");
	task(s, 60, 60, "sh");
	task(s, 60, 61, "helper");
	sw(s, 0, (struct sw){ .in = 61, .cpu = 1 });
	sw(s, 0, (struct sw){ .in = 60 });
	tell(s, sample);
	sw(s, 10, (struct sw){ .out = 60, .state = BLOCKED });
	wake(s, 30, 60);
	sw(s, 36, (struct sw){ .in = 60 });
	sw(s, 40, (struct sw){ .out = 61, .cpu = 1, .state = FXT_STATE_DEAD });
	rename_and_exec(s, 50, 60, "sh", "make");
	tell(s, sample);
	tell(s, sample);
	sw(s, 150, (struct sw){ .out = 60, .state = FXT_STATE_RUNNING });
	sw(s, 160, (struct sw){ .in = 60 });
	rename_and_exec(s, 165, 60, "make", "cc");
	sw(s, 200, (struct sw){ .out = 60, .state = BLOCKED });
	stop(s, 210);

	text = text_of_programs(s);
	assert_string_equal(text, "60 make of make: 105 10 0 1 2 0\n"
				  "61 helper of sh: 40 0 0 1 0 0\n"
				  "60 cc of cc: 35 0 10 0 0 0\n"
				  "60 sh of sh: 24 6 20 2 1 6\n");
	assert_int_equal(thread(s, 60)->cpu_ns, 164);
	assert_int_equal(thread(s, 60)->runnable_ns, 16);
	/* The other 10 came after a preemption. */
	assert_int_equal(thread(s, 60)->after_wakeup_ns, 6);
	assert_int_equal(thread(s, 60)->blocked_ns, 30);
	assert_string_equal(thread(s, 60)->name, "cc");
	assert_int_equal(summary_groups_new(s, SUMMARY_BY_PROCESS, &groups), 0);
	assert_int_equal(groups->n, 3);
	assert_string_equal(groups->list[0].name, "make");
	assert_int_equal(groups->list[0].pid, 60);
	assert_string_equal(groups->list[1].name, "sh");
	assert_int_equal(groups->list[1].cpu_ns, 64);
	assert_int_equal(groups->list[1].n_threads, 2);
	assert_string_equal(groups->list[2].name, "cc");
	/* In an ongoing recording, ended programs are dropped with their part. */
	assert_int_equal(summary_begin_part(s, 210, 100), 0);
	assert_null(thread(s, 60)->earlier);
	assert_string_equal(summary_process_name(s, thread(s, 60)), "cc");
}

TEST(test_marks)
{
	struct summary *s = *state;

	start(s, 0);
	for (int i = 0; i < 100; i++)
		tell(s, (struct event){ .kind = EVENT_MARK,
					.ts_ns = (uint64_t)i,
					.mark = { .text = i == 99 ? "last" : "" } });
	stop(s, 100);
	assert_int_equal(s->n_marks, 100);
	assert_int_equal(s->marks[99].ts_ns, 99);
	assert_string_equal(s->marks[99].text, "last");
}

TEST(test_threads_by_cpu)
{
	struct summary *s = *state;
	_cleanup_free_ struct summary_thread **list = NULL;
	size_t n;

	start(s, 0);
	sw(s, 0, (struct sw){ .in = 10 });
	sw(s, 10, (struct sw){ .out = 10, .in = 11, .state = BLOCKED });
	sw(s, 50, (struct sw){ .out = 11, .in = 12, .state = BLOCKED });
	stop(s, 70);
	assert_int_equal(summary_threads_by_cpu(s, &list, &n), 0);
	assert_int_equal(n, 3);
	assert_int_equal(list[0]->tid, 11);
	assert_int_equal(list[1]->tid, 12);
	assert_int_equal(list[2]->tid, 10);
}

/* ---- activities of CPUs, and counters ---- */

struct interval {
	enum interval_kind kind;
	uint32_t cpu;
	const char *name;
	int32_t number;
};

static void interval(struct summary *s, uint64_t begin, uint64_t end, struct interval i)
{
	tell(s, (struct event){ .kind = EVENT_INTERVAL,
				.ts_ns = begin,
				.cpu = i.cpu,
				.interval = { .kind = i.kind,
					      .name = i.name,
					      .end_ns = end,
					      .number = i.number } });
}

static void request(struct summary *s, const char *disk, const char *op, uint64_t begin,
		    uint64_t end, int32_t error)
{
	tell(s, (struct event){ .kind = EVENT_REQUEST,
				.ts_ns = error ? end : begin,
				.request = { .op = op,
					     .disk = disk,
					     .bytes = 512,
					     .issued_ns = error ? begin : 0,
					     .end_ns = end,
					     .error = error } });
}

/* Sums by device and operation; an instant has the time since its issue. */
TEST(test_requests)
{
	struct summary *s = *state;
	struct request_sum **sums;
	size_t n;

	start(s, 1000);
	request(s, "vda", "read", 1010, 1020, 0);
	request(s, "vda", "read", 1010, 1050, 5);
	request(s, "vda", "write", 1010, 1041, 0);
	request(s, "", "read", 1010, 1011, 0);
	stop(s, 1100);
	assert_int_equal(activity_sums_requests(&s->activity, &sums, &n), 0);
	assert_int_equal(n, 3);
	assert_string_equal(sums[0]->disk, "vda");
	assert_string_equal(sums[0]->op, "read");
	assert_int_equal(sums[0]->count, 2);
	assert_int_equal(sums[0]->bytes, 1024);
	assert_int_equal(sums[0]->total_ns, 50);
	assert_int_equal(sums[0]->max_ns, 40);
	assert_int_equal(sums[0]->n_errors, 1);
	assert_string_equal(sums[1]->op, "write");
	assert_string_equal(sums[2]->disk, "");
	free(sums);
}

TEST(test_intervals)
{
	struct summary *s = *state;
	struct activity_sum **sums;
	size_t n;

	start(s, 1000);
	interval(s, 1010, 1020, (struct interval){ INTERVAL_SOFTIRQ, 0, "TIMER", 0 });
	interval(s, 1030, 1035, (struct interval){ INTERVAL_SOFTIRQ, 3, "TIMER", 0 });
	interval(s, 1040, 1070, (struct interval){ INTERVAL_SOFTIRQ, 1, "RCU", 0 });
	interval(s, 1040, 1041, (struct interval){ INTERVAL_WORK, 0, "RCU", 0 });
	/* The same name, but another interrupt. */
	interval(s, 1050, 1052, (struct interval){ INTERVAL_IRQ, 0, "eth", 7 });
	interval(s, 1050, 1053, (struct interval){ INTERVAL_IRQ, 0, "eth", 8 });
	/* Partly or wholly outside of the recording. */
	interval(s, 900, 1005, (struct interval){ INTERVAL_IDLE, 0, "C1", 1 });
	interval(s, 1060, UINT64_MAX, (struct interval){ INTERVAL_IDLE, 0, "C1", 1 });
	stop(s, 1100);

	assert_int_equal(activity_sums_by_time(&s->activity, INTERVAL_SOFTIRQ, &sums, &n), 0);
	assert_int_equal(n, 2);
	assert_string_equal(sums[0]->name, "RCU");
	assert_int_equal(sums[0]->total_ns, 30);
	assert_string_equal(sums[1]->name, "TIMER");
	assert_int_equal(sums[1]->count, 2);
	assert_int_equal(sums[1]->total_ns, 15);
	assert_int_equal(sums[1]->max_ns, 10);
	assert_int_equal(sums[1]->n_cpus, 4);
	assert_int_equal(sums[1]->cpu_ns[0], 10);
	assert_int_equal(sums[1]->cpu_ns[1], 0);
	assert_int_equal(sums[1]->cpu_ns[3], 5);
	free(sums);
	assert_int_equal(activity_sums_by_time(&s->activity, INTERVAL_WORK, &sums, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(sums[0]->total_ns, 1);
	assert_int_equal(sums[0]->n_cpus, 0); /* its CPU is unknown */
	free(sums);
	assert_int_equal(activity_sums_by_time(&s->activity, INTERVAL_IRQ, &sums, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(sums[0]->number, 8);
	assert_int_equal(sums[1]->number, 7);
	free(sums);
	assert_int_equal(activity_sums_by_time(&s->activity, INTERVAL_IDLE, &sums, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(sums[0]->count, 2);
	assert_int_equal(sums[0]->max_ns, 100);
	assert_int_equal(sums[0]->total_ns, 100); /* at most as long as the recording */
	free(sums);
}

static void counter(struct summary *s, const char *name, uint64_t id,
		    const struct event_value *values, unsigned n)
{
	tell(s, (struct event){ .kind = EVENT_COUNTER,
				.ts_ns = 1050,
				.counter = { "counters", name, id, values, n } });
}

TEST(test_counters)
{
	const struct event_value first[] = { { "a", true, { .u64 = 5 } },
					     { "b", false, { .f64 = -1.5 } } };
	const struct event_value second[] = { { "a", true, { .u64 = 1 } },
					      { "b", false, { .f64 = __builtin_inf() } } };
	struct counter_sum **sums;
	struct summary *s = *state;
	size_t n;

	start(s, 1000);
	counter(s, "x", 0, first, 2);
	counter(s, "x", 0, second, 2); /* a value that is no number does not count */
	counter(s, "x", 1, second, 1);
	counter(s, "w", 0, second, 1);
	stop(s, 1100);
	assert_int_equal(activity_sums_counters(&s->activity, &sums, &n), 0);
	assert_int_equal(n, 4);
	assert_string_equal(sums[0]->name, "w");
	assert_string_equal(sums[1]->name, "x");
	assert_string_equal(sums[1]->value, "a");
	assert_int_equal(sums[1]->id, 0);
	assert_int_equal(sums[1]->count, 2);
	assert_true(sums[1]->min == 1 && sums[1]->max == 5 && sums[1]->sum == 6);
	assert_int_equal(sums[2]->id, 1);
	assert_string_equal(sums[3]->value, "b");
	assert_int_equal(sums[3]->count, 1);
	assert_true(sums[3]->min == -1.5 && sums[3]->max == -1.5);
	free(sums);
}

#define WITH_SUMMARY(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		WITH_SUMMARY(test_empty),
		WITH_SUMMARY(test_one_cpu),
		WITH_SUMMARY(test_cpus_add_up),
		WITH_SUMMARY(test_late_wakeup),
		WITH_SUMMARY(test_late_switch_out),
		WITH_SUMMARY(test_needless_wakeups),
		WITH_SUMMARY(test_preemption),
		WITH_SUMMARY(test_loss),
		WITH_SUMMARY(test_dead),
		WITH_SUMMARY(test_processes),
		WITH_SUMMARY(test_exec_changes_tid),
		WITH_SUMMARY(test_programs),
		WITH_SUMMARY(test_marks),
		WITH_SUMMARY(test_threads_by_cpu),
		WITH_SUMMARY(test_intervals),
		WITH_SUMMARY(test_requests),
		WITH_SUMMARY(test_counters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
