/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A report as one list: its members in order, each in the format of its type.
 */
#include "cli/common/json.h"

#include "base/cleanup.h"
#include "tests/support/unit.h"

struct row {
	const char *name, *other;
	char text[8];
	bool good;
	uint8_t small;
	uint32_t n;
	int32_t code;
	int64_t shift;
	uint64_t bytes;
	double share;
};

static void assert_json(struct json_object *o, const char *expected)
{
	_cleanup_(outbuf_deinit) struct outbuf text = { 0 };

	assert_int_equal(json_append(&text, o, JSON_C_TO_STRING_PLAIN), 0);
	assert_int_equal(outbuf_append(&text, "", 1), 0);
	assert_string_equal(text.data, expected);
	json_object_put(o);
}

TEST(test_types)
{
	const struct row r = { "a",        NULL, "b",       true,       255,
			       UINT32_MAX, -1,   INT64_MIN, UINT64_MAX, 1.0 / 3 };

	assert_json(JSON_OBJECT(JSON_OF(&r, name, other, text, good, small, n, code, shift, bytes,
					share)),
		    "{\"name\":\"a\",\"other\":null,\"text\":\"b\",\"good\":true,\"small\":255,"
		    "\"n\":4294967295,\"code\":-1,\"shift\":-9223372036854775808,"
		    "\"bytes\":18446744073709551615,\"share\":0.333333}");
	assert_json(JSON_OBJECT(JSON("text", json_from_text("\xff")),
				JSON("hex", json_from_hex((const uint8_t[]){ 0, 0xaf }, 2)),
				JSON("null", json_from_bytes(NULL, 0))),
		    "{\"text\":\"\xef\xbf\xbd\",\"hex\":\"00af\",\"null\":null}");
}

static struct json_object *never(void)
{
	fail_msg("the value of a member that is left out was made");
	return NULL;
}

TEST(test_left_out)
{
	struct json_object *o = JSON_OBJECT(JSON_IF(false, "a", never()), JSON("b", 1u));

	assert_json(JSON_ADD(o, JSON_IF(true, "c", 2u), JSON_IF(false, "d", 3u)),
		    "{\"b\":1,\"c\":2}");
	assert_json(JSON_OBJECT(JSON_IF(false, "a", 1u)), "{}");
}

/* (more than any report has of one struct) */
TEST(test_many)
{
	const struct {
		unsigned a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p;
	} all = { .p = 16 };

	assert_json(
		JSON_OBJECT(JSON_OF(&all, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)),
		"{\"a\":0,\"b\":0,\"c\":0,\"d\":0,\"e\":0,\"f\":0,\"g\":0,\"h\":0,\"i\":0,\"j\":0,"
		"\"k\":0,\"l\":0,\"m\":0,\"n\":0,\"o\":0,\"p\":16}");
}

TEST(test_lists)
{
	const struct row rows[] = { { .name = "x", .n = 1 }, { .n = 2 }, { .name = "z", .n = 3 } };
	const char *const texts[] = { "p", NULL, "q" };

	assert_json(JSON_LIST(r, rows, 3, r->name ? JSON_OBJECT(JSON_OF(r, name, n)) : NULL),
		    "[{\"name\":\"x\",\"n\":1},{\"name\":\"z\",\"n\":3}]");
	assert_json(JSON_LIST(t, texts, 3, *t), "[\"p\",\"q\"]");
	assert_json(JSON_LIST(r, rows, 0, r->n), "[]");
	assert_json(JSON_LIST(r, rows, 2, JSON_LIST(t, texts, r->n, *t)), "[[\"p\"],[\"p\"]]");
	assert_json(JSON_MAP(r, rows, 3, JSON_IF(r->name, r->name, r->n)), "{\"x\":1,\"z\":3}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
