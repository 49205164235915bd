/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arguments of records, whole and damaged ones, word by word.
 */
#include <stdlib.h>
#include <string.h>

#include "reader/fxt/fxt-args.h"
#include "tests/support/unit.h"

/* "name", as an inline reference, and its word. */
#define NAME_REF  (0x8000 | 4)
#define NAME_WORD UINT64_C(0x656d616e)

static struct fxt_provider *provider;

FIXTURE(set_up)
{
	return fxt_provider_new(&provider, 1);
}

FIXTURE(tear_down)
{
	provider = fxt_provider_free(provider);
	return 0;
}

static uint64_t head(unsigned type, unsigned words, unsigned name)
{
	return fxt_put_arg_type(type) | fxt_put_arg_words(words) | fxt_put_arg_name(name);
}

static struct fxt_args args_of(const uint64_t *words, size_t n, unsigned n_args)
{
	return (struct fxt_args){
		.next = words, .end = words + n, .n_left = n_args, .provider = provider
	};
}

static void assert_name(const struct fxt_arg *arg, const char *name)
{
	assert_int_equal(arg->name.length, strlen(name));
	assert_memory_equal(arg->name.bytes, name, arg->name.length);
}

TEST(test_none)
{
	struct fxt_args it = args_of(NULL, 0, 0);
	struct fxt_arg arg;

	assert_int_equal(fxt_args_next(&it, &arg), FXT_ARGS_END);
	assert_null(fxt_args_end(&it));
}

TEST(test_values)
{
	const uint64_t words[] = {
		head(FXT_ARG_INT32, 2, NAME_REF) | fxt_put_arg_value32(0xffffffff),
		NAME_WORD,
		head(FXT_ARG_UINT32, 1, 0) | fxt_put_arg_value32(0xfffffffe),
		head(FXT_ARG_INT64, 3, NAME_REF),
		NAME_WORD,
		(uint64_t)-5,
		head(FXT_ARG_KOID, 2, 0),
		77,
		head(FXT_ARG_BOOL, 1, 0) | fxt_put_arg_value32(1),
		head(FXT_ARG_NULL, 1, 0),
	};
	struct fxt_args it = args_of(words, 10, 6);
	struct fxt_arg arg;

	assert_ptr_equal(fxt_args_end(&it), words + 10);
	assert_int_equal(fxt_args_next(&it, &arg), FXT_ARGS_NEXT);
	assert_int_equal(arg.type, FXT_ARG_INT32);
	assert_int_equal(arg.int32, -1);
	assert_int_equal(arg.n_words, 2);
	assert_name(&arg, "name");
	assert_int_equal(fxt_args_next(&it, &arg), FXT_ARGS_NEXT);
	assert_int_equal(arg.uint32, 0xfffffffe);
	assert_name(&arg, "");
	assert_int_equal(fxt_args_next(&it, &arg), FXT_ARGS_NEXT);
	assert_int_equal(arg.int64, -5);
	assert_int_equal(fxt_args_next(&it, &arg), FXT_ARGS_NEXT);
	assert_int_equal(arg.uint64, 77);
	assert_int_equal(fxt_args_next(&it, &arg), FXT_ARGS_NEXT);
	assert_true(arg.boolean);
	assert_int_equal(fxt_args_next(&it, &arg), FXT_ARGS_NEXT);
	assert_int_equal(arg.type, FXT_ARG_NULL);
	assert_int_equal(fxt_args_next(&it, &arg), FXT_ARGS_END);
}

