/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "edit/edit-merge.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/table.h"
#include "base/text.h"
#include "edit/edit-find.h"
#include "edit/edit-halves.h"
#include "edit/edit-join.h"
#include "edit/edit-owners.h"
#include "edit/edit-points.h"
#include "edit/edit-sessions.h"
#include "edit/edit-sort.h"
#include "edit/edit-timeline.h"
#include "reader/fxt/fxt-object.h"

/* The sorting window of each input, in bytes. It also contains the head of each input before
 * anything is written. */
#define WINDOW ((size_t)8 << 20)

/* Clock snapshots of one boot differ by adjustments of the wall clock. */
#define SAME_BOOT_NS ((int64_t)2 * 1000000000)

/* This many bytes of output are collected before the caller must take them. */
enum { OUTPUT_BYTES = 1 << 20 };

enum { HOST_MAX = 64 };

struct merge_input {
	struct edit_merge *merge;
	unsigned index;
	struct edit_copy *copy;
	struct edit_sort *sort;
	struct edit_timeline *timeline; /* the running threads, according to this input */
	bool ended;
	bool is_kymo;        /* the record being written is from kymo */
	const char *session; /* the session that it is about; NULL = none, or unknown */
	bool mended, behind; /* its begin is the true one again; for edit_join_keeps() */
	/* an event `stack` that has its true time again, which its frames get, too */
	struct fxt_named moved;
	uint64_t moved_ns;
	struct edit_join join;
	struct edit_halves halves; /* events that the next part has, too */

	/* From its head: */
	char host[HOST_MAX + 1]; /* "" = unknown */
	uint32_t n_cpus;
	bool has_start, has_clock;
	uint64_t start_ns; /* earlier events only ended within this recording */
	uint64_t wall_ns;  /* wall clock minus boot time; can have any value in a damaged archive */

	struct edit_merge_view view;
};

struct machine {
	unsigned input;       /* the first input from this machine */
	int schedule_input;   /* the input whose schedule is used; -1 = none */
	uint64_t schedule_ns; /* of the last record written of that schedule, in its input's time */
	uint32_t first_cpu;
	uint64_t sampling; /* identifies the last `sampling` that was written; 0 = none */
};

struct edit_merge {
	struct edit_output *out;
	struct merge_input inputs[EDIT_INPUTS_MAX];
	unsigned n_inputs;
	struct machine machines[EDIT_INPUTS_MAX];
	unsigned n_machines;
	struct edit_owners *owners;
	struct edit_points *points;
	struct edit_sessions *sessions;
	uint64_t koid_span; /* number of koids per machine; 0 = one machine, koids are unchanged */
	struct edit_viewer *viewer;
	uint64_t id; /* of this set of inputs */
	struct edit_part_mark mark;
	bool started;
};

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

static int edit_merge_write_switch(void *userdata, const struct edit_switch *sw)
{
	struct merge_input *in = userdata;

	return edit_copy_switch(in->copy, sw);
}

int edit_merge_new(struct edit_merge **ret, struct edit_output *out, unsigned n)
{
	_cleanup_(edit_merge_freep) struct edit_merge *m = calloc(1, sizeof(*m));
	int r = 0;

	if (!m)
		return -ENOMEM;
	m->out = out;
	m->mark.edit = EDIT_PART_MERGED;
	m->points = edit_points_new();
	m->sessions = edit_sessions_new(n);
	if (!m->points || !m->sessions)
		return -ENOMEM;
	r = edit_owners_new(&m->owners, n) ?: edit_viewer_new(&m->viewer);
	for (m->n_inputs = 0; r == 0 && m->n_inputs < n; m->n_inputs++) {
		m->inputs[m->n_inputs].merge = m;
		m->inputs[m->n_inputs].index = m->n_inputs;
		edit_join_init(&m->inputs[m->n_inputs].join);
		r = edit_sort_new(&m->inputs[m->n_inputs].sort, WINDOW)
			    ?: edit_timeline_new(&m->inputs[m->n_inputs].timeline,
						 edit_merge_write_switch, &m->inputs[m->n_inputs]);
	}
	if (r < 0)
		return r;
	*ret = TAKE_PTR(m);
	return 0;
}

struct edit_merge *edit_merge_free(struct edit_merge *m)
{
	if (!m)
		return NULL;
	for (unsigned i = 0; i < m->n_inputs; i++) {
		edit_timeline_free(m->inputs[i].timeline);
		edit_copy_free(m->inputs[i].copy);
		edit_halves_deinit(&m->inputs[i].halves);
		edit_sort_free(m->inputs[i].sort);
	}
	edit_viewer_free(m->viewer);
	edit_owners_free(m->owners);
	edit_points_free(m->points);
	edit_sessions_free(m->sessions);
	return free_ptr(m);
}

