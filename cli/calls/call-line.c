/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/calls/call-line.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/calls/call-errors.h"
#include "model/calls/call-restarts.h"
#include "model/calls/call-variants.h"
#include "base/text.h"
#include "cli/calls/call-outcome.h"
#include "cli/common/json.h"
#include "cli/common/read-events.h"
#include "reader/views/call-sums.h"
#include "reader/views/profile-names.h"
#include "model/koids.h"

enum {
	LINE_COLUMN = 40,
	CALL_LINE_OUTCOME_MAX = 4096,
	CUT_FRAMES = EVENT_CALL_FRAMES_MAX - 1, /* the recorder takes no more frames */
};

void call_lines_deinit(struct call_lines *l)
{
	table_deinit_free(&l->names);
	call_table_deinit(&l->sums);
	other_files_deinit(&l->others);
}

const char *call_lines_name(const struct call_lines *l, uint32_t tid)
{
	return table_get(&l->names, (uint64_t)tid + 1) ?: "?";
}

/* ---- text ---- */

static int call_lines_print_value(const struct call_value *v)
{
	switch (v->form) {
	case CALL_VALUE_INT:
		return printf("%" PRId64, v->i64);
	case CALL_VALUE_UINT:
		return printf("%" PRIu64, v->u64);
	case CALL_VALUE_POINTER:
		return v->u64 ? printf("0x%" PRIx64, v->u64) : printf("NULL");
	case CALL_VALUE_BOOL:
		return printf("%s", v->yes ? "true" : "false");
	case CALL_VALUE_TEXT:
		return printf("%s", v->text);
	default:
		return printf("?");
	}
}

static void call_lines_print_result(const struct event *ev)
{
	const struct call_value *v = &ev->call.result;
	const char *meaning = v->form == CALL_VALUE_TEXT ? call_errno_meaning(v->text) : NULL;
	const char *restart = v->form == CALL_VALUE_TEXT ? call_restart_meaning(v->text) : NULL;
	char text[CALL_LINE_OUTCOME_MAX];

	if (call_outcome_is_never(ev)) {
		printf(" = ?");
		return;
	}
	if (v->form == CALL_VALUE_NONE && *ev->call.left_by) {
		printf(" = ? (%s)", ev->call.left_by);
	} else if (meaning) {
		printf(" = %s%s (%s)", call_returns_minus_one(ev->call.function) ? "-1 " : "",
		       v->text, meaning);
	} else if (restart && !*restart) {
		printf(" = ?");
	} else if (restart) {
		printf(" = ? %s (%s)", v->text, restart);
	} else if (call_outcome_format(ev, text, sizeof(text)) > 0) {
		printf(" = %s", text);
	} else if (v->form != CALL_VALUE_NONE) {
		printf(" = ");
		call_lines_print_value(v);
	}
	if (v->form != CALL_VALUE_NONE && *ev->call.left_by)
		printf(" (%s)", ev->call.left_by);
}

static void call_lines_print_text(const struct call_lines *l, const struct event *ev)
{
	bool is_named = call_variant_shows_names(ev->call.function);
	const char *thread = call_lines_name(l, ev->tid);
	unsigned n_args = ev->call.n_args - (call_outcome_ready(ev) ? 1 : 0);
	char duration[TEXT_FORMAT_MAX];
	int used = 0;

	/* (a thread can give itself an empty name) */
	printf("%14.9f %s/%u ", (double)(ev->ts_ns - l->first_ns) / 1e9, *thread ? thread : "?",
	       ev->tid & FXT_KOID_TID_MASK);
	used += printf("%s(", ev->call.function);
	for (unsigned i = 0; i < n_args; i++) {
		used += printf("%s%s%s", i ? ", " : "", is_named ? ev->call.args[i].name : "",
			       is_named ? "=" : "");
		used += call_lines_print_value(&ev->call.args[i]);
	}
	used += printf(")");
	printf("%*s", used < LINE_COLUMN ? LINE_COLUMN - used : 0, "");
	call_lines_print_result(ev);
	printf(" <%s>\n", text_format_time(duration, ev->call.end_ns - ev->ts_ns));
}

