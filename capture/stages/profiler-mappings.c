/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/stages/profiler.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/outbuf.h"
#include "base/text.h"
#include "capture/calls/probed-inodes.h"
#include "capture/stages/profiler-parts.h"
#include "model/maps.h"

enum {
	WAITING_BYTES_MAX = 32 << 20,
	SWEEP_BYTES = 1 << 20,  /* bytes of mappings that wait: see profiler_sweep_is_due() */
	SWEEP_PROCESSES = 4096, /* known processes: see profiler_sweep_is_due() */
	MAPPING_PATH_ROOM = 3 * MAPPING_PATH_BYTES,
	/* One more than the number of other files of a program that readers name: the last one
	 * shows that there are more */
	MISSED_MAX = OTHER_FILES_MAX + 1,
};

/* If an exec began this long ago, it is over, and its record was lost. */
#define EXEC_NS UINT64_C(1000000000)

/* The minimum time between two searches for ended processes. */
#define SWEEP_NS UINT64_C(1000000000)

/*
 * How long mappings wait at most, if ended processes cannot be detected and there is little room.
 */
#define SETTLED_NS UINT64_C(10000000000)

/* A process, with the facts that its mappings need. */
struct process {
	uint32_t pid;
	uint32_t n_modules;    /* number of modules so far; the low 16 bits are the next id */
	bool seen;             /* the process was selected, so mappings need not wait */
	bool renamed;          /* the process may now be selected, or be in the middle of an exec */
	bool doubtful;         /* with `own`: an exec of the process may have been missed */
	uint64_t new_image_ns; /* when an exec began that has not ended; 0 = no exec */
	uint64_t gone_ns;      /* the time when its end was detected; 0 = not detected */
	uint64_t waiting_ns;   /* time of the last mapping in `waiting` */
	struct outbuf waiting; /* struct rec_mapping: mappings that wait */
	uint64_t n_unwritten;  /* number of mappings that were not kept; lost if they are needed */
	/* Hashes of the other files that its program has mapped: see profiler_find_missed() */
	uint64_t missed[MISSED_MAX];
	unsigned n_missed;
};

static void profiler_drop_waiting(struct profiler *p, struct process *process)
{
	p->waiting_bytes -= process->waiting.size;
	outbuf_deinit(&process->waiting);
}

void profiler_free_processes(struct profiler *p)
{
	struct process *process;

	for (size_t pos = 0; (process = table_next(&p->processes, &pos));) {
		outbuf_deinit(&process->waiting);
		free(process);
	}
	table_deinit(&p->processes);
}

/* Resets PROCESS to the state of an unknown process. */
static void profiler_begin_anew(const struct profiler *p, struct process *process, uint32_t pid)
{
	*process = (struct process){ .pid = pid, .doubtful = p->doubt_ns != 0 };
}

static struct process *profiler_process_of(struct profiler *p, uint32_t pid)
{
	struct process *process = table_get(&p->processes, (uint64_t)pid + 1);

	if (process)
		return process;
	process = table_make(&p->processes, (uint64_t)pid + 1, sizeof(*process));
	if (process)
		profiler_begin_anew(p, process, pid);
	return process;
}

/* Returns the event for REC. The path is cleaned into PATH. */
static struct event profiler_mapping_event(const struct rec_mapping *rec, uint32_t module_id,
					   uint64_t ts_ns, char path[static MAPPING_PATH_ROOM])
{
	text_clean(path, MAPPING_PATH_ROOM, rec->path, rec->path_bytes);
	return (struct event){
		.kind = EVENT_MAPPING,
		.ts_ns = ts_ns,
		.pid = rec->head.pid,
		.mapping = {
			.path = path,
			.build_id = rec->build_id,
			.build_id_size = rec->build_id_bytes,
			.module_id = module_id,
			.start = rec->start,
			.size = rec->bytes,
			.file_offset = rec->file_offset,
			.device = rec->device,
			.inode = rec->inode,
		},
	};
}

/*
 * Keeps the mapping EV, which has the kernel's pid. The koid may have changed when the mapping is
 * written again.
 */
static int profiler_keep_mapping(struct profiler *p, const struct event *ev)
{
	uint64_t n_dropped = maps_n_dropped(p->maps);
	int r = maps_add(p->maps, ev);

	p->n_dropped += maps_n_dropped(p->maps) - n_dropped;
	return r;
}

/*
 * Notes that PROCESS has mapped OTHER. Returns true if this is the first time since the process
 * executed its program, unless MISSED_MAX other files were noted already.
 */
