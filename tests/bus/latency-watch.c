/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/bus/latency-watch.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "tests/bus/ask-service.h"
#include "tests/support/unit.h"

#define PAUSE_USEC    20000
#define REJECTED_USEC 1000

struct latency_watch {
	atomic_bool stop;
	atomic_bool echoes; /* the echo service is running */
	char echo_name[32];
	pid_t echo, asker;
	/* used by the querying thread */
	unsigned n_asked, n_late, n_hung, n_failed, n_rejected;
	uint64_t worst_ns, worst_echo_ns, worst_runnable_ns;
	char failed[128];
};

/* The queries, in turn. */
static const struct {
	const char *path, *interface, *member, *argument;
} questions[] = {
	{ MANAGER_PATH, "org.freedesktop.DBus.Peer", "Ping", NULL },
	{ MANAGER_PATH, MANAGER_INTERFACE, "ListSessions", NULL },
	{ MANAGER_PATH, "org.freedesktop.DBus.Properties", "GetAll", MANAGER_INTERFACE },
	{ MANAGER_PATH, "org.freedesktop.DBus.Introspectable", "Introspect", NULL },
};

/* sd-bus answers Ping itself. */
static void run_echo(struct latency_watch *l)
{
	sd_bus *b = connect_bus();
	const char *name = "";

	CHECK(sd_bus_get_unique_name(b, &name) >= 0);
	snprintf(l->echo_name, sizeof(l->echo_name), "%s", name);
	l->echoes = true;
	for (;;) {
		int r = sd_bus_process(b, NULL);

		CHECK(r >= 0);
		if (r == 0)
			CHECK(sd_bus_wait(b, UINT64_MAX) >= 0);
	}
}

struct answered {
	uint64_t sent_ns, took_ns; /* 0 = not yet */
	uint64_t runnable_ns;      /* time of the service's main thread in a run queue */
	bool is_rejected;          /* by the bus */
	struct latency_watch *l;
};

