/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/why/why-verdict.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "model/koids.h"
#include "reader/why/why-waits.h"

const char *const why_verdict_keys[WHY_VERDICTS] = {
	[WHY_NOTHING] = "nothing",       [WHY_RUNS] = "runs",
	[WHY_CPU_TAKEN] = "cpu_taken",   [WHY_CPU_IDLE] = "cpu_idle",
	[WHY_INTERRUPTS] = "interrupts", [WHY_CPU_STOLEN] = "cpu_stolen",
	[WHY_QUOTA] = "quota",           [WHY_LOCK_HELD] = "lock_held",
	[WHY_INVERSION] = "inversion",   [WHY_LOCK_OPEN] = "lock_open",
	[WHY_SLOW_DISK] = "slow_disk",   [WHY_JOURNAL] = "journal",
	[WHY_FAULTS] = "faults",         [WHY_MEMORY_LIMIT] = "memory_limit",
	[WHY_REMOTE] = "remote",         [WHY_PROGRAM] = "program",
	[WHY_CHILD] = "child",           [WHY_SLEEP] = "sleep",
	[WHY_HELD_BACK] = "held_back",   [WHY_IDLE] = "idle",
	[WHY_TOO_LITTLE] = "too_little", [WHY_DEADLOCK] = "deadlock",
};

const char *const why_certainty_keys[WHY_CERTAINTIES] = {
	[WHY_CERTAIN] = "certain",
	[WHY_PROBABLE] = "probable",
	[WHY_POSSIBLE] = "possible",
};

void why_verdict_deinit(struct why_verdict *v)
{
	free(v->text);
	free(v->remedy);
	*v = (struct why_verdict){ 0 };
}

const char *why_thread_name(const struct summary *s, uint32_t tid, char to[static WHY_NAME_MAX])
{
	const struct summary_thread *t = tid != 0 ? table_get(&s->threads, tid) : NULL;

	if (tid == 0)
		return "idle";
	if (fxt_koid_is_other(tid))
		return "a thread that was not selected";
	if (t && t->name && *t->name)
		snprintf(to, WHY_NAME_MAX, "%.256s (%" PRIu32 ")", t->name, tid);
	else
		snprintf(to, WHY_NAME_MAX, "thread %" PRIu32, tid);
	return to;
}

#define NAME(c, tid) why_thread_name((c)->summary, tid, (char[WHY_NAME_MAX]){ "" })

/* ---- sums of the path ---- */

/* The sums that decide. */
struct why_sums {
	uint64_t total_ns, blocked_ns;
	enum wait_cause cause; /* the one with most time */
	uint64_t cause_ns;
	uint64_t others_ns, others_ready_ns; /* of the path: steps of other threads */
	uint64_t unknown_ns;                 /* of the path */
	uint64_t leaf_ns[PATH_KINDS];
	const struct path_share *leaves[PATH_KINDS]; /* the longest of each kind; NULL = none */
	/* The thread with most time on the path, except the case's, and its longest share; NULL =
	 * none */
	uint64_t main_ns;
	const struct path_share *main;
	/* Another thread's longest share of being ready, and the thread that had its CPU; NULL =
	 * none */
	const struct path_share *ready;
	const struct path_held *ready_held;
	/* The thread that had the CPUs of ready threads on the path for the longest total time; 0 =
	 * none. The times in which the case's own thread was ready do not count. */
	uint32_t holder;
	uint64_t holder_ns;
	/* Set with the verdict: the facts on which it depends */
	bool uses_path, uses_cause;
};

static bool why_verdict_is_unknown(enum path_kind kind)
{
	return kind == PATH_UNKNOWN || kind == PATH_PAUSED || kind == PATH_FORGOTTEN ||
	       kind == PATH_NO_WAKER || kind == PATH_FILTERED || kind == PATH_TOO_DEEP;
}

/* Adds NS to the sum of TID in SUMS, which owns its elements. Returns the new sum; 0 = no
 * memory. */
static uint64_t why_verdict_add(struct table *sums, uint32_t tid, uint64_t ns)
{
	struct cpu_share *sum = table_make(sums, (uint64_t)tid + 1, sizeof(*sum));

	if (!sum)
		return 0;
	sum->tid = tid;
	sum->ns += ns;
	return sum->ns;
}

/* The thread with the largest sum; of equal sums, the lowest tid. NULL = none. */
static const struct cpu_share *why_verdict_largest(const struct table *sums)
{
	const struct cpu_share *sum, *largest = NULL;

	for (size_t pos = 0; (sum = table_next(sums, &pos));)
		if (!largest || sum->ns > largest->ns ||
		    (sum->ns == largest->ns && sum->tid < largest->tid))
			largest = sum;
	return largest;
}

