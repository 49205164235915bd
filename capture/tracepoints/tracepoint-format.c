/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/tracepoints/tracepoint-format.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "capture/perf/tracefs.h"

/* A part of a line; not NUL-terminated. */
struct format_text {
	const char *p;
	size_t n;
};

static struct format_text tracepoint_format_trim(struct format_text t)
{
	while (t.n && isspace((unsigned char)*t.p)) {
		t.p++;
		t.n--;
	}
	while (t.n && isspace((unsigned char)t.p[t.n - 1]))
		t.n--;
	return t;
}

/* Takes the bytes of T up to the character END. Returns false if T has no END. */
static bool tracepoint_format_take(struct format_text *t, char end, struct format_text *ret)
{
	const char *at = memchr(t->p, end, t->n);

	if (!at)
		return false;
	*ret = (struct format_text){ t->p, (size_t)(at - t->p) };
	t->n -= ret->n + 1;
	t->p = at + 1;
	return true;
}

static bool tracepoint_format_begins(struct format_text t, const char *with)
{
	size_t n = strlen(with);

	return t.n >= n && memcmp(t.p, with, n) == 0;
}

static bool tracepoint_format_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Returns true if T, which is a type, has the whole word WORD. */
static bool tracepoint_format_has(struct format_text t, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i + n <= t.n; i++) {
		if (memcmp(t.p + i, word, n) != 0)
			continue;
		if (!tracepoint_format_is_word(*word))
			return true;
		if ((i == 0 || !tracepoint_format_is_word(t.p[i - 1])) &&
		    (i + n == t.n || !tracepoint_format_is_word(t.p[i + n])))
			return true;
	}
	return false;
}

/* Parses "KEY:NUMBER" with a number of at most MAX. */
static bool tracepoint_format_number(struct format_text t, const char *key, uint64_t max,
				     uint64_t *ret)
{
	uint64_t value = 0;

	t = tracepoint_format_trim(t);
	if (!tracepoint_format_begins(t, key) || t.n == strlen(key))
		return false;
	for (size_t i = strlen(key); i < t.n; i++) {
		if (!isdigit((unsigned char)t.p[i]))
			return false;
		value = value * 10 + (uint64_t)(t.p[i] - '0');
		if (value > max)
			return false;
	}
	*ret = value;
	return true;
}

static bool tracepoint_format_copy(struct format_text t, char to[static TRACEPOINT_NAME_MAX])
{
	if (t.n == 0 || t.n >= TRACEPOINT_NAME_MAX)
		return false;
	for (size_t i = 0; i < t.n; i++)
		if (!isalnum((unsigned char)t.p[i]) && t.p[i] != '_' && t.p[i] != '-')
			return false;
	memcpy(to, t.p, t.n);
	to[t.n] = '\0';
	return true;
}

/* Removes the declaration of an array, "[16]", from the end of T. Returns true if T had one. */
static bool tracepoint_format_cut_array(struct format_text *t)
{
	const char *at;

	*t = tracepoint_format_trim(*t);
	if (!t->n || t->p[t->n - 1] != ']')
		return false;
	at = memchr(t->p, '[', t->n);
	if (!at)
		return false;
	t->n = (size_t)(at - t->p);
	return true;
}

/* Divides a declaration, "unsigned long args[6]", into its type and its name. */
static bool tracepoint_format_divide(struct format_text t, struct format_text *ret_type,
				     struct format_text *ret_name, bool *ret_array)
{
	size_t n;

	*ret_array = tracepoint_format_cut_array(&t);
	t = tracepoint_format_trim(t);
	n = t.n;
	while (n && tracepoint_format_is_word(t.p[n - 1]))
		n--;
	*ret_name = (struct format_text){ t.p + n, t.n - n };
	*ret_type = tracepoint_format_trim((struct format_text){ t.p, n });
	/* In "__data_loc char[] name", the type has the array. */
	return ret_name->n && ret_type->n;
}

