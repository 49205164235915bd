/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines and inlined functions, compared with another reader of DWARF.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/support/fixtures/own-directory.h"
#include "tests/support/fixtures/symbol-program.h"
#include "tests/support/unit.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * The output of addr2line for an address: a line for the function and one for its place, and so on.
 */
static void assert_as_addr2line(FILE *f, const struct symbol_frame *frames, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char function[4096], place[4096];
		char *colon;

		assert_non_null(fgets(function, sizeof(function), f));
		assert_non_null(fgets(place, sizeof(place), f));
		function[strcspn(function, "\n")] = '\0';
		colon = strrchr(place, ':');
		assert_non_null(colon);
		*colon = '\0';
		/* (aliases are chosen differently) */
		if (i + 1 < n)
			assert_string_equal(frames[i].function, function);
		if (strtoul(colon + 1, NULL, 10) == 0)
			continue;
		assert_int_equal(frames[i].line, strtoul(colon + 1, NULL, 10));
		assert_non_null(frames[i].source);
		assert_string_equal(base_name(frames[i].source), base_name(place));
	}
}

/* Every address of some functions of NAME, compared with another reader of the DWARF of TWIN. */
static void compare_lines(const char *name, const char *twin, const struct symbols_options *options)
{
	struct symbols *s = open_symbols(options);
	uint64_t first, last, inlined = 0, bias;
	struct program p;
	char line[4096];
	FILE *f;

	program_start(&p, name);
	program_stop(&p);
	first = program_address(&p, "sample_plain");
	last = program_address(&p, "sample::method(int)");
	read_command(line, sizeof(line), "nm %s | grep ' sample_plain$'", twin);
	bias = first - strtoull(line, NULL, 16);
	/* (each address is queried again, which shows the ends of its lines) */
	snprintf(line, sizeof(line),
		 "for i in $(seq %llu %llu); do printf '0x%%x\\n' $i; done | "
		 "addr2line -a -i -f -C -e %s",
		 (unsigned long long)(first - bias), (unsigned long long)(last - bias - 1), twin);
	f = popen(line, "r");
	assert_non_null(f);
	for (uint64_t address = first; address < last; address++) {
		struct symbol_query query = { .address = address, .mapping = p.mapping };
		size_t n;
		const struct symbol_frame *frames = ask_symbols(s, &query, &n);

		assert_non_null(fgets(line, sizeof(line), f));
		assert_int_equal(strtoull(line, NULL, 16), address - bias);
		assert_as_addr2line(f, frames, n);
		inlined += n > 1;
	}
	assert_null(fgets(line, sizeof(line), f));
	pclose(f);
	assert_true(inlined > 20);
	assert_int_equal(count_problems(s), 0);
	symbols_free(s);
}

TEST(test_lines)
{
	struct symbols_options options = { .lines = true };

	need_program();
	if (!have_command("addr2line"))
		skip();
	compare_lines("pie", "pie", &options);
	compare_lines("fixed", "fixed", &options);
}

/* In separate files, compressed, and with their shared parts in another file. */
TEST(test_lines_elsewhere)
{
	const char *dirs[] = { directory_path("debug") };
	struct symbols_options options = { .lines = true, .debug_dirs = dirs, .n_debug_dirs = 1 };
	char line[256];

	need_program();
	if (!have_command("addr2line"))
		skip();
	read_command(line, sizeof(line), "readelf -n stripped | sed -n 's/.*Build ID: //p'");
	command("mkdir -p debug/.build-id/%.2s && "
		"objcopy --compress-debug-sections=zlib pie.debug debug/.build-id/%.2s/%s.debug",
		line, line, line + 2);
	compare_lines("stripped", "pie", &options);
	command("objcopy --compress-debug-sections=zlib-gnu pie.debug debug/.build-id/%.2s/%s.debug",
		line, line + 2);
	compare_lines("stripped", "pie", &options);
	if (have_command("dwz")) {
		command("objcopy --decompress-debug-sections pie.debug a.debug && cp a.debug b.debug && "
			"dwz -m shared.debug a.debug b.debug && "
			"mv a.debug debug/.build-id/%.2s/%s.debug",
			line, line + 2);
		/* The other file is missing: the lines are unknown, and that is reported. */
		struct symbols *s = open_symbols(&options);
		struct program p;

		program_start(&p, "stripped");
		program_stop(&p);
		assert_null(ask_program(s, &p, program_address(&p, "sample_plain"))->source);
		assert_true(has_problem(s, ".debug", "dwz"));
		symbols_free(s);
		command("mv shared.debug debug/.build-id/%.2s/", line);
		compare_lines("stripped", "pie", &options);
	}
	command("rm -r debug");
}

TEST(test_inlined)
{
	struct symbols *s = open_symbols(&(struct symbols_options){ .lines = true });
	struct program p;
	size_t n = 0;
	const struct symbol_frame *frames = NULL;

	need_program();
	program_start(&p, "pie");
	program_stop(&p);
	/* It contains the innermost of three functions somewhere. */
	for (uint64_t at = 0; at < 200 && n < 3; at++) {
		struct symbol_query query = {
			.address = program_address(&p, "sample_inlining") + at,
			.mapping = p.mapping,
		};

		frames = ask_symbols(s, &query, &n);
	}
	assert_int_equal(n, 3);
	assert_string_equal(frames[0].function, "innermost");
	assert_true(frames[0].inlined);
	assert_string_equal(frames[1].function, "middle");
	assert_true(frames[1].inlined);
	assert_string_equal(frames[2].function, "sample_inlining");
	assert_false(frames[2].inlined);
	assert_string_equal(base_name(frames[0].source), "sample-program.c");
	assert_true(frames[0].line > 0 && frames[0].line < frames[1].line &&
		    frames[1].line < frames[2].line);
	symbols_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_lines_elsewhere),
		cmocka_unit_test(test_inlined),
	};

	return cmocka_run_group_tests(tests, programs_set_up, own_directory_tear_down);
}
