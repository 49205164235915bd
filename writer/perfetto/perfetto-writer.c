/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "writer/perfetto/perfetto-writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/protobuf.h"
#include "base/table.h"
#include "writer/perfetto/perfetto-sched.h"
#include "writer/perfetto/perfetto-tracks.h"
#include "writer/perfetto/perfetto-wait.h"
#include "writer/perfetto/perfetto-wire.h"

struct perfetto_task {
	uint64_t number;  /* of its name */
	char *name;       /* owned */
	uint64_t left_ns; /* when it left its CPU to wait; 0 = it does not wait */
	bool waits_io;    /* of the last EVENT_OFFCPU */
};

struct perfetto_writer {
	struct perfetto_sched *sched;
	struct perfetto_tracks *tracks;
	struct table tasks;   /* koid of a thread -> task */
	struct table parents; /* koid of a process -> koid of its first parent + 1 */
	uint64_t now_ns;      /* latest time so far, for kernel objects, which have none */
	uint64_t realtime_ns; /* CLOCK_REALTIME - CLOCK_BOOTTIME, by the last EVENT_CLOCK */
	uint64_t last_name;
	struct outbuf packets;
};

/* The names of the idle thread, and of threads without a name. Their numbers differ from those of
 * tasks. */
static const struct perfetto_name perfetto_idle = { UINT64_MAX, "swapper" };
static const struct perfetto_name perfetto_nameless = { UINT64_MAX - 1, "" };

int perfetto_writer_new(struct perfetto_writer **ret)
{
	_cleanup_(perfetto_writer_freep) struct perfetto_writer *w = calloc(1, sizeof(*w));
	int r = w ? perfetto_sched_new(&w->sched) ?: perfetto_tracks_new(&w->tracks) : -ENOMEM;

	if (r < 0)
		return r;
	*ret = TAKE_PTR(w);
	return 0;
}

struct perfetto_writer *perfetto_writer_free(struct perfetto_writer *w)
{
	struct perfetto_task *t;
	size_t pos = 0;

	if (!w)
		return NULL;
	while ((t = table_next(&w->tasks, &pos)))
		free(t->name);
	table_deinit_free(&w->tasks);
	table_deinit(&w->parents);
	perfetto_sched_free(w->sched);
	perfetto_tracks_free(w->tracks);
	outbuf_deinit(&w->packets);
	return free_ptr(w);
}

struct outbuf *perfetto_writer_packets(struct perfetto_writer *w)
{
	return &w->packets;
}

static struct perfetto_name perfetto_writer_name(const struct perfetto_writer *w, uint32_t tid)
{
	const struct perfetto_task *t = tid ? table_get(&w->tasks, tid) : NULL;

	if (tid == 0)
		return perfetto_idle;
	return t && t->name ? (struct perfetto_name){ t->number, t->name } : perfetto_nameless;
}

/* ---- tasks ---- */

/* Finds or adds the task of EV, and gives it the name in EV. Returns NULL if there is no memory. */
static struct perfetto_task *perfetto_writer_rename(struct perfetto_writer *w,
						    const struct event *ev)
{
	struct perfetto_task *t = table_make(&w->tasks, ev->tid, sizeof(*t));
	char *name;

	if (!t || (t->name && strcmp(t->name, ev->task.comm) == 0))
		return t;
	name = strdup(ev->task.comm);
	if (!name)
		return NULL;
	free(t->name);
	t->name = name;
	t->number = ++w->last_name;
	return t;
}

/*
 * Adds the process of EV. Perfetto takes a process with another parent for a new process, so the
 * first parent stays. Perfetto shows the first argument as the name of a process.
 */
static int perfetto_writer_add_process(struct perfetto_writer *w, const struct event *ev)
{
	const char *line = ev->task.command_line, *space = strchr(line, ' ');
	uint64_t parent = (uintptr_t)table_get(&w->parents, ev->pid);
	struct outbuf *to = &w->packets;
	size_t process;

	if (parent == 0) {
		parent = (uint64_t)ev->task.parent_pid + 1;
		if (table_set(&w->parents, ev->pid, (void *)(uintptr_t)parent) < 0)
			return -ENOMEM;
	}
	process = protobuf_begin(to, TREE_PROCESSES);
	protobuf_add_u64(to, PROCESS_PID, ev->pid);
	protobuf_add_u64(to, PROCESS_PPID, parent - 1);
	if (!*line) {
		protobuf_add_text(to, PROCESS_CMDLINE, ev->task.comm);
		protobuf_add_u64(to, PROCESS_CMDLINE_IS_COMM, 1);
	} else if (space) {
		protobuf_add_bytes(to, PROCESS_CMDLINE, line, (size_t)(space - line));
		protobuf_add_text(to, PROCESS_CMDLINE, space + 1);
	} else {
		protobuf_add_text(to, PROCESS_CMDLINE, line);
	}
	if (ev->task.uid != EVENT_UID_UNKNOWN)
		protobuf_add_u64(to, PROCESS_UID, ev->task.uid);
	protobuf_add_nonzero(to, PROCESS_START_FROM_BOOT, ev->task.start_ns);
	protobuf_end(to, process);
	return 0;
}

