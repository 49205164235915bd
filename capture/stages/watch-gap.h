/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why allocations of a watched program can be missing although its allocators have probes.
 *
 * The worker examines files after their mapping, and a process can end before the examination. So
 * the files with code that each process has mapped are kept here. When a process has ended, the
 * files that were not examined while the process ran are examined by their paths.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "base/table.h"
#include "capture/options/options.h"
#include "capture/stages/pipeline.h"

struct rec_mapping;
struct rec_watched;

/* Zeroed at first. */
struct watch_gap_files {
	struct file_identity *announced; /* files that a client has announced; owned */
	size_t n_announced;
	struct table files;     /* hash of the identity -> struct watch_gap_file; owned */
	struct table processes; /* pid + 1 -> struct watch_gap_process; owned */
	size_t n_watched;       /* how many of these processes are watched */
	/* The last time when there was no room, and all files were forgotten; 0 = never. */
	uint64_t forgotten_ns;
	bool any_arrived; /* true = files were examined since this was reset */
};

/* Takes the announced files of O. Returns 0 or -ENOMEM. */
int watch_gap_begin(struct watch_gap_files *files, const struct session_options *o);
void watch_gap_deinit(struct watch_gap_files *files);

/* Notes the mapping REC of a process. Returns 0 or -ENOMEM. */
int watch_gap_add(struct watch_gap_files *files, const struct rec_mapping *rec);

/* Called when a watch of process PID has begun. Returns 0 or -ENOMEM. */
int watch_gap_watch(struct watch_gap_files *files, uint32_t pid, uint64_t ts_ns);

/* Called when process PID has ended. The report that its watch has ended can follow. */
void watch_gap_ended(struct watch_gap_files *files, uint32_t pid, uint64_t ts_ns);

/* Takes the results EXAMINED, an array of struct late_file. */
void watch_gap_examined(struct watch_gap_files *files, const struct outbuf *examined);

/*
 * Returns true if the end REC of a watch must wait for the examination of files. If necessary, this
 * function requests it from OWNER.
 */
bool watch_gap_awaits(struct watch_gap_files *files, const struct rec_watched *rec,
		      const struct pipeline_owner *owner);

/*
 * Writes to TEXT, which has SIZE bytes, the reason that REC gives, or that a file was not examined;
 * "" = no allocations are missing. The recording began at FROM_NS.
 */
void watch_gap_describe(const struct watch_gap_files *files, const struct rec_watched *rec,
			uint64_t from_ns, char *text, size_t size);

/* Called when REC, the end of a watch, was written. */
void watch_gap_forget(struct watch_gap_files *files, const struct rec_watched *rec);
