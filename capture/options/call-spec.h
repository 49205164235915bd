/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which calls are recorded, as people write it: a function of a file, what it is given and what it
 * returns.
 *
 *	FILE:FUNCTION[(TYPE NAME, ...) [-> TYPE]] [if $NAME OP NUMBER]
 *
 *	libc.so.6:fopen(str path, str mode) -> ptr
 *	libc.so.6:open*
 *	syscall:openat
 *	/usr/bin/demo:send_all(fd to, buf[n] what, size_t n) -> long if $n > 4096
 *
 * FILE is a path, or the name of a library or program; "syscall" stands for the system calls.
 * FUNCTION is a symbol; `*` and `?` stand for others as in file names. Without arguments, they are
 * those that are known of libc and of system calls (base/calls), or none. A number can have words:
 * "flags:open". What the words mean for a process is for capture/calls.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/record.h"

enum {
	CALL_ARGS_MAX = 6,       /* arguments in registers */
	CALL_FILE_MAX = 512,     /* bytes, the NUL included */
	CALL_FUNCTION_MAX = 256, /* likewise */
	CALL_NAME_MAX = 32,      /* likewise, of an argument */
	CALL_SPEC_TEXT_MAX = 1024,
	CALL_BUF_MAX = 65536, /* the maximum size of a buffer in a specification */
	CALL_SPEC_WHY_MAX = 160,
};

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
	CALL_FORM_MAX,
};

struct call_type {
	enum call_form form;
	uint8_t bits;      /* 8, 16, 32 or 64: the number of valid bits of the register */
	uint8_t count_arg; /* of CALL_BUF: the argument with the number of bytes; otherwise... */
	bool out;          /* of memory: its content when the call returns */
	uint32_t count;    /* ... this number; 0 = use the argument */
	uint16_t set;      /* of a number: its words, base/calls/call-sets.h; 0 = it has none */
};

struct call_arg {
	struct call_type type;
	char name[CALL_NAME_MAX];
};

/* Condition: only matching calls are recorded. */
struct call_condition {
	uint8_t op;     /* CALL_OP_* (bpf/record.h) */
	uint8_t arg;    /* its number */
	uint64_t value; /* of a signed argument its 64 bits */
};

struct call_spec {
	char file[CALL_FILE_MAX];
	char function[CALL_FUNCTION_MAX];
	struct call_arg args[CALL_ARGS_MAX];
	size_t n_args;
	struct call_type ret;
	struct call_condition condition;
	bool implied; /* arguments and result are the known ones, or none */
};

/* The error in a specification, and its position: the number of bytes before it. */
struct call_spec_error {
	size_t at;
	char why[CALL_SPEC_WHY_MAX];
};

/* Parses TEXT. Returns 0, or -EINVAL with ERROR. */
int call_spec_parse(const char *text, struct call_spec *ret, struct call_spec_error *error);

/* Whether values of TYPE are signed. */
bool call_type_is_signed(const struct call_type *type);

/* The word for TYPE, without the count of a buffer. */
const char *call_type_name(const struct call_type *type);

/* VALUE, a register, converted to TYPE: cut to its bits and sign-extended. */
uint64_t call_type_value(const struct call_type *type, uint64_t value);

/*
 * The arguments whose memory is copied, in the order of their slots in records: first *RET_N_IN
 * arguments copied at the entry, then those copied at the return. Returns their number.
 */
uint8_t call_spec_slots(const struct call_spec *spec, uint8_t args[static CALL_TEXTS_MAX],
			uint8_t *ret_n_in);

/* True if FUNCTION is a pattern. */
bool call_spec_is_glob(const struct call_spec *spec);

/* The name that represents the file of system calls. */
#define CALL_SYSCALL_FILE "syscall"

/* True if it is for system calls, without a file. */
bool call_spec_is_syscall(const struct call_spec *spec);
