/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rounds of a merge: their order, losses, rings and ends (merge-rounds.h).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/proc/proc-records.h"
#include "tests/support/fakes/fake-collector.h"
#include "tests/support/fixtures/merge-rounds.h"
#include "tests/support/unit.h"
#include "writer/fxt/fxt-names.h"
#include "writer/fxt/fxt-wire.h"

/* ---- order ---- */

TEST(test_round_nothing)
{
	assert_merge_round(*state, MERGE_ALL, "");
	assert_merge_round(*state, MERGE_ALL, "");
}

TEST(test_round_order)
{
	struct merge_rounds *f = *state;

	merge_put_switch(f, 0, 100, 1, 2);
	merge_put_switch(f, 0, 104, 2, 1);
	merge_put_switch(f, 0, 105, 1, 2);
	merge_put_wakeup(f, 1, 103);
	merge_put_switch(f, 1, 106, 5, 6);
	merge_put_switch(f, 3, 99, 7, 8);
	merge_put_migrate(f, 3, 102);
	merge_put_wakeup(f, 3, 110);
	merge_put_exit(f, 2, 101);
	merge_put_exit(f, 0, 109);
	merge_put_exit(f, 2, 107);
	assert_merge_round(f, MERGE_ALL,
			   "3:99s 0:100s 2:101l 3:102m 1:103w 0:104s 0:105s 1:106s 2:107l 0:109l "
			   "3:110w ");
	assert_merge_round(f, MERGE_ALL, "");
}

/* Intervals come at their end, from any ring. */
TEST(test_round_intervals)
{
	const struct rec_counters sample = {
		.head = { .ts_ns = 104, .size = sizeof(sample), .kind = REC_COUNTERS },
	};
	struct merge_rounds *f = *state;

	merge_put_softirq(f, 0, 10, 103);
	merge_put_softirq(f, 0, 105, 106);
	merge_put_switch(f, 0, 100, 1, 2);
	merge_put_switch(f, 0, 106, 2, 1);
	merge_put_work(f, 1, 1, 105);
	merge_put_exit(f, 1, 102); /* of another ring than the work item before it */
	assert_int_equal(merge_add(f->merge, &sample.head), 0);
	assert_merge_round(f, 105, "0:100s 1:102l 0:10i 0:104l 1:105l ");
	assert_merge_round(f, MERGE_ALL, "0:105i 0:106s ");
}

/* Only records up to the horizon; the others come later. */
TEST(test_round_horizon)
{
	struct merge_rounds *f = *state;

	merge_put_switch(f, 0, 100, 1, 2);
	merge_put_switch(f, 0, 200, 2, 1);
	merge_put_switch(f, 1, 150, 5, 6);
	merge_put_exit(f, 1, 151);
	assert_merge_round(f, 99, "");
	assert_merge_round(f, 100, "0:100s ");
	assert_merge_round(f, 150, "1:150s ");
	merge_put_wakeup(f, 1, 199);
	merge_put_exit(f, 0, 120); /* late */
	assert_merge_round(f, 200, "0:120l 1:151l 1:199w 0:200s ");
}

/* A record that is late in its own ring keeps its place there. */
TEST(test_round_late_record)
{
	struct merge_rounds *f = *state;

	merge_put_switch(f, 0, 200, 1, 2);
	merge_put_switch(f, 0, 150, 2, 3);
	merge_put_switch(f, 0, 210, 3, 4);
	merge_put_switch(f, 1, 180, 5, 6);
	merge_put_switch(f, 1, 205, 6, 5);
	assert_merge_round(f, MERGE_ALL, "1:180s 0:200s 0:150s 1:205s 0:210s ");
}

/* ---- ties ---- */

TEST(test_round_ties_of_kinds)
{
	struct merge_rounds *f = *state;

	merge_put_switch(f, 0, 100, 1, 2);
	merge_put_wakeup(f, 1, 100);
	merge_put_exit(f, 3, 100);
	merge_put_switch(f, 2, 100, 3, 4);
	f->used = 0;
	assert_int_equal(merge_rounds_do(f, 100), 0);
	assert_memory_equal(f->log, "3:100l 1:100w ", 14);
	assert_int_equal(f->n, 4);
}