static void call_lines_print_left_out(const struct call_lines *l, const struct event *ev)
{
	if (l->json)
		json_print_line(JSON_OBJECT(JSON("timestamp_ns", ev->ts_ns),
					    JSON("function", ev->left_out.function),
					    JSON("left_out", ev->left_out.count)));
	else if (strcmp(ev->left_out.function, EVENT_LEFT_OUT_32BIT) == 0)
		printf("%14.9f %" PRIu64 " system call%s of 32-bit programs %s not recorded\n",
		       (double)(ev->ts_ns - l->first_ns) / 1e9, ev->left_out.count,
		       text_s(ev->left_out.count), text_was(ev->left_out.count));
	else
		printf("%14.9f %" PRIu64 " call%s of %s %s omitted because of the limit\n",
		       (double)(ev->ts_ns - l->first_ns) / 1e9, ev->left_out.count,
		       text_s(ev->left_out.count), ev->left_out.function,
		       text_was(ev->left_out.count));
}

static int call_lines_leave_out(struct call_lines *l, const struct event *ev)
{
	if (l->only_sums)
		return call_table_add(&l->sums, ev);
	call_lines_print_left_out(l, ev);
	return 0;
}

/* Counts the file of EV, if EV names a file whose calls are missing. Returns 0 or -ENOMEM. */
static int call_lines_add_other_file(struct call_lines *l, const struct event *ev)
{
	int r = other_files_add(&l->others, ev);

	if (r > 0 && l->json && !l->only_sums)
		json_print_line(JSON_OBJECT(JSON("timestamp_ns", ev->ts_ns),
					    JSON("process_id", ev->pid),
					    JSON("file", ev->other_file.file),
					    JSON("other_file", ev->other_file.path)));
	return r < 0 ? r : 0;
}

/*
 * Prints a frame like strace: the file, the function and the offset in it. Frames are printed
 * innermost first.
 */
static void call_lines_print_frame(const struct call_stacks_step *step, const struct frame *frame)
{
	char label[PROFILE_LABEL_MAX];
	const struct mapping *map = step->at->mapping;

	printf(" > %s", profile_names_label(label, step->at, frame));
	if (frame && map && *map->path)
		printf(" (%s)", profile_names_base(map->path));
	if (frame && *frame->source && frame->line)
		printf(" %s:%u", frame->source, frame->line);
	printf("\n");
}

static int call_lines_print_stack(const struct call_lines *l, const struct event *ev)
{
	uint32_t node = call_stacks_find(l->stacks, ev->pid, ev->call.stack);
	struct call_stacks_step step;
	unsigned n = 0;
	int r = 0;

	for (; r == 0 && node; n++) {
		r = call_stacks_step(l->stacks, &node, &step);
		for (int i = 0; i < step.n_frames; i++)
			call_lines_print_frame(&step, &step.frames[i]);
		if (step.n_frames == 0)
			call_lines_print_frame(&step, NULL);
	}
	if (n >= CUT_FRAMES)
		printf(" > ... (deeper calls were not recorded)\n");
	return r;
}

/* ---- JSON ---- */

static struct json_object *call_lines_json_frame(const struct call_stacks_step *step,
						 const struct frame *frame)
{
	const struct mapping *map = step->at->mapping;

	return JSON_OBJECT(
		JSON("address", step->at->address), JSON_IF(map, "module", map ? map->path : ""),
		JSON_IF(frame && *frame->function, "function", frame ? frame->function : ""),
		JSON_IF(frame && *frame->source, "source", frame ? frame->source : ""),
		JSON_IF(frame && frame->line, "line", frame ? frame->line : 0));
}

/* Returns the stack of a call as JSON; NULL = the call has no stack. */
static struct json_object *call_lines_json_stack(const struct call_lines *l, const struct event *ev)
{
	uint32_t node = l->stacks ? call_stacks_find(l->stacks, ev->pid, ev->call.stack) : 0;
	struct json_object *list = node ? json_object_new_array() : NULL;
	struct call_stacks_step step;

	while (node && call_stacks_step(l->stacks, &node, &step) == 0) {
		for (int i = 0; i < step.n_frames; i++)
			json_object_array_add(list, call_lines_json_frame(&step, &step.frames[i]));
		if (step.n_frames == 0)
			json_object_array_add(list, call_lines_json_frame(&step, NULL));
	}
	return list;
}

