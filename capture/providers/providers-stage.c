/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/providers/providers-stage.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "capture/options/options.h"
#include "capture/programs/collector.h"

/*
 * Unless blocks have the minimum size, the memory for one CPU has at least so many blocks: while
 * programs on one CPU fill a block, programs on other CPUs must find free ones.
 */
enum { BLOCKS_PER_CPU = 8, FIRST_PROVIDER = 16 };

#define ROUND_EXTRA_BYTES (UINT64_C(16) << 20)
#define TICKS_INTERVAL_NS UINT64_C(10000000)

/*
 * The interval between two checks whether the filter selects a program that it did not select
 * before, or whether there is room for a program that was refused. For a program that could not
 * start, the interval is doubled at each failure, up to DOUBLINGS_MAX times.
 */
#define ASK_INTERVAL_NS UINT64_C(1000000000)
enum { DOUBLINGS_MAX = 6, ASKS_PER_ROUND = 32 };

static void providers_stage_on_news(void *userdata);

void providers_stage_init(struct providers_stage *s, const struct pipeline *pipe)
{
	*s = (struct providers_stage){ .context = { .pipe = pipe } };
}

void providers_stage_set_links(struct providers_stage *s, struct provider_links *links,
			       const struct providers_owner *owner)
{
	s->context.links = links;
	s->owner = *owner;
	s->listener = (struct provider_listener){ providers_stage_on_news, s, NULL };
	provider_links_listen(links, &s->listener);
}

/* Returns the next program after *POS (at first 0), in the order of this round, or NULL. */
static struct provider_program *providers_stage_next(const struct providers_stage *s, size_t *pos)
{
	while (*pos < PROVIDERS_MAX) {
		struct provider_program *p = s->programs[(s->first + (*pos)++) % PROVIDERS_MAX];

		if (p)
			return p;
	}
	return NULL;
}

static void providers_stage_forget(struct providers_stage *s, struct provider_program *p)
{
	s->programs[p->id - FIRST_PROVIDER] = NULL;
	provider_program_free(p);
}

void providers_stage_leave(struct providers_stage *s)
{
	struct provider_program *p;

	if (!s->context.links)
		return;
	for (size_t pos = 0; (p = providers_stage_next(s, &pos));)
		providers_stage_forget(s, p);
	provider_links_ignore(s->context.links, &s->listener);
	s->context.links = NULL;
}

/* The buffer has as much memory as the sched rings: a ring for each CPU, divided into blocks. */
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

	if (!s->context.links)
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
 * Asks the eBPF programs whether they select the main thread of the process now. In a session for a
 * user's own processes, no later check is needed: only an exec can give a process to another user,
 * and an exec ends the session of the program.
 */
static bool providers_stage_selects(struct providers_stage *s, struct provider_program *p)
{
	const struct pipeline *pipe = s->context.pipe;
	struct rec_task selected = { 0 };

	if (!pipe->filtered)
		return true;
	return collector_list_process(pipe->collector, p->link->pid, providers_stage_keep_selected,
				      &selected) == 0 &&
	       selected.task.pid == p->link->pid;
}

