/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/places/moment-compile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "model/moments/moment-plan.h"
#include "base/text.h"
#include "bpf/record.h"
#include "cli/places/process-file.h"
#include "cli/common/verb.h"
#include "cli/places/moment-spec.h"
#include "reader/places/place-functions.h"
#include "reader/places/place-lines.h"
#include "reader/places/place-locals.h"
#include "reader/places/place-usdt-variables.h"

enum {
	FRAMES_MAX = 16,
	PLAN_LINE_MAX = 1024,
};

/* The request. */
struct moment_request {
	const char *option;
	struct moment_spec spec;
	struct places *places;
	const struct place_arguments
		*marked;  /* arguments of the static probe at the place; NULL = no probe */
	bool only_marked; /* "args" are only the arguments of the probe */
	char path[PATH_MAX];
};

static void moment_request_deinit(struct moment_request *q)
{
	moment_spec_deinit(&q->spec);
	places_free(q->places);
}

/* ---- plans ---- */

static void moment_put_load(FILE *to, const struct place_load *l, uint32_t flags, uint32_t count_at,
			    uint32_t element_bytes)
{
	/* (loads and plans both use DWARF's register numbers, and their bases have the same order)
	 */
	/* (with a count, BYTES is the maximum) */
	uint32_t bytes = l->bytes < MOMENT_PLAN_BYTES_MAX ? l->bytes : MOMENT_PLAN_BYTES_MAX;

	fprintf(to, "load\t%u\t%u\t%u\t%u\t%" PRId64 "\t%u\t%u", flags, bytes, l->base,
		l->reg + 32U * l->index + 1024U * l->scale, l->offset, count_at, element_bytes);
	for (unsigned i = 0; i < l->n_steps; i++)
		fprintf(to, "\t%" PRId64, l->steps[i]);
	fprintf(to, MOMENT_PLAN_LINE_END);
}

static uint32_t moment_load_flags(const struct place_load *l)
{
	return (l->is_value ? MOMENT_PLAN_VALUE : 0) | (l->is_string ? MOMENT_PLAN_STRING : 0);
}

static void moment_put_none(FILE *to, const struct place_variable *v, const char *reason)
{
	fprintf(to, "none\t%s\t%s\t%s" MOMENT_PLAN_LINE_END, v->name, *v->type ? v->type : "?",
		reason);
}

/* Writes the loads of V. The next load has the number *N_LOADS. */
static void moment_put_variable(FILE *to, const struct place_variable *v, uint32_t *n_loads)
{
	uint32_t first = *n_loads + v->count.is_used;

	if (v->reason || v->n_loads == 0) {
		moment_put_none(to, v,
				v->reason ? place_reason_text(v->reason)
					  : "its location is unknown");
		return;
	}
	/* (one load is reserved for the stack) */
	if (first + v->n_loads > MOMENT_PLAN_LOADS_MAX - 1) {
		moment_put_none(to, v, "too much is collected at this point");
		return;
	}
	for (size_t i = v->count.is_used; i < v->n_loads; i++) {
		if (v->loads[i].bytes <= MOMENT_PLAN_BYTES_MAX)
			continue;
		moment_put_none(to, v, "it is longer than 8192 bytes");
		return;
	}
	if (v->count.is_used)
		moment_put_load(to, &v->count.load,
				MOMENT_PLAN_QUIET | moment_load_flags(&v->count.load) |
					(v->count.is_signed ? MOMENT_PLAN_SIGNED : 0),
				0, 0);
	for (size_t i = 0; i < v->n_loads; i++)
		moment_put_load(to, &v->loads[i], moment_load_flags(&v->loads[i]),
				v->count.is_used && i == 0 ? first : 0,
				v->count.is_used && i == 0 ? v->count.element_bytes : 0);
	*n_loads = first + (uint32_t)v->n_loads;
	fprintf(to, "var\t%s\t%s\t%u\t%zu\t%s" MOMENT_PLAN_LINE_END, v->name,
		*v->type ? v->type : "?", first, v->n_loads, v->shape);
}

static bool moment_same_item(const struct place_variable *v, const struct place_variable *before)
{
	return strcmp(v->name, before->name) == 0 && v->n_loads == before->n_loads &&
	       memcmp(v->loads, before->loads, sizeof(v->loads)) == 0;
}

