/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/heap/heap-trace-parts.h"

#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/clock.h"
#include "capture/heap/task-list.h"
#include "capture/proc/task-state.h"

enum {
	GOING_MANY = 64, /* if this many processes have ended, their probes are detached at once */
};

#define MS_NS UINT64_C(1000000)

/* The tracer is quiet if no process was new, called exec or ended for this time. */
#define QUIET_NS (200 * MS_NS)

/* CPU time for reports of ended images at the end. */
#define FINISH_ALL_NS_MAX UINT64_C(60000000000)

/* The report of a process that is new or has called exec. */
struct happened {
	uint64_t start_ns, ts_ns; /* from struct memory_happened; 0 = no such report */
	/* The process has just called exec, and is mapping its libraries. */
	bool loads;
};

static struct heap_probes *heap_trace_make_traced(struct heap_trace *m, uint32_t pid)
{
	struct heap_probes *traced = table_make(&m->processes, (uint64_t)pid + 1, sizeof(*traced));

	if (traced) {
		traced->pid = pid;
		traced->from_start = !m->begun;
	}
	return traced;
}

/*
 * Returns true if process PID, with the descriptor PIDFD, has ended; also true if PIDFD is
 * negative. The eBPF programs report its end before the kernel closes its files; on newer kernels
 * also before the kernel frees its memory. Until these steps are done, the process still exits, but
 * must not be watched. (PIDFD is read last, so PID was the same process.)
 */
static bool heap_trace_has_exited(uint32_t pid, int pidfd)
{
	struct pollfd pollfd = { .fd = pidfd, .events = POLLIN };

	return pidfd < 0 || task_state_process_is_ending((pid_t)pid) || poll(&pollfd, 1, 0) > 0;
}

static void heap_trace_set_unwatched(struct heap_image *image, const char *why)
{
	image->covered = false;
	image->settled = true;
	snprintf(image->unwatched, sizeof(image->unwatched), "%s", why);
}

static bool heap_trace_was_passed_over(const struct heap_trace *m, uint64_t start_ns)
{
	for (unsigned i = 0; start_ns && i < HEAP_TRACE_PASSED_MAX; i++)
		if (m->passed[i] == start_ns)
			return true;
	return false;
}

/*
 * Reports process PID as never watched, for the reason WHY. H is the report that announced PID.
 * ENDED_NS is 0 if PID can still run.
 */
static void heap_trace_pass_over(struct heap_trace *m, uint32_t pid, const struct happened *h,
				 uint64_t ended_ns, const char *why)
{
	struct memory_process process = {
		.instance = __atomic_add_fetch(m->own.instances, 1, __ATOMIC_RELAXED),
		.pid = pid,
		.since_ns = h->ts_ns,
		.ended_ns = ended_ns,
	};
	struct heap_image *image = heap_trace_was_passed_over(m, h->start_ns)
					   ? NULL
					   : heap_images_add(&m->images, &process);

	if (!image)
		return;
	m->passed[m->n_passed++ % HEAP_TRACE_PASSED_MAX] = h->start_ns;
	heap_trace_set_unwatched(image, why);
	image->ended = true;
	m->n_ended++;
}

/*
 * Handles a process that ended before it could be watched, so that the eBPF programs have not
 * reported its end. The next process with its id gets its own probes.
 */
static void heap_trace_end_unseen(struct heap_trace *m, struct heap_probes *traced)
{
	const struct happened h = { traced->start_ns, traced->happened_ns ?: clock_boot_ns() };

	heap_trace_pass_over(m, traced->pid, &h, h.ts_ns, "it ended before it could be watched");
	heap_trace_forget(m, traced);
}

/*
 * Notes that TRACED has called exec at EXEC_NS. If its watch began later, the watch began with the
 * new program. Then the earlier blocks of that program are unknown, even if all probes were in
 * place in time.
 */
