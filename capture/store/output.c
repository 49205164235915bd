/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The owner and the thread share the struct. The last of the two to release the struct frees it.
 * The mutex guards the queue and the status, and is not held during calls of the store. Only the
 * thread calls the store, except for cancel().
 */
#include "capture/store/output.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "capture/sandbox/thread.h"
#include "capture/sandbox/user-counts.h"

enum {
	N_BUFFERS = 64, /* number of buffers, of about 256 KiB each; see the session */
	/* Each buffer is queued with at most two more entries: the end of the previous chunk and
	 * the beginning of its own chunk. */
	N_ENTRIES = 4 * N_BUFFERS,
	/* Only the head of a chunk is larger than this. Larger buffers are freed after use.
	 * Otherwise, each buffer would at some time be as large as a head. */
	KEPT_BYTES = 1 << 20,
	/* The number of spare buffers that keep their memory. The memory needed during a short
	 * stall of the disk is not kept. */
	N_WARM = 4,
};

enum entry_what { ENTRY_BEGIN, ENTRY_BUFFER, ENTRY_END, ENTRY_SNAPSHOT };

struct entry {
	enum entry_what what;
	enum store_part part;
	struct outbuf *buffer;
	struct store_moment at;
	struct outbuf tail;
	struct snapshot *snapshot;
};

struct output {
	struct store *store;
	pack_whole_fn whole;
	enum pack_method method;
	int event_fd; /* notifies the owner */

	/* The members below are only used by the thread. */
	struct pack packer;
	struct outbuf packed; /* the block that is being written */
	bool begun;           /* a chunk has begun */

	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct outbuf buffers[N_BUFFERS];
	struct entry queue[N_ENTRIES]; /* a ring: first in, first out */
	unsigned n_queued, first;
	struct outbuf *spare[N_BUFFERS]; /* buffers without memory come first */
	unsigned n_spare, n_cold;
	bool finishing, abandoned;
	bool busy;    /* the thread is working, and may hang */
	bool counted; /* this output is counted in `abandoned_threads` */
	struct abandoned_threads *abandoned_threads;
	unsigned n_holders; /* counts the owner and the thread */
	struct output_status status;
};

/* Releases entry E, which will not be processed. */
static void output_drop_entry(struct entry *e)
{
	if (e->what != ENTRY_SNAPSHOT)
		return;
	outbuf_deinit(&e->tail);
	snapshot_cancel(e->snapshot);
	snapshot_unref(e->snapshot);
}

/* Drops the queue and frees spare buffers. Called with the lock held, or by the last holder. */
static void output_drop_queue(struct output *o)
{
	for (; o->n_queued > 0; o->n_queued--, o->first = (o->first + 1) % N_ENTRIES) {
		struct entry *e = &o->queue[o->first];

		output_drop_entry(e);
		if (e->buffer)
			outbuf_deinit(e->buffer);
	}
	for (unsigned i = 0; i < o->n_spare; i++)
		outbuf_deinit(o->spare[i]);
}