static void moment_put_list(FILE *to, const struct place_locals *l, uint32_t *n_loads)
{
	for (size_t i = 0; i < l->n && i < MOMENT_PLAN_VARIABLES_MAX; i++) {
		bool again = false;

		for (size_t j = 0; j < i && !again; j++)
			again = moment_same_item(&l->list[i], &l->list[j]);
		if (!again)
			moment_put_variable(to, &l->list[i], n_loads);
	}
}

/* Writes the variables that QUERY selects. If there is no debug information, this is an error,
 * unless the variables are OPTIONAL. */
static int moment_put_locals(const struct moment_request *q, FILE *to,
			     const struct place_query *query, bool optional, uint32_t *n_loads)
{
	_cleanup_(place_locals_deinit) struct place_locals locals = { 0 };
	char why[PLACES_WHY_MAX];
	int r = query->n_items ? place_locals_find(q->places, query, &locals, why, sizeof(why)) : 0;

	/* (without debug information, only registers and the stack are collected) */
	if (r == -ENODATA && optional) {
		cli_error("%s: %s; only registers and the stack are collected", q->option, why);
		return CLI_OK;
	}
	if (r < 0)
		return cli_failed("%s: %s", q->option, r == -ENOMEM ? "out of memory" : why);
	moment_put_list(to, &locals, n_loads);
	return CLI_OK;
}

/* Writes the variables. If the place is a static probe, the probe's arguments come first. "args"
 * then also includes the arguments of the function at the place, unless only_marked is set. */
static int moment_put_variables(const struct moment_request *q, FILE *to, uint64_t vaddr,
				uint32_t *n_loads)
{
	_cleanup_(place_locals_deinit) struct place_locals marked = { 0 };
	const char *items[MOMENT_SPEC_ITEMS_MAX];
	struct place_query query = { .vaddr = vaddr, .items = items, .strings = true };
	bool optional = true;

	for (size_t i = 0; i < q->spec.n_items; i++) {
		const char *item = q->spec.items[i];
		bool is_args = strcmp(item, "args") == 0;
		int found = q->marked ? place_usdt_variables(q->marked, item, &marked) : 0;

		if (found < 0)
			return cli_failed("out of memory");
		if (!found || (is_args && !q->only_marked))
			items[query.n_items++] = item;
		optional &= found || q->spec.implied;
	}
	moment_put_list(to, &marked, n_loads);
	return moment_put_locals(q, to, &query, optional, n_loads);
}

/* ---- conditions ---- */

/* Parses TEXT as a number in C. */
static bool moment_parse_number(const char *text, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 0);
	return errno == 0 && *text >= '0' && *text <= '9' && *end == '\0';
}

static int moment_find_op(const char *text)
{
	static const char *const ops[CALL_OP_MAX] = {
		[CALL_OP_EQ] = "==", [CALL_OP_NE] = "!=", [CALL_OP_LT] = "<",  [CALL_OP_LE] = "<=",
		[CALL_OP_GT] = ">",  [CALL_OP_GE] = ">=", [CALL_OP_AND] = "&",
	};

	for (int i = 1; i < CALL_OP_MAX; i++)
		if (strcmp(ops[i], text) == 0)
			return i;
	return 0;
}

/* An operand of a condition. */
struct moment_subject {
	struct place_load load; /* load of the operand, unless it is a trace state variable */
	int tsv;                /* number of the trace state variable; -1 = another operand */
	bool is_signed;
};

/* Finds the variable NAME of the program. */
static int moment_find_variable(const struct moment_request *q, uint64_t vaddr, const char *name,
				struct moment_subject *ret)
{
	const char *const items[] = { name };
	const struct place_query query = { .vaddr = vaddr, .items = items, .n_items = 1 };
	_cleanup_(place_locals_deinit) struct place_locals locals = { 0 };
	const struct place_variable *v;
	char why[PLACES_WHY_MAX];
	int r = q->marked ? place_usdt_variables(q->marked, name, &locals) : 0;

	r = r ?: place_locals_find(q->places, &query, &locals, why, sizeof(why));
	if (r < 0)
		return cli_failed("%s: %s", q->option, r == -ENOMEM ? "out of memory" : why);
	v = locals.n > 0 ? &locals.list[0] : NULL;
	if (!v || v->reason || v->n_loads == 0 || v->loads[0].bytes > 8 || v->count.is_used)
		return cli_failed("%s: '%s' cannot be compared: %s", q->option, name,
				  v && v->reason ? place_reason_text(v->reason)
						 : "it is not a number");
	ret->load = v->loads[0];
	ret->is_signed = v->shape[0] == 'i';
	return CLI_OK;
}

