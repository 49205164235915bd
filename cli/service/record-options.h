/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `kymo record`, `kymo start` and `kymo top` are asked to record, and how. Names of processes, users,
 * units and cgroups are resolved here, so that the daemon gets numbers.
 */
#pragma once

#include <stdbool.h>

#include "base/cleanup.h"
#include "capture/options/options.h"

struct record_options {
	struct session_options session; /* owned; without a name */
	const char *output;             /* NULL = not given; "-" = standard output */
	const char *bus;                /* NULL = the system bus */
	bool force;                     /* write over an existing file */
	bool direct;                    /* without the daemon */
	bool json;
	bool all_categories;  /* -e all */
	uint64_t interval_ns; /* of top; 0 = not given */
	uint64_t count;       /* of intervals; 0 = without end */
	bool no_symbols;
	char **rest; /* what stands after the options; ends with NULL */
	int n_rest;
	bool separated; /* "--" stands before the rest */
};

enum {
	/* What record_options_parse() returns when there is something to do; else it is an enum
	 * cli_exit. */
	RECORD_OPTIONS_GO = -1,
};

/* The lines of --help that verbs share: all of them, and those that record an archive. */

#define RECORD_OPTIONS_HELP_ALL                                                                    \
	"  -d, --duration TIME  stop after TIME (5, 500ms, 2m)\n"                                  \
	"  -F, --frequency HZ  samples a second of each CPU (99)\n"                                \
	"  -p, --pid PID,...   only these processes, with their children\n"                        \
	"  --unit UNIT         only this systemd unit, over its restarts too\n"                    \
	"  --cgroup PATH       only this cgroup, with those below it\n"                            \
	"  --comm NAME         only threads of this name, of 15 bytes at most\n"                   \
	"  --uid USER          only processes of this user, a name or a number\n"                  \
	"  --own               only processes of your own that you might attach a debugger to\n"   \
	"  -b, --buffer SIZE   ring of each CPU (4M); enlarge it when events are lost\n"

#define RECORD_OPTIONS_HELP                                                                          \
	RECORD_OPTIONS_HELP_ALL                                                                      \
	"  -e, --events CATEGORY,...  what to record; 'help' lists the categories and their cost,\n" \
	"                      'default' is what is recorded without it, 'all' is everything\n"      \
	"  --offcpu-min TIME   shortest time off a CPU that is recorded (1ms)\n"                     \
	"  --counter-interval TIME  between two samples of the counters (1s)\n"                      \
	"  --memory-log        each allocation and each free, too\n"                                 \
	"  --memory-interval SIZE  one block each SIZE bytes, at random, instead of all\n"           \
	"  --memory-min SIZE   pass over smaller blocks\n"                                           \
	"  --memory-blocks N   blocks that can be remembered at once (1000000)\n"                    \
	"  --triage[=TIME]     watch those of all processes that grow; looks each TIME (5s)\n"       \
	"  --reach HOW         say of blocks whether anything leads to them: 'look' or 'freeze'\n"   \
	"  --usage-interval TIME  between two looks at what is allocated (1s)\n"                     \
	"  --flush TIME        write at least this often (250ms)\n"                                  \
	"  --max-overhead SHARE  of the machine's CPU time (2%) or of CPUs (0.5cpu); what costs\n"   \
	"                      more goes on without stacks, then without wakeups, then ends;\n"      \
	"                      what was left out comes back when it costs less\n"                    \
	"  --trigger WHAT=LIMIT,...  mark where something gets worse than LIMIT: wakeup, offcpu,\n"  \
	"                      pressure_cpu, pressure_memory, pressure_io, leak\n"                   \
	"  --max-size SIZE     stop when the archive has this size\n"                                \
	"  --mode MODE         'flight' keeps the last of it in memory, for snapshots\n"             \
	"  --keep TIME         at least so much of it (10s; with --keep-size, what fits)\n"          \
	"  --keep-size SIZE    but never more than this (64M)\n"                                     \
	"  --no-perfetto-blobs write samples once only, without the copy that Perfetto shows\n"      \
	"  --compress[=METHOD] pack the archive by zstd (the default), snappy or gzip\n"             \
	"  --force             write over an existing file\n"

/* Who parses: they differ in the options that they know. */
enum record_options_verb {
	RECORD_OPTIONS_RECORD = 1 << 0, /* "-- COMMAND" ends the options, too */
	RECORD_OPTIONS_START = 1 << 1,
	RECORD_OPTIONS_TOP = 1 << 2,
};

#define TOP_INTERVAL_NS_MIN     UINT64_C(100000000)
#define TOP_INTERVAL_NS_MAX     UINT64_C(3600000000000)
#define TOP_INTERVAL_NS_DEFAULT UINT64_C(1000000000)

int record_options_parse(int argc, char **argv, enum record_options_verb verb,
			 struct record_options *ret);
void record_options_deinit(struct record_options *o);