static void output_release(struct output *o)
{
	bool last;

	pthread_mutex_lock(&o->lock);
	last = --o->n_holders == 0;
	pthread_mutex_unlock(&o->lock);
	if (!last)
		return;
	if (o->counted)
		abandoned_threads_return(o->abandoned_threads);
	abandoned_threads_unref(o->abandoned_threads);
	output_drop_queue(o);
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

/* Returns 0: if a packed block was not written completely, no part of it is usable. */
static size_t output_whole_piece(const uint8_t *data, size_t n)
{
	return 0;
}

/* The result of an entry. */
struct done {
	int error;
	size_t kept, dropped;
};

static void output_write_piece(struct output *o, enum store_part part, const struct outbuf *b,
			       store_whole_fn whole, struct done *done)
{
	size_t kept = 0;

	done->error = o->store->ops->write(o->store, part, b->data, b->size, whole, &kept);
	done->kept += kept;
	if (done->error == 0)
		done->dropped += b->size - kept;
}

/* Packs the next block of B, from *AT on, into TO, and advances *AT. */
static int output_pack_next(struct output *o, const struct outbuf *b, size_t *at, struct outbuf *to)
{
	size_t n = pack_piece_bytes(o->whole, b->data + *at, b->size - *at);
	int r = pack_put(&o->packer, b->data + *at, n, to);

	*at += n;
	return r;
}

static void output_write_packed(struct output *o, enum store_part part, const struct outbuf *b,
				struct done *done)
{
	size_t at = 0;

	while (done->error == 0 && at < b->size) {
		outbuf_reset(&o->packed);
		done->error = output_pack_next(o, b, &at, &o->packed);
		if (done->error == 0)
			output_write_piece(o, part, &o->packed, output_whole_piece, done);
	}
}

/* Writes one buffer, or as much of it as possible. */
static void output_write_buffer(struct output *o, enum store_part part, const struct outbuf *b,
				struct done *done)
{
	if (!o->begun || b->size == 0)
		return;
	if (o->method != PACK_NONE)
		output_write_packed(o, part, b, done);
	else
		output_write_piece(o, part, b, o->whole, done);
}

static int output_begin_chunk(struct output *o, const struct store_moment *at)
{
	int r = o->store->ops->begin(o->store, at);

	pack_restart(&o->packer);
	o->begun = r == 0;
	return r;
}

static int output_end_chunk(struct output *o, const struct store_moment *at)
{
	if (!o->begun)
		return 0;
	o->begun = false;
	return o->store->ops->end(o->store, at);
}

/* Appends TAIL, packed by the same method, to SNAPSHOT_DATA. */
static int output_add_tail(struct output *o, struct flight_snapshot *snapshot_data,
			   struct outbuf *tail)
{
	struct outbuf packed = { 0 };
	size_t at = 0;
	int r = 0;

	while (o->method != PACK_NONE && r == 0 && at < tail->size)
		r = output_pack_next(o, tail, &at, &packed);
	if (r == 0)
		flight_snapshot_set_tail(snapshot_data, o->method == PACK_NONE ? tail : &packed);
	outbuf_deinit(&packed);
	return r;
}

/*
 * Takes a snapshot. After a write error, it contains the data that was written before the error,
 * without a tail.
 */
static void output_take_snapshot(struct output *o, struct entry *e, int error)
{
	struct flight_snapshot *snapshot_data = NULL;
	int r = flight_take_snapshot(o->store, &snapshot_data);

	if (r == 0 && error == 0 && e->tail.size > 0)
		r = output_add_tail(o, snapshot_data, &e->tail);
	if (r < 0)
		snapshot_data = flight_snapshot_free(snapshot_data);
	outbuf_deinit(&e->tail);
	snapshot_set_data(e->snapshot, snapshot_data, r);
	e->snapshot = snapshot_unref(e->snapshot);
}

/* Processes entry E. ERROR is the error of an earlier entry, or 0. If a chunk has begun, it is
 * ended even after an error. */
static void output_do_entry(struct output *o, struct entry *e, int error, struct done *done)
{
	switch (e->what) {
	case ENTRY_BEGIN:
		if (error == 0)
			done->error = output_begin_chunk(o, &e->at);
		break;
	case ENTRY_BUFFER:
		if (error == 0)
			output_write_buffer(o, e->part, e->buffer, done);
		break;
	case ENTRY_END:
		done->error = output_end_chunk(o, &e->at);
		break;
	case ENTRY_SNAPSHOT:
		output_take_snapshot(o, e, error);
		break;
	}
}

/* Updates the status. */
static void output_count(struct output_status *status, struct store *store, const struct entry *e,
			 const struct done *done)
{
	if (e->what == ENTRY_BEGIN) {
		status->n_begun++;
		status->head_bytes = status->chunk_bytes = 0;
	}
	status->bytes += done->kept;
	status->chunk_bytes += done->kept + done->dropped;
	status->dropped += done->dropped;
	if (e->what == ENTRY_BUFFER && e->part == STORE_HEAD)
		status->head_bytes += done->kept;
	if (status->error == 0)
		status->error = done->error;
	status->limit_known = flight_is(store);
	status->limit = status->limit_known ? flight_limit(store) : 0;
	status->cpu_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Adds B to the spare buffers. Buffers without memory are kept in front of the others. Called with
 * the lock held. */
static void output_put_buffer(struct output *o, struct outbuf *b)
{
	if (o->n_spare - o->n_cold >= N_WARM)
		outbuf_deinit(b);
	o->spare[o->n_spare++] = b;
	if (b->room == 0) {
		o->spare[o->n_spare - 1] = o->spare[o->n_cold];
		o->spare[o->n_cold++] = b;
	}
}

/*
 * Removes and processes the first entry. Called with the lock held. The lock is released while the
 * entry is processed.
 */
static void output_next(struct output *o)
{
	struct entry e = o->queue[o->first];
	int error = o->status.error;
	struct done done = { 0 };

	o->first = (o->first + 1) % N_ENTRIES;
	o->n_queued--;
	o->busy = true;
	pthread_mutex_unlock(&o->lock);
	output_do_entry(o, &e, error, &done);
	if (e.buffer && e.buffer->room > KEPT_BYTES)
		outbuf_deinit(e.buffer);
	pthread_mutex_lock(&o->lock);
	o->busy = false;
	if (e.buffer)
		output_put_buffer(o, e.buffer);
	output_count(&o->status, o->store, &e, &done);
	thread_signal(o->event_fd);
}

static void *output_run(void *userdata)
{
	struct output *o = userdata;
	int r = thread_identity_assume(&o->store->writer);

	pthread_mutex_lock(&o->lock);
	o->status.error = r;
	if (r < 0)
		thread_signal(o->event_fd);
	for (;;) {
		while (o->n_queued == 0 && !o->finishing && !o->abandoned)
			pthread_cond_wait(&o->wake, &o->lock);
		if (o->abandoned || o->n_queued == 0)
			break;
		output_next(o);
	}
	o->busy = true;
	pthread_mutex_unlock(&o->lock);
	r = output_end_chunk(o, &(struct store_moment){ clock_boot_ns(),
							clock_read_ns(CLOCK_REALTIME) });
	pthread_mutex_lock(&o->lock);
	if (o->status.error == 0)
		o->status.error = r;
	o->status.done = true;
	o->busy = false;
	thread_signal(o->event_fd);
	pthread_mutex_unlock(&o->lock);
	output_release(o);
	return NULL;
}

int output_new(struct store *store, pack_whole_fn whole, enum pack_method method,
	       struct abandoned_threads *abandoned_threads, struct output **ret)
{
	struct output *o = calloc(1, sizeof(*o));
	int r;

	if (!o)
		return -ENOMEM;
	o->store = store;
	o->whole = whole;
	o->method = method;
	o->n_holders = 2;
	o->abandoned_threads = abandoned_threads_ref(abandoned_threads);
	o->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&o->lock, NULL);
	pthread_cond_init(&o->wake, NULL);
	for (unsigned i = 0; i < N_BUFFERS; i++)
		o->spare[o->n_spare++] = &o->buffers[i];
	o->n_cold = o->n_spare;
	r = o->event_fd < 0 ? -errno : pack_init(&o->packer, method);
	r = r ?: thread_start(output_run, o);
	if (r < 0) {
		o->store = NULL; /* the caller keeps it */
		o->n_holders = 1;
		output_release(o);
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
	/*
	 * If the thread is working, it can hang forever in a file of the client. Such a thread
	 * keeps one buffer, which is charged to the client.
	 */
	if (o->busy) {
		o->counted = true;
		abandoned_threads_hang(o->abandoned_threads);
		output_drop_queue(o);
	}
	pthread_cond_signal(&o->wake);
	pthread_mutex_unlock(&o->lock);
	o->store->ops->cancel(o->store);
	output_release(o);
	return NULL;
}

struct outbuf *output_get_buffer(struct output *o)
{
	struct outbuf *b = NULL;

	pthread_mutex_lock(&o->lock);
	if (o->n_spare > 0)
		b = o->spare[--o->n_spare];
	if (o->n_cold > o->n_spare)
		o->n_cold = o->n_spare;
	pthread_mutex_unlock(&o->lock);
	if (b)
		outbuf_reset(b);
	return b;
}

static void output_put_entry(struct output *o, const struct entry *e)
{
	pthread_mutex_lock(&o->lock);
	assert(o->n_queued < N_ENTRIES);
	o->queue[(o->first + o->n_queued++) % N_ENTRIES] = *e;
	pthread_cond_signal(&o->wake);
	pthread_mutex_unlock(&o->lock);
}

void output_begin(struct output *o, const struct store_moment *at)
{
	output_put_entry(o, &(struct entry){ .what = ENTRY_BEGIN, .at = *at });
}

void output_put(struct output *o, struct outbuf *b, enum store_part part)
{
	output_put_entry(o, &(struct entry){ .what = ENTRY_BUFFER, .part = part, .buffer = b });
}

void output_end(struct output *o, const struct store_moment *at)
{
	output_put_entry(o, &(struct entry){ .what = ENTRY_END, .at = *at });
}

void output_snapshot(struct output *o, struct outbuf *tail, struct snapshot *s)
{
	output_put_entry(o, &(struct entry){ .what = ENTRY_SNAPSHOT,
					     .tail = *tail,
					     .snapshot = snapshot_ref(s) });
	*tail = (struct outbuf){ 0 };
}

struct store *output_store(const struct output *o)
{
	return o->store;
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
