/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "cli/common/json.h"
#include "cli/why/why-view.h"
#include "model/frames.h"

static struct json_object *why_json_thread(const struct why_view *v, uint32_t tid)
{
	const struct summary_thread *t = tid ? table_get(&v->summary->threads, tid) : NULL;
	const struct summary_process *p =
		t ? table_get(&v->summary->processes, (uint64_t)t->pid + 1) : NULL;

	return JSON_OBJECT(JSON("tid", tid), JSON_IF(t, "pid", t->pid),
			   JSON("name", tid ? why_view_name(v, tid) : "idle"),
			   JSON_IF(p, "process", p->name));
}

static struct json_object *why_json_blocked(const struct why_times *t)
{
	struct json_object *o = json_object_new_object();

	for (enum wait_cause i = 0; i < WAIT_CAUSES; i++)
		JSON_ADD(o, JSON_IF(t->blocked_ns[i], wait_cause_rows[i].key, t->blocked_ns[i]));
	return o;
}

static struct json_object *why_json_times(const struct why_view *v, const struct why_times *t)
{
	return JSON_OBJECT(JSON_OF(t, total_ns, running_ns, interrupted_ns, runnable_ns, woken_ns,
				   throttled_ns, idle_ns, stolen_ns),
			   JSON_IF(t->reclaim_ns, "reclaim_ns", t->reclaim_ns),
			   JSON("blocked_ns", why_json_blocked(t)),
			   JSON_OF(t, unknown_ns, paused_ns, absent_ns),
			   JSON("holders",
				JSON_LIST(h, t->holders, t->n_holders,
					  JSON_OBJECT(JSON("thread", why_json_thread(v, h->tid)),
						      JSON_OF(h, ns)))),
			   JSON_OF(t, other_holders_ns));
}

/* The functions of a stack, innermost first. */
static struct json_object *why_json_stack(const struct why_view *v, uint32_t node)
{
	struct json_object *list = json_object_new_array();
	const struct profile *p = v->profile;

	for (; node != 0; node = p->nodes[node].parent) {
		const struct profile_place *place = &p->places[p->nodes[node].place];
		const struct frame *frames = NULL;
		char label[PROFILE_LABEL_MAX];
		int n = profile_names_find(p, v->names, place, &frames);

		for (int i = 0; i < n || i == 0; i++)
			json_append_item(list, json_string(profile_names_label(
						       label, place, n > 0 ? &frames[i] : NULL)));
	}
	return list;
}

static struct json_object *why_json_wait(const struct why_view *v, uint32_t tid, uint64_t from_ns)
{
	const struct why_wait *wait = why_find_wait(v->why, tid, from_ns);
	struct wait_verdict cause;

	if (why_find_cause(v->why, tid, from_ns, &cause) < 0)
		return NULL;
	return JSON_OBJECT(
		JSON("from_ns", from_ns), JSON("cause", wait_cause_rows[cause.cause].key),
		JSON_IF(cause.second, "second", wait_cause_rows[cause.second].key),
		JSON("evidence", wait_evidence_keys[cause.evidence]),
		JSON_IF(cause.function, "function", cause.function),
		JSON_IF(wait && wait->woken_ns, "woken_ns", wait->woken_ns),
		JSON_IF(wait && wait->fills, "fills", true),
		JSON_IF(wait && wait->syscall, "syscall", wait->syscall),
		JSON_IF(wait && wait->fd >= 0, "fd", wait->fd),
		JSON_IF(wait && wait->address, "address", wait->address),
		JSON_IF(wait && wait->owner_tid, "owner", why_json_thread(v, wait->owner_tid)),
		JSON_IF(wait, "stack", why_json_stack(v, wait->node)),
		JSON_IF(wait && wait->waker_tid, "waker", why_json_thread(v, wait->waker_tid)),
		JSON_IF(wait && wait->context, "context", wait->context),
		JSON_IF(wait && wait->waker_node, "waker_stack",
			why_json_stack(v, wait->waker_node)));
}

static struct json_object *why_json_step(const struct why_view *v, const struct path_step *s)
{
	bool has_cpu = s->kind == PATH_RUNNING || s->kind == PATH_RUNNABLE;

	return JSON_OBJECT(JSON("thread", why_json_thread(v, s->tid)),
			   JSON("kind", path_kind_keys[s->kind]), JSON_OF(s, from_ns, to_ns, depth),
			   JSON_IF(has_cpu, "cpu", s->cpu),
			   JSON_IF(s->kind == PATH_RUNNABLE && s->holder_ns, "holder",
				   why_json_thread(v, s->holder)),
			   JSON_IF(s->holder_ns, "holder_ns", s->holder_ns),
			   JSON_IF(s->idle_ns, "idle_ns", s->idle_ns),
			   JSON_IF(s->interrupted_ns, "interrupted_ns", s->interrupted_ns),
			   JSON_IF(s->via, "via", s->via), JSON_IF(s->has_lock, "has_lock", true),
			   JSON_IF(s->wait_ns, "wait", why_json_wait(v, s->tid, s->wait_ns)));
}

static struct json_object *why_json_verdict(const struct why_view *v, const struct why_verdict *x)
{
	return JSON_OBJECT(JSON("kind", why_verdict_keys[x->kind]),
			   JSON("certainty", why_certainty_keys[x->certainty]), JSON_OF(x, ns),
			   JSON_IF(x->culprit, "culprit", why_json_thread(v, x->culprit)),
			   JSON("victim", why_json_thread(v, x->victim)), JSON_OF(x, text),
			   JSON_IF(x->remedy, "remedy", x->remedy));
}

