/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the loads of kymo-load share. Each load is a function that makes it and prints the truth; it
 * returns what the program exits with. load.c has the table of them.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define NSEC_PER_SEC  UINT64_C(1000000000)
#define NSEC_PER_USEC UINT64_C(1000)

enum { COMM_BYTES = 16 };

struct load_options {
	int cpu;          /* the load's CPU; -1 = any */
	int waker_cpu;    /* wakeups: the waker's; -1 = any */
	uint64_t life_us; /* procs: how long each sleeps */
	uint64_t at_once; /* procs: how many live at one time */
	const char *tag;  /* pingpong: what the names of its threads end in */
	bool held;
};

extern struct load_options opt;

int load_pingpong(char **argv);
int load_wakeups(char **argv);
int load_sleep(char **argv);
int load_procs(char **argv);
int load_forkchain(char **argv);
int load_reuse(char **argv);
int load_rename(char **argv);
int load_threadexec(char **argv);
int load_child(char **argv);
int load_mapped(char **argv);
int load_loopback(char **argv);
int load_refresh(char **argv);
int load_blocks(char **argv);

/* Prints what cannot go on and why (errno, unless 0), and exits. */
void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

uint64_t now_ns(clockid_t clock);
void sleep_us(uint64_t us);
void burn_ns(uint64_t ns);

pid_t my_tid(void);
void set_name(const char *name);
void pin(int cpu); /* the calling thread; -1 = leave it */
void start_thread(pthread_t *t, void *(*fn)(void *), void *arg);

/* A whole number, or the end. */
uint64_t number(const char *text);

/* Zeroed memory that children share. */
void *shared_memory(size_t bytes);

/* --held: before the load, and after its truth is printed. */
void hold_begin(void);
void hold_end(void);

/* What the kernel knows about a thread. */
struct thread_table {
	uint64_t cpu_ns;  /* run so far */
	uint64_t wait_ns; /* waited for a CPU so far */
	uint64_t nvcsw;   /* switched out because it slept */
	uint64_t nivcsw;  /* switched out although it wanted to run */
	char state;       /* 'S' asleep */
};

/* A file of a thread of this process in /proc. */
int open_task_file(pid_t tid, const char *name);

/* Fills all but the times from an open /proc/.../status. */
void read_status(int fd, struct thread_table *b);
void read_books(pid_t tid, struct thread_table *b);
void print_thread(const char *key, pid_t tid, const struct thread_table *b);

/* Waits until thread TID, which is about to sleep for good, does. */
void wait_asleep(pid_t tid, struct thread_table *b);

/* Voluntary switches of the calling thread. */
uint64_t my_nvcsw(void);

/* Time that the hypervisor gave to others, over all CPUs. */
uint64_t steal_ns(void);
