/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/hold/exit-hold-parts.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "base/clock.h"

/* The time for which a process that has stopped itself must stay stopped before this is reported.
 */
#define STOPPED_NS UINT64_C(1000000000)

enum { STOPS_MAX = 256 }; /* maximum number of stops in each round */

static bool exit_hold_is_stop_signal(int number)
{
	return number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
}

/* Notes that TID has sent SIGSTOP to its own process, as programs do that expect a tracer. */
static void exit_hold_note_stop(struct exit_hold *h, pid_t tid)
{
	pid_t inner, pid = exit_hold_ids_of(tid, &inner);
	siginfo_t info;

	if (ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) < 0 || info.si_code > 0 ||
	    info.si_pid != inner)
		return;
	h->stopped = pid;
	h->stopped_ns = clock_read_ns(CLOCK_MONOTONIC);
}

/* Handles the stop of TID with STATUS. Lets TID continue, except at its exit or in job control. */
static void exit_hold_on_stop(struct exit_hold *h, pid_t tid, int status)
{
	int number = status & 0xff, event = status >> 8;
	bool interrupted = exit_hold_end_interrupt(h, tid);

	if (tid == h->stopped && !(event == PTRACE_EVENT_STOP && exit_hold_is_stop_signal(number)))
		h->stopped = 0;
	if (event == PTRACE_EVENT_EXEC)
		exit_hold_set_options_of_new(h, tid);
	/* (if another stop comes first, the kernel drops the stop that PTRACE_INTERRUPT requested)
	 */
	else if (event == PTRACE_EVENT_STOP || (interrupted && event != PTRACE_EVENT_EXIT))
		exit_hold_set_options_of_known(h, tid);
	if (event == 0 && number == SIGSTOP)
		exit_hold_note_stop(h, tid);
	if (event == PTRACE_EVENT_EXIT)
		exit_hold_on_exit_of(h, tid);
	else if (event == PTRACE_EVENT_STOP && exit_hold_is_stop_signal(number))
		/* This is job control: the thread stays stopped until it is continued. */
		ptrace(PTRACE_LISTEN, tid, NULL, NULL);
	else
		ptrace(PTRACE_CONT, tid, NULL, (void *)(uintptr_t)(event ? 0 : number));
}

/* Returns true if a traced thread has changed its state. If so, *RET is the stop or the exit. */
static bool exit_hold_peek(siginfo_t *ret, idtype_t which, pid_t pid, int options)
{
	ret->si_pid = 0;
	return waitid(which, (id_t)pid, ret, options | WNOHANG | __WALL | __WNOTHREAD) == 0 &&
	       ret->si_pid != 0;
}

bool exit_hold_collect_stops(struct exit_hold *h)
{
	unsigned n = 0;
	siginfo_t info;

	/* (Handling a stop can take a second, if a file system hangs. So the loop ends when the
	 * hold ends: the kernel continues the remaining threads at the end of this thread.) */
	while (n++ < STOPS_MAX && !h->ending &&
	       exit_hold_peek(&info, P_ALL, 0, WEXITED | WSTOPPED | WNOWAIT)) {
		pid_t tid = info.si_pid;
		bool ended = info.si_code == CLD_EXITED || info.si_code == CLD_KILLED ||
			     info.si_code == CLD_DUMPED;
		struct held *held;

		/* The command has ended. Its owner must reap it, so here only the hold ends. */
		if (ended && tid == h->command) {
			h->ending = true;
			return false;
		}
		if (!exit_hold_peek(&info, P_PID, tid, ended ? WEXITED : WSTOPPED))
			return false;
		if (ended) {
			exit_hold_forget_tracer(h, tid);
			exit_hold_end_interrupt(h, tid);
		}
		held = exit_hold_find(h, tid);
		if (held)
			*held = h->list[--h->n];
		if (!ended)
			exit_hold_on_stop(h, tid, info.si_status);
	}
	return n > STOPS_MAX;
}

void exit_hold_check_stopped(struct exit_hold *h)
{
	if (!h->stopped || !h->stopped_ns ||
	    clock_read_ns(CLOCK_MONOTONIC) - h->stopped_ns < STOPPED_NS)
		return;
	h->waiting = h->stopped;
	h->stopped_ns = 0;
	eventfd_write(h->owner_fd, 1);
}
