/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several archives on one time line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/support/fixtures/edit-archives.h"
#include "tests/support/unit.h"

static const uint64_t wall = UINT64_C(1700000000000000000), second = 1000000000;

/* One CPU, on which TID runs from FROM to TO. */
static void make(struct source *s, const char *host, uint64_t wall_ns, uint64_t tid, uint64_t from,
		 uint64_t to)
{
	source_init(s);
	put_start(s, from, host, 2, wall_ns);
	put_task(s, tid, host, 0);
	put_switch(s, from, 1, 0, tid, FXT_STATE_RUNNING);
	put_switch(s, to, 1, tid, 0, FXT_STATE_RUNNING);
	put_stop(s, to);
}

/* Of one boot: no time changes. */
TEST(test_merge_sequence)
{
	_cleanup_free_ char *text = NULL;
	struct edit_merge_view v[2];
	struct source a, b;

	make(&a, "box", wall, 5, 100, 200);
	make(&b, "box", wall + second, 6, 300, 400);
	text = merge2(&b, &a, v);
	assert_int_equal(v[0].machine + v[1].machine, 0);
	assert_int_equal(v[0].doubled + v[1].doubled, 0);
	assert_true(strstr(text, "100 cpu1 0>5") < strstr(text, "200 cpu1 5>0"));
	assert_true(strstr(text, "200 cpu1 5>0") < strstr(text, "300 cpu1 0>6"));
	assert_line(text, "kymo: 300 cpu1 0>6 running");
	assert_line(text, "kymo: 400 cpu1 6>0 running");
	assert_int_equal(count_lines(text, "session_start"), 2);
	source_deinit(&a);
	source_deinit(&b);
}

/* One begins at the end of the other, as parts of a cut archive do, in either order. */
TEST(test_merge_parts)
{
	struct source a, b;

	make(&a, "box", wall, 5, 100, 200);
	make(&b, "box", wall, 6, 200, 300);
	for (unsigned i = 0; i < 2; i++) {
		struct edit_merge_view v[2];
		_cleanup_free_ char *text = merge2(i ? &b : &a, i ? &a : &b, v);

		assert_int_equal(v[0].doubled + v[1].doubled, 0);
		assert_line(text, "kymo: 200 cpu1 5>0 running");
		assert_line(text, "kymo: 200 cpu1 0>6 running");
		assert_true(strstr(text, "200 cpu1 5>0") < strstr(text, "200 cpu1 0>6"));
	}
	source_deinit(&a);
	source_deinit(&b);
}

/*
 * Open intervals at the begin of the second archive are in it with their begin, which covers no
 * time.
 */
TEST(test_merge_chunks)
{
	struct source a, b;

	make(&a, "box", wall, 5, 100, 200);
	source_init(&b);
	put_start(&b, 200, "box", 2, wall);
	put_task(&b, 6, "six", 0);
	put_switch(&b, 200, 1, 0, 6, FXT_STATE_RUNNING);
	put_event_args(&b, 50, 6, "sched", "migrate", NULL, 0);
	put_switch(&b, 300, 1, 6, 0, FXT_STATE_RUNNING);
	put_stop(&b, 300);
	for (unsigned i = 0; i < 2; i++) {
		struct edit_merge_view v[2];
		_cleanup_free_ char *text = merge2(i ? &b : &a, i ? &a : &b, v);

		assert_int_equal(v[0].doubled + v[1].doubled, 0);
		assert_line(text, "kymo: 200 cpu1 5>0 running");
		assert_line(text, "kymo: 200 cpu1 0>6 running");
		assert_int_equal(count_lines(text, "migrate"), 1);
	}
	source_deinit(&a);
	source_deinit(&b);
}

/* Both cover the same CPU: the one that began first has precedence, then the other one. */
TEST(test_merge_overlap)
{
	_cleanup_free_ char *text = NULL;
	struct edit_merge_view v[2];
	struct source a, b;

	make(&a, "box", wall, 5, 100, 300);
	source_init(&b);
	put_start(&b, 200, "box", 2, wall);
	put_task(&b, 6, "six", 0);
	put_switch(&b, 200, 1, 0, 5, FXT_STATE_RUNNING);
	put_switch(&b, 250, 1, 5, 6, FXT_STATE_RUNNING);
	put_wakeup(&b, 320, 1, 5);
	put_switch(&b, 350, 1, 6, 0, FXT_STATE_RUNNING);
	put_stop(&b, 400);
	text = merge2(&a, &b, v);
	assert_int_equal(v[1].doubled, 2);
	assert_no_line(text, "kymo: 250 cpu1 5>6 running");
	assert_line(text, "kymo: 300 cpu1 5>0 running");
	assert_line(text, "kymo: 300 cpu1 0>6 running *");
	assert_line(text, "kymo: 350 cpu1 6>0 running");
	source_deinit(&a);
	source_deinit(&b);
}

