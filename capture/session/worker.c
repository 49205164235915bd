/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/session/worker.h"

#include <errno.h>
#include <pthread.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "capture/proc/cgroup-asks.h"
#include "capture/proc/counters.h"
#include "capture/heap/listed.h"
#include "capture/proc/mappings.h"
#include "capture/proc/proc.h"
#include "capture/sandbox/thread.h"
#include "capture/sandbox/user-counts.h"
#include "capture/heap/watching.h"

enum {
	LOOKUPS_MAX = 1024,
	LOOKS_MAX = 256,
	SEARCHES_MAX = 64,
	MEMORY_BYTES_MAX = 8 << 20, /* read and not taken yet */
	BATCH = 64,                 /* processes between two deliveries */
};

/* How often to look for CPUs that have come or gone. */
#define CPUS_NS UINT64_C(500000000)

/* How often to say which of a user's own processes are so still: their mappings wait for it. */
#define PROOF_NS UINT64_C(500000000)

struct worker {
	struct session_options options; /* a copy: the owner may be gone before we are */
	int event_fd;
	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t taken; /* there is room again for what is read */
	int order_fd;         /* an eventfd: there are orders */
	bool want_start, want_detach, want_unload, want_snapshot, abandoned;
	uint32_t want_away; /* bits 1 << SHED_* */
	bool has_clock;     /* the thread runs, and its CPU time is that of this clock: */
	clockid_t clock;
	uint64_t helper_cpu_ns; /* of processes that help; atomic */
	uint64_t n_snapshots;   /* begun */
	uint32_t lookups[LOOKUPS_MAX];
	unsigned n_lookups;
	uint32_t looks[LOOKS_MAX];
	unsigned n_looks;
	bool look_all;                   /* there were too many */
	uint32_t searches[SEARCHES_MAX]; /* processes that wait for one */
	unsigned n_searches;
	struct cgroup_asks cgroups;
	struct outbuf memory; /* struct rec_*, to be taken */
	unsigned n_holders;   /* 2: owner and thread */
	bool busy;            /* the thread is at work, and may hang */
	bool counted;         /* in: */
	struct left_behind *left_behind;
	struct worker_news news;

	/* the thread's own */
	struct collector *collector;
	struct watching *watching; /* NULL = no process is watched, or no more */
	bool failed;               /* to watch: said already */
	struct counters *counters; /* NULL = none are to be sampled, or no more */
	uint64_t next_sample_ns;   /* CLOCK_MONOTONIC */
	uint64_t next_cpus_ns;     /* likewise, for a look at which CPUs there are; 0 = none */
	uint64_t next_proof_ns;    /* likewise, for who is selected still; 0 = none */
	bool paused;               /* nothing is recorded, not even counters */
};

void worker_news_deinit(struct worker_news *news)
{
	free(news->error_text);
	outbuf_deinit(&news->tasks);
	outbuf_deinit(&news->looked_up);
	outbuf_deinit(&news->commands);
	outbuf_deinit(&news->cgroups);
	outbuf_deinit(&news->samples);
	outbuf_deinit(&news->mappings);
}

static void release(struct worker *w)
{
	bool last;

	pthread_mutex_lock(&w->lock);
	last = --w->n_holders == 0;
	pthread_mutex_unlock(&w->lock);
	if (!last)
		return;
	if (w->counted)
		left_behind_returns(w->left_behind);
	left_behind_unref(w->left_behind);
	worker_news_deinit(&w->news);
	outbuf_deinit(&w->memory);
	cgroup_asks_deinit(&w->cgroups);
	session_options_deinit(&w->options);
	close_fd(w->event_fd);
	close_fd(w->order_fd);
	pthread_cond_destroy(&w->taken);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

static uint64_t helper_cpu_ns(struct worker *w)
{
	return __atomic_load_n(&w->helper_cpu_ns, __ATOMIC_RELAXED);
}

/* Tells the owner that there is news. The lock is held. */
static void tell(struct worker *w)
{
	w->news.cpu_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) + helper_cpu_ns(w);
	thread_signal(w->event_fd);
}

/* ---- what the thread does ---- */

static int keep_sample(const struct rec_sample *rec, void *userdata)
{
	return outbuf_append(userdata, rec, sizeof(*rec));
}

