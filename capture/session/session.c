/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The session connects its worker, rings, output and timers in the owner's loop
 * (docs/architecture/recording.md).
 *
 * All records pass through session_drain() (session-write.c). Nothing here waits.
 */
#include "capture/session/session-parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include "capture/calls/call-targets.h"
#include "capture/store/flight.h"
#include "capture/proc/machine.h"
#include "capture/proc/proc.h"
#include "capture/programs/sampler.h"
#include "capture/recorder/merge.h"
#include "capture/options/options-complete.h"

/* There are two drains in each flush interval: the second one takes the records that were too young
 * for the first one. */
enum { DRAINS_PER_FLUSH = 2 };

const char *const session_state_names[SESSION_STATE_MAX] = {
	[SESSION_READY] = "ready",     [SESSION_STARTING] = "starting",
	[SESSION_RUNNING] = "running", [SESSION_DRAINING] = "draining",
	[SESSION_STOPPED] = "stopped", [SESSION_FAILED] = "failed",
};

/* ---- state ---- */

enum session_state session_state(const struct session *s)
{
	if (!s->ordered)
		return SESSION_READY;
	if (s->written && s->unloaded)
		return s->error < 0 ? SESSION_FAILED : SESSION_STOPPED;
	if (*s->reason)
		return SESSION_DRAINING;
	return s->complete ? SESSION_RUNNING : SESSION_STARTING;
}

bool session_has_run(const struct session *s)
{
	return s->complete;
}

static void session_notify_changes(struct session *s)
{
	enum session_state state = session_state(s);

	if (state == s->reported && s->n_snapshots == s->n_snapshots_reported &&
	    s->n_searches == s->n_searches_reported &&
	    s->flights.n_ended == s->n_flights_reported &&
	    s->status.n_begun == s->n_chunks_reported && s->n_steps == s->n_steps_reported &&
	    s->n_snapshots_due == s->n_due_reported)
		return;
	s->reported = state;
	s->n_steps_reported = s->n_steps;
	s->n_due_reported = s->n_snapshots_due;
	s->n_snapshots_reported = s->n_snapshots;
	s->n_searches_reported = s->n_searches;
	s->n_flights_reported = s->flights.n_ended;
	s->n_chunks_reported = s->status.n_begun;
	if (s->changed)
		s->changed(s, s->changed_userdata);
}

static void session_set_error(struct session *s, int error, char *text)
{
	if (s->error < 0) {
		free(text);
		return;
	}
	s->error = error;
	s->error_text = text;
}

void session_end(struct session *s, const char *reason)
{
	if (*s->reason)
		return;
	snprintf(s->reason, sizeof(s->reason), "%s", reason);
	s->stop_ns = clock_boot_ns();
	if (s->due_ns && s->stop_ns > s->due_ns)
		s->stop_ns = s->due_ns;
	recorder_set_end(&s->recorder, s->stop_ns);
	worker_order_detach(s->worker);
}

void session_fail(struct session *s, int error, const char *action)
{
	char *text;

	if (asprintf(&text, "cannot %s: %s", action, strerror(-error)) < 0)
		text = NULL;
	session_set_error(s, error, text);
	session_end(s, "failed");
}

/* ---- timers ---- */

void session_arm(int fd, uint64_t after_ns, uint64_t every_ns)
{
	const struct itimerspec when = {
		.it_value = { (time_t)(after_ns / 1000000000), (long)(after_ns % 1000000000) },
		.it_interval = { (time_t)(every_ns / 1000000000), (long)(every_ns % 1000000000) },
	};

	timerfd_settime(fd, 0, &when, NULL);
}

void session_arm_drain(struct session *s, uint64_t after_ns)
{
	session_arm(s->timer_fd, after_ns, s->options.flush_ns / DRAINS_PER_FLUSH);
}

static void session_quiet_timer(int fd)
{
	uint64_t count;

	if (read(fd, &count, sizeof(count)) < 0)
		return; /* the timer had not fired */
}