static struct json_object *call_lines_json_value(const struct call_value *v)
{
	switch (v->form) {
	case CALL_VALUE_INT:
		return json_i64(v->i64);
	case CALL_VALUE_BOOL:
		return json_boolean(v->yes);
	case CALL_VALUE_TEXT:
		return json_from_text(v->text);
	case CALL_VALUE_NONE:
		return NULL;
	default:
		return json_u64(v->u64);
	}
}

static void call_lines_print_json(const struct call_lines *l, const struct event *ev)
{
	json_print_line(JSON_OBJECT(
		JSON("timestamp_ns", ev->ts_ns), JSON("duration_ns", ev->call.end_ns - ev->ts_ns),
		JSON("process_id", ev->pid), JSON("thread_id", ev->tid),
		JSON("thread", call_lines_name(l, ev->tid)), JSON("function", ev->call.function),
		JSON("arguments", JSON_MAP(v, ev->call.args, ev->call.n_args,
					   JSON(v->name, call_lines_json_value(v)))),
		JSON_IF(ev->call.result.form != CALL_VALUE_NONE, "return",
			call_lines_json_value(&ev->call.result)),
		JSON_IF(ev->call.return_address, "return_address", ev->call.return_address),
		JSON_IF(*ev->call.left_by, "left_by", ev->call.left_by),
		JSON_IF(l->stacks && ev->call.stack, "stack", call_lines_json_stack(l, ev))));
}

/* ---- events ---- */

/* Returns true if IDS is empty, or has KOID, or the id of KOID that text shows. */
static bool call_lines_has_id(const struct part_ids *ids, uint32_t koid)
{
	for (size_t i = 0; i < ids->n; i++)
		if (ids->list[i] == koid || ids->list[i] == (koid & FXT_KOID_TID_MASK))
			return true;
	return ids->n == 0;
}

static bool call_lines_wants(struct call_lines *l, const struct event *ev)
{
	/*
	 * (both patterns are compared with every name, since a pattern that matches no name is
	 * reported)
	 */
	bool by_function = name_filter_selects(&l->function, ev->call.function),
	     by_process = name_filter_selects(&l->process, call_lines_name(l, ev->pid));

	l->n_calls++;
	return by_function && by_process && call_lines_has_id(&l->pids, ev->pid) &&
	       call_lines_has_id(&l->tids, ev->tid) &&
	       (!l->only_failed || call_sums_has_failed(&ev->call.result)) &&
	       ev->call.end_ns - ev->ts_ns >= l->min_ns;
}

static int call_lines_set_name(struct call_lines *l, uint32_t tid, const char *name)
{
	return table_copy(&l->names, (uint64_t)tid + 1, name, strlen(name) + 1) ? 0 : -ENOMEM;
}

int call_lines_on_event(void *lines, const struct event *ev)
{
	struct call_lines *l = lines;
	int r = l->stacks ? call_stacks_add(l->stacks, ev) : 0;

	if (r < 0)
		return r;
	if (l->first_ns == 0 && ev->kind != EVENT_TASK)
		l->first_ns = ev->ts_ns;
	if (ev->kind == EVENT_TASK && !ev->task.is_process)
		return call_lines_set_name(l, ev->tid, ev->task.comm);
	if (ev->kind == EVENT_RENAME)
		return call_lines_set_name(l, ev->tid, ev->rename.to);
	if (ev->kind == EVENT_LOST &&
	    strcmp(ev->lost.class_name, event_class_names[CLASS_CALLS]) == 0)
		l->n_lost += ev->lost.count;
	if (ev->kind == EVENT_LEFT_OUT && name_filter_selects(&l->function, ev->left_out.function))
		return call_lines_leave_out(l, ev);
	if (call_lines_add_other_file(l, ev) < 0)
		return -ENOMEM;
	for (size_t i = 0; ev->kind == EVENT_STACKS && i < WALK_ENDS_MAX; i++)
		l->walks[i] += ev->stacks.walks[i];
	if (ev->kind != EVENT_CALL || !call_lines_wants(l, ev))
		return 0;
	l->n_printed++;
	if (l->only_sums)
		return call_table_add(&l->sums, ev);
	if (l->json)
		call_lines_print_json(l, ev);
	else
		call_lines_print_text(l, ev);
	return l->stacks && !l->json ? call_lines_print_stack(l, ev) : 0;
}
