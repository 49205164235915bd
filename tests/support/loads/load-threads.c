/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads of threads: ping-pong, wakeups, naps.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/support/loads/load.h"

/* ---- pingpong: two threads that exchange a byte ---- */

struct player {
	struct pingpong *game;
	const char *name;
	int in, out;
	bool serves;
	_Atomic pid_t tid;
	atomic_bool done;
	uint64_t begin_ns, end_ns;
};

struct pingpong {
	uint64_t n;
	pthread_barrier_t begin, end;
	struct player ping, pong;
};

static void pass(const struct player *p)
{
	char c = 0;

	if (write(p->out, &c, 1) != 1)
		die("%s cannot write", p->name);
}

static void receive(const struct player *p)
{
	char c;

	if (read(p->in, &c, 1) != 1)
		die("%s cannot read", p->name);
}

static void *play(void *arg)
{
	struct player *p = arg;
	char name[COMM_BYTES];

	snprintf(name, sizeof(name), "%s%s", p->name, opt.tag);
	set_name(name);
	pin(opt.cpu);
	p->tid = my_tid();
	pthread_barrier_wait(&p->game->begin);
	p->begin_ns = now_ns(CLOCK_MONOTONIC);
	for (uint64_t i = 0; i < p->game->n; i++) {
		if (p->serves)
			pass(p);
		receive(p);
		if (!p->serves)
			pass(p);
	}
	p->end_ns = now_ns(CLOCK_MONOTONIC);
	p->done = true;
	/* The thread sleeps here until the statistics are read, so that they are exact. */
	pthread_barrier_wait(&p->game->end);
	return NULL;
}

int load_pingpong(char **argv)
{
	static struct pingpong g;
	struct player *players[] = { &g.ping, &g.pong };
	struct thread_table books[2];
	pthread_t threads[2];
	uint64_t stolen;
	int there[2], back[2];

	if (pipe2(there, O_CLOEXEC) < 0 || pipe2(back, O_CLOEXEC) < 0)
		die("cannot make pipes");
	g.n = number(argv[0]);
	g.ping = (struct player){
		.game = &g, .name = "ping", .in = back[0], .out = there[1], .serves = true
	};
	g.pong = (struct player){ .game = &g, .name = "pong", .in = there[0], .out = back[1] };
	pthread_barrier_init(&g.begin, NULL, 2);
	pthread_barrier_init(&g.end, NULL, 3);

	hold_begin();
	stolen = steal_ns();
	for (int i = 0; i < 2; i++)
		start_thread(&threads[i], play, players[i]);
	for (int i = 0; i < 2; i++) {
		while (!players[i]->done)
			sleep_us(1000);
		wait_asleep(players[i]->tid, &books[i]);
		read_books(players[i]->tid, &books[i]);
	}
	stolen = steal_ns() - stolen;

	printf("{\"load\": \"pingpong\", \"pid\": %d, \"round_trips\": %llu, ", (int)getpid(),
	       (unsigned long long)g.n);
	print_thread("ping", g.ping.tid, &books[0]);
	printf(", ");
	print_thread("pong", g.pong.tid, &books[1]);
	printf(", \"elapsed_ns\": %llu, \"steal_ns\": %llu}\n",
	       (unsigned long long)(g.ping.end_ns - g.ping.begin_ns), (unsigned long long)stolen);

	pthread_barrier_wait(&g.end);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	hold_end();
	return 0;
}

/* ---- wakeups: a thread is woken a known number of times while it sleeps ---- */

struct wakeups {
	const struct wake_kind *kind;
	uint64_t n;
	_Atomic pid_t sleeper, waker;
	/*
	 * The sleeper publishes the number of its next sleep and its voluntary switches before it.
	 * When there is one more switch and its state is S, it is off the run queue, and not only
	 * about to leave it.
	 */
	_Atomic uint64_t turn;
	_Atomic uint64_t nvcsw_before;
	uint64_t slept;
	_Atomic uint32_t futex_word;
	int pipe[2];
	int tcp[2]; /* over the loopback device */
};

struct wake_kind {
	const char *name;
	void (*sleep)(struct wakeups *w);
	void (*wake)(struct wakeups *w); /* NULL: an interrupt wakes */
};

