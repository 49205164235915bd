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
	CALL_ARGS_MAX = 6,       /* those that are in registers */
	CALL_FILE_MAX = 512,     /* bytes, the NUL included */
	CALL_FUNCTION_MAX = 256, /* likewise */
	CALL_NAME_MAX = 32,      /* likewise, of an argument */
	CALL_SPEC_TEXT_MAX = 1024,
	CALL_BUF_MAX = 65536, /* the bytes of a buffer that a specification may name */
	CALL_SPEC_WHY_MAX = 160,
};

/* How a value is to be read, and shown. */
enum call_form {
	CALL_VOID, /* nothing is returned */
	CALL_INT,
	CALL_UINT,
	CALL_HEX,
	CALL_BOOL,
	CALL_FD,
	CALL_PTR,
	CALL_STR,   /* the address of characters that end with a NUL */
	CALL_BUF,   /* the address of bytes, of which another argument or the type says how many */
	CALL_ERRNO, /* of returns: a number, or a negative errno */
	CALL_FORM_MAX,
};

struct call_type {
	enum call_form form;
	uint8_t bits;      /* 8, 16, 32 or 64: of the register so many count */
	uint8_t count_arg; /* of CALL_BUF: the number of the argument that says how many; else... */
	bool out;          /* of memory: what is there when the call returns */
	uint32_t count;    /* ... so many; 0 = the argument does */
	uint16_t set;      /* of a number: its words, base/calls/call-sets.h; 0 = it has none */
};

struct call_arg {
	struct call_type type;
	char name[CALL_NAME_MAX];
};

/* Only calls for which this holds. */
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
	bool implied; /* arguments and result are those that are known, or none */
};

/* What is wrong with a specification, and where: the bytes before it. */
struct call_spec_error {
	size_t at;
	char why[CALL_SPEC_WHY_MAX];
};

/* Takes TEXT apart. Returns 0, or -EINVAL with ERROR. */
int call_spec_parse(const char *text, struct call_spec *ret, struct call_spec_error *error);

/* Whether values of TYPE are signed. */
bool call_type_is_signed(const struct call_type *type);

/* The word for TYPE, without the count of a buffer. */
const char *call_type_name(const struct call_type *type);

/* VALUE, a register, as TYPE has it: cut to its bits, and with the sign beyond them. */
uint64_t call_type_value(const struct call_type *type, uint64_t value);

/*
 * The arguments of which memory is copied, in the order of its slots in records: first those that
 * are copied at the entry, *RET_N_IN, then those at the return. Returns how many they are.
 */
uint8_t call_spec_slots(const struct call_spec *spec, uint8_t args[static CALL_TEXTS_MAX],
			uint8_t *ret_n_in);

/* True if FUNCTION stands for others. */
bool call_spec_is_glob(const struct call_spec *spec);

/* What stands for the file of system calls. */
#define CALL_SYSCALL_FILE "syscall"

/* True if it is about system calls: there is no file. */
bool call_spec_is_syscall(const struct call_spec *spec);
