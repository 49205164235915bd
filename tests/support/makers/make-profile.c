/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * make-profile OUT: writes an archive with call stacks and allocations, from lines on standard
 * input:
 *
 *	start HOST                      the recording begins; "." is this host, and this boot's
 *	                                clocks; ".-" is this host in another boot
 *	task PID NAME [START_NS]        a process
 *	exec PID FILE                   it executes another program
 *	fork PID CHILD                  it makes a child, a process
 *	map PID START SIZE OFFSET BUILD_ID PATH     code is mapped; BUILD_ID is hexadecimal, or "-",
 *	                                or -DEVICE:INODE (decimal)
 *	at MS                           the time of the next lines: MS milliseconds after the start
 *	sample PID ADDRESS ...          a stack, innermost first
 *	rename PID NAME                 the new name of a process
 *	frame PID ADDRESS DEPTH LINE SOURCE FUNCTION     the symbol of an address
 *	lost CLASS COUNT                records of CLASS are missing
 *	watch PID RESOURCES COMPLETE INTERVAL MIN_BYTES ALLOCATORS    COMPLETE: 1 or 0
 *	stack PID ID ADDRESS ...
 *	alloc PID RESOURCE ADDRESS SIZE STACK FUNCTION [CONTEXT]
 *	free PID RESOURCE ADDRESS FUNCTION
 *	usage PID RESOURCE STACK BLOCKS BYTES ALLOCATIONS
 *	snapshot PID BLOCKS FINAL
 *	block PID RESOURCE ADDRESS SIZE STACK FUNCTION MS REACH [CONTEXT [TEXT]]     REACH: or "-"
 *	unwatched PID RESOURCES WHY
 *	watched PID REASON UNMATCHED LOST FULL NO_STACK [GAP[|UNSEARCHED[|searched]]]
 *	context NAME ID BEGIN
 *
 * Ids of stacks and contexts are decimal, as are sizes of blocks. Addresses, sizes and offsets are
 * hexadecimal; the kernel's process is 2.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/outbuf.h"
#include "base/string-table.h"
#include "writer/fxt/fxt-archive.h"

enum { BUILD_ID_MAX = 64 };

#define KYMO .pid = FXT_KOID_KYMO, .tid = FXT_KOID_KYMO

struct maker {
	struct fxt_archive archive;
	struct outbuf out;
	uint64_t start_ns, now_ns;
	uint32_t module_id, sequence;
	unsigned line;
};

static void fail(const struct maker *m, const char *what)
{
	fprintf(stderr, "make-profile: line %u: %s\n", m->line, what);
	exit(1);
}

static void put(struct maker *m, struct event ev)
{
	int r;

	ev.ts_ns = m->now_ns;
	r = fxt_archive_event(&m->archive, &ev);
	if (r < 0)
		fail(m, strerror(-r));
}

static char *word(struct maker *m, char **rest)
{
	char *w = strsep(rest, " ");

	if (!w || !*w)
		fail(m, "there is something missing");
	return w;
}

static uint64_t number(struct maker *m, char **rest, int base)
{
	const char *w = word(m, rest);
	char *end;
	uint64_t n = strtoull(w, &end, base);

	if (*end)
		fail(m, "that is no number");
	return n;
}

static uint32_t pid(struct maker *m, char **rest)
{
	return (uint32_t)number(m, rest, 10);
}

/* ---- lines ---- */

static void on_start(struct maker *m, char *rest)
{
	struct clock_snapshot clock = clock_snapshot();
	const char *host = word(m, &rest);
	struct utsname here;

	if (uname(&here) < 0)
		fail(m, "uname failed");
	if (strcmp(host, ".-") == 0)
		clock = (struct clock_snapshot){ 5000000000, 5000000000, clock.real_ns };
	if (*host == '.')
		host = here.nodename;
	else
		/* those of another machine, always the same */
		clock = (struct clock_snapshot){ 1000000000, 1000000000, 1700000000000000000 };
	m->start_ns = m->now_ns = clock.boot_ns;
	put(m, (struct event){ .kind = EVENT_START,
			       KYMO,
			       .start = { .session = "profile",
					  .command = "",
					  .options = "",
					  .kernel = "6.1.0",
					  .machine = "x86_64",
					  .host = host,
					  .version = "0.1.0",
					  .n_cpus = 1 } });
	put(m, (struct event){ .kind = EVENT_CLOCK, KYMO, .clock = clock });
	put(m, (struct event){ .kind = EVENT_SAMPLING, KYMO, .sampling = { 99, "cpu-clock", 0 } });
}

