/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/why/wait-cause.h"

#include <string.h>

#include "base/cleanup.h"
#include "reader/why/wait-functions.h"

const struct wait_cause_row wait_cause_rows[WAIT_CAUSES] = {
	[WAIT_UNKNOWN] = { "unknown", "an unknown cause", 0 },
	[WAIT_LOCK] = { "lock", "a lock of the program", WAIT_HAS_WAKER },
	[WAIT_CONDITION] = { "condition", "a condition of the program",
			     WAIT_IS_IDLE | WAIT_HAS_WAKER },
	[WAIT_JOIN] = { "join", "the end of a thread", WAIT_HAS_WAKER },
	[WAIT_CHILD] = { "child", "a child process", WAIT_IS_IDLE | WAIT_HAS_WAKER },
	[WAIT_TIMER] = { "timer", "a timer", WAIT_IS_IDLE },
	[WAIT_SIGNAL] = { "signal", "a signal", WAIT_IS_IDLE | WAIT_HAS_WAKER },
	[WAIT_FILE_LOCK] = { "file_lock", "a lock of a file", WAIT_HAS_WAKER },
	[WAIT_PIPE] = { "pipe", "a pipe", WAIT_HAS_WAKER },
	[WAIT_TERMINAL] = { "terminal", "input from a terminal", WAIT_IS_IDLE | WAIT_HAS_WAKER },
	[WAIT_LOCAL] = { "local", "a socket on this machine", WAIT_HAS_WAKER },
	[WAIT_REMOTE] = { "remote", "another machine", 0 },
	[WAIT_SOCKET] = { "socket", "a socket", WAIT_HAS_WAKER },
	[WAIT_POLL] = { "poll", "one of several files", WAIT_IS_IDLE | WAIT_HAS_WAKER },
	[WAIT_SERVER] = { "server", "the server of a file system", WAIT_HAS_WAKER },
	[WAIT_DISK] = { "disk", "a disk", 0 },
	[WAIT_WRITEBACK] = { "writeback", "data that is to be written to disks", 0 },
	[WAIT_FILE_SYSTEM] = { "file_system", "a file system", WAIT_HAS_WAKER },
	[WAIT_FAULT] = { "fault", "a page fault", 0 },
	[WAIT_MEMORY] = { "memory", "memory", 0 },
	[WAIT_KERNEL_LOCK] = { "kernel_lock", "a lock of the kernel", WAIT_HAS_WAKER },
	[WAIT_KERNEL] = { "kernel", "the kernel", WAIT_HAS_WAKER },
	[WAIT_DEVICE] = { "device", "a device", 0 },
	[WAIT_THROTTLED] = { "throttled", "its CPU quota", 0 },
	[WAIT_FROZEN] = { "frozen", "the freezer", 0 },
	[WAIT_STOPPED] = { "stopped", "a signal to continue", 0 },
	[WAIT_TRACED] = { "traced", "a debugger", 0 },
	[WAIT_SECCOMP] = { "seccomp", "the supervisor of its system calls", WAIT_HAS_WAKER },
	[WAIT_WORK] = { "work", "work", WAIT_IS_IDLE | WAIT_HAS_WAKER },
};

const char *const wait_evidence_keys[WAIT_EVIDENCES] = {
	[WAIT_BY_NOTHING] = "nothing",
	[WAIT_BY_STATE] = "state",
	[WAIT_BY_WAKER] = "waker",
	[WAIT_BY_USER_STACK] = "user_stack",
	[WAIT_BY_CALL] = "call",
	[WAIT_BY_SYSCALL] = "syscall",
	[WAIT_BY_KERNEL_STACK] = "kernel_stack",
	[WAIT_BY_FACT] = "fact",
};

const char *const wait_source_keys[WAIT_SOURCES] = {
	[WAIT_SOURCE_UNKNOWN] = "unknown", [WAIT_SOURCE_TIMER] = "timer",
	[WAIT_SOURCE_DISK] = "disk",       [WAIT_SOURCE_NETWORK] = "network",
	[WAIT_SOURCE_DEVICE] = "device",   [WAIT_SOURCE_MEMORY] = "memory",
};

/* ---- the tables ---- */

struct wait_word {
	const char *name; /* with '*' at its end: a prefix */
	int value;
};

#define WAIT_ROW(name_, cause_, rank_) { .name = name_, .cause = WAIT_##cause_, .rank = rank_ },
#define WAIT_WORD(name_, cause_)       { .name = name_, .value = WAIT_##cause_ },
#define WAIT_SOURCE_WORD(name_, what_) { .name = name_, .value = WAIT_SOURCE_##what_ },

static const struct wait_function wait_functions[] = { WAIT_KERNEL_FUNCTIONS(WAIT_ROW) };
static const struct wait_word wait_user_functions[] = { WAIT_USER_FUNCTIONS(WAIT_WORD) };
static const struct wait_word wait_syscalls[] = { WAIT_SYSCALLS(WAIT_WORD) };
static const struct wait_word wait_objects[] = { WAIT_OBJECTS(WAIT_WORD) };
static const struct wait_word wait_source_functions[] = { WAIT_SOURCE_FUNCTIONS(WAIT_SOURCE_WORD) };
static const struct wait_word wait_source_names[] = { WAIT_SOURCE_NAMES(WAIT_SOURCE_WORD) };

/* True if NAME, without a suffix that a compiler appended, matches PATTERN, the name in a row. */
static bool wait_cause_matches(const char *pattern, const char *name)
{
	size_t n = strcspn(name, "."), length = strlen(pattern);

	if (length > 0 && pattern[length - 1] == '*')
		return n >= length - 1 && strncmp(pattern, name, length - 1) == 0;
	return n == length && memcmp(pattern, name, n) == 0;
}

