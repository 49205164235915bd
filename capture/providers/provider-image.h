/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tells whether a process has executed another program since an earlier time. This matters since a
 * child from before the exec can hold the buffer, and could write events of the new program's
 * threads.
 */
#pragma once

#include <stdint.h>

/*
 * Returns a number for the program that process PID executes now: two programs have different
 * numbers, also if their files are the same. 0 = unknown: the main thread has ended, or is ending,
 * or has not begun the program yet.
 */
uint64_t provider_image_of(uint32_t pid);

/* Like provider_image_of(), for the file PATH: "/proc/PID/stat". */
uint64_t provider_image_read(const char *path);