static void on_task(struct maker *m, char *rest)
{
	uint32_t id = pid(m, &rest);
	const char *name = word(m, &rest);

	put(m, (struct event){ .kind = EVENT_TASK,
			       .pid = id,
			       .tid = id,
			       .task = { .comm = name,
					 .command_line = "",
					 .start_ns = rest ? number(m, &rest, 10) : 0,
					 .parent_pid = 1,
					 .is_process = true } });
}

static void on_exec(struct maker *m, char *rest)
{
	uint32_t id = pid(m, &rest);

	put(m, (struct event){ .kind = EVENT_EXEC,
			       .pid = id,
			       .tid = id,
			       .exec = { .file = word(m, &rest), .command_line = "" } });
}

static void on_fork(struct maker *m, char *rest)
{
	uint32_t id = pid(m, &rest), child = pid(m, &rest);

	put(m, (struct event){ .kind = EVENT_FORK,
			       .pid = id,
			       .tid = id,
			       .fork = { .child_pid = child, .child_tid = child } });
}

static uint32_t build_id(struct maker *m, const char *digits, uint8_t *to)
{
	size_t n = strlen(digits) / 2;

	if (strcmp(digits, "-") == 0)
		return 0;
	if (n > BUILD_ID_MAX)
		fail(m, "that build id is too long");
	for (size_t i = 0; i < n; i++) {
		unsigned byte;

		if (sscanf(digits + 2 * i, "%2x", &byte) != 1)
			fail(m, "that is no build id");
		to[i] = (uint8_t)byte;
	}
	return (uint32_t)n;
}

static void on_map(struct maker *m, char *rest)
{
	uint8_t bytes[BUILD_ID_MAX];
	struct event ev = { .kind = EVENT_MAPPING, .pid = pid(m, &rest) };
	char *id, *device;

	ev.tid = ev.pid;
	ev.mapping.start = number(m, &rest, 16);
	ev.mapping.size = number(m, &rest, 16);
	ev.mapping.file_offset = number(m, &rest, 16);
	ev.mapping.build_id = bytes;
	id = word(m, &rest);
	if (id[0] == '-' && id[1]) {
		id++;
		device = strsep(&id, ":");
		ev.mapping.device = number(m, &device, 10);
		ev.mapping.inode = number(m, &id, 10);
	} else {
		ev.mapping.build_id_size = build_id(m, id, bytes);
	}
	ev.mapping.module_id = m->module_id++ & UINT16_MAX;
	if (!rest)
		fail(m, "there is no path");
	ev.mapping.path = rest;
	put(m, ev);
}

static void on_at(struct maker *m, char *rest)
{
	m->now_ns = m->start_ns + 1000000 * number(m, &rest, 10);
}

static void on_sample(struct maker *m, char *rest)
{
	uint32_t id = pid(m, &rest);
	uint64_t frames[FXT_BACKTRACE_MAX];
	unsigned n = 0;

	while (rest && n < FXT_BACKTRACE_MAX)
		frames[n++] = number(m, &rest, 16);
	put(m, (struct event){ .kind = EVENT_SAMPLE,
			       .pid = id,
			       .tid = id,
			       .sample = { .frames = frames, .n_frames = n } });
}

static void on_rename(struct maker *m, char *rest)
{
	uint32_t id = pid(m, &rest);

	put(m, (struct event){ .kind = EVENT_RENAME,
			       .pid = id,
			       .tid = id,
			       .rename = { .from = "", .to = word(m, &rest) } });
}

