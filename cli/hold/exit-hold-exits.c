/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/hold/exit-hold-parts.h"

#include <errno.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "capture/proc/task-state.h"

/*
 * The maximum time for which an exiting thread waits for the exits of the other threads of its
 * process. Then it exits alone. Killed threads need a CPU to exit, which can take long on a busy
 * machine. (A thread that calls exit(2) does not wait.)
 */
#define OTHERS_NS UINT64_C(2000000000)

/*
 * The exits of other threads are not reported, so the tracing thread looks for them again and
 * again. The pause before a look equals the time of the wait so far, within these limits. Each look
 * reads the state of all threads, and most threads exit within milliseconds.
 */
#define LOOK_MS_MIN 2
#define LOOK_MS_MAX 50

/* The maximum time for which a process is held, even if it was not searched. */
#define HOLD_NS UINT64_C(30000000000)

/*
 * The total time for which processes may wait for searches. After that, only the command itself is
 * still held.
 */
#define HELD_NS_MAX UINT64_C(30000000000)

/* The maximum delay until the thread sees a stop without a notification. */
#define UNREPORTED_MS EXIT_HOLD_WALK_MS

/*
 * The maximum time in which the thread tries to trace the thread that replaces another one in an
 * exec.
 */
#define SUCCESSOR_NS 5000000

struct held *exit_hold_find(struct exit_hold *h, pid_t tid)
{
	for (unsigned i = 0; i < h->n; i++)
		if (h->list[i].tid == tid)
			return &h->list[i];
	return NULL;
}

static bool exit_hold_is_ready(const struct held *held)
{
	return held->state == HELD_READY || held->state == HELD_POPPED;
}

bool exit_hold_any_ready(const struct exit_hold *h)
{
	for (unsigned i = 0; i < h->n; i++)
		if (exit_hold_is_ready(&h->list[i]))
			return true;
	return false;
}

/*
 * Traces the successor of the first thread of PID. An exec kills the other threads of its process
 * and waits for their exits. Then the thread that called exec becomes the first thread of PID, and
 * is not traced. Its program can exit within a millisecond. If tracing fails, the next round
 * searches for the process, and for children that it has made.
 */
static void exit_hold_seize_successor(struct exit_hold *h, pid_t pid)
{
	uint64_t end_ns = clock_read_ns(CLOCK_MONOTONIC) + SUCCESSOR_NS;
	bool seized;

	/* (the request fails until the old thread has exited) */
	while (!(seized = exit_hold_adopt_new(h, pid)) && !h->gave_up && errno == EPERM &&
	       clock_read_ns(CLOCK_MONOTONIC) < end_ns)
		usleep(20);
	if (!seized)
		h->next_walk_ns = 0;
}

/* Detaches from TID, a thread of PID that is at its exit, and lets it continue. */
static void exit_hold_detach(struct exit_hold *h, pid_t pid, pid_t tid)
{
	bool execs = tid == pid && exit_hold_each_task(h, pid, exit_hold_is_in_exec) > 0;

	ptrace(PTRACE_DETACH, tid, NULL, NULL);
	if (execs)
		exit_hold_seize_successor(h, pid);
}

static void exit_hold_release_thread(struct exit_hold *h, struct held *held)
{
	struct held gone = *held;

	*held = h->list[--h->n];
	exit_hold_detach(h, gone.pid, gone.tid);
}

void exit_hold_release_one(struct exit_hold *h, pid_t pid)
{
	for (unsigned i = 0; i < h->n; i++)
		if (h->list[i].pid == pid)
			h->list[i].state = HELD_RELEASED;
}

static bool exit_hold_is_other(struct exit_hold *h, pid_t pid, pid_t tid)
{
	return !exit_hold_find(h, tid) && !task_state_is_ending(pid, tid);
}

/* Traces TID, another thread of PID. Does nothing if TID is already traced, or has exited. */
static bool exit_hold_seize_other(struct exit_hold *h, pid_t pid, pid_t tid)
{
	bool can_trace = exit_hold_has_tracer(h, pid) || h->n_more_tracers > 0;

	return tid != pid && exit_hold_seize(h, tid,
					     can_trace ? EXIT_HOLD_OPTIONS_OF_TRACER
						       : EXIT_HOLD_OPTIONS | PTRACE_O_TRACECLONE);
}

