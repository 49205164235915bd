/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The data of `kymo leaks` from an archive, and its reports, each in a file
 * cli/leaks/leaks-<name>.c.
 */
#pragma once

#include <string.h>

#include "cli/flame/flame.h"
#include "cli/common/json.h"
#include "cli/common/open-trace.h"
#include "cli/leaks/suppressions.h"
#include "cli/record/record-job.h"
#include "reader/views/leaks.h"

/* The options. */
struct leaks_request {
	const char *old; /* archive for a comparison, or NULL */
	const char *pprof, *folded, *rtrace;
	const char *context;
	struct suppressions suppressions;
	struct symbol_options symbols;
	uint32_t resources; /* bits 1 << enum resource; 0 = all */
	uint32_t verdicts;  /* bits 1 << enum leak_verdict; 0 = all */
	uint64_t min_bytes, min_blocks, min_age_ns;
	uint64_t top;       /* number of groups that are shown for each process */
	uint64_t fail_over; /* in bytes */
	bool has_fail_over;
	bool allow_unwatched, allow_forked;
	bool json, force;
	bool spec_time; /* for --rtrace: write microseconds, as specified */
	/* The recording was of growing processes, and there may have been none. */
	bool of_growing;
	const uint32_t *pids; /* borrowed */
	size_t n_pids;
};

/* The data of one archive. */
struct leaks_input {
	struct flame_input flame; /* its profile is the profile of `leaks` */
	struct leaks *leaks;
	int64_t real_offset_ns; /* CLOCK_REALTIME - CLOCK_BOOTTIME; 0 = unknown */
	char arch[32];          /* architecture of the machine; "" = unknown */
	uint64_t n_suppressed, suppressed_blocks, suppressed_bytes;
	uint64_t n_unsearched; /* blocks without a result of the search for pointers */
	bool any_searched;     /* a search for pointers was made */
	bool lacks_search;     /* a process with such blocks was not searched, or only in part */
	bool damaged;
	bool is_unknown; /* a part of the selected data was not recorded */
};

void leaks_input_deinit(struct leaks_input *in);

/* Reads all of T without the data that Q excludes. Returns CLI_OK, or CLI_FAILED after an error
 * message. */
int leaks_input_read(struct leaks_input *in, struct leaks_request *q, struct open_trace *t,
		     struct symbols *symbols);

/*
 * A walk through the functions of a group's stack, from the innermost call outwards, inlined
 * functions first.
 */
struct leaks_walk {
	const struct leaks_input *in;
	const struct leak_group *group;
	uint32_t node;
	/* Set after the last frame: the stack is complete, as far as is known */
	bool whole;
	/* Private to leaks-stack.c: */
	/* Function that is called at the place, if the inner frame is doubtful. */
	const char *called;
	const struct profile_place *inner; /* the previous place; NULL = this is the first one */
	char inner_function[1024];
	const struct frame *frames;
	int n, i;
	unsigned n_places; /* number of places so far */
};

struct leaks_frame {
	uint64_t address; /* address in the stack */
	const struct profile_place *place;
	const struct frame *frame; /* NULL = no name */
	bool inlined;              /* inlined into the function of the next frame */
	/* The function that is called at this place, if it is not the function of the inner frame:
	 * its name, or "" without a name. NULL = the inner frame is not doubtful. */
	const char *called;
};

void leaks_walk_begin(struct leaks_walk *w, const struct leaks_input *in,
		      const struct leak_group *g);

/*
 * Goes to the next frame. Returns 1 with *RET, whose texts are valid until the next call; 0 at the
 * end; or -ENOMEM.
 */
int leaks_walk_next(struct leaks_walk *w, struct leaks_frame *ret);

/* Returns the reachability of the blocks of G with the strongest evidence. */
enum reach leaks_reach(const struct leak_group *g);

/* A group in the earlier archive. */
struct leaks_before {
	char *key; /* process, resource and stack, by name; owned */
	uint64_t blocks, bytes;
	bool seen; /* the group is in the new archive, too */
	const struct leak_group *group;
	const struct leak_watch *watch;
	struct leaks_before *next; /* next group with the same hash */
};

struct leaks_diff {
	const struct leaks_input *old;
	struct table groups;        /* hash -> struct leaks_before, a chain; owned */
	struct leaks_before **list; /* the groups of OLD, in their order; owned */
	size_t n, room;
};

