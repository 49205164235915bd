/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Formats of tracepoints: the forms of fields, and files that are no formats.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "capture/perf/tracefs.h"
#include "capture/tracepoints/tracepoint-format.h"
#include "tests/support/unit.h"

#define HEAD                                                                                       \
	"name: t\nID: 7\nformat:\n"                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static struct tracepoint_format format;

static int parse(const char *text)
{
	return tracepoint_format_parse(text, strlen(text), &format);
}

TEST(test_exec)
{
	assert_int_equal(
		parse(HEAD "\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n"
			   "\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n"
			   "\nprint fmt: \"field:x;\", __get_str(filename), REC->pid\n"),
		0);
	assert_string_equal(format.name, "t");
	assert_int_equal(format.id, 7);
	assert_int_equal(format.n_fields, 2);
	assert_int_equal(format.end, 16);
	assert_string_equal(format.fields[0].name, "filename");
	assert_true(format.fields[0].is_dynamic);
	assert_false(format.fields[0].is_relative);
	assert_int_equal(format.fields[0].form, TRACEPOINT_CHARS);
	assert_ptr_equal(tracepoint_format_find(&format, "pid"), &format.fields[1]);
	assert_null(tracepoint_format_find(&format, "common_pid"));
	assert_int_equal(format.fields[1].form, TRACEPOINT_INT);
	assert_int_equal(format.fields[1].size, 4);
}

TEST(test_forms)
{
	static const struct {
		const char *declaration;
		unsigned size, is_signed;
		enum tracepoint_form form;
		unsigned element, count;
		bool is_dynamic, is_relative;
	} rows[] = {
		{ "char x[16]", 16, 0, TRACEPOINT_CHARS, 1, 0, false, false },
		{ "char x", 1, 0, TRACEPOINT_UINT, 1, 0, false, false },
		{ "s8 x", 1, 1, TRACEPOINT_INT, 1, 0, false, false },
		{ "long x", 8, 1, TRACEPOINT_INT, 8, 0, false, false },
		{ "unsigned long x", 8, 0, TRACEPOINT_UINT, 8, 0, false, false },
		{ "sector_t x", 8, 0, TRACEPOINT_UINT, 8, 0, false, false },
		{ "bool x", 1, 0, TRACEPOINT_BOOL, 1, 0, false, false },
		{ "void * x", 8, 0, TRACEPOINT_POINTER, 8, 0, false, false },
		{ "struct page *x", 8, 0, TRACEPOINT_POINTER, 8, 0, false, false },
		{ "const void* x", 8, 0, TRACEPOINT_POINTER, 8, 0, false, false },
		{ "enum zone_type x", 4, 0, TRACEPOINT_UINT, 4, 0, false, false },
		{ "struct pair x", 8, 0, TRACEPOINT_BYTES, 1, 0, false, false },
		{ "struct three x", 3, 0, TRACEPOINT_BYTES, 1, 0, false, false },
		{ "unsigned char x[6]", 6, 0, TRACEPOINT_BYTES, 1, 0, false, false },
		{ "__u8 x[16]", 16, 0, TRACEPOINT_BYTES, 1, 0, false, false },
		{ "xfs_point_t x[4]", 16, 0, TRACEPOINT_BYTES, 1, 0, false, false },
		{ "unsigned long x[6]", 48, 0, TRACEPOINT_UINT, 8, 6, false, false },
		{ "int x[3]", 12, 1, TRACEPOINT_INT, 4, 3, false, false },
		{ "int x[NR_ITEMS]", 8, 1, TRACEPOINT_INT, 4, 2, false, false },
		/* arguments of system calls */
		{ "int x", 8, 0, TRACEPOINT_INT, 4, 0, false, false },
		{ "pid_t x", 8, 0, TRACEPOINT_INT, 4, 0, false, false },
		{ "unsigned int x", 8, 0, TRACEPOINT_UINT, 4, 0, false, false },
		{ "umode_t x", 8, 0, TRACEPOINT_UINT, 8, 0, false, false },
		{ "const char * x", 8, 0, TRACEPOINT_POINTER, 8, 0, false, false },
		{ "__data_loc u64[] x", 4, 0, TRACEPOINT_UINT, 8, 0, true, false },
		{ "__data_loc u8[] x", 4, 0, TRACEPOINT_BYTES, 1, 0, true, false },
		{ "__data_loc cpumask_t x", 4, 0, TRACEPOINT_BYTES, 1, 0, true, false },
		{ "__rel_loc char[] x", 4, 0, TRACEPOINT_CHARS, 1, 0, true, true },
	};
	char text[512];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct tracepoint_field *f = &format.fields[0];

		snprintf(text, sizeof(text), HEAD "\tfield:%s;\toffset:8;\tsize:%u;\tsigned:%u;\n",
			 rows[i].declaration, rows[i].size, rows[i].is_signed);
		if (parse(text) < 0 || format.n_fields != 1)
			fail_msg("%s: refused", rows[i].declaration);
		if (strcmp(f->name, "x") != 0 || f->form != rows[i].form ||
		    f->element != rows[i].element || f->count != rows[i].count ||
		    f->is_dynamic != rows[i].is_dynamic || f->is_relative != rows[i].is_relative)
			fail_msg("%s: '%s' form %d, %u times %u", rows[i].declaration, f->name,
				 (int)f->form, f->count, f->element);
	}
}

