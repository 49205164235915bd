/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared parts of the loads of kymo-load. Each load is a function that causes its events, prints
 * the truth, and returns the exit status of the program. load.c has the table of loads.
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
	int waker_cpu;    /* wakeups: the waker's CPU; -1 = any */
	uint64_t life_us; /* procs: the time that each sleeps */
	uint64_t at_once; /* procs: the number of processes at a time */
	const char *tag;  /* pingpong: the suffix of the names of its threads */
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

/* Prints an error (with errno, unless 0), and exits. */
void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

uint64_t now_ns(clockid_t clock);
void sleep_us(uint64_t us);
void burn_ns(uint64_t ns);

pid_t my_tid(void);
void set_name(const char *name);
void pin(int cpu); /* the calling thread; -1 = no change */
void start_thread(pthread_t *t, void *(*fn)(void *), void *arg);

/* A whole number. Exits on errors. */
uint64_t number(const char *text);

/* Zeroed memory that is shared with children. */
void *shared_memory(size_t bytes);

/* --held: before the load, and after its truth is printed. */
void hold_begin(void);
void hold_end(void);

/* The kernel's data of a thread. */
struct thread_table {
	uint64_t cpu_ns;  /* time on a CPU */
	uint64_t wait_ns; /* time waiting for a CPU */
	uint64_t nvcsw;   /* switches because it slept */
	uint64_t nivcsw;  /* switches while it was runnable */
	char state;       /* 'S' = asleep */
};

/* Opens a file of a thread of this process in /proc. */
int open_task_file(pid_t tid, const char *name);

/* Fills all fields except the times from an open /proc/.../status. */
void read_status(int fd, struct thread_table *b);
void read_books(pid_t tid, struct thread_table *b);
void print_thread(const char *key, pid_t tid, const struct thread_table *b);

/* Waits until thread TID sleeps. It must be about to sleep until it is woken. */
void wait_asleep(pid_t tid, struct thread_table *b);

/* Voluntary switches of the calling thread. */
uint64_t my_nvcsw(void);

/* Time that the hypervisor gave to other guests, over all CPUs. */
uint64_t steal_ns(void);
