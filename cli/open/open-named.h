/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The copy of an archive that `kymo open` serves, with the function names of its call stacks, since
 * the Perfetto UI cannot find them.
 */
#pragma once

#include "cli/common/open-trace.h"
#include "cli/common/symbol-options.h"

/*
 * Reads T until an event whose kind is in KINDS (bits 1 << enum event_kind), silently. Returns
 * whether there is such an event.
 */
bool open_named_has(struct open_trace *t, uint64_t kinds);

/*
 * Makes a copy of T, a regular file that was just opened as PATH. *RET_FD becomes a file without a
 * name, or -1 if the file of T itself is to be served: the archive has nothing to name, or, after a
 * message, there is no room for a copy. Returns CLI_OK, CLI_DAMAGE after a message if T is damaged,
 * or CLI_FAILED after an error message.
 */
int open_named(struct open_trace *t, const char *path, const struct symbol_options *options,
	       int *ret_fd);
