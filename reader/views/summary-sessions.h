/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sessions of an archive that record at one moment, and those of them that pause.
 *
 * Sessions of a merged archive overlap. Their events session_stop, shed and returned have the name
 * of their session. Archives of earlier versions do not have it. An event without a name belongs to
 * the only session that has begun and not stopped. If there are several, the pause of one is none
 * of the recording, and a pause ends when another session begins: nothing shows whose it is.
 *
 * FROM distinguishes sources that have their own sessions, such as the providers of a merged
 * archive; it is NULL where they are unknown.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The maximum number of open sessions; further ones are only counted, and never pause. */
enum { SUMMARY_SESSIONS_MAX = 64 };

struct summary_session {
	const void *from;
	char *name; /* owned */
	bool paused;
	bool unnamed;  /* the event of the pause has no name */
	void *content; /* belongs to the user of this list */
};

struct summary_sessions {
	struct summary_session list[SUMMARY_SESSIONS_MAX]; /* ordered by their begins */
	size_t n;
	size_t n_more; /* sessions that have no room in the list */
};

void summary_sessions_deinit(struct summary_sessions *s);

/* A session begins. *RET is its entry, or NULL without room. Returns 0 or -ENOMEM. */
int summary_sessions_start(struct summary_sessions *s, const void *from, const char *name,
			   struct summary_session **ret);

/*
 * The session of FROM that an event with NAME (NULL = it has none) is about; or NULL. Of several
 * with one name, it is the first one that pauses, or that does not, according to PAUSED.
 */
struct summary_session *summary_sessions_find(struct summary_sessions *s, const void *from,
					      const char *name, bool paused);

/*
 * The session of FROM that stops with a session_stop with NAME (NULL = it has none); or NULL if it
 * is none of the list.
 */
struct summary_session *summary_sessions_find_stopped(struct summary_sessions *s, const void *from,
						      const char *name);

/* IT, of the list, is not open any more; NULL: one that had no room, if any. */
void summary_sessions_remove(struct summary_sessions *s, struct summary_session *it);

/* A pause of a session begins, or ends (BACK). */
void summary_sessions_pause(struct summary_sessions *s, const void *from, const char *name,
			    bool back);

/* The number of open sessions. */
size_t summary_sessions_n(const struct summary_sessions *s);

/* Whether there is an open session, and none of them records. */
bool summary_sessions_all_pause(const struct summary_sessions *s);