static bool profiler_is_newly_missed(struct process *process, const struct event *other)
{
	const char *path = other->other_file.path, *file = other->other_file.file;
	uint64_t key = table_hash_seeded(table_hash(path, strlen(path)), file, strlen(file));

	for (unsigned i = 0; i < process->n_missed; i++)
		if (process->missed[i] == key)
			return false;
	if (process->n_missed == MISSED_MAX)
		return false;
	process->missed[process->n_missed++] = key;
	return true;
}

/*
 * Writes an event if the file of EV, a mapping that was written, is used in place of a file with
 * probes: calls of its functions are missing in the recording. The event is written once for each
 * file and program; heads and cuts forget it at the next exec. (A program can map files without
 * end, so the number of events is limited.)
 */
static int profiler_find_missed(struct profiler *p, struct process *process, const struct event *ev)
{
	struct event missed = {
		.kind = EVENT_OTHER_FILE,
		.ts_ns = ev->ts_ns,
		.pid = ev->pid,
		.tid = ev->pid,
		.other_file.file = probed_inodes_missed(p->probed, ev),
		.other_file.path = ev->mapping.path,
	};
	int r;

	if (!missed.other_file.file || !profiler_is_newly_missed(process, &missed))
		return 0;
	r = other_files_add(&p->others, &missed);
	return r < 0 ? r : fxt_archive_event(p->pipe->archive, &missed);
}

static int profiler_write_mapping(struct profiler *p, struct process *process,
				  const struct rec_mapping *rec, uint64_t ts_ns)
{
	uint32_t module_id = process->n_modules & FXT_MODULE_ID_MAX;
	char path[MAPPING_PATH_ROOM];
	struct event ev;
	int r;

	if (ts_ns < p->pipe->from_ns || ts_ns > p->pipe->to_ns)
		return 0;
	/*
	 * (the kernel's mappings belong to process 2, which needs a name even if a filter excludes
	 * it)
	 */
	r = pipeline_announce(p->pipe, rec->head.pid);
	ev = profiler_mapping_event(rec, module_id, ts_ns, path);
	if (r == 0 && p->maps)
		r = profiler_keep_mapping(p, &ev);
	if (r < 0)
		return r;
	process->n_modules++;
	ev.pid = ev.tid = tasks_koid(p->pipe->tasks, rec->head.pid);
	p->n_mappings++;
	return profiler_write_event(p, &ev) ?: profiler_find_missed(p, process, &ev);
}

int profiler_will_split(struct profiler *p)
{
	int r = maps_new(&p->maps, MAPS_OF_NOW);

	if (r == 0)
		maps_bound(p->maps, PROFILER_MAPS_BYTES_MAX, PROFILER_MAPS_OF_ONE_MAX);
	return r;
}

struct mapping_writer {
	const struct profiler *profiler;
	struct fxt_archive *to;
	uint64_t at_ns;
	int (*name)(uint32_t pid, void *userdata);
	void *userdata;
};

static int profiler_write_held_mapping(void *userdata, uint32_t pid, const struct mapping *mapping)
{
	const struct mapping_writer *s = userdata;
	int r = s->name(pid, s->userdata);
	uint32_t koid = tasks_koid(s->profiler->pipe->tasks, pid);
	const struct event ev = {
		.kind = EVENT_MAPPING,
		.ts_ns = s->at_ns,
		.pid = koid,
		.tid = koid,
		.mapping = {
			.path = mapping->path,
			.build_id = mapping->build_id,
			.build_id_size = mapping->build_id_size,
			.module_id = mapping->module_id,
			.start = mapping->start,
			.size = mapping->size,
			.file_offset = mapping->file_offset,
			.device = mapping->device,
			.inode = mapping->inode,
		},
	};

	return r < 0 ? r : fxt_archive_event(s->to, &ev);
}

int profiler_head(const void *stage, const struct stage_head *h)
{
	const struct profiler *p = stage;
	struct mapping_writer s = { p, h->to, h->at_ns, h->name, h->userdata };

	return p->maps ? maps_each(p->maps, profiler_write_held_mapping, &s) : 0;
}

static void profiler_forget_process(struct profiler *p, uint32_t pid)
{
	struct process *process = table_remove(&p->processes, (uint64_t)pid + 1);

	if (!process)
		return;
	profiler_drop_waiting(p, process);
	free(process);
}

