/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of every kind from BPF ring buffers, through the merge.
 */
#include <stdlib.h>

#include "capture/recorder/merge.h"
#include "tests/support/fakes/fake-collector.h"
#include "tests/support/unit.h"

struct fixture {
	struct collector *collector;
	struct merge *merge;
	uint64_t last_ns; /* the time of the last record */
	size_t n;         /* records handed out */
};

FIXTURE(set_up)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	f->collector = fake_collector_new(2, 1024);
	assert_int_equal(merge_new(f->collector, &f->merge), 0);
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

/* Each kind, with the ring that its records come from; not those of REC_RING_NONE. */
static const struct {
	uint16_t kind;
	uint16_t ring;
} ring_kinds[] = {
#define RING_KIND(KIND, ...) { REC_##KIND, REC_##KIND##_RING },
	REC_PROGRAM_KINDS(RING_KIND) REC_USER_KINDS(RING_KIND)
#undef RING_KIND
};

/* Puts a record of the kind in row I at TS_NS; rows after the last are losses of a ring. */
static void put_kind(struct fixture *f, size_t i, uint64_t ts_ns)
{
	struct rec_lost lost = { .head = { .ts_ns = ts_ns, .size = sizeof(lost) } };

	lost.head.kind = i < ARRAY_SIZE(ring_kinds) ? ring_kinds[i].kind : REC_LOST;
	if (i >= ARRAY_SIZE(ring_kinds))
		lost.ring = (uint32_t)(i - ARRAY_SIZE(ring_kinds));
	fake_collector_put_record(f->collector, &lost, sizeof(lost));
}

static int on_kind(const struct rec_head *rec, void *userdata)
{
	struct fixture *f = userdata;

	assert_true(rec->ts_ns >= f->last_ns);
	f->last_ns = rec->ts_ns;
	f->n++;
	return 0;
}

/*
 * Rings are drained one after the other, and each is in order. A record in the queue of another
 * ring would be followed by older ones.
 */
TEST(test_every_kind_in_order)
{
	struct fixture *f = *state;
	const struct merge_sink sink = { .record = on_kind, .userdata = f };
	uint64_t random = 88172645463325252;
	size_t n_kinds = ARRAY_SIZE(ring_kinds) + REC_RINGS;

	for (unsigned round = 0; round < 200; round++) {
		f->last_ns = f->n = 0;
		for (unsigned n = 0; n < REC_SOURCES; n++) {
			/* (the rings in another order each time) */
			unsigned ring =
				((round & 1 ? REC_SOURCES - 1 - n : n) + round / 2) % REC_SOURCES;

			for (uint64_t ts_ns = 1; ts_ns < 20 * n_kinds; ts_ns++) {
				size_t i;

				random ^= random << 13;
				random ^= random >> 7;
				random ^= random << 17;
				i = random % n_kinds;
				if (ring == (i < ARRAY_SIZE(ring_kinds)
						     ? ring_kinds[i].ring
						     : i - ARRAY_SIZE(ring_kinds)))
					put_kind(f, i, ts_ns);
			}
		}
		assert_int_equal(merge_round(f->merge, UINT64_MAX - 1, &sink), 0);
		assert_in_range(f->n, n_kinds, 20 * n_kinds * REC_SOURCES);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_every_kind_in_order, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
