/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/leaks/suppressions.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cli/common/verb.h"
#include "reader/views/profile-names.h"
#include "reader/symbols/demangle.h"

/* The limits of the frames of a stack and of the bytes of a file. */
enum { FRAMES_MAX = 1024, FILE_BYTES_MAX = 16 << 20 };

static void suppressions_free_one(struct suppression *s)
{
	for (size_t i = 0; i < s->n_patterns; i++)
		free(s->patterns[i].text);
	free(s->patterns);
	free(s->name);
}

void suppressions_deinit(struct suppressions *s)
{
	for (size_t i = 0; i < s->n; i++)
		suppressions_free_one(&s->list[i]);
	free(s->list);
	*s = (struct suppressions){ 0 };
}

/* ---- reading ---- */

struct parser {
	struct suppressions *to;
	unsigned line;
	const char *problem;
	enum { OUTSIDE, NAME, KIND, BODY } at;
	struct suppression *entry; /* the entry that is being read */
};

static struct suppression *suppressions_add_entry(struct parser *p)
{
	struct suppressions *s = p->to;

	if (GROW(s->list, s->room, s->n + 1) < 0)
		return NULL;
	s->list[s->n] = (struct suppression){ .line = p->line, .reaches = ~0u };
	return &s->list[s->n++];
}

/* Reads a function. A mangled name is demangled, since names in stacks are never mangled. */
static char *suppressions_read_function(struct parser *p, const char *text, bool *ret_literal)
{
	char name[DEMANGLE_NAME_MAX];

	*ret_literal = false;
	if (strncmp(text, "_Z", 2) != 0)
		return strdup(text);
	if (!strpbrk(text, "*?") && demangle(name, sizeof(name), text) > 0) {
		*ret_literal = true;
		return strdup(name);
	}
	p->to->n_mangled++;
	return strdup(text);
}

static int suppressions_add_pattern(struct parser *p, enum suppression_kind kind, const char *text)
{
	struct suppression *e = p->entry;
	struct suppression_pattern *pattern;

	if (GROW(e->patterns, e->room_patterns, e->n_patterns + 1) < 0)
		return -ENOMEM;
	pattern = &e->patterns[e->n_patterns];
	*pattern = (struct suppression_pattern){ .kind = kind };
	pattern->text = kind == SUPPRESSION_FUNCTION
				? suppressions_read_function(p, text, &pattern->literal)
				: strdup(text);
	if (!pattern->text)
		return -ENOMEM;
	e->n_patterns++;
	return 0;
}

static int suppressions_syntax_error(struct parser *p, const char *what)
{
	p->problem = what;
	return -EINVAL;
}

/* Reads a list of kinds: "definite,possible". */
static int suppressions_read_kinds(struct parser *p, char *text)
{
	static const struct {
		const char *word;
		unsigned reaches;
	} words[] = {
		{ "definite", 1u << REACH_LOST },
		{ "indirect", 1u << REACH_INDIRECT },
		{ "possible", 1u << REACH_POSSIBLE | 1u << REACH_EPOLL | 1u << REACH_TAGGED },
		{ "reachable", 1u << REACH_REACHABLE },
		{ "all", ~0u },
		{ "none", 0 },
	};
	char *word;

	/* Blocks that were not searched match each list of kinds, except "none". */
	p->entry->reaches = 1u << REACH_UNKNOWN;
	while ((word = strsep(&text, ", \t"))) {
		size_t i = 0;

		while (i < ARRAY_SIZE(words) && strcmp(words[i].word, word) != 0)
			i++;
		if (i == ARRAY_SIZE(words))
			return suppressions_syntax_error(
				p, "a kind of leak is one of definite, indirect, possible, "
				   "reachable, all and none");
		if (strcmp(word, "none") == 0)
			p->entry->reaches = 0;
		p->entry->reaches |= words[i].reaches;
	}
	return 0;
}

/* Returns true if TEXT begins with PREFIX. *RET is the text after PREFIX. */
static bool suppressions_has_prefix(char *text, const char *prefix, char **ret)
{
	size_t n = strlen(prefix);

	if (strncmp(text, prefix, n) != 0)
		return false;
	*ret = text + n + strspn(text + n, " \t");
	return true;
}

static int suppressions_read_body(struct parser *p, char *text)
{
	char *value;

	if (!p->entry->is_leak)
		return 0;
	if (strcmp(text, "...") == 0)
		return suppressions_add_pattern(p, SUPPRESSION_ANY, "");
	if (suppressions_has_prefix(text, "match-leak-kinds:", &value))
		return suppressions_read_kinds(p, value);
	if (suppressions_has_prefix(text, "fun:", &value))
		return suppressions_add_pattern(p, SUPPRESSION_FUNCTION, value);
	if (suppressions_has_prefix(text, "obj:", &value))
		return suppressions_add_pattern(p, SUPPRESSION_OBJECT, value);
	if (suppressions_has_prefix(text, "src:", &value))
		return suppressions_add_pattern(p, SUPPRESSION_SOURCE, value);
	return suppressions_syntax_error(p,
					 "a frame is fun:NAME, obj:PATH, src:FILE[:LINE] or ...");
}