/* A thread is switched out before it is switched in elsewhere, whatever the order of rings. */
TEST(test_round_ties_off_before_on)
{
	struct merge_rounds *f = *state;

	merge_put_switch(f, 0, 100, 9, 2); /* in */
	merge_put_switch(f, 1, 100, 2, 0); /* out */
	assert_merge_round(f, MERGE_ALL, "1:100s 0:100s ");
	merge_put_switch(f, 0, 200, 2, 0);
	merge_put_switch(f, 1, 200, 9, 2);
	assert_merge_round(f, MERGE_ALL, "0:200s 1:200s ");
	/* The idle thread is on many CPUs at once. */
	merge_put_switch(f, 0, 300, 1, 0);
	merge_put_switch(f, 1, 300, 0, 3);
	assert_merge_round(f, MERGE_ALL, "0:300s 1:300s ");
}

/* Also if another record of the same time is between them. */
TEST(test_round_ties_of_three)
{
	struct merge_rounds *f = *state;
	static const struct {
		unsigned on, other, off;
	} rows[] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t ts = 100 + i;
		char on[32], off[32];

		merge_put_switch(f, rows[i].on, ts, 9, 2);
		merge_put_switch(f, rows[i].other, ts, 7, 8);
		merge_put_switch(f, rows[i].off, ts, 2, 0);
		f->used = 0;
		assert_int_equal(merge_rounds_do(f, MERGE_ALL), 0);
		snprintf(on, sizeof(on), "%u:%lus ", rows[i].on, ts);
		snprintf(off, sizeof(off), "%u:%lus ", rows[i].off, ts);
		if (strstr(f->log, off) > strstr(f->log, on))
			fail_msg("on %u, other %u, off %u: %s", rows[i].on, rows[i].other,
				 rows[i].off, f->log);
	}
}

/* Zero is a time like any other. */
TEST(test_round_ties_at_zero)
{
	struct merge_rounds *f = *state;

	merge_put_exit(f, 0, 0);
	merge_put_exit(f, 1, 0);
	merge_put_switch(f, 1, 0, 1, 2);
	assert_merge_round(f, MERGE_ALL, "0:0l 1:0l 1:0s ");
}

/* ---- losses ---- */

/* Its begin and its end each have their places; records of other CPUs are in between. */
TEST(test_round_loss)
{
	struct merge_rounds *f = *state;

	merge_put_switch(f, 0, 100, 1, 2);
	merge_put_loss(f, 0, 110, 150, 7, 5);
	merge_put_switch(f, 0, 160, 5, 6);
	merge_put_switch(f, 1, 105, 3, 4);
	merge_put_switch(f, 1, 130, 4, 3);
	merge_put_switch(f, 1, 155, 3, 4);
	assert_merge_round(f, MERGE_ALL, "0:100s 1:105s 0:110(7 1:130s 0:150)5 1:155s 0:160s ");
}

TEST(test_round_loss_over_rounds)
{
	struct merge_rounds *f = *state;

	merge_put_loss(f, 0, 110, 150, 7, 5);
	merge_put_loss(f, 0, 160, 160, 1, 6);
	assert_merge_round(f, 109, "");
	assert_merge_round(f, 110, "0:110(7 ");
	assert_merge_round(f, 120, "");
	merge_put_wakeup(f, 2, 149);
	assert_merge_round(f, 159, "2:149w 0:150)5 ");
	assert_merge_round(f, 160, "0:160(1 0:160)6 ");
	assert_merge_round(f, MERGE_ALL, "");
}

/* ---- rings ---- */

/* Positions never wrap, and records extend into the slack; sizes that do not divide the ring. */
TEST(test_round_wrap)
{
	struct merge_rounds *f = *state;
	struct word_ring *ring = collector_ring(f->collector, CLASS_SCHED, 0);
	uint64_t ts = 1;

	for (unsigned round = 0; round < 500; round++) {
		char want[8192];
		size_t used = 0;

		/* Until it is full. */
		for (;; ts++) {
			uint64_t words[7] = { fxt_switch_header(7, 3, 0, 1), ts, 1, 2, 3, 4, ts };

			if (!fake_collector_put_words(f->collector, CLASS_SCHED, 0, words, 7))
				break;
			used += (size_t)snprintf(want + used, sizeof(want) - used, "0:%lus ", ts);
		}
		assert_true(ring->head - ring->tail > MERGE_ROUNDS_RING_BYTES - 7 * 8);
		assert_merge_round(f, MERGE_ALL, want);
		assert_int_equal(ring->head, ring->tail);
	}
	assert_true(ring->head > 100 * MERGE_ROUNDS_RING_BYTES);
}

