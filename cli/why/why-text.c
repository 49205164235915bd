/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "cli/common/colour.h"
#include "cli/common/verb.h"
#include "cli/why/why-view.h"

enum {
	WHY_TEXT_STEPS = 12,
	WHY_TEXT_HOLDERS = 4,
	WHY_TEXT_THREADS = 10,
	WHY_TEXT_FRAMES = 8,
	WHY_TEXT_END_FRAMES = 16
};

/* The instances of each kind. */
static const struct {
	const char *one, *many, *column;
} why_text_whats[WHY_INSTANCES] = {
	[WHY_INSTANCE_WAIT] = { "time off CPU", "times off CPU", "WAITS" },
	[WHY_INSTANCE_WINDOW] = { "thread", "threads", "WAITS" },
	[WHY_INSTANCE_CALL] = { "call", "calls", "CALLS" },
	[WHY_INSTANCE_BETWEEN] = { "interval", "intervals", "TIMES" },
};

#define NAME(v, tid) why_thread_name((v)->summary, tid, (char[WHY_NAME_MAX]){ "" })

static double why_text_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

static double why_text_seconds(const struct why_view *v, uint64_t ts_ns)
{
	return (double)(int64_t)(ts_ns - v->summary->start_ns) / 1e9;
}

/* ---- the split ---- */

static void why_text_row(const char *what, uint64_t ns, const struct why_times *all)
{
	uint64_t present_ns = all->total_ns - all->absent_ns;

	if (ns > 0)
		printf("%12s %5.1f%%  %s\n", TEXT_TIME(ns), why_text_percent(ns, present_ns), what);
}

static void why_text_print_holders(const struct why_view *v, const struct why_times *t)
{
	if (t->throttled_ns > 0)
		printf("%12s           while its cgroup had no CPU time left\n",
		       TEXT_TIME(t->throttled_ns));
	for (size_t i = 0; i < t->n_holders && i < WHY_TEXT_HOLDERS; i++)
		printf("%12s           while %s had its CPU\n", TEXT_TIME(t->holders[i].ns),
		       t->holders[i].tid ? NAME(v, t->holders[i].tid) : "nothing");
	if (t->idle_ns > 0)
		printf("%12s           while another CPU was idle\n", TEXT_TIME(t->idle_ns));
}

static void why_text_print_split(const struct why_view *v)
{
	const struct why_times *t = &v->why->total;
	char what[128];

	printf("\n%s        TIME  SHARE  STATE%s\n", colour(COLOUR_HEADING), colour(COLOUR_OFF));
	why_text_row("running", t->running_ns, t);
	if (t->reclaim_ns > 0)
		printf("%12s           while it reclaimed or compacted memory\n",
		       TEXT_TIME(t->reclaim_ns));
	why_text_row("ready, waiting for a CPU", t->runnable_ns, t);
	why_text_print_holders(v, t);
	for (enum wait_cause i = 1; i < WAIT_CAUSES; i++) {
		snprintf(what, sizeof(what), "waiting for %s", wait_cause_rows[i].title);
		why_text_row(what, t->blocked_ns[i], t);
	}
	if (v->why->sources.waits && v->why->sources.min_wait_ns > 0)
		snprintf(what, sizeof(what),
			 "waiting, for an unknown cause (below %s, stacks are "
			 "not recorded)",
			 TEXT_TIME(v->why->sources.min_wait_ns));
	else
		snprintf(what, sizeof(what), "waiting, for an unknown cause");
	why_text_row(what, t->blocked_ns[WAIT_UNKNOWN], t);
	why_text_row("unknown, since the recording had paused", t->paused_ns, t);
	why_text_row("unknown", t->unknown_ns - t->paused_ns, t);
}

/* ---- instances ---- */

const char *const why_text_kinds[PATH_KINDS] = {
	[PATH_RUNNING] = "runs",
	[PATH_RUNNABLE] = "is ready, waiting for a CPU",
	[PATH_TIMER] = "waits for a timer",
	[PATH_DISK] = "waits for a disk",
	[PATH_MEMORY] = "waits for memory",
	[PATH_NETWORK] = "waits for the network",
	[PATH_DEVICE] = "waits for a device",
	[PATH_INTERRUPT] = "waits for an interrupt",
	[PATH_OPEN] = "waits until the end",
	[PATH_NO_WAKER] = "waits; its waker is unknown",
	[PATH_FILTERED] = "waits for a thread that was not recorded",
	[PATH_UNKNOWN] = "is in an unknown state",
	[PATH_PAUSED] = "is in an unknown state: the recording has paused",
	[PATH_FORGOTTEN] = "is in an unknown state: too long ago",
	[PATH_TOO_DEEP] = "waits for too many others",
};

static const struct {
	const char *before, *after;
} why_text_links[] = {
	[PATH_LINK_NONE] = { "", "" },
	[PATH_LINK_WAKE] = { ", then wakes ", "" },
	[PATH_LINK_LOCK] = { ", with the lock for which ", " waits" },
};

