/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The browser of the calling user.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>

#include "cli/common/run-command.h"

/* If this process runs as root through sudo, changes permanently to the user who called sudo, and
 * sets the variables that the desktop needs. Otherwise, does nothing. Returns 0 or a negative
 * errno. */
int browser_become_caller(void);

/* Returns true if a browser is available: COMMAND or $BROWSER is set, or there is a display. */
bool browser_is_there(const char *command);

/*
 * Shows URL with COMMAND (a shell command, to which the URL is appended), or, if that is NULL, with
 * $BROWSER or xdg-open. The command runs in its own session, so that Ctrl-C does not reach it, and
 * with the signal mask MASK. Returns 0 or a negative errno.
 */
int browser_start(struct run_command *c, const char *command, const char *url,
		  const sigset_t *mask);
