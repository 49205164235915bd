/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/places/place-functions.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/function-clone.h"
#include "base/value.h"
#include "reader/places/place-frames.h"
#include "reader/places/places-parts.h"
#include "reader/symbols/demangle.h"

enum {
	NEAREST_COMPARED_MAX = 65536,
	NAME_FORMS = 3,
};

void place_functions_deinit(struct place_functions *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->list[i].symbol);
		free(f->list[i].name);
	}
	for (size_t i = 0; i < f->n_indirect; i++)
		free(f->indirect[i]);
	f->list = free_ptr(f->list);
	f->indirect = free_ptr(f->indirect);
	f->n = f->n_indirect = 0;
}

/* ---- names ---- */

/* Returns true if P, a character in TEXT, is a closing bracket, and not the end of the arrow
 * "->". */
static bool functions_closes(const char *text, const char *p)
{
	return strchr(">)}]", *p) && !(*p == '>' && p > text && p[-1] == '-');
}

/* Returns the depth of brackets after the character P in TEXT; DEPTH is that before it. TEXT must
 * have no operator in its name, such as operator<. */
static int functions_depth(int depth, const char *text, const char *p)
{
	if (strchr("<({[", *p))
		return depth + 1;
	return functions_closes(text, p) && depth > 0 ? depth - 1 : depth;
}

void place_function_base_name(const char *name, char *to)
{
	const char *op = strstr(name, "operator"), *begin = name, *end = NULL;
	int depth = 0;

	for (const char *p = name; *p && !end; p++) {
		/* The name of an operator can contain brackets: it extends to the last list of
		 * parameters. */
		if (p == op) {
			end = strrchr(p, '(');
			break;
		}
		if (depth == 0 && *p == ' ')
			begin = p + 1;
		if (depth == 0 && *p == '(' && strncmp(p, "(anonymous namespace)", 21) != 0)
			end = p;
		depth = functions_depth(depth, name, p);
	}
	snprintf(to, PLACES_NAME_MAX, "%.*s", (int)(end ? end - begin : (ptrdiff_t)strlen(begin)),
		 begin);
}

struct functions_search {
	struct places *places;
	const char *pattern;
	bool glob, suffixes;
	struct place_functions found;
	size_t room, indirect_room, n_visited;
	struct value_nearest nearest;
};

static bool functions_same(const struct functions_search *s, const char *name)
{
	return s->glob ? fnmatch(s->pattern, name, 0) == 0 : strcmp(s->pattern, name) == 0;
}

/* Returns true if the pattern matches NAME without its outermost, or more, namespaces. */
static bool functions_is_suffix(const struct functions_search *s, const char *name)
{
	int depth = 0;

	for (const char *p = name; *p; p++) {
		depth = functions_depth(depth, name, p);
		if (depth == 0 && p[0] == ':' && p[1] == ':' && functions_same(s, p + 2))
			return true;
	}
	return false;
}

/*
 * Writes BASE to TO without parts that are not in the source: suffixes of clones, tags of the ABI
 * ("f[abi:cxx11]"), and template arguments at the end ("f<int>", Rust's "f::<i32>").
 */
static void functions_source_name(const char *base, char to[static PLACES_NAME_MAX])
{
	size_t n = function_clone_base(base);
	int depth = 0;

	while (n > 0 && base[n - 1] == ']') {
		const char *tag = memrchr(base, '[', n);

		if (!tag || strncmp(tag, "[abi:", 5) != 0)
			break;
		n = (size_t)(tag - base);
	}
	if (n > 0 && base[n - 1] == '>' && !strstr(base, "operator")) {
		size_t at = n;

		do {
			at--;
			depth += (base[at] == '>' && functions_closes(base, base + at)) -
				 (base[at] == '<');
		} while (at > 0 && depth > 0);
		if (depth == 0 && at > 0)
			n = at > 2 && memcmp(base + at - 2, "::", 2) == 0 ? at - 2 : at;
	}
	snprintf(to, PLACES_NAME_MAX, "%.*s", (int)n, base);
}

/* Writes NAME to TO without all template arguments ("Box<int>::f"). NAME has no operator. */
static void functions_plain_name(const char *name, char to[static PLACES_NAME_MAX])
{
	size_t n = 0;
	int depth = 0;

	for (const char *p = name; *p && n < PLACES_NAME_MAX - 1; p++) {
		/* (brackets at the begin of a name are no template arguments: Rust's "<T as
		 * Trait>::f") */
		if (*p == '<' && (depth > 0 || (n > 0 && (isalnum((unsigned char)p[-1]) ||
							  strchr("_:", p[-1])))))
			depth++;
		else if (*p == '>' && depth > 0)
			depth -= functions_closes(name, p);
		else if (depth == 0)
			to[n++] = *p;
		if (*p == '<' && depth == 1 && n > 2 && memcmp(to + n - 2, "::", 2) == 0)
			n -= 2;
	}
	to[n] = '\0';
}

