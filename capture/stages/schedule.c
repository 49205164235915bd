/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/stages/schedule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "capture/programs/decode.h"

/*
 * The maximum number of wakeups that wait for the next record about their thread. In practice, a
 * machine has fewer such wakeups at a time.
 */
enum { ASLEEP_MAX = 4096 };

/* Each tid has two bits. */
enum { STATES_IN_WORD = 32, STATE_WORDS = TASKS_TID_MAX / STATES_IN_WORD };

enum {
	STATE_BLOCKED = 1, /* its last switch-out was into sleep */
	STATE_RUNS = 2,    /* it is the `tid` of some CPU */
	STATE_WOKEN = 3,   /* its last record was its wakeup */
	STATE_MASK = 3,
};

#define ALL_HIGH UINT64_C(0xaaaaaaaaaaaaaaaa)

#define WAKE_ON_RQ        (UINT64_C(1) << WAKE_ON_RQ_BIT)
#define SWITCH_UNREPORTED (UINT64_C(1) << SWITCH_UNREPORTED_BIT)

int schedule_init(struct schedule *s, const struct pipeline *pipe, unsigned n_cpus)
{
	*s = (struct schedule){ .pipe = pipe, .n_cpus = n_cpus, .from_ns = pipe->from_ns };
	s->cpus = calloc(n_cpus, sizeof(*s->cpus));
	s->states = calloc(STATE_WORDS, sizeof(*s->states));
	return s->cpus && s->states ? 0 : -ENOMEM;
}

static bool schedule_is_in_state(const struct schedule *s, uint32_t tid, unsigned state)
{
	unsigned shift = tid % STATES_IN_WORD * 2;

	return tid < TASKS_TID_MAX &&
	       (s->states[tid / STATES_IN_WORD] >> shift & STATE_MASK) == state;
}

static void schedule_set_state(struct schedule *s, uint32_t tid, unsigned state)
{
	unsigned shift = tid % STATES_IN_WORD * 2;
	uint64_t *word;

	if (tid >= TASKS_TID_MAX)
		return;
	word = &s->states[tid / STATES_IN_WORD];
	*word = (*word & ~((uint64_t)STATE_MASK << shift)) | (uint64_t)state << shift;
}

/*
 * After a loss, forgets the states of sleeping and woken threads, which are then unknown. The
 * states of running threads stay.
 */
static void schedule_forget_states(struct schedule *s)
{
	for (size_t i = 0; i < STATE_WORDS; i++)
		s->states[i] &= ALL_HIGH & ~(s->states[i] << 1);
}

/* Returns true if the switch in WORDS takes its thread off because it sleeps. */
static bool schedule_is_sleep(const uint64_t *words)
{
	uint64_t state = fxt_get_sched_out_state(words[0]);

	return state == FXT_STATE_BLOCKED || state == FXT_STATE_SUSPENDED;
}

void schedule_deinit(void *stage)
{
	struct schedule *s = stage;

	table_deinit_free(&s->asleep);
	free(s->cpus);
	free(s->states);
	*s = (struct schedule){ 0 };
}

static int32_t schedule_weight_of(uint64_t arg)
{
	return (int32_t)fxt_get_arg_value32(arg);
}

/* Holds a wakeup of the thread that runs on C until that thread is switched out. */
static void schedule_hold(struct schedule *s, struct schedule_cpu *c, const uint64_t *words,
			  unsigned n_words, bool certain)
{
	struct schedule_wakeup *w = &c->held;

	if (w->n_words)
		s->n_dismissed++; /* only one of two wakeups is kept */
	if (w->n_words && w->certain && !certain)
		return;
	memcpy(w->words, words, n_words * sizeof(*words));
	w->n_words = n_words;
	w->certain = certain;
}

/* Drops the wakeup that waits for a switch-out on C: this switch will not come. */
static void schedule_drop_held(struct schedule *s, struct schedule_cpu *c)
{
	s->n_dismissed += c->held.n_words != 0;
	c->held.n_words = 0;
}

/* Removes the wakeup that waits for the next record about TID. The caller frees it. */
static struct schedule_wakeup *schedule_pop_asleep(struct schedule *s, uint32_t tid)
{
	return s->asleep.n_used ? table_remove(&s->asleep, tid) : NULL;
}

