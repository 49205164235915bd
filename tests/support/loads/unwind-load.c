/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind-load MS: burns MS, in its main thread and in another one, under a chain of twelve, in ways
 * that are hard to walk. The leaf identifies the way:
 *
 *	leaf_plain     called by chain_12
 *	leaf_alloca    under frames of a size that changes (with_alloca)
 *	leaf_signal    in the handler (on_signal) of a signal that chain_12 has raised
 *	leaf_aside     likewise (on_aside), on another stack
 *	leaf_tick      in a handler (on_tick) that has interrupted any code, also the other
 *	               handlers
 *	leaf_jumped    called by chain_12, after others below it were left by longjmp()
 *	leaf_tail      in a function (last) that another one (tail) jumps to
 *
 * tests/system/unwind.sh compiles it in many ways, and knows the stacks. It must be built without
 * frame pointers.
 */
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))

/* Prevents that a call becomes a jump. */
#define BARRIER __asm__ volatile("" ::: "memory")

enum how { PLAIN, ALLOCA, SIGNAL, ASIDE, JUMPED, TAIL, N_HOWS };

static volatile uint64_t sink;
static volatile int one = 1;
static __thread sigjmp_buf back;

#define LEAF(name)                                                                                 \
	NOINLINE void name(unsigned n);                                                            \
	NOINLINE void name(unsigned n)                                                             \
	{                                                                                          \
		for (unsigned i = 0; i < n; i++)                                                   \
			sink += i;                                                                 \
		BARRIER;                                                                           \
	}
LEAF(leaf_plain)
LEAF(leaf_alloca)
LEAF(leaf_signal)
LEAF(leaf_aside)
LEAF(leaf_tick)
LEAF(leaf_jumped)
LEAF(leaf_tail)

enum { STEPS = 100000 };

/* ---- hard ways ---- */

NOINLINE void on_signal(int number);
void on_signal(int number)
{
	leaf_signal(STEPS);
	BARRIER;
}

NOINLINE void on_aside(int number);
void on_aside(int number)
{
	leaf_aside(STEPS);
	BARRIER;
}

NOINLINE void on_tick(int number);
void on_tick(int number)
{
	leaf_tick(STEPS);
	BARRIER;
}

NOINLINE void with_alloca(int depth);
void with_alloca(int depth)
{
	volatile char *room = alloca((size_t)(100 * depth * one + 16));

	room[0] = (char)depth;
	if (depth > 0)
		with_alloca(depth - 1);
	else
		leaf_alloca(STEPS);
	sink += (uint64_t)room[0];
	BARRIER;
}

NOINLINE void jump_back(int depth);
void jump_back(int depth)
{
	if (depth > 0)
		jump_back(depth - 1);
	else
		siglongjmp(back, 1);
	BARRIER;
}

NOINLINE void last(unsigned n);
void last(unsigned n)
{
	leaf_tail(n);
	BARRIER;
}

NOINLINE void tail(unsigned n);
void tail(unsigned n)
{
	sink++;
	last(n * (unsigned)one);
}

/* ---- the chain ---- */

NOINLINE void chain_12(enum how how);
void chain_12(enum how how)
{
	switch (how) {
	case PLAIN:
		leaf_plain(STEPS);
		break;
	case ALLOCA:
		with_alloca(3);
		break;
	case SIGNAL:
		raise(SIGUSR1);
		break;
	case ASIDE:
		raise(SIGUSR2);
		break;
	case JUMPED:
		if (sigsetjmp(back, 1) == 0)
			jump_back(5);
		leaf_jumped(STEPS);
		break;
	case TAIL:
		tail(STEPS);
		break;
	case N_HOWS:
		break;
	}
	BARRIER;
}

#define CHAIN(name, next)                                                                          \
	NOINLINE void name(enum how how);                                                          \
	NOINLINE void name(enum how how)                                                           \
	{                                                                                          \
		uint64_t before = sink;                                                            \
                                                                                                   \
		next(how);                                                                         \
		sink += before;                                                                    \
		BARRIER;                                                                           \
	}
CHAIN(chain_11, chain_12)
CHAIN(chain_10, chain_11)
CHAIN(chain_9, chain_10)
CHAIN(chain_8, chain_9)
CHAIN(chain_7, chain_8)
CHAIN(chain_6, chain_7)
CHAIN(chain_5, chain_6)
CHAIN(chain_4, chain_5)
CHAIN(chain_3, chain_4)
CHAIN(chain_2, chain_3)
CHAIN(chain_1, chain_2)

static uint64_t thread_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

NOINLINE void *burn(void *userdata);
void *burn(void *userdata)
{
	const uint64_t *ns = userdata;
	const size_t bytes = 65536;
	stack_t aside = { .ss_size = bytes, .ss_sp = malloc(bytes) };

	if (!aside.ss_sp || sigaltstack(&aside, NULL) < 0)
		abort();
	for (unsigned i = 0; thread_ns() < *ns; i++)
		chain_1(i % N_HOWS);
	BARRIER;
	return NULL;
}

static void handle(int number, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags | SA_RESTART };

	if (sigaction(number, &action, NULL) < 0)
		abort();
}

int main(int argc, char **argv)
{
	const struct itimerval often = { { .tv_usec = 10000 }, { .tv_usec = 10000 } };
	uint64_t ns = argc > 1 ? strtoull(argv[1], NULL, 10) * 1000000 / 2 : 0;
	pthread_t thread;

	handle(SIGUSR1, on_signal, 0);
	handle(SIGUSR2, on_aside, SA_ONSTACK);
	handle(SIGALRM, on_tick, 0);
	if (ns > 0)
		setitimer(ITIMER_REAL, &often, NULL);
	if (pthread_create(&thread, NULL, burn, &ns) != 0)
		abort();
	burn(&ns);
	pthread_join(thread, NULL);
	return 0;
}
