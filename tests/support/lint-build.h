/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small archives for the tests of the lint: each kind of finding has a case that builds an archive
 * with it, and one next to it without.
 *
 * An archive begins as it should, with provider 1 "test" and ticks of a nanosecond; process 10 and
 * its threads 10, 11 and 12 have names.
 */
#pragma once

#include <stdbool.h>

#include "base/outbuf.h"
#include "reader/fxt/fxt-finding.h"
#include "writer/fxt/fxt-writer.h"

struct build {
	struct outbuf out;
	struct fxt_out_provider provider;
	struct fxt_writer w;
};

struct lint_case {
	enum fxt_finding_id id;
	void (*make)(struct build *b, bool bad);
	/* What else is found in the bad one, errors and warnings; 0 (damage) = nothing. */
	enum fxt_finding_id also[2];
	bool bare; /* without the beginning: the magic number alone */
};

struct lint_range {
	enum fxt_finding_id first, last;
};

struct lint_cases {
	const struct lint_case *list;
	size_t n;
	const struct lint_range *ranges; /* of kinds that must all have a case */
	size_t n_ranges;
};

/*
 * Runs the cases as tests, or, called with `--write DIRECTORY`, writes their archives there, as
 * ID.bad.fxt and ID.good.fxt (of several cases for one kind, the first). Returns what main() is to
 * return.
 */
int lint_cases_run(int argc, char **argv, const struct lint_cases *cases);

/* What is found in an archive: how often each kind, and what was not judged. */
struct lint_tally {
	uint64_t n[FXT_FINDING_MAX];
	uint64_t not_judged;
};

/* By hand: begin an archive, lint it, let go of it. */
void build_begin(struct build *b, bool bare);
void build_lint(const struct build *b, struct lint_tally *ret);
void build_deinit(struct build *b);

/* ---- words for the cases; all of them fail the test if the writer refuses ---- */

#define OK(call) assert_int_equal(call, 0)

/* N words as they are. */
void build_raw(struct build *b, const uint64_t *words, size_t n);
#define RAW(b, ...)                                                                                \
	build_raw(b, (const uint64_t[]){ __VA_ARGS__ },                                            \
		  sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

void build_process(struct build *b, uint64_t pid, const char *name);
void build_thread(struct build *b, uint64_t pid, uint64_t tid, const char *name);

/* A switch with both weights: idle is thread 0. */
void build_switch(struct build *b, uint64_t ts, uint32_t cpu, uint64_t out, uint64_t in);
void build_wakeup(struct build *b, uint64_t ts, uint64_t tid);

/* An event of thread 10/TID without arguments. */
void build_event(struct build *b, enum fxt_event_type type, uint64_t ts, uint64_t tid,
		 const char *name, uint64_t id);

/* An instant of thread 10/10 with one argument. */
void build_instant(struct build *b, uint64_t ts, const struct fxt_out_arg *arg);
