/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Internal results of interrupted system calls. Programs do not see them: after the kernel has
 * handled the signal, it restarts the call or returns EINTR.
 */
#pragma once

#include <stdint.h>

/*
 * Returns the name of RESULT in the kernel, such as ERESTARTSYS for -512; NULL = not such a result.
 */
const char *call_restart_name(int64_t result);

/* Returns the meaning of NAME; NULL = not the name of such a result. */
const char *call_restart_meaning(const char *name);
