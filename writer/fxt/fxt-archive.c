/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "writer/fxt/fxt-archive.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/string-table.h"
#include "writer/fxt/fxt-archive-args.h"
#include "writer/fxt/fxt-archive-rows.h"
#include "writer/fxt/fxt-holds.h"
#include "writer/fxt/fxt-perfetto.h"
#include "writer/fxt/fxt-perfetto-samples.h"

enum {
	PROVIDER_ID = 1,
	/* The maximum number of bytes in a blob: a record has 4095 words, including the header. */
	PACKETS_MAX = (FXT_RECORD_WORDS_MAX - 1) * FXT_WORD_BYTES,
};

int fxt_archive_init(struct fxt_archive *a, struct outbuf *out, uint32_t n_cpus)
{
	int r;

	*a = (struct fxt_archive){ .writer = { .out = out }, .n_cpus = n_cpus };
	a->lost = calloc((size_t)n_cpus * CLASS_MAX, sizeof(*a->lost));
	a->lost_until_ns = calloc((size_t)n_cpus * CLASS_MAX, sizeof(*a->lost_until_ns));
	a->n_tracks = n_cpus < FXT_BLOCK_LANES ? FXT_BLOCK_LANES : n_cpus;
	a->tracks = calloc(a->n_tracks, sizeof(*a->tracks));
	r = a->lost && a->lost_until_ns && a->tracks
		    ? fxt_out_provider_init(&a->provider, PROVIDER_ID)
		    : -ENOMEM;
	if (r < 0)
		fxt_archive_deinit(a);
	return r;
}

void fxt_archive_deinit(struct fxt_archive *a)
{
	fxt_out_provider_deinit(&a->provider);
	free(a->lost);
	free(a->lost_until_ns);
	free(a->tracks);
	a->lost = a->lost_until_ns = NULL;
	a->tracks = NULL;
	a->samples = fxt_perfetto_samples_free(a->samples);
}

void fxt_archive_set_output(struct fxt_archive *a, struct outbuf *out)
{
	a->writer.out = out;
}

void fxt_archive_set_perfetto(struct fxt_archive *a, bool samples)
{
	a->no_perfetto_samples = !samples;
}

int fxt_archive_begin(struct fxt_archive *a)
{
	return fxt_write_head(&a->writer, &a->provider, "kymo");
}

static struct fxt_out_thread fxt_archive_thread_of(const struct fxt_event_row *row,
						   const struct event *ev)
{
	switch ((enum fxt_event_whose)row->whose) {
	case FXT_WHOSE_PROCESS:
		return (struct fxt_out_thread){ ev->pid, ev->pid };
	case FXT_WHOSE_KYMO:
		return (struct fxt_out_thread){ FXT_KOID_KYMO, FXT_KOID_KYMO };
	case FXT_WHOSE_CPU:
		return (struct fxt_out_thread){ FXT_KOID_KYMO, FXT_KOID_KYMO_CPU + ev->cpu };
	case FXT_WHOSE_CODE:
		return (struct fxt_out_thread){ FXT_KOID_CODE, FXT_KOID_CODE };
	default:
		return (struct fxt_out_thread){ ev->pid, ev->tid };
	}
}

int fxt_archive_row(struct fxt_archive *a, enum fxt_row_id id, const struct event *ev)
{
	const struct fxt_event_row *row = &fxt_event_rows[id];
	struct fxt_archive_args args;
	int r = fxt_archive_fill_args(&args, id, ev);

	if (r == 0 && row->whose == FXT_WHOSE_CODE)
		r = fxt_archive_track(a, FXT_TRACK_CODE, 0);
	if (r < 0)
		return r;
	return fxt_write_event(&a->writer,
			       &(struct fxt_event){
				       .type = row->type,
				       .category = fxt_named(row->category),
				       .name = fxt_named(row->name),
				       .ts_ticks = ev->ts_ns,
				       .thread = fxt_archive_thread_of(row, ev),
				       .args = args.list,
				       .n_args = args.n,
				       .id = ev->kind == EVENT_OFFCPU ? ev->offcpu.end_ns : 0,
			       });
}

