/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a register means by the type that a specification gives it.
 */
#pragma once

#include "base/calls/call-sets.h"
#include "bpf/record.h"
#include "capture/options/call-spec.h"
#include "writer/event.h"

/* Room for the text of a value: each byte may become four characters. */
enum { CALL_VALUE_TEXT_MAX = 4 * CALL_TEXT_BYTES + 8 };

/*
 * N bytes as C writes them, in quotes, with "..." behind them if CUT, into TO. Returns how many
 * characters that are.
 */
size_t call_value_quote(char to[static CALL_VALUE_TEXT_MAX], const char *bytes, size_t n, bool cut);

/* The value of VALUE, a register, as TYPE, which was not copied from memory, by way of TO. */
struct call_value call_value_of(const struct call_type *type, uint64_t value,
				char to[static CALL_SET_TEXT_MAX]);

/*
 * The value of argument ARG of SPEC, VALUE, by way of TO: in its own words, too; and if it cannot
 * be had, or UNREADABLE, why.
 */
struct call_value call_value_of_arg(const struct call_spec *spec, size_t arg, uint64_t value,
				    bool unreadable, char to[static CALL_SET_TEXT_MAX]);

/* What a function of SPEC has returned. */
struct call_value call_value_of_result(const struct call_spec *spec, uint64_t result,
				       char to[static CALL_SET_TEXT_MAX]);

/* What the system call that is of TYPE has returned: whatever it is, there are 4095 errors. */
struct call_value call_value_of_syscall(const struct call_type *type, uint64_t result,
					char to[static CALL_SET_TEXT_MAX]);

/* What was copied of the memory of an argument; NULL = nothing. */
struct call_copies {
	const struct call_text *in, *out; /* when the call was entered, and when it returned */
};

/*
 * The value of the memory at ADDRESS, an argument of TYPE, written into TO. An array has COUNT
 * elements; a structure or a buffer is at most COUNT bytes long.
 */
struct call_value call_value_copied(const struct call_type *type, const struct call_copies *copies,
				    uint64_t count, uint64_t address,
				    char to[static CALL_VALUE_TEXT_MAX]);