/* Data of a thread that one archive lacks is taken from the other, in either order. */
TEST(test_merge_unknown)
{
	for (unsigned i = 0; i < 4; i++) {
		_cleanup_free_ char *text = NULL;
		struct edit_merge_view v[2];
		struct source a, b;

		/* The archive with the data is earlier or later, too. */
		make(&a, "box", wall, 5, i & 2 ? 300 : 100, i & 2 ? 400 : 200);
		put_task(&a, 75, "?", 0);
		make(&b, "box", wall, 6, 200, 300);
		put_thread(&b, 1, 75, "worker");
		text = merge2(i & 1 ? &b : &a, i & 1 ? &a : &b, v);
		assert_int_equal(v[0].unknown + v[1].unknown, 2);
		assert_int_equal(count_lines(text, " 75 '"), 1);
		assert_line(text, "kymo: thread 75 'worker' process:koid=1");
		source_deinit(&a);
		source_deinit(&b);
	}
}

/*
 * Neither archive has its name: it stays unknown. A thread that is really called "?" and has a
 * start time is known.
 */
TEST(test_merge_nobody_knows)
{
	_cleanup_free_ char *text = NULL;
	struct edit_merge_view v[2];
	struct source a, b;

	make(&a, "box", wall, 5, 100, 200);
	make(&b, "box", wall, 6, 200, 300);
	put_task(&a, 75, "?", 0);
	put_task_since(&b, 76, "?", 50);
	text = merge2(&a, &b, v);
	assert_int_equal(v[0].unknown + v[1].unknown, 0);
	assert_line(text, "kymo: process 75 '?'");
	assert_line(text, "kymo: process 76 '?' start_time:uint64=50");
	source_deinit(&a);
	source_deinit(&b);
}

/*
 * The kernel has reused an id between two recordings: the second owner gets its own koid in all
 * records of the second archive.
 */
TEST(test_merge_reused)
{
	const struct fxt_out_arg child[] = {
		{ FXT_ARG_KOID, fxt_interned("child_process"), .u64 = 5 },
	};
	const struct fxt_out_arg waker[] = {
		{ FXT_ARG_INT32, fxt_interned("weight"), .i32 = 120 },
		{ FXT_ARG_KOID, fxt_interned("waker"), .u64 = 5 },
	};
	_cleanup_free_ char *text = NULL;
	struct edit_merge_view v[3];
	struct source s[3];

	for (unsigned i = 0; i < 3; i++) {
		uint64_t ts = 100 + 100 * i;

		source_init(&s[i]);
		put_start(&s[i], ts, "box", 2, wall);
		put_process(&s[i], 7, "child", 5);
		put_task_since(&s[i], 5, i ? "second" : "first", i ? 150 : 50);
		put_task_since(&s[i], 6, "six", 10);
		put_switch(&s[i], ts, 1, 0, 5, FXT_STATE_RUNNING);
		put_event_args(&s[i], ts + 10, 5, "process", "fork", child, 1);
		OK(fxt_write_wakeup(&s[i].w, &(struct fxt_wakeup){ ts + 20, 0, 6, waker, 2 }));
		put_switch(&s[i], ts + 50, 1, 5, 6, FXT_STATE_RUNNING);
		put_stop(&s[i], ts + 60);
	}
	{
		const struct outbuf *list[] = { &s[0].bytes, &s[1].bytes, &s[2].bytes };

		text = merge_text(list, 3, v);
	}
	assert_int_equal(v[0].koids_moved, 0);
	assert_int_equal(v[1].koids_moved, 1);
	assert_int_equal(v[2].koids_moved, 1);
	assert_int_equal(v[1].koids_shared + v[2].koids_shared, 0);
	assert_line(text, "kymo: process 5 'first' start_time:uint64=50");
	assert_line(text, "kymo: process 7 'child' parent:koid=5");
	assert_line(text, "kymo: 100 cpu1 0>5 running");
	assert_line(text, "kymo: 110 instant process/fork 5/5 child_process:koid=5");
	assert_line(text, "kymo: process 8388613 'second' start_time:uint64=150 real_id:uint32=5");
	assert_line(text, "kymo: thread 8388613 'second' process:koid=8388613 start_time:uint64=150"
			  " real_id:uint32=5");
	assert_line(text, "kymo: process 7 'child' parent:koid=8388613");
	for (unsigned i = 2; i < 4; i++) {
		char line[128];

		snprintf(line, sizeof(line), "kymo: %u00 cpu1 0>8388613 running", i);
		assert_line(text, line);
		snprintf(
			line, sizeof(line),
			"kymo: %u10 instant process/fork 8388613/8388613 child_process:koid=8388613",
			i);
		assert_line(text, line);
		snprintf(line, sizeof(line), "kymo: %u20 wake 6 @0 waker:koid=8388613", i);
		assert_line(text, line);
		snprintf(line, sizeof(line), "kymo: %u50 cpu1 8388613>6 running", i);
		assert_line(text, line);
	}
	for (unsigned i = 0; i < 3; i++)
		source_deinit(&s[i]);
}

