/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Structures of the kernel in memory that calls receive, printed like strace. The type of an
 * argument names one: "struct:stat", "struct:pollfd[n]" (capture/options/call-spec.h).
 *
 * Several rows can have one name, and the content of the memory selects one of them: socket
 * addresses have other members for each family. Numbers of rows change from one version to the
 * next.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CALL_STRUCT_NONE = 0 };

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

/* The number of the structure NAME (N bytes): "struct:stat". CALL_STRUCT_NONE = there is none. */
unsigned call_struct_find(const char *name, size_t n);

/* The first row of the structure NUMBER, or NULL: they are numbered from 1 on. */
const struct call_struct *call_struct_by_number(unsigned number);

/*
 * Writes the structure NUMBER that begins at FROM, of which N bytes are there, to TO (SIZE > 0
 * bytes), cut where it does not fit. Returns the length; 0 = too few bytes are there.
 */
size_t call_struct_format(unsigned number, const void *from, size_t n, char *to, size_t size);

/* The same for COUNT structures, in brackets. Missing ones are "...". */
size_t call_struct_format_array(unsigned number, const void *from, size_t n, size_t count, char *to,
				size_t size);
