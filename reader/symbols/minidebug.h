/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The section .gnu_debugdata ("minidebuginfo"): an xz-compressed ELF file with the symbols of
 * functions that strip(1) has removed from the file itself.
 */
#pragma once

#include "reader/symbols/elf-file.h"

/*
 * Decompresses the .gnu_debugdata of F, to at most MAX bytes. Returns 1 with *RET (the caller frees
 * it), 0 if F has no such section, -ENOMEM, or -EBADMSG with *RETERR_WHAT.
 */
int minidebug_open(struct elf_file **ret, const struct elf_file *f, size_t max,
		   const char **reterr_what);
