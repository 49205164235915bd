/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The truth about where probes go: programs (allocator-calls.c) are linked with each
 * allocator that is installed and stepped through an instruction at a time. Whenever one calls a
 * function, exactly one probe must have been come to first, with the arguments and the stack
 * pointer of the call; and where the probe says that the result can be seen, it must be there,
 * once.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/probes/allocators.h"
#include "tests/support/fixtures/commands.h"
#include "tests/support/unit.h"
#include "tests/support/valgrind.h"

#if defined(__x86_64__)
static char dir[] = "/tmp/kymo-test-allocator-calls.XXXXXX";

enum { MAPS_MAX = 64, STEPS_MAX = 30000000 };

struct map {
	uint64_t start, end, offset;
	struct allocator_list list;
};

struct stepped {
	pid_t pid;
	struct map maps[MAPS_MAX];
	size_t n_maps;
	uint64_t mark;
	/* the current call; 0 = none */
	uint64_t function, arguments[2];
	const struct allocator_probe *entry; /* the probe that was hit first */
	bool by_marker;                      /* after the marker of an operator new */
	uint64_t sp, return_address;
	unsigned n_results;
	uint64_t result;
	/* sums */
	unsigned n_calls, n_rets, n_sessions;
};

static void read_maps(struct stepped *s)
{
	char path[64], line[512], permissions[8], name[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", s->pid);
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		struct map m = { 0 };

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %255s", &m.start,
			   &m.end, permissions, &m.offset, name) == 5 &&
		    permissions[2] == 'x' && name[0] == '/') {
			_cleanup_close_ int fd = open(name, O_RDONLY | O_CLOEXEC);

			assert_true(fd >= 0);
			assert_int_equal(allocators_find(fd, &m.list), 0);
			assert_true(s->n_maps < MAPS_MAX);
			s->maps[s->n_maps++] = m;
		}
	}
	fclose(f);
}

static const struct allocator_probe *probe_at(const struct stepped *s, uint64_t ip,
					      enum allocator_probe_kind *ret_kinds)
{
	const struct allocator_probe *found = NULL;

	*ret_kinds = 0;
	for (size_t i = 0; i < s->n_maps; i++) {
		const struct map *m = &s->maps[i];
		size_t low = 0, high = m->list.n;
		uint64_t offset = ip - m->start + m->offset;

		if (ip < m->start || ip >= m->end)
			continue;
		while (low < high) {
			size_t middle = (low + high) / 2;

			if (m->list.probes[middle].offset < offset)
				low = middle + 1;
			else
				high = middle;
		}
		if (low < m->list.n && m->list.probes[low].offset == offset) {
			found = &m->list.probes[low];
			*ret_kinds = found->kind;
		}
	}
	return found;
}

/* They are the same function, or one calls the other. */
static bool is_of(uint32_t probe, uint64_t called)
{
	if (called == MEMORY_FN_ALIGNED_ALLOC || called == MEMORY_FN_MEMALIGN)
		return probe == MEMORY_FN_ALIGNED_ALLOC || probe == MEMORY_FN_MEMALIGN;
	if (called == MEMORY_FN_DELETE_DIRECT || called == MEMORY_FN_DALLOCX)
		return probe == called || probe == MEMORY_FN_FREE ||
		       probe == MEMORY_FN_DELETE_DIRECT;
	return probe == called;
}

static bool frees(uint64_t function)
{
	return function == MEMORY_FN_FREE || function == MEMORY_FN_DALLOCX ||
	       function == MEMORY_FN_DELETE_DIRECT;
}

static void at_entry(struct stepped *s, const struct allocator_probe *p,
		     const struct user_regs_struct *regs)
{
	if (s->entry)
		return;
	if (p->function == MEMORY_FN_NEW && s->function == MEMORY_FN_NEW_DIRECT) {
		assert_int_equal(regs->rdi, s->arguments[0]);
		s->by_marker = true;
		return;
	}
	s->entry = p;
	s->sp = regs->rsp;
	s->return_address =
		(uint64_t)ptrace(PTRACE_PEEKDATA, s->pid, (void *)(uintptr_t)regs->rsp, NULL);
	if (s->by_marker)
		return;
	if (!is_of(p->function, s->function))
		print_error("%s (%u) for %" PRIu64 "\n", p->name, p->function, s->function);
	assert_true(is_of(p->function, s->function));
	assert_int_equal(regs->rdi, s->arguments[0]);
	if (s->arguments[1])
		assert_int_equal(regs->rsi, s->arguments[1]);
}