static bool tracepoint_format_is_size(uint64_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

struct format_type {
	const char *word;
	uint8_t size;
	bool is_signed;
};

/* If a type contains the words of several rows, the first of these rows counts. */
static const struct format_type format_types[] = {
	{ "char", 1, false },    { "u8", 1, false },       { "__u8", 1, false },
	{ "uint8_t", 1, false }, { "s8", 1, true },        { "__s8", 1, true },
	{ "int8_t", 1, true },   { "bool", 1, false },     { "_Bool", 1, false },
	{ "short", 2, true },    { "u16", 2, false },      { "__u16", 2, false },
	{ "__be16", 2, false },  { "uint16_t", 2, false }, { "s16", 2, true },
	{ "__s16", 2, true },    { "int16_t", 2, true },   { "u32", 4, false },
	{ "__u32", 4, false },   { "__be32", 4, false },   { "uint32_t", 4, false },
	{ "s32", 4, true },      { "__s32", 4, true },     { "int32_t", 4, true },
	{ "pid_t", 4, true },    { "uid_t", 4, false },    { "gid_t", 4, false },
	{ "u64", 8, false },     { "__u64", 8, false },    { "uint64_t", 8, false },
	{ "s64", 8, true },      { "__s64", 8, true },     { "int64_t", 8, true },
	{ "long", 8, true },     { "unsigned", 4, false }, { "int", 4, true },
};
_Static_assert(sizeof(long) == 8, "the size of long in the table");

/* Returns the row of TYPE; NULL = the type is a structure, a pointer, or unknown. */
static const struct format_type *tracepoint_format_type(struct format_text type)
{
	if (tracepoint_format_has(type, "struct") || tracepoint_format_has(type, "union") ||
	    tracepoint_format_has(type, "*"))
		return NULL;
	for (size_t i = 0; i < sizeof(format_types) / sizeof(format_types[0]); i++)
		if (tracepoint_format_has(type, format_types[i].word))
			return &format_types[i];
	return NULL;
}

/* Returns the size of the elements of an array of TYPE; 0 = unknown. */
static uint16_t tracepoint_format_element(struct format_text type)
{
	const struct format_type *row = tracepoint_format_type(type);

	return row ? row->size : tracepoint_format_has(type, "*") ? sizeof(void *) : 0;
}

static bool tracepoint_format_is_chars(struct format_text type)
{
	return tracepoint_format_has(type, "char") && !tracepoint_format_has(type, "unsigned") &&
	       !tracepoint_format_has(type, "signed") && !tracepoint_format_has(type, "*");
}

static enum tracepoint_form tracepoint_format_number_form(struct format_text type, bool is_signed)
{
	if (tracepoint_format_has(type, "*"))
		return TRACEPOINT_POINTER;
	if (tracepoint_format_has(type, "bool") || tracepoint_format_has(type, "_Bool"))
		return TRACEPOINT_BOOL;
	return is_signed ? TRACEPOINT_INT : TRACEPOINT_UINT;
}

/*
 * The tracepoints of system calls have all arguments in fields of eight bytes. If the type of an
 * argument is int, only the lower half of its field counts.
 */
static void tracepoint_format_narrow(struct tracepoint_field *f, struct format_text type)
{
	const struct format_type *row = tracepoint_format_type(type);

	if (!row || row->size != 4 || f->size != 8)
		return;
	f->form = row->is_signed && !tracepoint_format_has(type, "unsigned") ? TRACEPOINT_INT
									     : TRACEPOINT_UINT;
	f->size = f->element = 4;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	f->offset += 4;
#endif
}

/* Sets the form of F, which is not dynamic. */
static void tracepoint_format_set_form(struct tracepoint_field *f, struct format_text type,
				       bool is_array, bool is_signed)
{
	uint16_t element = is_array ? tracepoint_format_element(type) : 0;

	f->element = 1;
	f->form = TRACEPOINT_BYTES;
	if (is_array && tracepoint_format_is_chars(type)) {
		f->form = TRACEPOINT_CHARS;
	} else if (!is_array && tracepoint_format_is_size(f->size) &&
		   (tracepoint_format_has(type, "*") || (!tracepoint_format_has(type, "struct") &&
							 !tracepoint_format_has(type, "union")))) {
		f->form = tracepoint_format_number_form(type, is_signed);
		f->element = f->size;
		tracepoint_format_narrow(f, type);
	} else if (element > 1 && f->size % element == 0) {
		f->form = tracepoint_format_number_form(type, is_signed);
		f->element = element;
		f->count = (uint16_t)(f->size / element);
	}
}

static void tracepoint_format_set_dynamic(struct tracepoint_field *f, struct format_text type,
					  bool is_signed)
{
	uint16_t element;

	f->is_dynamic = true;
	f->is_relative = tracepoint_format_begins(type, "__rel_loc");
	tracepoint_format_cut_array(&type);
	element = tracepoint_format_element(type);
	f->element = 1;
	f->form = tracepoint_format_is_chars(type) ? TRACEPOINT_CHARS : TRACEPOINT_BYTES;
	if (element > 1) {
		f->form = tracepoint_format_number_form(type, is_signed);
		f->element = element;
	}
}

/*
 * Parses a line "field:TYPE NAME; offset:8; size:4; signed:1;". Returns 1, 0 if it is a common
 * field or has no bytes, or a negative errno.
 */
static int tracepoint_format_field(struct format_text line, struct tracepoint_field *f)
{
	struct format_text declaration, type, name, part[3];
	uint64_t offset, size, is_signed = 0;
	bool is_array;

	*f = (struct tracepoint_field){ 0 };
	if (!tracepoint_format_take(&line, ';', &declaration))
		return -EBADMSG;
	for (size_t i = 0; i < 3; i++)
		if (!tracepoint_format_take(&line, ';', &part[i]))
			return -EBADMSG;
	if (!tracepoint_format_number(part[0], "offset:", UINT16_MAX, &offset) ||
	    !tracepoint_format_number(part[1], "size:", UINT16_MAX, &size) ||
	    !tracepoint_format_number(part[2], "signed:", 1, &is_signed) ||
	    !tracepoint_format_divide(declaration, &type, &name, &is_array) ||
	    !tracepoint_format_copy(name, f->name))
		return -EBADMSG;
	if (offset < TRACEPOINT_HEAD_BYTES || size == 0)
		return 0;
	if (offset + size > UINT16_MAX)
		return -EBADMSG;
	f->offset = (uint16_t)offset;
	f->size = (uint16_t)size;
	if (!tracepoint_format_begins(type, "__data_loc") &&
	    !tracepoint_format_begins(type, "__rel_loc"))
		tracepoint_format_set_form(f, type, is_array, is_signed);
	else if (size == sizeof(uint32_t))
		tracepoint_format_set_dynamic(f, type, is_signed);
	else
		return -EBADMSG;
	return 1;
}

static int tracepoint_format_line(struct format_text line, struct tracepoint_format *ret)
{
	struct tracepoint_field field;
	uint64_t id;
	int r;

	line = tracepoint_format_trim(line);
	if (tracepoint_format_begins(line, "name:"))
		return tracepoint_format_copy(tracepoint_format_trim((struct format_text){
						      line.p + 5, line.n - 5 }),
					      ret->name)
			       ? 0
			       : -EBADMSG;
	if (tracepoint_format_begins(line, "ID:")) {
		struct format_text number =
			tracepoint_format_trim((struct format_text){ line.p + 3, line.n - 3 });

		if (!tracepoint_format_number(number, "", UINT32_MAX, &id))
			return -EBADMSG;
		ret->id = (uint32_t)id;
		return 0;
	}
	if (!tracepoint_format_begins(line, "field:"))
		return 0;
	r = tracepoint_format_field((struct format_text){ line.p + 6, line.n - 6 }, &field);
	if (r <= 0)
		return r;
	if (ret->n_fields == TRACEPOINT_FORMAT_FIELDS_MAX)
		return -E2BIG;
	/* (a format with two fields of one name would make conditions ambiguous) */
	if (tracepoint_format_find(ret, field.name))
		return -EBADMSG;
	if (field.offset + (uint32_t)field.size > ret->end)
		ret->end = field.offset + (uint32_t)field.size;
	ret->fields[ret->n_fields++] = field;
	return 0;
}

int tracepoint_format_parse(const char *text, size_t n, struct tracepoint_format *ret)
{
	struct format_text rest = { text, n }, line;
	int r = 0;

	*ret = (struct tracepoint_format){ .end = TRACEPOINT_HEAD_BYTES };
	if (n > TRACEPOINT_FORMAT_BYTES_MAX)
		return -E2BIG;
	while (r == 0 && tracepoint_format_take(&rest, '\n', &line)) {
		if (tracepoint_format_begins(line, "print fmt:"))
			break;
		r = tracepoint_format_line(line, ret);
	}
	return r < 0 ? r : *ret->name && ret->id ? 0 : -EBADMSG;
}

int tracepoint_format_read(int dir, const char *system, const char *name,
			   struct tracepoint_format *ret, struct tracepoint_symbols *ret_symbols)
{
	_cleanup_free_ char *text = malloc(TRACEPOINT_FORMAT_BYTES_MAX + 1);
	ssize_t n =
		text ? tracefs_read_format(dir, system, name, text, TRACEPOINT_FORMAT_BYTES_MAX + 1)
		     : -ENOMEM;
	int r = n < 0 ? (int)n : tracepoint_format_parse(text, (size_t)n, ret);

	*ret_symbols = (struct tracepoint_symbols){ 0 };
	return r < 0 ? r : tracepoint_symbols_parse(text, (size_t)n, ret_symbols);
}

const struct tracepoint_field *tracepoint_format_find(const struct tracepoint_format *f,
						      const char *name)
{
	for (size_t i = 0; i < f->n_fields; i++)
		if (strcmp(f->fields[i].name, name) == 0)
			return &f->fields[i];
	return NULL;
}
