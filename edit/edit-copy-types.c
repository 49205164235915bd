/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "edit/edit-copy-state.h"

static int copy_metadata(struct edit_copy *c)
{
	if (c->record->subtype != FXT_METADATA_PROVIDER_EVENT)
		return -EINVAL;
	return fxt_write_provider_event(&c->own.writer, c->record->metadata.number);
}

static int copy_event(struct edit_copy *c)
{
	const struct fxt_record *r = c->record;

	if (r->subtype > FXT_EVENT_FLOW_END)
		return -EINVAL;
	return fxt_write_event(
		&c->own.writer,
		&(struct fxt_event){
			.type = (enum fxt_event_type)r->subtype,
			.category = edit_convert_text(c, &r->category, EDIT_TEXT_CATEGORY, 0),
			.name = edit_convert_text(c, &r->name, EDIT_TEXT_NAME, 0),
			.ts_ticks = edit_convert_time(c, r->ts_ns),
			.thread = edit_convert_thread(c, &r->thread),
			.args = c->args,
			.n_args = c->n_args,
			.id = r->subtype == FXT_EVENT_DURATION_COMPLETE
				      ? edit_convert_time(c, r->event.end_ns)
				      : r->event.value,
		});
}

static int copy_blob(struct edit_copy *c)
{
	const struct fxt_record *r = c->record;

	return fxt_write_blob(&c->own.writer,
			      &(struct fxt_blob){
				      .name = edit_convert_text(c, &r->name, EDIT_TEXT_NAME, 0),
				      .type = (enum fxt_blob_type)r->blob.blob_type,
				      .data = r->blob.bytes,
				      .size = (size_t)r->blob.length,
			      });
}

static int copy_large(struct edit_copy *c)
{
	const struct fxt_record *r = c->record;
	struct fxt_large_blob blob = {
		.category = edit_convert_text(c, &r->category, EDIT_TEXT_CATEGORY, 0),
		.name = edit_convert_text(c, &r->name, EDIT_TEXT_NAME, 0),
		.data = r->blob.bytes,
		.size = (size_t)r->blob.length,
	};

	if (r->subtype == FXT_LARGE_BLOB_METADATA) {
		blob.has_metadata = true;
		blob.ts_ticks = edit_convert_time(c, r->ts_ns);
		blob.thread = edit_convert_thread(c, &r->thread);
		blob.args = c->args;
		blob.n_args = c->n_args;
	}
	return fxt_write_large_blob(&c->own.writer, &blob);
}

static int copy_userspace_object(struct edit_copy *c)
{
	const struct fxt_record *r = c->record;
	struct fxt_out_thread process = edit_convert_thread(c, &r->thread);

	/* In the record stands only the process; a reference is to a thread. */
	process.is_inline = process.tid == 0;
	return fxt_write_userspace_object(
		&c->own.writer, &(struct fxt_userspace_object){
					.pointer = r->userspace_object.pointer,
					.process = process,
					.name = edit_convert_text(c, &r->name, EDIT_TEXT_NAME, 0),
					.args = c->args,
					.n_args = c->n_args,
				});
}

static int copy_kernel_object(struct edit_copy *c)
{
	const struct fxt_record *r = c->record;

	return fxt_write_kernel_object(
		&c->own.writer, &(struct fxt_kernel_object){
					.type = r->kernel_object.object_type,
					.koid = edit_convert_koid(c, r->kernel_object.koid),
					.name = edit_convert_text(c, &r->name, EDIT_TEXT_NAME, 0),
					.args = c->args,
					.n_args = c->n_args,
				});
}

static int copy_legacy_switch(struct edit_copy *c)
{
	const struct fxt_record *r = c->record;
	struct fxt_thread out = { r->sw.out_pid, r->sw.out_tid, r->sw.out_defined };
	struct fxt_thread in = { r->sw.in_pid, r->sw.in_tid, r->sw.in_defined };
	enum fxt_thread_state state = (enum fxt_thread_state)r->sw.out_state;

	/* Running is not for these; readers take both for runnable. */
	if (state == FXT_STATE_RUNNING)
		state = FXT_STATE_NEW;
	return fxt_write_legacy_switch(&c->own.writer,
				       &(struct fxt_legacy_switch){
					       .ts_ticks = edit_convert_time(c, r->ts_ns),
					       .cpu = r->sw.cpu + c->rules.shift_cpu,
					       .out_state = state,
					       .out = edit_convert_thread(c, &out),
					       .in = edit_convert_thread(c, &in),
					       .out_priority = r->sw.out_priority,
					       .in_priority = r->sw.in_priority,
				       });
}