static int fxt_archive_write_switch(struct fxt_archive *a, const struct event *ev)
{
	struct fxt_archive_args args;

	if (!ev->sw.synthetic)
		return -EINVAL;
	fxt_archive_fill_args(&args, FXT_ROW_SWITCH, ev);
	return fxt_write_switch(&a->writer, &(struct fxt_switch){
						    .ts_ticks = ev->ts_ns,
						    .cpu = ev->cpu,
						    .out_state = ev->sw.out_state,
						    .out_tid = ev->tid,
						    .in_tid = ev->sw.next_tid,
						    .args = args.list,
						    .n_args = args.n,
					    });
}

/* Writes a kernel object with the arguments of ROW, with the values of EV. */
static int fxt_archive_write_object(struct fxt_archive *a, enum fxt_row_id row, uint32_t koid,
				    const char *name, const struct event *ev)
{
	struct fxt_archive_args args;

	fxt_archive_fill_args(&args, row, ev);
	return fxt_write_kernel_object(&a->writer,
				       &(struct fxt_kernel_object){
					       .type = row == FXT_ROW_PROCESS ? FXT_OBJECT_PROCESS
									      : FXT_OBJECT_THREAD,
					       .koid = koid,
					       .name = fxt_interned(name),
					       .args = args.list,
					       .n_args = args.n,
				       });
}

/* Writes the kernel object of a pseudo-process (PID 0), or of a pseudo-thread of process PID. */
static int fxt_archive_write_made_up(struct fxt_archive *a, enum fxt_row_id row, uint32_t pid,
				     uint32_t koid, const char *name)
{
	const struct event ev = {
		.pid = pid,
		.task = { .command_line = "", .uid = EVENT_UID_UNKNOWN },
	};

	return fxt_archive_write_object(a, row, koid, name, &ev);
}

static int fxt_archive_write_task(struct fxt_archive *a, const struct event *ev)
{
	int r = 0;

	if (ev->task.is_process)
		r = fxt_archive_write_object(a, FXT_ROW_PROCESS, ev->pid, ev->task.comm, ev);
	return r < 0 ? r
		     : fxt_archive_write_object(a, FXT_ROW_THREAD, ev->tid,
						ev->task.given_name ?: ev->task.comm, ev);
}

static const enum fxt_name class_fxt_names[CLASS_MAX] = {
	[CLASS_SCHED] = FXT_NAME_SCHED,
	[CLASS_LIFECYCLE] = FXT_NAME_LIFECYCLE,
	[CLASS_IRQ] = FXT_NAME_IRQ,
	[CLASS_SOFTIRQ] = FXT_NAME_SOFTIRQ,
	[CLASS_WORKQUEUE] = FXT_NAME_WORKQUEUE,
	[CLASS_IDLE] = FXT_NAME_IDLE,
	[CLASS_FREQUENCY] = FXT_NAME_FREQUENCY,
	[CLASS_STACKS] = FXT_NAME_STACKS,
	[CLASS_MAPPINGS] = FXT_NAME_MAPPINGS,
	[CLASS_MEMORY] = FXT_NAME_MEMORY,
	[CLASS_CALLS] = FXT_NAME_CALLS,
	[CLASS_TRACEPOINTS] = FXT_NAME_TRACEPOINTS,
	[CLASS_BLOCK] = FXT_NAME_BLOCK,
	[CLASS_COUNTERS] = FXT_NAME_COUNTERS,
	[CLASS_APP] = FXT_NAME_APP,
	[CLASS_MALFORMED] = FXT_NAME_MALFORMED,
};

/*
 * Writes a loss: the provider event, which readers check; and for viewers, an instant on the CPU's
 * thread, and the counter.
 */
