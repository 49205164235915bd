/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text report of blocks that were not freed: by process, with the strongest evidence first, and
 * with the limits of the recording.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/common/colour.h"
#include "cli/leaks/leaks-view.h"
#include "cli/common/verb.h"

struct printer {
	const struct leaks_input *in;
	const struct leaks_request *q;
	struct leaks_diff *diff;
};

const char *leaks_process(const struct leak_watch *w)
{
	if (*w->name)
		return w->name;
	return *w->program ? profile_names_base(w->program) : "?";
}

/* Prints an amount: "7 blocks, 1.2 KiB". */
static void leaks_print_amount(uint64_t blocks, uint64_t bytes, enum resource resource)
{
	if (resource == RESOURCE_FD)
		printf("%" PRIu64 " descriptor%s", blocks, blocks == 1 ? "" : "s");
	else
		printf("%" PRIu64 " %s%s, %s", blocks,
		       resource == RESOURCE_MEMORY ? "block" : resource_names[resource],
		       blocks == 1 ? "" : "s", TEXT_SIZE(bytes));
}

static void leaks_print_duration(const char *before, uint64_t ns, const char *behind)
{
	printf("%s%s%s", before, TEXT_TIME(ns), behind);
}

/* ---- remarks about the recording ---- */

static void leaks_print_watch(const struct printer *p, const struct leak_watch *w)
{
	uint64_t start_ns = p->in->flame.summary->start_ns;
	bool of_program = strcmp(w->reason, "exit") == 0 || leaks_ran_another(w);

	printf("%s%s (%" PRIu32 ")%s", colour(COLOUR_HEADING), leaks_process(w), w->real_pid,
	       colour(COLOUR_OFF));
	leaks_print_duration(", watched for ", w->end_ns - w->begin_ns, "");
	leaks_print_duration(" from ", w->begin_ns > start_ns ? w->begin_ns - start_ns : 0, " on");
	printf(", %s\n", !*w->reason           ? "until the end of the archive"
			 : !of_program         ? "it is still running"
			 : w->reason[3] == 't' ? "until it ended"
					       : "until it ran another program");
}

static void leaks_print_count(const char *what, uint64_t n)
{
	if (n > 0)
		printf("  %s: %" PRIu64 "\n", what, n);
}

/*
 * Returns true if each allocation of W is known. Then, frees without an allocation are frees of
 * inherited descriptors, or frees by the C library at the end of a thread. The C library then frees
 * the blocks in the thread's cache, which the program had freed before.
 */
static bool leaks_print_knows_all(const struct leak_watch *w)
{
	return w->complete && !*w->unwatched && !*w->gap && w->lost == 0 && w->full == 0;
}

static void leaks_print_limits(const struct leak_watch *w)
{
	if (*w->unwatched)
		printf("  %snot watched%s: %s\n", colour(COLOUR_BAD), colour(COLOUR_OFF),
		       w->unwatched);
	else if (*w->gap)
		printf("  %snot complete%s: %s\n", colour(COLOUR_BAD), colour(COLOUR_OFF), w->gap);
	else if (w->complete)
		puts("  complete: watched from the first instruction of its program on");
	else if (w->forked_ns)
		leaks_print_duration("  not complete: its allocations in the first ",
				     w->begin_ns - w->forked_ns, " after its fork are unknown\n");
	else if (leaks_ran_another(w))
		puts("  not complete: some of its allocations are unknown; its exec freed them");
	else
		puts("  not complete: its earlier allocations are unknown");
	if (w->vforked)
		puts("  vfork(): a child used its memory until exec; blocks that the child "
		     "allocated or freed are unknown");
	leaks_print_count(
		leaks_print_knows_all(w)
			? "frees of inherited descriptors, or of blocks that were already free"
			: "frees of earlier allocations",
		w->unmatched);
	leaks_print_count("events lost: some blocks may have been freed, and some are missing",
			  w->lost);
	leaks_print_count("allocations missing: the table of blocks was full", w->full);
	leaks_print_count("allocations without stacks: the table of stacks was full", w->no_stack);
	leaks_print_count("allocated again: the previous free was missed", w->replaced);
	leaks_print_count("allocations that failed", w->failed);
	leaks_print_count("blocks missing: the archive ends within a snapshot", w->missing);
	if (*w->unsearched)
		printf("  references: %s, so it is not known which blocks are unreachable\n",
		       w->unsearched);
	if (leak_watch_is_sampled(w))
		printf("  sampled: one random block per %s; the numbers below are estimates, +- "
		       "is the 95 %% interval\n",
		       TEXT_SIZE(w->interval));
	if (w->min_bytes)
		printf("  blocks smaller than %s were ignored\n", TEXT_SIZE(w->min_bytes));
	/*
	 * If every event was recorded, the numbers below are from the end of the archive, and not
	 * from the snapshot.
	 */
	if (!*w->reason && w->n_snapshots > 0 && !w->missing && !w->logged) {
		printf("  the numbers below are from the last snapshot, number %" PRIu32,
		       w->n_snapshots);
		leaks_print_duration(", taken ",
				     w->end_ns > w->snapshot_ns ? w->end_ns - w->snapshot_ns : 0,
				     " before the end of the archive\n");
	}
	if (w->from_sums && w->n_groups > 0)
		puts("  there is no snapshot: only the totals of the blocks are known");
	if (*w->allocators)
		printf("  allocators: %s\n", w->allocators);
}

