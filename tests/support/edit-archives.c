/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/edit-archives.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "reader/fxt/fxt-check.h"
#include "tests/support/unit.h"

/* ---- making ---- */

void source_init(struct source *s)
{
	*s = (struct source){ .w.out = &s->bytes };
	OK(fxt_out_provider_init(&s->kymo, 1));
	OK(fxt_out_provider_init(&s->app, 2));
	OK(fxt_write_head(&s->w, &s->kymo, "kymo"));
}

void source_deinit(struct source *s)
{
	fxt_out_provider_deinit(&s->kymo);
	fxt_out_provider_deinit(&s->app);
	outbuf_deinit(&s->bytes);
}

void as_app(struct source *s)
{
	if (s->app.introduced) {
		OK(fxt_write_section(&s->w, &s->app));
		return;
	}
	OK(fxt_write_provider_info(&s->w, &s->app, "app"));
	OK(fxt_write_section(&s->w, &s->app));
	OK(fxt_write_initialization(&s->w, 1000000000));
}

void as_kymo(struct source *s)
{
	OK(fxt_write_section(&s->w, &s->kymo));
}

static struct fxt_out_arg koid_arg(const char *name, uint64_t koid)
{
	return (struct fxt_out_arg){ FXT_ARG_KOID, fxt_interned(name), .u64 = koid };
}

static struct fxt_out_arg u64_arg(const char *name, uint64_t v)
{
	return (struct fxt_out_arg){ FXT_ARG_UINT64, fxt_interned(name), .u64 = v };
}

void put_process(struct source *s, uint64_t pid, const char *name, uint64_t parent)
{
	struct fxt_out_arg arg = koid_arg("parent", parent);

	OK(fxt_write_kernel_object(&s->w, &(struct fxt_kernel_object){ FXT_OBJECT_PROCESS, pid,
								       fxt_interned(name), &arg,
								       parent != 0 }));
}

void put_thread(struct source *s, uint64_t pid, uint64_t tid, const char *name)
{
	struct fxt_out_arg arg = koid_arg("process", pid);

	OK(fxt_write_kernel_object(&s->w,
				   &(struct fxt_kernel_object){ FXT_OBJECT_THREAD, tid,
								fxt_interned(name), &arg, 1 }));
}

void put_task(struct source *s, uint64_t pid, const char *name, uint64_t parent)
{
	put_process(s, pid, name, parent);
	put_thread(s, pid, pid, name);
}

void put_task_since(struct source *s, uint64_t pid, const char *name, uint64_t start_ns)
{
	const struct fxt_out_arg args[] = { koid_arg("process", pid),
					    u64_arg("start_time", start_ns) };

	OK(fxt_write_kernel_object(&s->w,
				   &(struct fxt_kernel_object){ FXT_OBJECT_PROCESS, pid,
								fxt_interned(name), &args[1], 1 }));
	OK(fxt_write_kernel_object(&s->w,
				   &(struct fxt_kernel_object){ FXT_OBJECT_THREAD, pid,
								fxt_interned(name), args, 2 }));
}

static struct fxt_out_arg weight_arg(const char *name, uint64_t tid)
{
	return (struct fxt_out_arg){ FXT_ARG_INT32, fxt_interned(name),
				     .i32 = tid ? 120 : FXT_IDLE_WEIGHT };
}

void put_switch(struct source *s, uint64_t ts, uint32_t cpu, uint64_t out, uint64_t in,
		enum fxt_thread_state state)
{
	const struct fxt_out_arg args[] = { weight_arg("outgoing_weight", out),
					    weight_arg("incoming_weight", in) };

	OK(fxt_write_switch(&s->w, &(struct fxt_switch){ ts, cpu, state, out, in, args, 2 }));
}

void put_wakeup(struct source *s, uint64_t ts, uint32_t cpu, uint64_t tid)
{
	const struct fxt_out_arg arg = weight_arg("weight", tid);

	OK(fxt_write_wakeup(&s->w, &(struct fxt_wakeup){ ts, cpu, tid, &arg, 1 }));
}

