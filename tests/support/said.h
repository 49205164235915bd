/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What complain.c has for verbs, for tests of parts of cli/: it keeps what would be said.
 */
#pragma once

extern char said[512]; /* the last complaint */
extern int bad_option; /* what getopt_long() answered for the last option that is none, or 0 */