/* Finds the thread with most time on the path, except the thread of the case. */
static int why_verdict_find_main(const struct why_case *c, struct why_sums *sums)
{
	struct table threads = { 0 };
	const struct cpu_share *most = NULL;
	const struct path *p = c->path;
	int r = 0;

	for (size_t i = 0; i < p->n_shares && r == 0; i++)
		if (p->shares[i].tid != c->tid && p->shares[i].ns > 0 &&
		    !why_verdict_add(&threads, p->shares[i].tid, p->shares[i].ns))
			r = -ENOMEM;
	most = r == 0 ? why_verdict_largest(&threads) : NULL;
	for (size_t i = 0; most && i < p->n_shares && !sums->main; i++)
		if (p->shares[i].tid == most->tid)
			sums->main = &p->shares[i];
	sums->main_ns = most ? most->ns : 0;
	table_deinit_free(&threads);
	return r;
}

/* Finds the threads that had the CPUs of ready threads on the path, except the case's thread. */
static int why_verdict_find_holders(const struct why_case *c, struct why_sums *sums)
{
	struct table holders = { 0 };
	const struct cpu_share *most;
	const struct path *p = c->path;
	int r = 0;

	for (size_t i = 0; i < p->n_held && r == 0; i++) {
		const struct path_held *h = &p->held[i];

		if (h->tid == c->tid || h->ns == 0)
			continue;
		r = why_verdict_add(&holders, h->holder, h->ns) ? 0 : -ENOMEM;
		if (sums->ready && h->tid == sums->ready->tid && !sums->ready_held)
			sums->ready_held = h;
	}
	most = r == 0 ? why_verdict_largest(&holders) : NULL;
	sums->holder = most ? most->tid : 0;
	sums->holder_ns = most ? most->ns : 0;
	table_deinit_free(&holders);
	return r;
}

static int why_verdict_sum(const struct why_case *c, struct why_sums *ret)
{
	struct why_sums sums = {
		.total_ns = c->to_ns - c->from_ns,
		.blocked_ns = why_split_blocked(c->times),
		.cause = why_split_main_cause(c->times),
		.unknown_ns = c->path->other_ns,
	};

	sums.cause_ns = c->times->blocked_ns[sums.cause];
	for (size_t i = 0; i < c->path->n_shares; i++) {
		const struct path_share *s = &c->path->shares[i];

		sums.leaf_ns[s->kind] += s->ns;
		sums.leaves[s->kind] = sums.leaves[s->kind] ?: s;
		sums.unknown_ns += why_verdict_is_unknown(s->kind) ? s->ns : 0;
		if (s->tid == c->tid)
			continue;
		sums.others_ns += s->ns;
		if (s->kind != PATH_RUNNABLE)
			continue;
		sums.others_ready_ns += s->ns;
		sums.ready = sums.ready ?: s;
	}
	*ret = sums;
	return why_verdict_find_main(c, ret) ?: why_verdict_find_holders(c, ret);
}

/* ---- sentences ---- */

