/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events are made from the results of the view, and sorted by their time. Events of equal time
 * are in an order in which readers can nest them: an instance before its steps, a step before its
 * flows.
 */
#include "edit/edit-why.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "edit/edit-part.h"
#include "model/koids.h"
#include "writer/fxt/fxt-names.h"

enum { EDIT_WHY_NAME_MAX = 400, EDIT_WHY_TEXT_MAX = 2048, EDIT_WHY_FRAMES_MAX = 16 };

/* The tracks of one instance: first that of its own thread. */
struct edit_why_tracks {
	uint32_t first; /* number of the first track */
	uint32_t tids[EDIT_WHY_TRACKS_MAX];
	uint32_t n;      /* of tids; the track "others" follows them */
	bool has_others; /* some steps belong to no thread of tids */
};

/* An event that is written. */
struct edit_why_item {
	uint64_t ts_ns;
	uint32_t sequence; /* among equal times */
	uint32_t instance, step;
	uint32_t track;
	enum edit_why_what { EDIT_WHY_INSTANCE, EDIT_WHY_STEP, EDIT_WHY_WAKE, EDIT_WHY_WOKEN } what;
	uint32_t flow;
};

struct edit_why {
	const struct why *why;         /* borrowed */
	const struct summary *summary; /* borrowed */
	struct edit_copy *copy;
	struct edit_part_mark mark;
	struct edit_why_tracks *tracks; /* of each instance; owned */
	uint32_t n_tracks, n_flows;
	bool *named;                 /* of each track; owned */
	struct edit_why_item *items; /* owned */
	size_t n_items, room_items, n_written;
	bool process_named;
	struct edit_why_counts counts;
};

static const char *const edit_why_steps[PATH_KINDS] = {
	[PATH_RUNNING] = "runs",        [PATH_RUNNABLE] = "ready",  [PATH_TIMER] = "timer",
	[PATH_DISK] = "disk",           [PATH_NETWORK] = "network", [PATH_DEVICE] = "device",
	[PATH_INTERRUPT] = "interrupt", [PATH_OPEN] = "open",       [PATH_NO_WAKER] = "no waker",
	[PATH_FILTERED] = "filtered",   [PATH_UNKNOWN] = "unknown", [PATH_FORGOTTEN] = "forgotten",
	[PATH_TOO_DEEP] = "too deep",   [PATH_PAUSED] = "paused",   [PATH_MEMORY] = "memory",
};

/* ---- the list of events ---- */

DEFINE_ORDER(edit_why_item_order, struct edit_why_item,
	     COMPARE(x->ts_ns, y->ts_ns) ?: COMPARE(x->sequence, y->sequence))

/*
 * The track of TID among those of an instance. The first EDIT_WHY_TRACKS_MAX threads of the path
 * have tracks of their own; the others share one.
 */
static uint32_t edit_why_track_of(struct edit_why_tracks *t, uint32_t tid)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->tids[i] == tid)
			return t->first + i;
	if (t->n == EDIT_WHY_TRACKS_MAX) {
		t->has_others = true;
		return t->first + t->n;
	}
	t->tids[t->n] = tid;
	return t->first + t->n++;
}

static int edit_why_add_item(struct edit_why *e, struct edit_why_item item)
{
	if (GROW(e->items, e->room_items, e->n_items + 1) < 0)
		return -ENOMEM;
	item.sequence = (uint32_t)e->n_items;
	e->items[e->n_items++] = item;
	return 0;
}

/*
 * Adds step K of instance I, the end of the flow that leads to the step, and the begin of the flow
 * that leaves it.
 */
