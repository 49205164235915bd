/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo dump of a GDB trace file: the head, and each frame with its blocks.
 */
#pragma once

#include "cli/common/json.h"
#include "cli/common/open-trace.h"

/* Prints all of T. Returns an enum cli_exit. */
int tfile_dump(struct open_trace *t, bool json);

/* The status as JSON; for summaries, too. */
struct json_object *tfile_dump_status(const struct tfile_status *s);

/* "tstop: it ended", for people, into a buffer of TFILE_DUMP_TEXT. */
enum { TFILE_DUMP_TEXT = 512 };
const char *tfile_dump_reason(char *to, const struct tfile_status *s);

/* TEXT of a file as it may go to a terminal, into a buffer of SIZE bytes. */
const char *tfile_dump_clean(char *to, size_t size, const char *text);
