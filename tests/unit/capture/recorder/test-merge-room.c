/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of the queues of a merge.
 */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "capture/recorder/merge.h"
#include "tests/support/fakes/fake-collector.h"
#include "tests/support/unit.h"

enum { BYTES = 64 << 10 }; /* of a record */

struct fixture {
	struct collector *collector;
	struct merge *merge;
	struct rec_head *rec;       /* of BYTES */
	uint64_t first_ns, last_ns; /* the times of the records of a round */
	size_t n;                   /* of these records */
};

FIXTURE(set_up)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	f->rec = calloc(1, BYTES);
	assert_non_null(f->rec);
	f->collector = fake_collector_new(2, 1024);
	assert_int_equal(merge_new(f->collector, &f->merge), 0);
	return 0;
}

FIXTURE(tear_down)
{
	struct fixture *f = *state;

	merge_free(f->merge);
	collector_free(f->collector);
	free(f->rec);
	free(f);
	return 0;
}

static void put_call(struct fixture *f, uint64_t ts_ns)
{
	*f->rec = (struct rec_head){ .ts_ns = ts_ns, .size = BYTES, .kind = REC_CALL };
	fake_collector_put_record(f->collector, f->rec, BYTES);
}

static int on_record(const struct rec_head *rec, void *userdata)
{
	struct fixture *f = userdata;

	if (f->n++ == 0)
		f->first_ns = rec->ts_ns;
	assert_true(rec->ts_ns >= f->last_ns);
	f->last_ns = rec->ts_ns;
	return 0;
}

/* Does a round, whose records have the times from FIRST_NS to LAST_NS. */
static void assert_times(struct fixture *f, uint64_t horizon_ns, uint64_t first_ns,
			 uint64_t last_ns)
{
	const struct merge_sink sink = { .record = on_record, .userdata = f };

	f->n = 0;
	assert_int_equal(merge_round(f->merge, horizon_ns, &sink), 0);
	assert_true(f->n > 0);
	assert_int_equal(f->first_ns, first_ns);
	assert_int_equal(f->last_ns, last_ns);
}

/* Added records have a limit of their own: those in rings are drained, in order, all the same. */
TEST(test_added_records)
{
	struct fixture *f = *state;
	size_t n = 0;
	int r;

	*f->rec = (struct rec_head){ .ts_ns = 30, .size = BYTES, .kind = REC_COUNTERS };
	while ((r = merge_add(f->merge, f->rec)) == 0)
		n++;
	assert_int_equal(r, -ENOBUFS);
	assert_int_equal(n, MERGE_SPARE_BYTES / BYTES + 1);
	put_call(f, 15);
	put_call(f, 20);
	assert_times(f, 25, 15, 20);
	assert_int_equal(fake_collector_n_records(f->collector), 0);
	assert_times(f, MERGE_ALL, 30, 30);
	assert_int_equal(f->n, n);
	assert_int_equal(merge_add(f->merge, f->rec), 0);
}

/* Bytes on the heap. With a sanitizer, its allocator is asked. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static size_t heap_bytes(void)
{
	struct mallinfo2 info;

	if (__sanitizer_get_current_allocated_bytes)
		return __sanitizer_get_current_allocated_bytes();
	info = mallinfo2();
	return info.uordblks + info.hblkhd;
}

/* A queue that is never empty does not keep the memory of its longest time. */
TEST(test_queue_shrinks)
{
	enum { CALLS = 128 };
	struct fixture *f = *state;
	size_t before = heap_bytes();

	for (uint64_t ts = 1; ts <= CALLS; ts++)
		put_call(f, ts);
	assert_times(f, 1, 1, 1);
	assert_true(heap_bytes() > before + (size_t)(CALLS - 1) * BYTES);
	assert_times(f, CALLS - 2, 2, CALLS - 2);
	assert_true(heap_bytes() < before + (2 << 20));
	assert_times(f, MERGE_ALL, CALLS - 1, CALLS);
	/* An empty queue keeps little memory. */
	assert_true(heap_bytes() < before + (1 << 20) + BYTES);
}

