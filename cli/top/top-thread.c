/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of `kymo top` that reads the stream. The reader calls top_thread_read_pipe() for more
 * bytes. Until bytes arrive, this function also waits for keys, signals and the end of the window.
 * So all work is done in one thread, between two records.
 */
#include "cli/top/top-thread.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/common/json.h"
#include "cli/common/resolver.h"
#include "cli/common/symbol-options.h"
#include "cli/common/terminal.h"
#include "cli/top/top-draw.h"
#include "cli/top/top-usage.h"
#include "reader/fxt/fxt-events.h"
#include "reader/views/live.h"

/* The maximum time for look-ups of names per window. */
#define NAMES_NS (UINT64_C(250) * 1000000)

/* The number of look-ups after which the cache of names is replaced, since it never shrinks. */
enum { QUESTIONS_MAX = 1 << 20 };

/* Times in the stream that are later than the current time by more than this are ignored. */
#define AHEAD_NS_MAX UINT64_C(1000000000)

struct top_thread {
	struct top_thread_options options;
	pthread_t thread;
	bool started;
	int pipe_fd, wake_fd;
	int finished_fd; /* eventfd that is readable when the stream is complete */
	int signal_fd;   /* descriptor for signals of the terminal; -1 = none */
	bool tty, key_ended;
	struct top_usages usages;
	enum top_view view_before_help;
	bool entered; /* the screen is shown, unless the process is stopped */

	struct fxt_events *events;
	struct live *live;
	struct symbol_options symbol_options;
	struct symbols *symbols;
	struct resolver resolver;
	uint64_t names_until_ns;

	struct live_window window; /* the shown window */
	struct top_state state;
	struct outbuf text;
	uint64_t n_windows;
	uint64_t drawn_ns, own_ns, own_at_ns;
	bool by_itself; /* the recording has ended without a request by the user */
	bool quit;
	int error; /* a negative errno; 0 = no error */
};

/* ---- drawing ---- */

static void top_thread_print_window(struct top_thread *t)
{
	outbuf_reset(&t->text);
	if (t->options.json)
		json_print_line(top_json(&t->window, &t->state));
	else if (top_draw(&t->text, &t->window, &t->state, 0, 0) == 0)
		fwrite(t->text.data, 1, t->text.size, stdout);
	/* If the output is closed, the dispatcher reports it. */
	t->quit |= fflush(stdout) != 0 || ferror(stdout);
}

/* Draws the shown window, if there is one. */
static void top_thread_draw(struct top_thread *t)
{
	struct terminal_size size = terminal_size();
	size_t done = 0;

	if (!terminal_is_shown())
		return;
	outbuf_reset(&t->text);
	if (t->window.end_ns == 0)
		outbuf_print(&t->text, "\033[Hkymo top: waiting for the first interval\033[K");
	else if (top_draw(&t->text, &t->window, &t->state, size.rows, size.columns) < 0)
		return;
	outbuf_print(&t->text, "\033[J");
	while (done < t->text.size) {
		ssize_t n = write(STDOUT_FILENO, t->text.data + done, t->text.size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			t->quit = true;
			return;
		}
		done += (size_t)n;
	}
	t->drawn_ns = clock_boot_ns();
}

/* ---- windows ---- */

static int top_thread_find_name(void *userdata, const struct profile_place *place,
				const struct frame **ret)
{
	struct top_thread *t = userdata;

	return clock_boot_ns() > t->names_until_ns ? 0 : resolver_find(&t->resolver, place, ret);
}

static void top_thread_renew_symbols(struct top_thread *t)
{
	resolver_use(&t->resolver, NULL);
	t->symbols = symbols_free(t->symbols);
	symbol_options_open(&t->symbol_options, &t->symbols);
	resolver_use(&t->resolver, t->symbols);
}

/* Measures the CPU time of this process since the last call. */
static void top_thread_measure_own(struct top_thread *t)
{
	uint64_t own_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID), now_ns = clock_boot_ns();

	t->state.own_ns = own_ns - t->own_ns;
	t->state.own_of_ns = now_ns - t->own_at_ns;
	t->own_ns = own_ns;
	t->own_at_ns = now_ns;
}

/*
 * Returns true if drawing can wait, because more data can be read, and the screen was drawn
 * recently.
 */
