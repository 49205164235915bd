/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/open/open-named.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/common/read-events.h"
#include "cli/archive/symbolize-trace.h"
#include "cli/common/temporary-file.h"
#include "cli/common/verb.h"
#include "reader/fxt/fxt-events.h"

bool open_named_has(struct open_trace *t, uint64_t kinds)
{
	_cleanup_(fxt_events_freep) struct fxt_events *events = NULL;
	const struct fxt_record *record;
	struct fxt_damage damage;
	struct event ev;
	const char *what;
	int r;

	if (fxt_events_new(&events) < 0)
		return false;
	while ((r = open_trace_step(t, &record, &damage)) > 0)
		if (r == FXT_READER_RECORD &&
		    fxt_events_get(events, record, &ev, &what) == FXT_EVENTS_EVENT &&
		    kinds >> ev.kind & 1)
			return true;
	return false;
}

static void open_named_open_report(const struct open_trace *t,
				   const struct edit_symbolize_counts *counts)
{
	if (counts->unnamed)
		fprintf(stderr,
			"%s: %" PRIu64 " of %" PRIu64 " addresses in call stacks have no names; "
			"'kymo symbolize' shows the reasons\n",
			t->name, counts->unnamed, counts->addresses);
}

/* Makes the copy. Returns CLI_OK with the copy in *RET_FD, or CLI_FAILED after an error message. */
static int open_named_open_copy(struct symbolize_trace *s, struct open_trace *t, int *ret_fd)
{
	_cleanup_(edit_trace_close) struct edit_trace out = EDIT_TRACE_NULL;
	_cleanup_close_ int fd = temporary_file_open();
	int r;

	if (fd < 0 || edit_trace_open_fd(&out, fd, "the temporary copy") != CLI_OK)
		return CLI_FAILED;
	r = symbolize_trace(s, t, &out, false);
	if (r == CLI_OK)
		*ret_fd = TAKE_FD(fd);
	return r;
}

int open_named(struct open_trace *t, const char *path, const struct symbol_options *options,
	       int *ret_fd)
{
	_cleanup_(symbolize_trace_deinit) struct symbolize_trace s = { 0 };
	_cleanup_close_ int fd = -1;
	bool has_stacks;
	int r;

	*ret_fd = -1;
	if (options->none)
		return CLI_OK;
	r = symbolize_trace_open(&s, options);
	if (r != CLI_OK)
		return r;
	/* (in most archives with stacks, one is near the beginning, so this search ends soon) */
	has_stacks = open_named_has(t, UINT64_C(1) << EVENT_SAMPLE | UINT64_C(1) << EVENT_OFFCPU);
	r = open_trace_again(t, path);
	if (r != CLI_OK || !has_stacks)
		return r;
	if (open_named_open_copy(&s, t, &fd) != CLI_OK) {
		cli_error("%s is shown without added names of functions; set TMPDIR to a "
			  "directory with room for a copy",
			  t->name);
		return CLI_OK;
	}
	open_named_open_report(t, &s.counts);
	if (s.counts.named > 0)
		*ret_fd = TAKE_FD(fd);
	return read_events_unmapped(t, s.counts.unmapped, open_trace_finish(t));
}
