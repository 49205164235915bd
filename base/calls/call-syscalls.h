/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The system calls of this machine: numbers, names, what they are given and return.
 *
 * - A call that fails returns a negative errno, whatever its type: -4095 to -1. The type is `errno`
 *   where nothing else is returned than a number of 32 bits, and `errno64` where that is a position
 *   or a time.
 * - Arguments are read where the call is entered. What it only writes to is `ptr`, or `out`, which
 *   is read where it returns.
 * - Calls that the kernel has no longer, or never had, have no arguments, if those are not known.
 */
#pragma once

struct call_syscall {
	long number;
	const char *name;      /* as in <sys/syscall.h>, without SYS_ */
	const char *signature; /* "(fd fd, ptr to, size_t count) -> errno", as in a specification */
};

/* The call with NUMBER, or NULL. */
const struct call_syscall *call_syscall_by_number(long number);

/* The call NAME, or NULL. */
const struct call_syscall *call_syscall_by_name(const char *name);

/* A negative errno ends call_syscall_match(). */
typedef int call_syscall_fn(const struct call_syscall *call, void *context);

/*
 * Hands each call whose name PATTERN stands for (as in file names: `*`, `?`, `[a-z]`) to FN, from
 * the lowest number on. Returns how many those were, or what FN failed with.
 */
int call_syscall_match(const char *pattern, call_syscall_fn *fn, void *context);