/* Samples the counters if it is time to. When a sample came late, the next ones are on time again. */
static void sample_if_due(struct worker *w)
{
	uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC),
		 interval_ns = w->options.counter_interval_ns;
	struct outbuf samples = { 0 };

	if (!w->counters || w->paused || now_ns < w->next_sample_ns)
		return;
	counters_sample(w->counters, clock_boot_ns(), keep_sample, &samples);
	pthread_mutex_lock(&w->lock);
	outbuf_append(&w->news.samples, samples.data, samples.size);
	tell(w);
	pthread_mutex_unlock(&w->lock);
	outbuf_deinit(&samples);
	w->next_sample_ns += interval_ns * ((now_ns - w->next_sample_ns) / interval_ns + 1);
}

/* What was read of the tables goes to the owner; while he does not take it, we wait. */
static int hand_on(const struct rec_head *rec, void *userdata)
{
	struct worker *w = userdata;
	int r;

	pthread_mutex_lock(&w->lock);
	while (w->memory.size >= MEMORY_BYTES_MAX && !w->abandoned && !w->want_unload)
		pthread_cond_wait(&w->taken, &w->lock);
	r = w->abandoned || w->want_unload ? -ECANCELED : outbuf_append(&w->memory, rec, rec->size);
	if (w->memory.size == rec->size || w->memory.size >= MEMORY_BYTES_MAX)
		tell(w);
	pthread_mutex_unlock(&w->lock);
	return r;
}

/* Whether the end waits for the thread. */
static bool called_off(void *userdata)
{
	struct worker *w = userdata;
	bool off;

	pthread_mutex_lock(&w->lock);
	off = w->want_detach || w->want_unload || w->abandoned;
	pthread_mutex_unlock(&w->lock);
	return off;
}

/* ---- own processes ---- */

/* Of one that is listed: its owner may do as he likes with it. */
static int prove(const struct rec_head *rec, void *userdata)
{
	const struct rec_task *task = (const struct rec_task *)rec;

	return task->task.flags & IDENTITY_SELECTED && task->task.tid == task->task.pid
		       ? hand_on(rec, userdata)
		       : 0;
}

static void prove_all(struct worker *w)
{
	if (w->options.own && w->collector)
		collector_list_tasks(w->collector, prove, w);
}

static void prove_if_due(struct worker *w)
{
	uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);

	if (!w->next_proof_ns || now_ns < w->next_proof_ns)
		return;
	prove_all(w);
	w->next_proof_ns = now_ns + PROOF_NS;
}

/*
 * What was read in /proc of the tasks listed BEFORE is theirs if they run the same program still. Lists once more
 * into *RET, which is for is_same().
 */
static void list_again(struct worker *w, struct outbuf *ret)
{
	if (w->options.own)
		listed_read(w->collector, ret);
}

static bool is_same(const struct worker *w, const struct outbuf *before, const struct outbuf *after,
		    uint32_t tid)
{
	return !w->options.own || listed_same(listed_find(before, tid), listed_find(after, tid));
}

/* What failed with the processes that are watched. */
static void tell_failed(struct worker *w, int error, const char *what)
{
	pthread_mutex_lock(&w->lock);
	if (w->news.error == 0) {
		w->news.error = error;
		if (asprintf(&w->news.error_text, "%s: %s", what, strerror(-error)) < 0)
			w->news.error_text = NULL;
	}
	tell(w);
	pthread_mutex_unlock(&w->lock);
}

static void start_watching(struct worker *w, const struct outbuf *tasks)
{
	const struct memory_sink sink = { hand_on, called_off, w, &w->helper_cpu_ns };
	int r = watching_new(&w->options, w->collector, &sink, tasks, &w->watching);

	w->failed = r < 0;
	if (w->failed)
		tell_failed(w, r, "cannot watch processes");
}

static void watch_if_due(struct worker *w)
{
	if (!w->watching)
		return;
	watching_attend(w->watching);
	if (clock_read_ns(CLOCK_MONOTONIC) < memory_next_ns(watching_memory(w->watching)))
		return;
	/* What stacks need, before them. */
	prove_all(w);
	memory_tick(watching_memory(w->watching));
}

/* What is due by the clock, and what cannot wait: between the steps of what takes long. */
static void attend(struct worker *w)
{
	sample_if_due(w);
	prove_if_due(w);
	watch_if_due(w);
}