static int fxt_archive_write_lost(struct fxt_archive *a, const struct event *ev)
{
	int r, class = STRING_TABLE_FIND(event_class_names, ev->lost.class_name);
	struct fxt_out_arg total = { .type = FXT_ARG_UINT64 };
	uint64_t *lost, *until_ns;

	if (class < 0 || ev->cpu >= a->n_cpus)
		return -EINVAL;
	r = fxt_write_provider_event(&a->writer, FXT_PROVIDER_EVENT_BUFFER_FILLED)
		    ?: fxt_archive_row(a, FXT_ROW_LOST, ev);
	if (r < 0)
		return r;
	lost = &a->lost[ev->cpu * CLASS_MAX + class];
	*lost += ev->lost.count;
	until_ns = &a->lost_until_ns[ev->cpu * CLASS_MAX + class];
	if (ev->lost.last_ns > *until_ns)
		*until_ns = ev->lost.last_ns;
	total.name = fxt_named(class_fxt_names[class]);
	total.u64 = *lost;
	return fxt_write_event(&a->writer, &(struct fxt_event){
						   .type = FXT_EVENT_COUNTER,
						   .category = fxt_named(FXT_NAME_KYMO),
						   .name = fxt_named(FXT_NAME_LOST),
						   .ts_ticks = ev->ts_ns,
						   .thread = { FXT_KOID_KYMO, FXT_KOID_KYMO },
						   .args = &total,
						   .n_args = 1,
						   .id = ev->cpu,
					   });
}

/* Writes the pseudo-process of kymo, its thread, and one thread per CPU. */
static int fxt_archive_write_own_objects(struct fxt_archive *a)
{
	char name[32];
	int r = fxt_archive_write_made_up(a, FXT_ROW_PROCESS, 0, FXT_KOID_KYMO, "kymo")
			?: fxt_archive_write_made_up(a, FXT_ROW_THREAD, FXT_KOID_KYMO,
						     FXT_KOID_KYMO, "kymo");

	for (uint32_t cpu = 0; r == 0 && cpu < a->n_cpus; cpu++) {
		snprintf(name, sizeof(name), "cpu %u", cpu);
		r = fxt_archive_write_made_up(a, FXT_ROW_THREAD, FXT_KOID_KYMO,
					      FXT_KOID_KYMO_CPU + cpu, name);
	}
	return r;
}

/* Writes the pseudo-process for threads that the filter does not select, with a thread per CPU. */
static int fxt_archive_write_other_objects(struct fxt_archive *a)
{
	char name[32];
	int r = fxt_archive_write_made_up(a, FXT_ROW_PROCESS, 0, FXT_KOID_OTHER, "other");

	for (uint32_t cpu = 0; r == 0 && cpu < a->n_cpus; cpu++) {
		snprintf(name, sizeof(name), "other cpu %u", cpu);
		r = fxt_archive_write_made_up(a, FXT_ROW_THREAD, FXT_KOID_OTHER,
					      FXT_KOID_OTHER + cpu, name);
	}
	return r;
}

/* Writes packets, in several records if they do not fit into one. */
static int fxt_archive_write_packets(struct fxt_archive *a, enum fxt_name name,
				     const struct outbuf *packets)
{
	struct fxt_blob blob = { fxt_named(name), FXT_BLOB_PERFETTO, NULL, 0 };
	int r = 0;

	for (size_t done = 0; r == 0 && done < packets->size; done += blob.size) {
		blob.data = packets->data + done;
		blob.size = packets->size - done;
		if (blob.size > PACKETS_MAX)
			blob.size = PACKETS_MAX;
		r = fxt_write_blob(&a->writer, &blob);
	}
	return r;
}

static int fxt_archive_write_start(struct fxt_archive *a, const struct event *ev)
{
	_cleanup_(outbuf_deinit) struct outbuf info = { 0 };
	int r;

	fxt_perfetto_system_info(&info, ev->start.kernel, ev->start.machine);
	r = info.error < 0 ? info.error : fxt_archive_write_packets(a, FXT_NAME_PERFETTO, &info);
	r = r ?: fxt_archive_write_own_objects(a);
	if (r == 0 && ev->start.filtered)
		r = fxt_archive_write_other_objects(a);
	return r < 0 ? r : fxt_archive_row(a, FXT_ROW_START, ev);
}

/* ---- CPU tracks ---- */

