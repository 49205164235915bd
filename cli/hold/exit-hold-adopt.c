/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/hold/exit-hold-parts.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/hold/tracing-program.h"

/* The longest time that a request to seize a process can block, in each round. */
#define SEIZE_NS 20000000

/* ---- requests that can block ---- */

static _Thread_local sigjmp_buf exit_hold_waited;
static _Thread_local volatile sig_atomic_t exit_hold_waits;

static void exit_hold_on_timer(int number __attribute__((unused)))
{
	if (exit_hold_waits)
		siglongjmp(exit_hold_waited, 1);
}

int exit_hold_make_timer(timer_t *ret)
{
	struct sigaction action = { .sa_handler = exit_hold_on_timer };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMAX };
	sigset_t set;

	event._sigev_un._tid = (int)syscall(SYS_gettid);
	sigemptyset(&set);
	sigaddset(&set, SIGRTMAX);
	if (sigaction(SIGRTMAX, &action, NULL) < 0 ||
	    timer_create(CLOCK_MONOTONIC, &event, ret) < 0)
		return -errno;
	return -pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void exit_hold_set_timer(timer_t timer, long ns)
{
	timer_settime(timer, 0, &(struct itimerspec){ .it_value.tv_nsec = ns }, NULL);
}

bool exit_hold_seize(struct exit_hold *h, pid_t tid, unsigned options)
{
	int error;

	errno = EAGAIN;
	if (h->gave_up)
		return false;
	if (sigsetjmp(exit_hold_waited, 1)) {
		exit_hold_waits = 0;
		h->gave_up = true;
		errno = EAGAIN;
		return false;
	}
	exit_hold_waits = 1;
	exit_hold_set_timer(h->timer, SEIZE_NS);
	error = ptrace(PTRACE_SEIZE, tid, NULL, (void *)(uintptr_t)options) < 0 ? errno : 0;
	exit_hold_set_timer(h->timer, 0);
	exit_hold_waits = 0;
	errno = error;
	return error == 0;
}

/* ---- programs that trace others ---- */

bool exit_hold_has_tracer(const struct exit_hold *h, pid_t pid)
{
	for (unsigned i = 0; i < h->n_tracers; i++)
		if (h->tracers[i] == pid)
			return true;
	return false;
}

void exit_hold_forget_tracer(struct exit_hold *h, pid_t pid)
{
	for (unsigned i = 0; i < h->n_tracers; i++)
		if (h->tracers[i] == pid) {
			h->tracers[i] = h->tracers[--h->n_tracers];
			return;
		}
}

/* (the kernel reports no end of a process after it was released at its exit) */
void exit_hold_forget_ended_tracers(struct exit_hold *h)
{
	for (unsigned i = h->n_tracers; i-- > 0;)
		if (kill(h->tracers[i], 0) < 0 && errno == ESRCH)
			h->tracers[i] = h->tracers[--h->n_tracers];
}

static void exit_hold_add_tracer(struct exit_hold *h, pid_t pid)
{
	if (h->n_tracers == EXIT_HOLD_TRACERS_MAX)
		exit_hold_forget_ended_tracers(h);
	if (h->n_tracers < EXIT_HOLD_TRACERS_MAX)
		h->tracers[h->n_tracers++] = pid;
	else
		h->n_more_tracers++;
}

/* ---- options that a thread gets at its next stop ---- */

void exit_hold_forget_pending(struct exit_hold *h, pid_t tid)
{
	for (unsigned i = 0; i < h->n_pending; i++)
		if (h->pending[i].tid == tid) {
			h->pending[i] = h->pending[--h->n_pending];
			return;
		}
}

/* Stops TID for a moment, and gives it EXIT_HOLD_OPTIONS then. */
static void exit_hold_interrupt(struct exit_hold *h, pid_t tid, unsigned options)
{
	exit_hold_forget_pending(h, tid);
	if (h->n_pending == EXIT_HOLD_PENDING_MAX)
		return;
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) == 0)
		h->pending[h->n_pending++] = (struct exit_hold_pending){ tid, options };
}

void exit_hold_set_options(pid_t tid, unsigned options)
{
	ptrace(PTRACE_SETOPTIONS, tid, NULL, (void *)(uintptr_t)options);
}

void exit_hold_set_pending(struct exit_hold *h, pid_t tid)
{
	for (unsigned i = 0; i < h->n_pending; i++)
		if (h->pending[i].tid == tid) {
			exit_hold_set_options(tid, h->pending[i].options);
			exit_hold_forget_pending(h, tid);
			return;
		}
}

/* ---- programs and their options ---- */

unsigned exit_hold_options_of(struct exit_hold *h, pid_t pid)
{
	int r;

	if (h->ending)
		return EXIT_HOLD_OPTIONS_OF_TRACER;
	/* (the owner changes only states meanwhile) */
	pthread_mutex_unlock(&h->lock);
	r = tracing_program(pid);
	pthread_mutex_lock(&h->lock);
	exit_hold_forget_tracer(h, pid);
	if (r == 0)
		return EXIT_HOLD_OPTIONS;
	if (r < 0 && !*h->unread)
		h->unread_error = r;
	exit_hold_note_name(pid, r > 0 ? h->tracer : h->unread);
	exit_hold_add_tracer(h, pid);
	return EXIT_HOLD_OPTIONS_OF_TRACER;
}

bool exit_hold_adopt(struct exit_hold *h, pid_t pid)
{
	char before[256], after[256];
	unsigned options;

	errno = EPERM;
	if (h->ending || exit_hold_is_traced(pid) || !exit_hold_program_of(pid, before))
		return false;
	options = exit_hold_options_of(h, pid);
	if (!exit_hold_seize(h, pid, options))
		return false;
	/* (an exec before it was traced was not reported) */
	if (exit_hold_program_of(pid, after) && strcmp(before, after) != 0 &&
	    exit_hold_options_of(h, pid) != options)
		exit_hold_interrupt(h, pid,
				    options ^ EXIT_HOLD_OPTIONS ^ EXIT_HOLD_OPTIONS_OF_TRACER);
	return true;
}

bool exit_hold_adopt_new(struct exit_hold *h, pid_t pid)
{
	if (!exit_hold_seize(h, pid, EXIT_HOLD_OPTIONS_OF_TRACER))
		return false;
	if (exit_hold_options_of(h, pid) == EXIT_HOLD_OPTIONS)
		exit_hold_interrupt(h, pid, EXIT_HOLD_OPTIONS);
	return true;
}