static bool top_thread_may_skip(const struct top_thread *t, uint64_t now_ns)
{
	struct pollfd pfd = { t->pipe_fd, POLLIN, 0 };

	return t->tty && now_ns < t->drawn_ns + t->options.interval_ns &&
	       now_ns > live_end_ns(t->live) + t->options.interval_ns + t->options.late_ns &&
	       poll(&pfd, 1, 0) > 0;
}

static void top_thread_forget_ended(struct top_thread *t)
{
	size_t n;
	const uint32_t *pids = live_ended(t->live, &n);

	for (size_t i = 0; i < n; i++)
		resolver_forget(&t->resolver, pids[i]);
	if (t->resolver.n_asked > QUESTIONS_MAX)
		top_thread_renew_symbols(t);
}

static void top_thread_show_window(struct top_thread *t, struct live_window *w, uint64_t now_ns)
{
	struct clock_snapshot now = clock_snapshot();

	live_window_deinit(&t->window);
	t->window = *w;
	*w = (struct live_window){ 0 };
	t->state.real_ns = now.real_ns - (now.boot_ns - t->window.end_ns);
	t->state.behind_ns = now_ns > t->window.end_ns ? now_ns - t->window.end_ns : 0;
	/*
	 * Memory and I/O are read for the processes with most CPU time, whatever the sort key is.
	 */
	top_sort(&t->window, NULL, TOP_BY_CPU);
	top_usages_update(&t->usages, &t->window);
	top_sort(&t->window, &t->usages, t->state.sort);
	t->state.usages = &t->usages;
	if (t->tty)
		top_thread_draw(t);
	else
		top_thread_print_window(t);
	if (t->options.count > 0 && ++t->n_windows >= t->options.count) {
		t->by_itself = true;
		t->quit = true;
	}
}

/* Ends the window. All data up to TS_NS was read. */
static int top_thread_close_window(struct top_thread *t, uint64_t ts_ns, bool last)
{
	const struct profile_names names = { .find = top_thread_find_name, .userdata = t };
	struct live_window w = { 0 };
	uint64_t now_ns = clock_boot_ns();
	bool skip = !last && (t->state.paused || top_thread_may_skip(t, now_ns));
	int r;

	if (!skip)
		top_thread_measure_own(t);
	t->names_until_ns = now_ns + NAMES_NS;
	r = live_close(t->live, &(struct live_close_args){ ts_ns, last, &names }, skip ? NULL : &w);
	if (r == 0 && !skip)
		top_thread_show_window(t, &w, now_ns);
	live_window_deinit(&w);
	top_thread_forget_ended(t);
	return r;
}

/* ---- events ---- */

/* Handles the end of the recording. If the recording ended by itself, shows the last, incomplete
 * window, provided that it is long enough, or is the only one. */
static int top_thread_on_stop(struct top_thread *t, const struct event *ev)
{
	uint64_t left_ns = live_end_ns(t->live) > ev->ts_ns ? live_end_ns(t->live) - ev->ts_ns : 0;

	t->by_itself = strcmp(ev->stop.reason, "requested") != 0;
	if (!t->by_itself || live_end_ns(t->live) == 0 ||
	    (t->window.end_ns != 0 && left_ns > t->options.interval_ns / 2))
		return 0;
	t->state.paused = false;
	return top_thread_close_window(t, ev->ts_ns, true);
}

static int top_thread_on_start(struct top_thread *t)
{
	top_thread_measure_own(t);
	if (!t->tty || t->entered)
		return 0;
	t->entered = true;
	t->quit |= terminal_enter() < 0;
	top_thread_draw(t);
	return 0;
}

static int top_thread_on_event(struct top_thread *t, const struct event *ev)
{
	int r = 0;

	if (live_is_over(t->live, ev) && ev->ts_ns < clock_boot_ns() + AHEAD_NS_MAX)
		r = top_thread_close_window(t, ev->ts_ns, false);
	if (r == 0 && ev->kind == EVENT_START)
		r = top_thread_on_start(t);
	r = r ?: resolver_add(&t->resolver, ev) ?: live_add(t->live, ev);
	if (r == 0 && ev->kind == EVENT_STOP)
		r = top_thread_on_stop(t, ev);
	return r;
}

/* ---- waiting ---- */

