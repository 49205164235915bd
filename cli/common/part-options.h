/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options --from, --to, --pid and --cpu of verbs that process a part of an archive. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/common/verb-options.h"
#include "writer/fxt/fxt-wire.h"

enum { PART_IDS_MAX = 256 };

/* A list of processes, or of threads. */
struct part_ids {
	uint32_t list[PART_IDS_MAX];
	size_t n;
};

struct part_options {
	uint64_t from_ns, to_ns;
	bool from_absolute, to_absolute, has_from, has_to;
	struct part_ids pids;
	bool cpus[FXT_CPU_MAX + 1];
	size_t n_cpus; /* 0 = all CPUs */
};

#define PART_OPTIONS_ALL                                                                           \
	{                                                                                          \
		.to_ns = UINT64_MAX                                                                \
	}

/* The rows of the options. O is a struct part_options *, LETTER the short option of --pid, or 0. */
#define PART_OPTION_ROWS(o, letter)                                                                \
	OPTION_VALUE("cpu", 0, part_options_cpus, o),                                              \
		OPTION_VALUE("from", 0, part_options_from, o),                                     \
		OPTION_VALUE("pid", letter, part_options_pids, &(o)->pids),                        \
		OPTION_VALUE("to", 0, part_options_to, o)

/* The parsers of the options (verb-options.h). Each stores its value in OPTIONS. */

/*
 * Parse a time, "1.5s" from the beginning, or "@NS", a time of the archive; OPTIONS is a struct
 * part_options.
 */
int part_options_from(void *options, char *text);
int part_options_to(void *options, char *text);

/* Parses "0,2-3"; OPTIONS is a struct part_options. */
int part_options_cpus(void *options, char *text);

/* Parses "12,13"; IDS is a struct part_ids. */
int part_options_pids(void *ids, char *text);
int part_options_tids(void *ids, char *text);

/* Checks the times after all options are parsed. Returns CLI_OK, or CLI_USAGE after an error
 * message. */
int part_options_check(const struct part_options *o);

static inline bool part_options_absolute(const struct part_options *o)
{
	return o->has_from ? o->from_absolute : o->to_absolute;
}
