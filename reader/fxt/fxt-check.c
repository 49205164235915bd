/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader/fxt/fxt-check.h"

#include "base/text.h"

static void add(struct fxt_findings *f, bool warning, const char *what)
{
	for (unsigned i = 0; i < f->n; i++)
		if (f->list[i].what == what)
			return;
	if (f->n == FXT_CHECK_MAX)
		return;
	f->list[f->n++] = (struct fxt_finding){ what, warning };
	if (!warning)
		f->n_errors++;
}

static void error(struct fxt_findings *f, const char *what)
{
	add(f, false, what);
}

static void warning(struct fxt_findings *f, const char *what)
{
	add(f, true, what);
}

static void check_reserved(struct fxt_findings *f, uint64_t bits)
{
	if (bits != 0)
		error(f, "reserved bits are not zero");
}

/* The bytes behind N bytes of a stream, up to the next word. */
static void check_padding(struct fxt_findings *f, const void *p, uint64_t n)
{
	const uint8_t *bytes = p;

	for (uint64_t i = n; i % FXT_WORD_BYTES != 0; i++)
		if (bytes[i] != 0)
			warning(f, "padding is not zero");
}

/* IS_STREAM: the bytes lie in the record, padded. */
static void check_text(struct fxt_findings *f, const struct fxt_text *t, bool is_stream)
{
	if (!t->bytes) {
		error(f, "a reference to a string that was not registered");
		return;
	}
	if (!text_is_utf8(t->bytes, t->length))
		error(f, "text that is not UTF-8");
	if (t->length > FXT_STRING_BYTES_MAX)
		error(f, "a string over 32000 bytes");
	if (is_stream)
		check_padding(f, t->bytes, t->length);
}

static void check_ref(struct fxt_findings *f, const struct fxt_text *t)
{
	check_text(f, t, fxt_get_string_ref_inline(t->ref));
}

static void check_thread(struct fxt_findings *f, bool defined)
{
	if (!defined)
		error(f, "a reference to a thread that was not registered");
}

static void check_value(struct fxt_findings *f, const struct fxt_arg *arg)
{
	uint64_t head = arg->words[0];

	switch (arg->type) {
	case FXT_ARG_INT32:
	case FXT_ARG_UINT32:
		break;
	case FXT_ARG_NULL:
	case FXT_ARG_INT64:
	case FXT_ARG_UINT64:
	case FXT_ARG_DOUBLE:
	case FXT_ARG_POINTER:
	case FXT_ARG_KOID:
		check_reserved(f, fxt_get_arg_reserved(head));
		break;
	case FXT_ARG_STRING:
		check_reserved(f, fxt_get_arg_string_reserved(head));
		check_ref(f, &arg->text);
		break;
	case FXT_ARG_BOOL:
		check_reserved(f, fxt_get_arg_value32(head) >> 1);
		break;
	case FXT_ARG_BLOB:
		check_padding(f, arg->blob.bytes, arg->blob.length);
		break;
	default:
		warning(f, "an argument of unknown type");
	}
}

/* The arguments of scheduling records that readers ask for must have the types they ask for. */
static void check_sched_arg(struct fxt_findings *f, const struct fxt_record *r,
			    const struct fxt_arg *arg)
{
	bool wakeup = r->subtype == FXT_SCHED_WAKEUP;
	int name = fxt_text_known(&arg->name);

	if ((wakeup ? name == FXT_NAME_WEIGHT
		    : name == FXT_NAME_INCOMING_WEIGHT || name == FXT_NAME_OUTGOING_WEIGHT) &&
	    arg->type != FXT_ARG_INT32)
		error(f, "a weight that is not an int32");
	if (wakeup && name == FXT_NAME_WAKER && arg->type != FXT_ARG_KOID)
		error(f, "a waker that is not a koid");
}

static void check_args(struct fxt_findings *f, const struct fxt_record *r)
{
	bool has_process = false;
	struct fxt_args it = r->args;
	struct fxt_arg arg;
	int outcome;

	while ((outcome = fxt_args_next(&it, &arg)) != FXT_ARGS_END) {
		if (outcome == FXT_ARGS_DAMAGE) {
			error(f, it.damage);
			continue;
		}
		check_ref(f, &arg.name);
		check_value(f, &arg);
		if (r->type == FXT_RECORD_SCHEDULING)
			check_sched_arg(f, r, &arg);
		if (fxt_text_known(&arg.name) == FXT_NAME_PROCESS) {
			has_process = true;
			if (r->type == FXT_RECORD_KERNEL_OBJECT && arg.type != FXT_ARG_KOID)
				error(f, "a thread's process that is not a koid");
		}
	}
	if (r->type == FXT_RECORD_KERNEL_OBJECT &&
	    r->kernel_object.object_type == FXT_OBJECT_THREAD && !has_process)
		warning(f, "a thread without its process");
}

static void check_metadata(struct fxt_findings *f, const struct fxt_record *r, uint64_t head)
{
	switch (r->subtype) {
	case FXT_METADATA_PROVIDER_INFO:
		check_reserved(f, fxt_get_provider_info_reserved(head));
		check_text(f, &r->name, true);
		break;
	case FXT_METADATA_PROVIDER_SECTION:
		check_reserved(f, fxt_get_provider_section_reserved(head));
		break;
	case FXT_METADATA_PROVIDER_EVENT:
		check_reserved(f, fxt_get_provider_event_reserved(head));
		if (r->metadata.number != FXT_PROVIDER_EVENT_BUFFER_FILLED)
			warning(f, "a provider event of unknown kind");
		break;
	case FXT_METADATA_TRACE_INFO:
		if (r->metadata.number != FXT_TRACE_INFO_MAGIC)
			warning(f, "trace info of unknown type");
		else if (head != FXT_MAGIC)
			error(f, "a wrong magic number");
		break;
	default:
		warning(f, "metadata of unknown type");
	}
}

