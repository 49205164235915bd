/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sessions of an archive that record at one time, and those of them that pause.
 *
 * Sessions of a merged archive overlap. Their events session_stop, shed and returned have the name
 * of their session. In archives of earlier versions, they have no name: an event then belongs to
 * the only session that has begun and not stopped. If there are several sessions, the pause of one
 * does not pause the recording, and a pause ends when another session begins, since its session is
 * unknown.
 *
 * FROM distinguishes sources that have their own sessions, such as the providers of a merged
 * archive; it is NULL if sources are unknown.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The maximum number of open sessions. Sessions beyond it are only counted, and never pause. */
enum { SUMMARY_SESSIONS_MAX = 64 };

struct summary_session {
	const void *from;
	char *name; /* owned */
	bool paused;
	bool unnamed;  /* the event of the pause had no name */
	void *content; /* data of the user of this list */
};

struct summary_sessions {
	struct summary_session list[SUMMARY_SESSIONS_MAX]; /* ordered by the begins of sessions */
	size_t n;
	size_t n_more; /* number of sessions that did not fit into the list */
};

void summary_sessions_deinit(struct summary_sessions *s);

/* Adds a session that begins. *RET is its entry, or NULL without room. Returns 0 or -ENOMEM. */
int summary_sessions_start(struct summary_sessions *s, const void *from, const char *name,
			   struct summary_session **ret);

/*
 * Returns the session of FROM that an event with NAME (NULL = the event has no name) refers to; or
 * NULL. If several have the name, it is the first one that pauses, or that does not pause,
 * according to PAUSED.
 */
struct summary_session *summary_sessions_find(struct summary_sessions *s, const void *from,
					      const char *name, bool paused);

/*
 * Returns the session of FROM that is stopped by a session_stop with NAME (NULL = the event has no
 * name); or NULL if that session is not in the list.
 */
struct summary_session *summary_sessions_find_stopped(struct summary_sessions *s, const void *from,
						      const char *name);

/*
 * Removes IT from the list: the session is no longer open. NULL means a session that did not fit
 * into the list, if there is one.
 */
void summary_sessions_remove(struct summary_sessions *s, struct summary_session *it);

/* Notes that a pause of a session begins, or ends (BACK). */
void summary_sessions_pause(struct summary_sessions *s, const void *from, const char *name,
			    bool back);

/* Returns the number of open sessions. */
size_t summary_sessions_n(const struct summary_sessions *s);

/* Returns true if there are open sessions, and none of them records. */
bool summary_sessions_all_pause(const struct summary_sessions *s);
