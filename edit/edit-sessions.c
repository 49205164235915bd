/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "edit/edit-sessions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "edit/edit-find.h"

/*
 * An open session of an input, or a session whose next chunk has not begun. Chunks can be separate
 * inputs. All chunks of a session have the same name in the output, even if the original name is
 * free again.
 */
struct edit_session {
	char own[EDIT_SESSION_MAX + 1];  /* name of the session in its archive */
	char name[EDIT_SESSION_MAX + 1]; /* name of the session in the output */
	uint64_t host;                   /* value of fxt_record_number() for the host */
	uint64_t chunk;                  /* number of the chunk; 0 = no chunk */
	uint64_t first_ns;               /* begin of chunk 1; 0 = unknown */
	uint64_t end_ns;                 /* for a waiting session: its end */
	unsigned input;
};

struct edit_sessions_input {
	struct summary_sessions open; /* content of each: struct edit_session, owned */
	struct edit_sessions_view view;
};

/*
 * The maximum number of sessions that wait for their next chunk; if there are more, the session
 * that has waited longest is forgotten.
 */
enum { WAITING_MAX = SUMMARY_SESSIONS_MAX };

struct edit_sessions {
	struct summary_sessions written; /* sessions of the output */
	struct edit_sessions_input inputs[EDIT_INPUTS_MAX];
	/* Sessions that wait for their next chunks; owned. */
	struct edit_session *waiting[WAITING_MAX];
	size_t n_waiting;
	char name[EDIT_SESSION_MAX + 1]; /* name of the session of the last record */
};

struct edit_sessions *edit_sessions_new(unsigned n_inputs)
{
	return n_inputs <= EDIT_INPUTS_MAX ? calloc(1, sizeof(struct edit_sessions)) : NULL;
}

struct edit_sessions *edit_sessions_free(struct edit_sessions *s)
{
	if (!s)
		return NULL;
	for (unsigned i = 0; i < EDIT_INPUTS_MAX; i++) {
		struct summary_sessions *open = &s->inputs[i].open;

		for (size_t j = 0; j < open->n; j++)
			free(open->list[j].content);
		summary_sessions_deinit(open);
	}
	while (s->n_waiting > 0)
		free(s->waiting[--s->n_waiting]);
	summary_sessions_deinit(&s->written);
	return free_ptr(s);
}

const char *edit_session_of(const struct fxt_record *record, char to[EDIT_SESSION_MAX + 1])
{
	struct fxt_arg arg;

	if (!edit_find_arg(record, FXT_NAME_SESSION, FXT_ARG_STRING, &arg) || !arg.text.bytes)
		return NULL;
	text_clean(to, EDIT_SESSION_MAX + 1, arg.text.bytes, arg.text.length);
	return to;
}

bool edit_session_is_pause(const struct fxt_record *record)
{
	static const char whole[] = "session";
	struct fxt_arg arg;

	return edit_find_arg(record, FXT_NAME_CLASS, FXT_ARG_STRING, &arg) && arg.text.bytes &&
	       arg.text.length == sizeof(whole) - 1 &&
	       memcmp(arg.text.bytes, whole, sizeof(whole) - 1) == 0;
}

/*
 * Replaces NAME by a name that no session of the output has. A session of the output already has
 * NAME.
 */
static void edit_sessions_make_unique(struct edit_sessions *s, char name[EDIT_SESSION_MAX + 1])
{
	enum { ROOM = 8 };
	size_t n = text_cut(name, strlen(name), EDIT_SESSION_MAX - ROOM);

	for (unsigned i = 2; summary_sessions_find(&s->written, NULL, name, false); i++)
		snprintf(name + n, ROOM, "_%u", i);
}

static void edit_sessions_forget_waiting(struct edit_sessions *s, size_t i)
{
	free(s->waiting[i]);
	s->n_waiting--;
	memmove(&s->waiting[i], &s->waiting[i + 1], (s->n_waiting - i) * sizeof(s->waiting[0]));
}

/* Returns true if NEXT can be the next chunk of the waiting session IT. */
static bool edit_session_can_continue(const struct edit_session *it,
				      const struct edit_session *next)
{
	return it->chunk + 1 == next->chunk && it->host == next->host &&
	       strcmp(it->own, next->own) == 0 &&
	       (it->first_ns == next->first_ns || it->first_ns == 0 || next->first_ns == 0);
}

/*
 * Returns the time between the end of the waiting session IT and TS_NS, at which another chunk
 * begins. For the next chunk, this is about 0.
 */
static uint64_t edit_session_distance(const struct edit_session *it, uint64_t ts_ns)
{
	return it->end_ns > ts_ns ? it->end_ns - ts_ns : ts_ns - it->end_ns;
}

/*
 * If NEXT, which begins at TS_NS, is the next chunk of a waiting session, gives it the name of that
 * session. Recordings of one name are distinguished by their begins. Archives of earlier versions
 * of kymo do not contain the begins: then the session with the nearest end is taken, or a session
 * of the same archive.
 */