static int moment_find_subject(const struct moment_request *q, uint64_t vaddr, const char *name,
			       struct moment_subject *ret)
{
	int reg;

	*ret = (struct moment_subject){ .tsv = -1 };
	if (*name != '$')
		return moment_find_variable(q, vaddr, name, ret);
	ret->tsv = moment_spec_tsv(&q->spec, name + 1);
	reg = moment_spec_register(name + 1);
	if (reg >= 0)
		ret->load = (struct place_load){
			.base = PLACE_REGISTER, .reg = (uint8_t)reg, .is_value = true, .bytes = 8
		};
	return CLI_OK;
}

static int moment_put_condition(const struct moment_request *q, FILE *to, uint64_t vaddr,
				const struct moment_spec_condition *c, uint32_t *n_loads)
{
	bool minus = *c->number == '-';
	struct moment_subject subject;
	uint64_t value = 0;
	uint32_t at;
	int op, r = moment_find_subject(q, vaddr, c->subject, &subject);

	if (r != CLI_OK)
		return r;
	op = moment_find_op(c->op);
	if (op == 0 || !moment_parse_number(c->number + minus, &value))
		return cli_usage_error("%s: 'if %s %s %s' is not a condition: use ==, !=, <, <=, "
				       ">, >= or & and a number",
				       q->option, c->subject, c->op, c->number);
	if (subject.tsv < 0) {
		moment_put_load(to, &subject.load,
				MOMENT_PLAN_QUIET | moment_load_flags(&subject.load), 0, 0);
		at = ++*n_loads;
	} else {
		at = MOMENT_PLAN_LOADS_MAX + 1 + (uint32_t)subject.tsv;
		subject.load.bytes = 8;
	}
	fprintf(to, "if\t%u\t%d\t%u\t%d\t%s%" PRIu64 MOMENT_PLAN_LINE_END, at, op,
		subject.load.bytes * 8 > 64 ? 64 : subject.load.bytes * 8,
		subject.is_signed || minus, minus ? "-" : "", value);
	return CLI_OK;
}

static int moment_put_conditions(const struct moment_request *q, FILE *to, uint64_t vaddr,
				 uint32_t *n_loads)
{
	int r = CLI_OK;

	for (uint32_t i = 0; r == CLI_OK && i < q->spec.n_conditions; i++)
		r = moment_put_condition(q, to, vaddr, &q->spec.conditions[i], n_loads);
	return r;
}

/* ---- points ---- */

/* Writes the actions of a hit, except for collecting. */
static void moment_put_actions(const struct moment_spec *s, FILE *to)
{
	if (s->max != MOMENT_PLAN_EACH)
		fprintf(to, "max\t%" PRIu64 MOMENT_PLAN_LINE_END, s->max);
	if (s->snapshot)
		fprintf(to, "snapshot\t%" PRIu64 MOMENT_PLAN_LINE_END, s->snapshot);
	if (s->stop)
		fprintf(to, "stop\t%" PRIu64 MOMENT_PLAN_LINE_END, s->stop);
	for (uint32_t i = 0; i < s->n_tsvs; i++)
		fprintf(to, "tsv\t%s\t%d" MOMENT_PLAN_LINE_END, s->tsvs[i].name,
			s->tsvs[i].is_counted);
}

static int moment_add(struct call_options *to, const char *option, const char *path,
		      const char *plan)
{
	struct option_files *files = &to->files;
	char why[MOMENT_PLAN_WHY_MAX];
	struct moment_plan parsed;
	int fd, r;

	r = moment_plan_parse(plan, &parsed, why);
	if (r < 0)
		return cli_failed("%s: %s", option, r == -ENOMEM ? "out of memory" : why);
	moment_plan_deinit(&parsed);
	if (!files->fds)
		files->fds = calloc(OPTION_MOMENTS_MAX, sizeof(*files->fds));
	if (!files->fds)
		return cli_failed("out of memory");
	if (to->n_specs == OPTION_MOMENTS_MAX)
		return cli_failed("%s: it matches more than %d points", option, OPTION_MOMENTS_MAX);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return cli_failed("%s: %s: %s", option, path, strerror(errno));
	files->fds[files->n++] = fd;
	r = call_options_add(to, plan);
	return r < 0 ? cli_failed("%s: %s", option, strerror(-r)) : CLI_OK;
}

