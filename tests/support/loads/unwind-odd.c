/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind-odd WHAT [MS [FILE ...]]: burns MS under burn(), called by main(), in unusual code:
 *
 *	vdso       repeated clock_gettime()
 *	deleted    its own, after its file was deleted
 *	memfd      its own, in a file without a name (it executes itself again)
 *	libraries  turn() of two libraries, the FILEs, in turn, at the same address: one is loaded
 *	           after the other one was unloaded
 *	names      its own, before and after (in leaf_late()) FILE, a copy of this program, has run
 *	           code of more files than can have names ("many")
 *	execs      FILE as more programs than can have names, one after the other
 *	probed     functions that begin with each kind of instruction (first_push(), ...), to be
 *	           probed; and malloc()
 *	allocate   malloc() and free() alone
 *	children   vfork() and posix_spawn(), again and again, from frames of both kinds
 *	bare       functions without tables (bare_...()), called by with_room(), which uses %rbp;
 *	           bare_outer() sets %rbp, and bare_inner(), which it calls, does not;
 *	           bare_jumps() and bare_back() jump to bare_target(), and bare_from(), which
 *	           returns, too, to bare_framed(), which sets %rbp
 *	caught     a function (leaf_caught()) that ends as one that unwinds for an exception: it
 *	           jumps to a handler of its caller, be_caught(), which follows no call
 *	nothing    calls of address 0 in call_nothing(), from which a signal's handler, on_fault(),
 *	           returns
 *	register   a function that finds its frame by %rbx (by_register()) and calls leaf()
 *
 * tests/system/unwind-files.sh builds it without frame pointers.
 */
#include <alloca.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define BARRIER  __asm__ volatile("" ::: "memory")

extern char **environ;

static volatile uint64_t sink;
static char *const *files;

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

NOINLINE void leaf(void);
void leaf(void)
{
	for (unsigned i = 0; i < 100000; i++)
		sink += i;
	BARRIER;
}

NOINLINE void leaf_late(void);
void leaf_late(void)
{
	for (unsigned i = 0; i < 100000; i++)
		sink += i + 1;
	BARRIER;
}

