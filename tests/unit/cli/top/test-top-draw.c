/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The screen of `kymo top`: within its size, with any names.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/top/top-draw.h"
#include "cli/top/top-usage.h"
#include "cli/common/verb.h"
#include "tests/support/unit.h"

void cli_error(const char *format, ...)
{
	fail_msg("%s", format);
}

static struct live_task tasks[] = {
	{ .pid = 1,
	  .name = "one",
	  .process = "a",
	  .cpu_ns = 300,
	  .switches = 1,
	  .wait_ns = 5,
	  .wakeups = 1 },
	{ .pid = 2,
	  .name = "\x1b[2Jtwo",
	  .process = "b\x7f",
	  .cpu_ns = 200,
	  .switches = 9,
	  .wait_ns = 1 },
	{ .pid = 3,
	  .name = "dr\xc3\xa4i",
	  .process = "c\xc2\x9b"
		     "2J\td",
	  .cpu_ns = 100,
	  .switches = 5,
	  .wait_ns = 9 },
};
static struct live_function functions[] = {
	{ .name = "a_very_long_name_of_a_function",
	  .module = "libmodule",
	  .process = "one",
	  .samples = 3 },
	{ .name = "short", .module = "[kernel]", .process = "one", .samples = 1 },
};
static struct live_cpu cpus[] = { { 0, 600, 15 }, { 1, 0, 0 } };
static struct live_loss losses[] = { { "sched", 7 } };

static struct live_window window(void)
{
	return (struct live_window){
		.start_ns = 1000,
		.end_ns = 2000,
		.n_samples = 4,
		.n_lost = 7,
		.n_lost_ever = 8,
		.n_unmapped = 9,
		.lost = losses,
		.n_classes = 1,
		.cpus = cpus,
		.n_cpus = 2,
		.busy_ns = 600,
		.functions = functions,
		.n_functions = 2,
		.processes = tasks,
		.n_processes = 3,
		.threads = tasks,
		.n_threads = 3,
	};
}

static char *draw(const struct top_state *s, unsigned rows, unsigned columns)
{
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	struct live_window w = window();

	assert_int_equal(top_draw(&b, &w, s, rows, columns), 0);
	assert_int_equal(outbuf_append(&b, "", 1), 0);
	return TAKE_PTR(*(char **)&b.data);
}

/* Removes kymo's own sequences, and checks that there are no others. */
static void plain(char *text)
{
	static const char *const ours[] = { "\x1b[H", "\x1b[K", "\x1b[7m", "\x1b[0m" };
	char *at;

	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		while ((at = strstr(text, ours[i])))
			memmove(at, at + strlen(ours[i]), strlen(at + strlen(ours[i])) + 1);
	for (at = text; *at; at++)
		assert_true(*at == '\n' || (unsigned char)*at >= ' ');
	assert_null(strchr(text, 0x7f));
	assert_null(strstr(text, "\xc2\x9b"));
}

TEST(test_screen)
{
	static const enum top_view views[] = { TOP_ALL, TOP_FUNCTIONS, TOP_PROCESSES, TOP_THREADS,
					       TOP_HELP };

	for (size_t v = 0; v < ARRAY_SIZE(views); v++) {
		for (unsigned rows = 1; rows < 30; rows++) {
			for (unsigned columns = 1; columns < 130; columns += 16) {
				_cleanup_free_ char *text = draw(
					&(struct top_state){ .view = views[v] }, rows, columns);
				unsigned n_lines = 1, n = 0;

				plain(text);
				for (const char *c = text; *c; c++) {
					n += (*c & 0xc0) != 0x80;
					if (*c == '\n') {
						n_lines++;
						n = 0;
					}
					assert_true(n <= columns);
				}
				assert_int_equal(n_lines, rows);
			}
		}
	}
}

TEST(test_file)
{
	const struct top_usages usages = {
		.n = 2,
		.list = { { .pid = 3, .has_memory = true, .memory_bytes = 5 },
			  { .pid = 1,
			    .has_memory = true,
			    .memory_bytes = 3 << 20,
			    .has_rate = true,
			    .io_bytes_a_second = 2048 } },
	};
	_cleanup_free_ char *text = draw(&(struct top_state){ .usages = &usages }, 0, 0);

	assert_non_null(strstr(text, "  2 CPUs, 30.0% busy  0:60% 1:0%\n"));
	assert_non_null(strstr(text, "lost 7 (sched 7), 8 in total, 9 mappings ignored\n"));
	assert_non_null(strstr(text, " 75.00%  libmodule            one              "
				     "a_very_long_name_of_a_function\n"));
	assert_non_null(strstr(text, "       1  30.0% 1000000/s      5 ns    3.0 MiB   2.0 KiB/s  "
				     "one              a\n"));
	assert_non_null(strstr(text, "  \xef\xbf\xbd[2Jtwo          b\xef\xbf\xbd\n"));
	assert_non_null(strstr(text, "  dr\xc3\xa4i             c\xef\xbf\xbd"
				     "2J d\n"));
	plain(text);
}

/* Data of this process from /proc. */
TEST(test_usage)
{
	struct live_task self = { .pid = (uint32_t)getpid() };
	const struct live_window w = { .processes = &self, .n_processes = 1 };
	struct top_usages usages = { .looked = true };
	const struct top_usage *u;

	top_usages_update(&usages, &w);
	u = top_usages_of(&usages, self.pid);
	assert_non_null(u);
	assert_true(u->has_memory);
	assert_in_range(u->memory_bytes, 100 << 10, UINT64_C(1) << 40);
	assert_false(u->has_rate);
	top_usages_update(&usages, &w);
	u = top_usages_of(&usages, self.pid);
	assert_true(!u->has_io || u->has_rate);
	assert_null(top_usages_of(&usages, self.pid + 1));
}

TEST(test_sort)
{
	const struct top_usages usages = {
		.n = 2,
		.list = { { .pid = 2, .memory_bytes = 5, .io_bytes_a_second = 7.5 },
			  { .pid = 3, .memory_bytes = 6 } },
	};
	struct live_window w = window();

	top_sort(&w, &usages, TOP_BY_MEMORY);
	assert_int_equal(w.processes[0].pid, 3);
	assert_int_equal(w.processes[1].pid, 2);
	top_sort(&w, &usages, TOP_BY_IO);
	assert_int_equal(w.processes[0].pid, 2);
	top_sort(&w, NULL, TOP_BY_IO);
	assert_int_equal(w.processes[0].pid, 1);
	top_sort(&w, NULL, TOP_BY_SWITCHES);
	assert_int_equal(w.processes[0].pid, 2);
	assert_int_equal(w.processes[2].pid, 1);
	top_sort(&w, NULL, TOP_BY_WAIT);
	assert_int_equal(w.processes[0].pid, 3);
	top_sort(&w, NULL, TOP_BY_CPU);
	assert_int_equal(w.processes[0].pid, 1);
	assert_int_equal(w.processes[2].pid, 3);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_screen),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_sort),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
