/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * list-stacks ARCHIVE: the call stacks in it, a line each, for tests:
 *
 *	tick    TIME PID TID          FRAMES
 *	offcpu  TIME PID TID END STATE WAKER FRAMES
 *
 * Frames are innermost first, with spaces between them: "kernel:ADDRESS", or PATH+OFFSET (in the
 * file, or of an anonymous mapping), or "unmapped:ADDRESS". Numbers of frames are hexadecimal with 16 digits, so that
 * awk can compare them as text. Mappings are those of the archive, at the time of the stack.
 *
 *	mapping TIME PID START SIZE OFFSET DEVICE:INODE BUILD-ID PATH   (- = not known)
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/archive-passes.h"

struct list {
	const struct maps *maps;
	struct event offcpu; /* the last one */
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
	printf("%s %" PRIu64 " %u %u", ev->sample.kind == SAMPLE_OFF_CPU ? "offcpu" : "tick",
	       ev->ts_ns, ev->pid, ev->tid);
	if (ev->sample.kind == SAMPLE_OFF_CPU)
		printf(" %" PRIu64 " %c %u", l->offcpu.offcpu.end_ns, l->offcpu.offcpu.state,
		       l->offcpu.offcpu.waker_tid);
	for (unsigned i = 0; i < ev->sample.n_frames; i++)
		print_frame(l, ev, ev->sample.frames[i]);
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

static int on_event(const struct maps *maps, const struct event *ev, void *userdata)
{
	struct list *l = userdata;

	l->maps = maps;
	if (ev->kind == EVENT_MAPPING)
		print_mapping(ev);
	else if (ev->kind == EVENT_OFFCPU)
		l->offcpu = *ev;
	else if (ev->kind == EVENT_SAMPLE)
		print_sample(l, ev);
	return 0;
}

int main(int argc, char **argv)
{
	struct list l = {};
	int r = argc == 2 ? archive_passes(argv[1], on_event, &l) : -EINVAL;

	if (r < 0)
		fprintf(stderr, "list-stacks: %s\n", strerror(-r));
	return r < 0;
}