static void on_frame(struct maker *m, char *rest)
{
	struct event ev = { .kind = EVENT_FRAME, KYMO, .frame = { .process = pid(m, &rest) } };

	ev.frame.address = number(m, &rest, 16);
	ev.frame.depth = (uint32_t)number(m, &rest, 10);
	ev.frame.line = (uint32_t)number(m, &rest, 10);
	ev.frame.source = word(m, &rest);
	ev.frame.function = rest ? rest : "";
	ev.frame.module = "";
	put(m, ev);
}

static void on_lost(struct maker *m, char *rest)
{
	const char *class_name = word(m, &rest);

	put(m,
	    (struct event){ .kind = EVENT_LOST,
			    KYMO,
			    .lost = { class_name, number(m, &rest, 10), m->now_ns, m->now_ns } });
}

/* ---- allocations of programs ---- */

static enum resource resource(struct maker *m, char **rest)
{
	const char *w = word(m, rest);
	int i = STRING_TABLE_FIND(resource_names, w);

	if (i < 0)
		fail(m, "that is no resource");
	return i < 0 ? RESOURCE_MAX : (enum resource)i;
}

/* An event of a process, whose id is the next word. */
static struct event of_process(struct maker *m, char **rest, enum event_kind kind)
{
	struct event ev = { .kind = kind, .pid = pid(m, rest) };

	ev.tid = ev.pid;
	return ev;
}

static void on_watch(struct maker *m, char *rest)
{
	struct event ev = of_process(m, &rest, EVENT_WATCH_BEGIN);

	ev.watch.resources = word(m, &rest);
	ev.watch.complete = number(m, &rest, 10) != 0;
	ev.watch.interval = number(m, &rest, 10);
	ev.watch.min_bytes = number(m, &rest, 10);
	ev.watch.allocators = rest ? rest : "";
	ev.watch.unwatched = "";
	put(m, ev);
}

/* The begin of a watch without any probes. */
static void on_unwatched(struct maker *m, char *rest)
{
	struct event ev = of_process(m, &rest, EVENT_WATCH_BEGIN);

	ev.watch.resources = word(m, &rest);
	ev.watch.allocators = "";
	ev.watch.unwatched = rest ? rest : "";
	put(m, ev);
}

static void on_stack(struct maker *m, char *rest)
{
	struct event ev = of_process(m, &rest, EVENT_SAMPLE);
	uint64_t frames[FXT_BACKTRACE_MAX];
	unsigned n = 0;

	ev.sample.kind = SAMPLE_NAMED;
	ev.sample.id = number(m, &rest, 10);
	while (rest && n < FXT_BACKTRACE_MAX)
		frames[n++] = number(m, &rest, 16);
	ev.sample.frames = frames;
	ev.sample.n_frames = n;
	put(m, ev);
}

/* The common begin of all events of a block. */
static struct event of_block(struct maker *m, char **rest, enum event_kind kind)
{
	struct event ev = of_process(m, rest, kind);

	ev.block.resource = resource(m, rest);
	ev.block.id = number(m, rest, 16);
	ev.block.function = ev.block.text = "";
	return ev;
}

static const char *function(struct maker *m, char **rest)
{
	const char *w = word(m, rest);

	return strcmp(w, "-") == 0 ? "" : w;
}

static void on_alloc(struct maker *m, char *rest)
{
	struct event ev = of_block(m, &rest, EVENT_ALLOC);

	ev.block.size = number(m, &rest, 10);
	ev.block.stack = number(m, &rest, 10);
	ev.block.function = function(m, &rest);
	if (rest)
		ev.block.context = (uint32_t)number(m, &rest, 10);
	put(m, ev);
}

static void on_free(struct maker *m, char *rest)
{
	struct event ev = of_block(m, &rest, EVENT_FREE);

	ev.block.function = function(m, &rest);
	put(m, ev);
}

static void on_usage(struct maker *m, char *rest)
{
	struct event ev = of_process(m, &rest, EVENT_USAGE);

	ev.usage.resource = resource(m, &rest);
	ev.usage.stack = number(m, &rest, 10);
	ev.usage.blocks = number(m, &rest, 10);
	ev.usage.bytes = number(m, &rest, 10);
	ev.usage.allocations = number(m, &rest, 10);
	put(m, ev);
}

