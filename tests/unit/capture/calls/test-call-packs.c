/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packs: which calls have one, the room of each argument, and their contents, also damaged ones.
 */
#include <string.h>

#include "base/cleanup.h"
#include "capture/calls/call-packs.h"
#include "tests/support/unit.h"

static struct call_spec parse(const char *text)
{
	struct call_spec_error error;
	struct call_spec spec;

	if (call_spec_parse(text, &spec, &error) < 0)
		fail_msg("%s: %s", text, error.why);
	return spec;
}

TEST(test_plans)
{
	static const struct {
		const char *text;
		struct call_pack_plan plan;
	} rows[] = {
		{ "syscall:pselect6", { 5, 4, { 1, 2, 3, 4, 5 }, { 56, 56, 56, 16, 24 } } },
		{ "syscall:select", { 4, 4, { 1, 2, 3, 4 }, { 64, 64, 64, 16 } } },
		{ "syscall:ppoll", { 3, 2, { 0, 2, 3 }, { 200, 16, 8 } } },
	};
	static const char *const none[] = {
		"syscall:poll",
		"syscall:recvfrom",
		"syscall:recvmmsg",
		"libc.so.6:f(inout struct:fds[n] a, inout struct:fds[n] b, inout struct:fds[n] c, "
		"int n) -> int",
		"syscall:f(str a, str b, str c, str d, str e) -> int",
		"syscall:f(inout struct:raw a, inout struct:raw b, inout struct:raw c) -> int",
	};
	struct call_pack_plan plan;
	size_t bytes;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct call_spec spec = parse(rows[i].text);

		assert_true(call_pack_plan(&spec, &plan));
		assert_memory_equal(&plan, &rows[i].plan, sizeof(plan));
		/* The eBPF programs begin no piece beyond this. */
		bytes = 0;
		for (uint8_t k = 0; k < plan.n; k++)
			bytes += sizeof(int32_t) + plan.max[k];
		assert_in_range(bytes, 1, CALL_PACK_BYTES);
	}
	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		struct call_spec spec = parse(none[i]);

		assert_false(call_pack_plan(&spec, &plan));
	}
}

TEST(test_memory)
{
	struct call_spec spec = parse("syscall:pselect6");

	assert_int_equal(call_pack_memory(&spec.args[1].type), CALL_MEMORY_BITS);
	assert_int_equal(call_pack_memory(&spec.args[4].type), CALL_MEMORY_BYTES);
	assert_int_equal(call_pack_memory(&spec.args[5].type), CALL_MEMORY_MASK);
}

static void add(struct call_text *text, int32_t size, const char *bytes)
{
	memcpy(text->text + text->bytes, &size, sizeof(size));
	text->bytes += (int32_t)sizeof(size);
	memcpy(text->text + text->bytes, bytes, strlen(bytes));
	text->bytes += (int32_t)strlen(bytes);
}

TEST(test_split)
{
	struct call_text text = { 0 }, to[CALL_MEMORIES_MAX];

	add(&text, 3, "abc");
	add(&text, -1, "");
	add(&text, 0, "");
	add(&text, 9, "cut");
	call_pack_split(&text, 5, to);
	assert_int_equal(to[0].bytes, 3);
	assert_memory_equal(to[0].text, "abc", 3);
	assert_int_equal(to[1].bytes, -1);
	assert_int_equal(to[2].bytes, 0);
	assert_int_equal(to[3].bytes, -1);
	assert_int_equal(to[4].bytes, -1);
	text.bytes = 2;
	call_pack_split(&text, 1, to);
	assert_int_equal(to[0].bytes, -1);
	call_pack_split(NULL, 1, to);
	assert_int_equal(to[0].bytes, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plans),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_split),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