static const struct {
	uint32_t process;
	/*
	 * The names of the process and of its threads. thread_name has one %u for the number of the
	 * CPU or lane; NULL = the process has one thread, with the name of the process
	 */
	const char *process_name, *thread_name;
} tracks[FXT_TRACK_MAX] = {
	[FXT_TRACK_IRQ] = { FXT_KOID_IRQ, "IRQ", "irq cpu %u" },
	[FXT_TRACK_SOFTIRQ] = { FXT_KOID_SOFTIRQ, "Softirq", "softirq cpu %u" },
	[FXT_TRACK_IDLE] = { FXT_KOID_POWER, "Power", "idle cpu %u" },
	[FXT_TRACK_POWER] = { FXT_KOID_POWER, "Power", NULL },
	[FXT_TRACK_COUNTERS] = { FXT_KOID_COUNTERS, "Counters", NULL },
	[FXT_TRACK_CODE] = { FXT_KOID_CODE, "Code", NULL },
	[FXT_TRACK_BLOCK] = { FXT_KOID_BLOCK, "Block devices", "block %u" },
};

uint32_t fxt_archive_track_koid(enum fxt_track track, uint32_t cpu)
{
	return tracks[track].thread_name ? tracks[track].process + 1 + cpu : tracks[track].process;
}

int fxt_archive_track(struct fxt_archive *a, enum fxt_track track, uint32_t cpu)
{
	const char *process = tracks[track].process_name;
	uint32_t pid = tracks[track].process;
	char name[32];
	int r = 0;

	if (!tracks[track].thread_name)
		cpu = 0;
	if (cpu >= (track == FXT_TRACK_BLOCK ? FXT_BLOCK_LANES : a->n_cpus))
		return -EINVAL;
	if (__builtin_expect(a->tracks[cpu] >> track & 1, 1))
		return 0;
	if (!(a->processes >> track & 1))
		r = fxt_archive_write_made_up(a, FXT_ROW_PROCESS, 0, pid, process);
	if (r < 0)
		return r;
	for (enum fxt_track other = 0; other < FXT_TRACK_MAX; other++)
		if (tracks[other].process == pid)
			a->processes |= (uint8_t)(1u << other);
	a->tracks[cpu] |= (uint8_t)(1u << track);
	if (tracks[track].thread_name)
		snprintf(name, sizeof(name), tracks[track].thread_name, cpu);
	return fxt_archive_write_made_up(a, FXT_ROW_THREAD, pid, fxt_archive_track_koid(track, cpu),
					 tracks[track].thread_name ? name : process);
}

/* Returns a reference to TEXT: its fixed index if it has one, otherwise one through the string
 * table. */
static struct fxt_out_string fxt_archive_named_or_interned(const char *text)
{
	for (unsigned i = 1; i <= FXT_NAME_RESERVED; i++)
		if (fxt_name_texts[i] && strcmp(fxt_name_texts[i], text) == 0)
			return (struct fxt_out_string){ .index = i };
	return fxt_interned(text);
}

static int fxt_archive_write_interval(struct fxt_archive *a, const struct event *ev)
{
	static const struct {
		enum fxt_row_id row;
		enum fxt_track track;
	} rows[INTERVAL_KIND_MAX] = {
		[INTERVAL_IRQ] = { FXT_ROW_IRQ, FXT_TRACK_IRQ },
		[INTERVAL_SOFTIRQ] = { FXT_ROW_SOFTIRQ, FXT_TRACK_SOFTIRQ },
		[INTERVAL_WORK] = { FXT_ROW_WORK, FXT_TRACK_SOFTIRQ },
		[INTERVAL_IDLE] = { FXT_ROW_IDLE, FXT_TRACK_IDLE },
	};
	enum interval_kind kind = ev->interval.kind;
	struct fxt_event out = {
		.type = FXT_EVENT_DURATION_COMPLETE,
		.ts_ticks = ev->ts_ns,
		.thread = { ev->pid, ev->tid, true },
		.id = ev->interval.end_ns,
	};
	struct fxt_archive_args args;
	int r = 0;

	if (kind >= INTERVAL_KIND_MAX)
		return -EINVAL;
	if (kind != INTERVAL_WORK || ev->pid == FXT_KOID_SOFTIRQ) {
		out.thread.pid = tracks[rows[kind].track].process;
		out.thread.tid = fxt_archive_track_koid(rows[kind].track, ev->cpu);
		r = fxt_archive_track(a, rows[kind].track, ev->cpu);
	}
	if (r < 0)
		return r;
	fxt_archive_fill_args(&args, rows[kind].row, ev);
	out.category = fxt_named(fxt_event_rows[rows[kind].row].category);
	out.name = kind == INTERVAL_IRQ       ? fxt_inline(ev->interval.name)
		   : kind == INTERVAL_SOFTIRQ ? fxt_archive_named_or_interned(ev->interval.name)
					      : fxt_interned(ev->interval.name);
	out.args = args.list;
	out.n_args = args.n;
	return fxt_write_event(&a->writer, &out);
}

