/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/providers/provider-program.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "capture/providers/provider-image.h"
#include "capture/providers/provider-records.h"
#include "model/koids.h"
#include "writer/fxt/fxt-wire.h"

enum {
	TRACKS_MAX = 4096,     /* of a program */
	CATEGORIES_MAX = 1024, /* categories of a program whose comparison is remembered */
	CATEGORY_NAME_MAX = 256,
	CALL_WORK = 8,           /* a comparison takes some time, whatever the lengths are */
	ROUND_SHARE = 128 << 10, /* bytes of each program in each round */
};

/* ---- rules for records ---- */

/*
 * Sets *RET to the time of STAMP. Returns false if it is before the recording, or in the future. A
 * stamp can be newer than the last reading of the clocks, which is then repeated.
 */
static bool provider_program_time(void *userdata, uint64_t stamp, uint64_t *ret)
{
	const struct provider_program *p = userdata;
	struct provider_context *c = p->context;

	if (c->clock == PROVIDER_CLOCK_BOOTTIME) {
		*ret = stamp;
		return stamp <= clock_boot_ns();
	}
	/* (a flood of wrong stamps must not read the clocks each time) */
	if (provider_ticks_is_future(stamp))
		return false;
	if (c->ticks.n == 0 || stamp > c->ticks.readings[c->ticks.n - 1].stamp)
		provider_ticks_read(&c->ticks);
	return provider_ticks_ns(&c->ticks, stamp, ret);
}

/* Returns to the section of kymo. */
static int provider_program_leave(const struct provider_program *p)
{
	struct fxt_archive *a = p->context->pipe->archive;

	return a->writer.provider == &a->provider ? 0 : fxt_write_section(&a->writer, &a->provider);
}

/* Tracks get koids of their own, which differ from those of other programs' tracks. */
static bool provider_program_track(struct provider_program *p, uint64_t number, uint64_t *ret)
{
	uint64_t key = (number & (PROVIDER_TRACK - 1)) + 1;
	uint32_t koid = (uint32_t)(uintptr_t)table_get(&p->tracks, key);

	if (koid == 0) {
		if (p->tracks.n_used >= TRACKS_MAX || p->context->n_tracks >= FXT_KOID_APP_TRACKS)
			return false;
		koid = FXT_KOID_APP + p->context->n_tracks++;
		p->error = table_set(&p->tracks, key, (void *)(uintptr_t)koid);
	}
	*ret = koid;
	return p->error == 0;
}

/*
 * Finds the koid of THREAD. Before the record, writes the name of the thread or process, if it was
 * not written yet.
 */
static bool provider_program_koid(void *userdata, uint64_t thread, uint64_t *ret)
{
	struct provider_program *p = userdata;
	const struct pipeline *pipe = p->context->pipe;
	uint32_t koid, tid = 0;

	if (thread & PROVIDER_TRACK) {
		if (!provider_program_track(p, thread, ret))
			return false;
	} else {
		if (!provider_threads_find(&p->threads, thread, pipe->tasks, &koid))
			return false;
		*ret = koid;
		tid = fxt_koid_tid(koid);
	}
	tid = tid ?: p->link->pid;
	if (tasks_announced(pipe->tasks, tid))
		return true;
	p->error = provider_program_leave(p) ?: pipeline_announce_thread(pipe, tid, p->link->pid);
	return p->error == 0;
}

bool provider_program_matches(const char *patterns, const char *name, size_t n, uint64_t *left)
{
	char glob[CATEGORY_NAME_MAX], text[CATEGORY_NAME_MAX];
	uint64_t work = (n + CALL_WORK) * strlen(patterns);

	if (n >= sizeof(text))
		return false;
	if (work > *left) {
		*left = 0;
		return false;
	}
	*left -= work;
	memcpy(text, name, n);
	text[n] = '\0';
	for (size_t k; *patterns; patterns += k + (patterns[k] == ',')) {
		k = strcspn(patterns, ",");
		if (k >= sizeof(glob))
			continue;
		memcpy(glob, patterns, k);
		glob[k] = '\0';
		if (fnmatch(glob, text, 0) == 0)
			return true;
	}
	return false;
}

