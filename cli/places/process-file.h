/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the file that a name means for selected processes. A process in another mount namespace, or
 * a process that was started before an upgrade, can have mapped another file than the file with
 * this name on this machine. Probes in the file of this machine would then miss all calls of this
 * process.
 */
#pragma once

#include <limits.h>

#include "capture/options/options.h"
#include "reader/places/places.h"

struct process_file {
	char path[PATH_MAX];         /* the path to open */
	char inner[PATH_MAX];        /* path in the mount namespace of the process, if PID is set */
	struct places_living living; /* the file of a live process, if PID is set */
	uint32_t pid; /* a process that has mapped the file; 0 = it is this machine's file */
	/* A process that has mapped a third file of that name; 0 = no such process. */
	uint32_t another;
	bool is_unused; /* none of the selected processes has mapped such a file */
};

/* Finds the file NAME (capture/options/program-file.h) of the processes in FILTER, or this
 * machine's file if none of them has mapped such a file. Returns 0, -ENOENT or -ENAMETOOLONG. */
int process_file_find(const char *name, const struct capture_filter *filter,
		      struct process_file *ret);

/* Opens the file like places_open(). */
int process_file_open(const struct process_file *f, struct places **ret, char *why, size_t size);

/* Reports on stderr the path of the file if it is not this machine's, or that no selected process
 * uses the file. OPTION is the name of the option in messages. */
void process_file_report(const struct process_file *f, const char *option, const char *name);
