/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/session/chunks.h"
#include "tests/support/unit.h"

#define SECOND UINT64_C(1000000000)
#define MB     UINT64_C(1000000)

static const struct output_status nothing = { 0 };

static void begin(struct chunks *c, uint64_t ns, uint64_t head_bytes)
{
	chunks_begin(c, &(struct chunk_begin){ .ns = ns, .cpu_ns = 7 }, 0);
	chunks_add(c, STORE_HEAD, head_bytes);
}

TEST(test_bytes)
{
	struct chunks c = { 0 };

	begin(&c, 1 * SECOND, 10);
	chunks_add(&c, STORE_BODY, 100);
	chunks_add(&c, STORE_TAIL, 5);
	assert_int_equal(c.bytes, 115);
	begin(&c, 2 * SECOND, 20);
	chunks_add(&c, STORE_BODY, 300);
	assert_int_equal(c.n, 2);
	assert_int_equal(c.bytes, 320);
	assert_int_equal(c.body_bytes, 400);
	assert_int_equal(c.all_bytes, 435);
	assert_int_equal(chunks_now(&c)->head_bytes, 20);
	assert_int_equal(chunks_now(&c)->cpu_ns, 7);
	/* An archive of both has one head, and no tail in between. */
	assert_int_equal(chunks_bytes_since(&c, chunks_now(&c)), 320);
	assert_int_equal(chunks_bytes_since(&c, chunks_begun(&c, 0)), 410);
}

/* Chunks from too long ago are unknown, and so are those that have not begun. */
TEST(test_begun)
{
	struct chunks c = { 0 };

	for (uint64_t i = 0; i < FLIGHT_CHUNKS_MAX + 2; i++)
		begin(&c, (i + 1) * SECOND, 1);
	assert_int_equal(chunks_begun(&c, 2)->ns, 3 * SECOND);
	assert_int_equal(chunks_begun(&c, FLIGHT_CHUNKS_MAX)->ns, (FLIGHT_CHUNKS_MAX + 1) * SECOND);
	assert_ptr_equal(chunks_begun(&c, 1), chunks_now(&c));
	assert_ptr_equal(chunks_begun(&c, FLIGHT_CHUNKS_MAX + 2), chunks_now(&c));
	assert_ptr_equal(chunks_begun(&c, UINT64_MAX), chunks_now(&c));
}

TEST(test_due_by_time)
{
	const struct session_options o = { .rotate_ns = 10 * SECOND };
	struct chunks c = { 0 };

	begin(&c, 100 * SECOND, 1000);
	assert_false(chunks_due(&c, &o, &nothing, 110 * SECOND - 1));
	assert_true(chunks_due(&c, &o, &nothing, 110 * SECOND));
	/* A requested chunk, unless no time has passed. */
	c.wanted = true;
	assert_true(chunks_due(&c, &o, &nothing, 100 * SECOND + 1));
	assert_false(chunks_due(&c, &o, &nothing, 100 * SECOND));
	assert_false(chunks_due(&c, &o, &nothing, 99 * SECOND));
	begin(&c, 101 * SECOND, 1000);
	assert_false(chunks_due(&c, &o, &nothing, 102 * SECOND));
}

TEST(test_due_by_bytes)
{
	const struct session_options o = { .rotate_bytes = 4 * MB };
	const struct session_options packed = { .rotate_bytes = 4 * MB, .compress = PACK_ZSTD };
	const struct output_status quarter = { .bytes = MB };
	struct chunks c = { 0 };

	begin(&c, SECOND, MB);
	chunks_add(&c, STORE_BODY, 3 * MB - 1);
	assert_false(chunks_due(&c, &o, &nothing, 2 * SECOND));
	chunks_add(&c, STORE_BODY, 1);
	assert_true(chunks_due(&c, &o, &nothing, 2 * SECOND));
	/* The compression of the earlier chunks is expected for it, too. */
	assert_false(chunks_due(&c, &packed, &quarter, 2 * SECOND));
	/* A chunk that consists mostly of its head continues. */
	begin(&c, 2 * SECOND, 4 * MB);
	chunks_add(&c, STORE_BODY, 3 * MB);
	assert_false(chunks_due(&c, &o, &nothing, 3 * SECOND));
	chunks_add(&c, STORE_BODY, MB);
	assert_true(chunks_due(&c, &o, &nothing, 3 * SECOND));
}

TEST(test_due_in_flight)
{
	const struct session_options o = {
		.mode = SESSION_FLIGHT,
		.flight_bytes = 80 * MB,
		.flight_ns = 80 * SECOND,
	};
	const struct output_status full = { .dropped = 1, .head_bytes = 1 };
	const struct output_status headless = { .dropped = 1 };
	const struct output_status cramped = { .limit = 8 * MB, .limit_known = true };
	const struct output_status no_room = { .limit_known = true };
	struct chunks c = { 0 };

	/* An eighth of the kept data, */
	begin(&c, SECOND, MB);
	chunks_add(&c, STORE_BODY, 9 * MB - 1);
	assert_false(chunks_due(&c, &o, &nothing, 10 * SECOND));
	assert_true(chunks_due(&c, &o, &nothing, 11 * SECOND));
	chunks_add(&c, STORE_BODY, 1);
	assert_true(chunks_due(&c, &o, &nothing, 10 * SECOND));
	/* or of the data that may be kept by now, */
	begin(&c, SECOND, 100);
	chunks_add(&c, STORE_BODY, MB - 101);
	assert_false(chunks_due(&c, &o, &cramped, 2 * SECOND));
	chunks_add(&c, STORE_BODY, 1);
	assert_true(chunks_due(&c, &o, &cramped, 2 * SECOND));
	/* or half of it, with few events; */
	begin(&c, 100 * SECOND, 9 * MB);
	chunks_add(&c, STORE_BODY, 8 * MB);
	assert_false(chunks_due(&c, &o, &nothing, 140 * SECOND - 1));
	assert_true(chunks_due(&c, &o, &nothing, 140 * SECOND));
	/* at once if there is no room. */
	assert_true(chunks_due(&c, &o, &full, 101 * SECOND));
	/* (not at once if there was no room for the head, or none at all) */
	assert_false(chunks_due(&c, &o, &headless, 101 * SECOND - 1));
	assert_true(chunks_due(&c, &o, &headless, 101 * SECOND));
	assert_false(chunks_due(&c, &o, &no_room, 101 * SECOND - 1));
	assert_true(chunks_due(&c, &o, &no_room, 101 * SECOND));
	chunks_begin(&c, &(struct chunk_begin){ .ns = 101 * SECOND }, full.dropped);
	assert_false(chunks_due(&c, &o, &full, 102 * SECOND));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),         cmocka_unit_test(test_begun),
		cmocka_unit_test(test_due_by_time),   cmocka_unit_test(test_due_by_bytes),
		cmocka_unit_test(test_due_in_flight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