static void schedule_drop_asleep(struct schedule *s, uint32_t tid)
{
	struct schedule_wakeup *w = schedule_pop_asleep(s, tid);

	s->n_dismissed += w != NULL;
	free(w);
}

/* A synthetic switch. */
struct turn {
	uint64_t ts_ns;
	enum fxt_thread_state out_state; /* state of the thread that is switched out */
	uint32_t tid;                    /* thread that is switched in; 0 = idle */
	int32_t prio;
	bool guessed; /* out_state is only a guess */
};

/*
 * Returns the event for the switch from the thread of C to the thread of TURN. KOID is the koid of
 * the thread of TURN.
 */
static struct event schedule_synthetic_event(const struct schedule_cpu *c, unsigned cpu,
					     const struct turn *turn, uint64_t koid)
{
	return (struct event){
		.kind = EVENT_SWITCH,
		.ts_ns = turn->ts_ns,
		.cpu = cpu,
		.tid = c->koid,
		.sw = {
			.next_tid = koid,
			.prev_prio = c->tid ? c->prio : FXT_IDLE_WEIGHT,
			.next_prio = turn->tid ? turn->prio : FXT_IDLE_WEIGHT,
			.out_state = turn->out_state,
			.synthetic = true,
		},
	};
}

/* The state of a thread that left its CPU without a reported switch, as a later record shows it. */
enum gone {
	GONE_AWAKE,   /* the thread is migrated, or runs on another CPU */
	GONE_ASLEEP,  /* the thread is woken */
	GONE_UNKNOWN, /* another thread runs on its CPU */
};

static int schedule_close_unreported(struct schedule *s, unsigned cpu, uint64_t ts_ns,
				     enum gone gone);

/*
 * Counts a switch on C that the kernel did not report. With a filter, the begin of C must be known:
 * the thread that was running at the start may have been selected later, or was not shown when it
 * left the filter. From its first switch on, a thread is shown until it is switched out.
 */
static void schedule_count_unreported(struct schedule *s, const struct schedule_cpu *c)
{
	if (!s->pipe->filtered || c->has_switched)
		s->n_unreported++;
}

/*
 * Returns true if TID runs on CPU. If an earlier owner of the id runs there, this does not count.
 */
static bool schedule_runs_on(const struct schedule *s, uint64_t cpu, uint32_t tid)
{
	const struct schedule_cpu *c = cpu < s->n_cpus ? &s->cpus[cpu] : NULL;

	return c && c->known && c->tid == tid && c->koid == tasks_koid(s->pipe->tasks, tid);
}

/*
 * Called when TID is switched in on CPU, or is woken there. If TID was seen running on another CPU,
 * it has left that CPU, and no switch has reported this. The CPU of a thread is searched only if
 * the thread is known to run.
 */
static int schedule_ensure_off(struct schedule *s, uint32_t tid, unsigned cpu, uint64_t ts_ns,
			       enum gone gone)
{
	int r = 0;

	if (__builtin_expect(tid == 0 || !schedule_is_in_state(s, tid, STATE_RUNS), 1))
		return 0;
	for (unsigned i = 0; r == 0 && i < s->n_cpus; i++) {
		if (i == cpu || !schedule_runs_on(s, i, tid))
			continue;
		schedule_count_unreported(s, &s->cpus[i]);
		r = schedule_close_unreported(s, i, ts_ns, gone);
	}
	return r;
}

/*
 * Called when the thread of C leaves C in STATE. If its tid has a new owner, the state of the new
 * owner does not change.
 */
static void schedule_switch_out(struct schedule *s, const struct schedule_cpu *c, unsigned state)
{
	if (c->tid && c->koid == tasks_koid(s->pipe->tasks, c->tid))
		schedule_set_state(s, c->tid, state);
}

/* Writes a switch that did not happen, or was not reported. */
static int schedule_write_synthetic(struct schedule *s, unsigned cpu, struct turn turn)
{
	struct schedule_cpu *c = &s->cpus[cpu];
	struct event ev;
	int r = pipeline_announce(s->pipe, turn.tid); /* (this may change its koid) */

	r = r ?: schedule_ensure_off(s, turn.tid, cpu, turn.ts_ns, GONE_AWAKE);
	if (r < 0)
		return r;
	ev = schedule_synthetic_event(c, cpu, &turn, tasks_koid(s->pipe->tasks, turn.tid));
	schedule_switch_out(
		s, c, turn.out_state == FXT_STATE_BLOCKED && !turn.guessed ? STATE_BLOCKED : 0);
	if (turn.tid)
		schedule_set_state(s, turn.tid, STATE_RUNS);
	c->tid = turn.tid;
	c->koid = ev.sw.next_tid;
	c->prio = turn.prio;
	if (turn.ts_ns > c->opened_ns)
		c->opened_ns = turn.ts_ns;
	schedule_drop_held(s, c);
	return fxt_archive_event(s->pipe->archive, &ev);
}