static void heap_trace_note_exec(const struct heap_trace *m, const struct heap_probes *traced,
				 uint64_t exec_ns)
{
	struct heap_image *image = heap_images_get(&m->images, traced->instance);

	if (image && exec_ns < image->process.since_ns &&
	    !(image->process.flags & MEMORY_PROCESS_IMAGE))
		memory_image_add_gap(image, WATCHED_GAP_LATE);
}

/*
 * Returns true if another process uses the memory of PID's program, possibly since before its
 * watch. Also true if this is unknown, since the table of these programs was full.
 */
static bool heap_trace_is_shared(struct heap_trace *m, uint32_t pid)
{
	struct memory_program program;
	struct rec_task now;

	if (!shared_programs_may_have(&m->shared, pid))
		return false;
	if (!task_list_process(m->collector, pid, &now))
		return shared_programs_has(&m->shared, pid, NULL);
	program = (struct memory_program){ now.task.start_ns, now.exec_id };
	return shared_programs_has(&m->shared, pid, &program);
}

/*
 * Removes PROCESS, which is ending, from the table of running processes. Returns false if the eBPF
 * programs have reported its end, or if PROCESS has called exec. After an exec, the eBPF programs
 * will report the end of the program that PROCESS now runs.
 */
static bool heap_trace_take_back(const struct heap_trace *m, const struct memory_process *process)
{
	struct memory_process now;

	return heap_trace_find_watched(m, process->pid, &now) &&
	       now.instance == process->instance &&
	       bpf_map_delete_elem(m->own.processes_fd, &process->pid) == 0;
}

/* Starts to watch TRACED, whose probes are in place. */
static int heap_trace_begin(struct heap_trace *m, struct heap_probes *traced, int pidfd)
{
	struct memory_process process = {
		.instance = __atomic_add_fetch(m->own.instances, 1, __ATOMIC_RELAXED),
		.pid = traced->pid,
		.since_ns = clock_boot_ns(),
	};
	struct heap_image *image;
	int r;

	r = bpf_map_update_elem(m->own.processes_fd, &traced->pid, &process, BPF_NOEXIST);
	if (heap_trace_has_exited(traced->pid, pidfd)) {
		/*
		 * If the eBPF programs have reported the end, the process ended after the update.
		 * TRACED is kept until that report is read, so that the report of an earlier exec
		 * is not taken for another process.
		 */
		if (r < 0 || heap_trace_take_back(m, &process))
			heap_trace_end_unseen(m, traced);
		else
			traced->instance = process.instance;
		return 0;
	}
	image = heap_images_add(&m->images, &process);
	if (!image)
		return -ENOMEM;
	traced->instance = process.instance;
	image->refused = r < 0;
	if (r < 0)
		heap_trace_set_unwatched(image, "too many processes are watched");
	else
		heap_trace_apply_found(m, traced, image);
	/*
	 * Processes that share the memory of this process from now on set the flag of this process,
	 * so only earlier ones are looked up.
	 */
	if (heap_trace_is_shared(m, traced->pid))
		memory_image_add_gap(image, WATCHED_GAP_SHARED);
	/* If checks are due, the image is announced later, when its libraries are known. */
	r = traced->next_check_ns ? 0 : heap_trace_announce(m, image);
	return r < 0 ? r : heap_trace_list_resources(m, traced->pid, traced->instance, true);
}

/*
 * Returns true if TRACED was watched, but no process with its id is watched any more: it has ended.
 */
static bool heap_trace_is_outdated(const struct heap_trace *m, const struct heap_probes *traced)
{
	const struct heap_image *image = heap_images_get(&m->images, traced->instance);
	struct memory_process process;

	return traced->instance && !(image && image->refused) &&
	       !heap_trace_find_watched(m, traced->pid, &process);
}

/* Returns true if TRACED is the process that H announces, as far as its start time is known. */
static bool heap_trace_is_of(const struct heap_probes *traced, const struct happened *h)
{
	return !traced->start_ns || !h->start_ns || traced->start_ns == h->start_ns;
}

/*
 * Skips process PID, announced by H, if another process has its id by now. The probes for PID would
 * be placed in that process, which is announced next. Returns whether PID was skipped.
 */
