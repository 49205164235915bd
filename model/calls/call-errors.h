/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Results that mean an error. An archive has the name of an error as text, like the names of other
 * values. So a text that begins with 'E' can also be a value of a program's enumeration, and no
 * error.
 */
#pragma once

#include <stdbool.h>

/* Returns the text of the errno NAME, such as "ENOENT"; NULL if NAME is not an errno. */
const char *call_errno_meaning(const char *name);

/*
 * Returns true if FUNCTION is a system call: if it fails with an errno, a C program gets -1. (The
 * functions of POSIX threads and others return the errno itself.)
 */
bool call_returns_minus_one(const char *function);

/*
 * Returns true if NAME means that a call of libc or of the kernel has failed: an errno, an
 * interruption, or an error of getaddrinfo().
 */
bool call_is_error(const char *name);
