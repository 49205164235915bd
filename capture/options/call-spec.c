/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/options/call-spec-parts.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model/calls/call-structs.h"
#include "model/calls/call-syscalls.h"
#include "model/calls/libc-functions.h"
#include "base/cleanup.h"

static const struct op_row {
	const char *text; /* an operator comes before each operator that is a prefix of it */
	uint8_t op;
} ops[] = {
	{ "==", CALL_OP_EQ }, { "!=", CALL_OP_NE }, { "<=", CALL_OP_LE }, { ">=", CALL_OP_GE },
	{ "<", CALL_OP_LT },  { ">", CALL_OP_GT },  { "&", CALL_OP_AND },
};

/* ---- FILE:FUNCTION ---- */

const char *call_spec_find_file(const char *text, const char **ret, size_t *ret_n)
{
	bool quoted = *text == '\'';

	*ret = text + quoted;
	*ret_n = strcspn(*ret, quoted ? "'" : ":(");
	return *ret + *ret_n + (quoted && (*ret)[*ret_n]);
}

static int spec_file(struct call_spec_reader *r)
{
	const char *begin = r->p, *file;
	size_t n;

	r->p = call_spec_find_file(begin, &file, &n);
	if (*r->p == '(' && strchr(r->p, ':'))
		return call_spec_fail(
			r, begin,
			"FILE:FUNCTION(...) is expected: there is no ':' before '('; a "
			"path with ':' or '(' is written in quotes, 'PATH':FUNCTION");
	if (*r->p != ':')
		return call_spec_fail(r, begin, "FILE:FUNCTION(...) is expected: there is no ':'");
	r->p++;
	return call_spec_copy(r, r->spec->file, CALL_FILE_MAX, file, n, "the file");
}

/* Parses "+OFFSET+BYTES@AT='LABEL'". */
static int spec_range(struct call_spec_reader *r)
{
	struct call_range *range = &r->spec->range;
	const char *begin = r->p;
	size_t n;
	int error;

	r->p++;
	error = call_spec_number(r, &range->begin);
	if (error == 0 && !call_spec_accept(r, "+"))
		error = call_spec_fail(r, r->p,
				       "'+' and the size of the function in bytes are "
				       "missing");
	error = error ?: call_spec_number(r, &range->bytes);
	if (error == 0 && call_spec_accept(r, "@")) {
		range->is_point = true;
		error = call_spec_number(r, &range->at);
	}
	if (error < 0)
		return error;
	range->is_used = true;
	if (range->bytes == 0 || range->begin > INT64_MAX || range->bytes > INT64_MAX ||
	    range->at >= range->bytes)
		return call_spec_fail(r, begin, "unexpected text in the description of a file");
	if (!call_spec_accept(r, "='"))
		return call_spec_fail(r, r->p, "='NAME' is missing");
	begin = r->p;
	n = strcspn(begin, "'");
	/* (bytes above 0x7f are accepted, since they belong to letters in UTF-8) */
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)begin[i] < ' ' || begin[i] == 0x7f)
			return call_spec_fail(r, begin + i, "invalid character in a name");
	r->p += n;
	if (!call_spec_accept(r, "'"))
		return call_spec_fail(r, r->p, "the quote is not closed");
	return call_spec_copy(r, r->spec->function, CALL_FUNCTION_MAX, begin, n, "the name");
}

static int spec_function(struct call_spec_reader *r)
{
	const char *begin = r->p;
	size_t n = strcspn(begin, "( \t,)");

	if (*begin == '+')
		return spec_range(r);

	r->p += n;
	for (size_t i = 0; i < n; i++)
		if (!call_spec_is_word(begin[i]) && !strchr(".$*?@", begin[i]))
			return call_spec_fail(r, begin + i,
					      "invalid character in the name of a "
					      "function");
	return call_spec_copy(r, r->spec->function, CALL_FUNCTION_MAX, begin, n, "the function");
}

/* ---- arguments ---- */