static void top_thread_handle_key(struct top_thread *t, char key)
{
	bool was_help = t->state.view == TOP_HELP;

	/* Any key closes the help. A key with a function also has this function. */
	if (was_help)
		t->state.view = t->view_before_help;
	switch (key) {
	case 'h':
	case '?':
		if (was_help)
			break;
		t->view_before_help = t->state.view;
		t->state.view = TOP_HELP;
		break;
	case 'a':
		t->state.view = TOP_ALL;
		break;
	case 'f':
		t->state.view = TOP_FUNCTIONS;
		break;
	case 'p':
		t->state.view = TOP_PROCESSES;
		break;
	case 't':
		t->state.view = TOP_THREADS;
		break;
	case 's':
		t->state.sort = (t->state.sort + 1) % TOP_SORT_MAX;
		top_sort(&t->window, &t->usages, t->state.sort);
		break;
	case ' ':
		t->state.paused = !t->state.paused;
		break;
	case 'q':
		t->quit = true;
		return;
	default:
		if (!was_help)
			return;
	}
	top_thread_draw(t);
}

static void top_thread_handle_keys(struct top_thread *t)
{
	char keys[64];
	ssize_t n = read(STDIN_FILENO, keys, sizeof(keys));

	t->key_ended = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
	/*
	 * Escape sequences (for example of arrow keys) consist of several characters, and are
	 * ignored.
	 */
	for (ssize_t i = 0; i < n && keys[i] != '\033' && !t->quit; i++)
		top_thread_handle_key(t, keys[i]);
}