/* Writes the plan of the point at VADDR, which messages call NAME. */
static int moment_put_plan(struct moment_request *q, FILE *to, const char *name, uint64_t vaddr)
{
	struct dwarf_frame frames[FRAMES_MAX];
	size_t n_frames = place_lines_at(q->places, vaddr, frames, FRAMES_MAX);
	uint32_t n_loads = 0;
	int r;

	fprintf(to,
		"point\t%s" MOMENT_PLAN_LINE_END "file\t%s" MOMENT_PLAN_LINE_END
		"at\t%" PRIu64 MOMENT_PLAN_LINE_END,
		name, q->path, vaddr);
	if (n_frames > 0 && frames[0].source && frames[0].line)
		fprintf(to, "source\t%s:%u" MOMENT_PLAN_LINE_END, frames[0].source, frames[0].line);
	moment_put_actions(&q->spec, to);
	r = moment_put_conditions(q, to, vaddr, &n_loads)
		    ?: moment_put_variables(q, to, vaddr, &n_loads);
	if (r != CLI_OK)
		return r;
	if (q->spec.stack_bytes)
		fprintf(to, "load\t%u\t%u\t%d\t%d\t%d\t0\t0" MOMENT_PLAN_LINE_END,
			MOMENT_PLAN_PIECES, (unsigned)q->spec.stack_bytes + MOMENT_SPEC_RED_ZONE,
			MOMENT_PLAN_REGISTER, MOMENT_REG_SP, -MOMENT_SPEC_RED_ZONE);
	return CLI_OK;
}

/* Compiles the point at VADDR, which messages call NAME. */
static int moment_compile_at(struct moment_request *q, const char *name, uint64_t vaddr,
			     struct call_options *to)
{
	_cleanup_free_ char *text = NULL;
	size_t bytes = 0;
	FILE *plan = open_memstream(&text, &bytes);
	int r;

	if (!plan)
		return cli_failed("out of memory");
	r = moment_put_plan(q, plan, name, vaddr);
	if (fclose(plan) < 0)
		return cli_failed("out of memory");
	return r == CLI_OK ? moment_add(to, q->option, q->path, text) : r;
}
/* Returns the address after the prologue of F, according to the lines. */
static uint64_t moment_after_prologue(struct moment_request *q, const struct place_function *f)
{
	struct dwarf_frame frames[FRAMES_MAX];
	size_t n = place_lines_at(q->places, f->vaddr, frames, FRAMES_MAX);
	struct place_line *line = n > 0 ? calloc(1, sizeof(*line)) : NULL;
	uint64_t ret = f->vaddr;
	char why[PLACES_WHY_MAX];

	if (line && frames[n - 1].source && frames[n - 1].line &&
	    place_lines_find(q->places, frames[n - 1].source, frames[n - 1].line, line, why,
			     sizeof(why)) == 0)
		for (size_t i = 0; i < line->n; i++)
			if (line->vaddrs[i] > f->vaddr && line->vaddrs[i] - f->vaddr < f->bytes) {
				ret = line->vaddrs[i];
				break;
			}
	free(line);
	return ret;
}

static int moment_compile_functions(struct moment_request *q, struct call_options *to)
{
	_cleanup_(place_functions_deinit) struct place_functions found = { 0 };
	int r = place_functions_find(q->places, q->spec.place, &found);

	if (r < 0)
		return cli_failed("%s: %s: %s", q->option, q->path, strerror(-r));
	if (found.n == 0 && !places_have_symbols(q->places))
		return cli_failed("%s: %s has no symbols (it is stripped): its functions have no "
				  "names; compile it without -s, or install its debug symbols",
				  q->option, q->spec.file);
	if (found.n == 0)
		return cli_failed("%s: %s has no function '%s'%s%s%s", q->option, q->spec.file,
				  q->spec.place, *found.nearest ? "; did you mean '" : "",
				  found.nearest, *found.nearest ? "'?" : "");
	for (size_t i = 0; r == CLI_OK && i < found.n; i++)
		r = moment_compile_at(q, found.list[i].name,
				      moment_after_prologue(q, &found.list[i]), to);
	return r;
}

