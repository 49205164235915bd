/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/stages/news.h"

#include "capture/options/options.h"

/* Processes the data that was fetched, up to TS_NS. */
static int news_pass(struct news *n, uint64_t ts_ns)
{
	const struct pipeline_links *links = &n->pipe->links;
	const struct rec_head *rec;
	int r = 0;

	while (r == 0 && n->at < n->records.size) {
		rec = (const struct rec_head *)(n->records.data + n->at);
		if (rec->ts_ns > ts_ns)
			break;
		n->at += rec->size;
		r = links->pass_news(rec, links->userdata);
	}
	return r;
}

static int news_record(void *stage, const struct rec_head *rec)
{
	return news_pass(stage, rec->ts_ns);
}

/* Fetches and processes all data up to HORIZON_NS. */
static int news_advance(void *stage, uint64_t horizon_ns)
{
	struct news *n = stage;
	const struct pipeline_owner *owner = &n->pipe->owner;
	int r;

	if (!n->pipe->own && !(n->pipe->categories & CATEGORIES_MEMORY))
		return 0;
	for (;;) {
		r = pipeline_after(n->pipe, news_pass(n, horizon_ns));
		if (r != 0 || n->at < n->records.size)
			return r;
		outbuf_deinit(&n->records);
		n->at = 0;
		if (!owner->fetch_memory || !owner->fetch_memory(&n->records, owner->userdata))
			return 0;
	}
}

static void news_deinit(void *stage)
{
	struct news *n = stage;

	outbuf_deinit(&n->records);
}

const struct stage news_stage = {
	.name = "news",
	.handles = STAGE_TAKES_TASKS | STAGE_TAKES_HEAP,
	.record = news_record,
	.advance = news_advance,
	.deinit = news_deinit,
};
