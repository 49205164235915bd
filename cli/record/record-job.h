/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A complete recording, from the options to the report, into a file: the whole recording, or only
 * its last part (a flight recorder). It ends when it is stopped, or with a command.
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
	struct record_options options; /* the output in the options, unless it is already open */
	struct output_file output;     /* opened by the options, unless it is already open */
	bool quiet;                    /* print errors only */
	struct probed_files probed;
	/* Copy of the request, since the recording takes the options. */
	struct recording_request asked;
	bool is_empty; /* nothing was recorded, and a message was printed */
	struct recording *recording;
	struct run_command command;
	struct exit_search exits; /* searches at the exits of the command's processes */
	/*
	 * The exit status of the command as in a shell; -1 = the command did not run, or is still
	 * running
	 */
	int command_status;
	struct record_loop loop;
	bool with_progress;
	struct output_file snapshot; /* snapshot that a signal requested, while it is written */
	bool is_writing;
	/* Number of handled snapshots among the snapshots that points have requested. */
	uint64_t n_due_handled;
	bool flight;     /* the options request a flight recorder */
	bool is_started; /* the recording was started, and its command */
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
 * Returns the exit status of the process after a recording with the result STATUS. If a command was
 * recorded, the exit status is that of the command, or shows that the command could not be executed
 * or that kymo failed; loss and damage are only reported. If the command is still running, the exit
 * status is STATUS.
 */
int record_job_exit(const struct record_job *j, int status);
