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

/* This many bytes of output are collected before the caller must take them. */
enum { OUTPUT_BYTES = 1 << 20 };

enum { HOST_MAX = 64 };

struct merge_input {
	struct edit_merge *merge;
	unsigned index;
	struct edit_copy *copy;
	struct edit_sort *sort;
	struct edit_timeline *timeline; /* the running threads, according to this input */
	bool ended;
	bool is_kymo;        /* the record being written is from kymo */
	const char *session; /* the session that it is about; NULL = none, or unknown */
	bool mended, behind; /* its begin is the true one again; for edit_join_keeps() */
	/* an event `stack` that has its true time again, which its frames get, too */
	struct fxt_named moved;
	uint64_t moved_ns;
	struct edit_join join;
	struct edit_halves halves; /* events that the next part has, too */

	/* From its head: */
	char host[HOST_MAX + 1]; /* "" = unknown */
	uint32_t n_cpus;
	bool has_start, has_clock;
	uint64_t start_ns; /* earlier events only ended within this recording */
	uint64_t wall_ns;  /* wall clock minus boot time; can have any value in a damaged archive */

	struct edit_merge_view view;
};

struct machine {
	unsigned input;       /* the first input from this machine */
	int schedule_input;   /* the input whose schedule is used; -1 = none */
	uint64_t schedule_ns; /* of the last record written of that schedule, in its input's time */
	uint32_t first_cpu;
	uint64_t sampling; /* identifies the last `sampling` that was written; 0 = none */
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
	uint64_t id; /* id of this set of inputs */
	struct edit_part_mark mark;
	bool started;
	size_t window, between, heads; /* as in the options */
};

/* Learns from RECORD of IN, before the start. */
void edit_merge_learn_head(struct merge_input *in, const struct fxt_record *record);

/* To be called when all heads are known. Returns 0 or -ENOMEM. */
int edit_merge_start(struct edit_merge *m);

/* Writes ITEM of INPUT, or leaves it out. Returns 0 or a negative errno, as edit_copy_record(). */
int edit_merge_write_item(struct edit_merge *m, unsigned input, const struct edit_sorted *item);

/* After the last item: writes the events that no next part has shown. Returns as above, or 1 if
 * there are more. */
int edit_merge_write_halves(struct edit_merge *m);
