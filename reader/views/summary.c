/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/views/summary.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "reader/views/summary-accounts.h"
#include "reader/views/summary-programs.h"
#include "writer/fxt/fxt-names.h"
#include "writer/fxt/fxt-wire.h"

/* A session of a whole machine that has no event for this time was cut off. */
#define CUT_OFF_NS UINT64_C(1000000000)

int summary_new(struct summary **ret)
{
	_cleanup_(summary_freep) struct summary *s = calloc(1, sizeof(*s));

	if (!s || thread_states_new(&s->states, summary_account_segment, s) < 0)
		return -ENOMEM;
	*ret = TAKE_PTR(s);
	return 0;
}

void summary_listen(struct summary *s, thread_states_fn fn, void *userdata)
{
	assert(s->n_listeners < SUMMARY_LISTENERS_MAX);
	s->listeners[s->n_listeners].fn = fn;
	s->listeners[s->n_listeners++].userdata = userdata;
}

static void summary_free_thread(struct summary_thread *t)
{
	free(t->name);
	free(t);
}

static void summary_free_process(struct summary_process *p)
{
	free(p->name);
	free(p->command_line);
	free(p->cgroup_path);
	free(p);
}

static void summary_forget_marks(struct summary *s)
{
	for (size_t i = 0; i < s->n_marks; i++)
		free(s->marks[i].text);
	for (size_t i = 0; i < s->n_triggers; i++)
		free(s->triggers[i].what);
	s->n_marks = s->n_triggers = 0;
}

/* Removes the sheds that have ended, or (ALL) all of them. */
static void summary_forget_sheds(struct summary *s, bool all)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_sheds; i++) {
		if (all || s->sheds[i].until_ns != 0) {
			free(s->sheds[i].what);
			free(s->sheds[i].session);
		} else {
			s->sheds[n++] = s->sheds[i];
		}
	}
	s->n_sheds = n;
}

struct summary *summary_free(struct summary *s)
{
	struct summary_thread *t;
	struct summary_process *p;
	size_t pos;

	if (!s)
		return NULL;
	summary_programs_forget(s);
	for (pos = 0; (t = table_next(&s->threads, &pos));)
		summary_free_thread(t);
	for (pos = 0; (p = table_next(&s->processes, &pos));)
		summary_free_process(p);
	table_deinit(&s->threads);
	table_deinit(&s->processes);
	thread_states_free(s->states);
	summary_forget_marks(s);
	summary_forget_sheds(s, true);
	summary_sessions_deinit(&s->sessions);
	free(s->marks);
	for (size_t i = 0; i < s->n_lost; i++)
		free(s->lost[i].class_name);
	activity_sums_deinit(&s->activity);
	free(s->cpus);
	free(s->recording.session);
	free(s->recording.command);
	free(s->recording.options);
	free(s->recording.kernel);
	free(s->recording.machine);
	free(s->recording.host);
	free(s->recording.version);
	return free_ptr(s);
}

/* Replaces *TO by a copy of FROM. Returns 0 or -ENOMEM. */
static int summary_replace(char **to, const char *from)
{
	char *copy = strdup(from);

	if (!copy)
		return -ENOMEM;
	free(*to);
	*to = copy;
	return 0;
}

static struct summary_process *summary_get_process(struct summary *s, uint32_t pid)
{
	struct summary_process *p = table_make(&s->processes, (uint64_t)pid + 1, sizeof(*p));

	if (p)
		p->pid = pid;
	return p;
}

/* Extends the range of times, which is the duration if session_start or session_stop is missing. */
static void summary_see_time(struct summary *s, uint64_t ts_ns)
{
	if (!s->timed) {
		s->start_ns = s->end_ns = ts_ns;
		s->timed = true;
		return;
	}
	if (!s->started && ts_ns < s->start_ns)
		s->start_ns = ts_ns;
	if (!s->stopped && ts_ns > s->end_ns)
		s->end_ns = ts_ns;
}

