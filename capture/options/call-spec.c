/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/options/call-spec.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/calls/call-sets.h"
#include "model/calls/call-structs.h"
#include "model/calls/call-syscalls.h"
#include "model/calls/libc-functions.h"
#include "base/cleanup.h"

static const struct op_row {
	const char *text; /* a longer operator comes before its own prefix */
	uint8_t op;
} ops[] = {
	{ "==", CALL_OP_EQ }, { "!=", CALL_OP_NE }, { "<=", CALL_OP_LE }, { ">=", CALL_OP_GE },
	{ "<", CALL_OP_LT },  { ">", CALL_OP_GT },  { "&", CALL_OP_AND },
};

/* The state of the parser. */
struct spec_reader {
	const char *text, *p;
	struct call_spec *spec;
	struct call_spec_error *error;
	/*
	 * For each buffer, the name of the argument that holds its size. It is resolved at the end,
	 * since the argument can come after the buffer.
	 */
	const char *counts[CALL_ARGS_MAX];
	size_t count_bytes[CALL_ARGS_MAX];
	size_t n_words; /* used bytes of the spec's `words` */
};

static int spec_fail(struct spec_reader *r, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int spec_fail(struct spec_reader *r, const char *at, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(r->error->why, sizeof(r->error->why), format, args);
	va_end(args);
	r->error->at = (size_t)(at - r->text);
	return -EINVAL;
}

/* ---- tokens ---- */

static void spec_skip(struct spec_reader *r)
{
	while (*r->p == ' ' || *r->p == '\t')
		r->p++;
}

/* Consumes TOKEN if it is next. True if it was. */
static bool spec_accept(struct spec_reader *r, const char *token)
{
	size_t n = strlen(token);

	spec_skip(r);
	if (strncmp(r->p, token, n) != 0)
		return false;
	r->p += n;
	return true;
}

static bool spec_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Returns the length of the word that is next; 0 = there is none. */
static size_t spec_word(struct spec_reader *r)
{
	size_t n = 0;

	spec_skip(r);
	while (spec_is_word(r->p[n]))
		n++;
	return n;
}

static bool spec_same(const char *name, const char *p, size_t n)
{
	return strlen(name) == n && memcmp(name, p, n) == 0;
}

/* Parses the number that is next. */
static int spec_number(struct spec_reader *r, uint64_t *ret)
{
	const char *begin;
	char *end;

	spec_skip(r);
	begin = r->p;
	if (!isdigit((unsigned char)(*begin == '-' ? begin[1] : *begin)))
		return spec_fail(r, begin, "a number is missing");
	errno = 0;
	*ret = *begin == '-' ? (uint64_t)strtoll(begin, &end, 0) : strtoull(begin, &end, 0);
	if (errno == ERANGE)
		return spec_fail(r, begin, "the number is too large");
	if (spec_is_word(*end))
		return spec_fail(r, end, "unexpected character in a number");
	r->p = end;
	return 0;
}

/* ---- FILE:FUNCTION ---- */

/* Copies N bytes from FROM to TO, which has MAX bytes. */
static int spec_copy(struct spec_reader *r, char *to, size_t max, const char *from, size_t n,
		     const char *what)
{
	if (n == 0)
		return spec_fail(r, from, "%s is missing", what);
	if (n >= max)
		return spec_fail(r, from, "%s is longer than %zu bytes", what, max - 1);
	memcpy(to, from, n);
	to[n] = '\0';
	return 0;
}

const char *call_spec_find_file(const char *text, const char **ret, size_t *ret_n)
{
	bool quoted = *text == '\'';

	*ret = text + quoted;
	*ret_n = strcspn(*ret, quoted ? "'" : ":(");
	return *ret + *ret_n + (quoted && (*ret)[*ret_n]);
}

static int spec_file(struct spec_reader *r)
{
	const char *begin = r->p, *file;
	size_t n;

	r->p = call_spec_find_file(begin, &file, &n);
	if (*r->p == '(' && strchr(r->p, ':'))
		return spec_fail(r, begin,
				 "FILE:FUNCTION(...) is expected: there is no ':' before '('; a "
				 "path with ':' or '(' is written in quotes, 'PATH':FUNCTION");
	if (*r->p != ':')
		return spec_fail(r, begin, "FILE:FUNCTION(...) is expected: there is no ':'");
	r->p++;
	return spec_copy(r, r->spec->file, CALL_FILE_MAX, file, n, "the file");
}

/* Parses "+OFFSET+BYTES@AT='LABEL'". */
static int spec_range(struct spec_reader *r)
{
	struct call_range *range = &r->spec->range;
	const char *begin = r->p;
	size_t n;
	int error;

	r->p++;
	error = spec_number(r, &range->begin);
	if (error == 0 && !spec_accept(r, "+"))
		error = spec_fail(r, r->p,
				  "'+' and the size of the function in bytes are "
				  "missing");
	error = error ?: spec_number(r, &range->bytes);
	if (error == 0 && spec_accept(r, "@")) {
		range->is_point = true;
		error = spec_number(r, &range->at);
	}
	if (error < 0)
		return error;
	range->is_used = true;
	if (range->bytes == 0 || range->begin > INT64_MAX || range->bytes > INT64_MAX ||
	    range->at >= range->bytes)
		return spec_fail(r, begin, "unexpected text in the description of a file");
	if (!spec_accept(r, "='"))
		return spec_fail(r, r->p, "='NAME' is missing");
	begin = r->p;
	n = strcspn(begin, "'");
	for (size_t i = 0; i < n; i++)
		if (begin[i] < ' ' || begin[i] > '~')
			return spec_fail(r, begin + i, "invalid character in a name");
	r->p += n;
	if (!spec_accept(r, "'"))
		return spec_fail(r, r->p, "the quote is not closed");
	return spec_copy(r, r->spec->function, CALL_FUNCTION_MAX, begin, n, "the name");
}

static int spec_function(struct spec_reader *r)
{
	const char *begin = r->p;
	size_t n = strcspn(begin, "( \t,)");

	if (*begin == '+')
		return spec_range(r);

	r->p += n;
	for (size_t i = 0; i < n; i++)
		if (!spec_is_word(begin[i]) && !strchr(".$*?@", begin[i]))
			return spec_fail(r, begin + i,
					 "invalid character in the name of a "
					 "function");
	return spec_copy(r, r->spec->function, CALL_FUNCTION_MAX, begin, n, "the function");
}

/* ---- types and arguments ---- */

/* Whether TYPE must have a count, or has one here. */
static bool spec_has_count(const struct spec_reader *r, const struct call_type *type)
{
	return type->form == CALL_BUF || (type->form == CALL_STRUCT && *r->p == '[');
}

/* "[16]", or "[n]" with the name of an argument, which is resolved when all arguments are known. */
static int spec_count(struct spec_reader *r, struct call_type *type, size_t arg)
{
	uint64_t count;
	size_t n;
	int error;

	type->is_array =
		type->form == CALL_STRUCT && !call_struct_by_number(type->layout)->is_sized;
	if (!spec_accept(r, "["))
		return spec_fail(r, r->p, "the length is missing: buf[16] or buf[ARGUMENT]");
	n = spec_word(r);
	if (n > 0 && !isdigit((unsigned char)*r->p)) {
		r->counts[arg] = r->p;
		r->count_bytes[arg] = n;
		r->p += n;
	} else {
		const char *begin = r->p;

		error = spec_number(r, &count);
		if (error < 0)
			return error;
		if (count == 0 || count > CALL_BUF_MAX)
			return spec_fail(r, begin, "a buffer can have 1 to %d bytes", CALL_BUF_MAX);
		type->count = (uint32_t)count;
	}
	return spec_accept(r, "]") ? 0 : spec_fail(r, r->p, "']' is missing");
}

/* "flags:open": a number whose values have the names of a set. N bytes precede the ':'. */
static int spec_set(struct spec_reader *r, size_t n, struct call_type *ret)
{
	const struct call_set *set;
	unsigned number;

	n++;
	while (spec_is_word(r->p[n]))
		n++;
	number = call_set_find(r->p, n);
	set = call_set_by_number(number);
	if (!set)
		return spec_fail(r, r->p, "unknown set of names '%.*s'", (int)(n < 40 ? n : 40),
				 r->p);
	*ret = (struct call_type){ .form = set->kind == CALL_SET_ENUM ? CALL_INT
					   : set->kind == CALL_SET_ID ? CALL_UINT
								      : CALL_HEX,
				   .bits = set->bits,
				   .set = (uint16_t)number };
	r->p += n;
	return 0;
}

/* "struct:stat": memory that is shown member by member. N bytes precede the ':'. */
static int spec_struct(struct spec_reader *r, size_t n, struct call_type *ret)
{
	unsigned number;

	n++;
	while (spec_is_word(r->p[n]))
		n++;
	number = call_struct_find(r->p, n);
	if (number == CALL_STRUCT_NONE)
		return spec_fail(r, r->p, "unknown structure '%.*s'", (int)(n < 40 ? n : 40), r->p);
	*ret = (struct call_type){ .form = CALL_STRUCT, .bits = 64, .layout = (uint16_t)number };
	r->p += n;
	return 0;
}

/* "enum{RED=0,GREEN=1}": names of values for this argument only. */
static int spec_words(struct spec_reader *r, struct call_type *ret)
{
	char *to = r->spec->words + r->n_words;
	const char *begin = r->p;
	size_t n = strcspn(begin, "}");

	if (begin[n] != '}')
		return spec_fail(r, begin, "'}' is missing");
	if (n + 1 > CALL_WORDS_MAX - r->n_words)
		return spec_fail(r, begin, "the names of values have more than %d bytes in total",
				 CALL_WORDS_MAX - 1);
	for (const char *p = begin; p < begin + n;) {
		size_t name = 0;

		while (spec_is_word(p[name]) || p[name] == ':')
			name++;
		if (name == 0 || p[name] != '=')
			return spec_fail(r, p, "NAME=NUMBER is expected");
		p += name + 1;
		name = strspn(p, "-");
		name += strspn(p + name, "0123456789");
		if (name == 0 || name > 20 || !strchr(",}", p[name]))
			return spec_fail(r, p, "a decimal number is expected");
		p += name + (p[name] == ',');
	}
	memcpy(to, begin, n);
	to[n] = '\0';
	*ret = (struct call_type){ .form = CALL_INT, .bits = 32 };
	ret->words = (uint16_t)(r->n_words + 1);
	r->n_words += n + 1;
	r->p += n + 1;
	return 0;
}

/* "enum8{...}": finds the width. */
static bool spec_is_enum(struct spec_reader *r, size_t n, uint8_t *ret_bits)
{
	static const struct {
		const char *name;
		uint8_t bits;
	} widths[] = { { "enum", 32 }, { "enum8", 8 }, { "enum16", 16 }, { "enum64", 64 } };

	for (size_t i = 0; r->p[n] == '{' && i < ARRAY_SIZE(widths); i++)
		if (spec_same(widths[i].name, r->p, n)) {
			*ret_bits = widths[i].bits;
			return true;
		}
	return false;
}

static int spec_type(struct spec_reader *r, struct call_type *ret)
{
	size_t n = spec_word(r);
	uint8_t bits;
	int error;

	if (spec_is_enum(r, n, &bits)) {
		r->p += n + 1;
		error = spec_words(r, ret);
		ret->bits = bits;
		return error;
	}
	if (r->p[n] == ':' && (spec_same("flags", r->p, n) || spec_same("enum", r->p, n)))
		return spec_set(r, n, ret);
	if (r->p[n] == ':' && spec_same("struct", r->p, n))
		return spec_struct(r, n, ret);
	if (call_type_find(r->p, n, ret)) {
		if (ret->form == CALL_STRUCT)
			return spec_fail(r, r->p,
					 "the name of the structure is missing: struct:stat");
		r->p += n;
		return 0;
	}
	if (n == 0)
		return spec_fail(r, r->p, "a type is missing");
	return spec_fail(r, r->p,
			 "unknown type '%.*s'; the types are int, uint, hex, bool, fd, ptr, "
			 "str, buf[N], errno, int8 to uint64, flags:SET, enum:SET and "
			 "struct:NAME",
			 (int)(n < 40 ? n : 40), r->p);
}

static int spec_find_arg(const struct call_spec *spec, const char *p, size_t n)
{
	for (size_t i = 0; i < spec->n_args; i++)
		if (spec_same(spec->args[i].name, p, n))
			return (int)i;
	return -ENOENT;
}

/* ">>32", or ">>3:5", which means a bit field of 5 bits. */
static int spec_shift(struct spec_reader *r, struct call_location *to)
{
	uint64_t number;
	int error;

	if (!spec_accept(r, ">>"))
		return 0;
	error = spec_number(r, &number);
	if (error == 0 && number > 63)
		return spec_fail(r, r->p, "a register has 64 bits");
	to->shift = (uint8_t)number;
	if (error < 0 || !spec_accept(r, ":"))
		return error;
	error = spec_number(r, &number);
	if (error == 0 && (number == 0 || number > 64U - to->shift))
		return spec_fail(r, r->p, "a bit field has 1 to 64 bits, within a register");
	to->width = (uint8_t)number;
	return error;
}

/* "r5+8". In brackets, it is an address in memory. */
static int spec_register(struct spec_reader *r, struct call_location *to)
{
	uint64_t number;
	int error;

	r->p++;
	error = spec_number(r, &number);
	if (error < 0)
		return error;
	if (number >= CALL_GENERAL_REGISTERS)
		return spec_fail(r, r->p, "registers are r0 to r15");
	to->reg = (uint8_t)number;
	if (*r->p == '+' || *r->p == '-') {
		r->p += *r->p == '+';
		error = spec_number(r, (uint64_t *)&to->offset);
	}
	return error;
}

static int spec_reason(struct spec_reader *r, struct call_location *to)
{
	size_t n = spec_word(r);

	to->kind = CALL_ORIGIN_NONE;
	to->reason = (uint8_t)call_reason_find(r->p, n);
	if (to->reason == CALL_REASON_NONE)
		return spec_fail(r, r->p, "unknown reason for an unavailable argument");
	r->p += n;
	return 0;
}

/* Parses the location after '@'. */
static int spec_location(struct spec_reader *r, struct call_location *to)
{
	int error;

	to->is_explicit = true;
	if (spec_accept(r, "="))
		return to->kind = CALL_ORIGIN_CONSTANT, spec_number(r, (uint64_t *)&to->offset);
	if (spec_accept(r, "?"))
		return spec_reason(r, to);
	to->kind = CALL_ORIGIN_REGISTER;
	if (spec_accept(r, "["))
		to->kind = CALL_ORIGIN_MEMORY;
	if (*r->p != 'r')
		return spec_fail(r, r->p, "r5, [r7+8], =NUMBER or ?REASON is expected");
	error = spec_register(r, to);
	if (error == 0 && to->kind == CALL_ORIGIN_MEMORY && !spec_accept(r, "]"))
		return spec_fail(r, r->p, "']' is missing");
	return error ?: spec_shift(r, to);
}

/* Parses the location of ARG, which is argument number I. */
static int spec_arg_place(struct spec_reader *r, struct call_arg *arg, size_t i)
{
	int error = 0;

	if (spec_accept(r, "@"))
		error = spec_location(r, &arg->location);
	else if (i >= CALL_ARG_REGISTERS)
		return spec_fail(r, r->p,
				 "at most %d arguments outside of registers are "
				 "possible",
				 CALL_ARG_REGISTERS);
	if (error == 0 && arg->type.form == CALL_FLOAT && !arg->location.is_explicit)
		arg->location = (struct call_location){ .is_explicit = true,
							.kind = CALL_ORIGIN_NONE,
							.reason = CALL_REASON_VECTOR };
	return error;
}

static size_t spec_dotted_word(struct spec_reader *r)
{
	size_t n = spec_word(r);

	while (n > 0 && (spec_is_word(r->p[n]) || (r->p[n] == '.' && spec_is_word(r->p[n + 1]))))
		n++;
	return n;
}

static int spec_arg_name(struct spec_reader *r, struct call_arg *arg)
{
	size_t n = spec_dotted_word(r);
	const char *begin = r->p;

	if (n > 0 && isdigit((unsigned char)*begin))
		return spec_fail(r, begin, "a name must not begin with a digit");
	if (n > 0 && spec_find_arg(r->spec, begin, n) >= 0)
		return spec_fail(r, begin, "another argument has this name");
	r->p += n;
	return spec_copy(r, arg->name, CALL_NAME_MAX, begin, n, "the name of the argument");
}

static int spec_arg(struct spec_reader *r)
{
	size_t i = r->spec->n_args;
	struct call_arg arg = { 0 };
	const char *begin;
	bool out, in_out;
	int error;

	spec_skip(r);
	begin = r->p;
	if (i == CALL_ARGS_MAX)
		return spec_fail(r, begin, "at most %d arguments are possible", CALL_ARGS_MAX);
	in_out = spec_same("inout", r->p, spec_word(r));
	out = in_out || spec_same("out", r->p, spec_word(r));
	if (out)
		r->p += spec_word(r);
	error = spec_type(r, &arg.type);
	if (error == 0 && out && !call_type_is_memory(&arg.type))
		return spec_fail(r, begin,
				 "'out' (read at the return) is only for str, buf and struct");
	if (error == 0 && in_out && arg.type.form != CALL_STRUCT)
		return spec_fail(r, begin, "'inout' is only for struct");
	arg.type.out = out;
	arg.type.in_out = in_out;
	if (error == 0 && (arg.type.form == CALL_VOID || arg.type.form == CALL_ERRNO))
		return spec_fail(r, begin, "this type is only for results");
	if (error == 0 && spec_has_count(r, &arg.type))
		error = spec_count(r, &arg.type, i);
	if (error == 0)
		error = spec_arg_name(r, &arg) ?: spec_arg_place(r, &arg, i);
	if (error == 0)
		r->spec->args[r->spec->n_args++] = arg;
	return error;
}

/*
 * Whether an argument of type NUMBER can be the size of MEMORY. It can also be a number in memory,
 * for a structure.
 */
static bool spec_is_count(const struct call_type *number, const struct call_type *memory)
{
	if (number->form == CALL_STRUCT)
		return memory->form == CALL_STRUCT && !memory->is_array && number->is_array;
	return !call_type_is_memory(number) && number->form != CALL_FLOAT;
}

/* Resolves the arguments that hold the sizes of buffers. */
static int spec_find_counts(struct spec_reader *r)
{
	for (size_t i = 0; i < r->spec->n_args; i++) {
		int arg;

		if (!r->counts[i])
			continue;
		arg = spec_find_arg(r->spec, r->counts[i], r->count_bytes[i]);
		if (arg < 0)
			return spec_fail(r, r->counts[i], "there is no argument of this name");
		if (!spec_is_count(&r->spec->args[arg].type, &r->spec->args[i].type))
			return spec_fail(r, r->counts[i], "this argument is not a number");
		r->spec->args[i].type.count_arg = (uint8_t)arg;
		r->spec->args[i].type.is_counted = true;
	}
	return 0;
}

static bool spec_is_libc(const char *file)
{
	static const char *const names[] = { "libc", "libpthread", "librt", "libdl", "libutil" };
	const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t n = strlen(names[i]);

		/* (also libc-2.31.so) */
		if (strncmp(name, names[i], n) == 0 && (name[n] == '.' || name[n] == '-'))
			return true;
	}
	return false;
}