/*
 * Returns true if PROCESS has ended, and all its records up to NOW_NS have arrived. If the end of
 * PROCESS is detected in this call, it counts only from the next call on.
 */
static bool profiler_is_over(const struct profiler *p, struct process *process, uint64_t now_ns)
{
	if (process->gone_ns)
		return process->gone_ns < now_ns;
	if (!p->pipe->owner.is_gone)
		return process->waiting.size && process->waiting_ns + SETTLED_NS < now_ns;
	if (p->pipe->owner.is_gone(process->pid))
		process->gone_ns = clock_boot_ns();
	return false;
}

static bool profiler_sweep_is_due(const struct profiler *p, uint64_t now_ns)
{
	size_t bytes = p->pipe->owner.is_gone ? SWEEP_BYTES : WAITING_BYTES_MAX / 2;

	if (!p->pipe->filtered || now_ns < p->swept_ns + SWEEP_NS)
		return false;
	return (p->waiting_bytes >= bytes && p->waiting_bytes / 2 >= p->swept_bytes) ||
	       p->waiting_bytes > WAITING_BYTES_MAX / 2 ||
	       (p->processes.n_used >= SWEEP_PROCESSES && p->processes.n_used / 2 >= p->n_swept);
}

int profiler_forget_ended(struct profiler *p, uint64_t now_ns)
{
	_cleanup_free_ uint32_t *ended = NULL;
	struct process *process;
	size_t n = 0;
	int r = 0;

	if (!profiler_sweep_is_due(p, now_ns))
		return 0;
	ended = calloc(p->processes.n_used + 1, sizeof(*ended));
	for (size_t pos = 0; ended && (process = table_next(&p->processes, &pos));)
		if (profiler_is_over(p, process, now_ns))
			ended[n++] = process->pid;
	while (r == 0 && n > 0)
		r = profiler_ended(p, ended[--n]);
	p->swept_ns = now_ns;
	p->swept_bytes = p->waiting_bytes;
	p->n_swept = p->processes.n_used;
	return r;
}

static int profiler_defer(struct profiler *p, struct process *process,
			  const struct rec_mapping *rec)
{
	process->waiting_ns = rec->head.ts_ns;
	if (p->waiting_bytes + rec->head.size > WAITING_BYTES_MAX) {
		process->n_unwritten++;
		return 0;
	}
	p->waiting_bytes += rec->head.size;
	return outbuf_append(&process->waiting, rec, rec->head.size);
}

static uint64_t profiler_count_waiting(const struct process *process)
{
	const struct rec_mapping *rec;
	uint64_t n = 0;

	for (size_t at = 0; at < process->waiting.size; at += rec->head.size, n++)
		rec = (const struct rec_mapping *)(process->waiting.data + at);
	return n;
}

/* Writes the mappings that wait, each at its time or at TS_NS, whichever is later. */
static int profiler_write_waiting(struct profiler *p, struct process *process, uint64_t ts_ns)
{
	const struct rec_mapping *rec;
	int r = 0;

	for (size_t at = 0; r == 0 && at < process->waiting.size; at += rec->head.size) {
		rec = (const struct rec_mapping *)(process->waiting.data + at);
		r = profiler_write_mapping(p, process, rec,
					   rec->head.ts_ns > ts_ns ? rec->head.ts_ns : ts_ns);
	}
	profiler_drop_waiting(p, process);
	return r;
}

/* Called when PROCESS was selected at TS_NS. Of the mappings that wait, writes those up to TS_NS,
 * each at its own time or at FROM_NS, whichever is later. */
static int profiler_write_proven(struct profiler *p, struct process *process, uint64_t ts_ns,
				 uint64_t from_ns)
{
	struct outbuf waiting = process->waiting;
	const struct rec_mapping *rec;
	int r = 0;

	if (process->doubtful) {
		profiler_drop_waiting(p, process);
		return 0;
	}
	p->waiting_bytes -= waiting.size;
	process->waiting = (struct outbuf){ 0 };
	for (size_t at = 0; r == 0 && at < waiting.size; at += rec->head.size) {
		rec = (const struct rec_mapping *)(waiting.data + at);
		if (rec->head.ts_ns > ts_ns)
			r = profiler_defer(p, process, rec);
		else
			r = profiler_write_mapping(p, process, rec,
						   rec->head.ts_ns > from_ns ? rec->head.ts_ns
									     : from_ns);
	}
	outbuf_deinit(&waiting);
	return r;
}