void put_event(struct source *s, enum fxt_event_type type, uint64_t ts, uint64_t tid,
	       const char *category, const char *name, uint64_t id)
{
	OK(fxt_write_event(&s->w, &(struct fxt_event){
					  .type = type,
					  .category = fxt_interned(category),
					  .name = fxt_interned(name),
					  .ts_ticks = ts,
					  .thread = { tid, tid },
					  .id = id,
				  }));
}

void put_event_args(struct source *s, uint64_t ts, uint64_t tid, const char *category,
		    const char *name, const struct fxt_out_arg *args, unsigned n_args)
{
	OK(fxt_write_event(&s->w, &(struct fxt_event){
					  .category = fxt_interned(category),
					  .name = fxt_interned(name),
					  .ts_ticks = ts,
					  .thread = { tid, tid },
					  .args = args,
					  .n_args = n_args,
				  }));
}

void put_start(struct source *s, uint64_t ts, const char *host, uint32_t n_cpus, uint64_t wall_ns)
{
	const struct fxt_out_arg start[] = {
		{ FXT_ARG_STRING, fxt_interned("host"), .text = fxt_interned(host) },
		{ FXT_ARG_UINT32, fxt_interned("cpus"), .u32 = n_cpus },
		{ FXT_ARG_BOOL, fxt_interned("filtered"), .boolean = false },
	};
	const struct fxt_out_arg clock[] = { u64_arg("boottime", ts), u64_arg("monotonic", ts),
					     u64_arg("realtime", wall_ns + ts) };

	put_task(s, FXT_KOID_KYMO, "kymo", 0);
	put_event_args(s, ts, FXT_KOID_KYMO, "kymo", "session_start", start, 3);
	put_event_args(s, ts, FXT_KOID_KYMO, "kymo", "clock", clock, 3);
}

void put_stop(struct source *s, uint64_t ts)
{
	put_event_args(s, ts, FXT_KOID_KYMO, "kymo", "session_stop", NULL, 0);
}

void put_words(struct source *s, const uint64_t *words, size_t n)
{
	OK(fxt_write_words(&s->w, words, n));
}

/* ---- running ---- */

static struct fxt_reader *open_archive(const struct outbuf *archive)
{
	struct fxt_reader *reader = NULL;

	OK(fxt_reader_new_memory(&reader, archive->data, archive->size));
	return reader;
}

/* The words of what was made, which goes. */
static char *finish(struct edit_output *out)
{
	char *text = edited_text(&out->bytes);

	edit_output_deinit(out);
	return text;
}

char *repair_text(const struct outbuf *archive, struct edit_repair_counts *ret_counts)
{
	_cleanup_(fxt_reader_freep) struct fxt_reader *reader = open_archive(archive);
	_cleanup_(edit_repair_freep) struct edit_repair *repair = NULL;
	const struct fxt_record *record;
	struct edit_output out;
	int r;

	OK(edit_output_init(&out));
	OK(edit_repair_new(&repair, &out));
	while ((r = fxt_reader_next(reader, &record)) > 0)
		OK(r == FXT_READER_RECORD ? edit_repair_record(repair, record)
					  : edit_repair_damage(repair, fxt_reader_damage(reader)));
	OK(edit_repair_finish(repair));
	if (ret_counts)
		edit_repair_get_counts(repair, ret_counts);
	return finish(&out);
}

char *cut_text(const struct outbuf *archive, const struct edit_cut_options *options)
{
	_cleanup_(fxt_reader_freep) struct fxt_reader *reader = open_archive(archive);
	_cleanup_(edit_cut_freep) struct edit_cut *cut = NULL;
	const struct fxt_record *record;
	struct edit_output out;

	OK(edit_output_init(&out));
	OK(edit_cut_new(&cut, &out, options));
	while (fxt_reader_next(reader, &record) == FXT_READER_RECORD)
		OK(edit_cut_record(cut, record));
	OK(edit_cut_finish(cut));
	return finish(&out);
}

char *merge_text(const struct outbuf *const *archives, unsigned n,
		 struct edit_merge_view *ret_views)
{
	_cleanup_(edit_merge_freep) struct edit_merge *merge = NULL;
	struct fxt_reader *readers[EDIT_MERGE_INPUTS_MAX];
	const struct fxt_record *record;
	struct edit_output out;
	int r, input;

