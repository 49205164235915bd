/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * .gnu_debugdata: the symbols of functions that strip(1) would have removed, as an xz-compressed
 * ELF file in a section ("minidebuginfo").
 */
#pragma once

#include "reader/symbols/elf-file.h"

/*
 * Decompresses .gnu_debugdata of F, to at most MAX bytes. Returns 1 with *RET (to be freed), 0 if F
 * has no such section, -ENOMEM, or -EBADMSG with *RETERR_WHAT.
 */
int minidebug_open(struct elf_file **ret, const struct elf_file *f, size_t max,
		   const char **reterr_what);
