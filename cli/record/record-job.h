/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A complete recording into a file, or its last part: from the options to the report. It ends when
 * it is stopped, or with a command.
 */
#pragma once

#include "cli/record/exit-search.h"
#include "cli/record/nothing-recorded.h"
#include "cli/record/probed-files.h"
#include "cli/common/output-file.h"
#include "cli/record/record-loop.h"
#include "cli/options/record-options.h"
#include "cli/record/recording.h"
#include "cli/common/run-command.h"

struct record_job {
	struct record_options options; /* with a name; their rest is the command */
	struct output_file output;     /* opened as the options say, unless it is already open */
	bool quiet;                    /* print errors only */
	struct probed_files probed;
	struct recording_request asked; /* a copy, since the recording takes the options */
	bool is_empty;                  /* nothing was recorded, and a message was printed */
	struct recording *recording;
	struct run_command command;
	struct exit_search exits; /* search at the exit of the command */
	/* The exit status of the command as in a shell; -1 = it did not run, or still runs */
	int command_status;
	struct record_loop loop;
	bool with_progress;
	struct output_file snapshot; /* a snapshot that a signal requested, while it is written */
	bool is_writing;
	uint64_t n_due_handled; /* handled snapshots among those that points have requested */
	bool flight;            /* from the options */
	bool is_started;        /* the recording, and its command */
	enum pack_method compress;
	uint64_t next_progress_ns;
};

#define RECORD_JOB_NULL                                                                            \
	{                                                                                          \
		.output = OUTPUT_FILE_NULL, .loop = RECORD_LOOP_NULL,                              \
		.snapshot = OUTPUT_FILE_NULL, .exits = EXIT_SEARCH_NULL, .command_status = -1,     \
	}

void record_job_deinit(struct record_job *j);

/* Records and prints the result. Returns an enum cli_exit. */
int record_job_run(struct record_job *j);

/*
 * The exit status of the process after a recording with the result STATUS. With a command, it is
 * the command's own status, or tells that the command could not be executed, or that kymo failed;
 * loss and damage are only reported. If the command still runs, it is STATUS.
 */
int record_job_exit(const struct record_job *j, int status);