	OK(edit_output_init(&out));
	OK(edit_merge_new(&merge, &out, n));
	for (unsigned i = 0; i < n; i++)
		readers[i] = open_archive(archives[i]);
	while ((r = edit_merge_step(merge, &input)) > 0 || input >= 0) {
		assert_true(r >= 0);
		if (r > 0)
			continue;
		if (fxt_reader_next(readers[input], &record) == FXT_READER_RECORD)
			OK(edit_merge_put(merge, (unsigned)input, record));
		else
			edit_merge_end(merge, (unsigned)input);
	}
	OK(r);
	for (unsigned i = 0; i < n; i++) {
		fxt_reader_free(readers[i]);
		if (ret_views)
			edit_merge_get_view(merge, i, &ret_views[i]);
	}
	return finish(&out);
}

void redact_bytes(const struct outbuf *archive, const struct edit_redact_options *options,
		  struct edit_output *ret)
{
	_cleanup_(fxt_reader_freep) struct fxt_reader *reader = open_archive(archive);
	_cleanup_(edit_redact_freep) struct edit_redact *redact = NULL;
	const struct fxt_record *record;

	OK(edit_output_init(ret));
	OK(edit_redact_new(&redact, ret, options));
	while (fxt_reader_next(reader, &record) == FXT_READER_RECORD)
		OK(edit_redact_record(redact, record));
}

/* ---- words ---- */

static void print_text(FILE *f, const struct fxt_text *t)
{
	if (t->bytes)
		fprintf(f, "%.*s", (int)t->length, t->bytes);
	else
		fprintf(f, "<%u>", t->ref);
}

static void print_bytes(FILE *f, const uint8_t *bytes, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		fprintf(f, "%02x", bytes[i]);
}

static void print_arg(FILE *f, const struct fxt_arg *arg)
{
	static const char *const types[] = { "null",   "int32",  "uint32", "int64",
					     "uint64", "double", "string", "pointer",
					     "koid",   "bool",   "blob" };

	fputc(' ', f);
	print_text(f, &arg->name);
	fprintf(f, ":%s", arg->type < ARRAY_SIZE(types) ? types[arg->type] : "?");
	switch (arg->type) {
	case FXT_ARG_NULL:
		break;
	case FXT_ARG_INT32:
		fprintf(f, "=%" PRId32, arg->int32);
		break;
	case FXT_ARG_UINT32:
		fprintf(f, "=%" PRIu32, arg->uint32);
		break;
	case FXT_ARG_BOOL:
		fprintf(f, "=%d", arg->boolean);
		break;
	case FXT_ARG_STRING:
		fputc('=', f);
		print_text(f, &arg->text);
		break;
	case FXT_ARG_BLOB:
		fputc('=', f);
		print_bytes(f, arg->blob.data, arg->blob.size);
		break;
	case FXT_ARG_INT64:
		fprintf(f, "=%" PRId64, arg->int64);
		break;
	default:
		fprintf(f, "=%" PRIu64, arg->uint64);
	}
}

static void print_args(FILE *f, const struct fxt_record *r)
{
	struct fxt_args it = r->args;
	struct fxt_arg arg;
	int outcome;

	while ((outcome = fxt_args_next(&it, &arg)) != FXT_ARGS_END)
		if (outcome == FXT_ARGS_NEXT)
			print_arg(f, &arg);
		else
			fprintf(f, " damage");
}

static void print_thread(FILE *f, const struct fxt_thread *t)
{
	if (t->defined)
		fprintf(f, " %" PRIu64 "/%" PRIu64, t->pid, t->tid);
	else
		fprintf(f, " undefined");
}

static void print_event(FILE *f, const struct fxt_record *r)
{
	static const char *const types[] = { "instant",    "counter",     "begin",      "end",
					     "complete",   "async-begin", "async-step", "async-end",
					     "flow-begin", "flow-step",   "flow-end" };

	fprintf(f, "%" PRIu64 " %s ", r->ts_ns,
		r->subtype < ARRAY_SIZE(types) ? types[r->subtype] : "?");
	print_text(f, &r->category);
	fputc('/', f);
	print_text(f, &r->name);
	print_thread(f, &r->thread);
	if (r->subtype == FXT_EVENT_DURATION_COMPLETE)
		fprintf(f, " ..%" PRIu64, r->event.end_ns);
	else if (r->subtype == FXT_EVENT_COUNTER || r->subtype > FXT_EVENT_DURATION_COMPLETE)
		fprintf(f, " id %" PRIu64, r->event.value);
	print_args(f, r);
}

