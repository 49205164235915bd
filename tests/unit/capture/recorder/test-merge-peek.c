/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Switches that a merge looks up before their round (merge-rounds.h).
 */
#include "tests/support/fakes/fake-collector.h"
#include "tests/support/fixtures/merge-rounds.h"
#include "tests/support/unit.h"
#include "writer/fxt/fxt-names.h"
#include "writer/fxt/fxt-wire.h"

TEST(test_peek_switch)
{
	struct merge_rounds *f = *state;
	static const struct {
		uint64_t from_ns, to_ns;
		int r;
		uint32_t out_tid;
	} rows[] = {
		{ 50, 300, MERGE_PEEK_SWITCH, 1 },   { 99, 100, MERGE_PEEK_SWITCH, 1 },
		{ 50, 99, MERGE_PEEK_NOTHING, 0 },   { 100, 300, MERGE_PEEK_SWITCH, 2 },
		{ 100, 119, MERGE_PEEK_NOTHING, 0 }, { 120, 300, MERGE_PEEK_LOSS, 0 },
		{ 120, 129, MERGE_PEEK_NOTHING, 0 }, { 139, 300, MERGE_PEEK_LOSS, 0 },
		{ 140, 300, MERGE_PEEK_SWITCH, 4 },  { 150, 300, MERGE_PEEK_NOTHING, 0 },
	};

	merge_put_wakeup(f, 0, 90);
	merge_put_switch(f, 0, 100, 1, 2);
	merge_put_migrate(f, 0, 110);
	merge_put_switch(f, 0, 120, 2, 3);
	merge_put_loss(f, 0, 130, 140, 1, 4);
	merge_put_switch(f, 0, 150, 4, 5);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct merge_switch sw = { .out_tid = 0 };

		assert_int_equal(merge_peek_switch(f->merge, 0, rows[i].from_ns, rows[i].to_ns,
						   &sw),
				 rows[i].r);
		assert_int_equal(sw.out_tid, rows[i].out_tid);
		assert_int_equal(merge_peek_switch(f->merge, 1, rows[i].from_ns, rows[i].to_ns,
						   &sw),
				 MERGE_PEEK_NOTHING);
	}
	assert_merge_round(f, MERGE_ALL, "0:90w 0:100s 0:110m 0:120s 0:130(1 0:140)4 0:150s ");
	assert_int_equal(merge_peek_switch(f->merge, 0, 0, 300, &(struct merge_switch){ 0 }),
			 MERGE_PEEK_NOTHING);
}

TEST(test_peek_switch_prio)
{
	struct merge_rounds *f = *state;
	const uint64_t words[6] = {
		fxt_switch_header(6, 2, 1, FXT_STATE_BLOCKED),
		100,
		5,
		6,
		fxt_arg32(FXT_ARG_INT32, FXT_NAME_OUTGOING_WEIGHT, (uint32_t)-1),
	};
	struct merge_switch sw;

	assert_true(fake_collector_put_words(f->collector, CLASS_SCHED, 1, words, 6));
	assert_int_equal(merge_peek_switch(f->merge, 1, 0, 100, &sw), MERGE_PEEK_SWITCH);
	assert_int_equal(sw.out_tid, 5);
	assert_int_equal(sw.out_prio, -1);
}

TEST(test_peek_switch_malformed)
{
	struct merge_rounds *f = *state;
	const uint64_t words[6] = { 0 };
	struct merge_switch sw;

	assert_true(fake_collector_put_words(f->collector, CLASS_SCHED, 1, words, 6));
	merge_put_switch(f, 1, 100, 1, 2);
	assert_int_equal(merge_peek_switch(f->merge, 1, 0, 100, &sw), MERGE_PEEK_NOTHING);
}

#define CASE(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, merge_rounds_set_up, merge_rounds_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_peek_switch),
		CASE(test_peek_switch_prio),
		CASE(test_peek_switch_malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
