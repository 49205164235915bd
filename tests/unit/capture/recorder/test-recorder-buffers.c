/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording into buffers that are full after any record.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "tests/support/fixtures/archive-text.h"
#include "tests/support/fixtures/story-recorder.h"
#include "tests/support/unit.h"

enum { PIECE_MARGIN = 4096 }; /* more than the bytes that one record adds */

static void add(struct outbuf *to, const struct outbuf *part)
{
	assert_int_equal(outbuf_append(to, part->data, part->size), 0);
}

/*
 * Writes the records up to the end of the story into buffers that are full at FULL bytes. Appends
 * all of them to WHOLE. Returns their number.
 */
static size_t record_in_pieces(struct recorder *recorder, size_t full, struct outbuf *whole)
{
	_cleanup_(outbuf_deinit) struct outbuf piece = { 0 };
	size_t n = 0;
	int r;

	recorder_set_buffer(recorder, &piece, full);
	do {
		r = recorder_round(recorder, STORY_AT(STORY_STEPS));
		assert_true(r >= 0);
		assert_true(full == 0 || piece.size < full + PIECE_MARGIN);
		assert_true(r == 0 || piece.size >= full);
		add(whole, &piece);
		piece.size = 0;
		n++;
	} while (r > 0);
	return n;
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts the lines of TEXT, since records of the same time can have any order. */
static char *sorted_lines(char *text)
{
	static char *lines[4096];
	struct outbuf sorted = { 0 };
	size_t n = 0;

	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		assert_true(n < ARRAY_SIZE(lines));
		lines[n++] = line;
	}
	qsort(lines, n, sizeof(*lines), compare_lines);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(outbuf_append(&sorted, lines[i], strlen(lines[i])), 0);
		assert_int_equal(outbuf_append(&sorted, "\n", 1), 0);
	}
	assert_int_equal(outbuf_append(&sorted, "", 1), 0);
	return (char *)sorted.data;
}

/*
 * A recording of the whole story in at least N_MIN buffers that are full at FULL bytes, as sorted
 * lines. The rings have all records from the beginning.
 */
static char *lines_in_pieces(size_t full, size_t n_min)
{
	_cleanup_(story_recorder_deinit) struct story_recorder s = { 0 };
	_cleanup_(outbuf_deinit) struct outbuf whole = { 0 }, tail = { 0 };
	_cleanup_free_ char *head = NULL, *text = NULL;
	const struct recorder_end end = { .reason = "requested" };

	story_recorder_begin(&s, &whole);
	head = archive_text(&whole);
	for (unsigned step = 1; step < STORY_STEPS; step++)
		story_play(&s.story, step);
	assert_true(record_in_pieces(&s.r, full, &whole) >= n_min);
	text = archive_text(&whole);
	recorder_set_buffer(&s.r, &tail, full);
	recorder_set_end(&s.r, STORY_AT(STORY_STEPS));
	assert_int_equal(recorder_round(&s.r, MERGE_ALL), 0);
	assert_int_equal(recorder_close(&s.r, &end), 0);
	add(&whole, &tail);
	story_recorder_check(&whole, "in pieces");
	/* (the head has the present time) */
	return sorted_lines(text + strlen(head));
}

/*
 * A buffer can be full after each record, also in the middle of a ring or of the worker's tables.
 * The next round continues there: no record is missing or written twice.
 */
TEST(test_full_buffers)
{
	_cleanup_free_ char *want = lines_in_pieces(0, 1);
	static const struct {
		size_t full, n_min;
	} tests[] = { { 1, STORY_STEPS / 2 }, { 200, 10 }, { 1000, 3 } };

	for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {
		_cleanup_free_ char *lines = lines_in_pieces(tests[i].full, tests[i].n_min);

		assert_string_equal(lines, want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full_buffers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
