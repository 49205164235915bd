/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/cleanup.h"
#include "capture/options/call-spec-parts.h"
#include "model/calls/call-structs.h"

enum { RESULT_REGISTER_BYTES = 16 };

/* ---- members ---- */

/* Parses the location of TO: its first byte, or the reason why it is unavailable. */
static int result_place(struct call_spec_reader *r, struct call_result_member *to, uint64_t at)
{
	int error = 0;

	if (call_spec_accept(r, "@?"))
		return call_spec_reason(r, &to->reason);
	if (call_spec_accept(r, "@"))
		error = call_spec_number(r, &at);
	if (error == 0 && at > CALL_BUF_MAX - 8)
		return call_spec_fail(r, r->p, "a structure has at most %d bytes", CALL_BUF_MAX);
	to->at = (uint16_t)at;
	return error ?: call_spec_shift(r, &to->shift, &to->width);
}

/* Parses a member. AT is the position of the member if the text gives no other position. */
static int result_member(struct call_spec_reader *r, uint64_t at)
{
	struct call_spec *spec = r->spec;
	struct call_result_member m = { 0 };
	const char *begin;
	size_t n;
	int error;

	call_spec_skip(r);
	begin = r->p;
	if (spec->n_members == CALL_MEMBERS_MAX)
		return call_spec_fail(r, begin, "at most %d members are possible",
				      CALL_MEMBERS_MAX);
	error = call_spec_type(r, &m.type);
	if (error == 0 && (call_type_is_of_result(&m.type) || call_type_is_memory(&m.type)))
		return call_spec_fail(r, begin,
				      "a member is a number or an address; use 'ptr' for memory");
	if (error < 0)
		return error;
	call_spec_skip(r);
	begin = r->p;
	n = call_spec_dotted_word(r);
	r->p += n;
	error = call_spec_copy(r, m.name, CALL_NAME_MAX, begin, n, "the name of the member");
	at = (at + m.type.bits / 8 - 1) / (m.type.bits / 8) * (m.type.bits / 8);
	error = error ?: result_place(r, &m, at);
	if (error < 0)
		return error;
	if (spec->ret.form == CALL_MEMBERS && !m.reason &&
	    m.at + m.type.bits / 8 > RESULT_REGISTER_BYTES)
		return call_spec_fail(r, begin,
				      "a structure in registers has at most %d bytes; "
				      "use 'ptr{...}' for one in memory",
				      RESULT_REGISTER_BYTES);
	spec->members[spec->n_members++] = m;
	return 0;
}

/* Parses the members between braces. "..." at the end means that there are more. */
static int result_parse_members(struct call_spec_reader *r)
{
	struct call_spec *spec = r->spec;
	uint64_t at = 0, end = 0;
	int error;

	if (!call_spec_accept(r, "{"))
		return call_spec_fail(r, r->p, "'{' is missing");
	do {
		if (spec->n_members > 0 && call_spec_accept(r, "...")) {
			spec->members_are_cut = true;
			break;
		}
		error = result_member(r, at);
		if (error < 0)
			return error;
		at = spec->members[spec->n_members - 1].at +
		     spec->members[spec->n_members - 1].type.bits / 8;
		end = at > end ? at : end;
	} while (call_spec_accept(r, ","));
	if (!call_spec_accept(r, "}"))
		return call_spec_fail(r, r->p, "',' or '}' is missing");
	spec->ret.count = (uint32_t)end;
	return 0;
}

/* ---- types ---- */

/* Parses the number of bytes of an element, as in "slice[4]"; 1 if nothing is stated. */
static int result_unit(struct call_spec_reader *r, struct call_type *type)
{
	const char *begin;
	uint64_t unit;
	int error;

	type->count = 1;
	if (!call_spec_accept(r, "["))
		return 0;
	begin = r->p;
	error = call_spec_number(r, &unit);
	if (error < 0)
		return error;
	if (unit == 0 || unit > CALL_BUF_MAX)
		return call_spec_fail(r, begin, "an element can have 1 to %d bytes", CALL_BUF_MAX);
	type->count = (uint32_t)unit;
	type->in_hex = unit > 1;
	return call_spec_accept(r, "]") ? 0 : call_spec_fail(r, r->p, "']' is missing");
}

/* Parses the number of bytes of a buffer whose address is the result. */
static int result_buffer(struct call_spec_reader *r, struct call_type *type)
{
	const char *begin = r->p;
	int error;

	if (call_spec_accept(r, "[")) {
		if (call_spec_word(r) > 0 && (*r->p < '0' || *r->p > '9'))
			return call_spec_fail(r, r->p,
					      "the length of a result is a number; 'slice' and "
					      "'view' are results with a length");
		r->p = begin;
	}
	error = call_spec_count(r, type, 0);
	type->is_array = false;
	return error;
}

/* Returns the reason why a function cannot have a result of TYPE; NULL = it can. */
static const char *result_problem(const struct call_spec *spec, const struct call_type *type)
{
	const struct call_struct *layout = call_struct_by_number(type->layout);

	if (call_spec_is_syscall(spec) &&
	    (call_type_is_wide(type) || call_type_is_memory(type) || type->form == CALL_FLOAT))
		return "the result of a system call is a number; use 'ptr' for an address";
	if (type->form == CALL_FLOAT && !spec->ret_reason)
		return "this result is in a vector register, which the eBPF programs cannot read; "
		       "leave it out";
	if (layout && (layout->is_sized || layout->n_members == 0))
		return "the length of this structure is unknown in a result; use 'ptr'";
	return NULL;
}

/* Parses the type of the result. */
static int result_type(struct call_spec_reader *r)
{
	struct call_type *type = &r->spec->ret;
	size_t n = call_spec_word(r);
	int error;

	if (r->p[n] == '{' &&
	    (call_spec_same("struct", r->p, n) || call_spec_same("ptr", r->p, n))) {
		*type = (struct call_type){ .form = *r->p == 's' ? CALL_MEMBERS : CALL_POINTED,
					    .bits = 64 };
		r->p += n;
		return result_parse_members(r);
	}
	error = call_spec_type(r, type);
	if (error == 0 && type->form == CALL_BUF)
		return result_buffer(r, type);
	if (error == 0 && (type->form == CALL_SLICE || type->form == CALL_VIEW))
		return result_unit(r, type);
	return error;
}

int call_spec_return(struct call_spec_reader *r)
{
	const char *begin, *problem;
	int error;

	r->spec->ret = (struct call_type){ .form = CALL_VOID, .bits = 64 };
	if (!call_spec_accept(r, "->"))
		return 0;
	call_spec_skip(r);
	begin = r->p;
	error = result_type(r);
	if (error == 0 && call_spec_accept(r, "@?"))
		error = call_spec_reason(r, &r->spec->ret_reason);
	problem = error == 0 ? result_problem(r->spec, &r->spec->ret) : NULL;
	return problem ? call_spec_fail(r, begin, "%s", problem) : error;
}