/* The quota that has throttled a thread. */
static struct json_object *why_json_quota(const struct why_wait *q)
{
	return JSON_OBJECT(JSON_IF(q->cgroup, "cgroup", q->cgroup),
			   JSON_OF(q, quota_ns, period_ns));
}

/* The major page faults of the thread of an instance, or of the thread for which it waited. */
static struct json_object *why_json_faults(const struct why_view *v, const struct why_instance *i)
{
	const struct why_faults_sum *f = &i->faults;

	return JSON_OBJECT(JSON("thread", why_json_thread(v, i->faults_tid)), JSON("major", f->n),
			   JSON("major_of_file", f->n_file),
			   JSON_IF(f->file && *f->file, "file", f->file));
}

static struct json_object *why_json_instance(const struct why_view *v, const struct why_instance *i)
{
	return JSON_OBJECT(
		JSON("what", why_what_keys[i->what]), JSON("thread", why_json_thread(v, i->tid)),
		JSON_IF(i->name, "name", i->name), JSON_OF(i, from_ns, to_ns, open),
		JSON_IF(i->partial, "partial", i->partial),
		JSON("times", why_json_times(v, &i->times)),
		JSON("verdict", why_json_verdict(v, &i->verdict)),
		JSON_IF(i->idle_cpu_ns, "idle_cpu", i->idle_cpu),
		JSON_IF(i->idle_cpu_ns, "idle_cpu_ns", i->idle_cpu_ns),
		JSON_IF(i->wait_ns, "wait", why_json_wait(v, i->tid, i->wait_ns)),
		JSON_IF(i->quota, "quota", why_json_quota(i->quota)),
		JSON_IF(i->has_faults, "faults", why_json_faults(v, i)),
		JSON_IF(i->waker, "waker", why_json_thread(v, i->waker)),
		JSON("path", JSON_LIST(s, i->path.steps, i->path.n_steps, why_json_step(v, s))),
		JSON_IF(i->path.cut, "path_cut", i->path.cut),
		JSON_IF(i->path.n_joined, "steps_joined", i->path.n_joined),
		JSON_IF(i->path.other_ns, "other_shares_ns", i->path.other_ns),
		JSON("shares", JSON_LIST(s, i->path.shares, i->path.n_shares,
					 JSON_OBJECT(JSON("thread", why_json_thread(v, s->tid)),
						     JSON("kind", path_kind_keys[s->kind]),
						     JSON_OF(s, ns)))));
}

static struct json_object *why_json_sum(const struct why_view *v, const struct why_thread *t)
{
	return JSON_OBJECT(JSON("thread", why_json_thread(v, t->tid)),
			   JSON("times", why_json_times(v, &t->times)),
			   JSON_OF(t, n_waits, waits_ns, longest_ns, waits));
}

static struct json_object *why_json_open_wait(const struct why_view *v,
					      const struct why_open_wait *o)
{
	return JSON_OBJECT(JSON("thread", why_json_thread(v, o->tid)), JSON_OF(o, ns),
			   JSON_IF(o->earlier, "earlier", o->earlier),
			   JSON_IF(o->n_deadlocked, "deadlocked", o->n_deadlocked),
			   JSON("wait", why_json_wait(v, o->tid, o->from_ns)));
}

/* The instances with a known begin and end. */
static struct json_object *why_json_durations(const struct latency *t)
{
	return JSON_OBJECT(JSON("count", t->n), JSON_OF(t, sum_ns),
			   JSON("mean_ns", latency_mean_ns(t)),
			   JSON("p50_ns", latency_percentile_ns(t, 50)),
			   JSON("p90_ns", latency_percentile_ns(t, 90)),
			   JSON("p99_ns", latency_percentile_ns(t, 99)),
			   JSON("p99_9_ns", latency_percentile_ns(t, 99.9)), JSON_OF(t, max_ns));
}

int why_json_print(const struct why_view *v)
{
	const struct why *w = v->why;
	const struct why_sources *s = &w->sources;
	const struct why_spans *spans = why_get_spans(w);

	json_print_pretty(JSON_OBJECT(
		JSON_OF(w, from_ns, to_ns),
		JSON("sources", JSON_OBJECT(JSON_OF(s, schedule, waits, min_wait_ns, kernel_frames,
						    kernel_names, interrupts, filtered, no_wakeups,
						    filled_wakeups, lost, paused_ns))),
		JSON_IF(w->n_worst, "verdict", why_json_verdict(v, &w->worst[0].verdict)),
		JSON("total", why_json_times(v, &w->total)),
		JSON("threads", JSON_LIST(t, w->threads, w->n_threads, why_json_sum(v, t))),
		JSON("instances", w->n_instances), JSON_OF(w, instances_ns),
		JSON("partial_instances", w->n_partial),
		JSON("durations", why_json_durations(&w->durations)),
		JSON("waits_dropped", w->n_waits_dropped),
		JSON_IF(spans->function || spans->begin, "spans_dropped", w->n_spans_dropped),
		JSON_IF(spans->function, "calls_left_out", spans->n_left_out),
		JSON_OF(w, forgotten_ns), JSON_IF(w->holders_cut, "holders_cut", w->holders_cut),
		JSON_IF(w->paths_cut, "paths_cut", w->paths_cut),
		JSON_IF(w->paths_ended, "paths_ended", w->paths_ended),
		JSON("worst", JSON_LIST(i, w->worst, w->n_worst, why_json_instance(v, i))),
		JSON("open_waits_count", w->n_open_waits_all),
		JSON("open_waits",
		     JSON_LIST(o, w->open_waits, w->n_open_waits, why_json_open_wait(v, o)))));
	return 0;
}
