/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads an archive for `kymo leaks`, and drops the data that was not requested.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "cli/leaks/leaks-view.h"
#include "cli/common/read-events.h"
#include "cli/common/verb.h"

void leaks_input_deinit(struct leaks_input *in)
{
	leaks_free(in->leaks);
	summary_free(in->flame.summary);
	resolver_deinit(&in->flame.resolver);
}

/* ---- names ---- */

static int leaks_input_find_names(void *userdata, const struct profile_place *place,
				  const struct frame **ret)
{
	struct leaks_input *in = userdata;

	return resolver_find(&in->flame.resolver, place, ret);
}

/* Returns the name of the last program of a process. */
static const char *leaks_input_process_name(void *userdata, uint32_t pid)
{
	const struct leaks_input *in = userdata;

	for (size_t i = in->leaks->n_watches; i-- > 0;)
		if (in->leaks->watches[i]->pid == pid)
			return in->leaks->watches[i]->name;
	return NULL;
}

enum reach leaks_reach(const struct leak_group *g)
{
	if (g->reach[REACH_LOST])
		return REACH_LOST;
	if (g->reach[REACH_INDIRECT])
		return REACH_INDIRECT;
	for (enum reach reach = REACH_TAGGED; reach <= REACH_POSSIBLE; reach++)
		if (g->reach[reach])
			return reach;
	return g->reach[REACH_UNKNOWN] ? REACH_UNKNOWN : REACH_REACHABLE;
}

struct filter {
	struct leaks_input *in;
	struct leaks_request *q;
	const struct leak_watch *watch; /* whose groups are filtered */
	bool is_searched;               /* the whole memory of this watch was searched */
	int error;
};

static size_t leaks_count_texts(const char *const *list)
{
	size_t n = 0;

	while (n < LEAK_TEXTS_MAX && list[n])
		n++;
	return n;
}

static void leaks_free_frames(struct suppression_frame *frames, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free((char *)frames[i].function);
		free((char *)frames[i].source);
	}
	free(frames);
}

/* Lists all functions of G, with copies of their texts. */
static int leaks_list_frames(const struct leaks_input *in, const struct leak_group *g,
			     struct suppression_frame **ret, size_t *ret_n)
{
	struct suppression_frame *list = NULL;
	struct leaks_frame frame;
	struct leaks_walk walk;
	size_t n = 0, room = 0;
	int r;

	leaks_walk_begin(&walk, in, g);
	while ((r = leaks_walk_next(&walk, &frame)) > 0) {
		const struct mapping *map = frame.place->mapping;

		r = GROW(list, room, n + 1);
		if (r < 0)
			break;
		list[n] = (struct suppression_frame){
			.function = strdup(frame.frame ? frame.frame->function : ""),
			.source = strdup(frame.frame ? frame.frame->source : ""),
			.module = map ? map->path : "",
			.line = frame.frame ? frame.frame->line : 0,
		};
		n++;
		if (!list[n - 1].function || !list[n - 1].source) {
			r = -ENOMEM;
			break;
		}
	}
	*ret = list;
	*ret_n = n;
	return r;
}

/* Finds the suppression that matches G; *RET is NULL if none matches. Returns 0 or -ENOMEM. */
static int leaks_find_suppression(struct filter *f, const struct leak_group *g,
				  struct suppression **ret)
{
	struct suppression_stack stack = {
		.allocators = g->functions,
		.n_allocators = leaks_count_texts(g->functions),
		.reach = leaks_reach(g),
	};
	struct suppression_frame *frames;
	int r;

	*ret = NULL;
	if (f->q->suppressions.n == 0)
		return 0;
	r = leaks_list_frames(f->in, g, &frames, &stack.n_frames);
	stack.frames = frames;
	if (r == 0)
		*ret = suppressions_find(&f->q->suppressions, &stack);
	leaks_free_frames(frames, stack.n_frames);
	return r;
}

