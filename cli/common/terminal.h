/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The terminal on standard output, as a screen to draw on, and the keys that come from standard
 * input. There is one, so this has state of its own.
 *
 * It is given back on every way out: terminal_leave(), exit(), and signals that kill.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether standard output is one. */
bool terminal_is_there(void);

/*
 * Prints N bytes of what others wrote, which pass to files and pipes as they are: here nothing of
 * them is a command. Returns 0, -ENOMEM, or -EPIPE if nobody takes it.
 */
int terminal_print(const char *p, size_t n);

/*
 * Shows an empty screen; keys come at once and without echo. May be called again (after a stop).
 * Returns 0 or a negative errno.
 */
int terminal_enter(void);

/* Gives it back as it was; nothing, if it is not ours. Safe in signal handlers. */
void terminal_leave(void);

/* Whether it is ours. */
bool terminal_is_shown(void);

/* Whether keys can be read from standard input. */
bool terminal_has_keys(void);

struct terminal_size {
	unsigned rows, columns;
};

/* 24 and 80 where nobody knows. */
struct terminal_size terminal_size(void);
