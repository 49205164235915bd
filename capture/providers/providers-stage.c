/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/providers/providers-stage.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "capture/options/options.h"
#include "capture/programs/collector.h"

/* Programs write to their buffers with 64 KiB at once at most, so that other CPUs have blocks. */
enum { BLOCKS_PER_CPU = 8, FIRST_PROVIDER = 16 };

/* Ids of programs. Readers have room for 256 providers, so ids of ended programs are used again. */
enum { PROVIDER_IDS = PROVIDER_LINKS_MAX + 64 };

#define BUFFERS_BYTES_MAX (UINT64_C(1) << 30)
#define ROUND_EXTRA_BYTES (UINT64_C(16) << 20)
#define TICKS_INTERVAL_NS UINT64_C(10000000)

/*
 * How often the filter is asked about a program that it did not select, and whether there is room
 * for a program that was refused. For a program that could not start, the interval is doubled at
 * each failure, up to DOUBLINGS_MAX times.
 */
#define ASK_INTERVAL_NS UINT64_C(1000000000)
enum { DOUBLINGS_MAX = 6 };

void providers_stage_init(struct providers_stage *s, const struct pipeline *pipe)
{
	*s = (struct providers_stage){ .context = { .pipe = pipe },
				       .last_provider = FIRST_PROVIDER - 1 };
}

void providers_stage_set_links(struct providers_stage *s, struct provider_links *links)
{
	s->links = links;
}

/* The memory is that of the sched rings: a ring for each CPU, in blocks. */
static struct provider_buffer_options providers_stage_buffer(const struct session_options *o,
							     unsigned n_cpus)
{
	struct provider_buffer_options ret = { .mode = PROVIDER_STREAMING,
					       .block_bytes = PROVIDER_BLOCK_MIN };
	uint64_t n_blocks;

	while (ret.block_bytes < PROVIDER_BLOCK_MAX &&
	       ret.block_bytes * BLOCKS_PER_CPU * 2 <= o->ring_bytes)
		ret.block_bytes *= 2;
	n_blocks = o->ring_bytes / ret.block_bytes * n_cpus;
	ret.n_blocks = n_blocks < PROVIDER_BLOCKS_MAX ? (uint32_t)n_blocks : PROVIDER_BLOCKS_MAX;
	return ret;
}

static int providers_stage_begin(void *stage, const struct session_options *o)
{
	struct providers_stage *s = stage;

	if (!s->links)
		return 0;
	s->patterns = strdup(o->app ?: "*");
	if (!s->patterns)
		return -ENOMEM;
	s->context.patterns = s->patterns;
	s->context.all_categories = !o->app;
	s->context.clock = provider_ticks_clock();
	provider_ticks_read(&s->context.ticks);
	s->buffer = providers_stage_buffer(o, s->context.pipe->n_cpus);
	s->begun = true;
	return 0;
}

/* ---- sessions of programs ---- */

static int providers_stage_keep_selected(const struct rec_head *rec, void *userdata)
{
	const struct rec_task *task = (const struct rec_task *)rec;
	struct rec_task *selected = userdata;

	if (task->task.tid == task->task.pid && task->task.flags & IDENTITY_SELECTED)
		*selected = *task;
	return 0;
}

/*
 * Asks the eBPF programs whether they select the main thread of the process now. A process of an
 * own session cannot come into the hands of another user later without an exec, which ends its
 * session.
 */
static bool providers_stage_selects(const struct providers_stage *s, struct provider_program *p)
{
	const struct pipeline *pipe = s->context.pipe;
	struct rec_task selected = { 0 };

	if (!pipe->filtered)
		return true;
	return collector_list_process(pipe->collector, p->link->pid, providers_stage_keep_selected,
				      &selected) == 0 &&
	       selected.task.pid == p->link->pid;
}

