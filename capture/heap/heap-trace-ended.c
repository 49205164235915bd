/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/heap/heap-records.h"
#include "capture/heap/heap-trace-parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/outbuf.h"
#include "base/text.h"
#include "capture/proc/task-state.h"

/* Maximum number of blocks and stacks that are copied at once. */
enum { GATHERED_MAX = 1 << 16 };

/*
 * A program that is not watched within this time after it got its instance number will not be
 * watched.
 */
#define FOREIGN_ENTRIES_NS UINT64_C(1000000000)

/* ---- records ---- */

static int heap_trace_ended_emit(struct heap_trace *m, const struct rec_head *rec)
{
	if (m->error == 0)
		m->error = m->sink.emit(rec, m->sink.userdata);
	return m->error;
}

static void heap_trace_ended_add_text(char *to, size_t size, const char *text)
{
	size_t used = strlen(to);

	snprintf(to + used, size - used, "%s%s", used ? "; " : "", text);
}

/*
 * Judges a program that ended before its files were checked. If a client has announced the files of
 * the program, they are known. Otherwise, the program can have had probes in files that it shares
 * with the previous program of its process. If allocations were counted, it had such probes, but
 * probes in other files can be missing.
 */
static void heap_trace_judge_unseen(const struct heap_trace *m, struct heap_image *image)
{
	const struct memory_process *p = &image->process;

	if (m->announced_ns && p->since_ns == m->announced_ns) {
		image->covered = m->announced.allocates;
		image->settled = true;
		image->complete = image->covered;
		memory_image_note_missing(image, m->announced.missing);
		snprintf(image->unwatched, sizeof(image->unwatched), "%s",
			 *m->announced.why ? m->announced.why : HEAP_PROBES_NO_ALLOCATOR);
		snprintf(image->allocators, sizeof(image->allocators), "%s", m->announced_text);
	} else if (image->n_allocated || p->failed || p->unmatched) {
		image->covered = true;
		memory_image_add_gap(image, WATCHED_GAP_UNSEEN);
		heap_trace_ended_add_text(image->allocators, sizeof(image->allocators),
					  "others can be missing: it ended before its files were "
					  "examined");
	}
}

/* Decides for the report of IMAGE whether the image is watched. */
static void heap_trace_judge_image(const struct heap_trace *m, struct heap_image *image)
{
	const struct memory_process *p = &image->process;
	bool passes;

	if (!image->covered && !image->settled)
		heap_trace_judge_unseen(m, image);
	/*
	 * IMAGE only passes, and is not reported as unwatched, if it is a child that only ran
	 * another program, or a program that executed another one before its files were checked.
	 * The exec has freed the blocks of the old program; see memory_image_gap().
	 */
	passes = p->flags & MEMORY_PROCESS_EXECED &&
		 (!(p->flags & MEMORY_PROCESS_IMAGE) || !image->settled);
	if (!image->covered && !image->settled)
		snprintf(image->unwatched, sizeof(image->unwatched),
			 "it ended before its files were examined");
	if (image->covered || !(m->options->categories & CATEGORY_MEMORY)) {
		image->unwatched[0] = '\0';
		return;
	}
	if (passes)
		image->unwatched[0] = '\0';
	image->complete = false;
}

/* Reports once that IMAGE is watched. */
static int heap_trace_report_watch_begin(struct heap_trace *m, struct heap_image *image)
{
	struct rec_watch rec = {
		.head = {
			.ts_ns = image->process.since_ns,
			.size = sizeof(rec),
			.kind = REC_WATCH,
			.pid = image->process.pid,
			.tid = image->process.pid,
		},
		.instance = image->process.instance,
	};

	if (image->announced)
		return 0;
	image->announced = true;
	heap_trace_judge_image(m, image);
	rec.complete = image->complete;
	memcpy(rec.allocators, image->allocators, sizeof(rec.allocators));
	text_clean(rec.unwatched, sizeof(rec.unwatched), image->unwatched,
		   strlen(image->unwatched));
	return heap_trace_ended_emit(m, &rec.head);
}

/*
 * Returns true if IMAGE has just ended, and its end has not been read from the tables. If no check
 * found its allocators, the judgement depends on its end: exec or exit, and its allocations until
 * then.
 */
