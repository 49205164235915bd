/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sessions of a program, which those of several users share, and the memory of buffers.
 */
#include <errno.h>

#include "capture/providers/provider-seats.h"
#include "tests/support/unit.h"

static struct provider_seats seats;

static bool answer(enum provider_message_kind kind, uint64_t session, int error)
{
	const struct provider_packet packet = { .kind = kind, .session = session, .error = error };

	if (!provider_seats_expect(&seats, &packet))
		return false;
	provider_seats_answer(&seats, &packet);
	return true;
}

TEST(one_user_leaves_room)
{
	seats = (struct provider_seats){ 0 };
	for (uint64_t i = 1; i <= PROVIDER_SEATS / 2; i++)
		assert_non_null(provider_seats_take(&seats, i, 1000));
	assert_false(provider_seats_have_room(&seats, 1000));
	assert_null(provider_seats_take(&seats, 99, 1000));
	assert_true(provider_seats_have_room(&seats, 1001));
	for (uint64_t i = 1; i <= PROVIDER_SEATS / 2; i++)
		assert_non_null(provider_seats_take(&seats, 10 + i, 0));
	assert_false(provider_seats_have_room(&seats, 0));
}

/* A seat is free when the program does not use the session any more. */
TEST(a_seat_waits_for_the_answer)
{
	struct provider_seat *seat;

	seats = (struct provider_seats){ 0 };
	seat = provider_seats_take(&seats, 7, 0);
	/* (of a session of an earlier recorder) */
	assert_true(answer(PROVIDER_STARTED, 6, 0));
	assert_int_equal(seat->state, PROVIDER_SEAT_ASKED);
	assert_true(answer(PROVIDER_STARTED, 7, 0));
	assert_int_equal(seat->state, PROVIDER_SEAT_STARTED);
	assert_false(answer(PROVIDER_STARTED, 7, 0));
	assert_true(provider_seat_leave(seat));
	assert_int_equal(seat->state, PROVIDER_SEAT_LEFT);
	assert_true(answer(PROVIDER_STOPPED, 6, 0));
	assert_int_equal(seat->state, PROVIDER_SEAT_LEFT);
	assert_true(answer(PROVIDER_STOPPED, 7, 0));
	assert_int_equal(seat->state, PROVIDER_SEAT_FREE);
}

TEST(a_program_that_cannot_start)
{
	struct provider_seat *seat;

	seats = (struct provider_seats){ 0 };
	seat = provider_seats_take(&seats, 7, 0);
	assert_true(answer(PROVIDER_STARTED, 7, -ENOMEM));
	assert_int_equal(seat->error, -ENOMEM);
	assert_int_equal(seat->state, PROVIDER_SEAT_STOPPED);
	assert_false(provider_seat_leave(seat));
	assert_int_equal(seat->state, PROVIDER_SEAT_FREE);
	/* STOP can be sent before the answer to START. */
	seat = provider_seats_take(&seats, 8, 0);
	assert_true(provider_seat_leave(seat));
	assert_true(answer(PROVIDER_STARTED, 8, -ENOMEM));
	assert_int_equal(seat->state, PROVIDER_SEAT_FREE);
}

/* A program that runs seldom answers START after STOP. */
TEST(answers_that_are_late)
{
	struct provider_seat *first, *second;

	seats = (struct provider_seats){ 0 };
	first = provider_seats_take(&seats, 7, 0);
	assert_true(provider_seat_leave(first));
	second = provider_seats_take(&seats, 8, 0);
	assert_ptr_not_equal(first, second);
	assert_true(answer(PROVIDER_STARTED, 7, 0));
	assert_int_equal(first->state, PROVIDER_SEAT_LEFT);
	assert_true(answer(PROVIDER_STOPPED, 7, 0));
	assert_int_equal(first->state, PROVIDER_SEAT_FREE);
	assert_int_equal(second->state, PROVIDER_SEAT_ASKED);
}

/* STOPPED is not the answer to START. */
TEST(a_session_that_ends_before_its_answer)
{
	struct provider_seat *seat;

	seats = (struct provider_seats){ 0 };
	seat = provider_seats_take(&seats, 7, 0);
	assert_false(answer(PROVIDER_STOPPED, 7, 0));
	assert_true(answer(PROVIDER_STARTED, 7, 0));
	assert_true(answer(PROVIDER_STOPPED, 7, 0));
	assert_int_equal(seat->state, PROVIDER_SEAT_STOPPED);
	assert_false(provider_seat_leave(seat));
	assert_int_equal(seat->state, PROVIDER_SEAT_FREE);
}

TEST(memory_of_one_user_leaves_room)
{
	enum { UID = 1000 };
	const uint64_t half = PROVIDER_BUFFERS_BYTES_MAX / 2;
	struct provider_memory m = { 0 };

	assert_int_equal(provider_memory_take(&m, UID, half), 0);
	assert_int_equal(provider_memory_take(&m, UID, 1), -ENOBUFS);
	assert_int_equal(provider_memory_take(&m, 0, half), 0);
	assert_int_equal(provider_memory_take(&m, 0, 1), -ENOBUFS);
	provider_memory_give(&m, 0, half);
	provider_memory_give(&m, UID, half);
	assert_int_equal(m.bytes, 0);
	assert_int_equal(m.of_users.n_used, 0);
	/* One buffer is possible, whatever its size. */
	assert_int_equal(provider_memory_take(&m, UID, half + 1), 0);
	assert_int_equal(provider_memory_take(&m, UID, 1), -ENOBUFS);
	provider_memory_give(&m, UID, half + 1);
	table_deinit(&m.of_users);
}

/* A user with several uids cannot have all memory: each has at most what is free. */
TEST(memory_of_several_users_leaves_room)
{
	const uint64_t part = PROVIDER_BUFFERS_BYTES_MAX / 16;
	struct provider_memory m = { 0 };
	unsigned n[4] = { 0 };

	for (uint32_t i = 0; i < 4; i++)
		while (provider_memory_take(&m, 1000 + i, part) == 0)
			n[i]++;
	assert_int_equal(n[0], 8);
	assert_int_equal(n[1], 4);
	assert_int_equal(n[2], 2);
	/* (the rest is for root) */
	assert_int_equal(n[3], 0);
	assert_int_equal(provider_memory_take(&m, 0, PROVIDER_BUFFERS_BYTES_ROOT), 0);
	assert_int_equal(m.bytes, PROVIDER_BUFFERS_BYTES_MAX);
	table_deinit(&m.of_users);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_user_leaves_room),
		cmocka_unit_test(a_seat_waits_for_the_answer),
		cmocka_unit_test(a_program_that_cannot_start),
		cmocka_unit_test(answers_that_are_late),
		cmocka_unit_test(a_session_that_ends_before_its_answer),
		cmocka_unit_test(memory_of_one_user_leaves_room),
		cmocka_unit_test(memory_of_several_users_leaves_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
