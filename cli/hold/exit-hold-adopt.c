/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/hold/exit-hold-parts.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/proc/task-state.h"
#include "cli/hold/tracing-program.h"

/* The maximum time for which requests to seize a process can block in each round. */
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
		/* (on a busy machine, the timer can expire after the request has succeeded) */
		if (exit_hold_tracer_of(tid) == (pid_t)syscall(SYS_gettid))
			return true;
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

/*
 * Removes ended processes from the list of tracers. (The kernel does not report the end of a
 * process that was released at its exit.)
 */
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

/* ---- programs and their options ---- */

/* Returns the result of tracing_program() for PID. The lock is released meanwhile. */
static int exit_hold_read_program(struct exit_hold *h, pid_t pid)
{
	int r;

	if (h->ending)
		return -ECANCELED;
	/* (meanwhile, the owner changes only states) */
	pthread_mutex_unlock(&h->lock);
	r = tracing_program(pid);
	pthread_mutex_lock(&h->lock);
	return r;
}

/*
 * Notes R, the result of exit_hold_read_program() for PID. PID is traced. Returns the options for
 * PID.
 */
static unsigned exit_hold_note_program(struct exit_hold *h, pid_t pid, int r)
{
	exit_hold_forget_tracer(h, pid);
	if (r == 0)
		return EXIT_HOLD_OPTIONS;
	exit_hold_add_tracer(h, pid);
	if (r == -ECANCELED)
		return EXIT_HOLD_OPTIONS_OF_TRACER;
	if (r < 0 && !*h->unread)
		h->unread_error = r;
	exit_hold_note_name(pid, r > 0 ? h->tracer : h->unread);
	return EXIT_HOLD_OPTIONS_OF_TRACER;
}

static void exit_hold_set_options(pid_t tid, unsigned options)
{
	ptrace(PTRACE_SETOPTIONS, tid, NULL, (void *)(uintptr_t)options);
}

void exit_hold_set_options_of_new(struct exit_hold *h, pid_t tid)
{
	exit_hold_set_options(tid, exit_hold_note_program(h, tid, exit_hold_read_program(h, tid)));
}

void exit_hold_set_options_of_known(struct exit_hold *h, pid_t tid)
{
	/* (threads other than the first have more options; and if the list of tracers was once
	 * full, a program that is not in the list can be a tracer nevertheless) */
	if (h->n_more_tracers == 0 && exit_hold_process_of(tid) == tid)
		exit_hold_set_options(tid, exit_hold_has_tracer(h, tid)
						   ? EXIT_HOLD_OPTIONS_OF_TRACER
						   : EXIT_HOLD_OPTIONS);
}

/* Stops PID for a moment, so that it gets the options for its program. */
static void exit_hold_interrupt(struct exit_hold *h, pid_t pid)
{
	/* (an entry that is overwritten matters only if another stop replaces the requested one) */
	h->interrupted[h->next_interrupted++ % EXIT_HOLD_TRACERS_MAX] = pid;
	ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
}

bool exit_hold_end_interrupt(struct exit_hold *h, pid_t tid)
{
	bool found = false;

	for (unsigned i = 0; i < EXIT_HOLD_TRACERS_MAX; i++)
		if (h->interrupted[i] == tid) {
			h->interrupted[i] = 0;
			found = true;
		}
	return found;
}

/*
 * PID could not be traced, after its program was read with the result R. If PID still runs and may
 * trace others, its children are left to it. No message names PID, since its own end is not held,
 * either.
 */
static void exit_hold_note_refused(struct exit_hold *h, pid_t pid, int r, int error)
{
	exit_hold_forget_tracer(h, pid);
	/* (the process is in an exec; the next round tries again) */
	if (error == EAGAIN)
		return;
	if (task_state_process_has_ended(pid))
		h->n_missed++;
	else if (r != 0)
		exit_hold_add_tracer(h, pid);
}

bool exit_hold_adopt(struct exit_hold *h, pid_t pid)
{
	char before[256], after[256];
	unsigned options;
	int r, error;

	errno = EPERM;
	/* (a process that has ended and was not reaped has no program) */
	if (h->ending || exit_hold_tracer_of(pid) || !exit_hold_program_of(pid, before) || !*before)
		return false;
	/* (after a timeout, exit_hold_seize() refuses PID in this round: its file is not read) */
	errno = EAGAIN;
	if (h->gave_up)
		return false;
	r = exit_hold_read_program(h, pid);
	options = r == 0 ? EXIT_HOLD_OPTIONS : EXIT_HOLD_OPTIONS_OF_TRACER;
	if (!exit_hold_seize(h, pid, options)) {
		error = errno;
		exit_hold_note_refused(h, pid, r, error);
		errno = error;
		return false;
	}
	exit_hold_note_program(h, pid, r);
	/* (an exec before the process was traced was not reported) */
	if (exit_hold_program_of(pid, after) && strcmp(before, after) != 0 &&
	    exit_hold_note_program(h, pid, exit_hold_read_program(h, pid)) != options)
		exit_hold_interrupt(h, pid);
	return true;
}

bool exit_hold_adopt_new(struct exit_hold *h, pid_t pid)
{
	if (!exit_hold_seize(h, pid, EXIT_HOLD_OPTIONS_OF_TRACER))
		return false;
	if (exit_hold_note_program(h, pid, exit_hold_read_program(h, pid)) == EXIT_HOLD_OPTIONS)
		exit_hold_interrupt(h, pid);
	return true;
}
