/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program that loses known blocks, and ends in a known way.
 *
 *	exit-load HOW
 *
 * Blocks: 5 of 200 bytes are lost; 3 of 360 are lost, each with pointers to 2 of 320, which are
 * lost with it; 4 of 440 point to each other, and are reported as one; 3 of 280 have pointers to
 * their middle; 6 of 240 are reachable.
 *
 *	return, exit          from main
 *	thread                another thread calls exit(), while two others wait
 *	last                  the first thread ends, another one allocates later and calls exit()
 *	alone                 likewise, but that thread just ends, without exit()
 *	leave                 the first thread ends; after a line on standard input, the next one;
 *	                      after another line, the third one allocates and calls exit()
 *	linger                likewise, but prints "{}" and waits for another line before exit()
 *	abort, segv           by a signal
 *	wait                  prints "{}", and waits for one
 *	aside                 from main, while another thread has 16384 bytes as its stack for
 *	                      signals, without a pointer to them
 *	ended                 five threads lose a block of 200 bytes each, and end
 *	fork                  a child allocates, too, and returns first, once it is traced
 *	threadfork            likewise, from another thread
 *	late LIBRARY          loads it after a line on standard input, and allocates after the end
 *	exec PROGRAM ...      allocates, then executes PROGRAM
 *	threadexec PROGRAM .. another thread executes PROGRAM, while the first one waits
 *	lastexec PROGRAM ...  likewise, while the first one ends
 *	kill                  by SIGKILL
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLANT __attribute__((noinline))

struct link {
	struct link *next, *other;
};

static void *globals[16];
static pthread_t first, second;
/* The thread with a stack for signals; set when no pointer to that stack is left on the thread's
 * own stack. */
static volatile pid_t aside_tid;

PLANT static void scrub(void)
{
	volatile char room[65536];

	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = 0;
}

PLANT static void lose_ring(void)
{
	struct link *links[4];

	for (int i = 0; i < 4; i++)
		links[i] = calloc(1, 440);
	for (int i = 0; i < 4; i++)
		links[i]->next = links[(i + 1) % 4];
}

PLANT static void plant(void)
{
	for (int i = 0; i < 5; i++)
		*(volatile char *)malloc(200) = 1;
	for (int i = 0; i < 3; i++) {
		struct link *head = calloc(1, 360);

		head->next = calloc(1, 320);
		head->next->next = calloc(1, 320);
	}
	lose_ring();
	for (int i = 0; i < 3; i++)
		globals[i] = (char *)malloc(280) + 16;
	for (int i = 0; i < 6; i++)
		globals[3 + i] = malloc(240);
}

static void *wait_in_thread(void *unused)
{
	scrub();
	for (;;)
		pause();
	return unused;
}

PLANT static void set_aside(void)
{
	const stack_t aside = { .ss_sp = malloc(16384), .ss_size = 16384 };

	if (sigaltstack(&aside, NULL) < 0)
		_exit(1);
}

static void *wait_with_stack(void *unused)
{
	set_aside();
	scrub();
	aside_tid = gettid();
	for (;;)
		pause();
	return unused;
}

static void *exit_in_thread(void *unused)
{
	usleep(20000);
	scrub();
	exit(7);
	return unused;
}

static void *outlive(void *alone)
{
	pthread_join(first, NULL);
	usleep(50000);
	plant();
	scrub();
	if (!alone)
		exit(7);
	return NULL;
}

static void start(void *(*fn)(void *), void *userdata)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, fn, userdata) != 0)
		_exit(1);
}

static void wait_for_line(void)
{
	char c;

	while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
		;
}

static void *end_after_line(void *unused)
{
	wait_for_line();
	return unused;
}

static void *outlive_both(void *lingers)
{
	pthread_join(second, NULL);
	wait_for_line();
	plant();
	scrub();
	if (lingers) {
		puts("{}");
		wait_for_line();
	}
	exit(7);
	return NULL;
}

static int leave(bool lingers)
{
	if (pthread_create(&second, NULL, end_after_line, NULL) != 0)
		return 1;
	start(outlive_both, lingers ? &second : NULL);
	pthread_exit(NULL);
}

/* The address of the block remains on the stack, which the C library keeps. */
static void *lose_in_thread(void *unused)
{
	void *volatile block = malloc(200);

	(void)block;
	return unused;
}

