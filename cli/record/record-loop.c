/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/record/record-loop.h"

#include <errno.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "cli/common/signal-twice.h"
#include "cli/common/verb.h"

#define RECORD_LOOP_HASTE_MS 100

int record_loop_init(struct record_loop *l)
{
	struct sigaction hangup;
	sigset_t set;

	/* If SIGCHLD were ignored, the exits of children would not be reported. */
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	/* SIGHUP stays ignored under nohup. */
	if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
		sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	if (l->asked)
		sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, &l->mask);
	signal(SIGPIPE, SIG_IGN);
	l->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (l->signal_fd >= 0)
		return 0;
	cli_error("cannot set up signals: %m");
	return -errno;
}

void record_loop_deinit(struct record_loop *l)
{
	if (l->signal_fd < 0)
		return;
	l->signal_fd = close_fd(l->signal_fd);
	sigprocmask(SIG_SETMASK, &l->mask, NULL);
}

int record_loop_interrupted_by(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	sigset_t set;

	if (sigpending(&set) < 0)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (sigismember(&set, signals[i]) == 1)
			return signals[i];
	return 0;
}

bool record_loop_is_interrupted(void)
{
	return record_loop_interrupted_by() != 0;
}

int record_loop_stop(struct record_loop *l)
{
	if (l->asked_to_stop)
		return 0;
	l->asked_to_stop = true;
	return recording_stop(l->recording);
}

/* Handles pending signals. Returns 0, or a negative errno if the command must give up. */
static int record_loop_handle_signals(struct record_loop *l)
{
	struct signalfd_siginfo info;
	int r = 0;

	while (r >= 0 && read(l->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD) {
			if (l->wants_stop(l->userdata))
				r = record_loop_stop(l);
		} else if (info.ssi_signo == SIGUSR1) {
			l->asked(l->userdata);
		} else if (!l->interrupted) {
			l->interrupted = true;
			r = record_loop_stop(l);
			/*
			 * (measured after the stop: signals that come during the stop are read
			 * later)
			 */
			l->interrupted_ns = clock_read_ns(CLOCK_MONOTONIC);
		} else if (clock_read_ns(CLOCK_MONOTONIC) - l->interrupted_ns > SIGNAL_TWICE_NS) {
			r = -EINTR;
		}
	}
	return r;
}

int record_loop_run(struct record_loop *l)
{
	int r = 0, timeout;

	for (;;) {
		struct pollfd fds[3] = { { l->signal_fd, POLLIN, 0 }, { l->wake_fd, POLLIN, 0 } };

		r = recording_dispatch(l->recording);
		if (r != 0)
			break;
		if (l->on_poll)
			l->on_poll(l->userdata);
		if (l->tick)
			l->tick(l->userdata);
		timeout = recording_pollfd(l->recording, &fds[2]);
		if (l->tick && (timeout < 0 || timeout > l->interval_ms))
			timeout = l->interval_ms;
		if (l->is_hasty && (timeout < 0 || timeout > RECORD_LOOP_HASTE_MS))
			timeout = RECORD_LOOP_HASTE_MS;
		if (poll(fds, 3, timeout) < 0 && errno != EINTR)
			return -errno;
		r = record_loop_handle_signals(l);
		if (r == 0 && fds[1].revents && l->wants_stop(l->userdata))
			r = record_loop_stop(l);
		if (r < 0)
			break;
	}
	return r < 0 ? r : 0;
}

int record_loop_wait_snapshot(struct record_loop *l)
{
	int r;

	/* The first signal has ended the recording, so the next signal interrupts the snapshot. */
	l->interrupted = true;
	l->asked_to_stop = true;
	for (;;) {
		struct pollfd fds[2] = { { l->signal_fd, POLLIN, 0 } };
		int timeout;

		r = recording_dispatch(l->recording);
		if (r >= 0)
			r = recording_snapshot_state(l->recording);
		if (r != 0)
			return r < 0 ? r : 0;
		timeout = recording_pollfd(l->recording, &fds[1]);
		if (poll(fds, 2, timeout) < 0 && errno != EINTR)
			return -errno;
		r = record_loop_handle_signals(l);
		if (r < 0)
			return r;
	}
}