int schedule_open(struct schedule *s, unsigned cpu, uint32_t tid, int32_t prio)
{
	s->cpus[cpu] = (struct schedule_cpu){ .known = true };
	return schedule_write_synthetic(s, cpu,
					(struct turn){ s->from_ns, FXT_STATE_RUNNING, tid, prio });
}

int schedule_write(const struct schedule *s, struct fxt_archive *to, unsigned cpu, uint64_t ts_ns,
		   bool begins)
{
	static const struct schedule_cpu idle;
	const struct schedule_cpu *c = &s->cpus[cpu];
	const struct turn turn = {
		ts_ns,
		FXT_STATE_RUNNING,
		begins ? c->tid : 0,
		begins ? c->prio : 0,
	};
	const struct event ev =
		schedule_synthetic_event(begins ? &idle : c, cpu, &turn, begins ? c->koid : 0);

	return c->known ? fxt_archive_event(to, &ev) : 0;
}

void schedule_split(struct schedule *s, uint64_t ts_ns)
{
	if (s->start_ns == 0)
		s->start_ns = s->from_ns;
	s->from_ns = ts_ns;
}

void schedule_opened(struct schedule *s, unsigned cpu, uint64_t opened_ns)
{
	s->cpus[cpu].opened_ns = opened_ns;
}

/*
 * Returns true if *TS_NS is outside of the recording. If a record of an earlier chunk leaves its
 * ring late, its time is moved to the start of the current chunk, because the record changes the
 * state of that chunk.
 */
static bool schedule_is_outside(const struct schedule *s, uint64_t *ts_ns)
{
	if (*ts_ns > s->pipe->to_ns)
		return true;
	if (*ts_ns > s->from_ns)
		return false;
	if (s->start_ns == 0 || *ts_ns <= s->start_ns)
		return true;
	*ts_ns = s->from_ns;
	return false;
}

/* Announces the waker KOID: a task, or the pseudo-thread for the interrupts of a CPU. */
static int schedule_ensure_waker_announced(struct schedule *s, uint32_t koid)
{
	if (koid - FXT_KOID_IRQ - 1 < s->n_cpus)
		return fxt_archive_track(s->pipe->archive, FXT_TRACK_IRQ, koid - FXT_KOID_IRQ - 1);
	if (koid - FXT_KOID_SOFTIRQ - 1 < s->n_cpus)
		return fxt_archive_track(s->pipe->archive, FXT_TRACK_SOFTIRQ,
					 koid - FXT_KOID_SOFTIRQ - 1);
	return pipeline_announce(s->pipe, koid);
}

/* Announces the threads of a wakeup, replaces their tids by koids, and writes the wakeup. */
static int schedule_write_wakeup(struct schedule *s, uint64_t *words, unsigned n_words)
{
	int r = pipeline_announce(s->pipe, (uint32_t)words[WAKEUP_TID]);

	if (!schedule_is_in_state(s, (uint32_t)words[WAKEUP_TID], STATE_RUNS))
		schedule_set_state(s, (uint32_t)words[WAKEUP_TID], STATE_WOKEN);
	if (r == 0 && n_words > WAKEUP_WAKER)
		r = schedule_ensure_waker_announced(s, (uint32_t)words[WAKEUP_WAKER]);
	if (r == 0 && n_words > WAKEUP_INTERRUPTED)
		r = pipeline_announce(s->pipe, (uint32_t)words[WAKEUP_INTERRUPTED]);
	if (r < 0)
		return r;
	words[WAKEUP_TID] = tasks_koid(s->pipe->tasks, (uint32_t)words[WAKEUP_TID]);
	if (n_words > WAKEUP_WAKER)
		words[WAKEUP_WAKER] = tasks_koid(s->pipe->tasks, (uint32_t)words[WAKEUP_WAKER]);
	if (n_words > WAKEUP_INTERRUPTED)
		words[WAKEUP_INTERRUPTED] =
			tasks_koid(s->pipe->tasks, (uint32_t)words[WAKEUP_INTERRUPTED]);
	s->n_events++;
	return fxt_archive_words(s->pipe->archive, words, n_words);
}

