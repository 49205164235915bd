/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Capstone, loaded on demand. It has 77,000 relocations, which would take a third of the CPU time
 * of each start. Only searches in machine code use it.
 */
#pragma once

#include <stdbool.h>

#include <capstone/capstone.h>

#define CAPSTONE_TEXT_(x) #x
#define CAPSTONE_TEXT(x)  CAPSTONE_TEXT_(x)
/* The soname and the package of Debian have the version of the interface in their names. */
#define CAPSTONE_SONAME  "libcapstone.so." CAPSTONE_TEXT(CS_API_MAJOR)
#define CAPSTONE_PACKAGE "libcapstone" CAPSTONE_TEXT(CS_API_MAJOR)

/* The functions in use, with the names and types of the library, without "cs_". */
struct capstone_library {
	__typeof__(cs_open) *open;
	__typeof__(cs_close) *close;
	__typeof__(cs_option) *option;
	__typeof__(cs_malloc) *malloc;
	__typeof__(cs_free) *free;
	__typeof__(cs_disasm_iter) *disasm_iter;
	__typeof__(cs_regs_access) *regs_access;
	__typeof__(cs_insn_group) *insn_group;
};

/*
 * Loads the library, unless it is loaded. After a failure, the next call tries again. Returns 0, or
 * -ENOPKG if the library is missing or damaged. Any thread can call it, and so can a child of a
 * process that has called it with success.
 */
int capstone_library_load(struct capstone_library *ret);
