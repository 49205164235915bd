/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The steps of a recording: its beginning; stopping and resuming of parts, or of the whole
 * recording (a pause); and its end.
 */
#include "capture/session/worker-state.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/clock.h"
#include "capture/calls/probed-inodes.h"
#include "capture/heap/task-list.h"
#include "capture/probes/instruction.h"
#include "capture/proc/proc.h"

/* ---- begin ---- */

/* Makes each CPU leave its current idle state, since an idle state whose begin was not recorded is
 * not shown. */
static void worker_rouse_cpus(unsigned n_cpus)
{
	size_t size = CPU_ALLOC_SIZE(n_cpus);
	cpu_set_t *one = CPU_ALLOC(n_cpus), *before = CPU_ALLOC(n_cpus);

	if (one && before && sched_getaffinity(0, size, before) == 0) {
		for (unsigned cpu = 0; cpu < n_cpus; cpu++) {
			CPU_ZERO_S(size, one);
			CPU_SET_S(cpu, size, one);
			/* Fails for CPUs that are not permitted, which does not matter. */
			sched_setaffinity(0, size, one);
		}
		sched_setaffinity(0, size, before);
	}
	CPU_FREE(one);
	CPU_FREE(before);
}

/* Returns true if counters are sampled, for the archive or for triggers. */
static bool worker_samples_counters(const struct session_options *o)
{
	const uint64_t *pressure = o->triggers.pressure_ppm;

	return o->categories & CATEGORY_COUNTERS || pressure[0] || pressure[1] || pressure[2];
}

/* The times when the recording began, and the tasks and cgroups that existed then. */
struct beginning {
	uint64_t attach_ns, start_ns, start_cpu_ns, listed_ns;
	struct outbuf tasks, cgroups;
};

static void worker_beginning_deinit(struct beginning *b)
{
	outbuf_deinit(&b->tasks);
	outbuf_deinit(&b->cgroups);
}

static int worker_steps_keep(const struct rec_head *rec, void *userdata)
{
	return outbuf_append(userdata, rec, rec->size);
}

/* Called when the eBPF programs of C run. Takes the time, and lists tasks and cgroups. The tasks
 * are also copied to LIST. */
static int worker_steps_begin(struct worker *w, struct collector *c, struct beginning *b,
			      struct outbuf *list, char **reterr_text)
{
	int r;

	if (w->options.categories & CATEGORY_POWER)
		worker_rouse_cpus(collector_n_cpus(c));
	b->start_ns = clock_boot_ns();
	b->start_cpu_ns = worker_cpu_now_ns(w);
	r = task_list_read(c, &b->tasks);
	if (r < 0)
		*reterr_text = strdup("cannot list the running tasks");
	b->listed_ns = clock_boot_ns();
	outbuf_append(list, b->tasks.data, b->tasks.size);
	if (r == 0) {
		r = collector_list_cgroups(c, worker_steps_keep, &b->cgroups);
		if (r < 0)
			*reterr_text = strdup("cannot list the cgroups of running tasks");
	}
	return r;
}

/* Passes B to the owner. The lock is held. */
static void worker_report_beginning(struct worker *w, struct beginning *b)
{
	w->results.attach_ns = b->attach_ns;
	w->results.start_ns = b->start_ns;
	w->results.start_cpu_ns = b->start_cpu_ns;
	w->results.listed_ns = b->listed_ns;
	/* If the owner has not taken an earlier list, that list is replaced. */
	outbuf_deinit(&w->results.tasks);
	w->results.tasks = b->tasks;
	b->tasks = (struct outbuf){ 0 };
	outbuf_append(&w->results.cgroups, b->cgroups.data, b->cgroups.size);
}

/* Returns 0 or the error R. After a failure, stacks are walked without tables, unless the tables
 * were requested explicitly. */
static int worker_steps_judge_unwinding(const struct worker *w, int r, char **reterr_text)
{
	if (r == 0 || w->options.stacks == STACKS_EH)
		return r;
	*reterr_text = free_ptr(*reterr_text);
	return 0;
}

/*
 * Checks the namespaces, because the eBPF programs use process ids and clocks of the initial
 * namespaces.
 */
