/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/tfile/tfile-check.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "cli/common/verb.h"

_Static_assert(TFILE_FINDING_MAX <= FINDING_COUNTS_MAX, "each kind is counted");

void tfile_check_found(void *userdata, enum tfile_finding_id id, uint64_t offset)
{
	finding_counts_add(userdata, id, offset);
}

static void tfile_check_print_json(const struct finding_counts *c, const struct open_trace *t,
				   uint64_t frames)
{
	const char *packed = open_trace_packed(t);

	finding_counts_print_json(c, JSON_OBJECT(JSON("format", "tfile"),
						 JSON("compression", *packed ? packed : "none"),
						 JSON("bytes", tfile_reader_offset(t->frames)),
						 JSON("frames", frames)));
}

static void tfile_check_print(const struct finding_counts *c, const struct open_trace *t,
			      uint64_t frames)
{
	uint64_t errors = finding_counts_of(c, FINDING_ERROR);
	uint64_t warnings = finding_counts_of(c, FINDING_WARNING);
	const char *packed = open_trace_packed(t);

	finding_counts_print(c);
	printf("%s: trace file (GDB), %s, %s, %" PRIu64 " frame%s, %" PRIu64 " error%s, %" PRIu64
	       " warning%s\n",
	       t->name, *packed ? packed : "not packed", TEXT_SIZE(tfile_reader_offset(t->frames)),
	       frames, text_s(frames), errors, text_s(errors), warnings, text_s(warnings));
}

int tfile_check(struct finding_counts *c, struct open_trace *t)
{
	const struct tfile_frame *frame;
	uint64_t frames = 0;
	int r;

	while ((r = open_trace_next_frame(t, &frame)) > 0)
		frames++;
	if (t->n_damages > 0)
		tfile_check_found(
			c, t->container_damaged ? TFILE_FINDING_CONTAINER : TFILE_FINDING_DAMAGED,
			tfile_reader_offset(t->frames));
	if (c->json)
		tfile_check_print_json(c, t, frames);
	else
		tfile_check_print(c, t, frames);
	return r < 0 ? CLI_FAILED : finding_counts_exit(c);
}