/* Each CPU leaves the idle state that it is in: one whose begin was not seen would not be shown. */
static void rouse_cpus(unsigned n_cpus)
{
	size_t size = CPU_ALLOC_SIZE(n_cpus);
	cpu_set_t *one = CPU_ALLOC(n_cpus), *before = CPU_ALLOC(n_cpus);

	if (one && before && sched_getaffinity(0, size, before) == 0) {
		for (unsigned cpu = 0; cpu < n_cpus; cpu++) {
			CPU_ZERO_S(size, one);
			CPU_SET_S(cpu, size, one);
			sched_setaffinity(0, size, one); /* where it is not allowed: never mind */
		}
		sched_setaffinity(0, size, before);
	}
	CPU_FREE(one);
	CPU_FREE(before);
}

/* Finds paths that were asked for. */
static void find_cgroups(struct worker *w)
{
	struct cgroup_ask batch[CGROUP_ASKS_AT_ONCE];
	struct outbuf found = { 0 };
	unsigned n;

	pthread_mutex_lock(&w->lock);
	n = cgroup_asks_take(&w->cgroups, batch);
	pthread_mutex_unlock(&w->lock);
	cgroup_asks_answer(&w->cgroups, batch, n, &found);
	pthread_mutex_lock(&w->lock);
	outbuf_append(&w->news.cgroups, found.data, found.size);
	w->news.cgroups_asked |= n > 0;
	if (n > 0 || found.size > 0)
		tell(w);
	pthread_mutex_unlock(&w->lock);
	outbuf_deinit(&found);
}

/* For the archive, or for triggers. */
static bool samples_counters(const struct session_options *o)
{
	const uint64_t *pressure = o->triggers.pressure_ppm;

	return o->categories & CATEGORY_COUNTERS || pressure[0] || pressure[1] || pressure[2];
}

/* When it began, and what there was then. */
struct beginning {
	uint64_t attach_ns, start_ns, listed_ns;
	struct outbuf tasks, cgroups;
};

static void beginning_deinit(struct beginning *b)
{
	outbuf_deinit(&b->tasks);
	outbuf_deinit(&b->cgroups);
}

/* The programs of C run: takes the time, and lists what there is, into LIST, too. */
static int begin(struct worker *w, struct collector *c, struct beginning *b, struct outbuf *list,
		 char **reterr_text)
{
	int r;

	if (w->options.categories & CATEGORY_POWER)
		rouse_cpus(collector_n_cpus(c));
	b->start_ns = clock_boot_ns();
	r = listed_read(c, &b->tasks);
	if (r < 0)
		*reterr_text = strdup("cannot list the tasks that run");
	b->listed_ns = clock_boot_ns();
	outbuf_append(list, b->tasks.data, b->tasks.size);
	cgroup_asks_begin(&w->cgroups, &b->tasks, w->options.own, &b->cgroups);
	return r;
}

/* The owner gets B. The lock is held. */
static void tell_beginning(struct worker *w, struct beginning *b)
{
	w->news.attach_ns = b->attach_ns;
	w->news.start_ns = b->start_ns;
	w->news.listed_ns = b->listed_ns;
	/* (of a beginning that nobody has taken in yet there is none before) */
	outbuf_deinit(&w->news.tasks);
	w->news.tasks = b->tasks;
	b->tasks = (struct outbuf){ 0 };
	outbuf_append(&w->news.cgroups, b->cgroups.data, b->cgroups.size);
}

/* Starts, and leaves a copy of the list of tasks in LIST: the owner takes the other one. */
static void start(struct worker *w, struct outbuf *list)
{
	_cleanup_(collector_freep) struct collector *c = NULL;
	_cleanup_(beginning_deinit) struct beginning b = { 0 };
	char *text = NULL;
	int r;

	r = collector_new(&w->options, &c, &text);
	b.attach_ns = clock_boot_ns();
	if (r == 0)
		r = collector_attach(c, &text);
	if (r == 0 && samples_counters(&w->options)) {
		r = counters_new("", collector_n_cpus(c), &w->counters);
		w->next_sample_ns = clock_read_ns(CLOCK_MONOTONIC);
	}
	if (r == 0)
		r = begin(w, c, &b, list, &text);
	pthread_mutex_lock(&w->lock);
	w->news.error = r;
	w->news.error_text = text;
	if (r == 0) {
		tell_beginning(w, &b);
		w->news.started = true;
		w->news.collector = w->collector = TAKE_PTR(c);
	}
	tell(w);
	pthread_mutex_unlock(&w->lock);
}