static void at_mark(struct stepped *s, const struct user_regs_struct *regs)
{
	if (regs->rdi != 0) {
		s->function = regs->rdi;
		s->arguments[0] = regs->rsi;
		s->arguments[1] = regs->rdx;
		s->entry = NULL;
		s->by_marker = false;
		s->n_results = 0;
		return;
	}
	if (!s->function) /* a block that was freed in between */
		return;
	if (!s->entry)
		print_error("function %" PRIu64 ": no probe was come to\n", s->function);
	assert_non_null(s->entry);
	s->n_calls++;
	if (!frees(s->function)) {
		if (s->n_results != 1)
			print_error("%s: %u results\n", s->entry->name, s->n_results);
		assert_int_equal(s->n_results, 1);
		assert_int_equal(s->result, regs->rcx);
	}
	s->function = 0;
}

static void add_result(struct stepped *s, uint64_t result)
{
	s->n_results++;
	s->result = result;
}

static void step(struct stepped *s)
{
	uint64_t ip = (uint64_t)ptrace(PTRACE_PEEKUSER, s->pid,
				       offsetof(struct user_regs_struct, rip), NULL);
	enum allocator_probe_kind kind;
	const struct allocator_probe *p = s->function ? probe_at(s, ip, &kind) : NULL;
	struct user_regs_struct regs;

	if (!p && ip != s->mark && !(s->entry && ip == s->return_address))
		return;
	assert_int_equal(ptrace(PTRACE_GETREGS, s->pid, NULL, &regs), 0);
	if (ip == s->mark) {
		at_mark(s, &regs);
	} else if (p && kind == ALLOCATOR_PROBE_RET) {
		if (s->entry && s->entry->kind == ALLOCATOR_PROBE_ENTRY && regs.rsp == s->sp) {
			add_result(s, regs.rax);
			s->n_rets++;
		}
	} else if (p) {
		at_entry(s, p, &regs);
	}
	if (s->entry && s->entry->kind == ALLOCATOR_PROBE_SESSION && ip == s->return_address &&
	    regs.rsp == s->sp + 8) {
		add_result(s, regs.rax);
		s->n_sessions++;
	}
}

/* Its first stop is that of exec, its second one its own. */
static void start(struct stepped *s, const char *name)
{
	struct user_regs_struct regs;
	int status;

	s->pid = fork();
	assert_true(s->pid >= 0);
	if (s->pid == 0) {
		/* Each repetition of an instruction is a step, and symbol lookups have many. */
		setenv("GLIBC_TUNABLES",
		       "glibc.cpu.x86_rep_movsb_threshold=1000000000:"
		       "glibc.cpu.x86_rep_stosb_threshold=1000000000",
		       1);
		setenv("LD_BIND_NOW", "1", 1);
		if (chdir(dir) == 0 && ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
			execl(name, name, (char *)NULL);
		_exit(99);
	}
	assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
	assert_true(WIFSTOPPED(status));
	ptrace(PTRACE_SETOPTIONS, s->pid, NULL, (void *)PTRACE_O_EXITKILL);
	assert_int_equal(ptrace(PTRACE_CONT, s->pid, NULL, NULL), 0);
	assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
	assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
	assert_int_equal(ptrace(PTRACE_GETREGS, s->pid, NULL, &regs), 0);
	s->mark = regs.rdi;
}

static void run(struct stepped *s, const char *name)
{
	int status = 0;
	size_t n;

	*s = (struct stepped){ 0 };
	start(s, name);
	read_maps(s);
	for (n = 0; n < STEPS_MAX; n++) {
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, s->pid, NULL, NULL), 0);
		assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
		if (!WIFSTOPPED(status))
			break;
		assert_int_equal(WSTOPSIG(status), SIGTRAP);
		step(s);
	}
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	print_message("%s: %zu steps, %u calls, %u results by return probes, %u at ret\n", name, n,
		      s->n_calls, s->n_sessions, s->n_rets);
	for (size_t i = 0; i < s->n_maps; i++)
		allocator_list_deinit(&s->maps[i].list);
}