static int why_verdict_print(char **to, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int why_verdict_print(char **to, const char *format, ...)
{
	va_list args;
	int r;

	va_start(args, format);
	r = vasprintf(to, format, args);
	va_end(args);
	if (r < 0)
		*to = NULL;
	return r < 0 ? -ENOMEM : 0;
}

/* A thread's activity in steps of each kind: "ran for 80 ms of it". */
static const struct {
	const char *what, *more;
} why_verdict_deeds[PATH_KINDS] = {
	[PATH_RUNNING] = { "ran", "" },
	[PATH_RUNNABLE] = { "was ready to run, but got no CPU,", "" },
	[PATH_TIMER] = { "waited for a timer", "" },
	[PATH_DISK] = { "waited for a disk", "" },
	[PATH_MEMORY] = { "waited for memory", "" },
	[PATH_NETWORK] = { "waited for the network", "" },
	[PATH_DEVICE] = { "waited for a device", "" },
	[PATH_INTERRUPT] = { "waited for an interrupt", "" },
	[PATH_OPEN] = { "waited", ", until the end of the recording" },
	[PATH_NO_WAKER] = { "waited", ", and its waker is unknown" },
	[PATH_FILTERED] = { "waited for a thread that was not recorded", "" },
	[PATH_UNKNOWN] = { "did something unknown", "" },
	[PATH_PAUSED] = { "did something unknown", ", since the recording had paused" },
	[PATH_FORGOTTEN] = { "did something unknown", "" },
	[PATH_TOO_DEEP] = { "waited for many other threads", "" },
};

/* "; B (12) ran for 75 ms of it"; "" if SHARE is NULL. */
static const char *why_verdict_deed(const struct why_case *c, const struct path_share *share,
				    char *to, size_t size)
{
	*to = '\0';
	if (share)
		snprintf(to, size, "; %s %s for %s of it%s", NAME(c, share->tid),
			 why_verdict_deeds[share->kind].what, TEXT_TIME(share->ns),
			 why_verdict_deeds[share->kind].more);
	return to;
}

enum { WHY_DEED_MAX = 2 * WHY_NAME_MAX, WHY_CGROUP_MAX = 1100 };

/* "80 ms for a pipe, until B woke it" */
static const char *why_verdict_object(const struct why_case *c, const struct why_sums *sums,
				      char *to, size_t size)
{
	const char *title = wait_cause_rows[sums->cause].title;
	int n = snprintf(to, size, "%s", TEXT_TIME(sums->cause_ns));

	if (sums->cause != WAIT_UNKNOWN || c->waker == 0)
		n += snprintf(to + n, size - (size_t)n, " for %s", title);
	if (c->waker != 0)
		snprintf(to + n, size - (size_t)n, "%s until %s woke it",
			 sums->cause != WAIT_UNKNOWN ? "," : "", NAME(c, c->waker));
	return to;
}

#define OBJECT(c, sums) why_verdict_object(c, sums, (char[WHY_DEED_MAX]){ "" }, WHY_DEED_MAX)
#define DEED(c, share)  why_verdict_deed(c, share, (char[WHY_DEED_MAX]){ "" }, WHY_DEED_MAX)

static bool why_verdict_is_lock(enum wait_cause cause)
{
	return cause == WAIT_LOCK || cause == WAIT_KERNEL_LOCK || cause == WAIT_FILE_LOCK;
}

/* The thread waited for a thread that was ready, but one other thread had the CPU. */
static int why_verdict_inversion(const struct why_case *c, const struct why_sums *sums,
				 struct why_verdict *v)
{
	const struct path_held *held = sums->ready_held;
	int r;

	v->kind = why_verdict_is_lock(sums->cause) ? WHY_INVERSION : WHY_PROGRAM;
	v->ns = sums->ready->ns;
	v->culprit = held->holder;
	r = why_verdict_print(&v->text,
			      "%s waited %s. %s was ready for %s, but %s had its CPU for %s.",
			      NAME(c, c->tid), OBJECT(c, sums), NAME(c, held->tid),
			      TEXT_TIME(sums->ready->ns), NAME(c, held->holder),
			      TEXT_TIME(held->ns));
	if (r < 0)
		return r;
	/* (only a lock of the program can have PTHREAD_PRIO_INHERIT) */
	if (sums->cause == WAIT_LOCK)
		return why_verdict_print(&v->remedy,
					 "Give %s the priority of the threads that wait for it "
					 "(PTHREAD_PRIO_INHERIT), or move %s to another CPU.",
					 NAME(c, held->tid), NAME(c, held->holder));
	return why_verdict_print(&v->remedy, "Move %s to another CPU, or lower its priority.",
				 NAME(c, held->holder));
}

/* The thread waited for threads that were ready, but several others had their CPUs. */
static int why_verdict_crowd(const struct why_case *c, const struct why_sums *sums,
			     struct why_verdict *v)
{
	v->kind = WHY_CPU_TAKEN;
	v->ns = sums->others_ready_ns;
	v->culprit = sums->holder;
	return why_verdict_print(
		       &v->text,
		       "%s waited %s. The threads for which it waited were ready for %s of it, "
		       "but got no CPU; of the others, %s had their CPU for most time, %s.",
		       NAME(c, c->tid), OBJECT(c, sums), TEXT_TIME(sums->others_ready_ns),
		       NAME(c, sums->holder), TEXT_TIME(sums->holder_ns))
		       ?: why_verdict_print(&v->remedy, "Give the program more CPUs, or a higher "
							"priority (nice, cpu.weight).");
}

/* Fills V with a verdict of KIND. SHARE is what explains most of the wait; if it is NULL, or of the
 * thread itself, the waker is the culprit. */
static int why_verdict_of_others(const struct why_case *c, const struct why_sums *sums,
				 enum why_verdict_kind kind, const struct path_share *share,
				 struct why_verdict *v)
{
	const struct path_share *other = share && share->tid != c->tid ? share : NULL;

	v->kind = kind;
	v->ns = !other ? sums->cause_ns : other == sums->main ? sums->main_ns : other->ns;
	v->culprit = other ? other->tid : c->waker;
	return why_verdict_print(&v->text, "%s waited %s%s.", NAME(c, c->tid), OBJECT(c, sums),
				 DEED(c, other))
		       ?: !v->culprit
			  ? 0
			  : why_verdict_print(&v->remedy, "Look at %s: kymo why FILE %" PRIu32 ".",
					      NAME(c, v->culprit), v->culprit);
}

/* True if the thread was stopped, traced, frozen or throttled for at least half of the interval:
 * then other threads explain nothing. */
static bool why_verdict_is_held_back(const struct why_sums *sums)
{
	if (sums->cause_ns < sums->total_ns / 2)
		return false;
	return sums->cause == WAIT_STOPPED || sums->cause == WAIT_TRACED ||
	       sums->cause == WAIT_FROZEN || sums->cause == WAIT_THROTTLED;
}

/* A wait that no other thread explains. */
static int why_verdict_own_wait(const struct why_case *c, const struct why_sums *sums,
				struct why_verdict *v)
{
	static const struct {
		enum why_verdict_kind kind;
		const char *text, *remedy;
	} rows[WAIT_CAUSES] = {
		[WAIT_TIMER] = { WHY_SLEEP, "slept for %s by its own choice", NULL },
		[WAIT_CHILD] = { WHY_CHILD, "waited %s for a child process", NULL },
		[WAIT_DISK] = { WHY_SLOW_DISK, "waited %s for a disk", NULL },
		[WAIT_FILE_SYSTEM] = { WHY_JOURNAL, "waited %s for a file system", NULL },
		[WAIT_FAULT] = { WHY_FAULTS, "waited %s in page faults",
				 "Lock its memory, or read its files before it needs them." },
		[WAIT_MEMORY] = { WHY_MEMORY_LIMIT, "waited %s for memory", NULL },
		[WAIT_WRITEBACK] = { WHY_SLOW_DISK,
				     "waited %s until less data was to be written to disks", NULL },
		[WAIT_TERMINAL] = { WHY_IDLE, "waited %s for input from a terminal", NULL },
		[WAIT_REMOTE] = { WHY_REMOTE, "waited %s for another machine", NULL },
		[WAIT_SOCKET] = { WHY_REMOTE, "waited %s for a socket", NULL },
		[WAIT_STOPPED] = { WHY_HELD_BACK, "was stopped for %s",
				   "Find out who sends it SIGSTOP or SIGTSTP." },
		[WAIT_TRACED] = { WHY_HELD_BACK, "was stopped by a debugger for %s", NULL },
		[WAIT_FROZEN] = { WHY_HELD_BACK, "was frozen for %s", NULL },
		[WAIT_SECCOMP] = { WHY_HELD_BACK,
				   "waited %s for the supervisor of its system calls", NULL },
		[WAIT_THROTTLED] = { WHY_QUOTA, "was throttled for %s",
				     "Raise the CPU quota of its cgroup (cpu.max)." },
		[WAIT_POLL] = { WHY_IDLE, "waited %s for events", NULL },
		[WAIT_SIGNAL] = { WHY_IDLE, "waited %s for a signal", NULL },
		[WAIT_WORK] = { WHY_IDLE, "had no work for %s", NULL },
		[WAIT_LOCK] = { WHY_LOCK_HELD, NULL, NULL },
		[WAIT_CONDITION] = { WHY_PROGRAM, NULL, NULL },
		[WAIT_FILE_LOCK] = { WHY_LOCK_HELD, NULL, NULL },
		[WAIT_KERNEL_LOCK] = { WHY_LOCK_HELD, NULL, NULL },
		[WAIT_JOIN] = { WHY_PROGRAM, NULL, NULL },
		[WAIT_PIPE] = { WHY_PROGRAM, NULL, NULL },
		[WAIT_LOCAL] = { WHY_PROGRAM, NULL, NULL },
		[WAIT_SERVER] = { WHY_PROGRAM, NULL, NULL },
	};
	const char *text = rows[sums->cause].text ?: "waited %s";
	const char *remedy = rows[sums->cause].remedy;
	size_t before = strcspn(text, "%");
	char until[WHY_DEED_MAX] = "";

	v->kind = rows[sums->cause].kind;
	v->ns = sums->cause_ns;
	if (v->kind == WHY_LOCK_HELD && c->open)
		v->kind = WHY_LOCK_OPEN;
	/* (other waits for memory concern the whole machine) */
	if (sums->cause == WAIT_MEMORY && c->function && strstr(c->function, "mem_cgroup"))
		remedy = "Raise the memory limit of its cgroup (memory.high, memory.max).";
	/* (the thread that continues it is usually the one that stopped it) */
	if (why_verdict_is_held_back(sums) && c->waker != 0) {
		v->culprit = c->waker;
		snprintf(until, sizeof(until), ", until %s woke it", NAME(c, c->waker));
	}
	if (rows[sums->cause].text)
		return why_verdict_print(&v->text, "%s %.*s%s%s%s.", NAME(c, c->tid), (int)before,
					 text, TEXT_TIME(sums->cause_ns), text + before + 2, until)
			       ?: !remedy ? 0
					  : why_verdict_print(&v->remedy, "%s", remedy);
	return why_verdict_print(&v->text, "%s %s %s%s.", NAME(c, c->tid),
				 c->open ? "has waited" : "waited", OBJECT(c, sums),
				 c->open ? ", until the end of the recording" : "");
}

static int why_verdict_too_little(const struct why_case *c, const struct why_sums *sums,
				  struct why_verdict *v)
{
	v->kind = WHY_TOO_LITTLE;
	v->ns = sums->blocked_ns;
	return why_verdict_print(&v->text, "%s was blocked for %s; the cause is unknown.",
				 NAME(c, c->tid), TEXT_TIME(sums->blocked_ns))
		       ?: c->has_waits ? 0
				       : why_verdict_print(&v->remedy, "Record with "
								       "-e sched,offcpu to see "
								       "where it waits.");
}

/* Nothing dominates: names the cause of waits with most time. */
static int why_verdict_nothing(const struct why_case *c, const struct why_sums *sums,
			       struct why_verdict *v)
{
	const struct why_times *t = c->times;
	char most[128] = "", more[96] = "";

	if (t->absent_ns > 0)
		snprintf(more, sizeof(more), "; it did not exist for %s", TEXT_TIME(t->absent_ns));
	else if (t->unknown_ns > 0)
		snprintf(more, sizeof(more), "; for %s, its state is unknown%s",
			 TEXT_TIME(t->unknown_ns),
			 t->paused_ns > t->unknown_ns / 2 ? ": the recording had paused" : "");
	if (sums->cause != WAIT_UNKNOWN)
		snprintf(most, sizeof(most), ", %s of it for %s", TEXT_TIME(sums->cause_ns),
			 wait_cause_rows[sums->cause].title);
	return why_verdict_print(&v->text, "%s ran for %s, was ready for %s and waited for %s%s%s.",
				 NAME(c, c->tid), TEXT_TIME(t->running_ns),
				 TEXT_TIME(t->runnable_ns), TEXT_TIME(sums->blocked_ns), most,
				 more);
}

/* Explains the waits by other threads or devices on the path. Returns -ENODATA if they do not. */
static int why_verdict_by_path(const struct why_case *c, const struct why_sums *sums,
			       struct why_verdict *v)
{
	bool is_file_system = sums->cause == WAIT_FILE_SYSTEM;
	uint64_t half_ns = sums->total_ns / 2;

	if (why_verdict_is_held_back(sums))
		return -ENODATA;
	if (sums->ready_held && sums->ready_held->ns >= half_ns)
		return why_verdict_inversion(c, sums, v);
	if (sums->others_ready_ns >= half_ns && sums->holder != 0)
		return why_verdict_crowd(c, sums, v);
	if (sums->cause == WAIT_FAULT || sums->cause == WAIT_MEMORY ||
	    sums->cause == WAIT_WRITEBACK || sums->cause == WAIT_TERMINAL)
		return -ENODATA;
	if (sums->leaf_ns[PATH_DISK] >= half_ns)
		return why_verdict_of_others(c, sums, is_file_system ? WHY_JOURNAL : WHY_SLOW_DISK,
					     sums->leaves[PATH_DISK], v);
	if (sums->leaf_ns[PATH_MEMORY] >= half_ns)
		return why_verdict_of_others(c, sums, WHY_MEMORY_LIMIT, sums->leaves[PATH_MEMORY],
					     v);
	if (sums->leaf_ns[PATH_NETWORK] >= half_ns)
		return why_verdict_of_others(c, sums, WHY_REMOTE, sums->leaves[PATH_NETWORK], v);
	if (sums->others_ns < half_ns)
		return -ENODATA;
	return why_verdict_of_others(c, sums,
				     sums->cause == WAIT_CHILD          ? WHY_CHILD
				     : is_file_system                   ? WHY_JOURNAL
				     : sums->cause == WAIT_DISK         ? WHY_SLOW_DISK
				     : why_verdict_is_lock(sums->cause) ? WHY_LOCK_HELD
									: WHY_PROGRAM,
				     sums->main, v);
}

/* The wait has not ended, and the owners of the locks wait in a circle. */
static int why_verdict_deadlock(const struct why_case *c, const struct why_sums *sums,
				struct why_verdict *v)
{
	char more[64] = "";

	v->kind = WHY_DEADLOCK;
	v->ns = sums->cause_ns;
	v->culprit = c->owner;
	if (c->n_deadlocked > 2)
		snprintf(more, sizeof(more), ", in a circle of %u threads", c->n_deadlocked);
	return why_verdict_print(&v->text,
				 "deadlock: %s has waited %s for the lock at %#" PRIx64
				 ", which %s has; %s waits for a lock that %s has%s.",
				 NAME(c, c->tid), TEXT_TIME(sums->cause_ns), c->lock,
				 NAME(c, c->owner), NAME(c, c->owner), NAME(c, c->next_owner), more)
		       ?: why_verdict_print(&v->remedy,
					    "Take the locks in the same order in all threads.");
}

/* Adds a sentence that names the owner of the lock. */
static int why_verdict_name_owner(const struct why_case *c, const struct why_sums *sums,
				  struct why_verdict *v)
{
	char *text = v->text;
	int r;

	if (c->owner == 0 || sums->cause != WAIT_LOCK || v->kind == WHY_DEADLOCK)
		return 0;
	if (v->kind != WHY_LOCK_OPEN && v->kind != WHY_LOCK_HELD && v->kind != WHY_INVERSION)
		return 0;
	if (v->culprit == 0)
		v->culprit = c->owner;
	r = why_verdict_print(&v->text, "%s %s had the lock when the wait began.", text,
			      NAME(c, c->owner));
	free(text);
	return r;
}

/* The thread was blocked for most of the interval. */
static int why_verdict_blocked(const struct why_case *c, struct why_sums *sums,
			       struct why_verdict *v)
{
	int r;

	if (c->n_deadlocked > 0 && sums->cause_ns >= sums->total_ns / 2) {
		sums->uses_cause = true;
		return why_verdict_deadlock(c, sums, v);
	}
	r = why_verdict_by_path(c, sums, v);
	if (r != -ENODATA) {
		sums->uses_path = sums->uses_cause = true;
		return r;
	}
	if (sums->cause_ns < sums->total_ns / 2)
		return why_verdict_nothing(c, sums, v);
	if (sums->cause == WAIT_UNKNOWN)
		return why_verdict_too_little(c, sums, v);
	sums->uses_cause = true;
	return why_verdict_own_wait(c, sums, v);
}

/* The thread was throttled for most of the time in which it was ready. */
static int why_verdict_throttled(const struct why_case *c, struct why_verdict *v)
{
	const struct why_wait *q = c->quota;
	char name[WHY_CGROUP_MAX] = "its cgroup", quota[WHY_CGROUP_MAX + 64] = "";

	v->ns = c->times->throttled_ns;
	v->culprit = 0;
	if (q && q->cgroup)
		snprintf(name, sizeof(name), "the cgroup %s", q->cgroup);
	if (q && q->quota_ns && q->period_ns)
		snprintf(quota, sizeof(quota), ": %s may use %s of CPU time in each %s", name,
			 TEXT_TIME(q->quota_ns), TEXT_TIME(q->period_ns));
	return why_verdict_print(&v->text, "%s was throttled for %s%s.", NAME(c, c->tid),
				 TEXT_TIME(c->times->throttled_ns), quota)
		       ?: why_verdict_print(&v->remedy, "Raise the CPU quota of %s (cpu.max).",
					    name);
}

/* The thread was ready for most of the interval. */
static int why_verdict_ready(const struct why_case *c, struct why_verdict *v)
{
	const struct why_times *t = c->times;
	const struct cpu_share *holder = t->n_holders > 0 ? &t->holders[0] : NULL;
	uint64_t half_ns = t->runnable_ns / 2;
	char beside[128] = "", taken[WHY_DEED_MAX] = "", cpu[24] = "its CPU";

	v->ns = t->runnable_ns;
	v->culprit = holder ? holder->tid : 0;
	if (!t->many_cpus)
		snprintf(cpu, sizeof(cpu), "CPU %" PRIu32, t->cpu);
	if (t->idle_ns > 0 && t->idle_ns >= half_ns && c->idle_cpu_ns > 0)
		snprintf(beside, sizeof(beside),
			 "; another CPU was idle for %s of it, CPU %" PRIu32 " for %s",
			 TEXT_TIME(t->idle_ns), c->idle_cpu, TEXT_TIME(c->idle_cpu_ns));
	if (holder && holder->tid != 0)
		snprintf(taken, sizeof(taken), "; %s had %s for %s of it", NAME(c, holder->tid),
			 cpu, TEXT_TIME(holder->ns));
	if (t->throttled_ns >= half_ns && t->throttled_ns > 0)
		v->kind = WHY_QUOTA;
	else if (t->stolen_ns >= half_ns && t->stolen_ns > 0)
		v->kind = WHY_INTERRUPTS;
	else if (holder && holder->tid == 0 && holder->ns >= half_ns)
		v->kind = WHY_CPU_STOLEN;
	else
		v->kind = *beside ? WHY_CPU_IDLE : WHY_CPU_TAKEN;
	if (v->kind == WHY_QUOTA)
		return why_verdict_throttled(c, v);
	if (v->kind == WHY_INTERRUPTS)
		return why_verdict_print(&v->text,
					 "%s was ready for %s; interrupts took %s for %s of it.",
					 NAME(c, c->tid), TEXT_TIME(t->runnable_ns), cpu,
					 TEXT_TIME(t->stolen_ns));
	if (v->kind == WHY_CPU_STOLEN)
		return why_verdict_print(&v->text,
					 "%s was ready for %s, but %s ran nothing for %s of it: "
					 "%sits CPU quota, a hypervisor, or a CPU that slept.",
					 NAME(c, c->tid), TEXT_TIME(t->runnable_ns), cpu,
					 TEXT_TIME(holder->ns),
					 c->has_interrupts ? "" : "interrupts, ");
	return why_verdict_print(&v->text, "%s was ready for %s%s%s.", NAME(c, c->tid),
				 TEXT_TIME(t->runnable_ns), taken, beside)
		       ?: !*beside
			  ? 0
			  : why_verdict_print(&v->remedy,
					      "Check with taskset -p %u whether it may run on CPU "
					      "%" PRIu32 ", and in cpu.stat of its cgroup whether "
					      "its CPU quota was used up.",
					      fxt_koid_tid(c->tid), c->idle_cpu);
}

static int why_verdict_runs(const struct why_case *c, struct why_verdict *v)
{
	v->kind = WHY_RUNS;
	v->ns = c->times->running_ns;
	v->culprit = c->tid;
	if (c->times->reclaim_ns > v->ns / 2) {
		v->kind = WHY_MEMORY_LIMIT;
		return why_verdict_print(&v->text,
					 "%s used its CPU for %s, and searched for free memory "
					 "for %s of it.",
					 NAME(c, c->tid), TEXT_TIME(v->ns),
					 TEXT_TIME(c->times->reclaim_ns))
			       ?: why_verdict_print(&v->remedy,
						    "See what uses the memory of its cgroup and "
						    "of the machine.");
	}
	return why_verdict_print(&v->text, "%s used its CPU for %s.", NAME(c, c->tid),
				 TEXT_TIME(v->ns))
		       ?: why_verdict_print(&v->remedy, "See kymo flame --thread %" PRIu32 ".",
					    c->tid);
}

/* The state of the thread is unknown for most of the interval. */
static int why_verdict_unknown(const struct why_case *c, struct why_verdict *v)
{
	v->kind = WHY_TOO_LITTLE;
	v->ns = c->times->unknown_ns;
	if (c->times->paused_ns > v->ns / 2)
		return why_verdict_print(&v->text,
					 "the state of %s is unknown for %s; the recording had "
					 "paused for %s of it.",
					 NAME(c, c->tid), TEXT_TIME(v->ns),
					 TEXT_TIME(c->times->paused_ns));
	return why_verdict_print(&v->text, "the state of %s is unknown for %s.", NAME(c, c->tid),
				 TEXT_TIME(v->ns));
}

/* The certainty of a verdict, from the facts on which it depends. */
static enum why_certainty why_verdict_certainty(const struct why_case *c,
						const struct why_sums *sums)
{
	uint64_t unknown_ns = sums->uses_path ? sums->unknown_ns : c->times->unknown_ns;
	uint64_t weak_ns = sums->uses_cause ? c->times->weak_ns : 0;

	if (unknown_ns > sums->total_ns / 10)
		return WHY_POSSIBLE;
	return unknown_ns > sums->total_ns / 100 || weak_ns > sums->total_ns / 100 ? WHY_PROBABLE
										   : WHY_CERTAIN;
}

static const char *const why_verdict_words[WHY_CERTAINTIES] = { "", "Probably: ", "Possibly: " };

/* Puts the certainty before the sentence. */
static int why_verdict_qualify(struct why_verdict *v)
{
	char *text = v->text;
	int r = why_verdict_print(&v->text, "%s%s", why_verdict_words[v->certainty], text);

	free(text);
	return r;
}

/* True if the thread can have waited for a disk. */
static bool why_verdict_may_be_disk(const struct why_case *c, const struct why_sums *sums,
				    enum why_verdict_kind kind)
{
	if (kind == WHY_SLOW_DISK || kind == WHY_JOURNAL || kind == WHY_FAULTS)
		return true;
	/* (if no known function shows the cause, requests of the thread itself point to the
	 * disk) */
	return c->disk->own && sums->blocked_ns >= (sums->total_ns + 1) / 2 &&
	       (sums->cause == WAIT_UNKNOWN || sums->cause == WAIT_KERNEL);
}

/* Adds a sentence that names the disk. */
static int why_verdict_name_disk(const struct why_case *c, const struct why_sums *sums,
				 struct why_verdict *v)
{
	const struct why_disk *d = c->disk;
	char *text = v->text;
	int r;

	if (!d || !why_verdict_may_be_disk(c, sums, v->kind))
		return 0;
	r = d->own ? why_verdict_print(&v->text,
				       "%s %s sent %" PRIu64
				       " request%s to %s; the longest took %s.",
				       text, NAME(c, c->tid), d->n, text_s(d->n), d->name,
				       TEXT_TIME(d->longest_ns))
		   : why_verdict_print(&v->text,
				       "%s Meanwhile, %s had %" PRIu64
				       " request%s of other threads; the longest took %s.",
				       text, d->name, d->n, text_s(d->n), TEXT_TIME(d->longest_ns));
	free(text);
	return r;
}

/* "This was a major page fault", "B (12) had 7 major page faults, 5 of them" */
static const char *why_verdict_had_faults(const struct why_case *c, char *to, size_t size)
{
	const struct why_faults_sum *f = c->faults;
	int n;

	if (c->is_fault) {
		snprintf(to, size, "This was a major page fault");
		return to;
	}
	n = snprintf(to, size, "%s had %" PRIu64 " major page fault%s",
		     c->faults_tid == c->tid ? "It" : NAME(c, c->faults_tid), f->n, text_s(f->n));
	if (f->n_file < f->n)
		snprintf(to + n, size - (size_t)n, ", %" PRIu64 " of them", f->n_file);
	return to;
}

/*
 * Adds a sentence about major page faults, if the thread waited for them, or if the culprit had
 * them.
 */
static int why_verdict_name_faults(const struct why_case *c, const struct why_sums *sums,
				   struct why_verdict *v)
{
	const struct why_faults_sum *f = c->faults;
	char *text = v->text, had[WHY_DEED_MAX];
	bool is_own = f && c->faults_tid == c->tid;
	int r;

	if (!f || why_verdict_is_held_back(sums) ||
	    (is_own ? !c->is_fault && sums->cause != WAIT_FAULT && sums->cause != WAIT_MEMORY
		    : v->culprit != c->faults_tid))
		return 0;
	r = why_verdict_print(&v->text, "%s %s of %s.", text,
			      why_verdict_had_faults(c, had, sizeof(had)),
			      !f->file   ? "an unknown mapping"
			      : *f->file ? f->file
					 : "memory without a file");
	free(text);
	return r;
}

int why_verdict_make(const struct why_case *c, struct why_verdict *ret)
{
	const struct why_times *t = c->times;
	struct why_verdict v = { .victim = c->tid };
	struct why_sums sums;
	int r = why_verdict_sum(c, &sums);
	uint64_t half_ns = (sums.total_ns + 1) / 2;

	if (r < 0)
		return r;
	if (sums.blocked_ns >= half_ns)
		r = why_verdict_blocked(c, &sums, &v);
	else if (t->runnable_ns >= half_ns)
		r = why_verdict_ready(c, &v);
	else if (t->running_ns >= half_ns)
		r = why_verdict_runs(c, &v);
	else if (t->unknown_ns >= half_ns)
		r = why_verdict_unknown(c, &v);
	else
		r = why_verdict_nothing(c, &sums, &v);
	v.certainty = why_verdict_certainty(c, &sums);
	r = r ?: why_verdict_name_disk(c, &sums, &v);
	r = r ?: why_verdict_name_faults(c, &sums, &v);
	r = r ?: why_verdict_name_owner(c, &sums, &v);
	r = r ?: why_verdict_qualify(&v);
	if (r < 0) {
		why_verdict_deinit(&v);
		return r;
	}
	*ret = v;
	return 0;
}
