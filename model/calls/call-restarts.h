/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Results of interrupted system calls that only the kernel sees: after it has handled the signal,
 * it restarts the call or returns EINTR.
 */
#pragma once

#include <stdint.h>

/*
 * The name of RESULT in the kernel, such as ERESTARTSYS for -512; NULL = RESULT has another
 * meaning.
 */
const char *call_restart_name(int64_t result);

/* The meaning of NAME; NULL = NAME is no such name. */
const char *call_restart_meaning(const char *name);
