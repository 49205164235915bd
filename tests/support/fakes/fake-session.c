/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture/session/session.h without a kernel, for tests of the code that drives sessions. It
 * changes states as slowly as a real session (with a timer between two states), counts 100 events
 * every 10 ms, and writes marks as lines. The name of a session selects its failure: "slow_start"
 * never runs; "fail_start" cannot start, and takes a step to end; "fail_output" fails after the
 * first events; "no_memory" cannot take a snapshot; "no_snapshot" never takes one; "no_search"
 * never searches for references; "dear" sheds its stacks, and so does "dear_once" until it gets
 * them back; "flood" drops records that do not fit into a flight recorder; "cramped" gets half of
 * the requested memory; "hang" never writes its end or a snapshot, nor the request whose command
 * contains "hang".
 */
#include "capture/session/session.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"

#define STEP_NS 10000000

enum { FAKE_CPUS = 8 };

struct session {
	struct contexts contexts;
	struct session_options options;
	struct store *store;
	struct store *flight; /* of a snapshot that never finishes */
	uint64_t n_flights, n_flights_ended, n_chunks;
	int flight_error;
	int timer_fd;
	enum session_state state;
	struct session_counters counters;
	bool wants_snapshot;
	uint64_t n_snapshots, n_searches;
	const char *reason;
	int error;
	const char *error_text;
	bool has_run;
	struct session_shed steps[2]; /* the steps so far */
	session_changed_fn changed;
	session_triggered_fn triggered;
	void *triggered_userdata;
	void *userdata;
	struct providers_stage providers;
};

const char *const session_state_names[SESSION_STATE_MAX] = {
	"ready", "starting", "running", "draining", "stopped", "failed",
};

static size_t all_whole(const uint8_t *data, size_t n)
{
	(void)data;
	return n;
}

/* Writes a line into the archive, and counts its bytes. */
__attribute__((format(printf, 2, 3))) static void print(struct session *s, const char *format, ...)
{
	size_t kept = 0;
	char *text;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vasprintf(&text, format, ap);
	va_end(ap);
	if (n < 0)
		return;
	s->store->ops->write(s->store, STORE_BODY, (const uint8_t *)text, (size_t)n, all_whole,
			     &kept);
	s->counters.bytes += kept;
	free(text);
}

/* Programs connect, but are not recorded. */
void session_set_providers(struct session *s, struct provider_links *links,
			   const struct providers_owner *owner)
{
	(void)owner;
	s->providers.context.links = links;
}

void session_leave_providers(struct session *s)
{
	s->providers.context.links = NULL;
}

const struct providers_stage *session_providers(const struct session *s)
{
	return &s->providers;
}

int session_new(struct session_options *options, struct store *store, struct session **ret)
{
	struct session *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	s->options = *options;
	if (s->options.ring_bytes == 0)
		s->options.ring_bytes = 1 << 20;
	session_options_fill_flight(&s->options);
	if (s->options.flush_ns == 0)
		s->options.flush_ns = FLUSH_NS_DEFAULT;
	if (s->options.categories == 0)
		s->options.categories = CATEGORIES_DEFAULT;
	s->store = store;
	s->reason = "";
	s->error_text = "";
	*ret = s;
	return 0;
}

int session_new_recovered(struct session_options *options, int dir_fd, struct session **ret)
{
	struct session *s = calloc(1, sizeof(*s));

	(void)dir_fd;
	if (!s)
		return -ENOMEM;
	s->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	s->options = *options;
	s->state = SESSION_FAILED;
	s->reason = "service died";
	s->error = -EOWNERDEAD;
	s->error_text = "the service ended before the session did";
	*ret = s;
	return 0;
}

struct session *session_free(struct session *s)
{
	if (!s)
		return NULL;
	store_free(s->store);
	store_free(s->flight);
	close(s->timer_fd);
	session_options_deinit(&s->options);
	free(s);
	return NULL;
}

void session_set_changed(struct session *s, session_changed_fn fn, void *userdata)
{
	s->changed = fn;
	s->userdata = userdata;
}

void session_set_triggered(struct session *s, session_triggered_fn fn, void *userdata)
{
	s->triggered = fn;
	s->triggered_userdata = userdata;
}

static void arm(struct session *s, bool on)
{
	const struct itimerspec step = { .it_interval.tv_nsec = on ? STEP_NS : 0,
					 .it_value.tv_nsec = on ? STEP_NS : 0 };

	timerfd_settime(s->timer_fd, 0, &step, NULL);
}

static void become(struct session *s, enum session_state state)
{
	s->state = state;
	if (state == SESSION_STOPPED || state == SESSION_FAILED)
		arm(s, false);
	if (s->changed)
		s->changed(s, s->userdata);
}

int session_start(struct session *s)
{
	if (s->state != SESSION_READY)
		return -EALREADY;
	arm(s, true);
	become(s, SESSION_STARTING);
	return 0;
}

