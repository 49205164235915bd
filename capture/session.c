/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The session: what its worker, its rings, its output and its timers do, brought together in the
 * owner's loop. docs/ARCHITECTURE.md, "A recording", tells the story.
 *
 * All records pass through drain(), in which merge hands them to schedule and lifecycle, and those
 * write into the buffer of the moment. Nothing here waits: when no buffer is to be had, records
 * stay in their rings.
 */
#include "capture/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <sys/utsname.h>

#include "base/text.h"
#include "capture/lifecycle.h"
#include "capture/merge.h"
#include "capture/output.h"
#include "capture/schedule.h"
#include "capture/worker.h"
#include "writer/fxt/fxt-archive.h"

/* How long a record may be on its way from the clock to the ring. */
#define MERGE_MARGIN_NS UINT64_C(5000000)

/* A buffer this full is handed on. */
enum { BUFFER_FULL = 256 << 10, MARK_MAX = 256 };

/* A drain every half interval: what the first half left, the second one takes away. */
enum { DRAINS_PER_FLUSH = 2 };

const char *const session_state_names[SESSION_STATE_MAX] = {
	[SESSION_READY] = "ready",	   [SESSION_STARTING] = "starting",
	[SESSION_RUNNING] = "running",	   [SESSION_DRAINING] = "draining",
	[SESSION_STOPPED] = "stopped",	   [SESSION_FAILED] = "failed",
};

struct session {
	struct session_options options;
	int epoll_fd;
	int timer_fd;	 /* the next drain */
	int deadline_fd; /* the end of the duration */

	struct worker *worker;
	struct output *output;
	struct outbuf *buffer; /* being filled; NULL = none to be had */
	struct fxt_archive archive;
	struct tasks tasks;
	struct schedule schedule;
	struct lifecycle lifecycle;

	/* borrowed from the worker, from start to unload */
	struct collector *collector;
	struct merge *merge;
	unsigned n_cpus;

	/* facts, from which the state follows */
	bool ordered;	/* session_start() was called */
	bool opened;	/* the head of the archive is written */
	bool detached;
	bool closed;	/* the end of the archive is written */
	bool unloading; /* ordered; the output has been told that nothing more comes */
	bool unloaded;
	bool written; /* the output has all, or never will */
	uint64_t start_ns, listed_ns, stop_ns;
	char reason[32];
	int error;
	char *error_text;

	uint64_t n_marks;
	uint64_t loop_cpu_ns, worker_cpu_ns; /* of the owner's thread in here; of the worker */
	struct output_status status;
	uint64_t *running; /* per CPU, as listed: tid in the low half, prio in the high one */

	enum session_state told; /* last state that was told */
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
	return s->start_ns ? SESSION_RUNNING : SESSION_STARTING;
}

static void tell_changes(struct session *s)
{
	enum session_state state = session_state(s);

	if (state == s->told)
		return;
	s->told = state;
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
	s->schedule.to_ns = s->lifecycle.to_ns = s->stop_ns;
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
			fxt_archive_set_output(&s->archive, s->buffer);
	}
	return s->buffer != NULL;
}

static void hand_over(struct session *s)
{
	if (!s->buffer || s->buffer->size == 0)
		return;
	output_put(s->output, TAKE_PTR(s->buffer));
}

/* After each record: ends the round when the buffer is full and there is no other. */
static int after_record(struct session *s, int r)
{
	if (r < 0 || s->buffer->size < BUFFER_FULL)
		return r;
	hand_over(s);
	return have_buffer(s) ? 0 : 1;
}

static int on_words(unsigned cpu, uint64_t *words, unsigned n_words, void *userdata)
{
	struct session *s = userdata;

	return after_record(s, schedule_record(&s->schedule, cpu, words, n_words));
}

static int on_loss_begins(unsigned cpu, const struct ring_lost *mark, void *userdata)
{
	struct session *s = userdata;

	return after_record(s, schedule_loss_begins(&s->schedule, cpu, mark));
}