static void summary_forget_cgroup(struct summary_process *p)
{
	p->cgroup_path = free_ptr(p->cgroup_path);
}

static void summary_add_sample(struct summary *s, const struct event *ev)
{
	struct summary_thread *t = table_get(&s->threads, ev->tid);

	if (t && ev->sample.kind == SAMPLE_ON_CPU)
		t->samples++;
}

static int summary_add_task(struct summary *s, const struct event *ev)
{
	struct summary_process *p;
	struct summary_thread *t;
	int r;

	if (ev->tid != 0) {
		t = summary_thread(s, ev->tid);
		if (!t)
			return -ENOMEM;
		t->pid = ev->pid;
		summary_programs_join(s, t);
		r = summary_replace(&t->name, ev->task.comm);
		if (r < 0)
			return r;
	}
	if (!ev->task.is_process)
		return 0;
	p = summary_get_process(s, ev->pid);
	if (!p)
		return -ENOMEM;
	p->parent_pid = ev->task.parent_pid;
	p->uid = ev->task.uid;
	p->described = true;
	if (ev->task.start_ns != 0)
		p->start_ns = ev->task.start_ns;
	if (*ev->task.command_line) {
		r = summary_replace(&p->command_line, ev->task.command_line);
		if (r < 0)
			return r;
	}
	/* If the event has no cgroup, the cgroup of the process stays the same. */
	if (ev->task.cgroup_id != 0 && ev->task.cgroup_id != p->cgroup_id)
		summary_forget_cgroup(p);
	if (ev->task.cgroup_id != 0)
		p->cgroup_id = ev->task.cgroup_id;
	if (ev->task.cgroup_path) {
		r = summary_replace(&p->cgroup_path, ev->task.cgroup_path);
		if (r < 0)
			return r;
	}
	return summary_replace(&p->name, ev->task.comm);
}

static int summary_add_fork(struct summary *s, const struct event *ev)
{
	struct summary_process *p;
	struct summary_thread *t;

	s->forks++;
	if (ev->fork.child_tid != 0) {
		t = summary_thread(s, ev->fork.child_tid);
		if (!t)
			return -ENOMEM;
		t->pid = ev->fork.child_pid;
		summary_programs_join(s, t);
	}
	if (ev->fork.child_pid == ev->pid)
		return 0;
	p = summary_get_process(s, ev->fork.child_pid);
	if (!p)
		return -ENOMEM;
	if (!p->described)
		p->parent_pid = ev->pid;
	if (p->start_ns == 0)
		p->start_ns = ev->ts_ns;
	return 0;
}

static int summary_add_exec(struct summary *s, const struct event *ev)
{
	struct summary_process *p = summary_get_process(s, ev->pid);
	int r;

	s->execs++;
	if (!p)
		return -ENOMEM;
	if (ev->exec.old_tid != 0) {
		r = summary_account_new_tid(s, ev->exec.old_tid, ev->tid, ev->ts_ns);
		if (r < 0)
			return r;
	}
	return *ev->exec.command_line ? summary_replace(&p->command_line, ev->exec.command_line)
				      : 0;
}

static int summary_add_exit(struct summary *s, const struct event *ev)
{
	struct summary_thread *t = table_get(&s->threads, ev->tid);
	struct summary_process *p;

	s->exits++;
	if (t)
		t->exited = true;
	if (!ev->exit.process_ends)
		return 0;
	p = summary_get_process(s, ev->pid);
	if (!p)
		return -ENOMEM;
	p->exited = true;
	p->exit_ns = ev->ts_ns;
	p->exit_code = ev->exit.code;
	p->signal = ev->exit.signal;
	return 0;
}

