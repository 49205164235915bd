/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * list-stacks ARCHIVE: prints the call stacks in ARCHIVE, one per line, for tests:
 *
 *	tick    TIME PID TID          FRAMES
 *	offcpu  TIME PID TID END STATE WAKER FRAMES
 *	waiting TIME PID TID END STATE WAKER FRAMES   (off CPU when the recording ended)
 *	earlier TIME PID TID END STATE WAKER FRAMES   (off CPU when the recording began only)
 *	block   TIME PID SIZE RESOURCE FUNCTION FRAMES   (of snapshots)
 *
 * Frames are innermost first, with spaces between them: "kernel:ADDRESS", or PATH+OFFSET (in the
 * file, or of an anonymous mapping), or "unmapped:ADDRESS". Numbers of frames are hexadecimal with
 * 16 digits, so that awk can compare them as text. Mappings are those of the archive, at the time
 * of the stack.
 *
 *	mapping TIME PID START SIZE OFFSET DEVICE:INODE BUILD-ID PATH   (- = unknown)
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/table.h"
#include "reader/fxt/fxt-events.h"
#include "model/maps.h"

struct named {
	unsigned n_frames;
	uint64_t frames[];
};

struct list {
	struct maps *maps;
	struct table named;  /* id -> struct named, owned */
	struct event offcpu; /* the last one, without its texts */
	bool waiting;        /* it is unfinished */
	bool earlier;        /* the time off CPU has ended, and began before the recording */
	bool only_maps;
};

static void print_frame(const struct list *l, const struct event *ev, uint64_t address)
{
	const struct mapping *m = maps_find(l->maps, ev->pid, address, ev->ts_ns);

	if (maps_is_kernel(address))
		printf(" kernel:%016" PRIx64, address);
	else if (m)
		printf(" %s+%016" PRIx64, m->path, address - m->start + m->file_offset);
	else
		printf(" unmapped:%016" PRIx64, address);
}

static void print_sample(const struct list *l, const struct event *ev)
{
	printf("%s %" PRIu64 " %u %u",
	       ev->sample.kind != SAMPLE_OFF_CPU ? "tick"
	       : l->waiting                      ? "waiting"
	       : l->earlier                      ? "earlier"
						 : "offcpu",
	       ev->ts_ns, ev->pid, ev->tid);
	if (ev->sample.kind == SAMPLE_OFF_CPU)
		printf(" %" PRIu64 " %c %u", l->offcpu.offcpu.end_ns, l->offcpu.offcpu.state,
		       l->offcpu.offcpu.waker_tid);
	for (unsigned i = 0; i < ev->sample.n_frames; i++)
		print_frame(l, ev, ev->sample.frames[i]);
	putchar('\n');
}

/* Keeps the frames of a stack by the stack's id. Ids are hashes of the frames, so different stacks
 * have different ids. */
static int keep_named(struct list *l, const struct event *ev)
{
	size_t bytes = ev->sample.n_frames * sizeof(uint64_t);
	struct named *named = malloc(sizeof(*named) + bytes);

	if (!named)
		return -ENOMEM;
	named->n_frames = ev->sample.n_frames;
	memcpy(named->frames, ev->sample.frames, bytes);
	free(table_get(&l->named, ev->sample.id));
	return table_set(&l->named, ev->sample.id, named);
}

static void print_block(const struct list *l, const struct event *ev)
{
	const struct named *named = ev->block.stack ? table_get(&l->named, ev->block.stack) : NULL;

	printf("block %" PRIu64 " %u %" PRIu64 " %s ", ev->ts_ns, ev->pid, ev->block.size,
	       resource_names[ev->block.resource]);
	for (const char *p = *ev->block.function ? ev->block.function : "-"; *p; p++)
		putchar(*p == ' ' ? '_' : *p);
	for (unsigned i = 0; named && i < named->n_frames; i++)
		print_frame(l, ev, named->frames[i]);
	putchar('\n');
}

static void print_mapping(const struct event *ev)
{
	printf("mapping %" PRIu64 " %u %016" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64 ":%" PRIu64
	       " ",
	       ev->ts_ns, ev->pid, ev->mapping.start, ev->mapping.size, ev->mapping.file_offset,
	       ev->mapping.device, ev->mapping.inode);
	for (uint32_t i = 0; i < ev->mapping.build_id_size; i++)
		printf("%02x", ev->mapping.build_id[i]);
	printf("%s %s\n", ev->mapping.build_id_size ? "" : "-", ev->mapping.path);
}

/* Called twice: the mappings of all times must be known before the first stack. */
static int pass(struct list *l, const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_(fxt_events_freep) struct fxt_events *events = NULL;
	_cleanup_(fxt_reader_freep) struct fxt_reader *reader = NULL;
	const struct fxt_record *record;
	const char *what;
	struct event ev;
	int r = fd < 0 ? -errno : fxt_reader_new_fd(&reader, fd);

	if (r >= 0)
		r = fxt_events_new(&events);
	while (r >= 0 && (r = fxt_reader_next(reader, &record)) == FXT_READER_RECORD) {
		if (fxt_events_get(events, record, &ev, &what) != FXT_EVENTS_EVENT)
			continue;
		if (l->only_maps) {
			r = maps_add(l->maps, &ev);
			if (ev.kind == EVENT_MAPPING)
				print_mapping(&ev);
		} else if (ev.kind == EVENT_OFFCPU) {
			l->offcpu = ev;
			l->waiting = ev.offcpu.left_by;
			l->earlier = !l->waiting && ev.offcpu.begun;
		} else if (ev.kind == EVENT_SAMPLE && ev.sample.kind == SAMPLE_NAMED) {
			r = keep_named(l, &ev);
		} else if (ev.kind == EVENT_SAMPLE) {
			print_sample(l, &ev);
		} else if (ev.kind == EVENT_BLOCK) {
			print_block(l, &ev);
		}
	}
	return r;
}

int main(int argc, char **argv)
{
	struct list l = { .only_maps = true };
	struct named *named;
	size_t pos = 0;
	int r = argc == 2 ? maps_new(&l.maps, MAPS_OF_ALL_TIMES) : -EINVAL;

	if (r >= 0)
		r = pass(&l, argv[1]);
	l.only_maps = false;
	if (r >= 0)
		r = pass(&l, argv[1]);
	while ((named = table_next(&l.named, &pos)))
		free(named);
	table_deinit(&l.named);
	maps_free(l.maps);
	if (r < 0)
		fprintf(stderr, "list-stacks: %s\n", strerror(-r));
	return r < 0;
}