static bool heap_trace_end_decides(const struct heap_trace *m, const struct heap_image *image)
{
	struct memory_process process;

	return !image->ended && !image->covered && !image->refused &&
	       !heap_trace_runs(m, image, &process);
}

/* Announces IMAGE, unless an earlier image of its process is to be reported first. */
static int heap_trace_announce_next(struct heap_trace *m, struct heap_image *image)
{
	if (image->announced || image->earlier || heap_trace_end_decides(m, image))
		return 0;
	return heap_trace_report_watch_begin(m, image);
}

int heap_trace_announce(struct heap_trace *m, struct heap_image *image)
{
	int r = image->announced ? 0 : heap_trace_know_ended(m);

	/* (heap_trace_finish_ended() announces IMAGE if it has ended by now) */
	return r < 0 || image->ended ? r : heap_trace_announce_next(m, image);
}

/* Returns true if IMAGE can be announced. A new program must have loaded its libraries. */
static bool heap_trace_is_ready(const struct heap_trace *m, const struct heap_image *image)
{
	const struct heap_probes *traced = heap_trace_probes_of(m, image->process.pid);

	/*
	 * The allocations of an ended image must be counted first. If the image has no probes any
	 * more, this can be the first sign of its end.
	 */
	if (image->ended || !traced || traced->instance != image->process.instance)
		return image->goes || m->stopping;
	return !traced->next_check_ns;
}

int heap_trace_announce_ready(struct heap_trace *m)
{
	struct heap_image *image;
	int r = 0;

	for (size_t pos = 0; r == 0 && (image = table_next(&m->images.by_instance, &pos));)
		if (heap_trace_is_ready(m, image))
			r = heap_trace_announce_next(m, image);
	return r;
}

/* Reports the end of the watch of IMAGE. */
static int heap_trace_report_watch_end(struct heap_trace *m, const struct heap_image *image,
				       uint64_t ts_ns)
{
	const struct memory_process *p = &image->process;
	const struct rec_watched rec = {
		.head = {
			.ts_ns = p->ended_ns ? p->ended_ns : ts_ns,
			.size = sizeof(rec),
			.kind = REC_WATCHED,
			.pid = p->pid,
			.tid = p->pid,
		},
		.instance = p->instance,
		.reason = p->flags & MEMORY_PROCESS_EXECED ? WATCHED_EXEC
			  : p->ended_ns                    ? WATCHED_EXIT
							   : WATCHED_STOP,
		.unmatched = p->unmatched,
		.failed = p->failed,
		.lost = p->lost,
		.full = p->full,
		.no_stack = p->no_stack,
		.gap = memory_image_gap(image),
		.gap_from_ns = image->gap_from_ns,
		.gap_to_ns = image->gap_to_ns,
		.vforked = (image->process.flags & MEMORY_PROCESS_VFORKED) != 0,
		.unsearched = image->unsearched,
		/*
		 * (a search while the image ran does not know the blocks that the image made later)
		 */
		.searched = image->searched && (p->ended_ns == 0 || image->held),
		.examined_ns = image->covered ? image->examined_ns : UINT64_MAX,
	};

	return heap_trace_ended_emit(m, &rec.head);
}

/* ---- ended processes ---- */

bool heap_trace_has_entry(const struct heap_trace *m, const struct heap_image *image,
			  struct memory_process *ret)
{
	return bpf_map_lookup_elem(m->own.processes_fd, &image->process.pid, ret) == 0 &&
	       ret->instance == image->process.instance;
}

bool heap_trace_runs(const struct heap_trace *m, const struct heap_image *image,
		     struct memory_process *ret)
{
	return heap_trace_has_entry(m, image, ret) && !ret->ended_ns;
}

bool heap_trace_find_watched(const struct heap_trace *m, uint32_t pid, struct memory_process *ret)
{
	return bpf_map_lookup_elem(m->own.processes_fd, &pid, ret) == 0 && !ret->ended_ns;
}

void heap_trace_forget(struct heap_trace *m, struct heap_probes *traced)
{
	table_remove(&m->processes, (uint64_t)traced->pid + 1);
	heap_probes_free(traced, &m->probing, &m->going);
}

