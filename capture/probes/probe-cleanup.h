/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Removes the breakpoints of a killed recorder from all processes.
 */
#pragma once

/*
 * If there is an abandoned journal (capture/probes/probe-journal.h), starts a process that removes
 * its breakpoints. Nothing waits for that process, since it opens files that processes have mapped,
 * and some file systems never answer. The process calls REPORT with a sentence about each file.
 * Returns 0 or a negative errno.
 */
int probe_cleanup_start(void (*report)(const char *text));