static int worker_steps_check_namespaces(const struct session_options *o, char **reterr_text)
{
	if (!proc_has_kernel_clock()) {
		*reterr_text =
			strdup("times here differ from those in the kernel's records, because this "
			       "process is in a time namespace of its own (a container); run kymo "
			       "on the host");
		return -EOPNOTSUPP;
	}
	if (o->filter.n_pids == 0 || proc_sees_all())
		return 0;
	*reterr_text =
		strdup("process ids here differ from those in the kernel's records, because "
		       "this process is in a pid namespace of its own (a container), so they "
		       "cannot select processes; run kymo on the host");
	return -EOPNOTSUPP;
}

/* Attaches the program of C to the tracepoints. */
static int worker_start_tracepoints(struct worker *w, struct collector *c, char **reterr_text)
{
	return w->tracepoints ? tracepoints_attach(w->tracepoints, c, reterr_text) : 0;
}

/*
 * The search for allocators needs the library, and reports a failure only as files that are not
 * watched. (Calls and moments report it as an error.)
 */
static int worker_steps_load_disassembler(const struct session_options *o, char **reterr_text)
{
	int r = o->categories & CATEGORIES_MEMORY ? disassembler_load() : 0;

	return r < 0 ? text_error(r, reterr_text, "cannot search for allocators: %s",
				  disassembler_missing())
		     : r;
}

/*
 * Starts the recording, and copies the list of tasks to LIST, because the owner takes the original.
 */
static void worker_steps_start(struct worker *w, struct outbuf *list)
{
	_cleanup_(collector_freep) struct collector *c = NULL;
	_cleanup_(worker_beginning_deinit) struct beginning b = { 0 };
	char *text = NULL;
	int r = worker_steps_check_namespaces(&w->options, &text)
			?: worker_steps_load_disassembler(&w->options, &text);

	if (r == 0 && w->options.categories & CATEGORY_CALLS)
		r = call_targets_new(&w->options, &w->calls, &text);
	if (r == 0 && w->options.categories & CATEGORY_MOMENTS)
		r = moments_new(&w->options, &w->moments, &text);
	if (r == 0 && w->options.categories & CATEGORY_TRACEPOINTS)
		r = tracepoints_new(&w->options, &w->tracepoints, &text);
	if (r == 0 && w->options.categories & (CATEGORY_CALLS | CATEGORY_MOMENTS)) {
		w->probed = probed_inodes_new(&w->options);
		r = w->probed ? 0 : -ENOMEM;
	}
	r = r ?: collector_new(&w->options, &c, &text);
	/* (the tables are prepared before the recording begins: this time does not count) */
	r = r
		    ?: worker_steps_judge_unwinding(
			       w, collector_prepare_unwinding(c, worker_called_off, w, &text),
			       &text);
	b.attach_ns = clock_boot_ns();
	r = r ?: collector_attach(c, &text) ?: worker_start_tracepoints(w, c, &text)
		    ?: worker_steps_judge_unwinding(w, collector_start_unwinding(c, &text), &text);
	if (r == 0 && worker_samples_counters(&w->options)) {
		r = counters_new("", collector_n_cpus(c), &w->counters);
		w->next_sample_ns = clock_read_ns(CLOCK_MONOTONIC);
	}
	r = r ?: worker_steps_begin(w, c, &b, list, &text);
	pthread_mutex_lock(&w->lock);
	w->results.error = r;
	w->results.error_text = text;
	if (r == 0) {
		worker_report_beginning(w, &b);
		w->results.started = true;
		w->results.collector = w->collector = TAKE_PTR(c);
		w->results.calls = w->calls;
		w->results.moments = w->moments;
		w->results.tracepoints = w->tracepoints;
		w->results.probed = w->probed;
	}
	worker_notify_owner(w);
	pthread_mutex_unlock(&w->lock);
}

/* Starts the recording of calls. Probes slow down every process that runs the code, so they are
 * attached last and detached first. */
static int worker_start_calls(struct worker *w, char **reterr_text)
{
	struct collector_moments moments = collector_moment_tables(w->collector);
	struct collector_calls tables = collector_call_tables(w->collector);
	int r = 0;

	if (w->moments)
		r = moments_attach(w->moments, &w->options.moments, &moments, &w->helper_cpu_ns,
				   reterr_text);
	if (r < 0 || !w->calls)
		return r;
	return call_probes_new(w->calls, &w->options.calls, &tables, &w->helper_cpu_ns,
			       &w->call_probes, reterr_text);
}

