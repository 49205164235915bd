/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes an archive as tables (docs/TABLES.md).
 */
#pragma once

#include "cli/common/open-trace.h"

struct tables_args {
	const char *directory;
	/* Make the tables in DIRECTORY/host=NAME/date=YYYY-MM-DD/hour=HH/part=MMSS, by the time of
	 * the archive's first clock record, in UTC. */
	bool partition;
	bool force; /* replace existing tables */
};

/*
 * Reads T to its end, and writes its tables. *RET_N is the number of files. *RET_DIRECTORY is the
 * directory of a partition, to be freed, or NULL. Returns CLI_OK, CLI_DAMAGE if T was damaged, or
 * CLI_FAILED; prints errors.
 */
int tables_write(struct open_trace *t, const struct tables_args *args, char **ret_directory,
		 size_t *ret_n);