int session_watch(struct session *s, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };

	if (fd < 0)
		return -errno;
	return epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0 ? -errno : 0;
}

static bool session_query_task(uint32_t tid, void *userdata)
{
	struct session *s = userdata;

	return worker_order_lookup(s->worker, tid);
}

static bool session_fetch_memory(struct outbuf *ret, void *userdata)
{
	struct session *s = userdata;

	return worker_fetch_memory(s->worker, ret);
}

static void session_check_files(uint32_t pid, uint64_t ts_ns, void *userdata)
{
	struct session *s = userdata;

	worker_order_mappings(s->worker, pid, ts_ns);
}

static bool session_examine(const struct rec_mapping *rec, void *userdata)
{
	struct session *s = userdata;

	return worker_order_examination(s->worker, rec);
}

/* Stores a trigger, which is reported after the data of this drain is written. */
static void session_on_trigger(const struct trigger *t, void *userdata)
{
	struct session *s = userdata;

	if (t->kind == TRIGGER_MOMENT_STOP)
		s->stop_due = true;
	else if (t->kind == TRIGGER_MOMENT_SNAPSHOT)
		s->n_snapshots_due++;
	else if (s->fired.count == 0)
		s->fired = *t;
}

static void session_notify_trigger(struct session *s)
{
	const struct trigger fired = s->fired;

	s->fired.count = 0;
	if (fired.count && s->triggered)
		s->triggered(s, &fired, s->triggered_userdata);
}

/* ---- results of the worker ---- */

static void session_on_started(struct session *s, const struct worker_results *results)
{
	int r = recorder_begin(&s->recorder, results, &s->options)
			?: costs_init(&s->costs, collector_n_cpus(results->collector))
			?: session_watch(s, collector_doorbell_fd(results->collector));

	s->start_ns = results->start_ns;
	s->setup_cpu_ns = s->loop_cpu_ns + results->start_cpu_ns;
	if (*s->reason) { /* the session was stopped during the start: the recording is empty */
		s->stop_ns = s->start_ns;
		recorder_set_end(&s->recorder, s->stop_ns);
	}
	if (r < 0) {
		session_fail(s, r, "begin the recording");
		s->recorder.closed = true;
		return;
	}
	session_arm_drain(s, s->options.flush_ns / DRAINS_PER_FLUSH);
}

/* Called when all requested parts are recorded. The duration counts from here. */
static void session_on_complete(struct session *s, uint64_t complete_ns)
{
	uint64_t now_ns = clock_boot_ns();

	session_begin_budget(s);
	if (!s->options.duration_ns || *s->reason)
		return;
	s->due_ns = complete_ns + s->options.duration_ns;
	session_arm(s->deadline_fd, now_ns < s->due_ns ? s->due_ns - now_ns : 1, 0);
}

static void session_on_results(struct session *s)
{
	struct worker_results results;

	worker_fetch(s->worker, &results);
	s->worker_cpu_ns = results.cpu_ns;
	if (results.n_resumed != s->n_resumed) {
		s->n_resumed = results.n_resumed;
		session_store_begun(s, &results);
	}
	session_update_sheds(s, &results);
	s->quiet = results.quiet;
	s->detached = results.detached;
	s->unloaded = results.unloaded;
	if (results.error < 0 && s->error == 0) {
		session_set_error(s, results.error, TAKE_PTR(results.error_text));
		session_end(s, "could not start");
	}
	if (results.n_snapshots > s->n_snapshots_read) {
		s->n_snapshots_read = results.n_snapshots;
		s->snapshot_error = results.snapshot_error;
		s->snapshot_ns = clock_boot_ns();
	}
	s->n_searches = results.n_searches;
	s->search_error = results.search_error;
	if (results.started && !s->start_ns)
		session_on_started(s, &results);
	if (results.complete && !s->complete)
		session_on_complete(s, results.complete_ns);
	s->complete = results.complete;
	if (s->recorder.pipe.collector && !s->recorder.closed &&
	    recorder_add_samples(&s->recorder, &results) < 0)
		session_fail(s, -ENOMEM, "sample counters");
	if (s->recorder.pipe.collector && !s->recorder.closed &&
	    recorder_add_mappings(&s->recorder, &results) < 0)
		session_fail(s, -ENOMEM, "list the mappings");
	if (s->recorder.pipe.collector && !s->recorder.closed &&
	    recorder_add_waiting(&s->recorder, &results) < 0)
		session_fail(s, -ENOMEM, "keep the stacks of waiting threads");
	if (s->recorder.pipe.collector &&
	    recorder_learn(&s->recorder, &results, s->recorder.opened && session_writable(s)) < 0)
		session_fail(s, -ENOMEM, "save the identities of tasks");
	worker_results_deinit(&results);
}

