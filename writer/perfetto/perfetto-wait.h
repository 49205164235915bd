/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel's function in which a thread waits.
 */
#pragma once

#include <stddef.h>

/*
 * FUNCTIONS are the N kernel functions of the stack with which a thread left its CPU, innermost
 * first; unknown names are "". Returns the innermost function that is not a part of the scheduler,
 * as /proc/PID/wchan does; NULL = none. (In stacks that kymo records, the kernel has left out the
 * scheduler; other writers' stacks can have it.)
 */
const char *perfetto_wait_function(const char *const *functions, size_t n);