static long futex(_Atomic uint32_t *word, int op, uint32_t value)
{
	return syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

static void futex_sleep(struct wakeups *w)
{
	while (atomic_load(&w->futex_word) == 0)
		futex(&w->futex_word, FUTEX_WAIT, 0);
	atomic_store(&w->futex_word, 0);
}

static void futex_wake(struct wakeups *w)
{
	atomic_store(&w->futex_word, 1);
	futex(&w->futex_word, FUTEX_WAKE, 1);
}

static void pipe_sleep(struct wakeups *w)
{
	char c;

	if (read(w->pipe[0], &c, 1) != 1)
		die("cannot read from the pipe");
}

static void pipe_wake(struct wakeups *w)
{
	if (write(w->pipe[1], "", 1) != 1)
		die("cannot write to the pipe");
}

static void tcp_sleep(struct wakeups *w)
{
	char c;

	if (read(w->tcp[0], &c, 1) != 1)
		die("cannot read from the socket");
}

static void tcp_wake(struct wakeups *w)
{
	if (write(w->tcp[1], "", 1) != 1)
		die("cannot write to the socket");
}

static void connect_tcp(int ends[2])
{
	struct sockaddr_in here = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
	socklen_t size = sizeof(here);

	ends[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(listener, (struct sockaddr *)&here, size) < 0 || listen(listener, 1) < 0 ||
	    getsockname(listener, (struct sockaddr *)&here, &size) < 0 ||
	    connect(ends[1], (struct sockaddr *)&here, size) < 0)
		die("cannot connect over the loopback device");
	ends[0] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (ends[0] < 0 || setsockopt(ends[1], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) < 0)
		die("cannot connect over the loopback device");
	close(listener);
}

static void signal_sleep(struct wakeups *w)
{
	sigset_t set;

	(void)w;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	while (sigwaitinfo(&set, NULL) < 0 && errno == EINTR)
		;
}

static void signal_wake(struct wakeups *w)
{
	if (syscall(SYS_tgkill, getpid(), w->sleeper, SIGUSR1) < 0)
		die("cannot send a signal");
}

static void timer_sleep(struct wakeups *w)
{
	(void)w;
	sleep_us(100);
}

static const struct wake_kind wake_kinds[] = {
	{ "futex", futex_sleep, futex_wake },    { "pipe", pipe_sleep, pipe_wake },
	{ "signal", signal_sleep, signal_wake }, { "tcp", tcp_sleep, tcp_wake },
	{ "timer", timer_sleep, NULL },
};

static void *sleeper_main(void *arg)
{
	struct wakeups *w = arg;
	uint64_t start;

	set_name("sleeper");
	pin(opt.cpu);
	prctl(PR_SET_TIMERSLACK, 1);
	w->sleeper = my_tid();
	start = my_nvcsw();
	if (w->kind->wake) {
		for (uint64_t i = 1; i <= w->n; i++) {
			w->nvcsw_before = my_nvcsw();
			w->turn = i;
			w->kind->sleep(w);
		}
	} else {
		/* A timer can expire before its thread sleeps; only real sleeps count. */
		while (my_nvcsw() - start < w->n)
			w->kind->sleep(w);
	}
	w->slept = my_nvcsw() - start;
	return NULL;
}

static void *waker_main(void *arg)
{
	struct wakeups *w = arg;
	struct thread_table b;
	int fd = open_task_file(w->sleeper, "status");

	set_name("waker");
	pin(opt.waker_cpu);
	prctl(PR_SET_TIMERSLACK, 1);
	w->waker = my_tid();
	for (uint64_t i = 1; i <= w->n; i++) {
		for (;;) {
			if (w->turn == i) {
				read_status(fd, &b);
				if (b.state == 'S' && b.nvcsw > w->nvcsw_before)
					break;
			}
			/*
			 * This sleeps instead of sched_yield(): a thread that only yields can keep
			 * others, the recorder too, off its CPU for a second.
			 */
			sleep_us(2);
		}
		w->kind->wake(w);
	}
	close(fd);
	return NULL;
}

static const struct wake_kind *find_wake_kind(const char *name)
{
	for (size_t i = 0; i < sizeof(wake_kinds) / sizeof(wake_kinds[0]); i++)
		if (strcmp(wake_kinds[i].name, name) == 0)
			return &wake_kinds[i];
	errno = 0;
	die("'%s' must be one of futex, pipe, signal, tcp and timer", name);
}

int load_wakeups(char **argv)
{
	static struct wakeups w;
	pthread_t sleeper, waker;
	sigset_t set;

	w.kind = find_wake_kind(argv[0]);
	w.n = number(argv[1]);
	if (pipe2(w.pipe, O_CLOEXEC) < 0)
		die("cannot create a pipe");
	if (w.kind->wake == tcp_wake)
		connect_tcp(w.tcp);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);

	hold_begin();
	start_thread(&sleeper, sleeper_main, &w);
	while (!w.sleeper)
		sleep_us(100);
	if (w.kind->wake) {
		start_thread(&waker, waker_main, &w);
		pthread_join(waker, NULL);
	}
	pthread_join(sleeper, NULL);

	printf("{\"load\": \"wakeups\", \"kind\": \"%s\", \"pid\": %d, \"sleeper\": %d, "
	       "\"waker\": %d, \"wakeups\": %llu, \"slept\": %llu}\n",
	       w.kind->name, (int)getpid(), (int)w.sleeper, (int)w.waker,
	       (unsigned long long)(w.kind->wake ? w.n : w.slept), (unsigned long long)w.slept);
	hold_end();
	return 0;
}

/* ---- sleep: one thread, N short sleeps ---- */

struct naps {
	uint64_t n, us;
	_Atomic pid_t tid;
	atomic_bool done;
	pthread_barrier_t end;
};

static void *naps_main(void *arg)
{
	struct naps *n = arg;

	set_name("napper");
	pin(opt.cpu);
	prctl(PR_SET_TIMERSLACK, 1);
	n->tid = my_tid();
	for (uint64_t i = 0; i < n->n; i++)
		sleep_us(n->us);
	n->done = true;
	pthread_barrier_wait(&n->end);
	return NULL;
}

int load_sleep(char **argv)
{
	static struct naps n;
	struct thread_table b;
	pthread_t thread;

	n.n = number(argv[0]);
	n.us = number(argv[1]);
	pthread_barrier_init(&n.end, NULL, 2);
	hold_begin();
	start_thread(&thread, naps_main, &n);
	while (!n.done)
		sleep_us(1000);
	wait_asleep(n.tid, &b);
	read_books(n.tid, &b);
	printf("{\"load\": \"sleep\", \"pid\": %d, \"naps\": %llu, ", (int)getpid(),
	       (unsigned long long)n.n);
	print_thread("napper", n.tid, &b);
	printf("}\n");
	pthread_barrier_wait(&n.end);
	pthread_join(thread, NULL);
	hold_end();
	return 0;
}