static int on_loss_ends(unsigned cpu, const struct ring_lost *mark, void *userdata)
{
	struct session *s = userdata;

	return after_record(s, schedule_loss_ends(&s->schedule, cpu, mark));
}

static int on_lifecycle(const struct rec_head *rec, void *userdata)
{
	struct session *s = userdata;

	return after_record(s, lifecycle_record(&s->lifecycle, rec));
}

static int announce(uint32_t tid, void *userdata)
{
	struct session *s = userdata;

	return lifecycle_announce(&s->lifecycle, tid);
}

static void ask(uint32_t tid, void *userdata)
{
	struct session *s = userdata;

	worker_order_lookup(s->worker, tid);
}

static uint64_t n_events(const struct session *s)
{
	return s->schedule.n_events + s->lifecycle.n_events + s->n_marks;
}

static uint64_t total_lost(const struct session *s)
{
	return s->schedule.lost + s->lifecycle.lost;
}

static uint64_t cpu_ns(const struct session *s)
{
	return s->loop_cpu_ns + s->worker_cpu_ns + s->status.cpu_ns;
}

static int write_clock(struct session *s, uint64_t ts_ns)
{
	return fxt_archive_event(&s->archive, &(struct event){ .kind = EVENT_CLOCK,
							       .ts_ns = ts_ns,
							       .clock = clock_snapshot() });
}

/* What ran on CPU when the recording began, and has since before it. */
static int open_cpu(struct session *s, unsigned cpu)
{
	uint32_t tid = (uint32_t)s->running[cpu];
	int32_t prio = (int32_t)(s->running[cpu] >> 32);
	const uint64_t *words;
	bool loss;

	/* A switch before the list was complete knows better than the list. (Words: FXT_SCHED_SWITCH
	 * as sched.bpf.c writes it.) */
	words = merge_peek_switch(s->merge, cpu, s->start_ns, s->listed_ns, &loss);
	if (words) {
		tid = (uint32_t)words[2];
		prio = (int32_t)fxt_get_arg_value32(words[4]);
	} else if (loss) {
		tid = 0;
	}
	return schedule_open(&s->schedule, cpu, tid, prio);
}

/* Whether a CPU is there now. Without sysfs all are taken to be. */
static bool cpu_online(unsigned cpu)
{
	char path[64], state = '1';
	_cleanup_close_ int fd = -1;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", cpu);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 || read(fd, &state, 1) != 1 || state != '0';
}

static int announce_all(struct session *s)
{
	struct task *task;
	size_t pos = 0;
	int r = 0;

	while (r == 0 && (task = table_next(&s->tasks.by_tid, &pos)))
		if (!tasks_announced(&s->tasks, task->tid))
			r = lifecycle_announce(&s->lifecycle, task->tid);
	return r;
}

static int write_start(struct session *s)
{
	_cleanup_free_ char *options = session_options_describe(&s->options);
	char command[1024];
	struct utsname u;

	uname(&u);
	if (!options)
		return -ENOMEM;
	text_clean(command, sizeof(command), s->options.command ?: "",
		   strlen(s->options.command ?: ""));
	return fxt_archive_event(&s->archive, &(struct event){
						      .kind = EVENT_START,
						      .ts_ns = s->start_ns,
						      .start = {
							      .session = s->options.name,
							      .command = command,
							      .options = options,
							      .kernel = u.release,
							      .machine = u.machine,
							      .host = u.nodename,
							      .version = KYMO_VERSION,
							      .n_cpus = s->n_cpus,
							      .filtered = s->schedule.filtered,
						      },
					      });
}