static bool heap_trace_pass_over_reused(struct heap_trace *m, uint32_t pid,
					const struct happened *h)
{
	struct heap_probes *traced = heap_trace_probes_of(m, pid);
	struct rec_task now;

	if (!h->start_ns || !task_list_process(m->collector, pid, &now) ||
	    now.task.start_ns == h->start_ns)
		return false;
	/* The eBPF programs report the end of a watched process, so it is not reported here. */
	if (!traced || !traced->instance || !heap_trace_is_of(traced, h))
		heap_trace_pass_over(m, pid, h, h->ts_ns, "it ended before it could be watched");
	if (traced && !traced->instance)
		heap_trace_forget(m, traced);
	return true;
}

static int heap_trace_probe_process(struct heap_trace *m, uint32_t pid, const struct happened *h)
{
	_cleanup_close_ int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct heap_probes *traced = heap_trace_probes_of(m, pid);
	int r;

	if (heap_trace_pass_over_reused(m, pid, h))
		return 0;
	if (traced && heap_trace_is_outdated(m, traced)) {
		/* The end of a watched process is reported by the eBPF programs. */
		if (heap_trace_has_exited(pid, pidfd) && heap_trace_is_of(traced, h))
			return 0;
		heap_trace_forget(m, traced);
		traced = NULL;
	}
	if (!traced)
		traced = heap_trace_make_traced(m, pid);
	if (!traced)
		return -ENOMEM;
	if (h->start_ns) {
		traced->start_ns = h->start_ns;
		traced->happened_ns = h->ts_ns;
		traced->exec_ns = h->loads ? h->ts_ns : 0;
	}
	if (h->loads) {
		heap_trace_plan_checks(traced);
	}
	/* The eBPF programs report the end of a watched process, so it is not reported here. */
	if (heap_trace_check(m, traced) || (traced->instance && heap_trace_has_exited(pid, pidfd)))
		return 0;
	/*
	 * A child of fork has its parent's allocators. If none was found, the child can have called
	 * exec before the check, and be mapping its libraries now.
	 */
	if (h->start_ns && !traced->found.allocates && !traced->next_check_ns) {
		heap_trace_plan_checks(traced);
	}
	r = heap_trace_begin(m, traced, pidfd);
	/*
	 * From now on, the eBPF programs report the end of the thread that the probes belong to.
	 * The thread may have ended before, so the next lines check it.
	 */
	traced = heap_trace_probes_of(m, pid);
	if (r == 0 && traced)
		heap_trace_hold_probes(m, traced, 0);
	return r;
}

int heap_trace_probe(struct heap_trace *m, uint32_t pid)
{
	const struct happened found = { 0 };

	return heap_trace_probe_process(m, pid, &found);
}

void heap_trace_begun(struct heap_trace *m)
{
	m->begun = true;
}

bool heap_trace_watches(const struct heap_trace *m, uint32_t pid)
{
	const struct heap_probes *traced = heap_trace_probes_of(m, pid);

	return traced && !heap_trace_is_outdated(m, traced);
}

/*
 * If a client has announced the files of TRACED, keeps the result for these files for the program
 * that TRACED has executed at EXEC_NS.
 */
static void heap_trace_store_announced(struct heap_trace *m, struct heap_probes *traced,
				       uint64_t exec_ns)
{
	if (traced->from_start && traced->announced.any) {
		m->announced = traced->announced;
		memcpy(m->announced_text, traced->announced_text, sizeof(m->announced_text));
		m->announced_ns = exec_ns + 1; /* as in the eBPF programs */
	}
	traced->from_start = false;
}

/*
 * Skips process PID, announced by H, if it is held at its exit and is not watched. Probes would see
 * no more allocations, and attaching them takes long. If the process was already skipped at its
 * fork, the program that it has executed is skipped, too. Returns whether the process was skipped.
 */