static int summary_add_rename(struct summary *s, const struct event *ev)
{
	struct summary_process *p = table_get(&s->processes, (uint64_t)ev->pid + 1);
	struct summary_thread *t;
	int r;

	if (ev->tid == 0)
		return 0;
	t = summary_thread(s, ev->tid);
	if (!t)
		return -ENOMEM;
	r = summary_replace(&t->name, ev->rename.to);
	return r < 0 || !p || ev->tid != ev->pid ? r : summary_replace(&p->name, ev->rename.to);
}

static int summary_add_lost(struct summary *s, const struct event *ev)
{
	size_t i = 0;

	while (i < s->n_lost && strcmp(s->lost[i].class_name, ev->lost.class_name) != 0)
		i++;
	if (i == SUMMARY_LOST_MAX)
		i--;
	if (i == s->n_lost) {
		s->lost[i].class_name = strdup(ev->lost.class_name);
		if (!s->lost[i].class_name)
			return -ENOMEM;
		s->n_lost++;
	}
	s->lost[i].count += ev->lost.count;
	return 0;
}

static int summary_add_mark(struct summary *s, const struct event *ev)
{
	struct summary_mark *marks;

	if (s->n_marks == SUMMARY_MARKS_MAX) {
		s->n_marks_dropped++;
		return 0;
	}
	if (GROW(s->marks, s->room_marks, s->n_marks + 1) < 0)
		return -ENOMEM;
	marks = &s->marks[s->n_marks];
	*marks = (struct summary_mark){ .ts_ns = ev->ts_ns, .text = strdup(ev->mark.text) };
	if (!marks->text)
		return -ENOMEM;
	s->n_marks++;
	return 0;
}

static bool summary_is_of_session(const struct summary_shed *shed, const char *session)
{
	return !session || !shed->session || strcmp(shed->session, session) == 0;
}

/*
 * Returns the entry of the open shed that EV ends: the shed of the same thing that has not ended.
 * NULL = none.
 */
static struct summary_shed *summary_open_shed(struct summary *s, const struct event *ev)
{
	for (size_t i = 0; i < s->n_sheds; i++)
		if (s->sheds[i].until_ns == 0 && strcmp(s->sheds[i].what, ev->shed.what) == 0 &&
		    summary_is_of_session(&s->sheds[i], ev->shed.session))
			return &s->sheds[i];
	return NULL;
}

/*
 * Begins a pause. Earlier events can still follow, so the states of threads are ended only at the
 * end of the pause, or of the recording.
 */
static void summary_pause(struct summary *s, uint64_t ts_ns)
{
	if (!s->paused)
		s->paused_at_ns = ts_ns;
	s->paused = true;
}

static int summary_resume(struct summary *s, uint64_t ts_ns)
{
	int r = 0;

	if (!s->paused)
		return 0;
	/* (a pause of no length: a session continues in its next chunk, while other sessions
	 * pause) */
	if (ts_ns > s->paused_at_ns)
		r = summary_account_pause(s, s->paused_at_ns, ts_ns);
	s->paused = false;
	s->paused_ns += summary_counted(s, s->paused_at_ns, ts_ns);
	return r;
}

/* Begins or ends a pause of the recording, which pauses only while all open sessions pause. */
static int summary_update_pause(struct summary *s, uint64_t ts_ns)
{
	if (summary_sessions_all_pause(&s->sessions))
		summary_pause(s, ts_ns);
	else if (summary_sessions_n(&s->sessions) > 0)
		return summary_resume(s, ts_ns);
	return 0;
}

static int summary_add_pause(struct summary *s, const struct event *ev)
{
	if (strcmp(ev->shed.what, "session") != 0)
		return 0;
	if (summary_sessions_n(&s->sessions) > 0) {
		summary_sessions_pause(&s->sessions, NULL, ev->shed.session, ev->shed.back);
		return summary_update_pause(s, ev->ts_ns);
	}
	if (ev->shed.back)
		return summary_resume(s, ev->ts_ns);
	summary_pause(s, ev->ts_ns);
	return 0;
}

/*
 * Handles the begin of a further session at TS_NS. A chunk begins where the previous chunk ends,
 * and repeats a pause that is open. Before any other session, nothing was recorded since the last
 * one.
 */
