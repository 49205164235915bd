/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of sessions of the archives that are merged into one.
 *
 * Events of the recording name their session. If an open session of another archive has the same
 * name, the later session gets another name ("NAME_2"). Its next chunks keep that name. Events of
 * earlier versions of kymo do not name their session, so the name is added. So readers know which
 * session of the result pauses or stops.
 */
#pragma once

#include "base/cleanup.h"
#include "edit/edit-points.h"
#include "reader/fxt/fxt-reader.h"
#include "reader/views/summary-sessions.h"

/* The maximum length of names; longer names, which kymo does not write, are cut. */
enum { EDIT_SESSION_MAX = 255 };

/* Returns the argument `session` of RECORD, written to TO; NULL if RECORD has no such argument. */
const char *edit_session_of(const struct fxt_record *record, char to[EDIT_SESSION_MAX + 1]);

/* Returns true if RECORD, a `shed` or `returned`, refers to the whole session. */
bool edit_session_is_pause(const struct fxt_record *record);

struct edit_sessions;

/*
 * Creates sessions for N_INPUTS inputs. Returns NULL for more than EDIT_INPUTS_MAX, or if there is
 * no memory.
 */
struct edit_sessions *edit_sessions_new(unsigned n_inputs);
struct edit_sessions *edit_sessions_free(struct edit_sessions *s);
DEFINE_CLEANUP(struct edit_sessions *, edit_sessions_free)

/*
 * Processes RECORD of INPUT and its provider FROM, before it is written. *RET is the name of the
 * session to which RECORD refers, or NULL; valid until the next call. Returns 0 or -ENOMEM.
 */
int edit_sessions_see(struct edit_sessions *s, unsigned input, const struct fxt_provider *from,
		      const struct fxt_record *record, const char **ret);

struct edit_sessions_view {
	bool pauses;        /* sessions are open, and all of them pause */
	uint64_t paused_ns; /* begin of the last pause; 0 = no pause yet */
	/* End of the last pause, or begin of the first session; 0 = not yet. */
	uint64_t recorded_ns;
};

const struct edit_sessions_view *edit_sessions_view(const struct edit_sessions *s, unsigned input);
