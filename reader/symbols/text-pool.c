/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/symbols/text-pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "reader/symbols/demangle.h"
#include "reader/symbols/symbol-types.h"

/*
 * A text and its key. The key is a marker byte and then the text itself, or for a symbol, the
 * mangled name.
 */
struct text_pool_entry {
	struct text_pool_entry *next; /* next entry with the same hash */
	const char *text;             /* the key without its marker, or the text of another entry */
	size_t n_key;
	char key[];
};

enum { MARK_SYMBOL = '\1', MARK_TEXT = '\2' };

void text_pool_deinit(struct text_pool *p)
{
	struct text_pool_entry *entry, *next;

	for (size_t pos = 0; (entry = table_next(&p->texts, &pos));)
		for (; entry; entry = next) {
			next = entry->next;
			free(entry);
		}
	table_deinit(&p->texts);
}

static struct text_pool_entry *text_pool_find(const struct text_pool *p, uint64_t hash,
					      const char *key, size_t n)
{
	struct text_pool_entry *entry = table_get(&p->texts, hash);

	while (entry && (entry->n_key != n || memcmp(entry->key, key, n) != 0))
		entry = entry->next;
	return entry;
}

/* Stores KEY with TEXT. TEXT NULL = the text is KEY without its marker byte. Returns the text; NULL
 * = no memory. */
static const char *text_pool_store(struct text_pool *p, uint64_t hash, const char *key, size_t n,
				   const char *text)
{
	struct text_pool_entry *entry = malloc(sizeof(*entry) + n + 1);

	if (!entry)
		return NULL;
	memcpy(entry->key, key, n);
	entry->key[n] = '\0';
	entry->n_key = n;
	entry->text = text ? text : entry->key + 1;
	entry->next = table_get(&p->texts, hash);
	if (table_set(&p->texts, hash, entry) < 0) {
		free(entry);
		return NULL;
	}
	return entry->text;
}

const char *text_pool_add(struct text_pool *p, const char *from, size_t n)
{
	char key[1 + SYMBOL_NAME_MAX + 1];
	struct text_pool_entry *entry;
	uint64_t hash;

	key[0] = MARK_TEXT;
	n = 1 + text_clean(key + 1, sizeof(key) - 1, from, n);
	hash = table_hash(key, n);
	entry = text_pool_find(p, hash, key, n);
	return entry ? entry->text : text_pool_store(p, hash, key, n, NULL);
}

const char *text_pool_add_symbol(struct text_pool *p, const char *from, size_t n,
				 const char *suffix)
{
	char key[1 + SYMBOL_NAME_MAX + 1], text[SYMBOL_NAME_MAX + 1];
	size_t n_suffix = strlen(suffix), n_text;
	struct text_pool_entry *entry;
	const char *known;
	uint64_t hash;

	if (n > SYMBOL_NAME_MAX - n_suffix)
		n = SYMBOL_NAME_MAX - n_suffix;
	key[0] = MARK_SYMBOL;
	memcpy(key + 1, from, n);
	memcpy(key + 1 + n, suffix, n_suffix);
	hash = table_hash(key, 1 + n + n_suffix);
	entry = text_pool_find(p, hash, key, 1 + n + n_suffix);
	if (entry)
		return entry->text;
	key[1 + n] = '\0';
	n_text = demangle(text, sizeof(text) - n_suffix, key + 1);
	if (n_text == 0) {
		memcpy(text, from, n);
		n_text = n;
	}
	memcpy(text + n_text, suffix, n_suffix);
	memcpy(key + 1 + n, suffix, n_suffix);
	known = text_pool_add(p, text, n_text + n_suffix);
	return known ? text_pool_store(p, hash, key, 1 + n + n_suffix, known) : NULL;
}
