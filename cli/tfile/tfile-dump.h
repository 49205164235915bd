/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo dump of a GDB trace file: prints the head, and each frame with its blocks.
 */
#pragma once

#include "cli/common/json.h"
#include "cli/common/open-trace.h"

/* Prints all of T. Returns an enum cli_exit. */
int tfile_dump(struct open_trace *t, bool json);

/* Returns the status as a JSON object, owned by the caller. */
struct json_object *tfile_dump_status(const struct tfile_status *s);

/* The status as text, such as "tstop: it ended", in a buffer of TFILE_DUMP_TEXT bytes. */
enum { TFILE_DUMP_TEXT = 512 };
const char *tfile_dump_reason(char *to, const struct tfile_status *s);

/* TEXT of a file without control characters, in a buffer of SIZE bytes. */
const char *tfile_dump_clean(char *to, size_t size, const char *text);