static int edit_why_add_step(struct edit_why *e, uint32_t i, uint32_t k, bool *wakes_next)
{
	const struct path *path = &e->why->worst[i].path;
	const struct path_step *s = &path->steps[k];
	struct edit_why_item item = {
		.ts_ns = s->from_ns,
		.instance = i,
		.step = k,
		.track = edit_why_track_of(&e->tracks[i], s->tid),
		.what = EDIT_WHY_STEP,
	};
	int r = edit_why_add_item(e, item);

	item.what = EDIT_WHY_WOKEN;
	item.flow = e->n_flows;
	if (r == 0 && *wakes_next)
		r = edit_why_add_item(e, item);
	*wakes_next = path_step_link(s) == PATH_LINK_WAKE && k + 1 < path->n_steps &&
		      path->steps[k + 1].tid == s->via;
	if (r < 0 || !*wakes_next)
		return r;
	item.what = EDIT_WHY_WAKE;
	item.flow = ++e->n_flows;
	/* (a flow begins within its step) */
	item.ts_ns = s->to_ns - 1;
	return edit_why_add_item(e, item);
}

static int edit_why_add_instance(struct edit_why *e, uint32_t i)
{
	const struct why_instance *instance = &e->why->worst[i];
	bool wakes_next = false;
	int r;

	e->tracks[i] = (struct edit_why_tracks){ .first = e->n_tracks };
	r = edit_why_add_item(e, (struct edit_why_item){
					 .ts_ns = instance->from_ns,
					 .instance = i,
					 .track = edit_why_track_of(&e->tracks[i], instance->tid),
					 .what = EDIT_WHY_INSTANCE,
				 });
	for (uint32_t k = 0; r == 0 && k < instance->path.n_steps; k++)
		r = edit_why_add_step(e, i, k, &wakes_next);
	e->n_tracks += e->tracks[i].n + e->tracks[i].has_others;
	return r;
}

int edit_why_new(struct edit_why **ret, struct edit_output *out, const struct why *w,
		 const struct summary *summary)
{
	_cleanup_(edit_why_freep) struct edit_why *e = calloc(1, sizeof(*e));
	int r = e ? edit_copy_new(&e->copy, out, NULL) : -ENOMEM;

	if (r < 0)
		return r;
	e->why = w;
	e->summary = summary;
	e->mark.edit = EDIT_PART_EXPLAINED;
	e->tracks = calloc(w->n_worst + 1, sizeof(*e->tracks));
	if (!e->tracks)
		return -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < w->n_worst; i++)
		r = edit_why_add_instance(e, i);
	e->named = calloc(e->n_tracks + 1, sizeof(*e->named));
	if (r < 0 || !e->named)
		return -ENOMEM;
	SORT(e->items, e->n_items, edit_why_item_order);
	*ret = TAKE_PTR(e);
	return 0;
}

struct edit_why *edit_why_free(struct edit_why *e)
{
	if (!e)
		return NULL;
	edit_copy_free(e->copy);
	free(e->tracks);
	free(e->named);
	free(e->items);
	return free_ptr(e);
}

void edit_why_get_counts(const struct edit_why *e, struct edit_why_counts *ret)
{
	*ret = e->counts;
	ret->copied = *edit_copy_counts(e->copy);
}

/* ---- writing ---- */

/* Names the process, and the track of ITEM: "1. redis-server (4242)". */
static int edit_why_name_track(struct edit_why *e, const struct edit_why_item *item)
{
	const struct edit_why_tracks *t = &e->tracks[item->instance];
	uint32_t at = item->track - t->first;
	char raw[EDIT_WHY_NAME_MAX], name[EDIT_WHY_NAME_MAX], thread[WHY_NAME_MAX] = "";
	int r = 0;

	if (e->named[item->track])
		return 0;
	e->named[item->track] = true;
	e->counts.tracks++;
	snprintf(raw, sizeof(raw), "%" PRIu32 ". %s", item->instance + 1,
		 at < t->n ? why_thread_name(e->summary, t->tids[at], thread) : "others");
	text_clean(name, sizeof(name), raw, strlen(raw));
	if (!e->process_named)
		r = edit_copy_name(e->copy, FXT_OBJECT_PROCESS, FXT_KOID_WHY, 0, "Why");
	e->process_named = true;
	return r
		       ?: edit_copy_name(e->copy, FXT_OBJECT_THREAD, FXT_KOID_WHY + 1 + item->track,
					 FXT_KOID_WHY, name);
}

