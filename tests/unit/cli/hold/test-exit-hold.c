/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hold of processes at their exit, with files of programs that cannot be read in time, and with
 * more processes than can be held.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/hold/exit-hold-parts.h"
#include "cli/hold/tracing-program.h"
#include "tests/support/unit.h"

enum { CHILDREN_MAX = EXIT_HOLD_MAX + 2 };

static struct exit_hold h;

/* Shared with the command and its children */
static struct {
	pid_t children[CHILDREN_MAX];
	atomic_bool go, reap;
} * shared;

/* The value of EXPRESSION while the thread waits. */
#define LOCKED(expression)                                                                         \
	({                                                                                         \
		pthread_mutex_lock(&h.lock);                                                       \
		__typeof__(expression) locked_value = (expression);                                \
		pthread_mutex_unlock(&h.lock);                                                     \
		locked_value;                                                                      \
	})

/* Replaces the reader of programs. */
static int (*reader)(pid_t pid);
static atomic_uint n_read;

int tracing_program(pid_t pid)
{
	atomic_fetch_add(&n_read, 1);
	return reader ? reader(pid) : 0;
}

/*
 * Replaces the requests of ptrace: they are made, unless IS_FAKE is set. With STALLS, a
 * request that has seized another process than the command does not return.
 */
static bool is_fake;
static atomic_bool stalls;
static unsigned long options_seized, options_set;
static unsigned n_options_set, n_continued;

long ptrace(enum __ptrace_request request, ...)
{
	void *address, *data;
	pid_t pid;
	long r = 0;
	va_list ap;

	va_start(ap, request);
	pid = va_arg(ap, pid_t);
	address = va_arg(ap, void *);
	data = va_arg(ap, void *);
	va_end(ap);
	if (!is_fake)
		r = syscall(SYS_ptrace, (long)request, (long)pid, address, data);
	else if (request == PTRACE_SEIZE)
		options_seized = (unsigned long)data;
	else if (request == PTRACE_SETOPTIONS) {
		options_set = (unsigned long)data;
		n_options_set++;
	} else if (request == PTRACE_CONT)
		n_continued++;
	while (request == PTRACE_SEIZE && r == 0 && stalls && pid != h.command)
		usleep(1000);
	return r;
}

/* Replaces the stops of this process, if it is set: the status of each. */
static int fake_stop;
static unsigned n_fake_stops;

int waitid(idtype_t which, id_t pid, siginfo_t *ret, int options)
{
	if (!is_fake)
		return (int)syscall(SYS_waitid, (long)which, (long)pid, ret, (long)options, NULL);
	memset(ret, 0, sizeof(*ret));
	if (n_fake_stops == 0)
		return 0;
	n_fake_stops -= !(options & WNOWAIT);
	ret->si_pid = getpid();
	ret->si_code = CLD_TRAPPED;
	ret->si_status = fake_stop;
	return 0;
}

/* Begins a hold without a thread, of this process, whose requests and stops are not real. */
static void begin_fake(void)
{
	h = (struct exit_hold){ 0 };
	pthread_mutex_init(&h.lock, NULL);
	pthread_mutex_lock(&h.lock);
	is_fake = true;
	n_read = n_options_set = n_continued = n_fake_stops = 0;
	reader = NULL;
}

static void end_fake(void)
{
	is_fake = false;
	pthread_mutex_unlock(&h.lock);
}

/* (a failed test ends without its command) */
static void wait_for(const atomic_bool *what)
{
	pid_t parent = getppid();

	while (!*what && getppid() == parent)
		usleep(1000);
}

static void wait_for_go(void)
{
	wait_for(&shared->go);
}

/* Forks child I, which runs RUN. */
static void fork_child(unsigned i, void (*run)(void))
{
	pid_t pid = fork();

	if (pid == 0) {
		run();
		_exit(0);
	}
	shared->children[i] = pid;
}

static bool has_state(pid_t pid, char state)
{
	char path[32], found = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (fscanf(f, "%*d (%*[^)]) %c", &found) != 1)
		found = 0;
	fclose(f);
	return found == state;
}