/*
 * Settles HELD: it is ready if it is the last thread of its process, and released if an exec
 * replaces it, if it exits without the others, or after OTHERS_NS.
 */
static void exit_hold_settle_waiting(struct exit_hold *h, struct held *held, uint64_t now_ns)
{
	if (exit_hold_each_task(h, held->pid, exit_hold_is_in_exec) > 0) {
		held->state = HELD_RELEASED;
	} else if (exit_hold_each_task(h, held->pid, exit_hold_is_other) == 0) {
		held->state = HELD_READY;
		held->ready_ns = now_ns;
		eventfd_write(h->owner_fd, 1);
	} else if (now_ns - held->since_ns > OTHERS_NS || exit_hold_ends_alone(held->tid)) {
		held->state = HELD_RELEASED;
	}
}

/*
 * Returns true if a thread of HELD's process is already reported. If so, all threads of the process
 * wait together.
 */
static bool exit_hold_is_reported(const struct exit_hold *h, const struct held *held)
{
	for (unsigned i = 0; i < h->n; i++)
		if (&h->list[i] != held && h->list[i].pid == held->pid &&
		    exit_hold_is_ready(&h->list[i]))
			return true;
	return false;
}

/*
 * Returns the time, in milliseconds, until the tracing thread looks again for an event that has not
 * happened in WAITED_NS.
 */
static int exit_hold_look_ms(uint64_t waited_ns)
{
	uint64_t ms = waited_ns / 1000000;

	return ms < LOOK_MS_MIN ? LOOK_MS_MIN : ms > LOOK_MS_MAX ? LOOK_MS_MAX : (int)ms;
}

int exit_hold_settle(struct exit_hold *h)
{
	uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
	int look_ms, due_ms = UNREPORTED_MS;

	if (!h->gave_up)
		h->gave_up_ns = 0;
	else if (!h->gave_up_ns)
		h->gave_up_ns = now_ns;
	if (h->gave_up)
		due_ms = exit_hold_look_ms(now_ns - h->gave_up_ns);

	for (unsigned i = 0; i < h->n; i++) {
		struct held *held = &h->list[i];

		if (held->state == HELD_WAITING && !exit_hold_is_reported(h, held))
			exit_hold_settle_waiting(h, held, now_ns);
		if (exit_hold_is_ready(held) && now_ns - held->ready_ns > HOLD_NS) {
			exit_hold_release_one(h, held->pid);
			h->n_late++;
		}
	}
	for (unsigned i = 0; i < h->n;) {
		struct held *held = &h->list[i];

		if (held->state == HELD_RELEASED) {
			exit_hold_release_thread(h, held);
			continue;
		}
		look_ms = exit_hold_look_ms(now_ns - held->since_ns);
		if (held->state == HELD_WAITING && look_ms < due_ms)
			due_ms = look_ms;
		i++;
	}
	return due_ms;
}
void exit_hold_on_exit_of(struct exit_hold *h, pid_t tid)
{
	uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
	pid_t pid = exit_hold_process_of(tid);
	bool is_over = h->held_ns > HELD_NS_MAX && pid != h->command;
	bool is_full = h->n == EXIT_HOLD_MAX;
	unsigned long status = 0;

	ptrace(PTRACE_GETEVENTMSG, tid, NULL, &status);
	if (is_over || is_full || WTERMSIG((int)status) == SIGKILL ||
	    (tid == pid && exit_hold_each_task(h, pid, exit_hold_is_in_exec) > 0)) {
		h->n_passed += is_over;
		h->n_full += is_full && !is_over && tid == pid && WTERMSIG((int)status) != SIGKILL;
		exit_hold_detach(h, pid, tid);
		return;
	}
	/*
	 * The threads that outlive the first one keep the memory, so their exits must be seen, too.
	 */
	if (tid == pid)
		exit_hold_each_task(h, pid, exit_hold_seize_other);
	h->list[h->n++] = (struct held){ tid, pid, HELD_WAITING, now_ns, 0 };
}
