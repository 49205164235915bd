/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The session: what its worker, its rings, its output and its timers do, brought together in the
 * owner's loop. docs/ARCHITECTURE.md, "A recording", tells the story.
 *
 * All records pass through drain(), in which the recorder writes them into the buffer of the moment.
 * Nothing here waits: when no buffer is to be had, records stay in their rings.
 */
#include "capture/session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include "capture/output.h"
#include "capture/recorder.h"
#include "capture/sampler.h"
#include "capture/worker.h"

/* How long a record may be on its way from the clock to the ring. */
#define MERGE_MARGIN_NS UINT64_C(5000000)

/* A buffer this full is handed on. */
enum { BUFFER_FULL = 256 << 10 };

/* A drain every half interval: what the first half left, the second one takes away. */
enum { DRAINS_PER_FLUSH = 2 };

const char *const session_state_names[SESSION_STATE_MAX] = {
	[SESSION_READY] = "ready",     [SESSION_STARTING] = "starting",
	[SESSION_RUNNING] = "running", [SESSION_DRAINING] = "draining",
	[SESSION_STOPPED] = "stopped", [SESSION_FAILED] = "failed",
};

struct session {
	struct session_options options;
	int epoll_fd;
	int timer_fd;    /* the next drain */
	int deadline_fd; /* the end of the duration */
	int look_fd;     /* the next look at what it costs */

	struct worker *worker;
	struct output *output;
	struct outbuf *buffer; /* being filled; NULL = none to be had */
	struct contexts contexts;
	struct recorder recorder;
	uint64_t archive_bytes; /* handed over, before they are packed */

	/* facts, from which the state follows */
	bool ordered;  /* session_start() was called */
	bool complete; /* all that is asked for has begun */
	bool quiet;    /* no program runs any more; what there is in tables is still being read */
	bool detached;
	bool unloading; /* ordered; the output has been told that nothing more comes */
	bool unloaded;
	bool written; /* the output has all, or never will */
	uint64_t start_ns, stop_ns;
	uint64_t n_snapshots_read,
		n_snapshots;  /* by the worker; and of those, handed to the output */
	uint64_t snapshot_ns; /* when the last one had been read */
	int snapshot_error;   /* of that one */
	char reason[32];
	int error;
	char *error_text;

	uint64_t loop_cpu_ns, worker_cpu_ns; /* of the owner's thread in here; of the worker */
	struct output_status status;
	struct costs costs;
	struct budget budget;
	struct session_shed sheds[SHED_MAX];
	size_t n_sheds, n_sheds_written;
	uint32_t shed_done; /* bits 1 << SHED_*: the worker says so */

	enum session_state told; /* last state that was told */
	uint64_t n_snapshots_told;
	size_t n_sheds_told;
	struct trigger fired; /* and not told yet, if its count is not 0 */
	session_triggered_fn triggered;
	void *triggered_userdata;
	session_changed_fn changed;
	void *changed_userdata;
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

static void tell_changes(struct session *s)
{
	enum session_state state = session_state(s);

	if (state == s->told && s->n_snapshots == s->n_snapshots_told &&
	    s->n_sheds == s->n_sheds_told)
		return;
	s->told = state;
	s->n_sheds_told = s->n_sheds;
	s->n_snapshots_told = s->n_snapshots;
	if (s->changed)
		s->changed(s, s->changed_userdata);
}

static void set_error(struct session *s, int error, char *text)
{
	if (s->error < 0) {
		free(text);
		return;
	}
	s->error = error;
	s->error_text = text;
}

/* The session ends here, whatever was planned. */
static void end(struct session *s, const char *reason)
{
	if (*s->reason)
		return;
	snprintf(s->reason, sizeof(s->reason), "%s", reason);
	s->stop_ns = clock_boot_ns();
	if (s->start_ns && s->options.duration_ns &&
	    s->stop_ns - s->start_ns > s->options.duration_ns)
		s->stop_ns = s->start_ns + s->options.duration_ns;
	recorder_set_end(&s->recorder, s->stop_ns);
	worker_order_detach(s->worker);
}

static void fail(struct session *s, int error, const char *deed)
{
	char *text;

	if (asprintf(&text, "cannot %s: %s", deed, strerror(-error)) < 0)
		text = NULL;
	set_error(s, error, text);
	end(s, "failed");
}

/* ---- timers ---- */

static void arm(int fd, uint64_t after_ns, uint64_t every_ns)
{
	const struct itimerspec when = {
		.it_value = { (time_t)(after_ns / 1000000000), (long)(after_ns % 1000000000) },
		.it_interval = { (time_t)(every_ns / 1000000000), (long)(every_ns % 1000000000) },
	};

	timerfd_settime(fd, 0, &when, NULL);
}

static void quiet_timer(int fd)
{
	uint64_t count;

	if (read(fd, &count, sizeof(count)) < 0)
		return; /* had not fired */
}

static int watch(struct session *s, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };

	if (fd < 0)
		return -errno;
	return epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0 ? -errno : 0;
}

/* ---- writing ---- */

/* A buffer to write into: the one at hand, or a new one. */
static bool have_buffer(struct session *s)
{
	if (!s->buffer) {
		s->buffer = output_take(s->output);
		if (s->buffer)
			recorder_set_buffer(&s->recorder, s->buffer);
	}
	return s->buffer != NULL;
}

static void hand_over(struct session *s)
{
	if (!s->buffer || s->buffer->size == 0)
		return;
	s->archive_bytes += s->buffer->size;
	output_put(s->output, TAKE_PTR(s->buffer));
}

static uint64_t cpu_ns(const struct session *s)
{
	return s->loop_cpu_ns + s->worker_cpu_ns + s->status.cpu_ns;
}

/* ---- what it costs ---- */

/* All that it has cost so far; the programs as long as they are there. */
static uint64_t look_at_costs(struct session *s)
{
	if (s->recorder.collector && s->costs.last)
		costs_look(&s->costs, collector_costs(s->recorder.collector));
	s->worker_cpu_ns = worker_cpu_ns(s->worker);
	return costs_total(&s->costs).ns + cpu_ns(s);
}

/* What has gone is told in the archive as soon as there is room. */
static int write_sheds(struct session *s)
{
	int r = 0;

	while (r == 0 && s->n_sheds_written < s->n_sheds) {
		const struct session_shed *shed = &s->sheds[s->n_sheds_written++];

		r = recorder_shed(&s->recorder, shed->ts_ns, budget_shed_names[shed->what],
				  shed->cost_ppm, shed->limit_ppm);
	}
	return r;
}

static void shed(struct session *s, enum budget_shed what, uint64_t now_ns)
{
	s->sheds[s->n_sheds++] = (struct session_shed){
		.what = what,
		.ts_ns = now_ns,
		.cost_ppm = s->budget.ppm,
		.limit_ppm = s->budget.limit_ppm,
	};
	if (what == SHED_SESSION) {
		end(s, "overhead");
		return;
	}
	s->budget.begun = false; /* until it has gone */
	worker_order_shed(s->worker, what);
}

static void look(struct session *s)
{
	uint64_t now_ns = clock_boot_ns(), cost_ns = look_at_costs(s);
	enum budget_shed what;

	if (*s->reason || !s->complete)
		return;
	what = budget_look(&s->budget, now_ns, cost_ns);
	if (what < SHED_MAX)
		shed(s, what, now_ns);
}

/* From when all that was asked for has begun: loading is not what a recording costs. */
static void begin_looks(struct session *s)
{
	uint32_t categories = s->options.categories;

	s->budget.limit_ppm = s->options.max_overhead_ppm;
	s->budget.there = UINT32_C(1) << SHED_SESSION;
	if (categories & CATEGORIES_STACKS)
		s->budget.there |= UINT32_C(1) << SHED_STACKS;
	if (categories & CATEGORY_SCHED)
		s->budget.there |= UINT32_C(1) << SHED_WAKEUPS;
	budget_begin(&s->budget, clock_boot_ns(), look_at_costs(s));
	arm(s->look_fd, BUDGET_LOOK_NS, BUDGET_LOOK_NS);
}