static int fxt_archive_write_counter(struct fxt_archive *a, const struct event *ev)
{
	bool power = strcmp(ev->counter.category, "power") == 0;
	enum fxt_track track = power ? FXT_TRACK_POWER : FXT_TRACK_COUNTERS;
	uint32_t koid = fxt_archive_track_koid(track, 0);
	struct fxt_archive_args args;
	int r;

	args.n = 0;
	if (ev->counter.n_values > FXT_ARGS_MAX)
		return -EINVAL;
	r = fxt_archive_track(a, track, 0);
	if (r < 0)
		return r;
	for (unsigned i = 0; i < ev->counter.n_values; i++) {
		const struct event_value *v = &ev->counter.values[i];
		struct fxt_out_arg *arg = &args.list[args.n++];

		*arg = (struct fxt_out_arg){ .type = v->whole ? FXT_ARG_UINT64 : FXT_ARG_DOUBLE,
					     .name = fxt_archive_named_or_interned(v->name) };
		if (v->whole)
			arg->u64 = v->u64;
		else
			arg->f64 = v->f64;
	}
	return fxt_write_event(
		&a->writer,
		&(struct fxt_event){
			.type = FXT_EVENT_COUNTER,
			.category = fxt_named(power ? FXT_NAME_POWER : FXT_NAME_COUNTERS),
			.name = fxt_archive_named_or_interned(ev->counter.name),
			.ts_ticks = ev->ts_ns,
			.thread = { koid, koid },
			.args = args.list,
			.n_args = args.n,
			.id = ev->counter.id,
		});
}

_Static_assert(EVENT_MOMENT_VALUES_MAX + 4 <= FXT_ARGS_MAX, "values and a moment's own arguments");

/* ---- calls and moments ---- */

static void fxt_archive_add_call_value(struct fxt_archive_args *args, struct fxt_out_string name,
				       const struct call_value *v)
{
	struct fxt_out_arg *to = &args->list[args->n++];

	to->name = name;
	switch (v->form) {
	case CALL_VALUE_INT:
		to->type = FXT_ARG_INT64;
		to->i64 = v->i64;
		break;
	case CALL_VALUE_BOOL:
		to->type = FXT_ARG_BOOL;
		to->boolean = v->yes;
		break;
	case CALL_VALUE_TEXT:
		to->type = FXT_ARG_STRING;
		to->text = fxt_inline(v->text);
		break;
	default:
		to->type = v->form == CALL_VALUE_POINTER ? FXT_ARG_POINTER : FXT_ARG_UINT64;
		to->u64 = v->u64;
	}
}