static void edit_sessions_continue(struct edit_sessions *s, struct edit_session *next,
				   uint64_t ts_ns)
{
	const struct edit_session *best = NULL;
	size_t at = 0;

	for (size_t i = 0; i < s->n_waiting; i++) {
		const struct edit_session *it = s->waiting[i];
		uint64_t far = edit_session_distance(it, ts_ns);
		uint64_t best_far = best ? edit_session_distance(best, ts_ns) : UINT64_MAX;

		if (!edit_session_can_continue(it, next))
			continue;
		if (best && (far > best_far || (far == best_far && it->input != next->input)))
			continue;
		best = it;
		at = i;
	}
	if (!best)
		return;
	memcpy(next->name, best->name, sizeof(next->name));
	edit_sessions_forget_waiting(s, at);
}

static int edit_sessions_start(struct edit_sessions *s, unsigned input,
			       const struct fxt_provider *from, const struct fxt_record *record)
{
	struct edit_sessions_input *in = &s->inputs[input];
	const char *name = edit_session_of(record, s->name);
	struct summary_session *entry, *written;
	struct edit_session *it;
	int r = summary_sessions_start(&in->open, from, name ? name : "", &entry);

	if (r < 0)
		return r;
	if (!name || !entry)
		return 0;
	entry->content = it = calloc(1, sizeof(*it));
	if (!it)
		return -ENOMEM;
	text_clean(it->own, sizeof(it->own), name, strlen(name));
	text_clean(it->name, sizeof(it->name), name, strlen(name));
	it->host = fxt_record_number(record, FXT_NAME_HOST);
	it->chunk = fxt_record_number(record, FXT_NAME_CHUNK);
	it->first_ns = fxt_record_number(record, FXT_NAME_FIRST);
	it->input = input;
	if (it->chunk > 1)
		edit_sessions_continue(s, it, record->ts_ns);
	edit_sessions_make_unique(s, it->name);
	text_clean(s->name, sizeof(s->name), it->name, strlen(it->name));
	return summary_sessions_start(&s->written, NULL, it->name, &written);
}

/* Copies the name of ENTRY in the output to s->name. */
static const char *edit_sessions_name(struct edit_sessions *s, const struct summary_session *entry)
{
	const struct edit_session *it = entry ? entry->content : NULL;

	if (!it)
		return NULL;
	text_clean(s->name, sizeof(s->name), it->name, strlen(it->name));
	return s->name;
}

/*
 * Returns true if RECORD, a session_stop, ends a chunk whose recording continues with another
 * chunk.
 */
static bool edit_sessions_is_rotation(const struct fxt_record *record)
{
	static const char rotated[] = "rotated";
	struct fxt_arg arg;

	return edit_find_arg(record, FXT_NAME_REASON, FXT_ARG_STRING, &arg) && arg.text.bytes &&
	       arg.text.length == sizeof(rotated) - 1 &&
	       memcmp(arg.text.bytes, rotated, sizeof(rotated) - 1) == 0;
}

static void edit_sessions_stop(struct edit_sessions *s, struct edit_sessions_input *in,
			       struct summary_session *entry, const struct fxt_record *record)
{
	struct edit_session *it = entry ? entry->content : NULL;

	summary_sessions_remove(&in->open, entry);
	if (!it)
		return;
	summary_sessions_remove(&s->written,
				summary_sessions_find_stopped(&s->written, NULL, it->name));
	if (it->chunk == 0 || !edit_sessions_is_rotation(record)) {
		free(it);
		return;
	}
	it->end_ns = record->ts_ns;
	if (s->n_waiting == WAITING_MAX)
		edit_sessions_forget_waiting(s, 0);
	s->waiting[s->n_waiting++] = it;
}

int edit_sessions_see(struct edit_sessions *s, unsigned input, const struct fxt_provider *from,
		      const struct fxt_record *record, const char **ret)
{
	struct edit_sessions_input *in = &s->inputs[input];
	enum fxt_row_id row = edit_row_of(from, record);
	char own[EDIT_SESSION_MAX + 1];
	const char *name;
	struct summary_session *entry;
	bool pauses;
	int r = 0;

	*ret = NULL;
	if (row != FXT_ROW_START && row != FXT_ROW_STOP && row != FXT_ROW_SHED &&
	    row != FXT_ROW_RETURNED)
		return 0;
	name = edit_session_of(record, own);
	if (row == FXT_ROW_START) {
		r = edit_sessions_start(s, input, from, record);
		*ret = r == 0 && name ? s->name : NULL;
	} else if (row == FXT_ROW_STOP) {
		entry = summary_sessions_find_stopped(&in->open, from, name);
		*ret = edit_sessions_name(s, entry);
		edit_sessions_stop(s, in, entry, record);
	} else {
		entry = summary_sessions_find(&in->open, from, name, row == FXT_ROW_RETURNED);
		*ret = edit_sessions_name(s, entry);
		if (edit_session_is_pause(record))
			summary_sessions_pause(&in->open, from, name, row == FXT_ROW_RETURNED);
	}
	pauses = summary_sessions_all_pause(&in->open);
	if (pauses && !in->view.pauses)
		in->view.paused_ns = record->ts_ns;
	if (!pauses && (in->view.pauses || in->view.recorded_ns == 0))
		in->view.recorded_ns = record->ts_ns;
	in->view.pauses = pauses;
	return r;
}

const struct edit_sessions_view *edit_sessions_view(const struct edit_sessions *s, unsigned input)
{
	return &s->inputs[input].view;
}