/*
 * Holds W, a wakeup of TID, until the next record about TID. W found TID on its run queue, and TID
 * blocked directly afterwards. So only the next record shows whether W has ended that sleep.
 */
static int schedule_put_asleep(struct schedule *s, uint32_t tid, const struct schedule_wakeup *w)
{
	schedule_drop_asleep(s, tid);
	if (s->asleep.n_used >= ASLEEP_MAX) {
		s->n_dismissed++;
		return 0;
	}
	return table_copy(&s->asleep, tid, w, sizeof(*w)) ? 0 : -ENOMEM;
}

/*
 * Writes, holds or drops HELD, the wakeup of the thread that the switch in WORDS takes off its CPU.
 */
static int schedule_settle_held(struct schedule *s, struct schedule_wakeup *held, uint32_t tid,
				const uint64_t *words)
{
	struct schedule_wakeup w = *held;

	held->n_words = 0;
	if (!schedule_is_sleep(words)) {
		s->n_dismissed++;
		return 0;
	}
	w.words[WORD_TS] = words[WORD_TS];
	if (w.certain)
		return schedule_write_wakeup(s, w.words, w.n_words);
	return schedule_put_asleep(s, tid, &w);
}

/*
 * Called when TID is switched in. A wakeup that waits for this record, without another wakeup
 * since, was real.
 */
static int schedule_settle_asleep(struct schedule *s, uint32_t tid)
{
	_cleanup_free_ struct schedule_wakeup *w = schedule_pop_asleep(s, tid);

	return w ? schedule_write_wakeup(s, w->words, w->n_words) : 0;
}

int schedule_renumber(struct schedule *s, unsigned cpu, uint64_t ts_ns, uint32_t old_tid,
		      uint32_t tid)
{
	struct schedule_cpu *c = &s->cpus[cpu];

	if (!c->known || c->tid != old_tid || schedule_is_outside(s, &ts_ns))
		return 0;
	return schedule_write_synthetic(s, cpu,
					(struct turn){ ts_ns, FXT_STATE_DEAD, tid, c->prio });
}

/* With a filter, the CPU may show "other", which includes idle. Then nothing changes. */
int schedule_cpu_gone(struct schedule *s, uint32_t cpu, uint64_t ts_ns)
{
	if (cpu >= s->n_cpus || !s->cpus[cpu].known || s->cpus[cpu].tid == 0 || s->pipe->filtered ||
	    schedule_is_outside(s, &ts_ns))
		return 0;
	return schedule_write_synthetic(s, cpu, (struct turn){ ts_ns, FXT_STATE_BLOCKED, 0, 0 });
}

/*
 * Called if the thread on CPU cannot have run until TS_NS: the kernel did not report its switch-out
 * (some kernels skip the tracepoint now and then; kymo has lost no record). If a wakeup waits for
 * that switch, the thread was asleep. If the state of the thread is unknown, it is assumed to
 * sleep, since most threads that leave a CPU sleep: otherwise, a sleeping thread would be shown as
 * waiting for a CPU until its wakeup. (If the thread was preempted, the error is short, since it
 * soon runs again.)
 */
static int schedule_close_unreported(struct schedule *s, unsigned cpu, uint64_t ts_ns,
				     enum gone gone)
{
	struct schedule_cpu *c = &s->cpus[cpu];
	struct schedule_wakeup held = c->held;
	struct turn turn = { .ts_ns = ts_ns, .guessed = gone == GONE_UNKNOWN };
	int r;

	/* "other" stands for many threads. Some of them still run, so it does not sleep. */
	turn.out_state = gone == GONE_AWAKE || fxt_koid_is_other(c->koid) ? FXT_STATE_RUNNING
									  : FXT_STATE_BLOCKED;
	if (held.n_words && held.certain) {
		c->held.n_words = 0;
		if (held.words[WORD_TS] < c->opened_ns)
			held.words[WORD_TS] = c->opened_ns;
		turn.ts_ns = held.words[WORD_TS];
		turn.out_state = FXT_STATE_BLOCKED;
		turn.guessed = false;
	}
	r = schedule_write_synthetic(s, cpu, turn);
	if (r == 0 && held.n_words && held.certain)
		r = schedule_write_wakeup(s, held.words, held.n_words);
	return r;
}

