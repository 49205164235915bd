/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The open sessions of an archive at one time, and which of them pause.
 *
 * Sessions of a merged archive overlap. Their events session_stop, shed and returned have the name
 * of their session. In archives of earlier versions, these events have no name. Such an event
 * belongs to the only open session. If several sessions are open, an event of a pause is ignored,
 * since its session is unknown; for the same reason, a pause ends when another session begins.
 *
 * FROM distinguishes sources that have their own sessions, such as the providers of a merged
 * archive; it is NULL if sources are unknown.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The maximum number of open sessions. Sessions beyond this number are only counted, and never
 * pause. */
enum { SUMMARY_SESSIONS_MAX = 64 };

struct summary_session {
	const void *from;
	char *name; /* owned */
	bool paused;
	bool unnamed;  /* the event that began the pause had no name */
	void *content; /* data of the user of this list */
};

struct summary_sessions {
	struct summary_session list[SUMMARY_SESSIONS_MAX]; /* ordered by the begins of sessions */
	size_t n;
	size_t n_more; /* number of open sessions that are not in the list */
};

void summary_sessions_deinit(struct summary_sessions *s);

/* Adds a session that begins. *RET is its entry; NULL = there is no room. Returns 0 or -ENOMEM. */
int summary_sessions_start(struct summary_sessions *s, const void *from, const char *name,
			   struct summary_session **ret);

/*
 * Returns the session of FROM to which an event with NAME (NULL = without a name) refers; NULL =
 * unknown. If several sessions have the name, returns the first one whose state is PAUSED, or else
 * the first one.
 */
struct summary_session *summary_sessions_find(struct summary_sessions *s, const void *from,
					      const char *name, bool paused);

/*
 * Returns the session of FROM that a session_stop with NAME (NULL = without a name) stops; NULL =
 * it is not in the list.
 */
struct summary_session *summary_sessions_find_stopped(struct summary_sessions *s, const void *from,
						      const char *name);

/*
 * Removes IT, which has ended, from the list. NULL = a session that is not in the list; n_more is
 * decremented then.
 */
void summary_sessions_remove(struct summary_sessions *s, struct summary_session *it);

/* Notes that a pause of the session NAME begins, or (BACK) ends. */
void summary_sessions_pause(struct summary_sessions *s, const void *from, const char *name,
			    bool back);

/* Returns the number of open sessions. */
size_t summary_sessions_n(const struct summary_sessions *s);

/* Returns true if sessions are open, and all of them pause. */
bool summary_sessions_all_pause(const struct summary_sessions *s);
