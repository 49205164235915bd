/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/text-set.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

struct kept_text {
	struct kept_text *next; /* next text with the same hash */
	char text[];
};

void text_set_deinit(struct text_set *p)
{
	struct kept_text *text, *next;

	for (size_t pos = 0; (text = table_next(&p->texts, &pos));) {
		for (; text; text = next) {
			next = text->next;
			free(text);
		}
	}
	table_deinit(&p->texts);
}

const char *text_set_keep(struct text_set *p, const char *text)
{
	size_t size = strlen(text) + 1;
	struct kept_text *first, *t;
	uint64_t hash;

	if (size == 1)
		return "";
	hash = table_hash(text, size);
	first = table_get(&p->texts, hash);
	for (t = first; t; t = t->next)
		if (strcmp(t->text, text) == 0)
			return t->text;
	t = malloc(sizeof(*t) + size);
	if (!t)
		return NULL;
	t->next = first;
	memcpy(t->text, text, size);
	if (table_set(&p->texts, hash, t) < 0) {
		free(t);
		return NULL;
	}
	return t->text;
}

const char *text_set_keep_path(struct text_set *p, const char *path)
{
	size_t n = text_path_length(path);
	_cleanup_free_ char *shorter = path[n] ? strndup(path, n) : NULL;

	if (path[n] && !shorter)
		return NULL;
	return text_set_keep(p, shorter ?: path);
}
