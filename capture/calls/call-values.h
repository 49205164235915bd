/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The values of registers, by the types of a specification.
 */
#pragma once

#include "model/calls/call-sets.h"
#include "bpf/record.h"
#include "capture/calls/call-copies.h"
#include "capture/options/call-spec.h"
#include "model/event.h"

/*
 * Formats VALUE, from a register, as TYPE, which must not be a type that is copied from memory. TO
 * may hold the text of the result.
 */
struct call_value call_value_of(const struct call_type *type, uint64_t value,
				char to[static CALL_SET_TEXT_MAX]);

/*
 * Formats VALUE, argument ARG of SPEC, with the names that SPEC gives to values. If the value is
 * unavailable, or UNREADABLE is true, the result has the reason as its text. The text can be stored
 * in TO.
 */
struct call_value call_value_of_arg(const struct call_spec *spec, size_t arg, uint64_t value,
				    bool unreadable, char to[static CALL_SET_TEXT_MAX]);

/*
 * Formats VALUE of TYPE, the type of the result of SPEC, or of a member of this result. TYPE is a
 * number or an address.
 */
struct call_value call_value_of_spec(const struct call_spec *spec, const struct call_type *type,
				     uint64_t value, char to[static CALL_SET_TEXT_MAX]);

/* Returns the text for a value that is unavailable because of REASON. The text is stored in TO. */
struct call_value call_value_missing(enum call_reason reason, char to[static CALL_SET_TEXT_MAX]);

/* Formats the result of a system call of TYPE. Whatever the type is, -1 to -4095 are errors. */
struct call_value call_value_of_syscall(const struct call_type *type, uint64_t result,
					char to[static CALL_SET_TEXT_MAX]);

/*
 * Writes the first COUNT descriptors of the set in TEXT to TO. The bytes after these bits can
 * belong to something else. Returns the length; 0 = none can be shown.
 */
size_t call_value_fds(const struct call_text *text, uint64_t count,
		      char to[static CALL_VALUE_TEXT_MAX]);

/*
 * Writes the value of the memory at ADDRESS, an argument of TYPE, to TO. An array has COUNT
 * elements; a structure or a buffer has at most COUNT bytes.
 */
struct call_value call_value_copied(const struct call_type *type, const struct call_copies *copies,
				    uint64_t count, uint64_t address,
				    char to[static CALL_VALUE_TEXT_MAX]);
