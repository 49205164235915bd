/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions with results of many kinds: texts, slices, structures, and numbers of two registers.
 *
 *	results-load all     calls each of them
 *	results-load moves   coroutine() is entered in one thread and returns in another, ten times
 *	results-load left    left() and left_number(), each called four times at one stack pointer:
 *	                     the calls with 1 and 3 end by longjmp()
 */
#include <pthread.h>
#include <setjmp.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define KEEP __attribute__((noipa))

enum { PAGE_BYTES = 4096, STACK_BYTES = 65536, MOVES = 10 };

enum state { EMPTY, EOPEN, EPERM_OF_OURS };

struct two {
	int x;
	short y;
	long n;
};

struct small {
	unsigned a : 3, b : 5;
	short c;
	float f;
};

struct mixed {
	double d;
	long n;
};

struct large {
	long a;
	int b;
	enum state state;
	long more[40];
	int last;
};

struct slice {
	const char *p;
	size_t n;
};

struct view {
	size_t n;
	const char *p;
};

/* Memory that the program has written, so its pages are there. */
static char hello[] = "hello, world", quoted[] = "a \"text\"\n";

KEEP const char *text(int n)
{
	return n ? quoted : NULL;
}

/* SIZE has nothing to do with the length of the result. */
KEEP const char *sized(const char *s, size_t size)
{
	return size ? s : NULL;
}

KEEP struct two two(int n)
{
	return (struct two){ -n, 7, 1L << 40 };
}

KEEP struct small small(int n)
{
	return (struct small){ 5, 17, (short)-n, 2.5F };
}

KEEP struct mixed mixed(int n)
{
	return (struct mixed){ 1.5, n };
}

KEEP struct large large(int n)
{
	return (struct large){ .a = n, .b = -1, .state = EOPEN, .last = 9 };
}

KEEP struct slice slice(const char *s, size_t n, size_t size)
{
	return (struct slice){ s, size ? n : 0 };
}

KEEP struct view view(const char *s, size_t n)
{
	return (struct view){ n, s };
}

KEEP __int128 wide(long n)
{
	return (__int128)n << 70;
}

KEEP double half(int n)
{
	return n / 2.0;
}

KEEP enum state state(int n)
{
	return (enum state)n;
}

static jmp_buf back;

KEEP const char *left(int n)
{
	if (n % 2)
		longjmp(back, 1);
	return n ? hello : quoted;
}

KEEP int left_number(int n)
{
	if (n % 2)
		longjmp(back, 1);
	return n + 100;
}

static int leave(void)
{
	static const int order[] = { 1, 2, 3, 0 };

	for (volatile int i = 0; i < 4; i++)
		if (setjmp(back) == 0)
			left(order[i]);
	for (volatile int i = 0; i < 4; i++)
		if (setjmp(back) == 0)
			left_number(order[i]);
	return 0;
}

static ucontext_t within, outside;

KEEP const char *coroutine(int n)
{
	swapcontext(&within, &outside);
	return n % 2 ? hello : quoted;
}

static void run_coroutine(int n)
{
	coroutine(n);
}

static void *resume(void *unused)
{
	swapcontext(&outside, &within);
	return unused;
}

static int moves(void)
{
	static char stack[STACK_BYTES];

	for (int i = 0; i < MOVES; i++) {
		pthread_t other;

		getcontext(&within);
		within.uc_stack.ss_sp = stack;
		within.uc_stack.ss_size = sizeof(stack);
		within.uc_link = &outside;
		makecontext(&within, (void (*)(void))run_coroutine, 1, i);
		swapcontext(&outside, &within);
		if (pthread_create(&other, NULL, resume, NULL) != 0)
			return 1;
		pthread_join(other, NULL);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static char many[400];
	char *page = mmap(NULL, 2 * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	hello[0] = 'h';
	if (argc > 1 && strcmp(argv[1], "moves") == 0)
		return moves();
	if (argc > 1 && strcmp(argv[1], "left") == 0)
		return leave();
	if (page == MAP_FAILED || munmap(page + PAGE_BYTES, PAGE_BYTES) != 0)
		return 1;
	memset(many, 'm', sizeof(many) - 1);
	memcpy(page + PAGE_BYTES - 6, "cut it", 6);
	text(1);
	text(0);
	sized(hello, 3);
	sized(many, 3);
	sized(page + PAGE_BYTES - 6, 3);
	sized((const char *)page + PAGE_BYTES, 3);
	two(5);
	small(3);
	mixed(3);
	large(4);
	slice(hello, 5, 9);
	slice(hello, 5, 0);
	slice(many, sizeof(many), 1);
	slice(page + PAGE_BYTES - 6, 60, 1);
	slice((const char *)1, 7, 1);
	view(hello, 4);
	view(many, (size_t)1 << 63);
	wide(-3);
	half(3);
	for (int i = EMPTY; i <= EPERM_OF_OURS; i++)
		state(i);
	return 0;
}