/* What was read in /proc of tasks that were listed, to be delivered. */
struct reading {
	const struct outbuf *tasks; /* struct rec_task, as listed before */
	struct outbuf batch;        /* what was read, one behind the other */
	struct outbuf *to;          /* of the news */
	/* Whose AT is, and its bytes. */
	size_t (*next)(const void *at, uint32_t *ret_tid);
	size_t n; /* tasks that were read */
};

/* Delivers what was read of those that run the same program still. */
static void deliver(struct worker *w, struct reading *r)
{
	_cleanup_(outbuf_deinit) struct outbuf after = { 0 };
	uint32_t tid;
	size_t bytes;

	list_again(w, &after);
	pthread_mutex_lock(&w->lock);
	for (size_t at = 0; at < r->batch.size; at += bytes) {
		bytes = r->next(r->batch.data + at, &tid);
		if (is_same(w, r->tasks, &after, tid))
			outbuf_append(r->to, r->batch.data + at, bytes);
	}
	tell(w);
	pthread_mutex_unlock(&w->lock);
	outbuf_reset(&r->batch);
}

/* One more task was read. */
static void deliver_some(struct worker *w, struct reading *r)
{
	if (++r->n % BATCH == 0)
		deliver(w, r);
	attend(w);
}

static size_t next_command(const void *at, uint32_t *ret_tid)
{
	const struct proc_command *head = at;

	*ret_tid = head->tid;
	return sizeof(*head) + proc_padded(head->size);
}

/* Command lines of the processes that were listed. */
static void read_commands(struct worker *w, const struct outbuf *tasks)
{
	struct reading r = { .tasks = tasks, .to = &w->news.commands, .next = next_command };
	const struct rec_task *list = (const struct rec_task *)tasks->data;
	char text[REC_ARGS_BYTES];

	for (size_t i = 0; i < tasks->size / sizeof(*list) && !called_off(w); i++) {
		const struct rec_identity *id = &list[i].task;
		struct proc_command head = { .start_ns = id->start_ns, .tid = id->tid };
		char *p;

		if (id->tid != id->pid || id->flags & IDENTITY_KTHREAD)
			continue;
		head.size = (uint32_t)proc_command(id->tid, text, sizeof(text));
		if (head.size == 0)
			continue;
		p = outbuf_reserve(&r.batch, sizeof(head) + proc_padded(head.size));
		if (!p)
			break;
		memcpy(p, &head, sizeof(head));
		memcpy(p + sizeof(head), text, head.size);
		deliver_some(w, &r);
	}
	deliver(w, &r);
	outbuf_deinit(&r.batch);
}

/* In the kernel: what /proc says may be of somebody else by now. */
static bool identify_own(struct worker *w, uint32_t tid, struct rec_task *ret)
{
	return w->collector && listed_now(w->collector, tid, ret);
}

static void look_up(struct worker *w, uint32_t tid)
{
	struct rec_task rec = {
		.head = { .size = sizeof(rec), .kind = REC_TASK, .tid = tid },
	};

	if (w->options.own ? !identify_own(w, tid, &rec) : proc_identity(tid, &rec.task) < 0)
		rec.task = (struct rec_identity){
			.pid = tid,
			.tid = tid,
			.uid = EVENT_UID_UNKNOWN,
			.comm = "?",
		};
	pthread_mutex_lock(&w->lock);
	outbuf_append(&w->news.looked_up, &rec, sizeof(rec));
	tell(w);
	pthread_mutex_unlock(&w->lock);
}

static int keep_mapping(const struct rec_mapping *rec, void *userdata)
{
	return outbuf_append(userdata, rec, rec->head.size);
}

static size_t next_mapping(const void *at, uint32_t *ret_tid)
{
	const struct rec_head *head = at;

	*ret_tid = head->pid;
	return head->size;
}

