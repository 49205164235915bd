/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/heap/heap-images.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "capture/heap/reach.h"
#include "model/event.h"

static uint64_t heap_images_pid_key(uint32_t pid)
{
	return (uint64_t)pid + 1;
}

static void heap_images_free(struct heap_image *image)
{
	memory_image_forget_reach(image);
	free(image);
}

void heap_images_deinit(struct heap_images *images)
{
	struct heap_image *image;

	for (size_t pos = 0; (image = table_next(&images->by_instance, &pos));)
		heap_images_free(image);
	table_deinit(&images->by_instance);
	table_deinit(&images->by_pid);
}

struct heap_image *heap_images_get(const struct heap_images *images, uint32_t instance)
{
	return table_get(&images->by_instance, instance);
}

/* Inserts IMAGE into the list of its process, usually at the end. Returns 0 or -ENOMEM. */
static int heap_images_enlist(struct heap_images *images, struct heap_image *image)
{
	struct heap_image *earlier, *later = NULL;

	earlier = table_get(&images->by_pid, heap_images_pid_key(image->process.pid));
	while (earlier && earlier->process.instance > image->process.instance) {
		later = earlier;
		earlier = earlier->earlier;
	}
	if (!later &&
	    table_set(&images->by_pid, heap_images_pid_key(image->process.pid), image) < 0)
		return -ENOMEM;
	image->earlier = earlier;
	image->later = later;
	if (earlier)
		earlier->later = image;
	if (later)
		later->earlier = image;
	return 0;
}

struct heap_image *heap_images_add(struct heap_images *images, const struct memory_process *p)
{
	struct heap_image *image = heap_images_get(images, p->instance);

	if (image || p->instance == 0)
		return image;
	image = table_make(&images->by_instance, p->instance, sizeof(*image));
	if (!image)
		return NULL;
	image->process = *p;
	if (heap_images_enlist(images, image) < 0) {
		table_remove(&images->by_instance, p->instance);
		free(image);
		return NULL;
	}
	return image;
}

void heap_images_remove(struct heap_images *images, struct heap_image *image)
{
	if (image->earlier)
		image->earlier->later = image->later;
	if (image->later)
		image->later->earlier = image->earlier;
	else
		table_remove(&images->by_pid, heap_images_pid_key(image->process.pid));
	/* The insertion cannot fail, since an element was just removed. */
	if (!image->later && image->earlier)
		table_set(&images->by_pid, heap_images_pid_key(image->process.pid), image->earlier);
	table_remove(&images->by_instance, image->process.instance);
	heap_images_free(image);
}

DEFINE_ORDER_OF_POINTERS(heap_images_by_instance, struct heap_image,
			 COMPARE(x->process.instance, y->process.instance))

int heap_images_ended(const struct heap_images *images, struct outbuf *ret)
{
	struct heap_image *image;
	int r = 0;

	for (size_t pos = 0; r == 0 && (image = table_next(&images->by_instance, &pos));) {
		if (image->earlier)
			continue;
		for (; r == 0 && image && image->ended; image = image->later)
			r = outbuf_append(ret, &image, sizeof(struct heap_image *));
	}
	if (r == 0)
		SORT((struct heap_image **)ret->data, ret->size / sizeof(struct heap_image *),
		     heap_images_by_instance);
	return r;
}

void memory_image_add_gap(struct heap_image *image, uint32_t gap)
{
	if (image->gap == WATCHED_GAP_NONE)
		image->gap = gap;
	image->complete = false;
}

static bool heap_images_is_refused(uint32_t gap)
{
	return gap == WATCHED_GAP_REFUSED_MEMORY || gap == WATCHED_GAP_REFUSED_THREADS ||
	       gap == WATCHED_GAP_REFUSED;
}

void memory_image_note_missing(struct heap_image *image, uint32_t functions)
{
	uint32_t of_threads = functions & ~((UINT32_C(1) << MEMORY_FN_PTHREAD_CREATE) - 1);
	uint32_t gap = of_threads == 0           ? WATCHED_GAP_REFUSED_MEMORY
		       : of_threads == functions ? WATCHED_GAP_REFUSED_THREADS
						 : WATCHED_GAP_REFUSED;

	if (functions == 0)
		return;
	/*
	 * (if functions of the other kind were refused in an earlier file, both kinds lack probes)
	 */
	if (heap_images_is_refused(image->gap) && image->gap != gap)
		image->gap = WATCHED_GAP_REFUSED;
	memory_image_add_gap(image, gap);
}

void memory_image_note_probed(struct heap_image *image, uint64_t probed_ns, uint64_t mapped_ns)
{
	if (image->settled && probed_ns > image->probed_ns && image->gap == WATCHED_GAP_NONE) {
		memory_image_add_gap(image, WATCHED_GAP_LOADED);
		image->gap_from_ns = mapped_ns;
		image->gap_to_ns = probed_ns;
	}
	image->probed_ns = probed_ns > image->probed_ns ? probed_ns : image->probed_ns;
}

uint32_t memory_image_gap(const struct heap_image *image)
{
	uint32_t flags = image->process.flags, gap = image->gap;

	if (gap == WATCHED_GAP_NONE)
		gap = flags & MEMORY_PROCESS_SHARED           ? WATCHED_GAP_SHARED
		      : flags & MEMORY_PROCESS_HEAP_DESTROYED ? WATCHED_GAP_HEAP
							      : WATCHED_GAP_NONE;

	return gap != WATCHED_GAP_THREAD && image->process.flags & MEMORY_PROCESS_EXECED
		       ? WATCHED_GAP_NONE
		       : gap;
}

void memory_image_end_unreported(struct heap_image *image)
{
	struct memory_process *p = &image->process;
	const struct heap_image *later = image->later;

	image->ended = true;
	p->lost++;
	/*
	 * The next image shows the latest possible end of this one, and whether the end was an
	 * exec.
	 */
	if (!later || p->ended_ns)
		return;
	p->ended_ns = later->process.since_ns - 1;
	if (later->process.flags & MEMORY_PROCESS_IMAGE)
		p->flags |= MEMORY_PROCESS_EXECED;
}

uint32_t memory_image_reach_of(const struct heap_image *image, uint64_t address, uint64_t birth_ns)
{
	const struct reach_block *b = reach_block_at(image->reach, image->n_reach, address);

	return b && b->birth_ns == birth_ns ? b->reach : REACH_UNKNOWN;
}

void memory_image_forget_reach(struct heap_image *image)
{
	image->reach = free_ptr(image->reach);
	image->n_reach = 0;
	image->unsearched = WATCHED_UNSEARCHED_NONE;
	image->searched = image->held = false;
}
