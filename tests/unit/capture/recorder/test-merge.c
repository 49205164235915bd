/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records are put into rings of plain memory (fake-collector.h); each record that the merge returns
 * is noted in a log, as "cpu:time" with its kind.
 */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "capture/recorder/merge.h"
#include "capture/proc/proc-records.h"
#include "tests/support/fakes/fake-collector.h"
#include "tests/support/unit.h"
#include "writer/fxt/fxt-names.h"
#include "writer/fxt/fxt-wire.h"

struct fixture {
	struct collector *collector;
	struct merge *merge;
	char log[65536];
	size_t used;
	size_t n;       /* records handed out */
	size_t stop_at; /* the N-th record of a round ends it; 0 = none */
	int stop_with;
};

__attribute__((format(printf, 2, 3))) static int note(struct fixture *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	f->used += (size_t)vsnprintf(f->log + f->used, sizeof(f->log) - f->used, format, args);
	va_end(args);
	assert_true(f->used < sizeof(f->log));
	f->n++;
	return f->stop_at && f->n == f->stop_at ? f->stop_with : 0;
}

static int on_words(const struct merge_ring *from, uint64_t *words, unsigned n_words,
		    void *userdata)
{
	unsigned type = (unsigned)fxt_get_record_type(words[0]);
	char kind = from->class != CLASS_SCHED                         ? 'i'
		    : type == FXT_RECORD_EVENT                         ? 'm'
		    : fxt_get_sched_type(words[0]) == FXT_SCHED_WAKEUP ? 'w'
								       : 's';

	assert_int_equal(fxt_get_record_words(words[0]), n_words);
	return note(userdata, "%u:%lu%c ", from->cpu, words[1], kind);
}

static int on_loss_begins(const struct merge_ring *from, const struct ring_lost *mark,
			  void *userdata)
{
	return note(userdata, "%u:%llu(%llu ", from->cpu, mark->first_ns, mark->count);
}

static int on_loss_ends(const struct merge_ring *from, const struct ring_lost *mark, void *userdata)
{
	return note(userdata, "%u:%llu)%u ", from->cpu, mark->last_ns, mark->tid);
}

static int on_lifecycle(const struct rec_head *rec, void *userdata)
{
	return note(userdata, "%u:%llul ", rec->cpu, rec->ts_ns);
}

enum { N_CPUS = 4, RING_BYTES = 1024 };

static void start(struct fixture *f, unsigned n_cpus, uint64_t ring_bytes)
{
	f->collector = fake_collector_new(n_cpus, ring_bytes);
	assert_int_equal(merge_new(f->collector, &f->merge), 0);
}

FIXTURE(set_up)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	start(f, N_CPUS, RING_BYTES);
	return 0;
}

FIXTURE(tear_down)
{
	struct fixture *f = *state;

	merge_free(f->merge);
	collector_free(f->collector);
	free(f);
	return 0;
}

static int do_round(struct fixture *f, uint64_t horizon_ns)
{
	const struct merge_sink sink = { on_words, on_loss_begins, on_loss_ends, on_lifecycle, f };

	f->n = 0;
	return merge_round(f->merge, horizon_ns, &sink);
}

/* Does a whole round, and compares its output. */
static void assert_round(struct fixture *f, uint64_t horizon_ns, const char *want)
{
	f->used = 0;
	*f->log = '\0';
	assert_int_equal(do_round(f, horizon_ns), 0);
	assert_string_equal(f->log, want);
}

/* ---- records ---- */

static void put_switch(struct fixture *f, unsigned cpu, uint64_t ts, uint32_t out, uint32_t in)
{
	const uint64_t words[6] = { fxt_switch_header(6, 2, cpu, FXT_STATE_BLOCKED), ts, out, in };

	assert_true(
		fake_collector_put_words(f->collector, CLASS_SCHED, cpu, words, ARRAY_SIZE(words)));
}