TEST(test_without_bytes)
{
	assert_int_equal(parse(HEAD "\tfield:char x[0];\toffset:8;\tsize:0;\tsigned:0;\n"), 0);
	assert_int_equal(format.n_fields, 0);
	assert_int_equal(format.end, 8);
}

TEST(test_wrong)
{
	static const char *const wrong[] = {
		"",
		"name: t\n",
		"ID: 7\n",
		"name: t\nID: 7x\n",
		"name: t\nID: 4294967296\n",
		"name: t\nID: \n",
		"name: a/b\nID: 7\n",
		"name: \nID: 7\n",
		HEAD "\tfield:int x;\toffset:8;\tsize:4;\n",
		HEAD "\tfield:int x\toffset:8;\tsize:4;\tsigned:0;\n",
		HEAD "\tfield:int;\toffset:8;\tsize:4;\tsigned:0;\n",
		HEAD "\tfield:;\toffset:8;\tsize:4;\tsigned:0;\n",
		HEAD "\tfield:x;\toffset:8;\tsize:4;\tsigned:0;\n",
		HEAD "\tfield:int x;\toffset:-8;\tsize:4;\tsigned:0;\n",
		HEAD "\tfield:int x;\toffset:;\tsize:4;\tsigned:0;\n",
		HEAD "\tfield:int x;\toffset:65536;\tsize:4;\tsigned:0;\n",
		HEAD "\tfield:int x;\toffset:65535;\tsize:4;\tsigned:0;\n",
		HEAD "\tfield:int x;\toffset:99999999999999999999;\tsize:4;\tsigned:0;\n",
		HEAD "\tfield:int x;\toffset:8;\tsize:4;\tsigned:2;\n",
		HEAD "\tfield:__data_loc char[] x;\toffset:8;\tsize:8;\tsigned:0;\n",
		HEAD "\tfield:int x];\toffset:8;\tsize:4;\tsigned:0;\n",
		HEAD "\tfield:int x;\toffset:8;\tsize:4;\tsigned:0;\n"
		     "\tfield:int x;\toffset:12;\tsize:4;\tsigned:0;\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		if (parse(wrong[i]) != -EBADMSG)
			fail_msg("accepted: %s", wrong[i]);
}

TEST(test_limits)
{
	static char text[TRACEPOINT_FORMAT_BYTES_MAX + 2];
	size_t n = (size_t)sprintf(text, HEAD);

	for (int i = 0; i <= TRACEPOINT_FORMAT_FIELDS_MAX; i++) {
		assert_int_equal(parse(text), 0);
		n += (size_t)sprintf(text + n, "\tfield:int x%d;\toffset:%d;\tsize:4;\tsigned:1;\n",
				     i, 8 + 4 * i);
	}
	assert_int_equal(parse(text), -E2BIG);
	memset(text, '\n', sizeof(text) - 1);
	assert_int_equal(parse(text), -E2BIG);
}

/* Each tracepoint of this kernel has a format that is understood. */
TEST(test_kernel)
{
	_cleanup_(tracefs_names_deinit) struct tracefs_names systems = { 0 };
	_cleanup_close_ int dir = tracefs_open();
	size_t n = 0;

	if (dir < 0)
		skip();
	assert_int_equal(tracefs_list(dir, ".", &systems), 0);
	for (size_t i = 0; i < systems.n; i++) {
		_cleanup_(tracefs_names_deinit) struct tracefs_names names = { 0 };

		/* (the events of a module can disappear) */
		if (tracefs_list(dir, systems.list[i], &names) < 0)
			continue;
		for (size_t j = 0; j < names.n; j++, n++) {
			_cleanup_(tracepoint_symbols_deinit) struct tracepoint_symbols symbols = {
				0
			};
			int r = tracepoint_format_read(dir, systems.list[i], names.list[j], &format,
						       &symbols);

			if (r < 0 && r != -ENOENT)
				fail_msg("%s:%s: %d", systems.list[i], names.list[j], r);
		}
	}
	assert_true(n > 100);
}

static void expect_symbols(const char *text, size_t n)
{
	struct tracepoint_symbols s;

	assert_int_equal(tracepoint_symbols_parse(text, strlen(text), &s), 0);
	if (s.n != n)
		fail_msg("'%s' has %zu names", text, s.n);
	tracepoint_symbols_deinit(&s);
}

/* The names of reasons, up to the first pair that is not understood. */
TEST(test_symbols)
{
	static const char text[] =
		"name: kfree_skb\nprint fmt: \"p=%p reason: %s\", REC->p, "
		"__print_symbolic(REC->reason, { 2, \"NOT_SPECIFIED\" }, { -1, \"NONE\" }, "
		"{0x10UL,\"A \\\"\" })\n";
	struct tracepoint_symbols s;
	char longer[2 * TRACEPOINT_SYMBOL_BYTES + 100], name[2 * TRACEPOINT_SYMBOL_BYTES];

	assert_int_equal(tracepoint_symbols_parse(text, strlen(text), &s), 0);
	assert_int_equal(s.n, 2);
	assert_string_equal(tracepoint_symbols_find(&s, 2), "NOT_SPECIFIED");
	assert_string_equal(tracepoint_symbols_find(&s, UINT64_MAX), "NONE");
	assert_null(tracepoint_symbols_find(&s, 16));
	tracepoint_symbols_deinit(&s);
	expect_symbols("", 0);
	expect_symbols("__print_symbolic(REC->state, { 2, \"X\" })", 0);
	expect_symbols("__print_symbolic(REC->reason, ", 0);
	expect_symbols("__print_symbolic(REC->reason, { 2, \"X\" ", 0);
	expect_symbols("__print_symbolic(REC->reason, { 2, \"X\" }, { 3, \"Y", 1);
	expect_symbols("__print_symbolic(REC->reason, { 99999999999999999999, \"X\" })", 0);
	expect_symbols("__print_symbolic(REC->reason, { 1 << 2, \"X\" })", 0);
	/* A name that is too long is left out. */
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	snprintf(longer, sizeof(longer),
		 "__print_symbolic(REC->reason, { 1, \"%s\" }, { 2, \"X\" })", name);
	expect_symbols(longer, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exec),          cmocka_unit_test(test_forms),
		cmocka_unit_test(test_without_bytes), cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_limits),        cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_symbols),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