TEST(test_strings_and_blobs)
{
	const uint64_t words[] = {
		head(FXT_ARG_STRING, 3, NAME_REF) | fxt_put_arg_value_ref(NAME_REF),
		NAME_WORD,
		NAME_WORD,
		head(FXT_ARG_STRING, 1, 9) | fxt_put_arg_value_ref(10),
		head(FXT_ARG_BLOB, 2, 0) | fxt_put_arg_value32(4),
		NAME_WORD,
	};
	struct fxt_args it = args_of(words, 6, 3);
	struct fxt_arg arg;

	assert_int_equal(fxt_provider_set_string(provider, 9, "sched", 5), 0);
	assert_int_equal(fxt_args_next(&it, &arg), FXT_ARGS_NEXT);
	assert_int_equal(arg.text.length, 4);
	assert_ptr_equal(arg.text.bytes, &words[2]);
	assert_int_equal(fxt_args_next(&it, &arg), FXT_ARGS_NEXT);
	assert_name(&arg, "sched");
	assert_int_equal(fxt_text_known(&arg.name), FXT_NAME_SCHED);
	/* Never registered. */
	assert_null(arg.text.bytes);
	assert_int_equal(arg.text.ref, 10);
	assert_int_equal(fxt_args_next(&it, &arg), FXT_ARGS_NEXT);
	assert_int_equal(arg.blob.size, 4);
	assert_memory_equal(arg.blob.data, "name", 4);
}

/* A damaged argument does not affect the next one. */
TEST(test_short_values)
{
	const uint64_t words[] = {
		head(FXT_ARG_INT64, 1, 0),
		head(FXT_ARG_STRING, 1, 0) | fxt_put_arg_value_ref(NAME_REF),
		head(FXT_ARG_BLOB, 2, 0) | fxt_put_arg_value32(9),
		0,
		head(FXT_ARG_INT32, 1, NAME_REF),
		head(FXT_ARG_UINT32, 1, 0) | fxt_put_arg_value32(3),
	};
	static const char *const damages[] = {
		"an argument is too short for its value",
		"an argument is too short for its string",
		"an argument is too short for its blob",
		"an argument is too short for its name",
	};
	struct fxt_args it = args_of(words, 6, 5);
	struct fxt_arg arg;

	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		assert_int_equal(fxt_args_next(&it, &arg), FXT_ARGS_DAMAGE);
		assert_string_equal(it.damage, damages[i]);
	}
	assert_int_equal(fxt_args_next(&it, &arg), FXT_ARGS_NEXT);
	assert_int_equal(arg.uint32, 3);
}

/* After an impossible size, nothing can be read. */
TEST(test_bad_sizes)
{
	const uint64_t nothing = head(FXT_ARG_INT32, 0, 0), large = head(FXT_ARG_INT32, 2, 0),
		       fine = head(FXT_ARG_INT32, 1, 0);
	const struct {
		const uint64_t *words;
		const char *damage;
	} rows[] = {
		{ &nothing, "an argument of size 0" },
		{ &large, "an argument is larger than its record" },
	};
	struct fxt_args it;
	struct fxt_arg arg;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		it = args_of(rows[i].words, 1, 2);
		assert_null(fxt_args_end(&it));
		assert_int_equal(fxt_args_next(&it, &arg), FXT_ARGS_DAMAGE);
		assert_string_equal(it.damage, rows[i].damage);
		assert_int_equal(fxt_args_next(&it, &arg), FXT_ARGS_END);
	}
	it = args_of(&fine, 1, 2);
	assert_null(fxt_args_end(&it));
	assert_int_equal(fxt_args_next(&it, &arg), FXT_ARGS_NEXT);
	assert_int_equal(fxt_args_next(&it, &arg), FXT_ARGS_DAMAGE);
	assert_string_equal(it.damage, "fewer arguments than the record counts");
}

/* An unknown type is skipped by its size. */
TEST(test_unknown_type)
{
	const uint64_t words[] = { head(15, 3, 0), 1, 2,
				   head(FXT_ARG_UINT32, 1, 0) | fxt_put_arg_value32(3) };
	struct fxt_args it = args_of(words, 4, 2);
	struct fxt_arg arg;

	assert_int_equal(fxt_args_next(&it, &arg), FXT_ARGS_NEXT);
	assert_int_equal(arg.type, 15);
	assert_int_equal(arg.n_words, 3);
	assert_int_equal(fxt_args_next(&it, &arg), FXT_ARGS_NEXT);
	assert_int_equal(arg.uint32, 3);
}

#define WITH_PROVIDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		WITH_PROVIDER(test_none),
		WITH_PROVIDER(test_values),
		WITH_PROVIDER(test_strings_and_blobs),
		WITH_PROVIDER(test_short_values),
		WITH_PROVIDER(test_bad_sizes),
		WITH_PROVIDER(test_unknown_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