void edit_merge_get_view(const struct edit_merge *m, unsigned input, struct edit_merge_view *ret)
{
	const struct merge_input *in = &m->inputs[input];

	const struct edit_owners_counts *owners = edit_owners_counts(m->owners, input);

	*ret = in->view;
	ret->koids_moved = owners->moved;
	ret->koids_shared = owners->shared;
	ret->points_moved = edit_points_moved(m->points, input);
	ret->has_clock = in->has_clock;
	ret->copied = *edit_sort_counts(in->sort);
	ret->copied.records = 0;
	if (!in->copy)
		return;
	ret->copied.records = edit_copy_counts(in->copy)->records;
	edit_counts_add(&ret->copied, edit_copy_counts(in->copy));
}

/* ---- changes by rules ---- */

/* Prefixes the NAME of a process, of a machine other than the first, with its host. */
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
	/* A process that started before the first input's clock has no start time on that clock. */
	return f->form != FXT_FORM_TIME || record->type == FXT_RECORD_EVENT || arg->u64 > 0;
}

/*
 * Adds the tid to an object whose koid was replaced, since the koid has another owner on the
 * machine; and the session to events that do not name it.
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

static void edit_merge_learn_head(struct merge_input *in, const struct fxt_record *record)
{
	enum fxt_row_id row;

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

/* Finds or adds the machine of IN. */
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

/* Finds the parts of one archive. */
static void edit_merge_link_parts(struct edit_merge *m)
{
	for (unsigned i = 0; i < m->n_inputs; i++)
		for (unsigned j = 0; j < m->n_inputs; j++)
			if (m->inputs[i].view.machine == m->inputs[j].view.machine)
				edit_join_link(&m->inputs[i].join, (int)i, &m->inputs[j].join,
					       (int)j);
	for (unsigned i = 0; i < m->n_inputs; i++) {
		const struct edit_join *first = &m->inputs[i].join;

		/* (each begins before the next one, so this ends) */
		while (first->before >= 0)
			first = &m->inputs[first->before].join;
		m->inputs[i].join.chain_ns = first->part.first_ns;
	}
}

/* ID, of the inputs before IN, and IN: parts of the result do not fit parts of one of them. */
static uint64_t edit_merge_add_id(uint64_t id, const struct merge_input *in)
{
	uint64_t words[] = { id, in->start_ns, in->wall_ns, in->join.part.id, 0 };

	edit_sort_peek(in->sort, true, &words[4]);
	return table_hash(words, sizeof(words)) ?: 1;
}

/* Called when all heads are known. */
static int edit_merge_start(struct edit_merge *m)
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
		in->view.shift_cpu = m->machines[in->view.machine].first_cpu;
		rules.shift_ns = in->view.shift_ns;
		rules.shift_cpu = in->view.shift_cpu;
		r = edit_copy_new(&in->copy, m->out, &rules)
			    ?: edit_owners_join(m->owners, i, in->view.machine, m->koid_span);
		m->id = edit_merge_add_id(m->id, in);
	}
	return r;
}

/* ---- records ---- */

/* Whether RECORD is from the kernel, so that only one input per machine may contribute it. */
static bool edit_merge_is_kernels(const struct edit_sorted *item)
{
	const struct fxt_record *r = item->record;

	switch (r->type) {
	case FXT_RECORD_SCHEDULING:
		return true;
	case FXT_RECORD_EVENT:
		/* Moments belong to one recording, even if other inputs are from the same
		 * machine. */
		if (!edit_copy_is_kymo(item->from) || edit_points_has(r))
			return false;
		return fxt_text_known(&r->category) &&
		       fxt_text_known(&r->category) != FXT_NAME_KYMO;
	default:
		return false;
	}
}

/* Whether ITEM is an object "?" whose owner is known from another record, which it would
 * replace. */
static bool edit_merge_is_outdone(const struct merge_input *in, const struct edit_sorted *item)
{
	return item->record->type == FXT_RECORD_KERNEL_OBJECT &&
	       fxt_object_is_unknown(item->record) &&
	       edit_owners_knows(in->merge->owners, in->index, item->record->kernel_object.koid);
}

static bool edit_merge_is_done(const struct merge_input *in)
{
	uint64_t ts_ns;

	return in->ended && !edit_sort_peek(in->sort, true, &ts_ns);
}

