/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "edit/edit-merge-state.h"

#include <stdio.h>
#include <string.h>

#include "base/table.h"
#include "base/text.h"
#include "edit/edit-find.h"

/*
 * The maximum difference between clock snapshots of one boot. Adjustments of the wall clock cause
 * such differences.
 */
#define SAME_BOOT_NS ((int64_t)2 * 1000000000)

/* ---- changes by rules ---- */

static uint64_t edit_merge_move_koid(void *userdata, uint64_t koid)
{
	struct merge_input *in = userdata;
	uint64_t span = in->merge->koid_span;

	koid = edit_owners_koid(in->merge->owners, in->index, koid);
	if (koid == 0 || span == 0)
		return koid;
	if (koid >= span)
		in->view.koids_cut++;
	return koid % span + in->view.machine * span;
}

/* Prefixes the NAME of a process with its host, if its machine is not the first one. */
static size_t edit_merge_name_process(const struct merge_input *in, const char *text, size_t n,
				      char *to)
{
	const struct merge_input *first =
		&in->merge->inputs[in->merge->machines[in->view.machine].input];
	int length = snprintf(to, HOST_MAX + 32, "%s: ", first->host[0] ? first->host : "?");

	n = text_cut(text, n, FXT_STRING_BYTES_MAX - (size_t)length);
	memcpy(to + length, text, n);
	return (size_t)length + n;
}

static size_t edit_merge_change_text(void *userdata, const struct fxt_record *record,
				     enum edit_text what, int arg_name, const char *text, size_t n,
				     char *to)
{
	const struct merge_input *in = userdata;

	if (what == EDIT_TEXT_ARG && arg_name == FXT_NAME_SESSION && in->session) {
		memcpy(to, in->session, strlen(in->session));
		return strlen(in->session);
	}
	if (in->view.machine == 0 || what != EDIT_TEXT_NAME ||
	    record->type != FXT_RECORD_KERNEL_OBJECT ||
	    record->kernel_object.type != FXT_OBJECT_PROCESS)
		return EDIT_TEXT_AS_IT_IS;
	return edit_merge_name_process(in, text, n, to);
}

/* Adjusts CPUs, times and numbers of points in arguments. */
static bool edit_merge_move_arg(void *userdata, const struct fxt_record *record, int name,
				struct fxt_out_arg *arg)
{
	struct merge_input *in = userdata;
	const struct fxt_event_field *f = fxt_record_field(record, name);

	if (in->mended && !edit_join_keeps(name, arg, &in->behind))
		return false;
	if (in->clipped && name == FXT_NAME_BEGAN_AT)
		return false;
	if ((name == FXT_NAME_BEGAN_AT || name == FXT_NAME_ENDS_AT) && arg->type == FXT_ARG_UINT64)
		arg->u64 = edit_shift_ns(arg->u64, in->view.shift_ns);
	if (in->is_kymo && arg->type == FXT_ARG_UINT64 && fxt_record_row(record) == FXT_ROW_STOP) {
		arg->u64 += name == FXT_NAME_EVENTS ? in->join.events : 0;
		arg->u64 += name == FXT_NAME_LOST ? in->join.lost : 0;
	}
	if (in->is_kymo && name == FXT_NAME_POINT && arg->type == FXT_ARG_UINT32 &&
	    edit_points_has(record))
		arg->u32 = edit_points_number(in->merge->points, in->index, arg->u32);
	if (!f || arg->type != f->type || record->type == FXT_RECORD_SCHEDULING)
		return true;
	if (f->form == FXT_FORM_CPU)
		arg->u32 += in->view.shift_cpu;
	if (f->form == FXT_FORM_TIME)
		arg->u64 = edit_shift_ns(arg->u64, in->view.shift_ns);
	/*
	 * A process that started before the first input's clock has no start time on that clock, so
	 * the argument is left out.
	 */
	return f->form != FXT_FORM_TIME || record->type == FXT_RECORD_EVENT || arg->u64 > 0;
}

/*
 * Adds an argument: to an object whose koid was replaced (since another thread on the machine has
 * the koid), its tid; to an event that does not name its session, the session.
 */
static int edit_merge_add_arg(void *userdata, const struct fxt_record *record, unsigned n,
			      struct fxt_out_arg *ret)
{
	const struct merge_input *in = userdata;
	uint64_t koid = record->kernel_object.koid;
	struct fxt_arg arg;

