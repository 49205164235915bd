/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The critical path against its definition, nanosecond by nanosecond, over random schedules.
 */
#include <string.h>

#include "model/event.h"
#include "model/koids.h"
#include "reader/why/why-path.h"
#include "tests/support/unit.h"

enum { THREADS_MAX = 12, CPUS_MAX = 4, EVENTS = 200, SEGMENTS_MAX = 3 * EVENTS, TIMES = 1000 };
enum { SOFTIRQ = FXT_KOID_SOFTIRQ + 1, OTHER = FXT_KOID_OTHER };

/* A schedule, plainly. Threads have the koids 1 to n_threads. */
struct plain {
	unsigned seed, n_threads, n_cpus;
	uint64_t end_ns;
	struct plain_thread {
		struct thread_segment list[SEGMENTS_MAX], now;
		size_t n;
		uint32_t creator, lock_owner;
		bool lives;
	} threads[THREADS_MAX + 1];
	uint32_t on_cpu[CPUS_MAX];      /* while it is made */
	uint32_t runs[CPUS_MAX][TIMES]; /* the thread in each nanosecond */
	struct history *h;
	struct idle_time idle;
};

static unsigned pick(struct plain *p, unsigned n)
{
	p->seed = p->seed * 1103515245 + 12345;
	return p->seed / 65536 % n;
}

/* ---- making a schedule ---- */

static void add_segment(struct plain *p, uint32_t tid, const struct thread_segment *s)
{
	struct plain_thread *t = &p->threads[tid];

	assert_true(t->n < SEGMENTS_MAX);
	t->list[t->n++] = *s;
	assert_int_equal(history_add_segment(p->h, s), 0);
}

/* Thread TID has another state from TS on. */
static void set_state(struct plain *p, uint32_t tid, uint64_t ts, struct thread_segment next)
{
	struct plain_thread *t = &p->threads[tid];

	if (t->lives) {
		t->now.to_ns = ts;
		add_segment(p, tid, &t->now);
	}
	next.tid = tid;
	next.from_ns = ts;
	t->now = next;
	t->lives = true;
}

/* CPU runs thread TID from TS on. */
static void run_on(struct plain *p, uint32_t cpu, uint32_t tid, uint64_t ts)
{
	const struct event ev = { .kind = EVENT_SWITCH,
				  .ts_ns = ts,
				  .cpu = cpu,
				  .tid = p->on_cpu[cpu],
				  .sw.next_tid = tid };

	assert_int_equal(history_add(p->h, &ev), 0);
	p->on_cpu[cpu] = tid;
	for (uint64_t at = ts; at < TIMES; at++)
		p->runs[cpu][at] = tid;
}

/* The next runnable thread of CPU, or idle. */
static void switch_cpu(struct plain *p, uint32_t cpu, uint64_t ts)
{
	uint32_t first = 1 + pick(p, p->n_threads), next = 0;

	for (unsigned i = 0; i < p->n_threads && next == 0; i++) {
		uint32_t tid = 1 + (first + i) % p->n_threads;
		const struct plain_thread *t = &p->threads[tid];

		if (t->lives && t->now.state == THREAD_RUNNABLE && t->now.cpu == cpu)
			next = tid;
	}
	if (next != 0)
		set_state(p, next, ts,
			  (struct thread_segment){ .state = THREAD_RUNNING, .cpu = cpu });
	run_on(p, cpu, next, ts);
}

static void block(struct plain *p, uint32_t cpu, uint64_t ts)
{
	set_state(p, p->on_cpu[cpu], ts,
		  (struct thread_segment){ .state = THREAD_BLOCKED, .cpu = cpu, .letter = 'S' });
	switch_cpu(p, cpu, ts);
}

static void preempt(struct plain *p, uint32_t cpu, uint64_t ts)
{
	set_state(
		p, p->on_cpu[cpu], ts,
		(struct thread_segment){ .state = THREAD_RUNNABLE, .cpu = cpu, .preempted = true });
	switch_cpu(p, cpu, ts);
}