/*
 * Writes NAME, a method of Rust ("<ns::Type>::f", "<ns::Type as Trait>::f"), to TO as in the source
 * ("ns::Type::f"). TO is "" for other names.
 */
static void functions_method_name(const char *name, char to[static PLACES_NAME_MAX])
{
	size_t end = 0, type = 0;
	int depth = 0;

	to[0] = '\0';
	if (*name != '<')
		return;
	for (; name[end]; end++) {
		depth += (name[end] == '<') -
			 (name[end] == '>' && functions_closes(name, name + end));
		if (depth == 0)
			break;
		if (!type && depth == 1 && strncmp(name + end, " as ", 4) == 0)
			type = end;
	}
	if (strncmp(name + end, ">::", 3) == 0)
		snprintf(to, PLACES_NAME_MAX, "%.*s%s", (int)((type ?: end) - 1), name + 1,
			 name + end + 1);
}

/*
 * Writes the other forms of the name SOURCE to TO: without all template arguments; as a method of
 * Rust; and as such a method without the arguments of its type ("Box<i32>::f", "Box::f"). A form
 * that does not exist is "".
 */
static void functions_forms(const char *source, char to[static NAME_FORMS][PLACES_NAME_MAX])
{
	to[0][0] = to[2][0] = '\0';
	functions_method_name(source, to[1]);
	if (strstr(source, "operator"))
		return;
	if (strchr(source, '<'))
		functions_plain_name(source, to[0]);
	if (strchr(to[1], '<'))
		functions_plain_name(to[1], to[2]);
}

/* Returns true if the pattern matches a form of NAME, which is the demangled SYMBOL, or SYMBOL
 * itself if it is not mangled. BASE is NAME without parameters. */
static bool functions_match(const struct functions_search *s, const char *symbol, const char *name,
			    const char *base)
{
	char source[PLACES_NAME_MAX], forms[NAME_FORMS][PLACES_NAME_MAX];
	bool same = false;

	functions_source_name(base, source);
	functions_forms(source, forms);
	for (size_t i = 0; !same && i < NAME_FORMS; i++)
		same = *forms[i] && (s->suffixes ? functions_is_suffix(s, forms[i])
						 : functions_same(s, forms[i]));
	if (s->suffixes)
		return same || functions_is_suffix(s, name) || functions_is_suffix(s, base) ||
		       functions_is_suffix(s, source);
	return same || functions_same(s, symbol) || functions_same(s, name) ||
	       functions_same(s, base) || functions_same(s, source);
}

static int functions_add(struct functions_search *s, const struct places_symbol *symbol,
			 const char *name)
{
	struct place_function f = { .vaddr = symbol->start, .bytes = symbol->size };

	if (s->found.n == PLACES_FOUND_MAX) {
		s->found.is_full = true;
		return 0;
	}
	if (GROW(s->found.list, s->room, s->found.n + 1) < 0)
		return -ENOMEM;
	f.symbol = strdup(symbol->name);
	f.name = strdup(name);
	if (!f.symbol || !f.name) {
		free(f.symbol);
		free(f.name);
		return -ENOMEM;
	}
	s->found.list[s->found.n++] = f;
	return 0;
}

static int functions_add_indirect(struct functions_search *s, const char *name)
{
	struct place_functions *f = &s->found;

	for (size_t i = 0; i < f->n_indirect; i++)
		if (strcmp(f->indirect[i], name) == 0)
			return 0;
	if (f->n_indirect == PLACES_FOUND_MAX)
		return 0;
	if (GROW(f->indirect, s->indirect_room, f->n_indirect + 1) < 0)
		return -ENOMEM;
	f->indirect[f->n_indirect] = strdup(name);
	return f->indirect[f->n_indirect] ? (f->n_indirect++, 0) : -ENOMEM;
}

static void functions_compare_near(struct functions_search *s, const char *base)
{
	const char *colons = strrchr(base, ':');

	if (s->n_visited++ >= NEAREST_COMPARED_MAX)
		return;
	if (value_nearest_try(&s->nearest, base) ||
	    (colons && value_nearest_try(&s->nearest, colons + 1)))
		snprintf(s->found.nearest, sizeof(s->found.nearest), "%s", base);
}