static void worker_stop_calls(struct worker *w)
{
	w->call_probes = call_probes_free(w->call_probes);
	moments_detach(w->moments);
}

/* Categories that begin after the first events: stacks, probes and watched processes. */
#define CATEGORIES_LATE (CATEGORIES_STACKS | CATEGORIES_MEMORY | CATEGORY_CALLS | CATEGORY_MOMENTS)

/* Begins the times off CPU of threads that wait already, and passes their stacks to the owner. */
static int worker_steps_list_waiting(struct worker *w, char **reterr_text)
{
	_cleanup_(outbuf_deinit) struct outbuf pieces = { 0 };
	int r = collector_list_waiting(w->collector, worker_steps_keep, &pieces);

	if (r < 0) {
		*reterr_text = strdup("cannot list the waiting threads");
		return r;
	}
	pthread_mutex_lock(&w->lock);
	/* The pieces can have 22 MB, so they are moved if possible, and not copied. */
	if (w->results.waiting.size == 0) {
		outbuf_deinit(&w->results.waiting);
		w->results.waiting = pieces;
		pieces = (struct outbuf){ 0 };
	} else {
		r = outbuf_append(&w->results.waiting, pieces.data, pieces.size);
	}
	worker_notify_owner(w);
	pthread_mutex_unlock(&w->lock);
	if (r < 0)
		*reterr_text = strdup("cannot keep the stacks of waiting threads");
	return r;
}

static int worker_steps_start_stacks(struct worker *w, char **reterr_text)
{
	return collector_start_stacks(w->collector, reterr_text)
		       ?: worker_steps_list_waiting(w, reterr_text)
		       ?: worker_start_calls(w, reterr_text);
}

/*
 * Starts stacks and probes, when all parts that they would disturb have begun. Mappings are listed
 * before, so that no stack comes before the mappings that name its frames. After a failure, or if
 * the session ends meanwhile, `complete` is never set. The first error is kept.
 */
static void worker_start_stacks(struct worker *w)
{
	char *text = NULL;
	bool begins = !worker_called_off(w) && !w->failed;
	int r = begins ? worker_steps_start_stacks(w, &text) : 0;

	pthread_mutex_lock(&w->lock);
	if (r < 0) {
		w->results.error = r;
		w->results.error_text = text;
	}
	w->results.complete = begins && r == 0;
	w->results.complete_ns =
		w->options.categories & CATEGORIES_LATE ? clock_boot_ns() : w->results.start_ns;
	worker_notify_owner(w);
	pthread_mutex_unlock(&w->lock);
}

/* Reports the mappings of the tasks in LIST, and begins to watch processes among them. */
static void worker_steps_describe(struct worker *w, const struct outbuf *list)
{
	worker_do_due_work(w);
	worker_read_mappings(w, list);
	if (w->options.categories & CATEGORIES_MEMORY)
		worker_start_watching(w, list);
}

void worker_begin(struct worker *w)
{
	struct outbuf list = { 0 };

	worker_steps_start(w, &list);
	if (w->collector) {
		worker_steps_describe(w, &list);
		worker_start_stacks(w);
		worker_start_checks(w);
		worker_read_commands(w, &list);
	}
	outbuf_deinit(&list);
}

/* ---- end ---- */

void worker_detach(struct worker *w)
{
	w->counters = counters_free(w->counters);
	w->next_cpus_ns = w->next_own_list_ns = 0;
	worker_list_own(w);
	worker_stop_calls(w);
	tracepoints_detach(w->tracepoints);
	if (w->watching)
		heap_trace_stop(heap_targets_memory(w->watching), true);
	if (w->collector) {
		collector_detach(w->collector);
		collector_await_tables(w->collector);
	}
	if (w->watching)
		worker_finish_watching(w, true);
	pthread_mutex_lock(&w->lock);
	w->results.quiet = true;
	w->results.detached = true;
	w->want_shed = w->results.shed_bits; /* from now on, no part is resumed */
	worker_notify_owner(w);
	pthread_mutex_unlock(&w->lock);
}

