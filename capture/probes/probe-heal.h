/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Removes from all processes the breakpoints of a killed recorder.
 */
#pragma once

/*
 * Starts a process that does this, if there is an abandoned journal
 * (capture/probes/probe-journal.h). Nothing waits for that process: it opens files that processes
 * have mapped, and some file systems never answer. It calls SAY with a sentence about each file.
 * Returns 0 or a negative errno.
 */
int probe_heal_start(void (*say)(const char *text));