uint32_t why_text_link(const struct path_step *s, const char **ret_before, const char **ret_after)
{
	enum path_link link = path_step_link(s);

	*ret_before = why_text_links[link].before;
	*ret_after = why_text_links[link].after;
	return link != PATH_LINK_NONE ? s->via : 0;
}

static void why_text_print_step(const struct why_view *v, const struct path_step *s)
{
	const char *before, *after;
	uint32_t via;

	printf("      %+.6f s %10s  %s %s", why_text_seconds(v, s->from_ns),
	       TEXT_TIME(s->to_ns - s->from_ns), NAME(v, s->tid), why_text_kinds[s->kind]);
	if (s->kind == PATH_RUNNABLE && s->holder != 0)
		printf("; %s has CPU %" PRIu32, NAME(v, s->holder), s->cpu);
	via = why_text_link(s, &before, &after);
	if (via != 0)
		printf("%s%s%s", before, NAME(v, via), after);
	printf("\n");
}

/* The steps of a path. If there are many, their sums, the longest first. */
static void why_text_print_path(const struct why_view *v, const struct why_instance *i)
{
	if (i->path.n_steps <= WHY_TEXT_STEPS) {
		for (size_t k = 0; k < i->path.n_steps; k++)
			why_text_print_step(v, &i->path.steps[k]);
		return;
	}
	for (size_t k = 0; k < i->path.n_shares && k < WHY_TEXT_STEPS; k++)
		printf("      %10s  %s %s\n", TEXT_TIME(i->path.shares[k].ns),
		       NAME(v, i->path.shares[k].tid), why_text_kinds[i->path.shares[k].kind]);
	printf("      in %" PRIu64 " steps\n", i->path.n_steps + i->path.n_joined);
}

/* The system call of a wait, with its descriptor, futex, owner; WAIT can be NULL. */
static void why_text_print_call(const struct why_view *v, const struct why_wait *wait)
{
	if (!wait || !wait->syscall)
		return;
	printf(", in the system call %s", wait->syscall);
	if (wait->fd >= 0)
		printf(" (descriptor %" PRId32 ")", wait->fd);
	if (wait->address != 0)
		printf(" (address %#" PRIx64 ")", wait->address);
	if (wait->owner_tid != 0)
		printf("; %s had the lock", NAME(v, wait->owner_tid));
}

/* The functions of a stack in one line, innermost first. */
static void why_text_print_stack(const struct why_view *v, const char *before, uint32_t node,
				 unsigned max)
{
	char text[WHY_TEXT_END_FRAMES * PROFILE_LABEL_MAX];

	if (node != 0)
		printf("%s %s\n", before, why_stack_text(text, sizeof(text), v->why, node, max));
}

/* The stacks at both ends of a wait, if the waker's was recorded. */
static void why_text_print_ends(const struct why_view *v, const struct why_wait *wait)
{
	char name[WHY_NAME_MAX] = "";

	if (!wait || wait->waker_node == 0)
		return;
	why_text_print_stack(v, "      blocked in", wait->node, WHY_TEXT_END_FRAMES);
	printf("      woken by %s%s",
	       wait->context ? "an interrupt" : why_thread_name(v->summary, wait->waker_tid, name),
	       wait->context && *wait->context == 's' ? " (softirq)" : "");
	why_text_print_stack(v, " in", wait->waker_node, WHY_TEXT_END_FRAMES);
}

/* The cause of the wait, the function of the stack that shows it, and the system call. */
static void why_text_print_wait(const struct why_view *v, const struct why_instance *i)
{
	const struct wait_verdict *w = &i->verdict_of_wait;
	const struct why_wait *wait = i->wait_ns ? why_find_wait(v->why, i->tid, i->wait_ns) : NULL;

	if (w->cause == WAIT_UNKNOWN && !(wait && wait->syscall))
		return;
	printf("    waits for %s", wait_cause_rows[w->cause].title);
	if (w->second != WAIT_UNKNOWN)
		printf(", and for %s", wait_cause_rows[w->second].title);
	if (w->function)
		printf(", in %s()", w->function);
	why_text_print_call(v, wait);
	printf("\n");
}

static void why_text_print_instance(const struct why_view *v, size_t k)
{
	const struct why_instance *i = &v->why->worst[k];

	printf("\n%s%zu. %+.6f s, %s%s: %s", colour(COLOUR_HEADING), k + 1,
	       why_text_seconds(v, i->from_ns), TEXT_TIME(i->to_ns - i->from_ns),
	       i->open ? " so far" : "", NAME(v, i->tid));
	if (i->name)
		printf(", %s%s", i->name, i->what == WHY_INSTANCE_CALL ? "()" : "");
	printf("%s\n", colour(COLOUR_OFF));
	printf("    %s\n", i->verdict.text);
	if (i->verdict.remedy)
		printf("    %s\n", i->verdict.remedy);
	why_text_print_wait(v, i);
	why_text_print_ends(v, i->wait_ns ? why_find_wait(v->why, i->tid, i->wait_ns) : NULL);
	why_text_print_path(v, i);
	if (i->path.cut)
		printf("      a limit was reached: a part of this time is not explained\n");
}