/* The head of the archive, up to the first record that happens. */
static int open_archive(struct session *s)
{
	int r = fxt_archive_begin(&s->archive);

	if (r == 0)
		r = write_start(s);
	if (r == 0)
		r = write_clock(s, s->start_ns);
	/* A filtered archive names only those whom it shows. */
	if (r == 0 && !s->schedule.filtered)
		r = announce_all(s);
	for (unsigned cpu = 0; r == 0 && cpu < s->n_cpus; cpu++) {
		if (s->schedule.filtered)
			r = schedule_open(&s->schedule, cpu, FXT_KOID_OTHER, 120);
		else if (cpu_online(cpu))
			r = open_cpu(s, cpu);
	}
	s->opened = r == 0;
	return r;
}

/* What the programs counted and could not mark any more, since nothing followed. */
static int write_trailing_loss(struct session *s)
{
	int r = 0;

	for (unsigned cpu = 0; r == 0 && cpu < s->n_cpus; cpu++) {
		struct collector_lost sched =
			collector_pending_lost(s->collector, CLASS_SCHED, cpu);
		struct collector_lost lifecycle =
			collector_pending_lost(s->collector, CLASS_LIFECYCLE, cpu);

		if (sched.count)
			r = schedule_loss_begins(&s->schedule, cpu,
						 &(struct ring_lost){ .count = sched.count,
								      .first_ns = sched.first_ns,
								      .last_ns = sched.last_ns });
		if (r == 0 && lifecycle.count)
			r = lifecycle_record(&s->lifecycle,
					     &(struct rec_lost){
						     .head = { .kind = REC_LOST,
							       .cpu = (uint16_t)cpu },
						     .count = lifecycle.count,
						     .first_ns = lifecycle.first_ns,
						     .last_ns = lifecycle.last_ns }
						      .head);
	}
	return r;
}

static int close_archive(struct session *s)
{
	int r = write_trailing_loss(s);

	if (r == 0)
		r = schedule_close(&s->schedule);
	if (r == 0)
		r = write_clock(s, s->stop_ns);
	if (r < 0)
		return r;
	return fxt_archive_event(&s->archive,
				 &(struct event){
					 .kind = EVENT_STOP,
					 .ts_ns = s->stop_ns,
					 .stop = {
						 .reason = s->reason,
						 .events = n_events(s),
						 .lost = total_lost(s),
						 .dismissed = s->schedule.n_dismissed,
						 .unreported = s->schedule.n_unreported,
						 .bytes = s->status.bytes + s->buffer->size,
						 .daemon_cpu_ns = cpu_ns(s),
					 },
				 });
}

/* Takes from the rings what is old enough, and hands it to the output. */
static void drain(struct session *s)
{
	const struct merge_sink sink = { on_words, on_loss_begins, on_loss_ends, on_lifecycle, s };
	uint64_t horizon_ns = clock_boot_ns() - MERGE_MARGIN_NS;
	int r = 0;

	if (!s->collector || s->closed || !have_buffer(s))
		return;
	if (s->detached)
		horizon_ns = MERGE_ALL; /* nothing comes any more */
	if (!s->opened)
		r = open_archive(s);
	if (r == 0)
		r = merge_round(s->merge, horizon_ns, &sink);
	if (r == 0 && s->detached) {
		r = close_archive(s);
		s->closed = true;
	}
	if (r < 0) {
		fail(s, r, "write the archive");
		s->closed = s->detached; /* nothing more will come of it */
	}
	hand_over(s);
}

/* ---- news ---- */

static void learn_task(struct session *s, const struct rec_task *rec, bool wanted)
{
	if (rec->task.flags & IDENTITY_ON_CPU && rec->head.cpu < s->n_cpus)
		s->running[rec->head.cpu] = (uint64_t)(uint32_t)rec->task.prio << 32 | rec->task.tid;
	if (lifecycle_learned(&s->lifecycle, &rec->task, wanted) < 0)
		fail(s, -ENOMEM, "remember who is who");
}