/*
 * Whether the category is recorded. The result is remembered, since each record has a category, and
 * a comparison takes longer than everything else.
 */
static bool provider_program_category(void *userdata, const char *name, size_t n)
{
	static char yes, no;
	struct provider_program *p = userdata;
	struct provider_context *c = p->context;
	uint64_t hash = provider_links_hash(c->links, name, n);
	const char *known = table_get(&p->categories, hash);
	bool ret;

	if (known)
		return known == &yes;
	ret = provider_program_matches(c->patterns, name, n, &c->matching_left);
	if (!ret && c->matching_left == 0)
		p->n_unmatched++;
	else if (p->categories.n_used < CATEGORIES_MAX)
		p->error = table_set(&p->categories, hash, ret ? &yes : &no);
	return ret;
}

/* ---- a program ---- */

/* Keeps the name when the kernel's data of the thread changes later. (Tracks have none.) */
static int provider_program_named(void *userdata, uint64_t koid, const char *name, size_t n)
{
	const struct provider_program *p = userdata;

	return koid > UINT32_MAX || !fxt_koid_tid((uint32_t)koid)
		       ? 0
		       : tasks_give_name(p->context->pipe->tasks, (uint32_t)koid, name, n);
}

int provider_program_new(struct provider_program **ret, struct provider_context *context,
			 struct provider_link *link, uint32_t id)
{
	_cleanup_(provider_program_freep) struct provider_program *p = calloc(1, sizeof(*p));
	const struct provider_rules rules = {
		.userdata = p,
		.pid = tasks_koid(context->pipe->tasks, link->pid),
		.koid = provider_program_koid,
		.named = provider_program_named,
		.time = provider_program_time,
		.category = context->all_categories ? NULL : provider_program_category,
	};
	int r;

	if (!p)
		return -ENOMEM;
	p->context = context;
	p->link = link;
	provider_links_keep(link);
	p->id = id;
	r = provider_threads_init(&p->threads, link->pid, context->pipe->tasks)
		    ?: provider_records_new(&p->records, id, link->name, &rules);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(p);
	return 0;
}

struct provider_program *provider_program_free(struct provider_program *p)
{
	if (!p)
		return NULL;
	provider_program_end(p);
	provider_records_free(p->records);
	provider_threads_deinit(&p->threads);
	table_deinit(&p->tracks);
	table_deinit(&p->categories);
	if (p->link)
		provider_links_release(p->link);
	return free_ptr(p);
}

int provider_program_begin(struct provider_program *p, const struct provider_buffer_options *o)
{
	uint64_t bytes = (uint64_t)o->n_blocks * o->block_bytes;
	struct provider_memory *memory = provider_links_memory(p->context->links);
	int r = provider_memory_take(memory, p->link->uid, bytes);

	if (r < 0)
		return r;
	p->buffer_bytes = p->last_bytes = bytes;
	p->started_ns = clock_boot_ns();
	r = provider_buffer_new(&p->buffer, o);
	if (r < 0)
		provider_program_end(p);
	p->n_lost = 0;
	p->checked_ns = p->image_ns = clock_boot_ns();
	p->image = provider_image_of(p->link->pid);
	p->until_ns = UINT64_MAX;
	p->changed_ns = 0;
	p->threads.is_closed = false;
	return r;
}

void provider_program_end(struct provider_program *p)
{
	struct provider_links *l = p->context->links;

	p->buffer = provider_buffer_free(p->buffer);
	if (p->buffer_bytes)
		provider_memory_give(provider_links_memory(l), p->link->uid, p->buffer_bytes);
	if (p->seat)
		provider_links_stop(l, p->link, p->seat);
	p->buffer_bytes = 0;
	p->seat = NULL;
}

/* ---- programs that execute another one ---- */

void provider_program_executed(struct provider_program *p, uint64_t ns)
{
	if (p->buffer && ns > p->started_ns && ns < p->until_ns) {
		p->until_ns = ns;
		p->threads.is_closed = true;
	}
}