/* Counts mappings of PROCESS that were not kept as lost. */
static void profiler_count_unwritten(struct profiler *p, struct process *process)
{
	p->n_dropped += process->n_unwritten;
	process->n_unwritten = 0;
}

static bool profiler_waits(const struct profiler *p, const struct process *process)
{
	return p->pipe->own || process->new_image_ns || (p->pipe->filtered && !process->seen);
}

/* Returns true if a recording of own processes must not contain the mapping. */
static bool profiler_is_hidden(const struct profiler *p, const struct process *process,
			       const struct rec_mapping *rec)
{
	return p->pipe->own &&
	       (process->doubtful || rec->head.pid == FXT_KOID_KTHREADD || rec->start >> 63);
}

int profiler_on_mapping(struct profiler *p, const struct rec_mapping *rec)
{
	struct process *process = profiler_process_of(p, rec->head.pid);

	if (!process)
		return -ENOMEM;
	/* The id belonged to an earlier process, which has ended. */
	if (process->gone_ns && rec->head.ts_ns > process->gone_ns) {
		profiler_drop_waiting(p, process);
		profiler_begin_anew(p, process, process->pid);
	}
	if (profiler_is_hidden(p, process, rec)) {
		process->n_unwritten += process->doubtful;
		return 0;
	}
	return profiler_waits(p, process)
		       ? profiler_defer(p, process, rec)
		       : profiler_write_mapping(p, process, rec, rec->head.ts_ns);
}

int profiler_listed(struct profiler *p, const struct rec_mapping *rec)
{
	struct process *process = profiler_process_of(p, rec->head.pid);

	if (!process)
		return -ENOMEM;
	/*
	 * The process has begun an exec, so the mapping belongs to the new program, and is also
	 * reported elsewhere.
	 */
	if (process->new_image_ns)
		return 0;
	return profiler_on_mapping(p, rec);
}

int profiler_on_new_image(struct profiler *p, const struct rec_head *head)
{
	struct process *process = profiler_process_of(p, head->pid);

	if (!process)
		return -ENOMEM;
	profiler_drop_waiting(p, process);
	process->gone_ns = process->n_unwritten = 0;
	process->new_image_ns = head->ts_ns;
	process->seen = process->renamed = false;
	process->doubtful = p->pipe->own && head->ts_ns <= p->doubt_ns;
	return 0;
}

int profiler_executed(struct profiler *p, uint32_t pid, uint64_t ts_ns)
{
	struct process *process = p->pipe->filtered ? profiler_process_of(p, pid)
						    : table_get(&p->processes, (uint64_t)pid + 1);

	if (p->maps)
		maps_remove(p->maps, pid);
	if (other_files_add(&p->others, &(struct event){ .kind = EVENT_EXEC,
							 .pid = tasks_koid(p->pipe->tasks, pid) }) <
	    0)
		return -ENOMEM;
	if (!process)
		return p->pipe->filtered ? -ENOMEM : 0;
	/*
	 * If the beginning of the exec was missed, the mappings that wait may belong to another
	 * program.
	 */
	process->doubtful |= p->pipe->own && !process->new_image_ns;
	process->new_image_ns = 0;
	process->n_missed = 0;
	process->seen = true;
	profiler_count_unwritten(p, process);
	if (p->pipe->own)
		return profiler_write_proven(p, process, ts_ns, ts_ns);
	return profiler_waits(p, process) ? 0 : profiler_write_waiting(p, process, ts_ns);
}

static int profiler_fork_maps(struct profiler *p, uint32_t parent, uint32_t child)
{
	maps_remove(p->maps, child); /* these belong to the earlier owner of this id */
	return maps_add(p->maps, &(struct event){ .kind = EVENT_FORK,
						  .pid = parent,
						  .fork.child_pid = child });
}

int profiler_forked(struct profiler *p, uint32_t parent, uint32_t child)
{
	struct process *from, *to;

	if (child == parent)
		return 0;
	profiler_forget_process(p, child); /* this is the earlier owner of this id */
	if (other_files_add(&p->others, &(struct event){ .kind = EVENT_FORK,
							 .pid = tasks_koid(p->pipe->tasks, parent),
							 .fork.child_pid = tasks_koid(
								 p->pipe->tasks, child) }) < 0)
		return -ENOMEM;
	if (p->maps && profiler_fork_maps(p, parent, child) < 0)
		return -ENOMEM;
	/* The mappings of the parent are already written. */
	if (p->pipe->own)
		return 0;
	from = table_get(&p->processes, (uint64_t)parent + 1);
	/* Readers give the child the mappings of its parent that were written. Mappings that wait
	 * are copied here. */
	if (!from || (!from->waiting.size && !from->n_unwritten) || from->new_image_ns)
		return 0;
	to = profiler_process_of(p, child);
	if (!to)
		return -ENOMEM;
	to->n_unwritten = from->n_unwritten;
	for (size_t at = 0; at < from->waiting.size;) {
		struct rec_mapping *rec = (struct rec_mapping *)(from->waiting.data + at);
		uint32_t pid = rec->head.pid;
		int r;

		rec->head.pid = child;
		r = profiler_defer(p, to, rec);
		rec->head.pid = pid;
		if (r < 0)
			return r;
		at += rec->head.size;
	}
	return 0;
}

