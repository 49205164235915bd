/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/options/tracepoint-spec.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

struct spec_reader {
	const char *text, *p;
	char *why;
};

static const struct {
	const char *text;
	uint8_t op;
} spec_ops[] = {
	{ "==", CALL_OP_EQ }, { "!=", CALL_OP_NE }, { "<=", CALL_OP_LE }, { ">=", CALL_OP_GE },
	{ "<", CALL_OP_LT },  { ">", CALL_OP_GT },  { "&", CALL_OP_AND },
};

__attribute__((format(printf, 2, 3))) static int tracepoint_spec_refuse(struct spec_reader *r,
									const char *format, ...)
{
	char reason[128];
	va_list args;

	va_start(args, format);
	vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	return value_refuse(r->why, "'%.80s', byte %zu: %s", r->text, (size_t)(r->p - r->text),
			    reason);
}

static void tracepoint_spec_skip(struct spec_reader *r)
{
	while (*r->p == ' ' || *r->p == '\t')
		r->p++;
}

static bool tracepoint_spec_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Reads a word that may also have the characters OTHERS. */
static int tracepoint_spec_read_word(struct spec_reader *r, const char *others,
				     char to[static TRACEPOINT_NAME_MAX], const char *what)
{
	size_t n = 0;

	while (tracepoint_spec_is_word(r->p[n]) || (r->p[n] && strchr(others, r->p[n])))
		n++;
	if (n == 0)
		return tracepoint_spec_refuse(r, "%s is missing", what);
	if (n >= TRACEPOINT_NAME_MAX)
		return tracepoint_spec_refuse(r, "%s is longer than %d bytes", what,
					      TRACEPOINT_NAME_MAX - 1);
	memcpy(to, r->p, n);
	to[n] = '\0';
	r->p += n;
	return 0;
}

static int tracepoint_spec_read_op(struct spec_reader *r, uint8_t *ret)
{
	tracepoint_spec_skip(r);
	for (size_t i = 0; i < ARRAY_SIZE(spec_ops); i++) {
		size_t n = strlen(spec_ops[i].text);

		/* (&& separates conditions) */
		if (strncmp(r->p, spec_ops[i].text, n) != 0 || strncmp(r->p, "&&", 2) == 0)
			continue;
		r->p += n;
		*ret = spec_ops[i].op;
		return 0;
	}
	return tracepoint_spec_refuse(r, "one of == != < <= > >= & is missing");
}

static int tracepoint_spec_read_text(struct spec_reader *r, struct tracepoint_spec_condition *c)
{
	size_t n = strcspn(++r->p, "\"");

	if (r->p[n] != '"')
		return tracepoint_spec_refuse(r, "the end of the text (\") is missing");
	if (n >= sizeof(c->text) - 1)
		return tracepoint_spec_refuse(r, "the text is longer than %zu bytes",
					      sizeof(c->text) - 2);
	if (c->op != CALL_OP_EQ && c->op != CALL_OP_NE)
		return tracepoint_spec_refuse(r, "a text can only be compared with == and !=");
	memcpy(c->text, r->p, n);
	c->text[n] = '\0';
	c->is_text = true;
	r->p += n + 1;
	return 0;
}

static int tracepoint_spec_read_number(struct spec_reader *r, struct tracepoint_spec_condition *c)
{
	char *end;

	c->is_negative = *r->p == '-';
	if (!isdigit((unsigned char)r->p[c->is_negative]))
		return tracepoint_spec_refuse(r, "a number, or a text in \"quotes\", is missing");
	errno = 0;
	c->value = c->is_negative ? (uint64_t)strtoll(r->p, &end, 0) : strtoull(r->p, &end, 0);
	if (errno == ERANGE)
		return tracepoint_spec_refuse(r, "the number is too large");
	if (tracepoint_spec_is_word(*end))
		return tracepoint_spec_refuse(r, "unexpected character in a number");
	c->is_negative &= c->value != 0;
	r->p = end;
	return 0;
}

static int tracepoint_spec_read_condition(struct spec_reader *r,
					  struct tracepoint_spec_condition *c)
{
	int e;

	tracepoint_spec_skip(r);
	e = tracepoint_spec_read_word(r, "", c->field, "a field")
		    ?: tracepoint_spec_read_op(r, &c->op);
	if (e < 0)
		return e;
	tracepoint_spec_skip(r);
	e = *r->p == '"' ? tracepoint_spec_read_text(r, c) : tracepoint_spec_read_number(r, c);
	tracepoint_spec_skip(r);
	return e;
}

static int tracepoint_spec_read_conditions(struct spec_reader *r, struct tracepoint_spec *spec)
{
	do {
		int e;

		r->p += spec->n_conditions ? 2 : 1;
		if (spec->n_conditions == TRACEPOINT_CONDITIONS_MAX)
			return tracepoint_spec_refuse(r, "at most %d conditions are possible",
						      TRACEPOINT_CONDITIONS_MAX);
		e = tracepoint_spec_read_condition(r, &spec->conditions[spec->n_conditions]);
		if (e < 0)
			return e;
		spec->n_conditions++;
	} while (strncmp(r->p, "&&", 2) == 0);
	if (*r->p != ']')
		return tracepoint_spec_refuse(r, "&& or ] is missing");
	r->p++;
	return 0;
}

int tracepoint_spec_parse(const char *text, struct tracepoint_spec *ret,
			  char why[static VALUE_WHY_MAX])
{
	struct spec_reader r = { .text = text, .p = text, .why = why };
	int e;

	*ret = (struct tracepoint_spec){ 0 };
	e = tracepoint_spec_read_word(&r, "*?-", ret->system, "the system");
	if (e < 0)
		return e;
	if (*r.p == ':') {
		r.p++;
		e = tracepoint_spec_read_word(&r, "*?-", ret->name, "the name");
	} else {
		ret->preset = tracepoint_preset_find(text, (size_t)(r.p - text));
		if (!ret->preset)
			return tracepoint_spec_refuse(&r, "expected SYSTEM:NAME");
		*ret->system = '\0';
	}
	if (e == 0 && *r.p == '[')
		e = tracepoint_spec_read_conditions(&r, ret);
	if (e == 0 && *r.p)
		e = tracepoint_spec_refuse(&r, "expected a condition in brackets, or the end");
	return e;
}

bool tracepoint_spec_is_pattern(const struct tracepoint_spec *spec)
{
	return spec->preset || strpbrk(spec->system, "*?") || strpbrk(spec->name, "*?");
}

size_t tracepoint_spec_word(const char *text)
{
	bool brackets = false, quotes = false;
	size_t n = 0;

	for (; text[n] && (text[n] != ',' || brackets); n++) {
		if (text[n] == '"' && brackets)
			quotes = !quotes;
		else if (text[n] == '[' && !quotes)
			brackets = true;
		else if (text[n] == ']' && !quotes)
			brackets = false;
	}
	return n;
}
