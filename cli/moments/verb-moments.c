/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo moments: prints the values that were collected at points of programs.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/call-stacks.h"
#include "cli/common/json.h"
#include "cli/common/name-filter.h"
#include "cli/common/read-events.h"
#include "cli/common/nothing-there.h"
#include "cli/common/stacks-text.h"
#include "cli/common/verb-options.h"
#include "cli/common/verb.h"
#include "cli/moments/moment-store.h"
#include "reader/views/profile-names.h"
#include "model/koids.h"
#include "model/moment-data.h"
#include "model/moment-values.h"

enum { VALUE_TEXT_MAX = 4096 };

struct moment_view {
	struct moment_store store;
	struct call_stacks stacks;
	struct table names; /* of threads: koid + 1 -> text, owned */
	struct name_filter point;
	struct other_files others; /* files without probes, whose moments are missing */
	bool json, registers, wants_stacks;
	uint64_t first_ns, n_printed, n_moments;
	uint64_t walks[WALK_ENDS_MAX]; /* walks of stacks, by their ends */
};

static void moment_view_deinit(struct moment_view *v)
{
	moment_store_deinit(&v->store);
	call_stacks_deinit(&v->stacks);
	table_deinit_free(&v->names);
	other_files_deinit(&v->others);
}

static const char *moment_view_thread(const struct moment_view *v, uint32_t tid)
{
	return table_get(&v->names, (uint64_t)tid + 1) ?: "?";
}

/* ---- text ---- */

static void moment_view_print_frame(const struct call_stacks_step *step, const struct frame *frame)
{
	char label[PROFILE_LABEL_MAX];

	printf(" > %s", profile_names_label(label, step->at, frame));
	if (frame && *frame->source && frame->line)
		printf(" %s:%u", frame->source, frame->line);
	printf("\n");
}

static int moment_view_print_stack(struct moment_view *v, const struct event *ev)
{
	uint32_t node = call_stacks_find(&v->stacks, ev->pid, ev->moment.stack);
	struct call_stacks_step step;
	unsigned n = 0;
	int r = 0;

	if (!node)
		printf(" > (no call stack: 'kymo summary' counts the causes)\n");
	for (; r == 0 && node; n++) {
		r = call_stacks_step(&v->stacks, &node, &step);
		for (int i = 0; i < step.n_frames; i++)
			moment_view_print_frame(&step, &step.frames[i]);
		if (step.n_frames == 0)
			moment_view_print_frame(&step, NULL);
	}
	/* (as for calls, the recorder takes no deeper frames) */
	if (n >= EVENT_CALL_FRAMES_MAX - 1)
		printf(" > ... (deeper calls were not recorded)\n");
	return r;
}

static void moment_view_print_registers(const struct event *ev)
{
	for (unsigned i = 0; i < EVENT_MOMENT_REGISTERS; i++)
		printf("%s%s = 0x%" PRIx64 "%s", i % 4 ? "  " : "    ", moment_data_registers[i],
		       moment_data_register(ev, i), i % 4 == 3 ? "\n" : "");
}

static int moment_view_print_text(struct moment_view *v, const struct moment_plan *plan,
				  const struct event *ev)
{
	const char *thread = moment_view_thread(v, ev->tid);
	char value[VALUE_TEXT_MAX];
	uint64_t tsv;

	/* (a thread can give itself an empty name) */
	printf("%14.9f %s/%u %s hit %" PRIu64, (double)(ev->ts_ns - v->first_ns) / 1e9,
	       *thread ? thread : "?", ev->tid & FXT_KOID_TID_MASK, plan ? plan->name : "?",
	       ev->moment.hit);
	if (plan && *plan->source)
		printf(" (%s)", plan->source);
	printf("\n");
	for (uint32_t i = 0; plan && i < plan->n_variables; i++) {
		const struct moment_plan_variable *var = &plan->variables[i];
		bool there = moment_values_print(var, ev, value, sizeof(value));

		printf(there ? "    %s = %s\n" : "    %s: not collected: %s\n", var->name, value);
	}
	for (uint32_t i = 0; plan && i < plan->n_tsvs; i++)
		if (moment_values_tsv(plan, ev, i, &tsv))
			printf("    $%s = %" PRIu64 "\n", plan->tsvs[i].name, tsv);
	if (v->registers)
		moment_view_print_registers(ev);
	return v->wants_stacks ? moment_view_print_stack(v, ev) : 0;
}

/* ---- JSON ---- */

static struct json_object *moment_view_json_values(const struct moment_plan *plan,
						   const struct event *ev, bool collected)
{
	struct json_object *values = json_object_new_object();
	char value[VALUE_TEXT_MAX];

	for (uint32_t i = 0; plan && i < plan->n_variables; i++)
		if (moment_values_print(&plan->variables[i], ev, value, sizeof(value)) == collected)
			json_object_object_add(values, plan->variables[i].name,
					       json_from_text(value));
	return values;
}

static struct json_object *moment_view_json_tsvs(const struct moment_plan *plan,
						 const struct event *ev)
{
	struct json_object *values = json_object_new_object();
	uint64_t value;

	for (uint32_t i = 0; i < plan->n_tsvs; i++)
		if (moment_values_tsv(plan, ev, i, &value))
			json_object_object_add(values, plan->tsvs[i].name, json_u64(value));
	return values;
}

static struct json_object *moment_view_json_stack(struct moment_view *v, const struct event *ev)
{
	uint32_t node = call_stacks_find(&v->stacks, ev->pid, ev->moment.stack);
	struct json_object *list = json_object_new_array();
	struct call_stacks_step step;
	char label[PROFILE_LABEL_MAX];

