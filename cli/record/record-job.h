/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording into a file, or the last of it, from its options to what became of it: until it is
 * stopped, or while a command runs.
 */
#pragma once

#include "cli/record/exit-search.h"
#include "cli/record/nothing-recorded.h"
#include "cli/record/probed-files.h"
#include "cli/common/output-file.h"
#include "cli/record/record-loop.h"
#include "cli/service/record-options.h"
#include "cli/record/recording.h"
#include "cli/common/run-command.h"

struct record_job {
	struct record_options options; /* with a name, and the command as their rest */
	struct output_file output;     /* opened as the options say, if it is not open yet */
	bool quiet;                    /* only what went wrong is said */
	struct probed_files probed;
	struct asked_for asked; /* the options go to the recording */
	bool is_empty;          /* nothing of it was recorded, which has been said */
	struct recording *recording;
	struct run_command command;
	struct exit_search exits; /* of the command */
	/* What a shell would say of the command; -1 = it did not run, or still runs */
	int command_status;
	struct record_loop loop;
	bool with_progress;
	struct output_file snapshot; /* that was asked for by a signal and is being written */
	bool is_writing;
	uint64_t n_due_taken; /* of the snapshots that points have asked for */
	bool flight;          /* as the options said */
	enum pack_method compress;
	uint64_t next_progress_ns;
};

#define RECORD_JOB_NULL                                                                            \
	{                                                                                          \
		.output = OUTPUT_FILE_NULL, .loop = RECORD_LOOP_NULL,                              \
		.snapshot = OUTPUT_FILE_NULL, .exits = EXIT_SEARCH_NULL, .command_status = -1,     \
	}

void record_job_deinit(struct record_job *j);

/* Returns what became of it, an enum cli_exit; has said so. */
int record_job_run(struct record_job *j);

/*
 * What the process exits with, STATUS being what became of the recording. With a command that is
 * the command's own status, or that it could not be executed, or that kymo failed; loss and damage
 * were reported. Where a command still runs it is STATUS.
 */
int record_job_exit(const struct record_job *j, int status);
