/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Owner and thread share the struct; whoever lets go last frees it. The mutex guards the queue and
 * the status; no one holds it while writing.
 *
 * Pipes and sockets are written after a poll() and in pieces of PIPE_BUF, which then cannot
 * block, so that the thread can be called off at any moment without touching the flags of an open
 * file that belongs to the caller.
 */
#include "capture/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "capture/thread.h"

enum { N_BUFFERS = 64 }; /* of about 256 KiB: see the session */

struct output {
	int fd;
	bool regular;
	pack_whole_fn whole;
	enum pack_method method;
	struct pack packer;   /* the thread's */
	struct outbuf packed; /* the thread's: a piece on its way */
	int event_fd;         /* to the owner */
	int cancel_fd;        /* to the thread */

	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct outbuf buffers[N_BUFFERS];
	struct outbuf *queue[N_BUFFERS]; /* a ring: first in, first out */
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
	close_fd(o->fd);
	close_fd(o->event_fd);
	close_fd(o->cancel_fd);
	pthread_cond_destroy(&o->wake);
	pthread_mutex_destroy(&o->lock);
	free(o);
}

/* Waits until the descriptor takes bytes. Returns 0 or a negative errno; -ECANCELED if abandoned. */
static int wait_writable(struct output *o)
{
	struct pollfd fds[] = {
		{ .fd = o->fd, .events = POLLOUT },
		{ .fd = o->cancel_fd, .events = POLLIN },
	};

	for (;;) {
		if (poll(fds, ARRAY_SIZE(fds), -1) < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		if (fds[1].revents)
			return -ECANCELED;
		if (fds[0].revents)
			return 0; /* an error shows in write() */
	}
}

/* Writes SIZE bytes; *RET_WRITTEN says how many of them, also when it fails. */
static int write_all(struct output *o, const uint8_t *data, size_t size, size_t *ret_written)
{
	*ret_written = 0;
	while (*ret_written < size) {
		size_t piece = size - *ret_written;
		ssize_t n;
		int r;

		if (!o->regular) {
			r = wait_writable(o);
			if (r < 0)
				return r;
			if (piece > PIPE_BUF)
				piece = PIPE_BUF;
		}
		n = write(o->fd, data + *ret_written, piece);
		if (n < 0) {
			if (errno == EINTR || errno == EAGAIN)
				continue;
			return -errno;
		}
		*ret_written += (size_t)n;
	}
	return 0;
}

/* Writes SIZE bytes, or as much of them as WHOLE says. */
static int write_piece(struct output *o, const uint8_t *data, size_t size, pack_whole_fn whole_fn,
		       size_t *ret_kept)
{
	int r = write_all(o, data, size, ret_kept);
	off_t end = o->regular ? lseek(o->fd, 0, SEEK_CUR) : -1;
	size_t whole;
	struct stat st;

	if (r == 0)
		return 0;
	whole = whole_fn(data, *ret_kept);
	/* What follows the last whole one is ours to cut off only where the file ends with it. If
	 * it cannot be cut off it is a cut record or piece, which readers drop. */
	if (end >= 0 && fstat(o->fd, &st) == 0 && st.st_size == end &&
	    ftruncate(o->fd, end - (off_t)(*ret_kept - whole)) == 0)
		*ret_kept = whole;
	return r;
}

/* Of a packed piece that was not written to its end, nothing is whole. */
static size_t whole_piece(const uint8_t *data, size_t n)
{
	(void)data;
	(void)n;
	return 0;
}

static int write_packed(struct output *o, const struct outbuf *b, size_t *ret_kept)
{
	size_t done = 0, n, kept;
	int r = 0;

	while (r == 0 && done < b->size) {
		n = pack_piece_bytes(o->whole, b->data + done, b->size - done);
		outbuf_reset(&o->packed);
		r = pack_put(&o->packer, b->data + done, n, &o->packed);
		if (r < 0)
			break;
		r = write_piece(o, o->packed.data, o->packed.size, whole_piece, &kept);
		*ret_kept += kept;
		done += n;
	}
	return r;
}

/* Writes one buffer, or as much of it as it can; *RET_KEPT bytes are in the file then. */
static int write_buffer(struct output *o, const struct outbuf *b, size_t *ret_kept)
{
	*ret_kept = 0;
	if (o->method != PACK_NONE)
		return write_packed(o, b, ret_kept);
	return write_piece(o, b->data, b->size, o->whole, ret_kept);
}

static void *run(void *userdata)
{
	struct output *o = userdata;
	struct outbuf *b;
	size_t kept;
	int r;

	pthread_mutex_lock(&o->lock);
	for (;;) {
		while (o->n_queued == 0 && !o->finishing && !o->abandoned)
			pthread_cond_wait(&o->wake, &o->lock);
		if (o->abandoned || o->n_queued == 0)
			break;
		b = o->queue[o->first];
		r = o->status.error;
		pthread_mutex_unlock(&o->lock);
		kept = 0;
		if (r == 0)
			r = write_buffer(o, b, &kept);
		pthread_mutex_lock(&o->lock);
		o->first = (o->first + 1) % N_BUFFERS;
		o->n_queued--;
		o->spare[o->n_spare++] = b;
		o->status.bytes += kept;
		o->status.error = r;
		o->status.cpu_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
		thread_signal(o->event_fd);
	}
	o->status.done = true;
	thread_signal(o->event_fd);
	pthread_mutex_unlock(&o->lock);
	release(o);
	return NULL;
}

static int check_fd(int fd, bool *ret_regular)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	if (flags < 0)
		return -errno;
	if ((flags & O_ACCMODE) == O_RDONLY || flags & O_PATH)
		return -EBADF;
	if (fstat(fd, &st) < 0)
		return -errno;
	*ret_regular = S_ISREG(st.st_mode);
	if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode) &&
	    !S_ISCHR(st.st_mode))
		return -EINVAL;
	return 0;
}

int output_new(int fd, pack_whole_fn whole, enum pack_method method, struct output **ret)
{
	struct output *o;
	bool regular = false;
	int r;

	r = check_fd(fd, &regular);
	if (r < 0)
		return r;
	o = calloc(1, sizeof(*o));
	if (!o)
		return -ENOMEM;
	o->fd = -1;
	o->regular = regular;
	o->whole = whole;
	o->method = method;
	o->n_holders = 2;
	o->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	o->cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&o->lock, NULL);
	pthread_cond_init(&o->wake, NULL);
	for (unsigned i = 0; i < N_BUFFERS; i++)
		o->spare[o->n_spare++] = &o->buffers[i];
	o->fd = fd;
	r = o->event_fd < 0 || o->cancel_fd < 0 ? -errno : pack_init(&o->packer, method);
	if (r == 0)
		r = thread_start(run, o);
	if (r < 0) {
		o->fd = -1; /* stays the caller's */
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
	thread_signal(o->cancel_fd);
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

/* All chunks go into the same file, one behind the other. */
void output_begin(struct output *o, const struct store_moment *at)
{
	(void)o;
	(void)at;
}

void output_end(struct output *o, const struct store_moment *at)
{
	(void)o;
	(void)at;
}

void output_put(struct output *o, struct outbuf *b, enum store_part part)
{
	(void)part;
	pthread_mutex_lock(&o->lock);
	o->queue[(o->first + o->n_queued++) % N_BUFFERS] = b;
	pthread_cond_signal(&o->wake);
	pthread_mutex_unlock(&o->lock);
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
