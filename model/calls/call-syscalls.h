/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The system calls of this machine: numbers, names, arguments and results.
 *
 * - A failed call returns a negative errno from -4095 to -1, whatever its type. The type is `errno`
 *   if the result is a 32-bit number, and `errno64` if it is a position or a time.
 * - Arguments are read at the entry of the call. Memory that the call only writes is `ptr` (not
 *   read), or `out` (read at the return).
 * - Calls that the kernel has removed, or never had, have no arguments if those are unknown.
 */
#pragma once

#define CALL_SYSCALL_UNKNOWN (-1)

struct call_syscall {
	long number;
	const char *name;      /* name as in <sys/syscall.h>, without SYS_ */
	const char *signature; /* "(fd fd, ptr to, size_t count) -> errno", as in a specification */
};

/* Returns the call with NUMBER, or NULL if the number is unknown. */
const struct call_syscall *call_syscall_by_number(long number);

/*
 * Returns the call NAME, or NULL. The name `unknown`, with the number CALL_SYSCALL_UNKNOWN, means
 * all calls with unknown numbers: newer ones, and those that the kernel does not have.
 */
const struct call_syscall *call_syscall_by_name(const char *name);

/* Receives each call. A negative errno ends call_syscall_match(). */
typedef int call_syscall_fn(const struct call_syscall *call, void *context);

/*
 * Calls FN for each call whose name matches PATTERN (as in file names: `*`, `?`, `[a-z]`), in order
 * of numbers, with `unknown` at the end. Returns the number of these calls, or the error of FN. A
 * pattern does not match uretprobe, because programs do not call it.
 */
int call_syscall_match(const char *pattern, call_syscall_fn *fn, void *context);
