/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rows behind call-structs.h: structures that calls receive in memory, and the form in which
 * their members are printed.
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
	CALL_MEMBER_SET,     /* names from the set `of`: flags, or an enumeration */
	CALL_MEMBER_STRUCT,  /* another structure */
	CALL_MEMBER_TEXT,    /* text up to a NUL, or the whole member if it has none */
	CALL_MEMBER_DATA,    /* all characters, whatever they are */
	CALL_MEMBER_PATH,    /* path of a socket: '@' represents a NUL at the beginning */
	CALL_MEMBER_SIGNALS, /* names of signals, with a bit for each signal */
	CALL_MEMBER_BITS,    /* the numbers of the bits that are set */
	/* Descriptors: numbers of set bits. Another argument of the call is the number of bits. */
	CALL_MEMBER_FDS,
	CALL_MEMBER_LIMIT, /* a limit, in units of 1024 if it is a multiple of 1024 */
	CALL_MEMBER_DEVICE,
	CALL_MEMBER_PORT,     /* a port: 16 bits, the highest byte first */
	CALL_MEMBER_LABEL,    /* flow label of IPv6: 32 bits, the highest byte first */
	CALL_MEMBER_ADDRESS4, /* an address of IPv4 */
	CALL_MEMBER_ADDRESS6, /* an address of IPv6; its text has the member's name, as in strace */
	CALL_MEMBER_GROUPS,   /* a mask of groups, as 8 hexadecimal digits */
	/* An offset; its values before and after the call are in separate brackets. */
	CALL_MEMBER_OFFSET,
	CALL_MEMBER_NAME,   /* name of a thread: without its last byte, which is NUL */
	CALL_MEMBER_TICKS,  /* time in units of 1/100 s, with a comment in seconds */
	CALL_MEMBER_DATE,   /* struct timespec of a file, with a comment */
	CALL_MEMBER_STATUS, /* exit status of a process that has ended */
	/*
	 * Kinds of lists. The member of such a kind is the only one of its row.
	 * capture/calls/call-lists.h shows the list, since its elements lead to other memory, or
	 * only their number is shown.
	 */
	CALL_MEMBER_STRINGS,  /* pointers to strings, up to NULL */
	CALL_MEMBER_POINTERS, /* the number of pointers up to NULL */
	CALL_MEMBER_ENTRIES,  /* the number of entries of a directory */
	CALL_MEMBER_PARTS,    /* an array of struct iovec, with the data */
	CALL_MEMBER_MESSAGE,  /* struct msghdr, with what it leads to */
	CALL_MEMBER_MESSAGES, /* an array of struct mmsghdr of recvmmsg() */
	CALL_MEMBER_SENT,     /* the same, of sendmmsg() */
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
	bool is_sized; /* another argument is the size in memory, which can be less than `bytes` */
	bool is_part;  /* the structure has more members, which are not written */
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