static int summary_add_next(struct summary *s, uint64_t ts_ns)
{
	if (s->stopped && ts_ns > s->end_ns) {
		summary_pause(s, s->end_ns);
		for (size_t i = 0; i < s->n_sheds; i++)
			if (s->sheds[i].until_ns == 0)
				s->sheds[i].until_ns = s->end_ns;
	}
	s->stopped = false;
	return summary_resume(s, ts_ns);
}

static int summary_add_shed(struct summary *s, const struct event *ev)
{
	struct summary_shed *shed = summary_open_shed(s, ev);
	int r = summary_add_pause(s, ev);

	if (r < 0)
		return r;
	/* Joined chunks repeat the event. */
	if (shed && ev->shed.back)
		shed->until_ns = ev->ts_ns;
	if (shed || ev->shed.back || s->n_sheds == SUMMARY_SHEDS_MAX)
		return 0;
	shed = &s->sheds[s->n_sheds];
	*shed = (struct summary_shed){ .ts_ns = ev->ts_ns,
				       .cost_ppm = ev->shed.cost_ppm,
				       .limit_ppm = ev->shed.limit_ppm,
				       .n_cpus = ev->shed.n_cpus,
				       .what = strdup(ev->shed.what),
				       .session =
					       ev->shed.session ? strdup(ev->shed.session) : NULL };
	s->n_sheds++;
	return shed->what && (shed->session || !ev->shed.session) ? 0 : -ENOMEM;
}

static int summary_add_trigger(struct summary *s, const struct event *ev)
{
	size_t i = 0;

	while (i < s->n_triggers && strcmp(s->triggers[i].what, ev->trigger.what) != 0)
		i++;
	if (i == SUMMARY_TRIGGERS_MAX)
		i--;
	if (i == s->n_triggers) {
		s->triggers[i].what = strdup(ev->trigger.what);
		if (!s->triggers[i].what)
			return -ENOMEM;
		s->n_triggers++;
	}
	s->triggers[i].count += ev->trigger.count;
	if (ev->trigger.value >= s->triggers[i].worst) {
		s->triggers[i].worst = ev->trigger.value;
		s->triggers[i].worst_ns = ev->ts_ns;
	}
	return 0;
}

/*
 * When a session begins at TS_NS, ends the open sessions if they were cut off: they had no event
 * for CUT_OFF_NS, but a whole machine has switches in each second. This shows nothing about a
 * session of selected threads, which can all sleep, or about a pause.
 */
static void summary_close_cut_off(struct summary *s, uint64_t ts_ns)
{
	if (summary_sessions_n(&s->sessions) == 0 || s->paused || s->filtered || s->switches == 0 ||
	    ts_ns < s->end_ns || ts_ns - s->end_ns < CUT_OFF_NS)
		return;
	summary_sessions_deinit(&s->sessions);
	s->stopped = s->cut_off = true;
}

static int summary_add_start(struct summary *s, const struct event *ev)
{
	struct summary_session *session;

	summary_close_cut_off(s, ev->ts_ns);
	summary_see_time(s, ev->ts_ns);
	if (summary_sessions_start(&s->sessions, NULL, ev->start.session, &session) < 0)
		return -ENOMEM;
	s->many_sessions |= s->started && strcmp(s->recording.session, ev->start.session) != 0;
	/* In joined archives, the first session defines the begin and the machine. */
	if (s->started && ev->ts_ns >= s->start_ns) {
		s->filtered |= ev->start.filtered;
		return summary_add_next(s, ev->ts_ns);
	}
	s->start_ns = ev->ts_ns;
	s->started = true;
	s->stopped = false;
	s->filtered = ev->start.filtered;
	s->recording.n_cpus = ev->start.n_cpus;
	s->recording.chunk = ev->start.chunk;
	if (summary_replace(&s->recording.session, ev->start.session) < 0 ||
	    summary_replace(&s->recording.command, ev->start.command) < 0 ||
	    summary_replace(&s->recording.options, ev->start.options) < 0 ||
	    summary_replace(&s->recording.kernel, ev->start.kernel) < 0 ||
	    summary_replace(&s->recording.machine, ev->start.machine) < 0 ||
	    summary_replace(&s->recording.host, ev->start.host) < 0 ||
	    summary_replace(&s->recording.version, ev->start.version) < 0)
		return -ENOMEM;
	return 0;
}

