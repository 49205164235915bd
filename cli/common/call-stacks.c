/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/call-stacks.h"

#include <errno.h>
#include <string.h>

#include "cli/common/verb.h"
#include "reader/views/profile-names.h"

int call_stacks_init(struct call_stacks *s, const struct symbol_options *o)
{
	/* (the profile counts no samples: it only has the stacks to which events refer) */
	const struct profile_options none = { .to_ns = UINT64_MAX };
	int r = symbol_options_open(o, &s->symbols);

	if (r != CLI_OK)
		return r;
	resolver_init(&s->resolver, s->symbols, o);
	return profile_new(&s->profile, &none) < 0 ? cli_failed("out of memory") : CLI_OK;
}

void call_stacks_deinit(struct call_stacks *s)
{
	table_deinit(&s->stacks);
	resolver_deinit(&s->resolver);
	s->profile = profile_free(s->profile);
	s->symbols = symbols_free(s->symbols);
}

static uint64_t call_stacks_key(uint32_t pid, uint64_t id)
{
	const uint64_t key[] = { pid, id };

	return table_hash(key, sizeof(key));
}

int call_stacks_add(struct call_stacks *s, const struct event *ev)
{
	int r = profile_add(s->profile, ev) ?: resolver_add(&s->resolver, ev);
	uint32_t node;

	if (r < 0 || ev->kind != EVENT_SAMPLE || ev->sample.kind != SAMPLE_NAMED)
		return r;
	r = profile_keep_stack(s->profile, ev, &node);
	if (r < 0)
		return r;
	/*
	 * (the stack is empty if the outermost function has jumped to the called function, which
	 * then has no caller)
	 */
	if (node == 0) {
		table_remove(&s->stacks, call_stacks_key(ev->pid, ev->sample.id));
		return 0;
	}
	return table_set(&s->stacks, call_stacks_key(ev->pid, ev->sample.id),
			 (void *)(uintptr_t)node);
}

uint32_t call_stacks_find(const struct call_stacks *s, uint32_t pid, uint64_t id)
{
	return id ? (uint32_t)(uintptr_t)table_get(&s->stacks, call_stacks_key(pid, id)) : 0;
}

int call_stacks_step(struct call_stacks *s, uint32_t *node, struct call_stacks_step *ret)
{
	const struct profile_names names = { .find = resolver_find, .userdata = &s->resolver };
	const struct profile_node *at = &s->profile->nodes[*node];

	ret->place = at->place;
	ret->at = &s->profile->places[at->place];
	ret->n_frames = profile_names_find(s->profile, &names, ret->at, &ret->frames);
	*node = at->parent;
	return ret->n_frames < 0 ? ret->n_frames : 0;
}
