/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state of a provider in an archive: its ticks, its string table and its thread table
 * ("Provider section metadata", "String references", "Thread references").
 *
 * Strings are copied, since records are valid only until the next one. Tables grow as needed. A
 * provider can hold at most FXT_PROVIDER_TEXT_MAX bytes of strings.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "writer/fxt/fxt-names.h"
#include "writer/fxt/fxt-wire.h"

#define FXT_PROVIDER_TEXT_MAX ((size_t)256 << 20)

/* A string of an archive: unchecked bytes, without a NUL. */
struct fxt_text {
	const char *bytes; /* borrowed; NULL = a reference to an unregistered string */
	uint32_t length;
	int16_t known; /* enum fxt_name; 0 = not a known name; -1 = not looked up yet */
	uint16_t ref;  /* string reference that the text comes from */
};

struct fxt_thread {
	uint64_t pid, tid;
	bool defined;
};

enum { FXT_PROVIDER_PAGE = 512 };

struct fxt_string {
	const char *bytes; /* owned, or static text of a known name; NULL = not registered */
	uint32_t length;
	int16_t known;
};

struct fxt_provider {
	uint32_t id;
	char name[FXT_PROVIDER_NAME_MAX + 1]; /* unchanged, with a NUL */
	uint8_t name_length;
	uint64_t ticks_per_second; /* never 0 */
	bool timed;                /* a record has set ticks_per_second; otherwise it is assumed */
	/* For fxt-kymo.h: the provider is kymo's; the number of string records with kymo's name for
	 * their place (n_right), and with another text (n_wrong). */
	bool is_kymo;
	uint16_t n_right, n_wrong;
	uint16_t again; /* a place with the right name that was set again; 0 = none */
	size_t text_bytes;
	struct fxt_string *pages[(FXT_STRING_INDEX_MAX + 1) / FXT_PROVIDER_PAGE];
	struct fxt_thread threads[FXT_THREAD_INDEX_MAX + 1];
};

int fxt_provider_new(struct fxt_provider **ret, uint32_t id);
struct fxt_provider *fxt_provider_free(struct fxt_provider *p);
DEFINE_CLEANUP(struct fxt_provider *, fxt_provider_free)

/* Discards everything except the id, since a new provider info record requires that. */
void fxt_provider_reset(struct fxt_provider *p);

/*
 * Registers a copy of N bytes at INDEX (1..32767). Returns 0, -ENOMEM, or -ENOBUFS if the provider
 * would exceed FXT_PROVIDER_TEXT_MAX; the index then has no string.
 */
int fxt_provider_set_string(struct fxt_provider *p, unsigned index, const char *bytes, uint32_t n);

/* Registers the known name I at its place, which has no string. Its N bytes at TEXT are borrowed.
 * If there is no memory, nothing is registered. */
void fxt_provider_add_name(struct fxt_provider *p, unsigned i, const char *text, uint32_t n);

/* Looks T up in fxt-names.h. Returns enum fxt_name, or 0. */
int fxt_provider_find_name(const struct fxt_text *t);

static inline int fxt_text_known(const struct fxt_text *t)
{
	return t->known >= 0 ? t->known : fxt_provider_find_name(t);
}

/* Returns the string to which REF refers; REF is not inline. */
static inline struct fxt_text fxt_provider_string(const struct fxt_provider *p, unsigned ref)
{
	const struct fxt_string *page;

	if (ref == 0)
		return (struct fxt_text){ .bytes = "" };
	page = p->pages[ref / FXT_PROVIDER_PAGE];
	if (!page)
		return (struct fxt_text){ .ref = (uint16_t)ref };
	page += ref % FXT_PROVIDER_PAGE;
	return (struct fxt_text){ page->bytes, page->length, page->known, (uint16_t)ref };
}

/*
 * Returns true if no clock has this many ticks per second: the record with this number may be
 * damaged.
 */
static inline bool fxt_provider_is_odd_rate(uint64_t ticks_per_second)
{
	return ticks_per_second < 1000 || ticks_per_second > UINT64_C(1000000000000);
}

/* Converts TICKS to nanoseconds; UINT64_MAX if they do not fit. */
static inline uint64_t fxt_provider_ns(const struct fxt_provider *p, uint64_t ticks)
{
	unsigned __int128 ns;

	if (p->ticks_per_second == 1000000000)
		return ticks;
	ns = (unsigned __int128)ticks * 1000000000 / p->ticks_per_second;
	return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}