/* Finds out whether a suppression matches G. If so, counts G and returns 1. */
static int leaks_is_suppressed(struct filter *f, const struct leak_group *g)
{
	struct suppression *s;
	int r = leaks_find_suppression(f, g, &s);

	if (!s)
		return r;
	s->n_groups++;
	s->n_blocks += g->blocks;
	s->n_bytes += g->bytes;
	f->in->n_suppressed++;
	f->in->suppressed_blocks += g->blocks;
	f->in->suppressed_bytes += g->bytes;
	return 1;
}

/* Returns the number of G's blocks for which a search for pointers has a result. */
static uint64_t leaks_input_searched(const struct leak_group *g)
{
	uint64_t searched = 0;

	for (enum reach reach = 0; reach < REACH_MAX; reach++)
		searched += reach == REACH_UNKNOWN ? 0 : g->reach[reach];
	return searched;
}

/* Notes whether a search for pointers was made in W, and whether it was complete. */
static void leaks_input_note_search(struct filter *f, const struct leak_watch *w)
{
	uint64_t searched = 0;

	if (f->watch == w)
		return;
	f->watch = w;
	for (size_t i = 0; i < w->n_groups; i++)
		searched += leaks_input_searched(w->groups[i]);
	f->is_searched = !*w->unsearched && (w->searched || searched > 0);
	f->in->any_searched |= *w->unsearched || w->searched || searched > 0;
}

/*
 * Counts the blocks of G that may have a selected verdict, since a search for pointers has no
 * result for them. The verdict of G as a whole is not selected.
 */
static int leaks_input_count_unsearched(struct filter *f, const struct leak_group *g)
{
	uint64_t searched = leaks_input_searched(g);
	struct suppression *s;
	int r;

	if (!(f->q->verdicts & LEAKS_VERDICTS_OF_REACH) || g->resource != RESOURCE_MEMORY ||
	    searched >= g->blocks)
		return 0;
	r = leaks_find_suppression(f, g, &s);
	if (r < 0 || s)
		return r;
	f->in->n_unsearched += g->blocks - searched;
	f->in->lacks_search |= !f->is_searched;
	return 0;
}

static bool leaks_input_keep(void *userdata, const struct leak_watch *w, const struct leak_group *g)
{
	struct filter *f = userdata;
	const struct leaks_request *q = f->q;
	bool selected = !q->verdicts || q->verdicts & 1u << g->verdict;
	int r;

	leaks_input_note_search(f, w);
	if (g->all.blocks < q->min_blocks || g->all.bytes < q->min_bytes)
		return false;
	r = selected ? leaks_is_suppressed(f, g) : leaks_input_count_unsearched(f, g);
	if (r < 0)
		f->error = r;
	return selected && r == 0;
}

/* ---- reading ---- */

static int leaks_input_on_event(void *userdata, const struct event *ev)
{
	struct leaks_input *in = userdata;
	int r = summary_add(in->flame.summary, ev) ?: resolver_add(&in->flame.resolver, ev);

	if (ev->kind == EVENT_CLOCK && in->flame.real_offset_ns == 0)
		in->flame.real_offset_ns = (int64_t)(ev->clock.real_ns - ev->clock.boot_ns);
	if (ev->kind == EVENT_START && !*in->arch)
		snprintf(in->arch, sizeof(in->arch), "%s", ev->start.machine);
	return r < 0 ? r : leaks_add(in->leaks, ev);
}

/* Explains why there is no data. */
static int leaks_input_explain_no_data(const struct leaks_input *in, const struct leaks_request *q,
				       const struct open_trace *t)
{
	if (q->of_growing) {
		cli_error("no process grew in that time");
		return CLI_OK;
	}
	if (in->leaks->n_processes_seen > 0)
		cli_error("%s: none of the selected processes was watched, but %" PRIu32 " others "
			  "were",
			  t->name, in->leaks->n_processes_seen);
	else
		nothing_there_say(&t->parts, NOTHING_ALLOCATIONS, t->name);
	return CLI_FAILED;
}