	if (n == 0 && in->session &&
	    !edit_find_arg(record, FXT_NAME_SESSION, FXT_ARG_STRING, &arg)) {
		*ret = (struct fxt_out_arg){ .type = FXT_ARG_STRING,
					     .text = fxt_inline(in->session) };
		return FXT_NAME_SESSION;
	}
	if (n > 0 || record->type != FXT_RECORD_KERNEL_OBJECT ||
	    edit_owners_koid(in->merge->owners, in->index, koid) == koid ||
	    edit_find_arg(record, FXT_NAME_REAL_ID, FXT_ARG_UINT32, &arg))
		return 0;
	*ret = (struct fxt_out_arg){ .type = FXT_ARG_UINT32, .u32 = fxt_koid_tid(koid) };
	return FXT_NAME_REAL_ID;
}

/* ---- heads ---- */

static void edit_merge_learn_cpus(struct merge_input *in, uint32_t n)
{
	if (n > in->n_cpus)
		in->n_cpus = n < FXT_CPU_MAX + 1 ? n : FXT_CPU_MAX + 1;
}

static void edit_merge_read_host(struct merge_input *in, const struct fxt_record *record)
{
	struct fxt_arg arg;

	in->has_start = true;
	in->start_ns = record->ts_ns;
	if (edit_find_arg(record, FXT_NAME_HOST, FXT_ARG_STRING, &arg) && arg.text.bytes)
		text_clean(in->host, sizeof(in->host), arg.text.bytes, arg.text.length);
	if (edit_find_arg(record, FXT_NAME_CPUS, FXT_ARG_UINT32, &arg))
		edit_merge_learn_cpus(in, arg.uint32);
}

static void edit_merge_read_clock(struct merge_input *in, const struct fxt_record *record)
{
	struct fxt_arg boot, real;

	if (!edit_find_arg(record, FXT_NAME_BOOTTIME, FXT_ARG_UINT64, &boot) ||
	    !edit_find_arg(record, FXT_NAME_REALTIME, FXT_ARG_UINT64, &real) || boot.uint64 == 0 ||
	    real.uint64 == 0)
		return;
	in->has_clock = true;
	in->wall_ns = real.uint64 - boot.uint64;
}

void edit_merge_learn_head(struct merge_input *in, const struct fxt_record *record)
{
	enum fxt_row_id row;

	in->has_kymo |= edit_copy_is_kymo(record->provider);
	if (record->type == FXT_RECORD_SCHEDULING)
		edit_merge_learn_cpus(in,
				      1 + (record->subtype == FXT_SCHED_WAKEUP ? record->wake.cpu
									       : record->sw.cpu));
	row = fxt_record_row(record);
	if (!in->has_start && row == FXT_ROW_START)
		edit_merge_read_host(in, record);
	if (!in->has_clock && row == FXT_ROW_CLOCK)
		edit_merge_read_clock(in, record);
}

static bool edit_merge_is_same_boot(const struct merge_input *a, const struct merge_input *b)
{
	int64_t apart = (int64_t)(a->wall_ns - b->wall_ns);

	if (!a->has_clock || !b->has_clock)
		return false;
	return strcmp(a->host, b->host) == 0 && apart < SAME_BOOT_NS && apart > -SAME_BOOT_NS;
}

/* Finds or adds the machine of input INPUT. */
static unsigned edit_merge_find_machine(struct edit_merge *m, unsigned input)
{
	struct merge_input *in = &m->inputs[input];

	for (unsigned i = 0; i < m->n_machines; i++)
		if (edit_merge_is_same_boot(&m->inputs[m->machines[i].input], in))
			return i;
	m->machines[m->n_machines] = (struct machine){ .input = input, .schedule_input = -1 };
	return m->n_machines++;
}

/* Assigns consecutive ranges of CPU numbers to the machines. */
static void edit_merge_place_cpus(struct edit_merge *m)
{
	uint32_t next = 0;

	for (unsigned i = 0; i < m->n_machines; i++) {
		uint32_t n = 0;

		for (unsigned j = 0; j < m->n_inputs; j++)
			if (m->inputs[j].view.machine == i && m->inputs[j].n_cpus > n)
				n = m->inputs[j].n_cpus;
		m->machines[i].first_cpu = next;
		next += n;
	}
}

/* Links the inputs that are parts of one archive. */
static void edit_merge_link_parts(struct edit_merge *m)
{
	for (unsigned i = 0; i < m->n_inputs; i++)
		for (unsigned j = 0; j < m->n_inputs; j++)
			if (m->inputs[i].view.machine == m->inputs[j].view.machine)
				edit_join_link(&m->inputs[i].join, (int)i, &m->inputs[j].join,
					       (int)j);
	for (unsigned i = 0; i < m->n_inputs; i++) {
		const struct edit_join *first = &m->inputs[i].join, *last = first;
		uint64_t chain = UINT64_C(1) << i;

		/* (each part begins before the next one, so the loops end) */
		for (; first->before >= 0; first = &m->inputs[first->before].join)
			chain |= UINT64_C(1) << first->before;
		for (; last->after >= 0; last = &m->inputs[last->after].join)
			chain |= UINT64_C(1) << last->after;
		m->inputs[i].join.chain = chain;
		m->inputs[i].join.chain_ns = first->part.first_ns;
	}
}