NOINLINE void ask_time(void);
void ask_time(void)
{
	for (unsigned i = 0; i < 10000; i++)
		sink += now_ns(CLOCK_MONOTONIC);
	BARRIER;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

NOINLINE void take_turns(void);
void take_turns(void)
{
	for (int i = 0; i < 2; i++) {
		void *library = dlopen(files[i], RTLD_NOW);
		void (*turn)(void);

		turn = library ? (void (*)(void))dlsym(library, "turn") : NULL;
		if (!turn)
			die(files[i]);
		turn();
		dlclose(library);
	}
	BARRIER;
}

/* ---- functions to be probed ---- */

#define FIRST(name, first, last)                                                                   \
	void first_##name(void);                                                                   \
	__asm__(".text\n.globl first_" #name "\n.type first_" #name ", @function\n"                \
		"first_" #name ":\n.cfi_startproc\n" first "\tmov $60, %ecx\n1:\tdec %ecx\n"       \
		"\tjnz 1b\n" last "\tret\n.cfi_endproc\n.size first_" #name ", .-first_" #name     \
		"\n")

FIRST(push, "\tpush %rbx\n.cfi_adjust_cfa_offset 8\n", "\tpop %rbx\n.cfi_adjust_cfa_offset -8\n");
FIRST(bp,
      "\tpush %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset rbp, 0\n\tmov %rsp, %rbp\n"
      ".cfi_def_cfa_register rbp\n",
      "\tleave\n.cfi_def_cfa rsp, 8\n.cfi_restore rbp\n");
FIRST(sub, "\tsub $72, %rsp\n.cfi_adjust_cfa_offset 72\n",
      "\tadd $72, %rsp\n.cfi_adjust_cfa_offset -72\n");
FIRST(mov, "\tmov %edi, %eax\n", "");
FIRST(endbr, "\tendbr64\n", "");
FIRST(nop, "\tnop\n", "");
FIRST(long_nop, "\t.byte 0x0f, 0x1f, 0x44, 0, 0\n", "");

NOINLINE void be_probed(void);
void be_probed(void)
{
	for (unsigned i = 0; i < 300; i++) {
		/* (the kernel emulates these instructions under a probe, which takes less time than
		 * the others) */
		for (unsigned k = 0; k < 4; k++) {
			first_push();
			first_bp();
			first_nop();
		}
		first_sub();
		first_mov();
		first_endbr();
		first_long_nop();
	}
	BARRIER;
}

NOINLINE void allocate(void);
void allocate(void)
{
	for (unsigned i = 0; i < 300; i++) {
		void *block = malloc(100);

		__asm__ volatile("" : : "r"(block) : "memory");
		free(block);
	}
	BARRIER;
}

/* ---- children ---- */

/* A frame by %rbp, and one without. */
NOINLINE void vfork_with_room(int n);
void vfork_with_room(int n)
{
	volatile char *room = alloca((size_t)n);
	pid_t pid;

	room[0] = 1;
	pid = vfork();
	if (pid == 0) {
		usleep(5000);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	sink += (uint64_t)room[0];
	BARRIER;
}

NOINLINE void vfork_plain(void);
void vfork_plain(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		usleep(5000);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	BARRIER;
}

NOINLINE void spawn(void);
void spawn(void)
{
	char *argv[] = { (char *)(uintptr_t) "true", NULL };
	pid_t pid;

	if (posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ) == 0)
		waitpid(pid, NULL, 0);
	BARRIER;
}

NOINLINE void make_children(void);
void make_children(void)
{
	vfork_with_room((int)(sink % 64) + 100);
	vfork_plain();
	spawn();
	BARRIER;
}

/* ---- functions without tables ---- */

#define BARE_JUMP(name, code)                                                                      \
	void bare_##name(void);                                                                    \
	__asm__(".text\n.globl bare_" #name "\n.type bare_" #name ", @function\nbare_" #name       \
		":\n" code ".size bare_" #name ", .-bare_" #name "\n")
#define BARE(name, code) BARE_JUMP(name, code "\tret\n")

BARE(frame, "\tsub $24, %rsp\n\tcall leaf\n\tadd $24, %rsp\n");
BARE(pointer, "\tpush %rbp\n\tmov %rsp, %rbp\n\tsub $16, %rsp\n\tcall leaf\n\tleave\n");
BARE(inner, "\tpush %rbx\n\tsub $16, %rsp\n\tcall leaf\n\tadd $16, %rsp\n\tpop %rbx\n");
BARE(outer, "\tpush %rbp\n\tmov %rsp, %rbp\n\tsub $8, %rsp\n\tcall bare_inner\n\tleave\n");
BARE(leaf, "\tmov $300000, %eax\n1:\tdec %eax\n\tjnz 1b\n");
BARE(short, "\tpush %rbp\n\tmov %rsp, %rbp\n\tpop %rbp\n");
/* A jump goes forward, one goes back, and one is conditional. */
BARE_JUMP(jumps, "\tmov $300000, %eax\n\tjmp bare_target\n");
BARE(target, "1:\tdec %eax\n\tjnz 1b\n");
BARE_JUMP(back, "\tmov $300000, %eax\n\tjmp bare_target\n");
BARE(from, "\tmov $1, %eax\n\ttest %eax, %eax\n\tjnz bare_framed\n");
BARE(framed, "\tpush %rbp\n\tmov %rsp, %rbp\n\tsub $16, %rsp\n\tcall leaf\n\tleave\n");
/* These are called by pointer, and probed. */
BARE(called, "\tendbr64\n\tpush %rbp\n\tmov %rsp, %rbp\n\tpop %rbp\n");
BARE(pushed, "\tpush %rbp\n\tmov %rsp, %rbp\n\tpop %rbp\n");

/* dup(2), with a frame pointer that leads nowhere */
BARE(dup, "\tpush %rbp\n\txor %ebp, %ebp\n\tsub $16, %rsp\n\tmov $2, %edi\n"
	  "\tmov $32, %eax\n\tsyscall\n\tadd $16, %rsp\n\tpop %rbp\n");

/* The bytes before its first instruction look like breakpoints. */
void bare_padded(unsigned n);
__asm__(".text\n.globl bare_padding\n.type bare_padding, @function\nbare_padding:\n"
	"\t.fill 16, 1, 0xcc\n.size bare_padding, .-bare_padding-1\n"
	".globl bare_padded\n.type bare_padded, @function\nbare_padded:\n"
	"\tdec %edi\n\tjnz bare_padded\n\tret\n.size bare_padded, .-bare_padded\n");

static void (*volatile by_pointer[])(void) = { bare_called, bare_pushed };

NOINLINE void with_room(int n);
void with_room(int n)
{
	volatile char *room = alloca((size_t)n);

	room[0] = 1;
	bare_frame();
	bare_pointer();
	bare_outer();
	bare_leaf();
	bare_jumps();
	bare_back();
	bare_from();
	for (unsigned i = 0; i < 150000; i++)
		bare_short();
	for (unsigned i = 0; i < 100; i++) {
		by_pointer[0]();
		by_pointer[1]();
	}
	bare_padded(100000);
	bare_dup();
	sink += (uint64_t)room[0];
	BARRIER;
}

NOINLINE void be_bare(void);
void be_bare(void)
{
	with_room((int)(sink % 64) + 100);
	BARRIER;
}

/* ---- a handler of exceptions ---- */

/* (to tables, %rcx is register 2, and the return address is register 16) */
void be_caught(void);
__asm__(".text\n.globl be_caught\n.type be_caught, @function\nbe_caught:\n.cfi_startproc\n"
	"\tpush $0\n.cfi_adjust_cfa_offset 8\n\tcall leaf_caught\n"
	"\tadd $8, %rsp\n.cfi_adjust_cfa_offset -8\n\tret\n"
	".cfi_adjust_cfa_offset 8\n9:\tadd $8, %rsp\n.cfi_adjust_cfa_offset -8\n\tret\n"
	".cfi_endproc\n.size be_caught, .-be_caught\n"
	".globl leaf_caught\n.type leaf_caught, @function\nleaf_caught:\n.cfi_startproc\n"
	"\tlea 9b(%rip), %rdx\n\tmov %rsp, %rcx\n\tmov %rdx, (%rsp)\n.cfi_def_cfa 2, 8\n"
	"\tmov $50000, %eax\n1:\tdec %eax\n\tjnz 1b\n\tmov %rcx, %rsp\n"
	".cfi_def_cfa rsp, 8\n\tpop %rcx\n.cfi_def_cfa rsp, 0\n.cfi_register 16, 2\n"
	"\tmov $50000, %eax\n1:\tdec %eax\n\tjnz 1b\n\tjmp *%rcx\n"
	".cfi_endproc\n.size leaf_caught, .-leaf_caught\n");

/* ---- the ways ---- */

NOINLINE void burn(uint64_t ns, void (*step)(void));
void burn(uint64_t ns, void (*step)(void))
{
	uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		step();
	BARRIER;
}

static void begin_in_memory(char **argv)
{
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int to = memfd_create("odd", MFD_CLOEXEC);
	struct stat st;

	if (from < 0 || to < 0 || fstat(from, &st) < 0 ||
	    sendfile(to, from, NULL, (size_t)st.st_size) != st.st_size)
		die("memfd");
	argv[1] = (char *)(uintptr_t) "plain";
	fexecve(to, argv, environ);
	die("fexecve");
}

/*
 * Sleeps in 6000 files, one after the other, as a recording of waits sees them. The pauses separate
 * files that are in use from others, and give time to request all.
 */
static void map_many(void)
{
	static const unsigned char code[] = {
		0xb8, 35, 0, 0, 0, 0x0f, 0x05, 0xc3
	}; /* nanosleep() */
	const struct timespec nap = { .tv_nsec = 1 };

	usleep(1200000);
	for (unsigned i = 0; i < 6000; i++) {
		int fd = memfd_create("many", MFD_CLOEXEC);
		void *at = MAP_FAILED;

		if (fd >= 0 && write(fd, code, sizeof(code)) == sizeof(code))
			at = mmap(NULL, sizeof(code), PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		if (at == MAP_FAILED)
			die("memfd");
		((long (*)(const struct timespec *, void *))(uintptr_t)at)(&nap, NULL);
		munmap(at, sizeof(code));
		close(fd);
		if (i % 500 == 0)
			usleep(50000);
	}
	usleep(1000000);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)number;
	(void)info;
	leaf();
	registers[REG_RIP] = *(greg_t *)(uintptr_t)registers[REG_RSP];
	registers[REG_RSP] += (greg_t)sizeof(greg_t);
}

static void (*volatile nothing)(void);

NOINLINE void call_nothing(void);
void call_nothing(void)
{
	nothing();
	BARRIER;
}

static void burn_nothing(uint64_t ns)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };

	sigaction(SIGSEGV, &action, NULL);
	burn(ns, call_nothing);
}

