/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/apitrace/apitrace-summary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/outbuf.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/apitrace/apitrace-json.h"
#include "cli/common/colour.h"
#include "cli/common/verb.h"
#include "reader/apitrace/apitrace-text.h"

/* The counts of one signature. Functions with one name and different signatures are counted
 * separately. */
struct apitrace_function {
	const struct apitrace_names *signature; /* borrowed */
	uint64_t calls, incomplete, timed;
	uint64_t total_ns, max_ns; /* sum and maximum of @dur_ns, of calls that have it */
};

struct apitrace_sums {
	struct table functions; /* address of the signature -> struct apitrace_function, owned */
	struct table threads;   /* number of the thread + 1 -> not NULL */
	uint64_t calls, incomplete, stacks, fake, frames;
	struct apitrace_function **sorted; /* owned */
	size_t n;
};

static void apitrace_sums_deinit(struct apitrace_sums *s)
{
	table_deinit_free(&s->functions);
	table_deinit(&s->threads);
	free(s->sorted);
}

/* Gets the duration of CALL, if kymo recorded it (as an argument). Returns false if it is unknown.
 */
static bool apitrace_summary_duration(const struct apitrace_call *call, uint64_t *ret)
{
	for (size_t i = call->n_args; i-- > 0;) {
		const struct apitrace_text *name = &call->function->names[i];
		const struct apitrace_value *v = call->args[i].value;

		if (v && v->type == APITRACE_UINT && strcmp(name->bytes, "@dur_ns") == 0) {
			*ret = v->uint;
			return true;
		}
	}
	return false;
}

static int apitrace_summary_add(struct apitrace_sums *s, const struct apitrace_call *call)
{
	struct apitrace_function *f =
		table_make(&s->functions, (uintptr_t)call->function, sizeof(*f));
	bool incomplete = call->state == APITRACE_CALL_INCOMPLETE;
	uint64_t ns;

	if (!f || table_set(&s->threads, call->thread + 1 ?: 1, s) < 0)
		return -ENOMEM;
	f->signature = call->function;
	f->calls++;
	f->incomplete += incomplete;
	if (apitrace_summary_duration(call, &ns)) {
		f->timed++;
		f->total_ns += ns;
		f->max_ns = ns > f->max_ns ? ns : f->max_ns;
	}
	s->calls++;
	s->incomplete += incomplete;
	s->stacks += call->has_backtrace;
	s->fake += (call->flags & APITRACE_FLAG_FAKE) != 0;
	s->frames += apitrace_ends_frame(&call->function->name);
	return 0;
}

DEFINE_ORDER_OF_POINTERS(apitrace_summary_compare, struct apitrace_function,
			 COMPARE(y->calls, x->calls)
				 ?: strcmp(x->signature->name.bytes, y->signature->name.bytes))

static int apitrace_summary_sort(struct apitrace_sums *s)
{
	s->sorted = (struct apitrace_function **)table_sorted(&s->functions,
							      apitrace_summary_compare, &s->n);
	return s->sorted ? 0 : -ENOMEM;
}

/* ---- output ---- */

static struct json_object *apitrace_summary_json_function(const struct apitrace_function *f)
{
	const struct apitrace_text *name = &f->signature->name;

	return JSON_OBJECT(JSON("name", json_from_bytes(name->bytes, name->n)), JSON_OF(f, calls),
			   JSON_IF(f->incomplete, "incomplete", f->incomplete),
			   JSON_IF(f->timed, "timed", f->timed),
			   JSON_IF(f->timed, "total_ns", f->total_ns),
			   JSON_IF(f->timed, "max_ns", f->max_ns));
}

static void apitrace_summary_print_json(const struct apitrace_sums *s, const struct open_trace *t)
{
	const struct apitrace_header *h = apitrace_reader_header(t->calls);
	const char *packed = open_trace_packed(t);

	json_print_pretty(JSON_OBJECT(
		JSON("format", "apitrace"), JSON_OF(h, version, semantic_version),
		JSON("compression", *packed ? packed : "none"),
		JSON("properties", apitrace_json_properties(h)), JSON("damage", t->n_damages),
		JSON_OF(s, calls, incomplete, stacks, fake, frames),
		JSON("threads", s->threads.n_used),
		JSON("functions",
		     JSON_LIST(f, s->sorted, s->n, apitrace_summary_json_function(*f)))));
}

static void apitrace_summary_print_properties(const struct apitrace_header *h)
{
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };

	for (size_t i = 0; i < h->n_properties; i++) {
		apitrace_text_name(&b, &h->properties[i].name);
		outbuf_append(&b, ": ", 2);
		apitrace_text_name(&b, &h->properties[i].value);
		outbuf_append(&b, "\n", 1);
	}
	if (b.size > 0)
		fwrite(b.data, 1, b.size, stdout);
}

static void apitrace_summary_print_function(const struct apitrace_function *f, bool timed)
{
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };

	printf("%10" PRIu64, f->calls);
	if (timed)
		printf(" %10s %10s", TEXT_TIME(f->total_ns), TEXT_TIME(f->max_ns));
	apitrace_text_name(&b, &f->signature->name);
	printf("  %.*s\n", (int)b.size, b.data ? (char *)b.data : "");
}

static void apitrace_summary_print(const struct apitrace_sums *s, const struct open_trace *t,
				   uint64_t limit)
{
	const struct apitrace_header *h = apitrace_reader_header(t->calls);
	const char *packed = open_trace_packed(t);
	bool timed = false;

	for (size_t i = 0; i < s->n; i++)
		timed |= s->sorted[i]->timed > 0;
	printf("%s: call trace (apitrace) of version %" PRIu64 ", %s\n", t->name, h->version,
	       *packed ? packed : "not packed");
	apitrace_summary_print_properties(h);
	printf("calls %" PRIu64 ", threads %zu, functions %zu, stacks %" PRIu64
	       ", without an end %" PRIu64 "\n",
	       s->calls, s->threads.n_used, s->n, s->stacks, s->incomplete);
	if (s->frames > 0)
		printf("frames of graphics: %" PRIu64 "\n", s->frames);
	if (s->n > 0)
		printf("\n%s     CALLS%s  FUNCTION%s\n", colour(COLOUR_HEADING),
		       timed ? "       TIME    LONGEST" : "", colour(COLOUR_OFF));
	for (size_t i = 0; i < s->n && i < limit; i++)
		apitrace_summary_print_function(s->sorted[i], timed);
	if (s->n > limit)
		printf("    ... and %" PRIu64 " functions with fewer calls (-n shows more)\n",
		       s->n - limit);
}

int apitrace_summary(struct open_trace *t, bool json, uint64_t limit)
{
	_cleanup_(apitrace_sums_deinit) struct apitrace_sums s = { 0 };
	const struct apitrace_call *call;
	int r;

	while ((r = open_trace_next_call(t, &call)) > 0)
		if (apitrace_summary_add(&s, call) < 0)
			return cli_failed("out of memory");
	if (r < 0)
		return CLI_FAILED;
	if (apitrace_summary_sort(&s) < 0)
		return cli_failed("out of memory");
	if (json)
		apitrace_summary_print_json(&s, t);
	else
		apitrace_summary_print(&s, t, limit);
	return open_trace_finish(t);
}
