/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that processes map shortly before their end are kept, and examined when necessary.
 */
#include <stdio.h>
#include <string.h>

#include "capture/heap/heap-records.h"
#include "capture/proc/proc-records.h"
#include "capture/stages/watch-gap.h"
#include "tests/support/unit.h"

#define SECOND_NS UINT64_C(1000000000)

enum { PID = 500, INODE = 7, PATH_BYTES = 32 };

/* Whether files can be examined, and how many were requested. */
static bool can_examine;
static unsigned n_examined;

static bool examine(const struct rec_mapping *rec, void *userdata)
{
	(void)rec;
	(void)userdata;
	n_examined += can_examine;
	return can_examine;
}

static const struct pipeline_owner owner = { .examine = examine };

FIXTURE(set_up)
{
	*state = calloc(1, sizeof(struct watch_gap_files));
	can_examine = true;
	n_examined = 0;
	return *state ? 0 : -1;
}

FIXTURE(tear_down)
{
	watch_gap_deinit(*state);
	free(*state);
	return 0;
}

static void put_mapping(struct watch_gap_files *files, uint32_t pid, uint64_t ts_ns,
			const char *path)
{
	struct {
		struct rec_mapping rec;
		char path[PATH_BYTES];
	} all = { .rec = { .head = { ts_ns, sizeof(all), REC_MAPPING, 0, pid, pid },
			   .inode = INODE } };

	snprintf(all.path, sizeof(all.path), "%s", path);
	assert_int_equal(watch_gap_add(files, &all.rec), 0);
}

/* The exit of PID, whose files were examined at EXAMINED_NS. */
static struct rec_watched exit_of(uint64_t ts_ns, uint64_t examined_ns)
{
	return (struct rec_watched){
		.head = { ts_ns, sizeof(struct rec_watched), REC_WATCHED, 0, PID, PID },
		.reason = WATCHED_EXIT,
		.examined_ns = examined_ns,
	};
}

static bool has_gap(struct watch_gap_files *files, const struct rec_watched *rec)
{
	char text[256];

	watch_gap_describe(files, rec, 100, text, sizeof(text));
	return *text;
}

static void put_examined(struct watch_gap_files *files, const struct late_file *file)
{
	struct late_file copy = *file;
	const struct outbuf examined = { .data = (uint8_t *)&copy, .size = sizeof(copy) };

	watch_gap_examined(files, &examined);
}

/*
 * If too many processes have mapped files, each of them can have mapped one, also if it is known to
 * have mapped others since. Programs that begin later have not.
 */
TEST(test_bounded)
{
	static const struct {
		uint64_t watched_ns;
		bool maps_since, gap;
	} rows[] = { { 110, false, true }, { 110, true, true }, { 190, true, false } };
	struct watch_gap_files *files;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct rec_watched end = exit_of(300, 150);

		tear_down(state);
		set_up(state);
		files = *state;
		if (rows[i].watched_ns < 180)
			assert_int_equal(watch_gap_watch(files, PID, rows[i].watched_ns), 0);
		for (uint32_t pid = 1; files->forgotten_ns == 0; pid++) {
			put_mapping(files, PID + pid, 180, "/lib/late.so");
			assert_true(pid < 1000000);
		}
		if (rows[i].watched_ns > 180)
			assert_int_equal(watch_gap_watch(files, PID, rows[i].watched_ns), 0);
		if (rows[i].maps_since)
			put_mapping(files, PID, 150, "/lib/known.so");
		assert_false(watch_gap_awaits(files, &end, &owner));
		assert_int_equal(has_gap(files, &end), rows[i].gap);
		watch_gap_forget(files, &end);
		assert_int_equal(files->n_watched, 0);
	}
}

/* Processes that have ended need no room, except watched ones whose end is not reported yet. */
TEST(test_ended)
{
	enum { N = 100000 };
	struct watch_gap_files *files = *state;
	const struct rec_watched end = exit_of(300, 150);

	can_examine = false;
	assert_int_equal(watch_gap_watch(files, PID, 110), 0);
	put_mapping(files, PID, 180, "/lib/late.so");
	watch_gap_ended(files, PID, 300);
	for (uint32_t i = 1; i <= N; i++) {
		uint64_t ts_ns = SECOND_NS + i * SECOND_NS / 1000;

		put_mapping(files, PID + i, ts_ns, "/lib/late.so");
		watch_gap_ended(files, PID + i, ts_ns);
		assert_in_range(files->processes.n_used, 1, 9000);
	}
	assert_int_equal(files->forgotten_ns, 0);
	assert_false(watch_gap_awaits(files, &end, &owner));
	assert_true(has_gap(files, &end));
}

