/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/exit-hold.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "capture/proc/task-state.h"
#include "cli/common/tracing-program.h"

/*
 * How long an exiting thread waits for the exits of the other threads of its process. Afterwards,
 * it exits alone. Killed threads must get a CPU first. (A thread that calls exit(2) does not wait.)
 */
#define OTHERS_NS UINT64_C(2000000000)
#define OTHERS_MS 2

/* No process is held longer, even if it was not searched. */
#define HOLD_NS UINT64_C(30000000000)

/* After processes have been held for this time, only the command itself is still held. */
#define HELD_NS_MAX UINT64_C(30000000000)

/* The longest delay until the thread sees a stop without a notification. */
#define UNREPORTED_MS WALK_MS

/* The interval of the search for processes that other threads have forked. It is longer if the
 * search takes more than 1 / WALK_PART of the time. */
#define WALK_NS   UINT64_C(100000000)
#define WALK_MS   100
#define WALK_PART 20

/* The longest time that a request to seize a process can block, in each round. */
#define SEIZE_NS 20000000

/* How long the thread tries to trace the thread that replaces another one in an exec. */
#define SUCCESSOR_NS 5000000

enum { WALK_DEPTH_MAX = 64 };

/* How long a process that has stopped itself stays stopped until this is reported. */
#define STOPPED_NS UINT64_C(1000000000)

#define OPTIONS_OF_TRACER (PTRACE_O_TRACEEXIT | PTRACE_O_TRACEEXEC)
#define OPTIONS           (OPTIONS_OF_TRACER | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK)

/* The process of TID, and its id in its own pid namespace, which signals of the process contain. */
static pid_t exit_hold_ids_of(pid_t tid, pid_t *ret_inner)
{
	char path[32], line[512];
	int pid = tid;
	FILE *f;

	*ret_inner = tid;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	f = fopen(path, "re");
	if (!f)
		return tid;
	while (fgets(line, sizeof(line), f)) {
		/* (one id for each namespace, the innermost one last) */
		const char *last = strncmp(line, "NStgid:", 7) == 0 ? strrchr(line, '\t') : NULL;

		if (sscanf(line, "Tgid: %d", &pid) == 1)
			*ret_inner = pid;
		if (last) {
			*ret_inner = (pid_t)strtol(last, NULL, 10);
			break;
		}
	}
	fclose(f);
	return pid;
}

static pid_t exit_hold_process_of(pid_t tid)
{
	pid_t inner;

	return exit_hold_ids_of(tid, &inner);
}

/* The number of the system call in which TID is stopped, or -1. */
static long exit_hold_call_of(pid_t tid)
{
	long number = -1;
	char path[32];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)tid);
	f = fopen(path, "re");
	if (!f)
		return -1;
	if (fscanf(f, "%ld", &number) != 1)
		number = -1;
	fclose(f);
	return number;
}

/* Whether TID called exit() and not exit_group(). */
static bool exit_hold_ends_alone(pid_t tid)
{
	return exit_hold_call_of(tid) == SYS_exit;
}

static bool exit_hold_is_in_exec(struct exit_hold *h __attribute__((unused)),
				 pid_t pid __attribute__((unused)), pid_t tid)
{
	long number = exit_hold_call_of(tid);

	return number == SYS_execve || number == SYS_execveat;
}

struct exit_hold_walk {
	struct exit_hold *h;
	bool (*each)(struct exit_hold *h, pid_t pid, pid_t tid);
	unsigned n;
};

static int exit_hold_count_task(pid_t pid, pid_t tid, void *userdata)
{
	struct exit_hold_walk *walk = userdata;

	walk->n += walk->each(walk->h, pid, tid);
	return 0;
}

/* Calls EACH for the threads of PID. Returns how many calls returned true. */
static unsigned exit_hold_each_task(struct exit_hold *h, pid_t pid,
				    bool (*each)(struct exit_hold *h, pid_t pid, pid_t tid))
{
	struct exit_hold_walk walk = { h, each, 0 };

	task_state_each(pid, exit_hold_count_task, &walk);
	return walk.n;
}

/* ---- requests that can block ---- */

static _Thread_local sigjmp_buf exit_hold_waited;
static _Thread_local volatile sig_atomic_t exit_hold_waits;

static void exit_hold_on_timer(int number __attribute__((unused)))
{
	if (exit_hold_waits)
		siglongjmp(exit_hold_waited, 1);
}

/* Makes a timer that interrupts only this thread. It uses a signal of its own, since the kernel
 * restarts the request after a handler returns. */
