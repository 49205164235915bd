/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/fxt/fxt-kymo.h"

#include <pthread.h>
#include <string.h>

#include "writer/fxt/fxt-writer.h"

enum {
	NANOSECOND_TICKS = 1000000000,
	/* A provider is kymo's if at least RIGHT_MIN strings are at their places, and
	 * RIGHT_PER_WRONG for each wrong string. If its name is "kymo", RIGHT_MIN_NAMED are
	 * enough. */
	RIGHT_MIN = 16,
	RIGHT_MIN_NAMED = 4,
	RIGHT_PER_WRONG = 8,
	/* The maximum number of bits in which a damaged string differs from kymo's. */
	BITS_MAX = 8,
	NAME_BYTES_MAX = 24,
};

static const char kymo[] = "kymo";
static const char wrong_name[] = "a provider with kymo's strings has another name; kymo's is used";
static const char wrong_ticks[] = "ticks per second that kymo does not write; 1000000000 are used";
static const char wrong_string[] =
	"a string that kymo does not write at this place; kymo's is used";

/* Names that kymo adds to string tables. Their addresses show that they were not read from the
 * archive. */
static char added[FXT_NAME_RESERVED + 1][NAME_BYTES_MAX];

static void fxt_kymo_fill_added(void)
{
	for (unsigned i = 0; i <= FXT_NAME_RESERVED; i++)
		if (fxt_name_texts[i])
			memcpy(added[i], fxt_name_texts[i], strlen(fxt_name_texts[i]));
}

/* Adds the strings that P lacks. */
static void fxt_kymo_add(struct fxt_provider *p)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, fxt_kymo_fill_added);
	for (unsigned i = 1; i <= FXT_NAME_RESERVED; i++)
		if (fxt_name_texts[i] && !fxt_provider_string(p, i).bytes)
			fxt_provider_add_name(p, i, added[i], (uint32_t)strlen(fxt_name_texts[i]));
}

bool fxt_kymo_has_added(const struct fxt_text *t)
{
	return t->bytes >= (const char *)added &&
	       t->bytes < (const char *)(added + ARRAY_SIZE(added));
}

/* Returns the number of bits in which N bytes differ. */
static unsigned fxt_kymo_count_bits(const char *a, const char *b, size_t n)
{
	unsigned n_bits = 0;

	for (size_t i = 0; i < n; i++)
		n_bits += (unsigned)__builtin_popcount((uint8_t)(a[i] ^ b[i]));
	return n_bits;
}

/*
 * Returns true if IS, which is not one of kymo's names, is NAME with some wrong bits in its text,
 * or with a wrong length that needs the same number of words. (The reader finds other wrong
 * lengths.)
 */
static bool fxt_kymo_is_almost(const struct fxt_text *is, const char *name)
{
	size_t n = strlen(name), n_both = is->length < n ? is->length : n;
	unsigned n_bits = fxt_kymo_count_bits(is->bytes, name, n_both);

	if (is->length == n)
		return n_bits <= BITS_MAX;
	return n_bits == 0 && fxt_stream_words(is->length) == fxt_stream_words(n) &&
	       (is->length < n || memchr(is->bytes + n, '\0', is->length - n));
}

/* Replaces the string at PLACE of P if it is damaged. Returns a text about the damage; NULL =
 * none. */
static const char *fxt_kymo_restore(struct fxt_provider *p, unsigned place)
{
	const struct fxt_text is = fxt_provider_string(p, place);
	const char *name = fxt_name_texts[place];

	if (!name || !is.bytes || is.known == (int)place)
		return NULL;
	if (place != p->again && (is.known > 0 || !fxt_kymo_is_almost(&is, name)))
		return NULL;
	fxt_provider_set_string(p, place, name, (uint32_t)strlen(name));
	return wrong_string;
}

/* Marks P, which was recognized, as kymo's, and restores its head. Returns the damage, or NULL. */
static const char *fxt_kymo_recognize(struct fxt_provider *p)
{
	const char *what = NULL;

	p->is_kymo = true;
	for (unsigned i = 1; i <= FXT_NAME_RESERVED; i++)
		what = fxt_kymo_restore(p, i) ?: what;
	fxt_kymo_add(p);
	what = fxt_kymo_see_ticks(p) ?: what;
	if (strcmp(p->name, kymo) == 0 && p->name_length == sizeof(kymo) - 1)
		return what;
	memcpy(p->name, kymo, sizeof(kymo));
	p->name_length = sizeof(kymo) - 1;
	return wrong_name;
}

static bool fxt_kymo_is_recognized(const struct fxt_provider *p)
{
	unsigned min = strcmp(p->name, kymo) == 0 ? RIGHT_MIN_NAMED : RIGHT_MIN;

	return p->n_right >= min && p->n_right >= RIGHT_PER_WRONG * p->n_wrong;
}

bool fxt_kymo_is_right(const struct fxt_provider *p, unsigned index)
{
	const struct fxt_text is = fxt_provider_string(p, index);

	return index <= FXT_NAME_RESERVED && is.bytes && is.known == (int)index &&
	       !fxt_kymo_has_added(&is);
}

const char *fxt_kymo_see_string(struct fxt_provider *p, unsigned index, bool was_right)
{
	if (index > FXT_NAME_RESERVED || !fxt_name_texts[index])
		return NULL;
	if (was_right)
		p->again = (uint16_t)index;
	if (p->is_kymo)
		return fxt_kymo_restore(p, index);
	if (fxt_provider_string(p, index).known == (int)index)
		p->n_right += p->n_right < UINT16_MAX;
	else
		p->n_wrong += p->n_wrong < UINT16_MAX;
	return fxt_kymo_is_recognized(p) ? fxt_kymo_recognize(p) : NULL;
}

const char *fxt_kymo_see_ticks(struct fxt_provider *p)
{
	if (!p->is_kymo || p->ticks_per_second == NANOSECOND_TICKS)
		return NULL;
	p->ticks_per_second = NANOSECOND_TICKS;
	return wrong_ticks;
}