/* WAKER (which runs, or is something else) wakes TID, or creates it. */
static void wake(struct plain *p, uint32_t tid, uint32_t waker, uint64_t ts)
{
	struct plain_thread *t = &p->threads[tid];
	uint32_t cpu = pick(p, p->n_cpus);

	if (!t->lives && waker != 0 && waker <= THREADS_MAX) {
		const struct event fork = { .kind = EVENT_FORK,
					    .ts_ns = ts,
					    .tid = waker,
					    .fork = { .child_pid = tid, .child_tid = tid } };

		assert_int_equal(history_add(p->h, &fork), 0);
		t->creator = waker;
	}
	if (t->lives && pick(p, 10) > 0) {
		t->now.woken = true;
		t->now.waker_tid = waker;
	}
	if (t->lives && pick(p, 30) == 0)
		t->now.end = THREAD_END_GAP;
	set_state(p, tid, ts, (struct thread_segment){ .state = THREAD_RUNNABLE, .cpu = cpu });
	if (p->on_cpu[cpu] == 0)
		switch_cpu(p, cpu, ts);
}

static void random_event(struct plain *p, uint64_t ts)
{
	static const uint32_t others[] = { 0, SOFTIRQ, OTHER };
	uint32_t cpu = pick(p, p->n_cpus), tid = 1 + pick(p, p->n_threads);
	const struct plain_thread *t = &p->threads[tid];

	if (!t->lives || t->now.state == THREAD_BLOCKED) {
		wake(p, tid, pick(p, 6) > 0 ? p->on_cpu[cpu] : others[pick(p, 3)], ts);
	} else if (p->on_cpu[cpu] == 0) {
		switch_cpu(p, cpu, ts);
	} else if (pick(p, 3) > 0) {
		block(p, cpu, ts);
	} else {
		preempt(p, cpu, ts);
	}
}

/* All threads are in their state until the end. Some of those that wait know an owner. */
static void finish(struct plain *p, uint64_t end_ns)
{
	for (uint32_t tid = 1; tid <= p->n_threads; tid++) {
		struct plain_thread *t = &p->threads[tid];

		t->lock_owner = pick(p, 3) == 0 ? 1 + pick(p, p->n_threads) : 0;
		if (!t->lives)
			continue;
		t->now.end = THREAD_END_OPEN;
		t->now.to_ns = end_ns;
		add_segment(p, tid, &t->now);
	}
	history_finish(p->h, end_ns);
	p->end_ns = end_ns;
}

static void make_schedule(struct plain *p, unsigned seed)
{
	uint64_t ts = 10;

	*p = (struct plain){ .seed = seed };
	p->n_threads = 2 + pick(p, THREADS_MAX - 1);
	p->n_cpus = 1 + pick(p, CPUS_MAX);
	memset(p->runs, 0xff, sizeof(p->runs));
	assert_int_equal(history_new(&p->h, NULL), 0);
	for (unsigned i = 0; i < EVENTS; i++) {
		random_event(p, ts);
		ts += pick(p, 5);
	}
	finish(p, ts + 3);
}

/* A schedule that no kernel has: states and wakers at random. */
static void make_nonsense(struct plain *p, unsigned seed)
{
	*p = (struct plain){ .seed = seed, .n_threads = 5, .n_cpus = 1, .end_ns = 300 };
	memset(p->runs, 0xff, sizeof(p->runs));
	assert_int_equal(history_new(&p->h, NULL), 0);
	for (uint32_t tid = 1; tid <= p->n_threads; tid++) {
		struct plain_thread *t = &p->threads[tid];
		struct event fork = { .kind = EVENT_FORK, .ts_ns = pick(p, 100) };

		t->creator = fork.tid = 1 + pick(p, p->n_threads);
		fork.fork.child_tid = tid;
		if (t->creator == tid)
			t->creator = 0;
		assert_int_equal(history_add(p->h, &fork), 0);
		for (uint64_t ts = 100 + pick(p, 100); ts < 290;) {
			const struct thread_segment s = {
				.tid = tid,
				.state = pick(p, THREAD_STATES),
				.end = pick(p, 3),
				.from_ns = ts,
				.to_ns = ts + 1 + pick(p, 10),
				.woken = pick(p, 5) > 0,
				.waker_tid = pick(p, p->n_threads + 1),
			};

			add_segment(p, tid, &s);
			ts = s.to_ns;
		}
		t->lock_owner = pick(p, p->n_threads + 1);
	}
	history_finish(p->h, p->end_ns);
}

/* ---- the definition ---- */

/* The owner of a moment. */
struct owner {
	uint32_t tid, depth;
	enum path_kind kind;
};