static void leaks_print_totals(const struct leak_watch *w)
{
	for (enum resource resource = 0; resource < RESOURCE_MAX; resource++) {
		uint64_t blocks = 0, bytes = 0;
		size_t stacks = 0;

		for (size_t i = 0; i < w->n_groups; i++) {
			if (w->groups[i]->resource != resource)
				continue;
			stacks++;
			blocks += (uint64_t)llround(w->groups[i]->all.blocks);
			bytes += (uint64_t)llround(w->groups[i]->all.bytes);
		}
		if (stacks == 0)
			continue;
		printf("  %-11s ", resource_names[resource]);
		leaks_print_amount(blocks, bytes, resource);
		printf(" in %zu stack%s\n", stacks, stacks == 1 ? "" : "s");
	}
}

/* ---- groups ---- */

static void leaks_print_error(const struct leak_watch *w, const struct leak_group *g)
{
	if (!leak_watch_is_sampled(w) || g->resource != RESOURCE_MEMORY)
		return;
	printf(" (+-%.0f blocks, +-%s; from %" PRIu64 " sampled)",
	       leak_estimate_error(g->all.blocks_variance),
	       TEXT_SIZE((uint64_t)llround(leak_estimate_error(g->all.bytes_variance))), g->blocks);
}

static void leaks_print_texts(const char *before, const char *const *list)
{
	for (size_t i = 0; i < LEAK_TEXTS_MAX && list[i]; i++)
		printf("%s%s", i ? ", " : before, list[i]);
}

static void leaks_print_growth(const struct leak_growth *g, enum resource resource)
{
	double per_second = fabs(g->per_second);

	if (g->windows < 2)
		return;
	printf("     grew in %" PRIu32 " of %" PRIu32, g->grew, g->windows);
	leaks_print_duration(" windows of ", g->window_ns, "");
	if (g->fell)
		printf(", fell in %" PRIu32, g->fell);
	/* (for descriptors, whose size is 1, the rate is a count) */
	if (per_second >= 1)
		printf("; %s", g->per_second < 0 ? "-" : "+");
	if (per_second >= 1 && resource == RESOURCE_FD)
		printf("%.0f a second", per_second);
	else if (per_second >= 1)
		printf("%s a second", TEXT_SIZE((uint64_t)per_second));
	putchar('\n');
}

static uint64_t leaks_print_age(const struct leak_watch *w, uint64_t since_ns)
{
	return w->end_ns > since_ns ? w->end_ns - since_ns : 0;
}

static void leaks_print_ages(const struct leak_watch *w, const struct leak_group *g)
{
	if (g->first_ns == 0)
		return;
	if (g->blocks == 1) {
		leaks_print_duration("     allocated ", leaks_print_age(w, g->first_ns), " ago\n");
		return;
	}
	leaks_print_duration("     the oldest allocated ", leaks_print_age(w, g->first_ns),
			     " ago, ");
	leaks_print_duration("the newest ", leaks_print_age(w, g->last_ns), "\n");
}

