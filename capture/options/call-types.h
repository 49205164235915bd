/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The types of arguments and results in call specifications (capture/options/call-spec.h), and the
 * reasons why an argument is unavailable.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a value is read and shown. */
enum call_form {
	CALL_VOID, /* nothing is returned */
	CALL_INT,
	CALL_UINT,
	CALL_HEX,
	CALL_BOOL,
	CALL_FD,
	CALL_PTR,
	CALL_STR,   /* the address of a NUL-terminated string */
	CALL_BUF,   /* the address of bytes; their number is another argument or part of the type */
	CALL_ERRNO, /* a result: a number, or a negative errno */
	CALL_FLOAT, /* a floating-point number, in memory or in a general register */
	CALL_STRUCT, /* the address of a structure, or of several */
	/* The other forms are only for results of functions, which are in two registers. */
	CALL_SLICE,  /* an address, and the number of elements there */
	CALL_VIEW,   /* the same, but the number is first */
	CALL_INT128, /* a number of two registers */
	CALL_UINT128,
	CALL_MEMBERS, /* a structure in the registers, member by member */
	CALL_POINTED, /* the address of a structure, which is shown member by member */
	CALL_FORM_MAX,
};

struct call_type {
	enum call_form form;
	uint8_t bits; /* 8, 16, 32 or 64: the valid bits of the register */
	/* The argument that holds the number of bytes (CALL_BUF) or of elements (CALL_STRUCT). */
	uint8_t count_arg;
	bool out;        /* memory is shown as it is at the return of the call */
	bool in_out;     /* memory is shown as it is at the entry, and at the return */
	bool in_hex;     /* CALL_BUF: all bytes are shown in hexadecimal */
	bool is_array;   /* CALL_STRUCT: several structures */
	bool is_counted; /* an argument holds the count */
	/*
	 * The count, if it is a constant; 0 = an argument holds it. For CALL_SLICE and CALL_VIEW:
	 * the number of bytes of an element. For CALL_POINTED: the number of bytes to copy.
	 */
	uint32_t count;
	uint16_t layout; /* CALL_STRUCT: which structure (model/calls/call-structs.h) */
	uint16_t set;    /* set of named values of a number (model/calls/call-sets.h); 0 = no set */
	/*
	 * Named values that the specification lists itself: their position in `words`, from 1; 0 =
	 * no list.
	 */
	uint16_t words;
};

/* The reason why an argument or a result is unavailable. */
enum call_reason {
	CALL_REASON_NONE,
	CALL_REASON_VECTOR,
	CALL_REASON_OPTIMISED,
	CALL_REASON_COMPLEX,
	CALL_REASON_NOT_KEPT,
	CALL_REASON_NO_NUMBER,
	CALL_REASON_UNREADABLE,
	CALL_REASON_WIDE,
	CALL_REASON_MAX,
};

/* Finds the type with the name of N bytes at WORD. Returns false if no type has that name. */
bool call_type_find(const char *word, size_t n, struct call_type *ret);

/* Returns true if a value of TYPE is an address, and the memory there is shown. */
bool call_type_is_memory(const struct call_type *type);

/* Returns true if TYPE is only possible for a result. */
bool call_type_is_of_result(const struct call_type *type);

/* Returns true if a result of TYPE is not a value of the first register alone. */
bool call_type_is_wide(const struct call_type *type);

/* Returns true if values of TYPE are signed. */
bool call_type_is_signed(const struct call_type *type);

/* Returns the name of TYPE, without the count of a buffer. */
const char *call_type_name(const struct call_type *type);

/* Converts VALUE, from a register, to TYPE: cuts it to the bits of TYPE and extends its sign. */
uint64_t call_type_value(const struct call_type *type, uint64_t value);

/* Returns the reason whose name is the N bytes at NAME, or CALL_REASON_NONE. */
enum call_reason call_reason_find(const char *name, size_t n);

/* How a specification names REASON, and how people read it. */
const char *call_reason_name(enum call_reason reason);
const char *call_reason_text(enum call_reason reason);
