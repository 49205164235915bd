/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/exit-hold.h"

#include <dirent.h>
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
#include "capture/proc/task-state.h"

/*
 * How long one that ends waits for the other threads of its process to do so, too: else it ends
 * alone.
 */
#define OTHERS_NS UINT64_C(100000000)
#define OTHERS_MS 2

/* No process is held for longer, whatever was to look at it. */
#define HOLD_NS UINT64_C(30000000000)

/* How long it may take at most until a stop is noticed of which the thread is not notified. */
#define UNTOLD_MS WALK_MS

/* So often it is looked what other threads have forked, if that takes no larger part of the
 * time. */
#define WALK_NS   UINT64_C(100000000)
#define WALK_MS   100
#define WALK_PART 20

/* How long a request to seize may wait, in each round. */
#define SEIZE_NS 20000000

/* How long it is tried to trace the thread that takes another one's place. */
#define SUCCESSOR_NS 5000000

enum { WALK_DEPTH_MAX = 64 };

#define OPTIONS (PTRACE_O_TRACEEXIT | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK)

static pid_t exit_hold_process_of(pid_t tid)
{
	char path[32], line[128];
	int pid = tid;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	f = fopen(path, "re");
	if (!f)
		return tid;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "Tgid: %d", &pid) == 1)
			break;
	fclose(f);
	return pid;
}

/* The system call in which TID stands still, or -1. */
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

/* Whether TID has asked for its own end only. */
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

/* Calls EACH for the tasks of PID, and returns how often that said true. */
static unsigned exit_hold_each_task(struct exit_hold *h, pid_t pid,
				    bool (*each)(struct exit_hold *h, pid_t pid, pid_t tid))
{
	const struct dirent *entry;
	unsigned n = 0;
	char path[32];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		n += tid > 0 && each(h, pid, tid);
	}
	if (dir)
		closedir(dir);
	return n;
}

/* ---- requests that can wait ---- */

static _Thread_local sigjmp_buf exit_hold_waited;
static _Thread_local volatile sig_atomic_t exit_hold_waits;

static void exit_hold_on_timer(int number __attribute__((unused)))
{
	if (exit_hold_waits)
		siglongjmp(exit_hold_waited, 1);
}

/*
 * A timer that interrupts this thread, and no other. It is a signal of its own: the kernel restarts
 * the request behind a handler that returns.
 */
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
 * Traces TID. An exec keeps others from seizing its process until all other threads have ended, and
 * of those the exec waits for the ones that are held here. So the request is given up after
 * SEIZE_NS, and none is made again in this round. False with an errno.
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

/* ---- those that are held: the lock is, too ---- */

static struct held *exit_hold_find(struct exit_hold *h, pid_t tid)
{
	for (unsigned i = 0; i < h->n; i++)
		if (h->list[i].tid == tid)
			return &h->list[i];
	return NULL;
}

/*
 * An exec kills the other threads of its process, and waits for their end. Then its own thread is
 * the first one of PID, and nobody traces it. It begins a program, which may end within a
 * millisecond.
 */
static void exit_hold_seize_successor(struct exit_hold *h, pid_t pid)
{
	uint64_t end_ns = clock_read_ns(CLOCK_MONOTONIC) + SUCCESSOR_NS;

	/* (the old one refuses until it has gone) */
	while (!exit_hold_seize(h, pid, OPTIONS) && !h->gave_up && errno == EPERM &&
	       clock_read_ns(CLOCK_MONOTONIC) < end_ns)
		usleep(20);
}

/* TID, of PID, is at its exit: it goes on, and is traced no more. */
static void exit_hold_detach(struct exit_hold *h, pid_t pid, pid_t tid)
{
	bool execs = tid == pid && exit_hold_each_task(h, pid, exit_hold_is_in_exec) > 0;

	ptrace(PTRACE_DETACH, tid, NULL, NULL);
	if (execs)
		exit_hold_seize_successor(h, pid);
}

static void exit_hold_let_go(struct exit_hold *h, struct held *held)
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

/* (one that is traced already, or has gone: nothing happens) */
static bool exit_hold_seize_other(struct exit_hold *h, pid_t pid, pid_t tid)
{
	return tid != pid && exit_hold_seize(h, tid, OPTIONS | PTRACE_O_TRACECLONE);
}

/* HELD is the last one of its process, or goes before the others. */
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

/* Whether a thread of HELD's process is reported already: then all of them wait with it. */
static bool exit_hold_is_told(const struct exit_hold *h, const struct held *held)
{
	for (unsigned i = 0; i < h->n; i++)
		if (&h->list[i] != held && h->list[i].pid == held->pid &&
		    (h->list[i].state == HELD_READY || h->list[i].state == HELD_TAKEN))
			return true;
	return false;
}

/* Returns how soon it is to be called again, ms. */
static int exit_hold_settle(struct exit_hold *h)
{
	uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
	int due_ms = h->gave_up ? OTHERS_MS : UNTOLD_MS;

	for (unsigned i = 0; i < h->n; i++) {
		struct held *held = &h->list[i];

		if (held->state == HELD_WAITING && !exit_hold_is_told(h, held))
			exit_hold_settle_waiting(h, held, now_ns);
		if ((held->state == HELD_READY || held->state == HELD_TAKEN) &&
		    now_ns - held->ready_ns > HOLD_NS) {
			exit_hold_release_one(h, held->pid);
			h->n_late++;
		}
	}
	for (unsigned i = 0; i < h->n;) {
		struct held *held = &h->list[i];

		if (held->state == HELD_RELEASED) {
			exit_hold_let_go(h, held);
			continue;
		}
		if (held->state == HELD_WAITING)
			due_ms = OTHERS_MS;
		i++;
	}
	return due_ms;
}

