/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of a provider: strings by index, known names, ticks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reader/fxt/fxt-provider.h"
#include "tests/support/unit.h"

FIXTURE(set_up)
{
	return fxt_provider_new((struct fxt_provider **)state, 7);
}

FIXTURE(tear_down)
{
	fxt_provider_free(*state);
	return 0;
}

static void assert_text(const struct fxt_provider *p, unsigned ref, const char *expected)
{
	struct fxt_text t = fxt_provider_string(p, ref);

	assert_int_equal(t.length, strlen(expected));
	assert_memory_equal(t.bytes, expected, t.length);
}

TEST(test_strings)
{
	struct fxt_provider *p = *state;
	char text[] = "first";

	assert_text(p, 0, "");
	assert_null(fxt_provider_string(p, 1).bytes);
	assert_int_equal(fxt_provider_set_string(p, 1, text, 5), 0);
	memset(text, 'x', 5);
	assert_text(p, 1, "first");
	assert_int_equal(fxt_provider_set_string(p, FXT_STRING_INDEX_MAX, "last", 4), 0);
	assert_text(p, FXT_STRING_INDEX_MAX, "last");
	assert_int_equal(fxt_provider_set_string(p, 2, "", 0), 0);
	assert_text(p, 2, "");
	assert_non_null(fxt_provider_string(p, 2).bytes);
	/* On an existing page, and on a missing one. */
	assert_null(fxt_provider_string(p, 3).bytes);
	assert_null(fxt_provider_string(p, 5000).bytes);
	assert_int_equal(fxt_provider_string(p, 5000).ref, 5000);
	assert_int_equal(p->text_bytes, 9);
	assert_int_equal(fxt_provider_set_string(p, 1, "it", 2), 0);
	assert_text(p, 1, "it");
	assert_int_equal(p->text_bytes, 6);
}

TEST(test_too_much_text)
{
	struct fxt_provider *p = *state;

	assert_int_equal(fxt_provider_set_string(p, 1, "text", 4), 0);
	p->text_bytes = FXT_PROVIDER_TEXT_MAX;
	assert_int_equal(fxt_provider_set_string(p, 2, "x", 1), -ENOBUFS);
	assert_null(fxt_provider_string(p, 2).bytes);
	/* Replaced strings make room. */
	assert_int_equal(fxt_provider_set_string(p, 1, "four", 4), 0);
	assert_int_equal(fxt_provider_set_string(p, 1, "fives", 5), -ENOBUFS);
	assert_null(fxt_provider_string(p, 1).bytes);
}

TEST(test_known_names)
{
	struct fxt_provider *p = *state;
	struct fxt_text inlined = { .bytes = "session_stop", .length = 12, .known = -1 };
	struct fxt_text t;

	assert_int_equal(fxt_provider_set_string(p, 900, "sched", 5), 0);
	t = fxt_provider_string(p, 900);
	assert_int_equal(fxt_text_known(&t), FXT_NAME_SCHED);
	assert_int_equal(fxt_provider_set_string(p, 900, "schedule", 8), 0);
	t = fxt_provider_string(p, 900);
	assert_int_equal(fxt_text_known(&t), 0);
	assert_int_equal(fxt_text_known(&inlined), FXT_NAME_SESSION_STOP);
	inlined.length--;
	assert_int_equal(fxt_text_known(&inlined), 0);
	t = (struct fxt_text){ .known = -1 };
	assert_int_equal(fxt_text_known(&t), 0);
}

/* Each name in the list is found. */
TEST(test_all_names)
{
	struct fxt_text t;

#define X(id, index, text)                                                                         \
	t = (struct fxt_text){ .bytes = text, .length = sizeof(text) - 1, .known = -1 };           \
	assert_int_equal(fxt_text_known(&t), FXT_NAME_##id);
	FXT_NAMES(X)
#undef X
}

TEST(test_reset)
{
	struct fxt_provider *p = *state;

	assert_int_equal(fxt_provider_set_string(p, 300, "text", 4), 0);
	p->ticks_per_second = 5;
	p->threads[3] = (struct fxt_thread){ .pid = 1, .tid = 2, .defined = true };
	strcpy(p->name, "name");
	fxt_provider_reset(p);
	assert_int_equal(p->id, 7);
	assert_int_equal(p->ticks_per_second, 1000000000);
	assert_int_equal(p->text_bytes, 0);
	assert_false(p->threads[3].defined);
	assert_string_equal(p->name, "");
	assert_null(fxt_provider_string(p, 300).bytes);
}

TEST(test_ticks)
{
	struct fxt_provider *p = *state;

	assert_int_equal(fxt_provider_ns(p, UINT64_MAX), UINT64_MAX);
	p->ticks_per_second = 3;
	assert_int_equal(fxt_provider_ns(p, 1), 333333333);
	assert_int_equal(fxt_provider_ns(p, 3), 1000000000);
	/* More than 64 bits in the calculation, and in the result. */
	p->ticks_per_second = UINT64_C(2000000000);
	assert_int_equal(fxt_provider_ns(p, UINT64_MAX - 1), (UINT64_MAX - 1) / 2);
	p->ticks_per_second = 1;
	assert_int_equal(fxt_provider_ns(p, UINT64_MAX), UINT64_MAX);
}

#define WITH_PROVIDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		WITH_PROVIDER(test_strings),     WITH_PROVIDER(test_too_much_text),
		WITH_PROVIDER(test_known_names), WITH_PROVIDER(test_all_names),
		WITH_PROVIDER(test_reset),       WITH_PROVIDER(test_ticks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