/* Begins to hold a command that runs RUN. Returns its process. */
static pid_t begin(void (*run)(void))
{
	int pipe_fds[2], r;
	char byte;
	pid_t pid;

	memset(shared, 0, sizeof(*shared));
	n_read = 0;
	assert_int_equal(pipe(pipe_fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(pipe_fds[1]);
		if (read(pipe_fds[0], &byte, 1) == 1)
			run();
		_exit(0);
	}
	close(pipe_fds[0]);
	r = exit_hold_begin(&h, pid);
	if (r == 0)
		assert_int_equal(write(pipe_fds[1], "", 1), 1);
	close(pipe_fds[1]);
	if (r == -EPERM) {
		waitpid(pid, NULL, 0);
		print_message("ptrace is not allowed here\n");
		skip();
	}
	assert_int_equal(r, 0);
	return pid;
}

/* Ends the hold and PID. Returns its status. */
static int end(pid_t pid)
{
	int status = -1;

	exit_hold_end(&h);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

/* ---- the end of the hold ---- */

static void run_true(void)
{
	wait_for_go();
	execlp("true", "true", NULL);
	_exit(1);
}

static void fork_programs(void)
{
	int status, n_failed = 0;

	for (unsigned i = 0; i < 3; i++)
		fork_child(i, run_true);
	shared->go = true;
	while (wait(&status) > 0)
		n_failed += status != 0;
	_exit(n_failed);
}

static atomic_bool reads;

static int read_until_end(pid_t pid)
{
	(void)pid;
	reads = true;
	while (!h.ending)
		usleep(1000);
	return 0;
}

/* The programs wait for their files when the hold ends. Only one file is read, not each. */
TEST(test_end_between_files)
{
	pid_t command;

	reads = false;
	reader = read_until_end;
	command = begin(fork_programs);
	for (unsigned i = 0; i < 3; i++)
		assert_soon(has_state(shared->children[i], 't'));
	assert_soon(reads);
	assert_int_equal(end(command), 0);
	assert_int_equal(n_read, 1);
}

/* ---- processes that are not held ---- */

static void exit_at_once(void)
{
}

static void fork_many(void)
{
	for (unsigned i = 0; i < CHILDREN_MAX; i++)
		fork_child(i, exit_at_once);
	while (wait(NULL) > 0)
		;
}

TEST(test_too_many)
{
	pid_t command;

	reader = NULL;
	command = begin(fork_many);
	assert_soon(LOCKED(h.n + h.n_full) == CHILDREN_MAX);
	assert_int_equal(LOCKED(h.n), EXIT_HOLD_MAX);
	assert_int_equal(end(command), 0);
}

static void *fork_waiting(void *userdata)
{
	fork_child(0, wait_for_go);
	return userdata;
}

/* The search has to find a child that another thread has forked. */
static void fork_by_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, fork_waiting, NULL) == 0)
		pthread_join(thread, NULL);
	wait_for_go();
	/* (the child stays a zombie until then) */
	wait_for(&shared->reap);
	while (wait(NULL) > 0)
		;
}

/* A child ends while its file is read, which is that of a program that traces others. */
static atomic_ullong read_ns; /* the end of the last reading */

static int read_until_ended(pid_t pid)
{
	if (pid == h.command)
		return 0;
	/* (longer than the pause between two searches) */
	usleep(1200 * EXIT_HOLD_WALK_MS);
	shared->go = true;
	while (!has_state(pid, 'Z'))
		usleep(1000);
	read_ns = clock_read_ns(CLOCK_MONOTONIC);
	return 1;
}

/* It is counted once, and is not reported as a tracer, which it was not for the hold. A pause
 * follows the search that waited for the file. */
TEST(test_ended_while_read)
{
	uint64_t next_ns;
	pid_t command;

	reader = read_until_ended;
	command = begin(fork_by_thread);
	assert_soon(LOCKED(h.n_missed) > 0);
	next_ns = LOCKED(h.next_walk_ns);
	assert_true(next_ns >= read_ns + EXIT_HOLD_WALK_MS * UINT64_C(1000000));
	assert_soon(LOCKED(h.next_walk_ns) > next_ns);
	assert_int_equal(LOCKED(h.n_missed), 1);
	assert_int_equal(LOCKED(h.n_tracers), 0);
	assert_string_equal(h.tracer, "");
	shared->reap = true;
	assert_int_equal(end(command), 0);
}

/* ---- a process whose other threads still run ---- */

/* Begins a hold without its thread. This process has a first thread that runs, and another one that
 * is held since SINCE_NS. */
static void begin_waiting(uint64_t since_ns)
{
	h = (struct exit_hold){
		.list = { { .tid = 1, .pid = getpid(), .since_ns = since_ns } },
		.n = 1,
	};
}

/* kymo does not delay the process before its search, so the time before that does not count. */
TEST(test_counted_time)
{
	begin_waiting(0);
	assert_false(exit_hold_any_ready(&h));
	for (int i = HELD_WAITING; i <= HELD_RELEASED; i++) {
		h.list[0].state = (enum held_state)i;
		assert_int_equal(exit_hold_any_ready(&h), i == HELD_READY || i == HELD_POPPED);
	}
}

/* When a process is looked at again that waits since AGO_MS for other threads, or that is asked to
 * be traced for so long. */
static int next_look_ms(uint64_t ago_ms)
{
	begin_waiting(clock_read_ns(CLOCK_MONOTONIC) - ago_ms * 1000000);
	return exit_hold_settle(&h);
}

