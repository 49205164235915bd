/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes the profiler's events: modules and mappings, stacks, and names of addresses.
 */
#include <errno.h>
#include <string.h>

#include "writer/fxt/fxt-archive-rows.h"

/* Returns the last bytes of PATH that fit into the name of a module, from the begin of a character
 * on. */
static const char *fxt_archive_profiler_module_name(const char *path)
{
	size_t n = strlen(path);

	if (n <= FXT_MODULE_NAME_MAX)
		return path;
	path += n - FXT_MODULE_NAME_MAX;
	while (((unsigned char)*path & 0xc0) == 0x80)
		path++;
	return path;
}

static int fxt_archive_write_mapping_records(struct fxt_archive *a, const struct event *ev)
{
	const struct fxt_out_thread thread = { ev->pid, ev->pid };
	int r = fxt_write_module(&a->writer,
				 &(struct fxt_module){
					 .ts_ticks = ev->ts_ns,
					 .thread = thread,
					 .id = ev->mapping.module_id,
					 .name = fxt_archive_profiler_module_name(ev->mapping.path),
					 .build_id = ev->mapping.build_id,
					 .build_id_size = ev->mapping.build_id_size,
				 });

	if (r < 0)
		return r;
	return fxt_write_mmap(&a->writer, &(struct fxt_mmap){
						  .ts_ticks = ev->ts_ns,
						  .thread = thread,
						  .module_id = ev->mapping.module_id,
						  .flags = FXT_MMAP_READABLE | FXT_MMAP_EXECUTABLE,
						  .start = ev->mapping.start,
						  .range = ev->mapping.size,
						  .vaddr = ev->mapping.file_offset,
					  });
}

int fxt_archive_mapping(struct fxt_archive *a, const struct event *ev)
{
	int r;

	if (ev->mapping.module_id > FXT_MODULE_ID_MAX ||
	    ev->mapping.build_id_size > FXT_BUILD_ID_BYTES_MAX)
		return -EINVAL;
	r = fxt_archive_row(a, FXT_ROW_MAPPING, ev);
	return r < 0 ? r : fxt_archive_write_mapping_records(a, ev);
}

int fxt_archive_sample(struct fxt_archive *a, const struct event *ev)
{
	struct fxt_out_thread thread = { ev->pid, ev->tid };
	unsigned n = ev->sample.n_frames;
	int r = 0;

	if (ev->sample.kind == SAMPLE_NAMED) {
		r = fxt_archive_row(a, FXT_ROW_STACK, ev);
		/* The event `stack` names the backtrace, so both are written on the same thread. */
		thread.tid = ev->pid;
	}
	return r < 0 ? r
		     : fxt_write_backtrace(
			       &a->writer,
			       &(struct fxt_backtrace){
				       .ts_ticks = ev->ts_ns,
				       .thread = thread,
				       .frames = ev->sample.frames,
				       .n_frames = n < FXT_BACKTRACE_MAX ? n : FXT_BACKTRACE_MAX,
			       });
}
