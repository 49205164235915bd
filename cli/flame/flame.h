/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A format that `kymo flame` writes: a row in verb-flame.c, and its code in
 * cli/flame/flame-<name>.c.
 */
#pragma once

#include "base/outbuf.h"
#include "cli/common/resolver.h"
#include "reader/views/call-tree.h"
#include "reader/views/profile-names.h"
#include "reader/views/summary.h"

/* An archive and the resolver of its names. */
struct flame_input {
	struct profile *profile;
	struct summary *summary;
	struct profile_names names;
	struct resolver resolver;
	int64_t real_offset_ns; /* CLOCK_REALTIME - CLOCK_BOOTTIME; 0 = unknown */
};

/* The data and options of a flame graph. */
struct flame {
	const struct flame_input *now;
	const struct flame_input *old; /* archive for a comparison, or NULL */
	const struct call_tree *tree;  /* tree of both archives; NULL for formats without a tree */
	const char *title;
	bool on_cpu, off_cpu; /* requested kinds of stacks */
	bool off_wake;        /* times off CPU are joined with the stacks of wakers */
	bool by_time;         /* weights of the tree are nanoseconds; otherwise, samples */
	/*
	 * The data are allocations: counts are blocks, nanoseconds are bytes, tids are enum
	 * resource.
	 */
	bool allocations;
	bool inverted;
	double min_percent; /* frames with a smaller share are not drawn */

	/* Results, for the report. */
	uint64_t n_drawn, n_left_out;
};

struct flame_format {
	const char *name;
	const char *suffix; /* suffix of file names */
	/* The format is made from the tree: --inverted, --diff and --title apply. */
	bool of_tree;
	bool drawn; /* the format is drawn: --min-percent applies */
	bool gzip;
	/* Appends the graph to OUT. Returns 0 or a negative errno. */
	int (*write)(struct flame *f, struct outbuf *out);
};

int flame_svg(struct flame *f, struct outbuf *out);
int flame_folded(struct flame *f, struct outbuf *out);
int flame_pprof(struct flame *f, struct outbuf *out);
int flame_otlp(struct flame *f, struct outbuf *out);
int flame_speedscope(struct flame *f, struct outbuf *out);

/* A request of `kymo export`: a profile in FORMAT, of all samples and times off CPU. */
struct flame_export {
	const char *input, *output, *format;
	bool force, json;
};

/*
 * Writes the profile, even if it is empty. Returns an enum cli_exit; prints errors and the report.
 * (verb-flame.c)
 */
int flame_export_run(const struct flame_export *e);

/* Returns the display name of the thread of STACK, or "thread N". Like profile_names_label(). */
const char *flame_thread_name(char to[PROFILE_LABEL_MAX], const struct flame_input *in,
			      const struct profile_stack *stack);