static bool heap_trace_pass_over_exiting(struct heap_trace *m, uint32_t pid,
					 const struct happened *h)
{
	struct heap_probes *traced = heap_trace_probes_of(m, pid);

	if (!m->sink.is_at_exit || !m->sink.is_at_exit(pid, m->sink.userdata) ||
	    heap_trace_is_watched(m, pid))
		return false;
	/*
	 * A process that has just called exec is not skipped: the exec waits for the exits of its
	 * other threads, and the held exit can be one of these.
	 */
	if (h->loads && !heap_trace_was_passed_over(m, h->start_ns))
		return false;
	heap_trace_pass_over(m, pid, h, h->ts_ns, "it ended before it could be watched");
	if (traced)
		heap_trace_forget(m, traced);
	return true;
}

/* Skips process PID, announced by H, since no more probes are attached. */
static void heap_trace_pass_over_late(struct heap_trace *m, uint32_t pid, const struct happened *h)
{
	_cleanup_close_ int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (heap_trace_has_exited(pid, pidfd))
		heap_trace_pass_over(m, pid, h, h->ts_ns, "it ended before it could be watched");
	else
		heap_trace_pass_over(m, pid, h, 0, "the recording ended before it was watched");
}

void heap_trace_leave_out(struct heap_trace *m, uint32_t pid, uint64_t start_ns)
{
	const struct happened h = { start_ns, clock_boot_ns() };

	heap_trace_pass_over_late(m, pid, &h);
}

static int heap_trace_on_memory_event(void *userdata, void *data, size_t size)
{
	const struct memory_happened *happened = data;
	struct heap_trace *m = userdata;
	struct heap_probes *traced;
	struct happened h, before;
	bool execs, is_another;

	if (size < sizeof(*happened) ||
	    (m->stopped && happened->what != MEMORY_HAPPENED_OWNER_EXIT))
		return 0;
	m->happened_ns = clock_read_ns(CLOCK_MONOTONIC);
	execs = happened->what == MEMORY_HAPPENED_EXEC ||
		happened->what == MEMORY_HAPPENED_THREAD_EXEC;
	traced = heap_trace_probes_of(m, happened->pid);
	is_another = traced && traced->start_ns && traced->start_ns != happened->start_ns;
	if (happened->what == MEMORY_HAPPENED_OWNER_EXIT) {
		if (traced && !is_another)
			heap_trace_owner_ended(m, traced, happened->ts_ns);
		return 0;
	}
	h = (struct happened){ happened->start_ns, happened->ts_ns, execs };
	if (happened->what == MEMORY_HAPPENED_EXIT) {
		m->n_ended++;
		/* The next process with this id must not be mistaken for TRACED. */
		if (traced && !is_another)
			heap_trace_forget(m, traced);
		return 0;
	}
	if (traced && execs) {
		heap_trace_store_announced(m, traced, happened->ts_ns);
		if (!is_another)
			heap_trace_note_exec(m, traced, happened->ts_ns);
	}
	/*
	 * Triage reports which processes grow. For processes that are traced already, only exec
	 * matters here.
	 */
	if (m->options->memory.triage && (!traced || !execs))
		return 0;
	if (m->stopping || heap_probes_are_cancelled(&m->probing)) {
		/* After an exec by another thread, the eBPF programs do not watch the process. */
		if (!traced || is_another || happened->what == MEMORY_HAPPENED_THREAD_EXEC)
			heap_trace_pass_over_late(m, happened->pid, &h);
		return 0;
	}
	/* The previous program of TRACED has ended. */
	m->n_ended += traced && execs;
	/*
	 * The previous process with this id ended before its files were checked. So the files that
	 * were checked were those of the new process.
	 */
	if (is_another && !heap_trace_is_outdated(m, traced)) {
		before = (struct happened){ traced->start_ns, traced->happened_ns };
		heap_trace_pass_over(m, happened->pid, &before, before.ts_ns,
				     "it ended before it could be watched");
	}
	/*
	 * The probes of TRACED belong to a previous process with this id, or to a task that is
	 * gone.
	 */
	if (traced && happened->what != MEMORY_HAPPENED_EXEC)
		heap_trace_forget(m, traced);
	if (!heap_trace_pass_over_exiting(m, happened->pid, &h))
		heap_trace_probe_process(m, happened->pid, &h);
	return 0;
}