/* Consumed records are freed, and only those. */
TEST(test_round_tail)
{
	struct merge_rounds *f = *state;
	struct word_ring *ring = collector_ring(f->collector, CLASS_SCHED, 0);

	merge_put_switch(f, 0, 100, 1, 2);
	merge_put_switch(f, 0, 200, 2, 1);
	assert_merge_round(f, 50, "");
	assert_int_equal(ring->tail, 0);
	assert_merge_round(f, 100, "0:100s ");
	assert_int_equal(ring->tail, 48);
	assert_merge_round(f, MERGE_ALL, "0:200s ");
	assert_int_equal(ring->tail, 96);
	merge_put_loss(f, 0, 300, 400, 1, 0);
	assert_merge_round(f, 300, "0:300(1 ");
	assert_int_equal(ring->tail, 96); /* still needed */
	assert_merge_round(f, 400, "0:400)0 ");
	assert_int_equal(ring->tail, 136);
}

TEST(test_round_malformed)
{
	static const uint64_t headers[] = {
		0,
		UINT64_MAX,
		0x0016547846040010,
		0x1000000000200068, /* another CPU's switch */
		0x10000000000ffff8, /* 4095 words */
	};

	for (size_t i = 0; i < ARRAY_SIZE(headers); i++) {
		const uint64_t words[6] = { headers[i], 150 };
		struct merge_rounds *f;

		merge_rounds_tear_down(state);
		assert_int_equal(merge_rounds_set_up(state), 0);
		f = *state;
		merge_put_switch(f, 0, 100, 1, 2);
		assert_true(fake_collector_put_words(f->collector, CLASS_SCHED, 0, words, 6));
		merge_put_switch(f, 1, 200, 1, 2);
		assert_int_equal(merge_rounds_do(f, MERGE_ALL), -EBADMSG);
		assert_int_equal(merge_rounds_do(f, MERGE_ALL), -EBADMSG); /* the error remains */
	}
}

/* A head that is not the end of a record: the rest is too short. */
TEST(test_round_bad_head)
{
	static const uint64_t heads[] = { 1, 7, 8, 40, 47 };

	for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
		struct merge_rounds *f;

		merge_rounds_tear_down(state);
		assert_int_equal(merge_rounds_set_up(state), 0);
		f = *state;
		merge_put_switch(f, 0, 100, 1, 2);
		collector_ring(f->collector, CLASS_SCHED, 0)->head = heads[i];
		assert_int_equal(merge_rounds_do(f, MERGE_ALL), -EBADMSG);
		assert_int_equal(f->n, 0);
	}
}

/* ---- ends of rounds ---- */

/* A sink can end the round after any record. The next round continues after it. */
TEST(test_round_stop_and_resume)
{
	static const char all[] =
		"0:100s 1:101l 0:110(7 1:120w 0:150)5 1:155l 0:160s 0:160w 2:170s ";

	for (size_t stop_at = 1; stop_at <= 9; stop_at++) {
		struct merge_rounds *f;

		merge_rounds_tear_down(state);
		assert_int_equal(merge_rounds_set_up(state), 0);
		f = *state;
		merge_put_switch(f, 0, 100, 1, 2);
		merge_put_loss(f, 0, 110, 150, 7, 5);
		merge_put_switch(f, 0, 160, 5, 6);
		merge_put_wakeup(f, 0, 160);
		merge_put_wakeup(f, 1, 120);
		merge_put_switch(f, 2, 170, 8, 9);
		merge_put_exit(f, 1, 101);
		merge_put_exit(f, 1, 155);
		f->stop_at = stop_at;
		f->stop_with = 3;
		assert_int_equal(merge_rounds_do(f, MERGE_ALL), 3);
		assert_int_equal(f->n, stop_at);
		f->stop_at = 0;
		assert_int_equal(merge_rounds_do(f, MERGE_ALL), 0);
		assert_string_equal(f->log, all);
		for (unsigned cpu = 0; cpu < MERGE_ROUNDS_CPUS; cpu++)
			assert_int_equal(collector_ring(f->collector, CLASS_SCHED, cpu)->tail,
					 collector_ring(f->collector, CLASS_SCHED, cpu)->head);
	}
}