/* Reads the kind of error: "Memcheck:Leak", "Memcheck,Addrcheck:Param". */
static int suppressions_read_kind(struct parser *p, const char *text)
{
	const char *colon = strchr(text, ':');

	if (!colon || colon == text || !colon[1])
		return suppressions_syntax_error(
			p, "the name of an entry must be followed by TOOL:KIND, such as "
			   "Memcheck:Leak");
	p->entry->is_leak = strcmp(colon + 1, "Leak") == 0;
	p->at = BODY;
	return 0;
}

static int suppressions_end_entry(struct parser *p)
{
	if (p->at != BODY)
		return suppressions_syntax_error(p, "an entry needs a name and TOOL:KIND");
	if (p->entry->is_leak && p->entry->n_patterns == 0)
		return suppressions_syntax_error(
			p, "an entry without any frame would suppress everything");
	p->at = OUTSIDE;
	return 0;
}

static int suppressions_read_outside(struct parser *p, char *text)
{
	char *value;

	if (strcmp(text, "{") == 0) {
		p->entry = suppressions_add_entry(p);
		p->at = NAME;
		return p->entry ? 0 : -ENOMEM;
	}
	if (!suppressions_has_prefix(text, "leak:", &value))
		return suppressions_syntax_error(
			p, "an entry is \"leak:TEXT\", or begins with a line that is \"{\"");
	if (!*value)
		return suppressions_syntax_error(p, "there is no text after \"leak:\"");
	p->entry = suppressions_add_entry(p);
	if (!p->entry)
		return -ENOMEM;
	p->entry->name = strdup(value);
	p->entry->is_leak = p->entry->substring = true;
	return p->entry->name ? 0 : -ENOMEM;
}

static int suppressions_read_line(struct parser *p, char *text)
{
	if (!*text || *text == '#')
		return 0;
	if (p->at == OUTSIDE)
		return suppressions_read_outside(p, text);
	if (strcmp(text, "}") == 0)
		return suppressions_end_entry(p);
	if (p->at == BODY)
		return suppressions_read_body(p, text);
	if (p->at == KIND)
		return suppressions_read_kind(p, text);
	p->entry->name = strdup(text);
	p->at = KIND;
	return p->entry->name ? 0 : -ENOMEM;
}

static char *suppressions_trim(char *text)
{
	size_t n;

	text += strspn(text, " \t\r");
	for (n = strlen(text); n > 0 && strchr(" \t\r", text[n - 1]);)
		text[--n] = '\0';
	return text;
}

int suppressions_parse(struct suppressions *s, const char *text, struct suppression_problem *reterr)
{
	_cleanup_free_ char *copy = strdup(text);
	struct parser p = { .to = s };
	char *rest = copy, *line;
	int r = copy ? 0 : -ENOMEM;

	while (r == 0 && (line = strsep(&rest, "\n"))) {
		p.line++;
		r = suppressions_read_line(&p, suppressions_trim(line));
	}
	if (r == 0 && p.at != OUTSIDE) {
		p.line = p.entry->line;
		r = suppressions_syntax_error(&p, "the entry that begins here has no end");
	}
	if (r == -EINVAL)
		*reterr = (struct suppression_problem){ p.line, p.problem };
	return r;
}

int suppressions_read(struct suppressions *s, const char *path)
{
	_cleanup_free_ char *text = calloc(1, FILE_BYTES_MAX + 1);
	struct suppression_problem problem;
	FILE *file = text ? fopen(path, "re") : NULL;
	size_t n = file ? fread(text, 1, FILE_BYTES_MAX + 1, file) : 0;
	bool failed = !file || ferror(file);
	int e = errno, r;

	if (file)
		fclose(file);
	if (failed)
		return cli_failed("--suppressions: %s: %s", path, strerror(e));
	if (n > FILE_BYTES_MAX || memchr(text, '\0', n))
		return cli_failed("--suppressions: %s is not a file of suppressions: it %s", path,
				  n > FILE_BYTES_MAX ? "is over 16 MiB"
						     : "contains bytes that are not "
						       "text");
	r = suppressions_parse(s, text, &problem);
	if (r == -EINVAL)
		cli_error("--suppressions: %s: line %u: %s", path, problem.line, problem.what);
	else if (r < 0)
		cli_error("out of memory");
	return r < 0 ? CLI_FAILED : CLI_OK;
}

/* ---- matching ---- */

/*
 * Returns true if PATTERN matches all of TEXT. '*' matches any text, and, if ANY, '?' matches any
 * character.
 */