static int functions_search_symbols(struct functions_search *s)
{
	char symbol_name[PLACES_NAME_MAX], name[PLACES_NAME_MAX], base[PLACES_NAME_MAX];
	struct places_symbol symbol;
	int r = 0;

	for (size_t i = 0; r == 0 && places_symbol(s->places, i, &symbol, symbol_name); i++) {
		if (demangle(name, sizeof(name), symbol.name) == 0)
			snprintf(name, sizeof(name), "%s", symbol.name);
		place_function_base_name(name, base);
		/* The cold part of a function is not a function of its own. */
		if (function_clone_is_cold(symbol.name))
			continue;
		if (!functions_match(s, symbol.name, name, base)) {
			if (!s->suffixes)
				functions_compare_near(s, base);
		} else if (!places_is_indirect(s->places, symbol.start)) {
			r = functions_add(s, &symbol, name);
		} else if (strcmp(s->pattern, symbol.name) == 0 ||
			   !function_clone_is_resolver(symbol.name)) {
			/* (a resolver that the compiler has made has no name in the source, so only
			 * its symbol matches) */
			r = functions_add_indirect(s, symbol.name);
		}
	}
	return r;
}

DEFINE_ORDER(functions_compare, struct place_function,
	COMPARE(x->vaddr, y->vaddr) ?: COMPARE(strlen(x->symbol), strlen(y->symbol))
		?: strcmp(x->symbol, y->symbol))

/* Keeps only the first function at each address. */
static void functions_finish(struct place_functions *f)
{
	size_t n = 0;

	SORT(f->list, f->n, functions_compare);
	for (size_t i = 0; i < f->n; i++) {
		if (n > 0 && f->list[n - 1].vaddr == f->list[i].vaddr) {
			free(f->list[i].symbol);
			free(f->list[i].name);
		} else {
			f->list[n++] = f->list[i];
		}
	}
	f->n = n;
}

int place_functions_find(struct places *p, const char *pattern, struct place_functions *ret)
{
	struct functions_search s = {
		.places = p,
		.pattern = pattern,
		.glob = strpbrk(pattern, "*?") != NULL,
		.nearest = { .text = pattern, .distance = VALUE_NEAR },
	};
	int r = functions_search_symbols(&s);

	if (r == 0 && s.found.n == 0 && s.found.n_indirect == 0) {
		s.suffixes = true;
		r = functions_search_symbols(&s);
	}
	functions_finish(&s.found);
	if (r < 0)
		place_functions_deinit(&s.found);
	else
		*ret = s.found;
	return r;
}

/*
 * Adds the function at VADDR by the unwind information, which also has functions without symbols.
 * Returns 0 or -ENOMEM.
 */
static int functions_add_frame(struct functions_search *s, uint64_t vaddr)
{
	struct places_symbol symbol;
	uint64_t start, end;
	char name[32];

	if (!place_frames_bounds(s->places, vaddr, &start, &end))
		return 0;
	snprintf(name, sizeof(name), "0x%" PRIx64, start);
	symbol = (struct places_symbol){ name, start, end - start };
	return functions_add(s, &symbol, name);
}

int place_functions_around(struct places *p, uint64_t vaddr, struct place_functions *ret)
{
	struct functions_search s = { .places = p };
	char symbol_name[PLACES_NAME_MAX], name[PLACES_NAME_MAX];
	struct places_symbol symbol;
	int r = 0;

	for (size_t i = 0; r == 0 && places_symbol(p, i, &symbol, symbol_name); i++) {
		if (vaddr < symbol.start || vaddr - symbol.start >= symbol.size)
			continue;
		if (demangle(name, sizeof(name), symbol.name) == 0)
			snprintf(name, sizeof(name), "%s", symbol.name);
		r = functions_add(&s, &symbol, name);
	}
	if (r == 0 && s.found.n == 0)
		r = functions_add_frame(&s, vaddr);
	functions_finish(&s.found);
	/* Keep the last one only: labels in assembly without a size extend to the next label, so
	 * several symbols can contain VADDR. */
	if (s.found.n > 0) {
		struct place_function last = s.found.list[--s.found.n];

		place_functions_deinit(&s.found);
		s.found.list = malloc(sizeof(last));
		if (s.found.list)
			s.found.list[s.found.n++] = last;
	}
	if (r == 0 && s.found.n == 0)
		r = -ENOENT;
	if (r < 0)
		place_functions_deinit(&s.found);
	else
		*ret = s.found;
	return r;
}