/* Ends the sheds of a session that stops. In a merged archive, other sessions go on, so sheds must
 * end with their own session. */
static void summary_end_sheds(struct summary *s, const struct event *stop)
{
	if (!stop->stop.session || summary_sessions_n(&s->sessions) == 0 ||
	    strcmp(stop->stop.reason, "rotated") == 0)
		return;
	for (size_t i = 0; i < s->n_sheds; i++)
		if (s->sheds[i].until_ns == 0 && s->sheds[i].session &&
		    strcmp(s->sheds[i].session, stop->stop.session) == 0)
			s->sheds[i].until_ns = stop->ts_ns;
}

static int summary_add_stop(struct summary *s, const struct event *ev)
{
	int r;

	summary_sessions_remove(&s->sessions, summary_sessions_find_stopped(&s->sessions, NULL,
									    ev->stop.session));
	s->stopped = summary_sessions_n(&s->sessions) == 0;
	if (ev->ts_ns > s->end_ns || !s->any_stop)
		s->end_ns = ev->ts_ns;
	s->any_stop = true;
	s->dismissed += ev->stop.dismissed;
	s->unreported += ev->stop.unreported;
	s->daemon_cpu_ns += ev->stop.daemon_cpu_ns;
	s->bpf_cpu_ns += ev->stop.bpf_cpu_ns;
	s->dropped_bytes += ev->stop.dropped_bytes;
	r = summary_update_pause(s, ev->ts_ns);
	summary_end_sheds(s, ev);
	return r;
}

static void summary_add_stacks(struct summary *s, const struct event *ev)
{
	const struct stack_tables *t = &ev->stacks.tables;
	struct stack_tables *to = &s->tables;

	for (size_t i = 0; i < WALK_ENDS_MAX; i++)
		s->walks[i] += ev->stacks.walks[i];
	to->made += t->made;
	to->failed += t->failed;
	to->evicted += t->evicted;
	to->copied += t->copied;
	to->bytes = t->bytes > to->bytes ? t->bytes : to->bytes;
}

static void summary_add_python(struct summary *s, const struct event *ev)
{
	const char *version = ev->python.version;
	unsigned at = 0;

	for (size_t i = 0; i < PYTHON_STACKS_MAX; i++)
		s->python[i] += ev->python.stacks[i];
	if (!version)
		return;
	while (at < s->n_unknown_pythons && strcmp(s->unknown_pythons[at], version) != 0)
		at++;
	if (at == s->n_unknown_pythons && at < SUMMARY_PYTHONS_MAX &&
	    strlen(version) < SUMMARY_PYTHON_TEXT)
		strcpy(s->unknown_pythons[s->n_unknown_pythons++], version);
}

