/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/views/call-tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* A stack of names, from the process to the innermost function. */
struct path {
	struct step {
		const char *name; /* owned by the tree */
		enum call_kind kind;
	} * steps;
	size_t n, room;
};

/* The names of the functions at each place. The index is the number of the place in the profile. */
struct labels {
	struct {
		struct step *steps; /* owned; outermost first; NULL = not looked up yet */
		size_t n;
	} * places;
	size_t n_places;
};

int call_tree_new(struct call_tree **ret)
{
	_cleanup_(call_tree_freep) struct call_tree *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->room_nodes = 64;
	t->nodes = calloc(t->room_nodes, sizeof(*t->nodes));
	if (!t->nodes)
		return -ENOMEM;
	t->nodes[0] = (struct call_node){ .name = "all", .kind = CALL_ROOT };
	t->n_nodes = 1;
	*ret = TAKE_PTR(t);
	return 0;
}

struct call_tree *call_tree_free(struct call_tree *t)
{
	if (!t)
		return NULL;
	table_deinit(&t->children);
	text_set_deinit(&t->names);
	free(t->nodes);
	return free_ptr(t);
}

/* ---- construction ---- */

/*
 * Replaces *NODE by its child with the name of STEP, which is made if needed. Equal names in the
 * tree have one address. Children with equal hashes are found by probing. Returns 0, 1 if there is
 * no room for another node, or -ENOMEM.
 */
static int call_tree_descend(struct call_tree *t, uint32_t *node, const struct step *step)
{
	uint64_t key[] = { *node, (uint64_t)(uintptr_t)step->name, step->kind, 0 }, hash;
	struct call_node *made;
	uint32_t number;

	for (;; key[3]++) {
		hash = table_hash(key, sizeof(key));
		number = (uint32_t)(uintptr_t)table_get(&t->children, hash);
		if (number == 0)
			break;
		made = &t->nodes[number];
		if (made->parent == *node && made->name == step->name && made->kind == step->kind) {
			*node = number;
			return 0;
		}
	}
	if (t->n_nodes >= CALL_TREE_NODES_MAX)
		return 1;
	if (GROW(t->nodes, t->room_nodes, t->n_nodes + 1) < 0)
		return -ENOMEM;
	number = (uint32_t)t->n_nodes;
	if (table_set(&t->children, hash, (void *)(uintptr_t)number) < 0)
		return -ENOMEM;
	made = &t->nodes[t->n_nodes++];
	*made = (struct call_node){
		.name = step->name,
		.kind = step->kind,
		.parent = *node,
		.sibling = t->nodes[*node].child,
		.depth = t->nodes[*node].depth + 1,
	};
	t->nodes[*node].child = number;
	if (made->depth > t->max_depth)
		t->max_depth = made->depth;
	*node = number;
	return 0;
}

static enum call_kind call_tree_kind_of(const struct profile_place *place, bool named)
{
	if (place->is_made_up)
		return place->owner == UINT32_MAX ? CALL_UNKNOWN : CALL_PROCESS;
	if (maps_is_kernel(place->address))
		return CALL_KERNEL;
	return named || place->mapping ? CALL_USER : CALL_UNKNOWN;
}

/* Looks up the functions at place NUMBER. */
static int call_tree_label_place(struct call_tree *t, const struct profile *p,
				 const struct profile_names *names, struct labels *labels,
				 uint32_t number)
{
	const struct profile_place *place = &p->places[number];
	const struct frame *frames = NULL;
	int n = profile_names_find(p, names, place, &frames);
	char label[PROFILE_LABEL_MAX];
	struct step *steps;

	if (n < 0)
		return n;
	steps = calloc(n > 0 ? (size_t)n : 1, sizeof(*steps));
	if (!steps)
		return -ENOMEM;
	labels->places[number].steps = steps;
	labels->places[number].n = n > 0 ? (size_t)n : 1;
	for (size_t i = 0; i < labels->places[number].n; i++) {
		int at = place->is_woken_by ? (int)i : n - 1 - (int)i;
		const struct frame *frame = n > 0 ? &frames[at] : NULL;

		steps[i].kind = call_tree_kind_of(place, n > 0);
		steps[i].name = text_set_keep(&t->names, profile_names_label(label, place, frame));
		if (!steps[i].name)
			return -ENOMEM;
	}
	return 0;
}

static int call_tree_add_step(struct path *path, struct step step)
{
	if (GROW(path->steps, path->room, path->n + 1) < 0)
		return -ENOMEM;
	path->steps[path->n++] = step;
	return 0;
}

static void call_tree_reverse(struct path *path, size_t from)
{
	for (size_t i = from, j = path->n; i + 1 < j; i++) {
		struct step step = path->steps[i];

		path->steps[i] = path->steps[--j];
		path->steps[j] = step;
	}
}

/* Sets PATH to the process of STACK and the names of its functions, outermost first. */
static int call_tree_find_path(struct call_tree *t, const struct profile *p,
			       const struct call_tree_options *o, struct labels *labels,
			       const struct profile_stack *stack, struct path *path)
{
	char label[PROFILE_LABEL_MAX];
	struct step process = { .kind = CALL_PROCESS };
	int r;

	process.name = text_set_keep(&t->names, profile_names_process(label, p, o->names, stack));
	if (!process.name)
		return -ENOMEM;
	path->n = 0;
	r = call_tree_add_step(path, process);
	for (uint32_t i = stack->node; r == 0 && i != 0; i = p->nodes[i].parent) {
		uint32_t place = p->nodes[i].place;

		if (!labels->places[place].steps)
			r = call_tree_label_place(t, p, o->names, labels, place);
		for (size_t j = labels->places[place].n; r == 0 && j-- > 0;)
			r = call_tree_add_step(path, labels->places[place].steps[j]);
	}
	if (r == 0)
		call_tree_reverse(path, 1);
	if (r == 0 && o->inverted)
		call_tree_reverse(path, 0);
	return r;
}