void worker_unload(struct worker *w)
{
	w->watching = heap_targets_free(w->watching);
	w->tracepoints = tracepoints_free(w->tracepoints);
	w->collector = collector_free(w->collector);
	w->calls = call_targets_free(w->calls);
	w->moments = moments_free(w->moments);
	w->probed = probed_inodes_free(w->probed);
	pthread_mutex_lock(&w->lock);
	w->results.unloaded = true;
	w->results.collector = NULL;
	w->results.calls = NULL;
	w->results.moments = NULL;
	w->results.tracepoints = NULL;
	w->results.probed = NULL;
	worker_notify_owner(w);
	pthread_mutex_unlock(&w->lock);
}

/* ---- stopping and resuming of parts ---- */

/* Pauses the whole recording: from here on, nothing is recorded. */
static void worker_pause_all(struct worker *w)
{
	w->paused = true;
	w->next_cpus_ns = w->next_own_list_ns = 0;
	worker_list_own(w);
	worker_stop_calls(w);
	tracepoints_release(w->tracepoints);
	if (w->watching)
		heap_trace_stop(heap_targets_memory(w->watching), false);
	collector_pause(w->collector);
	/* Times off CPU and stacks of allocations are written now, as at the end of a recording. */
	collector_await_tables(w->collector);
	if (w->watching)
		worker_finish_watching(w, false);
}

/* Starts all eBPF programs again, and lists tasks and cgroups again, as at the start. */
static int worker_resume_all(struct worker *w)
{
	_cleanup_(worker_beginning_deinit) struct beginning b = { .attach_ns = clock_boot_ns() };
	_cleanup_(outbuf_deinit) struct outbuf list = { 0 };
	_cleanup_free_ char *text = NULL;
	int r = collector_resume(w->collector, &text)
			?: worker_start_tracepoints(w, w->collector, &text)
			?: worker_steps_judge_unwinding(
				   w, collector_start_unwinding(w->collector, &text), &text)
			?: worker_steps_begin(w, w->collector, &b, &list, &text)
			?: worker_start_calls(w, &text);

	if (r < 0) {
		tracepoints_release(w->tracepoints);
		collector_pause(w->collector);
		return r;
	}
	pthread_mutex_lock(&w->lock);
	worker_report_beginning(w, &b);
	w->results.n_resumed++;
	worker_notify_owner(w);
	pthread_mutex_unlock(&w->lock);
	w->paused = false;
	w->next_sample_ns = clock_read_ns(CLOCK_MONOTONIC);
	worker_steps_describe(w, &list);
	worker_start_checks(w);
	worker_read_commands(w, &list);
	return 0;
}

static void worker_shed_part(struct worker *w, enum budget_shed what)
{
	if (what == SHED_STACKS)
		collector_shed_stacks(w->collector);
	else if (what == SHED_WAKEUPS)
		collector_shed_wakeups(w->collector);
	else
		worker_pause_all(w);
}

static int worker_steps_return_stacks(struct worker *w, char **reterr_text)
{
	int r = collector_return_stacks(w->collector, reterr_text);

	if (r < 0)
		return r;
	r = worker_steps_list_waiting(w, reterr_text);
	if (r < 0)
		collector_shed_stacks(w->collector);
	return r;
}

static int worker_steps_return_part(struct worker *w, enum budget_shed what)
{
	_cleanup_free_ char *text = NULL;

	if (what == SHED_STACKS)
		return worker_steps_return_stacks(w, &text);
	if (what == SHED_WAKEUPS)
		return collector_return_wakeups(w->collector, &text);
	return worker_resume_all(w);
}

/* Stops or resumes one part whose state is not as ordered. */
void worker_adjust(struct worker *w)
{
	uint32_t want, shed_bits, bit;
	enum budget_shed what = 0;
	int r = 0;

	pthread_mutex_lock(&w->lock);
	want = w->want_shed;
	shed_bits = w->results.shed_bits;
	pthread_mutex_unlock(&w->lock);
	while (!((want ^ shed_bits) >> what & 1))
		what++;
	bit = UINT32_C(1) << what;
	if (w->collector && want & bit)
		worker_shed_part(w, what);
	else if (w->collector)
		r = worker_steps_return_part(w, what);
	pthread_mutex_lock(&w->lock);
	if (r == 0)
		w->results.shed_bits ^= bit;
	else
		w->want_shed |= bit;
	w->results.n_failed += r < 0;
	worker_notify_owner(w);
	pthread_mutex_unlock(&w->lock);
}
