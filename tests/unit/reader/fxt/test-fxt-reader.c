/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The FXT reader on archives that are wrong, end too early or come in pieces. test-fxt-golden.c
 * tests good ones.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reader/fxt/fxt-check.h"
#include "tests/support/fixtures/golden-archive.h"
#include "tests/support/unit.h"

/* ---- files that are no archives ---- */

TEST(test_new_alien)
{
	static const struct {
		const char *bytes;
		size_t n;
		enum fxt_alien alien;
	} rows[] = {
		{ "", 0, FXT_ALIEN_EMPTY },
		{ "\x10", 1, FXT_ALIEN_OTHER },
		{ "\x10\x00\x04\x46\x78\x54\x16", 7, FXT_ALIEN_OTHER },
		{ "\x10\x00\x04\x46\x78\x54\x17\x00", 8, FXT_ALIEN_OTHER },
		{ "\x1f\x8b\x08\x00", 4, FXT_ALIEN_OTHER },
		{ "\xfd\x37zXZ\x00", 6, FXT_ALIEN_XZ },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct fxt_reader *r = NULL;

		assert_int_equal(fxt_reader_new_memory(&r, rows[i].bytes, rows[i].n),
				 rows[i].alien);
		assert_null(r);
	}
}

/* ---- providers ---- */

/* Provider NUMBER is introduced without a name. */
#define PROVIDER_INFO(number)    (0x0000000000010010 | (uint64_t)(number) << 20)
#define PROVIDER_SECTION(number) (0x0000000000020010 | (uint64_t)(number) << 20)
/* String 1 is one character; an instant event of thread 0/0, category 1, name 1. */
#define STRING_1(character) 0x0000000100010022, (character)
#define INSTANT_1           0x0001000100000044, 1, 0, 0

TEST(test_providers_have_tables_of_their_own)
{
	struct outbuf b = { 0 };
	const struct fxt_record *record;
	struct fxt_reader *r;
	int n = 0;

	golden_put(&b, GOLDEN_MAGIC);
	PUT_WORDS(&b, PROVIDER_INFO(1), STRING_1('a'), INSTANT_1);
	PUT_WORDS(&b, PROVIDER_INFO(2), INSTANT_1, STRING_1('b'), INSTANT_1);
	PUT_WORDS(&b, PROVIDER_SECTION(1), INSTANT_1, PROVIDER_SECTION(2), INSTANT_1);
	PUT_WORDS(&b, PROVIDER_INFO(1), INSTANT_1);
	r = golden_reader(&b);
	while (fxt_reader_next(r, &record) == FXT_READER_RECORD) {
		static const char *const names[] = { "a", NULL, "b", "a", "b", NULL };

		if (record->type != FXT_RECORD_EVENT)
			continue;
		if (names[n])
			golden_assert_text(&record->name, names[n]);
		else
			assert_null(record->name.bytes);
		n++;
	}
	assert_int_equal(n, 6);
	fxt_reader_free(r);
	outbuf_deinit(&b);
}

TEST(test_section_without_introduction)
{
	struct outbuf b = { 0 };
	const struct fxt_record *record;
	struct fxt_reader *r;

	golden_put(&b, GOLDEN_MAGIC);
	PUT_WORDS(&b, PROVIDER_SECTION(9), STRING_1('a'), INSTANT_1);
	r = golden_reader(&b);
	golden_read_to(r, 1);
	assert_int_equal(fxt_reader_next(r, &record), FXT_READER_DAMAGE);
	assert_int_equal(fxt_reader_damage(r)->offset, 8);
	assert_int_equal(fxt_reader_next(r, &record), FXT_READER_RECORD);
	assert_int_equal(fxt_reader_next(r, &record), FXT_READER_RECORD);
	golden_assert_text(&record->name, "a");
	fxt_reader_free(r);
	outbuf_deinit(&b);
}

/* More providers than usual: the tables are bounded, and all records come. */
TEST(test_too_many_providers)
{
	struct outbuf b = { 0 };
	const struct fxt_record *record;
	struct fxt_reader *r;
	int e, damages = 0, records = 0;

	golden_put(&b, GOLDEN_MAGIC);
	for (uint64_t i = 0; i < 1000; i++)
		PUT_WORDS(&b, PROVIDER_INFO(i), STRING_1('a'), INSTANT_1);
	r = golden_reader(&b);
	while ((e = fxt_reader_next(r, &record)) > 0)
		*(e == FXT_READER_DAMAGE ? &damages : &records) += 1;
	assert_int_equal(e, 0);
	assert_int_equal(records, 3001);
	assert_int_equal(damages, 1000 - 256);
	fxt_reader_free(r);
	outbuf_deinit(&b);
}