/*
 * Another machine: its times, ids, CPUs and clocks are changed, and its processes name their
 * machine.
 */
TEST(test_merge_machines)
{
	const struct fxt_out_arg process[] = {
		{ FXT_ARG_UINT64, fxt_interned("start_time"), .u64 = 50 * second },
	};
	const struct fxt_out_arg old_process[] = {
		{ FXT_ARG_UINT64, fxt_interned("start_time"), .u64 = second },
	};
	const struct fxt_out_arg lost[] = {
		{ FXT_ARG_UINT32, fxt_interned("cpu"), .u32 = 1 },
		{ FXT_ARG_UINT64, fxt_interned("first"), .u64 = 60 * second },
	};
	_cleanup_free_ char *text = NULL;
	struct edit_merge_view v[2];
	struct source a, b;

	/* That machine was booted 40 s earlier. */
	make(&a, "box", wall, 5, 10 * second, 20 * second);
	make(&b, "tower", wall - 40 * second, 5, 55 * second, 65 * second);
	OK(fxt_write_kernel_object(&b.w, &(struct fxt_kernel_object){ FXT_OBJECT_PROCESS, 7,
								      fxt_interned("seven"),
								      process, 1 }));
	OK(fxt_write_kernel_object(&b.w, &(struct fxt_kernel_object){ FXT_OBJECT_PROCESS, 8,
								      fxt_interned("eight"),
								      old_process, 1 }));
	put_event_args(&b, 60 * second, FXT_KOID_KYMO, "kymo", "lost", lost, 2);
	text = merge2(&a, &b, v);
	assert_int_equal(v[1].machine, 1);
	assert_int_equal(v[1].shift_ns, -40 * (int64_t)second);
	assert_int_equal(v[1].shift_cpu, 2);
	assert_int_equal(v[1].koids_cut, 0);
	assert_line(text, "kymo: 15000000000 cpu3 0>2147483653 running");
	assert_line(text, "kymo: process 2147483653 'tower: tower'");
	assert_line(text, "kymo: thread 2147483653 'tower' process:koid=2147483653");
	assert_line(text, "kymo: process 2147483655 'tower: seven' start_time:uint64=10000000000");
	assert_line(text, "kymo: process 2147483656 'tower: eight'");
	assert_line(text, "kymo: 20000000000 instant kymo/lost 2151677952/2151677952 cpu:uint32=3"
			  " first:uint64=20000000000");
	assert_int_equal(count_lines(text,
				     "boottime:uint64=15000000000 monotonic:uint64=15000000000"
				     " realtime:uint64=1700000015000000000"),
			 1);
	assert_line(text, "kymo: 10000000000 cpu1 0>5 running");
	source_deinit(&a);
	source_deinit(&b);
}

/*
 * At equal times, the order of two machines is not that of their boot clocks: here a session ends
 * where one of another machine begins, so that both keep their name.
 */
TEST(test_merge_machines_tie)
{
	struct source a, b;

	source_init(&a);
	put_start_of(&a, 100 * second, "rec", "box", 2, wall);
	put_stop_of(&a, 200 * second, "rec");
	source_init(&b);
	put_start_of(&b, 50 * second, "rec", "tower", 2, wall + 150 * second);
	put_stop_of(&b, 90 * second, "rec");
	for (unsigned i = 0; i < 2; i++) {
		struct edit_merge_view v[2];
		_cleanup_free_ char *text = merge2(i ? &b : &a, i ? &a : &b, v);

		assert_int_equal(count_lines(text, " session:string=rec"), 4);
		assert_int_equal(count_lines(text, " session:string=rec_2"), 0);
	}
	source_deinit(&a);
	source_deinit(&b);
}

