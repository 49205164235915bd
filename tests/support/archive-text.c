/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/archive-text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "reader/fxt/fxt-check.h"
#include "reader/fxt/fxt-events.h"
#include "reader/fxt/fxt-reader.h"

/* Calls RECORD with each record and DAMAGE with what is none. */
static void walk(const struct outbuf *archive,
		 void (*on_record)(const struct fxt_record *record, void *userdata),
		 void (*on_damage)(const char *what, void *userdata), void *userdata)
{
	_cleanup_(fxt_reader_freep) struct fxt_reader *reader = NULL;
	const struct fxt_record *record;
	int r = fxt_reader_new_memory(&reader, archive->data, archive->size);

	if (r != 0) {
		on_damage("no archive", userdata);
		return;
	}
	while ((r = fxt_reader_next(reader, &record)) > 0) {
		struct fxt_findings findings;

		if (r == FXT_READER_DAMAGE) {
			on_damage(fxt_reader_damage(reader)->what, userdata);
			continue;
		}
		fxt_check_record(record, &findings);
		for (unsigned i = 0; i < findings.n; i++)
			if (fxt_finding_kinds[findings.list[i].id].severity == FXT_SEVERITY_ERROR)
				on_damage(fxt_finding_kinds[findings.list[i].id].text, userdata);
		on_record(record, userdata);
	}
}

static void damage_line(const char *what, void *userdata)
{
	fprintf(userdata, "damage: %s\n", what);
}

/* ---- records ---- */

static void print_text(FILE *f, const struct fxt_text *t)
{
	if (!t->bytes)
		fprintf(f, "<%u>", t->ref);
	else
		fprintf(f, "%.*s", (int)t->length, t->bytes);
}

static void print_arg(FILE *f, const struct fxt_arg *arg)
{
	fputc(' ', f);
	print_text(f, &arg->name);
	switch (arg->type) {
	case FXT_ARG_INT32:
		fprintf(f, ":int32=%d", arg->int32);
		break;
	case FXT_ARG_UINT32:
		fprintf(f, ":uint32=%u", arg->uint32);
		break;
	case FXT_ARG_UINT64:
		fprintf(f, ":uint64=%" PRIu64, arg->uint64);
		break;
	case FXT_ARG_DOUBLE:
		fprintf(f, ":double=%g", arg->real);
		break;
	case FXT_ARG_POINTER:
		fprintf(f, ":pointer=%#" PRIx64, arg->uint64);
		break;
	case FXT_ARG_KOID:
		fprintf(f, ":koid=%" PRIu64, arg->uint64);
		break;
	case FXT_ARG_BOOL:
		fprintf(f, ":bool=%s", arg->boolean ? "true" : "false");
		break;
	case FXT_ARG_STRING:
		fprintf(f, ":string='");
		print_text(f, &arg->text);
		fputc('\'', f);
		break;
	default:
		fprintf(f, ":type %u", arg->type);
	}
}

static void print_args(FILE *f, const struct fxt_record *record)
{
	struct fxt_args it = record->args;
	struct fxt_arg arg;
	int r;

	while ((r = fxt_args_next(&it, &arg)) == FXT_ARGS_NEXT)
		print_arg(f, &arg);
	fputs(r == FXT_ARGS_DAMAGE ? " damaged\n" : "\n", f);
}

static void print_metadata(FILE *f, const struct fxt_record *record)
{
	switch (record->subtype) {
	case FXT_METADATA_PROVIDER_INFO:
		fprintf(f, "provider %u '", record->metadata.provider_id);
		print_text(f, &record->name);
		fputs("'\n", f);
		break;
	case FXT_METADATA_PROVIDER_SECTION:
		fprintf(f, "section %u\n", record->metadata.provider_id);
		break;
	case FXT_METADATA_PROVIDER_EVENT:
		fprintf(f, "provider event %u\n", record->metadata.number);
		break;
	default:
		fputs("magic\n", f);
	}
}

static void print_event(FILE *f, const struct fxt_record *record)
{
	fprintf(f, "%" PRIu64 " %s ", record->ts_ns,
		record->subtype == FXT_EVENT_INSTANT             ? "instant"
		: record->subtype == FXT_EVENT_COUNTER           ? "counter"
		: record->subtype == FXT_EVENT_DURATION_COMPLETE ? "complete"
								 : "event");
	print_text(f, &record->category);
	fputc('/', f);
	print_text(f, &record->name);
	fprintf(f, " of %" PRIu64 "/%" PRIu64, record->thread.pid, record->thread.tid);
	if (!record->thread.defined)
		fputs(" (not defined)", f);
	if (record->subtype == FXT_EVENT_COUNTER)
		fprintf(f, " id %" PRIu64, record->event.value);
	if (record->subtype == FXT_EVENT_DURATION_COMPLETE)
		fprintf(f, " to %" PRIu64, record->event.end_ns);
	print_args(f, record);
}

