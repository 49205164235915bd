/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks and mappings of a session that records only selected processes, or those of one user.
 */
#include <string.h>

#include "base/clock.h"
#include "tests/support/fixtures/profiler-stage.h"
#include "tests/support/unit.h"
#include "tests/support/valgrind.h"

/* With a filter: only mappings of processes with stacks, and all of those. */
TEST(test_filter)
{
	const union any_mapping listed = mapping(FROM, PID, 0x1000, "/listed"),
				foreign_uid = mapping(FROM, 600, 0x1000, "/stranger");
	struct fixture *f = *state;

	f->pipe.filtered = true;
	assert_int_equal(profiler_listed(&f->p, &listed.rec), 0);
	assert_int_equal(profiler_listed(&f->p, &foreign_uid.rec), 0);
	put_mapping(f, 110, PID, 0x2000, "/later");
	put_mapping(f, 110, 600, 0x2000, "/later");
	assert_int_equal(profiler_forked(&f->p, PID, 501), 0);
	assert_string_equal(profiled(f), "");
	put_stack(f, 1, 0x1000, 1);
	put_tick(f, 120, PID, 0, 1);
	put_mapping(f, 130, PID, 0x3000, "/more");
	assert_string_equal(profiled(f), "map 100 500 1000 #0 /listed;map 110 500 2000 #1 /later;"
					 "on 120 500 1000;map 130 500 3000 #2 /more;");
	/* The child has its parent's mappings. */
	put_tick(f, 140, 501, 0, 1);
	assert_non_null(strstr(profiled(f),
			       "map 100 501 1000 #0 /listed;map 110 501 2000 #1 /later;"
			       "on 140 501 1000;"));
	assert_int_equal(profiler_ended(&f->p, 600), 0);
	assert_int_equal(f->p.waiting_bytes, 0);
}

/* ... or with other records, which only selected processes have. */
TEST(test_filter_without_stacks)
{
	struct fixture *f = *state;

	f->pipe.filtered = true;
	put_mapping(f, 110, PID, 0x1000, "/a");
	put_mapping(f, 110, 600, 0x1000, "/stranger");
	assert_int_equal(profiler_selected(&f->p, PID), 0);
	assert_int_equal(profiler_selected(&f->p, PID), 0);
	assert_string_equal(profiled(f), "map 110 500 1000 #0 /a;");
	/* A new program need not be selected. Its exec shows that it is. */
	put_new_image(f, 120, PID);
	put_mapping(f, 121, PID, 0x2000, "/b");
	assert_null(strstr(profiled(f), "/b"));
	assert_int_equal(profiler_executed(&f->p, PID, 130), 0);
	put_mapping(f, 140, PID, 0x3000, "/c");
	assert_string_equal(profiled(f), "map 110 500 1000 #0 /a;map 130 500 2000 #1 /b;"
					 "map 140 500 3000 #2 /c;");
	assert_int_equal(profiler_finish(&f->p), 0);
	assert_null(strstr(profiled(f), "/stranger"));
}

/* The filter can select a name: that of the program, or the one of an exec that begins. */
TEST(test_filter_renamed)
{
	struct fixture *f = *state;

	f->pipe.filtered = true;
	put_mapping(f, 110, PID, 0x1000, "/renames");
	put_mapping(f, 110, 501, 0x1000, "/executes");
	put_mapping(f, 110, 502, 0x1000, "/ends");
	profiler_renamed(&f->p, PID);
	profiler_renamed(&f->p, 501);
	profiler_renamed(&f->p, 502);
	put_new_image(f, 120, 501);
	put_mapping(f, 121, 501, 0x2000, "/new");
	assert_string_equal(profiled(f), "");
	assert_int_equal(profiler_ended(&f->p, 502), 0);
	assert_string_equal(profiled(f), "map 110 502 1000 #0 /ends;");
	assert_int_equal(profiler_executed(&f->p, 501, 130), 0);
	assert_int_equal(profiler_finish(&f->p), 0);
	assert_string_equal(profiled(f), "map 110 502 1000 #0 /ends;"
					 "map 130 501 2000 #0 /new;map 110 500 1000 #0 /renames;");
}

/*
 * In a session of a user's own processes, each mapping waits until it is known that the process was
 * selected after it.
 */
TEST(test_own)
{
	struct fixture *f = *state;

	f->pipe.filtered = f->pipe.own = true;
	put_mapping(f, 110, PID, 0x1000, "/a");
	put_mapping(f, 112, PID, 0x2000, "/b");
	/* A process with a name need not belong to the user any more. */
	assert_int_equal(profiler_selected(&f->p, PID), 0);
	assert_int_equal(profiler_need(&f->p, PID, 0), 0);
	assert_string_equal(profiled(f), "");
	assert_int_equal(profiler_need(&f->p, PID, 111), 0);
	assert_string_equal(profiled(f), "map 110 500 1000 #0 /a;");
	put_stack(f, 1, 0x2000, 1);
	put_tick(f, 120, PID, 0, 1);
	assert_string_equal(profiled(f), "map 110 500 1000 #0 /a;map 112 500 2000 #1 /b;"
					 "on 120 500 2000;");
	put_mapping(f, 130, PID, 0x3000, "/nobody asks");
	put_mapping(f, 130, 2, 0x3000, "/kernel");
	put_mapping(f, 130, PID, UINT64_C(0xffffffff81000000), "/kernel");
	assert_int_equal(profiler_need(&f->p, 2, 140), 0);
	assert_int_equal(profiler_finish(&f->p), 0);
	assert_null(strstr(profiled(f), "/nobody asks"));
	assert_int_equal(profiler_need(&f->p, PID, 140), 0);
	assert_non_null(strstr(profiled(f), "/nobody asks"));
	assert_null(strstr(profiled(f), "/kernel"));
}

