/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks the arguments of a record, by the specification's "Argument types", and by what the kind
 * of record requires of them.
 */
#include "reader/fxt/fxt-check.h"

#include <string.h>

static void fxt_check_args_check_koid(struct fxt_findings *f, uint64_t koid)
{
	if (koid > UINT32_MAX)
		fxt_findings_add(f, FXT_FINDING_KOID_WIDE, koid);
}

static void fxt_check_args_check_value(struct fxt_findings *f, const struct fxt_arg *arg)
{
	uint64_t head = arg->words[0];

	switch (arg->type) {
	case FXT_ARG_INT32:
	case FXT_ARG_UINT32:
		return;
	case FXT_ARG_INT64:
		if (arg->int64 >= INT32_MIN && arg->int64 <= INT32_MAX)
			fxt_findings_add(f, FXT_FINDING_ARG_WIDE, 0);
		break;
	case FXT_ARG_UINT64:
		if (arg->uint64 <= UINT32_MAX)
			fxt_findings_add(f, FXT_FINDING_ARG_WIDE, 0);
		if (arg->uint64 > INT64_MAX)
			fxt_findings_add(f, FXT_FINDING_ARG_NEGATIVE, 0);
		break;
	case FXT_ARG_NULL:
		fxt_findings_add(f, FXT_FINDING_ARG_OPAQUE, arg->type);
		break;
	case FXT_ARG_DOUBLE:
	case FXT_ARG_POINTER:
	case FXT_ARG_KOID:
		break;
	case FXT_ARG_STRING:
		fxt_check_reserved(f, fxt_get_arg_string_reserved(head));
		fxt_check_ref(f, &arg->text);
		return;
	case FXT_ARG_BOOL:
		fxt_check_reserved(f, fxt_get_arg_value32(head) >> 1);
		return;
	case FXT_ARG_BLOB:
		fxt_findings_add(f, FXT_FINDING_ARG_OPAQUE, arg->type);
		fxt_check_padding(f, arg->blob.data, arg->blob.size);
		return;
	default:
		fxt_findings_add(f, FXT_FINDING_ARG_UNKNOWN, arg->type);
		return;
	}
	fxt_check_reserved(f, fxt_get_arg_reserved(head));
}

static bool fxt_check_args_check_weight(struct fxt_findings *f, const struct fxt_arg *arg,
					bool *ret_idle)
{
	if (arg->type != FXT_ARG_INT32) {
		fxt_findings_add(f, FXT_FINDING_WEIGHT_TYPE, arg->type);
		return true;
	}
	*ret_idle = arg->int32 == FXT_IDLE_WEIGHT;
	return true;
}

static void fxt_check_args_check_switch_arg(struct fxt_findings *f, const struct fxt_arg *arg)
{
	switch (fxt_text_known(&arg->name)) {
	case FXT_NAME_OUTGOING_WEIGHT:
		f->facts.out_weight = fxt_check_args_check_weight(f, arg, &f->facts.out_idle);
		break;
	case FXT_NAME_INCOMING_WEIGHT:
		f->facts.in_weight = fxt_check_args_check_weight(f, arg, &f->facts.in_idle);
		break;
	case FXT_NAME_SYNTHETIC:
		f->facts.synthetic = arg->type == FXT_ARG_BOOL && arg->boolean;
		break;
	default:
		break;
	}
}

static void fxt_check_args_check_wakeup_arg(struct fxt_findings *f, const struct fxt_arg *arg)
{
	bool idle;

	switch (fxt_text_known(&arg->name)) {
	case FXT_NAME_WEIGHT:
		fxt_check_args_check_weight(f, arg, &idle);
		break;
	case FXT_NAME_WAKER:
		f->facts.waker = true;
		if (arg->type != FXT_ARG_KOID)
			fxt_findings_add(f, FXT_FINDING_WAKER_TYPE, arg->type);
		else
			fxt_check_args_check_koid(f, arg->uint64);
		break;
	default:
		break;
	}
}

static bool fxt_check_args_is_named_object(const struct fxt_record *r)
{
	return r->kernel_object.type == FXT_OBJECT_PROCESS ||
	       r->kernel_object.type == FXT_OBJECT_THREAD;
}

static void fxt_check_args_check_thread_arg(struct fxt_findings *f, const struct fxt_record *r,
					    const struct fxt_arg *arg, bool is_first)
{
	if (fxt_text_known(&arg->name) != FXT_NAME_PROCESS)
		return;
	f->facts.has_process = true;
	if (!is_first)
		fxt_findings_add(f, FXT_FINDING_PROCESS_NOT_FIRST, r->kernel_object.koid);
	if (fxt_get_string_ref_inline(arg->name.ref))
		fxt_findings_add(f, FXT_FINDING_OBJECT_NAME_INLINE, r->kernel_object.koid);
	if (arg->type != FXT_ARG_KOID) {
		fxt_findings_add(f, FXT_FINDING_PROCESS_TYPE, arg->type);
		return;
	}
	fxt_check_args_check_koid(f, arg->uint64);
	f->facts.process = arg->uint64;
}

