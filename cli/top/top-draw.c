/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text is made line by line. Whatever the names contain, a line consists of printable
 * characters and fits the width of the terminal. Escape sequences are only added around such text.
 */
#include "cli/top/top-draw.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/text.h"
#include "cli/common/json.h"
#include "cli/top/top-usage.h"

enum {
	LINE_MAX_BYTES = 4096,
	LINES_OF_FILE = 10, /* number of lines of each table */
	COLUMNS_OF_FILE = 160,
	FUNCTIONS_JSON_MAX = 50,
	/* Delays above this percentage of the window's length are shown. */
	DELAY_SHOWN_PERCENT = 200,
};

static const char keys[] =
	"f functions  p processes  t threads  a all  s sort  space pause  h help  q quit";

static const char *const help[] = {
	"Keys",
	"  f  functions            p  processes          t  threads",
	"  a  functions and processes",
	"  s  sort processes and threads by another column: CPU, switches, wait, memory, I/O",
	"     (space) pause, and resume",
	"  h  this help; any other key closes it",
	"  q  end",
	"",
	"All numbers are from the last interval.",
	"  SELF      share of the samples that were taken in the function itself",
	"  CPU       share of one CPU",
	"  SWITCHES  switches to it per second",
	"  WAIT      time from wakeup to running, 99th percentile",
	"  MEMORY    resident memory",
	"  I/O       bytes per second read from storage and written to it",
};

static const char *const sort_names[TOP_SORT_MAX] = { "CPU", "switches", "wait", "memory", "I/O" };

struct page {
	struct outbuf *to;
	unsigned rows, columns; /* 0 = output to a file */
	unsigned n_lines;
};

/* ---- lines ---- */

/* Returns the number of bytes of the character at TEXT. TEXT is UTF-8, and not empty. */
static size_t top_character_bytes(const char *text)
{
	size_t bytes = 1;

	while (((unsigned char)text[bytes] & 0xc0) == 0x80)
		bytes++;
	return bytes;
}

/* Appends at most COLUMNS characters of TEXT. */
static void top_put_clean(struct outbuf *b, const char *text, unsigned columns)
{
	unsigned n = 0;

	while (*text && n < columns) {
		size_t bytes = top_character_bytes(text);

		if (*text == '\t')
			outbuf_append(b, " ", 1);
		else
			outbuf_append(b, text, bytes);
		text += bytes;
		n++;
	}
}

/* Adds a line, if there is room for it. */
__attribute__((format(printf, 3, 4))) static void top_put(struct page *p, bool is_head,
							  const char *format, ...)
{
	char line[LINE_MAX_BYTES], clean[LINE_MAX_BYTES];
	va_list ap;

	if (p->rows > 0 && p->n_lines >= p->rows)
		return;
	/* The last line of a screen has no line feed, because that would scroll the screen. */
	if (p->rows > 0 && p->n_lines > 0)
		outbuf_print(p->to, "\n");
	va_start(ap, format);
	vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	/*
	 * The line may have been cut within a character. Cleaning it also makes sure that it has no
	 * control characters.
	 */
	text_clean(clean, sizeof(clean), line, strlen(line));
	if (p->rows > 0)
		outbuf_print(p->to, is_head ? "\033[7m" : "");
	top_put_clean(p->to, clean, p->rows > 0 ? p->columns : COLUMNS_OF_FILE);
	if (p->rows > 0)
		outbuf_print(p->to, "%s\033[K", is_head ? "\033[0m" : "");
	else
		outbuf_print(p->to, "\n");
	p->n_lines++;
}

enum { CELL_MAX = 32, CELL_BYTES = 4 * CELL_MAX + 1 };

/* Pads or cuts TEXT to WIDTH (up to CELL_MAX) characters, in TO. Returns TO. */
static const char *top_draw_cell(char to[CELL_BYTES], const char *text, unsigned width)
{
	size_t used = 0;

	for (unsigned n = 0; n < width; n++) {
		size_t bytes = *text ? top_character_bytes(text) : 0;

		if (used + bytes >= CELL_BYTES)
			break;
		memcpy(to + used, bytes ? text : " ", bytes ?: 1);
		used += bytes ?: 1;
		text += bytes;
	}
	to[used] = '\0';
	return to;
}

static unsigned top_lines_left(const struct page *p)
{
	if (p->rows == 0)
		return LINES_OF_FILE;
	return p->rows > p->n_lines ? p->rows - p->n_lines : 0;
}