int session_stop(struct session *s, const char *reason)
{
	if (s->state == SESSION_READY)
		return -EINVAL;
	if (s->state >= SESSION_DRAINING)
		return 0;
	s->reason = reason;
	s->counters.stop_ns = clock_boot_ns();
	become(s, SESSION_DRAINING);
	return 0;
}

int session_mark(struct session *s, const char *text)
{
	if (s->state != SESSION_RUNNING)
		return -ESHUTDOWN;
	print(s, "mark %s\n", text);
	return 0;
}

int session_snapshot(struct session *s, uint64_t *ret_number)
{
	if (strcmp(s->options.name, "no_memory") == 0)
		return -EOPNOTSUPP;
	if (s->state != SESSION_RUNNING)
		return -ESHUTDOWN;
	*ret_number = s->n_snapshots + 1;
	s->wants_snapshot = true;
	return 0;
}

uint64_t session_snapshots(const struct session *s, int *ret_error)
{
	*ret_error = 0;
	return s->n_snapshots;
}

int session_search(struct session *s, uint32_t pid, uint64_t *ret_number)
{
	if (s->options.memory.reach == MEMORY_REACH_NO)
		return -EOPNOTSUPP;
	if (s->state != SESSION_RUNNING)
		return -ESHUTDOWN;
	*ret_number = ++s->n_searches;
	print(s, "search %u\n", pid);
	return 0;
}

uint64_t session_searches(const struct session *s, int *ret_error)
{
	/* "no_search" never searches. */
	*ret_error = 0;
	return strcmp(s->options.name, "no_search") == 0 ? 0 : s->n_searches;
}

int session_begin_context(struct session *s, const char *name, uint32_t *ret_bit)
{
	int r = s->state == SESSION_RUNNING ? contexts_begin(&s->contexts, name, ret_bit)
					    : -ESHUTDOWN;

	return r < 0 ? r : (print(s, "begin %s %u\n", name, *ret_bit), 0);
}

int session_end_context(struct session *s, uint32_t bit)
{
	const char *name = NULL;
	int r = s->state == SESSION_RUNNING ? contexts_end(&s->contexts, bit, &name) : -ESHUTDOWN;

	return r < 0 ? r : (print(s, "end %s\n", name), 0);
}

int session_take_snapshot(struct session *s, struct store *to, uint64_t *ret_number)
{
	static const struct store_moment at = { 0 };
	size_t kept;

	if (s->options.mode != SESSION_FLIGHT)
		return -EOPNOTSUPP;
	if (s->state == SESSION_READY)
		return -ESHUTDOWN;
	if (s->n_flights - s->n_flights_ended >= 4)
		return -EBUSY;
	*ret_number = ++s->n_flights;
	s->flight = store_free(s->flight);
	/* A snapshot of "hang" never finishes. */
	if (strcmp(s->options.name, "hang") == 0) {
		s->flight = to;
		return 0;
	}
	to->ops->begin(to, &at);
	s->flight_error =
		to->ops->write(to, STORE_BODY, (const uint8_t *)"flight\n", 7, all_whole, &kept);
	to->ops->end(to, &at);
	store_free(to);
	s->n_flights_ended++;
	return 0;
}

bool session_flight_snapshot(const struct session *s, uint64_t number, int *ret_error)
{
	*ret_error = s->flight_error;
	return number <= s->n_flights_ended;
}

void session_cancel_snapshot(struct session *s, uint64_t number)
{
	if (number > s->n_flights_ended)
		s->n_flights_ended = number;
	s->flight = store_free(s->flight);
}

int session_rotate(struct session *s, uint64_t *ret_number)
{
	if (!s->options.rotate_ns && !s->options.rotate_bytes)
		return -EOPNOTSUPP;
	if (s->state != SESSION_RUNNING)
		return -ESHUTDOWN;
	*ret_number = ++s->n_chunks;
	return 0;
}

uint64_t session_chunks(const struct session *s)
{
	return s->n_chunks;
}

const struct contexts *session_contexts(const struct session *s)
{
	return &s->contexts;
}

/* Records the failure, and goes to STATE. (A session that is stopping stays in that state for a
 * while.) */
static void fail(struct session *s, enum session_state state, const char *reason, int error,
		 const char *text)
{
	s->reason = reason;
	s->error = error;
	s->error_text = text;
	s->counters.stop_ns = clock_boot_ns();
	become(s, state);
}

static void take_snapshot(struct session *s)
{
	s->wants_snapshot = false;
	s->n_snapshots++;
	print(s, "snapshot\n");
	become(s, s->state);
}