/* After each record: hands the buffer on when it is full. Ends the round if there is no other. */
static int after_record(void *userdata)
{
	struct session *s = userdata;

	if (s->buffer->size < BUFFER_FULL)
		return 0;
	hand_over(s);
	return have_buffer(s) ? 0 : 1;
}

static bool ask(uint32_t tid, void *userdata)
{
	struct session *s = userdata;

	return worker_order_lookup(s->worker, tid);
}

static bool take_memory(struct outbuf *ret, void *userdata)
{
	struct session *s = userdata;

	return worker_take_memory(s->worker, ret);
}

static void look_at_files(uint32_t pid, void *userdata)
{
	struct session *s = userdata;

	worker_order_look(s->worker, pid);
}

/* It is told of when what is being drained has been written. */
static void on_trigger(const struct trigger *t, void *userdata)
{
	struct session *s = userdata;

	if (s->fired.count == 0)
		s->fired = *t;
}

static void tell_trigger(struct session *s)
{
	const struct trigger fired = s->fired;

	s->fired.count = 0;
	if (fired.count && s->triggered)
		s->triggered(s, &fired, s->triggered_userdata);
}

/* Whether records can be written now. */
static bool writable(struct session *s)
{
	return s->recorder.collector && !s->recorder.closed && have_buffer(s);
}

static int close_archive(struct session *s)
{
	look_at_costs(s);
	return recorder_close(&s->recorder, &(struct recorder_end){
						    .reason = s->reason,
						    .bytes = s->archive_bytes + s->buffer->size,
						    .daemon_cpu_ns = cpu_ns(s),
						    .bpf_cpu_ns = costs_total(&s->costs).ns,
					    });
}

/* Takes from the rings what is old enough, and hands it to the output. */
static void drain(struct session *s)
{
	/* Once the programs are gone, nothing comes any more. */
	uint64_t horizon_ns = s->quiet ? MERGE_ALL : clock_boot_ns() - MERGE_MARGIN_NS;
	int r = 0;

	if (!writable(s))
		return;
	if (!s->recorder.opened)
		r = recorder_open(&s->recorder, &s->options);
	if (r == 0)
		r = write_sheds(s);
	if (r == 0)
		r = recorder_round(&s->recorder, horizon_ns);
	if (r == 0 && horizon_ns >= s->snapshot_ns)
		s->n_snapshots = s->n_snapshots_read;
	if (r == 0 && s->detached)
		r = close_archive(s);
	if (r < 0) {
		fail(s, r, "write the archive");
		s->recorder.closed = true; /* nothing more will come of it */
	}
	hand_over(s);
}

/* ---- news ---- */

static void on_started(struct session *s, const struct worker_news *news)
{
	int r = recorder_begin(&s->recorder, news, &s->options);

	if (r == 0)
		r = costs_init(&s->costs, collector_n_cpus(news->collector));
	if (r == 0)
		r = watch(s, collector_doorbell_fd(news->collector));
	s->start_ns = news->start_ns;
	if (*s->reason) { /* stopped while it was starting: an empty recording */
		s->stop_ns = s->start_ns;
		recorder_set_end(&s->recorder, s->stop_ns);
	}
	if (r < 0) {
		fail(s, r, "begin the recording");
		s->recorder.closed = true;
		return;
	}
	arm(s->timer_fd, s->options.flush_ns / DRAINS_PER_FLUSH,
	    s->options.flush_ns / DRAINS_PER_FLUSH);
	if (s->options.duration_ns) {
		uint64_t gone = clock_boot_ns() - s->start_ns;

		arm(s->deadline_fd,
		    gone < s->options.duration_ns ? s->options.duration_ns - gone : 1, 0);
	}
}