/* ---- interface for the worker ---- */

int heap_trace_new(const struct session_options *options, struct collector *collector,
		   const struct memory_sink *sink, struct heap_trace **ret)
{
	_cleanup_(heap_trace_freep) struct heap_trace *m = calloc(1, sizeof(*m));
	int r;

	if (!m)
		return -ENOMEM;
	m->options = options;
	m->collector = collector;
	m->sink = *sink;
	m->own = collector_memory_tables(collector);
	heap_tables_init(&m->tables, &m->own);
	m->shared = (struct shared_programs){ m->own.shared_fd, m->own.shares_unreported, 0, 0 };
	/* (forgets programs that ended during a pause) */
	shared_programs_sweep(&m->shared);
	r = allocator_cache_new(ALLOCATORS_NS_MAX, &m->cache);
	if (r < 0)
		return r;
	m->probing = (struct heap_probes_args){ options, &m->own, m->cache, &m->sink, NULL, NULL };
	r = options->categories & CATEGORIES_PROBES
		    ? probe_attacher_new(sink->helper_cpu_ns, &m->probing.attacher)
		    : 0;
	if (r < 0)
		return r;
	if (options->categories & CATEGORIES_PROBES)
		probe_removals_open(&m->probing.removals); /* can fail for users other than root */
	m->events = ring_buffer__new(m->own.events_fd, heap_trace_on_memory_event, m, NULL);
	if (!m->events)
		return -errno;
	m->next_usage_ns = clock_read_ns(CLOCK_MONOTONIC) + options->memory.usage_interval_ns;
	*ret = TAKE_PTR(m);
	return 0;
}

static void heap_trace_detach_all(struct heap_trace *m)
{
	struct heap_probes *traced;

	for (size_t pos = 0; (traced = table_next(&m->processes, &pos));)
		heap_probes_free(traced, &m->probing, &m->going);
	table_deinit(&m->processes);
	heap_trace_detach_forgotten(m);
}

struct heap_trace *heap_trace_free(struct heap_trace *m)
{
	if (!m)
		return NULL;
	heap_trace_detach_all(m);
	probe_attacher_free(m->probing.attacher);
	probe_removals_free(m->probing.removals);
	heap_images_deinit(&m->images);
	heap_tables_deinit(&m->tables);
	allocator_cache_free(m->cache);
	ring_buffer__free(m->events);
	return free_ptr(m);
}

int heap_trace_fd(const struct heap_trace *m)
{
	return ring_buffer__epoll_fd(m->events);
}

void heap_trace_drain_events(struct heap_trace *m)
{
	ring_buffer__consume(m->events);
}

/*
 * Returns the time at which the probes of ended processes are detached. Detaching can take longer
 * than a new process lives, so it waits for a quiet moment, unless there are many probes.
 */
static uint64_t heap_trace_detach_ns(const struct heap_trace *m)
{
	return m->going.size < GOING_MANY * sizeof(uint32_t) ? m->happened_ns + QUIET_NS : 0;
}

uint64_t heap_trace_next_ns(const struct heap_trace *m)
{
	uint64_t next_ns = m->next_usage_ns;
	const struct heap_probes *traced;

	if (m->n_ended >= HEAP_TRACE_ENDED_MANY)
		return 0;
	if (m->going.size > 0 && heap_trace_detach_ns(m) < next_ns)
		next_ns = heap_trace_detach_ns(m);
	for (size_t pos = 0; (traced = table_next(&m->processes, &pos));)
		if (traced->next_check_ns && traced->next_check_ns < next_ns)
			next_ns = traced->next_check_ns;
	return next_ns;
}