/* Whether a process is to be asked for its mappings: ID is one of those that were listed. */
static bool has_mappings(const struct worker *w, const struct rec_identity *id)
{
	const struct capture_filter *f = &w->options.filter;
	bool by_pid_only = f->n_pids && !f->n_uids && !f->n_comms && !f->n_cgroups;

	if (id->tid != id->pid || id->flags & IDENTITY_KTHREAD)
		return false;
	/* Names, users and cgroups change: then others are selected later. */
	return !by_pid_only || id->flags & IDENTITY_SELECTED;
}

/* What is mapped by now, in those that were listed. */
static void read_mappings(struct worker *w, const struct outbuf *tasks)
{
	struct reading r = { .tasks = tasks, .to = &w->news.mappings, .next = next_mapping };
	const struct rec_task *list = (const struct rec_task *)tasks->data;

	if (!w->options.own)
		mappings_of_kernel("", keep_mapping, &r.batch);
	for (size_t i = 0; i < tasks->size / sizeof(*list) && !called_off(w); i++) {
		if (!has_mappings(w, &list[i].task))
			continue;
		mappings_of_process("", list[i].task.tid, keep_mapping, &r.batch);
		deliver_some(w, &r);
	}
	deliver(w, &r);
	outbuf_deinit(&r.batch);
}

/*
 * What walks stacks, if anything does: when all that it would disturb has begun, and what is mapped has been listed, so that no
 * stack stands before the mappings that name it. After a failure nothing is complete, and the first error stays.
 */
static void start_stacks(struct worker *w)
{
	char *text = NULL;
	int r = called_off(w) || w->failed ? 0 : collector_start_stacks(w->collector, &text);

	pthread_mutex_lock(&w->lock);
	if (r < 0) {
		w->news.error = r;
		w->news.error_text = text;
	}
	w->news.complete = r == 0 && !w->failed;
	tell(w);
	pthread_mutex_unlock(&w->lock);
}

/* What there is to be said of those in LIST, and who is watched among them. */
static void describe(struct worker *w, const struct outbuf *list)
{
	attend(w);
	read_mappings(w, list);
	if (w->options.categories & CATEGORIES_MEMORY)
		start_watching(w, list);
}

static void look_from_now_on(struct worker *w)
{
	w->next_cpus_ns = clock_read_ns(CLOCK_MONOTONIC) + CPUS_NS;
	w->next_proof_ns = w->options.own ? w->next_cpus_ns : 0;
}

static void start_and_describe(struct worker *w)
{
	struct outbuf list = { 0 };

	start(w, &list);
	if (w->collector) {
		describe(w, &list);
		start_stacks(w);
		look_from_now_on(w);
		read_commands(w, &list);
	}
	outbuf_deinit(&list);
}

static void look_after_cpus_if_due(struct worker *w)
{
	uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);

	if (!w->next_cpus_ns || now_ns < w->next_cpus_ns)
		return;
	collector_look_after_cpus(w->collector);
	w->next_cpus_ns = now_ns + CPUS_NS;
}

/* What the tables hold at the end, of all or, unless FOR_GOOD, of this part of it. */
static void finish_watching(struct worker *w, bool for_good)
{
	int r;

	pthread_mutex_lock(&w->lock);
	w->news.quiet = for_good;
	tell(w);
	pthread_mutex_unlock(&w->lock);
	r = memory_finish(watching_memory(w->watching));
	/* (or nobody wants it any more) */
	if (r < 0 && r != -ECANCELED)
		tell_failed(w, r, "cannot read what watched processes have left");
	w->watching = watching_free(w->watching);
}

static void detach(struct worker *w)
{
	w->counters = counters_free(w->counters);
	w->next_cpus_ns = w->next_proof_ns = 0;
	prove_all(w);
	if (w->watching)
		memory_stop(watching_memory(w->watching), true);
	if (w->collector)
		collector_detach(w->collector);
	if (w->watching)
		finish_watching(w, true);
	pthread_mutex_lock(&w->lock);
	w->news.quiet = true;
	w->news.detached = true;
	w->want_away = w->news.away; /* nothing comes back */
	tell(w);
	pthread_mutex_unlock(&w->lock);
}

static void unload(struct worker *w)
{
	w->watching = watching_free(w->watching);
	w->collector = collector_free(w->collector);
	pthread_mutex_lock(&w->lock);
	w->news.unloaded = true;
	w->news.collector = NULL;
	tell(w);
	pthread_mutex_unlock(&w->lock);
}