static int call_tree_add_path(struct call_tree *t, const struct path *path, enum call_side side,
			      uint64_t weight)
{
	uint32_t node = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < path->n; i++)
		r = call_tree_descend(t, &node, &path->steps[i]);
	if (r < 0)
		return r;
	t->n_cut += r > 0;
	t->nodes[node].self[side] += weight;
	return 0;
}

int call_tree_add(struct call_tree *t, const struct profile *p,
		  const struct call_tree_options *options)
{
	struct labels labels = { .n_places = p->n_places };
	struct path path = { 0 };
	int r = 0;

	labels.places = calloc(p->n_places + 1, sizeof(*labels.places));
	if (!labels.places)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < p->n_stacks; i++) {
		const struct profile_stack *stack = &p->stacks[i];
		uint64_t weight = options->by_time ? stack->ns : stack->count;

		if (weight == 0 || (options->only_on_cpu && stack->off_cpu) ||
		    (options->only_off_cpu && !stack->off_cpu))
			continue;
		r = call_tree_find_path(t, p, options, &labels, stack, &path)
			    ?: call_tree_add_path(t, &path, options->side, weight);
	}
	for (size_t i = 0; i < labels.n_places; i++)
		free(labels.places[i].steps);
	free(labels.places);
	free(path.steps);
	return r;
}

/* ---- completion ---- */

static int call_tree_compare_siblings(const void *a, const void *b, void *nodes)
{
	const struct call_node *x = (const struct call_node *)nodes + *(const uint32_t *)a;
	const struct call_node *y = (const struct call_node *)nodes + *(const uint32_t *)b;
	int r = strcmp(x->name, y->name);

	return r != 0 ? r : (int)x->kind - (int)y->kind;
}

/* Sorts the children of PARENT by name. LIST has room for all nodes. */
static void call_tree_sort_children(struct call_tree *t, struct call_node *parent, uint32_t *list)
{
	uint32_t *link = &parent->child;
	size_t n = 0;

	for (uint32_t i = parent->child; i != 0; i = t->nodes[i].sibling)
		list[n++] = i;
	qsort_r(list, n, sizeof(*list), call_tree_compare_siblings, t->nodes);
	for (size_t i = 0; i < n; i++) {
		*link = list[i];
		link = &t->nodes[list[i]].sibling;
	}
	*link = 0;
}

int call_tree_finish(struct call_tree *t)
{
	_cleanup_free_ uint32_t *list = malloc(t->n_nodes * sizeof(*list));

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_nodes; i++)
		memcpy(t->nodes[i].total, t->nodes[i].self, sizeof(t->nodes[i].total));
	for (size_t i = t->n_nodes; i-- > 1;)
		for (size_t side = 0; side < CALL_SIDES; side++)
			t->nodes[t->nodes[i].parent].total[side] += t->nodes[i].total[side];
	for (size_t i = 0; i < t->n_nodes; i++)
		call_tree_sort_children(t, &t->nodes[i], list);
	return 0;
}

uint32_t call_tree_next(const struct call_tree *t, uint32_t node)
{
	if (t->nodes[node].child != 0)
		return t->nodes[node].child;
	while (node != 0 && t->nodes[node].sibling == 0)
		node = t->nodes[node].parent;
	return t->nodes[node].sibling;
}

/* ---- functions ---- */

DEFINE_ORDER(call_tree_compare_functions, struct call_function,
	COMPARE(y->self, x->self) ?: COMPARE(y->total, x->total) ?: strcmp(x->name, y->name))

/* Returns true if the function of NODE is also one of its callers. */
static bool call_tree_is_recursive(const struct call_tree *t, const struct call_node *node)
{
	for (uint32_t i = node->parent; i != 0; i = t->nodes[i].parent)
		if (t->nodes[i].name == node->name && t->nodes[i].kind == node->kind)
			return true;
	return false;
}

int call_tree_functions(const struct call_tree *t, struct call_function **ret, size_t *ret_n)
{
	_cleanup_free_ struct call_function *list = calloc(t->n_nodes, sizeof(*list));
	struct table known = { 0 };
	size_t n = 0;
	int r = list ? 0 : -ENOMEM;

	for (size_t i = 1; r == 0 && i < t->n_nodes; i++) {
		const struct call_node *node = &t->nodes[i];
		/* (the key is unique, since names have distinct addresses, and kinds are below
		 * CALL_KIND_MAX) */
		uint64_t key = (uint64_t)(uintptr_t)node->name * CALL_KIND_MAX + node->kind;
		struct call_function *f = table_get(&known, key);

		if (node->kind == CALL_PROCESS)
			continue;
		if (!f) {
			f = &list[n++];
			*f = (struct call_function){ .name = node->name, .kind = node->kind };
			r = table_set(&known, key, f);
		}
		f->self += node->self[CALL_NOW];
		if (!call_tree_is_recursive(t, node))
			f->total += node->total[CALL_NOW];
	}
	table_deinit(&known);
	if (r < 0)
		return r;
	SORT(list, n, call_tree_compare_functions);
	*ret = TAKE_PTR(list);
	*ret_n = n;
	return 0;
}