/* Called when TID was switched in on CPU by TS_NS, without a report. */
static int schedule_open_unreported(struct schedule *s, unsigned cpu, uint64_t ts_ns, uint32_t tid,
				    int32_t prio)
{
	struct schedule_cpu *c = &s->cpus[cpu];
	int r = 0;

	if (!c->known)
		*c = (struct schedule_cpu){ .known = true };
	else if (c->tid != 0)
		r = schedule_close_unreported(s, cpu, ts_ns, GONE_UNKNOWN);
	if (r < 0 || tid == 0)
		return r;
	return schedule_write_synthetic(s, cpu,
					(struct turn){ ts_ns, FXT_STATE_RUNNING, tid, prio });
}

/*
 * Called if the thread that the switch in WORDS takes off its CPU is not the thread that was seen
 * running there. The reason can be: the CPU has come online, a filter has started or stopped to
 * select a running thread, or a switch was not reported.
 */
static int schedule_repair(struct schedule *s, unsigned cpu, const uint64_t *words)
{
	struct schedule_cpu *c = &s->cpus[cpu];
	const struct task *task = tasks_get(s->pipe->tasks, c->tid);

	/* The main thread of the process has ended, and this thread has its id: it has called
	 * exec, and gone to sleep before the exec was reported. */
	if (c->known && task && task->pid == words[SWITCH_OUT] && task->pid != FXT_KOID_KTHREADD &&
	    !tasks_get(s->pipe->tasks, task->pid))
		return schedule_renumber(s, cpu, words[WORD_TS], c->tid, task->pid);
	/* Only the program knows which of the last two reasons it is (with --own, too). */
	if (c->known && (!s->pipe->reselects || words[0] & SWITCH_UNREPORTED))
		schedule_count_unreported(s, c);
	return schedule_open_unreported(s, cpu, words[WORD_TS], (uint32_t)words[SWITCH_OUT],
					schedule_weight_of(words[SWITCH_OUT_WEIGHT]));
}

static int schedule_on_switch(struct schedule *s, unsigned cpu, uint64_t *words, unsigned n_words)
{
	struct schedule_cpu *c = &s->cpus[cpu];
	uint32_t out = (uint32_t)words[SWITCH_OUT], in = (uint32_t)words[SWITCH_IN];
	int r = schedule_settle_asleep(s, in) ?: pipeline_announce(s->pipe, out)
			?: pipeline_announce(s->pipe, in);

	if (r < 0)
		return r;
	if (__builtin_expect(!c->known || c->tid != out, 0)) {
		r = schedule_repair(s, cpu, words);
		if (r < 0)
			return r;
	}
	/* Such a switch only reveals that a shown thread is gone. "other" stays on the CPU. */
	if (__builtin_expect(fxt_koid_is_other(out) && fxt_koid_is_other(in), 0))
		return 0;
	r = schedule_ensure_off(s, in, cpu, words[WORD_TS], GONE_AWAKE);
	if (r < 0)
		return r;
	schedule_switch_out(s, c, schedule_is_sleep(words) ? STATE_BLOCKED : 0);
	if (in)
		schedule_set_state(s, in, STATE_RUNS);
	/*
	 * A tid can get its next owner before the previous owner leaves its CPU for the last time.
	 */
	words[SWITCH_OUT] = c->koid;
	if (s->pipe->tasks->owner)
		words[SWITCH_IN] = tasks_koid(s->pipe->tasks, in);
	words[0] &= ~SWITCH_UNREPORTED;
	s->n_events++;
	c->has_switched = true;
	c->tid = in;
	c->koid = words[SWITCH_IN];
	r = fxt_archive_words(s->pipe->archive, words, n_words);
	c->prio = schedule_weight_of(words[SWITCH_IN_WEIGHT]);
	if (r == 0 && __builtin_expect(c->held.n_words != 0, 0))
		r = schedule_settle_held(s, &c->held, out, words);
	return r;
}

/*
 * Called when a woken thread is woken again, on the CPU where it slept. So the thread has run there
 * meanwhile, and has left this CPU or is leaving it. During a loss, this is not certain. With a
 * filter that can begin or cease to select a thread, the thread may have run while it was not
 * selected.
 */