/* ---- damage ---- */

static void assert_damage(struct fxt_reader *r, uint64_t offset, uint64_t bytes)
{
	const struct fxt_record *record;

	assert_int_equal(fxt_reader_next(r, &record), FXT_READER_DAMAGE);
	assert_null(record);
	assert_int_equal(fxt_reader_damage(r)->offset, offset);
	assert_int_equal(fxt_reader_damage(r)->bytes, bytes);
	assert_non_null(fxt_reader_damage(r)->what);
}

TEST(test_zero_fill)
{
	struct outbuf b = { 0 };
	const struct fxt_record *record;
	struct fxt_reader *r;

	golden_put(&b, GOLDEN_MAGIC);
	PUT_WORDS(&b, 0, 0, 0);
	golden_put(&b, GOLDEN_STRING);
	PUT_WORDS(&b, INSTANT_1, 0x0000000000000004);
	golden_put(&b, GOLDEN_STRING);
	PUT_WORDS(&b, INSTANT_1, 0, 0);
	r = golden_reader(&b);
	golden_read_to(r, GOLDEN_MAGIC);
	assert_damage(r, 8, 24);
	assert_false(fxt_reader_damage(r)->truncated);
	assert_int_equal(fxt_reader_next(r, &record), FXT_READER_RECORD);
	assert_int_equal(fxt_reader_next(r, &record), FXT_READER_RECORD);
	assert_damage(r, 80, 8);
	assert_string_equal(fxt_reader_damage(r)->what, "a record of size 0");
	assert_int_equal(fxt_reader_next(r, &record), FXT_READER_RECORD);
	golden_assert_text(&record->name, "category");
	assert_int_equal(fxt_reader_next(r, &record), FXT_READER_RECORD);
	assert_damage(r, 136, 16);
	assert_string_equal(fxt_reader_damage(r)->what, "zeros where a record should be");
	assert_int_equal(fxt_reader_next(r, &record), FXT_READER_END);
	fxt_reader_free(r);
	outbuf_deinit(&b);
}

/* Cut at every byte: complete records come, then one damage, unless the cut is between two. */
TEST(test_cut_at_every_byte)
{
	struct golden_archive *f = *state;

	for (size_t n = 8; n < f->archive.size; n++) {
		/* Its own allocation, so that a sanitizer detects reads past the end. */
		uint8_t *copy = malloc(n);
		const struct fxt_record *record;
		struct fxt_reader *r = NULL;
		size_t whole = 0, i = 0;
		int e;

		memcpy(copy, f->archive.data, n);
		while (whole + 8 * golden_records[i].n_words <= n)
			whole += 8 * golden_records[i++].n_words;
		assert_int_equal(fxt_reader_new_memory(&r, copy, n), 0);
		for (size_t j = 0; j < i; j++)
			assert_int_equal(fxt_reader_next(r, &record), FXT_READER_RECORD);
		e = fxt_reader_next(r, &record);
		assert_int_equal(e, whole == n ? FXT_READER_END : FXT_READER_DAMAGE);
		if (e == FXT_READER_DAMAGE) {
			assert_int_equal(fxt_reader_damage(r)->offset, whole);
			assert_int_equal(fxt_reader_damage(r)->bytes, n - whole);
			assert_true(fxt_reader_damage(r)->truncated);
			assert_int_equal(fxt_reader_next(r, &record), FXT_READER_END);
		}
		fxt_reader_free(r);
		free(copy);
	}
}

/* Reads everything in a record. */
static void use(const struct fxt_record *record)
{
	struct fxt_findings findings;

	fxt_check_record(record, &findings);
}

/*
 * Each record in turn claims each size up to its own: it is damaged or not, and never read past its
 * end.
 */