static bool providers_stage_has_id(const struct providers_stage *s, uint32_t id)
{
	const struct provider_link *link;

	for (size_t pos = 0; (link = provider_links_next(s->links, &pos));) {
		const struct provider_program *p = link->userdata;

		if (p && p->id == id)
			return true;
	}
	return false;
}

/* Whether it is time to ask for a session of P, which has none. */
static bool providers_stage_is_due(struct provider_program *p)
{
	uint64_t now_ns = clock_boot_ns();

	if (p->asked_ns && now_ns < p->asked_ns + (ASK_INTERVAL_NS << p->n_failures))
		return false;
	p->asked_ns = now_ns;
	return true;
}

static void providers_stage_refuse(struct providers_stage *s, struct provider_program *p)
{
	s->n_refused += !p->is_refused;
	p->is_refused = true;
}

/* Makes the program of LINK, at its first packet. */
static int providers_stage_meet(struct providers_stage *s, struct provider_link *link)
{
	struct provider_program *p;
	int r;

	do
		s->last_provider =
			FIRST_PROVIDER + (s->last_provider + 1 - FIRST_PROVIDER) % PROVIDER_IDS;
	while (providers_stage_has_id(s, s->last_provider));
	r = provider_program_new(&p, &s->context, link, s->last_provider);
	if (r < 0)
		return r;
	link->userdata = p;
	return 0;
}

/*
 * Returns whether LINK can have a buffer of BYTES. A user other than root has at most half of the
 * room, or one buffer.
 */
static bool providers_stage_has_room(const struct providers_stage *s,
				     const struct provider_link *link, uint64_t bytes)
{
	const struct provider_link *other;
	uint64_t sum = 0;

	for (size_t pos = 0; (other = provider_links_next(s->links, &pos));) {
		const struct provider_program *p = other->userdata;

		if (p && p->buffer && other->uid == link->uid)
			sum += p->buffer_bytes;
	}
	return s->buffers_bytes + bytes <= BUFFERS_BYTES_MAX &&
	       (link->uid == 0 || sum == 0 || sum + bytes <= BUFFERS_BYTES_MAX / 2);
}

static int providers_stage_ask(struct providers_stage *s, struct provider_program *p)
{
	struct provider_message start = { .kind = PROVIDER_START,
					  .version = PROVIDER_WIRE_VERSION,
					  .session = clock_boot_ns(),
					  .mode = s->buffer.mode,
					  .clock = s->context.clock,
					  .n_blocks = s->buffer.n_blocks,
					  .block_bytes = s->buffer.block_bytes,
					  .text_bytes = (uint32_t)strlen(s->patterns) };
	uint64_t bytes = (uint64_t)s->buffer.n_blocks * s->buffer.block_bytes;
	int r;

	if (!providers_stage_has_room(s, p->link, bytes))
		return -ENOBUFS;
	r = provider_program_begin(p, &s->buffer);
	if (r < 0)
		return r;
	s->buffers_bytes += bytes;
	/* Numbers differ also from those of earlier recorders, whose sessions can end late. */
	if (start.session <= s->last_session)
		start.session = s->last_session + 1;
	s->last_session = start.session;
	memcpy(start.text, s->patterns, start.text_bytes);
	provider_links_start(s->links, p->link, &start, provider_buffer_data_fd(p->buffer),
			     provider_buffer_control_fd(p->buffer));
	return 0;
}

/* Starts the session of a program that has none, if the filter selects it. */
static int providers_stage_start(struct providers_stage *s, struct provider_link *link)
{
	struct provider_program *p = link->userdata;
	int r;

	if (link->is_gone || link->state == PROVIDER_LINK_NEW)
		return 0;
	if (!p) {
		r = providers_stage_meet(s, link);
		if (r < 0)
			return r;
		p = link->userdata;
	}
	if (p->buffer || !providers_stage_is_due(p) || !providers_stage_selects(s, p))
		return 0;
	r = providers_stage_ask(s, p);
	if (r == -ENOBUFS || r == -EMFILE || r == -ENFILE) {
		providers_stage_refuse(s, p);
		r = 0;
	}
	return r;
}