/* Whether INPUT, whose schedule is used, has no records at TS_NS. */
static bool edit_merge_gives_way(const struct edit_merge *m, unsigned input, uint64_t ts_ns)
{
	const struct edit_sessions_view *view = edit_sessions_view(m->sessions, input);

	return edit_merge_is_done(&m->inputs[input]) || (view->pauses && ts_ns >= view->paused_ns);
}

/*
 * Whether the schedule of INPUT can be used instead of that of OTHER. In its own pause, it has only
 * the last records before, and late ones. (If OTHER is done, the pause may have an end that was not
 * recorded.)
 */
static bool edit_merge_can_take(const struct edit_merge *m, unsigned input, unsigned other)
{
	return !edit_sessions_view(m->sessions, input)->pauses ||
	       edit_merge_is_done(&m->inputs[other]);
}

/* The time from which on the schedule of INPUT is used instead of that of OTHER (-1 = none). */
static uint64_t edit_merge_begin_of(const struct edit_merge *m, unsigned input, int other)
{
	uint64_t begin_ns = m->machines[m->inputs[input].view.machine].schedule_ns;
	const struct edit_sessions_view *view;

	if (other >= 0) {
		view = edit_sessions_view(m->sessions, (unsigned)other);
		if (view->pauses && view->paused_ns > begin_ns)
			begin_ns = view->paused_ns;
	}
	/* Its own pause had ended then. */
	view = edit_sessions_view(m->sessions, input);
	return view->recorded_ns > begin_ns ? view->recorded_ns : begin_ns;
}

/*
 * From BEGIN_NS on, the schedule of INPUT is used instead of that of OTHER. The switches that end
 * the other one can be missing, if its archive was cut off, or later, since a pause has no single
 * moment on all CPUs. Those of INPUT that show its running threads were left out.
 */
static int edit_merge_change_schedule(struct edit_merge *m, unsigned input, unsigned other,
				      uint64_t begin_ns)
{
	struct merge_input *in = &m->inputs[input];
	int r = edit_timeline_close(m->inputs[other].timeline, begin_ns);

	return r == 0 && in->view.doubled > 0 ? edit_timeline_open(in->timeline, begin_ns) : r;
}

/*
 * Selects the schedule of a machine: of the input that began first, until that input has ended or
 * pauses. Returns 1 if the schedule of INPUT is used.
 */
static int edit_merge_select_schedule(struct edit_merge *m, unsigned input, uint64_t ts_ns)
{
	struct merge_input *in = &m->inputs[input];
	struct machine *machine = &m->machines[in->view.machine];
	int other = machine->schedule_input, r = 0;
	uint64_t begin_ns = edit_merge_begin_of(m, input, other);

	if (other >= 0 && other != (int)input &&
	    (!edit_merge_gives_way(m, (unsigned)other, ts_ns) ||
	     !edit_merge_can_take(m, input, (unsigned)other) || begin_ns > ts_ns)) {
		in->view.doubled++;
		return 0;
	}
	if (other >= 0 && other != (int)input)
		r = edit_merge_change_schedule(m, input, (unsigned)other, begin_ns);
	machine->schedule_input = (int)input;
	machine->schedule_ns = ts_ns;
	return r < 0 ? r : 1;
}

/* Whether RECORD, of IN and of kymo, is a `sampling` that repeats the last one of its machine, as
 * parts of a recording do. */
static bool edit_merge_repeats_sampling(struct merge_input *in, const struct fxt_record *record)
{
	struct machine *machine = &in->merge->machines[in->view.machine];
	uint64_t words[3], hash;

	if (fxt_record_row(record) != FXT_ROW_SAMPLING)
		return false;
	words[0] = fxt_record_number(record, FXT_NAME_FREQUENCY);
	words[1] = fxt_record_number(record, FXT_NAME_CLOCK);
	words[2] = fxt_record_number(record, FXT_NAME_THRESHOLD);
	hash = table_hash(words, sizeof(words));
	if (machine->sampling == hash)
		return true;
	machine->sampling = hash;
	return false;
}

/* IN, a part, continues BEFORE: nothing ends or begins between them. */
static void edit_merge_continue(struct merge_input *in, struct merge_input *before)
{
	struct machine *machine = &in->merge->machines[in->view.machine];

	in->join.continues = true;
	in->join.events += before->join.events;
	in->join.lost += before->join.lost;
	before->join.events = before->join.lost = 0;
	if (machine->schedule_input == (int)before->index)
		machine->schedule_input = (int)in->index;
}