static void print_profiler(FILE *f, const struct fxt_record *record)
{
	fprintf(f, "%" PRIu64 " ", record->ts_ns);
	if (record->subtype == FXT_PROFILER_MODULE)
		fprintf(f, "module %u", record->module.id);
	else if (record->subtype == FXT_PROFILER_MMAP)
		fprintf(f, "mmap of module %u", record->mmap.module_id);
	else
		fprintf(f, "backtrace");
	fprintf(f, " of %" PRIu64 "/%" PRIu64, record->thread.pid, record->thread.tid);
	if (record->subtype == FXT_PROFILER_MODULE) {
		fputs(" '", f);
		print_text(f, &record->name);
		fprintf(f, "' build id of %u bytes", record->module.build_id_size);
	} else if (record->subtype == FXT_PROFILER_MMAP) {
		fprintf(f, " %#" PRIx64 "+%" PRIu64 " vaddr %" PRIu64 " flags %u",
			record->mmap.start, record->mmap.range, record->mmap.vaddr,
			record->mmap.flags);
	} else {
		for (unsigned i = 0; i < record->backtrace.n_frames; i++)
			fprintf(f, " %#" PRIx64, record->backtrace.frames[i]);
	}
	fputc('\n', f);
}

static void record_line(const struct fxt_record *record, void *userdata)
{
	FILE *f = userdata;

	switch (record->type) {
	case FXT_RECORD_METADATA:
		print_metadata(f, record);
		break;
	case FXT_RECORD_INITIALIZATION:
		fprintf(f, "ticks %" PRIu64 "\n", record->initialization.ticks_per_second);
		break;
	case FXT_RECORD_STRING:
	case FXT_RECORD_THREAD:
		break;
	case FXT_RECORD_EVENT:
		print_event(f, record);
		break;
	case FXT_RECORD_BLOB:
		fprintf(f, "blob %u '", record->blob.type);
		print_text(f, &record->name);
		fprintf(f, "' %" PRIu64 " bytes\n", record->blob.size);
		break;
	case FXT_RECORD_PROFILER:
		print_profiler(f, record);
		break;
	case FXT_RECORD_KERNEL_OBJECT:
		fprintf(f, "%s %" PRIu64 " '",
			record->kernel_object.type == FXT_OBJECT_PROCESS ? "process" : "thread",
			record->kernel_object.koid);
		print_text(f, &record->name);
		fputc('\'', f);
		print_args(f, record);
		break;
	case FXT_RECORD_SCHEDULING:
		if (record->subtype == FXT_SCHED_SWITCH)
			fprintf(f, "%" PRIu64 " switch cpu %u %" PRIu64 ">%" PRIu64 " state %u",
				record->ts_ns, record->sw.cpu, record->sw.out_tid,
				record->sw.in_tid, record->sw.out_state);
		else
			fprintf(f, "%" PRIu64 " wakeup cpu %u %" PRIu64, record->ts_ns,
				record->wake.cpu, record->wake.tid);
		print_args(f, record);
		break;
	default:
		fprintf(f, "record of type %u\n", record->type);
	}
}

char *archive_text(const struct outbuf *archive)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		abort();
	walk(archive, record_line, damage_line, f);
	fclose(f);
	return text;
}

/* ---- events ---- */

struct listener {
	struct fxt_events *events;
	void (*fn)(const struct event *ev, void *userdata);
	void (*damage)(const char *what, void *userdata);
	void *userdata;
	size_t n;
};

static void hear_record(const struct fxt_record *record, void *userdata)
{
	struct listener *l = userdata;
	const char *what;
	struct event ev;

	switch (fxt_events_get(l->events, record, &ev, &what)) {
	case FXT_EVENTS_EVENT:
		l->n++;
		l->fn(&ev, l->userdata);
		break;
	case FXT_EVENTS_DAMAGE:
		l->damage(what, l->userdata);
		break;
	default:
		break;
	}
}

static void hear_damage(const char *what, void *userdata)
{
	struct listener *l = userdata;

	l->damage(what, l->userdata);
}

