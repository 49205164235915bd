/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stack of a group, and doubts about its frames.
 *
 * Without unwind tables, stacks are walked by frame pointers. If a function does not save the frame
 * pointer, the walk can miss a frame or find an invalid one. A function that ends with a jump to
 * another function (a tail call) leaves no frame. The code before a return address shows such
 * errors, since it is a call. If the call names its function, this must be the function of the
 * inner frame. Otherwise, the inner frame is doubtful, or a frame is missing between the two.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/leaks/leaks-view.h"

void leaks_walk_begin(struct leaks_walk *w, const struct leaks_input *in,
		      const struct leak_group *g)
{
	*w = (struct leaks_walk){ .in = in, .group = g, .node = g->node, .whole = true };
}

/* ---- names ---- */

/* Returns the length of NAME without suffixes of compilers and linkers. */
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

/* Returns true if NAME is the name of an allocator, with any prefix. */
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

/* Returns true if PATH, the file of a mapping, is the C library or its loader. */
static bool leaks_is_of_libc(const char *path)
{
	const char *file = profile_names_base(path);

	/* ("libc" alone would also match libcrypto.so) */
	return strncmp(file, "libc.", 5) == 0 || strncmp(file, "libc-", 5) == 0 ||
	       strncmp(file, "ld-", 3) == 0;
}

/*
 * Whether a thread starts with W's outermost frame, at PLACE, which has no name. The code of the
 * function shows this. If the code cannot be read, a program is assumed to be the start. The C
 * library is assumed to be the start even if its code can be read, since the code does not mark the
 * caller of main(). If the stack may be cut off at this frame, nothing is assumed. Code without a
 * file, such as that of run-time compilers, starts no thread: a walk by tables often ends there.
 * The name of a memfd is free text. So a memfd is never the C library, and it is the program only
 * if it is the first file of its process.
 */
static int leaks_starts_unnamed(const struct leaks_walk *w, const struct profile_place *place)
{
	const char *path = place->mapping ? place->mapping->path : NULL;
	bool is_cut = w->n_places >= EVENT_NAMED_FRAMES_MAX;
	bool is_memfd;
	int r;

	if (!resolver_is_of_file(place))
		return 0;
	is_memfd = strncmp(path, "/memfd:", 7) == 0;
	/* (the cast is allowed, since a lookup does not change the results) */
	r = resolver_begins((struct resolver *)&w->in->flame.resolver, place);
	if (r == 1 || r == -ENOMEM)
		return r;
	if (strstr(profile_names_base(path), ".so"))
		return !is_cut && !is_memfd && leaks_is_of_libc(path);
	return r == -ENOENT && !is_cut && (!is_memfd || place->mapping->is_program);
}

/* Whether a thread starts with FRAME, the outermost frame of W, at PLACE. */
static int leaks_is_outermost(const struct leaks_walk *w, const struct profile_place *place,
			      const struct frame *frame)
{
	static const char *const names[] = { "main",          "__libc_start_call_main",
					     "_start",        "start_thread",
					     "clone",         "clone3",
					     "__clone",       "__clone3",
					     "_dl_start_user" };

	if (!frame || !*frame->function)
		return leaks_starts_unnamed(w, place);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (leaks_stack_is_same(frame->function, names[i]))
			return 1;
	return strncmp(frame->function, "__libc_start_main", 17) == 0;
}

/* ---- doubts ---- */

/*
 * Returns true if the call before PLACE leads to the inner frame. CALLED is the function that this
 * call names.
 */
static bool leaks_leads_above(const struct leaks_walk *w, const struct profile_place *place,
			      const char *called)
{
	bool elsewhere = strstr(called, "@plt");

	if (!w->inner)
		return w->group->resource != RESOURCE_MEMORY || elsewhere || !*called ||
		       leaks_stack_is_allocator(called);
	if (w->inner->mapping != place->mapping)
		/*
		 * (names are not compared across files, since a library can have several names for
		 * one function)
		 */
		return elsewhere;
	if (!*called || !*w->inner_function)
		return !*called && !*w->inner_function;
	return leaks_stack_is_same(called, w->inner_function);
}

static int leaks_find_doubt(struct leaks_walk *w, const struct profile_place *place)
{
	/* (the cast is allowed, since a lookup does not change the results) */
	int r = resolver_called((struct resolver *)&w->in->flame.resolver, place, &w->called);

	if (r <= 0 || leaks_leads_above(w, place, w->called))
		w->called = NULL;
	return r < 0 ? r : 0;
}

/* Goes to another place. */
static int leaks_begin_place(struct leaks_walk *w, const struct profile_place *place)
{
	int r = leaks_find_doubt(w, place);

	if (r < 0)
		return r;
	w->n = profile_names_find(w->in->leaks->profile, &w->in->flame.names, place, &w->frames);
	return w->n < 0 ? w->n : 0;
}

/*
 * Returns true if PLACE, with FRAME (NULL = unknown), is a function of Python. The code of its
 * caller does not call it.
 */
static bool leaks_is_python(const struct profile_place *place, const struct frame *frame)
{
	return !place->mapping && frame && strcmp(frame->module, FRAMES_PYTHON_MODULE) == 0;
}

static int leaks_end_place(struct leaks_walk *w, const struct profile_place *place)
{
	const struct frame *last = w->n > 0 ? &w->frames[w->n - 1] : NULL;
	int r = 0;

	if (!leaks_is_python(place, last)) {
		snprintf(w->inner_function, sizeof(w->inner_function), "%s",
			 last ? last->function : "");
		w->inner = place;
	}
	w->i = 0;
	w->n_places++;
	w->node = w->in->leaks->profile->nodes[w->node].parent;
	if (w->node == 0) {
		r = leaks_is_outermost(w, place, last);
		w->whole = r > 0;
	}
	return r < 0 ? r : 0;
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
	r = ++w->i >= w->n ? leaks_end_place(w, place) : 0;
	return r < 0 ? r : 1;
}