static const char *spec_find_known(const struct call_spec *spec)
{
	const struct call_syscall *call;

	if (!call_spec_is_syscall(spec))
		return spec_is_libc(spec->file) ? call_function_signature(spec->function) : NULL;
	call = call_syscall_by_name(spec->function);
	return call ? call->signature : NULL;
}

static int spec_args(struct spec_reader *r);
static int spec_return(struct spec_reader *r);

/* No arguments are given: uses those of a known function. */
static int spec_use_known(struct spec_reader *r)
{
	const char *known = spec_find_known(r->spec);
	struct spec_reader of_known = { known, known, r->spec, r->error, { 0 }, { 0 }, 0 };

	r->spec->implied = true;
	r->spec->ret = (struct call_type){ .form = CALL_VOID, .bits = 64 };
	spec_skip(r);
	if (*r->p && !spec_same("if", r->p, spec_word(r)) &&
	    !spec_same("limit", r->p, spec_word(r)))
		return spec_fail(r, r->p, "'(' is missing: the arguments, or '()'");
	return known ? spec_args(&of_known) ?: spec_return(&of_known) : 0;
}

static int spec_args(struct spec_reader *r)
{
	int error = 0;

	if (!spec_accept(r, "("))
		return spec_use_known(r);
	if (spec_accept(r, ")"))
		return 0;
	do
		error = spec_arg(r);
	while (error == 0 && spec_accept(r, ","));
	if (error == 0 && !spec_accept(r, ")"))
		error = spec_fail(r, r->p, "',' or ')' is missing");
	return error ?: spec_find_counts(r);
}