static void lose_in_threads(void)
{
	pthread_t threads[5];

	for (int i = 0; i < 5; i++)
		if (pthread_create(&threads[i], NULL, lose_in_thread, NULL) != 0)
			_exit(1);
	for (int i = 0; i < 5; i++)
		pthread_join(threads[i], NULL);
}

static void load_late(const char *library)
{
	while (getchar() != '\n')
		;
	if (!dlopen(library, RTLD_NOW))
		_exit(1);
	while (getchar() != EOF)
		;
}

static void *exec_in_thread(void *argv)
{
	char **command = argv;

	execv(command[0], command);
	_exit(127);
}

static void be_killed(int number)
{
	signal(number, SIG_DFL);
	raise(number);
}

static int end_in_threads(const char *how)
{
	if (strcmp(how, "thread") == 0) {
		plant();
		scrub();
		start(wait_in_thread, NULL);
		start(wait_in_thread, NULL);
		start(exit_in_thread, NULL);
		for (;;)
			pause();
	}
	first = pthread_self();
	start(outlive, strcmp(how, "alone") == 0 ? &first : NULL);
	pthread_exit(NULL);
}

static int exec_beside(const char *how, char **command)
{
	start(wait_in_thread, NULL);
	/* (until both threads are watched) */
	usleep(strcmp(how, "threadexec") == 0 ? 200000 : 0);
	start(exec_in_thread, command);
	if (strcmp(how, "lastexec") == 0)
		pthread_exit(NULL);
	for (;;)
		pause();
}

/* Waits up to 20 s until this process is traced, as by a recorder that holds it at its exit. */
static void wait_for_tracer(void)
{
	char text[2048];

	for (int i = 0; i < 200; i++) {
		FILE *f = fopen("/proc/self/status", "r");
		size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
		const char *line;

		text[n] = '\0';
		if (f)
			fclose(f);
		line = strstr(text, "\nTracerPid:\t");
		if (!line || line[12] != '0')
			return;
		usleep(100000);
	}
}

/* Makes a child that allocates and returns, too, and waits for it. */
static void *fork_child(void *unused)
{
	(void)unused;
	if (fork() == 0) {
		/* (until it is watched) */
		usleep(400000);
		wait_for_tracer();
		plant();
		scrub();
		_exit(3);
	}
	wait(NULL);
	return NULL;
}

static bool is_asleep(pid_t tid)
{
	char path[64], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	f = fopen(path, "re");
	if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	if (f)
		fclose(f);
	return state == 'S';
}

/* Begins a thread with a stack for signals, and waits until it sleeps. */
static void wait_for_aside(void)
{
	start(wait_with_stack, NULL);
	while (!aside_tid || !is_asleep(aside_tid))
		usleep(1000);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "return";

	setvbuf(stdout, NULL, _IONBF, 0);
	if (strcmp(how, "thread") == 0 || strcmp(how, "last") == 0 || strcmp(how, "alone") == 0)
		return end_in_threads(how);
	if (strcmp(how, "leave") == 0 || strcmp(how, "linger") == 0)
		return leave(strcmp(how, "linger") == 0);
	if (argc > 2 && (strcmp(how, "threadexec") == 0 || strcmp(how, "lastexec") == 0))
		return exec_beside(how, argv + 2);
	if (strcmp(how, "ended") == 0)
		lose_in_threads();
	if (strcmp(how, "aside") == 0)
		wait_for_aside();
	if (argc > 2 && strcmp(how, "late") == 0)
		load_late(argv[2]);
	if (strcmp(how, "fork") == 0)
		fork_child(NULL);
	if (strcmp(how, "threadfork") == 0) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, fork_child, NULL) != 0)
			return 2;
		pthread_join(thread, NULL);
	}
	plant();
	scrub();
	if (strcmp(how, "exit") == 0)
		exit(5);
	else if (strcmp(how, "abort") == 0)
		abort();
	else if (strcmp(how, "segv") == 0)
		*(volatile char *)8 = 1;
	else if (strcmp(how, "kill") == 0)
		be_killed(SIGKILL);
	else if (strcmp(how, "exec") == 0 && argc > 2)
		execv(argv[2], argv + 2);
	else if (strcmp(how, "wait") == 0)
		for (puts("{}");;)
			pause();
	return 0;
}