/* Takes ITEM into account, which is left out between two parts. */
static int edit_merge_omit(struct edit_merge *m, struct merge_input *in,
			   const struct edit_sorted *item)
{
	int r = 0;

	in->view.repeated++;
	if (item->record->type == FXT_RECORD_SCHEDULING)
		r = edit_timeline_note(in->timeline, item->record);
	if (r < 0 || !edit_copy_is_kymo(item->from))
		return r < 0 ? r : 0;
	if (item->tag == EDIT_PART_END && fxt_record_row(item->record) == FXT_ROW_STOP) {
		in->join.events += fxt_record_number(item->record, FXT_NAME_EVENTS);
		in->join.lost += fxt_record_number(item->record, FXT_NAME_LOST);
	}
	r = edit_sessions_see(m->sessions, in->index, item->from, item->record, &in->session);
	return r ?: edit_points_see(m->points, in->index, item->record);
}

/* Copies ITEM; a clipped event with its true begin, if the part before has its other part. */
static int edit_merge_copy(struct merge_input *in, const struct edit_sorted *item)
{
	struct fxt_record record = *item->record;
	int r = 0;

	/* (a cut reads the mark before the first session_start) */
	if (in->is_kymo && fxt_record_row(&record) == FXT_ROW_START)
		r = edit_part_write_mark(&in->merge->mark, in->copy, in->merge->id,
					 edit_shift_ns(record.ts_ns, in->view.shift_ns));
	in->mended = edit_join_mend(&in->join, &record);
	in->behind = false;
	if (record.ts_ns != item->record->ts_ns && fxt_record_row(&record) == FXT_ROW_STACK) {
		fxt_named_set(&in->moved, item->record);
		in->moved_ns = record.ts_ns;
	} else if (record.type == FXT_RECORD_PROFILER && fxt_named_consume(&in->moved, &record)) {
		record.ts_ns = in->moved_ns;
	}
	r = r ?: edit_copy_record(in->copy, item->from, &record);
	in->mended = false;
	if (in->is_kymo && fxt_record_row(&record) == FXT_ROW_STOP)
		in->join.events = in->join.lost = 0;
	return r;
}

/* Copies ITEM, unless the next part has the whole of it: that is known later. */
static int edit_merge_copy_or_hold(struct merge_input *in, struct merge_input *before,
				   const struct edit_sorted *item)
{
	int r;

	if (before && edit_join_went_on(&in->join, item->record) &&
	    edit_halves_drop(&before->halves, item->record))
		before->view.repeated++;
	if (!edit_join_goes_on(&in->join, item->record))
		return edit_merge_copy(in, item);
	r = edit_halves_hold(&in->halves, item);
	in->view.halves += r == 0;
	return r == 0 ? edit_merge_copy(in, item) : r < 0 ? r : 0;
}

/* Writes the events that no next part has shown. Returns 1 if there are more. */
static int edit_merge_write_halves(struct edit_merge *m)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < m->n_inputs; i++) {
		struct merge_input *in = &m->inputs[i];
		struct edit_kept *kept;

		while (r == 0 && (kept = edit_halves_take(&in->halves))) {
			struct fxt_record record;
			const struct edit_sorted item = { &record, kept->from, kept, true, 0 };

			in->view.halves++;
			in->session = NULL;
			in->is_kymo = edit_copy_is_kymo(kept->from);
			r = edit_viewer_parse(m->viewer, kept, &record)
				    ?: edit_merge_copy(in, &item);
			edit_kept_unref(kept);
			if (r == 0 && m->out->bytes.size > OUTPUT_BYTES)
				r = 1;
		}
	}
	return r;
}

static int edit_merge_write_item(struct edit_merge *m, unsigned input,
				 const struct edit_sorted *item)
{
	struct merge_input *in = &m->inputs[input];
	struct merge_input *before = in->join.before >= 0 ? &m->inputs[in->join.before] : NULL;
	int r = 1;

	if (edit_join_is_joint(&in->join) && !in->join.continues)
		edit_merge_continue(in, before);
	if (edit_join_omits(&in->join, item))
		return edit_merge_omit(m, in, item);
	if (edit_merge_is_outdone(in, item)) {
		in->view.unknown++;
		return 0;
	}
	if (edit_merge_is_kernels(item) && item->record->ts_ns >= in->start_ns)
		r = edit_merge_select_schedule(m, input, item->record->ts_ns);
	if (r >= 0 && item->record->type == FXT_RECORD_SCHEDULING) {
		int noted = edit_timeline_note(in->timeline, item->record);

		if (noted < 0)
			return noted;
	}
	in->is_kymo = edit_copy_is_kymo(item->from);
	in->session = NULL;
	if (r > 0 && in->is_kymo && edit_merge_repeats_sampling(in, item->record))
		return 0;
	if (r > 0 && in->is_kymo) {
		int seen = edit_sessions_see(m->sessions, input, item->from, item->record,
					     &in->session);

		if (seen < 0)
			return seen;
	}
	if (r > 0 && in->is_kymo)
		r = edit_points_see(m->points, input, item->record) ?: 1;
	return r <= 0 ? r : edit_merge_copy_or_hold(in, before, item);
}

