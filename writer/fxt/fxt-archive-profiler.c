/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the profiler found: modules and mappings, stacks, and what addresses mean.
 */
#include <errno.h>
#include <string.h>

#include "writer/fxt/fxt-archive-args.h"

int fxt_archive_sampling(struct fxt_archive *a, const struct event *ev)
{
	struct args args = { .n = 0 };

	archive_args_add_u32(&args, FXT_NAME_FREQUENCY, ev->sampling.frequency);
	archive_args_add_text(&args, FXT_NAME_CLOCK, ev->sampling.clock);
	add_u64(&args, FXT_NAME_THRESHOLD, ev->sampling.threshold_ns);
	return fxt_archive_on_kymo(a, ev->ts_ns, FXT_NAME_PROFILE, FXT_NAME_SAMPLING, &args);
}

/* The end of PATH, as much of it as the name of a module holds, from a character on. */
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

static int write_mapping_records(struct fxt_archive *a, const struct event *ev)
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

/* Not by snprintf(), which would cost more than all the rest of a mapping. */
static void put_hex(char *to, const uint8_t *bytes, uint32_t n)
{
	static const char digits[] = "0123456789abcdef";

	for (uint32_t i = 0; i < n; i++) {
		*to++ = digits[bytes[i] >> 4];
		*to++ = digits[bytes[i] & 15];
	}
	*to = '\0';
}

/* On a thread of its own: thousands of them on the threads of programs would hide what these did. */
static int write_about_code(struct fxt_archive *a, uint64_t ts_ns, enum fxt_name name,
			    const struct args *args)
{
	const struct event about_code = {
		.ts_ns = ts_ns,
		.pid = FXT_KOID_CODE,
		.tid = FXT_KOID_CODE,
	};
	int r = fxt_archive_track(a, FXT_TRACK_CODE, 0);

	return r < 0 ? r : fxt_archive_instant(a, &about_code, FXT_NAME_PROFILE, name, args);
}

int fxt_archive_mapping(struct fxt_archive *a, const struct event *ev)
{
	char build_id[2 * FXT_BUILD_ID_BYTES_MAX + 1];
	struct args args = { .n = 0 };
	int r;

	if (ev->mapping.module_id > FXT_MODULE_ID_MAX ||
	    ev->mapping.build_id_size > FXT_BUILD_ID_BYTES_MAX)
		return -EINVAL;
	add_koid(&args, FXT_NAME_PROCESS, ev->pid);
	archive_args_add_text(&args, FXT_NAME_PATH, ev->mapping.path);
	add_u64(&args, FXT_NAME_FILE_OFFSET, ev->mapping.file_offset);
	add_pointer(&args, FXT_NAME_START, ev->mapping.start);
	add_u64(&args, FXT_NAME_SIZE, ev->mapping.size);
	archive_args_add_u32(&args, FXT_NAME_MODULE_ID, ev->mapping.module_id);
	if (ev->mapping.inode) {
		add_u64(&args, FXT_NAME_DEVICE, ev->mapping.device);
		add_u64(&args, FXT_NAME_INODE, ev->mapping.inode);
	}
	put_hex(build_id, ev->mapping.build_id, ev->mapping.build_id_size);
	if (ev->mapping.build_id_size)
		archive_args_add_text(&args, FXT_NAME_BUILD_ID, build_id);
	r = write_about_code(a, ev->ts_ns, FXT_NAME_MAPPING, &args);
	return r < 0 ? r : write_mapping_records(a, ev);
}

int fxt_archive_sample(struct fxt_archive *a, const struct event *ev)
{
	unsigned n = ev->sample.n_frames;
	int r = 0;

	if (ev->sample.kind == SAMPLE_NAMED)
		r = fxt_archive_stack_name(a, ev);
	return r < 0 ? r
		     : fxt_write_backtrace(
			       &a->writer,
			       &(struct fxt_backtrace){
				       .ts_ticks = ev->ts_ns,
				       .thread = { ev->pid, ev->tid },
				       .frames = ev->sample.frames,
				       .n_frames = n < FXT_BACKTRACE_MAX ? n : FXT_BACKTRACE_MAX,
			       });
}

int fxt_archive_offcpu(struct fxt_archive *a, const struct event *ev)
{
	const char state[] = { ev->offcpu.state, '\0' };
	struct args args = { .n = 0 };

	if (ev->offcpu.end_ns < ev->ts_ns)
		return -EINVAL;
	if (ev->offcpu.waker_tid)
		add_koid(&args, FXT_NAME_WAKER, ev->offcpu.waker_tid);
	if (*state)
		archive_args_add_text(&args, FXT_NAME_STATE, state);
	return fxt_write_event(&a->writer, &(struct fxt_event){
						   .type = FXT_EVENT_DURATION_COMPLETE,
						   .category = fxt_named(FXT_NAME_PROFILE),
						   .name = fxt_named(FXT_NAME_OFFCPU),
						   .ts_ticks = ev->ts_ns,
						   .thread = { ev->pid, ev->tid },
						   .args = args.list,
						   .n_args = args.n,
						   .id = ev->offcpu.end_ns,
					   });
}

int fxt_archive_frame(struct fxt_archive *a, const struct event *ev)
{
	struct args args = { .n = 0 };

	add_koid(&args, FXT_NAME_PROCESS, ev->frame.process);
	add_pointer(&args, FXT_NAME_ADDRESS, ev->frame.address);
	archive_args_add_u32(&args, FXT_NAME_DEPTH, ev->frame.depth);
	if (*ev->frame.function)
		archive_args_add_text(&args, FXT_NAME_FUNCTION, ev->frame.function);
	if (*ev->frame.source)
		archive_args_add(&args, FXT_ARG_STRING, FXT_NAME_SOURCE)->text =
			fxt_interned(ev->frame.source);
	if (ev->frame.line)
		archive_args_add_u32(&args, FXT_NAME_LINE, ev->frame.line);
	if (*ev->frame.module)
		archive_args_add(&args, FXT_ARG_STRING, FXT_NAME_MODULE)->text =
			fxt_interned(ev->frame.module);
	return write_about_code(a, ev->ts_ns, FXT_NAME_FRAME, &args);
}