static int edit_why_write(struct edit_why *e, const struct edit_why_item *item,
			  struct fxt_event *ev)
{
	ev->category = fxt_interned("why");
	ev->ts_ticks = item->ts_ns;
	ev->thread = (struct fxt_out_thread){ .pid = FXT_KOID_WHY,
					      .tid = FXT_KOID_WHY + 1 + item->track };
	return edit_copy_raw_event(e->copy, ev);
}

static struct fxt_out_arg edit_why_koid(const char *name, uint32_t koid)
{
	return (struct fxt_out_arg){ .type = FXT_ARG_KOID,
				     .name = fxt_interned(name),
				     .u64 = koid };
}

static struct fxt_out_arg edit_why_text(const char *name, const char *text)
{
	return (struct fxt_out_arg){ .type = FXT_ARG_STRING,
				     .name = fxt_interned(name),
				     .text = fxt_inline(text) };
}

/* The texts of the stacks at both ends of a wait. */
struct edit_why_ends {
	char stack[EDIT_WHY_TEXT_MAX], waker_stack[EDIT_WHY_TEXT_MAX];
};

/* Writes the functions of the stack at NODE to TO, innermost first. */
static const char *edit_why_stack(const struct edit_why *e, uint32_t node,
				  char to[EDIT_WHY_TEXT_MAX])
{
	char raw[EDIT_WHY_TEXT_MAX];

	why_stack_text(raw, sizeof(raw), e->why, node, EDIT_WHY_FRAMES_MAX);
	text_clean(to, EDIT_WHY_TEXT_MAX, raw, strlen(raw));
	return to;
}

/*
 * Adds the stacks at both ends of the wait of TID that began at FROM_NS (0 = no wait) to the N
 * arguments in ARGS, if the archive has these stacks. Returns the new number of arguments. ENDS
 * holds the texts.
 */
static unsigned edit_why_add_ends(const struct edit_why *e, uint32_t tid, uint64_t from_ns,
				  struct edit_why_ends *ends, struct fxt_out_arg *args, unsigned n)
{
	const struct why_wait *wait = from_ns ? why_find_wait(e->why, tid, from_ns) : NULL;

	if (!wait || wait->waker_node == 0)
		return n;
	args[n++] = edit_why_text("stack", edit_why_stack(e, wait->node, ends->stack));
	args[n++] = edit_why_text("waker_stack",
				  edit_why_stack(e, wait->waker_node, ends->waker_stack));
	return n;
}

static int edit_why_write_instance(struct edit_why *e, const struct edit_why_item *item)
{
	const struct why_instance *i = &e->why->worst[item->instance];
	const struct why_verdict *v = &i->verdict;
	char raw[EDIT_WHY_TEXT_MAX], text[EDIT_WHY_TEXT_MAX];
	struct edit_why_ends ends;
	struct fxt_out_arg args[4];
	unsigned n;

	snprintf(raw, sizeof(raw), "%s%s%s", v->text, v->remedy ? " " : "", v->remedy ?: "");
	text_clean(text, sizeof(text), raw, strlen(raw));
	args[0] = edit_why_koid("thread", i->tid);
	args[1] = edit_why_text("text", text);
	n = edit_why_add_ends(e, i->tid, i->wait_ns, &ends, args, 2);
	return edit_why_write(e, item,
			      &(struct fxt_event){
				      .type = FXT_EVENT_DURATION_COMPLETE,
				      .name = fxt_interned(i->name ?: why_what_keys[i->what]),
				      .id = i->to_ns,
				      .args = args,
				      .n_args = n,
			      });
}