/* An input that must be read further, or -1. Before the start, each input is read until its window
 * is full, so that its head is known. */
static int edit_merge_find_starving(const struct edit_merge *m)
{
	uint64_t ts_ns;

	for (unsigned i = 0; i < m->n_inputs; i++) {
		const struct merge_input *in = &m->inputs[i];

		if (in->ended)
			continue;
		if (!(m->started ? edit_sort_peek(in->sort, false, &ts_ns)
				 : edit_sort_is_full(in->sort)))
			return (int)i;
	}
	return -1;
}

/* Whether the schedule of INPUT is used. Such an input goes first at equal times, so that its
 * schedule can end. */
static bool edit_merge_holds_schedule(const struct edit_merge *m, unsigned input)
{
	return m->machines[m->inputs[input].view.machine].schedule_input == (int)input;
}

/* When the session of IN begins, in the first input's time. */
static uint64_t edit_merge_start_of(const struct merge_input *in)
{
	return edit_shift_ns(in->start_ns, in->view.shift_ns);
}

/*
 * Whether INPUT goes before OTHER at equal times. Of two chunks, the first one does, so that its
 * session ends before the next chunk continues it. Of two parts, the first one does, so that it is
 * known as a whole when the next one begins.
 */
static bool edit_merge_goes_first(const struct edit_merge *m, unsigned input, unsigned other)
{
	if (m->inputs[other].join.before == (int)input ||
	    m->inputs[input].join.before == (int)other)
		return m->inputs[other].join.before == (int)input;
	if (edit_merge_holds_schedule(m, input) != edit_merge_holds_schedule(m, other))
		return edit_merge_holds_schedule(m, input);
	return edit_merge_start_of(&m->inputs[input]) < edit_merge_start_of(&m->inputs[other]);
}

/* The input with the earliest record, in the first input's time; -1 if all are empty. */
static int edit_merge_find_earliest(const struct edit_merge *m)
{
	uint64_t ts_ns, earliest_ns = UINT64_MAX;
	int earliest = -1;

	for (unsigned i = 0; i < m->n_inputs; i++) {
		const struct merge_input *in = &m->inputs[i];

		if (!edit_sort_peek(in->sort, in->ended, &ts_ns))
			continue;
		if (ts_ns > 0)
			ts_ns = edit_shift_ns(ts_ns, in->view.shift_ns);
		if (earliest < 0 || ts_ns < earliest_ns ||
		    (ts_ns == earliest_ns && edit_merge_goes_first(m, i, (unsigned)earliest))) {
			earliest = (int)i;
			earliest_ns = ts_ns;
		}
	}
	return earliest;
}

int edit_merge_step(struct edit_merge *m, int *ret)
{
	struct edit_sorted item;
	int input, r = 0;

	for (;;) {
		*ret = edit_merge_find_starving(m);
		if (*ret >= 0)
			return 0;
		if (!m->started)
			r = edit_merge_start(m);
		input = r == 0 ? edit_merge_find_earliest(m) : -1;
		if (input < 0)
			return r < 0 ? r : edit_merge_write_halves(m);
		r = edit_sort_pop(m->inputs[input].sort, m->inputs[input].ended, &item);
		if (r > 0)
			r = edit_merge_write_item(m, (unsigned)input, &item);
		if (r < 0)
			return r;
		if (m->out->bytes.size > OUTPUT_BYTES)
			return 1;
	}
}

int edit_merge_put(struct edit_merge *m, unsigned input, const struct fxt_record *record)
{
	struct merge_input *in = &m->inputs[input];
	int r = edit_owners_see(m->owners, input, record);

	if (r < 0)
		return r;
	if (!m->started)
		edit_merge_learn_head(in, record);
	if (edit_join_read(&in->join, record))
		return 0;
	edit_sort_tag(in->sort, in->join.at);
	/* Packets would contradict the records, whose times and koids are changed. */
	if (edit_copy_is_packets(record))
		return 0;
	return edit_sort_put(in->sort, record->provider, record);
}

void edit_merge_end(struct edit_merge *m, unsigned input)
{
	m->inputs[input].ended = true;
}

void edit_merge_damage(struct edit_merge *m, unsigned input)
{
	edit_join_damage(&m->inputs[input].join);
}
