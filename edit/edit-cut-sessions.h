/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sessions of an archive at one moment of a cut: the begin of each open one, and what it does
 * not record.
 */
#pragma once

#include "base/cleanup.h"
#include "edit/edit-kept.h"
#include "edit/edit-sessions.h"
#include "edit/edit-sort.h"

/* The maximum number of sheds that are open at one moment; further ones are not kept. */
enum { EDIT_CUT_SHEDS_MAX = 4 * SUMMARY_SESSIONS_MAX };

struct edit_cut_shed {
	struct edit_kept *kept; /* owned */
	const struct fxt_provider *from;
	uint64_t class_id, session_id; /* as fxt_record_number() */
};

struct edit_cut_sessions {
	struct summary_sessions open; /* content: its session_start, struct edit_kept, owned */
	struct edit_kept *last;       /* session_start of the last one that stopped; owned */
	uint64_t quiet_ns;            /* none is open, or all pause, since then; 0 = one records */
	struct edit_cut_shed sheds[EDIT_CUT_SHEDS_MAX];
	size_t n_sheds;
};

void edit_cut_sessions_deinit(struct edit_cut_sessions *s);

/* The events of their names. edit_cut_sessions_start() returns 0 or -ENOMEM. */
int edit_cut_sessions_start(struct edit_cut_sessions *s, const struct edit_sorted *item);
void edit_cut_sessions_stop(struct edit_cut_sessions *s, const struct edit_sorted *item);
void edit_cut_sessions_shed(struct edit_cut_sessions *s, const struct edit_sorted *item, bool back);

/* The open session that ITEM, a session_stop, is about; or NULL. */
struct summary_session *edit_cut_sessions_find_stopped(struct edit_cut_sessions *s,
						       const struct edit_sorted *item);
void edit_cut_sessions_remove(struct edit_cut_sessions *s, struct summary_session *it);