int profiler_ended(struct profiler *p, uint32_t pid)
{
	struct process *process = table_get(&p->processes, (uint64_t)pid + 1);
	int r = process && process->renamed ? profiler_write_waiting(p, process, 0) : 0;

	profiler_forget_process(p, pid);
	if (p->maps)
		maps_remove(p->maps, pid);
	return r;
}

int profiler_need(struct profiler *p, uint32_t pid, uint64_t ts_ns)
{
	struct process *process;

	/* In most cases, no mapping is waiting. */
	if (!p->pipe->filtered && p->waiting_bytes == 0)
		return 0;
	process = table_get(&p->processes, (uint64_t)pid + 1);
	if (!process && !p->pipe->filtered)
		return 0;
	if (!process)
		process = profiler_process_of(p, pid);
	if (!process)
		return -ENOMEM;
	if (process->new_image_ns && ts_ns > process->new_image_ns + EXEC_NS) {
		process->new_image_ns = 0;
		/* The missed record may belong to another exec. */
		process->doubtful |= p->pipe->own;
	}
	process->seen = true;
	if (!p->pipe->own || ts_ns)
		profiler_count_unwritten(p, process);
	if (process->new_image_ns || !process->waiting.size)
		return 0;
	if (p->pipe->own)
		return ts_ns ? profiler_write_proven(p, process, ts_ns, 0) : 0;
	return profiler_write_waiting(p, process, 0);
}

int profiler_selected(struct profiler *p, uint32_t pid)
{
	const struct process *process = table_get(&p->processes, (uint64_t)pid + 1);

	return !p->pipe->filtered || (process && process->seen) ? 0 : profiler_need(p, pid, 0);
}

void profiler_renamed(struct profiler *p, uint32_t pid)
{
	struct process *process = table_get(&p->processes, (uint64_t)pid + 1);

	if (process)
		process->renamed = p->pipe->filtered && !p->pipe->own && !process->seen;
}

void profiler_doubt(struct profiler *p, uint64_t now_ns)
{
	struct process *process;

	p->doubt_ns = now_ns;
	for (size_t pos = 0; (process = table_next(&p->processes, &pos));) {
		process->doubtful = true;
		process->n_unwritten += profiler_count_waiting(process);
		profiler_drop_waiting(p, process);
	}
}

int profiler_trust(struct profiler *p, uint32_t pid, uint64_t ts_ns)
{
	struct process *process = profiler_process_of(p, pid);

	if (!process)
		return -ENOMEM;
	process->doubtful = ts_ns <= p->doubt_ns;
	return 0;
}

int profiler_resume(void *stage)
{
	struct profiler *p = stage;
	struct process *process;

	/*
	 * The numbers of modules continue, and selected processes stay selected. All other state is
	 * reset.
	 */
	for (size_t pos = 0; (process = table_next(&p->processes, &pos));) {
		profiler_drop_waiting(p, process);
		process->renamed = process->doubtful = false;
		process->new_image_ns = process->gone_ns = process->n_unwritten = 0;
		process->n_missed = 0;
	}
	p->doubt_ns = 0;
	if (!p->maps)
		return 0;
	p->maps = maps_free(p->maps);
	return profiler_will_split(p);
}

int profiler_finish(struct profiler *p)
{
	struct process *process;
	int r = 0;

	for (size_t pos = 0; r == 0 && (process = table_next(&p->processes, &pos));)
		if (process->renamed)
			r = profiler_write_waiting(p, process, 0);
	return r;
}

bool profiler_is_between_programs(const struct profiler *p, uint32_t pid)
{
	const struct process *process = table_get(&p->processes, (uint64_t)pid + 1);

	return p->pipe->filtered && process && process->new_image_ns;
}
