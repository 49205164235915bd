/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/heap/heap-trace-parts.h"

#include <stdio.h>

#include "base/array.h"
#include "base/clock.h"

#define MS_NS UINT64_C(1000000)

/*
 * After exec, a new program maps its libraries step by step. So its files are checked several
 * times.
 */
static const uint64_t delays_ns[] = { MS_NS, 3 * MS_NS, 10 * MS_NS, 30 * MS_NS, 100 * MS_NS };

void heap_trace_plan_checks(struct heap_probes *traced)
{
	traced->n_checks = 0;
	traced->next_check_ns = clock_read_ns(CLOCK_MONOTONIC) + delays_ns[0];
}

/*
 * Returns the time of the exec that began IMAGE, the program of TRACED; or UINT64_MAX if there was
 * none since the beginning of the recording. The watch of a program can begin after its exec.
 */
static uint64_t heap_trace_check_exec_ns(const struct heap_probes *traced,
					 const struct heap_image *image)
{
	uint64_t since_ns = image->process.since_ns;

	if (image->process.flags & MEMORY_PROCESS_IMAGE)
		return since_ns;
	return traced->exec_ns && traced->exec_ns < since_ns ? traced->exec_ns : UINT64_MAX;
}

void heap_trace_apply_found(struct heap_trace *m, const struct heap_probes *traced,
			    struct heap_image *image)
{
	const struct heap_probes_found *found = &traced->found;
	struct memory_process process;

	if (traced->has_gap)
		memory_image_add_gap(image, WATCHED_GAP_THREAD);
	if (!found->any || !heap_trace_runs(m, image, &process))
		return;
	image->examined_ns = traced->examined_ns;
	image->covered = found->allocates;
	if ((!image->settled || traced->next_check_ns) &&
	    found->since_ns > heap_trace_check_exec_ns(traced, image))
		memory_image_add_gap(image, WATCHED_GAP_LATE);
	memory_image_note_missing(image, found->missing);
	memory_image_note_probed(image, found->since_ns, found->mapped_ns);
	image->settled = found->is_static || !traced->next_check_ns;
	snprintf(image->unwatched, sizeof(image->unwatched), "%s",
		 *found->why        ? found->why
		 : *traced->refused ? traced->refused
				    : HEAP_PROBES_NO_ALLOCATOR);
	heap_probes_describe(traced, image->allocators, sizeof(image->allocators));
}

/*
 * Checks the files of a process, which may already run another program. Returns true if the process
 * is watched.
 */
static bool heap_trace_check_files(struct heap_trace *m, struct heap_probes *traced)
{
	struct memory_process process;
	struct heap_image *image;
	bool watched, had_files = traced->n_files > 0;

	watched = heap_trace_find_watched(m, traced->pid, &process);
	if (watched && process.instance != traced->instance) {
		image = heap_images_add(&m->images, &process);
		if (!image)
			return true;
		traced->instance = process.instance;
		traced->refused[0] = '\0';
		/*
		 * If only system calls are traced, no probes are needed, and the watch is complete.
		 */
		image->complete = had_files || !(m->options->categories & CATEGORIES_PROBES);
		heap_trace_list_resources(m, traced->pid, traced->instance, true);
	}
	had_files = heap_probes_check(traced, &m->probing) == 0;
	image = watched ? heap_images_get(&m->images, traced->instance) : NULL;
	if (image) {
		image->complete &= had_files;
		heap_trace_apply_found(m, traced, image);
	}
	return watched;
}

bool heap_trace_check(struct heap_trace *m, struct heap_probes *traced)
{
	struct rec_task program;
	bool watched = true;

	if (heap_trace_may_check(m, traced->pid, &program)) {
		watched = heap_trace_check_files(m, traced);
		if (heap_trace_was_same(m, &program))
			return watched;
	}
	heap_probes_strip(traced, &m->probing);
	return true;
}

/* ---- holders ---- */

void heap_trace_hold_probes(struct heap_trace *m, struct heap_probes *traced, uint64_t ended_ns)
{
	struct heap_image *image = heap_images_get(&m->images, traced->instance);
	unsigned i = 0;

	for (; i < HEAP_PROBES_HOLDERS_MAX && heap_probes_lack_holder(traced); i++) {
		if (i == 0 && !traced->unheld_ns)
			traced->unheld_ns = ended_ns;
		heap_trace_check(m, traced);
	}
	if (image && i == HEAP_PROBES_HOLDERS_MAX && heap_probes_lack_holder(traced))
		memory_image_add_gap(image, WATCHED_GAP_THREAD);
}

void heap_trace_owner_ended(struct heap_trace *m, struct heap_probes *traced, uint64_t ts_ns)
{
	struct heap_image *image = heap_images_get(&m->images, traced->instance);

	if (!m->stopping)
		heap_trace_hold_probes(m, traced, ts_ns);
	if (image && heap_probes_has_lost_holder(traced))
		memory_image_add_gap(image, WATCHED_GAP_THREAD);
}

/* ---- later checks ---- */

void heap_trace_check_process(struct heap_trace *m, uint32_t pid, uint64_t mapped_ns)
{
	struct heap_probes *traced = heap_trace_probes_of(m, pid);

	if (!traced)
		return;
	traced->mapped_ns = mapped_ns;
	heap_trace_check(m, traced);
}

void heap_trace_check_all(struct heap_trace *m, uint64_t mapped_ns)
{
	struct heap_probes *traced;

	for (size_t pos = 0; (traced = table_next(&m->processes, &pos));) {
		traced->mapped_ns = mapped_ns;
		heap_trace_check(m, traced);
	}
}

/*
 * Checks TRACED again. Returns true if no more checks are due, so that the watch can be announced.
 */
static bool heap_trace_check_again(struct heap_trace *m, struct heap_probes *traced,
				   uint64_t now_ns)
{
	traced->next_check_ns = 0;
	if (traced->n_checks < ARRAY_SIZE(delays_ns))
		traced->next_check_ns = now_ns + delays_ns[traced->n_checks++];
	heap_trace_check(m, traced);
	return !traced->next_check_ns;
}

bool heap_trace_check_due(struct heap_trace *m, uint64_t now_ns)
{
	struct heap_probes *traced;
	bool any = false;

	for (size_t pos = 0; (traced = table_next(&m->processes, &pos));)
		if (traced->next_check_ns && traced->next_check_ns <= now_ns)
			any |= heap_trace_check_again(m, traced, now_ns);
	return any;
}