/* Returns the next link of this round; *POS counts the places. */
static struct provider_link *providers_stage_next(const struct providers_stage *s, size_t *pos)
{
	return provider_links_next_from(s->links, s->first, pos);
}

static int providers_stage_start_all(struct providers_stage *s)
{
	struct provider_link *link;
	int r = 0;

	/* (between a pause and its end, and after the end, there is nothing to record) */
	if (s->context.pipe->to_ns != UINT64_MAX || !s->context.pipe->collector)
		return 0;
	for (size_t pos = 0; r == 0 && (link = providers_stage_next(s, &pos));)
		r = providers_stage_start(s, link);
	return r;
}

void providers_stage_serve(struct providers_stage *s)
{
	provider_links_poll(s->links);
	if (s->begun && s->error == 0)
		s->error = providers_stage_start_all(s);
}

/* ---- rounds ---- */

/*
 * Lets the round begin behind the program that could take most of the last one, or else behind the
 * program that was first.
 */
static void providers_stage_turn(struct providers_stage *s)
{
	size_t pos = s->taker ?: s->first + 1;

	s->taker = 0;
	if (!provider_links_next(s->links, &pos)) {
		pos = 0;
		if (!provider_links_next(s->links, &pos))
			pos = 1;
	}
	s->first = pos - 1;
}

/* Begins a round with another horizon. */
static void providers_stage_set_horizon(struct providers_stage *s, uint64_t horizon_ns)
{
	const struct provider_ticks *t = &s->context.ticks;
	struct provider_link *link;
	uint64_t now_ns = clock_boot_ns();

	s->context.horizon_ns = horizon_ns;
	s->context.extra_left = ROUND_EXTRA_BYTES;
	/* (a horizon in the future includes everything) */
	s->context.is_final = horizon_ns > now_ns;
	if (t->n == 0 || now_ns > t->readings[t->n - 1].boot_ns + TICKS_INTERVAL_NS)
		provider_ticks_read(&s->context.ticks);
	for (size_t pos = 0; (link = provider_links_next(s->links, &pos));) {
		struct provider_program *p = link->userdata;

		if (!p)
			continue;
		p->is_read = false;
		p->passed_bytes = 0;
		provider_threads_renew(&p->threads);
		provider_program_look(p);
	}
}

/* Reads a program, and forgets it when it has ended and everything was read. */
static int providers_stage_read(struct providers_stage *s, struct provider_link *link)
{
	struct provider_program *p = link->userdata;
	uint64_t bytes = p && p->buffer ? p->buffer_bytes : 0, n_written;
	int r = 0;

	if (p) {
		n_written = provider_records_counts(p->records)->written;
		r = provider_program_read(p);
		s->n_events += provider_records_counts(p->records)->written - n_written;
		if (r != 0 || (p->buffer && link->error == 0))
			return r;
	}
	if (p && p->buffer) {
		/* The program could not start. */
		providers_stage_refuse(s, p);
		p->n_failures += p->n_failures < DOUBLINGS_MAX;
		provider_program_end(p);
	}
	s->buffers_bytes -= bytes;
	if (s->context.is_final && bytes)
		provider_links_stop(s->links, link);
	/* (the new program of the process connects anew) */
	if (p && bytes && provider_program_has_executed(p))
		provider_links_drop(s->links, link);
	if (link->is_gone) {
		link->userdata = provider_program_free(p);
		provider_links_forget(s->links, link);
	}
	return 0;
}

