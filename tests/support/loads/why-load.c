/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * why-load DIRECTORY: programs that are slow, each for a known reason, one after the other. Prints
 * a line of JSON for each: the thread that suffers, the thread that is the reason, the kinds of
 * verdicts that are right, and the time as the program has measured it. A trouble that this machine
 * does not allow is left out.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/fakes/mute-fuse.h"

enum { TROUBLE_MS = 150 };

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void spin(unsigned ms)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ms * UINT64_C(1000000);

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static void sleep_ms(unsigned ms)
{
	struct timespec left = { .tv_sec = 0, .tv_nsec = ms * 1000000L };

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
		;
}

static void set_name(const char *name)
{
	prctl(PR_SET_NAME, name);
}

/* Pins the thread to a CPU, with a real-time priority. Returns 1, or 0 if the priority is not
 * allowed. */
static int become(const char *name, int cpu, int priority)
{
	const struct sched_param param = { .sched_priority = priority };
	cpu_set_t set;

	set_name(name);
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	return sched_setscheduler(0, priority ? SCHED_FIFO : SCHED_OTHER, &param) == 0;
}

/* Gives the thread a real-time priority, if allowed. Without it, other threads could have all CPUs,
 * and the time of the trouble would not depend on the trouble alone. */
static void hurry(void)
{
	const struct sched_param param = { .sched_priority = 1 };

	sched_setscheduler(0, SCHED_FIFO, &param);
}

/* The calling thread has suffered for NS because of the thread CULPRIT. */
static void tell(const char *trouble, uint64_t ns, const char *culprit, const char *kinds)
{
	char victim[17] = "";

	prctl(PR_GET_NAME, victim);
	printf("{\"trouble\":\"%s\",\"victim\":%ld,\"name\":\"%s\",\"culprit\":\"%s\","
	       "\"kinds\":[%s],\"ns\":%llu}\n",
	       trouble, syscall(SYS_gettid), victim, culprit, kinds, (unsigned long long)ns);
	fflush(stdout);
}

/* ---- a lock, whose owner gets no CPU ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t locked, high_begins, mid_begins;
static int is_allowed = 1;

static void *be_low(void *arg)
{
	is_allowed &= become("inv-low", 0, 1);
	pthread_mutex_lock(&mutex);
	sem_post(&locked);
	sem_post(&high_begins);
	/* High has a higher priority, so it waits for the mutex by now. */
	sem_post(&mid_begins);
	spin(1);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void *be_mid(void *arg)
{
	is_allowed &= become("inv-mid", 0, 2);
	sem_wait(&mid_begins);
	spin(TROUBLE_MS);
	return NULL;
}

static void *be_high(void *arg)
{
	uint64_t begin;

	is_allowed &= become("inv-high", 0, 3);
	sem_wait(&high_begins);
	begin = clock_ns(CLOCK_MONOTONIC);
	pthread_mutex_lock(&mutex);
	begin = clock_ns(CLOCK_MONOTONIC) - begin;
	pthread_mutex_unlock(&mutex);
	if (is_allowed)
		tell("inversion", begin, "inv-mid", "\"inversion\"");
	return NULL;
}

static void make_inversion(void)
{
	pthread_t low, mid, high;

	sem_init(&locked, 0, 0);
	sem_init(&high_begins, 0, 0);
	sem_init(&mid_begins, 0, 0);
	pthread_create(&high, NULL, be_high, NULL);
	pthread_create(&mid, NULL, be_mid, NULL);
	sleep_ms(20);
	pthread_create(&low, NULL, be_low, NULL);
	pthread_join(low, NULL);
	pthread_join(mid, NULL);
	pthread_join(high, NULL);
}

/* ---- a noisy neighbour ---- */

static sem_t victim_wakes;

static void *be_noisy(void *arg)
{
	is_allowed = become("noisy-hog", 1, 1);
	sem_wait(&victim_wakes);
	spin(TROUBLE_MS);
	return NULL;
}

static void *be_disturbed(void *arg)
{
	uint64_t begin;

	become("noisy-victim", 1, 0);
	begin = clock_ns(CLOCK_MONOTONIC);
	/* The neighbour takes its CPU at once. */
	sem_post(&victim_wakes);
	begin = clock_ns(CLOCK_MONOTONIC) - begin;
	if (is_allowed)
		tell("neighbour", begin, "noisy-hog", "\"cpu_taken\",\"cpu_idle\"");
	return NULL;
}

static void make_neighbour(void)
{
	pthread_t noisy, victim;

	sem_init(&victim_wakes, 0, 0);
	pthread_create(&noisy, NULL, be_noisy, NULL);
	sleep_ms(20);
	pthread_create(&victim, NULL, be_disturbed, NULL);
	pthread_join(noisy, NULL);
	pthread_join(victim, NULL);
}

/* ---- other programs ---- */

static pid_t start(void)
{
	pid_t pid = fork();

	if (pid < 0)
		exit(1);
	return pid;
}