static void on_news(struct session *s)
{
	struct worker_news news;

	worker_fetch(s->worker, &news);
	s->worker_cpu_ns = news.cpu_ns;
	if (news.shed != s->shed_done) {
		s->shed_done = news.shed;
		budget_begin(&s->budget, clock_boot_ns(), look_at_costs(s));
	}
	s->quiet = news.quiet;
	s->detached = news.detached;
	s->unloaded = news.unloaded;
	if (news.error < 0 && s->error == 0) {
		set_error(s, news.error, TAKE_PTR(news.error_text));
		end(s, "could not start");
	}
	if (news.n_snapshots > s->n_snapshots_read) {
		s->n_snapshots_read = news.n_snapshots;
		s->snapshot_error = news.snapshot_error;
		s->snapshot_ns = clock_boot_ns();
	}
	if (news.started && !s->start_ns)
		on_started(s, &news);
	if (news.complete && !s->complete)
		begin_looks(s);
	s->complete = news.complete;
	if (s->recorder.collector && !s->recorder.closed &&
	    recorder_add_samples(&s->recorder, &news) < 0)
		fail(s, -ENOMEM, "sample counters");
	if (s->recorder.collector && !s->recorder.closed &&
	    recorder_add_mappings(&s->recorder, &news) < 0)
		fail(s, -ENOMEM, "list what is mapped");
	if (s->recorder.collector &&
	    recorder_learn(&s->recorder, &news, s->recorder.opened && writable(s)) < 0)
		fail(s, -ENOMEM, "remember who is who");
	worker_news_deinit(&news);
}

/* The next step towards the end, when it is time for it. */
static void go_on(struct session *s)
{
	s->status = output_poll(s->output);
	if (s->status.error < 0 && s->error == 0) {
		set_error(s, s->status.error, NULL);
		if (asprintf(&s->error_text, "cannot write to the output: %s",
			     strerror(-s->status.error)) < 0)
			s->error_text = NULL;
		end(s, "output failed");
	}
	if (s->options.max_bytes && s->status.bytes >= s->options.max_bytes)
		end(s, "size");
	if (!s->detached)
		return;
	if (s->status.error == 0)
		drain(s);
	if (!s->unloading &&
	    (s->recorder.closed || !s->recorder.collector || s->status.error < 0)) {
		s->unloading = true;
		recorder_let_go(&s->recorder);
		arm(s->timer_fd, 0, 0);
		arm(s->deadline_fd, 0, 0);
		arm(s->look_fd, 0, 0);
		worker_order_unload(s->worker);
		output_finish(s->output);
	}
	s->written = s->unloading && s->status.done;
}

/* ---- the owner's side ---- */

static int make_descriptors(struct session *s)
{
	int r;

	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll_fd < 0)
		return -errno;
	s->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	r = watch(s, s->timer_fd);
	if (r < 0)
		return r;
	s->deadline_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	r = watch(s, s->deadline_fd);
	if (r < 0)
		return r;
	s->look_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	return watch(s, s->look_fd);
}

/* Samples, too, where they can be taken. */
static uint32_t default_categories(void)
{
	int error;

	return sampler_clock(&error) ? CATEGORIES_DEFAULT : CATEGORIES_DEFAULT & ~CATEGORY_PROFILE;
}

static bool memory_options_valid(const struct memory_options *o)
{
	return o->blocks_max >= MEMORY_BLOCKS_MIN && o->blocks_max <= MEMORY_BLOCKS_MAX &&
	       o->interval <= MEMORY_INTERVAL_MAX && o->min_bytes <= MEMORY_SIZE_MAX &&
	       o->usage_interval_ns >= USAGE_NS_MIN && o->usage_interval_ns <= USAGE_NS_MAX &&
	       o->triage_interval_ns >= TRIAGE_NS_MIN && o->triage_interval_ns <= TRIAGE_NS_MAX &&
	       o->reach < MEMORY_REACH_MAX && o->n_allocator_fds <= ALLOCATOR_FILES_MAX;
}

