/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/apitrace/apitrace-check.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "cli/common/verb.h"

_Static_assert(APITRACE_FINDING_MAX <= FINDING_COUNTS_MAX, "each kind is counted");

void apitrace_check_found(void *userdata, enum apitrace_finding_id id, uint64_t offset)
{
	finding_counts_add(userdata, id, offset);
}

static void apitrace_check_print_json(const struct finding_counts *c, const struct open_trace *t,
				      uint64_t calls)
{
	const char *packed = open_trace_packed(t);

	finding_counts_print_json(
		c,
		JSON_OBJECT(JSON("format", "apitrace"),
			    JSON("compression", *packed ? packed : "none"),
			    JSON("version", apitrace_reader_header(t->calls)->version),
			    JSON("bytes", apitrace_reader_offset(t->calls)), JSON("calls", calls)));
}

static void apitrace_check_print(const struct finding_counts *c, const struct open_trace *t,
				 uint64_t calls)
{
	const char *packed = open_trace_packed(t);

	finding_counts_print(c);
	printf("%s: call trace (apitrace) of version %" PRIu64 ", %s, %s, %" PRIu64
	       " call%s, %" PRIu64 " error%s, %" PRIu64 " warning%s\n",
	       t->name, apitrace_reader_header(t->calls)->version, *packed ? packed : "not packed",
	       TEXT_SIZE(apitrace_reader_offset(t->calls)), calls, text_s(calls),
	       finding_counts_of(c, FINDING_ERROR), text_s(finding_counts_of(c, FINDING_ERROR)),
	       finding_counts_of(c, FINDING_WARNING),
	       text_s(finding_counts_of(c, FINDING_WARNING)));
}

int apitrace_check(struct finding_counts *c, struct open_trace *t)
{
	const struct apitrace_call *call;
	uint64_t calls = 0;
	int r;

	while ((r = open_trace_next_call(t, &call)) > 0)
		calls++;
	if (t->n_damages > 0)
		apitrace_check_found(c,
				     t->container_damaged ? APITRACE_CONTAINER : APITRACE_DAMAGED,
				     apitrace_reader_offset(t->calls));
	if (c->json)
		apitrace_check_print_json(c, t, calls);
	else
		apitrace_check_print(c, t, calls);
	return r < 0 ? CLI_FAILED : finding_counts_exit(c);
}