void heap_trace_detach_forgotten(struct heap_trace *m)
{
	struct outbuf going = m->going;

	m->going = (struct outbuf){ 0 };
	probe_attacher_detach(m->probing.attacher, (const uint32_t *)going.data,
			      going.size / sizeof(uint32_t));
	outbuf_deinit(&going);
}

bool heap_trace_is_watched(const struct heap_trace *m, uint32_t pid)
{
	struct memory_process process;

	return heap_trace_find_watched(m, pid, &process);
}

static int heap_trace_keep_process(const void *key, const void *value, void *userdata)
{
	return outbuf_append(userdata, value, sizeof(struct memory_process));
}

DEFINE_ORDER(heap_trace_ended_by_instance, struct memory_process, COMPARE(x->instance, y->instance))

/*
 * Creates the images of all processes in the table FD, in the order of instances, so that each
 * image is appended to the list of its process.
 */
static int heap_trace_know_all(struct heap_trace *m, int fd, bool ended)
{
	_cleanup_(outbuf_deinit) struct outbuf kept = { 0 };
	const struct memory_map map = { fd, sizeof(uint32_t), sizeof(struct memory_process) };
	struct memory_process *list;
	int r = memory_map_each(&map, heap_trace_keep_process, &kept);

	if (r < 0 || kept.size == 0)
		return r;
	list = (struct memory_process *)kept.data;
	SORT(list, kept.size / sizeof(*list), heap_trace_ended_by_instance);
	for (size_t i = 0; i < kept.size / sizeof(*list); i++) {
		struct heap_image *image = heap_images_add(&m->images, &list[i]);

		if (!image)
			return -ENOMEM;
		if (!ended)
			continue;
		image->process = list[i];
		image->ended = true;
	}
	return 0;
}

int heap_trace_know_watched(struct heap_trace *m)
{
	return heap_trace_know_all(m, m->own.processes_fd, false);
}

int heap_trace_know_ended(struct heap_trace *m)
{
	return heap_trace_know_all(m, m->own.ended_fd, true);
}

static int heap_trace_keep_ending(const void *key, const void *value, void *userdata)
{
	struct memory_process process;

	memcpy(&process, value, sizeof(process));
	return process.ended_ns ? outbuf_append(userdata, key, sizeof(uint32_t)) : 0;
}

/*
 * Ends process PID if all its threads have ended. (The entry of PID is read after that check, so
 * nothing changes it any more. If the table of ended processes is full, the entry stays for the
 * next time.)
 */
static void heap_trace_end_if_exited(const struct heap_trace *m, uint32_t pid)
{
	struct memory_process process;

	/*
	 * The entry is first copied to the table of ended processes, so that the program is always
	 * in one of the two tables.
	 */
	if (task_state_process_has_ended((pid_t)pid) &&
	    bpf_map_lookup_elem(m->own.processes_fd, &pid, &process) == 0 && process.ended_ns &&
	    bpf_map_update_elem(m->own.ended_fd, &process.instance, &process, BPF_ANY) == 0)
		bpf_map_delete_elem(m->own.processes_fd, &pid);
}

/*
 * Moves the processes whose threads have all ended from the table of running processes to the table
 * of ended ones. The eBPF programs do this themselves if they know which thread is the last one.
 */
static int heap_trace_end_exited(struct heap_trace *m)
{
	_cleanup_(outbuf_deinit) struct outbuf kept = { 0 };
	const struct memory_map map = { m->own.processes_fd, sizeof(uint32_t),
					sizeof(struct memory_process) };
	int r = memory_map_each(&map, heap_trace_keep_ending, &kept);

	for (size_t i = 0; r == 0 && i < kept.size / sizeof(uint32_t); i++)
		heap_trace_end_if_exited(m, ((const uint32_t *)kept.data)[i]);
	return r;
}

/*
 * Ends images that neither run nor are in the table of ended programs: there was no space to report
 * their end. Later images of the same processes would wait for them. A refused image (there was no
 * room to watch it) has no end, unless its process has a later image.
 */