/* ---- numbers ---- */

static double top_draw_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

static uint64_t top_length_of(const struct live_window *w)
{
	return w->end_ns > w->start_ns ? w->end_ns - w->start_ns : 0;
}

static double top_a_second(uint64_t n, const struct live_window *w)
{
	uint64_t ns = top_length_of(w);

	return ns ? (double)n * 1e9 / (double)ns : 0.0;
}

static double top_busy_percent(const struct live_window *w)
{
	return w->n_cpus ? top_draw_percent(w->busy_ns, top_length_of(w)) / (double)w->n_cpus : 0.0;
}

/* ---- the header ---- */

static void top_put_cpus(struct page *p, const struct live_window *w, const struct top_state *s)
{
	char text[LINE_MAX_BYTES] = "", time[16] = "?";
	time_t now = (time_t)(s->real_ns / 1000000000);
	size_t used = 0;
	struct tm tm;

	if (localtime_r(&now, &tm))
		strftime(time, sizeof(time), "%H:%M:%S", &tm);
	for (size_t i = 0; i < w->n_cpus && w->n_cpus > 1 && used < sizeof(text) - 64; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, " %" PRIu32 ":%.0f%%",
					 w->cpus[i].number,
					 top_draw_percent(w->cpus[i].busy_ns, top_length_of(w)));
	top_put(p, false, "kymo top  %s  %zu CPU%s, %.1f%% busy %s%s", time, w->n_cpus,
		w->n_cpus == 1 ? "" : "s", top_busy_percent(w), text,
		s->paused ? "  (paused)" : "");
}

static void top_put_counts(struct page *p, const struct live_window *w, const struct top_state *s)
{
	char text[LINE_MAX_BYTES];
	size_t used;

	used = (size_t)snprintf(
		text, sizeof(text),
		"%.0f events/s, %.0f samples/s, kymo top itself %.1f%%, lost %" PRIu64,
		top_a_second(w->n_events, w), top_a_second(w->n_samples, w),
		top_draw_percent(s->own_ns, s->own_of_ns), w->n_lost);
	for (size_t i = 0; i < w->n_classes && used < sizeof(text) - 128; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%.64s %" PRIu64,
					 i ? ", " : " (", w->lost[i].class_name, w->lost[i].count);
	if (w->n_lost_ever > 0)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%" PRIu64 " in total",
					 w->n_classes ? "), " : ", ", w->n_lost_ever);
	if (w->n_unmapped > 0)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 ", %" PRIu64 " mappings ignored", w->n_unmapped);
	if (s->n_damages > 0)
		used += (size_t)snprintf(text + used, sizeof(text) - used, ", damaged %" PRIu64,
					 s->n_damages);
	if (top_draw_percent(s->behind_ns, top_length_of(w)) > DELAY_SHOWN_PERCENT)
		snprintf(text + used, sizeof(text) - used, ", %s behind", TEXT_TIME(s->behind_ns));
	top_put(p, false, "%s", text);
}

/* ---- tables ---- */

static void top_put_functions(struct page *p, const struct live_window *w, unsigned lines)
{
	char module[CELL_BYTES], process[CELL_BYTES];

	top_put(p, true, "   SELF  %-20s %-15s  %-40s", "MODULE", "PROCESS", "FUNCTION");
	for (size_t i = 0; i < w->n_functions && i + 1 < lines; i++) {
		const struct live_function *f = &w->functions[i];

		top_put(p, false, "%6.2f%%  %s %s  %s", top_draw_percent(f->samples, w->n_samples),
			top_draw_cell(module, f->module, 20),
			top_draw_cell(process, f->process, 15), f->name);
	}
}

enum { USAGE_MAX = 2 * TEXT_FORMAT_MAX + 16 };

/* Returns the columns of memory and I/O. */
static const char *top_format_usage(char to[USAGE_MAX], const struct top_state *s, uint32_t pid)
{
	const struct top_usage *u = s->usages ? top_usages_of(s->usages, pid) : NULL;
	char memory[TEXT_FORMAT_MAX] = "-", io[TEXT_FORMAT_MAX + 2] = "-";

	if (u && u->has_memory)
		text_format_size(memory, u->memory_bytes);
	if (u && u->has_rate) {
		text_format_size(io, (uint64_t)u->io_bytes_a_second);
		strcat(io, "/s");
	}
	snprintf(to, USAGE_MAX, "%9s %11s  ", memory, io);
	return to;
}