static void leaks_print_reach(const struct leak_group *g)
{
	if (g->reach[REACH_UNKNOWN] == g->blocks)
		return;
	fputs("     of these", stdout);
	if (g->reach[REACH_LOST])
		printf(" %" PRIu64 " %s unreachable (%s);", g->reach[REACH_LOST],
		       text_is(g->reach[REACH_LOST]), TEXT_SIZE(g->lost_bytes));
	if (g->reach[REACH_INDIRECT])
		printf(" %" PRIu64 " %s reachable only from unreachable "
		       "blocks;",
		       g->reach[REACH_INDIRECT], text_is(g->reach[REACH_INDIRECT]));
	if (g->reach[REACH_POSSIBLE])
		printf(" %" PRIu64 " only by interior pointers;", g->reach[REACH_POSSIBLE]);
	if (g->reach[REACH_EPOLL])
		printf(" %" PRIu64 " only in the kernel (epoll or a timer);",
		       g->reach[REACH_EPOLL]);
	if (g->reach[REACH_TAGGED])
		printf(" %" PRIu64 " only by pointers with a tag in bits 48 to 63;",
		       g->reach[REACH_TAGGED]);
	if (g->reach[REACH_UNKNOWN])
		printf(" %" PRIu64 " %s not searched;", g->reach[REACH_UNKNOWN],
		       text_was(g->reach[REACH_UNKNOWN]));
	printf(" %" PRIu64 " %s reachable\n", g->reach[REACH_REACHABLE],
	       text_is(g->reach[REACH_REACHABLE]));
}

static void leaks_print_contexts(const struct printer *p, const struct leak_group *g)
{
	const struct leaks *l = p->in->leaks;
	const char *before = "     in context ";

	for (size_t i = 0; i < l->n_contexts; i++) {
		if (!(g->contexts & l->contexts[i].id))
			continue;
		printf("%s%s", before, l->contexts[i].name);
		before = ", ";
	}
	if (*before == ',')
		putchar('\n');
}

static int leaks_print_stack(const struct printer *p, const struct leak_group *g)
{
	char label[PROFILE_LABEL_MAX];
	struct leaks_frame frame;
	struct leaks_walk walk;
	int r;

	leaks_walk_begin(&walk, p->in, g);
	if (g->node == 0)
		puts("        (unknown stack)");
	while ((r = leaks_walk_next(&walk, &frame)) > 0) {
		const struct mapping *map = frame.place->mapping;

		printf("      %s %s", frame.called ? "?" : " ",
		       profile_names_label(label, frame.place, frame.frame));
		if (frame.frame && *frame.frame->source && frame.frame->line)
			printf("  %s:%" PRIu32, frame.frame->source, frame.frame->line);
		else if (frame.frame && map)
			printf("  %s", profile_names_base(map->path));
		if (frame.inlined)
			fputs(" (inlined)", stdout);
		if (frame.called)
			printf(" (calls %s)", *frame.called ? frame.called : "another function");
		putchar('\n');
	}
	if (r == 0 && g->node != 0 && !walk.whole)
		puts("      ? (callers unknown: blocks of several callers may be combined here)");
	return r;
}

static int leaks_print_before(const struct printer *p, const struct leak_watch *w,
			      const struct leak_group *g)
{
	struct leaks_before *b;
	int r;

	if (!p->diff)
		return 0;
	r = leaks_diff_find(p->diff, p->in, w, g, &b);
	if (r < 0)
		return r;
	fputs("     before: ", stdout);
	if (b)
		leaks_print_amount(b->blocks, b->bytes, g->resource);
	else
		fputs("none", stdout);
	putchar('\n');
	return 0;
}

static enum colour leaks_verdict_colour(enum leak_verdict v)
{
	return v == LEAK_LOST ? COLOUR_BAD
	       : v == LEAK_INDIRECTLY_LOST || v == LEAK_POSSIBLY_LOST || v == LEAK_GROWING
		       ? COLOUR_WARNING
		       : COLOUR_HEADING;
}

