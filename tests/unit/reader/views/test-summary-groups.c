/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "reader/views/summary-groups.h"
#include "tests/support/unit.h"
#include "writer/fxt/fxt-wire.h"

static void tell(struct summary *s, struct event ev)
{
	assert_int_equal(summary_add(s, &ev), 0);
}

static void task(struct summary *s, uint32_t pid, uint32_t tid, const char *name, uint64_t cgroup,
		 const char *path)
{
	tell(s, (struct event){ .kind = EVENT_TASK,
				.pid = pid,
				.tid = tid,
				.task = { .comm = name,
					  .command_line = "",
					  .cgroup_id = cgroup,
					  .cgroup_path = path,
					  .is_process = pid == tid } });
}

/* A switch at TS, with the threads FROM and TO. */
static void run(struct summary *s, uint64_t ts, uint32_t from, uint32_t to)
{
	tell(s, (struct event){ .kind = EVENT_SWITCH,
				.ts_ns = ts,
				.tid = from,
				.sw = { .next_tid = to, .out_state = FXT_STATE_BLOCKED } });
}

/*
 * 10 and its thread 11 in a service, 20 in another process of it, 30 in a container, 40 in an
 * unknown cgroup, 50 without an identity. Each runs ten times its number.
 */
FIXTURE(set_up)
{
	static const uint32_t tids[] = { 10, 11, 20, 30, 40, 50, 0 };
	struct summary *s;
	uint64_t ts = 1000;

	assert_int_equal(summary_new(&s), 0);
	task(s, 10, 10, "a", 1, "/system.slice/a.service");
	task(s, 10, 11, "thread", 0, NULL);
	task(s, 20, 20, "b", 1, "/system.slice/a.service");
	task(s, 30, 30, "c", 2, "/lxc.payload.box/x.service");
	task(s, 40, 40, "d", 3, NULL);
	for (uint32_t i = 0, last = 0; i < sizeof(tids) / sizeof(*tids); last = tids[i++]) {
		run(s, ts, last, tids[i]);
		ts += 10 * tids[i];
	}
	tell(s, (struct event){ .kind = EVENT_SAMPLE, .ts_ns = 1001, .pid = 10, .tid = 11 });
	tell(s, (struct event){ .kind = EVENT_SAMPLE,
				.ts_ns = 1001,
				.pid = 10,
				.tid = 11,
				.sample.kind = SAMPLE_OFF_CPU });
	*state = s;
	return 0;
}

FIXTURE(tear_down)
{
	summary_free(*state);
	return 0;
}

static struct summary_groups *groups(void **state, enum summary_by by, size_t n)
{
	struct summary_groups *g;

	summary_finish(*state);
	assert_int_equal(summary_groups_new(*state, by, &g), 0);
	assert_int_equal(g->n, n);
	return g;
}

static void assert_group(const struct summary_group *g, const char *name, uint64_t cpu_ns,
			 unsigned processes, unsigned threads, unsigned samples)
{
	assert_string_equal(g->name, name);
	assert_int_equal(g->cpu_ns, cpu_ns);
	assert_int_equal(g->n_processes, processes);
	assert_int_equal(g->n_threads, threads);
	assert_int_equal(g->samples, samples);
	assert_int_equal(g->switches, threads);
}

TEST(test_units)
{
	struct summary_groups *g = groups(state, SUMMARY_BY_UNIT, 3);

	assert_group(&g->list[0], "?", 900, 1, 2, 0);
	assert_group(&g->list[1], "a.service", 410, 2, 3, 1);
	assert_group(&g->list[2], "x.service", 300, 1, 1, 0);
	summary_groups_free(g);
}

TEST(test_containers)
{
	struct summary_groups *g = groups(state, SUMMARY_BY_CONTAINER, 3);

	assert_group(&g->list[0], "?", 900, 1, 2, 0);
	assert_group(&g->list[1], "host", 410, 2, 3, 1);
	assert_group(&g->list[2], "lxc:box", 300, 1, 1, 0);
	summary_groups_free(g);
}

TEST(test_processes)
{
	struct summary_groups *g = groups(state, SUMMARY_BY_PROCESS, 5);

	assert_group(&g->list[0], "?", 500, 0, 1, 0);
	assert_group(&g->list[1], "d", 400, 1, 1, 0);
	assert_group(&g->list[2], "c", 300, 1, 1, 0);
	assert_group(&g->list[3], "a", 210, 1, 2, 1);
	assert_int_equal(g->list[3].pid, 10);
	assert_group(&g->list[4], "b", 200, 1, 1, 0);
	summary_groups_free(g);
}

TEST(test_threads)
{
	struct summary_groups *g = groups(state, SUMMARY_BY_THREAD, 6);

	assert_group(&g->list[4], "thread", 110, 0, 1, 1);
	assert_int_equal(g->list[4].pid, 10);
	assert_int_equal(g->list[4].tid, 11);
	summary_groups_free(g);
}

/* The last cgroup of a process counts, and an unknown one replaces an earlier one. */
TEST(test_moved)
{
	struct summary_groups *g;

	task(*state, 20, 20, "b", 2, "/lxc.payload.box/x.service");
	task(*state, 30, 30, "c", 9, NULL);
	task(*state, 10, 10, "a", 0, NULL); /* has no cgroup */
	g = groups(state, SUMMARY_BY_UNIT, 3);
	assert_group(&g->list[0], "?", 1200, 2, 3, 0);
	assert_group(&g->list[1], "a.service", 210, 1, 2, 1);
	assert_group(&g->list[2], "x.service", 200, 1, 1, 0);
	summary_groups_free(g);
}

/* A program can give itself an empty name. */
TEST(test_nameless)
{
	struct summary_groups *g;

	task(*state, 40, 40, "", 3, NULL);
	g = groups(state, SUMMARY_BY_PROCESS, 5);
	assert_group(&g->list[1], "?", 400, 1, 1, 0);
	summary_groups_free(g);
}

TEST(test_nothing)
{
	struct summary *s;
	struct summary_groups *g;

	assert_int_equal(summary_new(&s), 0);
	summary_finish(s);
	for (enum summary_by by = 0; by < SUMMARY_BY_MAX; by++) {
		assert_int_equal(summary_groups_new(s, by, &g), 0);
		assert_int_equal(g->n, 0);
		summary_groups_free(g);
	}
	summary_free(s);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_units),
		CASE(test_containers),
		CASE(test_processes),
		CASE(test_threads),
		CASE(test_moved),
		CASE(test_nameless),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