static void fxt_check_args_check_counter_arg(struct fxt_findings *f, const struct fxt_arg *arg)
{
	switch (arg->type) {
	case FXT_ARG_INT32:
	case FXT_ARG_UINT32:
	case FXT_ARG_INT64:
	case FXT_ARG_UINT64:
	case FXT_ARG_DOUBLE:
		break;
	default:
		fxt_findings_add(f, FXT_FINDING_COUNTER_TYPE, arg->type);
	}
}

/* Checks ARG against the requirements of the kind of record. */
static void fxt_check_args_check_role(struct fxt_findings *f, const struct fxt_record *r,
				      const struct fxt_arg *arg, bool is_first)
{
	if (r->type == FXT_RECORD_SCHEDULING && r->subtype == FXT_SCHED_WAKEUP)
		fxt_check_args_check_wakeup_arg(f, arg);
	else if (r->type == FXT_RECORD_SCHEDULING)
		fxt_check_args_check_switch_arg(f, arg);
	else if (r->type == FXT_RECORD_EVENT && r->subtype == FXT_EVENT_COUNTER)
		fxt_check_args_check_counter_arg(f, arg);
	else if (r->type == FXT_RECORD_KERNEL_OBJECT && r->kernel_object.type == FXT_OBJECT_THREAD)
		fxt_check_args_check_thread_arg(f, r, arg, is_first);
}

/* Returns the number of words of the inline string that REF announces. */
static uint64_t fxt_check_args_inline_words(uint64_t ref)
{
	return fxt_get_string_ref_inline(ref) ? fxt_stream_words(fxt_get_string_ref_length(ref))
					      : 0;
}

/* Returns the number of words that ARG needs. */
static uint64_t fxt_check_args_needed_words(const struct fxt_arg *arg)
{
	uint64_t words = 1 + fxt_check_args_inline_words(arg->name.ref);

	switch (arg->type) {
	case FXT_ARG_INT64:
	case FXT_ARG_UINT64:
	case FXT_ARG_DOUBLE:
	case FXT_ARG_POINTER:
	case FXT_ARG_KOID:
		return words + 1;
	case FXT_ARG_STRING:
		return words + fxt_check_args_inline_words(arg->text.ref);
	case FXT_ARG_BLOB:
		return words + fxt_stream_words(arg->blob.size);
	default:
		return words;
	}
}

static void fxt_check_args_check_extent(struct fxt_findings *f, const struct fxt_arg *arg)
{
	if (arg->type <= FXT_ARG_BLOB && arg->n_words > fxt_check_args_needed_words(arg))
		fxt_findings_add(f, FXT_FINDING_ARG_LONGER,
				 arg->n_words - fxt_check_args_needed_words(arg));
}

/* Checks the name of the argument with index N. NAMES has the names up to and including this
 * one. */
static void fxt_check_args_name(struct fxt_findings *f, const struct fxt_text *names, unsigned n)
{
	const struct fxt_text *name = &names[n];

	fxt_check_ref(f, name);
	if (!name->bytes)
		return;
	if (name->length == 0)
		fxt_findings_add(f, FXT_FINDING_ARG_NAME_EMPTY, 0);
	for (unsigned i = 0; i < n && name->length > 0; i++)
		if (names[i].bytes && names[i].length == name->length &&
		    memcmp(names[i].bytes, name->bytes, name->length) == 0)
			fxt_findings_add(f, FXT_FINDING_ARG_NAME_TWICE, n + 1);
}

void fxt_check_args(struct fxt_findings *f, const struct fxt_record *r)
{
	struct fxt_text names[FXT_ARGS_MAX];
	struct fxt_args it = r->args;
	bool is_first = true, damaged = false;
	unsigned n_names = 0;
	struct fxt_arg arg;
	int outcome;

	for (; (outcome = fxt_args_next(&it, &arg)) != FXT_ARGS_END; is_first = false) {
		if (outcome == FXT_ARGS_DAMAGE) {
			fxt_findings_add(f, FXT_FINDING_ARG_DAMAGED, 0);
			for (unsigned i = 0; i < f->n; i++)
				if (f->list[i].id == FXT_FINDING_ARG_DAMAGED)
					f->list[i].what = it.damage;
			damaged = true;
			continue;
		}
		names[n_names] = arg.name;
		fxt_check_args_name(f, names, n_names++);
		fxt_check_args_check_value(f, &arg);
		fxt_check_args_check_extent(f, &arg);
		fxt_check_args_check_role(f, r, &arg, is_first);
	}
	f->facts.end = damaged ? NULL : it.next;
	if (r->type == FXT_RECORD_KERNEL_OBJECT && fxt_check_args_is_named_object(r) &&
	    fxt_get_string_ref_inline(r->name.ref))
		fxt_findings_add(f, FXT_FINDING_OBJECT_NAME_INLINE, r->kernel_object.koid);
}