/* ---- after the arguments ---- */

static int spec_return(struct spec_reader *r)
{
	const char *begin;
	int error;

	r->spec->ret = (struct call_type){ .form = CALL_VOID, .bits = 64 };
	if (!spec_accept(r, "->"))
		return 0;
	spec_skip(r);
	begin = r->p;
	error = spec_type(r, &r->spec->ret);
	if (error == 0 && (r->spec->ret.form == CALL_BUF || r->spec->ret.form == CALL_STRUCT))
		return spec_fail(r, begin, "a result cannot be a buffer or a structure; use 'ptr'");
	return error;
}

static int spec_operator(struct spec_reader *r, uint8_t *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		if (!spec_accept(r, ops[i].text))
			continue;
		*ret = ops[i].op;
		return 0;
	}
	return spec_fail(r, r->p, "expected one of == != < <= > >= &");
}

static int spec_condition(struct spec_reader *r)
{
	struct call_condition *c = &r->spec->condition;
	size_t n = spec_word(r);
	int arg;

	if (!spec_same("if", r->p, n))
		return 0;
	r->p += n;
	if (!spec_accept(r, "$"))
		return spec_fail(r, r->p, "'$' and the name of an argument are missing");
	n = spec_dotted_word(r);
	arg = spec_find_arg(r->spec, r->p, n);
	if (arg < 0)
		return spec_fail(r, r->p, "there is no argument of this name");
	if (call_type_is_memory(&r->spec->args[arg].type) ||
	    r->spec->args[arg].type.form == CALL_FLOAT)
		return spec_fail(r, r->p, "this argument is not a number");
	if (r->spec->args[arg].location.reason)
		return spec_fail(r, r->p, "this argument is unavailable: %s",
				 call_reason_text(r->spec->args[arg].location.reason));
	r->p += n;
	c->arg = (uint8_t)arg;
	return spec_operator(r, &c->op) ?: spec_number(r, &c->value);
}