static int next_request_ms(uint64_t ago_ms)
{
	h = (struct exit_hold){
		.gave_up = true,
		.gave_up_ns = clock_read_ns(CLOCK_MONOTONIC) - ago_ms * 1000000,
	};
	return exit_hold_settle(&h);
}

/* Each look reads the state of all threads, so the looks become rare. (The clock goes on.) */
TEST(test_looks_become_rare)
{
	assert_in_range(next_look_ms(0), 2, 50);
	assert_in_range(next_look_ms(20), 20, 50);
	assert_int_equal(next_look_ms(100), 50);
	assert_in_range(next_request_ms(20), 20, 50);
	assert_int_equal(next_request_ms(100), 50);
	/* The next request that has to be abandoned is a new one. */
	h.gave_up = false;
	assert_true(exit_hold_settle(&h) > 50);
	assert_int_equal(h.gave_up_ns, 0);
	h.gave_up = true;
	assert_int_equal(exit_hold_settle(&h), 2);
}

/* ---- requests and stops ---- */

static int read_tracer(pid_t pid)
{
	return pid != h.command;
}

/* The timer expires after the request has succeeded. The child is traced, so it must stay known as
 * a program that traces others. */
TEST(test_seized_late)
{
	pid_t command;

	reader = read_tracer;
	stalls = true;
	command = begin(fork_by_thread);
	assert_soon(LOCKED(h.n_tracers) > 0);
	stalls = false;
	assert_true(LOCKED(exit_hold_has_tracer(&h, shared->children[0])));
	assert_true(*h.tracer);
	shared->go = true;
	shared->reap = true;
	assert_int_equal(end(command), 0);
}

/* After an abandoned request, files are not read for requests that will not be made. */
TEST(test_given_up)
{
	pid_t pid;

	begin_fake();
	h.gave_up = true;
	pid = fork();
	if (pid == 0) {
		pause();
		_exit(0);
	}
	assert_false(exit_hold_adopt(&h, pid));
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(n_read, 0);
	h.gave_up = false;
	assert_true(exit_hold_adopt(&h, pid));
	assert_int_equal(n_read, 1);
	end_fake();
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* The kernel drops the requested stop of a thread that stops for a fork or a signal. */
TEST(test_interrupt_replaced)
{
	static const int stops[] = { SIGTRAP | PTRACE_EVENT_FORK << 8, SIGUSR1 };

	for (size_t i = 0; i < ARRAY_SIZE(stops); i++) {
		begin_fake();
		assert_true(exit_hold_adopt_new(&h, getpid()));
		assert_int_equal(options_seized, EXIT_HOLD_OPTIONS_OF_TRACER);
		fake_stop = stops[i];
		n_fake_stops = 2;
		assert_false(exit_hold_collect_stops(&h));
		assert_int_equal(n_continued, 2);
		/* (the second stop needs nothing) */
		assert_int_equal(n_options_set, 1);
		assert_int_equal(options_set, EXIT_HOLD_OPTIONS);
		end_fake();
	}
}

/* Held processes do not wait until a storm of stops ends. */
TEST(test_many_stops)
{
	begin_fake();
	fake_stop = SIGUSR1;
	n_fake_stops = 300;
	assert_true(exit_hold_collect_stops(&h));
	assert_int_equal(n_continued, 256);
	assert_false(exit_hold_collect_stops(&h));
	assert_int_equal(n_continued, 300);
	end_fake();
}

static void *wait_for_end(void *userdata)
{
	wait_for(userdata);
	return NULL;
}

/* The first thread of a program that traces others exits. The children of the other threads stay
 * its own. */
TEST(test_threads_of_tracer)
{
	atomic_bool over = false;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, wait_for_end, &over), 0);
	for (int way = 0; way < 3; way++) {
		begin_fake();
		h.tracers[0] = getpid();
		h.n_tracers = way == 1;
		h.n_more_tracers = way == 2;
		options_seized = 0;
		exit_hold_on_exit_of(&h, getpid());
		assert_int_equal(h.n, 1);
		assert_int_equal(options_seized, way ? EXIT_HOLD_OPTIONS_OF_TRACER
						     : EXIT_HOLD_OPTIONS | PTRACE_O_TRACECLONE);
		end_fake();
	}
	over = true;
	assert_int_equal(pthread_join(thread, NULL), 0);
}

FIXTURE(make_shared)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	return shared == MAP_FAILED ? -1 : 0;
}

FIXTURE(unmap_shared)
{
	return munmap(shared, sizeof(*shared));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_end_between_files), cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_ended_while_read),  cmocka_unit_test(test_counted_time),
		cmocka_unit_test(test_looks_become_rare), cmocka_unit_test(test_seized_late),
		cmocka_unit_test(test_given_up),          cmocka_unit_test(test_interrupt_replaced),
		cmocka_unit_test(test_many_stops),        cmocka_unit_test(test_threads_of_tracer),
	};

	return cmocka_run_group_tests(tests, make_shared, unmap_shared);
}