static void check_event(struct fxt_findings *f, const struct fxt_record *r)
{
	check_thread(f, r->thread.defined);
	check_ref(f, &r->category);
	check_ref(f, &r->name);
	check_args(f, r);
	if (r->subtype > FXT_EVENT_FLOW_END)
		warning(f, "an event of unknown type");
	if (r->subtype == FXT_EVENT_DURATION_COMPLETE && r->event.value < r->ts_ticks)
		error(f, "a duration that ends before it begins");
}

static void check_scheduling(struct fxt_findings *f, const struct fxt_record *r, uint64_t head)
{
	if (r->subtype == FXT_SCHED_WAKEUP) {
		check_reserved(f, fxt_get_sched_wakeup_reserved(head));
		check_args(f, r);
		return;
	}
	if (r->sw.out_state > FXT_STATE_DEAD)
		error(f, "a thread state over 5");
	if (r->subtype == FXT_SCHED_LEGACY_SWITCH) {
		check_thread(f, r->sw.out_defined && r->sw.in_defined);
		return;
	}
	check_reserved(f, fxt_get_sched_switch_reserved(head));
	check_args(f, r);
}

static void check_profiler(struct fxt_findings *f, const struct fxt_record *r, uint64_t head)
{
	check_thread(f, r->thread.defined);
	switch (r->subtype) {
	case FXT_PROFILER_MODULE:
		check_reserved(f, fxt_get_module_reserved(head));
		check_text(f, &r->name, true);
		check_padding(f, r->module.build_id, r->module.build_id_length);
		break;
	case FXT_PROFILER_MMAP:
		check_reserved(f, fxt_get_mmap_reserved(head));
		break;
	default:
		check_reserved(f, fxt_get_backtrace_reserved(head));
	}
}

static void check_large(struct fxt_findings *f, const struct fxt_record *r, uint64_t head)
{
	uint64_t format = r->words[1];

	check_reserved(f, fxt_get_large_blob_reserved(head));
	check_ref(f, &r->category);
	check_ref(f, &r->name);
	check_padding(f, r->blob.bytes, r->blob.length);
	if (r->subtype == FXT_LARGE_BLOB_NO_METADATA) {
		check_reserved(f, fxt_get_large_blob_bare_reserved(format));
		return;
	}
	check_reserved(f, fxt_get_large_blob_header_reserved(format));
	check_thread(f, r->thread.defined);
	check_args(f, r);
}

static void check_table_record(struct fxt_findings *f, const struct fxt_record *r, uint64_t head)
{
	switch (r->type) {
	case FXT_RECORD_INITIALIZATION:
		check_reserved(f, fxt_get_initialization_reserved(head));
		break;
	case FXT_RECORD_STRING:
		check_reserved(f, fxt_get_string_zero_31(head) | fxt_get_string_zero_47(head) |
					  fxt_get_string_reserved(head));
		check_text(f, &r->name, true);
		if (r->string.index == 0)
			warning(f, "a string record for index 0");
		break;
	default:
		check_reserved(f, fxt_get_thread_reserved(head));
		if (r->thread_record.index == 0)
			warning(f, "a thread record for index 0");
	}
}

static void check_object(struct fxt_findings *f, const struct fxt_record *r, uint64_t head)
{
	if (r->type == FXT_RECORD_USERSPACE_OBJECT) {
		check_reserved(f, fxt_get_userspace_reserved(head));
		check_thread(f, r->thread.defined);
	} else {
		check_reserved(f, fxt_get_kernel_object_reserved(head));
	}
	check_ref(f, &r->name);
	check_args(f, r);
}

void fxt_check_record(const struct fxt_record *r, struct fxt_findings *ret)
{
	uint64_t head = r->words[0];

	ret->n = ret->n_errors = 0;
	switch (r->type) {
	case FXT_RECORD_METADATA:
		check_metadata(ret, r, head);
		break;
	case FXT_RECORD_INITIALIZATION:
	case FXT_RECORD_STRING:
	case FXT_RECORD_THREAD:
		check_table_record(ret, r, head);
		break;
	case FXT_RECORD_EVENT:
		check_event(ret, r);
		break;
	case FXT_RECORD_BLOB:
		check_reserved(ret, fxt_get_blob_zero_47(head) | fxt_get_blob_reserved(head));
		check_ref(ret, &r->name);
		check_padding(ret, r->blob.bytes, r->blob.length);
		break;
	case FXT_RECORD_USERSPACE_OBJECT:
	case FXT_RECORD_KERNEL_OBJECT:
		check_object(ret, r, head);
		break;
	case FXT_RECORD_SCHEDULING:
		check_scheduling(ret, r, head);
		break;
	case FXT_RECORD_LOG:
		check_reserved(ret, fxt_get_log_zero_31(head) | fxt_get_log_reserved(head));
		check_thread(ret, r->thread.defined);
		check_text(ret, &r->name, true);
		break;
	case FXT_RECORD_PROFILER:
		check_profiler(ret, r, head);
		break;
	case FXT_RECORD_LARGE:
		check_large(ret, r, head);
		break;
	default:
		warning(ret, "a record of unknown type");
	}
}