static int providers_stage_advance(void *stage, uint64_t horizon_ns)
{
	struct providers_stage *s = stage;
	struct fxt_archive *a = s->context.pipe->archive;
	struct provider_link *link;
	uint64_t extra;
	int r = s->error, left = 0;

	if (!s->links || r < 0)
		return r;
	if (horizon_ns != s->context.horizon_ns) {
		provider_links_renew(s->links);
		provider_links_poll(s->links);
		providers_stage_turn(s);
		r = providers_stage_start_all(s);
		providers_stage_set_horizon(s, horizon_ns);
	}
	for (size_t pos = 0; r == 0 && (link = providers_stage_next(s, &pos));) {
		extra = s->context.extra_left;
		r = providers_stage_read(s, link);
		if (s->taker == 0 && s->context.extra_left < extra)
			s->taker = (s->first + pos - 1) % PROVIDER_LINKS_MAX + 1;
	}
	if (r >= 0 && a->writer.provider != &a->provider)
		left = fxt_write_section(&a->writer, &a->provider);
	return left < 0 ? left : r;
}

/* After a pause, programs get new sessions, in the next round. */
static int providers_stage_resume(void *stage)
{
	struct providers_stage *s = stage;
	struct provider_link *link;

	s->context.horizon_ns = 0;
	for (size_t pos = 0; s->links && (link = provider_links_next(s->links, &pos));)
		if (link->userdata)
			((struct provider_program *)link->userdata)->asked_ns = 0;
	return 0;
}

/* ---- other operations ---- */

static int providers_stage_fork(struct provider_program *p, const struct rec_identity *child)
{
	if (p->link->pid != child->pid)
		return 0;
	return provider_threads_begun(&p->threads, child->tid, p->context->pipe->tasks);
}

static int providers_stage_record(void *stage, const struct rec_head *rec)
{
	struct providers_stage *s = stage;
	struct provider_link *link;
	int r = 0;

	/* (a process can connect before its fork is read, and end before its first event is) */
	if (!s->links)
		return 0;
	for (size_t pos = 0; r == 0 && (link = provider_links_next(s->links, &pos));) {
		if (!link->userdata)
			continue;
		if (rec->kind == REC_FORK)
			r = providers_stage_fork(link->userdata,
						 &((const struct rec_fork *)rec)->child);
		else if (link->pid == ((const struct rec_exec *)rec)->task.pid)
			provider_program_executed(link->userdata, rec->ts_ns);
	}
	return r;
}

static void providers_stage_next_chunk(void *stage, uint64_t at_ns)
{
	struct providers_stage *s = stage;
	struct provider_link *link;

	(void)at_ns;
	for (size_t pos = 0; s->links && (link = provider_links_next(s->links, &pos));) {
		struct provider_program *p = link->userdata;

		if (p && s->error == 0)
			s->error = provider_records_forget(p->records);
	}
}

static int providers_stage_head(const void *stage, const struct stage_head *h)
{
	const struct providers_stage *s = stage;
	struct provider_link *link;
	int r = 0;

	for (size_t pos = 0; r == 0 && s->links && (link = provider_links_next(s->links, &pos));) {
		const struct provider_program *p = link->userdata;

		if (p)
			r = provider_records_head(p->records, &h->to->writer);
	}
	return r;
}

static void providers_stage_deinit(void *stage)
{
	struct providers_stage *s = stage;
	struct provider_link *link;

	for (size_t pos = 0; s->links && (link = provider_links_next(s->links, &pos));)
		link->userdata = provider_program_free(link->userdata);
	s->links = provider_links_free(s->links);
	s->patterns = free_ptr(s->patterns);
}

/*
 * Accepts REC_FORK, from which it learns the threads of programs, and REC_EXEC, which ends their
 * sessions.
 */
const struct stage providers_stage = {
	.name = "providers",
	.handles = STAGE_HANDLES(REC_FORK) | STAGE_HANDLES(REC_EXEC),
	.record = providers_stage_record,
	.begin = providers_stage_begin,
	.advance = providers_stage_advance,
	.resume = providers_stage_resume,
	.next_chunk = providers_stage_next_chunk,
	.head = providers_stage_head,
	.deinit = providers_stage_deinit,
};
