/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The structures themselves (call-structs.h), and the form of their members.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum call_member_kind {
	CALL_MEMBER_INT,
	CALL_MEMBER_UINT,
	CALL_MEMBER_HEX,
	CALL_MEMBER_PTR,
	CALL_MEMBER_SET,     /* the words of a set */
	CALL_MEMBER_STRUCT,  /* another structure */
	CALL_MEMBER_TEXT,    /* characters that end with a NUL, or at their last byte */
	CALL_MEMBER_DATA,    /* all characters */
	CALL_MEMBER_PATH,    /* of a socket: '@' represents a NUL at the beginning */
	CALL_MEMBER_SIGNALS, /* a bit for each */
	CALL_MEMBER_BITS,    /* the numbers of the bits that are set */
	CALL_MEMBER_FDS,     /* likewise; an argument has the number of bits */
	CALL_MEMBER_LIMIT,   /* in units of 1024 if it is a multiple */
	CALL_MEMBER_DEVICE,
	CALL_MEMBER_PORT,     /* 16 bits, the highest first */
	CALL_MEMBER_LABEL,    /* likewise 32 */
	CALL_MEMBER_ADDRESS4, /* of the Internet protocol */
	CALL_MEMBER_ADDRESS6, /* with the name of the member in the text */
	CALL_MEMBER_GROUPS,   /* 8 hexadecimal digits */
	CALL_MEMBER_STATUS,   /* of a process that has ended */
	CALL_MEMBER_MAX,
};

struct call_member {
	const char *name; /* "" = only the value is written */
	enum call_member_kind kind;
	uint16_t at, bytes;
	uint16_t count; /* of an array; 0 = it is none */
	const char *of; /* the set ("flags:mode"), or the structure */
};

struct call_struct {
	const char *name; /* after "struct:" */
	uint16_t bytes;
	bool is_sized;    /* an argument has the number of bytes, which can be smaller */
	bool is_part;     /* other members are not written */
	bool is_positive; /* a call that returns 0 has not written it */
	struct {
		uint16_t at, bytes;   /* 0 bytes = any content is right */
		uint32_t mask, value; /* of the first 32 bits */
	} key;
	const struct call_member *members;
	size_t n_members;
};

/* Sorted by name. Among equal names, the first with a matching key is used. */
extern const struct call_struct call_struct_rows[];
extern const size_t call_struct_n_rows;