static void put_wakeup(struct fixture *f, unsigned cpu, uint64_t ts)
{
	const uint64_t words[4] = { fxt_wakeup_header(4, 1, 0), ts, 77 };

	assert_true(
		fake_collector_put_words(f->collector, CLASS_SCHED, cpu, words, ARRAY_SIZE(words)));
}

static void put_migrate(struct fixture *f, unsigned cpu, uint64_t ts)
{
	const uint64_t words[6] = { fxt_put_record_type(FXT_RECORD_EVENT) | fxt_put_record_words(6),
				    ts };

	assert_true(
		fake_collector_put_words(f->collector, CLASS_SCHED, cpu, words, ARRAY_SIZE(words)));
}

static void put_loss(struct fixture *f, unsigned cpu, uint64_t first, uint64_t last, uint64_t count,
		     uint32_t tid)
{
	const struct ring_lost mark = {
		.header = fxt_put_record_type(RING_RECORD_CONTROL) | fxt_put_record_words(5),
		.first_ns = first,
		.last_ns = last,
		.count = count,
		.tid = tid,
	};

	assert_true(fake_collector_put_words(f->collector, CLASS_SCHED, cpu,
					     (const uint64_t *)&mark, 5));
}

static void put_exit(struct fixture *f, unsigned cpu, uint64_t ts)
{
	const struct rec_exit rec = {
		.head = { .ts_ns = ts, .size = sizeof(rec), .kind = REC_EXIT, .cpu = (uint16_t)cpu }
	};

	fake_collector_put_record(f->collector, &rec, sizeof(rec));
}

/* A softirq, whose place is its end. */
static void put_softirq(struct fixture *f, unsigned cpu, uint64_t begin, uint64_t end)
{
	const uint64_t words[5] = {
		fxt_put_record_type(FXT_RECORD_EVENT) | fxt_put_record_words(5) |
			fxt_put_event_type(FXT_EVENT_DURATION_COMPLETE) |
			fxt_put_event_category(FXT_NAME_SOFTIRQ) |
			fxt_put_event_name(FXT_NAME_SOFTIRQ_TIMER),
		begin,
		FXT_KOID_SOFTIRQ,
		FXT_KOID_SOFTIRQ + 1 + cpu,
		end,
	};

	assert_true(fake_collector_put_words(f->collector, CLASS_SOFTIRQ, cpu, words, 5));
}

static void put_work(struct fixture *f, unsigned cpu, uint64_t begin, uint64_t end)
{
	const struct rec_work rec = {
		.head = { .ts_ns = end,
			  .size = sizeof(rec),
			  .kind = REC_WORK,
			  .cpu = (uint16_t)cpu },
		.begin_ns = begin,
	};

	fake_collector_put_record(f->collector, &rec, sizeof(rec));
}

/* ---- order ---- */

TEST(test_round_nothing)
{
	assert_round(*state, MERGE_ALL, "");
	assert_round(*state, MERGE_ALL, "");
}

TEST(test_round_order)
{
	struct fixture *f = *state;

	put_switch(f, 0, 100, 1, 2);
	put_switch(f, 0, 104, 2, 1);
	put_switch(f, 0, 105, 1, 2);
	put_wakeup(f, 1, 103);
	put_switch(f, 1, 106, 5, 6);
	put_switch(f, 3, 99, 7, 8);
	put_migrate(f, 3, 102);
	put_wakeup(f, 3, 110);
	put_exit(f, 2, 101);
	put_exit(f, 0, 109);
	put_exit(f, 2, 107);
	assert_round(f, MERGE_ALL,
		     "3:99s 0:100s 2:101l 3:102m 1:103w 0:104s 0:105s 1:106s 2:107l 0:109l "
		     "3:110w ");
	assert_round(f, MERGE_ALL, "");
}

