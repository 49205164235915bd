/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `kymo leaks` has of an archive, and what it makes of it: a file cli/leaks-<name>.c each.
 */
#pragma once

#include "cli/flame/flame.h"
#include "cli/common/json.h"
#include "cli/common/open-trace.h"
#include "cli/leaks/suppressions.h"
#include "cli/record/record-job.h"
#include "reader/views/leaks.h"

/* What is asked for. */
struct leaks_request {
	const char *old; /* an archive to compare with */
	const char *pprof, *folded, *rtrace;
	const char *context;
	struct suppressions suppressions;
	struct symbol_options symbols;
	uint32_t resources; /* 1 << enum resource; 0 = all */
	uint32_t verdicts;  /* 1 << enum leak_verdict; 0 = all */
	uint64_t min_bytes, min_blocks, min_age_ns;
	uint64_t top;       /* groups of each process that are shown */
	uint64_t fail_over; /* bytes */
	bool has_fail_over;
	bool allow_unwatched;
	bool json, force;
	bool spec_time;       /* of --rtrace */
	bool of_growing;      /* of processes that grow, and there may have been none */
	const uint32_t *pids; /* borrowed */
	size_t n_pids;
};

/* One archive. */
struct leaks_input {
	struct flame_input flame; /* its profile is that of `leaks` */
	struct leaks *leaks;
	int64_t real_offset_ns; /* CLOCK_REALTIME - CLOCK_BOOTTIME; 0 = not known */
	char arch[32];          /* of the machine; "" = not known */
	uint64_t n_suppressed, suppressed_blocks, suppressed_bytes;
	bool damaged;
};

void leaks_input_deinit(struct leaks_input *in);

/*
 * Reads all of T and leaves out what Q does not ask for. Returns CLI_OK, or CLI_FAILED when it has
 * said why.
 */
int leaks_input_read(struct leaks_input *in, struct leaks_request *q, struct open_trace *t,
		     struct symbols *symbols);

/* Functions on the way out from the innermost call of G, inlined ones first. */
struct leaks_walk {
	const struct leaks_input *in;
	const struct leak_group *group;
	uint32_t node;
	/* After the last one: nothing is missing behind it, as far as anybody can say */
	bool whole;
	/* Of leaks-stack.c: */
	const char *called;                /* by the place of now, if that is in doubt */
	const struct profile_place *inner; /* the one before; NULL = none */
	char inner_function[1024];
	const struct frame *frames;
	int n, i;
};

struct leaks_frame {
	uint64_t address; /* as it stands in the stack */
	const struct profile_place *place;
	const struct frame *frame; /* NULL = no name is known */
	bool inlined;              /* into the next one */
	/*
	 * The call there is of another function than what stands above: of which; "" = that has
	 * no name. NULL = not in doubt.
	 */
	const char *called;
};

void leaks_walk_begin(struct leaks_walk *w, const struct leaks_input *in,
		      const struct leak_group *g);

/* Returns 1 with *RET, whose texts hold until the next call; 0 at the end; or -ENOMEM. */
int leaks_walk_next(struct leaks_walk *w, struct leaks_frame *ret);

/* What is known of the reach of the blocks of G: that of those with most evidence. */
enum reach leaks_reach(const struct leak_group *g);

/* A group as it was in another archive. */
struct leaks_before {
	char *key; /* owned; its process, resource and stack by name */
	uint64_t blocks, bytes;
	bool seen; /* it is in the new archive, too */
	const struct leak_group *group;
	const struct leak_watch *watch;
	struct leaks_before *next; /* of the same hash */
};

struct leaks_diff {
	const struct leaks_input *old;
	struct table groups;        /* hash -> struct leaks_before, a chain; owned */
	struct leaks_before **list; /* owned; those of OLD in its order */
	size_t n, room;
};

int leaks_diff_init(struct leaks_diff *d, const struct leaks_input *old);
void leaks_diff_deinit(struct leaks_diff *d);

/* What G of W in IN was, or NULL. Returns 0 or -ENOMEM. */
int leaks_diff_find(struct leaks_diff *d, const struct leaks_input *in, const struct leak_watch *w,
		    const struct leak_group *g, struct leaks_before **ret);

/* What is shown: IN, compared with DIFF if that is not NULL. Return 0 or a negative errno. */
int leaks_print(const struct leaks_input *in, const struct leaks_request *q,
		struct leaks_diff *diff);
int leaks_print_json(const struct leaks_input *in, const struct leaks_request *q,
		     struct leaks_diff *diff);

/* Whether Q asks for memory of W, of which nothing is known, or not all. */
static inline bool leaks_misses(const struct leaks_request *q, const struct leak_watch *w)
{
	return (*w->unwatched || *w->gap) &&
	       (!q->resources || q->resources & 1u << RESOURCE_MEMORY);
}

/* The process of W for people: its name, or that of its program, or "?". */
const char *leaks_process(const struct leak_watch *w);

/*
 * A stack each, weighted by bytes. Return CLI_OK, or CLI_FAILED when they have said what is wrong.
 */
int leaks_write_pprof(struct leaks_input *in, const struct leaks_request *q, int input_fd);
int leaks_write_folded(struct leaks_input *in, const struct leaks_request *q, int input_fd);

struct leaks_rtrace_args {
	const char *directory; /* is made, if it is not there */
	/* What was read: of processes with each event all are written; NULL = of none */
	const char *archive;
	bool force;
	bool spec_time; /* microseconds, as the specification has them */
};

/* A report in the text protocol each watch, "PID-N.rtrace.txt". As above. */
int leaks_write_rtrace(const struct leaks_input *in, const struct leaks_rtrace_args *args);

/* The report of W as text; SPEC_TIME as above. Returns 0 or a negative errno. */
int leaks_rtrace(const struct leaks_input *in, const struct leak_watch *w, bool spec_time,
		 struct outbuf *out);

/*
 * Records what J's options ask for: `memory` and what belongs to it of the processes that they
 * name, or of the command behind "--". Returns CLI_OK, CLI_DAMAGE where something was lost, or
 * another enum cli_exit when there is nothing to be shown (record_job_exit()); has said why.
 * *RET_FD has the archive, and is the caller's.
 */
int leaks_record(struct record_job *j, int *ret_fd);