static bool options_valid(const struct session_options *o)
{
	return session_name_valid(o->name) && o->flush_ns >= FLUSH_NS_MIN &&
	       o->flush_ns <= FLUSH_NS_MAX && o->counter_interval_ns >= COUNTER_NS_MIN &&
	       o->counter_interval_ns <= COUNTER_NS_MAX && o->frequency <= FREQUENCY_MAX &&
	       o->offcpu_min_ns >= OFFCPU_NS_MIN && o->offcpu_min_ns <= OFFCPU_NS_MAX &&
	       o->ring_bytes <= RING_BYTES_MAX &&
	       (o->ring_bytes == 0 || o->ring_bytes >= RING_BYTES_MIN) &&
	       (o->max_overhead_ppm == 0 || o->max_overhead_ppm >= OVERHEAD_PPM_MIN) &&
	       o->compress < PACK_METHOD_MAX && memory_options_valid(&o->memory) &&
	       !session_options_refused(o) && o->filter.n_pids <= FILTER_PIDS_MAX &&
	       o->filter.n_uids <= FILTER_VALUES_MAX && o->filter.n_comms <= FILTER_VALUES_MAX &&
	       o->filter.n_cgroups <= FILTER_CGROUPS_MAX;
}

int session_new(struct session_options *options, int output_fd, struct session **ret)
{
	_cleanup_(session_freep) struct session *s = calloc(1, sizeof(*s));
	struct session_options defaulted = *options;
	int r;

	if (!s)
		return -ENOMEM;
	s->epoll_fd = s->timer_fd = s->deadline_fd = s->look_fd = -1;
	if (defaulted.flush_ns == 0)
		defaulted.flush_ns = FLUSH_NS_DEFAULT;
	if (defaulted.categories == 0)
		defaulted.categories = default_categories();
	if (defaulted.frequency == 0)
		defaulted.frequency = FREQUENCY_DEFAULT;
	if (defaulted.offcpu_min_ns == 0)
		defaulted.offcpu_min_ns = OFFCPU_NS_DEFAULT;
	if (defaulted.counter_interval_ns == 0)
		defaulted.counter_interval_ns = COUNTER_NS_DEFAULT;
	if (defaulted.triggers.interval_ns == 0)
		defaulted.triggers.interval_ns = TRIGGER_INTERVAL_NS_DEFAULT;
	if (defaulted.memory.blocks_max == 0)
		defaulted.memory.blocks_max = MEMORY_BLOCKS_DEFAULT;
	if (defaulted.memory.usage_interval_ns == 0)
		defaulted.memory.usage_interval_ns = USAGE_NS_DEFAULT;
	if (defaulted.memory.triage_interval_ns == 0)
		defaulted.memory.triage_interval_ns = TRIAGE_NS_DEFAULT;
	if (!options_valid(&defaulted))
		return -EINVAL;
	defaulted.ring_bytes = collector_choose_ring_bytes(defaulted.ring_bytes);
	r = make_descriptors(s);
	if (r == 0)
		r = recorder_init(&s->recorder);
	if (r == 0)
		r = worker_new(&defaulted, &s->worker);
	if (r == 0)
		r = watch(s, worker_fd(s->worker));
	if (r == 0)
		r = output_new(output_fd, fxt_whole_records, defaulted.compress,
			       &s->output); /* last: it takes the descriptor over */
	if (r < 0)
		return r;
	s->recorder.after_record = after_record;
	s->recorder.ask = ask;
	s->recorder.take_memory = take_memory;
	s->recorder.look = look_at_files;
	s->recorder.triggered = on_trigger;
	s->recorder.userdata = s;
	s->options = defaulted;
	*options = (struct session_options){ 0 };
	*ret = TAKE_PTR(s);
	return 0;
}

struct session *session_free(struct session *s)
{
	if (!s)
		return NULL;
	recorder_deinit(&s->recorder);
	worker_free(s->worker);
	output_free(s->output);
	close_fd(s->look_fd);
	close_fd(s->deadline_fd);
	close_fd(s->timer_fd);
	close_fd(s->epoll_fd);
	session_options_deinit(&s->options);
	costs_deinit(&s->costs);
	free(s->error_text);
	free(s);
	return NULL;
}