/* It executes a program with another user's rights, and then one of its user again. */
TEST(test_own_executes)
{
	struct fixture *f = *state;

	f->pipe.filtered = f->pipe.own = true;
	put_mapping(f, 110, PID, 0x1000, "/a");
	assert_int_equal(profiler_need(&f->p, PID, 115), 0);
	profiler_renamed(&f->p, PID);
	put_new_image(f, 120, PID);
	put_mapping(f, 121, PID, 0x2000, "/hidden");
	/* An earlier record, which is late. */
	assert_int_equal(profiler_need(&f->p, PID, 119), 0);
	put_mapping(f, 122, PID, 0x3000, "/hidden");
	put_new_image(f, 140, PID);
	put_mapping(f, 141, PID, 0x4000, "/b");
	assert_string_equal(profiled(f), "map 110 500 1000 #0 /a;");
	assert_int_equal(profiler_executed(&f->p, PID, 150), 0);
	assert_string_equal(profiled(f), "map 110 500 1000 #0 /a;map 150 500 4000 #1 /b;");
	/* The same again, and the begin of the second exec is unknown. */
	put_new_image(f, 160, PID);
	put_mapping(f, 161, PID, 0x2000, "/hidden");
	profiler_doubt(&f->p, 165);
	put_mapping(f, 162, PID, 0x2000, "/hidden");
	assert_int_equal(profiler_executed(&f->p, PID, 170), 0);
	put_mapping(f, 171, PID, 0x2000, "/doubtful");
	assert_int_equal(profiler_need(&f->p, PID, 180), 0);
	assert_string_equal(profiled(f), "map 110 500 1000 #0 /a;map 150 500 4000 #1 /b;");
	assert_int_equal(f->p.waiting_bytes, 0);
	/* Without a noticed loss. */
	put_new_image(f, 190, PID);
	put_mapping(f, 191, PID, 0x5000, "/c");
	assert_int_equal(profiler_executed(&f->p, PID, 192), 0);
	put_mapping(f, 193, PID, 0x2000, "/hidden");
	assert_int_equal(profiler_executed(&f->p, PID, 200), 0);
	assert_null(strstr(profiled(f), "hidden"));
	assert_non_null(strstr(profiled(f), "map 192 500 5000 #2 /c;"));
}

/* After a loss, only new begins are trusted. */
TEST(test_own_doubts)
{
	struct fixture *f = *state;

	f->pipe.filtered = f->pipe.own = true;
	put_mapping(f, 110, PID, 0x1000, "/before");
	profiler_doubt(&f->p, 115);
	assert_int_equal(profiler_need(&f->p, PID, 120), 0);
	/* Records of the time before belong to it. */
	put_new_image(f, 112, 602);
	put_mapping(f, 113, 602, 0x2000, "/half");
	assert_int_equal(profiler_executed(&f->p, 602, 119), 0);
	assert_int_equal(profiler_forked(&f->p, PID, 603), 0);
	assert_int_equal(profiler_trust(&f->p, 603, 114), 0);
	put_mapping(f, 118, 603, 0x2000, "/child of then");
	assert_int_equal(profiler_need(&f->p, 603, 120), 0);
	put_mapping(f, 120, 600, 0x1000, "/unknown");
	assert_int_equal(profiler_need(&f->p, 600, 130), 0);
	assert_string_equal(profiled(f), "");
	assert_int_equal(profiler_forked(&f->p, PID, 501), 0);
	assert_int_equal(profiler_trust(&f->p, 501, 139), 0);
	put_mapping(f, 140, 501, 0x1000, "/child");
	assert_int_equal(profiler_need(&f->p, 501, 150), 0);
	put_new_image(f, 160, 600);
	put_mapping(f, 161, 600, 0x2000, "/new");
	/* An exec whose record comes very late. */
	put_new_image(f, 160, 601);
	put_mapping(f, 161, 601, 0x2000, "/lost");
	assert_int_equal(profiler_executed(&f->p, 600, 170), 0);
	assert_int_equal(profiler_need(&f->p, 601, 2000000000), 0);
	assert_string_equal(profiled(f), "map 140 501 1000 #0 /child;map 170 600 2000 #0 /new;");
}

enum { LIVES = 7, MANY = 500000, MANY_SLOWLY = 100000 };

static bool is_gone(uint32_t pid)
{
	return pid != LIVES;
}