static void learn_commands(struct session *s, const struct outbuf *commands)
{
	const struct worker_command *head;

	for (size_t at = 0; at + sizeof(*head) <= commands->size;
	     at += sizeof(*head) + ((head->size + 7) & ~7u)) {
		head = (const struct worker_command *)(commands->data + at);
		/* Known already: the process has exec'ed meanwhile, and that record is newer. */
		if (tasks_get(&s->tasks, head->tid) && tasks_get(&s->tasks, head->tid)->command_line)
			continue;
		if (tasks_set_command(&s->tasks, head->tid, head->start_ns,
				      (const char *)(head + 1), head->size) > 0 &&
		    !s->schedule.filtered && s->opened && !s->closed && have_buffer(s) &&
		    lifecycle_announce(&s->lifecycle, head->tid) < 0)
			return fail(s, s->buffer->error, "write the archive");
	}
}

static int begin_recording(struct session *s, const struct worker_news *news)
{
	const struct rec_task *list = (const struct rec_task *)news->tasks.data;
	size_t n_tasks = news->tasks.size / sizeof(*list);
	int r;

	s->collector = news->collector;
	s->n_cpus = collector_n_cpus(s->collector);
	s->running = calloc(s->n_cpus, sizeof(*s->running));
	if (!s->running)
		return -ENOMEM;
	r = merge_new(s->collector, &s->merge);
	if (r == 0)
		r = fxt_archive_init(&s->archive, NULL, s->n_cpus);
	if (r == 0)
		r = schedule_init(&s->schedule, &s->archive, &s->tasks, s->n_cpus);
	if (r < 0)
		return r;
	s->start_ns = news->start_ns;
	s->listed_ns = news->listed_ns;
	s->schedule.filtered = s->options.filter.n_pids || s->options.filter.n_uids ||
			       s->options.filter.n_comms || s->options.filter.n_cgroups;
	s->schedule.from_ns = s->start_ns;
	s->schedule.announce = announce;
	s->schedule.userdata = s;
	s->lifecycle.from_ns = s->start_ns;
	s->lifecycle.to_ns = UINT64_MAX;
	for (size_t i = 0; i < n_tasks; i++)
		learn_task(s, &list[i], false);
	return watch(s, collector_doorbell_fd(s->collector));
}