/* Intervals come at their end, from any ring. */
TEST(test_round_intervals)
{
	const struct rec_counters sample = {
		.head = { .ts_ns = 104, .size = sizeof(sample), .kind = REC_COUNTERS },
	};
	struct fixture *f = *state;

	put_softirq(f, 0, 10, 103);
	put_softirq(f, 0, 105, 106);
	put_switch(f, 0, 100, 1, 2);
	put_switch(f, 0, 106, 2, 1);
	put_work(f, 1, 1, 105);
	put_exit(f, 1, 102); /* of another ring than the work item before it */
	assert_int_equal(merge_add(f->merge, &sample.head), 0);
	assert_round(f, 105, "0:100s 1:102l 0:10i 0:104l 1:105l ");
	assert_round(f, MERGE_ALL, "0:105i 0:106s ");
}

/* Only records up to the horizon; the others come later. */
TEST(test_round_horizon)
{
	struct fixture *f = *state;

	put_switch(f, 0, 100, 1, 2);
	put_switch(f, 0, 200, 2, 1);
	put_switch(f, 1, 150, 5, 6);
	put_exit(f, 1, 151);
	assert_round(f, 99, "");
	assert_round(f, 100, "0:100s ");
	assert_round(f, 150, "1:150s ");
	put_wakeup(f, 1, 199);
	put_exit(f, 0, 120); /* late */
	assert_round(f, 200, "0:120l 1:151l 1:199w 0:200s ");
}

/* A record that is late in its own ring keeps its place there. */
TEST(test_round_late_record)
{
	struct fixture *f = *state;

	put_switch(f, 0, 200, 1, 2);
	put_switch(f, 0, 150, 2, 3);
	put_switch(f, 0, 210, 3, 4);
	put_switch(f, 1, 180, 5, 6);
	put_switch(f, 1, 205, 6, 5);
	assert_round(f, MERGE_ALL, "1:180s 0:200s 0:150s 1:205s 0:210s ");
}

/* ---- ties ---- */

TEST(test_round_ties_of_kinds)
{
	struct fixture *f = *state;

	put_switch(f, 0, 100, 1, 2);
	put_wakeup(f, 1, 100);
	put_exit(f, 3, 100);
	put_switch(f, 2, 100, 3, 4);
	f->used = 0;
	assert_int_equal(do_round(f, 100), 0);
	assert_memory_equal(f->log, "3:100l 1:100w ", 14);
	assert_int_equal(f->n, 4);
}

/* A thread is switched out before it is switched in elsewhere, whatever the order of rings. */
TEST(test_round_ties_off_before_on)
{
	struct fixture *f = *state;

	put_switch(f, 0, 100, 9, 2); /* in */
	put_switch(f, 1, 100, 2, 0); /* out */
	assert_round(f, MERGE_ALL, "1:100s 0:100s ");
	put_switch(f, 0, 200, 2, 0);
	put_switch(f, 1, 200, 9, 2);
	assert_round(f, MERGE_ALL, "0:200s 1:200s ");
	/* The idle thread is on many CPUs at once. */
	put_switch(f, 0, 300, 1, 0);
	put_switch(f, 1, 300, 0, 3);
	assert_round(f, MERGE_ALL, "0:300s 1:300s ");
}

/* Also if another record of the same time is between them. */
TEST(test_round_ties_of_three)
{
	struct fixture *f = *state;
	static const struct {
		unsigned on, other, off;
	} rows[] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t ts = 100 + i;
		char on[32], off[32];

		put_switch(f, rows[i].on, ts, 9, 2);
		put_switch(f, rows[i].other, ts, 7, 8);
		put_switch(f, rows[i].off, ts, 2, 0);
		f->used = 0;
		assert_int_equal(do_round(f, MERGE_ALL), 0);
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
	struct fixture *f = *state;

	put_exit(f, 0, 0);
	put_exit(f, 1, 0);
	put_switch(f, 1, 0, 1, 2);
	assert_round(f, MERGE_ALL, "0:0l 1:0l 1:0s ");
}