void provider_program_look(struct provider_program *p)
{
	uint64_t now_ns = clock_boot_ns(), image;

	if (!p->buffer || p->until_ns != UINT64_MAX)
		return;
	/* (if the process has ended, its id can belong to another process) */
	image = p->changed_ns || p->link->has_ended ? 0 : provider_image_of(p->link->pid);
	if (image == p->image && image)
		p->image_ns = now_ns;
	else if (image)
		p->changed_ns = now_ns;
	/* (threads of the new program are not threads of this one) */
	p->threads.is_closed |= p->changed_ns != 0;
	/*
	 * If there were a record of the exec, it would have come by now, with the exact time. So
	 * the last time at which the process certainly executed this program is used.
	 */
	if (p->changed_ns && (p->context->is_final || p->context->horizon_ns >= p->changed_ns))
		p->until_ns = p->image_ns;
}

/* Returns the horizon for P. Records of later times stay in the buffer. */
static uint64_t provider_program_horizon(const struct provider_program *p)
{
	uint64_t horizon_ns = p->context->horizon_ns;

	/* (the time of the exec is not known before its record comes) */
	return p->changed_ns && p->until_ns == UINT64_MAX && p->image_ns < horizon_ns ? p->image_ns
										      : horizon_ns;
}

/* Whether the program itself has answered START. Before that, a child can hold the connection. */
static bool provider_program_has_started(const struct provider_program *p)
{
	return p->seat && p->seat->is_answered && p->seat->error == 0;
}

/* ---- records ---- */

static bool provider_program_has_stamp(uint64_t head)
{
	return fxt_get_record_type(head) == FXT_RECORD_EVENT ||
	       fxt_get_record_type(head) == FXT_RECORD_LOG;
}

/*
 * Returns true if a record is from after an exec, or could be: names and blobs have no time. Also
 * returns true for a record from after the end of the program or of its connection: the program
 * cannot have written it.
 */
static bool provider_program_is_late(struct provider_program *p, const uint64_t *words,
				     unsigned n_words, bool is_durable)
{
	bool has_until = p->until_ns != UINT64_MAX;
	uint64_t until_ns = p->until_ns, ns;

	if (p->link->is_gone && p->link->gone_ns < until_ns)
		until_ns = p->link->gone_ns;
	if (until_ns == UINT64_MAX)
		return false;
	if (is_durable)
		return has_until && fxt_get_record_type(words[0]) == FXT_RECORD_KERNEL_OBJECT;
	if (n_words < 2 || !provider_program_has_stamp(words[0]))
		return has_until;
	/* (a record with a wrong stamp is garbage anyway) */
	return provider_program_time(p, words[1], &ns) && ns > until_ns;
}

/* Decides about a record by its time. Returns 0 or a PROVIDER_READ_*. */
static int provider_program_judge(struct provider_program *p, uint64_t stamp, bool is_last,
				  bool *ret_drop)
{
	const struct pipeline *pipe = p->context->pipe;
	uint64_t ns;

	*ret_drop = false;
	if (!provider_program_time(p, stamp, &ns))
		return 0; /* it is garbage, and counted as such */
	if (ns > provider_program_horizon(p) && !is_last)
		return PROVIDER_READ_LATER;
	*ret_drop = ns <= pipe->from_ns || ns > pipe->to_ns;
	p->n_outside += *ret_drop;
	return 0;
}

struct provider_program_reading {
	struct provider_program *program;
	bool is_last;
	bool is_over; /* the rest is for the next round */
};

/*
 * Returns whether a record of BYTES bytes can be taken in this round. Programs that write faster
 * than they are read must not delay the others, and the rings of the kernel.
 */
static bool provider_program_affords(struct provider_program *p, uint64_t bytes, bool is_last)
{
	struct provider_context *c = p->context;

	/*
	 * (a child of a program that has ended can write as fast as the buffer is read, so its
	 * bytes are limited)
	 */
	if (is_last && p->last_bytes < bytes) {
		p->last_bytes = 0;
		return false;
	}
	if (c->is_final)
		return true;
	if (p->passed_bytes <= ROUND_SHARE)
		return true;
	if (c->extra_left < bytes)
		return false;
	c->extra_left -= bytes;
	return true;
}

