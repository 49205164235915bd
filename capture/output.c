/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Owner and thread share the struct; whoever lets go last frees it. The mutex guards the queue and
 * the status; no one holds it while the store is at work. The store is the thread's, but for cancel().
 */
#include "capture/output.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "capture/thread.h"

enum {
	N_BUFFERS = 64, /* of about 256 KiB: see the session */
	/* Of a buffer at most the end of the chunk before and the begin of its own are queued with it. */
	N_ENTRIES = 4 * N_BUFFERS,
};

enum entry_what { ENTRY_BEGIN, ENTRY_BUFFER, ENTRY_END };

struct entry {
	enum entry_what what;
	enum store_part part;
	struct outbuf *buffer;
	struct store_moment at;
};

struct output {
	struct store *store;
	pack_whole_fn whole;
	enum pack_method method;
	int event_fd; /* to the owner */

	/* the thread's */
	struct pack packer;
	struct outbuf packed; /* a piece on its way */
	bool begun;           /* a chunk */

	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct outbuf buffers[N_BUFFERS];
	struct entry queue[N_ENTRIES]; /* a ring: first in, first out */
	unsigned n_queued, first;
	struct outbuf *spare[N_BUFFERS];
	unsigned n_spare;
	bool finishing, abandoned;
	unsigned n_holders; /* 2: owner and thread */
	struct output_status status;
};

static void release(struct output *o)
{
	bool last;

	pthread_mutex_lock(&o->lock);
	last = --o->n_holders == 0;
	pthread_mutex_unlock(&o->lock);
	if (!last)
		return;
	for (unsigned i = 0; i < N_BUFFERS; i++)
		outbuf_deinit(&o->buffers[i]);
	outbuf_deinit(&o->packed);
	pack_deinit(&o->packer);
	store_free(o->store);
	close_fd(o->event_fd);
	pthread_cond_destroy(&o->wake);
	pthread_mutex_destroy(&o->lock);
	free(o);
}

/* Of a packed piece that was not written to its end, nothing is whole. */
static size_t whole_piece(const uint8_t *data, size_t n)
{
	(void)data;
	(void)n;
	return 0;
}

static int write_packed(struct output *o, enum store_part part, const struct outbuf *b,
			size_t *ret_kept)
{
	size_t done = 0, n, kept;
	int r = 0;

	while (r == 0 && done < b->size) {
		n = pack_piece_bytes(o->whole, b->data + done, b->size - done);
		outbuf_reset(&o->packed);
		r = pack_put(&o->packer, b->data + done, n, &o->packed);
		if (r < 0)
			break;
		kept = 0;
		r = o->store->ops->write(o->store, part, o->packed.data, o->packed.size,
					 whole_piece, &kept);
		*ret_kept += kept;
		done += n;
	}
	return r;
}

/* Writes one buffer, or as much of it as it can; *RET_KEPT bytes are in the store then. */
static int write_buffer(struct output *o, enum store_part part, const struct outbuf *b,
			size_t *ret_kept)
{
	if (!o->begun || b->size == 0)
		return 0;
	if (o->method != PACK_NONE)
		return write_packed(o, part, b, ret_kept);
	return o->store->ops->write(o->store, part, b->data, b->size, o->whole, ret_kept);
}

static int begin_chunk(struct output *o, const struct store_moment *at)
{
	int r = o->store->ops->begin(o->store, at);

	pack_restart(&o->packer);
	o->begun = r == 0;
	return r;
}

static int end_chunk(struct output *o, const struct store_moment *at)
{
	if (!o->begun)
		return 0;
	o->begun = false;
	return o->store->ops->end(o->store, at);
}

/* What is begun is ended, also where nothing more can be written. */
static int do_entry(struct output *o, const struct entry *e, int error, size_t *ret_kept)
{
	int r = error;

	*ret_kept = 0;
	if (e->what == ENTRY_END)
		r = end_chunk(o, &e->at);
	else if (error == 0 && e->what == ENTRY_BEGIN)
		r = begin_chunk(o, &e->at);
	else if (error == 0)
		r = write_buffer(o, e->part, e->buffer, ret_kept);
	return error < 0 ? error : r;
}