/* Starts and ends many processes whose mappings are never needed. */
static void announce_foreign_processes(struct fixture *f, uint64_t from_ns)
{
	const unsigned many = under_valgrind() ? MANY_SLOWLY : MANY;

	for (unsigned i = 0; i < many; i++)
		put_mapping(f, from_ns + i * UINT64_C(1000000), 1000 + i, 0x1000, "/a");
}

/*
 * The end of an unselected process is not reported. Such processes are checked before their
 * mappings use much memory.
 */
TEST(test_filter_forgets)
{
	struct fixture *f = *state;

	f->pipe.filtered = true;
	f->pipe.owner.is_gone = is_gone;
	put_mapping(f, 110, LIVES, 0x1000, "/lives");
	announce_foreign_processes(f, clock_boot_ns());
	assert_in_range(f->p.waiting_bytes, 1, 2 << 20);
	assert_in_range(f->p.processes.n_used, 2, 20000);
	assert_int_equal(f->p.n_dropped, 0);
	assert_int_equal(profiler_selected(&f->p, LIVES), 0);
	assert_non_null(strstr(profiled(f), "/lives"));
	assert_int_equal(f->p.n_dropped, 0);
}

/* A thread that has ended can still have records of the time before. Its id can be reused. */
TEST(test_filter_gone)
{
	struct fixture *f = *state;
	uint64_t now_ns = clock_boot_ns();

	f->pipe.filtered = true;
	f->pipe.owner.is_gone = is_gone;
	put_mapping(f, 110, PID, 0x1000, "/asked for");
	for (unsigned i = 0; f->p.swept_ns == 0 && i < MANY; i++)
		put_mapping(f, now_ns, 1000 + i, 0x1000, "/a");
	assert_int_equal(profiler_need(&f->p, PID, now_ns), 0);
	assert_string_equal(profiled(f), "map 110 500 1000 #0 /asked for;");
	put_mapping(f, clock_boot_ns() + 10, 1000, 0x2000, "/another one's");
	assert_int_equal(profiler_need(&f->p, 1000, clock_boot_ns() + 20), 0);
	assert_null(strstr(profiled(f), "/a;"));
	assert_non_null(strstr(profiled(f), "/another one's"));
}

/* If ends are not visible, mappings are kept for a limited time, if there is little room. */
TEST(test_filter_forgets_by_time)
{
	struct fixture *f = *state;

	f->pipe.filtered = true;
	announce_foreign_processes(f, 110);
	assert_in_range(f->p.waiting_bytes, 1, 20 << 20);
	assert_int_equal(f->p.n_dropped, 0);
}

/* Mappings that were dropped are counted when they are needed. */
TEST(test_too_much)
{
	struct fixture *f = *state;

	f->pipe.filtered = true;
	for (unsigned i = 0; i < MANY; i++)
		put_mapping(f, 110, 1000 + i % 100, 0x1000, "/a");
	assert_in_range(f->p.waiting_bytes, 31 << 20, 32 << 20);
	put_mapping(f, 110, PID, 0x1000, "/b");
	put_mapping(f, 110, PID, 0x2000, "/c");
	assert_int_equal(f->p.n_dropped, 0);
	assert_int_equal(profiler_forked(&f->p, PID, 501), 0);
	assert_int_equal(profiler_need(&f->p, PID, 120), 0);
	assert_int_equal(f->p.n_dropped, 2);
	assert_int_equal(profiler_need(&f->p, PID, 121), 0);
	assert_int_equal(f->p.n_dropped, 2);
	assert_int_equal(profiler_selected(&f->p, 501), 0);
	assert_int_equal(f->p.n_dropped, 4);
}

/* Nor are mappings of other users after a loss, in a session of one user's own processes. */
TEST(test_own_loses_nothing_of_others)
{
	struct fixture *f = *state;

	f->pipe.filtered = f->pipe.own = true;
	put_mapping(f, 110, PID, 0x1000, "/before");
	put_mapping(f, 110, 600, 0x1000, "/stranger");
	profiler_doubt(&f->p, 115);
	put_mapping(f, 120, 600, 0x2000, "/stranger");
	put_mapping(f, 120, 601, 0x2000, "/stranger");
	put_mapping(f, 120, PID, 0x2000, "/doubtful");
	assert_int_equal(profiler_need(&f->p, 600, 0), 0);
	assert_int_equal(f->p.n_dropped, 0);
	assert_int_equal(profiler_need(&f->p, PID, 130), 0);
	assert_int_equal(f->p.n_dropped, 2);
	assert_string_equal(profiled(f), "");
}

#define CASE(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, profiler_stage_set_up, profiler_stage_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_filter),
		CASE(test_filter_without_stacks),
		CASE(test_filter_renamed),
		CASE(test_own),
		CASE(test_own_executes),
		CASE(test_own_doubts),
		CASE(test_filter_forgets),
		CASE(test_filter_gone),
		CASE(test_filter_forgets_by_time),
		CASE(test_too_much),
		CASE(test_own_loses_nothing_of_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