int summary_add(struct summary *s, const struct event *ev)
{
	int r = summary_programs_add(s, ev);

	if (r < 0)
		return r;
	/*
	 * Events of these kinds describe a state, so their time says nothing about the recording.
	 * EVENT_START sets the begin itself.
	 */
	if (ev->kind != EVENT_TASK && ev->kind != EVENT_MAPPING && ev->kind != EVENT_FRAME &&
	    ev->kind != EVENT_START)
		summary_see_time(s, ev->ts_ns);
	switch (ev->kind) {
	case EVENT_SWITCH:
		return summary_account_switch(s, ev);
	case EVENT_WAKE:
		return summary_account_wake(s, ev);
	case EVENT_MIGRATE:
		s->migrations++;
		return thread_states_add(s->states, ev);
	case EVENT_TASK:
		return summary_add_task(s, ev);
	case EVENT_FORK:
		return summary_add_fork(s, ev);
	case EVENT_EXEC:
		return summary_add_exec(s, ev);
	case EVENT_EXIT:
		return summary_add_exit(s, ev);
	case EVENT_RENAME:
		return summary_add_rename(s, ev);
	case EVENT_LOST:
		return thread_states_add(s->states, ev) ?: summary_add_lost(s, ev);
	case EVENT_SAMPLE:
		summary_add_sample(s, ev);
		return 0;
	case EVENT_MARK:
		return summary_add_mark(s, ev);
	case EVENT_SHED:
		return summary_add_shed(s, ev);
	case EVENT_TRIGGER:
		return summary_add_trigger(s, ev);
	case EVENT_START:
		return summary_add_start(s, ev);
	case EVENT_INTERVAL:
		summary_see_time(s, ev->interval.end_ns);
		return activity_sums_add_interval(
			&s->activity, ev, summary_recorded(s, ev->ts_ns, ev->interval.end_ns));
	case EVENT_REQUEST:
		summary_see_time(s, ev->request.end_ns);
		return activity_sums_add_request(&s->activity, ev);
	case EVENT_TRACEPOINT:
		return activity_sums_add_tracepoint(&s->activity, ev);
	case EVENT_MOMENT_POINT:
		return activity_sums_add_point(&s->activity, ev);
	case EVENT_MOMENT:
		return activity_sums_add_moment(&s->activity, ev);
	case EVENT_COUNTER:
		return activity_sums_add_counter(&s->activity, ev);
	case EVENT_STACKS:
		summary_add_stacks(s, ev);
		return 0;
	case EVENT_PYTHON:
		summary_add_python(s, ev);
		return 0;
	case EVENT_STOP:
		return summary_add_stop(s, ev);
	case EVENT_DAMAGE:
		s->n_damages++;
		s->damaged_bytes += ev->damage.bytes;
		return thread_states_add(s->states, ev);
	default:
		return 0;
	}
}

/* Computes the durations of the part, which ends at END_NS. */
static void summary_end_times(struct summary *s, uint64_t end_ns)
{
	uint64_t ns = summary_counted(s, 0, end_ns);
	bool paused = s->paused;

	s->recorded_ns = ns > s->paused_ns ? ns - s->paused_ns : 0;
	s->paused = false;
	s->duration_ns = summary_counted(s, 0, end_ns);
	s->paused = paused;
}

void summary_end_part(struct summary *s, uint64_t end_ns)
{
	summary_end_times(s, end_ns);
	summary_account_end(s, end_ns);
	activity_sums_finish(&s->activity, s->recorded_ns);
}

int summary_finish(struct summary *s)
{
	int r;

	summary_end_times(s, s->end_ns);
	/* (a recording can end in a pause) */
	r = s->paused && s->end_ns > s->paused_at_ns
		    ? summary_account_pause(s, s->paused_at_ns, s->end_ns)
		    : 0;
	r = r ?: summary_account_finish(s, s->end_ns);
	activity_sums_finish(&s->activity, s->recorded_ns);
	return r;
}

/* ---- windows ---- */

static enum thread_state summary_state_of(const struct summary *s, const struct summary_thread *t)
{
	struct thread_now now;

	return thread_states_get(s->states, t->tid, &now) ? now.state : THREAD_UNKNOWN;
}

static bool summary_is_over(const struct summary *s, const struct summary_thread *t)
{
	enum thread_state state = summary_state_of(s, t);

	return state == THREAD_DEAD || (t->exited && state != THREAD_RUNNING);
}

static bool summary_did_nothing(const struct summary *s, const struct summary_thread *t)
{
	return t->cpu_ns == 0 && t->runnable_ns == 0 && t->wakeups == 0 &&
	       summary_state_of(s, t) != THREAD_RUNNING;
}

