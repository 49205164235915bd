/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A format that `kymo export` writes: a row in verb-export.c, and a file cli/export-<name>.c with
 * what it does.
 */
#pragma once

#include "cli/apitrace/call-trace.h"
#include "cli/common/input-file.h"
#include "cli/common/packed-output.h"

struct export
{
	struct input_file input;
	const char *input_path; /* "-" = standard input */
	const char *output_path;
	bool force;
	bool narrow;                     /* tracedb: the layout of the specification */
	bool spec_time;                  /* rtrace: microseconds, as the specification has them */
	struct call_trace_options calls; /* apitrace */
	enum pack_method method;         /* of the output */
	struct packed_output output;     /* opened by run(), when it knows that there is a trace */

	/* What became of it. */
	enum pack_method input_method;
	uint64_t input_bytes; /* as packed; 0 = nobody knows */
	bool damaged;         /* the input; it has said how */
	size_t n_files;       /* that were made, where there may be several */
	bool reported;        /* it has said which */
};

struct export_format {
	const char *name;
	const char *suffix;      /* of file names, without that of a packing */
	bool makes_directory;    /* ... and opens no output */
	enum pack_method method; /* where nobody says which */
	/* Reads the input and writes it to the output, to its end. Returns CLI_OK, CLI_DAMAGE if
	 * there was damage in the input, or CLI_FAILED; says what is wrong. */
	int (*run)(struct export *e);
};

int export_apitrace(struct export *e);
int export_fxt(struct export *e);
int export_tracedb(struct export *e);
int export_rtrace(struct export *e);
int export_tfile(struct export *e);