static bool suppressions_glob(const char *pattern, const char *text, bool any)
{
	const char *star = NULL, *from = text;

	while (*text) {
		if (*pattern == '*') {
			star = pattern++;
			from = text;
		} else if (*pattern && (*pattern == *text || (any && *pattern == '?'))) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = ++from;
		} else {
			return false;
		}
	}
	return pattern[strspn(pattern, "*")] == '\0';
}

/* Returns true if PATTERN, of an entry "leak:", matches a part of TEXT. */
static bool suppressions_contains(const char *pattern, const char *text)
{
	_cleanup_free_ char *whole = malloc(strlen(pattern) + 3);
	size_t n;

	if (!whole || !*text)
		return false;
	n = (size_t)sprintf(whole, "%s%s", *pattern == '^' ? "" : "*", pattern + (*pattern == '^'));
	if (n > 0 && whole[n - 1] == '$')
		whole[n - 1] = '\0';
	else
		strcat(whole, "*");
	return suppressions_glob(whole, text, false);
}

static bool suppressions_is_source(const char *pattern, const struct suppression_frame *f)
{
	char line[16];
	const char *colon = strrchr(pattern, ':');
	_cleanup_free_ char *file = NULL;

	if (!*f->source)
		return false;
	snprintf(line, sizeof(line), "%u", (unsigned)f->line);
	if (colon && isdigit((unsigned char)colon[1])) {
		if (strcmp(colon + 1, line) != 0)
			return false;
		file = strndup(pattern, (size_t)(colon - pattern));
	} else {
		file = strdup(pattern);
	}
	return file && (suppressions_glob(file, f->source, true) ||
			suppressions_glob(file, profile_names_base(f->source), true));
}

static bool suppressions_is_frame(const struct suppression_pattern *p,
				  const struct suppression_frame *f)
{
	switch (p->kind) {
	case SUPPRESSION_FUNCTION:
		return *f->function && (p->literal ? strcmp(p->text, f->function) == 0
						   : suppressions_glob(p->text, f->function, true));
	case SUPPRESSION_OBJECT:
		return *f->module && suppressions_glob(p->text, f->module, true);
	case SUPPRESSION_SOURCE:
		return suppressions_is_source(p->text, f);
	default:
		return true;
	}
}

/* Returns true if P matches the allocating function, which is the first frame for valgrind. */
static bool suppressions_is_allocator(const struct suppression_pattern *p,
				      const struct suppression_stack *s)
{
	if (p->kind != SUPPRESSION_FUNCTION)
		return p->kind == SUPPRESSION_OBJECT;
	for (size_t i = 0; i < s->n_allocators; i++)
		if (suppressions_is_frame(p, &(struct suppression_frame){ s->allocators[i], "", "",
									  0 }))
			return true;
	/* In C++ programs, operator new calls malloc(). */
	return s->n_allocators == 0 || strncmp(p->text, "operator new", 12) == 0 ||
	       strncmp(p->text, "_Zn", 3) == 0;
}

/*
 * Returns true if the frames of E match a stack. Frame 0 of AT is the allocating function, which E
 * can omit.
 */
static bool suppressions_matches_frames(const struct suppression *e,
					const struct suppression_stack *s)
{
	size_t n = s->n_frames < FRAMES_MAX ? s->n_frames : FRAMES_MAX;
	bool at[FRAMES_MAX + 3] = { true, true };

	for (size_t i = 0; i < e->n_patterns; i++) {
		const struct suppression_pattern *p = &e->patterns[i];
		bool next[FRAMES_MAX + 3] = { false };

		for (size_t j = 0; j <= n; j++) {
			if (p->kind == SUPPRESSION_ANY)
				next[j] = at[j] || (j > 0 && next[j - 1]);
			else if (at[j])
				next[j + 1] |= j == 0 ? suppressions_is_allocator(p, s)
						      : suppressions_is_frame(p, &s->frames[j - 1]);
		}
		if (p->kind == SUPPRESSION_ANY)
			next[n + 1] = at[n + 1] || next[n];
		memcpy(at, next, sizeof(at));
	}
	return memchr(at, true, n + 2) != NULL;
}

static bool suppressions_matches_text(const struct suppression *e,
				      const struct suppression_stack *s)
{
	for (size_t i = 0; i < s->n_frames; i++) {
		const struct suppression_frame *f = &s->frames[i];

		if (suppressions_contains(e->name, f->function) ||
		    suppressions_contains(e->name, f->source) ||
		    suppressions_contains(e->name, f->module))
			return true;
	}
	return false;
}

struct suppression *suppressions_find(struct suppressions *s, const struct suppression_stack *stack)
{
	for (size_t i = 0; i < s->n; i++) {
		struct suppression *e = &s->list[i];

		if (!e->is_leak || !(e->reaches & 1u << stack->reach))
			continue;
		if (e->substring ? suppressions_matches_text(e, stack)
				 : suppressions_matches_frames(e, stack))
			return e;
	}
	return NULL;
}