static int spec_limit(struct spec_reader *r)
{
	size_t n = spec_word(r);
	const char *begin;
	uint64_t limit;
	int error;

	if (!spec_same("limit", r->p, n))
		return 0;
	r->p += n;
	spec_skip(r);
	begin = r->p;
	error = spec_number(r, &limit);
	if (error < 0)
		return error;
	if (*begin == '-' || limit == 0 || limit > UINT32_MAX)
		return spec_fail(r, begin, "a limit can be 1 to %u calls per second", UINT32_MAX);
	if (!spec_accept(r, "/s"))
		return spec_fail(r, r->p, "'/s' is missing: limit 100/s");
	r->spec->limit = (uint32_t)limit;
	return 0;
}

static int spec_end(struct spec_reader *r)
{
	spec_skip(r);
	return *r->p ? spec_fail(r, r->p, "unexpected text") : 0;
}

int call_spec_parse(const char *text, struct call_spec *ret, struct call_spec_error *error)
{
	struct call_spec spec = { 0 };
	struct spec_reader r = { .text = text, .p = text, .spec = &spec, .error = error };
	int e;

	if (strlen(text) >= CALL_SPEC_TEXT_MAX)
		return spec_fail(&r, text, "it is longer than %d bytes", CALL_SPEC_TEXT_MAX - 1);
	spec_skip(&r);
	e = spec_file(&r) ?: spec_function(&r) ?: spec_args(&r);
	if (!spec.implied)
		e = e ?: spec_return(&r);
	e = e ?: spec_condition(&r) ?: spec_limit(&r) ?: spec_end(&r);
	if (e == 0)
		*ret = spec;
	return e;
}