/*
 * Combines ID, which identifies the inputs before IN, with IN, so that parts of the result do not
 * fit parts of an input.
 */
static uint64_t edit_merge_add_id(uint64_t id, const struct merge_input *in)
{
	uint64_t words[] = { id, in->start_ns, in->wall_ns, in->join.part.id, 0 };

	edit_sort_peek(in->sort, true, &words[4]);
	return table_hash(words, sizeof(words)) ?: 1;
}

/*
 * The begin of the parts of IN on the first clock, if another part precedes them; 0 = no part
 * precedes them.
 */
static uint64_t edit_merge_parts_begin(const struct merge_input *in)
{
	return in->join.chain_ns ? edit_shift_ns(in->join.chain_ns, in->view.shift_ns) : 0;
}

/* Notes the inputs whose parts begin after the begin of the result. */
static void edit_merge_find_gaps(struct edit_merge *m)
{
	uint64_t begin_ns = UINT64_MAX, ns;

	for (unsigned i = 0; i < m->n_inputs; i++)
		if (edit_sort_peek(m->inputs[i].sort, true, &ns)) {
			ns = edit_shift_ns(ns, m->inputs[i].view.shift_ns);
			begin_ns = ns < begin_ns ? ns : begin_ns;
		}
	for (unsigned i = 0; i < m->n_inputs; i++)
		m->inputs[i].follows_gap = edit_merge_parts_begin(&m->inputs[i]) > begin_ns;
}

/* Adds to RET the begin of the parts of IN, if another part precedes them. */
static void edit_merge_add_begin(struct edit_part *ret, const struct merge_input *in)
{
	uint64_t ns = edit_merge_parts_begin(in);

	ret->first_ns = ns > ret->first_ns ? ns : ret->first_ns;
}

/*
 * Introduces the provider of the first input of kymo before anything else. A later merge reads an
 * archive of kymo until its head is found, so it must see at once that the result is one, even if a
 * program's records come first.
 */
static int edit_merge_introduce(struct edit_merge *m)
{
	for (unsigned i = 0; i < m->n_inputs; i++)
		if (m->inputs[i].has_kymo)
			return edit_copy_begin(m->inputs[i].copy);
	return 0;
}

int edit_merge_start(struct edit_merge *m)
{
	const struct merge_input *first;
	int r = 0;

	m->started = true;
	for (unsigned i = 0; i < m->n_inputs; i++)
		if (m->inputs[i].has_clock)
			m->inputs[i].view.machine = edit_merge_find_machine(m, i);
	if (m->n_machines == 0)
		edit_merge_find_machine(m, 0);
	first = &m->inputs[m->machines[0].input];
	edit_merge_link_parts(m);
	edit_merge_place_cpus(m);
	if (m->n_machines > 1) {
		m->koid_span = UINT64_C(1) << 32;
		for (unsigned n = 1; n < m->n_machines; n *= 2)
			m->koid_span /= 2;
	}
	for (unsigned i = 0; r == 0 && i < m->n_inputs; i++) {
		struct merge_input *in = &m->inputs[i];
		struct edit_rules rules = { .userdata = in,
					    .koid = edit_merge_move_koid,
					    .arg = edit_merge_move_arg,
					    .text = edit_merge_change_text,
					    .more = edit_merge_add_arg };

		if (in->view.machine > 0)
			in->view.shift_ns =
				(int64_t)(m->inputs[m->machines[in->view.machine].input].wall_ns -
					  first->wall_ns);
		in->view.clock_far = !in->has_clock && !in->ended;
		in->view.shift_cpu = m->machines[in->view.machine].first_cpu;
		rules.shift_ns = in->view.shift_ns;
		rules.shift_cpu = in->view.shift_cpu;
		r = edit_copy_new(&in->copy, m->out, &rules)
			    ?: edit_owners_join(m->owners, i, in->view.machine, m->koid_span);
		m->source.id = edit_merge_add_id(m->source.id, in);
		edit_merge_add_begin(&m->source, in);
	}
	edit_merge_find_gaps(m);
	return r ?: edit_merge_introduce(m);
}
