/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes an archive as tables (docs/TABLES.md).
 */
#pragma once

#include "cli/common/open-trace.h"

struct tables_args {
	const char *directory;
	bool force; /* replace existing tables */
};

/*
 * Reads T to its end, and writes its tables. *RET_N is the number of files. Returns CLI_OK,
 * CLI_DAMAGE if T was damaged, or CLI_FAILED; prints errors.
 */
int tables_write(struct open_trace *t, const struct tables_args *args, size_t *ret_n);
