/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sessions of an archive at one time in a cut: the session_start of each open session, and the
 * parts of the recording (such as stacks) that an open session does not record.
 */
#pragma once

#include "base/cleanup.h"
#include "edit/edit-kept.h"
#include "edit/edit-sessions.h"
#include "edit/edit-sort.h"

/*
 * The maximum number of sheds (parts that a session does not record, to reduce its cost) that are
 * open at one time. Others are not kept.
 */
enum { EDIT_CUT_SHEDS_MAX = 4 * SUMMARY_SESSIONS_MAX };

struct edit_cut_shed {
	struct edit_kept *kept; /* owned */
	const struct fxt_provider *from;
	uint64_t class_id, session_id; /* values of fxt_record_number() */
};

struct edit_cut_sessions {
	/* Content of each: its session_start, a struct edit_kept, owned. */
	struct summary_sessions open;
	struct edit_kept *last; /* session_start of the last session that stopped; owned */
	/* Time since which no session is open, or all pause; 0 = a session records. */
	uint64_t quiet_ns;
	struct edit_cut_shed sheds[EDIT_CUT_SHEDS_MAX];
	size_t n_sheds;
};

void edit_cut_sessions_deinit(struct edit_cut_sessions *s);

/*
 * Handle a session_start, a session_stop, and a `shed` (with BACK: a `returned`).
 * edit_cut_sessions_start() returns 0 or -ENOMEM.
 */
int edit_cut_sessions_start(struct edit_cut_sessions *s, const struct edit_sorted *item);
void edit_cut_sessions_stop(struct edit_cut_sessions *s, const struct edit_sorted *item);
void edit_cut_sessions_shed(struct edit_cut_sessions *s, const struct edit_sorted *item, bool back);

/* Returns the open session to which ITEM, a session_stop, refers, or NULL. */
struct summary_session *edit_cut_sessions_find_stopped(struct edit_cut_sessions *s,
						       const struct edit_sorted *item);
void edit_cut_sessions_remove(struct edit_cut_sessions *s, struct summary_session *it);