/* ---- losses ---- */

/* Its begin and its end each have their places; records of other CPUs are in between. */
TEST(test_round_loss)
{
	struct fixture *f = *state;

	put_switch(f, 0, 100, 1, 2);
	put_loss(f, 0, 110, 150, 7, 5);
	put_switch(f, 0, 160, 5, 6);
	put_switch(f, 1, 105, 3, 4);
	put_switch(f, 1, 130, 4, 3);
	put_switch(f, 1, 155, 3, 4);
	assert_round(f, MERGE_ALL, "0:100s 1:105s 0:110(7 1:130s 0:150)5 1:155s 0:160s ");
}

TEST(test_round_loss_over_rounds)
{
	struct fixture *f = *state;

	put_loss(f, 0, 110, 150, 7, 5);
	put_loss(f, 0, 160, 160, 1, 6);
	assert_round(f, 109, "");
	assert_round(f, 110, "0:110(7 ");
	assert_round(f, 120, "");
	put_wakeup(f, 2, 149);
	assert_round(f, 159, "2:149w 0:150)5 ");
	assert_round(f, 160, "0:160(1 0:160)6 ");
	assert_round(f, MERGE_ALL, "");
}

/* ---- rings ---- */

/* Positions never wrap, and records extend into the slack; sizes that do not divide the ring. */
TEST(test_round_wrap)
{
	struct fixture *f = *state;
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
		assert_true(ring->head - ring->tail > RING_BYTES - 7 * 8);
		assert_round(f, MERGE_ALL, want);
		assert_int_equal(ring->head, ring->tail);
	}
	assert_true(ring->head > 100 * RING_BYTES);
}

/* Consumed records are freed, and only those. */
TEST(test_round_tail)
{
	struct fixture *f = *state;
	struct word_ring *ring = collector_ring(f->collector, CLASS_SCHED, 0);

	put_switch(f, 0, 100, 1, 2);
	put_switch(f, 0, 200, 2, 1);
	assert_round(f, 50, "");
	assert_int_equal(ring->tail, 0);
	assert_round(f, 100, "0:100s ");
	assert_int_equal(ring->tail, 48);
	assert_round(f, MERGE_ALL, "0:200s ");
	assert_int_equal(ring->tail, 96);
	put_loss(f, 0, 300, 400, 1, 0);
	assert_round(f, 300, "0:300(1 ");
	assert_int_equal(ring->tail, 96); /* still needed */
	assert_round(f, 400, "0:400)0 ");
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
		struct fixture *f;

		tear_down(state);
		assert_int_equal(set_up(state), 0);
		f = *state;
		put_switch(f, 0, 100, 1, 2);
		assert_true(fake_collector_put_words(f->collector, CLASS_SCHED, 0, words, 6));
		put_switch(f, 1, 200, 1, 2);
		assert_int_equal(do_round(f, MERGE_ALL), -EBADMSG);
		assert_int_equal(do_round(f, MERGE_ALL), -EBADMSG); /* the error remains */
	}
}

/* A head that is not the end of a record: the rest is too short. */
TEST(test_round_bad_head)
{
	static const uint64_t heads[] = { 1, 7, 8, 40, 47 };

	for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
		struct fixture *f;

		tear_down(state);
		assert_int_equal(set_up(state), 0);
		f = *state;
		put_switch(f, 0, 100, 1, 2);
		collector_ring(f->collector, CLASS_SCHED, 0)->head = heads[i];
		assert_int_equal(do_round(f, MERGE_ALL), -EBADMSG);
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
		struct fixture *f;

		tear_down(state);
		assert_int_equal(set_up(state), 0);
		f = *state;
		put_switch(f, 0, 100, 1, 2);
		put_loss(f, 0, 110, 150, 7, 5);
		put_switch(f, 0, 160, 5, 6);
		put_wakeup(f, 0, 160);
		put_wakeup(f, 1, 120);
		put_switch(f, 2, 170, 8, 9);
		put_exit(f, 1, 101);
		put_exit(f, 1, 155);
		f->stop_at = stop_at;
		f->stop_with = 3;
		assert_int_equal(do_round(f, MERGE_ALL), 3);
		assert_int_equal(f->n, stop_at);
		f->stop_at = 0;
		assert_int_equal(do_round(f, MERGE_ALL), 0);
		assert_string_equal(f->log, all);
		for (unsigned cpu = 0; cpu < N_CPUS; cpu++)
			assert_int_equal(collector_ring(f->collector, CLASS_SCHED, cpu)->tail,
					 collector_ring(f->collector, CLASS_SCHED, cpu)->head);
	}
}

