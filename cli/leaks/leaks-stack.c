/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stack of a group, and what of it is in doubt.
 *
 * Without unwind tables, stacks are walked by frame pointers. A function without one is missed, or
 * leaves something else where the walk looks for the next frame: what stands there may look like a
 * frame, and be none. And a function that jumps to another one in the end leaves no frame at all.
 * The code says which: before each return address stands a call, and if that names the function
 * that it calls, this has to be the one above. Where it is not, the frame is in doubt, or one is
 * missing between both.
 */
#include <stdio.h>
#include <string.h>

#include "cli/leaks/leaks-view.h"

void leaks_walk_begin(struct leaks_walk *w, const struct leaks_input *in,
		      const struct leak_group *g)
{
	*w = (struct leaks_walk){ .in = in, .group = g, .node = g->node, .whole = true };
}

/* ---- names ---- */

/* The bytes of NAME without what compilers and linkers put behind it. */
static size_t leaks_stack_name_length(const char *name)
{
	static const char *const behind[] = { "@",      " [clone",     ".cold",
					      ".part.", ".constprop.", ".isra." };
	size_t n = strlen(name);

	for (size_t i = 0; i < ARRAY_SIZE(behind); i++) {
		const char *at = strstr(name, behind[i]);

		if (at && (size_t)(at - name) < n)
			n = (size_t)(at - name);
	}
	return n;
}

static bool leaks_stack_is_same(const char *a, const char *b)
{
	size_t n = leaks_stack_name_length(a);

	return n == leaks_stack_name_length(b) && strncmp(a, b, n) == 0;
}

/* Whether NAME is one of an allocator, by whatever prefix. */
static bool leaks_stack_is_allocator(const char *name)
{
	static const char *const prefixes[] = { "__libc_", "_rjem_", "je_", "tc_", "mi_", "__" };
	static const char *const names[] = { "malloc",         "calloc",   "realloc",
					     "reallocarray",   "memalign", "aligned_alloc",
					     "posix_memalign", "valloc",   "pvalloc" };

	if (strncmp(name, "operator new", 12) == 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		size_t n = strlen(prefixes[i]);

		if (strncmp(name, prefixes[i], n) == 0) {
			name += n;
			break;
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (leaks_stack_is_same(name, names[i]))
			return true;
	return false;
}

/* Whether a thread begins with FRAME, at PLACE: nobody has called it. Without a name it may be. */
static bool leaks_is_outermost(const struct profile_place *place, const struct frame *frame)
{
	static const char *const names[] = { "main",          "__libc_start_call_main",
					     "_start",        "start_thread",
					     "clone",         "clone3",
					     "__clone",       "__clone3",
					     "_dl_start_user" };
	const char *file = place->mapping ? profile_names_base(place->mapping->path) : "";

	if (!frame || !*frame->function)
		return !strstr(file, ".so") || strncmp(file, "libc", 4) == 0 ||
		       strncmp(file, "ld-", 3) == 0;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (leaks_stack_is_same(frame->function, names[i]))
			return true;
	return strncmp(frame->function, "__libc_start_main", 17) == 0;
}

/* ---- doubt ---- */

/* Whether the call before PLACE, of CALLED, is of what stands above. */
static bool leaks_leads_above(const struct leaks_walk *w, const struct profile_place *place,
			      const char *called)
{
	bool elsewhere = strstr(called, "@plt");

	if (!w->inner)
		return w->group->resource != RESOURCE_MEMORY || elsewhere || !*called ||
		       leaks_stack_is_allocator(called);
	if (w->inner->mapping != place->mapping)
		/* (names that libraries have for one function differ) */
		return elsewhere;
	if (!*called || !*w->inner_function)
		return !*called && !*w->inner_function;
	return leaks_stack_is_same(called, w->inner_function);
}

static int leaks_look_for_doubt(struct leaks_walk *w, const struct profile_place *place)
{
	/* (asking does not change what has been found out of it) */
	int r = resolver_called((struct resolver *)&w->in->flame.resolver, place, &w->called);

	if (r <= 0 || leaks_leads_above(w, place, w->called))
		w->called = NULL;
	return r < 0 ? r : 0;
}

/* Another place. */
static int leaks_begin_place(struct leaks_walk *w, const struct profile_place *place)
{
	int r = leaks_look_for_doubt(w, place);

	if (r < 0)
		return r;
	w->n = profile_names_find(w->in->leaks->profile, &w->in->flame.names, place, &w->frames);
	return w->n < 0 ? w->n : 0;
}

static void leaks_end_place(struct leaks_walk *w, const struct profile_place *place)
{
	const struct frame *last = w->n > 0 ? &w->frames[w->n - 1] : NULL;

	snprintf(w->inner_function, sizeof(w->inner_function), "%s", last ? last->function : "");
	w->inner = place;
	w->i = 0;
	w->node = w->in->leaks->profile->nodes[w->node].parent;
	if (w->node == 0)
		w->whole = leaks_is_outermost(place, last);
}

int leaks_walk_next(struct leaks_walk *w, struct leaks_frame *ret)
{
	const struct profile *p = w->in->leaks->profile;
	const struct profile_place *place;
	int r;

	if (w->node == 0)
		return 0;
	place = &p->places[p->nodes[w->node].place];
	r = w->i == 0 ? leaks_begin_place(w, place) : 0;
	if (r < 0)
		return r;
	*ret = (struct leaks_frame){
		.address = place->address,
		.place = place,
		.frame = w->i < w->n ? &w->frames[w->i] : NULL,
		.inlined = w->i + 1 < w->n,
		.called = w->i == 0 ? w->called : NULL,
	};
	if (++w->i >= w->n)
		leaks_end_place(w, place);
	return 1;
}
