/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --from, --to, --pid and --cpu of verbs that look at a part of an archive.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "writer/fxt/fxt-wire.h"

enum { PART_IDS_MAX = 256 };

/* Processes, or threads. */
struct part_ids {
	uint32_t list[PART_IDS_MAX];
	size_t n;
};

struct part_options {
	uint64_t from_ns, to_ns;
	bool from_absolute, to_absolute, has_from, has_to;
	struct part_ids pids;
	bool cpus[FXT_CPU_MAX + 1];
	size_t n_cpus; /* 0 = all */
};

#define PART_OPTIONS_ALL                                                                           \
	{                                                                                          \
		.to_ns = UINT64_MAX                                                                \
	}

/* Each returns CLI_OK, or CLI_USAGE when it has said what is wrong. TEXT is taken apart. */

/* "1.5s" since the beginning, "@NS" as the archive has it. */
int part_options_from(struct part_options *o, const char *text);
int part_options_to(struct part_options *o, const char *text);

/* "12,13"; WHAT they are ids of is said in complaints: "process". */
int part_options_ids(struct part_ids *ids, const char *what, char *text);

/* "0,2-3" */
int part_options_cpus(struct part_options *o, char *text);

/* Once all have been taken: whether the times make sense. */
int part_options_check(const struct part_options *o);

static inline bool part_options_absolute(const struct part_options *o)
{
	return o->has_from ? o->from_absolute : o->to_absolute;
}
