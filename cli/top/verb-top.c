/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo top: makes a recording into a pipe. A thread (cli/top/top-thread) shows its data.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cli/record/nothing-recorded.h"
#include "cli/record/record-loop.h"
#include "cli/service/client-options.h"
#include "cli/options/record-options.h"
#include "cli/record/recording.h"
#include "cli/common/terminal.h"
#include "cli/top/top-thread.h"
#include "cli/service/remote.h"
#include "cli/common/verb.h"

/* The size of the pipe, if it is allowed. */
enum { PIPE_BYTES = 1 << 20 };

/*
 * The number of times per interval that the archive is flushed, which determines the delay of the
 * display.
 */
enum { FLUSHES = 4 };

#define INTERVAL_NS_MIN     UINT64_C(100000000)
#define INTERVAL_NS_MAX     UINT64_C(3600000000000)
#define INTERVAL_NS_DEFAULT UINT64_C(1000000000)

struct job {
	struct record_options options;
	struct recording_request asked;
	uint64_t interval_ns;
	uint64_t count; /* number of intervals; 0 = unlimited */
	bool no_symbols;
	struct recording *recording;
	struct record_loop loop;
	struct top_thread *thread;
	int wake_fd;
	int read_fd, write_fd; /* the pipe, until its ends are passed on */
};

static void verb_top_job_deinit(struct job *j)
{
	recording_free(j->recording);
	top_thread_free(j->thread);
	record_options_deinit(&j->options);
	recording_request_deinit(&j->asked);
	close_fd(j->wake_fd);
	close_fd(j->read_fd);
	close_fd(j->write_fd);
	record_loop_deinit(&j->loop);
}

/* Returns true if the thread has ended the display. */
static bool verb_top_wants_stop(void *userdata)
{
	struct job *j = userdata;
	eventfd_t n;

	return eventfd_read(j->wake_fd, &n) == 0;
}

static int verb_top_open_descriptors(struct job *j)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0) {
		cli_error("cannot create a pipe: %m");
		return -errno;
	}
	j->read_fd = fds[0];
	j->write_fd = fds[1];
	fcntl(j->read_fd, F_SETPIPE_SZ, PIPE_BYTES);
	j->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (j->wake_fd < 0) {
		cli_error("cannot create an eventfd: %m");
		return -errno;
	}
	j->loop.wake_fd = j->wake_fd;
	j->loop.wants_stop = verb_top_wants_stop;
	j->loop.userdata = j;
	return 0;
}

static void verb_top_fill_options(struct job *j)
{
	struct session_options *s = &j->options.session;

	snprintf(s->name, sizeof(s->name), "top_%d", getpid());
	s->flush_ns = j->interval_ns / FLUSHES;
	if (s->flush_ns > FLUSH_NS_DEFAULT)
		s->flush_ns = FLUSH_NS_DEFAULT;
	s->no_perfetto_blobs = true;
	recording_request_set(&j->asked, s, false);
}

/* Starts the thread before the recording, so that the signals of the thread are blocked in all
 * threads, and the pipe has a reader. */
static int verb_top_start(struct job *j)
{
	const struct top_thread_options options = {
		.interval_ns = j->interval_ns,
		.late_ns = 3 * j->options.session.flush_ns,
		.count = j->count,
		.json = j->options.json,
		.no_symbols = j->no_symbols,
	};
	int r = top_thread_start(&j->thread, &options, j->read_fd, j->wake_fd);

	if (r < 0)
		return r;
	j->read_fd = -1;
	r = recording_create(j->recording, &j->options.session, j->write_fd,
			     record_loop_is_interrupted);
	j->write_fd = close_fd(j->write_fd);
	return r < 0 ? r : recording_start(j->recording);
}

/* Ends the thread after the recording, or if there was none. */
static int verb_top_finish(struct job *j, int status)
{
	int shown;

	j->recording = recording_free(j->recording);
	if (!j->thread)
		return status;
	shown = top_thread_join(j->thread);
	return status == CLI_OK ? shown : status;
}

/*
 * Reports that nothing was shown because no selected task ran. (Without a filter, the machine may
 * be idle.)
 */