static struct provider_program *providers_stage_find(const struct providers_stage *s,
						     uint64_t number)
{
	struct provider_program *p;

	for (size_t pos = 0; (p = providers_stage_next(s, &pos));)
		if (p->link->number == number)
			return p;
	return NULL;
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

/* Makes the program of LINK when its name is known; *RET is NULL if there is no room. */
static int providers_stage_meet(struct providers_stage *s, struct provider_link *link,
				struct provider_program **ret)
{
	int r;

	*ret = NULL;
	for (unsigned n = 0; n < PROVIDERS_MAX; n++) {
		struct provider_program **place = &s->programs[s->n_met++ % PROVIDERS_MAX];

		if (*place)
			continue;
		r = provider_program_new(place, &s->context, link,
					 FIRST_PROVIDER + (uint32_t)(place - s->programs));
		*ret = *place;
		return r;
	}
	return 0;
}

/* Numbers of sessions differ also from those of earlier recorders, whose sessions can end late. */
static uint64_t providers_stage_new_number(void)
{
	static uint64_t last;
	uint64_t now_ns = clock_boot_ns();

	last = now_ns > last ? now_ns : last + 1;
	return last;
}

static int providers_stage_ask(struct providers_stage *s, struct provider_program *p)
{
	struct provider_message start = { .kind = PROVIDER_START,
					  .version = PROVIDER_WIRE_VERSION,
					  .session = providers_stage_new_number(),
					  .mode = s->buffer.mode,
					  .clock = s->context.clock,
					  .n_blocks = s->buffer.n_blocks,
					  .block_bytes = s->buffer.block_bytes,
					  .text_bytes = (uint32_t)strlen(s->patterns) };
	uint64_t bytes = (uint64_t)s->buffer.n_blocks * s->buffer.block_bytes;
	int r;

	if (s->owner.has_room && !s->owner.has_room(s->owner.userdata, bytes))
		return -ENOBUFS;
	r = provider_program_begin(p, &s->buffer);
	if (r < 0)
		return r;
	memcpy(start.text, s->patterns, start.text_bytes);
	p->seat = provider_links_start(s->context.links, p->link, &start, s->owner.uid,
				       (const int[]){ provider_buffer_data_fd(p->buffer),
						      provider_buffer_control_fd(p->buffer) });
	return 0;
}

/* Whether a session of the program can begin now. */
static bool providers_stage_is_wanted(struct providers_stage *s, struct provider_program *p)
{
	if (p->buffer || !providers_stage_is_due(p))
		return false;
	s->n_asks += s->context.pipe->filtered;
	if (!providers_stage_selects(s, p))
		return false;
	if (provider_seats_have_room(&p->link->seats, s->owner.uid))
		return true;
	providers_stage_refuse(s, p);
	return false;
}

/* Starts the session of a program that has none, if the filter selects it. */
static int providers_stage_start(struct providers_stage *s, struct provider_link *link)
{
	struct provider_program *p;
	int r = 0;

	if (link->is_gone || !*link->name)
		return 0;
	p = providers_stage_find(s, link->number);
	if (!p)
		r = providers_stage_meet(s, link, &p);
	if (r < 0 || !p || !providers_stage_is_wanted(s, p))
		return r;
	r = providers_stage_ask(s, p);
	if (r == -ENOBUFS || r == -EMFILE || r == -ENFILE) {
		providers_stage_refuse(s, p);
		r = 0;
	}
	return r;
}

static int providers_stage_start_all(struct providers_stage *s)
{
	struct provider_link *link;
	size_t pos = s->next_link;
	int r = 0;

	/* (during a pause, and after the end, nothing is recorded) */
	if (s->context.pipe->to_ns != UINT64_MAX || !s->context.pipe->collector)
		return 0;
	/* (first the links that ASKS_PER_ROUND has left out before) */
	for (unsigned i = 0; i < 2; i++, pos = 0)
		while (r == 0 && s->n_asks < ASKS_PER_ROUND &&
		       (link = provider_links_next(s->context.links, &pos))) {
			r = providers_stage_start(s, link);
			s->next_link = pos;
		}
	return r;
}

static void providers_stage_on_news(void *userdata)
{
	struct providers_stage *s = userdata;

	if (s->begun && s->error == 0)
		s->error = providers_stage_start_all(s);
}

/* ---- rounds ---- */

/*
 * Chooses the first program of the next round: the program after the one that could take most of
 * the last round, or else the program after the one that was first.
 */
static void providers_stage_turn(struct providers_stage *s)
{
	size_t pos = s->taker ?: 1;
	const struct provider_program *p = providers_stage_next(s, &pos);

	if (!p) {
		pos = 0;
		p = providers_stage_next(s, &pos);
	}
	s->taker = 0;
	s->first = p ? p->id - FIRST_PROVIDER : 0;
}

/* Begins a round with another horizon. */
static void providers_stage_set_horizon(struct providers_stage *s, uint64_t horizon_ns)
{
	const struct provider_ticks *t = &s->context.ticks;
	struct provider_program *p;
	uint64_t now_ns = clock_boot_ns();

	s->n_asks = 0;
	s->context.horizon_ns = horizon_ns;
	s->context.extra_left = ROUND_EXTRA_BYTES;
	s->context.matching_left = PROVIDER_MATCHING_MAX;
	/* (a horizon in the future includes everything) */
	s->context.is_final = horizon_ns > now_ns;
	if (t->n == 0 || now_ns > t->readings[t->n - 1].boot_ns + TICKS_INTERVAL_NS)
		provider_ticks_read(&s->context.ticks);
	for (size_t pos = 0; (p = providers_stage_next(s, &pos));) {
		p->is_read = false;
		p->passed_bytes = 0;
		provider_threads_renew(&p->threads);
		provider_program_look(p);
	}
}

/* Reads a program, and forgets it when it has ended and everything was read. */
static int providers_stage_read(struct providers_stage *s, struct provider_program *p)
{
	uint64_t n_written = provider_records_counts(p->records)->written;
	bool had_buffer = p->buffer != NULL;
	int r = provider_program_read(p);

	s->n_events += provider_records_counts(p->records)->written - n_written;
	if (r != 0)
		return r;
	if (p->buffer && (!p->seat || p->seat->error < 0)) {
		/* The program could not start. */
		providers_stage_refuse(s, p);
		p->n_failures += p->n_failures < DOUBLINGS_MAX;
		provider_program_end(p);
	}
	/* (the new program of the process connects anew) */
	if (had_buffer && !p->buffer && provider_program_has_executed(p))
		provider_links_drop(s->context.links, p->link);
	if (p->link->is_gone && !p->buffer)
		providers_stage_forget(s, p);
	return 0;
}

static int providers_stage_read_all(struct providers_stage *s)
{
	struct provider_program *p;
	uint64_t extra;
	int r = 0;

	for (size_t pos = 0; r == 0 && (p = providers_stage_next(s, &pos));) {
		extra = s->context.extra_left;
		r = providers_stage_read(s, p);
		if (s->taker == 0 && s->context.extra_left < extra)
			s->taker = pos;
	}
	return r;
}

static int providers_stage_advance(void *stage, uint64_t horizon_ns)
{
	struct providers_stage *s = stage;
	struct fxt_archive *a = s->context.pipe->archive;
	int r = s->error, left = 0;

	if (!s->context.links || r < 0)
		return r;
	if (horizon_ns != s->context.horizon_ns) {
		provider_links_renew(s->context.links);
		provider_links_poll(s->context.links);
		providers_stage_turn(s);
		r = providers_stage_start_all(s);
		providers_stage_set_horizon(s, horizon_ns);
	}
	r = r ?: providers_stage_read_all(s);
	if (r >= 0 && a->writer.provider != &a->provider)
		left = fxt_write_section(&a->writer, &a->provider);
	return left < 0 ? left : r;
}

/* After a pause, programs get new sessions, in the next round. */
static int providers_stage_resume(void *stage)
{
	struct providers_stage *s = stage;
	struct provider_program *p;

	s->context.horizon_ns = 0;
	for (size_t pos = 0; (p = providers_stage_next(s, &pos));)
		p->asked_ns = 0;
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
	struct provider_program *p;
	int r = 0;

	/* (a process can connect before its fork is read, and end before its first event is) */
	for (size_t pos = 0; r == 0 && (p = providers_stage_next(s, &pos));)
		if (rec->kind == REC_FORK)
			r = providers_stage_fork(p, &((const struct rec_fork *)rec)->child);
		else if (p->link->pid == ((const struct rec_exec *)rec)->task.pid)
			provider_program_executed(p, rec->ts_ns);
	return r;
}

static void providers_stage_next_chunk(void *stage, uint64_t at_ns)
{
	struct providers_stage *s = stage;
	struct provider_program *p;

	(void)at_ns;
	for (size_t pos = 0; s->error == 0 && (p = providers_stage_next(s, &pos));)
		s->error = provider_records_forget(p->records);
}

static int providers_stage_head(const void *stage, const struct stage_head *h)
{
	const struct providers_stage *s = stage;
	const struct provider_program *p;
	int r = 0;

	for (size_t pos = 0; r == 0 && (p = providers_stage_next(s, &pos));)
		r = provider_records_head(p->records, &h->to->writer);
	return r;
}

static void providers_stage_deinit(void *stage)
{
	struct providers_stage *s = stage;

	providers_stage_leave(s);
	s->patterns = free_ptr(s->patterns);
}

/* ---- figures ---- */

uint64_t providers_stage_bytes(const struct providers_stage *s)
{
	const struct provider_program *p;
	uint64_t sum = 0;

	for (size_t pos = 0; (p = providers_stage_next(s, &pos));)
		sum += p->buffer_bytes;
	return sum;
}

bool providers_stage_figures(const struct providers_stage *s, uint64_t number,
			     struct providers_figures *ret)
{
	const struct provider_program *p = providers_stage_find(s, number);

	if (!p || !p->buffer)
		return false;
	*ret = (struct providers_figures){
		.written = provider_records_counts(p->records)->written,
		.lost = p->n_lost + p->n_garbage,
	};
	return true;
}

bool providers_stage_has_category(const struct providers_stage *s, const char *name, uint64_t *left)
{
	return s->context.all_categories ||
	       provider_program_matches(s->context.patterns, name, strlen(name), left);
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