static int leaks_complain_no_context(const struct leaks_input *in, const struct leaks_request *q,
				     const struct open_trace *t)
{
	cli_error("%s contains no context '%s'%s", t->name, q->context,
		  in->leaks->n_contexts ? "; there are:" : ", and no other");
	for (size_t i = 0; i < in->leaks->n_contexts; i++)
		cli_error("  %s", in->leaks->contexts[i].name);
	return CLI_FAILED;
}

/* Returns true if a program was watched for RESOURCE. */
static bool leaks_input_has_recorded(const struct leaks *l, enum resource resource)
{
	const char *name = resource_names[resource];
	size_t n = strlen(name);

	for (size_t i = 0; i < l->n_watches; i++)
		for (const char *at = l->watches[i]->resources; at; at = strchr(at, ',')) {
			at += *at == ',';
			if (strncmp(at, name, n) == 0 && (at[n] == '\0' || at[n] == ','))
				return true;
		}
	return false;
}

/*
 * Names the selected resources that were not recorded. Returns CLI_FAILED if none of the selected
 * resources was recorded.
 */
static int leaks_input_check_resources(struct leaks_input *in, const struct leaks_request *q,
				       const struct open_trace *t)
{
	bool any = false;

	for (enum resource resource = 0; resource < RESOURCE_MAX; resource++) {
		if (!(q->resources & 1u << resource))
			continue;
		if (leaks_input_has_recorded(in->leaks, resource)) {
			any = true;
			continue;
		}
		cli_error("%s: --resource: '%s' was not recorded (-e)", t->name,
			  resource_names[resource]);
		in->is_unknown = true;
	}
	return in->is_unknown && !any ? CLI_FAILED : CLI_OK;
}

/*
 * Reports blocks that may have a selected verdict. Nothing is known about these blocks if their
 * process was not searched, or not completely. (A search also has no result for some blocks of a
 * process that goes on, such as the youngest.)
 */
static void leaks_input_check_verdicts(struct leaks_input *in, const struct leaks_request *q,
				       const struct open_trace *t)
{
	if (in->n_unsearched == 0)
		return;
	cli_error("%s: --verdict: %" PRIu64 " block%s can be lost or reachable: %s", t->name,
		  in->n_unsearched, text_s(in->n_unsearched),
		  in->any_searched ? "the search for pointers has no result for them"
				   : "no search for pointers was made (--reach)");
	in->is_unknown |= in->lacks_search && !(q->verdicts & ~(uint32_t)LEAKS_VERDICTS_OF_REACH);
}

int leaks_input_read(struct leaks_input *in, struct leaks_request *q, struct open_trace *t,
		     struct symbols *symbols)
{
	const struct leaks_options options = {
		.pids = q->pids,
		.n_pids = q->n_pids,
		.resources = q->resources,
		.context = q->context,
		.min_age_ns = q->min_age_ns,
	};
	struct filter filter = { .in = in, .q = q };
	int r;

	resolver_init(&in->flame.resolver, symbols, &q->symbols);
	if (summary_new(&in->flame.summary) < 0 || leaks_new(&in->leaks, &options) < 0)
		return cli_failed("out of memory");
	in->flame.profile = in->leaks->profile;
	in->flame.names =
		(struct profile_names){ leaks_input_find_names, leaks_input_process_name, in };
	r = read_events(t, leaks_input_on_event, in);
	if (r != CLI_OK)
		return r;
	summary_finish(in->flame.summary);
	r = leaks_finish(in->leaks);
	if (r == -ENOENT)
		return leaks_complain_no_context(in, q, t);
	if (r < 0)
		return cli_failed("out of memory");
	if (in->leaks->n_watches == 0)
		return leaks_input_explain_no_data(in, q, t);
	r = leaks_input_check_resources(in, q, t);
	if (r != CLI_OK)
		return r;
	leaks_filter(in->leaks, leaks_input_keep, &filter);
	if (filter.error < 0)
		return cli_failed("out of memory");
	leaks_input_check_verdicts(in, q, t);
	r = read_events_finish(t, in->flame.summary);
	in->damaged = read_events_unmapped(t, profile_n_unmapped(in->flame.profile), r) != CLI_OK;
	return CLI_OK;
}