static void top_thread_handle_signals(struct top_thread *t)
{
	struct signalfd_siginfo info;

	while (read(t->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		switch (info.ssi_signo) {
		case SIGTSTP:
			terminal_leave();
			kill(getpid(), SIGSTOP);
			break;
		case SIGCONT:
			if (t->entered)
				t->quit |= terminal_enter() < 0;
			top_thread_draw(t);
			break;
		default: /* SIGWINCH */
			top_thread_draw(t);
		}
	}
}

/* Returns the time until the next action, in milliseconds; -1 = unlimited. */
static int top_thread_timeout_ms(const struct top_thread *t, uint64_t now_ns)
{
	uint64_t due_ns = live_end_ns(t->live) + t->options.late_ns;

	if (live_end_ns(t->live) == 0)
		return -1;
	return due_ns > now_ns ? (int)((due_ns - now_ns) / 1000000 + 1) : 0;
}

/* Waits for data. Returns 1 when the pipe has data or has ended, 0 when the stream is complete, or
 * a negative errno. */
static int top_thread_wait_for_bytes(struct top_thread *t)
{
	for (;;) {
		struct pollfd fds[] = {
			{ t->pipe_fd, POLLIN, 0 },
			{ t->finished_fd, POLLIN, 0 },
			{ t->signal_fd, POLLIN, 0 },
			{ terminal_has_keys() && !t->key_ended ? STDIN_FILENO : -1, POLLIN, 0 },
		};
		uint64_t now_ns = clock_boot_ns();
		int timeout = top_thread_timeout_ms(t, now_ns), r;

		if (poll(fds, ARRAY_SIZE(fds), timeout) < 0 && errno != EINTR)
			return -errno;
		if (fds[2].revents)
			top_thread_handle_signals(t);
		if (fds[3].revents)
			top_thread_handle_keys(t);
		if (t->quit)
			return 0;
		if (fds[0].revents)
			return 1;
		if (fds[1].revents)
			return 0;
		now_ns = clock_boot_ns();
		if (timeout >= 0 && top_thread_timeout_ms(t, now_ns) == 0) {
			r = top_thread_close_window(t, now_ns - t->options.late_ns, false);
			if (r < 0 || t->quit)
				return r;
		}
	}
}

static ssize_t top_thread_read_pipe(void *userdata, void *to, size_t n)
{
	struct top_thread *t = userdata;
	ssize_t got;
	int r;

	if (t->quit)
		return 0;
	r = top_thread_wait_for_bytes(t);
	if (r <= 0)
		return r;
	do
		got = read(t->pipe_fd, to, n);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

/* ---- thread ---- */

static int top_thread_on_record(struct top_thread *t, const struct fxt_record *record)
{
	struct event ev;
	const char *what;
	int r = fxt_events_get(t->events, record, &ev, &what);

	if (r == FXT_EVENTS_DAMAGE)
		t->state.n_damages++;
	return r == FXT_EVENTS_EVENT ? top_thread_on_event(t, &ev) : r < 0 ? r : 0;
}

static int top_thread_read_stream(struct top_thread *t)
{
	_cleanup_(fxt_reader_freep) struct fxt_reader *reader = NULL;
	const struct fxt_record *record;
	int r = fxt_reader_new_source(&reader, top_thread_read_pipe, t);

	/* If there is no data, the recording could not be started, which is reported elsewhere. */
	if (r != 0)
		return r < 0 ? r : 0;
	while (!t->quit && (r = fxt_reader_next(reader, &record)) > 0) {
		if (r == FXT_READER_DAMAGE)
			t->state.n_damages++;
		else
			r = top_thread_on_record(t, record);
		if (r < 0)
			break;
	}
	return r < 0 ? r : 0;
}

/* Discards the remaining stream, so that the recording can end. */
static void top_thread_drop_rest(struct top_thread *t)
{
	char rest[65536];
	struct pollfd fds[] = { { t->pipe_fd, POLLIN, 0 }, { t->finished_fd, POLLIN, 0 } };

	for (;;) {
		if (poll(fds, ARRAY_SIZE(fds), -1) < 0 && errno != EINTR)
			return;
		if (fds[0].revents) {
			if (read(t->pipe_fd, rest, sizeof(rest)) == 0)
				return;
		} else if (fds[1].revents) {
			return;
		}
	}
}

static void *top_thread_run(void *userdata)
{
	struct top_thread *t = userdata;
	bool was_shown;

	t->error = top_thread_read_stream(t);
	was_shown = terminal_is_shown();
	terminal_leave();
	/* The screen was restored, so the last window is printed. */
	if (was_shown && t->by_itself && t->window.end_ns != 0)
		top_thread_print_window(t);
	eventfd_write(t->wake_fd, 1);
	top_thread_drop_rest(t);
	return NULL;
}

static int top_thread_catch_signals(struct top_thread *t)
{
	struct sigaction stop;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	sigaddset(&set, SIGCONT);
	if (sigaction(SIGTSTP, NULL, &stop) == 0 && stop.sa_handler != SIG_IGN)
		sigaddset(&set, SIGTSTP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	t->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return t->signal_fd < 0 ? -errno : 0;
}

static int top_thread_prepare(struct top_thread *t)
{
	int r = live_new(&t->live, t->options.interval_ns) ?: fxt_events_new(&t->events);

	if (r < 0)
		return r;
	t->finished_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (t->finished_fd < 0)
		return -errno;
	if (symbol_options_open(&t->symbol_options, &t->symbols) != CLI_OK)
		return -EIO;
	resolver_init(&t->resolver, t->symbols, &t->symbol_options);
	return t->tty ? top_thread_catch_signals(t) : 0;
}

int top_thread_start(struct top_thread **ret, const struct top_thread_options *o, int pipe_fd,
		     int wake_fd)
{
	_cleanup_(top_thread_freep) struct top_thread *t = calloc(1, sizeof(*t));
	int r = t ? 0 : -ENOMEM;

	if (r == 0) {
		*t = (struct top_thread){
			.options = *o,
			.pipe_fd = -1,
			.wake_fd = wake_fd,
			.finished_fd = -1,
			.signal_fd = -1,
			.tty = !o->json && terminal_is_there(),
			.symbol_options = { .none = o->no_symbols, .no_lines = true },
		};
		r = top_thread_prepare(t);
	}
	if (r == 0) {
		t->pipe_fd = pipe_fd;
		r = -pthread_create(&t->thread, NULL, top_thread_run, t);
		if (r < 0)
			t->pipe_fd = -1;
	}
	if (r < 0) {
		cli_error("cannot show the activity: %s", strerror(-r));
		return r;
	}
	t->started = true;
	*ret = TAKE_PTR(t);
	return 0;
}

enum cli_exit top_thread_join(struct top_thread *t)
{
	if (t->started) {
		eventfd_write(t->finished_fd, 1);
		pthread_join(t->thread, NULL);
		t->started = false;
	}
	if (t->error == 0)
		return CLI_OK;
	return cli_failed("cannot read the recording: %s", strerror(-t->error));
}

struct top_thread *top_thread_free(struct top_thread *t)
{
	if (!t)
		return NULL;
	live_window_deinit(&t->window);
	live_free(t->live);
	fxt_events_free(t->events);
	resolver_deinit(&t->resolver);
	symbols_free(t->symbols);
	outbuf_deinit(&t->text);
	close_fd(t->pipe_fd);
	close_fd(t->finished_fd);
	close_fd(t->signal_fd);
	return free_ptr(t);
}