static int spec_arg_name(struct call_spec_reader *r, struct call_arg *arg)
{
	size_t n = call_spec_dotted_word(r);
	const char *begin = r->p;

	if (n > 0 && isdigit((unsigned char)*begin))
		return call_spec_fail(r, begin, "a name must not begin with a digit");
	if (n > 0 && call_spec_find_arg(r->spec, begin, n) >= 0)
		return call_spec_fail(r, begin, "another argument has this name");
	r->p += n;
	return call_spec_copy(r, arg->name, CALL_NAME_MAX, begin, n, "the name of the argument");
}

static int spec_arg(struct call_spec_reader *r)
{
	size_t i = r->spec->n_args;
	struct call_arg arg = { 0 };
	const char *begin;
	bool out, in_out;
	int error;

	call_spec_skip(r);
	begin = r->p;
	if (i == CALL_ARGS_MAX)
		return call_spec_fail(r, begin, "at most %d arguments are possible", CALL_ARGS_MAX);
	in_out = call_spec_same("inout", r->p, call_spec_word(r));
	out = in_out || call_spec_same("out", r->p, call_spec_word(r));
	if (out)
		r->p += call_spec_word(r);
	error = call_spec_type(r, &arg.type);
	if (error == 0 && out && !call_type_is_memory(&arg.type))
		return call_spec_fail(r, begin,
				      "'out' (read at the return) is only for str, buf and struct");
	if (error == 0 && in_out && arg.type.form != CALL_STRUCT)
		return call_spec_fail(r, begin, "'inout' is only for struct");
	arg.type.out = out;
	arg.type.in_out = in_out;
	if (error == 0 && call_type_is_of_result(&arg.type))
		return call_spec_fail(r, begin, "this type is only for results");
	if (error == 0 && call_spec_has_count(r, &arg.type))
		error = call_spec_count(r, &arg.type, i);
	if (error == 0)
		error = spec_arg_name(r, &arg) ?: call_spec_arg_place(r, &arg, i);
	if (error == 0)
		r->spec->args[r->spec->n_args++] = arg;
	return error;
}

/*
 * Returns true if an argument of type NUMBER can be the size of MEMORY. If MEMORY is a structure,
 * its size can also be a number in memory.
 */
static bool spec_is_count(const struct call_type *number, const struct call_type *memory)
{
	if (number->form == CALL_STRUCT)
		return memory->form == CALL_STRUCT && !memory->is_array && number->is_array;
	return !call_type_is_memory(number) && number->form != CALL_FLOAT;
}

