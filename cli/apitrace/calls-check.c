/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/apitrace/calls-check.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "cli/common/colour.h"
#include "cli/common/json.h"
#include "cli/common/verb.h"

static bool calls_check_is_shown(const struct calls_check *c, enum apitrace_finding_id id)
{
	return apitrace_finding_kinds[id].severity != APITRACE_NOTE || c->notes;
}

static struct json_object *calls_check_json(enum apitrace_finding_id id, uint64_t offset)
{
	const struct apitrace_finding_kind *kind = &apitrace_finding_kinds[id];

	return JSON_OBJECT(JSON("offset", offset),
			   JSON("severity", apitrace_severity_text(kind->severity)),
			   JSON("id", kind->id), JSON("what", kind->text));
}

void calls_check_found(void *userdata, enum apitrace_finding_id id, uint64_t offset)
{
	const struct apitrace_finding_kind *kind = &apitrace_finding_kinds[id];
	struct calls_check *c = userdata;

	if (c->kinds[id].n++ == 0)
		c->kinds[id].first = offset;
	if (!c->all || !calls_check_is_shown(c, id))
		return;
	if (c->json)
		json_print_line(calls_check_json(id, offset));
	else
		printf("byte %" PRIu64 ": %s %s: %s\n", offset,
		       apitrace_severity_text(kind->severity), kind->id, kind->text);
}

static uint64_t calls_check_count(const struct calls_check *c, enum apitrace_severity severity)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < APITRACE_FINDING_MAX; i++)
		if (apitrace_finding_kinds[i].severity == severity)
			n += c->kinds[i].n;
	return n;
}

static struct json_object *calls_check_kind_json(const struct calls_check *c, unsigned id)
{
	if (c->kinds[id].n == 0 || !calls_check_is_shown(c, id))
		return NULL;
	return JSON_ADD(calls_check_json(id, c->kinds[id].first), JSON("count", c->kinds[id].n));
}

static void calls_check_print_json(const struct calls_check *c, uint64_t calls)
{
	const char *packed = open_trace_packed(c->trace);
	struct json_object *o = JSON_OBJECT(
		JSON("format", "apitrace"), JSON("compression", *packed ? packed : "none"),
		JSON("version", apitrace_reader_header(c->trace->calls)->version),
		JSON("bytes", apitrace_reader_offset(c->trace->calls)), JSON("calls", calls),
		JSON("errors", calls_check_count(c, APITRACE_ERROR)),
		JSON("warnings", calls_check_count(c, APITRACE_WARNING)),
		JSON("notes", calls_check_count(c, APITRACE_NOTE)),
		JSON("kinds", JSON_LIST(k, c->kinds, APITRACE_FINDING_MAX,
					calls_check_kind_json(c, (unsigned)(k - c->kinds)))));

	if (c->all)
		json_print_line(o);
	else
		json_print_pretty(o);
}

static void calls_check_print_kind(const struct calls_check *c, unsigned id)
{
	static const enum colour colours[] = {
		[APITRACE_ERROR] = COLOUR_BAD,
		[APITRACE_WARNING] = COLOUR_WARNING,
		[APITRACE_NOTE] = COLOUR_OFF,
	};
	const struct apitrace_finding_kind *kind = &apitrace_finding_kinds[id];

	if (c->kinds[id].n == 0 || !calls_check_is_shown(c, id) || c->all)
		return;
	printf("%s%s%s %s: %s", colour(colours[kind->severity]),
	       apitrace_severity_text(kind->severity), colour(COLOUR_OFF), kind->id, kind->text);
	if (c->kinds[id].n > 1)
		printf(", %" PRIu64 " times", c->kinds[id].n);
	printf("\n    at byte %" PRIu64 "\n", c->kinds[id].first);
}

static void calls_check_print(const struct calls_check *c, uint64_t calls)
{
	const char *packed = open_trace_packed(c->trace);

	for (unsigned i = 0; i < APITRACE_FINDING_MAX; i++)
		calls_check_print_kind(c, i);
	printf("%s: call trace (apitrace) of version %" PRIu64 ", %s, %s, %" PRIu64
	       " call%s, %" PRIu64 " errors, %" PRIu64 " warnings\n",
	       c->trace->name, apitrace_reader_header(c->trace->calls)->version,
	       *packed ? packed : "not packed", TEXT_SIZE(apitrace_reader_offset(c->trace->calls)),
	       calls, text_s(calls), calls_check_count(c, APITRACE_ERROR),
	       calls_check_count(c, APITRACE_WARNING));
}

struct json_object *calls_check_explanation(const struct apitrace_finding_kind *kind)
{
	return JSON_OBJECT(JSON("id", kind->id),
			   JSON("severity", apitrace_severity_text(kind->severity)),
			   JSON("what", kind->text), JSON("explanation", kind->explain));
}

void calls_check_list(bool json)
{
	for (unsigned i = 0; i < APITRACE_FINDING_MAX; i++) {
		const struct apitrace_finding_kind *kind = &apitrace_finding_kinds[i];

		if (json)
			json_print_line(calls_check_explanation(kind));
		else
			printf("%-22s %-8s %s\n", kind->id, apitrace_severity_text(kind->severity),
			       kind->text);
	}
}

const struct apitrace_finding_kind *calls_check_kind(const char *id)
{
	int i = apitrace_finding_by_id(id);

	return i < 0 ? NULL : &apitrace_finding_kinds[i];
}

int calls_check(struct calls_check *c)
{
	const struct apitrace_call *call;
	uint64_t calls = 0;
	int r;

	while ((r = open_trace_next_call(c->trace, &call)) > 0)
		calls++;
	if (c->trace->n_damages > 0)
		calls_check_found(
			c, c->trace->container_damaged ? APITRACE_CONTAINER : APITRACE_DAMAGED,
			apitrace_reader_offset(c->trace->calls));
	if (c->json)
		calls_check_print_json(c, calls);
	else
		calls_check_print(c, calls);
	if (r < 0)
		return CLI_FAILED;
	if (calls_check_count(c, APITRACE_ERROR) > 0)
		return CLI_DAMAGE;
	return c->strict && calls_check_count(c, APITRACE_WARNING) > 0 ? CLI_DAMAGE : CLI_OK;
}