/* ---- queries ---- */

/*
 * Appends the memory arguments with the given OUT to the N that ARGS has. Returns the new number.
 */
static uint8_t call_spec_add_slots(const struct call_spec *spec, bool out, uint8_t *args, uint8_t n)
{
	for (size_t i = 0; i < spec->n_args && n < CALL_TEXTS_MAX; i++)
		if (call_type_is_memory(&spec->args[i].type) &&
		    (spec->args[i].type.out == out || (!out && spec->args[i].type.in_out)))
			args[n++] = (uint8_t)i;
	return n;
}

uint8_t call_spec_slots(const struct call_spec *spec, uint8_t args[static CALL_TEXTS_MAX],
			uint8_t *ret_n_in)
{
	*ret_n_in = call_spec_add_slots(spec, false, args, 0);
	return call_spec_add_slots(spec, true, args, *ret_n_in);
}

bool call_spec_has_locations(const struct call_spec *spec)
{
	for (size_t i = 0; i < spec->n_args; i++)
		if (spec->args[i].location.is_explicit)
			return true;
	return false;
}

unsigned call_spec_n_registers(const struct call_spec *spec)
{
	bool open = (spec->implied && call_spec_is_glob(spec)) || call_spec_has_locations(spec);

	return open ? CALL_ARGS_MAX : (unsigned)spec->n_args;
}

size_t call_spec_register(const struct call_spec *spec, size_t arg)
{
	const struct call_location *l = &spec->args[arg].location;

	return l->is_explicit && l->reg < CALL_ARGS_MAX ? l->reg : arg;
}

bool call_spec_is_glob(const struct call_spec *spec)
{
	return !spec->range.is_used && strpbrk(spec->function, "*?") != NULL;
}

bool call_spec_is_syscall(const struct call_spec *spec)
{
	return strcmp(spec->file, CALL_SYSCALL_FILE) == 0;
}