/* Arguments of a scheduling record that are not what is to be expected. */
static void print_sched_args(FILE *f, const struct fxt_record *r)
{
	struct fxt_args it = r->args;
	struct fxt_arg arg;

	while (fxt_args_next(&it, &arg) == FXT_ARGS_NEXT) {
		int name = fxt_text_known(&arg.name);
		uint64_t tid = name == FXT_NAME_OUTGOING_WEIGHT   ? r->sw.out_tid
			       : name == FXT_NAME_INCOMING_WEIGHT ? r->sw.in_tid
								  : 1;

		if (name == FXT_NAME_SYNTHETIC)
			fputs(" *", f);
		else if (arg.type != FXT_ARG_INT32 || arg.int32 != (tid ? 120 : FXT_IDLE_WEIGHT))
			print_arg(f, &arg);
	}
}

static void print_scheduling(FILE *f, const struct fxt_record *r)
{
	static const char *const states[] = { "new",     "running", "suspended",
					      "blocked", "dying",   "dead" };

	if (r->subtype == FXT_SCHED_WAKEUP) {
		fprintf(f, "%" PRIu64 " wake %" PRIu64 " @%u", r->ts_ns, r->wake.tid, r->wake.cpu);
		print_sched_args(f, r);
		return;
	}
	fprintf(f, "%" PRIu64 " cpu%u %" PRIu64 ">%" PRIu64 " %s", r->ts_ns, r->sw.cpu,
		r->sw.out_tid, r->sw.in_tid,
		r->sw.out_state < ARRAY_SIZE(states) ? states[r->sw.out_state] : "?");
	if (r->subtype == FXT_SCHED_LEGACY_SWITCH)
		fprintf(f, " legacy %" PRIu64 " %" PRIu64 " %u %u%s", r->sw.out_pid, r->sw.in_pid,
			r->sw.out_priority, r->sw.in_priority,
			r->sw.out_defined && r->sw.in_defined ? "" : " undefined");
	else
		print_sched_args(f, r);
}

static void print_profiler(FILE *f, const struct fxt_record *r)
{
	fprintf(f, "%" PRIu64 " ", r->ts_ns);
	switch (r->subtype) {
	case FXT_PROFILER_MODULE:
		fprintf(f, "module %u ", r->module.id);
		print_text(f, &r->name);
		fputc(' ', f);
		print_bytes(f, r->module.build_id, r->module.build_id_size);
		break;
	case FXT_PROFILER_MMAP:
		fprintf(f, "mmap %u flags %u %" PRIx64 " %" PRIx64 " %" PRIx64, r->mmap.module_id,
			r->mmap.flags, r->mmap.start, r->mmap.range, r->mmap.vaddr);
		break;
	default:
		fprintf(f, "backtrace");
		for (unsigned i = 0; i < r->backtrace.n_frames; i++)
			fprintf(f, " %" PRIx64, r->backtrace.frames[i]);
	}
	print_thread(f, &r->thread);
}

static void print_object(FILE *f, const struct fxt_record *r)
{
	if (r->type == FXT_RECORD_USERSPACE_OBJECT) {
		fprintf(f, "object %" PRIx64 " '", r->userspace_object.pointer);
		print_text(f, &r->name);
		fputc('\'', f);
		print_thread(f, &r->thread);
	} else {
		fprintf(f, "%s %" PRIu64 " '",
			r->kernel_object.type == FXT_OBJECT_PROCESS  ? "process"
			: r->kernel_object.type == FXT_OBJECT_THREAD ? "thread"
								     : "kobject",
			r->kernel_object.koid);
		print_text(f, &r->name);
		fputc('\'', f);
	}
	print_args(f, r);
}