static void top_put_help(struct page *p)
{
	for (size_t i = 0; i < sizeof(help) / sizeof(*help); i++)
		top_put(p, i == 0, "%s", help[i]);
}

static void top_put_tasks(struct page *p, const struct live_window *w, const struct top_state *s,
			  bool threads, unsigned lines)
{
	const struct live_task *list = threads ? w->threads : w->processes;
	size_t n = threads ? w->n_threads : w->n_processes;
	char wait[TEXT_FORMAT_MAX], name[CELL_BYTES], usage[USAGE_MAX];

	top_put(p, true, "%8s    CPU  SWITCHES      WAIT  %s%-15s  %-40s", threads ? "TID" : "PID",
		threads ? "" : "   MEMORY         I/O  ", threads ? "THREAD" : "PROCESS",
		threads ? "PROCESS" : "COMMAND");
	for (size_t i = 0; i < n && i + 1 < lines; i++) {
		const struct live_task *t = &list[i];

		top_put(p, false, "%8" PRIu32 " %5.1f%% %7.0f/s %9s  %s%s  %s",
			threads ? t->tid : t->pid, top_draw_percent(t->cpu_ns, top_length_of(w)),
			top_a_second(t->switches, w),
			t->wakeups ? text_format_time(wait, t->wait_ns) : "-",
			threads ? "" : top_format_usage(usage, s, t->pid),
			top_draw_cell(name, t->name, 15), t->process);
	}
}

static void top_put_tables(struct page *p, const struct live_window *w, const struct top_state *s)
{
	/* (the last line of a screen shows the keys) */
	unsigned lines = top_lines_left(p);

	if (p->rows > 0 && lines > 0)
		lines--;
	else if (p->rows == 0)
		lines++;
	switch (s->view) {
	case TOP_FUNCTIONS:
		top_put_functions(p, w, lines);
		return;
	case TOP_PROCESSES:
		top_put_tasks(p, w, s, false, lines);
		return;
	case TOP_THREADS:
		top_put_tasks(p, w, s, true, lines);
		return;
	case TOP_HELP:
		top_put_help(p);
		return;
	case TOP_ALL:
		break;
	}
	if (p->rows == 0) {
		top_put_functions(p, w, lines);
		top_put(p, false, "%s", "");
		top_put_tasks(p, w, s, false, lines);
		return;
	}
	/* The processes get the lines that the functions do not use. */
	if (w->n_functions + 1 < lines / 2) {
		top_put_functions(p, w, (unsigned)w->n_functions + 1);
		top_put(p, false, "%s", "");
		top_put_tasks(p, w, s, false, lines - (unsigned)w->n_functions - 2);
		return;
	}
	top_put_functions(p, w, lines / 2);
	top_put(p, false, "%s", "");
	if (lines > lines / 2 + 1)
		top_put_tasks(p, w, s, false, lines - lines / 2 - 1);
}

int top_draw(struct outbuf *b, const struct live_window *w, const struct top_state *s,
	     unsigned rows, unsigned columns)
{
	struct page p = { b, rows, columns, 0 };

	if (rows > 0)
		outbuf_print(b, "\033[H");
	top_put_cpus(&p, w, s);
	top_put_counts(&p, w, s);
	top_put(&p, false, "%s", "");
	top_put_tables(&p, w, s);
	if (rows > 0) {
		while (top_lines_left(&p) > 1)
			top_put(&p, false, "%s", "");
		top_put(&p, false, "sorted by %s   %s", sort_names[s->sort], keys);
	} else {
		top_put(&p, false, "%s", "");
	}
	return b->error;
}

/* ---- JSON ---- */

static struct json_object *top_json_function(const struct live_window *w,
					     const struct live_function *f)
{
	return JSON_OBJECT(JSON_OF(f, name, module, process, kernel, samples),
			   JSON("self_percent", top_draw_percent(f->samples, w->n_samples)));
}