static void on_snapshot(struct maker *m, char *rest)
{
	struct event ev = of_process(m, &rest, EVENT_SNAPSHOT);

	ev.snapshot.blocks = number(m, &rest, 10);
	ev.snapshot.final = number(m, &rest, 10) != 0;
	ev.snapshot.sequence = ++m->sequence;
	put(m, ev);
}

static void on_block(struct maker *m, char *rest)
{
	struct event ev = of_block(m, &rest, EVENT_BLOCK);
	const char *reach;

	ev.block.size = number(m, &rest, 10);
	ev.block.stack = number(m, &rest, 10);
	ev.block.function = function(m, &rest);
	ev.block.since_ns = m->start_ns + 1000000 * number(m, &rest, 10);
	ev.block.thread = ev.pid;
	reach = word(m, &rest);
	while (ev.block.reach < REACH_MAX && strcmp(reach_names[ev.block.reach], reach) != 0)
		ev.block.reach++;
	ev.block.reach %= REACH_MAX;
	if (rest)
		ev.block.context = (uint32_t)number(m, &rest, 10);
	if (rest)
		ev.block.text = rest;
	put(m, ev);
}

static void on_watched(struct maker *m, char *rest)
{
	struct event ev = of_process(m, &rest, EVENT_WATCH_END);

	ev.watched.reason = word(m, &rest);
	ev.watched.unmatched = number(m, &rest, 10);
	ev.watched.lost = number(m, &rest, 10);
	ev.watched.full = number(m, &rest, 10);
	ev.watched.no_stack = number(m, &rest, 10);
	ev.watched.gap = rest ? strsep(&rest, "|") : "";
	ev.watched.unsearched = rest ? strsep(&rest, "|") : "";
	ev.watched.searched = rest != NULL;
	put(m, ev);
}

static void on_context(struct maker *m, char *rest)
{
	struct event ev = { .kind = EVENT_CONTEXT, KYMO };

	ev.context.name = word(m, &rest);
	ev.context.id = (uint32_t)number(m, &rest, 10);
	ev.context.begin = number(m, &rest, 10) != 0;
	put(m, ev);
}

static void take_line(struct maker *m, char *line)
{
	static const struct {
		const char *word;
		void (*take)(struct maker *m, char *rest);
	} rows[] = {
		{ "start", on_start },     { "task", on_task },
		{ "exec", on_exec },       { "fork", on_fork },
		{ "map", on_map },         { "at", on_at },
		{ "sample", on_sample },   { "rename", on_rename },
		{ "frame", on_frame },     { "lost", on_lost },
		{ "watch", on_watch },     { "stack", on_stack },
		{ "alloc", on_alloc },     { "free", on_free },
		{ "usage", on_usage },     { "snapshot", on_snapshot },
		{ "block", on_block },     { "watched", on_watched },
		{ "context", on_context }, { "unwatched", on_unwatched },
	};
	char *rest = line;
	const char *what;

	line[strcspn(line, "\n")] = '\0';
	what = word(m, &rest);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (strcmp(what, rows[i].word) == 0) {
			rows[i].take(m, rest);
			return;
		}
	}
	fail(m, "nobody knows what that is");
}

int main(int argc, char **argv)
{
	struct maker m = { 0 };
	_cleanup_free_ char *line = NULL;
	size_t room = 0;
	FILE *out;
	bool failed;

	if (argc != 2) {
		fprintf(stderr, "usage: make-profile OUT <lines\n");
		return 2;
	}
	if (fxt_archive_init(&m.archive, &m.out, 1) < 0 || fxt_archive_begin(&m.archive) < 0)
		fail(&m, "out of memory");
	for (m.line = 1; getline(&line, &room, stdin) > 0; m.line++)
		if (*line != '\n')
			take_line(&m, line);
	put(&m, (struct event){ .kind = EVENT_STOP, KYMO, .stop = { .reason = "duration" } });
	out = fopen(argv[1], "we");
	failed = !out || fwrite(m.out.data, 1, m.out.size, out) != m.out.size;
	failed |= out && fclose(out) != 0;
	if (failed)
		perror(argv[1]);
	fxt_archive_deinit(&m.archive);
	outbuf_deinit(&m.out);
	return failed;
}
