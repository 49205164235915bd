/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The native Perfetto trace of an archive, which `kymo open` serves, since Perfetto shows more of
 * it than of the archive itself.
 */
#pragma once

#include "cli/common/open-trace.h"

/*
 * Makes the trace of NAMED_FD, the copy of T with names, or if that is -1, of T, a regular file
 * that was opened as PATH. *RET_FD becomes a file without a name, or -1 if the archive itself is to
 * be served: kymo has not written it, or, after a message, the trace could not be made. Returns
 * CLI_OK, CLI_DAMAGE after a message, or CLI_FAILED after an error message.
 */
int open_native(struct open_trace *t, const char *path, int named_fd, int *ret_fd);