static void make_pipe(void)
{
	int ends[2];
	uint64_t begin;
	char c;

	if (pipe(ends) < 0)
		return;
	if (start() == 0) {
		set_name("pipe-reader");
		hurry();
		begin = clock_ns(CLOCK_MONOTONIC);
		if (read(ends[0], &c, 1) == 1)
			tell("pipe", clock_ns(CLOCK_MONOTONIC) - begin, "pipe-writer",
			     "\"program\"");
		_exit(0);
	}
	if (start() == 0) {
		set_name("pipe-writer");
		hurry();
		spin(TROUBLE_MS);
		_exit(write(ends[1], "x", 1) != 1);
	}
	waitpid(-1, NULL, 0);
	waitpid(-1, NULL, 0);
}

static void make_child(void)
{
	pid_t parent = start(), child;
	uint64_t begin;

	if (parent == 0) {
		set_name("child-parent");
		hurry();
		child = start();
		if (child == 0) {
			set_name("child-kid");
			spin(TROUBLE_MS);
			_exit(0);
		}
		begin = clock_ns(CLOCK_MONOTONIC);
		waitpid(child, NULL, 0);
		tell("child", clock_ns(CLOCK_MONOTONIC) - begin, "child-kid", "\"child\"");
		_exit(0);
	}
	waitpid(parent, NULL, 0);
}

static void make_timer(void)
{
	pid_t pid = start();
	uint64_t begin;

	if (pid == 0) {
		set_name("timer");
		hurry();
		begin = clock_ns(CLOCK_MONOTONIC);
		sleep_ms(TROUBLE_MS);
		tell("timer", clock_ns(CLOCK_MONOTONIC) - begin, "", "\"sleep\"");
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

/* A server at the loopback address: it computes before it answers. */
static void serve(int listener)
{
	int fd = accept(listener, NULL, NULL);
	char c;

	set_name("tcp-server");
	hurry();
	if (read(fd, &c, 1) == 1) {
		spin(TROUBLE_MS);
		if (write(fd, &c, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

static void make_server(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t size = sizeof(at);
	uint64_t begin;
	pid_t pid;
	char c = 0;

	if (bind(listener, (void *)&at, size) < 0 || listen(listener, 1) < 0 ||
	    getsockname(listener, (void *)&at, &size) < 0)
		return;
	pid = start();
	if (pid == 0)
		serve(listener);
	if (start() == 0) {
		set_name("tcp-client");
		hurry();
		if (connect(fd, (void *)&at, size) == 0 && write(fd, "x", 1) == 1) {
			begin = clock_ns(CLOCK_MONOTONIC);
			if (read(fd, &c, 1) == 1)
				tell("server", clock_ns(CLOCK_MONOTONIC) - begin, "tcp-server",
				     "\"program\"");
		}
		_exit(0);
	}
	waitpid(-1, NULL, 0);
	waitpid(-1, NULL, 0);
	close(listener);
	close(fd);
}

/* ---- a file system, whose server is slow ---- */

static void read_slowly(const char *path, int go)
{
	uint64_t begin;
	char c;

	set_name("fuse-reader");
	hurry();
	if (read(go, &c, 1) != 1)
		_exit(1);
	begin = clock_ns(CLOCK_MONOTONIC);
	close(open(path, O_RDONLY | O_CLOEXEC));
	tell("fuse", clock_ns(CLOCK_MONOTONIC) - begin, "fuse-server", "\"program\"");
	_exit(0);
}

/* Maps the file. Its page is read when the thread accesses the page. */
static void fault_slowly(const char *path, int go)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const volatile char *p = mmap(NULL, MUTE_FUSE_BYTES, PROT_READ, MAP_PRIVATE, fd, 0);
	uint64_t begin;
	char c;

	set_name("fault-reader");
	hurry();
	if (p == MAP_FAILED || read(go, &c, 1) != 1)
		_exit(1);
	begin = clock_ns(CLOCK_MONOTONIC);
	(void)*p;
	tell("fault", clock_ns(CLOCK_MONOTONIC) - begin, "fuse-server", "\"program\"");
	_exit(0);
}

static void make_fault(const char *path)
{
	int go[2];
	pid_t reader;

	if (pipe(go) < 0)
		_exit(1);
	reader = start();
	if (reader == 0)
		fault_slowly(path, go[0]);
	mute_fuse_keep_pages(true);
	if (write(go[1], "x", 1) != 1)
		_exit(1);
	sleep_ms(TROUBLE_MS);
	mute_fuse_keep_pages(false);
	waitpid(reader, NULL, 0);
}

static void make_fuse(const char *directory)
{
	char path[4096];
	int go[2];
	pid_t pid = start(), reader;

	if (pid > 0) {
		waitpid(pid, NULL, 0);
		return;
	}
	set_name("fuse-server");
	snprintf(path, sizeof(path), "%s/%s", directory, MUTE_FUSE_FILE);
	if (mute_fuse_mount(directory, 0) < 0 || pipe(go) < 0)
		_exit(0);
	set_name("fuse-main");
	reader = start();
	if (reader == 0)
		read_slowly(path, go[0]);
	mute_fuse_be_mute_to(reader);
	if (write(go[1], "x", 1) != 1)
		_exit(1);
	sleep_ms(TROUBLE_MS);
	mute_fuse_be_mute_to(0);
	waitpid(reader, NULL, 0);
	make_fault(path);
	_exit(0);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	/* Without this, a victim could wait longer for the beginning of its trouble than because of
	 * it. */
	hurry();
	make_inversion();
	make_neighbour();
	make_pipe();
	make_child();
	make_timer();
	make_server();
	make_fuse(argv[1]);
	return 0;
}