static int provider_program_record(void *userdata, const uint64_t *words, unsigned n_words,
				   bool is_durable)
{
	struct provider_program_reading *reading = userdata;
	struct provider_program *p = reading->program;
	const struct pipeline *pipe = p->context->pipe;
	bool is_late = provider_program_is_late(p, words, n_words, is_durable), drop = is_late;
	int r = 0;

	if (!is_durable) {
		if (pipeline_after(pipe, 0) > 0)
			return PROVIDER_READ_ENDS;
		if (!drop && n_words >= 2 && provider_program_has_stamp(words[0]))
			r = provider_program_judge(p, words[1], reading->is_last, &drop);
		if (r > 0)
			return r;
		if (!provider_program_affords(p, n_words * sizeof(*words), reading->is_last)) {
			reading->is_over = true;
			return PROVIDER_READ_ENDS;
		}
		p->passed_bytes += n_words * sizeof(*words);
		p->last_bytes -= reading->is_last ? n_words * sizeof(*words) : 0;
	}
	p->n_late += is_late;
	if (!drop)
		r = provider_records_add(p->records, &pipe->archive->writer, words, n_words,
					 is_durable);
	return p->error ?: r;
}

/* Writes N lost records as a loss of the provider, and of the recording. */
static int provider_program_write_lost(struct provider_program *p, uint64_t n, uint64_t now_ns)
{
	const struct pipeline *pipe = p->context->pipe;
	const struct rec_lost lost = {
		.count = n,
		.first_ns = p->checked_ns < pipe->to_ns ? p->checked_ns : pipe->to_ns,
		.last_ns = now_ns < pipe->to_ns ? now_ns : pipe->to_ns,
	};

	return provider_records_lost(p->records, &pipe->archive->writer)
		       ?: provider_program_leave(p)
		       ?: pipe->links.lost(CLASS_APP, &lost, pipe->links.userdata);
}

static int provider_program_count(struct provider_program *p)
{
	uint64_t now_ns = clock_boot_ns(), n_lost, n_garbage;
	struct provider_losses l;
	int r = 0;

	provider_buffer_losses(p->buffer, &l);
	n_lost =
		l.full + l.large + l.overwritten + l.durable + l.unfinished + l.garbage + l.changed;
	n_garbage = provider_records_counts(p->records)->garbage + p->n_late + p->n_unmatched;
	if (n_lost + n_garbage > p->n_lost + p->n_garbage)
		r = provider_program_write_lost(p, n_lost + n_garbage - p->n_lost - p->n_garbage,
						now_ns);
	p->n_lost = n_lost;
	p->n_garbage = n_garbage;
	p->checked_ns = now_ns;
	return r;
}

int provider_program_read(struct provider_program *p)
{
	const struct provider_context *c = p->context;
	/*
	 * This is the last read: nothing is written any more, and all that was written is before
	 * the horizon.
	 */
	bool is_last = c->is_final || p->until_ns <= c->horizon_ns ||
		       (p->link->is_gone && p->link->gone_ns <= c->horizon_ns &&
			/* (another session can learn of an exec first, and end the connection) */
			(!p->changed_ns || p->until_ns != UINT64_MAX));
	struct provider_program_reading reading = { p, is_last, false };
	int r;

	if (p->is_read || !p->buffer)
		return 0;
	if (!provider_program_has_started(p)) {
		if (!is_last)
			return 0;
		p->until_ns = 0;
	}
	r = provider_buffer_read(p->buffer, is_last, provider_program_record, &reading);
	if (r < 0 || (r == PROVIDER_READ_ENDS && !reading.is_over))
		return r < 0 ? r : 1;
	p->is_read = true;
	r = provider_program_count(p);
	if (is_last && (c->is_final || !reading.is_over || p->last_bytes == 0))
		provider_program_end(p);
	return r;
}
