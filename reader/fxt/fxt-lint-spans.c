/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks asynchronous operations and flows. The begins and ends of each id are counted, in any
 * order. At the end, a balance other than 0 means that a counterpart is missing. Only unbalanced
 * ids are kept.
 */
#include <errno.h>

#include "reader/fxt/fxt-lint-state.h"

struct fxt_lint_span {
	uint64_t key, id;
	int64_t balance;             /* number of begins minus number of ends */
	int64_t sum;                 /* at the end: sum of the balances of all spans with this id */
	struct fxt_lint_place place; /* place of the unbalanced event */
	uint64_t alone_ns;           /* time of the first instant or step outside of the span */
	struct fxt_lint_place alone; /* place of that instant or step; number 0 = none */
};

uint64_t fxt_lint_async_key(const struct fxt_record *r)
{
	const uint64_t key[] = {
		r->thread.pid,
		r->name.bytes ? table_hash(r->name.bytes, r->name.length) : 0,
		r->event.value,
	};

	return table_hash(key, sizeof(key));
}

static struct fxt_lint_span *fxt_lint_get_span(struct fxt_lint *l, struct table *t, uint64_t key,
					       const struct fxt_lint_fact *fact)
{
	struct fxt_lint_span *s = fxt_lint_get(l, t, key, sizeof(*s), FXT_LINT_SPANS_MAX);

	if (!s) {
		l->n_not_judged++;
		return NULL;
	}
	if (s->place.number == 0)
		s->place = fact->place;
	s->key = key;
	s->id = fact->b;
	return s;
}

static void fxt_lint_spans_begin(struct fxt_lint *l, struct fxt_lint_span *s,
				 const struct fxt_lint_fact *fact)
{
	if (s->balance > 0 && fact->kind == FXT_LINT_FLOW_BEGIN)
		fxt_lint_find(l, FXT_FINDING_FLOW_TWICE, fact->place, s->id, 0);
	if (s->balance == 0)
		s->place = fact->place;
	s->balance++;
	if (s->alone.number != 0 && s->alone_ns >= fact->ts_ns)
		s->alone.number = 0;
}

static void fxt_lint_spans_between(struct fxt_lint_span *s, const struct fxt_lint_fact *fact)
{
	if (s->balance > 0 || s->alone.number != 0)
		return;
	s->alone = fact->place;
	s->alone_ns = fact->ts_ns;
}

void fxt_lint_span_fact(struct fxt_lint *l, const struct fxt_lint_fact *fact)
{
	bool is_flow = fact->kind < FXT_LINT_ASYNC_BEGIN;
	struct table *table = is_flow ? &l->flows : &l->asyncs;
	uint64_t key = is_flow ? table_hash(&fact->b, sizeof(fact->b)) : fact->a;
	struct fxt_lint_span *s = fxt_lint_get_span(l, table, key, fact);

	if (!s)
		return;
	switch (fact->kind) {
	case FXT_LINT_FLOW_BEGIN:
	case FXT_LINT_ASYNC_BEGIN:
		fxt_lint_spans_begin(l, s, fact);
		break;
	case FXT_LINT_FLOW_END:
	case FXT_LINT_ASYNC_END:
		s->balance--;
		break;
	default:
		fxt_lint_spans_between(s, fact);
	}
	if (s->balance == 0 && s->alone.number == 0)
		free(table_remove(table, key));
}

static void fxt_lint_finish_flows(struct fxt_lint *l)
{
	const struct fxt_lint_span *s;

	for (size_t pos = 0; (s = table_next(&l->flows, &pos));)
		fxt_lint_find(l, FXT_FINDING_FLOW_UNMATCHED, s->balance ? s->place : s->alone,
			      s->id, 0);
}

/*
 * Reports begins and ends without a counterpart. If the balances of all spans with one id add up to
 * 0, the counterpart exists, but has another process or name.
 */
static void fxt_lint_finish_asyncs(struct fxt_lint *l)
{
	struct table leaders = {
		0
	}; /* hash of an id -> the span that has the sum of its balances */
	struct fxt_lint_span *s, *leader;

	for (size_t pos = 0; (s = table_next(&l->asyncs, &pos));) {
		uint64_t key = table_hash(&s->id, sizeof(s->id));

		leader = table_get(&leaders, key);
		if (!leader && table_set(&leaders, key, s) < 0) {
			l->error = -ENOMEM;
			break;
		}
		leader = leader ? leader : s;
		leader->sum += s->balance;
	}
	for (size_t pos = 0; !l->error && (s = table_next(&l->asyncs, &pos));) {
		leader = table_get(&leaders, table_hash(&s->id, sizeof(s->id)));
		if (s->alone.number != 0)
			fxt_lint_find(l, FXT_FINDING_ASYNC_OUTSIDE, s->alone, s->id, 0);
		if (s->balance != 0)
			fxt_lint_find(l,
				      leader->sum == 0 ? FXT_FINDING_ASYNC_DIFFERS
						       : FXT_FINDING_ASYNC_UNMATCHED,
				      s->place, s->id, 0);
	}
	table_deinit(&leaders);
}

void fxt_lint_spans_finish(struct fxt_lint *l)
{
	fxt_lint_finish_flows(l);
	fxt_lint_finish_asyncs(l);
}
