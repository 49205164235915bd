/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes out of all processes the breakpoints that a recorder has left which was killed.
 */
#pragma once

/*
 * Starts a process that does it, if there is a journal that was left behind
 * (capture/probes/probe-journal.h); nobody waits for that one: it opens files that processes have
 * mapped, and some file systems never answer. In it, SAY is called with a sentence about each file.
 * Returns 0 or a negative errno.
 */
int probe_heal_start(void (*say)(const char *text));