static int fxt_archive_write_call(struct fxt_archive *a, const struct event *ev)
{
	struct fxt_archive_args fixed, args;
	int r = fxt_archive_fill_args(&fixed, FXT_ROW_CALL, ev);

	if (r < 0 || ev->call.n_args > EVENT_CALL_ARGS_MAX)
		return r ?: -EINVAL;
	args.n = 0;
	for (unsigned i = 0; i < ev->call.n_args; i++)
		fxt_archive_add_call_value(&args, fxt_interned(ev->call.args[i].name),
					   &ev->call.args[i]);
	if (ev->call.result.form != CALL_VALUE_NONE)
		fxt_archive_add_call_value(&args, fxt_named(FXT_NAME_RETURN), &ev->call.result);
	for (unsigned i = 0; i < fixed.n; i++)
		args.list[args.n++] = fixed.list[i];
	return fxt_write_event(&a->writer, &(struct fxt_event){
						   .type = FXT_EVENT_DURATION_COMPLETE,
						   .category = fxt_named(FXT_NAME_CALLS),
						   .name = fxt_interned(ev->call.function),
						   .ts_ticks = ev->ts_ns,
						   .thread = { ev->pid, ev->tid },
						   .args = args.list,
						   .n_args = args.n,
						   .id = ev->call.end_ns,
					   });
}

_Static_assert(EVENT_TRACEPOINT_ARGS_MAX + 1 <= FXT_ARGS_MAX, "fields, and the CPU");

static int fxt_archive_write_tracepoint(struct fxt_archive *a, const struct event *ev)
{
	struct fxt_archive_args fixed, args = { .n = 0 };
	int r = fxt_archive_fill_args(&fixed, FXT_ROW_TRACEPOINT, ev);

	if (r < 0 || ev->tracepoint.n_args > EVENT_TRACEPOINT_ARGS_MAX)
		return r ?: -EINVAL;
	for (unsigned i = 0; i < ev->tracepoint.n_args; i++)
		fxt_archive_add_call_value(&args, fxt_interned(ev->tracepoint.args[i].name),
					   &ev->tracepoint.args[i]);
	for (unsigned i = 0; i < fixed.n; i++)
		args.list[args.n++] = fixed.list[i];
	return fxt_write_event(&a->writer, &(struct fxt_event){
						   .type = FXT_EVENT_INSTANT,
						   .category = fxt_named(FXT_NAME_TRACEPOINTS),
						   .name = fxt_interned(ev->tracepoint.name),
						   .ts_ticks = ev->ts_ns,
						   .thread = { ev->pid, ev->tid },
						   .args = args.list,
						   .n_args = args.n,
					   });
}

static int fxt_archive_write_request(struct fxt_archive *a, const struct event *ev)
{
	struct fxt_archive_args args;
	int r = fxt_archive_fill_args(&args, FXT_ROW_REQUEST, ev);

	return r < 0 ? r
		     : fxt_write_event(&a->writer,
				       &(struct fxt_event){
					       .type = ev->request.issued_ns
							       ? FXT_EVENT_INSTANT
							       : FXT_EVENT_DURATION_COMPLETE,
					       .category = fxt_named(FXT_NAME_BLOCK),
					       .name = fxt_interned(ev->request.op),
					       .ts_ticks = ev->ts_ns,
					       .thread = { ev->pid, ev->tid },
					       .args = args.list,
					       .n_args = args.n,
					       .id = ev->request.end_ns,
				       });
}

/*
 * Writes a moment: first an instant with the values, since Perfetto does not show large records,
 * and then the large record.
 */
static int fxt_archive_write_moment(struct fxt_archive *a, const struct event *ev)
{
	const struct fxt_out_thread thread = { ev->pid, ev->tid };
	struct fxt_archive_args args, shown = { .n = 0 };
	int r = fxt_archive_fill_args(&args, FXT_ROW_MOMENT, ev);

	if (r < 0 || ev->moment.n_values > EVENT_MOMENT_VALUES_MAX)
		return r ?: -EINVAL;
	for (unsigned i = 0; i < ev->moment.n_values; i++)
		fxt_archive_add_call_value(&shown, fxt_interned(ev->moment.values[i].name),
					   &ev->moment.values[i]);
	for (unsigned i = 0; i < args.n; i++)
		shown.list[shown.n++] = args.list[i];
	r = fxt_write_event(&a->writer, &(struct fxt_event){
						.type = FXT_EVENT_INSTANT,
						.category = fxt_named(FXT_NAME_MOMENTS),
						.name = fxt_interned(ev->moment.name),
						.ts_ticks = ev->ts_ns,
						.thread = thread,
						.args = shown.list,
						.n_args = shown.n,
					});
	return r < 0 ? r
		     : fxt_write_large_blob(&a->writer,
					    &(struct fxt_large_blob){
						    .category = fxt_named(FXT_NAME_MOMENTS),
						    .name = fxt_named(FXT_NAME_MOMENT),
						    .data = ev->moment.data,
						    .size = ev->moment.n_bytes,
						    .has_metadata = true,
						    .ts_ticks = ev->ts_ns,
						    .thread = thread,
						    .args = args.list,
						    .n_args = args.n,
					    });
}

