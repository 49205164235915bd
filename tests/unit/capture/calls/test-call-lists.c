/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists in calls, from the copies of the programs, also cut and damaged ones.
 */
#include <poll.h>
#include <string.h>
#include <sys/uio.h>

#include "base/cleanup.h"
#include "capture/calls/call-lists.h"
#include "capture/calls/call-values.h"
#include "model/calls/call-structs.h"
#include "tests/support/unit.h"

static struct call_type type_of(const char *name)
{
	unsigned number = call_struct_find(name, strlen(name));

	assert_int_not_equal(number, CALL_STRUCT_NONE);
	return (struct call_type){ .form = CALL_STRUCT, .layout = (uint16_t)number };
}

static struct call_text copy_of(const void *bytes, size_t n, uint32_t cut)
{
	struct call_text text = { .bytes = (int32_t)n, .cut = cut };

	assert_true(n <= sizeof(text.text));
	memcpy(text.text, bytes, n);
	return text;
}

static const char *shown(const char *name, const struct call_text *text, uint64_t count,
			 uint64_t total)
{
	static char to[CALL_VALUE_TEXT_MAX];
	const struct call_type type = type_of(name);
	size_t n = call_list_format(&type, text, count, total, 0x5000, to, sizeof(to));

	assert_true(call_type_is_list(&type));
	return n > 0 ? to : "";
}

TEST(test_memory)
{
	static const struct {
		const char *name;
		uint8_t memory;
	} rows[] = {
		{ "struct:argv", CALL_MEMORY_ARGV },       { "struct:envp", CALL_MEMORY_POINTERS },
		{ "struct:dirents", CALL_MEMORY_ENTRIES }, { "struct:iovec", CALL_MEMORY_PARTS },
		{ "struct:stat", CALL_MEMORY_BYTES },      { "struct:raw", CALL_MEMORY_BYTES },
	};
	const struct call_type string = { .form = CALL_STR };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct call_type type = type_of(rows[i].name);

		assert_int_equal(call_list_memory(&type), rows[i].memory);
		assert_int_equal(call_type_is_list(&type), rows[i].memory != CALL_MEMORY_BYTES);
	}
	assert_int_equal(call_list_memory(&string), CALL_MEMORY_STRING);
}

TEST(test_strings)
{
	static const char two[] = "\1ls\0\1-l", empty[] = "\1\0\1a", part[] = "\1ls\0\1lon";
	static const char address[] = "\1ls\0\2\x10\x20\0\0\0\0\0\0\1x";
	struct call_text text = copy_of(two, sizeof(two), 0);

	assert_string_equal(shown("struct:argv", &text, 0, 0), "[\"ls\", \"-l\"]");
	text = copy_of(empty, sizeof(empty), 0);
	assert_string_equal(shown("struct:argv", &text, 0, 0), "[\"\", \"a\"]");
	text = copy_of("", 0, 0);
	assert_string_equal(shown("struct:argv", &text, 0, 0), "[]");
	text.cut = CALL_CUT_ELEMENTS;
	assert_string_equal(shown("struct:argv", &text, 0, 0), "[...]");
	/* The last string is cut: it has no NUL. */
	text = copy_of(part, sizeof(part) - 1, CALL_CUT_MEMORY);
	assert_string_equal(shown("struct:argv", &text, 0, 0), "[\"ls\", \"lon\"...]");
	text.cut |= CALL_CUT_ELEMENTS;
	assert_string_equal(shown("struct:argv", &text, 0, 0), "[\"ls\", \"lon\"..., ...]");
	/* An unreadable string. */
	text = copy_of(address, sizeof(address), 0);
	assert_string_equal(shown("struct:argv", &text, 0, 0), "[\"ls\", 0x2010, \"x\"]");
	text.bytes = -1;
	assert_string_equal(shown("struct:argv", &text, 0, 0), "");
}

TEST(test_numbers)
{
	const uint32_t n = 12, one = 1;
	struct call_text text = copy_of(&n, sizeof(n), 0);

	assert_string_equal(shown("struct:envp", &text, 0, 0), "0x5000 /* 12 vars */");
	assert_string_equal(shown("struct:dirents", &text, 0, 0), "0x5000 /* 12 entries */");
	text = copy_of(&one, sizeof(one), 0);
	assert_string_equal(shown("struct:envp", &text, 0, 0), "0x5000 /* 1 var */");
	text.bytes = 3;
	assert_string_equal(shown("struct:envp", &text, 0, 0), "");
}