static void print_blob(FILE *f, const struct fxt_record *r)
{
	if (r->type == FXT_RECORD_BLOB) {
		fprintf(f, "blob %u ", r->blob.type);
	} else {
		fprintf(f, "large %u ", r->subtype);
		print_text(f, &r->category);
		fputc('/', f);
	}
	print_text(f, &r->name);
	fputc(' ', f);
	print_bytes(f, r->blob.data, r->blob.size);
	if (r->type == FXT_RECORD_LARGE && r->subtype == FXT_LARGE_BLOB_METADATA) {
		fprintf(f, " %" PRIu64, r->ts_ns);
		print_thread(f, &r->thread);
		print_args(f, r);
	}
}

/* A line where a name is that of an earlier provider, too. */
static void print_again(FILE *f, const struct fxt_record *r, char names[static 16][256])
{
	if (r->type != FXT_RECORD_METADATA || r->subtype != FXT_METADATA_PROVIDER_INFO ||
	    r->metadata.provider_id >= 16)
		return;
	snprintf(names[r->metadata.provider_id], 256, "%.*s", (int)r->name.length, r->name.bytes);
	for (unsigned i = 0; i < r->metadata.provider_id; i++)
		if (strcmp(names[i], names[r->metadata.provider_id]) == 0)
			fprintf(f, "another provider '%s'\n", names[i]);
}

static void print_record(FILE *f, const struct fxt_record *r)
{
	if (r->type <= FXT_RECORD_THREAD &&
	    !(r->type == FXT_RECORD_METADATA && r->subtype == FXT_METADATA_PROVIDER_EVENT))
		return;
	fprintf(f, "%s: ", r->provider->name);
	switch (r->type) {
	case FXT_RECORD_METADATA:
		fprintf(f, "provider event %u", r->metadata.number);
		break;
	case FXT_RECORD_EVENT:
		print_event(f, r);
		break;
	case FXT_RECORD_BLOB:
	case FXT_RECORD_LARGE:
		print_blob(f, r);
		break;
	case FXT_RECORD_USERSPACE_OBJECT:
	case FXT_RECORD_KERNEL_OBJECT:
		print_object(f, r);
		break;
	case FXT_RECORD_SCHEDULING:
		print_scheduling(f, r);
		break;
	case FXT_RECORD_LOG:
		fprintf(f, "%" PRIu64 " log ", r->ts_ns);
		print_text(f, &r->name);
		print_thread(f, &r->thread);
		break;
	case FXT_RECORD_PROFILER:
		print_profiler(f, r);
		break;
	default:
		fprintf(f, "record of type %u", r->type);
	}
	fputc('\n', f);
}

char *edited_text(const struct outbuf *archive)
{
	_cleanup_(fxt_reader_freep) struct fxt_reader *reader = open_archive(archive);
	const struct fxt_record *record;
	char names[16][256] = { "" };
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	int r;

	if (!f)
		abort();
	while ((r = fxt_reader_next(reader, &record)) > 0) {
		struct fxt_findings findings;

		if (r == FXT_READER_DAMAGE) {
			fprintf(f, "damage: %s\n", fxt_reader_damage(reader)->what);
			continue;
		}
		fxt_check_record(record, &findings);
		for (unsigned i = 0; i < findings.n; i++)
			if (fxt_finding_kinds[findings.list[i].id].severity == FXT_SEVERITY_ERROR)
				fprintf(f, "damage: %s\n",
					fxt_finding_kinds[findings.list[i].id].text);
		print_again(f, record, names);
		print_record(f, record);
	}
	fclose(f);
	return text;
}

static const char *find_line(const char *text, const char *line)
{
	size_t n = strlen(line);

	for (const char *p = text; (p = strstr(p, line)); p++)
		if ((p == text || p[-1] == '\n') && (p[n] == '\n' || p[n] == '\0'))
			return p;
	return NULL;
}

void assert_line(const char *text, const char *line)
{
	if (!find_line(text, line))
		fail_msg("there is no line '%s' in\n%s", line, text);
}

void assert_no_line(const char *text, const char *line)
{
	if (find_line(text, line))
		fail_msg("there is a line '%s' in\n%s", line, text);
}

unsigned count_lines(const char *text, const char *part)
{
	unsigned n = 0;

	for (const char *p = text; (p = strstr(p, part)); n++) {
		p = strchr(p, '\n');
		if (!p)
			return n + 1;
	}
	return n;
}
