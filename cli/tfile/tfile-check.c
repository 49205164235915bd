/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/tfile/tfile-check.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "cli/common/colour.h"
#include "cli/common/json.h"
#include "cli/common/verb.h"

static bool tfile_check_is_shown(const struct tfile_check *c, enum tfile_finding_id id)
{
	return tfile_finding_kinds[id].severity != TFILE_NOTE || c->notes;
}

static struct json_object *tfile_check_json(enum tfile_finding_id id, uint64_t offset)
{
	const struct tfile_finding_kind *kind = &tfile_finding_kinds[id];

	return JSON_OBJECT(JSON("offset", offset),
			   JSON("severity", tfile_finding_severity(kind->severity)),
			   JSON("id", kind->id), JSON("what", kind->text));
}

void tfile_check_found(void *userdata, enum tfile_finding_id id, uint64_t offset)
{
	const struct tfile_finding_kind *kind = &tfile_finding_kinds[id];
	struct tfile_check *c = userdata;

	if (c->kinds[id].n++ == 0)
		c->kinds[id].first = offset;
	if (!c->all || !tfile_check_is_shown(c, id))
		return;
	if (c->json)
		json_print_line(tfile_check_json(id, offset));
	else
		printf("byte %" PRIu64 ": %s %s: %s\n", offset,
		       tfile_finding_severity(kind->severity), kind->id, kind->text);
}

static uint64_t tfile_check_count(const struct tfile_check *c, enum tfile_severity severity)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < TFILE_FINDING_MAX; i++)
		if (tfile_finding_kinds[i].severity == severity)
			n += c->kinds[i].n;
	return n;
}

static struct json_object *tfile_check_kind_json(const struct tfile_check *c, unsigned id)
{
	if (c->kinds[id].n == 0 || !tfile_check_is_shown(c, id))
		return NULL;
	return JSON_ADD(tfile_check_json(id, c->kinds[id].first), JSON("count", c->kinds[id].n));
}

static void tfile_check_print_json(const struct tfile_check *c, uint64_t frames)
{
	const char *packed = open_trace_packed(c->trace);
	struct json_object *o = JSON_OBJECT(
		JSON("format", "tfile"), JSON("compression", *packed ? packed : "none"),
		JSON("bytes", tfile_reader_offset(c->trace->frames)), JSON("frames", frames),
		JSON("errors", tfile_check_count(c, TFILE_ERROR)),
		JSON("warnings", tfile_check_count(c, TFILE_WARNING)),
		JSON("notes", tfile_check_count(c, TFILE_NOTE)),
		JSON("kinds", JSON_LIST(k, c->kinds, TFILE_FINDING_MAX,
					tfile_check_kind_json(c, (unsigned)(k - c->kinds)))));

	if (c->all)
		json_print_line(o);
	else
		json_print_pretty(o);
}

static void tfile_check_print_kind(const struct tfile_check *c, unsigned id)
{
	static const enum colour colours[] = {
		[TFILE_ERROR] = COLOUR_BAD,
		[TFILE_WARNING] = COLOUR_WARNING,
		[TFILE_NOTE] = COLOUR_OFF,
	};
	const struct tfile_finding_kind *kind = &tfile_finding_kinds[id];

	if (c->kinds[id].n == 0 || !tfile_check_is_shown(c, id) || c->all)
		return;
	printf("%s%s%s %s: %s", colour(colours[kind->severity]),
	       tfile_finding_severity(kind->severity), colour(COLOUR_OFF), kind->id, kind->text);
	if (c->kinds[id].n > 1)
		printf(", %" PRIu64 " times", c->kinds[id].n);
	printf("\n    at byte %" PRIu64 "\n", c->kinds[id].first);
}

static void tfile_check_print(const struct tfile_check *c, uint64_t frames)
{
	const char *packed = open_trace_packed(c->trace);
	uint64_t errors = tfile_check_count(c, TFILE_ERROR);
	uint64_t warnings = tfile_check_count(c, TFILE_WARNING);

	for (unsigned i = 0; i < TFILE_FINDING_MAX; i++)
		tfile_check_print_kind(c, i);
	printf("%s: trace file (GDB), %s, %s, %" PRIu64 " frame%s, %" PRIu64 " error%s, %" PRIu64
	       " warning%s\n",
	       c->trace->name, *packed ? packed : "not packed",
	       TEXT_SIZE(tfile_reader_offset(c->trace->frames)), frames, text_s(frames), errors,
	       text_s(errors), warnings, text_s(warnings));
}

struct json_object *tfile_check_explanation(const struct tfile_finding_kind *kind)
{
	return JSON_OBJECT(JSON("id", kind->id),
			   JSON("severity", tfile_finding_severity(kind->severity)),
			   JSON("what", kind->text), JSON("explanation", kind->explain));
}

void tfile_check_list(bool json)
{
	for (unsigned i = 0; i < TFILE_FINDING_MAX; i++) {
		const struct tfile_finding_kind *kind = &tfile_finding_kinds[i];

		if (json)
			json_print_line(tfile_check_explanation(kind));
		else
			printf("%-22s %-8s %s\n", kind->id, tfile_finding_severity(kind->severity),
			       kind->text);
	}
}

const struct tfile_finding_kind *tfile_check_kind(const char *id)
{
	int i = tfile_finding_by_id(id);

	return i < 0 ? NULL : &tfile_finding_kinds[i];
}

int tfile_check(struct tfile_check *c)
{
	const struct tfile_frame *frame;
	uint64_t frames = 0;
	int r;

	while ((r = open_trace_next_frame(c->trace, &frame)) > 0)
		frames++;
	if (c->trace->n_damages > 0)
		tfile_check_found(c,
				  c->trace->container_damaged ? TFILE_FINDING_CONTAINER
							      : TFILE_FINDING_DAMAGED,
				  tfile_reader_offset(c->trace->frames));
	if (c->json)
		tfile_check_print_json(c, frames);
	else
		tfile_check_print(c, frames);
	if (r < 0)
		return CLI_FAILED;
	if (tfile_check_count(c, TFILE_ERROR) > 0)
		return CLI_DAMAGE;
	return c->strict && tfile_check_count(c, TFILE_WARNING) > 0 ? CLI_DAMAGE : CLI_OK;
}