/* Takes the next step towards the end, if it is due. */
static void session_advance(struct session *s)
{
	bool is_full;

	s->status = output_poll(s->output);
	if (s->status.error < 0 && s->error == 0) {
		is_full = s->status.error == -ENOSPC;
		session_set_error(s, s->status.error, NULL);
		if (asprintf(&s->error_text, "cannot write to the output: %s%s%s",
			     store_strerror(s->status.error),
			     is_full ? "; use a file system with more room (df -h)" : "",
			     is_full && !s->options.compress ? ", or --compress" : "") < 0)
			s->error_text = NULL;
		session_end(s, "output failed");
	}
	if (s->options.max_bytes && s->status.bytes >= s->options.max_bytes)
		session_end(s, "size");
	if (!s->detached)
		return;
	if (s->status.error == 0)
		session_drain(s);
	if (!s->unloading &&
	    (s->recorder.closed || !s->recorder.pipe.collector || s->status.error < 0)) {
		s->unloading = true;
		recorder_release(&s->recorder);
		session_arm(s->timer_fd, 0, 0);
		session_arm(s->deadline_fd, 0, 0);
		session_arm(s->check_fd, 0, 0);
		worker_order_unload(s->worker);
		output_finish(s->output);
	}
	s->written = s->unloading && s->status.done;
}

/* ---- the owner's side ---- */

static int session_make_descriptors(struct session *s)
{
	int r;

	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll_fd < 0)
		return -errno;
	s->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	r = session_watch(s, s->timer_fd);
	if (r < 0)
		return r;
	s->deadline_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	r = session_watch(s, s->deadline_fd);
	if (r < 0)
		return r;
	s->check_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	return session_watch(s, s->check_fd);
}

/* Returns true if STORE fits the mode. */
static bool session_store_valid(const struct session_options *o, const struct store *store)
{
	return flight_is(store) == (o->mode == SESSION_FLIGHT);
}

int session_new(struct session_options *options, struct store *store, struct session **ret)
{
	_cleanup_(session_freep) struct session *s = calloc(1, sizeof(*s));
	struct session_options defaulted = *options;
	int r;

	if (!s)
		return -ENOMEM;
	s->epoll_fd = s->timer_fd = s->deadline_fd = s->check_fd = s->recovered_fd = -1;
	if (defaulted.categories == 0)
		defaulted.categories = sampler_default_categories();
	if (session_options_complete(&defaulted) < 0 || !session_store_valid(&defaulted, store))
		return -EINVAL;
	defaulted.ring_bytes = collector_choose_ring_bytes(&defaulted);
	r = session_make_descriptors(s);
	if (r == 0)
		r = recorder_init(&s->recorder,
				  &(struct pipeline_owner){
					  .ask = session_query_task,
					  .fetch_memory = session_fetch_memory,
					  .check_files = session_check_files,
					  .examine = session_examine,
					  .is_gone = proc_sees_all() ? proc_is_gone : NULL,
					  .triggered = session_on_trigger,
					  .userdata = s,
				  });
	if (r == 0)
		r = (s->abandoned_threads = abandoned_threads_new(store->writer.uid)) ? 0 : -ENOMEM;
	r = r ?: worker_new(&defaulted, s->abandoned_threads, &s->worker)
		    ?: session_watch(s, worker_fd(s->worker));
	if (r == 0)
		r = output_new(store, fxt_whole_records, defaulted.compress, s->abandoned_threads,
			       /*
			        * The output is made last, because it takes ownership of the store.
			        */
			       &s->output);
	if (r < 0)
		return r;
	s->options = defaulted;
	*options = (struct session_options){ 0 };
	*ret = TAKE_PTR(s);
	return 0;
}