static void why_text_print_threads(const struct why_view *v)
{
	const struct why *w = v->why;

	if (w->n_threads < 2)
		return;
	printf("\n%s     RUNNING       READY     BLOCKED %8s     LONGEST  THREAD%s\n",
	       colour(COLOUR_HEADING), why_text_whats[v->what].column, colour(COLOUR_OFF));
	for (size_t i = 0; i < w->n_threads && i < WHY_TEXT_THREADS; i++) {
		const struct why_thread *t = &w->threads[i];

		printf("%12s%12s%12s %8" PRIu64 "%12s  %s\n", TEXT_TIME(t->times.running_ns),
		       TEXT_TIME(t->times.runnable_ns), TEXT_TIME(why_split_blocked(&t->times)),
		       t->n_waits, TEXT_TIME(t->longest_ns), NAME(v, t->tid));
	}
	if (w->n_threads > WHY_TEXT_THREADS)
		printf("    ... and %zu other threads\n", w->n_threads - WHY_TEXT_THREADS);
}

/* The percentiles of calls, and of intervals between marks. */
static void why_text_print_durations(const struct why_view *v)
{
	const struct why *w = v->why;
	const struct latency *t = &w->durations;

	if (v->what != WHY_INSTANCE_CALL && v->what != WHY_INSTANCE_BETWEEN)
		return;
	printf("%" PRIu64 " %s", w->n_instances,
	       w->n_instances == 1 ? why_text_whats[v->what].one : why_text_whats[v->what].many);
	if (t->n > 0)
		printf(": 50 %% take up to %s, 90 %% %s, 99 %% %s, the longest one %s",
		       TEXT_TIME(latency_percentile_ns(t, 50)),
		       TEXT_TIME(latency_percentile_ns(t, 90)),
		       TEXT_TIME(latency_percentile_ns(t, 99)), TEXT_TIME(t->max_ns));
	printf("\n");
	if (w->n_partial > 0)
		printf("without %" PRIu64 " whose begin or end is not in this time\n",
		       w->n_partial);
}

static void why_text_print_open_waits(const struct why_view *v)
{
	const struct why *w = v->why;

	if (w->n_open_waits == 0)
		return;
	printf("\n%s     SO FAR  WAITS AT THE END%s\n", colour(COLOUR_HEADING), colour(COLOUR_OFF));
	for (size_t i = 0; i < w->n_open_waits && i < WHY_TEXT_THREADS; i++) {
		const struct why_open_wait *o = &w->open_waits[i];
		const struct why_wait *wait = why_find_wait(w, o->tid, o->from_ns);

		printf("%s%10s  %s, for %s", o->earlier ? ">" : " ", TEXT_TIME(o->ns),
		       NAME(v, o->tid), wait_cause_rows[o->verdict.cause].title);
		why_text_print_call(v, wait);
		printf("%s\n", o->n_deadlocked ? ": a deadlock" : "");
		if (wait)
			why_text_print_stack(v, "              in", wait->node, WHY_TEXT_FRAMES);
	}
	if (w->n_open_waits_all > WHY_TEXT_THREADS)
		printf("    ... and %" PRIu64 " other waits\n",
		       w->n_open_waits_all - WHY_TEXT_THREADS);
}

/* If no instance is shown, prints the reason. */
static void why_text_explain_none(const struct why_view *v)
{
	const struct why *w = v->why;

	if (w->n_worst > 0)
		return;
	if (w->n_threads == 0)
		printf("\nno selected thread has %s in this time\n",
		       v->what == WHY_INSTANCE_CALL      ? "a call of the function"
		       : v->what == WHY_INSTANCE_BETWEEN ? "an event between the marks"
							 : "an event");
	else if (w->n_instances > 0)
		printf("\n%" PRIu64 " %s, none of them is shown (--worst, --min)\n", w->n_instances,
		       w->n_instances == 1 ? why_text_whats[v->what].one
					   : why_text_whats[v->what].many);
	else if (!v->word)
		printf("\nno thread waited for a CPU, and none for anything but work (name a thread "
		       "to see all of its waits)\n");
	else
		printf("\nno selected thread was off its CPU\n");
}

void why_text_print(const struct why_view *v)
{
	const struct why *w = v->why;

	printf("%s: %s, %zu thread%s\n", v->file, TEXT_TIME(w->to_ns - w->from_ns), w->n_threads,
	       text_s(w->n_threads));
	why_text_print_durations(v);
	why_text_print_split(v);
	why_text_print_threads(v);
	for (size_t k = 0; k < w->n_worst; k++)
		why_text_print_instance(v, k);
	why_text_explain_none(v);
	why_text_print_open_waits(v);
	if (w->n_worst > 0 && w->n_instances - w->n_short > w->n_worst)
		printf("\n%" PRIu64 " further %s (--worst shows more)\n",
		       w->n_instances - w->n_short - w->n_worst, why_text_whats[v->what].many);
}
