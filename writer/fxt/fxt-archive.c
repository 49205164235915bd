/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "writer/fxt/fxt-archive.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/string-table.h"
#include "writer/fxt/fxt-archive-args.h"
#include "writer/fxt/fxt-perfetto.h"
#include "writer/fxt/fxt-perfetto-samples.h"

enum {
	PROVIDER_ID = 1,
	/* Bytes of a blob: a record has 4095 words, one of them the header. */
	PACKETS_MAX = (FXT_RECORD_WORDS_MAX - 1) * FXT_WORD_BYTES,
};

int fxt_archive_init(struct fxt_archive *a, struct outbuf *out, uint32_t n_cpus)
{
	int r;

	*a = (struct fxt_archive){ .writer = { .out = out }, .n_cpus = n_cpus };
	a->lost = calloc((size_t)n_cpus * CLASS_MAX, sizeof(*a->lost));
	a->lost_until_ns = calloc((size_t)n_cpus * CLASS_MAX, sizeof(*a->lost_until_ns));
	a->tracks = calloc(n_cpus, sizeof(*a->tracks));
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

int fxt_archive_instant(struct fxt_archive *a, const struct event *ev, enum fxt_name category,
			enum fxt_name name, const struct args *args)
{
	return fxt_write_event(&a->writer, &(struct fxt_event){
						   .type = FXT_EVENT_INSTANT,
						   .category = fxt_named(category),
						   .name = fxt_named(name),
						   .ts_ticks = ev->ts_ns,
						   .thread = { ev->pid, ev->tid },
						   .args = args->list,
						   .n_args = args->n,
					   });
}

int fxt_archive_on_kymo(struct fxt_archive *a, uint64_t ts_ns, enum fxt_name category,
			enum fxt_name name, const struct args *args)
{
	const struct event about_us = {
		.ts_ns = ts_ns,
		.pid = FXT_KOID_KYMO,
		.tid = FXT_KOID_KYMO,
	};

	return fxt_archive_instant(a, &about_us, category, name, args);
}

/* An event about the recording itself. */
static int write_own(struct fxt_archive *a, uint64_t ts_ns, enum fxt_name name,
		     const struct args *args)
{
	return fxt_archive_on_kymo(a, ts_ns, FXT_NAME_KYMO, name, args);
}

static int fxt_archive_write_switch(struct fxt_archive *a, const struct event *ev)
{
	struct args args = { .n = 0 };

	if (!ev->sw.synthetic)
		return -EINVAL;
	add_i32(&args, FXT_NAME_OUTGOING_WEIGHT, ev->sw.prev_prio);
	add_i32(&args, FXT_NAME_INCOMING_WEIGHT, ev->sw.next_prio);
	add_bool(&args, FXT_NAME_SYNTHETIC, true);
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

static int write_object(struct fxt_archive *a, unsigned type, uint32_t koid, const char *name,
			const struct args *args)
{
	return fxt_write_kernel_object(&a->writer, &(struct fxt_kernel_object){
							   .type = type,
							   .koid = koid,
							   .name = fxt_interned(name),
							   .args = args->list,
							   .n_args = args->n,
						   });
}

static int fxt_archive_write_task(struct fxt_archive *a, const struct event *ev)
{
	struct args process = { .n = 0 }, thread = { .n = 0 };
	int r;

	if (ev->task.is_process) {
		if (ev->task.parent_pid)
			add_koid(&process, FXT_NAME_PARENT, ev->task.parent_pid);
		if (ev->task.uid != EVENT_UID_UNKNOWN)
			archive_args_add_u32(&process, FXT_NAME_UID, ev->task.uid);
		if (ev->task.start_ns)
			add_u64(&process, FXT_NAME_START_TIME, ev->task.start_ns);
		if (*ev->task.command_line)
			archive_args_add_text(&process, FXT_NAME_COMMAND_LINE,
					      ev->task.command_line);
		if (ev->task.cgroup_id)
			add_u64(&process, FXT_NAME_CGROUP, ev->task.cgroup_id);
		if (ev->task.cgroup_path)
			archive_args_add_text(&process, FXT_NAME_CGROUP_PATH, ev->task.cgroup_path);
		if (ev->task.real_tid)
			archive_args_add_u32(&process, FXT_NAME_REAL_ID, ev->task.real_tid);
		r = write_object(a, FXT_OBJECT_PROCESS, ev->pid, ev->task.comm, &process);
		if (r < 0)
			return r;
	}
	add_koid(&thread, FXT_NAME_PROCESS, ev->pid);
	if (ev->task.start_ns)
		add_u64(&thread, FXT_NAME_START_TIME, ev->task.start_ns);
	if (ev->task.real_tid)
		archive_args_add_u32(&thread, FXT_NAME_REAL_ID, ev->task.real_tid);
	return write_object(a, FXT_OBJECT_THREAD, ev->tid, ev->task.comm, &thread);
}

static int write_fork(struct fxt_archive *a, const struct event *ev)
{
	struct args args = { .n = 0 };

	add_koid(&args, FXT_NAME_CHILD_PROCESS, ev->fork.child_pid);
	add_koid(&args, FXT_NAME_CHILD_THREAD, ev->fork.child_tid);
	return fxt_archive_instant(a, ev, FXT_NAME_PROCESS, FXT_NAME_FORK, &args);
}

static int write_exec(struct fxt_archive *a, const struct event *ev)
{
	struct args args = { .n = 0 };

	archive_args_add_text(&args, FXT_NAME_FILE, ev->exec.file);
	archive_args_add_text(&args, FXT_NAME_COMMAND_LINE, ev->exec.command_line);
	if (ev->exec.old_tid)
		add_koid(&args, FXT_NAME_OLD_THREAD, ev->exec.old_tid);
	return fxt_archive_instant(a, ev, FXT_NAME_PROCESS, FXT_NAME_EXEC, &args);
}

static int write_exit(struct fxt_archive *a, const struct event *ev)
{
	struct args args = { .n = 0 };

	add_i32(&args, FXT_NAME_EXIT_CODE, ev->exit.code);
	add_i32(&args, FXT_NAME_SIGNAL, ev->exit.signal);
	add_bool(&args, FXT_NAME_PROCESS_ENDS, ev->exit.process_ends);
	return fxt_archive_instant(a, ev, FXT_NAME_PROCESS, FXT_NAME_EXIT, &args);
}

static int write_rename(struct fxt_archive *a, const struct event *ev)
{
	struct args args = { .n = 0 };

	archive_args_add_text(&args, FXT_NAME_FROM, ev->rename.from);
	archive_args_add_text(&args, FXT_NAME_TO, ev->rename.to);
	return fxt_archive_instant(a, ev, FXT_NAME_PROCESS, FXT_NAME_RENAME, &args);
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
	[CLASS_MALFORMED] = FXT_NAME_MALFORMED,
};

/* For readers the provider event; to be seen, the instant on the CPU's thread and the counter. */
static int write_lost(struct fxt_archive *a, const struct event *ev)
{
	struct args args = { .n = 0 }, total = { .n = 0 };
	struct event at_cpu = *ev;
	int r, class = STRING_TABLE_FIND(event_class_names, ev->lost.class_name);
	uint64_t *lost, *until_ns;

	if (class < 0 || ev->cpu >= a->n_cpus)
		return -EINVAL;
	r = fxt_write_provider_event(&a->writer, FXT_PROVIDER_EVENT_BUFFER_FILLED);
	if (r < 0)
		return r;
	archive_args_add_text(&args, FXT_NAME_CLASS, ev->lost.class_name);
	archive_args_add_u32(&args, FXT_NAME_CPU, ev->cpu);
	add_u64(&args, FXT_NAME_COUNT, ev->lost.count);
	add_u64(&args, FXT_NAME_FIRST, ev->lost.first_ns);
	add_u64(&args, FXT_NAME_LAST, ev->lost.last_ns);
	at_cpu.pid = FXT_KOID_KYMO;
	at_cpu.tid = FXT_KOID_KYMO_CPU + ev->cpu;
	r = fxt_archive_instant(a, &at_cpu, FXT_NAME_KYMO, FXT_NAME_LOST, &args);
	if (r < 0)
		return r;
	lost = &a->lost[ev->cpu * CLASS_MAX + class];
	*lost += ev->lost.count;
	until_ns = &a->lost_until_ns[ev->cpu * CLASS_MAX + class];
	if (ev->lost.last_ns > *until_ns)
		*until_ns = ev->lost.last_ns;
	add_u64(&total, class_fxt_names[class], *lost);
	return fxt_write_event(&a->writer, &(struct fxt_event){
						   .type = FXT_EVENT_COUNTER,
						   .category = fxt_named(FXT_NAME_KYMO),
						   .name = fxt_named(FXT_NAME_LOST),
						   .ts_ticks = ev->ts_ns,
						   .thread = { FXT_KOID_KYMO, FXT_KOID_KYMO },
						   .args = total.list,
						   .n_args = total.n,
						   .id = ev->cpu,
					   });
}

static int write_mark(struct fxt_archive *a, const struct event *ev)
{
	struct args args = { .n = 0 };

	archive_args_add_text(&args, FXT_NAME_TEXT, ev->mark.text);
	return write_own(a, ev->ts_ns, FXT_NAME_MARK, &args);
}

static int write_shed(struct fxt_archive *a, const struct event *ev)
{
	struct args args = { .n = 0 };

	archive_args_add_text(&args, FXT_NAME_CLASS, ev->shed.what);
	add_u64(&args, FXT_NAME_VALUE, ev->shed.cost_ppm);
	add_u64(&args, FXT_NAME_LIMIT, ev->shed.limit_ppm);
	if (ev->shed.n_cpus)
		archive_args_add_u32(&args, FXT_NAME_CPUS, ev->shed.n_cpus);
	return write_own(a, ev->ts_ns, ev->shed.back ? FXT_NAME_RETURNED : FXT_NAME_SHED, &args);
}

static int write_trigger(struct fxt_archive *a, const struct event *ev)
{
	struct args args = { .n = 0 };

	archive_args_add_text(&args, FXT_NAME_REASON, ev->trigger.what);
	add_u64(&args, FXT_NAME_VALUE, ev->trigger.value);
	add_u64(&args, FXT_NAME_LIMIT, ev->trigger.limit);
	add_u64(&args, FXT_NAME_COUNT, ev->trigger.count);
	if (ev->trigger.thread)
		add_koid(&args, FXT_NAME_THREAD, ev->trigger.thread);
	return write_own(a, ev->ts_ns, FXT_NAME_TRIGGER, &args);
}

static int fxt_archive_write_clock(struct fxt_archive *a, const struct event *ev)
{
	struct args args = { .n = 0 };

	add_u64(&args, FXT_NAME_BOOTTIME, ev->clock.boot_ns);
	add_u64(&args, FXT_NAME_MONOTONIC, ev->clock.mono_ns);
	add_u64(&args, FXT_NAME_REALTIME, ev->clock.real_ns);
	return write_own(a, ev->ts_ns, FXT_NAME_CLOCK, &args);
}

/* The pseudo-process, its thread, and one thread a CPU. */
static int write_own_objects(struct fxt_archive *a)
{
	struct args none = { .n = 0 }, args = { .n = 0 };
	char name[32];
	int r;

	add_koid(&args, FXT_NAME_PROCESS, FXT_KOID_KYMO);
	r = write_object(a, FXT_OBJECT_PROCESS, FXT_KOID_KYMO, "kymo", &none);
	if (r == 0)
		r = write_object(a, FXT_OBJECT_THREAD, FXT_KOID_KYMO, "kymo", &args);
	for (uint32_t cpu = 0; r == 0 && cpu < a->n_cpus; cpu++) {
		snprintf(name, sizeof(name), "cpu %u", cpu);
		r = write_object(a, FXT_OBJECT_THREAD, FXT_KOID_KYMO_CPU + cpu, name, &args);
	}
	return r;
}

/* The pseudo-process for all that a filter leaves out, and one thread a CPU. */
static int write_other_objects(struct fxt_archive *a)
{
	struct args none = { .n = 0 }, args = { .n = 0 };
	char name[32];
	int r = write_object(a, FXT_OBJECT_PROCESS, FXT_KOID_OTHER, "other", &none);

	add_koid(&args, FXT_NAME_PROCESS, FXT_KOID_OTHER);
	for (uint32_t cpu = 0; r == 0 && cpu < a->n_cpus; cpu++) {
		snprintf(name, sizeof(name), "other cpu %u", cpu);
		r = write_object(a, FXT_OBJECT_THREAD, FXT_KOID_OTHER + cpu, name, &args);
	}
	return r;
}

/* What is too long for one record goes on in the next. */
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

static int write_start(struct fxt_archive *a, const struct event *ev)
{
	_cleanup_(outbuf_deinit) struct outbuf info = { 0 };
	struct args args = { .n = 0 };
	int r;

	fxt_perfetto_system_info(&info, ev->start.kernel, ev->start.machine);
	r = info.error < 0 ? info.error : fxt_archive_write_packets(a, FXT_NAME_PERFETTO, &info);
	if (r == 0)
		r = write_own_objects(a);
	if (r == 0 && ev->start.filtered)
		r = write_other_objects(a);
	if (r < 0)
		return r;
	archive_args_add_text(&args, FXT_NAME_SESSION, ev->start.session);
	archive_args_add_text(&args, FXT_NAME_COMMAND, ev->start.command);
	archive_args_add_text(&args, FXT_NAME_OPTIONS, ev->start.options);
	archive_args_add_text(&args, FXT_NAME_KERNEL, ev->start.kernel);
	archive_args_add_text(&args, FXT_NAME_MACHINE, ev->start.machine);
	archive_args_add_text(&args, FXT_NAME_HOST, ev->start.host);
	archive_args_add_text(&args, FXT_NAME_VERSION, ev->start.version);
	archive_args_add_u32(&args, FXT_NAME_CPUS, ev->start.n_cpus);
	add_bool(&args, FXT_NAME_FILTERED, ev->start.filtered);
	if (ev->start.chunk)
		archive_args_add_u32(&args, FXT_NAME_CHUNK, ev->start.chunk);
	return write_own(a, ev->ts_ns, FXT_NAME_SESSION_START, &args);
}

static int fxt_archive_write_stop(struct fxt_archive *a, const struct event *ev)
{
	struct args args = { .n = 0 };

	archive_args_add_text(&args, FXT_NAME_REASON, ev->stop.reason);
	add_u64(&args, FXT_NAME_EVENTS, ev->stop.events);
	add_u64(&args, FXT_NAME_LOST, ev->stop.lost);
	add_u64(&args, FXT_NAME_DISMISSED, ev->stop.dismissed);
	add_u64(&args, FXT_NAME_UNREPORTED, ev->stop.unreported);
	add_u64(&args, FXT_NAME_BYTES, ev->stop.bytes);
	add_u64(&args, FXT_NAME_DAEMON_CPU, ev->stop.daemon_cpu_ns);
	add_u64(&args, FXT_NAME_BPF_CPU, ev->stop.bpf_cpu_ns);
	if (ev->stop.dropped_bytes)
		add_u64(&args, FXT_NAME_FULL, ev->stop.dropped_bytes);
	return write_own(a, ev->ts_ns, FXT_NAME_SESSION_STOP, &args);
}

static int write_damage(struct fxt_archive *a, const struct event *ev)
{
	struct args args = { .n = 0 };

	add_u64(&args, FXT_NAME_OFFSET, ev->damage.offset);
	add_u64(&args, FXT_NAME_BYTES, ev->damage.bytes);
	archive_args_add_text(&args, FXT_NAME_REASON, ev->damage.what);
	return write_own(a, ev->ts_ns, FXT_NAME_DAMAGE, &args);
}

/* ---- what CPUs do ---- */

static const struct {
	uint32_t process;
	const char *process_name, *thread_name; /* with one %u, if there is one a CPU; else NULL */
} tracks[FXT_TRACK_MAX] = {
	[FXT_TRACK_IRQ] = { FXT_KOID_IRQ, "IRQ", "irq cpu %u" },
	[FXT_TRACK_SOFTIRQ] = { FXT_KOID_SOFTIRQ, "Softirq", "softirq cpu %u" },
	[FXT_TRACK_IDLE] = { FXT_KOID_POWER, "Power", "idle cpu %u" },
	[FXT_TRACK_POWER] = { FXT_KOID_POWER, "Power", NULL },
	[FXT_TRACK_COUNTERS] = { FXT_KOID_COUNTERS, "Counters", NULL },
	[FXT_TRACK_CODE] = { FXT_KOID_CODE, "Code", NULL },
};

uint32_t fxt_archive_track_koid(enum fxt_track track, uint32_t cpu)
{
	return tracks[track].thread_name ? tracks[track].process + 1 + cpu : tracks[track].process;
}

int fxt_archive_track(struct fxt_archive *a, enum fxt_track track, uint32_t cpu)
{
	const char *process = tracks[track].process_name;
	struct args none = { .n = 0 }, args = { .n = 0 };
	char name[32];
	int r = 0;

	if (!tracks[track].thread_name)
		cpu = 0;
	if (cpu >= a->n_cpus)
		return -EINVAL;
	if (__builtin_expect(a->tracks[cpu] >> track & 1, 1))
		return 0;
	if (!(a->processes >> track & 1))
		r = write_object(a, FXT_OBJECT_PROCESS, tracks[track].process, process, &none);
	if (r < 0)
		return r;
	for (enum fxt_track other = 0; other < FXT_TRACK_MAX; other++)
		if (tracks[other].process == tracks[track].process)
			a->processes |= (uint8_t)(1u << other);
	a->tracks[cpu] |= (uint8_t)(1u << track);
	add_koid(&args, FXT_NAME_PROCESS, tracks[track].process);
	if (tracks[track].thread_name)
		snprintf(name, sizeof(name), tracks[track].thread_name, cpu);
	return write_object(a, FXT_OBJECT_THREAD, fxt_archive_track_koid(track, cpu),
			    tracks[track].thread_name ? name : process, &args);
}

/* TEXT by its fixed place, if it has one. */
static struct fxt_out_string named_or_interned(const char *text)
{
	static const struct {
		uint16_t index;
		const char *text;
	} fixed[] = {
#define X(id, index, text) { index, text },
		FXT_NAMES(X)
#undef X
	};

	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		if (strcmp(fixed[i].text, text) == 0)
			return (struct fxt_out_string){ .index = fixed[i].index };
	return fxt_interned(text);
}

static int write_interval(struct fxt_archive *a, const struct event *ev)
{
	static const struct {
		enum fxt_name category;
		enum fxt_track track;
	} rows[INTERVAL_KIND_MAX] = {
		[INTERVAL_IRQ] = { FXT_NAME_IRQ, FXT_TRACK_IRQ },
		[INTERVAL_SOFTIRQ] = { FXT_NAME_SOFTIRQ, FXT_TRACK_SOFTIRQ },
		[INTERVAL_WORK] = { FXT_NAME_WORKQUEUE, FXT_TRACK_SOFTIRQ },
		[INTERVAL_IDLE] = { FXT_NAME_POWER, FXT_TRACK_IDLE },
	};
	enum interval_kind kind = ev->interval.kind;
	struct fxt_event out = {
		.type = FXT_EVENT_DURATION_COMPLETE,
		.ts_ticks = ev->ts_ns,
		.thread = { ev->pid, ev->tid, true },
		.id = ev->interval.end_ns,
	};
	struct args args = { .n = 0 };
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
	if (kind == INTERVAL_IRQ) {
		add_i32(&args, FXT_NAME_IRQ, ev->interval.number);
		add_bool(&args, FXT_NAME_HANDLED, ev->interval.handled);
	} else if (kind == INTERVAL_IDLE) {
		archive_args_add_u32(&args, FXT_NAME_STATE, (uint32_t)ev->interval.number);
	}
	out.category = fxt_named(rows[kind].category);
	out.name = kind == INTERVAL_IRQ       ? fxt_inline(ev->interval.name)
		   : kind == INTERVAL_SOFTIRQ ? named_or_interned(ev->interval.name)
					      : fxt_interned(ev->interval.name);
	out.args = args.list;
	out.n_args = args.n;
	return fxt_write_event(&a->writer, &out);
}

static int write_counter(struct fxt_archive *a, const struct event *ev)
{
	bool power = strcmp(ev->counter.category, "power") == 0;
	enum fxt_track track = power ? FXT_TRACK_POWER : FXT_TRACK_COUNTERS;
	uint32_t koid = fxt_archive_track_koid(track, 0);
	struct args args = { .n = 0 };
	int r;

	if (ev->counter.n_values > FXT_ARGS_MAX)
		return -EINVAL;
	r = fxt_archive_track(a, track, 0);
	if (r < 0)
		return r;
	for (unsigned i = 0; i < ev->counter.n_values; i++) {
		const struct event_value *v = &ev->counter.values[i];
		struct fxt_out_arg *arg = &args.list[args.n++];

		*arg = (struct fxt_out_arg){ .type = v->whole ? FXT_ARG_UINT64 : FXT_ARG_DOUBLE,
					     .name = named_or_interned(v->name) };
		if (v->whole)
			arg->u64 = v->u64;
		else
			arg->f64 = v->f64;
	}
	return fxt_write_event(&a->writer, &(struct fxt_event){
						   .type = FXT_EVENT_COUNTER,
						   .category = fxt_named(power ? FXT_NAME_POWER
									       : FXT_NAME_COUNTERS),
						   .name = named_or_interned(ev->counter.name),
						   .ts_ticks = ev->ts_ns,
						   .thread = { koid, koid },
						   .args = args.list,
						   .n_args = args.n,
						   .id = ev->counter.id,
					   });
}

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

/* (not before there is something of the profiler) */
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
	if (r == 0)
		r = fxt_perfetto_samples_add(a->samples, ev);
	return r < 0 ? r : fxt_perfetto_samples_batch(a->samples, false) != NULL;
}

int fxt_archive_event(struct fxt_archive *a, const struct event *ev)
{
	static int (*const write[EVENT_KIND_MAX])(struct fxt_archive *, const struct event *) = {
		[EVENT_SWITCH] = fxt_archive_write_switch,
		[EVENT_TASK] = fxt_archive_write_task,
		[EVENT_FORK] = write_fork,
		[EVENT_EXEC] = write_exec,
		[EVENT_EXIT] = write_exit,
		[EVENT_RENAME] = write_rename,
		[EVENT_LOST] = write_lost,
		[EVENT_MARK] = write_mark,
		[EVENT_SHED] = write_shed,
		[EVENT_TRIGGER] = write_trigger,
		[EVENT_CLOCK] = fxt_archive_write_clock,
		[EVENT_START] = write_start,
		[EVENT_STOP] = fxt_archive_write_stop,
		[EVENT_DAMAGE] = write_damage,
		[EVENT_SAMPLING] = fxt_archive_sampling,
		[EVENT_MAPPING] = fxt_archive_mapping,
		[EVENT_SAMPLE] = fxt_archive_sample,
		[EVENT_OFFCPU] = fxt_archive_offcpu,
		[EVENT_FRAME] = fxt_archive_frame,
		[EVENT_INTERVAL] = write_interval,
		[EVENT_COUNTER] = write_counter,
		[EVENT_WATCH_BEGIN] = fxt_archive_watch,
		[EVENT_WATCH_END] = fxt_archive_watched,
		[EVENT_ALLOC] = fxt_archive_alloc,
		[EVENT_FREE] = fxt_archive_free,
		[EVENT_USAGE] = fxt_archive_usage,
		[EVENT_SNAPSHOT] = fxt_archive_snapshot,
		[EVENT_BLOCK] = fxt_archive_block,
		[EVENT_CONTEXT] = fxt_archive_context,
	};
	int r;

	if (ev->kind >= EVENT_KIND_MAX || !write[ev->kind])
		return -EINVAL;
	r = ev->kind == EVENT_STOP ? fxt_archive_packets(a, true) : 0;
	if (r == 0)
		r = write[ev->kind](a, ev);
	if (r == 0)
		r = fxt_archive_gather(a, ev);
	return r > 0 ? fxt_archive_packets(a, false) : r;
}
