/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cut in the making, for edit-cut.c and edit-cut-ends.c: the latter writes the additional records
 * at the two ends of the cut.
 */
#pragma once

#include "edit/edit-clip.h"
#include "edit/edit-cut-sessions.h"
#include "edit/edit-cut.h"
#include "edit/edit-part.h"
#include "edit/edit-select.h"
#include "edit/edit-sort.h"
#include "edit/edit-spans.h"
#include "edit/edit-state.h"
#include "edit/edit-timeline.h"
#include "reader/fxt/fxt-row.h"

/* The maximum number of stops that wait for the next record: one for each session. */
enum { STOPS_MAX = SUMMARY_SESSIONS_MAX };

enum phase { BEFORE, WITHIN, AFTER };

struct edit_cut {
	struct edit_cut_options options;
	/* The cut in the archive's time; set by the first record with a time. */
	uint64_t from_ns, to_ns;
	enum phase phase;
	/*
	 * The cut begins where its source begins, so the source already contains the state at that
	 * time.
	 */
	bool from_begin;
	struct edit_copy *copy;
	struct edit_sort *sort;
	struct edit_select *select;
	struct edit_state *state;
	struct edit_timeline *timeline; /* timeline of the selected records */
	struct edit_spans *spans;
	struct edit_viewer *viewer;
	struct edit_cut_sessions sessions;
	/* Stops within the cut that are written before the next later record; sorted by time */
	struct stop {
		struct summary_session *session;
		uint64_t ts_ns, full;
	} stops[STOPS_MAX];
	size_t n_stops;
	/* Time of the first session_start in the file; 0 = not read yet. */
	uint64_t start_ns;
	struct clock_snapshot clock; /* last clock snapshot; all 0 if none was read */
	/* Complete events that began before the cut; array and elements are owned */
	struct edit_kept **across;
	size_t n_across, across_room, across_bytes;
	/* Values for the next session_stop: */
	uint64_t lost; /* number of lost events that the archive reports within the cut */
	uint64_t full; /* number of dropped bytes that the source's session_stop report */
	uint64_t n_events;
	uint64_t end_ns; /* end of the cut; set in phase AFTER */
	struct edit_cut_counts counts;
	bool others[FXT_CPU_MAX + 1]; /* CPUs whose pseudo-thread "other" was named */
	bool any_other;
	bool timed;            /* a record with a time was read */
	uint64_t since_ns;     /* start time that is added to the next record as an argument */
	struct fxt_named late; /* last late stack, whose frames follow */
	struct edit_clip clip; /* changes to the next record */
	struct edit_part part;
	uint64_t source_id; /* id of the first session_start; 0 = not read yet */
	uint64_t edited_id; /* id of the first event `part` in the source; 0 = not read yet */
	bool follows;       /* the source is, or has, a part that another part precedes */
	bool part_begun;    /* the first event of the part is written */
};

/* All return 0 or a negative errno. */

/* Begins the cut: writes the state, the sessions, running threads, and open intervals. */
int edit_cut_begin(struct edit_cut *c);

/* Writes R, a complete event that continues at the cut's beginning. */
int edit_cut_write_clipped(struct edit_cut *c, const struct fxt_provider *from,
			   struct fxt_record *r);

/* Writes the stops of sessions before TS_NS; UINT64_MAX: all stops. */
int edit_cut_write_stops(struct edit_cut *c, uint64_t ts_ns);

/* Ends the cut at TS_NS: at the end of the cut, or at the last record of the archive if that is
 * earlier. In the latter case, a complete event can end later, and so can the durations around it.
 * It is unknown whether threads run until then. */
int edit_cut_end(struct edit_cut *c, uint64_t ts_ns);

/*
 * Stops the open sessions. Called after the last record, when the counts are complete. If no
 * session is open, losses that no stop has reported yet (of later sessions, or after the last
 * session) are reported by a session without duration.
 */
int edit_cut_stop_all(struct edit_cut *c);