static int exit_hold_make_timer(timer_t *ret)
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

/*
 * Traces TID. During an exec, no process can seize the group until all other threads have exited.
 * But the exec waits for threads that are held here. So the request is abandoned after SEIZE_NS,
 * and no other request is made in this round. Returns false with an errno.
 */
static bool exit_hold_seize(struct exit_hold *h, pid_t tid, unsigned options)
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

static bool exit_hold_has_tracer(const struct exit_hold *h, pid_t pid)
{
	for (unsigned i = 0; i < h->n_tracers; i++)
		if (h->tracers[i] == pid)
			return true;
	return false;
}

static void exit_hold_forget_tracer(struct exit_hold *h, pid_t pid)
{
	for (unsigned i = 0; i < h->n_tracers; i++)
		if (h->tracers[i] == pid) {
			h->tracers[i] = h->tracers[--h->n_tracers];
			return;
		}
}

/* (the kernel reports no end of a process after it was released at its exit) */
static void exit_hold_forget_ended_tracers(struct exit_hold *h)
{
	for (unsigned i = h->n_tracers; i-- > 0;)
		if (kill(h->tracers[i], 0) < 0 && errno == ESRCH)
			h->tracers[i] = h->tracers[--h->n_tracers];
}

/* Writes the name of PID to TO, unless there is a name already. */
static void exit_hold_note_name(pid_t pid, char to[static 64])
{
	char path[32], name[32] = "";
	FILE *f;

	if (*to)
		return;
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	f = fopen(path, "re");
	if (!f || !fgets(name, sizeof(name), f))
		snprintf(name, sizeof(name), "a program");
	text_clean(to, 64, name, strcspn(name, "\n"));
	if (f)
		fclose(f);
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

static void exit_hold_forget_pending(struct exit_hold *h, pid_t tid)
{
	for (unsigned i = 0; i < h->n_pending; i++)
		if (h->pending[i].tid == tid) {
			h->pending[i] = h->pending[--h->n_pending];
			return;
		}
}

/* Stops TID for a moment, and gives it OPTIONS then. */
static void exit_hold_interrupt(struct exit_hold *h, pid_t tid, unsigned options)
{
	exit_hold_forget_pending(h, tid);
	if (h->n_pending == EXIT_HOLD_PENDING_MAX)
		return;
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) == 0)
		h->pending[h->n_pending++] = (struct exit_hold_pending){ tid, options };
}

static void exit_hold_set_options(pid_t tid, unsigned options)
{
	ptrace(PTRACE_SETOPTIONS, tid, NULL, (void *)(uintptr_t)options);
}

static void exit_hold_set_pending(struct exit_hold *h, pid_t tid)
{
	for (unsigned i = 0; i < h->n_pending; i++)
		if (h->pending[i].tid == tid) {
			exit_hold_set_options(tid, h->pending[i].options);
			exit_hold_forget_pending(h, tid);
			return;
		}
}

/* ---- programs and their options ---- */

/* The options for process PID, by its program. */
static unsigned exit_hold_options_of(struct exit_hold *h, pid_t pid)
{
	int r;

	/* (the owner changes only states meanwhile) */
	pthread_mutex_unlock(&h->lock);
	r = tracing_program(pid);
	pthread_mutex_lock(&h->lock);
	exit_hold_forget_tracer(h, pid);
	if (r == 0)
		return OPTIONS;
	if (r < 0 && !*h->unread)
		h->unread_error = r;
	exit_hold_note_name(pid, r > 0 ? h->tracer : h->unread);
	exit_hold_add_tracer(h, pid);
	return OPTIONS_OF_TRACER;
}

static bool exit_hold_is_traced(pid_t pid)
{
	char path[32], line[512];
	int tracer = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f) && sscanf(line, "TracerPid: %d", &tracer) != 1)
		;
	fclose(f);
	return tracer != 0;
}

/* Writes the name of the program of PID to TO; "" if it has none. Does not access its file. Returns
 * false if it is hidden, as it is from those who may not trace PID. */
static bool exit_hold_program_of(pid_t pid, char to[static 256])
{
	char path[32];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, to, 255);
	to[n > 0 ? n : 0] = '\0';
	return n >= 0 || (errno != EACCES && errno != EPERM);
}

/*
 * Traces PID. Its program is read before, which can take a second: if a debugger were traced
 * meanwhile, its new children would be, too, and it could not trace them. Returns false with an
 * errno: it is already traced, for example.
 */