	while (node && call_stacks_step(&v->stacks, &node, &step) == 0)
		for (int i = 0; i < step.n_frames || i == 0; i++)
			json_object_array_add(list,
					      json_from_text(profile_names_label(
						      label, step.at,
						      step.n_frames > 0 ? &step.frames[i] : NULL)));
	return list;
}

static struct json_object *moment_view_json_registers(const struct event *ev)
{
	struct json_object *registers = json_object_new_object();

	for (unsigned i = 0; i < EVENT_MOMENT_REGISTERS; i++)
		json_object_object_add(registers, moment_data_registers[i],
				       json_u64(moment_data_register(ev, i)));
	return registers;
}

static void moment_view_print_json(struct moment_view *v, const struct moment_plan *plan,
				   const struct event *ev)
{
	json_print_line(JSON_OBJECT(
		JSON("timestamp_ns", ev->ts_ns), JSON("process_id", ev->pid),
		JSON("thread_id", ev->tid), JSON("thread", moment_view_thread(v, ev->tid)),
		JSON("point", plan ? plan->name : ""),
		JSON_IF(plan && *plan->source, "source", plan ? plan->source : ""),
		JSON("hit", ev->moment.hit),
		JSON("variables", moment_view_json_values(plan, ev, true)),
		JSON("not_collected", moment_view_json_values(plan, ev, false)),
		JSON_IF(plan && plan->n_tsvs, "trace_state_variables",
			moment_view_json_tsvs(plan, ev)),
		JSON_IF(v->registers, "registers", moment_view_json_registers(ev)),
		JSON_IF(v->wants_stacks, "stack", moment_view_json_stack(v, ev))));
}

/* ---- events ---- */

static int moment_view_set_name(struct moment_view *v, uint32_t tid, const char *name)
{
	return table_copy(&v->names, (uint64_t)tid + 1, name, strlen(name) + 1) ? 0 : -ENOMEM;
}

static int moment_view_print(struct moment_view *v, const struct event *ev)
{
	const struct moment_plan *plan = moment_store_plan(&v->store, ev);

	v->n_moments++;
	if (!name_filter_selects(&v->point, plan ? plan->name : ""))
		return 0;
	v->n_printed++;
	if (!v->json)
		return moment_view_print_text(v, plan, ev);
	moment_view_print_json(v, plan, ev);
	return 0;
}

static int moment_view_on_event(void *view, const struct event *ev)
{
	struct moment_view *v = view;
	int r = moment_store_add(&v->store, ev);

	if (r == 0 && v->wants_stacks)
		r = call_stacks_add(&v->stacks, ev);
	if (r < 0)
		return r;
	if (v->first_ns == 0 && ev->kind != EVENT_TASK)
		v->first_ns = ev->ts_ns;
	if (ev->kind == EVENT_TASK && !ev->task.is_process)
		return moment_view_set_name(v, ev->tid, ev->task.comm);
	if (ev->kind == EVENT_RENAME)
		return moment_view_set_name(v, ev->tid, ev->rename.to);
	if (other_files_add(&v->others, ev) < 0)
		return -ENOMEM;
	for (size_t i = 0; ev->kind == EVENT_STACKS && i < WALK_ENDS_MAX; i++)
		v->walks[i] += ev->stacks.walks[i];
	return ev->kind == EVENT_MOMENT ? moment_view_print(v, ev) : 0;
}

/* Explains why VIEW has shown no moment of the archive T. Returns an enum cli_exit. */
static int verb_moments_explain_none(const struct moment_view *view, const struct open_trace *t,
				     const char *name)
{
	if (view->n_moments > 0 && name_filter_complain(&view->point, name, "moment of a point"))
		return CLI_DAMAGE;
	return nothing_there_say(&t->parts, NOTHING_MOMENTS, name);
}

static int verb_moments_run(int argc, char **argv)
{
	_cleanup_(moment_view_deinit) struct moment_view view = { 0 };
	_cleanup_(open_trace_close) struct open_trace t = OPEN_TRACE_NULL;
	const struct symbol_options symbols = { 0 };
	const struct verb_option options[] = {
		OPTION_FLAG("json", &view.json),
		OPTION_TEXT("point", 0, &view.point.pattern),
		OPTION_FLAG("registers", &view.registers),
		OPTION_FLAG("stack-trace", &view.wants_stacks),
		{ 0 },
	};
	int r = verb_options_parse_with(argc, argv, options, 1, "expected one FILE");

	if (r != VERB_OPTIONS_GO)
		return r;
	r = view.wants_stacks ? call_stacks_init(&view.stacks, &symbols) : CLI_OK;
	r = r ?: open_trace(&t, argv[optind]);
	t.prints = true;
	r = r ?: read_events(&t, moment_view_on_event, &view) ?: open_trace_finish(&t);
	if (r == CLI_OK && view.wants_stacks && view.n_printed > 0)
		stacks_report_incomplete(view.walks, 0);
	if (r == CLI_OK && view.n_printed == 0)
		r = verb_moments_explain_none(&view, &t, argv[optind]);
	nothing_there_name_files(&view.others, argv[optind]);
	return r;
}

const struct verb verb_moments_row = {
	.name = "moments",
	.synopsis = "[OPTION ...] FILE",
	.what = "Print the registers and variables collected at points of programs",
	.examples = "  kymo moments t.fxt\n  kymo moments --registers --point 'main*' t.fxt\n",
	.options =
		"      --point=NAME           only moments of points of this name, with * and ?\n"
		"      --registers            print the registers\n"
		"      --stack-trace          print the call stack of each\n"
		"      --json                 print one JSON object per line\n"
		"  -h, --help                 show this\n",
	.notes =
		"\nFILE is an archive; '-' is standard input. Exits with 3 if FILE is\ndamaged, or no point has the name.\n",
	.run = verb_moments_run,
};