/* The segment with the nanosecond after AT. */
static const struct thread_segment *find(const struct plain *p, uint32_t tid, uint64_t at)
{
	const struct plain_thread *t = &p->threads[tid];

	for (size_t i = 0; i < t->n; i++)
		if (t->list[i].from_ns <= at && at < t->list[i].to_ns)
			return &t->list[i];
	return NULL;
}

static bool ran(const struct plain *p, uint32_t tid, uint64_t ts)
{
	const struct thread_segment *s = ts > 0 ? find(p, tid, ts - 1) : NULL;

	return s && s->state == THREAD_RUNNING;
}

/* The begin of the first segment that lasts. */
static uint64_t begin_of(const struct plain_thread *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->list[i].from_ns < t->list[i].to_ns)
			return t->list[i].from_ns;
	return 0;
}

static struct owner owner_at(const struct plain *p, const uint32_t *way, uint32_t depth,
			     uint64_t at);

static struct owner owner_of(const struct plain *p, const uint32_t *way, uint32_t depth,
			     uint32_t next, uint64_t at)
{
	uint32_t longer[WHY_PATH_DEPTH_MAX + 2];

	if (depth == WHY_PATH_DEPTH_MAX)
		return (struct owner){ way[depth], depth, PATH_TOO_DEEP };
	memcpy(longer, way, (depth + 1) * sizeof(*way));
	longer[depth + 1] = next;
	return owner_at(p, longer, depth + 1, at);
}

/* Nobody is known to have ended the wait of the last thread on the way. */
static struct owner owner_of_lock(const struct plain *p, const uint32_t *way, uint32_t depth,
				  enum path_kind kind, uint64_t at)
{
	uint32_t tid = way[depth], owner = p->threads[tid].lock_owner;

	for (uint32_t i = 0; i <= depth; i++)
		if (way[i] == owner)
			owner = 0;
	return owner ? owner_of(p, way, depth, owner, at) : (struct owner){ tid, depth, kind };
}

static struct owner owner_blocked(const struct plain *p, const uint32_t *way, uint32_t depth,
				  const struct thread_segment *s, uint64_t at)
{
	uint32_t tid = way[depth];

	if (s->end == THREAD_END_OPEN)
		return owner_of_lock(p, way, depth, PATH_OPEN, at);
	if (s->end == THREAD_END_GAP || !s->woken)
		return owner_of_lock(p, way, depth, PATH_NO_WAKER, at);
	if (s->waker_tid == 0 || s->waker_tid == SOFTIRQ)
		return (struct owner){ tid, depth, PATH_INTERRUPT };
	if (s->waker_tid == OTHER)
		return owner_of_lock(p, way, depth, PATH_FILTERED, at);
	return ran(p, s->waker_tid, s->to_ns) && s->waker_tid != tid
		       ? owner_of(p, way, depth, s->waker_tid, at)
		       : owner_of_lock(p, way, depth, PATH_NO_WAKER, at);
}

/* The owner of the nanosecond after AT, for the last thread on the way. */
static struct owner owner_at(const struct plain *p, const uint32_t *way, uint32_t depth,
			     uint64_t at)
{
	uint32_t tid = way[depth];
	const struct plain_thread *t = &p->threads[tid];
	const struct thread_segment *s = find(p, tid, at);

	if (!s)
		return t->creator != 0 && at < begin_of(t)
			       ? owner_of(p, way, depth, t->creator, at)
			       : (struct owner){ tid, depth, PATH_UNKNOWN };
	switch (s->state) {
	case THREAD_RUNNING:
		return (struct owner){ tid, depth, PATH_RUNNING };
	case THREAD_RUNNABLE:
		return (struct owner){ tid, depth, PATH_RUNNABLE };
	case THREAD_BLOCKED:
		return owner_blocked(p, way, depth, s, at);
	default:
		return (struct owner){ tid, depth, PATH_UNKNOWN };
	}
}

static uint32_t find_owner(void *userdata, uint32_t tid, uint64_t from_ns)
{
	const struct plain *p = userdata;

	return p->threads[tid].lock_owner;
}

