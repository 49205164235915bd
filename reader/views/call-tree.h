/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Callers and callees, by name: a tree of processes and functions, from one profile, or from two
 * that are compared. Functions of one name under one parent are one node, whatever their call
 * sites.
 */
#pragma once

#include "base/text-set.h"
#include "reader/views/profile-names.h"

/*
 * The maximum number of nodes. If a node cannot be made, the weight of its stack counts at the
 * parent.
 */
enum { CALL_TREE_NODES_MAX = 1 << 23 };

enum call_kind {
	CALL_ROOT,
	CALL_PROCESS,
	CALL_USER,
	CALL_KERNEL,
	CALL_UNKNOWN, /* an unknown function */
	CALL_KIND_MAX,
};

enum call_side {
	CALL_NOW,
	CALL_OLD, /* the profile for comparison */
	CALL_SIDES,
};

/* A process, or a function below its caller. Node 0 is the root. */
struct call_node {
	const char *name; /* owned by the tree */
	enum call_kind kind;
	uint32_t parent, child, sibling; /* numbers of nodes; 0 = no such node */
	uint32_t depth;                  /* depth in the tree; 0 for the root */
	uint64_t self[CALL_SIDES];       /* weight of stacks that end here */
	uint64_t total[CALL_SIDES];      /* including its callees */
};

struct call_tree {
	struct call_node *nodes; /* owned; callers precede their callees */
	size_t n_nodes, room_nodes;
	uint32_t max_depth;
	uint64_t n_cut; /* number of stacks that are only partly in the tree */
	struct text_set names;
	struct table children; /* hash of parent, name and kind -> number of the node */
};

struct call_tree_options {
	enum call_side side;
	bool by_time;  /* weights are nanoseconds, otherwise counts */
	bool inverted; /* begins with the innermost functions, with their callers below them */
	/* Only stacks on a CPU, or only stacks off CPU; all stacks if both are false. */
	bool only_on_cpu, only_off_cpu;
	const struct profile_names *names;
};

int call_tree_new(struct call_tree **ret);
struct call_tree *call_tree_free(struct call_tree *t);
DEFINE_CLEANUP(struct call_tree *, call_tree_free)

/* Adds all stacks of P that OPTIONS select. Returns 0 or -ENOMEM. */
int call_tree_add(struct call_tree *t, const struct profile *p,
		  const struct call_tree_options *options);

/*
 * Computes the totals, and sorts siblings by name. Must be called once, after the last profile.
 * Returns 0 or -ENOMEM.
 */
int call_tree_finish(struct call_tree *t);

/*
 * Returns the node after NODE in a walk over all nodes, callers first; 0 = NODE is the last one.
 * The walk starts at node 0, the root.
 */
uint32_t call_tree_next(const struct call_tree *t, uint32_t node);

/* The sums of a function over all its nodes, on the side CALL_NOW. */
struct call_function {
	const char *name; /* owned by the tree */
	enum call_kind kind;
	uint64_t self;
	uint64_t total; /* weight of all stacks with the function; a recursive call counts once */
};

/*
 * Stores the functions, the largest `self` first, in a new array, which the caller frees. The tree
 * must not be inverted. Returns 0 or -ENOMEM.
 */
int call_tree_functions(const struct call_tree *t, struct call_function **ret, size_t *ret_n);