int session_new_recovered(struct session_options *options, int dir_fd, struct session **ret)
{
	_cleanup_(session_freep) struct session *s = calloc(1, sizeof(*s));
	_cleanup_(flight_snapshot_freep) struct flight_snapshot *left = NULL;
	enum pack_method packed = PACK_NONE;
	int r;

	if (!s)
		return -ENOMEM;
	s->epoll_fd = s->timer_fd = s->deadline_fd = s->check_fd = s->recovered_fd = -1;
	r = recorder_init(&s->recorder, &(struct pipeline_owner){ 0 });
	r = r ?: session_make_descriptors(s);
	r = r ?: flight_recover(dir_fd, &left) ?: flight_snapshot_packed(left, &packed);
	if (r < 0)
		return r;
	s->recovered_fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 3);
	if (s->recovered_fd < 0)
		return -errno;
	s->ordered = s->written = s->unloaded = true;
	s->reported = SESSION_FAILED;
	s->status.bytes = flight_snapshot_bytes(left);
	snprintf(s->reason, sizeof(s->reason), "service died");
	session_set_error(
		s, -EOWNERDEAD,
		strdup("the service ended before the session did; the kept data is available"));
	s->options = *options;
	s->options.compress = packed;
	s->options.flight_bytes = s->status.bytes;
	*options = (struct session_options){ 0 };
	*ret = TAKE_PTR(s);
	return 0;
}

struct session *session_free(struct session *s)
{
	if (!s)
		return NULL;
	snapshot_queue_deinit(&s->flights);
	close_fd(s->recovered_fd);
	recorder_deinit(&s->recorder);
	worker_free(s->worker);
	output_free(s->output);
	abandoned_threads_unref(s->abandoned_threads);
	close_fd(s->check_fd);
	close_fd(s->deadline_fd);
	close_fd(s->timer_fd);
	close_fd(s->epoll_fd);
	session_options_deinit(&s->options);
	costs_deinit(&s->costs);
	worker_results_deinit(&s->begun);
	free(s->error_text);
	return free_ptr(s);
}

uint64_t session_ring_memory(const struct session_options *o)
{
	struct session_options defaulted = {
		.categories = o->categories ?: sampler_default_categories(),
		.ring_bytes = o->ring_bytes,
		.default_rings_max = o->default_rings_max,
	};

	defaulted.ring_bytes = collector_choose_ring_bytes(&defaulted);
	return collector_memory(&defaulted) + collector_copies_memory(&defaulted) +
	       MERGE_SPARE_BYTES_ALL;
}

void session_set_changed(struct session *s, session_changed_fn fn, void *userdata)
{
	s->changed = fn;
	s->changed_userdata = userdata;
}

void session_set_triggered(struct session *s, session_triggered_fn fn, void *userdata)
{
	s->triggered = fn;
	s->triggered_userdata = userdata;
}

void session_set_providers(struct session *s, struct provider_links *links,
			   const struct providers_owner *owner)
{
	providers_stage_set_links(&s->recorder.providers, links, owner);
}

void session_leave_providers(struct session *s)
{
	providers_stage_leave(&s->recorder.providers);
}

const struct providers_stage *session_providers(const struct session *s)
{
	return &s->recorder.providers;
}

