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
	CALL_FORM_MAX,
};

struct call_type {
	enum call_form form;
	uint8_t bits; /* 8, 16, 32 or 64: the valid bits of the register */
	/* The argument with the number of bytes (CALL_BUF) or of elements (CALL_STRUCT). */
	uint8_t count_arg;
	bool out;        /* memory: shown as of the return of the call */
	bool in_out;     /* likewise, and as of the entry */
	bool in_hex;     /* CALL_BUF: all bytes are shown in hexadecimal */
	bool is_array;   /* for CALL_STRUCT */
	bool is_counted; /* by an argument */
	uint32_t count;  /* ... or this constant; 0 = use the argument */
	uint16_t layout; /* for CALL_STRUCT: model/calls/call-structs.h */
	uint16_t set;    /* named values of a number, model/calls/call-sets.h; 0 = none */
	uint16_t words;  /* its own named values: their position in `words`, from 1; 0 = none */
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

/* Finds the type with the name of N bytes at WORD. False if there is none. */
bool call_type_find(const char *word, size_t n, struct call_type *ret);

/* Whether values of TYPE are addresses of memory that is shown. */
bool call_type_is_memory(const struct call_type *type);

/* Whether values of TYPE are signed. */
bool call_type_is_signed(const struct call_type *type);

/* The name of TYPE, without the count of a buffer. */
const char *call_type_name(const struct call_type *type);

/* VALUE, a register, converted to TYPE: cut to its bits and sign-extended. */
uint64_t call_type_value(const struct call_type *type, uint64_t value);

/* The reason with the name of N bytes at NAME, or CALL_REASON_NONE. */
enum call_reason call_reason_find(const char *name, size_t n);

/* The name of REASON in a specification, and its description. */
const char *call_reason_name(enum call_reason reason);
const char *call_reason_text(enum call_reason reason);
