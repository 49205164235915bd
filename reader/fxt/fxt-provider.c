/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader/fxt/fxt-provider.h"

#include <errno.h>
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

static void free_pages(struct fxt_provider *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(p->pages); i++) {
		for (size_t j = 0; p->pages[i] && j < FXT_PROVIDER_PAGE; j++)
			free(p->pages[i][j].bytes);
		free(p->pages[i]);
	}
}

struct fxt_provider *fxt_provider_free(struct fxt_provider *p)
{
	if (p)
		free_pages(p);
	free(p);
	return NULL;
}

void fxt_provider_reset(struct fxt_provider *p)
{
	free_pages(p);
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

int fxt_provider_look_up(const struct fxt_text *t)
{
	if (!t->bytes || t->length == 0 || t->length > 24)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(known_names); i++)
		if (known_names[i].length == t->length &&
		    memcmp(known_names[i].text, t->bytes, t->length) == 0)
			return known_names[i].name;
	return 0;
}

int fxt_provider_set_string(struct fxt_provider *p, unsigned index, const char *bytes, uint32_t n)
{
	struct fxt_string **page = &p->pages[index / FXT_PROVIDER_PAGE], *s;
	struct fxt_text text = { .bytes = bytes, .length = n };
	char *copy = NULL;

	if (!*page)
		*page = calloc(FXT_PROVIDER_PAGE, sizeof(**page));
	if (!*page)
		return -ENOMEM;
	s = &(*page)[index % FXT_PROVIDER_PAGE];
	p->text_bytes -= s->bytes ? s->length : 0;
	if (p->text_bytes + n <= FXT_PROVIDER_TEXT_MAX)
		copy = malloc(n ? n : 1);
	free(s->bytes);
	*s = (struct fxt_string){ 0 };
	if (!copy)
		return p->text_bytes + n > FXT_PROVIDER_TEXT_MAX ? -ENOBUFS : -ENOMEM;
	memcpy(copy, bytes, n);
	*s = (struct fxt_string){ copy, n, (int16_t)fxt_provider_look_up(&text) };
	p->text_bytes += n;
	return 0;
}