int session_start(struct session *s)
{
	int r;

	if (s->ordered)
		return -EALREADY;
	if (s->options.categories & CATEGORY_APP && !s->recorder.providers.context.links)
		return -EOPNOTSUPP;
	r = session_watch(s, output_fd(s->output));
	if (r < 0)
		return r;
	s->ordered = true;
	worker_order_start(s->worker);
	session_notify_changes(s);
	return 0;
}

int session_stop(struct session *s, const char *reason)
{
	if (!s->ordered)
		return -EINVAL;
	session_end(s, reason);
	session_notify_changes(s);
	return 0;
}

/* Returns 0 if something can be written now, or a negative errno. */
static int session_be_ready(struct session *s)
{
	if (session_state(s) != SESSION_RUNNING)
		return -ESHUTDOWN;
	if (!s->recorder.opened)
		session_drain(s);
	return s->recorder.opened && session_writable(s) ? 0 : -EAGAIN;
}

int session_mark(struct session *s, const char *text)
{
	/*
	 * A trigger can fire before the start is complete. The owner then writes a mark about the
	 * trigger, so this must be possible.
	 */
	bool begun =
		session_state(s) == SESSION_STARTING && s->recorder.opened && session_writable(s);
	int r = begun ? 0 : session_be_ready(s);

	return r < 0 ? r : recorder_mark(&s->recorder, text);
}

int session_begin_context(struct session *s, const char *name, uint32_t *ret_bit)
{
	int r = session_be_ready(s) ?: contexts_begin(&s->contexts, name, ret_bit);

	return r < 0 ? r : recorder_context(&s->recorder, name, *ret_bit, s->contexts.open);
}

int session_end_context(struct session *s, uint32_t bit)
{
	const char *name = NULL;
	int r = session_be_ready(s) ?: contexts_end(&s->contexts, bit, &name);

	return r < 0 ? r : recorder_context(&s->recorder, name, bit, s->contexts.open);
}

int session_snapshot(struct session *s, uint64_t *ret_number)
{
	int r = s->options.categories & CATEGORIES_MEMORY ? session_be_ready(s) : -EOPNOTSUPP;

	if (r == 0 && s->pause != SESSION_GOES)
		return -ESHUTDOWN;
	if (r == 0)
		*ret_number = worker_order_snapshot(s->worker);
	return r;
}

uint64_t session_snapshots(const struct session *s, int *ret_error)
{
	*ret_error = s->snapshot_error;
	return s->n_snapshots;
}

int session_search(struct session *s, uint32_t pid, uint64_t *ret_number)
{
	const struct session_options *o = &s->options;

	if (!(o->categories & CATEGORY_MEMORY) || o->memory.reach == MEMORY_REACH_NO)
		return -EOPNOTSUPP;
	if (session_state(s) != SESSION_RUNNING)
		return -ESHUTDOWN;
	*ret_number = worker_order_search(s->worker, pid);
	return *ret_number ? 0 : -EBUSY;
}

uint64_t session_searches(const struct session *s, int *ret_error)
{
	*ret_error = s->search_error;
	return s->n_searches;
}

const struct contexts *session_contexts(const struct session *s)
{
	return &s->contexts;
}

int session_fd(const struct session *s)
{
	return s->epoll_fd;
}

/*
 * Returns true if the recording ends with the selected processes. A recording of a command ends
 * with the command, as its owner decides. A flight recorder keeps its data.
 */
static bool session_ends_with_processes(const struct session *s)
{
	const struct session_options *o = &s->options;

	return o->filter.n_pids > 0 && !o->command_waits && o->mode != SESSION_FLIGHT &&
	       session_state(s) == SESSION_RUNNING && session_has_run(s) &&
	       s->pause == SESSION_GOES && s->recorder.pipe.collector;
}

/* Returns true if nothing more can be recorded, since the selected processes have ended. */
static bool session_has_lost_its_processes(const struct session *s)
{
	return session_ends_with_processes(s) &&
	       (s->ends_skipped || !collector_pids_live(s->recorder.pipe.collector));
}

