/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/views/summary-sessions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void summary_sessions_deinit(struct summary_sessions *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->list[i].name);
	s->n = s->n_more = 0;
}

int summary_sessions_start(struct summary_sessions *s, const void *from, const char *name,
			   struct summary_session **ret)
{
	struct summary_session *to = &s->list[s->n];

	/* If a pause without a name is open, it is no longer known whose it is, so it ends. */
	for (size_t i = 0; i < s->n; i++)
		if (s->list[i].from == from && s->list[i].unnamed)
			s->list[i].paused = s->list[i].unnamed = false;
	*ret = NULL;
	if (s->n == SUMMARY_SESSIONS_MAX) {
		s->n_more++;
		return 0;
	}
	*to = (struct summary_session){ .from = from, .name = strdup(name) };
	if (!to->name)
		return -ENOMEM;
	s->n++;
	*ret = to;
	return 0;
}

/* Returns the number of open sessions of FROM. *RET is the last one in the list; NULL = none. */
static size_t summary_sessions_of(struct summary_sessions *s, const void *from,
				  struct summary_session **ret)
{
	size_t n = 0;

	*ret = NULL;
	for (size_t i = 0; i < s->n; i++) {
		if (s->list[i].from != from)
			continue;
		*ret = &s->list[i];
		n++;
	}
	return n + s->n_more;
}

struct summary_session *summary_sessions_find(struct summary_sessions *s, const void *from,
					      const char *name, bool paused)
{
	struct summary_session *found = NULL;

	if (!name)
		return summary_sessions_of(s, from, &found) == 1 ? found : NULL;
	for (size_t i = s->n; i-- > 0;)
		if (s->list[i].from == from && strcmp(s->list[i].name, name) == 0 &&
		    (!found || s->list[i].paused == paused || found->paused != paused))
			found = &s->list[i];
	return found;
}

struct summary_session *summary_sessions_find_stopped(struct summary_sessions *s, const void *from,
						      const char *name)
{
	struct summary_session *any = NULL;

	if (name)
		return summary_sessions_find(s, from, name, false);
	/*
	 * It is unknown which session has stopped: the last one that records is taken, or if all
	 * pause, the last one.
	 */
	for (size_t i = 0; i < s->n; i++)
		if (s->list[i].from == from && (!any || any->paused || !s->list[i].paused))
			any = &s->list[i];
	return any;
}

void summary_sessions_remove(struct summary_sessions *s, struct summary_session *it)
{
	if (!it) {
		s->n_more -= s->n_more > 0;
		return;
	}
	free(it->name);
	s->n--;
	memmove(it, it + 1, (size_t)(&s->list[s->n] - it) * sizeof(*it));
}

void summary_sessions_pause(struct summary_sessions *s, const void *from, const char *name,
			    bool back)
{
	struct summary_session *it = summary_sessions_find(s, from, name, back);

	if (!it)
		return;
	it->paused = !back;
	it->unnamed = it->paused && !name;
}

size_t summary_sessions_n(const struct summary_sessions *s)
{
	return s->n + s->n_more;
}

bool summary_sessions_all_pause(const struct summary_sessions *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (!s->list[i].paused)
			return false;
	return s->n > 0 && s->n_more == 0;
}