/* ---- what other threads than the first one have forked ---- */

/* What TID has forked, and what that has. (one that is traced already: nothing happens) */
static bool exit_hold_adopt_children(struct exit_hold *h, pid_t pid, pid_t tid)
{
	char path[64];
	int child;
	FILE *f;

	if (h->depth == WALK_DEPTH_MAX)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)tid);
	f = fopen(path, "re");
	if (!f)
		return false;
	h->depth++;
	while (fscanf(f, "%d", &child) == 1) {
		exit_hold_seize(h, (pid_t)child, OPTIONS);
		exit_hold_each_task(h, (pid_t)child, exit_hold_adopt_children);
	}
	h->depth--;
	fclose(f);
	return true;
}

/* Tracing all threads would report it, but stop each of them for each of its signals. */
static void exit_hold_walk_if_due(struct exit_hold *h)
{
	uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC), took_ns;

	if (now_ns < h->next_walk_ns)
		return;
	/* (an exec of another thread puts that in the place of the first one, which was traced) */
	exit_hold_seize(h, h->command, OPTIONS);
	exit_hold_each_task(h, h->command, exit_hold_adopt_children);
	if (h->gave_up)
		return;
	took_ns = clock_read_ns(CLOCK_MONOTONIC) - now_ns;
	h->next_walk_ns = now_ns + (took_ns * WALK_PART > WALK_NS ? took_ns * WALK_PART : WALK_NS);
}

/* ---- what happens to what is traced ---- */

static void exit_hold_on_exit_of(struct exit_hold *h, pid_t tid)
{
	uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
	pid_t pid = exit_hold_process_of(tid);
	unsigned long status = 0;

	ptrace(PTRACE_GETEVENTMSG, tid, NULL, &status);
	if (WTERMSIG((int)status) == SIGKILL || h->n == EXIT_HOLD_MAX ||
	    (tid == pid && exit_hold_each_task(h, pid, exit_hold_is_in_exec) > 0)) {
		exit_hold_detach(h, pid, tid);
		return;
	}
	/* A process that outlives it has its memory. */
	if (tid == pid)
		exit_hold_each_task(h, pid, exit_hold_seize_other);
	h->list[h->n++] = (struct held){ tid, pid, HELD_WAITING, now_ns, 0 };
}

static bool exit_hold_is_stop_signal(int number)
{
	return number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
}

/* TID has stopped with STATUS: goes on, but at its exit. */
static void exit_hold_on_stop(struct exit_hold *h, pid_t tid, int status)
{
	int number = status & 0xff, event = status >> 8;

	if (event == PTRACE_EVENT_EXIT)
		exit_hold_on_exit_of(h, tid);
	else if (event == PTRACE_EVENT_STOP && exit_hold_is_stop_signal(number))
		/* Job control: it stays stopped until somebody continues it. */
		ptrace(PTRACE_LISTEN, tid, NULL, NULL);
	else
		ptrace(PTRACE_CONT, tid, NULL, (void *)(uintptr_t)(event ? 0 : number));
}

/* Whether the next of those that we trace has news, in *RET: a stop, or an end. */
static bool exit_hold_peek(siginfo_t *ret, idtype_t which, pid_t pid, int options)
{
	ret->si_pid = 0;
	return waitid(which, (id_t)pid, ret, options | WNOHANG | __WALL | __WNOTHREAD) == 0 &&
	       ret->si_pid != 0;
}

static void exit_hold_take_stops(struct exit_hold *h)
{
	siginfo_t info;

	while (exit_hold_peek(&info, P_ALL, 0, WEXITED | WSTOPPED | WNOWAIT)) {
		pid_t tid = info.si_pid;
		bool ended = info.si_code == CLD_EXITED || info.si_code == CLD_KILLED ||
			     info.si_code == CLD_DUMPED;
		struct held *held;

		/*
		 * It died while it was held. The command is not ours to reap, and with it all
		 * ends.
		 */
		if (ended && tid == h->command) {
			h->ending = true;
			return;
		}
		if (!exit_hold_peek(&info, P_PID, tid, ended ? WEXITED : WSTOPPED))
			return;
		held = exit_hold_find(h, tid);
		if (held)
			*held = h->list[--h->n];
		if (!ended)
			exit_hold_on_stop(h, tid, info.si_status);
	}
}

static void *exit_hold_run(void *userdata)
{
	struct exit_hold *h = userdata;
	struct pollfd pollfd = { .fd = h->thread_fd, .events = POLLIN };
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
		exit_hold_take_stops(h);
		exit_hold_walk_if_due(h);
		due_ms = exit_hold_settle(h);
		if (h->ending)
			break;
		pthread_mutex_unlock(&h->lock);
		poll(&pollfd, 1, due_ms);
		eventfd_read(h->thread_fd, &n);
		pthread_mutex_lock(&h->lock);
	}
	h->n = 0;
	pthread_mutex_unlock(&h->lock);
	if (r == 0)
		timer_delete(h->timer);
	return NULL;
}

/* ---- the owner's side ---- */

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

void exit_hold_attend(struct exit_hold *h)
{
	if (h->runs)
		eventfd_write(h->thread_fd, 1);
}

pid_t exit_hold_take(struct exit_hold *h)
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
		h->list[i].state = HELD_TAKEN;
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
	exit_hold_attend(h);
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
		exit_hold_attend(h);
		pthread_join(h->thread, NULL);
		h->runs = false;
	}
	h->thread_fd = close_fd(h->thread_fd);
	h->owner_fd = close_fd(h->owner_fd);
}