static void heap_trace_end_unreported(struct heap_trace *m)
{
	struct memory_process process;
	struct heap_image *image;

	for (size_t pos = 0; (image = table_next(&m->images.by_instance, &pos));) {
		if (image->ended || (image->refused && !image->later) ||
		    heap_trace_has_entry(m, image, &process))
			continue;
		/*
		 * The image can have ended after the table of ended programs was read. A program is
		 * entered into that table before it stops running.
		 */
		if (bpf_map_lookup_elem(m->own.ended_fd, &image->process.instance, &process) == 0) {
			image->process = process;
			image->ended = true;
		} else {
			memory_image_end_unreported(image);
		}
	}
}

/*
 * The eBPF programs could not report the ends of some processes for lack of space. The worker may
 * not know these processes, but their entries occupy the tables. These entries can be distinguished
 * from others only if all running processes are known.
 */
static void heap_trace_find_foreign_entries(struct heap_trace *m)
{
	uint64_t ends_unreported = __atomic_load_n(m->own.ends_unreported, __ATOMIC_RELAXED);

	if (m->foreign_entries || ends_unreported == m->ends_unreported)
		return;
	m->ends_unreported = ends_unreported;
	m->foreign_entries = __atomic_load_n(m->own.instances, __ATOMIC_RELAXED);
	m->foreign_entries_ns = clock_read_ns(CLOCK_MONOTONIC) + FOREIGN_ENTRIES_NS;
}

static bool heap_trace_foreign_entries_due(const struct heap_trace *m)
{
	return m->foreign_entries && clock_read_ns(CLOCK_MONOTONIC) >= m->foreign_entries_ns;
}

/* Marks the images of processes that have ended. */
static int heap_trace_find_ended(struct heap_trace *m)
{
	int r = 0;

	r = heap_trace_end_exited(m);
	if (r < 0)
		return r;
	heap_trace_find_foreign_entries(m);
	/*
	 * Running processes are read first: if a process ends meanwhile, it is then found in the
	 * other table.
	 */
	m->foreign_entries_go = heap_trace_foreign_entries_due(m);
	if (m->foreign_entries_go)
		r = heap_trace_know_watched(m);
	r = r ?: heap_trace_know_ended(m);
	if (r == 0)
		heap_trace_end_unreported(m);
	m->n_ended = 0;
	return r;
}

int heap_trace_count_allocated(struct heap_trace *m)
{
	const struct heap_image *image;

	for (size_t pos = 0; (image = table_next(&m->images.by_instance, &pos));)
		if (image->ended && !image->announced && !image->covered && !image->settled)
			return heap_tables_count(&m->tables, &m->images);
	return 0;
}

/* ---- reporting ---- */

/* The images that are being finished, in the order of instances. */
struct going {
	struct outbuf list; /* struct heap_image * */
	size_t n;
	bool chained; /* some of them belong to the same process */
};

static void heap_trace_going_deinit(struct going *going)
{
	outbuf_deinit(&going->list);
}

static struct heap_image *heap_trace_ended_nth(const struct going *going, size_t i)
{
	return ((struct heap_image **)going->list.data)[i];
}

static bool heap_trace_is_chained(const struct going *going, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (heap_trace_ended_nth(going, i)->earlier)
			return true;
	return false;
}

/*
 * Selects the images to finish, as many as can be copied at once: images of one process are
 * reported one after another. If each process has only one image, nothing is copied.
 */
static int heap_trace_ended_choose(struct heap_trace *m, struct going *going)
{
	size_t n = going->list.size / sizeof(struct heap_image *);
	uint64_t gathered = 0;
	int r;

	going->n = n;
	if (heap_trace_is_chained(going, n)) {
		r = heap_tables_count(&m->tables, &m->images);
		if (r < 0)
			return r;
		for (going->n = 0; going->n < n; going->n++) {
			const struct heap_image *image = heap_trace_ended_nth(going, going->n);

			gathered += image->n_blocks + image->n_stacks;
			if (going->n > 0 && gathered > GATHERED_MAX)
				break;
		}
	}
	going->chained = heap_trace_is_chained(going, going->n);
	for (size_t i = 0; i < going->n; i++)
		heap_trace_ended_nth(going, i)->goes = true;
	return 0;
}