/* ---- samples ---- */

int fxt_archive_packets(struct fxt_archive *a, bool all)
{
	const struct outbuf *batch =
		a->samples ? fxt_perfetto_samples_batch(a->samples, all) : NULL;
	int r;

	if (!batch)
		return 0;
	r = fxt_archive_write_packets(a, FXT_NAME_PERFETTO_SAMPLES, batch);
	fxt_perfetto_samples_next(a->samples);
	return r;
}

int fxt_archive_copy_packets(const struct fxt_archive *a, struct fxt_archive *to)
{
	const struct outbuf *batch =
		a->samples ? fxt_perfetto_samples_batch(a->samples, true) : NULL;

	return batch ? fxt_archive_write_packets(to, FXT_NAME_PERFETTO_SAMPLES, batch) : 0;
}

/* Adds EV to the samples, which are created when the first event for them comes. */
int fxt_archive_gather(struct fxt_archive *a, const struct event *ev)
{
	int r = 0;

	if (a->no_perfetto_samples)
		return 0;
	switch (ev->kind) {
	case EVENT_SAMPLING:
	case EVENT_MAPPING:
	case EVENT_SAMPLE:
	case EVENT_FRAME:
		if (!a->samples)
			r = fxt_perfetto_samples_new(&a->samples);
		break;
	default:
		if (!a->samples)
			return 0;
	}
	r = r ?: fxt_perfetto_samples_add(a->samples, ev);
	return r < 0 ? r : fxt_perfetto_samples_batch(a->samples, false) != NULL;
}

/* Functions for the kinds of events that need more than one row. */
static int (*const hooks[EVENT_KIND_MAX])(struct fxt_archive *, const struct event *) = {
	[EVENT_SWITCH] = fxt_archive_write_switch,
	[EVENT_TASK] = fxt_archive_write_task,
	[EVENT_LOST] = fxt_archive_write_lost,
	[EVENT_START] = fxt_archive_write_start,
	[EVENT_MAPPING] = fxt_archive_mapping,
	[EVENT_SAMPLE] = fxt_archive_sample,
	[EVENT_INTERVAL] = fxt_archive_write_interval,
	[EVENT_COUNTER] = fxt_archive_write_counter,
	[EVENT_TRACEPOINT] = fxt_archive_write_tracepoint,
	[EVENT_REQUEST] = fxt_archive_write_request,
	[EVENT_CALL] = fxt_archive_write_call,
	[EVENT_MOMENT] = fxt_archive_write_moment,
};

int fxt_archive_event(struct fxt_archive *a, const struct event *ev)
{
	bool hook = ev->kind < EVENT_KIND_MAX && hooks[ev->kind];
	enum fxt_row_id row = fxt_event_row_of(ev);
	int r;

	if (!hook && (row == FXT_ROW_NONE || fxt_event_rows[row].whose == FXT_WHOSE_BPF))
		return -EINVAL;
	r = ev->kind == EVENT_STOP ? fxt_archive_packets(a, true) : 0;
	if (r == 0)
		r = hook ? hooks[ev->kind](a, ev) : fxt_archive_row(a, row, ev);
	if (r == 0 && a->holds)
		r = fxt_holds_event(a->holds, ev);
	r = r ?: fxt_archive_gather(a, ev);
	return r > 0 ? fxt_archive_packets(a, false) : r;
}
