/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/rtrace/rtrace-select.h"

#include "base/array.h"
#include "base/cleanup.h"

void rtrace_select_init(struct rtrace_select_state *s, const struct rtrace_select *select)
{
	*s = (struct rtrace_select_state){
		.select = select,
		.context_mask = select->context_mask,
	};
	if (select->range && !select->range->target) {
		s->spans[0] = (struct rtrace_span){ select->range->start,
						    select->range->start + select->range->size };
		s->n_spans = 1;
	}
}

static void rtrace_select_learn_context(struct rtrace_select_state *s,
					const struct rtrace_context *c)
{
	for (size_t i = 0; i < s->select->n_contexts; i++) {
		if (!rtrace_text_is(c->name, s->select->contexts[i]))
			continue;
		s->n_found += (s->context_mask & c->mask) == 0;
		s->context_mask |= c->mask;
	}
}

/* Returns true if PATH is TARGET, or ends with it after a slash. */
static bool rtrace_select_is_target(struct rtrace_text path, const char *target)
{
	size_t n = strlen(target);

	return path.n >= n && memcmp(path.bytes + path.n - n, target, n) == 0 &&
	       (path.n == n || *target == '/' || path.bytes[path.n - n - 1] == '/');
}

static void rtrace_select_learn_map(struct rtrace_select_state *s, const struct rtrace_map *m)
{
	const struct rtrace_call_range *range = s->select->range;
	uint64_t start;

	if (!range || !range->target || !rtrace_select_is_target(m->path, range->target))
		return;
	start = m->start + range->start;
	/* If a target was loaded at too many addresses, each further one replaces the last one. */
	if (s->n_spans == ARRAY_SIZE(s->spans))
		s->n_spans--;
	s->spans[s->n_spans++] = (struct rtrace_span){ start, start + range->size };
}

void rtrace_select_learn(struct rtrace_select_state *s, const struct rtrace_record *record)
{
	if (record->kind == RTRACE_CONTEXT)
		rtrace_select_learn_context(s, &record->context);
	else if (record->kind == RTRACE_MAP)
		rtrace_select_learn_map(s, &record->map);
}

static bool rtrace_select_is_of_type(const struct rtrace_select *s, const struct rtrace_type *type)
{
	if (s->type_mask & type->mask)
		return true;
	for (size_t i = 0; i < s->n_types; i++)
		if (strcmp(s->types[i], type->type) == 0)
			return true;
	return false;
}

static bool rtrace_select_is_listed(const uint64_t *list, size_t n, uint64_t index)
{
	size_t at = ARRAY_FIRST(i, 0, n, list[i] >= index);

	return at < n && list[at] == index;
}

bool rtrace_select_call(const struct rtrace_select_state *state, const struct rtrace_record *record,
			const struct rtrace_type *types)
{
	const struct rtrace_select *s = state->select;
	const struct rtrace_call *c = &record->call;
	bool by_context = s->n_contexts > 0 || s->context_mask || s->no_context;

	if ((s->n_types > 0 || s->type_mask) &&
	    (record->resource_number < 0 ||
	     !rtrace_select_is_of_type(s, &types[record->resource_number])))
		return false;
	if (by_context && !(c->contexts & state->context_mask) &&
	    !(s->no_context && c->contexts == 0))
		return false;
	if (s->has_index && (c->index < s->min_index || c->index > s->max_index))
		return false;
	if (s->include && !rtrace_select_is_listed(s->include, s->n_include, c->index))
		return false;
	return !s->exclude || !rtrace_select_is_listed(s->exclude, s->n_exclude, c->index);
}

bool rtrace_select_size(const struct rtrace_select_state *state, uint64_t size)
{
	const struct rtrace_select *s = state->select;

	return !s->has_size || (size >= s->min_size && size <= s->max_size);
}

bool rtrace_select_address(const struct rtrace_select_state *s, uint64_t address)
{
	for (size_t i = 0; i < s->n_spans; i++)
		if (address - s->spans[i].start < s->spans[i].end - s->spans[i].start)
			return true;
	return false;
}