/* One record a round. */
TEST(test_round_stop_each)
{
	struct merge_rounds *f = *state;

	merge_put_switch(f, 0, 100, 1, 2);
	merge_put_loss(f, 0, 110, 150, 7, 5);
	merge_put_wakeup(f, 1, 120);
	merge_put_exit(f, 1, 130);
	f->stop_at = 1;
	f->stop_with = 1;
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(merge_rounds_do(f, MERGE_ALL), 1);
	assert_int_equal(merge_rounds_do(f, MERGE_ALL), 0);
	assert_string_equal(f->log, "0:100s 0:110(7 1:120w 1:130l 0:150)5 ");
}

TEST(test_round_sink_fails)
{
	struct merge_rounds *f = *state;

	merge_put_switch(f, 0, 100, 1, 2);
	merge_put_switch(f, 0, 110, 2, 1);
	f->stop_at = 1;
	f->stop_with = -ENOSPC;
	assert_int_equal(merge_rounds_do(f, MERGE_ALL), -ENOSPC);
	assert_string_equal(f->log, "0:100s ");
}

/* ---- many ---- */

/*
 * Compared with sorting: all kinds in random pieces over many rounds, as fast as the rings allow.
 */
TEST(test_round_random)
{
	struct merge_rounds *f = *state;
	uint64_t random = 88172645463325252, ts = 1, last = 0;
	size_t put = 0, got = 0;

	for (unsigned round = 0; round < 2000; round++) {
		uint64_t horizon;

		for (unsigned i = 0; i < 30; i++) {
			unsigned cpu;

			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			cpu = random >> 10 & 3;
			ts += random >> 20 & 1;
			if (MERGE_ROUNDS_RING_BYTES -
				    (collector_ring(f->collector, CLASS_SCHED, cpu)->head -
				     collector_ring(f->collector, CLASS_SCHED, cpu)->tail) <
			    64)
				continue;
			switch (random >> 30 & 7) {
			case 0:
				merge_put_exit(f, cpu, ts);
				break;
			case 1:
			case 2:
				merge_put_wakeup(f, cpu, ts);
				break;
			case 3:
				merge_put_migrate(f, cpu, ts);
				break;
			default:
				merge_put_switch(f, cpu, ts, 1, 2);
			}
			put++;
		}
		horizon = round == 1999 ? MERGE_ALL : ts - (random >> 50 & 31);
		f->used = 0;
		*f->log = '\0';
		assert_int_equal(merge_rounds_do(f, horizon), 0);
		got += f->n;
		for (char *p = f->log; *p;) {
			uint64_t t = strtoull(strchr(p, ':') + 1, &p, 10);

			assert_true(t <= horizon);
			/*
			 * A record comes before one of an earlier round only if it was put later.
			 */
			assert_true(t >= last || t > horizon - 32);
			last = t;
			p += 2;
		}
	}
	assert_int_equal(got, put);
}

TEST(test_merge_free)
{
	assert_null(merge_free(NULL));
}

#define CASE(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, merge_rounds_set_up, merge_rounds_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_round_nothing),
		CASE(test_round_order),
		CASE(test_round_intervals),
		CASE(test_round_horizon),
		CASE(test_round_late_record),
		CASE(test_round_ties_of_kinds),
		CASE(test_round_ties_off_before_on),
		CASE(test_round_ties_of_three),
		CASE(test_round_ties_at_zero),
		CASE(test_round_loss),
		CASE(test_round_loss_over_rounds),
		CASE(test_round_wrap),
		CASE(test_round_tail),
		CASE(test_round_malformed),
		CASE(test_round_bad_head),
		CASE(test_round_stop_and_resume),
		CASE(test_round_stop_each),
		CASE(test_round_sink_fails),
		CASE(test_round_random),
		CASE(test_merge_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
