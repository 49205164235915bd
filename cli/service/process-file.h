/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file that a name means for chosen processes. A process in another mount namespace, or one
 * that was started before an upgrade, has another file in memory than this machine has by that
 * name: probes in the latter would see none of its calls.
 */
#pragma once

#include <limits.h>

#include "capture/options/options.h"
#include "reader/places/places.h"

struct process_file {
	char path[PATH_MAX];         /* to be opened by */
	char inner[PATH_MAX];        /* in the mount namespace of the process; if PID is set */
	struct places_living living; /* likewise */
	uint32_t pid;     /* of the process that has it in memory; 0 = it is this machine's */
	uint32_t another; /* a process that has a third file by that name in memory; 0 = none */
};

/*
 * The file for NAME (capture/options/program-file.h) of the processes in FILTER, or this machine's
 * if they have no file of that name in memory. Returns 0, -ENOENT or -ENAMETOOLONG.
 */
int process_file_find(const char *name, const struct capture_filter *filter,
		      struct process_file *ret);

/* Opens it as places_open() does. */
int process_file_open(const struct process_file *f, struct places **ret, char *why, size_t size);

/* Says on stderr which file it is, if it is another one than this machine's. OPTION named it. */
void process_file_tell(const struct process_file *f, const char *option, const char *name);
