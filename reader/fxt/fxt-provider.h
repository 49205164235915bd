/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a provider of an archive has said so far: its ticks, its string table and its thread table
 * ("Provider section metadata", "String references", "Thread references").
 *
 * Strings are copied in, because records are borrowed. Tables are allocated as far as they are
 * used, and a provider may hold FXT_PROVIDER_TEXT_MAX bytes of strings.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "writer/fxt/fxt-names.h"
#include "writer/fxt/fxt-wire.h"

#define FXT_PROVIDER_TEXT_MAX ((size_t)256 << 20)

/* A string of an archive: bytes that nobody vouches for, without a NUL. */
struct fxt_text {
	const char *bytes; /* borrowed; NULL = a reference to a string that was never registered */
	uint32_t length;
	int16_t known; /* enum fxt_name, 0 = none of them, -1 = not looked up yet */
	uint16_t ref;  /* the string ref it came from */
};

struct fxt_thread {
	uint64_t pid, tid;
	bool defined;
};

enum { FXT_PROVIDER_PAGE = 256 };

struct fxt_string {
	const char *bytes; /* owned, but static text if it is known; NULL = not registered */
	uint32_t length;
	int16_t known;
};

struct fxt_provider {
	uint32_t id;
	char name[FXT_PROVIDER_NAME_MAX + 1]; /* as it came, with a NUL */
	uint8_t name_length;
	uint64_t ticks_per_second; /* never 0 */
	bool timed;                /* it was said, and not assumed */
	size_t text_bytes;
	struct fxt_string *pages[(FXT_STRING_INDEX_MAX + 1) / FXT_PROVIDER_PAGE];
	struct fxt_thread threads[FXT_THREAD_INDEX_MAX + 1];
};

int fxt_provider_new(struct fxt_provider **ret, uint32_t id);
struct fxt_provider *fxt_provider_free(struct fxt_provider *p);
DEFINE_CLEANUP(struct fxt_provider *, fxt_provider_free)

/* Forgets all but the id, as a new provider info record asks for. */
void fxt_provider_reset(struct fxt_provider *p);

/* Registers a copy of N bytes at INDEX (1..32767). Returns 0, -ENOMEM, or -ENOBUFS if the provider
 * has more text than we hold; then the index is not registered any more. */
int fxt_provider_set_string(struct fxt_provider *p, unsigned index, const char *bytes, uint32_t n);

/* Finds out whether T is one of fxt-names.h. Returns enum fxt_name, or 0. */
int fxt_provider_look_up(const struct fxt_text *t);

static inline int fxt_text_known(const struct fxt_text *t)
{
	return t->known >= 0 ? t->known : fxt_provider_look_up(t);
}

/* What the non-inline string reference REF stands for. */
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

/* Nanoseconds of TICKS; UINT64_MAX if they do not fit. */
static inline uint64_t fxt_provider_ns(const struct fxt_provider *p, uint64_t ticks)
{
	unsigned __int128 ns;

	if (p->ticks_per_second == 1000000000)
		return ticks;
	ns = (unsigned __int128)ticks * 1000000000 / p->ticks_per_second;
	return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}
