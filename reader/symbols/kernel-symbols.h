/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of the running kernel, from /proc/kallsyms: its text, its modules, and code made at run
 * time (BPF programs, trampolines). They are used only if the recorded kernel is the running one.
 * The kernel's load address changes at each boot, so recorded addresses are shifted by the
 * difference.
 */
#pragma once

#include "base/cleanup.h"
#include "reader/symbols/symbol-list.h"
#include "reader/symbols/symbol-types.h"

struct kernel_symbols;

/* Reads the names of the running kernel. Returns 0, -ENOMEM, or -EBADMSG with *RETERR_WHAT. */
int kernel_symbols_open(struct kernel_symbols **ret, const struct symbols_options *options,
			const char **reterr_what);

struct kernel_symbols *kernel_symbols_free(struct kernel_symbols *k);
DEFINE_CLEANUP(struct kernel_symbols *, kernel_symbols_free)

struct kernel_found {
	struct symbol_found symbol;
	const char *module; /* borrowed; "" = none */
	bool unsure;        /* no proof that the code existed at the time of the recording */
};

/*
 * Finds the symbol at ADDRESS, which is in MAPPING; if MAPPING is the kernel's text, ADDRESS can be
 * anywhere. Returns 1 with *RET, 0 if there is no symbol, or -EBADMSG with *RETERR_WHAT if the
 * running kernel or module is not the recorded one.
 */
int kernel_symbols_find(const struct kernel_symbols *k, const struct symbol_mapping *mapping,
			uint64_t address, struct kernel_found *ret, const char **reterr_what);

/* Returns the memory of K, in bytes. */
uint64_t kernel_symbols_bytes(const struct kernel_symbols *k);
