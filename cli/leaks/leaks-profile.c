/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The blocks that were not freed as a profile: blocks and bytes by stack, in the formats of kymo
 * flame.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "cli/leaks/leaks-view.h"
#include "cli/common/packed-output.h"
#include "cli/common/verb.h"

/* The largest size of the result. */
#define OUTPUT_MAX ((size_t)4 << 30)

/*
 * Returns the number of the program of W in its process. If W ended with an exec, this is the
 * program just before its end.
 */
static uint32_t leaks_profile_program(const struct leaks *l, const struct leak_watch *w)
{
	bool execs = strcmp(w->reason, "exec") == 0;

	return profile_program(l->profile, w->pid,
			       execs && w->end_ns > 0 ? w->end_ns - 1 : UINT64_MAX);
}

/* Adds the groups of all watches to the profile, unless this was done before. */
static int leaks_profile_count(struct leaks_input *in)
{
	struct leaks *l = in->leaks;
	int r = 0;

	if (l->profile->n_stacks > 0)
		return 0;
	for (size_t i = 0; r == 0 && i < l->n_watches; i++) {
		const struct leak_watch *w = l->watches[i];

		for (size_t j = 0; r == 0 && j < w->n_groups; j++) {
			const struct leak_group *g = w->groups[j];
			const struct profile_stack stack = {
				.pid = w->pid,
				.tid = g->resource,
				.program = leaks_profile_program(l, w),
				.node = g->node,
				.count = (uint64_t)llround(g->all.blocks),
				.ns = (uint64_t)llround(g->all.bytes),
			};

			r = profile_count(l->profile, &stack);
		}
	}
	return r;
}

struct target {
	const char *path;
	bool force;
	enum pack_method method;
	int input_fd;
};

static int leaks_profile_write_output(const struct target *to, const struct outbuf *bytes)
{
	const struct packed_output_args args = {
		.path = to->path,
		.force = to->force,
		.method = to->method,
		.whole = packed_output_any_bytes,
		.inputs = &to->input_fd,
		.n_inputs = 1,
	};

	return packed_output_put(&args, bytes->data, bytes->size) < 0 ? CLI_FAILED : CLI_OK;
}

/* Makes the tree of names for folded stacks. */
static int leaks_profile_make_tree(const struct leaks_input *in, struct call_tree **ret)
{
	_cleanup_(call_tree_freep) struct call_tree *t = NULL;
	const struct call_tree_options options = { .by_time = true, .names = &in->flame.names };
	int r = call_tree_new(&t) ?: call_tree_add(t, in->leaks->profile, &options)
			?: call_tree_finish(t);

	if (r == 0)
		*ret = TAKE_PTR(t);
	return r;
}

static int leaks_write_profile(struct leaks_input *in, bool folded, const struct target *to)
{
	_cleanup_(call_tree_freep) struct call_tree *tree = NULL;
	_cleanup_(outbuf_deinit) struct outbuf bytes = { .limit = OUTPUT_MAX };
	struct flame f = {
		.now = &in->flame,
		.title = "allocated and not freed",
		.by_time = true,
		.allocations = true,
	};
	int r = leaks_profile_count(in);

	if (r == 0 && folded)
		r = leaks_profile_make_tree(in, &tree);
	f.tree = tree;
	if (r == 0)
		r = folded ? flame_folded(&f, &bytes) : flame_pprof(&f, &bytes);
	if (r < 0)
		return cli_failed("%s: %s", to->path,
				  r == -EMSGSIZE ? "it would exceed 4 GiB" : "out of memory");
	return leaks_profile_write_output(to, &bytes);
}

int leaks_write_pprof(struct leaks_input *in, const struct leaks_request *q, int input_fd)
{
	const struct target to = { q->pprof, q->force, PACK_GZIP, input_fd };

	return leaks_write_profile(in, false, &to);
}

int leaks_write_folded(struct leaks_input *in, const struct leaks_request *q, int input_fd)
{
	const struct target to = { q->folded, q->force, PACK_NONE, input_fd };

	return leaks_write_profile(in, true, &to);
}