TEST(test_sizes_that_lie)
{
	struct golden_archive *f = *state;
	size_t at = 8;

	for (int i = 1; i < GOLDEN_MAX; at += 8 * golden_records[i++].n_words) {
		for (uint64_t words = 0; words < golden_records[i].n_words; words++) {
			size_t n = at + 8 * (words ? words : 1);
			uint8_t *copy = malloc(n);
			const struct fxt_record *record;
			struct fxt_reader *r = NULL;
			uint64_t head;

			memcpy(copy, f->archive.data, n);
			memcpy(&head, copy + at, 8);
			head = (head & ~UINT64_C(0xfff0)) | words << 4;
			memcpy(copy + at, &head, 8);
			assert_int_equal(fxt_reader_new_memory(&r, copy, n), 0);
			for (int j = 0; j < i; j++)
				assert_int_equal(fxt_reader_next(r, &record), FXT_READER_RECORD);
			if (fxt_reader_next(r, &record) == FXT_READER_RECORD)
				use(record);
			else
				assert_int_equal(fxt_reader_damage(r)->offset, at);
			assert_int_equal(fxt_reader_next(r, &record), FXT_READER_END);
			fxt_reader_free(r);
			free(copy);
		}
	}
}

/* Each byte gets other values: reading always ends, and a sanitizer finds nothing. */
TEST(test_every_byte_wrong)
{
	static const uint8_t values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
	struct golden_archive *f = *state;

	for (size_t at = 8; at < f->archive.size; at++) {
		uint8_t was = f->archive.data[at];

		for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
			const struct fxt_record *record;
			struct fxt_reader *r;
			int e;

			f->archive.data[at] = values[i];
			r = golden_reader(&f->archive);
			while ((e = fxt_reader_next(r, &record)) > 0)
				if (e == FXT_READER_RECORD)
					use(record);
			assert_int_equal(e, FXT_READER_END);
			fxt_reader_free(r);
		}
		f->archive.data[at] = was;
	}
}

/* A large record that claims 32 GiB allocates no memory, and counts as a cut record. */
TEST(test_large_lie)
{
	struct outbuf b = { 0 };
	struct fxt_reader *r;

	golden_put(&b, GOLDEN_MAGIC);
	PUT_WORDS(&b, 0x0000000fffffffff, 1, 2, 3);
	r = golden_reader(&b);
	golden_read_to(r, GOLDEN_MAGIC);
	assert_damage(r, 8, 32);
	assert_true(fxt_reader_damage(r)->truncated);
	fxt_reader_free(r);
	outbuf_deinit(&b);
}

TEST(test_arguments_that_lie)
{
	/* Each row is one argument of a context switch, in a record of five or six words. */
	static const struct {
		uint64_t n_words;
		uint64_t words[2];
		int outcome;
	} rows[] = {
		{ 1, { 0x0000000000000001 }, FXT_ARGS_DAMAGE }, /* size 0 */
		{ 1, { 0x0000000000000021 }, FXT_ARGS_DAMAGE }, /* two words, one missing */
		{ 1, { 0x0000000080010011 }, FXT_ARGS_DAMAGE }, /* inline name in one word */
		{ 1, { 0x0000000000000013 }, FXT_ARGS_DAMAGE }, /* int64 without its word */
		{ 1, { 0x0000800100000016 }, FXT_ARGS_DAMAGE }, /* inline string missing */
		{ 2, { 0x000000090000002a }, FXT_ARGS_DAMAGE }, /* blob of 9 bytes in one word */
		{ 2, { 0x000000080000002a }, FXT_ARGS_NEXT },
		{ 1, { 0x000000000000001f }, FXT_ARGS_NEXT }, /* unknown type */
		{ 0, { 0 }, FXT_ARGS_DAMAGE },                /* missing */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct outbuf b = { 0 };
		const struct fxt_record *record;
		struct fxt_reader *r;
		struct fxt_args it;
		struct fxt_arg arg;

		golden_put(&b, GOLDEN_MAGIC);
		PUT_WORDS(&b, 0x1000000000010008 | (4 + rows[i].n_words) << 4, 1, 2, 3);
		golden_put_words(&b, rows[i].n_words, rows[i].words);
		r = golden_reader(&b);
		record = golden_read_to(r, 1);
		it = record->args;
		assert_int_equal(fxt_args_next(&it, &arg), rows[i].outcome);
		assert_int_equal(fxt_args_next(&it, &arg), FXT_ARGS_END);
		fxt_reader_free(r);
		outbuf_deinit(&b);
	}
}

/* ---- sources ---- */