/*
 * Reports images of which no two belong to one process. Records are sent while the tables are read.
 */
static int heap_trace_report_together(struct heap_trace *m, const struct going *going,
				      uint64_t ts_ns)
{
	int r = heap_trace_announce_ready(m)
			?: heap_tables_usage(&m->tables, &m->images, ts_ns, &m->sink)
			?: heap_tables_snapshot(&m->tables, &m->images, ts_ns, &m->sink);

	for (size_t i = 0; r == 0 && i < going->n; i++)
		r = heap_trace_report_watch_end(m, heap_trace_ended_nth(going, i), ts_ns);
	return r;
}

/* Copies the tables and reports image by image. */
static int heap_trace_report_one_by_one(struct heap_trace *m, const struct going *going,
					uint64_t ts_ns)
{
	_cleanup_(memory_gathered_deinit) struct memory_gathered gathered = { 0 };
	int r = heap_tables_gather(&m->tables, &m->images, &gathered);

	for (size_t i = 0; r == 0 && i < going->n; i++) {
		struct heap_image *image = heap_trace_ended_nth(going, i);

		r = heap_trace_report_watch_begin(m, image)
			    ?: heap_tables_emit_gathered(&m->tables, &m->images, image, ts_ns,
							&gathered, &m->sink)
			    ?: heap_trace_report_watch_end(m, image, ts_ns);
	}
	return r;
}

/* Removes the finished images, whose entries are no longer in the tables. */
static void heap_trace_ended_drop(struct heap_trace *m, const struct going *going)
{
	for (size_t i = 0; i < going->n; i++) {
		struct heap_image *image = heap_trace_ended_nth(going, i);
		uint32_t instance = image->process.instance;
		struct heap_probes *traced = heap_trace_probes_of(m, image->process.pid);

		bpf_map_delete_elem(m->own.ended_fd, &instance);
		if (traced && traced->instance == instance &&
		    !heap_trace_is_watched(m, traced->pid))
			heap_trace_forget(m, traced);
		heap_images_remove(&m->images, image);
	}
}

static int heap_trace_ended_forget(struct heap_trace *m)
{
	/* Entries without an image are removed only if all running processes were known before. */
	int r = heap_tables_forget(&m->tables, &m->images,
				   m->foreign_entries_go ? m->foreign_entries : 0);

	if (m->foreign_entries_go)
		m->foreign_entries = 0;
	m->foreign_entries_go = false;
	return r;
}

/* Finishes some of the ended images. Returns their number, or a negative errno. */
static int heap_trace_finish_some(struct heap_trace *m, uint64_t ts_ns)
{
	_cleanup_(heap_trace_going_deinit) struct going going = { 0 };
	int r = heap_images_ended(&m->images, &going.list);

	if (r < 0 || going.list.size == 0)
		return r;
	r = heap_trace_ended_choose(m, &going) ?: heap_trace_count_allocated(m);
	if (r < 0)
		return r;
	r = going.chained ? heap_trace_report_one_by_one(m, &going, ts_ns)
			  : heap_trace_report_together(m, &going, ts_ns);
	r = r ?: heap_trace_ended_forget(m);
	if (r == 0)
		heap_trace_ended_drop(m, &going);
	else
		for (size_t i = 0; i < going.n; i++)
			heap_trace_ended_nth(&going, i)->goes = false;
	return r < 0 ? r : (int)going.n;
}

int heap_trace_finish_ended(struct heap_trace *m, uint64_t ts_ns, uint64_t cpu_ns_max)
{
	uint64_t until_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) + cpu_ns_max;
	int r = heap_trace_find_ended(m);

	if (r < 0)
		return r;
	do {
		if (clock_read_ns(CLOCK_THREAD_CPUTIME_ID) >= until_ns)
			return 1;
		r = heap_trace_finish_some(m, ts_ns);
	} while (r > 0);
	return r;
}

int heap_trace_finish_now(struct heap_trace *m, uint64_t cpu_ns_max)
{
	int r = heap_trace_finish_ended(m, clock_boot_ns(), cpu_ns_max);

	if (r > 0)
		m->n_ended = HEAP_TRACE_ENDED_MANY;
	return r;
}