/* Builds the program as NAME. Returns false if a prerequisite is not installed. */
static bool build(const char *name, const char *compiler, const char *options)
{
	return command_in(
		       dir,
		       "%s -g -O1 -fno-builtin -I%s %s/tests/support/loads/allocator-calls.c -o %s %s",
		       compiler, SOURCE_ROOT, SOURCE_ROOT, name, options) == 0;
}

/* (for linux/types.h) */
#define HEADERS "-idirafter /usr/include -idirafter /usr/include/x86_64-linux-gnu "

/* (weak references alone link nothing from an archive) */
#define CPP                                                                                        \
	"-Wl,-u_Znwm,-u_Znam,-u_ZnwmSt11align_val_t,-u_ZnwmRKSt9nothrow_t,"                        \
	"-u_ZnwmSt11align_val_tRKSt9nothrow_t,-u_ZdlPv,-u_ZdaPv,-u_ZdlPvm,-u_ZdlPvSt11align_val_t"

static const struct {
	const char *name, *compiler, *options;
	unsigned calls; /* at least */
	bool rets;      /* it has its own operator new */
} rows[] = {
	{ "glibc", "cc", "", 2 * 11 + 4, false },
	{ "glibc-static", "cc", "-static", 2 * 8 + 4, false },
	{ "glibc-static-pie", "cc", "-static-pie", 2 * 8 + 4, false },
	{ "libstdc++", "cc", "-Wl,--no-as-needed -lstdc++", 2 * 21 + 4, false },
	{ "libstdc++-static", "cc", "-static " CPP " -lstdc++", 2 * 18 + 4, false },
	{ "musl", "musl-gcc", HEADERS, 2 * 9 + 4, false },
	{ "musl-static", "musl-gcc", HEADERS "-static", 2 * 8 + 4, false },
	{ "jemalloc", "cc", "-Wl,--no-as-needed -ljemalloc", 2 * 26 + 4, true },
	{ "jemalloc-static", "cc", "-l:libjemalloc.a -lstdc++ -lm", 2 * 16 + 4, false },
	{ "tcmalloc", "cc", "-Wl,--no-as-needed -ltcmalloc_minimal", 2 * 21 + 4, true },
	{ "mimalloc", "cc", "-Wl,--no-as-needed -lmimalloc", 2 * 25 + 4, true },
};

TEST(test_allocators)
{
	unsigned n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct stepped s;

		if (!build(rows[i].name, rows[i].compiler, rows[i].options)) {
			print_message("%s: cannot be linked here\n", rows[i].name);
			continue;
		}
		run(&s, rows[i].name);
		assert_true(s.n_calls >= rows[i].calls);
		assert_true(!rows[i].rets || s.n_rets > 2);
		n++;
	}
	if (n == 0)
		skip();
}

static bool may_trace(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 ? 0 : 1);
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	       WEXITSTATUS(status) == 0;
}

FIXTURE(set_up)
{
	cpu_set_t set;

	/*
	 * The stepping and the stepped process alternate: on one CPU, no wakeup on another one is
	 * needed.
	 */
	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);
	return mkdtemp(dir) ? 0 : -1;
}

FIXTURE(tear_down)
{
	return getenv("KEEP_TMP") ? 0 : command_in(dir, "rm -rf %s", dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_allocators) };

	if (!may_trace()) {
		printf("skip: processes cannot be traced here\n");
		return 77;
	}
	if (under_valgrind()) {
		printf("skip: valgrind cannot step\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
#else
int main(void)
{
	printf("skip: probes are placed by the code of x86-64 only\n");
	return 77;
}
#endif
