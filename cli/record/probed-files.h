/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files in which a recording sets probes for --call and --moment, with their names. If a file
 * is replaced (by an upgrade or a build), the probes stay in the old file, and the new file has no
 * probes.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "cli/options/record-options.h"

struct probed_files {
	struct probed_file {
		char *path; /* owned */
		dev_t dev;
		ino_t ino;
	} * list; /* owned */
	size_t n;
};

/* Notes the files in which O requests probes. */
void probed_files_note(struct probed_files *p, const struct session_options *o);
void probed_files_deinit(struct probed_files *p);

/* Says on stderr, for a recording without calls or moments, which files have probes. */
void probed_files_tell(const struct probed_files *p, const char *what);

/* Reports on stderr which files have been replaced; returns their number. */
size_t probed_files_complain(const struct probed_files *p, const char *what);