/* Nothing is recorded from here on. */
static void pause_all(struct worker *w)
{
	w->paused = true;
	w->next_cpus_ns = w->next_proof_ns = 0;
	prove_all(w);
	if (w->watching)
		memory_stop(watching_memory(w->watching), false);
	collector_pause(w->collector);
	if (w->watching)
		finish_watching(w, false);
}

/* All begins again, as at the start: what there is by now is listed anew. */
static int resume_all(struct worker *w)
{
	_cleanup_(beginning_deinit) struct beginning b = { .attach_ns = clock_boot_ns() };
	_cleanup_(outbuf_deinit) struct outbuf list = { 0 };
	_cleanup_free_ char *text = NULL;
	int r = collector_resume(w->collector, &text);

	if (r == 0)
		r = begin(w, w->collector, &b, &list, &text);
	if (r < 0) {
		collector_pause(w->collector);
		return r;
	}
	pthread_mutex_lock(&w->lock);
	tell_beginning(w, &b);
	w->news.n_resumed++;
	tell(w);
	pthread_mutex_unlock(&w->lock);
	w->paused = false;
	w->next_sample_ns = clock_read_ns(CLOCK_MONOTONIC);
	describe(w, &list);
	look_from_now_on(w);
	read_commands(w, &list);
	return 0;
}

static void send_away(struct worker *w, enum budget_shed what)
{
	if (what == SHED_STACKS)
		collector_shed_stacks(w->collector);
	else if (what == SHED_WAKEUPS)
		collector_shed_wakeups(w->collector);
	else
		pause_all(w);
}

static int take_back(struct worker *w, enum budget_shed what)
{
	_cleanup_free_ char *text = NULL;

	if (what == SHED_STACKS)
		return collector_return_stacks(w->collector, &text);
	if (what == SHED_WAKEUPS)
		return collector_return_wakeups(w->collector, &text);
	return resume_all(w);
}

/* What has gone and what is wanted gone are not the same: one thing goes, or comes back. */
static void adjust(struct worker *w)
{
	uint32_t want, away, bit;
	enum budget_shed what = 0;
	int r = 0;

	pthread_mutex_lock(&w->lock);
	want = w->want_away;
	away = w->news.away;
	pthread_mutex_unlock(&w->lock);
	while (!((want ^ away) >> what & 1))
		what++;
	bit = UINT32_C(1) << what;
	if (w->collector && want & bit)
		send_away(w, what);
	else if (w->collector)
		r = take_back(w, what);
	pthread_mutex_lock(&w->lock);
	if (r == 0)
		w->news.away ^= bit;
	else
		w->want_away |= bit;
	w->news.n_failed += r < 0;
	tell(w);
	pthread_mutex_unlock(&w->lock);
}

static void take_snapshot(struct worker *w)
{
	int r;

	prove_all(w);
	r = memory_snapshot(watching_memory(w->watching));

	pthread_mutex_lock(&w->lock);
	w->news.n_snapshots = w->n_snapshots;
	w->news.snapshot_error = r;
	tell(w);
	pthread_mutex_unlock(&w->lock);
}

/* The first that waits for it. */
static void search(struct worker *w)
{
	uint32_t pid;
	int r;

	pthread_mutex_lock(&w->lock);
	pid = w->searches[0];
	pthread_mutex_unlock(&w->lock);
	r = w->watching ? memory_search(watching_memory(w->watching), pid) : 0;
	pthread_mutex_lock(&w->lock);
	memmove(w->searches, w->searches + 1, --w->n_searches * sizeof(*w->searches));
	w->news.n_searches++;
	w->news.search_error = r;
	tell(w);
	pthread_mutex_unlock(&w->lock);
}

/* Processes that are watched have mapped something. */
static void look_at_files(struct worker *w)
{
	uint32_t looks[LOOKS_MAX];
	unsigned n;
	bool all;

	pthread_mutex_lock(&w->lock);
	n = w->n_looks;
	all = w->look_all;
	memcpy(looks, w->looks, n * sizeof(*looks));
	w->n_looks = 0;
	w->look_all = false;
	pthread_mutex_unlock(&w->lock);
	if (w->watching && all)
		memory_look_all(watching_memory(w->watching));
	else
		for (unsigned i = 0; w->watching && i < n; i++)
			memory_look(watching_memory(w->watching), looks[i]);
}

