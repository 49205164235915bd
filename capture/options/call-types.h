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
	CALL_STR,   /* the address of a string that ends with a NUL */
	CALL_BUF,   /* the address of bytes, whose number is another argument or part of the type */
	CALL_ERRNO, /* of returns: a number, or a negative errno */
	CALL_FLOAT, /* a floating-point number, in memory or in a general register */
	CALL_STRUCT, /* the address of a structure, or of several */
	CALL_FORM_MAX,
};

struct call_type {
	enum call_form form;
	uint8_t bits; /* 8, 16, 32 or 64: the number of valid bits of the register */
	/* The argument with the number of bytes (CALL_BUF) or of elements (CALL_STRUCT). */
	uint8_t count_arg;
	bool out;        /* of memory: its content when the call returns */
	bool in_out;     /* likewise, and when it is entered */
	bool in_hex;     /* of CALL_BUF: no byte is shown as a character */
	bool is_array;   /* of CALL_STRUCT */
	bool is_counted; /* by an argument */
	uint32_t count;  /* ... or this number; 0 = use the argument */
	uint16_t layout; /* of CALL_STRUCT: base/calls/call-structs.h */
	uint16_t set;    /* of a number: its words, base/calls/call-sets.h; 0 = it has none */
	uint16_t words;  /* of its own: where they begin in `words` of the specification, from 1 on;
			      0 = it has none */
};

/* The reason why an argument is unavailable. */
enum call_reason {
	CALL_REASON_NONE,
	CALL_REASON_VECTOR,
	CALL_REASON_OPTIMISED,
	CALL_REASON_COMPLEX,
	CALL_REASON_NOT_KEPT,
	CALL_REASON_NO_NUMBER,
	CALL_REASON_UNREADABLE,
	CALL_REASON_MAX,
};

/* The type whose word is the N bytes at WORD. Returns false without one. */
bool call_type_find(const char *word, size_t n, struct call_type *ret);

/* Whether values of TYPE are addresses of memory that is shown. */
bool call_type_is_memory(const struct call_type *type);

/* Whether values of TYPE are signed. */
bool call_type_is_signed(const struct call_type *type);

/* The word for TYPE, without the count of a buffer. */
const char *call_type_name(const struct call_type *type);

/* VALUE, a register, converted to TYPE: cut to its bits and sign-extended. */
uint64_t call_type_value(const struct call_type *type, uint64_t value);

/* The reason whose name is the N bytes at NAME; CALL_REASON_NONE without one. */
enum call_reason call_reason_find(const char *name, size_t n);

/* The name of REASON in a specification, and a text for people. */
const char *call_reason_name(enum call_reason reason);
const char *call_reason_text(enum call_reason reason);
