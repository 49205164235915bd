/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A format that `kymo export` writes: a row in verb-export.c, and its code in
 * cli/archive/export-<name>.c.
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
	bool narrow;                     /* for tracedb: use the layout of the specification */
	bool partition;                  /* for parquet: make directories of host and date */
	bool spec_time;                  /* for rtrace: write microseconds, as specified */
	struct call_trace_options calls; /* for apitrace */
	enum pack_method method;         /* compression of the output */
	/* The output; run() opens it when it has recognized the input as a trace. */
	struct packed_output output;

	/* The results of run(): */
	enum pack_method input_method;
	uint64_t input_bytes; /* compressed size of the input; 0 = unknown */
	bool damaged;         /* the input is damaged, and a message was printed */
	char *made;           /* the directory that was made, if not output_path; owned */
	size_t n_files;       /* number of output files, if the format can write several */
	bool reported;        /* the names of the files were printed */
};

struct export_format {
	const char *name;
	const char *suffix; /* suffix of file names, without the suffix of a compression */
	/* The contents of the directory that run() makes, instead of opening an output; or NULL */
	const char *directory_of;
	enum pack_method method; /* default compression */
	/* Reads the input to its end and writes the output. Returns CLI_OK, CLI_DAMAGE if the input
	 * was damaged, or CLI_FAILED; prints errors. */
	int (*run)(struct export *e); /* NULL = a profile of `kymo flame` */
};

/*
 * Writes the N bytes of DATA to the file PATH, one of several outputs. Returns CLI_OK or
 * CLI_FAILED; prints errors. (export-file.c)
 */
int export_put_file(struct export *e, const char *path, const void *data, size_t n);

int export_apitrace(struct export *e);
int export_fxt(struct export *e);
int export_perfetto(struct export *e);
int export_tracedb(struct export *e);
int export_parquet(struct export *e);
int export_rtrace(struct export *e);
int export_tfile(struct export *e);