void heap_trace_tick(struct heap_trace *m)
{
	uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
	uint64_t interval_ns = m->options->memory.usage_interval_ns;
	bool known = heap_trace_check_due(m, now_ns);

	if (m->going.size > 0 && now_ns >= heap_trace_detach_ns(m))
		heap_trace_detach_forgotten(m);
	if (!known && now_ns < m->next_usage_ns && m->n_ended < HEAP_TRACE_ENDED_MANY)
		return;
	/* All records of the previous program come first. */
	heap_trace_finish_now(m, HEAP_TRACE_FINISH_NS_MAX);
	heap_trace_announce_ready(m);
	if (now_ns < m->next_usage_ns)
		return;
	heap_tables_usage(&m->tables, &m->images, clock_boot_ns(), &m->sink);
	m->next_usage_ns += interval_ns * ((now_ns - m->next_usage_ns) / interval_ns + 1);
}

/*
 * If both the report of an end and the ended program are missing, nothing else would forget the
 * process. Its probes would stay until another process gets the same id.
 */
void heap_trace_forget_outdated(struct heap_trace *m, bool missed)
{
	uint64_t ends_missed = __atomic_load_n(m->own.ends_unreported, __ATOMIC_RELAXED);
	struct heap_probes *traced;

	missed |= ends_missed != m->ends_missed;
	m->ends_missed = ends_missed;
	if (!missed)
		return;
	for (size_t pos = 0; (traced = table_next(&m->processes, &pos));)
		if (heap_trace_is_outdated(m, traced)) {
			table_remove_last(&m->processes, &pos);
			heap_probes_free(traced, &m->probing, &m->going);
		}
}

bool heap_trace_has_missed(struct heap_trace *m)
{
	uint64_t events_unreported = __atomic_load_n(m->own.events_unreported, __ATOMIC_RELAXED);
	bool missed = events_unreported != m->events_unreported;

	m->events_unreported = events_unreported;
	return missed;
}

/*
 * Stops watching IMAGE. From now on, the eBPF programs ignore its process, so the blocks of IMAGE
 * do not change.
 */
static void heap_trace_stop_image(struct heap_trace *m, struct heap_image *image)
{
	struct memory_process process;
	uint32_t pid = image->process.pid;

	if (!heap_trace_has_entry(m, image, &process))
		return;
	/*
	 * The process is still watched during the listing, so that changes meanwhile are reported.
	 */
	if (!process.ended_ns)
		heap_trace_list_resources(m, pid, process.instance, false);
	bpf_map_delete_elem(m->own.processes_fd, &pid);
	image->process = process;
	image->ended = true;
}

void heap_trace_release(struct heap_trace *m, uint32_t pid)
{
	struct heap_probes *traced = heap_trace_probes_of(m, pid);
	struct heap_image *image = traced ? heap_images_get(&m->images, traced->instance) : NULL;

	if (!traced)
		return;
	if (image && !image->ended) {
		heap_trace_announce(m, image);
		heap_trace_stop_image(m, image);
		m->n_ended++;
	}
	heap_trace_forget(m, traced);
}

void heap_trace_stop(struct heap_trace *m, bool for_good)
{
	struct heap_image *image;

	/* Attach nothing for pending reports: there can be many, and attaching is slow. */
	m->stopping = true;
	ring_buffer__consume(m->events);
	heap_trace_know_watched(m);
	if (for_good && m->options->memory.reach != MEMORY_REACH_NO &&
	    m->options->categories & CATEGORY_MEMORY)
		heap_trace_search_images(m, 0);
	for (size_t pos = 0; (image = table_next(&m->images.by_instance, &pos));)
		heap_trace_stop_image(m, image);
	/* Holders can have ended during the search. Nothing else matters any more. */
	m->stopped = true;
	ring_buffer__consume(m->events);
	heap_trace_know_ended(m); /* programs that were executed before those that ran until now */
	heap_trace_count_allocated(m);
	heap_trace_announce_ready(m); /* while the probes are still attached */
	heap_trace_detach_all(m);
}

int heap_trace_finish(struct heap_trace *m)
{
	int r = heap_trace_finish_now(m, FINISH_ALL_NS_MAX);

	return r > 0 ? -ETIME : r;
}
