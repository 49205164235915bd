/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The terminal on standard output, as a screen, and the keys from standard input. A process has
 * only one terminal, so the state is global.
 *
 * The terminal is restored on every exit: by terminal_leave(), at exit(), and at signals that kill.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Returns true if standard output is a terminal. */
bool terminal_is_there(void);

/* Prints N bytes of foreign text. Files and pipes get them unchanged; for a terminal, control
 * characters are removed. Returns 0, -ENOMEM, or -EPIPE if the output is closed. */
int terminal_print(const char *p, size_t n);

/* Shows an empty screen; keys are read immediately and without echo. Can be called again after a
 * stop. Returns 0 or a negative errno. */
int terminal_enter(void);

/* Restores the terminal, if terminal_enter() changed it. Safe in signal handlers. */
void terminal_leave(void);

/* Returns true if the screen is shown. */
bool terminal_is_shown(void);

/* Returns true if keys can be read from standard input. */
bool terminal_has_keys(void);

struct terminal_size {
	unsigned rows, columns;
};

/* Returns the size of the terminal; 24 rows and 80 columns if it is unknown. */
struct terminal_size terminal_size(void);
