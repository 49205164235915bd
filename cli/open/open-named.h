/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The copy of an archive that `kymo open` serves: with the names of the functions in its call
 * stacks, which the Perfetto UI cannot look for.
 */
#pragma once

#include "cli/common/open-trace.h"
#include "cli/common/symbol-options.h"

/*
 * Makes it of T, which was just opened as PATH and is a regular file. *RET_FD becomes a file
 * without a name, or -1 where there is nothing to name, or no room for a copy (which was said): T's
 * own file is as good then. Returns CLI_OK, CLI_DAMAGE if T is damaged (which was said), or
 * CLI_FAILED when it has said what is wrong.
 */
int open_named(struct open_trace *t, const char *path, const struct symbol_options *options,
	       int *ret_fd);
