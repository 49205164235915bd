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
	CALL_MEMBER_DATA,    /* all characters, whatever they are */
	CALL_MEMBER_PATH,    /* path of a socket: '@' represents a NUL at the beginning */
	CALL_MEMBER_SIGNALS, /* names of signals, with a bit for each signal */
	CALL_MEMBER_BITS,    /* the numbers of the bits that are set */
	/* Descriptors: the numbers of set bits; an argument has the number of bits. */
	CALL_MEMBER_FDS,
	CALL_MEMBER_LIMIT, /* a limit, in units of 1024 if it is a multiple of 1024 */
	CALL_MEMBER_DEVICE,
	CALL_MEMBER_PORT,     /* a port: 16 bits, the highest byte first */
	CALL_MEMBER_LABEL,    /* a label: 32 bits, the highest byte first */
	CALL_MEMBER_ADDRESS4, /* an address of IPv4 */
	CALL_MEMBER_ADDRESS6, /* an address of IPv6, with the name of the member in the text */
	CALL_MEMBER_GROUPS,   /* a mask of groups, as 8 hexadecimal digits */
	CALL_MEMBER_STATUS,   /* exit status of a process that has ended */
	CALL_MEMBER_MAX,
};

struct call_member {
	const char *name; /* "" = only the value is written */
	enum call_member_kind kind;
	uint16_t at, bytes;
	uint16_t count; /* number of elements of an array; 0 = no array */
	const char *of; /* name of the set ("flags:mode") or of the structure */
};

struct call_struct {
	const char *name; /* name of the structure, after "struct:" */
	uint16_t bytes;
	bool is_sized;    /* an argument has the number of bytes, which can be smaller */
	bool is_part;     /* the structure has more members, which are not written */
	bool is_positive; /* if the call returns 0, it has not written the structure */
	struct {
		/*
		 * Position and size of the key in the structure; 0 bytes = the row fits any
		 * content.
		 */
		uint16_t at, bytes;
		uint32_t mask, value; /* the row fits if key & mask is `value` */
	} key;
	const struct call_member *members;
	size_t n_members;
};

/* Sorted by name. Among equal names, the first with a matching key is used. */
extern const struct call_struct call_struct_rows[];
extern const size_t call_struct_n_rows;
