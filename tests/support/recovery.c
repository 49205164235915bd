/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/recovery.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "tests/support/damage.h"

/* A variant that is read slower than this many times the original, and a little, hangs. */
enum { SLOWER_MAX = 20 };
#define SECONDS_MAX 0.2

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "recovery: %s\n", what);
	abort();
}

static struct fxt_reader *open_bytes(const uint8_t *data, size_t n)
{
	struct fxt_reader *reader = NULL;
	int r = fxt_reader_new_memory(&reader, data, n);

	must(r >= 0, "the archive cannot be opened");
	return reader;
}

double recovery_read(const uint8_t *data, size_t n, uint64_t *ret_records)
{
	_cleanup_(fxt_reader_freep) struct fxt_reader *reader = NULL;
	uint64_t begin = clock_read_ns(CLOCK_MONOTONIC);
	const struct fxt_record *record;
	int r;

	*ret_records = 0;
	reader = open_bytes(data, n);
	while (reader && (r = fxt_reader_next(reader, &record)) > 0)
		*ret_records += r == FXT_READER_RECORD;
	return (double)(clock_read_ns(CLOCK_MONOTONIC) - begin) / 1e9;
}

/* The sizes of the records of an archive in words, by where they begin, in words. */
static uint32_t *find_records(const uint8_t *data, size_t n)
{
	_cleanup_(fxt_reader_freep) struct fxt_reader *reader = open_bytes(data, n);
	uint32_t *sizes = calloc(n / FXT_WORD_BYTES + 1, sizeof(*sizes));
	const struct fxt_record *record;
	int r;

	must(sizes && reader, "the archive cannot be opened");
	while ((r = fxt_reader_next(reader, &record)) > 0) {
		must(r == FXT_READER_RECORD, "the archive was damaged before");
		sizes[record->offset / FXT_WORD_BYTES] = (uint32_t)record->n_words;
	}
	must(r == 0, "the archive cannot be read");
	return sizes;
}

/* How many bytes the record that begins at AT in the variant has, if it is whole, else 0. */
static size_t intact_bytes(const struct damage *d, size_t at, const uint32_t *sizes)
{
	uint64_t origin = d->origin[at];
	size_t bytes;

	if (origin == 0 || (origin - 1) % FXT_WORD_BYTES != 0)
		return 0;
	bytes = FXT_WORD_BYTES * (size_t)sizes[(origin - 1) / FXT_WORD_BYTES];
	if (bytes > d->n - at)
		return 0;
	for (size_t i = 0; i < bytes; i++)
		if (d->origin[at + i] != origin + i)
			return 0;
	return bytes;
}

void recovery_try(const uint8_t *data, size_t n, uint64_t seed, struct recovery *ret)
{
	_cleanup_free_ uint32_t *sizes = find_records(data, n);
	_cleanup_(fxt_reader_freep) struct fxt_reader *reader = NULL;
	const struct fxt_record *record;
	uint64_t ignored, end = 0;
	struct damage d;
	int r = 0;

	damage_make(&d, data, n, seed);
	*ret = (struct recovery){ 0 };
	memcpy(ret->what, d.what, sizeof(ret->what));
	for (size_t at = 0; at < d.n; at++)
		ret->intact += intact_bytes(&d, at, sizes) > 0;
	ret->seconds = recovery_read(d.data, d.n, &ignored);
	reader = open_bytes(d.data, d.n);
	while (reader && (r = fxt_reader_next(reader, &record)) > 0) {
		size_t bytes;

		if (r == FXT_READER_DAMAGE) {
			ret->damages++;
			continue;
		}
		must(record->offset + FXT_WORD_BYTES * record->n_words <= d.n,
		     "a record behind the end");
		must(record->offset >= end, "the reader goes back");
		end = record->offset + 1;
		bytes = intact_bytes(&d, record->offset, sizes);
		if (bytes == 0 || bytes != FXT_WORD_BYTES * record->n_words)
			continue;
		must(memcmp(record->words, d.data + record->offset, bytes) == 0,
		     "a record with other words than the archive");
		ret->recovered++;
	}
	must(r == 0, "reading failed");
	damage_deinit(&d);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

unsigned recovery_try_all(const uint8_t *data, size_t n, unsigned n_seeds, unsigned per_mille)
{
	_cleanup_free_ double *shares = calloc(n_seeds, sizeof(*shares));
	uint64_t n_records, intact = 0, recovered = 0;
	double seconds = recovery_read(data, n, &n_records);
	unsigned bad = 0;

	must(shares, "no memory");
	for (unsigned i = 0; i < n_seeds; i++) {
		struct recovery r;
		bool slow;

		recovery_try(data, n, i + 1, &r);
		shares[i] = r.intact ? (double)r.recovered / (double)r.intact : 1;
		intact += r.intact;
		recovered += r.recovered;
		slow = r.seconds > SLOWER_MAX * seconds + SECONDS_MAX;
		if (shares[i] * 1000 >= per_mille && !slow)
			continue;
		bad++;
		printf("seed %u (%s): %llu of %llu records, %llu damages, %.3f s%s\n", i + 1,
		       r.what, (unsigned long long)r.recovered, (unsigned long long)r.intact,
		       (unsigned long long)r.damages, r.seconds, slow ? ": too slow" : "");
	}
	qsort(shares, n_seeds, sizeof(*shares), compare);
	printf("%zu bytes, %llu records: of %llu records that were not touched in %u variants, %llu "
	       "came back; the worst variant %.3f %%, the median %.3f %%\n",
	       n, (unsigned long long)n_records, (unsigned long long)intact, n_seeds,
	       (unsigned long long)recovered, 100 * shares[0], 100 * shares[n_seeds / 2]);
	return bad;
}