/* All queues together keep at most as much memory as counts, with few records or none. */
TEST(test_many_queues)
{
	enum { CPUS = 64, CALLS = 200, CALL_BYTES = 4096 };
	struct fixture *f = *state;
	uint64_t ts = 0, first = 1;
	size_t before;

	merge_free(f->merge);
	collector_free(f->collector);
	f->collector = fake_collector_new(CPUS, 1024);
	assert_int_equal(merge_new(f->collector, &f->merge), 0);
	before = heap_bytes();
	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		for (unsigned i = 0; i < CALLS; i++) {
			*f->rec = (struct rec_head){ .ts_ns = ++ts,
						     .size = CALL_BYTES,
						     .kind = REC_CALL,
						     .cpu = (uint16_t)cpu };
			fake_collector_put_record(f->collector, f->rec, CALL_BYTES);
		}
		assert_times(f, ts - 1, first, ts - 1);
		first = ts;
	}
	assert_true(heap_bytes() < before + MERGE_SPARE_BYTES);
}

/*
 * Random rings whose queues are full most of the time, since rounds end early, as they do with a
 * slow output.
 */
enum { RINGS = 4, ROUND_RECORDS = 300, AHEAD_NS = 700 };

/* The rings have these kinds; each ring has the records of one CPU. */
static const uint16_t ring_kinds[RINGS] = { REC_CALL, REC_EXIT, REC_TRACEPOINT, REC_CALL };

struct shuffle {
	uint64_t last_ns;
	size_t n_put, n_taken, until_stop;
};

/* Counts a record. Its time is its number, so no record is missing, late or there twice. */
static int on_shuffled(const struct rec_head *rec, void *userdata)
{
	struct shuffle *s = userdata;

	assert_int_equal(rec->ts_ns, s->last_ns + 1);
	s->last_ns = rec->ts_ns;
	s->n_taken++;
	return s->until_stop-- == 0;
}

/*
 * Puts records with the times up to TO_NS into random rings, one ring after another. At the end of
 * a time, no ring has an older record that is not there yet.
 */
static void put_shuffled(struct fixture *f, struct shuffle *s, uint64_t to_ns)
{
	static uint8_t ring_of[ROUND_RECORDS + AHEAD_NS];
	uint64_t from_ns = s->n_put + 1;

	assert_true(to_ns - s->n_put <= ARRAY_SIZE(ring_of));
	for (uint64_t ts = from_ns; ts <= to_ns; ts++)
		ring_of[ts - from_ns] = (uint8_t)(rand() % RINGS);
	for (unsigned i = 0; i < RINGS; i++)
		for (uint64_t ts = from_ns; ts <= to_ns; ts++) {
			if (ring_of[ts - from_ns] != i)
				continue;
			*f->rec = (struct rec_head){ .ts_ns = ts,
						     .size = BYTES,
						     .kind = ring_kinds[i],
						     .cpu = (uint16_t)(i == 3) };
			fake_collector_put_record(f->collector, f->rec, BYTES);
		}
	s->n_put = to_ns;
}

/* With full queues, records are delivered in order, each once, and the memory is bounded. */
TEST(test_full_queues)
{
	enum { ROUNDS = 30 };
	struct fixture *f = *state;
	struct shuffle s = { 0 };
	const struct merge_sink sink = { .record = on_shuffled, .userdata = &s };
	size_t before = heap_bytes(), copies;
	uint64_t horizon_ns = 0;

	srand(1);
	for (unsigned i = 0; i < ROUNDS; i++) {
		int r;

		/* A stalled output takes a few records in each round, for some rounds. */
		s.until_stop = i % 10 < 5 ? 20 : SIZE_MAX;
		horizon_ns += ROUND_RECORDS;
		if (horizon_ns > s.n_put)
			put_shuffled(f, &s, horizon_ns + (uint64_t)(rand() % AHEAD_NS));
		r = merge_round(f->merge, horizon_ns, &sink);
		assert_true(r == 0 ? s.last_ns == horizon_ns : s.until_stop == SIZE_MAX);
		copies = heap_bytes() - before - fake_collector_n_records(f->collector) * BYTES;
		/* The rest of a slow round, the content of all rings, and room to grow. */
		assert_true(copies < 3 * MERGE_SPARE_BYTES);
	}
	/* The end, with a slow output, too. */
	s.until_stop = 20;
	while (merge_round(f->merge, MERGE_ALL, &sink) > 0)
		s.until_stop = 20;
	assert_int_equal(s.n_taken, s.n_put);
	assert_int_equal(fake_collector_n_records(f->collector), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_added_records),
		CASE(test_queue_shrinks),
		CASE(test_many_queues),
		CASE(test_full_queues),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
