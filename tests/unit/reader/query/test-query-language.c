/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The extensions of the language of queries. Invalid expressions are refused, with the right place.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "reader/query/query-run.h"
#include "tests/support/unit.h"
#include "writer/tracedb/tracedb-writer.h"

static int count_result(void *userdata, const struct query_result *result)
{
	uint64_t *n = userdata;

	++*n;
	return 0;
}

static const char *function_of(const void *userdata, uint64_t statement)
{
	const char *const *functions = userdata;

	return statement == 3 ? functions[0] : NULL;
}

/* Texts, and properties of the point. */
TEST(test_extensions)
{
	static const char *const functions[] = { "write" };
	static const struct {
		const char *text;
		uint64_t n;
	} rows[] = {
		{ "(is (p/function) \"write\")", 1 },
		{ "(is (p/function) (p/function))", 1 },
		{ "(not (matches (p/function) \"wr*e\"))", 1 }, /* (and the point without any) */
		{ "(contains (p/function) \"rit\")", 1 },
		{ "(contains (p/function) \"\")", 1 },
		{ "(is (v/text text) \"a \\\"b\\\" \\\\\")", 2 },
		{ "(contains (v/text text) \"b\")", 2 },
		{ "(is (v/text number) \"17\")", 0 },
		{ "(is (v/name text) \"text\")", 2 },
		{ "(is (v/type number) \"u64\")", 2 },
		{ "(= (p/statement) 4)", 1 },
		{ "(and (= (p/time) 1001) (= (p/process) 7) (= (p/thread) 4294967295))", 1 },
		{ "(= (/ (p/time) 2) 500.5)", 1 },
		{ "(>= (p/time) 1001)", 2 },
		{ "(= (+ (p/time) (v/value number)) 1019)", 1 },
		{ "(= (- (p/time) (e/time)) 1)", 1 },
		{ "(is (v/text text) (e/text text))", 1 },
		{ "(and (is (e/function) \"write\") (> (p/statement) (e/statement)))", 1 },
		{ "(is (v/name number) (e/type number))", 0 },
		{ "(and (= (e/value number) (v/value number)) (< (e/thread) (e/process)))", 0 },
	};
	static const char *const these[] = { "text", "number", "blob", "u64" };
	static const struct tracedb_type kinds[] = { { 2, TRACEDB_BLOB, 0 },
						     { 3, TRACEDB_UNSIGNED, 8 } };
	const struct tracedb_dictionary d = { these, 4, kinds, 2 };
	_cleanup_(tracedb_reader_freep) struct tracedb_reader *reader = NULL;
	_cleanup_(tracedb_store_freep) struct tracedb_store *store = NULL;
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	const struct tracedb_point none = { NULL, 0 };
	struct tracedb_writer w;

	assert_int_equal(tracedb_writer_begin(&w, &b, TRACEDB_W64, &d), 0);
	for (uint64_t i = 0; i < 2; i++) {
		const struct tracedb_entry e[] = {
			{ .tag = TRACEDB_STATEMENT, .statement = 3 + i },
			{ .tag = TRACEDB_VARIABLE,
			  .variable = { 0, 0, 7, .bytes = (const uint8_t *)"a \"b\" \\" } },
			{ .tag = TRACEDB_VARIABLE, .variable = { 1, 1, 8, .u = 17 } },
			{ .tag = TRACEDB_AUXILIARY, .auxiliary = 1001 + i },
			{ .tag = TRACEDB_AUXILIARY, .auxiliary = (7 + i) << 32 | UINT32_MAX },
		};

		assert_int_equal(tracedb_writer_point(&w, &(struct tracedb_point){ e, 5 }), 0);
	}
	/* (a point without any of these) */
	assert_int_equal(tracedb_writer_point(&w, &none), 0);
	assert_int_equal(tracedb_reader_new_memory(&reader, b.data, b.size), 0);
	assert_int_equal(tracedb_store_load(&store, reader), TRACEDB_TRACE_END);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(query_deinit) struct query q = { .keep_duplicates = true,
							   .function = function_of,
							   .function_userdata = functions };
		struct query_error error = { 0 };
		uint64_t n = 0;

		if (query_parse(&q.expression, rows[i].text, &q.hard, &error) < 0)
			fail_msg("'%s': %s", rows[i].text, error.why);
		assert_int_equal(query_run(&q, store, tracedb_reader_dictionary(reader),
					   count_result, &n, &error),
				 0);
		/* (a value without a text does not match other ones) */
		if (n != rows[i].n + (rows[i].text[1] == 'n'))
			fail_msg("'%s': %" PRIu64 " results", rows[i].text, n);
	}
}