static int perfetto_writer_add_thread(struct perfetto_writer *w, const struct event *ev)
{
	struct outbuf *to = &w->packets;
	size_t thread;

	if (!perfetto_writer_rename(w, ev))
		return -ENOMEM;
	thread = protobuf_begin(to, TREE_THREADS);
	protobuf_add_u64(to, THREAD_TID, ev->tid);
	protobuf_add_text(to, THREAD_NAME, ev->task.comm);
	protobuf_add_u64(to, THREAD_TGID, ev->pid);
	protobuf_end(to, thread);
	return 0;
}

/* Adds the process of EV, its thread, or both. Returns 0 or -ENOMEM. */
static int perfetto_writer_add_task(struct perfetto_writer *w, const struct event *ev)
{
	size_t packet = protobuf_begin(&w->packets, TRACE_PACKET), tree;
	int r = 0;

	protobuf_add_nonzero(&w->packets, PACKET_TIMESTAMP, w->now_ns);
	protobuf_add_u64(&w->packets, PACKET_SEQUENCE_ID, SEQUENCE_STATE);
	tree = protobuf_begin(&w->packets, PACKET_PROCESS_TREE);
	if (ev->task.is_process && ev->pid != 0)
		r = perfetto_writer_add_process(w, ev);
	if (r == 0 && ev->tid != 0)
		r = perfetto_writer_add_thread(w, ev);
	protobuf_end(&w->packets, tree);
	protobuf_end(&w->packets, packet);
	return r;
}

/* ---- the recording ---- */

static void perfetto_writer_add_start(struct perfetto_writer *w, const struct event *ev)
{
	struct outbuf *to = &w->packets;
	size_t packet = protobuf_begin(to, TRACE_PACKET), info, utsname;

	protobuf_add_u64(to, PACKET_SEQUENCE_ID, SEQUENCE_STATE);
	info = protobuf_begin(to, PACKET_SYSTEM_INFO);
	utsname = protobuf_begin(to, SYSTEM_INFO_UTSNAME);
	protobuf_add_text(to, UTSNAME_SYSNAME, "Linux");
	protobuf_add_text(to, UTSNAME_RELEASE, ev->start.kernel);
	protobuf_add_text(to, UTSNAME_MACHINE, ev->start.machine);
	protobuf_end(to, utsname);
	protobuf_end(to, info);
	protobuf_end(to, packet);
}

static void perfetto_writer_add_clock(struct perfetto_writer *w, const struct event *ev)
{
	const uint64_t clocks[][2] = { { BUILTIN_BOOTTIME, ev->clock.boot_ns },
				       { BUILTIN_MONOTONIC, ev->clock.mono_ns },
				       { BUILTIN_REALTIME, ev->clock.real_ns } };
	struct outbuf *to = &w->packets;
	size_t packet = protobuf_begin(to, TRACE_PACKET), snapshot, clock;

	w->realtime_ns = ev->clock.real_ns - ev->clock.boot_ns;
	protobuf_add_u64(to, PACKET_TIMESTAMP, ev->ts_ns);
	protobuf_add_u64(to, PACKET_SEQUENCE_ID, SEQUENCE_STATE);
	snapshot = protobuf_begin(to, PACKET_CLOCK_SNAPSHOT);
	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++) {
		clock = protobuf_begin(to, SNAPSHOT_CLOCKS);
		protobuf_add_u64(to, CLOCK_ID, clocks[i][0]);
		protobuf_add_u64(to, CLOCK_TIMESTAMP, clocks[i][1]);
		protobuf_end(to, clock);
	}
	protobuf_add_u64(to, SNAPSHOT_PRIMARY, BUILTIN_BOOTTIME);
	protobuf_end(to, snapshot);
	protobuf_end(to, packet);
}