/* The thread with most time on the CPU of a step, and the time in which another CPU was idle. */
static void check_holder(const struct plain *p, const struct path_step *s)
{
	uint64_t ns[THREADS_MAX + 1] = { 0 }, most = 0, idle_ns = 0;

	for (uint64_t at = s->from_ns; at < s->to_ns; at++) {
		bool idle = false;

		for (uint32_t cpu = 0; cpu < p->n_cpus; cpu++)
			idle |= cpu != s->cpu && p->runs[cpu][at] == 0;
		idle_ns += idle;
		if (p->runs[s->cpu][at] <= THREADS_MAX)
			ns[p->runs[s->cpu][at]]++;
	}
	for (unsigned i = 0; i <= THREADS_MAX; i++)
		most = ns[i] > most ? ns[i] : most;
	assert_int_equal(s->idle_ns, idle_ns);
	assert_int_equal(s->holder_ns, most);
	assert_int_equal(ns[s->holder], most);
}

static void check_path(struct plain *p, uint32_t tid, uint64_t from_ns, uint64_t to_ns)
{
	const struct path_sources sources = { .owner = find_owner,
					      .userdata = p,
					      .idle = &p->idle };
	struct path path = { 0 };
	uint64_t at = from_ns, shares_ns = 0;

	assert_int_equal(path_compute(p->h, &sources, tid, from_ns, to_ns, &path), 0);
	for (size_t i = 0; i < path.n_steps; i++) {
		const struct path_step *s = &path.steps[i];

		assert_int_equal(s->from_ns, at);
		assert_true(s->to_ns > at);
		for (; at < s->to_ns; at++) {
			struct owner owner = owner_at(p, &tid, 0, at);

			assert_int_equal(s->tid, owner.tid);
			assert_int_equal(s->kind, owner.kind);
			assert_int_equal(s->depth, owner.depth);
		}
		if (s->kind == PATH_RUNNABLE)
			check_holder(p, s);
	}
	assert_int_equal(at, to_ns > from_ns ? to_ns : from_ns);
	for (size_t i = 0; i < path.n_shares; i++)
		shares_ns += path.shares[i].ns;
	assert_int_equal(shares_ns, at - from_ns);
	path_deinit(&path);
}

static void check_schedule(struct plain *p)
{
	assert_int_equal(idle_time_make(&p->idle, p->h), 0);
	for (uint32_t tid = 1; tid <= p->n_threads; tid++) {
		uint64_t from = pick(p, (unsigned)p->end_ns);

		check_path(p, tid, 0, p->end_ns);
		check_path(p, tid, from, from + pick(p, (unsigned)(p->end_ns - from)));
	}
	idle_time_deinit(&p->idle);
	p->h = history_free(p->h);
}

static struct plain plain;

TEST(test_random)
{
	for (unsigned round = 0; round < unit_rounds(1000); round++) {
		make_schedule(&plain, round);
		check_schedule(&plain);
	}
}

TEST(test_nonsense)
{
	for (unsigned round = 0; round < unit_rounds(200); round++) {
		make_nonsense(&plain, round);
		for (uint32_t i = 0; i < plain.n_threads; i++)
			memset(plain.runs, 0xff, sizeof(plain.runs));
		check_schedule(&plain);
	}
}

/* ---- schedules by hand ---- */

static void begin(unsigned n_threads)
{
	plain = (struct plain){ .n_threads = n_threads, .n_cpus = 1 };
	assert_int_equal(history_new(&plain.h, NULL), 0);
}

static void segment(uint32_t tid, enum thread_state state, uint64_t from, uint64_t to,
		    uint32_t waker)
{
	const struct thread_segment s = {
		.tid = tid,
		.state = state,
		.from_ns = from,
		.to_ns = to,
		.woken = waker != 0,
		.waker_tid = waker,
		.end = to == 100 ? THREAD_END_OPEN : THREAD_END_EVENT,
	};

	add_segment(&plain, tid, &s);
}

static void step(const struct path *p, size_t i, uint32_t tid, enum path_kind kind, uint64_t from,
		 uint64_t to)
{
	assert_true(i < p->n_steps);
	assert_int_equal(p->steps[i].tid, tid);
	assert_int_equal(p->steps[i].kind, kind);
	assert_int_equal(p->steps[i].from_ns, from);
	assert_int_equal(p->steps[i].to_ns, to);
}