/* One record a round. */
TEST(test_round_stop_each)
{
	struct fixture *f = *state;

	put_switch(f, 0, 100, 1, 2);
	put_loss(f, 0, 110, 150, 7, 5);
	put_wakeup(f, 1, 120);
	put_exit(f, 1, 130);
	f->stop_at = 1;
	f->stop_with = 1;
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(do_round(f, MERGE_ALL), 1);
	assert_int_equal(do_round(f, MERGE_ALL), 0);
	assert_string_equal(f->log, "0:100s 0:110(7 1:120w 1:130l 0:150)5 ");
}

TEST(test_round_sink_fails)
{
	struct fixture *f = *state;

	put_switch(f, 0, 100, 1, 2);
	put_switch(f, 0, 110, 2, 1);
	f->stop_at = 1;
	f->stop_with = -ENOSPC;
	assert_int_equal(do_round(f, MERGE_ALL), -ENOSPC);
	assert_string_equal(f->log, "0:100s ");
}

/* ---- many ---- */

/*
 * Compared with sorting: all kinds in random pieces over many rounds, as fast as the rings allow.
 */
TEST(test_round_random)
{
	struct fixture *f = *state;
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
			if (RING_BYTES - (collector_ring(f->collector, CLASS_SCHED, cpu)->head -
					  collector_ring(f->collector, CLASS_SCHED, cpu)->tail) <
			    64)
				continue;
			switch (random >> 30 & 7) {
			case 0:
				put_exit(f, cpu, ts);
				break;
			case 1:
			case 2:
				put_wakeup(f, cpu, ts);
				break;
			case 3:
				put_migrate(f, cpu, ts);
				break;
			default:
				put_switch(f, cpu, ts, 1, 2);
			}
			put++;
		}
		horizon = round == 1999 ? MERGE_ALL : ts - (random >> 50 & 31);
		f->used = 0;
		*f->log = '\0';
		assert_int_equal(do_round(f, horizon), 0);
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

/* ---- lifecycle ---- */

/* Waiting records are kept in the order of their CPU, whatever their sizes. */
TEST(test_lifecycle_queue)
{
	struct fixture *f = *state;
	struct rec_exec exec = { .head = { .size = sizeof(exec), .kind = REC_EXEC, .cpu = 2 } };

	for (uint64_t ts = 1; ts <= 1000; ts++) {
		char want[32];

		exec.head.ts_ns = 2 * ts;
		fake_collector_put_record(f->collector, &exec, sizeof(exec));
		put_exit(f, 2, 2 * ts + 1);
		snprintf(want, sizeof(want), "2:%lul ", ts);
		assert_round(f, ts, ts == 1 ? "" : want);
		assert_int_equal(fake_collector_n_records(f->collector), 0);
	}
}