static void on_started(struct session *s, const struct worker_news *news)
{
	int r = begin_recording(s, news);

	if (*s->reason) { /* stopped while it was starting: an empty recording */
		s->stop_ns = s->start_ns;
		s->schedule.to_ns = s->lifecycle.to_ns = s->stop_ns;
	}
	if (r < 0) {
		fail(s, r, "begin the recording");
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
	const struct rec_task *asked;

	worker_fetch(s->worker, &news);
	s->worker_cpu_ns = news.cpu_ns;
	s->detached = news.detached;
	s->unloaded = news.unloaded;
	if (news.error < 0 && !s->start_ns) {
		set_error(s, news.error, TAKE_PTR(news.error_text));
		end(s, "could not start");
	}
	if (news.started && !s->start_ns)
		on_started(s, &news);
	if (s->collector) {
		asked = (const struct rec_task *)news.looked_up.data;
		for (size_t i = 0; i < news.looked_up.size / sizeof(*asked); i++)
			learn_task(s, &asked[i], s->opened && !s->closed && have_buffer(s));
		learn_commands(s, &news.commands);
	}
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
	if (s->collector && !s->closed && s->status.error == 0)
		drain(s);
	if (!s->unloading && (s->closed || !s->collector || s->status.error < 0)) {
		s->unloading = s->closed = true;
		s->merge = merge_free(s->merge);
		s->collector = NULL;
		arm(s->timer_fd, 0, 0);
		arm(s->deadline_fd, 0, 0);
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
	return watch(s, s->deadline_fd);
}

static bool options_valid(const struct session_options *o)
{
	return session_name_valid(o->name) && o->flush_ns >= FLUSH_NS_MIN &&
	       o->flush_ns <= FLUSH_NS_MAX && o->ring_bytes <= RING_BYTES_MAX &&
	       (o->ring_bytes == 0 || o->ring_bytes >= RING_BYTES_MIN) &&
	       o->filter.n_pids <= FILTER_PIDS_MAX && o->filter.n_uids <= FILTER_VALUES_MAX &&
	       o->filter.n_comms <= FILTER_VALUES_MAX && o->filter.n_cgroups <= FILTER_CGROUPS_MAX;
}

int session_new(struct session_options *options, int output_fd, struct session **ret)
{
	_cleanup_(session_freep) struct session *s = calloc(1, sizeof(*s));
	struct session_options defaulted = *options;
	int r;

	if (!s)
		return -ENOMEM;
	s->epoll_fd = s->timer_fd = s->deadline_fd = -1;
	if (defaulted.flush_ns == 0)
		defaulted.flush_ns = FLUSH_NS_DEFAULT;
	if (defaulted.categories == 0)
		defaulted.categories = CATEGORY_SCHED;
	if (!options_valid(&defaulted))
		return -EINVAL;
	r = make_descriptors(s);
	if (r == 0)
		r = tasks_init(&s->tasks);
	if (r == 0)
		r = worker_new(&defaulted, &s->worker);
	if (r == 0)
		r = watch(s, worker_fd(s->worker));
	if (r == 0)
		r = output_new(output_fd, &s->output); /* last: it takes the descriptor over */
	if (r < 0)
		return r;
	s->lifecycle.archive = &s->archive;
	s->lifecycle.tasks = &s->tasks;
	s->lifecycle.ask = ask;
	s->lifecycle.userdata = s;
	s->options = defaulted;
	*options = (struct session_options){ 0 };
	*ret = TAKE_PTR(s);
	return 0;
}

struct session *session_free(struct session *s)
{
	if (!s)
		return NULL;
	merge_free(s->merge);
	schedule_deinit(&s->schedule);
	fxt_archive_deinit(&s->archive);
	tasks_deinit(&s->tasks);
	worker_free(s->worker);
	output_free(s->output);
	close_fd(s->deadline_fd);
	close_fd(s->timer_fd);
	close_fd(s->epoll_fd);
	session_options_deinit(&s->options);
	free(s->error_text);
	free(s->running);
	free(s);
	return NULL;
}

void session_set_changed(struct session *s, session_changed_fn fn, void *userdata)
{
	s->changed = fn;
	s->changed_userdata = userdata;
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

int session_mark(struct session *s, const char *text)
{
	char clean[MARK_MAX + 1];
	struct event ev = { .kind = EVENT_MARK, .ts_ns = clock_boot_ns(), .mark.text = clean };
	int r;

	if (session_state(s) != SESSION_RUNNING)
		return -ESHUTDOWN;
	if (!s->opened)
		drain(s);
	if (!s->opened || !have_buffer(s))
		return -EAGAIN;
	text_clean(clean, sizeof(clean), text, strlen(text));
	r = fxt_archive_event(&s->archive, &ev);
	if (r == 0)
		s->n_marks++;
	return r;
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
		} else if (fd == worker_fd(s->worker)) {
			on_news(s);
		} else if (s->collector && fd == collector_doorbell_fd(s->collector)) {
			collector_answer_doorbell(s->collector);
			due = true;
		}
	}
	if (due && !s->detached)
		drain(s);
	go_on(s);
	s->loop_cpu_ns += clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns;
	tell_changes(s);
}

void session_counters(const struct session *s, struct session_counters *ret)
{
	*ret = (struct session_counters){
		.events = n_events(s),
		.lost = { [CLASS_SCHED] = s->schedule.lost, [CLASS_LIFECYCLE] = s->lifecycle.lost },
		.bytes = s->status.bytes,
		.daemon_cpu_ns = cpu_ns(s),
		.start_ns = s->start_ns,
		.stop_ns = s->stop_ns,
	};
	for (unsigned cpu = 0; s->collector && !s->closed && cpu < s->n_cpus; cpu++)
		for (enum event_class class = 0; class < CLASS_MAX; class ++)
			ret->lost[class] +=
				collector_pending_lost(s->collector, class, cpu).count;
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