/* A trigger on wakeups fires once, at its third check. */
static void trigger(struct session *s)
{
	const struct trigger t = { .kind = TRIGGER_WAKEUP,
				   .value = 2 * s->options.triggers.wakeup_ns,
				   .limit = s->options.triggers.wakeup_ns,
				   .count = 1,
				   .n_passed_over = 2,
				   .notify = true,
				   .tid = 77 };

	s->options.triggers.wakeup_ns = 0;
	s->triggered(s, &t, s->triggered_userdata);
}

/* Sheds its stacks, or gets them back. */
static void step(struct session *s, bool back)
{
	s->steps[s->counters.n_steps++] = (struct session_shed){
		.what = SHED_STACKS,
		.ts_ns = clock_boot_ns(),
		.cost_ppm = back ? 10000 : 70000,
		.limit_ppm = s->options.max_overhead_ppm ? s->options.max_overhead_ppm
							 : 2 * s->options.max_overhead_machine_ppm,
		.n_cpus = s->options.max_overhead_machine_ppm ? 2 : 0,
		.back = back,
	};
	become(s, s->state);
}

static void step_running(struct session *s)
{
	s->counters.events += 100;
	for (enum category_group group = 0; group < GROUPS; group++)
		s->counters.events_of[group] += 10;
	if (s->triggered && s->options.triggers.wakeup_ns)
		trigger(s);
	s->counters.daemon_cpu_ns += 1000;
	s->counters.bpf = s->counters.bpf_classes[COST_SCHED] = (struct cost_sum){ 10, 2000 };
	if (s->wants_snapshot && strcmp(s->options.name, "no_snapshot") != 0)
		take_snapshot(s);
	if (strncmp(s->options.name, "dear", 4) == 0 && s->counters.n_steps == 0)
		step(s, false);
	else if (strcmp(s->options.name, "dear_once") == 0 && s->counters.n_steps == 1)
		step(s, true);
	if (strcmp(s->options.name, "flood") == 0)
		s->counters.dropped_bytes = 4096;
	if (strcmp(s->options.name, "fail_output") == 0)
		fail(s, SESSION_FAILED, "output failed", -ENOSPC, "the output is full");
	else if (s->options.duration_ns &&
		 clock_boot_ns() - s->counters.start_ns >= s->options.duration_ns)
		session_stop(s, "duration");
	else if (s->options.max_bytes && s->counters.bytes >= s->options.max_bytes)
		session_stop(s, "size");
}

static bool hangs(const struct session *s)
{
	return strcmp(s->options.name, "hang") == 0 ||
	       (s->options.command && strstr(s->options.command, "hang"));
}

int session_fd(const struct session *s)
{
	return s->timer_fd;
}

void session_dispatch(struct session *s)
{
	uint64_t times;

	if (read(s->timer_fd, &times, sizeof(times)) < 0)
		return;
	if (s->state == SESSION_STARTING) {
		if (strcmp(s->options.name, "slow_start") == 0)
			return;
		if (strcmp(s->options.name, "fail_start") == 0) {
			fail(s, SESSION_DRAINING, "could not start", -EPERM,
			     "the kernel refuses the programs");
			return;
		}
		s->has_run = true;
		s->counters.start_ns = clock_boot_ns();
		s->store->ops->begin(s->store, &(struct store_moment){ 0 });
		print(s, "start\n");
		become(s, SESSION_RUNNING);
	} else if (s->state == SESSION_RUNNING) {
		step_running(s);
	} else if (s->state == SESSION_DRAINING && s->error < 0) {
		become(s, SESSION_FAILED);
	} else if (s->state == SESSION_DRAINING && !hangs(s)) {
		print(s, "stop %s\n", s->reason);
		become(s, SESSION_STOPPED);
	}
}

const struct session_shed *session_step(const struct session *s, uint64_t i)
{
	return i < s->counters.n_steps ? &s->steps[i] : NULL;
}

size_t session_sheds(const struct session *s, struct session_shed ret[SHED_MAX])
{
	if (s->counters.n_steps != 1)
		return 0;
	ret[0] = s->steps[0];
	return 1;
}

enum session_state session_state(const struct session *s)
{
	return s->state;
}

bool session_has_run(const struct session *s)
{
	return s->has_run;
}

void session_counters(const struct session *s, struct session_counters *ret)
{
	*ret = s->counters;
	ret->flight_limit =
		s->options.flight_bytes / (strcmp(s->options.name, "cramped") == 0 ? 2 : 1);
}

/* (whatever machine the test runs on) */
uint64_t session_ring_memory(const struct session_options *o)
{
	return FAKE_CPUS * o->ring_bytes;
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
		*ret_text = s->error_text;
	return s->error;
}

char *session_other_files(const struct session *s)
{
	return strcmp(s->options.name, "elsewhere") == 0 ? strdup("2 processes mapped other files")
							 : NULL;
}

char *session_refused_calls(const struct session *s, size_t i)
{
	(void)s;
	(void)i;
	return NULL;
}
