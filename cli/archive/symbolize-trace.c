/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/archive/symbolize-trace.h"

#include "cli/common/verb.h"

struct symbolize_work {
	struct edit_symbolize *symbolize;
	struct open_trace *in;
};

void symbolize_trace_deinit(struct symbolize_trace *s)
{
	resolver_deinit(&s->resolver);
	s->symbols = symbols_free(s->symbols);
}

int symbolize_trace_open(struct symbolize_trace *s, const struct symbol_options *options)
{
	int r = symbol_options_open(options, &s->symbols);

	if (r == CLI_OK)
		resolver_init(&s->resolver, s->symbols, options);
	return r;
}

static int symbolize_on_event(void *userdata, const struct event *ev)
{
	return resolver_add(userdata, ev);
}

static int symbolize_on_record(void *userdata, const struct fxt_record *record)
{
	const struct symbolize_work *work = userdata;
	const char *what;
	int r = edit_symbolize_record(work->symbolize, record, &what);

	if (what)
		open_trace_damage(work->in, record->offset, what);
	return r;
}

int symbolize_trace(struct symbolize_trace *s, struct open_trace *in, struct edit_trace *out,
		    bool no_packets)
{
	_cleanup_(edit_symbolize_freep) struct edit_symbolize *symbolize = NULL;
	const struct profile_names names = { .find = resolver_find, .userdata = &s->resolver };
	const struct edit_symbolize_options options = {
		.names = &names,
		.no_packets = no_packets,
		.event = symbolize_on_event,
		.userdata = &s->resolver,
	};
	int e = edit_symbolize_new(&symbolize, &out->output, &options), r;

	if (e < 0)
		return edit_trace_failed(out, e);
	r = edit_trace_process_all(out, in, symbolize_on_record,
				   &(struct symbolize_work){ symbolize, in });
	if (r != CLI_OK)
		return r;
	e = edit_symbolize_finish(symbolize);
	if (e < 0)
		return edit_trace_failed(out, e);
	edit_symbolize_get_counts(symbolize, &s->counts);
	return edit_trace_finish(out);
}