static size_t listen_to(const struct outbuf *archive, struct listener *l)
{
	if (fxt_events_new(&l->events) < 0)
		abort();
	walk(archive, hear_record, hear_damage, l);
	fxt_events_free(l->events);
	return l->n;
}

static void no_damage(const char *what, void *userdata)
{
	(void)userdata;
	fprintf(stderr, "damage: %s\n", what);
	abort();
}

size_t archive_events(const struct outbuf *archive,
		      void (*fn)(const struct event *ev, void *userdata), void *userdata)
{
	return listen_to(archive,
			 &(struct listener){ .fn = fn, .damage = no_damage, .userdata = userdata });
}

/* ---- the story ---- */

static void print_switch(FILE *f, const struct event *ev)
{
	static const char *const states[] = { "new",     "running", "suspended",
					      "blocked", "dying",   "dead" };

	fprintf(f, "%" PRIu64 " cpu%u %u>%u ", ev->ts_ns, ev->cpu, ev->tid, ev->sw.next_tid);
	fputs(ev->sw.out_state < ARRAY_SIZE(states) ? states[ev->sw.out_state] : "?", f);
	if (ev->sw.state)
		fprintf(f, "/%c", ev->sw.state);
	fputs(ev->sw.synthetic ? " *\n" : "\n", f);
}

static void print_task(FILE *f, const struct event *ev)
{
	if (ev->task.is_process)
		fprintf(f, "process %u '%s' parent %u uid %u cgroup %" PRIu64 " '%s' real %u\n",
			ev->pid, ev->task.comm, ev->task.parent_pid, ev->task.uid,
			ev->task.cgroup_id, ev->task.command_line, ev->task.real_tid);
	else
		fprintf(f, "thread %u/%u '%s' real %u\n", ev->pid, ev->tid, ev->task.comm,
			ev->task.real_tid);
}

static void event_line(const struct event *ev, void *userdata)
{
	FILE *f = userdata;

	switch (ev->kind) {
	case EVENT_SWITCH:
		print_switch(f, ev);
		break;
	case EVENT_WAKE:
		fprintf(f, "%" PRIu64 " wake %u @%u", ev->ts_ns, ev->tid, ev->cpu);
		if (ev->wake.waker_tid)
			fprintf(f, " by %u", ev->wake.waker_tid);
		fputc('\n', f);
		break;
	case EVENT_MIGRATE:
		fprintf(f, "%" PRIu64 " move %u %u>%u\n", ev->ts_ns, ev->tid, ev->migrate.from_cpu,
			ev->migrate.to_cpu);
		break;
	case EVENT_TASK:
		print_task(f, ev);
		break;
	case EVENT_FORK:
		fprintf(f, "%" PRIu64 " fork %u/%u > %u/%u\n", ev->ts_ns, ev->pid, ev->tid,
			ev->fork.child_pid, ev->fork.child_tid);
		break;
	case EVENT_EXEC:
		fprintf(f, "%" PRIu64 " exec %u/%u '%s' '%s' old %u\n", ev->ts_ns, ev->pid, ev->tid,
			ev->exec.file, ev->exec.command_line, ev->exec.old_tid);
		break;
	case EVENT_EXIT:
		fprintf(f, "%" PRIu64 " exit %u/%u code %d signal %d%s\n", ev->ts_ns, ev->pid,
			ev->tid, ev->exit.code, ev->exit.signal,
			ev->exit.process_ends ? " ends" : "");
		break;
	case EVENT_RENAME:
		fprintf(f, "%" PRIu64 " rename %u/%u '%s' '%s'\n", ev->ts_ns, ev->pid, ev->tid,
			ev->rename.from, ev->rename.to);
		break;
	case EVENT_LOST:
		fprintf(f, "%" PRIu64 " lost %s cpu%u %" PRIu64 " %" PRIu64 "..%" PRIu64 "\n",
			ev->ts_ns, ev->lost.class_name, ev->cpu, ev->lost.count, ev->lost.first_ns,
			ev->lost.last_ns);
		break;
	case EVENT_MARK:
		fprintf(f, "%" PRIu64 " mark '%s'\n", ev->ts_ns, ev->mark.text);
		break;
	default:
		fprintf(f, "%" PRIu64 " event %d\n", ev->ts_ns, ev->kind);
	}
}

char *archive_story(const struct outbuf *archive)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		abort();
	listen_to(archive,
		  &(struct listener){ .fn = event_line, .damage = damage_line, .userdata = f });
	fclose(f);
	return text;
}