__asm__(".type by_register,@function\n"
	"by_register:\n.cfi_startproc\n"
	"\tpush %rbx\n.cfi_def_cfa_offset 16\n.cfi_offset rbx, -16\n"
	"\tmov %rsp, %rbx\n.cfi_def_cfa_register rbx\n"
	"\tsub $64, %rsp\n\tand $-64, %rsp\n"
	"\tcall leaf\n"
	"\tmov %rbx, %rsp\n.cfi_def_cfa_register rsp\n"
	"\tpop %rbx\n.cfi_def_cfa_offset 8\n"
	"\tret\n.cfi_endproc\n"
	".size by_register, . - by_register\n");
void by_register(void);

static void exec_many(void)
{
	for (unsigned i = 0; i < 4400; i++) {
		int from = open(files[0], O_RDONLY | O_CLOEXEC),
		    to = memfd_create("many", MFD_CLOEXEC);
		pid_t pid;

		if (from < 0 || to < 0 || sendfile(to, from, NULL, 1 << 20) <= 0)
			die(files[0]);
		pid = vfork();
		if (pid == 0) {
			fexecve(to, (char *[]){ (char *)(uintptr_t) "many", NULL }, environ);
			_exit(127);
		}
		waitpid(pid, NULL, 0);
		close(to);
		close(from);
	}
}

