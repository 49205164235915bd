/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/places/moment-spec.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "cli/common/verb.h"

void moment_spec_deinit(struct moment_spec *s)
{
	free(s->text);
	free(s->collect);
	*s = (struct moment_spec){ 0 };
}

/* ---- names with $ ---- */

int moment_spec_register(const char *name)
{
	static const char *const names[] = { "rax", "rdx", "rcx", "rbx", "rsi", "rdi",
					     "rbp", "rsp", "r8",  "r9",  "r10", "r11",
					     "r12", "r13", "r14", "r15", "rip" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i], name) == 0)
			return (int)i;
	return -1;
}

/* Returns true if NAME has a meaning in GDB or in kymo's trace files. */
static bool moment_spec_is_reserved(const char *name)
{
	static const char *const names[] = {
		"pc",          "sp",         "fp",         "ps",         "eflags",
		"cs",          "ss",         "ds",         "es",         "fs",
		"gs",          "fs_base",    "gs_base",    "hit",        "tid",
		"pid",         "cpu",        "ts_ns",      "tpnum",      "trace_timestamp",
		"trace_frame", "trace_line", "trace_func", "trace_file", "tracepoint",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return *name == '_' || moment_spec_register(name) >= 0;
}

int moment_spec_tsv(const struct moment_spec *s, const char *name)
{
	for (uint32_t i = 0; i < s->n_tsvs; i++)
		if (strcmp(s->tsvs[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* Adds WORD, "$NAME", a trace state variable. */
static int moment_spec_parse_tsv(struct moment_spec *s, const char *option, const char *word,
				 bool is_counted)
{
	int at;

	if (!word || *word != '$' || !moment_plan_is_tsv(word + 1, strlen(word + 1)))
		return cli_usage_error("%s: '%s' is not the name of a trace state variable, "
				       "such as $requests",
				       option, word ?: "");
	if (moment_spec_is_reserved(word + 1))
		return cli_usage_error("%s: the name %s is reserved: use another one", option,
				       word);
	at = moment_spec_tsv(s, word + 1);
	if (at < 0 && s->n_tsvs == MOMENT_PLAN_TSVS_MAX)
		return cli_usage_error("%s: at most %d trace state variables are possible at one "
				       "point",
				       option, MOMENT_PLAN_TSVS_MAX);
	if (at < 0)
		at = (int)s->n_tsvs++;
	s->tsvs[at].name = word + 1;
	s->tsvs[at].is_counted |= is_counted;
	return CLI_OK;
}

/* ---- collected data ---- */

static int moment_spec_parse_item(struct moment_spec *s, const char *word)
{
	const int stack_max = MOMENT_PLAN_BYTES_MAX - MOMENT_SPEC_RED_ZONE;

	/* (registers are always collected) */
	if (strcmp(word, "regs") == 0 || !*word ||
	    (*word == '$' && moment_spec_register(word + 1) >= 0))
		return CLI_OK;
	if (*word == '$')
		return moment_spec_parse_tsv(s, "--collect", word, false);
	if (strcmp(word, "stack") == 0) {
		s->stack_bytes = MOMENT_SPEC_STACK_BYTES;
		return CLI_OK;
	}
	if (strncmp(word, "stack=", 6) == 0) {
		if (text_parse_size(word + 6, &s->stack_bytes) == 0 &&
		    s->stack_bytes <= (uint64_t)stack_max)
			return CLI_OK;
		return cli_usage_error("--collect: stack=BYTES takes at most %d, not '%s'",
				       stack_max, word + 6);
	}
	if (s->n_items == MOMENT_SPEC_ITEMS_MAX)
		return cli_usage_error("--collect: at most %d words are possible",
				       MOMENT_SPEC_ITEMS_MAX);
	s->items[s->n_items++] = word;
	return CLI_OK;
}

static int moment_spec_parse_collect(struct moment_spec *s, const char *collect)
{
	char *rest, *word;
	int r = CLI_OK;

	if (s->max == 0 && !s->snapshot && !s->stop)
		return CLI_OK;
	if (s->own_collect)
		collect = s->own_collect;
	s->implied = !collect;
	s->collect = strdup(collect ?: "args,locals,stack");
	if (!s->collect)
		return cli_failed("out of memory");
	for (rest = s->collect; r == CLI_OK && (word = strsep(&rest, ","));)
		r = moment_spec_parse_item(s, word);
	return r;
}

/* ---- words after the place ---- */

/* The next word of *REST, without consuming it; "" after the last word. */
static const char *moment_spec_peek(char **rest)
{
	if (*rest)
		*rest += strspn(*rest, " ");
	return *rest ?: "";
}

/* Consumes the next word of *REST. Returns NULL after the last word. */
static char *moment_spec_word(char **rest)
{
	char *word;

	do
		word = strsep(rest, " ");
	while (word && !*word);
	return word;
}

static int moment_spec_parse_if(struct moment_spec *s, const char *option, char **rest)
{
	struct moment_spec_condition *c;
	bool again;

	do {
		if (s->n_conditions == MOMENT_PLAN_CONDITIONS_MAX)
			return cli_usage_error("%s: at most %d conditions are possible", option,
					       MOMENT_PLAN_CONDITIONS_MAX);
		c = &s->conditions[s->n_conditions++];
		c->subject = moment_spec_word(rest);
		c->op = moment_spec_word(rest);
		c->number = moment_spec_word(rest);
		if (!c->number)
			return cli_usage_error("%s: a condition is 'if NAME OP NUMBER', as in "
					       "'if n > 4' or 'if $rdi == 0 && n > 4'",
					       option);
		if (*c->subject == '$' && moment_spec_register(c->subject + 1) < 0 &&
		    moment_spec_parse_tsv(s, option, c->subject, false) != CLI_OK)
			return CLI_USAGE;
		again = strncmp(moment_spec_peek(rest), "&& ", 3) == 0 && moment_spec_word(rest);
	} while (again);
	return CLI_OK;
}

/* Parses the number after WORD. If OPTIONAL, the number can be omitted, and is then 1. */
static int moment_spec_parse_number(const char *option, const char *word, bool optional,
				    char **rest, uint64_t *to, uint64_t unset)
{
	const char *number = "1";

	if (*to != unset)
		return cli_usage_error("%s: '%s' is given twice", option, word);
	if (!optional || isdigit((unsigned char)*moment_spec_peek(rest)))
		number = moment_spec_word(rest);
	if (!number || text_parse_u64(number, UINT64_MAX - 1, to) < 0 || (optional && *to == 0))
		return cli_usage_error("%s: %s takes a number, not '%s'", option, word,
				       number ?: "");
	return CLI_OK;
}

static int moment_spec_set_own_collect(struct moment_spec *s, const char *option, const char *words)
{
	if (!words || s->own_collect)
		return cli_usage_error("%s: collect takes one list of words, separated by commas",
				       option);
	s->own_collect = words;
	return CLI_OK;
}

static int moment_spec_parse_word(struct moment_spec *s, const char *option, const char *word,
				  char **rest)
{
	if (strcmp(word, "if") == 0)
		return moment_spec_parse_if(s, option, rest);
	if (strcmp(word, "collect") == 0)
		return moment_spec_set_own_collect(s, option, moment_spec_word(rest));
	if (strcmp(word, "count") == 0)
		return moment_spec_parse_tsv(s, option, moment_spec_word(rest), true);
	if (strcmp(word, "max") == 0)
		return moment_spec_parse_number(option, word, false, rest, &s->max,
						MOMENT_PLAN_EACH);
	if (strcmp(word, "snapshot") == 0)
		return moment_spec_parse_number(option, word, true, rest, &s->snapshot, 0);
	if (strcmp(word, "stop") == 0)
		return moment_spec_parse_number(option, word, true, rest, &s->stop, 0);
	return cli_usage_error("%s: '%s' must be one of if, max, collect, count, snapshot and "
			       "stop",
			       option, word);
}

/* Cuts TEXT after the place. Returns the words after the place; NULL = no words. */
static char *moment_spec_cut_place(char *text)
{
	static const char *const words[] = { "if", "max", "collect", "count", "snapshot", "stop" };

	for (char *at = strchr(text, ' '); at; at = strchr(at + 1, ' '))
		for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
			size_t n = strlen(words[i]);

			if (strncmp(at + 1, words[i], n) == 0 && (!at[n + 1] || at[n + 1] == ' ')) {
				*at = '\0';
				return at + 1;
			}
		}
	return NULL;
}

static bool moment_spec_acts(const struct moment_spec *s)
{
	bool counts = false;

	for (uint32_t i = 0; i < s->n_tsvs; i++)
		counts |= s->tsvs[i].is_counted;
	return counts || s->snapshot || s->stop;
}

static int moment_spec_parse_text(struct moment_spec *s, const char *option, const char *text)
{
	char *rest, *word;
	int r = CLI_OK;

	s->text = strdup(text);
	if (!s->text)
		return cli_failed("out of memory");
	rest = moment_spec_cut_place(s->text);
	while (r == CLI_OK && (word = moment_spec_word(&rest)))
		r = moment_spec_parse_word(s, option, word, &rest);
	if (r == CLI_OK && s->max == 0 && !moment_spec_acts(s))
		return cli_usage_error("%s: max 0 collects nothing: the point needs another "
				       "action (count $NAME, snapshot or stop)",
				       option);
	s->place = s->text;
	s->file = strsep(&s->place, ":");
	if (r != CLI_OK || (s->place && *s->place && *s->file))
		return r;
	return cli_usage_error("%s: '%s' is not FILE:FUNCTION, FILE:SOURCE:LINE, FILE:0xADDRESS or "
			       "FILE:usdt:PROVIDER:NAME",
			       option, text);
}

int moment_spec_parse(const char *option, const char *text, const char *collect,
		      struct moment_spec *ret)
{
	int r;

	*ret = (struct moment_spec){ .max = MOMENT_PLAN_EACH };
	r = moment_spec_parse_text(ret, option, text);
	return r == CLI_OK ? moment_spec_parse_collect(ret, collect) : r;
}