/* Waits for an order, or for what is to be done next. The lock is held, and again at return. */
static void wait_for_order(struct worker *w)
{
	uint64_t sample_ns = w->counters && !w->paused ? w->next_sample_ns : UINT64_MAX;
	uint64_t cpus_ns = w->next_cpus_ns ? w->next_cpus_ns : UINT64_MAX;
	uint64_t tick_ns = w->watching ? watching_next_ns(w->watching) : UINT64_MAX;
	uint64_t next_ns = sample_ns < cpus_ns ? sample_ns : cpus_ns, now_ns;
	struct pollfd fds[] = {
		{ .fd = w->order_fd, .events = POLLIN },
		{ .fd = w->watching ? memory_fd(watching_memory(w->watching)) : -1,
		  .events = POLLIN },
	};
	struct timespec timeout = { 0 };

	if (tick_ns < next_ns)
		next_ns = tick_ns;
	if (w->next_proof_ns && w->next_proof_ns < next_ns)
		next_ns = w->next_proof_ns;
	if (cgroup_asks_next_ns(&w->cgroups) < next_ns)
		next_ns = cgroup_asks_next_ns(&w->cgroups);
	pthread_mutex_unlock(&w->lock);
	now_ns = clock_read_ns(CLOCK_MONOTONIC);
	if (next_ns > now_ns) {
		timeout.tv_sec = (time_t)((next_ns - now_ns) / 1000000000);
		timeout.tv_nsec = (long)((next_ns - now_ns) % 1000000000);
	}
	ppoll(fds, ARRAY_SIZE(fds), next_ns == UINT64_MAX ? NULL : &timeout, NULL);
	if (fds[0].revents)
		thread_quiet(w->order_fd);
	attend(w);
	look_after_cpus_if_due(w);
	pthread_mutex_lock(&w->lock);
}

/* Takes the next order; false when there will be none. The lock is held, and again at return. */
static bool do_next(struct worker *w)
{
	void (*order)(struct worker *) = NULL;
	uint32_t tid = 0;

	if (w->abandoned)
		return false;
	if (w->want_start) {
		w->want_start = false;
		order = start_and_describe;
	} else if (w->want_detach) {
		w->want_detach = false;
		order = detach;
	} else if (w->want_unload) {
		w->want_unload = false;
		order = unload;
	} else if (w->want_away != w->news.away) {
		order = adjust;
	} else if (w->n_lookups > 0) {
		tid = w->lookups[--w->n_lookups];
	} else if (w->n_looks > 0 || w->look_all) {
		order = look_at_files;
	} else if (w->n_searches > 0) {
		order = search;
	} else if (clock_read_ns(CLOCK_MONOTONIC) >= cgroup_asks_next_ns(&w->cgroups)) {
		order = find_cgroups;
	} else if (w->want_snapshot && w->watching) {
		w->want_snapshot = false;
		w->n_snapshots++;
		order = take_snapshot;
	} else {
		wait_for_order(w);
		return true;
	}
	w->busy = true;
	pthread_mutex_unlock(&w->lock);
	if (order)
		order(w);
	else
		look_up(w, tid);
	pthread_mutex_lock(&w->lock);
	w->busy = false;
	return true;
}

static void *run(void *userdata)
{
	struct worker *w = userdata;

	pthread_mutex_lock(&w->lock);
	w->has_clock = pthread_getcpuclockid(pthread_self(), &w->clock) == 0;
	while (do_next(w))
		;
	w->has_clock = false;
	pthread_mutex_unlock(&w->lock);
	w->counters = counters_free(w->counters);
	w->watching = watching_free(w->watching);
	w->collector = collector_free(w->collector);
	release(w);
	return NULL;
}

/* ---- what the owner does ---- */

int worker_new(const struct session_options *options, struct left_behind *left_behind,
	       struct worker **ret)
{
	struct worker *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return -ENOMEM;
	w->n_holders = 2;
	w->left_behind = left_behind_ref(left_behind);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->taken, NULL);
	w->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	w->order_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = session_options_copy(&w->options, options);
	if (r == 0)
		r = w->event_fd < 0 || w->order_fd < 0 ? -errno : thread_start(run, w);
	if (r < 0) {
		w->n_holders = 1;
		release(w);
		return r;
	}
	*ret = w;
	return 0;
}

