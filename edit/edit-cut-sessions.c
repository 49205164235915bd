/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "edit/edit-cut-sessions.h"

#include <string.h>

#include "edit/edit-find.h"

static void edit_cut_sessions_forget_shed(struct edit_cut_sessions *s, size_t i)
{
	edit_kept_unref(s->sheds[i].kept);
	s->n_sheds--;
	memmove(&s->sheds[i], &s->sheds[i + 1], (s->n_sheds - i) * sizeof(*s->sheds));
}

void edit_cut_sessions_deinit(struct edit_cut_sessions *s)
{
	for (size_t i = 0; i < s->open.n; i++)
		edit_kept_unref(s->open.list[i].content);
	summary_sessions_deinit(&s->open);
	while (s->n_sheds > 0)
		edit_cut_sessions_forget_shed(s, s->n_sheds - 1);
	edit_kept_unref(s->last);
}

/* Updates quiet_ns after a session has begun, stopped, paused or resumed at TS_NS. */
static void edit_cut_sessions_update(struct edit_cut_sessions *s, uint64_t ts_ns)
{
	bool quiet = s->open.n == 0 || summary_sessions_all_pause(&s->open);

	if (!quiet)
		s->quiet_ns = 0;
	else if (s->quiet_ns == 0)
		s->quiet_ns = ts_ns;
}

int edit_cut_sessions_start(struct edit_cut_sessions *s, const struct edit_sorted *item)
{
	char own[EDIT_SESSION_MAX + 1];
	const char *name = edit_session_of(item->record, own);
	struct summary_session *it;
	int r = summary_sessions_start(&s->open, item->from, name ? name : "", &it);

	if (it)
		it->content = edit_kept_ref(item->kept);
	edit_cut_sessions_update(s, item->record->ts_ns);
	return r;
}

struct summary_session *edit_cut_sessions_find_stopped(struct edit_cut_sessions *s,
						       const struct edit_sorted *item)
{
	char own[EDIT_SESSION_MAX + 1];

	return summary_sessions_find_stopped(&s->open, item->from,
					     edit_session_of(item->record, own));
}

void edit_cut_sessions_remove(struct edit_cut_sessions *s, struct summary_session *it)
{
	if (it) {
		edit_kept_unref(s->last);
		s->last = it->content;
	}
	summary_sessions_remove(&s->open, it);
}

void edit_cut_sessions_stop(struct edit_cut_sessions *s, const struct edit_sorted *item)
{
	uint64_t id = fxt_record_number(item->record, FXT_NAME_SESSION);

	for (size_t i = s->n_sheds; i-- > 0;)
		if (s->sheds[i].from == item->from && s->sheds[i].session_id == id)
			edit_cut_sessions_forget_shed(s, i);
	edit_cut_sessions_remove(s, edit_cut_sessions_find_stopped(s, item));
	edit_cut_sessions_update(s, item->record->ts_ns);
}

void edit_cut_sessions_shed(struct edit_cut_sessions *s, const struct edit_sorted *item, bool back)
{
	const struct edit_cut_shed shed = {
		.from = item->from,
		.class_id = fxt_record_number(item->record, FXT_NAME_CLASS),
		.session_id = fxt_record_number(item->record, FXT_NAME_SESSION),
	};
	char own[EDIT_SESSION_MAX + 1];

	if (edit_session_is_pause(item->record)) {
		summary_sessions_pause(&s->open, item->from, edit_session_of(item->record, own),
				       back);
		edit_cut_sessions_update(s, item->record->ts_ns);
	}
	for (size_t i = s->n_sheds; i-- > 0;)
		if (s->sheds[i].from == shed.from && s->sheds[i].class_id == shed.class_id &&
		    s->sheds[i].session_id == shed.session_id)
			edit_cut_sessions_forget_shed(s, i);
	if (back || s->n_sheds == EDIT_CUT_SHEDS_MAX)
		return;
	s->sheds[s->n_sheds] = shed;
	s->sheds[s->n_sheds++].kept = edit_kept_ref(item->kept);
}