static struct json_object *top_json_task(const struct live_window *w, const struct live_task *t,
					 const struct top_usages *usages, bool thread)
{
	const struct top_usage *u = usages && !thread ? top_usages_of(usages, t->pid) : NULL;

	return JSON_OBJECT(JSON_OF(t, pid), JSON_IF(thread, "tid", t->tid), JSON_OF(t, name),
			   JSON(thread ? "process" : "command_line", t->process),
			   JSON("cpu_percent", top_draw_percent(t->cpu_ns, top_length_of(w))),
			   JSON_OF(t, cpu_ns, runnable_ns, switches, wakeups),
			   JSON("wait_p99_ns", t->wait_ns), JSON_OF(t, samples),
			   JSON_IF(!thread, "threads", t->n_threads),
			   JSON_IF(u && u->has_memory, "memory_bytes", u->memory_bytes),
			   JSON_IF(u && u->has_rate, "io_bytes_per_second", u->io_bytes_a_second));
}

struct json_object *top_json(const struct live_window *w, const struct top_state *s)
{
	size_t n = w->n_functions < FUNCTIONS_JSON_MAX ? w->n_functions : FUNCTIONS_JSON_MAX;

	return JSON_OBJECT(
		JSON_OF(w, start_ns, end_ns), JSON("realtime_ns", s->real_ns),
		JSON_OF(s, behind_ns), JSON("busy_percent", top_busy_percent(w)),
		JSON("own_cpu_percent", top_draw_percent(s->own_ns, s->own_of_ns)),
		JSON("events", w->n_events), JSON("samples", w->n_samples),
		JSON("lost", JSON_MAP(l, w->lost, w->n_classes, JSON(l->class_name, l->count))),
		JSON("lost_so_far", w->n_lost_ever),
		JSON_IF(w->n_unmapped > 0, "mappings_without_room", w->n_unmapped),
		JSON("damage", s->n_damages),
		JSON("cpus",
		     JSON_LIST(c, w->cpus, w->n_cpus,
			       JSON_OBJECT(JSON("cpu", c->number),
					   JSON("busy_percent",
						top_draw_percent(c->busy_ns, top_length_of(w))),
					   JSON_OF(c, switches)))),
		JSON("functions", JSON_LIST(f, w->functions, n, top_json_function(w, f))),
		JSON("processes", JSON_LIST(t, w->processes, w->n_processes,
					    top_json_task(w, t, s->usages, false))),
		JSON("threads",
		     JSON_LIST(t, w->threads, w->n_threads, top_json_task(w, t, s->usages, true))));
}

/* ---- sorting ---- */

/* (largest first) */
DEFINE_ORDER(by_cpu, struct live_task,
	COMPARE(y->cpu_ns, x->cpu_ns) ?: COMPARE(x->tid, y->tid) ?: COMPARE(x->pid, y->pid))

DEFINE_ORDER(by_switches, struct live_task, COMPARE(y->switches, x->switches) ?: by_cpu(x, y))

DEFINE_ORDER(by_wait, struct live_task, COMPARE(y->wait_ns, x->wait_ns) ?: by_cpu(x, y))

static const struct top_usage *top_usage_of(const struct top_usages *u, const void *task)
{
	return u ? top_usages_of(u, ((const struct live_task *)task)->pid) : NULL;
}

static int top_by_memory(const void *a, const void *b, void *usages)
{
	const struct top_usage *x = top_usage_of(usages, a), *y = top_usage_of(usages, b);

	return COMPARE(y ? y->memory_bytes : 0, x ? x->memory_bytes : 0) ?: by_cpu(a, b);
}

static int top_by_io(const void *a, const void *b, void *usages)
{
	const struct top_usage *x = top_usage_of(usages, a), *y = top_usage_of(usages, b);
	uint64_t of_x = x ? (uint64_t)x->io_bytes_a_second : 0;
	uint64_t of_y = y ? (uint64_t)y->io_bytes_a_second : 0;

	return COMPARE(of_y, of_x) ?: by_cpu(a, b);
}

void top_sort(struct live_window *w, const struct top_usages *usages, enum top_sort by)
{
	/* Memory and I/O are known by process, so threads are sorted by CPU time. */
	int (*const orders[TOP_SORT_MAX])(const void *, const void *) = {
		by_cpu, by_switches, by_wait, by_cpu, by_cpu,
	};

	SORT(w->threads, w->n_threads, orders[by]);
	if (w->n_processes <= 1)
		return;
	if (by == TOP_BY_MEMORY || by == TOP_BY_IO)
		qsort_r(w->processes, w->n_processes, sizeof(*w->processes),
			by == TOP_BY_MEMORY ? top_by_memory : top_by_io, (void *)usages);
	else
		SORT(w->processes, w->n_processes, orders[by]);
}
