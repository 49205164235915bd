/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "edit/edit-clip.h"

#include "edit/edit-find.h"

static const char open_end[] = "open";

/* The number of arguments that a cut can add. */
enum { ADDED_MAX = 4 };

static bool edit_clip_is_call(const struct fxt_record *r)
{
	return fxt_text_known(&r->category) == FXT_NAME_CALLS;
}

/*
 * Whether an earlier cut has added ARG. A cut adds at most one argument of each name and type, so
 * only the first one of a name and type counts.
 */
static bool edit_clip_is_added(const struct fxt_record *r, const struct fxt_arg *arg)
{
	int name = fxt_text_known(&arg->name);
	struct fxt_arg first;

	if ((arg->type == FXT_ARG_UINT64 &&
	     (name == FXT_NAME_BEGAN_AT || name == FXT_NAME_ENDS_AT)) ||
	    (arg->type == FXT_ARG_STRING && (name == FXT_NAME_LEFT_BY || name == FXT_NAME_BEGUN)))
		return fxt_args_find(r->args, name, arg->type, &first) && first.words == arg->words;
	return false;
}

/*
 * Whether R has room for the additional arguments. The result must be the same for both parts of an
 * event: if one part has the true times, the other part needs them, too. So arguments that an
 * earlier cut has added do not count.
 */
static bool edit_clip_has_room(const struct fxt_record *r)
{
	struct fxt_args it = r->args;
	struct fxt_arg arg;
	unsigned n = 0;

	while (fxt_args_next(&it, &arg) != FXT_ARGS_END)
		n += !edit_clip_is_added(r, &arg);
	return n + ADDED_MAX <= FXT_ARGS_MAX;
}

static void edit_clip_set_time(const struct fxt_record *r, int name, uint64_t ns, uint64_t *ret)
{
	struct fxt_arg arg;

	if (edit_clip_has_room(r) && !edit_find_arg(r, name, FXT_ARG_UINT64, &arg))
		*ret = ns;
}

void edit_clip_end(struct edit_clip *c, struct fxt_record *r, uint64_t to_ns)
{
	*c = (struct edit_clip){ 0 };
	if (r->event.end_ns <= to_ns)
		return;
	edit_clip_set_time(r, FXT_NAME_ENDS_AT, r->event.end_ns, &c->ends_ns);
	r->event.end_ns = to_ns;
	if (edit_clip_is_call(r) || fxt_record_row(r) == FXT_ROW_OFFCPU)
		c->left_by = open_end;
}

void edit_clip_begin(struct edit_clip *c, struct fxt_record *r, uint64_t from_ns)
{
	struct fxt_arg arg;

	if (r->ts_ns >= from_ns)
		return;
	edit_clip_set_time(r, FXT_NAME_BEGAN_AT, r->ts_ns, &c->began_ns);
	r->ts_ns = from_ns;
	if (!c->left_by && edit_clip_is_call(r) &&
	    !fxt_args_find(r->args, FXT_NAME_LEFT_BY, FXT_ARG_STRING, &arg))
		c->left_by = "cut";
	if (fxt_record_row(r) == FXT_ROW_OFFCPU &&
	    !fxt_args_find(r->args, FXT_NAME_BEGUN, FXT_ARG_STRING, &arg))
		c->begun = "earlier";
}

void edit_clip_move(struct edit_clip *c, struct fxt_record *r, uint64_t from_ns)
{
	*c = (struct edit_clip){ 0 };
	if (r->type == FXT_RECORD_EVENT)
		edit_clip_set_time(r, FXT_NAME_BEGAN_AT, r->ts_ns, &c->began_ns);
	r->ts_ns = from_ns;
}

int edit_clip_add(const struct edit_clip *c, unsigned n, struct fxt_out_arg *ret)
{
	const struct {
		int name;
		uint64_t ns;
		const char *text;
	} all[ADDED_MAX] = {
		{ FXT_NAME_BEGAN_AT, c->began_ns, NULL },
		{ FXT_NAME_ENDS_AT, c->ends_ns, NULL },
		{ FXT_NAME_LEFT_BY, 0, c->left_by },
		{ FXT_NAME_BEGUN, 0, c->begun },
	};

	for (unsigned i = 0; i < ADDED_MAX; i++) {
		if ((all[i].ns == 0 && !all[i].text) || n-- > 0)
			continue;
		if (all[i].text)
			*ret = (struct fxt_out_arg){ .type = FXT_ARG_STRING,
						     .text = fxt_inline(all[i].text) };
		else
			*ret = (struct fxt_out_arg){ .type = FXT_ARG_UINT64, .u64 = all[i].ns };
		return all[i].name;
	}
	return 0;
}

bool edit_clip_keeps(const struct edit_clip *c, int name)
{
	/* (an open call or wait has no result and no reason of its end: these come later) */
	return c->left_by != open_end || (name != FXT_NAME_RETURN && name != FXT_NAME_LEFT_BY);
}