static void summary_begin_thread(struct summary_thread *t)
{
	t->program_latency_ns = 0;
	t->cpu_ns = t->runnable_ns = t->blocked_ns = t->after_wakeup_ns = 0;
	t->until_preempted_ns = 0;
	t->switches = t->preempted = t->wakeups = t->max_wakeup_latency_ns = t->samples = 0;
}

/* Keeps live threads; if there are more than MAX, only those that were active. Returns 0 or
 * -ENOMEM. */
static int summary_begin_threads(struct summary *s, size_t max)
{
	struct table kept = { 0 };
	struct summary_thread *t;
	size_t n_alive = 0;

	for (size_t pos = 0; (t = table_next(&s->threads, &pos));)
		n_alive += !summary_is_over(s, t);
	for (size_t pos = 0; (t = table_next(&s->threads, &pos));) {
		if (summary_is_over(s, t) || (n_alive > max && summary_did_nothing(s, t)))
			continue;
		if (table_set(&kept, t->tid, t) < 0) {
			table_deinit(&kept);
			return -ENOMEM;
		}
	}
	for (size_t pos = 0; (t = table_next(&s->threads, &pos));) {
		if (table_get(&kept, t->tid)) {
			summary_begin_thread(t);
			continue;
		}
		thread_states_forget(s->states, t->tid);
		summary_free_thread(t);
	}
	table_deinit(&s->threads);
	s->threads = kept;
	return 0;
}

/* Keeps live processes; if there are more than MAX, only those with a thread. Returns 0 or
 * -ENOMEM. */
static int summary_begin_processes(struct summary *s, size_t max)
{
	struct table kept = { 0 }, used = { 0 };
	struct summary_process *p;
	struct summary_thread *t;
	bool many = s->processes.n_used > max;
	int r = 0;

	for (size_t pos = 0; many && r == 0 && (t = table_next(&s->threads, &pos));)
		r = table_set(&used, (uint64_t)t->pid + 1, t);
	for (size_t pos = 0; r == 0 && (p = table_next(&s->processes, &pos));)
		if (!p->exited && (!many || table_get(&used, (uint64_t)p->pid + 1)))
			r = table_set(&kept, (uint64_t)p->pid + 1, p);
	table_deinit(&used);
	if (r < 0) {
		table_deinit(&kept);
		return r;
	}
	for (size_t pos = 0; (p = table_next(&s->processes, &pos));)
		if (!table_get(&kept, (uint64_t)p->pid + 1))
			summary_free_process(p);
	table_deinit(&s->processes);
	s->processes = kept;
	return 0;
}

int summary_begin_part(struct summary *s, uint64_t start_ns, size_t threads_max)
{
	int r;

	summary_programs_forget(s);
	r = summary_begin_threads(s, threads_max) ?: summary_begin_processes(s, threads_max);
	if (r < 0)
		return r;
	for (size_t i = 0; i < s->n_cpus; i++) {
		struct summary_cpu *cpu = &s->cpus[i];

		cpu->busy_ns = cpu->idle_ns = cpu->other_ns = cpu->switches = 0;
	}
	for (size_t i = 0; i < s->n_lost; i++)
		s->lost[i].count = 0;
	summary_forget_marks(s);
	summary_forget_sheds(s, false);
	activity_sums_deinit(&s->activity);
	s->activity = (struct activity_sums){ 0 };
	s->switches = s->wakeups = s->migrations = s->forks = s->execs = s->exits = 0;
	s->sched_slices = s->dismissed = s->unreported = 0;
	memset(s->walks, 0, sizeof(s->walks));
	memset(s->python, 0, sizeof(s->python));
	s->n_unknown_pythons = 0;
	s->tables = (struct stack_tables){ 0 };
	s->n_damages = s->damaged_bytes = s->n_marks_dropped = s->paused_ns = 0;
	s->part_ns = start_ns;
	return 0;
}
