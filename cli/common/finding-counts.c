/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/finding-counts.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/common/colour.h"
#include "cli/common/verb.h"

static bool finding_counts_is_shown(const struct finding_counts *c, unsigned id)
{
	return c->kinds[id].severity != FINDING_NOTE || c->notes;
}

static struct json_object *finding_counts_finding(const struct finding_kind *kind, uint64_t offset)
{
	return JSON_OBJECT(JSON("offset", offset),
			   JSON("severity", finding_severity_text(kind->severity)),
			   JSON("id", kind->id), JSON("what", kind->text));
}

void finding_counts_add(struct finding_counts *c, unsigned id, uint64_t offset)
{
	const struct finding_kind *kind = &c->kinds[id];

	if (c->counts[id].n++ == 0)
		c->counts[id].first = offset;
	if (!c->all || !finding_counts_is_shown(c, id))
		return;
	if (c->json)
		json_print_line(finding_counts_finding(kind, offset));
	else
		printf("byte %" PRIu64 ": %s %s: %s\n", offset,
		       finding_severity_text(kind->severity), kind->id, kind->text);
}

uint64_t finding_counts_of(const struct finding_counts *c, enum finding_severity severity)
{
	uint64_t n = 0;

	for (size_t i = 0; i < c->n_kinds; i++)
		if (c->kinds[i].severity == severity)
			n += c->counts[i].n;
	return n;
}

static struct json_object *finding_counts_kind(const struct finding_counts *c, unsigned id)
{
	if (c->counts[id].n == 0 || !finding_counts_is_shown(c, id))
		return NULL;
	return JSON_ADD(finding_counts_finding(&c->kinds[id], c->counts[id].first),
			JSON("count", c->counts[id].n));
}

void finding_counts_print_json(const struct finding_counts *c, struct json_object *o)
{
	JSON_ADD(o, JSON("errors", finding_counts_of(c, FINDING_ERROR)),
		 JSON("warnings", finding_counts_of(c, FINDING_WARNING)),
		 JSON("notes", finding_counts_of(c, FINDING_NOTE)),
		 JSON("kinds", JSON_LIST(k, c->kinds, c->n_kinds,
					 finding_counts_kind(c, (unsigned)(k - c->kinds)))));
	if (c->all)
		json_print_line(o);
	else
		json_print_pretty(o);
}

static void finding_counts_print_kind(const struct finding_counts *c, unsigned id)
{
	static const enum colour colours[] = {
		[FINDING_ERROR] = COLOUR_BAD,
		[FINDING_WARNING] = COLOUR_WARNING,
		[FINDING_NOTE] = COLOUR_OFF,
	};
	const struct finding_kind *kind = &c->kinds[id];

	if (c->counts[id].n == 0 || !finding_counts_is_shown(c, id) || c->all)
		return;
	printf("%s%s%s %s: %s", colour(colours[kind->severity]),
	       finding_severity_text(kind->severity), colour(COLOUR_OFF), kind->id, kind->text);
	if (c->counts[id].n > 1)
		printf(", %" PRIu64 " times", c->counts[id].n);
	printf("\n    at byte %" PRIu64 "\n", c->counts[id].first);
}

void finding_counts_print(const struct finding_counts *c)
{
	for (unsigned i = 0; i < c->n_kinds; i++)
		finding_counts_print_kind(c, i);
}

int finding_counts_exit(const struct finding_counts *c)
{
	if (finding_counts_of(c, FINDING_ERROR) > 0)
		return CLI_DAMAGE;
	return c->strict && finding_counts_of(c, FINDING_WARNING) > 0 ? CLI_DAMAGE : CLI_OK;
}

struct json_object *finding_counts_explanation(const struct finding_kind *kind)
{
	return JSON_OBJECT(JSON("id", kind->id),
			   JSON("severity", finding_severity_text(kind->severity)),
			   JSON("what", kind->text), JSON("explanation", kind->explain));
}

void finding_counts_list(const struct finding_kind *kinds, size_t n, bool json)
{
	for (size_t i = 0; i < n; i++) {
		if (json)
			json_print_line(finding_counts_explanation(&kinds[i]));
		else
			printf("%-22s %-8s %s\n", kinds[i].id,
			       finding_severity_text(kinds[i].severity), kinds[i].text);
	}
}
