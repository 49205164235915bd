/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/fxt/fxt-provider.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

int fxt_provider_new(struct fxt_provider **ret, uint32_t id)
{
	struct fxt_provider *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->id = id;
	p->ticks_per_second = 1000000000;
	*ret = p;
	return 0;
}

static void fxt_provider_free_bytes(struct fxt_string *s)
{
	if (s->known == 0)
		free((char *)s->bytes);
	*s = (struct fxt_string){ 0 };
}

static void fxt_provider_free_pages(struct fxt_provider *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(p->pages); i++) {
		for (size_t j = 0; p->pages[i] && j < FXT_PROVIDER_PAGE; j++)
			fxt_provider_free_bytes(&p->pages[i][j]);
		free(p->pages[i]);
	}
}

struct fxt_provider *fxt_provider_free(struct fxt_provider *p)
{
	if (p)
		fxt_provider_free_pages(p);
	return free_ptr(p);
}

void fxt_provider_reset(struct fxt_provider *p)
{
	fxt_provider_free_pages(p);
	*p = (struct fxt_provider){ .id = p->id, .ticks_per_second = 1000000000 };
}

static const struct known {
	const char *text;
	uint8_t length;
	int16_t name;
} known_names[] = {
#define X(id, index, text) { text, sizeof(text) - 1, index },
	FXT_NAMES(X)
#undef X
};

/* A hash table with linear probing, of indexes in known_names + 1; 0 = a free slot. */
enum { NAME_SLOTS = 1024, NAME_BYTES_MAX = 24 };

static_assert(ARRAY_SIZE(known_names) < NAME_SLOTS / 2, "a table that is half empty");

static uint16_t name_slots[NAME_SLOTS];

static unsigned fxt_provider_name_slot(const char *bytes, size_t n)
{
	uint32_t hash = 2166136261U; /* (FNV-1a) */

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (uint8_t)bytes[i]) * 16777619U;
	return (hash ^ hash >> 16) % NAME_SLOTS;
}

static void fxt_provider_fill_name_slots(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(known_names); i++) {
		unsigned slot = fxt_provider_name_slot(known_names[i].text, known_names[i].length);

		while (name_slots[slot] != 0)
			slot = (slot + 1) % NAME_SLOTS;
		name_slots[slot] = (uint16_t)(i + 1);
	}
}

/* Returns the known name that equals the text of N bytes, or NULL. */
static const struct known *fxt_provider_find_known(const char *bytes, size_t n)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (n == 0 || n > NAME_BYTES_MAX)
		return NULL;
	pthread_once(&once, fxt_provider_fill_name_slots);
	for (unsigned slot = fxt_provider_name_slot(bytes, n); name_slots[slot] != 0;
	     slot = (slot + 1) % NAME_SLOTS) {
		const struct known *k = &known_names[name_slots[slot] - 1];

		if (k->length == n && memcmp(k->text, bytes, n) == 0)
			return k;
	}
	return NULL;
}

int fxt_provider_find_name(const struct fxt_text *t)
{
	const struct known *k = t->bytes ? fxt_provider_find_known(t->bytes, t->length) : NULL;

	return k ? k->name : 0;
}

void fxt_provider_add_name(struct fxt_provider *p, unsigned i, const char *text, uint32_t n)
{
	static_assert((int)FXT_NAME_RESERVED < (int)FXT_PROVIDER_PAGE, "one page");
	if (!p->pages[0])
		p->pages[0] = calloc(FXT_PROVIDER_PAGE, sizeof(*p->pages[0]));
	if (!p->pages[0])
		return;
	p->pages[0][i] = (struct fxt_string){ text, n, (int16_t)i };
	p->text_bytes += n;
}

int fxt_provider_set_string(struct fxt_provider *p, unsigned index, const char *bytes, uint32_t n)
{
	struct fxt_string **page = &p->pages[index / FXT_PROVIDER_PAGE], *s;
	const struct known *known = fxt_provider_find_known(bytes, n);
	char *copy = NULL;

	if (!*page)
		*page = calloc(FXT_PROVIDER_PAGE, sizeof(**page));
	if (!*page)
		return -ENOMEM;
	s = &(*page)[index % FXT_PROVIDER_PAGE];
	p->text_bytes -= s->bytes ? s->length : 0;
	if (!known && p->text_bytes + n <= FXT_PROVIDER_TEXT_MAX)
		copy = malloc(n ? n : 1);
	fxt_provider_free_bytes(s);
	if (known) {
		*s = (struct fxt_string){ known->text, n, known->name };
		p->text_bytes += n;
		return 0;
	}
	if (!copy)
		return p->text_bytes + n > FXT_PROVIDER_TEXT_MAX ? -ENOBUFS : -ENOMEM;
	memcpy(copy, bytes, n);
	*s = (struct fxt_string){ .bytes = copy, .length = n };
	p->text_bytes += n;
	return 0;
}