/* A program's own archive without a clock belongs to the only machine with a known clock. */
TEST(test_merge_without_clock)
{
	struct edit_merge_view v[3];
	struct source a, b, c;

	source_init(&a);
	as_app(&a);
	put_event(&a, FXT_EVENT_INSTANT, 55 * second, 5, "c", "n", 0);
	make(&b, "box", wall, 5, 50 * second, 60 * second);
	make(&c, "tower", wall, 5, 50 * second, 60 * second);
	{
		const struct outbuf *list[] = { &a.bytes, &b.bytes, &c.bytes };
		_cleanup_free_ char *text = merge_text(list, 3, v);

		assert_line(text, "app: 55000000000 instant c/n 5/5");
		assert_line(text, "kymo: 50000000000 cpu1 0>5 running");
	}
	assert_false(v[0].has_clock);
	assert_int_equal(v[0].machine, 0);
	assert_int_equal(v[1].machine, 0);
	assert_int_equal(v[2].machine, 1);
	source_deinit(&a);
	source_deinit(&b);
	source_deinit(&c);
}

/* Clocks, ids and CPUs that no machine has. */
TEST(test_merge_hostile)
{
	struct edit_merge_view v[3];
	struct source list[3];

	for (unsigned i = 0; i < 3; i++) {
		source_init(&list[i]);
		put_start(&list[i], 1 + i, "box", UINT32_MAX,
			  i == 0   ? INT64_MAX
			  : i == 1 ? 1
				   : (uint64_t)INT64_MIN);
		put_task(&list[i], UINT64_MAX - i, "max", 0);
		put_switch(&list[i], UINT64_MAX - i, FXT_CPU_MAX, UINT64_MAX - i, 0,
			   FXT_STATE_RUNNING);
		put_switch(&list[i], 10, 0, 5, 6, FXT_STATE_RUNNING);
	}
	{
		const struct outbuf *archives[] = { &list[0].bytes, &list[1].bytes,
						    &list[2].bytes };
		_cleanup_free_ char *text = merge_text(archives, 3, v);

		assert_null(strstr(text, "damage"));
	}
	assert_true(v[0].koids_cut > 0);
	for (unsigned i = 0; i < 3; i++)
		source_deinit(&list[i]);
}

/* Providers of several archives share one output, record by record. */
TEST(test_merge_providers)
{
	_cleanup_free_ char *text = NULL;
	struct source a, b;

	source_init(&a);
	source_init(&b);
	as_app(&a);
	as_app(&b);
	for (unsigned i = 1; i < 50; i++) {
		put_event(&a, FXT_EVENT_INSTANT, 2 * i, 100 + i, "a", "of a", 0);
		put_event(&b, FXT_EVENT_INSTANT, 2 * i + 1, 200 + i, "b", "of b", 0);
	}
	text = merge2(&a, &b, NULL);
	assert_int_equal(count_lines(text, "app: "), 98);
	assert_line(text, "app: 40 instant a/of a 120/120");
	assert_line(text, "app: 41 instant b/of b 220/220");
	assert_null(strstr(text, "damage"));
	source_deinit(&a);
	source_deinit(&b);
}

/* An archive with points, each with a number and a plan, and a moment of each: instant and BLOB. */
static void make_moments(struct source *s, uint64_t from, const uint32_t *numbers,
			 const char *const *plans, unsigned n)
{
	make(s, "box", wall, 5, from, from + 50);
	for (unsigned i = 0; i < n; i++) {
		const struct fxt_out_arg args[] = {
			{ FXT_ARG_UINT32, fxt_interned("point"), .u32 = numbers[i] },
			{ FXT_ARG_STRING, fxt_interned("plan"), .text = fxt_inline(plans[i]) },
		};

		put_event_args(s, from, FXT_KOID_KYMO, "moments", "point", args, 2);
		put_event_args(s, from + 1 + i, 5, "moments", plans[i], args, 1);
		OK(fxt_write_large_blob(&s->w, &(struct fxt_large_blob){
						       .category = fxt_interned("moments"),
						       .name = fxt_interned("moment"),
						       .data = "x",
						       .size = 1,
						       .has_metadata = true,
						       .ts_ticks = from + 1 + i,
						       .thread = { 5, 5 },
						       .args = args,
						       .n_args = 1,
					       }));
	}
}