/* Appends a buffer of LENGTH bytes at ADDRESS, and its DATA, to the copy TEXT. */
static void add_part(struct call_text *text, uint64_t address, uint64_t length, const char *data)
{
	const uint64_t part[2] = { address, length };

	memcpy(text->text + text->bytes, part, sizeof(part));
	memcpy(text->text + text->bytes + sizeof(part), data, strlen(data));
	text->bytes += (int32_t)(sizeof(part) + strlen(data));
}

TEST(test_parts)
{
	struct call_text text = { 0 };

	add_part(&text, 0x10, 3, "abc");
	add_part(&text, 0x20, 4, "defg");
	assert_string_equal(shown("struct:iovec", &text, 2, UINT64_MAX),
			    "[{iov_base=\"abc\", iov_len=3}, {iov_base=\"defg\", iov_len=4}]");
	/* The call has read five bytes. */
	text.bytes = 0;
	add_part(&text, 0x10, 3, "abc");
	add_part(&text, 0x20, 9, "de");
	add_part(&text, 0x30, 9, "");
	assert_string_equal(shown("struct:iovec", &text, 3, 5),
			    "[{iov_base=\"abc\", iov_len=3}, {iov_base=\"de\", iov_len=9}, "
			    "{iov_base=\"\", iov_len=9}]");
	/* Unreadable data, and missing elements. */
	text.bytes = 0;
	add_part(&text, 0x10, 3 | CALL_PART_UNREADABLE, "");
	add_part(&text, 0, 3, "");
	assert_string_equal(shown("struct:iovec", &text, 3, UINT64_MAX),
			    "[{iov_base=0x10, iov_len=3}, {iov_base=NULL, iov_len=3}, ...]");
	text.bytes = 0;
	assert_string_equal(shown("struct:iovec", &text, 0, UINT64_MAX), "[]");
	assert_string_equal(shown("struct:iovec", &text, 2, UINT64_MAX), "[...]");
}

/* Each of several buffers has its share of the copy. With too many, only addresses are shown. */
TEST(test_shares)
{
	char data[CALL_PART_BYTES(10) + 1] = { 0 };
	struct call_text text = { 0 };
	const char *line;

	memset(data, 'x', sizeof(data) - 1);
	for (unsigned i = 0; i < 10; i++)
		add_part(&text, 0x10, 100, data);
	line = shown("struct:iovec", &text, 10, UINT64_MAX);
	assert_non_null(strstr(line, "{iov_base=\"xxxxxxxx\"..., iov_len=100}]"));
	text.bytes = 0;
	add_part(&text, 0x10, 100, "");
	assert_string_equal(shown("struct:iovec", &text, 16, UINT64_MAX),
			    "[{iov_base=0x10, iov_len=100}, ...]");
}

TEST(test_ready)
{
	const struct pollfd fds[] = { { 3, POLLIN, 0 },
				      { 4, POLLIN, POLLIN | POLLHUP },
				      { 5, 0, 32 } };
	struct call_text text = copy_of(fds, sizeof(fds), 0);
	char to[CALL_VALUE_TEXT_MAX];

	assert_true(call_list_ready(&text, 3, to, sizeof(to)) > 0);
	assert_string_equal(to, "[{fd=4, revents=POLLIN|POLLHUP}, {fd=5, revents=POLLNVAL}]");
	assert_true(call_list_ready(&text, 50, to, sizeof(to)) > 0);
	assert_non_null(strstr(to, "POLLNVAL}, ...]"));
	assert_int_equal(call_list_ready(&text, 1, to, sizeof(to)), 0);
	text.bytes = -1;
	assert_int_equal(call_list_ready(&text, 3, to, sizeof(to)), 0);
}

/* Any bytes of a program: no access beyond the copy (found by sanitizers). */
TEST(test_any_bytes)
{
	static const char *const names[] = { "struct:argv", "struct:envp", "struct:dirents",
					     "struct:iovec" };
	struct call_text text;

	for (size_t k = 0; k < ARRAY_SIZE(names); k++)
		for (int fill = 0; fill < 256; fill += 5)
			for (int n = 0; n <= CALL_TEXT_BYTES; n += 3) {
				memset(&text, fill, sizeof(text));
				text.bytes = n;
				shown(names[k], &text, (uint64_t)(n % 20), (uint64_t)n * 9);
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory),    cmocka_unit_test(test_strings),
		cmocka_unit_test(test_numbers),   cmocka_unit_test(test_parts),
		cmocka_unit_test(test_shares),    cmocka_unit_test(test_ready),
		cmocka_unit_test(test_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
