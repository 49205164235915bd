/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/options/call-spec-parts.h"

#include <errno.h>
#include <string.h>

int call_spec_find_arg(const struct call_spec *spec, const char *p, size_t n)
{
	for (size_t i = 0; i < spec->n_args; i++)
		if (call_spec_same(spec->args[i].name, p, n))
			return (int)i;
	return -ENOENT;
}

int call_spec_shift(struct call_spec_reader *r, uint8_t *ret_shift, uint8_t *ret_width)
{
	uint64_t number;
	int error;

	if (!call_spec_accept(r, ">>"))
		return 0;
	error = call_spec_number(r, &number);
	if (error == 0 && number > 63)
		return call_spec_fail(r, r->p, "a register has 64 bits");
	*ret_shift = (uint8_t)number;
	if (error < 0 || !call_spec_accept(r, ":"))
		return error;
	error = call_spec_number(r, &number);
	if (error == 0 && (number == 0 || number > 64U - *ret_shift))
		return call_spec_fail(r, r->p, "a bit field has 1 to 64 bits, within a register");
	*ret_width = (uint8_t)number;
	return error;
}

/* Parses "r5". */
static int spec_register_number(struct call_spec_reader *r, uint8_t *ret)
{
	uint64_t number;
	int error;

	r->p++;
	error = call_spec_number(r, &number);
	if (error < 0)
		return error;
	if (number >= CALL_REGISTERS)
		return call_spec_fail(r, r->p, "registers are r0 to r16");
	*ret = (uint8_t)number;
	return 0;
}

/* Parses "+r1*8". */
static int spec_index(struct call_spec_reader *r, struct call_location *to)
{
	uint64_t number;
	int error;

	r->p++;
	error = spec_register_number(r, &to->index);
	if (error < 0)
		return error;
	if (!call_spec_accept(r, "*"))
		return call_spec_fail(r, r->p, "'*' and a scale are missing");
	error = call_spec_number(r, &number);
	if (error == 0 && number != 1 && number != 2 && number != 4 && number != 8)
		return call_spec_fail(r, r->p, "a scale is 1, 2, 4 or 8");
	to->scale = (uint8_t)number;
	return error;
}

/*
 * Parses "r5+8". If this text is in brackets, as in "[r5+r1*8+8]", the argument is in memory at
 * this address.
 */
static int spec_register(struct call_spec_reader *r, struct call_location *to)
{
	int error = spec_register_number(r, &to->reg);

	if (error == 0 && to->kind == CALL_ORIGIN_MEMORY && r->p[0] == '+' && r->p[1] == 'r')
		error = spec_index(r, to);
	if (error < 0)
		return error;
	if (*r->p == '+' || *r->p == '-') {
		r->p += *r->p == '+';
		error = call_spec_number(r, (uint64_t *)&to->offset);
	}
	return error;
}

int call_spec_reason(struct call_spec_reader *r, uint8_t *to)
{
	size_t n = call_spec_word(r);

	*to = (uint8_t)call_reason_find(r->p, n);
	if (*to == CALL_REASON_NONE)
		return call_spec_fail(r, r->p, "unknown reason for an unavailable value");
	r->p += n;
	return 0;
}

/* Parses the location after '@'. */
static int spec_location(struct call_spec_reader *r, struct call_location *to)
{
	int error;

	to->is_explicit = true;
	if (call_spec_accept(r, "="))
		return to->kind = CALL_ORIGIN_CONSTANT,
		       call_spec_number(r, (uint64_t *)&to->offset);
	if (call_spec_accept(r, "?"))
		return to->kind = CALL_ORIGIN_NONE, call_spec_reason(r, &to->reason);
	to->kind = CALL_ORIGIN_REGISTER;
	if (call_spec_accept(r, "["))
		to->kind = CALL_ORIGIN_MEMORY;
	if (*r->p != 'r')
		return call_spec_fail(r, r->p, "r5, [r7+8], =NUMBER or ?REASON is expected");
	error = spec_register(r, to);
	if (error == 0 && to->kind == CALL_ORIGIN_MEMORY && !call_spec_accept(r, "]"))
		return call_spec_fail(r, r->p, "']' is missing");
	return error ?: call_spec_shift(r, &to->shift, &to->width);
}

int call_spec_arg_place(struct call_spec_reader *r, struct call_arg *arg, size_t i)
{
	int error = 0;

	if (call_spec_accept(r, "@"))
		error = spec_location(r, &arg->location);
	else if (i >= CALL_ARG_REGISTERS)
		return call_spec_fail(r, r->p,
				      "at most %d arguments outside of registers are "
				      "possible",
				      CALL_ARG_REGISTERS);
	if (error == 0 && arg->type.form == CALL_FLOAT && !arg->location.is_explicit)
		arg->location = (struct call_location){ .is_explicit = true,
							.kind = CALL_ORIGIN_NONE,
							.reason = CALL_REASON_VECTOR };
	return error;
}