/* Each plan has its own number, even if recordings overlap. */
TEST(test_merge_moments)
{
	static const char *const some[] = { "one", "two" }, *const others[] = { "three", "two",
										"four" };
	static const uint32_t numbers[] = { 0, 1 }, more[] = { 0, 7, 1 };
#define POINT "instant moments/point 4194304/4194304 point:uint32="
	static const char *const points[] = {
		"kymo: 100 " POINT "0 plan:string=one",   "kymo: 100 " POINT "1 plan:string=two",
		"kymo: 110 " POINT "2 plan:string=three", "kymo: 110 " POINT "1 plan:string=two",
		"kymo: 110 " POINT "3 plan:string=four",
	};
	static const char *const moments[] = {
		"kymo: 101 instant moments/one 5/5 point:uint32=0",
		"kymo: 102 instant moments/two 5/5 point:uint32=1",
		"kymo: 111 instant moments/three 5/5 point:uint32=2",
		"kymo: 112 instant moments/two 5/5 point:uint32=1",
		"kymo: 113 instant moments/four 5/5 point:uint32=3",
	};
	_cleanup_free_ char *text = NULL;
	struct edit_merge_view v[2];
	struct source a, b;

	make_moments(&a, 100, numbers, some, 2);
	make_moments(&b, 110, more, others, 3);
	text = merge2(&a, &b, v);
	assert_int_equal(v[0].points_moved, 0);
	assert_int_equal(v[1].points_moved, 3);
	for (unsigned i = 0; i < 5; i++) {
		assert_line(text, points[i]);
		assert_line(text, moments[i]);
	}
	assert_int_equal(count_lines(text, "instant moments/"), 10);
	assert_int_equal(count_lines(text, "large 0 moments/moment"), 5);
	assert_line(text, "kymo: large 0 moments/moment 78 111 5/5 point:uint32=2");
	assert_line(text, "kymo: large 0 moments/moment 78 112 5/5 point:uint32=1");
	assert_line(text, "kymo: large 0 moments/moment 78 113 5/5 point:uint32=3");
	source_deinit(&a);
	source_deinit(&b);
}

/*
 * Records of a program, from before a recording, fill the window of a later merge. The clock behind
 * them is found nevertheless, since the first merge has introduced the provider of the recording.
 */
TEST(test_merge_program_first)
{
	enum { WINDOW = 4096 };
	const struct edit_merge_options options = { .window = WINDOW };
	struct source kymo, app = { .w.out = &app.bytes }, other;
	struct edit_output merged, again;
	struct edit_merge_view v[2];

	OK(fxt_out_provider_init(&app.kymo, 1));
	OK(fxt_out_provider_init(&app.app, 2));
	OK(fxt_write_magic(&app.w));
	as_app(&app);
	while (app.bytes.size < 4 * WINDOW)
		put_event(&app, FXT_EVENT_INSTANT, 5 * second, 10, "c", "n", 0);
	source_init(&kymo);
	put_start(&kymo, 10 * second, "box", 2, wall);
	put_stop(&kymo, 20 * second);
	source_init(&other);
	put_start(&other, 10 * second, "tower", 2, wall);
	put_stop(&other, 20 * second);
	merge_with((const struct outbuf *[]){ &app.bytes, &kymo.bytes }, 2, &options, v, &merged);
	assert_false(v[0].has_clock);
	merge_with((const struct outbuf *[]){ &other.bytes, &merged.bytes }, 2, &options, v,
		   &again);
	assert_true(v[1].has_clock);
	assert_int_equal(v[1].machine, 1);
	edit_output_deinit(&again);
	edit_output_deinit(&merged);
	source_deinit(&other);
	source_deinit(&kymo);
	source_deinit(&app);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_merge_sequence),
		cmocka_unit_test(test_merge_overlap),
		cmocka_unit_test(test_merge_parts),
		cmocka_unit_test(test_merge_machines),
		cmocka_unit_test(test_merge_without_clock),
		cmocka_unit_test(test_merge_hostile),
		cmocka_unit_test(test_merge_providers),
		cmocka_unit_test(test_merge_unknown),
		cmocka_unit_test(test_merge_nobody_knows),
		cmocka_unit_test(test_merge_reused),
		cmocka_unit_test(test_merge_chunks),
		cmocka_unit_test(test_merge_moments),
		cmocka_unit_test(test_merge_machines_tie),
		cmocka_unit_test(test_merge_program_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
