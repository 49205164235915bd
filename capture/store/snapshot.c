/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/store/snapshot.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include "capture/sandbox/thread.h"
#include "capture/sandbox/user-counts.h"

struct snapshot {
	struct store *to;
	int event_fd;
	pthread_mutex_t lock;
	unsigned n_refs;
	struct flight_snapshot *snapshot_data; /* only used by the thread */
	bool ended;
	int error;
};

int snapshot_new(struct store *to, struct snapshot **ret)
{
	struct snapshot *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->event_fd < 0) {
		int r = -errno;

		free(s);
		return r;
	}
	pthread_mutex_init(&s->lock, NULL);
	s->n_refs = 1;
	s->to = to;
	*ret = s;
	return 0;
}

struct snapshot *snapshot_ref(struct snapshot *s)
{
	pthread_mutex_lock(&s->lock);
	s->n_refs++;
	pthread_mutex_unlock(&s->lock);
	return s;
}

struct snapshot *snapshot_unref(struct snapshot *s)
{
	bool last;

	if (!s)
		return NULL;
	pthread_mutex_lock(&s->lock);
	last = --s->n_refs == 0;
	pthread_mutex_unlock(&s->lock);
	if (!last)
		return NULL;
	flight_snapshot_free(s->snapshot_data);
	store_free(s->to);
	close_fd(s->event_fd);
	pthread_mutex_destroy(&s->lock);
	return free_ptr(s);
}

/* Ends the snapshot. Returns true if it had not ended before. */
static bool snapshot_end(struct snapshot *s, int error)
{
	bool first;

	pthread_mutex_lock(&s->lock);
	first = !s->ended;
	if (first) {
		s->ended = true;
		s->error = error;
	}
	pthread_mutex_unlock(&s->lock);
	thread_signal(s->event_fd);
	return first;
}

void snapshot_cancel(struct snapshot *s)
{
	if (snapshot_end(s, -ECANCELED))
		s->to->ops->cancel(s->to);
}

static void *snapshot_run(void *userdata)
{
	struct snapshot *s = userdata;
	int r = thread_identity_assume(&s->to->writer)
			?: flight_snapshot_write(s->snapshot_data, s->to);

	/* The data is released before the end is reported. */
	s->snapshot_data = flight_snapshot_free(s->snapshot_data);
	user_counts_add(&written_snapshots, s->to->writer.uid, -1);
	snapshot_end(s, r);
	snapshot_unref(s);
	return NULL;
}

/* Returns true if a snapshot of UID may be written now. WRITING includes this snapshot. */
static bool snapshot_has_turn(struct user_count writing, uid_t uid)
{
	if (uid == 0)
		return writing.all <= SNAPSHOTS_WRITING_MAX;
	return writing.user <= SNAPSHOTS_WRITING_PER_USER &&
	       writing.all <= SNAPSHOTS_WRITING_MAX - SNAPSHOTS_WRITING_ROOT;
}

static int snapshot_start_writing(struct snapshot *s)
{
	uid_t uid = s->to->writer.uid;
	int r = -EBUSY;

	if (snapshot_has_turn(user_counts_add(&written_snapshots, uid, 1), uid)) {
		snapshot_ref(s);
		r = thread_start(snapshot_run, s);
		if (r < 0)
			snapshot_unref(s);
	}
	if (r < 0)
		user_counts_add(&written_snapshots, uid, -1);
	return r;
}

void snapshot_set_data(struct snapshot *s, struct flight_snapshot *snapshot_data, int error)
{
	s->snapshot_data = snapshot_data;
	if (error == 0 && !snapshot_ended(s, &error))
		error = snapshot_start_writing(s);
	if (error < 0)
		snapshot_end(s, error);
}

int snapshot_fd(const struct snapshot *s)
{
	return s->event_fd;
}

bool snapshot_ended(struct snapshot *s, int *ret_error)
{
	bool ended;

	pthread_mutex_lock(&s->lock);
	ended = s->ended;
	*ret_error = ended ? s->error : 0;
	pthread_mutex_unlock(&s->lock);
	return ended;
}