static bool exit_hold_adopt(struct exit_hold *h, pid_t pid)
{
	char before[256], after[256];
	unsigned options;

	errno = EPERM;
	if (exit_hold_is_traced(pid) || !exit_hold_program_of(pid, before))
		return false;
	options = exit_hold_options_of(h, pid);
	if (!exit_hold_seize(h, pid, options))
		return false;
	/* (an exec before it was traced was not reported) */
	if (exit_hold_program_of(pid, after) && strcmp(before, after) != 0 &&
	    exit_hold_options_of(h, pid) != options)
		exit_hold_interrupt(h, pid, options ^ OPTIONS ^ OPTIONS_OF_TRACER);
	return true;
}

/* Likewise, for a process that has just begun its program and can end soon: it is traced first, and
 * gets its options later. Children that it makes before that are left to the search. */
static bool exit_hold_adopt_new(struct exit_hold *h, pid_t pid)
{
	if (!exit_hold_seize(h, pid, OPTIONS_OF_TRACER))
		return false;
	if (exit_hold_options_of(h, pid) == OPTIONS)
		exit_hold_interrupt(h, pid, OPTIONS);
	return true;
}

/* ---- held threads (called with the lock) ---- */

static struct held *exit_hold_find(struct exit_hold *h, pid_t tid)
{
	for (unsigned i = 0; i < h->n; i++)
		if (h->list[i].tid == tid)
			return &h->list[i];
	return NULL;
}

/*
 * An exec kills the other threads of its process and waits for their exits. Then its own thread
 * becomes the first one of PID, and is not traced. It runs a program, which can exit within a
 * millisecond. If that fails, the next round searches for it, and for children that it has made.
 */
static void exit_hold_seize_successor(struct exit_hold *h, pid_t pid)
{
	uint64_t end_ns = clock_read_ns(CLOCK_MONOTONIC) + SUCCESSOR_NS;
	bool seized;

	/* (the old thread refuses until it has exited) */
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

static void exit_hold_release_one(struct exit_hold *h, pid_t pid)
{
	for (unsigned i = 0; i < h->n; i++)
		if (h->list[i].pid == pid)
			h->list[i].state = HELD_RELEASED;
}

static bool exit_hold_is_other(struct exit_hold *h, pid_t pid, pid_t tid)
{
	return !exit_hold_find(h, tid) && !task_state_is_ending(pid, tid);
}

/* (does nothing if the thread is already traced, or has exited) */
static bool exit_hold_seize_other(struct exit_hold *h, pid_t pid, pid_t tid)
{
	return tid != pid && exit_hold_seize(h, tid, OPTIONS | PTRACE_O_TRACECLONE);
}

/* HELD is the last thread of its process, or exits before the others. */
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

/* Whether a thread of HELD's process is already reported. If so, all of its threads wait
 * together. */
static bool exit_hold_is_reported(const struct exit_hold *h, const struct held *held)
{
	for (unsigned i = 0; i < h->n; i++)
		if (&h->list[i] != held && h->list[i].pid == held->pid &&
		    (h->list[i].state == HELD_READY || h->list[i].state == HELD_POPPED))
			return true;
	return false;
}

/* Returns when it must be called again, in milliseconds. */
static int exit_hold_settle(struct exit_hold *h)
{
	uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
	int due_ms = h->gave_up ? OTHERS_MS : UNREPORTED_MS;

	for (unsigned i = 0; i < h->n; i++) {
		struct held *held = &h->list[i];

		if (held->state == HELD_WAITING && !exit_hold_is_reported(h, held))
			exit_hold_settle_waiting(h, held, now_ns);
		if ((held->state == HELD_READY || held->state == HELD_POPPED) &&
		    now_ns - held->ready_ns > HOLD_NS) {
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
		if (held->state == HELD_WAITING)
			due_ms = OTHERS_MS;
		i++;
	}
	return due_ms;
}

/* ---- processes forked by other threads than the first one ---- */

/* Adopts the descendants of TID, but not those of a program that traces others. */
static bool exit_hold_adopt_children(struct exit_hold *h, pid_t pid, pid_t tid)
{
	char path[64];
	int child;
	FILE *f;

	if (h->depth == WALK_DEPTH_MAX || exit_hold_has_tracer(h, pid) || h->n_more_tracers > 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)tid);
	f = fopen(path, "re");
	if (!f)
		return false;
	h->depth++;
	while (fscanf(f, "%d", &child) == 1) {
		exit_hold_adopt(h, (pid_t)child);
		exit_hold_each_task(h, (pid_t)child, exit_hold_adopt_children);
	}
	h->depth--;
	fclose(f);
	return true;
}

/* Tracing all threads would report these forks, but it would also stop each thread for each
 * signal. */
static void exit_hold_walk_if_due(struct exit_hold *h)
{
	uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
	/* (where the CPUs are busy, the search waits for them, which costs nothing) */
	uint64_t took_ns, begin_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);

	if (now_ns < h->next_walk_ns)
		return;
	exit_hold_forget_ended_tracers(h);
	/* (an exec by another thread replaces the first thread, which was traced) */
	exit_hold_adopt(h, h->command);
	exit_hold_each_task(h, h->command, exit_hold_adopt_children);
	if (h->gave_up)
		return;
	took_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	h->next_walk_ns = now_ns + (took_ns * WALK_PART > WALK_NS ? took_ns * WALK_PART : WALK_NS);
}

