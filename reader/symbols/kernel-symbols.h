/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of the kernel that runs, from /proc/kallsyms: its text, its modules, and code that was made
 * at run time (BPF programs, trampolines). They are of use only if the kernel that was recorded is
 * this one; since it is loaded somewhere else at each boot, addresses are moved by how far it is
 * from where it was.
 */
#pragma once

#include "reader/symbols/symbol-list.h"
#include "reader/symbols/symbols.h"

struct kernel_symbols;

/* Reads them. Returns 0, -ENOMEM, or -EBADMSG with *RETERR_WHAT. */
int kernel_symbols_open(struct kernel_symbols **ret, const struct symbols_options *options,
			const char **reterr_what);

struct kernel_symbols *kernel_symbols_free(struct kernel_symbols *k);
DEFINE_CLEANUP(struct kernel_symbols *, kernel_symbols_free)

struct kernel_found {
	struct symbol_found symbol;
	const char *module; /* borrowed; "" = none */
	bool unsure;        /* it is not known that this was there when it was recorded */
};

/*
 * The symbol at ADDRESS, which lies in the mapping or, if that is the kernel's text, anywhere.
 * Returns 1 with *RET, 0 if there is none, or -EBADMSG with *RETERR_WHAT: what runs is not what was
 * recorded.
 */
int kernel_symbols_find(const struct kernel_symbols *k, const struct symbol_mapping *mapping,
			uint64_t address, struct kernel_found *ret, const char **reterr_what);

/* Bytes of memory. */
uint64_t kernel_symbols_bytes(const struct kernel_symbols *k);