/* The value of the first word that matches NAME; 0 = none does. */
static int wait_cause_find_word(const struct wait_word *words, size_t n, const char *name)
{
	for (size_t i = 0; name && i < n; i++)
		if (wait_cause_matches(words[i].name, name))
			return words[i].value;
	return 0;
}

#define FIND_WORD(words, name) wait_cause_find_word(words, ARRAY_SIZE(words), name)

const struct wait_function *wait_function_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(wait_functions); i++)
		if (wait_cause_matches(wait_functions[i].name, name))
			return &wait_functions[i];
	return NULL;
}

/* ---- evidence ---- */

/* Judges by the functions of the kernel. Returns false if no function has a row. */
static bool wait_cause_by_kernel(const struct wait_facts *f, struct wait_verdict *v)
{
	const struct wait_function *best = NULL, *inner = NULL;

	for (size_t i = 0; i < f->n_kernel; i++) {
		const struct wait_function *row =
			f->kernel[i] ? wait_function_find(f->kernel[i]) : NULL;

		if (!row)
			continue;
		inner = inner ?: row;
		if (best && row->rank <= best->rank)
			continue;
		best = row;
		v->function = f->kernel[i];
	}
	if (!best)
		return false;
	v->cause = best->cause;
	v->second = inner->cause != best->cause ? inner->cause : WAIT_UNKNOWN;
	v->evidence = WAIT_BY_KERNEL_STACK;
	return true;
}

static enum wait_cause wait_cause_by_user(const struct wait_facts *f, const char **ret)
{
	for (size_t i = 0; i < f->n_user; i++) {
		int cause = FIND_WORD(wait_user_functions, f->user[i]);

		if (cause) {
			*ret = f->user[i];
			return (enum wait_cause)cause;
		}
	}
	return WAIT_UNKNOWN;
}

static bool wait_cause_by_syscall(const struct wait_facts *f, struct wait_verdict *v)
{
	int cause = FIND_WORD(wait_syscalls, f->syscall);

	/* The name of the call does not say the kind of a socket, or what read() reads: the file
	 * does. */
	if (!cause || cause == WAIT_SOCKET)
		cause = FIND_WORD(wait_objects, f->object) ?: cause;
	v->cause = (enum wait_cause)cause;
	v->evidence = WAIT_BY_SYSCALL;
	return cause != 0;
}

static bool wait_cause_by_state(const struct wait_facts *f, struct wait_verdict *v)
{
	v->evidence = WAIT_BY_STATE;
	switch (f->letter) {
	case 'T':
		v->cause = WAIT_STOPPED;
		return true;
	case 't':
		v->cause = WAIT_TRACED;
		return true;
	case 'I':
	case 'P':
		v->cause = WAIT_WORK;
		return true;
	case 'D':
		v->cause = WAIT_KERNEL;
		return true;
	default:
		v->cause = WAIT_WORK;
		return f->is_kernel_thread;
	}
}

/* The kernel does not know whether a futex is a lock, a condition variable or a thread's end: the
 * functions of the program, or an owner, show it. */
static void wait_cause_refine_futex(const struct wait_facts *f, struct wait_verdict *v)
{
	const char *function = NULL;
	enum wait_cause cause = wait_cause_by_user(f, &function);

	if (cause == WAIT_LOCK || cause == WAIT_CONDITION || cause == WAIT_JOIN) {
		v->cause = cause;
		v->function = function;
	} else if (f->has_owner) {
		v->cause = WAIT_LOCK;
	}
}

static void wait_cause_refine_socket(const struct wait_facts *f, struct wait_verdict *v)
{
	if (f->is_peer_here || (f->object && strcmp(f->object, "unix") == 0))
		v->cause = WAIT_LOCAL;
}

struct wait_verdict wait_cause_of(const struct wait_facts *facts)
{
	struct wait_verdict v = { 0 };

	if (facts->throttled) {
		v.cause = WAIT_THROTTLED;
		v.evidence = WAIT_BY_FACT;
	} else if (facts->letter == 'T' || facts->letter == 't') {
		wait_cause_by_state(facts, &v);
		v.evidence = WAIT_BY_FACT;
	} else if (wait_cause_by_kernel(facts, &v) || wait_cause_by_syscall(facts, &v)) {
		if (v.cause == WAIT_CONDITION)
			wait_cause_refine_futex(facts, &v);
		else if (v.cause == WAIT_SOCKET)
			wait_cause_refine_socket(facts, &v);
	} else {
		v = (struct wait_verdict){ 0 };
		v.cause = wait_cause_by_user(facts, &v.function);
		v.evidence = WAIT_BY_USER_STACK;
		if (v.cause == WAIT_UNKNOWN && !wait_cause_by_state(facts, &v))
			v = (struct wait_verdict){ 0 };
	}
	return v;
}

enum wait_source wait_source_of(const char *const *kernel, size_t n_kernel, const char *interrupt)
{
	int source;

	for (size_t i = 0; i < n_kernel; i++) {
		source = FIND_WORD(wait_source_functions, kernel[i]);
		if (source)
			return (enum wait_source)source;
	}
	/* These run the work of others. */
	if (!interrupt || strcmp(interrupt, "SCHED") == 0 || strcmp(interrupt, "RCU") == 0)
		return WAIT_SOURCE_UNKNOWN;
	source = FIND_WORD(wait_source_names, interrupt);
	return source ? (enum wait_source)source : WAIT_SOURCE_DEVICE;
}
