/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/damage.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

enum { WORD = 8 };

struct work {
	struct damage *d;
	uint64_t random;
};

/* splitmix64 */
static uint64_t next_random(struct work *w)
{
	uint64_t z = w->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static size_t below(struct work *w, size_t n)
{
	return n ? (size_t)(next_random(w) % n) : 0;
}

/* A range of 1 to MAX bytes that lies in the data. */
static void choose_range(struct work *w, size_t max, size_t *ret_at, size_t *ret_n)
{
	*ret_at = below(w, w->d->n);
	*ret_n = 1 + below(w, max);
	if (*ret_n > w->d->n - *ret_at)
		*ret_n = w->d->n - *ret_at;
}

static void set(struct work *w, size_t at, uint8_t byte)
{
	if (w->d->data[at] != byte)
		w->d->origin[at] = 0;
	w->d->data[at] = byte;
}

/* Puts N bytes from FROM (NULL: random ones) in front of AT. */
static void insert(struct work *w, size_t at, size_t n, const uint8_t *from, const uint64_t *origin)
{
	struct damage *d = w->d;

	d->data = realloc(d->data, d->n + n);
	d->origin = realloc(d->origin, (d->n + n) * sizeof(*d->origin));
	if (!d->data || !d->origin)
		abort();
	memmove(d->data + at + n, d->data + at, d->n - at);
	memmove(d->origin + at + n, d->origin + at, (d->n - at) * sizeof(*d->origin));
	for (size_t i = 0; i < n; i++) {
		d->data[at + i] = from ? from[i] : (uint8_t)next_random(w);
		d->origin[at + i] = from ? origin[i] : 0;
	}
	d->n += n;
}

static void remove_range(struct work *w, size_t at, size_t n)
{
	struct damage *d = w->d;

	memmove(d->data + at, d->data + at + n, d->n - at - n);
	memmove(d->origin + at, d->origin + at + n, (d->n - at - n) * sizeof(*d->origin));
	d->n -= n;
}

/* Takes the N bytes at FROM out, and puts them in front of what was at TO, outside of them. */
static void move_range(struct work *w, size_t from, size_t n, size_t to)
{
	_cleanup_free_ uint8_t *data = malloc(n);
	_cleanup_free_ uint64_t *origin = malloc(n * sizeof(*origin));

	if (!data || !origin)
		abort();
	memcpy(data, w->d->data + from, n);
	memcpy(origin, w->d->origin + from, n * sizeof(*origin));
	remove_range(w, from, n);
	insert(w, to > from ? to - n : to, n, data, origin);
}

/* ---- the ways ---- */

static void change_bytes(struct work *w)
{
	for (size_t n = 1 + below(w, 32); n > 0 && w->d->n > 0; n--)
		set(w, below(w, w->d->n), (uint8_t)next_random(w));
}

static void flip_bits(struct work *w)
{
	for (size_t n = 1 + below(w, 64); n > 0 && w->d->n > 0; n--) {
		size_t at = below(w, w->d->n);

		set(w, at, w->d->data[at] ^ (uint8_t)(1u << below(w, 8)));
	}
}

static void fill(struct work *w, bool zero)
{
	for (size_t n = 1 + below(w, 6); n > 0; n--) {
		size_t at, bytes;

		choose_range(w, 4096, &at, &bytes);
		for (; bytes > 0; bytes--, at++)
			set(w, at, zero ? 0 : (uint8_t)next_random(w));
	}
}

static void zero_ranges(struct work *w)
{
	fill(w, true);
}

static void overwrite_ranges(struct work *w)
{
	fill(w, false);
}

static void cut_middle(struct work *w)
{
	size_t at, n;

	choose_range(w, w->d->n / 8 + 1, &at, &n);
	remove_range(w, at, n);
}

static void cut_end(struct work *w)
{
	size_t n = below(w, w->d->n / 4 + 1);

	remove_range(w, w->d->n - n, n);
}

static void double_ranges(struct work *w)
{
	for (size_t n = 1 + below(w, 6); n > 0; n--) {
		_cleanup_free_ uint8_t *data = NULL;
		_cleanup_free_ uint64_t *origin = NULL;
		size_t at, bytes;

		choose_range(w, 4096, &at, &bytes);
		data = malloc(bytes);
		origin = malloc(bytes * sizeof(*origin));
		if (!data || !origin)
			abort();
		memcpy(data, w->d->data + at, bytes);
		memcpy(origin, w->d->origin + at, bytes * sizeof(*origin));
		insert(w, at + bytes, bytes, data, origin);
	}
}

static void remove_bytes(struct work *w)
{
	for (size_t n = 1 + below(w, 16); n > 0; n--) {
		size_t at, bytes;

		choose_range(w, 200, &at, &bytes);
		remove_range(w, at, bytes);
	}
}

static void insert_bytes(struct work *w)
{
	for (size_t n = 1 + below(w, 16); n > 0; n--)
		insert(w, below(w, w->d->n + 1), 1 + below(w, 200), NULL, NULL);
}

/* Where records begin, as long as their sizes lead from one to the next; of what is no archive,
 * words. */
static size_t find_records(const struct damage *d, size_t **ret)
{
	size_t *at = malloc((d->n / WORD + 1) * sizeof(*at)), n = 0;

	if (!at)
		abort();
	for (size_t i = 0; i + WORD <= d->n;) {
		size_t words = (size_t)(d->data[i] >> 4) | (size_t)d->data[i + 1] << 4;

		at[n++] = i;
		i += WORD * (words ? words : 1);
	}
	*ret = at;
	return n;
}

static void swap_records(struct work *w)
{
	for (size_t n = 1 + below(w, 16); n > 0; n--) {
		_cleanup_free_ size_t *at = NULL;
		size_t n_records = find_records(w->d, &at), one, two;

		if (n_records < 4)
			return;
		/* (the magic number stays; the last one has nothing that says where it ends) */
		one = 1 + below(w, n_records - 3);
		two = one + 1;
		if (below(w, 2))
			two = 1 + below(w, n_records - 3);
		if (one != two)
			move_range(w, at[one], at[one + 1] - at[one], at[two]);
	}
}

static void change_headers(struct work *w)
{
	_cleanup_free_ size_t *at = NULL;
	size_t n_records = find_records(w->d, &at);

	for (size_t n = 1 + below(w, 32); n > 0 && n_records > 0; n--)
		set(w, at[below(w, n_records)] + below(w, 3), (uint8_t)next_random(w));
}

static const struct way {
	const char *what;
	void (*apply)(struct work *w);
} ways[] = {
	{ "bytes changed", change_bytes },     { "bits flipped", flip_bits },
	{ "ranges zeroed", zero_ranges },      { "cut in the middle", cut_middle },
	{ "cut at the end", cut_end },         { "ranges doubled", double_ranges },
	{ "ranges removed", remove_bytes },    { "ranges inserted", insert_bytes },
	{ "records swapped", swap_records },   { "ranges overwritten", overwrite_ranges },
	{ "headers changed", change_headers },
};

void damage_make(struct damage *ret, const uint8_t *original, size_t n, uint64_t seed)
{
	struct work w = { .d = ret, .random = seed };
	size_t way = seed % (ARRAY_SIZE(ways) + 1);

	ret->n = n;
	ret->data = malloc(n ? n : 1);
	ret->origin = malloc((n ? n : 1) * sizeof(*ret->origin));
	if (!ret->data || !ret->origin)
		abort();
	memcpy(ret->data, original, n);
	for (size_t i = 0; i < n; i++)
		ret->origin[i] = i + 1;
	if (way < ARRAY_SIZE(ways)) {
		snprintf(ret->what, sizeof(ret->what), "%s", ways[way].what);
		ways[way].apply(&w);
		return;
	}
	snprintf(ret->what, sizeof(ret->what), "several ways at once");
	for (size_t i = 2 + below(&w, 3); i > 0 && ret->n > 0; i--)
		ways[below(&w, ARRAY_SIZE(ways))].apply(&w);
}

void damage_deinit(struct damage *d)
{
	free(d->data);
	free(d->origin);
	*d = (struct damage){ 0 };
}
