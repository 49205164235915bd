/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks are kept, and dropped only when no later record can name them.
 */
#include <stdlib.h>
#include <string.h>

#include "capture/programs/cpus.h"
#include "capture/stages/stacks.h"
#include "tests/support/unit.h"

static struct rec_stack make(uint64_t id, unsigned n)
{
	struct rec_stack rec = { .head = { .size = REC_STACK_BYTES(n), .kind = REC_STACK },
				 .id = id };

	for (unsigned i = 0; i < n; i++)
		rec.frames[i] = id * 1000 + i;
	return rec;
}

static void add(struct stacks *s, uint64_t id, unsigned n)
{
	const struct rec_stack rec = make(id, n);

	assert_int_equal(stacks_add(s, &rec), 0);
}

TEST(test_kept)
{
	struct stacks s = { 0 };

	add(&s, 1, 3);
	add(&s, 2, STACK_FRAMES_MAX);
	add(&s, 1, 3); /* again: the program had forgotten it */
	assert_null(stacks_get(&s, 3));
	assert_int_equal(stacks_get(&s, 1)->n_frames, 3);
	assert_int_equal(stacks_get(&s, 1)->frames[2], 1002);
	assert_int_equal(stacks_get(&s, 2)->n_frames, STACK_FRAMES_MAX);
	assert_false(stacks_turn(&s, 1000, 1005));
	stacks_deinit(&s);
}

/* Fills a generation with ids from FROM on, and returns the next one. */
static uint64_t fill(struct stacks *s, uint64_t from)
{
	while (s->bytes <= 4 << 20)
		add(s, from++, STACK_FRAMES_MAX);
	return from;
}

TEST(test_turns)
{
	struct stacks s = { 0 };
	uint64_t next;

	next = fill(&s, 1);
	assert_true(stacks_turn(&s, 1000, 1005));
	assert_non_null(stacks_get(&s, 1)); /* a record on the way can name it */
	next = fill(&s, next);
	/* Records up to the previous turn have not all been handled. */
	assert_false(stacks_turn(&s, 1005, 1010));
	assert_non_null(stacks_get(&s, 1));
	assert_true(stacks_turn(&s, 1006, 1011));
	assert_null(stacks_get(&s, 1));
	assert_non_null(stacks_get(&s, next - 1));
	stacks_deinit(&s);
}

TEST(test_cpus)
{
	bool online[6];

	assert_true(cpus_parse("0-1,4\n", online, 6));
	assert_true(online[0] && online[1] && !online[2] && !online[3] && online[4] && !online[5]);
	assert_true(cpus_parse("3", online, 6));
	assert_true(!online[0] && online[3]);
	assert_true(cpus_parse("0-4095", online, 6)); /* more CPUs than supported */
	assert_true(online[5]);
	assert_false(cpus_parse("", online, 6));
	assert_false(cpus_parse("0-1,x", online, 6));
	assert_false(online[0]);
	cpus_online(online, 6);
	assert_true(online[0] || online[1] || online[2] || online[3] || online[4] || online[5]);
}

/*
 * A CPU that went offline is reported once, even if it went twice. CPUs without their own counter
 * are reported with another one.
 */
TEST(test_cpus_gone)
{
	static uint32_t departures[CPU_DEPARTURES], seen[CPU_DEPARTURES];
	bool online[CPU_DEPARTURES + 2];

	memset(online, true, sizeof(online));
	assert_false(cpus_clear_gone(departures, seen, online, CPU_DEPARTURES + 2));
	departures[1] += 2;
	assert_true(cpus_clear_gone(departures, seen, online, CPU_DEPARTURES + 2));
	assert_true(online[0] && !online[1] && online[2]);
	online[1] = true;
	assert_false(cpus_clear_gone(departures, seen, online, CPU_DEPARTURES + 2));
	assert_true(online[1]);
	departures[0]++;
	assert_true(cpus_clear_gone(departures, seen, online, CPU_DEPARTURES + 2));
	assert_true(!online[0] && online[1] && online[CPU_DEPARTURES - 1]);
	assert_true(!online[CPU_DEPARTURES] && !online[CPU_DEPARTURES + 1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_cpus),
		cmocka_unit_test(test_cpus_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