uint64_t session_ring_memory(const struct session_options *o)
{
	struct session_options defaulted = {
		.categories = o->categories ?: default_categories(),
		.ring_bytes = collector_choose_ring_bytes(o->ring_bytes),
	};

	return collector_memory(&defaulted);
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

int session_start(struct session *s)
{
	int r;

	if (s->ordered)
		return -EALREADY;
	r = watch(s, output_fd(s->output));
	if (r < 0)
		return r;
	s->ordered = true;
	worker_order_start(s->worker);
	tell_changes(s);
	return 0;
}

int session_stop(struct session *s, const char *reason)
{
	if (!s->ordered)
		return -EINVAL;
	end(s, reason);
	tell_changes(s);
	return 0;
}

/* Whether something can be written at this moment. */
static int be_ready(struct session *s)
{
	if (session_state(s) != SESSION_RUNNING)
		return -ESHUTDOWN;
	if (!s->recorder.opened)
		drain(s);
	return s->recorder.opened && writable(s) ? 0 : -EAGAIN;
}

int session_mark(struct session *s, const char *text)
{
	int r = be_ready(s);

	return r < 0 ? r : recorder_mark(&s->recorder, text);
}

int session_begin_context(struct session *s, const char *name, uint32_t *ret_bit)
{
	int r = be_ready(s);

	if (r == 0)
		r = contexts_begin(&s->contexts, name, ret_bit);
	return r < 0 ? r : recorder_context(&s->recorder, name, *ret_bit, s->contexts.open);
}

int session_end_context(struct session *s, uint32_t bit)
{
	const char *name = NULL;
	int r = be_ready(s);

	if (r == 0)
		r = contexts_end(&s->contexts, bit, &name);
	return r < 0 ? r : recorder_context(&s->recorder, name, bit, s->contexts.open);
}

int session_snapshot(struct session *s, uint64_t *ret_number)
{
	int r = s->options.categories & CATEGORIES_MEMORY ? be_ready(s) : -EOPNOTSUPP;

	if (r == 0)
		*ret_number = worker_order_snapshot(s->worker);
	return r;
}

uint64_t session_snapshots(const struct session *s, int *ret_error)
{
	*ret_error = s->snapshot_error;
	return s->n_snapshots;
}

const struct contexts *session_contexts(const struct session *s)
{
	return &s->contexts;
}

int session_fd(const struct session *s)
{
	return s->epoll_fd;
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
			quiet_timer(fd);
			due = true;
			if (fd == s->deadline_fd)
				end(s, "duration");
		} else if (fd == s->look_fd) {
			quiet_timer(fd);
			look(s);
			due |= s->n_sheds_written < s->n_sheds;
		} else if (fd == worker_fd(s->worker)) {
			on_news(s);
			due |= s->quiet; /* what is read then is waited for */
		} else if (s->recorder.collector &&
			   fd == collector_doorbell_fd(s->recorder.collector)) {
			collector_answer_doorbell(s->recorder.collector);
			due = true;
		}
	}
	if (due && !s->detached)
		drain(s);
	go_on(s);
	s->loop_cpu_ns += clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns;
	tell_trigger(s);
	tell_changes(s);
}

void session_counters(const struct session *s, struct session_counters *ret)
{
	*ret = (struct session_counters){
		.events = recorder_n_events(&s->recorder),
		.bytes = s->status.bytes,
		.daemon_cpu_ns = cpu_ns(s),
		.bpf = costs_total(&s->costs),
		.cost_ppm = s->budget.ppm,
		.triggers = recorder_n_triggers(&s->recorder),
		.start_ns = s->start_ns,
		.stop_ns = s->stop_ns,
	};
	for (enum event_class class = 0; class < CLASS_MAX; class ++)
		ret->lost[class] = recorder_lost(&s->recorder, class);
	memcpy(ret->bpf_classes, s->costs.sums, sizeof(ret->bpf_classes));
}

const struct session_shed *session_sheds(const struct session *s, size_t *ret_n)
{
	*ret_n = s->n_sheds;
	return s->sheds;
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