/*
 * Finds out, once a second, whether the eBPF programs still count selected processes although all
 * of them have ended.
 */
static void session_check_processes(struct session *s)
{
	struct collector *c = s->recorder.pipe.collector;

	s->ends_skipped = session_ends_with_processes(s) && collector_skips_ends(c) &&
			  collector_pids_have_ended(c);
}

void session_dispatch(struct session *s)
{
	uint64_t before_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	struct epoll_event events[8];
	int n = epoll_wait(s->epoll_fd, events, ARRAY_SIZE(events), 0);
	bool due = false;

	for (int i = 0; i < n; i++) {
		int fd = events[i].data.fd;

		if (fd == s->timer_fd || fd == s->deadline_fd) {
			session_quiet_timer(fd);
			due = true;
			if (fd == s->deadline_fd)
				session_end(s, "duration");
		} else if (fd == s->check_fd) {
			session_quiet_timer(fd);
			session_check_budget(s);
			session_check_processes(s);
			due |= s->n_steps_written < s->n_steps || s->ends_skipped;
		} else if (s->worker && fd == worker_fd(s->worker)) {
			session_on_results(s);
			due |= s->quiet ||
			       /* The owner waits for the results that arrive in a pause. */
			       s->pause != SESSION_GOES;
		} else if (s->recorder.pipe.collector &&
			   fd == collector_doorbell_fd(s->recorder.pipe.collector)) {
			collector_answer_doorbell(s->recorder.pipe.collector);
			due = true;
		}
	}
	if (due && !s->detached)
		session_drain(s);
	if (s->stop_due)
		session_end(s, "moment");
	else if (due && session_has_lost_its_processes(s))
		session_end(s, SESSION_REASON_ENDED);
	if (s->output)
		session_advance(s);
	session_serve_snapshots(s);
	s->loop_cpu_ns += clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns;
	session_notify_trigger(s);
	session_notify_changes(s);
}

void session_counters(const struct session *s, struct session_counters *ret)
{
	*ret = (struct session_counters){
		.events = recorder_n_events(&s->recorder),
		.bytes = s->status.bytes,
		.dropped_bytes = s->status.dropped,
		.flight_limit = s->status.limit_known ? s->status.limit : s->options.flight_bytes,
		.daemon_cpu_ns = session_cpu_ns(s),
		.bpf = costs_total(&s->costs),
		.cost_ppm = s->budget.ppm,
		.n_cpus = machine_n_cpus(),
		.n_steps = s->n_steps,
		.snapshots_due = s->n_snapshots_due,
		.foreign_calls = s->recorder.calls.left_out_foreign,
		.triggers = recorder_n_triggers(&s->recorder),
		.start_ns = s->start_ns,
		.stop_ns = s->stop_ns,
	};
	for (enum category_group group = 0; group < GROUPS; group++)
		ret->events_of[group] = recorder_n_events_of(&s->recorder, group);
	for (enum event_class class = 0; class < CLASS_MAX; class ++)
		ret->lost[class] = recorder_lost(&s->recorder, class);
	memcpy(ret->walks, s->recorder.walks, sizeof(ret->walks));
	memcpy(ret->bpf_classes, s->costs.sums, sizeof(ret->bpf_classes));
}

const struct session_options *session_options(const struct session *s)
{
	return &s->options;
}

const char *session_reason(const struct session *s)
{
	return s->reason;
}

int session_error(const struct session *s, const char **ret_text)
{
	if (ret_text)
		*ret_text = s->error_text ? s->error_text : s->error < 0 ? strerror(-s->error) : "";
	return s->error;
}

char *session_refused_calls(const struct session *s, size_t i)
{
	const struct call_targets *targets = s->recorder.calls.targets;

	return targets ? call_targets_refused(targets, i) : NULL;
}

char *session_other_files(const struct session *s)
{
	return other_files_text(&s->recorder.profiler.others);
}
