/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The browser of the user who called us.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>

#include "cli/common/run-command.h"

/*
 * Root that somebody became by sudo turns back into them, for good: this process, and what their
 * desktop needs in its environment. Anyone else stays who they are. Returns 0 or a negative errno.
 */
int browser_become_caller(void);

/* Whether there is a browser to be had: one is named, or there is a display. */
bool browser_is_there(const char *command);

/*
 * Shows URL by COMMAND (words of the shell, the URL comes behind them), or, if that is NULL, by
 * $BROWSER or xdg-open, in a session of its own, so that Ctrl-C does not reach it. MASK is the
 * signal mask it gets. Returns 0 or a negative errno.
 */
int browser_start(struct run_command *c, const char *command, const char *url,
		  const sigset_t *mask);