/* Adds a counter. For frequencies of CPUs, Perfetto has a track of its own. */
static int perfetto_writer_add_counter(struct perfetto_writer *w, const struct event *ev)
{
	const struct event_value *v = ev->counter.values;

	if (strcmp(ev->counter.category, "power") != 0 || ev->counter.n_values != 1 || !v->whole)
		return perfetto_tracks_add(w->tracks, ev, &w->packets);
	return perfetto_sched_frequency(w->sched, ev->ts_ns, (uint32_t)ev->counter.id, v->u64,
					&w->packets);
}

static int perfetto_writer_add_switch(struct perfetto_writer *w, const struct event *ev)
{
	struct perfetto_name next = perfetto_writer_name(w, ev->sw.next_tid),
			     prev = perfetto_writer_name(w, ev->tid);
	struct perfetto_task *t = ev->tid ? table_get(&w->tasks, ev->tid) : NULL;

	if (t)
		t->left_ns = perfetto_sched_blocks(ev) ? ev->ts_ns : 0;
	return perfetto_sched_switch(w->sched, ev, &prev, &next, &w->packets);
}

static void perfetto_writer_note_wait(struct perfetto_writer *w, const struct event *ev)
{
	struct perfetto_task *t = table_get(&w->tasks, ev->tid);

	if (t)
		t->waits_io = ev->offcpu.reason && strcmp(ev->offcpu.reason, "io") == 0;
}

int perfetto_writer_add(struct perfetto_writer *w, const struct event *ev)
{
	struct perfetto_name name;
	int r = 0;

	if (ev->ts_ns > w->now_ns)
		w->now_ns = ev->ts_ns;
	switch (ev->kind) {
	case EVENT_SWITCH:
		r = perfetto_writer_add_switch(w, ev);
		break;
	case EVENT_WAKE:
		name = perfetto_writer_name(w, ev->tid);
		r = perfetto_sched_wake(w->sched, ev, &name, &w->packets);
		break;
	case EVENT_OFFCPU:
		perfetto_writer_note_wait(w, ev);
		break;
	case EVENT_TASK:
		r = perfetto_writer_add_task(w, ev);
		break;
	case EVENT_START:
		perfetto_writer_add_start(w, ev);
		break;
	case EVENT_CLOCK:
		perfetto_writer_add_clock(w, ev);
		break;
	case EVENT_COUNTER:
		r = perfetto_writer_add_counter(w, ev);
		break;
	case EVENT_INTERVAL:
		r = perfetto_sched_interval(w->sched, ev, &w->packets)
			    ?: perfetto_tracks_add(w->tracks, ev, &w->packets);
		break;
	default:
		r = perfetto_tracks_add(w->tracks, ev, &w->packets);
		break;
	}
	return r < 0 || w->packets.error < 0 ? -ENOMEM : 0;
}

int perfetto_writer_add_plain(struct perfetto_writer *w, const struct perfetto_plain *p)
{
	int r = perfetto_plain_add(w->tracks, p, w->realtime_ns, &w->packets);

	if (p->ts_ns > w->now_ns)
		w->now_ns = p->ts_ns;
	return r < 0 || w->packets.error < 0 ? -ENOMEM : 0;
}

int perfetto_writer_add_wait(struct perfetto_writer *w, const struct event *ev,
			     const char *const *functions, size_t n_functions)
{
	const struct perfetto_task *t = table_get(&w->tasks, ev->tid);
	const char *function = perfetto_wait_function(functions, n_functions);
	int r;

	if (!t || t->left_ns == 0 || t->left_ns != ev->ts_ns || (!function && !t->waits_io))
		return 0;
	r = perfetto_sched_blocked(w->sched, ev->ts_ns, ev->tid, t->waits_io, function,
				   &w->packets);
	return r < 0 || w->packets.error < 0 ? -ENOMEM : 0;
}

uint32_t perfetto_writer_cpu_of(const struct perfetto_writer *w, uint32_t tid)
{
	return perfetto_sched_cpu_of(w->sched, tid);
}

uint64_t perfetto_writer_left_out(const struct perfetto_writer *w)
{
	return perfetto_sched_left_out(w->sched);
}

int perfetto_writer_flush(struct perfetto_writer *w)
{
	perfetto_sched_flush(w->sched, &w->packets);
	return w->packets.error < 0 ? -ENOMEM : 0;
}
