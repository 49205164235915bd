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
 * FILE is a path, or the name of a library or program; "syscall" stands for
 * the system calls. FUNCTION is a symbol; `*` and `?` stand for
 * others as in file names; or a range of the file, as those write it who have looked for it
 * elsewhere (cli/service/call-resolve.h):
 *
 *	FILE:+OFFSET+BYTES['@'AT]='LABEL'(TYPE NAME[@WHERE], ...) ...
 *
 * is the function of so many bytes at that offset, or the instruction AT bytes behind its begin,
 * which is called LABEL. WHERE says where an argument is, if it is not in the register of its
 * number: "r5+8" in register 5 (by DWARF's numbers) and so much more, "r5>>32" in its upper half,
 * "[r7+16]" in memory, "=7" is a constant, "?vector" cannot be had. Without arguments, they are
 * those that are known of libc and of system calls (base/calls), or none. A number can have words:
 * "flags:open", or its own: "enum{RED=0,GREEN=1}". What the words mean for a process is for
 * capture/calls.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/record.h"

enum {
	CALL_ARGS_MAX = 8,
	CALL_ARG_REGISTERS = 6,  /* that have arguments, unless they say where they are */
	CALL_FILE_MAX = 512,     /* bytes, the NUL included */
	CALL_FUNCTION_MAX = 256, /* likewise */
	CALL_NAME_MAX = 32,      /* likewise, of an argument */
	CALL_SPEC_TEXT_MAX = 4096,
	CALL_WORDS_MAX = 1024, /* bytes of all words of a specification's own, a NUL behind each */
	CALL_GENERAL_REGISTERS = 16,
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
	CALL_FLOAT, /* a floating-point number, in memory or in a general register */
	CALL_FORM_MAX,
};

struct call_type {
	enum call_form form;
	uint8_t bits;      /* 8, 16, 32 or 64: of the register so many count */
	uint8_t count_arg; /* of CALL_BUF: the number of the argument that says how many; else... */
	bool out;          /* of memory: what is there when the call returns */
	uint32_t count;    /* ... so many; 0 = the argument does */
	uint16_t set;      /* of a number: its words, base/calls/call-sets.h; 0 = it has none */
	uint16_t words; /* of its own: where they begin in `words` of the specification, from 1 on;
			      0 = it has none */
};

/* Why an argument cannot be had. */
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

/* Where an argument is, for the programs: CALL_ORIGIN_* (bpf/record.h). */
struct call_location {
	bool is_said; /* else it is in the register of its number */
	uint8_t kind;
	uint8_t reg; /* by DWARF's number */
	uint8_t shift;
	uint8_t reason; /* enum call_reason, of CALL_ORIGIN_NONE */
	int64_t offset;
};

struct call_arg {
	struct call_type type;
	struct call_location location;
	char name[CALL_NAME_MAX];
};

/* A function, or an instruction in it, as offsets in the file. */
struct call_range {
	bool is_used;
	bool is_point;         /* the instruction at AT: it has no return */
	uint64_t begin, bytes; /* of the function */
	uint64_t at;           /* behind BEGIN */
};

/* Only calls for which this holds. */
struct call_condition {
	uint8_t op;     /* CALL_OP_* (bpf/record.h) */
	uint8_t arg;    /* its number */
	uint64_t value; /* of a signed argument its 64 bits */
};

struct call_spec {
	char file[CALL_FILE_MAX];
	char function[CALL_FUNCTION_MAX]; /* of a range its label */
	struct call_range range;
	char words[CALL_WORDS_MAX]; /* "RED=0,GREEN=1", ... */
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

/* The name of REASON in a specification, and a text for people. */
const char *call_reason_name(enum call_reason reason);
const char *call_reason_text(enum call_reason reason);

/* True if an argument is somewhere else than in the register of its number. */
bool call_spec_has_locations(const struct call_spec *spec);

/* What stands for the file of system calls. */
#define CALL_SYSCALL_FILE "syscall"

/* True if it is about system calls: there is no file. */
bool call_spec_is_syscall(const struct call_spec *spec);