static int schedule_wake_again(struct schedule *s, unsigned cpu, const uint64_t *words,
			       unsigned n_words)
{
	int r;

	if (!s->pipe->reselects)
		schedule_count_unreported(s, &s->cpus[cpu]);
	r = schedule_open_unreported(s, cpu, words[WORD_TS], (uint32_t)words[WAKEUP_TID],
				     schedule_weight_of(words[WAKEUP_WEIGHT]));
	if (r == 0)
		schedule_hold(s, &s->cpus[cpu], words, n_words, true);
	return r;
}

static int schedule_on_wakeup(struct schedule *s, uint64_t *words, unsigned n_words)
{
	uint32_t tid = (uint32_t)words[WAKEUP_TID];
	uint64_t cpu = fxt_get_sched_cpu(words[0]);
	bool on_rq = words[0] & WAKE_ON_RQ;
	int r;

	words[0] &= ~WAKE_ON_RQ;
	if (schedule_runs_on(s, cpu, tid)) {
		schedule_hold(s, &s->cpus[cpu], words, n_words, !on_rq);
		return 0;
	}
	/* The order of records is more reliable than the check of the run queue. When a delayed
	 * dequeue is completed, a sleeping thread is on the queue for a moment, but not delayed
	 * any more. */
	if (schedule_is_in_state(s, tid, STATE_BLOCKED))
		on_rq = false;
	if (on_rq) {
		s->n_dismissed++;
		return 0;
	}
	schedule_drop_asleep(s, tid);
	if (schedule_is_in_state(s, tid, STATE_WOKEN) && cpu < s->n_cpus && s->cpus[cpu].known &&
	    !s->cpus[cpu].in_loss)
		return schedule_wake_again(s, (unsigned)cpu, words, n_words);
	/* The thread sleeps on the CPU where it ran last, so it does not run anywhere. */
	r = schedule_ensure_off(s, tid, (unsigned)cpu, words[WORD_TS], GONE_ASLEEP);
	return r < 0 ? r : schedule_write_wakeup(s, words, n_words);
}

static int schedule_on_migrate(struct schedule *s, uint64_t *words, unsigned n_words)
{
	uint32_t tid = (uint32_t)words[MIGRATE_TID];
	uint64_t from = fxt_get_arg_value32(words[MIGRATE_FROM_CPU]);
	int r = pipeline_announce_thread(s->pipe, tid, (uint32_t)words[MIGRATE_PID]);

	/* Only threads that are not running are migrated. */
	if (r == 0 && schedule_runs_on(s, from, tid)) {
		schedule_count_unreported(s, &s->cpus[from]);
		r = schedule_close_unreported(s, (unsigned)from, words[WORD_TS], GONE_AWAKE);
	}
	if (r < 0)
		return r;
	words[MIGRATE_PID] = tasks_koid(s->pipe->tasks, (uint32_t)words[MIGRATE_PID]);
	words[MIGRATE_TID] = tasks_koid(s->pipe->tasks, (uint32_t)words[MIGRATE_TID]);
	s->n_events++;
	return fxt_archive_words(s->pipe->archive, words, n_words);
}

int schedule_record(struct schedule *s, unsigned cpu, uint64_t *words, unsigned n_words)
{
	if (schedule_is_outside(s, &words[WORD_TS]))
		return 0;
	if (decode_is_sched(words, FXT_SCHED_SWITCH))
		return schedule_on_switch(s, cpu, words, n_words);
	if (decode_is_sched(words, FXT_SCHED_WAKEUP))
		return schedule_on_wakeup(s, words, n_words);
	return schedule_on_migrate(s, words, n_words);
}