static void refused(const char *text, size_t at, const char *why)
{
	_cleanup_(query_deinit) struct query q = { 0 };
	struct query_error error = { 0 };

	assert_int_equal(query_parse(&q.expression, text, &q.hard, &error), -EINVAL);
	assert_int_equal(error.at, at);
	if (!strstr(error.why, why))
		fail_msg("'%s' says '%s'", text, error.why);
}

TEST(test_refused)
{
	_cleanup_(query_deinit) struct query q = { 0 };
	struct query_error error;
	static char deep[20002];

	refused("(> 1", 4, "not closed");
	refused("(> 1 2 3)", 7, "2 operands, not more");
	refused("(> 1)", 4, "2 operands, not 1");
	refused("(and 1)", 5, "a comparison is expected");
	refused("(> (and (= 1 1)) 2)", 4, "where a number is expected");
	refused("(+ 1 2)", 1, "where a truth value is expected");
	refused("(frob 1)", 1, "no operator");
	refused("(> 1 x)", 5, "is not a number");
	refused("(> 1 2) 3", 8, "after the end");
	refused("(not)", 4, "1 operand, not 0");
	refused("17", 0, "a comparison is expected");
	refused("(> 0x 1)", 3, "is not a number");
	refused("(is \"a\" 3)", 8, "a word where a text is expected, in quotation marks");
	refused("(> \"a\" 3)", 3, "a text where a number is expected");
	refused("(is \"a\" \"b)", 8, "a quotation mark is not closed");
	refused("(is \"a\" \"b\\", 8, "a quotation mark is not closed");
	refused("(is (p/function x) \"b\")", 16, "0 operands, not more");
	refused("(= (p/function) 1)", 4, "'p/function' is a text where a number is expected");
	refused("(> 1e999 1)", 3, "is not a number");
	refused("(= (p/value x) 1)", 4, "'p/value' is no operator");
	refused("(= (e4/value x) 1)", 4, "'e4/value' is no operator");
	refused("(= (e2/ x) 1)", 4, "'e2/' is no operator");
	refused("(is (e2/function x) \"b\")", 17, "'e2/function' takes 0 operands, not more");
	refused("(= (v/value x) (e2/value x))", 16,
		"e2/ is a point before that of e/, which has no condition: use e/ first");
	refused("(and (= (e3/time) 1) (= (e/time) 2))", 9,
		"e3/ is a point before that of e2/, which has no condition: use e2/ first");
	refused("(and (= (e/time) 1) (= (b/time) 1))", 24, "possible only within (none ...)");
	refused("(and (= (e/time) 1) (not (none (= 1 1))))", 26, "the outermost 'and'");
	refused("(and (= (e/time) 1) (none (none (= 1 1))))", 27, "the outermost 'and'");
	refused("(and (= (e/time) 1) (none (= 1 1)) (none (= 1 2)))", 36, "possible only once");
	refused("(and (= 1 1) (none (= (b/time) 1)))", 14, "but e/ has no condition");
	refused("(and (= (e/time) 1) (none))", 25, "'none' takes 1 operand, not 0");
	assert_int_equal(query_declare(&q.expression, "w", &error), 0);
	assert_int_equal(query_parse(&q.expression, "(> (v/value w) (e/value w))", &q.hard, &error),
			 -EINVAL);
	assert_int_equal(error.at, 24);
	assert_non_null(strstr(error.why, "declare two"));
	query_deinit(&q);
	assert_int_equal(query_parse(&q.expression, "(= (e/time) 1)", &q.hard, &error), 0);
	assert_int_equal(query_parse(&q.expression, "(none (= 1 1))", &q.softs[0], &error),
			 -EINVAL);
	assert_non_null(strstr(error.why, "not possible in a soft expression"));
	query_deinit(&q);
	memset(deep, '(', sizeof(deep) - 1);
	refused(deep, 1, "expected");
	for (size_t i = 0; i + 5 < sizeof(deep); i += 5)
		memcpy(deep + i, "(not ", 5);
	deep[20000] = '\0';
	refused(deep, 5000, "levels");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_extensions),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
