/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory limit of queries.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tests/support/fixtures/own-directory.h"
#include "tests/support/fixtures/symbol-program.h"
#include "tests/support/unit.h"

TEST(test_memory_limit)
{
	struct symbols *s;
	uint64_t limit = 64 * 1024;
	struct program p[8];
	char name[16];

	need_program();
	for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
		snprintf(name, sizeof(name), "copy%zu", i);
		command("cp pie %s", name);
		program_start(&p[i], name);
		program_stop(&p[i]);
	}
	s = open_symbols(&(struct symbols_options){ 0 });
	for (size_t i = 0; i < ARRAY_SIZE(p); i++)
		assert_all_points(s, &p[i]);
	/* (otherwise the test would show nothing) */
	limit = symbols_memory(s) / 3;
	symbols_free(s);
	s = open_symbols(&(struct symbols_options){ .memory_limit = limit });
	for (size_t round = 0; round < 3; round++)
		for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
			assert_all_points(s, &p[i]);
			assert_true(symbols_memory(s) > 0 && symbols_memory(s) <= limit);
		}
	assert_int_equal(count_problems(s), 0);
	symbols_free(s);
}

/*
 * The data of a file grows with its queries: here that of this program, until it is dropped and
 * begins anew.
 */
TEST(test_memory_growth)
{
	struct symbols *all = open_symbols(&(struct symbols_options){ .lines = true }), *some;
	uint64_t at, limit, first = 0, last = 0, lines = 0, most = 0;
	struct program self = { .pid = getpid() };
	unsigned int fell = 0;

	program_find_mapping(&self, (uint64_t)(uintptr_t)test_memory_growth);
	for (at = 0; at < self.mapping.size; at += 16) {
		lines += ask_program(all, &self, self.mapping.start + at)->line > 0;
		if (at == 0)
			first = symbols_memory(all);
	}
	/* The initial data of a file stays. Half of the limit can consist of that. */
	limit = (2 * first + symbols_memory(all)) / 2;
	if (lines == 0 || limit >= symbols_memory(all)) {
		symbols_free(all);
		print_message("this program was built without lines, or with few\n");
		skip();
	}
	lines = 0;
	some = open_symbols(&(struct symbols_options){ .lines = true, .memory_limit = limit });
	for (at = 0; at < self.mapping.size; at += 16) {
		const struct symbol_frame *frame =
			ask_program(some, &self, self.mapping.start + at);
		const struct symbol_frame *same = ask_program(all, &self, self.mapping.start + at);

		assert_true(!frame->function == !same->function);
		if (frame->function)
			assert_string_equal(frame->function, same->function);
		/* (tables of lines that do not fit are left out) */
		if (frame->line)
			assert_int_equal(frame->line, same->line);
		lines += frame->line > 0;
		fell += symbols_memory(some) < last;
		last = symbols_memory(some);
		most = last > most ? last : most;
	}
	assert_true(most <= limit);
	/* (without lines in this build, nothing grows) */
	if (lines > 0)
		assert_true(fell > 0);
	symbols_free(some);
	symbols_free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_limit),
		cmocka_unit_test(test_memory_growth),
	};

	return cmocka_run_group_tests(tests, programs_set_up, own_directory_tear_down);
}