int schedule_loss_begins(struct schedule *s, unsigned cpu, const struct ring_lost *mark)
{
	struct schedule_cpu *c = &s->cpus[cpu];
	struct event ev = {
		.kind = EVENT_LOST,
		.ts_ns = mark->first_ns,
		.cpu = cpu,
		.lost = {
			.class_name = event_class_names[CLASS_SCHED],
			.count = mark->count,
			.first_ns = mark->first_ns,
			.last_ns = mark->last_ns,
		},
	};
	uint64_t begin_ns = s->start_ns ? s->start_ns : s->from_ns;
	struct turn turn = { .out_state = FXT_STATE_RUNNING };
	struct schedule_wakeup held;
	int r;

	if (mark->last_ns <= begin_ns || mark->first_ns > s->pipe->to_ns)
		return 0;
	if (ev.ts_ns <= begin_ns)
		ev.ts_ns = begin_ns;
	if (ev.ts_ns < c->opened_ns)
		ev.ts_ns = c->opened_ns;
	s->lost += mark->count;
	c->in_loss = true;
	schedule_forget_states(s);
	r = fxt_archive_event(s->pipe->archive, &ev);
	if (r < 0 || !c->known || c->tid == 0)
		return r;
	/* A wakeup that waits for a lost switch-out was real, if it is certain. Other wakeups are
	 * dropped. */
	held = c->held;
	turn.ts_ns = ev.ts_ns;
	if (held.n_words && held.certain) {
		c->held.n_words = 0;
		turn.out_state = FXT_STATE_BLOCKED;
	}
	r = schedule_write_synthetic(s, cpu, turn);
	if (r == 0 && held.n_words && held.certain) {
		held.words[WORD_TS] = ev.ts_ns;
		r = schedule_write_wakeup(s, held.words, held.n_words);
	}
	return r;
}

int schedule_loss_ends(struct schedule *s, unsigned cpu, const struct ring_lost *mark)
{
	uint64_t ts_ns = mark->last_ns;

	s->cpus[cpu].in_loss = false;
	if (schedule_is_outside(s, &ts_ns) || mark->tid == 0)
		return 0;
	s->cpus[cpu].known = true;
	return schedule_write_synthetic(
		s, cpu, (struct turn){ ts_ns, FXT_STATE_RUNNING, mark->tid, mark->prio });
}

int schedule_close(void *stage)
{
	struct schedule *s = stage;
	int r = 0;

	s->n_dismissed += s->asleep.n_used;
	for (unsigned cpu = 0; r == 0 && cpu < s->n_cpus; cpu++)
		if (s->cpus[cpu].known)
			r = schedule_write_synthetic(
				s, cpu, (struct turn){ s->pipe->to_ns, FXT_STATE_RUNNING, 0, 0 });
	return r;
}

/* ---- the stage ---- */

static int schedule_begin(void *stage, const struct session_options *o)
{
	struct schedule *s = stage;

	(void)o;
	return schedule_init(s, s->pipe, s->pipe->n_cpus);
}

static int schedule_on_record(void *stage, const struct rec_head *rec)
{
	const struct rec_exec *exec = (const struct rec_exec *)rec;
	struct schedule *s = stage;

	if (rec->kind == REC_CPU_GONE)
		return schedule_cpu_gone(s, ((const struct rec_cpu_gone *)rec)->gone_cpu,
					 rec->ts_ns);
	if (exec->old_tid == rec->tid)
		return 0;
	return schedule_renumber(s, rec->cpu, rec->ts_ns, exec->old_tid, rec->tid);
}

static int schedule_on_loss_begin(void *stage, const struct stage_loss *loss)
{
	return loss->class == CLASS_SCHED ? schedule_loss_begins(stage, loss->cpu, loss->mark) : 0;
}

static int schedule_on_loss_end(void *stage, const struct stage_loss *loss)
{
	return loss->class == CLASS_SCHED ? schedule_loss_ends(stage, loss->cpu, loss->mark) : 0;
}

/* Begins a pause: all threads are unknown until schedule_open(). */
static int schedule_pause(void *stage)
{
	struct schedule *s = stage;
	int r = schedule_close(s);

	table_deinit_free(&s->asleep);
	s->asleep = (struct table){ 0 };
	memset(s->states, 0, STATE_WORDS * sizeof(*s->states));
	for (unsigned cpu = 0; cpu < s->n_cpus; cpu++)
		s->cpus[cpu] = (struct schedule_cpu){ .opened_ns = s->pipe->to_ns };
	return r;
}

static int schedule_resume(void *stage)
{
	struct schedule *s = stage;

	s->from_ns = s->pipe->from_ns;
	s->start_ns = 0;
	return 0;
}

const struct stage schedule_stage = {
	.name = "schedule",
	.handles = STAGE_HANDLES(REC_EXEC) | STAGE_HANDLES(REC_CPU_GONE),
	.record = schedule_on_record,
	.loss_begins = schedule_on_loss_begin,
	.loss_ends = schedule_on_loss_end,
	.begin = schedule_begin,
	.pause = schedule_pause,
	.resume = schedule_resume,
	.end = schedule_close,
	.deinit = schedule_deinit,
};