static int leaks_print_group(const struct printer *p, const struct leak_watch *w, size_t number)
{
	const struct leak_group *g = w->groups[number];
	int r;

	printf("\n  %zu. %s%s%s: ", number + 1, colour(leaks_verdict_colour(g->verdict)),
	       leak_verdict_names[g->verdict], colour(COLOUR_OFF));
	leaks_print_amount((uint64_t)llround(g->all.blocks), (uint64_t)llround(g->all.bytes),
			   g->resource);
	leaks_print_error(w, g);
	leaks_print_texts(", by ", g->functions);
	leaks_print_texts(": ", g->texts);
	putchar('\n');
	r = leaks_print_before(p, w, g);
	leaks_print_ages(w, g);
	leaks_print_growth(&g->growth, g->resource);
	leaks_print_reach(g);
	leaks_print_contexts(p, g);
	return r == 0 ? leaks_print_stack(p, g) : r;
}

static int leaks_print_process(const struct printer *p, const struct leak_watch *w)
{
	size_t n = w->n_groups < p->q->top ? w->n_groups : (size_t)p->q->top;
	int r = 0;

	leaks_print_watch(p, w);
	leaks_print_limits(w);
	leaks_print_totals(w);
	if (w->n_groups == 0 && !leaks_misses(p->q, w))
		puts(leaks_selects(p->q) ? "  no selected leaks found" : "  no leaks found");
	for (size_t i = 0; r == 0 && i < n; i++)
		r = leaks_print_group(p, w, i);
	if (n < w->n_groups)
		printf("\n  ... and %zu more stacks (--top shows more)\n", w->n_groups - n);
	return r;
}

/* ---- the report ---- */

static void leaks_print_gone(const struct leaks_diff *d)
{
	bool any = false;

	for (size_t i = 0; i < d->n; i++) {
		const struct leaks_before *b = d->list[i];
		char label[PROFILE_LABEL_MAX];
		struct leaks_frame frame;
		struct leaks_walk walk;

		if (b->seen)
			continue;
		if (!any)
			puts("\nno longer present:");
		any = true;
		printf("  %s: ", leaks_process(b->watch));
		leaks_print_amount(b->blocks, b->bytes, b->group->resource);
		leaks_walk_begin(&walk, d->old, b->group);
		if (leaks_walk_next(&walk, &frame) > 0)
			printf(", from %s", profile_names_label(label, frame.place, frame.frame));
		putchar('\n');
	}
}

static void leaks_print_suppressed(const struct leaks_input *in, const struct leaks_request *q)
{
	if (q->suppressions.n == 0)
		return;
	printf("\nsuppressed: %" PRIu64 " stack%s, %" PRIu64 " block%s, %s\n", in->n_suppressed,
	       text_s(in->n_suppressed), in->suppressed_blocks, text_s(in->suppressed_blocks),
	       TEXT_SIZE(in->suppressed_bytes));
	for (size_t i = 0; i < q->suppressions.n; i++) {
		const struct suppression *s = &q->suppressions.list[i];

		if (s->n_groups == 0)
			continue;
		printf("  %6" PRIu64 " %-6s %8" PRIu64 " %-6s %10s  %s\n", s->n_groups,
		       s->n_groups == 1 ? "stack" : "stacks", s->n_blocks,
		       s->n_blocks == 1 ? "block" : "blocks", TEXT_SIZE(s->n_bytes), s->name);
	}
}

int leaks_print(const struct leaks_input *in, const struct leaks_request *q,
		struct leaks_diff *diff)
{
	const struct leaks *l = in->leaks;
	struct printer p = { in, q, diff };
	int r = 0;

	for (size_t i = 0; r == 0 && i < l->n_watches; i++) {
		if (i > 0)
			putchar('\n');
		r = leaks_print_process(&p, l->watches[i]);
	}
	if (r == 0 && diff)
		leaks_print_gone(diff);
	leaks_print_suppressed(in, q);
	return r;
}