/* Resolves the arguments that hold the sizes of buffers. */
static int spec_find_counts(struct call_spec_reader *r)
{
	for (size_t i = 0; i < r->spec->n_args; i++) {
		int arg;

		if (!r->counts[i])
			continue;
		arg = call_spec_find_arg(r->spec, r->counts[i], r->count_bytes[i]);
		if (arg < 0)
			return call_spec_fail(r, r->counts[i], "there is no argument of this name");
		if (!spec_is_count(&r->spec->args[arg].type, &r->spec->args[i].type))
			return call_spec_fail(r, r->counts[i], "this argument is not a number");
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

		/* (this also accepts names such as libc-2.31.so) */
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

static int spec_args(struct call_spec_reader *r);

/* Uses the arguments of a known function, if the text gives no arguments. */
static int spec_use_known(struct call_spec_reader *r)
{
	const char *known = spec_find_known(r->spec);
	struct call_spec_reader of_known = { known, known, r->spec, r->error, { 0 }, { 0 }, 0 };

	r->spec->implied = true;
	r->spec->ret = (struct call_type){ .form = CALL_VOID, .bits = 64 };
	call_spec_skip(r);
	if (*r->p && !call_spec_same("if", r->p, call_spec_word(r)) &&
	    !call_spec_same("limit", r->p, call_spec_word(r)))
		return call_spec_fail(r, r->p, "'(' is missing: the arguments, or '()'");
	return known ? spec_args(&of_known) ?: call_spec_return(&of_known) : 0;
}

static int spec_args(struct call_spec_reader *r)
{
	int error = 0;

	if (!call_spec_accept(r, "("))
		return spec_use_known(r);
	if (call_spec_accept(r, ")"))
		return 0;
	do
		error = spec_arg(r);
	while (error == 0 && call_spec_accept(r, ","));
	if (error == 0 && !call_spec_accept(r, ")"))
		error = call_spec_fail(r, r->p, "',' or ')' is missing");
	return error ?: spec_find_counts(r);
}

static int spec_operator(struct call_spec_reader *r, uint8_t *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		if (!call_spec_accept(r, ops[i].text))
			continue;
		*ret = ops[i].op;
		return 0;
	}
	return call_spec_fail(r, r->p, "expected one of == != < <= > >= &");
}

/*
 * Returns the reason why ARG cannot be compared with a number; NULL = ARG can be compared. An
 * argument "struct:raw" can be compared, since it is often a number and no address (fcntl).
 */
static const char *spec_compare_problem(const struct call_arg *arg)
{
	const struct call_struct *layout = call_struct_by_number(arg->type.layout);

	if (arg->type.form == CALL_FLOAT)
		return "this argument is not a number that can be compared, but a "
		       "floating-point number";
	if (call_type_is_memory(&arg->type) && !(layout && layout->n_members == 0))
		return "this argument is not a number, but an address; a condition does not see "
		       "the memory there (for the address itself, name the argument with 'ptr')";
	return NULL;
}

static int spec_condition(struct call_spec_reader *r)
{
	struct call_condition *c = &r->spec->condition;
	size_t n = call_spec_word(r);
	const char *problem;
	int arg;

	if (!call_spec_same("if", r->p, n))
		return 0;
	r->p += n;
	if (!call_spec_accept(r, "$"))
		return call_spec_fail(r, r->p, "'$' and the name of an argument are missing");
	n = call_spec_dotted_word(r);
	arg = call_spec_find_arg(r->spec, r->p, n);
	if (arg < 0)
		return call_spec_fail(r, r->p, "there is no argument of this name");
	problem = spec_compare_problem(&r->spec->args[arg]);
	if (problem)
		return call_spec_fail(r, r->p, "%s", problem);
	if (r->spec->args[arg].location.reason)
		return call_spec_fail(r, r->p, "this argument is unavailable: %s",
				      call_reason_text(r->spec->args[arg].location.reason));
	r->p += n;
	c->arg = (uint8_t)arg;
	return spec_operator(r, &c->op) ?: call_spec_number(r, &c->value);
}

static int spec_limit(struct call_spec_reader *r)
{
	size_t n = call_spec_word(r);
	const char *begin;
	uint64_t limit;
	int error;

	if (!call_spec_same("limit", r->p, n))
		return 0;
	r->p += n;
	call_spec_skip(r);
	begin = r->p;
	error = call_spec_number(r, &limit);
	if (error < 0)
		return error;
	if (*begin == '-' || limit == 0 || limit > UINT32_MAX)
		return call_spec_fail(r, begin, "a limit can be 1 to %u calls per second",
				      UINT32_MAX);
	if (!call_spec_accept(r, "/s"))
		return call_spec_fail(r, r->p, "'/s' is missing: limit 100/s");
	r->spec->limit = (uint32_t)limit;
	return 0;
}

static int spec_end(struct call_spec_reader *r)
{
	call_spec_skip(r);
	return *r->p ? call_spec_fail(r, r->p, "unexpected text") : 0;
}

int call_spec_parse(const char *text, struct call_spec *ret, struct call_spec_error *error)
{
	struct call_spec spec = { 0 };
	struct call_spec_reader r = { .text = text, .p = text, .spec = &spec, .error = error };
	int e;

	if (strlen(text) >= CALL_SPEC_TEXT_MAX)
		return call_spec_fail(&r, text, "it is longer than %d bytes",
				      CALL_SPEC_TEXT_MAX - 1);
	call_spec_skip(&r);
	e = spec_file(&r) ?: spec_function(&r) ?: spec_args(&r);
	if (!spec.implied)
		e = e ?: call_spec_return(&r);
	e = e ?: spec_condition(&r) ?: spec_limit(&r) ?: spec_end(&r);
	if (e == 0)
		*ret = spec;
	return e;
}

/* ---- queries ---- */

/*
 * Appends to the N elements of ARGS the arguments in memory whose `out` is OUT. Returns the new
 * number.
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
