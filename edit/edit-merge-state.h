/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A merge in the making. Internal to edit-merge*.c.
 *
 *   edit-merge        reads the inputs, and takes their records in the order of time
 *   edit-merge-heads  machines, clocks and parts, from the heads of the inputs; changes by them
 *   edit-merge-items  writes a record, or leaves it out
 */
#pragma once

#include "edit/edit-halves.h"
#include "edit/edit-join.h"
#include "edit/edit-merge.h"
#include "edit/edit-owners.h"
#include "edit/edit-points.h"
#include "edit/edit-sessions.h"
#include "edit/edit-sort.h"
#include "edit/edit-timeline.h"
#include "reader/fxt/fxt-row.h"

/* The number of bytes of output that are collected before the caller must take them. */
enum { OUTPUT_BYTES = 1 << 20 };

enum { HOST_MAX = 64 };

struct merge_input {
	struct edit_merge *merge;
	unsigned index;
	struct edit_copy *copy;
	struct edit_sort *sort;
	struct edit_timeline *timeline; /* the running threads, according to the input */
	bool ended;
	bool is_kymo;        /* the record that is being written is from kymo */
	const char *session; /* session that the record refers to; NULL = no session, or unknown */
	/* `mended`: the record has its true begin again. `behind` is for edit_join_keeps(). */
	bool mended, behind;
	/*
	 * `follows_gap`: the parts begin within the result, and the part before them is missing.
	 * `clipped`: the record was clipped at that begin. Then its true begin is left out, so it
	 * begins there in the result.
	 */
	bool follows_gap, clipped;
	/*
	 * An event `stack` that got its true time back, and this time. The frames of the stack get
	 * it, too.
	 */
	struct fxt_named moved;
	uint64_t moved_ns;
	bool sampling_seen; /* an event `sampling` of this input was written, or left out */
	struct edit_join join;
	struct edit_halves halves; /* events that continue in the next part */

	/* Data from the head of the input: */
	char host[HOST_MAX + 1]; /* "" = unknown */
	uint32_t n_cpus;
	bool has_kymo; /* records of kymo */
	bool has_start, has_clock;
	uint64_t start_ns; /* begin of the recording; events with earlier times ended after it */
	uint64_t wall_ns;  /* wall clock minus boot time; can have any value in a damaged archive */

	struct edit_merge_view view;
};

struct machine {
	unsigned input;     /* the first input from this machine */
	int schedule_input; /* the input whose schedule is used; -1 = none */
	/*
	 * Time of the last record that was written from this schedule, on the clock of its input.
	 */
	uint64_t schedule_ns;
	uint32_t first_cpu;
	uint64_t sampling; /* identifies the last event `sampling` that was written; 0 = none */
};

struct edit_merge {
	struct edit_output *out;
	struct merge_input inputs[EDIT_INPUTS_MAX];
	unsigned n_inputs;
	struct machine machines[EDIT_INPUTS_MAX];
	unsigned n_machines;
	struct edit_owners *owners;
	struct edit_points *points;
	struct edit_sessions *sessions;
	uint64_t koid_span; /* number of koids per machine; 0 = one machine, koids are unchanged */
	struct edit_viewer *viewer;
	/*
	 * An id for all inputs together, and the latest begin of a part whose previous part is
	 * missing.
	 */
	struct edit_part source;
	struct edit_part_mark mark;
	bool started;
	size_t window, between, heads; /* limits, as in the options */
};

/* Updates the data about the head of IN from RECORD, before the start. */
void edit_merge_learn_head(struct merge_input *in, const struct fxt_record *record);

/* To be called when all heads are known. Returns 0 or -ENOMEM. */
int edit_merge_start(struct edit_merge *m);

/* Writes ITEM of INPUT, or leaves it out. Returns 0 or a negative errno, as edit_copy_record(). */
int edit_merge_write_item(struct edit_merge *m, unsigned input, const struct edit_sorted *item);

/*
 * Must be called after the last item: writes the held events that no next part has shown. Returns
 * like edit_merge_write_item(), or 1 if more held events remain.
 */
int edit_merge_write_halves(struct edit_merge *m);
