/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The text of a value of a call, in a buffer. If the buffer is too small, the text is cut. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct call_print {
	char *to;
	size_t size, used; /* USED does not include the NUL */
};

/* Begins a text at TO (SIZE > 0 bytes). */
struct call_print call_print_begin(char *to, size_t size);

void call_print_add(struct call_print *p, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Appends N bytes in quotes, as strace writes them, and "..." if IS_CUT. */
void call_print_quoted(struct call_print *p, const char *bytes, size_t n, bool is_cut);

/* Appends N bytes in quotes, each in hex, and "..." if IS_CUT. */
void call_print_bytes(struct call_print *p, const char *bytes, size_t n, bool is_cut);