/* Through a pipe, in pieces of unsuitable sizes. */
TEST(test_pipe)
{
	struct golden_archive *f = *state;
	const struct fxt_record *record;
	struct fxt_reader *r = NULL;
	int fds[2], n = 0;

	assert_int_equal(pipe(fds), 0);
	if (fork() == 0) {
		for (size_t at = 0; at < f->archive.size; at += 13) {
			size_t left = f->archive.size - at;

			if (write(fds[1], f->archive.data + at, left < 13 ? left : 13) < 0)
				_exit(1);
		}
		_exit(0);
	}
	close(fds[1]);
	assert_int_equal(fxt_reader_new_fd(&r, fds[0]), 0);
	while (fxt_reader_next(r, &record) == FXT_READER_RECORD) {
		assert_memory_equal(record->words, golden_records[n].words, 8 * record->n_words);
		n++;
	}
	assert_int_equal(n, GOLDEN_MAX);
	fxt_reader_free(r);
	close(fds[0]);
}

/* A file longer than the buffer, with a record at every edge of it. */
TEST(test_file_longer_than_buffer)
{
	struct golden_archive *f = *state;
	const struct fxt_record *record;
	struct fxt_reader *r = NULL;
	char path[] = "/tmp/test-fxt-reader-XXXXXX";
	int e, n = 0, fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(write(fd, f->archive.data, f->archive.size),
				 (ssize_t)f->archive.size);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(fxt_reader_new_fd(&r, fd), 0);
	while ((e = fxt_reader_next(r, &record)) == FXT_READER_RECORD) {
		assert_memory_equal(record->words, golden_records[n % GOLDEN_MAX].words,
				    8 * record->n_words);
		n++;
	}
	assert_int_equal(e, FXT_READER_END);
	assert_int_equal(n, 1000 * GOLDEN_MAX);
	fxt_reader_free(r);
	close(fd);
}

TEST(test_directory)
{
	struct fxt_reader *r = NULL;
	char path[] = "/tmp/test-fxt-reader-XXXXXX";
	FILE *dir;

	assert_non_null(mkdtemp(path));
	dir = fopen(path, "re");
	assert_non_null(dir);
	assert_int_equal(fxt_reader_new_fd(&r, fileno(dir)), -EISDIR);
	fclose(dir);
	rmdir(path);
}

#define WITH_ARCHIVE(test) cmocka_unit_test_setup_teardown(test, golden_set_up, golden_tear_down)

/* A source that gives few bytes at a time. Its error is passed on. */
struct source {
	const uint8_t *bytes;
	size_t n;
	int error; /* at the end */
};

static ssize_t read_source(void *userdata, void *to, size_t n)
{
	struct source *s = userdata;

	assert_true(n > 0);
	if (s->n == 0)
		return s->error;
	*(uint8_t *)to = *s->bytes++;
	s->n--;
	return 1;
}

TEST(test_source)
{
	static const int errors[] = { 0, -EIO };

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		_cleanup_(fxt_reader_freep) struct fxt_reader *r = NULL;
		const struct fxt_record *record;
		struct source source = { .error = errors[i] };
		struct outbuf b = { 0 };

		golden_put(&b, GOLDEN_MAGIC);
		PUT_WORDS(&b, PROVIDER_INFO(1));
		source.bytes = b.data;
		source.n = b.size;
		assert_int_equal(fxt_reader_new_source(&r, read_source, &source), 0);
		assert_int_equal(fxt_reader_next(r, &record), FXT_READER_RECORD);
		assert_int_equal(fxt_reader_next(r, &record), FXT_READER_RECORD);
		assert_int_equal(record->metadata.provider_id, 1);
		assert_int_equal(fxt_reader_next(r, &record), errors[i]);
		outbuf_deinit(&b);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_source),
		cmocka_unit_test(test_new_alien),
		cmocka_unit_test(test_providers_have_tables_of_their_own),
		cmocka_unit_test(test_section_without_introduction),
		cmocka_unit_test(test_too_many_providers),
		cmocka_unit_test(test_zero_fill),
		WITH_ARCHIVE(test_cut_at_every_byte),
		WITH_ARCHIVE(test_sizes_that_lie),
		WITH_ARCHIVE(test_every_byte_wrong),
		cmocka_unit_test(test_large_lie),
		cmocka_unit_test(test_arguments_that_lie),
		WITH_ARCHIVE(test_pipe),
		WITH_ARCHIVE(test_file_longer_than_buffer),
		cmocka_unit_test(test_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
