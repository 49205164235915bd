/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the file that a name means for selected processes. A process in another mount namespace, or
 * one that was started before an upgrade, can have another file mapped than the one that has the
 * name on this machine. Probes in the latter would miss all of its calls.
 */
#pragma once

#include <limits.h>

#include "capture/options/options.h"
#include "reader/places/places.h"

struct process_file {
	char path[PATH_MAX];         /* the path to open */
	char inner[PATH_MAX];        /* in the mount namespace of the process, if PID is set */
	struct places_living living; /* likewise */
	uint32_t pid;     /* a process that has the file mapped; 0 = the file is this machine's */
	uint32_t another; /* a process that has a third file of that name mapped; 0 = none */
	bool is_unused;   /* none of the selected processes has such a file mapped */
};

/* Finds the file NAME (capture/options/program-file.h) of the processes in FILTER, or this
 * machine's file if they have no such file mapped. Returns 0, -ENOENT or -ENAMETOOLONG. */
int process_file_find(const char *name, const struct capture_filter *filter,
		      struct process_file *ret);

/* Opens the file like places_open(). */
int process_file_open(const struct process_file *f, struct places **ret, char *why, size_t size);

/* Reports on stderr if it is not this machine's file, and which it is, or if it is unused. OPTION
 * named it. */
void process_file_report(const struct process_file *f, const char *option, const char *name);
