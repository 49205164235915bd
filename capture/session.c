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
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include "capture/flight.h"
#include "capture/output.h"
#include "capture/proc.h"
#include "capture/recorder.h"
#include "capture/snapshots.h"
#include "capture/worker.h"

/* How long a record may be on its way from the clock to the ring. */
#define MERGE_MARGIN_NS UINT64_C(5000000)

/* A buffer this full is handed on. */
enum { BUFFER_FULL = 256 << 10 };

/* A drain every half interval: what the first half left, the second one takes away. */
enum { DRAINS_PER_FLUSH = 2 };

/* Of what a flight recorder keeps, this is in one chunk. */
enum { CHUNKS_KEPT = 8 };

/* What belongs together (a snapshot of what is allocated) keeps a chunk from being closed no longer. */
#define SPLIT_WAIT_NS UINT64_C(30000000000)

const char *const session_state_names[SESSION_STATE_MAX] = {
	[SESSION_READY] = "ready",     [SESSION_STARTING] = "starting",
	[SESSION_RUNNING] = "running", [SESSION_DRAINING] = "draining",
	[SESSION_STOPPED] = "stopped", [SESSION_FAILED] = "failed",
};

/* What there was when a chunk began, and its head. */
struct chunk_begin {
	uint64_t ns;
	uint64_t head_bytes;
	uint64_t body_bytes;     /* of all before */
	uint64_t cpu_ns, bpf_ns; /* that the recording had cost by then */
	struct recorder_sums sums;
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

	/* chunks */
	struct outbuf *tail, *head; /* for the next split; NULL = not taken yet */
	struct chunk_begin
		begins[FLIGHT_CHUNKS_MAX]; /* of the last ones; number N stands at N % of them */
	uint64_t chunk_bytes;              /* of this one, handed over */
	uint64_t body_bytes;               /* of all of them */
	uint64_t n_chunks;                 /* that have begun */
	uint64_t chunk_dropped; /* what the output had had no room for when this one began */
	uint64_t due_ns;        /* since when the next one is wanted; 0 = it is not */
	uint64_t horizon_ns;    /* of the last round: what is written is not younger */
	bool rotate;            /* somebody has asked for the next one */

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
		n_snapshots;      /* by the worker; and of those, handed to the output */
	uint64_t snapshot_ns;     /* when the last one had been read */
	int snapshot_error;       /* of that one */
	struct snapshots flights; /* of a flight recorder */
	int recovered_fd;         /* of one that a dead process has left; -1 = it is ours */
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
	uint64_t n_snapshots_told, n_flights_told, n_chunks_told;
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
	    s->flights.n_ended == s->n_flights_told && s->status.n_begun == s->n_chunks_told &&
	    s->n_sheds == s->n_sheds_told)
		return;
	s->told = state;
	s->n_sheds_told = s->n_sheds;
	s->n_snapshots_told = s->n_snapshots;
	s->n_flights_told = s->flights.n_ended;
	s->n_chunks_told = s->status.n_begun;
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

static void put(struct session *s, struct outbuf *b, enum store_part part)
{
	s->archive_bytes += b->size;
	s->chunk_bytes += b->size;
	s->body_bytes += part == STORE_BODY ? b->size : 0;
	output_put(s->output, b, part);
}

static void hand_over(struct session *s, enum store_part part)
{
	if (s->buffer && s->buffer->size > 0)
		put(s, TAKE_PTR(s->buffer), part);
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
	hand_over(s, STORE_BODY);
	return have_buffer(s) ? 0 : 1;
}

static bool ask(uint32_t tid, void *userdata)
{
	struct session *s = userdata;

	return worker_order_lookup(s->worker, tid);
}