int leaks_diff_init(struct leaks_diff *d, const struct leaks_input *old);
void leaks_diff_deinit(struct leaks_diff *d);

/*
 * Finds the earlier group for the group G of watch W in IN; NULL = no such group. Returns 0 or
 * -ENOMEM.
 */
int leaks_diff_find(struct leaks_diff *d, const struct leaks_input *in, const struct leak_watch *w,
		    const struct leak_group *g, struct leaks_before **ret);

/* Print IN, compared with DIFF if that is not NULL. Return 0 or a negative errno. */
int leaks_print(const struct leaks_input *in, const struct leaks_request *q,
		struct leaks_diff *diff);
int leaks_print_json(const struct leaks_input *in, const struct leaks_request *q,
		     struct leaks_diff *diff);

/* The verdicts that need a search for pointers (--reach). */
enum {
	LEAKS_VERDICTS_OF_REACH = 1u << LEAK_LOST | 1u << LEAK_INDIRECTLY_LOST |
				  1u << LEAK_POSSIBLY_LOST | 1u << LEAK_STILL_REACHABLE,
};

/* Returns true if Q selects a part of the leaks. */
static inline bool leaks_selects(const struct leaks_request *q)
{
	return q->resources || q->verdicts || q->min_bytes || q->min_blocks || q->min_age_ns ||
	       q->context;
}

/*
 * Returns true if Q requests memory, and the memory of W was not recorded, or not completely; or if
 * Q requests threads, and W has a gap, in which ends of threads are unknown.
 */
static inline bool leaks_misses(const struct leaks_request *q, const struct leak_watch *w)
{
	bool memory = !q->resources || q->resources & 1u << RESOURCE_MEMORY;
	bool threads = q->resources & 1u << RESOURCE_THREAD;

	return (*w->unwatched && memory) || (*w->gap && (memory || threads));
}

/*
 * Returns true if W ended with an exec. The exec freed its blocks, so W has no leaks that matter
 * later.
 */
static inline bool leaks_ran_another(const struct leak_watch *w)
{
	return strcmp(w->reason, "exec") == 0;
}

/*
 * Returns true if Q requests memory, and the program of W began with a fork in the recording, but
 * was watched only from a later time on. (An exec would have freed all earlier blocks.)
 */
static inline bool leaks_misses_begin(const struct leaks_request *q, const struct leak_watch *w)
{
	return w->forked_ns && !w->complete && !*w->unwatched && !*w->gap &&
	       !leaks_ran_another(w) && (!q->resources || q->resources & 1u << RESOURCE_MEMORY);
}

/* Returns the display name of the process of W, or of its program, or "?". */
const char *leaks_process(const struct leak_watch *w);

/*
 * Write each stack, with its bytes as weight. Return CLI_OK, or CLI_FAILED after an error message.
 */
int leaks_write_pprof(struct leaks_input *in, const struct leaks_request *q, int input_fd);
int leaks_write_folded(struct leaks_input *in, const struct leaks_request *q, int input_fd);

struct leaks_rtrace_args {
	const char *directory; /* created if it does not exist */
	/* The archive, which is read again to write all events of the processes that have them.
	 * NULL = write only blocks */
	const char *archive;
	bool force;
	bool spec_time; /* write microseconds, as specified */
};

/*
 * Writes a report in the text protocol for each watch, "PID-N.rtrace.txt". Returns CLI_OK, or
 * CLI_FAILED after an error message.
 */
int leaks_write_rtrace(const struct leaks_input *in, const struct leaks_rtrace_args *args);

/*
 * Writes the report of W as text. SPEC_TIME = true: with microseconds, as specified. Returns 0 or a
 * negative errno.
 */
int leaks_rtrace(const struct leaks_input *in, const struct leak_watch *w, bool spec_time,
		 struct outbuf *out);

/*
 * Records with J's options: `memory` and other categories, of the selected processes or of the
 * command after "--". Returns CLI_OK, CLI_DAMAGE if data was lost, or, after an error message,
 * another enum cli_exit if there is nothing to show (record_job_exit()). *RET_FD is the archive,
 * owned by the caller.
 */
int leaks_record(struct record_job *j, int *ret_fd);