/* ---- stops of traced threads ---- */

static void exit_hold_on_exit_of(struct exit_hold *h, pid_t tid)
{
	uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
	pid_t pid = exit_hold_process_of(tid);
	bool is_over = h->held_ns > HELD_NS_MAX && pid != h->command;
	unsigned long status = 0;

	h->n_passed += is_over;
	ptrace(PTRACE_GETEVENTMSG, tid, NULL, &status);
	if (is_over || WTERMSIG((int)status) == SIGKILL || h->n == EXIT_HOLD_MAX ||
	    (tid == pid && exit_hold_each_task(h, pid, exit_hold_is_in_exec) > 0)) {
		exit_hold_detach(h, pid, tid);
		return;
	}
	/* The threads that outlive the first one keep the memory. */
	if (tid == pid)
		exit_hold_each_task(h, pid, exit_hold_seize_other);
	h->list[h->n++] = (struct held){ tid, pid, HELD_WAITING, now_ns, 0 };
}

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

/* TID has stopped with STATUS: continues it, unless it is at its exit. */
static void exit_hold_on_stop(struct exit_hold *h, pid_t tid, int status)
{
	int number = status & 0xff, event = status >> 8;

	if (tid == h->stopped && !(event == PTRACE_EVENT_STOP && exit_hold_is_stop_signal(number)))
		h->stopped = 0;
	if (event == PTRACE_EVENT_EXEC) {
		exit_hold_forget_pending(h, tid);
		exit_hold_set_options(tid, exit_hold_options_of(h, tid));
	} else if (event != PTRACE_EVENT_EXIT) {
		exit_hold_set_pending(h, tid);
	}
	if (event == 0 && number == SIGSTOP)
		exit_hold_note_stop(h, tid);
	if (event == PTRACE_EVENT_EXIT)
		exit_hold_on_exit_of(h, tid);
	else if (event == PTRACE_EVENT_STOP && exit_hold_is_stop_signal(number))
		/* Job control: it stays stopped until it is continued. */
		ptrace(PTRACE_LISTEN, tid, NULL, NULL);
	else
		ptrace(PTRACE_CONT, tid, NULL, (void *)(uintptr_t)(event ? 0 : number));
}

/* Whether a traced thread has changed its state; if so, *RET is the stop or the exit. */
static bool exit_hold_peek(siginfo_t *ret, idtype_t which, pid_t pid, int options)
{
	ret->si_pid = 0;
	return waitid(which, (id_t)pid, ret, options | WNOHANG | __WALL | __WNOTHREAD) == 0 &&
	       ret->si_pid != 0;
}

static void exit_hold_collect_stops(struct exit_hold *h)
{
	siginfo_t info;

	while (exit_hold_peek(&info, P_ALL, 0, WEXITED | WSTOPPED | WNOWAIT)) {
		pid_t tid = info.si_pid;
		bool ended = info.si_code == CLD_EXITED || info.si_code == CLD_KILLED ||
			     info.si_code == CLD_DUMPED;
		struct held *held;

		/* The thread died while it was held. The command is not reaped here: its owner does
		 * that, and its end ends the hold. */
		if (ended && tid == h->command) {
			h->ending = true;
			return;
		}
		if (!exit_hold_peek(&info, P_PID, tid, ended ? WEXITED : WSTOPPED))
			return;
		if (ended)
			exit_hold_forget_tracer(h, tid);
		if (ended || info.si_status >> 8 == PTRACE_EVENT_EXIT)
			exit_hold_forget_pending(h, tid);
		held = exit_hold_find(h, tid);
		if (held)
			*held = h->list[--h->n];
		if (!ended)
			exit_hold_on_stop(h, tid, info.si_status);
	}
}

