/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/read-events.h"

#include <string.h>
#include <errno.h>
#include <inttypes.h>

#include "base/text.h"
#include "cli/common/verb.h"
#include "reader/fxt/fxt-events.h"
#include "model/maps.h"

int read_events(struct open_trace *t, read_events_fn fn, void *userdata)
{
	_cleanup_(fxt_events_freep) struct fxt_events *events = NULL;
	const struct fxt_record *record;
	struct event ev;
	int r = fxt_events_new(&events);

	while (r >= 0 && (r = open_trace_next(t, &record)) > 0) {
		const char *what;

		r = fxt_events_get(events, record, &ev, &what);
		if (r == FXT_EVENTS_DAMAGE)
			open_trace_damage(t, record->offset, what);
		else if (r == FXT_EVENTS_EVENT) {
			nothing_there_note(&t->parts, &ev);
			r = fn(userdata, &ev);
		}
		if (r == -ENOMEM)
			open_trace_failed(t, r);
	}
	return r < 0 ? CLI_FAILED : CLI_OK;
}

int read_events_finish(struct open_trace *t, const struct summary *s)
{
	int r = open_trace_finish(t);

	for (size_t i = 0; i < s->n_lost; i++)
		if (s->lost[i].count != 0)
			cli_error("%s: %" PRIu64
				  " event%s of class '%s' %s lost while it was recorded; "
				  "a larger buffer (-b) loses less",
				  t->name, s->lost[i].count, text_s(s->lost[i].count),
				  s->lost[i].class_name, text_was(s->lost[i].count));
	return summary_lost(s) != 0 ? CLI_DAMAGE : r;
}

int read_events_unmapped(const struct open_trace *t, uint64_t n, int status)
{
	if (n == 0)
		return status;
	cli_error("%s: %" PRIu64
		  " of its mappings %s ignored (at most %d are kept), so some names are missing or "
		  "wrong; make a smaller archive with 'kymo cut'",
		  t->name, n, text_was(n), MAPS_MAX);
	return status == CLI_OK ? CLI_DAMAGE : status;
}