static void wait_for_many(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		execl(files[0], files[0], "many", NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	uint64_t ns = argc > 2 ? strtoull(argv[2], NULL, 10) * 1000000 : 0;
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "memfd") == 0)
		begin_in_memory(argv);
	if (strcmp(what, "deleted") == 0 && unlink(argv[0]) < 0)
		die(argv[0]);
	if (strcmp(what, "libraries") == 0 && argc < 5)
		return 1;
	files = argv + 3;
	if (strcmp(what, "vdso") == 0)
		burn(ns, ask_time);
	else if (strcmp(what, "libraries") == 0)
		burn(ns, take_turns);
	else if (strcmp(what, "names") == 0)
		(burn(ns, leaf), wait_for_many(), burn(ns, leaf_late));
	else if (strcmp(what, "probed") == 0)
		(burn(ns, be_probed), burn(ns, allocate));
	else if (strcmp(what, "allocate") == 0)
		burn(ns, allocate);
	else if (strcmp(what, "children") == 0)
		for (uint64_t end = now_ns(CLOCK_MONOTONIC) + ns; now_ns(CLOCK_MONOTONIC) < end;)
			make_children();
	else if (strcmp(what, "bare") == 0)
		burn(ns, be_bare);
	else if (strcmp(what, "caught") == 0)
		burn(ns, be_caught);
	else if (strcmp(what, "nothing") == 0)
		burn_nothing(ns);
	else if (strcmp(what, "register") == 0)
		burn(ns, by_register);
	else if (strcmp(what, "many") == 0)
		map_many();
	else if (strcmp(what, "execs") == 0)
		exec_many();
	else
		burn(ns, leaf);
	return 0;
}
