/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Scope-bound ownership.
 *
 * A local variable that owns something has the attribute _cleanup_(...), and is released whenever
 * its scope is left. TAKE_PTR and TAKE_FD transfer the value and disarm the cleanup. Destructors
 * accept NULL and return NULL, so `x = x_free(x)` is the idiom for members.
 */
#pragma once

#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(f) __attribute__((cleanup(f)))

/* Makes FUNCp, the form that the cleanup attribute calls with a pointer to the variable. */
#define DEFINE_CLEANUP(type, func)                                                                 \
	static inline void func##p(type *p)                                                        \
	{                                                                                          \
		if (*p)                                                                            \
			func(*p);                                                                  \
	}

#define TAKE_PTR(ptr)                                                                              \
	({                                                                                         \
		__typeof__(ptr) *pptr_ = &(ptr);                                                   \
		__typeof__(ptr) value_ = *pptr_;                                                   \
		*pptr_ = NULL;                                                                     \
		value_;                                                                            \
	})

#define TAKE_FD(fd)                                                                                \
	({                                                                                         \
		int *pfd_ = &(fd);                                                                 \
		int value_ = *pfd_;                                                                \
		*pfd_ = -1;                                                                        \
		value_;                                                                            \
	})

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static inline void freep(void *p)
{
	free(*(void **)p);
}

/* Frees P; always returns NULL, so that `p = free_ptr(p)` works. */
static inline void *free_ptr(void *p)
{
	free(p);
	return NULL;
}

/* Closes FD if it is open; always returns -1, so that `fd = close_fd(fd)` works. */
static inline int close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
	return -1;
}

static inline void close_fdp(int *fd)
{
	close_fd(*fd);
}

#define _cleanup_free_  _cleanup_(freep)
#define _cleanup_close_ _cleanup_(close_fdp)