static bool ask_cgroup(uint64_t id, void *userdata)
{
	struct session *s = userdata;

	return worker_order_cgroup(s->worker, id);
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

/* Number N, of the last ones, from 0. */
static struct chunk_begin *begin_of(struct session *s, uint64_t n)
{
	return &s->begins[n % ARRAY_SIZE(s->begins)];
}

/* This one. */
static struct chunk_begin *chunk(struct session *s)
{
	return begin_of(s, s->n_chunks - 1);
}

/* What there is from BEGIN on. */
static struct recorder_end end_since(struct session *s, const struct chunk_begin *begin,
				     const char *reason)
{
	look_at_costs(s);
	return (struct recorder_end){
		.reason = reason,
		.since = &begin->sums,
		.bytes = begin->head_bytes + s->body_bytes - begin->body_bytes + s->buffer->size,
		.daemon_cpu_ns = cpu_ns(s) - begin->cpu_ns,
		.bpf_cpu_ns = costs_total(&s->costs).ns - begin->bpf_ns,
		.dropped_bytes = s->status.dropped,
	};
}

/* The end of all that is kept: of a flight recorder the last chunks, else this one. */
static struct recorder_end end_of_kept(struct session *s, const char *reason)
{
	const struct chunk_begin *begin = chunk(s);
	uint64_t oldest;

	if (s->options.mode == SESSION_FLIGHT) {
		oldest = flight_oldest(output_store(s->output));
		/* (the output may be behind, never before) */
		if (oldest < s->n_chunks && s->n_chunks - oldest <= ARRAY_SIZE(s->begins))
			begin = begin_of(s, oldest);
	}
	return end_since(s, begin, reason);
}

/* ---- chunks ---- */

/* What CLOCK_REALTIME said, or would have said, at BOOT_NS. */
static struct store_moment moment_of(uint64_t boot_ns)
{
	const struct clock_snapshot now = clock_snapshot();

	return (struct store_moment){ boot_ns, now.real_ns - (now.boot_ns - boot_ns) };
}

static void begin_chunk(struct session *s, struct store_moment at)
{
	output_begin(s->output, &at);
	s->n_chunks++;
	*chunk(s) = (struct chunk_begin){
		.ns = at.boot_ns,
		.body_bytes = s->body_bytes,
		.cpu_ns = s->n_chunks > 1 ? cpu_ns(s) : 0,
		.bpf_ns = s->n_chunks > 1 ? costs_total(&s->costs).ns : 0,
		.sums = s->recorder.base,
	};
	s->chunk_bytes = 0;
	s->chunk_dropped = s->status.dropped;
	s->due_ns = 0;
	s->rotate = false;
}

static void end_chunk(struct session *s, struct store_moment at)
{
	output_end(s->output, &at);
}

/* Bytes of this chunk in its file: what is not packed yet will be packed as what was before it. */
static uint64_t file_bytes(const struct session *s)
{
	if (s->options.compress == PACK_NONE || s->archive_bytes == 0)
		return s->chunk_bytes;
	return (uint64_t)((double)s->chunk_bytes * (double)s->status.bytes /
			  (double)s->archive_bytes);
}

/* A chunk that says more in its head than in its body is worth little: of a flight recorder's some may be longer. One that is so large
 * that what comes next has no room ends at once. */
static bool flight_is_due(const struct session *s, uint64_t head_bytes, uint64_t age_ns)
{
	const struct session_options *o = &s->options;
	bool worth_it = s->chunk_bytes >= 2 * head_bytes;

	if (s->status.dropped != s->chunk_dropped ||
	    file_bytes(s) >= o->flight_bytes / (worth_it ? CHUNKS_KEPT : 2))
		return true;
	return o->flight_ns && age_ns >= o->flight_ns / (worth_it ? CHUNKS_KEPT : 2);
}

static bool split_is_due(struct session *s, uint64_t at_ns)
{
	const struct session_options *o = &s->options;
	const struct chunk_begin *begin = chunk(s);
	uint64_t age_ns = at_ns > begin->ns ? at_ns - begin->ns : 0;

	if (!s->complete || *s->reason || age_ns == 0)
		return false;
	if (s->rotate)
		return true;
	if (o->mode == SESSION_FLIGHT)
		return flight_is_due(s, begin->head_bytes, age_ns);
	return (o->rotate_ns && age_ns >= o->rotate_ns) ||
	       (o->rotate_bytes && file_bytes(s) >= o->rotate_bytes &&
		s->chunk_bytes >= 2 * begin->head_bytes);
}

static bool have_parts(struct session *s)
{
	if (!s->tail)
		s->tail = output_take(s->output);
	if (s->tail && !s->head)
		s->head = output_take(s->output);
	return s->tail && s->head;
}

/* All that is not younger than AT_NS has been written: here one chunk may end and the next begin. Without room it is put off. */
static int split(struct session *s, uint64_t at_ns)
{
	struct recorder_end end;
	struct store_moment at;
	int r;

	if (!split_is_due(s, at_ns))
		return 0;
	if (s->due_ns == 0)
		s->due_ns = at_ns;
	if (!recorder_can_split(&s->recorder, at_ns > s->due_ns + SPLIT_WAIT_NS) || !have_parts(s))
		return 0;
	end = end_since(s, chunk(s), "rotated");
	r = recorder_split(&s->recorder, at_ns, &s->options, &s->contexts, &end, s->tail, s->head);
	if (r < 0)
		return r;
	hand_over(s, STORE_BODY);
	put(s, TAKE_PTR(s->tail), STORE_TAIL);
	/* Asked for once: names of chunks say that they join. */
	at = moment_of(at_ns);
	end_chunk(s, at);
	begin_chunk(s, at);
	chunk(s)->head_bytes = s->head->size;
	put(s, TAKE_PTR(s->head), STORE_HEAD);
	return 0;
}

int session_rotate(struct session *s, uint64_t *ret_number)
{
	if (!session_options_splits(&s->options) || s->options.mode == SESSION_FLIGHT)
		return -EOPNOTSUPP;
	if (session_state(s) != SESSION_RUNNING)
		return -ESHUTDOWN;
	s->rotate = true;
	*ret_number = s->n_chunks + 1;
	return 0;
}

uint32_t session_chunk(const struct session *s)
{
	return s->recorder.opened ? s->recorder.chunk : 0;
}

/* ---- drains ---- */

/* The head stands by itself. Returns 0, 1 if there is no room for more, or a negative errno. */
static int open_archive(struct session *s)
{
	int r = recorder_open(&s->recorder, &s->options);

	if (r < 0)
		return r;
	begin_chunk(s, moment_of(s->start_ns));
	chunk(s)->head_bytes = s->buffer->size;
	hand_over(s, STORE_HEAD);
	return have_buffer(s) ? 0 : 1;
}

/* So does the tail. Returns as above. */
static int close_archive(struct session *s)
{
	const struct recorder_end end = end_of_kept(s, s->reason);
	int r;

	hand_over(s, STORE_BODY);
	if (!have_buffer(s))
		return 1;
	r = recorder_close(&s->recorder, &end);
	hand_over(s, STORE_TAIL);
	end_chunk(s, moment_of(s->stop_ns));
	return r;
}

/* Whether a snapshot waits for a drain that has come to HORIZON_NS. */
static bool snapshot_is_due(const struct session *s, uint64_t horizon_ns)
{
	return s->flights.now && !s->flights.taken && horizon_ns >= s->flights.asked_ns &&
	       !s->detached;
}

/* Everything up to HORIZON_NS is written: what is kept, with a tail of its own, is the snapshot. Returns 0, 1 if there is no room for
 * more, or a negative errno. */
static int take_flight(struct session *s, uint64_t horizon_ns)
{
	const struct recorder_end end = end_of_kept(s, "snapshot");
	struct outbuf tail = { 0 };
	int r = recorder_tail(&s->recorder, horizon_ns, &end, &tail);

	if (r < 0) {
		outbuf_deinit(&tail);
		return r;
	}
	hand_over(s, STORE_BODY);
	s->flights.taken = true;
	output_snapshot(s->output, &tail, s->flights.now);
	return have_buffer(s) ? 0 : 1;
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
		r = open_archive(s);
	if (r == 0)
		r = write_sheds(s);
	if (r == 0) {
		r = recorder_round(&s->recorder, horizon_ns);
		s->horizon_ns = horizon_ns < s->stop_ns || !s->stop_ns ? horizon_ns : s->stop_ns;
	}
	if (r == 0 && horizon_ns >= s->snapshot_ns)
		s->n_snapshots = s->n_snapshots_read;
	if (r == 0 && snapshot_is_due(s, horizon_ns))
		r = take_flight(s, horizon_ns);
	if (r == 0 && !s->quiet)
		r = split(s, horizon_ns);
	if (r == 0 && s->detached)
		r = close_archive(s);
	if (r < 0) {
		fail(s, r, "write the archive");
		s->recorder.closed = true; /* nothing more will come of it */
	}
	hand_over(s, STORE_BODY);
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

/* ---- snapshots of a flight recorder ---- */

/* What is kept of a session that has ended has its end. */
static void take_ended(struct session *s)
{
	struct flight_snapshot *taken = NULL;
	int r = s->recovered_fd >= 0 ? flight_recover(s->recovered_fd, &taken)
				     : flight_take(output_store(s->output), &taken);

	s->flights.taken = true;
	snapshot_take(s->flights.now, taken, r);
}

static void serve_snapshots(struct session *s)
{
	enum session_state state = session_state(s);
	int error;

	/* Its thread may hang with it, and be heard for ever. */
	if (s->flights.now && snapshot_ended(s->flights.now, &error))
		epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, snapshot_fd(s->flights.now), NULL);
	if (snapshots_step(&s->flights)) {
		/* If it cannot be waited for, the next drain sees its end. */
		watch(s, snapshot_fd(s->flights.now));
		/* Drains come as often as before, but the next one comes as soon as it can. */
		if (state == SESSION_RUNNING)
			arm(s->timer_fd, MERGE_MARGIN_NS + 1000000,
			    s->options.flush_ns / DRAINS_PER_FLUSH);
	}
	if (s->flights.now && !s->flights.taken &&
	    (state == SESSION_STOPPED || state == SESSION_FAILED))
		take_ended(s);
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

/* Whether STORE is what the mode needs. */
static bool store_valid(const struct session_options *o, const struct store *store)
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
	s->epoll_fd = s->timer_fd = s->deadline_fd = s->look_fd = s->recovered_fd = -1;
	if (session_options_complete(&defaulted) < 0 || !store_valid(&defaulted, store))
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
		r = output_new(store, fxt_whole_records, defaulted.compress,
			       &s->output); /* last: it takes the store over */
	if (r < 0)
		return r;
	s->recorder.after_record = after_record;
	s->recorder.ask = ask;
	s->recorder.ask_cgroup = ask_cgroup;
	s->recorder.take_memory = take_memory;
	s->recorder.look = look_at_files;
	s->recorder.is_gone = proc_sees_all() ? proc_is_gone : NULL;
	s->recorder.triggered = on_trigger;
	s->recorder.userdata = s;
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
	s->epoll_fd = s->timer_fd = s->deadline_fd = s->look_fd = s->recovered_fd = -1;
	r = recorder_init(&s->recorder);
	if (r == 0)
		r = make_descriptors(s);
	if (r == 0)
		r = flight_recover(dir_fd, &left);
	if (r == 0)
		r = flight_snapshot_packed(left, &packed);
	if (r < 0)
		return r;
	s->recovered_fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 3);
	if (s->recovered_fd < 0)
		return -errno;
	s->ordered = s->written = s->unloaded = true;
	s->told = SESSION_FAILED;
	s->status.bytes = flight_snapshot_bytes(left);
	snprintf(s->reason, sizeof(s->reason), "service died");
	set_error(s, -EOWNERDEAD,
		  strdup("the service ended before the session did; what it kept is there"));
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
	snapshots_deinit(&s->flights);
	close_fd(s->recovered_fd);
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
		.categories = o->categories ?: categories_default(),
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
	/* What has begun can fire triggers, and who is told of one says so here. */
	bool begun = session_state(s) == SESSION_STARTING && s->recorder.opened && writable(s);
	int r = begun ? 0 : be_ready(s);

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

int session_take_snapshot(struct session *s, struct store *to, uint64_t *ret_number)
{
	int r;

	if (s->options.mode != SESSION_FLIGHT)
		return -EOPNOTSUPP;
	if (!s->ordered)
		return -ESHUTDOWN;
	r = snapshots_ask(&s->flights, to, ret_number);
	if (r == 0)
		serve_snapshots(s);
	return r;
}

uint64_t session_chunks(const struct session *s)
{
	return s->status.n_begun;
}

bool session_flight_snapshot(const struct session *s, uint64_t number, int *ret_error)
{
	return snapshots_ended(&s->flights, number, ret_error);
}

void session_cancel_snapshot(struct session *s, uint64_t number)
{
	snapshots_cancel(&s->flights, number);
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
		} else if (s->worker && fd == worker_fd(s->worker)) {
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
	if (s->output)
		go_on(s);
	serve_snapshots(s);
	s->loop_cpu_ns += clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns;
	tell_trigger(s);
	tell_changes(s);
}

void session_counters(const struct session *s, struct session_counters *ret)
{
	*ret = (struct session_counters){
		.events = recorder_n_events(&s->recorder),
		.bytes = s->status.bytes,
		.dropped_bytes = s->status.dropped,
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