static void order(struct worker *w, bool *what)
{
	pthread_mutex_lock(&w->lock);
	*what = true;
	pthread_cond_signal(&w->taken);
	thread_signal(w->order_fd);
	pthread_mutex_unlock(&w->lock);
}

void worker_order_start(struct worker *w)
{
	order(w, &w->want_start);
}

void worker_order_detach(struct worker *w)
{
	order(w, &w->want_detach);
}

void worker_order_unload(struct worker *w)
{
	order(w, &w->want_unload);
}

uint64_t worker_order_snapshot(struct worker *w)
{
	uint64_t n;

	pthread_mutex_lock(&w->lock);
	w->want_snapshot = true;
	n = w->n_snapshots + 1;
	thread_signal(w->order_fd);
	pthread_mutex_unlock(&w->lock);
	return n;
}

uint64_t worker_order_search(struct worker *w, uint32_t pid)
{
	uint64_t n = 0;

	pthread_mutex_lock(&w->lock);
	if (w->n_searches < SEARCHES_MAX) {
		w->searches[w->n_searches++] = pid;
		n = w->news.n_searches + w->n_searches;
	}
	thread_signal(w->order_fd);
	pthread_mutex_unlock(&w->lock);
	return n;
}

void worker_order_away(struct worker *w, uint32_t away)
{
	pthread_mutex_lock(&w->lock);
	w->want_away = away;
	thread_signal(w->order_fd);
	pthread_mutex_unlock(&w->lock);
}

uint64_t worker_cpu_ns(struct worker *w)
{
	uint64_t ns;

	pthread_mutex_lock(&w->lock);
	ns = w->has_clock ? clock_read_ns(w->clock) + helper_cpu_ns(w) : w->news.cpu_ns;
	pthread_mutex_unlock(&w->lock);
	return ns;
}

bool worker_order_lookup(struct worker *w, uint32_t tid)
{
	bool room;

	pthread_mutex_lock(&w->lock);
	room = w->n_lookups < LOOKUPS_MAX;
	if (room)
		w->lookups[w->n_lookups++] = tid;
	thread_signal(w->order_fd);
	pthread_mutex_unlock(&w->lock);
	return room;
}

bool worker_order_cgroup(struct worker *w, uint64_t id, uint32_t pid)
{
	bool room;

	pthread_mutex_lock(&w->lock);
	room = cgroup_asks_add(&w->cgroups, &(struct cgroup_ask){ id, pid });
	thread_signal(w->order_fd);
	pthread_mutex_unlock(&w->lock);
	return room;
}

void worker_order_look(struct worker *w, uint32_t pid)
{
	bool known = false;

	pthread_mutex_lock(&w->lock);
	for (unsigned i = 0; i < w->n_looks; i++)
		known |= w->looks[i] == pid;
	if (!known && w->n_looks < LOOKS_MAX)
		w->looks[w->n_looks++] = pid;
	else if (!known)
		w->look_all = true;
	thread_signal(w->order_fd);
	pthread_mutex_unlock(&w->lock);
}

bool worker_take_memory(struct worker *w, struct outbuf *ret)
{
	bool any;

	pthread_mutex_lock(&w->lock);
	any = w->memory.size > 0;
	if (any) {
		*ret = w->memory;
		w->memory = (struct outbuf){ 0 };
		pthread_cond_signal(&w->taken);
	}
	pthread_mutex_unlock(&w->lock);
	return any;
}

struct worker *worker_free(struct worker *w)
{
	if (!w)
		return NULL;
	order(w, &w->abandoned);
	pthread_mutex_lock(&w->lock);
	if (w->busy) {
		w->counted = true;
		left_behind_hangs(w->left_behind);
	}
	pthread_mutex_unlock(&w->lock);
	release(w);
	return NULL;
}

int worker_fd(const struct worker *w)
{
	return w->event_fd;
}

void worker_fetch(struct worker *w, struct worker_news *ret)
{
	thread_quiet(w->event_fd);
	pthread_mutex_lock(&w->lock);
	*ret = w->news;
	w->news.error_text = NULL;
	w->news.cgroups_asked = false;
	w->news.tasks = w->news.looked_up = w->news.commands = w->news.cgroups = w->news.samples =
		w->news.mappings = (struct outbuf){ 0 };
	pthread_mutex_unlock(&w->lock);
}
