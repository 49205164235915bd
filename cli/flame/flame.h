/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A format that `kymo flame` writes: a row in verb-flame.c, and a file cli/flame-<name>.c with what
 * it does.
 */
#pragma once

#include "base/outbuf.h"
#include "cli/common/resolver.h"
#include "reader/views/call-tree.h"
#include "reader/views/profile-names.h"
#include "reader/views/summary.h"

/* One archive, and who knows the names in it. */
struct flame_input {
	struct profile *profile;
	struct summary *summary;
	struct profile_names names;
	struct resolver resolver;
	int64_t real_offset_ns; /* CLOCK_REALTIME - CLOCK_BOOTTIME; 0 = not known */
};

/* What is to be shown. */
struct flame {
	const struct flame_input *now;
	const struct flame_input *old; /* what it is compared with, or NULL */
	const struct call_tree *tree;  /* of both; NULL where the format takes none */
	const char *title;
	bool on_cpu, off_cpu; /* what was asked for */
	bool by_time;         /* weights of the tree are nanoseconds, else samples */
	bool allocations; /* no samples: counts are blocks, nanoseconds bytes, tids enum resource */
	bool inverted;
	double min_percent; /* what is less is not drawn */

	/* What became of it, for the report. */
	uint64_t n_drawn, n_left_out;
};

struct flame_format {
	const char *name;
	const char *suffix; /* of file names */
	bool of_tree;       /* --inverted, --diff and --title have a meaning for it */
	bool drawn;         /* --min-percent has */
	bool gzip;
	/* Appends it to OUT. Returns 0 or a negative errno. */
	int (*write)(struct flame *f, struct outbuf *out);
};

int flame_svg(struct flame *f, struct outbuf *out);
int flame_folded(struct flame *f, struct outbuf *out);
int flame_pprof(struct flame *f, struct outbuf *out);
int flame_speedscope(struct flame *f, struct outbuf *out);

/* The thread of STACK for people: its name, or "thread N". As profile_names_label(). */
const char *flame_thread_name(char to[PROFILE_LABEL_MAX], const struct flame_input *in,
			      const struct profile_stack *stack);