/* Reports a process that has stopped itself and stays stopped. */
static void exit_hold_check_stopped(struct exit_hold *h)
{
	if (!h->stopped || !h->stopped_ns ||
	    clock_read_ns(CLOCK_MONOTONIC) - h->stopped_ns < STOPPED_NS)
		return;
	h->waiting = h->stopped;
	h->stopped_ns = 0;
	eventfd_write(h->owner_fd, 1);
}

static void *exit_hold_run(void *userdata)
{
	struct exit_hold *h = userdata;
	struct pollfd pollfd = { .fd = h->thread_fd, .events = POLLIN };
	uint64_t begin_ns;
	eventfd_t n;
	int due_ms, r;

	r = exit_hold_make_timer(&h->timer);
	pthread_mutex_lock(&h->lock);
	h->error = r
			   ?: ptrace(PTRACE_SEIZE, h->command, NULL, (void *)(uintptr_t)OPTIONS) < 0
			      ? -errno
			      : 0;
	pthread_cond_signal(&h->begun);
	while (h->error == 0 && !h->ending) {
		h->gave_up = false;
		exit_hold_collect_stops(h);
		exit_hold_walk_if_due(h);
		due_ms = exit_hold_settle(h);
		exit_hold_check_stopped(h);
		if (h->ending)
			break;
		begin_ns = clock_read_ns(CLOCK_MONOTONIC);
		pthread_mutex_unlock(&h->lock);
		poll(&pollfd, 1, due_ms);
		eventfd_read(h->thread_fd, &n);
		pthread_mutex_lock(&h->lock);
		h->held_ns += h->n > 0 ? clock_read_ns(CLOCK_MONOTONIC) - begin_ns : 0;
	}
	h->n = 0;
	pthread_mutex_unlock(&h->lock);
	if (r == 0)
		timer_delete(h->timer);
	return NULL;
}

/* ---- owner ---- */

int exit_hold_begin(struct exit_hold *h, pid_t command)
{
	int r;

	*h = (struct exit_hold)EXIT_HOLD_NULL;
	h->command = command;
	h->error = 1;
	h->thread_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	h->owner_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->begun, NULL);
	r = h->thread_fd < 0 || h->owner_fd < 0
		    ? -errno
		    : -pthread_create(&h->thread, NULL, exit_hold_run, h);
	h->runs = r == 0;
	if (r == 0) {
		pthread_mutex_lock(&h->lock);
		while (h->error > 0)
			pthread_cond_wait(&h->begun, &h->lock);
		r = h->error;
		pthread_mutex_unlock(&h->lock);
	}
	if (r < 0)
		exit_hold_end(h);
	return r;
}

void exit_hold_wake(struct exit_hold *h)
{
	if (h->runs)
		eventfd_write(h->thread_fd, 1);
}

pid_t exit_hold_pop(struct exit_hold *h)
{
	pid_t pid = 0;
	eventfd_t n;

	if (!h->runs)
		return 0;
	eventfd_read(h->owner_fd, &n);
	pthread_mutex_lock(&h->lock);
	for (unsigned i = 0; pid == 0 && i < h->n; i++) {
		if (h->list[i].state != HELD_READY)
			continue;
		h->list[i].state = HELD_POPPED;
		pid = h->list[i].pid;
	}
	pthread_mutex_unlock(&h->lock);
	return pid;
}

void exit_hold_release(struct exit_hold *h, pid_t pid)
{
	if (!h->runs)
		return;
	pthread_mutex_lock(&h->lock);
	exit_hold_release_one(h, pid);
	pthread_mutex_unlock(&h->lock);
	exit_hold_wake(h);
}

pid_t exit_hold_waiting(struct exit_hold *h)
{
	pid_t pid;

	if (!h->runs)
		return 0;
	pthread_mutex_lock(&h->lock);
	pid = h->waiting;
	h->waiting = 0;
	pthread_mutex_unlock(&h->lock);
	return pid;
}

bool exit_hold_any(struct exit_hold *h)
{
	bool any;

	if (!h->runs)
		return false;
	pthread_mutex_lock(&h->lock);
	any = h->n > 0;
	pthread_mutex_unlock(&h->lock);
	return any;
}

void exit_hold_end(struct exit_hold *h)
{
	if (h->runs) {
		pthread_mutex_lock(&h->lock);
		h->ending = true;
		pthread_mutex_unlock(&h->lock);
		exit_hold_wake(h);
		pthread_join(h->thread, NULL);
		h->runs = false;
	}
	h->thread_fd = close_fd(h->thread_fd);
	h->owner_fd = close_fd(h->owner_fd);
}