static int verb_top_complain_of_nothing(const struct job *j, const struct session_view *v)
{
	if (!j->asked.filtered || v->counters.events_of[GROUP_SCHED] > 0)
		return CLI_OK;
	return nothing_recorded_complain(&j->asked, v, "top");
}

static int verb_top_watch(struct job *j)
{
	_cleanup_(session_view_deinit) struct session_view v = { 0 };
	int r = record_loop_run(&j->loop);

	if (r == -EINTR) {
		/* Exits without waiting for the end of the recording. */
		terminal_leave();
		cli_error("interrupted again; exiting without waiting for the end of the "
			  "recording");
		_exit(CLI_FAILED);
	}
	if (r < 0 || recording_view(j->recording, &v) < 0)
		return verb_top_finish(j, CLI_FAILED);
	/* Messages are printed after the screen is restored. */
	r = verb_top_finish(j, CLI_OK);
	return session_view_complain(&v, "top") ?: r ?: verb_top_complain_of_nothing(j, &v);
}

static int verb_top_parse_interval(void *to, char *value)
{
	char why[VALUE_WHY_MAX];

	if (value_parse(VALUE_TIME, value, INTERVAL_NS_MIN, INTERVAL_NS_MAX, to, why) < 0)
		return cli_usage_error("%s: %s", verb_options_typed(), why);
	return CLI_OK;
}

static void verb_top_print_options(void)
{
	record_options_help(OPTION_OF_TOP);
}

static int verb_top(int argc, char **argv)
{
	_cleanup_(verb_top_job_deinit) struct job j = { .loop = RECORD_LOOP_NULL,
							.wake_fd = -1,
							.read_fd = -1,
							.write_fd = -1,
							.interval_ns = INTERVAL_NS_DEFAULT };
	const struct verb_option own[] = {
		OPTION_VALUE("interval", 'i', verb_top_parse_interval, &j.interval_ns),
		OPTION_VALUE("count", 'n', client_options_parse_count, &j.count),
		OPTION_FLAG("no-symbols", &j.no_symbols),
		OPTION_FLAG("direct", &j.options.direct),
		OPTION_FLAG("json", &j.options.json),
		OPTION_TEXT("bus", 0, &j.options.bus),
		{ 0 },
	};
	int r = record_options_parse(argc, argv, OPTION_OF_TOP, own, &j.options);

	if (r != RECORD_OPTIONS_GO)
		return r;
	if (j.options.n_rest || j.options.separated)
		return cli_usage_error("no argument is expected%s%s%s",
				       j.options.n_rest ? " '" : "",
				       j.options.n_rest ? j.options.rest[0] : "",
				       j.options.n_rest ? "'" : "");
	verb_top_fill_options(&j);
	if (record_loop_init(&j.loop) < 0 || verb_top_open_descriptors(&j) < 0 ||
	    recording_new(&j.options, &j.recording) < 0)
		return CLI_FAILED;
	j.loop.recording = j.recording;
	return verb_top_start(&j) < 0 ? verb_top_finish(&j, CLI_FAILED) : verb_top_watch(&j);
}

const struct verb verb_top_row = {
	.name = "top",
	.synopsis = "[OPTION ...]",
	.what = "Show the activity of the machine live: functions, processes, threads",
	.examples = "  kymo top\n  kymo top --json -n 5 -p 4711\n",
	.options =
		"  -i, --interval=TIME        the interval (1s)\n"
		"  -n, --count=COUNT          stop after COUNT intervals\n"
		"      --no-symbols           do not look up the names of functions\n"
		"      --direct               record in this process, without the service\n"
		"      --json                 print one line of JSON per interval\n" REMOTE_HELP_WIDE
		"      --bus=ADDRESS          the bus of the service (the system bus)\n"
		"  -h, --help                 show this\n",
	.more_options = verb_top_print_options,
	.notes =
		"\nKeys: f functions, p processes, t threads, a all, s sort, space pause, h help,\n"
		"q quit.\n"
		"Exits with 3 if events were lost, or if no selected thread ran.\n",
	.run = verb_top,
};
