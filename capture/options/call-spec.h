/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The specification of the recorded calls, as users write it: a function in a file, its arguments
 * and its result.
 *
 *	FILE:FUNCTION[(TYPE NAME, ...) [-> TYPE]] [if $NAME OP NUMBER] [limit NUMBER/s]
 *
 *	libc.so.6:fopen(str path, str mode) -> ptr
 *	libc.so.6:open*
 *	syscall:openat
 *	/usr/bin/demo:send_all(fd to, buf[n] what, size_t n) -> long if $n > 4096
 *	libc.so.6:malloc limit 1000/s
 *
 * FILE is a path, in single quotes if it contains ':' or '(', or the name of a library or program.
 * "syscall" stands for the system calls. FUNCTION is a symbol, in which `*` and `?` match other
 * characters as in file names. It can also be a range of the file, written by code that has
 * resolved it (cli/places/call-resolve.h):
 *
 *	FILE:+OFFSET+BYTES['@'AT]='LABEL'(TYPE NAME[@WHERE], ...) ...
 *
 * This is the function of BYTES bytes at OFFSET, or the instruction at offset AT in it, with the
 * name LABEL. WHERE is the location of an argument that is not in the register of its number:
 * "r5+8" is register 5 (in DWARF's numbering) plus 8, "r5>>32" is its upper half, "[r7+16]" is in
 * memory, "[r7+r2*8+16]" with an index, "=7" is a constant, "?vector" is unavailable. Register 16
 * is the instruction pointer. A result "-> TYPE@?REASON" is unavailable, too. The location of a
 * member is its first byte, with the bits of a bit field: "@4>>3:5".
 *
 * A structure is "struct:stat" or "struct:pollfd[n]" (model/calls/call-structs.h lists them).
 *
 * A result can also be in two registers: "int128", "slice[4]" (an address and the number of
 * elements, of 4 bytes each), "view" (the same in reverse order), or "struct{int32 x, int32 y@4}"
 * with the members of a structure. "ptr{int32 x, int32 y@4}" is the address of such a structure.
 *
 * If a specification has no arguments, the known arguments are used (model/calls has them for libc
 * and for system calls). If the function is not known, no arguments are recorded. A number can have
 * named values: "flags:open" is a set with a name, and "enum{RED=0,GREEN=1}" lists values for one
 * argument. capture/calls applies specifications to processes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/record.h"
#include "capture/options/call-types.h"

enum {
	CALL_ARGS_MAX = 8,
	CALL_ARG_REGISTERS = 6,  /* registers for arguments without a location */
	CALL_FILE_MAX = 512,     /* bytes, the NUL included */
	CALL_FUNCTION_MAX = 256, /* bytes, the NUL included */
	CALL_NAME_MAX = 32,      /* bytes of an argument's name, the NUL included */
	CALL_SPEC_TEXT_MAX = 4096,
	/* Bytes of all named values of a specification, with a NUL after each. */
	CALL_WORDS_MAX = 1024,
	CALL_REGISTERS = 17,  /* general registers, and the instruction pointer */
	CALL_BUF_MAX = 65536, /* the maximum size of a buffer in a specification */
	CALL_MEMBERS_MAX = 16,
	CALL_SPEC_WHY_MAX = 160,
};

/* Where the eBPF programs find an argument: CALL_ORIGIN_* (bpf/record.h). */
struct call_location {
	bool is_explicit; /* else the argument is in the register of its number */
	uint8_t kind;
	uint8_t reg;    /* its number in DWARF */
	uint8_t index;  /* for memory: the number of the register that is an index */
	uint8_t scale;  /* for memory: 1, 2, 4 or 8; 0 = no index */
	uint8_t shift;  /* the number of lowest bits that are left out */
	uint8_t width;  /* bits of a bit field; 0 = as wide as the type */
	uint8_t reason; /* enum call_reason, for CALL_ORIGIN_NONE */
	int64_t offset;
};

struct call_arg {
	struct call_type type;
	struct call_location location;
	char name[CALL_NAME_MAX];
};

/* A member of a structure that is a result. */
struct call_result_member {
	struct call_type type;
	uint16_t at;          /* first byte */
	uint8_t shift, width; /* of a bit field; width 0 = no bit field */
	uint8_t reason;       /* enum call_reason: it is unavailable */
	char name[CALL_NAME_MAX];
};

/* A function, or an instruction in it, as offsets in the file. */
struct call_range {
	bool is_used;
	bool is_point;         /* true = only the instruction at AT is meant, which has no return */
	uint64_t begin, bytes; /* the whole function */
	uint64_t at;           /* offset of the instruction from BEGIN */
};

/* A condition: only matching calls are recorded. */
struct call_condition {
	uint8_t op;     /* CALL_OP_* (bpf/record.h) */
	uint8_t arg;    /* the number of the argument */
	uint64_t value; /* for a signed argument: its 64 bits */
};

struct call_spec {
	char file[CALL_FILE_MAX];
	char function[CALL_FUNCTION_MAX]; /* for a range: its label */
	struct call_range range;
	char words[CALL_WORDS_MAX]; /* "RED=0,GREEN=1", ... */
	struct call_arg args[CALL_ARGS_MAX];
	size_t n_args;
	struct call_type ret;
	uint8_t ret_reason; /* enum call_reason: the result is unavailable */
	struct call_result_member members[CALL_MEMBERS_MAX]; /* of the result */
	size_t n_members;
	bool members_are_cut; /* the structure has more members */
	struct call_condition condition;
	uint32_t limit; /* maximum of recorded calls of each function per second; 0 = no limit */
	/*
	 * The text has neither arguments nor a result: both are known from model/calls, or absent.
	 */
	bool implied;
};

/* The error in a specification, and its position: the number of bytes before the error. */
struct call_spec_error {
	size_t at;
	char why[CALL_SPEC_WHY_MAX];
};

/*
 * Finds the file at the beginning of TEXT: *RET_N bytes at *RET. Returns the text after the file,
 * which begins with ':' in a specification.
 */
const char *call_spec_find_file(const char *text, const char **ret, size_t *ret_n);

/* Parses TEXT. Returns 0, or -EINVAL with ERROR. */
int call_spec_parse(const char *text, struct call_spec *ret, struct call_spec_error *error);

/*
 * Writes to ARGS the arguments whose memory is copied, in the order of their slots in records:
 * first the *RET_N_IN arguments that are copied at the entry, then the arguments that are copied at
 * the return. Returns the number of all.
 */
uint8_t call_spec_slots(const struct call_spec *spec, uint8_t args[static CALL_TEXTS_MAX],
			uint8_t *ret_n_in);

/* True if FUNCTION is a pattern. */
bool call_spec_is_glob(const struct call_spec *spec);

/* True if an argument is not in the register of its number. */
bool call_spec_has_locations(const struct call_spec *spec);

/*
 * Returns the number of argument registers that must be unchanged where the probe on the entry is.
 */
unsigned call_spec_n_registers(const struct call_spec *spec);

/* The file name that stands for system calls. */
#define CALL_SYSCALL_FILE "syscall"

/*
 * Returns the number of the register, counted from 0, that has argument ARG of a system call. If
 * the text gives a register ("r1" is the second one), the result is this register, otherwise ARG.
 */
size_t call_spec_register(const struct call_spec *spec, size_t arg);

/* True if the specification is for system calls, and has no file. */
bool call_spec_is_syscall(const struct call_spec *spec);
