/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The journal of files with probes: reading one that was left behind, and refusing invalid ones.
 */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/probes/probe-journal.h"
#include "tests/support/fixtures/own-directory.h"
#include "tests/support/unit.h"

enum { FILES_MAX = 300 };

static struct {
	uint64_t device, inode, first, last;
	size_t n;
} seen[FILES_MAX];
static size_t n_seen, n_done;
static int result;

static int on_file(const struct probe_file *file, void *userdata)
{
	assert_null(userdata);
	assert_true(n_seen < FILES_MAX);
	seen[n_seen].device = file->device;
	seen[n_seen].inode = file->inode;
	seen[n_seen].n = file->n;
	seen[n_seen].first = file->offsets[0];
	seen[n_seen++].last = file->offsets[file->n - 1];
	return 0;
}

static int on_done(void *userdata)
{
	assert_null(userdata);
	n_done++;
	return result;
}

static int read_left(void)
{
	n_seen = n_done = 0;
	return probe_journal_each_leftover(on_file, on_done, NULL);
}

static size_t count_journals(void)
{
	DIR *dir = opendir("run/probes");
	const struct dirent *entry;
	size_t n = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		n += entry->d_name[0] != '.';
	closedir(dir);
	return n;
}

FIXTURE(set_up)
{
	int r = own_directory_set_up(state);

	setenv("RUNTIME_DIRECTORY", "run:other", 1);
	result = 0;
	return r;
}

static struct probe_journal *new_journal(void)
{
	struct probe_journal *j;

	assert_int_equal(probe_journal_new(&j), 0);
	return j;
}

TEST(test_left)
{
	const uint64_t offsets[] = { 16, 32, 48 };
	uint64_t many[PROBE_JOURNAL_OFFSETS];
	struct probe_journal *j = new_journal();
	int a, b, c;

	for (size_t i = 0; i < PROBE_JOURNAL_OFFSETS; i++)
		many[i] = i * 8;
	a = probe_journal_add(j, &(struct probe_file){ 1, 2, offsets, 3 });
	b = probe_journal_add(j, &(struct probe_file){ 1, 3, many, PROBE_JOURNAL_OFFSETS });
	c = probe_journal_add(j, &(struct probe_file){ 4, 5, offsets + 1, 2 });
	assert_true(a >= 0 && b >= 0 && c >= 0);
	probe_journal_clear(j, a);
	assert_true(probe_journal_any());
	/* Its owner lives. */
	assert_int_equal(read_left(), 0);
	assert_int_equal(n_seen, 0);
	assert_int_equal(n_done, 0);
	probe_journal_free(j);
	/* Failures are tried again. */
	result = -EIO;
	assert_int_equal(read_left(), -EIO);
	assert_int_equal(count_journals(), 1);
	result = 0;
	assert_int_equal(read_left(), 0);
	assert_int_equal(n_done, 1);
	assert_int_equal(n_seen, 2);
	assert_int_equal(seen[0].inode, 3);
	assert_int_equal(seen[0].n, PROBE_JOURNAL_OFFSETS);
	assert_int_equal(seen[0].last, (PROBE_JOURNAL_OFFSETS - 1) * 8);
	assert_int_equal(seen[1].device, 4);
	assert_int_equal(seen[1].first, 32);
	assert_int_equal(seen[1].n, 2);
	assert_int_equal(count_journals(), 0);
	assert_false(probe_journal_any());
}

TEST(test_bounds)
{
	const uint64_t offset = 16;
	const struct probe_file file = { 1, 2, &offset, 1 };
	struct probe_journal *j = new_journal();

	assert_int_equal(probe_journal_add(j, &(struct probe_file){ 1, 2, &offset, 0 }), -EINVAL);
	assert_int_equal(probe_journal_add(j, &(struct probe_file){ 1, 2, &offset,
								    PROBE_JOURNAL_OFFSETS + 1 }),
			 -EINVAL);
	for (int i = 0; i < PROBE_JOURNAL_SLOTS; i++)
		assert_int_equal(probe_journal_add(j, &file), i);
	assert_int_equal(probe_journal_add(j, &file), -ENOSPC);
	probe_journal_clear(j, 7);
	assert_int_equal(probe_journal_add(j, &file), 7);
	probe_journal_remove(j);
	probe_journal_free(j);
	assert_int_equal(count_journals(), 0);
}

/* Names of journals, and other names. */
TEST(test_foreign)
{
	uint64_t words[] = { UINT64_C(0x31656265726f7270), 1, 2, UINT64_MAX };
	struct probe_journal *j = new_journal();

	probe_journal_remove(j);
	probe_journal_free(j);
	/* More offsets than allowed; more than there are; a head that is cut. */
	put_bytes("", "run/probes/1", words, sizeof(words));
	words[3] = 2;
	put_bytes("", "run/probes/2", words, sizeof(words));
	put_bytes("", "run/probes/3", words, 12);
	put_text("", "run/probes/4", "garbage that is as long as a head would be");
	/* With another mode than journals have; too long; no file. */
	put_bytes("", "run/probes/5", words, sizeof(words));
	put_text("", "run/probes/6", "");
	for (int i = 1; i <= 6; i++) {
		char path[32];

		snprintf(path, sizeof(path), "run/probes/%d", i);
		assert_int_equal(chmod(path, i == 5 ? 0620 : 0600), 0);
	}
	assert_int_equal(truncate("run/probes/6", 1 << 30), 0);
	assert_int_equal(symlink("/etc/passwd", "run/probes/7"), 0);
	assert_int_equal(mkfifo("run/probes/8", 0600), 0);
	assert_int_equal(read_left(), 0);
	assert_int_equal(n_seen, 0);
	assert_int_equal(count_journals(), 4); /* the last four */
}

TEST(test_directory_of_others)
{
	struct probe_journal *j = new_journal();

	probe_journal_free(j);
	assert_int_equal(chmod("run/probes", 0777), 0);
	assert_int_equal(probe_journal_new(&j), -EPERM);
	assert_int_equal(read_left(), -EPERM);
	assert_false(probe_journal_any());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_left, set_up, own_directory_tear_down),
		cmocka_unit_test_setup_teardown(test_bounds, set_up, own_directory_tear_down),
		cmocka_unit_test_setup_teardown(test_foreign, set_up, own_directory_tear_down),
		cmocka_unit_test_setup_teardown(test_directory_of_others, set_up,
						own_directory_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
