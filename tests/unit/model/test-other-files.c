/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/support/unit.h"
#include "model/other-files.h"

TEST(test_stem)
{
	static const struct {
		const char *path, *stem;
	} rows[] = {
		{ "/lib/x86_64-linux-gnu/libc.so.6", "libc" },
		{ "/lib/libc-2.31.so", "libc" },
		{ "/lib/ld-musl-x86_64.so.1", "libc" },
		{ "/lib/libc.musl-x86_64.so.1", "libc" },
		{ "/lib/libz.so.1.2.13 (deleted)", "libz" },
		{ "/lib/libgtk-3.so.0", "libgtk-3" },
		{ "/lib/libgtk-3.so.0.2404", "libgtk-3" },
		{ "/bin/2.so", "2" },
		{ "/bin/-2.so", "-2" },
		{ "/bin/program-2.0", "program-2.0" },
		{ "/bin/a.sort", "a.sort" },
		{ "program (deleted)", "program" },
		{ "", "" },
	};
	char stem[OTHER_FILES_STEM], longest[300];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_string_equal(other_files_stem(stem, rows[i].path), rows[i].stem);
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(strlen(other_files_stem(stem, longest)), OTHER_FILES_STEM - 1);
}

static int add(struct other_files *o, uint32_t pid, const char *path)
{
	return other_files_add(o, &(struct event){ .kind = EVENT_OTHER_FILE,
						   .pid = pid,
						   .other_file = { "libc.so.6", path } });
}

TEST(test_add)
{
	_cleanup_(other_files_deinit) struct other_files o = { 0 };
	_cleanup_free_ char *none = other_files_text(&o), *text = NULL;

	assert_null(none);
	assert_int_equal(other_files_add(&o, &(struct event){ .kind = EVENT_CALL }), 0);
	assert_int_equal(add(&o, 5, "/a/libc.so.6"), 1);
	/* a repetition, in the head of a chunk */
	assert_int_equal(add(&o, 5, "/a/libc.so.6"), 0);
	assert_int_equal(add(&o, 6, "/a/libc.so.6"), 1);
	/* a process with two such files counts once */
	assert_int_equal(add(&o, 6, "/b/libc.so.6"), 1);
	text = other_files_text(&o);
	assert_string_equal(text,
			    "2 processes mapped other files than those with probes, so calls in "
			    "them are missing: /a/libc.so.6 instead of libc.so.6 (2 processes), "
			    "/b/libc.so.6 instead of libc.so.6 (1 process); name such a file by "
			    "its path, or use -p");
}

static void fork_child(struct other_files *o, uint32_t parent, uint32_t child)
{
	assert_int_equal(other_files_add(o, &(struct event){ .kind = EVENT_FORK,
							     .pid = parent,
							     .fork.child_pid = child }),
			 0);
}

/* A child has the files of its parent until it executes another program. */
TEST(test_forks)
{
	_cleanup_(other_files_deinit) struct other_files o = { 0 };

	fork_child(&o, 5, 6);
	assert_int_equal(o.n_processes, 0);
	assert_int_equal(add(&o, 5, "/a/libc.so.6"), 1);
	/* (a thread) */
	fork_child(&o, 5, 5);
	assert_int_equal(o.n_processes, 1);
	fork_child(&o, 5, 7);
	fork_child(&o, 7, 8);
	assert_int_equal(o.n_processes, 3);
	assert_int_equal(o.list[0].n, 3);
	/* (the child of a cut, which is named in it) */
	assert_int_equal(add(&o, 8, "/a/libc.so.6"), 0);
	assert_int_equal(
		other_files_add(&o, &(struct event){ .kind = EVENT_EXEC, .pid = 7, .tid = 7 }), 0);
	fork_child(&o, 7, 9);
	assert_int_equal(o.n_processes, 3);
	assert_int_equal(add(&o, 7, "/a/libc.so.6"), 0);
	fork_child(&o, 7, 10);
	assert_int_equal(o.n_processes, 4);
	assert_int_equal(o.list[0].n, 4);
}

/* The path of the file with probes: the file was replaced, so its path does not help. */
TEST(test_same_path)
{
	_cleanup_(other_files_deinit) struct other_files o = { 0 };
	const struct event ev = { .kind = EVENT_OTHER_FILE,
				  .pid = 5,
				  .other_file = { "/a/program", "/a/program" } };
	_cleanup_free_ char *text = NULL, *both = NULL;

	assert_int_equal(other_files_add(&o, &ev), 1);
	text = other_files_text(&o);
	assert_string_equal(text,
			    "1 process mapped other files than those with probes, so calls in "
			    "them are missing: another /a/program (1 process); a file with the "
			    "same path was replaced during the recording (record again), or is "
			    "in a container (use -p)");
	assert_int_equal(add(&o, 5, "/b/libc.so.6"), 1);
	both = other_files_text(&o);
	assert_non_null(strstr(both, "another /a/program (1 process), /b/libc.so.6 instead of "
				     "libc.so.6 (1 process); a file with"));
	assert_non_null(strstr(both, "(use -p); name such a file by its path, or use -p"));
}

TEST(test_limits)
{
	_cleanup_(other_files_deinit) struct other_files o = { 0 };
	_cleanup_free_ char *text = NULL;
	char path[32];

	for (uint32_t i = 0; i <= OTHER_FILES_PROCESSES; i++) {
		snprintf(path, sizeof(path), "/%u/libc.so.6", i);
		assert_true(add(&o, i, path) >= 0);
	}
	assert_int_equal(o.n, OTHER_FILES_MAX);
	assert_true(o.is_full);
	assert_int_equal(o.known.n_used, OTHER_FILES_PROCESSES);
	assert_int_equal(o.n_unnamed, o.n_processes - OTHER_FILES_MAX);
	text = other_files_text(&o);
	assert_non_null(strstr(text, "at least 65536 processes mapped"));
	assert_non_null(strstr(text, ", and others; name"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stem),   cmocka_unit_test(test_add),
		cmocka_unit_test(test_forks),  cmocka_unit_test(test_same_path),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