static int edit_why_write_step(struct edit_why *e, const struct edit_why_item *item)
{
	const struct path_step *s = &e->why->worst[item->instance].path.steps[item->step];
	bool has_cpu = s->kind == PATH_RUNNING || s->kind == PATH_RUNNABLE;
	struct wait_verdict cause = { 0 };
	struct edit_why_ends ends;
	struct fxt_out_arg args[6];
	unsigned n = 0;

	args[n++] = edit_why_koid("thread", s->tid);
	if (has_cpu)
		args[n++] = (struct fxt_out_arg){ .type = FXT_ARG_UINT32,
						  .name = fxt_interned("cpu"),
						  .u32 = s->cpu };
	if (s->kind == PATH_RUNNABLE && s->holder_ns > 0)
		args[n++] = edit_why_koid("by", s->holder);
	if (s->wait_ns && why_find_cause(e->why, s->tid, s->wait_ns, &cause) < 0)
		return -ENOMEM;
	if (cause.cause != WAIT_UNKNOWN)
		args[n++] = edit_why_text("reason", wait_cause_rows[cause.cause].key);
	n = edit_why_add_ends(e, s->tid, s->wait_ns, &ends, args, n);
	e->counts.steps++;
	return edit_why_write(e, item,
			      &(struct fxt_event){
				      .type = FXT_EVENT_DURATION_COMPLETE,
				      .name = fxt_interned(edit_why_steps[s->kind]),
				      .id = s->to_ns,
				      .args = args,
				      .n_args = n,
			      });
}

static int edit_why_write_item(struct edit_why *e, const struct edit_why_item *item)
{
	int r = edit_why_name_track(e, item);

	if (r < 0)
		return r;
	switch (item->what) {
	case EDIT_WHY_INSTANCE:
		return edit_why_write_instance(e, item);
	case EDIT_WHY_STEP:
		return edit_why_write_step(e, item);
	default:
		e->counts.flows += item->what == EDIT_WHY_WAKE;
		return edit_why_write(e, item,
				      &(struct fxt_event){
					      .type = item->what == EDIT_WHY_WAKE
							      ? FXT_EVENT_FLOW_BEGIN
							      : FXT_EVENT_FLOW_END,
					      .name = fxt_interned("wake"),
					      .id = item->flow,
				      });
	}
}

/* Writes the events that begin before BEFORE_NS. */
static int edit_why_write_until(struct edit_why *e, uint64_t before_ns)
{
	int r = 0;

	while (r == 0 && e->n_written < e->n_items && e->items[e->n_written].ts_ns < before_ns)
		r = edit_why_write_item(e, &e->items[e->n_written++]);
	return r;
}

/* Whether RECORD is an event, or the name of a track, of an earlier run. */
static bool edit_why_is_earlier(const struct fxt_record *record)
{
	if (!edit_copy_is_kymo(record->provider))
		return false;
	if (record->type == FXT_RECORD_EVENT)
		return record->thread.defined && record->thread.pid == FXT_KOID_WHY;
	return record->type == FXT_RECORD_KERNEL_OBJECT &&
	       record->kernel_object.koid - FXT_KOID_WHY <= 0x1ffff;
}

int edit_why_record(struct edit_why *e, const struct fxt_record *record, const char **ret_what)
{
	int r;

	*ret_what = NULL;
	if (edit_why_is_earlier(record)) {
		e->counts.replaced += record->type == FXT_RECORD_EVENT;
		return 0;
	}
	r = edit_part_mark_before(&e->mark, e->copy, record->provider, record);
	if (r != 0)
		return r < 0 ? r : 0;
	if (fxt_record_has_time(record))
		r = edit_why_write_until(e, record->ts_ns);
	return r ?: edit_copy_record(e->copy, record->provider, record);
}

int edit_why_finish(struct edit_why *e)
{
	return edit_why_write_until(e, UINT64_MAX);
}
