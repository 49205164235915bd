/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/foreign-fds.h"
#include "daemon/files/close-queue.h"
#include "tests/support/unit.h"

#define ROOT  FOREIGN_FD_OF(0)
#define ALICE FOREIGN_FD_OF(1000)
#define BOB   FOREIGN_FD_OF(1001)

static struct close_queue queue;

FIXTURE(setup)
{
	queue = (struct close_queue){ .seed = 1 };
	return 0;
}

FIXTURE(teardown)
{
	close_queue_deinit(&queue);
	return 0;
}

static void add(uint64_t owner, uint64_t place, int fd)
{
	assert_int_equal(close_queue_add(&queue, owner, place, fd), 0);
}

/* Takes the next descriptor, which must be FD. */
static struct close_line *take(int fd)
{
	struct close_line *line;
	int got = -1;

	assert_true(close_queue_is_ready(&queue));
	line = close_queue_pop(&queue, 1, &got);
	assert_non_null(line);
	assert_int_equal(got, fd);
	return line;
}

static void assert_nothing_to_take(void)
{
	int fd;

	assert_false(close_queue_is_ready(&queue));
	assert_null(close_queue_pop(&queue, 1, &fd));
}

/* The descriptors of a line are closed one at a time, in order. Lines of other places continue. */
TEST(test_line)
{
	struct close_line *hung, *other;
	int fd = -1;

	assert_nothing_to_take();
	add(ALICE, 7, 10);
	add(ALICE, 7, 11);
	hung = take(10);
	assert_nothing_to_take();
	add(ALICE, 8, 12);
	other = take(12);
	assert_false(close_queue_done(&queue, other, 1, &fd));
	assert_nothing_to_take();
	assert_true(close_queue_done(&queue, hung, 1, &fd));
	assert_int_equal(fd, 11);
	assert_false(close_queue_done(&queue, hung, 1, &fd));
	assert_nothing_to_take();
	assert_int_equal(queue.owners.n_used + queue.lines.n_used, 0);
}

/*
 * No user gets more than a share, even if closes hang. When one continues, the next line of the
 * same owner begins.
 */
TEST(test_share)
{
	struct close_line *lines[CLOSE_AT_ONCE_PER_OWNER];
	int fd;

	for (int i = 0; i < 100; i++)
		add(ALICE, (uint64_t)i, i);
	for (int i = 0; i < CLOSE_AT_ONCE_PER_OWNER; i++)
		lines[i] = take(i);
	assert_nothing_to_take();
	add(BOB, 0, 200);
	take(200);
	assert_false(close_queue_done(&queue, lines[3], 1, &fd));
	take(CLOSE_AT_ONCE_PER_OWNER);
	assert_nothing_to_take();
}

/* The share of root stays free, however many closes of users and unknown owners hang. */
TEST(test_root)
{
	unsigned n = 0;
	int fd;

	for (unsigned user = 0; user < 100; user++)
		for (int i = 0; i < 100; i++)
			add(user ? FOREIGN_FD_OF(user) : FOREIGN_FD_UNKNOWN, (uint64_t)i, i);
	while (close_queue_pop(&queue, 1, &fd))
		n++;
	assert_int_equal(n, CLOSE_AT_ONCE_MAX - CLOSE_AT_ONCE_ROOT);
	for (int i = 0; i < CLOSE_AT_ONCE_ROOT + 1; i++)
		add(ROOT, (uint64_t)i, 1000 + i);
	for (int i = 0; i < CLOSE_AT_ONCE_ROOT; i++)
		take(1000 + i);
	assert_nothing_to_take();
}

/* Users take turns. */
TEST(test_turns)
{
	add(ALICE, 1, 10);
	add(ALICE, 2, 11);
	add(BOB, 1, 20);
	take(10);
	take(20);
	take(11);
}

/*
 * This many closes are waited for, however long the first takes: a busy disk is no reason to refuse
 * anything. No user is refused for descriptors of other users, or of unknown ones.
 */
TEST(test_crowd)
{
	const uint64_t late = 1 + CLOSE_STUCK_NS;

	for (int i = 0; i < CLOSE_QUEUED_MAX - 1; i++)
		add(ALICE, 7, i);
	take(0);
	assert_int_equal(close_queue_backlog(&queue, ALICE, 7, late), 0);
	add(ALICE, 7, CLOSE_QUEUED_MAX);
	/* (never while it makes progress) */
	assert_int_equal(close_queue_backlog(&queue, ALICE, 7, 1), 0);
	assert_int_equal(close_queue_backlog(&queue, ALICE, 7, late), CLOSE_QUEUED_MAX);
	for (int i = 0; i < 2 * CLOSE_QUEUED_MAX; i++)
		add(FOREIGN_FD_UNKNOWN, 7, i);
	assert_int_equal(close_queue_backlog(&queue, BOB, 7, late), 0);
	assert_int_equal(close_queue_backlog(&queue, ALICE, 8, late), 0);
}

/* A user with too many descriptors gets no more room. Others do, and root most of all. */
TEST(test_room)
{
	enum { FILES = 1024, PER_USER = FILES / CLOSE_OWNED_PART, ALL = FILES / CLOSE_ALL_PART };
	struct close_line *line;
	int fd;

	for (int i = 0; i < PER_USER; i++) {
		assert_true(close_queue_has_room(&queue, ALICE, FILES));
		add(ALICE, 1, i);
	}
	assert_false(close_queue_has_room(&queue, ALICE, FILES));
	assert_true(close_queue_has_room(&queue, BOB, FILES));
	assert_true(close_queue_has_room(&queue, FOREIGN_FD_UNKNOWN, FILES));
	/* (with a higher limit, more are allowed) */
	assert_true(close_queue_has_room(&queue, ALICE, 100 * FILES));
	for (uint64_t i = PER_USER; i < ALL; i++)
		add(FOREIGN_FD_OF(2000 + i), 1, (int)i);
	assert_false(close_queue_has_room(&queue, BOB, FILES));
	assert_true(close_queue_has_room(&queue, ROOT, FILES));
	for (int i = ALL; i < FILES / CLOSE_ALL_PART_ROOT; i++)
		add(ROOT, 1, i);
	assert_false(close_queue_has_room(&queue, ROOT, FILES));
	/* A closed descriptor makes room. */
	line = close_queue_pop(&queue, 1, &fd);
	assert_false(close_queue_has_room(&queue, ALICE, FILES));
	close_queue_done(&queue, line, 1, &fd);
	assert_true(close_queue_has_room(&queue, ROOT, FILES));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_room), CASE(test_line),  CASE(test_share),
		CASE(test_root), CASE(test_turns), CASE(test_crowd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
