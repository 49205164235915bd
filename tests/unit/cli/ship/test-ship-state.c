/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chunks that were handed over, wait, or are lost; and the file with this state.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "cli/ship/ship-state.h"
#include "tests/support/fixtures/own-directory.h"
#include "tests/support/unit.h"

static const struct ship_directory here = { 1, 2 }, elsewhere = { 1, 3 };

/* A chunk of 10 bytes that begins in minute MINUTE. */
static struct chunk chunk(int minute)
{
	struct chunk c = { .bytes = 10 };

	snprintf(c.file, sizeof(c.file),
		 "a-20261130T03%02d00.000000Z-20261130T03%02d59.000000Z.fxt", minute, minute);
	assert_true(chunk_name_parse(c.file, "a", &c.name));
	return c;
}

/* Asserts which chunks wait ('w') and were taken ('t'), and the number of lost ones. */
static void assert_state(const struct ship_state *s, const char *wanted, uint64_t n_lost)
{
	uint64_t n, bytes, n_waiting = 0;
	const struct ship_chunk *oldest = ship_state_waiting(s, &n, &bytes);

	assert_int_equal(s->n, strlen(wanted));
	for (size_t i = 0; i < s->n; i++) {
		assert_int_equal(s->chunks[i].taken, wanted[i] == 't');
		if (wanted[i] == 'w' && n_waiting++ == 0)
			assert_ptr_equal(oldest, &s->chunks[i]);
	}
	assert_int_equal(n, n_waiting);
	assert_int_equal(bytes, n_waiting * 10);
	assert_int_equal(s->n_lost, n_lost);
	assert_int_equal(s->lost_bytes, n_lost * 10);
}

TEST(test_update)
{
	const struct chunk all[] = { chunk(1), chunk(2), chunk(3), chunk(4), chunk(5) };
	struct ship_state s = { 0 };

	assert_int_equal(ship_state_update(&s, &here, NULL, 0), 1);
	assert_int_equal(ship_state_update(&s, &here, NULL, 0), 0);
	assert_state(&s, "", 0);
	/* New ones, also before and between those that are known. */
	assert_int_equal(ship_state_update(&s, &here, &all[1], 2), 1);
	assert_state(&s, "ww", 0);
	ship_state_take(&s, &s.chunks[1]);
	assert_int_equal(ship_state_update(&s, &here, &all[1], 2), 0);
	assert_state(&s, "wt", 0);
	assert_int_equal(ship_state_update(&s, &here, all, 5), 1);
	assert_state(&s, "wwtww", 0);
	/* The first two are removed without having been taken, and then one that was. */
	assert_int_equal(ship_state_update(&s, &here, &all[2], 3), 1);
	assert_state(&s, "tww", 2);
	assert_int_equal(ship_state_update(&s, &here, &all[3], 2), 1);
	assert_state(&s, "ww", 2);
	assert_int_equal(ship_state_update(&s, &here, &all[3], 1), 1);
	assert_state(&s, "w", 3);
	assert_int_equal(ship_state_update(&s, &here, NULL, 0), 1);
	assert_state(&s, "", 4);
	assert_int_equal(s.n_taken, 1);
	ship_state_deinit(&s);
}

/* A mount point without its file system has other chunks, or none. */
TEST(test_another_directory)
{
	const struct chunk all[] = { chunk(1), chunk(2), chunk(3), chunk(4) };
	struct ship_state s = { 0 };

	assert_int_equal(ship_state_update(&s, &here, NULL, 0), 1);
	assert_int_equal(ship_state_update(&s, &elsewhere, all, 2), 1);
	ship_state_take(&s, &s.chunks[0]);
	assert_int_equal(ship_state_update(&s, &here, NULL, 0), -ESTALE);
	assert_int_equal(ship_state_update(&s, &here, &all[2], 2), -ESTALE);
	assert_state(&s, "tw", 0);
	assert_int_equal(ship_state_update(&s, &elsewhere, all, 2), 0);
	/* One of the known chunks is enough: the device has another number. */
	assert_int_equal(ship_state_update(&s, &here, &all[1], 3), 1);
	assert_state(&s, "www", 0);
	assert_int_equal(ship_state_update(&s, &here, &all[1], 3), 0);
	/* It is a new one, as the user says. */
	ship_state_take(&s, &s.chunks[2]);
	assert_int_equal(ship_state_update(&s, &elsewhere, all, 1), -ESTALE);
	ship_state_forget(&s);
	assert_state(&s, "", 2);
	assert_int_equal(ship_state_update(&s, &elsewhere, all, 1), 1);
	assert_state(&s, "w", 2);
	ship_state_deinit(&s);
}

TEST(test_file)
{
	const struct chunk all[] = { chunk(1), chunk(2), chunk(3) };
	_cleanup_close_ int fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct ship_state s = { .n_lost = 3, .lost_bytes = 30 }, again = { 0 };

	assert_int_equal(ship_state_load(&again, fd, "a"), 0);
	assert_state(&again, "", 0);
	assert_int_equal(ship_state_update(&s, &here, all, 3), 1);
	ship_state_take(&s, &s.chunks[1]);
	assert_false(ship_state_is_saved(fd));
	assert_int_equal(ship_state_save(&s, fd), 0);
	assert_true(ship_state_is_saved(fd));
	assert_int_equal(ship_state_load(&again, fd, "a"), 0);
	assert_state(&again, "wtw", 3);
	assert_int_equal(again.n_taken, 1);
	assert_int_equal(ship_state_update(&again, &elsewhere, NULL, 0), -ESTALE);
	assert_int_equal(ship_state_update(&again, &here, all, 3), 0);
	/* The state of another collection. */
	assert_int_equal(ship_state_load(&s, fd, "b"), -EBADMSG);
	assert_state(&s, "wtw", 3);
	ship_state_deinit(&s);
	ship_state_deinit(&again);
}

TEST(test_damaged)
{
	static const char *const texts[] = {
		"",
		"kymo-ship 2\n",
		"kymo-ship 1\nnonsense\n",
		"kymo-ship 1\nall 1 2 3\ngiven 5 a-20261130T030100.000000Z-20261130T030159.000000Z.fxt\n",
		"kymo-ship 1\nall 1 2 3\ntaken 5 a-20261130T030100.000000Z.fxt\n",
		/* twice */
		"kymo-ship 1\nall 1 2 3\n"
		"taken 5 a-20261130T030100.000000Z-20261130T030159.000000Z.fxt\n"
		"taken 5 a-20261130T030100.000000Z-20261130T030159.000000Z.fxt\n",
	};
	_cleanup_close_ int fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct ship_state s = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		FILE *f = fopen("state", "we");

		assert_non_null(f);
		fputs(texts[i], f);
		fclose(f);
		assert_int_equal(ship_state_load(&s, fd, "a"), -EBADMSG);
		assert_state(&s, "", 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_update),
		cmocka_unit_test(test_another_directory),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, own_directory_set_up, own_directory_tear_down);
}