static int copy_scheduling(struct edit_copy *c)
{
	const struct fxt_record *r = c->record;

	switch (r->subtype) {
	case FXT_SCHED_LEGACY_SWITCH:
		return copy_legacy_switch(c);
	case FXT_SCHED_SWITCH:
		return fxt_write_switch(&c->own.writer,
					&(struct fxt_switch){
						.ts_ticks = edit_convert_time(c, r->ts_ns),
						.cpu = r->sw.cpu + c->rules.shift_cpu,
						.out_state = (enum fxt_thread_state)r->sw.out_state,
						.out_tid = edit_convert_koid(c, r->sw.out_tid),
						.in_tid = edit_convert_koid(c, r->sw.in_tid),
						.args = c->args,
						.n_args = c->n_args,
					});
	default:
		return fxt_write_wakeup(&c->own.writer,
					&(struct fxt_wakeup){
						.ts_ticks = edit_convert_time(c, r->ts_ns),
						.cpu = r->wake.cpu + c->rules.shift_cpu,
						.tid = edit_convert_koid(c, r->wake.tid),
						.args = c->args,
						.n_args = c->n_args,
					});
	}
}

static int copy_log(struct edit_copy *c)
{
	const struct fxt_record *r = c->record;
	struct fxt_out_string text = edit_convert_text(c, &r->name, EDIT_TEXT_LOG, 0);

	return fxt_write_log(&c->own.writer, &(struct fxt_log){
						     .ts_ticks = edit_convert_time(c, r->ts_ns),
						     .thread = edit_convert_thread(c, &r->thread),
						     .text = text.text,
						     .length = text.length,
					     });
}

static int copy_profiler(struct edit_copy *c)
{
	const struct fxt_record *r = c->record;
	struct fxt_out_thread thread = edit_convert_thread(c, &r->thread);
	uint64_t ts = edit_convert_time(c, r->ts_ns);

	switch (r->subtype) {
	case FXT_PROFILER_MODULE:
		return fxt_write_module(&c->own.writer,
					&(struct fxt_module){
						.ts_ticks = ts,
						.thread = thread,
						.id = r->module.id,
						.name = edit_convert_module_name(c),
						.build_id = r->module.build_id,
						.build_id_size = r->module.build_id_length,
					});
	case FXT_PROFILER_MMAP:
		return fxt_write_mmap(&c->own.writer, &(struct fxt_mmap){
							      .ts_ticks = ts,
							      .thread = thread,
							      .module_id = r->mmap.module_id,
							      .flags = r->mmap.flags,
							      .start = r->mmap.start,
							      .range = r->mmap.range,
							      .vaddr = r->mmap.vaddr,
						      });
	default:
		return fxt_write_backtrace(&c->own.writer,
					   &(struct fxt_backtrace){
						   .ts_ticks = ts,
						   .thread = thread,
						   .frames = r->backtrace.frames,
						   .n_frames = r->backtrace.n_frames,
					   });
	}
}

int edit_copy_by_type(struct edit_copy *c)
{
	switch (c->record->type) {
	case FXT_RECORD_METADATA:
		return copy_metadata(c);
	case FXT_RECORD_EVENT:
		return copy_event(c);
	case FXT_RECORD_BLOB:
		return copy_blob(c);
	case FXT_RECORD_USERSPACE_OBJECT:
		return copy_userspace_object(c);
	case FXT_RECORD_KERNEL_OBJECT:
		return copy_kernel_object(c);
	case FXT_RECORD_SCHEDULING:
		return copy_scheduling(c);
	case FXT_RECORD_LOG:
		return copy_log(c);
	case FXT_RECORD_PROFILER:
		return copy_profiler(c);
	case FXT_RECORD_LARGE:
		return copy_large(c);
	default:
		return -EINVAL;
	}
}
