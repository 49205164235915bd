/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Internal results of interrupted system calls. Programs do not see them: after the kernel has
 * handled the signal, it restarts the call or returns EINTR.
 */
#pragma once

#include <stdint.h>

/*
 * The result that the eBPF programs store if the process is ending, since the call is then not
 * restarted. Its name is "KILLED".
 */
enum { CALL_RESTART_KILLED = -4000 };

/*
 * Returns the name of RESULT in the kernel, such as ERESTARTSYS for -512; NULL = not such a result.
 */
const char *call_restart_name(int64_t result);

/* Returns the meaning of NAME, "" for KILLED; NULL = not the name of such a result. */
const char *call_restart_meaning(const char *name);