/* Two processes map a file with the same inode, one after the other, and end. */
TEST(test_again)
{
	enum { LATER = 1000000000 };
	static const struct late_file first = { 0, INODE, 180, 90, 310, 1, 0 };
	static const struct {
		uint64_t ts_ns; /* of the second mapping */
		const char *path;
		struct late_file then;
		bool first_refused, asks_again, gap;
	} rows[] = {
		/* The result of the first examination is still valid. */
		{ .ts_ns = 320, .path = "/lib/late.so" },
		/* The file can have changed since. */
		{ LATER,
		  "/lib/late.so",
		  { 0, INODE, 180, 90, LATER + 20, 1, 0 },
		  false,
		  true,
		  false },
		{ LATER,
		  "/lib/late.so",
		  { 0, INODE, 180, LATER + 9, LATER + 20, 1, 0 },
		  false,
		  true,
		  true },
		{ LATER,
		  "/lib/late.so",
		  { 0, INODE, 180, 90, LATER + 20, 0, 0 },
		  false,
		  true,
		  true },
		/* The inode can belong to another file. */
		{ 320, "/lib/other.so", { 0, INODE, 320, 90, 350, 1, 0 }, false, true, false },
		{ 320, "/lib/other.so", { 0, INODE, 320, 90, 350, 0, 0 }, false, true, true },
		/* At first, there was no room. */
		{ 320, "/lib/late.so", { 0, INODE, 180, 90, 350, 1, 0 }, true, true, false },
	};
	struct watch_gap_files *files;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct rec_watched end = exit_of(300, 150),
					 later = exit_of(rows[i].ts_ns + 5, 310);

		tear_down(state);
		set_up(state);
		files = *state;
		can_examine = !rows[i].first_refused;
		put_mapping(files, PID, 180, "/lib/late.so");
		assert_int_equal(watch_gap_awaits(files, &end, &owner), can_examine);
		if (can_examine)
			put_examined(files, &first);
		assert_false(watch_gap_awaits(files, &end, &owner));
		assert_int_equal(has_gap(files, &end), rows[i].first_refused);
		watch_gap_forget(files, &end);
		can_examine = true;
		n_examined = 0;
		put_mapping(files, PID, rows[i].ts_ns, rows[i].path);
		assert_int_equal(watch_gap_awaits(files, &later, &owner), rows[i].asks_again);
		if (rows[i].asks_again)
			put_examined(files, &rows[i].then);
		assert_false(watch_gap_awaits(files, &later, &owner));
		assert_int_equal(n_examined, rows[i].asks_again);
		assert_int_equal(has_gap(files, &later), rows[i].gap);
	}
}

/*
 * A process maps a file late. The next process with its id maps the file, too, before the end of
 * the first one is reported.
 */
TEST(test_next_owner)
{
	struct watch_gap_files *files = *state;
	const struct rec_watched end = exit_of(300, 150), later = exit_of(400, 390);

	can_examine = false;
	assert_int_equal(watch_gap_watch(files, PID, 110), 0);
	put_mapping(files, PID, 140, "/lib/late.so");
	put_mapping(files, PID, 180, "/lib/late.so");
	watch_gap_ended(files, PID, 300);
	put_mapping(files, PID, 350, "/lib/late.so");
	put_mapping(files, PID, 380, "/lib/late.so");
	assert_false(watch_gap_awaits(files, &end, &owner));
	assert_true(has_gap(files, &end));
	watch_gap_forget(files, &end);
	assert_int_equal(watch_gap_watch(files, PID, 340), 0);
	watch_gap_ended(files, PID, 400);
	assert_false(watch_gap_awaits(files, &later, &owner));
	assert_false(has_gap(files, &later));
	watch_gap_forget(files, &later);
	assert_int_equal(files->processes.n_used, 0);
}

/*
 * While a file is examined by its first path, it is mapped by another one. The result is not about
 * the latter.
 */
TEST(test_paths)
{
	static const struct late_file first = { 0, INODE, 180, 90, 310, 1, 0 },
				      other = { 0, INODE, 290, 90, 320, 0, 0 };
	struct watch_gap_files *files = *state;
	const struct rec_watched end = exit_of(300, 150);

	put_mapping(files, PID, 180, "/lib/late.so");
	assert_true(watch_gap_awaits(files, &end, &owner));
	put_mapping(files, PID, 290, "/lib/other.so");
	put_examined(files, &first);
	assert_true(watch_gap_awaits(files, &end, &owner));
	assert_int_equal(n_examined, 2);
	put_examined(files, &other);
	assert_false(watch_gap_awaits(files, &end, &owner));
	assert_true(has_gap(files, &end));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_bounded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_ended, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_next_owner, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_paths, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