static int moment_compile_line(struct moment_request *q, uint64_t line, struct call_options *to)
{
	char *source = q->spec.place, *colon = strrchr(source, ':');
	struct place_line *found = calloc(1, sizeof(*found));
	char why[PLACES_WHY_MAX], name[PLAN_LINE_MAX];
	int r;

	*colon = '\0';
	snprintf(name, sizeof(name), "%s:%s:%" PRIu64, q->spec.file, source, line);
	r = found ? place_lines_find(q->places, source, (uint32_t)line, found, why, sizeof(why))
		  : -ENOMEM;
	if (r < 0)
		r = cli_failed("%s: %s", q->option, r == -ENOMEM ? "out of memory" : why);
	for (size_t i = 0; r == CLI_OK && i < found->n; i++)
		r = moment_compile_at(q, name, found->vaddrs[i], to);
	free(found);
	return r;
}

static int moment_compile_probes(struct moment_request *q, const char *text,
				 struct call_options *to)
{
	char name[PLAN_LINE_MAX], why[PLACES_WHY_MAX];
	struct place_usdts u;
	int r = place_usdts_named(q->places, q->spec.file, text, &u, why);

	if (r < 0)
		return cli_failed("%s: %s", q->option, r == -ENOMEM ? "out of memory" : why);
	for (size_t i = 0; r == CLI_OK && i < u.n; i++) {
		snprintf(name, sizeof(name), "%s:%.120s:%.120s", q->spec.file, u.list[i].provider,
			 u.list[i].name);
		q->marked = &u.list[i].arguments;
		r = moment_compile_at(q, name, u.list[i].vaddr, to);
	}
	q->marked = NULL;
	place_usdts_deinit(&u);
	return r;
}

static int moment_compile_where(struct moment_request *q, struct call_options *to)
{
	const char *colon = strrchr(q->spec.place, ':');
	char name[PLAN_LINE_MAX];
	uint64_t number;

	if (strncmp(q->spec.place, "usdt:", 5) == 0)
		return moment_compile_probes(q, q->spec.place + 5, to);
	if (colon && text_parse_u64(colon + 1, UINT32_MAX, &number) == 0 &&
	    (colon == q->spec.place || colon[-1] != ':'))
		return moment_compile_line(q, number, to);
	if (strncmp(q->spec.place, "0x", 2) != 0)
		return moment_compile_functions(q, to);
	if (!moment_parse_number(q->spec.place, &number))
		return cli_usage_error("%s: '%s' is not an address", q->option, q->spec.place);
	snprintf(name, sizeof(name), "%s:%s", q->spec.file, q->spec.place);
	return moment_compile_at(q, name, number, to);
}

static int moment_compile_request(struct moment_request *q, const struct capture_filter *filter,
				  struct call_options *to)
{
	struct process_file file;
	char why[PLACES_WHY_MAX];

	if (process_file_find(q->spec.file, filter, &file) < 0)
		return cli_failed(
			"%s: there is no library or program '%s'; name its path, or find it with 'ldconfig -p'",
			q->option, q->spec.file);
	process_file_report(&file, q->option, q->spec.file);
	snprintf(q->path, sizeof(q->path), "%s", file.path);
	if (process_file_open(&file, &q->places, why, sizeof(why)) < 0)
		return cli_failed("%s: %s", q->option, why);
	return moment_compile_where(q, to);
}

int moment_compile(const char *name, const char *text, const char *collect,
		   const struct capture_filter *filter, struct call_options *to)
{
	_cleanup_(moment_request_deinit) struct moment_request q = { .option = name };
	int r = moment_spec_parse(name, text, collect, &q.spec);

	return r == CLI_OK ? moment_compile_request(&q, filter, to) : r;
}

int moment_compile_static(const char *name, const char *text, const char *collect,
			  const struct capture_filter *filter, struct call_options *to)
{
	_cleanup_(moment_request_deinit) struct moment_request q = { .option = name,
								     .only_marked = true };
	int r = moment_spec_parse(name, text, collect ?: "args", &q.spec);

	return r == CLI_OK ? moment_compile_request(&q, filter, to) : r;
}
