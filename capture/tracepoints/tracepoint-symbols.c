/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/tracepoints/tracepoint-symbols.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

#define SYMBOLS_BEGIN "__print_symbolic(REC->" TRACEPOINT_SYMBOLS_FIELD ","

/* The rest of the text. It ends with a NUL. */
struct symbols_reader {
	const char *p;
};

static void tracepoint_symbols_skip(struct symbols_reader *r)
{
	while (*r->p == ' ' || *r->p == '\t')
		r->p++;
}

static bool tracepoint_symbols_take(struct symbols_reader *r, char c)
{
	tracepoint_symbols_skip(r);
	if (*r->p != c)
		return false;
	r->p++;
	return true;
}

static bool tracepoint_symbols_take_number(struct symbols_reader *r, uint64_t *ret)
{
	char *end;

	tracepoint_symbols_skip(r);
	errno = 0;
	*ret = *r->p == '-' ? (uint64_t)strtoll(r->p, &end, 0) : strtoull(r->p, &end, 0);
	if (end == r->p || errno == ERANGE)
		return false;
	/* (suffixes of constants) */
	r->p = end + strspn(end, "uUlL");
	return true;
}

/* Takes a text in quotes. A text that is too long becomes empty. */
static bool tracepoint_symbols_take_text(struct symbols_reader *r,
					 char to[static TRACEPOINT_SYMBOL_BYTES])
{
	size_t n;

	if (!tracepoint_symbols_take(r, '"'))
		return false;
	n = strcspn(r->p, "\"\\\n");
	if (r->p[n] != '"')
		return false;
	memcpy(to, r->p, n < TRACEPOINT_SYMBOL_BYTES ? n : 0);
	to[n < TRACEPOINT_SYMBOL_BYTES ? n : 0] = '\0';
	r->p += n + 1;
	return true;
}

/* Takes "{ 2, "NAME" }". */
static bool tracepoint_symbols_take_pair(struct symbols_reader *r, struct tracepoint_symbol *ret)
{
	return tracepoint_symbols_take(r, '{') && tracepoint_symbols_take_number(r, &ret->number) &&
	       tracepoint_symbols_take(r, ',') && tracepoint_symbols_take_text(r, ret->name) &&
	       tracepoint_symbols_take(r, '}');
}

int tracepoint_symbols_parse(const char *text, size_t n, struct tracepoint_symbols *ret)
{
	_cleanup_free_ char *copy = strndup(text, n);
	const char *begin = copy ? strstr(copy, SYMBOLS_BEGIN) : NULL;
	struct symbols_reader r = { begin ? begin + strlen(SYMBOLS_BEGIN) : "" };
	struct tracepoint_symbol symbol;
	size_t room = 0;

	*ret = (struct tracepoint_symbols){ 0 };
	if (!copy)
		return -ENOMEM;
	while (ret->n < TRACEPOINT_SYMBOLS_MAX && tracepoint_symbols_take_pair(&r, &symbol)) {
		if (*symbol.name) {
			if (GROW(ret->list, room, ret->n + 1) < 0) {
				tracepoint_symbols_deinit(ret);
				return -ENOMEM;
			}
			ret->list[ret->n++] = symbol;
		}
		if (!tracepoint_symbols_take(&r, ','))
			break;
	}
	return 0;
}

void tracepoint_symbols_deinit(struct tracepoint_symbols *s)
{
	free(s->list);
	*s = (struct tracepoint_symbols){ 0 };
}

const char *tracepoint_symbols_find(const struct tracepoint_symbols *s, uint64_t number)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->list[i].number == number)
			return s->list[i].name;
	return NULL;
}
