/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/rtrace/rtrace-output.h"

#include "reader/rtrace/rtrace-parse.h"

int rtrace_output_other(struct rtrace_output *o, const struct rtrace_record *record)
{
	if (record->kind == RTRACE_MAP) {
		o->n_maps++;
		if (o->options->resolve) {
			int r = o->io->map(o->io->userdata, &record->map);

			if (r < 0)
				return r;
		}
	}
	return o->io->emit(o->io->userdata, record);
}

int rtrace_output_header(struct rtrace_output *o, const struct rtrace_record *record)
{
	const struct rtrace_postprocess_options *options = o->options;
	struct rtrace_record made = { .kind = RTRACE_HEADER, .header = record->header };
	struct rtrace_header *h = &made.header;

	h->filters &= RTRACE_FILTER_LEAKS | RTRACE_FILTER_RESOLVE;
	h->filters |= (options->leaks ? RTRACE_FILTER_LEAKS : 0) |
		      (options->compress ? RTRACE_FILTER_COMPRESS : 0) |
		      (options->resolve ? RTRACE_FILTER_RESOLVE : 0);
	if (options->has_depth && (!h->has_depth || h->depth > options->depth)) {
		h->has_depth = true;
		h->depth = options->depth;
	}
	return o->io->emit(o->io->userdata, &made);
}

int rtrace_output_call(struct rtrace_output *o, const struct rtrace_record *record)
{
	struct rtrace_output_sum *sum = &o->sums[record->resource_number + 1];

	o->shown++;
	o->n_frames = 0;
	o->type = record->resource_number;
	o->clamped = !record->call.is_free && record->call.size == RTRACE_INT_MAX;
	if (!record->call.is_free) {
		sum->count++;
		sum->size += record->call.size;
	}
	return o->io->emit(o->io->userdata, record);
}

int rtrace_output_arg(struct rtrace_output *o, const struct rtrace_record *record)
{
	uint64_t size;

	if (o->clamped && rtrace_text_is(record->arg.name, RTRACE_ARG_SIZE) &&
	    rtrace_parse_decimal(record->arg.value, &size) && size > RTRACE_INT_MAX) {
		o->sums[o->type + 1].size += size - RTRACE_INT_MAX;
		o->clamped = false;
	}
	return o->io->emit(o->io->userdata, record);
}

/*
 * Returns true if a frame has a name in the report. Names in the report are not replaced, since the
 * mapped files may have changed since the recording.
 */
static bool rtrace_output_is_named(struct rtrace_text text)
{
	return text.n > 0 && !rtrace_text_is(text, RTRACE_FRAME_UNKNOWN);
}

int rtrace_output_frame(struct rtrace_output *o, const struct rtrace_record *record,
			uint64_t n_maps)
{
	struct rtrace_record named = { .kind = RTRACE_FRAME, .frame = record->frame };
	int r;

	if (o->options->has_depth && o->n_frames >= o->options->depth)
		return 0;
	o->n_frames++;
	if (o->options->resolve && !rtrace_output_is_named(record->frame.text)) {
		r = o->io->name(o->io->userdata, record->frame.address, n_maps, &named.frame.text);
		if (r < 0)
			return r;
		if (named.frame.text.n > 0)
			record = &named;
	}
	r = o->io->emit(o->io->userdata, record);
	return r < 0 ? r : 1;
}

int rtrace_output_end(struct rtrace_output *o, const struct rtrace_record *record)
{
	static const struct rtrace_record end = { .kind = RTRACE_END };

	o->n_frames = 0;
	return o->io->emit(o->io->userdata, record ? record : &end);
}

static int rtrace_output_leaks_of(struct rtrace_output *o, int type, struct rtrace_text name,
				  struct rtrace_text description)
{
	const struct rtrace_record record = {
		.kind = RTRACE_LEAKS_SUMMARY,
		.summary = {
			.type = name,
			.description = description,
			.count = o->sums[type + 1].count,
			.size = o->sums[type + 1].size,
		},
	};

	return o->io->emit(o->io->userdata, &record);
}

int rtrace_output_leaks(struct rtrace_output *o, const struct rtrace_type *types, size_t n)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++)
		r = rtrace_output_leaks_of(o, (int)i, rtrace_text(types[i].type),
					   rtrace_text(types[i].description));
	if (r == 0 && o->sums[0].count > 0)
		r = rtrace_output_leaks_of(o, -1, RTRACE_TEXT("unknown"),
					   RTRACE_TEXT("of no registered resource"));
	return r;
}