/* Each ring has its own queue: if one is drained after another, its records are newer. */
TEST(test_lifecycle_before_later_rings)
{
	struct fixture *f = *state;

	for (uint16_t kind = 0; kind < REC_KINDS; kind++) {
		const struct rec_head rec = {
			.ts_ns = 20, .size = sizeof(rec), .kind = kind, .cpu = 2
		};

		if (rec_kind_ring(kind) == REC_RING_LIFECYCLE)
			continue;
		put_exit(f, 2, 5);
		fake_collector_put_record(f->collector, &rec, sizeof(rec));
		assert_round(f, 4, "");
		put_exit(f, 2, 10);
		assert_round(f, 20, "2:5l 2:10l 2:20l ");
	}
}

/* All rings are drained before the first record is passed on, however much they contain. */
TEST(test_full_rings)
{
	enum { CALLS = 500, CALL_BYTES = 64 << 10 };
	struct fixture *f = *state;
	_cleanup_free_ struct rec_head *call = calloc(1, CALL_BYTES);

	assert_non_null(call);
	merge_free(f->merge);
	fake_collector_set_records_bytes(f->collector, (uint64_t)CALLS * CALL_BYTES);
	assert_int_equal(merge_new(f->collector, &f->merge), 0);
	*call = (struct rec_head){ .size = CALL_BYTES, .kind = REC_CALL };
	for (uint64_t ts = 1; ts <= CALLS; ts++) {
		call->ts_ns = 10 * ts;
		fake_collector_put_record(f->collector, call, CALL_BYTES);
	}
	put_exit(f, 2, 15);
	assert_round(f, 25, "0:10l 2:15l 0:20l ");
	assert_int_equal(fake_collector_n_records(f->collector), 0);
	assert_int_equal(do_round(f, 10 * CALLS), 0);
	assert_int_equal(f->n, CALLS - 2);
}

/* Bytes on the heap. With a sanitizer, its allocator is asked. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static size_t heap_bytes(void)
{
	return __sanitizer_get_current_allocated_bytes ? __sanitizer_get_current_allocated_bytes()
						       : mallinfo2().uordblks;
}

/* A queue that is never empty does not grow with time. */
TEST(test_lifecycle_queue_bounded)
{
	struct fixture *f = *state;
	size_t before = 0;

	for (uint64_t ts = 1; ts <= 20000; ts++) {
		put_exit(f, 2, ts);
		f->used = 0;
		assert_int_equal(do_round(f, ts - 1), 0);
		if (ts == 1000)
			before = heap_bytes();
	}
	assert_true(heap_bytes() < before + 65536);
}

/* ---- looking ahead ---- */

TEST(test_peek_switch)
{
	struct fixture *f = *state;
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

	put_wakeup(f, 0, 90);
	put_switch(f, 0, 100, 1, 2);
	put_migrate(f, 0, 110);
	put_switch(f, 0, 120, 2, 3);
	put_loss(f, 0, 130, 140, 1, 4);
	put_switch(f, 0, 150, 4, 5);
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
	assert_round(f, MERGE_ALL, "0:90w 0:100s 0:110m 0:120s 0:130(1 0:140)4 0:150s ");
	assert_int_equal(merge_peek_switch(f->merge, 0, 0, 300, &(struct merge_switch){ 0 }),
			 MERGE_PEEK_NOTHING);
}

TEST(test_peek_switch_prio)
{
	struct fixture *f = *state;
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
	struct fixture *f = *state;
	const uint64_t words[6] = { 0 };
	struct merge_switch sw;

	assert_true(fake_collector_put_words(f->collector, CLASS_SCHED, 1, words, 6));
	put_switch(f, 1, 100, 1, 2);
	assert_int_equal(merge_peek_switch(f->merge, 1, 0, 100, &sw), MERGE_PEEK_NOTHING);
}

TEST(test_merge_free)
{
	assert_null(merge_free(NULL));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

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
		CASE(test_lifecycle_queue),
		CASE(test_full_rings),
		CASE(test_lifecycle_queue_bounded),
		CASE(test_lifecycle_before_later_rings),
		CASE(test_peek_switch),
		CASE(test_peek_switch_prio),
		CASE(test_peek_switch_malformed),
		CASE(test_merge_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
