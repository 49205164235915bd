/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of numbers, from the format of a tracepoint: __print_symbolic(REC->reason, { 2, "NAME" },
 * ...) in its line "print fmt". Only those of the field `reason` are used: the numbers of reasons
 * differ between kernels.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define TRACEPOINT_SYMBOLS_FIELD "reason"
/* The name of the additional value. */
#define TRACEPOINT_SYMBOLS_VALUE "reason_name"

enum {
	TRACEPOINT_SYMBOLS_MAX = 512, /* names of one field; further numbers have no names */
	TRACEPOINT_SYMBOL_BYTES = 64, /* maximum size of a name, NUL included; longer names are left
				       * out */
};

struct tracepoint_symbol {
	uint64_t number; /* of a negative one, its two's complement */
	char name[TRACEPOINT_SYMBOL_BYTES];
};

struct tracepoint_symbols {
	struct tracepoint_symbol *list; /* owned */
	size_t n;
};

/*
 * Sets *RET to the names in TEXT, the N bytes of a format. *RET is empty if TEXT has no names for
 * the field `reason`. Returns 0 or -ENOMEM.
 */
int tracepoint_symbols_parse(const char *text, size_t n, struct tracepoint_symbols *ret);
void tracepoint_symbols_deinit(struct tracepoint_symbols *s);

/* Returns the name of NUMBER, which S owns, or NULL if NUMBER has no name. */
const char *tracepoint_symbols_find(const struct tracepoint_symbols *s, uint64_t number);