/* 1 waits for 2, which waits for 3; the wait of 3 is ended by a softirq. */
TEST(test_chain)
{
	struct path path = { 0 };

	begin(3);
	segment(1, THREAD_RUNNING, 0, 10, 0);
	segment(1, THREAD_BLOCKED, 10, 80, 2);
	segment(1, THREAD_RUNNABLE, 80, 90, 2);
	segment(1, THREAD_RUNNING, 90, 100, 0);
	segment(2, THREAD_BLOCKED, 0, 60, 3);
	segment(2, THREAD_RUNNING, 60, 100, 0);
	segment(3, THREAD_BLOCKED, 0, 40, SOFTIRQ);
	segment(3, THREAD_RUNNING, 40, 100, 0);
	history_finish(plain.h, 100);
	assert_int_equal(path_compute(plain.h, NULL, 1, 0, 100, &path), 0);
	assert_int_equal(path.n_steps, 6);
	step(&path, 0, 1, PATH_RUNNING, 0, 10);
	step(&path, 1, 3, PATH_INTERRUPT, 10, 40);
	assert_int_equal(path.steps[1].wait_ns, 0);
	assert_int_equal(path.steps[1].depth, 2);
	step(&path, 2, 3, PATH_RUNNING, 40, 60);
	assert_int_equal(path.steps[2].via, 2);
	step(&path, 3, 2, PATH_RUNNING, 60, 80);
	assert_int_equal(path.steps[3].via, 1);
	step(&path, 4, 1, PATH_RUNNABLE, 80, 90);
	step(&path, 5, 1, PATH_RUNNING, 90, 100);
	assert_false(path.cut);
	path_deinit(&path);
	plain.h = history_free(plain.h);
}

/* Threads that wait for each other until the end. */
TEST(test_deadlock)
{
	const struct path_sources sources = { .owner = find_owner, .userdata = &plain };
	struct path path = { 0 };

	begin(2);
	segment(1, THREAD_BLOCKED, 10, 100, 0);
	segment(2, THREAD_BLOCKED, 20, 100, 0);
	plain.threads[1].lock_owner = 2;
	plain.threads[2].lock_owner = 1;
	history_finish(plain.h, 100);
	assert_int_equal(path_compute(plain.h, &sources, 1, 30, 100, &path), 0);
	assert_int_equal(path.n_steps, 1);
	step(&path, 0, 2, PATH_OPEN, 30, 100);
	path_deinit(&path);
	plain.h = history_free(plain.h);
}

/* The time that was forgotten is one step. */
TEST(test_forgotten)
{
	struct path path = { 0 };

	begin(1);
	segment(1, THREAD_RUNNING, 0, 50, 0);
	segment(1, THREAD_BLOCKED, 50, 70, SOFTIRQ);
	segment(1, THREAD_RUNNING, 70, 100, 0);
	history_finish(plain.h, 100);
	history_forget(plain.h, 50);
	assert_int_equal(path_compute(plain.h, NULL, 1, 10, 100, &path), 0);
	assert_int_equal(path.n_steps, 3);
	step(&path, 0, 1, PATH_FORGOTTEN, 10, 50);
	step(&path, 1, 1, PATH_INTERRUPT, 50, 70);
	assert_true(path.cut);
	path_deinit(&path);
	plain.h = history_free(plain.h);
}

/* A path of very many steps is coarser, and still has each nanosecond once. */
TEST(test_many_steps)
{
	enum { TURNS = 20000 };
	_cleanup_(history_freep) struct history *h = NULL;
	struct path path = { 0 };
	uint64_t at = 0;

	assert_int_equal(history_new(&h, NULL), 0);
	for (uint64_t i = 0; i < TURNS; i++) {
		struct thread_segment s = { .tid = 1,
					    .state = THREAD_RUNNING + i % 2,
					    .from_ns = i * 100,
					    .to_ns = i * 100 + 100 };

		assert_int_equal(history_add_segment(h, &s), 0);
	}
	history_finish(h, TURNS * 100);
	assert_int_equal(path_compute(h, NULL, 1, 0, TURNS * 100, &path), 0);
	assert_false(path.cut);
	assert_true(path.n_steps <= WHY_PATH_STEPS_MAX);
	/* The sums are exact all the same. */
	assert_int_equal(path.n_shares, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(path.shares[i].kind, i ? PATH_RUNNABLE : PATH_RUNNING);
		assert_int_equal(path.shares[i].ns, TURNS * 50);
	}
	for (size_t i = 0; i < path.n_steps; i++) {
		assert_int_equal(path.steps[i].from_ns, at);
		at = path.steps[i].to_ns;
	}
	assert_int_equal(at, TURNS * 100);
	assert_true(path.n_joined >= TURNS - path.n_steps);
	path_deinit(&path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),    cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_chain),     cmocka_unit_test(test_deadlock),
		cmocka_unit_test(test_forgotten), cmocka_unit_test(test_many_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