/* Returns the schedstat file of the service's main thread, or -1 if there is none. */
static int open_schedstat(sd_bus *b)
{
	_cleanup_(sd_bus_creds_unrefp) sd_bus_creds *c = NULL;
	char path[64];
	pid_t pid;

	if (sd_bus_get_name_creds(b, NAME, SD_BUS_CREDS_PID, &c) < 0 ||
	    sd_bus_creds_get_pid(c, &pid) < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", pid, pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Returns the total time of the thread in run queues until now, or 0 if it is unknown. */
static uint64_t read_runnable_ns(int schedstat)
{
	char text[128] = "";
	uint64_t ns = 0;

	if (pread(schedstat, text, sizeof(text) - 1, 0) <= 0 ||
	    sscanf(text, "%*u %" SCNu64, &ns) != 1)
		return 0;
	return ns;
}

static int on_answered(sd_bus_message *m, void *userdata, sd_bus_error *reterr)
{
	const sd_bus_error *e = sd_bus_message_get_error(m);
	struct answered *a = userdata;

	(void)reterr;
	/*
	 * The bus rejects messages for a service while its queue is full of others' messages. It
	 * must become free in time, which counts like a slow answer.
	 */
	a->is_rejected = e && strcmp(e->name, "org.freedesktop.DBus.Error.LimitsExceeded") == 0;
	if (a->is_rejected) {
		a->l->n_rejected++;
		return 0;
	}
	a->took_ns = clock_read_ns(CLOCK_MONOTONIC) - a->sent_ns + 1;
	if (e) {
		a->l->n_failed++;
		snprintf(a->l->failed, sizeof(a->l->failed), "%s: %s", e->name, e->message);
	}
	return 0;
}

static void send_question(sd_bus *b, struct answered *a, const char *to, size_t i)
{
	int r;

	if (!a->is_rejected)
		a->sent_ns = clock_read_ns(CLOCK_MONOTONIC);
	a->is_rejected = false;
	a->took_ns = 0;
	r = sd_bus_call_method_async(b, NULL, to, questions[i].path, questions[i].interface,
				     questions[i].member, on_answered, a,
				     questions[i].argument ? "s" : NULL, questions[i].argument);
	CHECK(r >= 0);
}

static uint64_t latency_watch_hangs_ns(void)
{
	const char *seconds = getenv("KYMO_TEST_HANGS_S");

	return seconds ? strtoull(seconds, NULL, 10) * 1000000000 : LATENCY_WATCH_HANGS_NS;
}

static void judge(struct latency_watch *l, const struct answered *of_service,
		  const struct answered *echo)
{
	uint64_t excused_ns =
		echo->took_ns > of_service->runnable_ns ? echo->took_ns : of_service->runnable_ns;
	uint64_t more_ns = of_service->took_ns > excused_ns ? of_service->took_ns - excused_ns : 0;

	l->n_asked++;
	l->n_late += more_ns > LATENCY_WATCH_LATE_NS;
	/* (an attack that keeps the service from its CPU for so long has succeeded) */
	l->n_hung += of_service->took_ns > echo->took_ns + latency_watch_hangs_ns();
	if (of_service->took_ns > l->worst_ns) {
		l->worst_ns = of_service->took_ns;
		l->worst_echo_ns = echo->took_ns;
		l->worst_runnable_ns = of_service->runnable_ns;
	}
}

static void run_asker(struct latency_watch *l)
{
	struct answered of_service = { .l = l }, echo = { .l = l };
	sd_bus *b = connect_bus();
	_cleanup_close_ int schedstat = open_schedstat(b);

	for (size_t i = 0; !l->stop || l->n_asked < LATENCY_WATCH_ASKED_MIN; i++) {
		uint64_t before_ns = read_runnable_ns(schedstat), after_ns;

		send_question(b, &of_service, NAME, i % ARRAY_SIZE(questions));
		send_question(b, &echo, l->echo_name, 0);
		while (!of_service.took_ns || !echo.took_ns) {
			int r = sd_bus_process(b, NULL);

			CHECK(r >= 0);
			if (of_service.is_rejected) {
				usleep(REJECTED_USEC);
				send_question(b, &of_service, NAME, i % ARRAY_SIZE(questions));
			} else if (r == 0) {
				CHECK(sd_bus_wait(b, UINT64_MAX) >= 0);
			}
		}
		after_ns = read_runnable_ns(schedstat);
		of_service.runnable_ns = after_ns > before_ns ? after_ns - before_ns : 0;
		judge(l, &of_service, &echo);
		usleep(PAUSE_USEC);
	}
}

static pid_t start(void (*fn)(struct latency_watch *), struct latency_watch *l)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fn(l);
		_exit(0);
	}
	return pid;
}

struct latency_watch *latency_watch_begin(void)
{
	struct latency_watch *l =
		mmap(NULL, sizeof(*l), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(l != MAP_FAILED);
	l->echo = start(run_echo, l);
	assert_soon(l->echoes);
	l->asker = start(run_asker, l);
	return l;
}

void latency_watch_end(struct latency_watch *l)
{
	int status = -1;

	l->stop = true;
	assert_int_equal(waitpid(l->asker, &status, 0), l->asker);
	kill(l->echo, SIGKILL);
	waitpid(l->echo, NULL, 0);
	print_message("  asked %u times, the longest wait was %" PRIu64
		      " ms (an echo's then: %" PRIu64 " ms; without a CPU: %" PRIu64
		      " ms), %u late; %u rejected by the bus\n",
		      l->n_asked, l->worst_ns / 1000000, l->worst_echo_ns / 1000000,
		      l->worst_runnable_ns / 1000000, l->n_late, l->n_rejected);
	if (l->n_failed)
		print_error("%u failed, the last with %s\n", l->n_failed, l->failed);
	assert_int_equal(status, 0);
	assert_int_equal(l->n_failed, 0);
	assert_int_equal(l->n_hung, 0);
	assert_true(l->n_late <= LATENCY_WATCH_LATE_MAX);
	munmap(l, sizeof(*l));
}