/* In the status. */
static void count(struct output_status *status, const struct entry *e, size_t kept)
{
	if (e->what == ENTRY_BEGIN) {
		status->n_begun++;
		status->head_bytes = status->chunk_bytes = 0;
	}
	status->bytes += kept;
	status->chunk_bytes += kept;
	if (e->what == ENTRY_BUFFER && e->part == STORE_HEAD)
		status->head_bytes += kept;
	status->cpu_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Takes the first entry away, with the lock held, and does it without. */
static void next(struct output *o)
{
	struct entry e = o->queue[o->first];
	int r = o->status.error;
	size_t kept;

	pthread_mutex_unlock(&o->lock);
	r = do_entry(o, &e, r, &kept);
	pthread_mutex_lock(&o->lock);
	o->first = (o->first + 1) % N_ENTRIES;
	o->n_queued--;
	if (e.buffer)
		o->spare[o->n_spare++] = e.buffer;
	o->status.error = r;
	count(&o->status, &e, kept);
	thread_signal(o->event_fd);
}

static void *run(void *userdata)
{
	struct output *o = userdata;
	int r;

	pthread_mutex_lock(&o->lock);
	for (;;) {
		while (o->n_queued == 0 && !o->finishing && !o->abandoned)
			pthread_cond_wait(&o->wake, &o->lock);
		if (o->abandoned || o->n_queued == 0)
			break;
		next(o);
	}
	pthread_mutex_unlock(&o->lock);
	r = end_chunk(o, &(struct store_moment){ clock_boot_ns(), clock_read_ns(CLOCK_REALTIME) });
	pthread_mutex_lock(&o->lock);
	if (o->status.error == 0)
		o->status.error = r;
	o->status.done = true;
	thread_signal(o->event_fd);
	pthread_mutex_unlock(&o->lock);
	release(o);
	return NULL;
}

int output_new(struct store *store, pack_whole_fn whole, enum pack_method method,
	       struct output **ret)
{
	struct output *o = calloc(1, sizeof(*o));
	int r;

	if (!o)
		return -ENOMEM;
	o->store = store;
	o->whole = whole;
	o->method = method;
	o->n_holders = 2;
	o->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&o->lock, NULL);
	pthread_cond_init(&o->wake, NULL);
	for (unsigned i = 0; i < N_BUFFERS; i++)
		o->spare[o->n_spare++] = &o->buffers[i];
	r = o->event_fd < 0 ? -errno : pack_init(&o->packer, method);
	if (r == 0)
		r = thread_start(run, o);
	if (r < 0) {
		o->store = NULL; /* stays the caller's */
		o->n_holders = 1;
		release(o);
		return r;
	}
	*ret = o;
	return 0;
}

struct output *output_free(struct output *o)
{
	if (!o)
		return NULL;
	pthread_mutex_lock(&o->lock);
	o->abandoned = true;
	pthread_cond_signal(&o->wake);
	pthread_mutex_unlock(&o->lock);
	o->store->ops->cancel(o->store);
	release(o);
	return NULL;
}

struct outbuf *output_take(struct output *o)
{
	struct outbuf *b = NULL;

	pthread_mutex_lock(&o->lock);
	if (o->n_spare > 0)
		b = o->spare[--o->n_spare];
	pthread_mutex_unlock(&o->lock);
	if (b)
		outbuf_reset(b);
	return b;
}

static void put_entry(struct output *o, const struct entry *e)
{
	pthread_mutex_lock(&o->lock);
	assert(o->n_queued < N_ENTRIES);
	o->queue[(o->first + o->n_queued++) % N_ENTRIES] = *e;
	pthread_cond_signal(&o->wake);
	pthread_mutex_unlock(&o->lock);
}

void output_begin(struct output *o, const struct store_moment *at)
{
	put_entry(o, &(struct entry){ .what = ENTRY_BEGIN, .at = *at });
}

void output_put(struct output *o, struct outbuf *b, enum store_part part)
{
	put_entry(o, &(struct entry){ .what = ENTRY_BUFFER, .part = part, .buffer = b });
}

void output_end(struct output *o, const struct store_moment *at)
{
	put_entry(o, &(struct entry){ .what = ENTRY_END, .at = *at });
}

void output_finish(struct output *o)
{
	pthread_mutex_lock(&o->lock);
	o->finishing = true;
	pthread_cond_signal(&o->wake);
	pthread_mutex_unlock(&o->lock);
}

int output_fd(const struct output *o)
{
	return o->event_fd;
}

struct output_status output_poll(struct output *o)
{
	struct output_status status;

	thread_quiet(o->event_fd);
	pthread_mutex_lock(&o->lock);
	status = o->status;
	pthread_mutex_unlock(&o->lock);
	return status;
}
