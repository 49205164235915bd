/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/files/passed-fds.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/foreign-fds.h"
#include "capture/sandbox/clean-fd-table.h"
#include "daemon/common/log.h"

/* The minimum time between two warnings. */
#define PASSED_WARN_NS UINT64_C(60000000000)

/* The descriptors of one message. */
struct passed_group {
	sd_event_source *source;
	int end;       /* read end of the pipe */
	uint64_t pipe; /* inode of the pipe */
	size_t n;
	struct {
		int stand_in, fd;
	} list[];
};

/* The descriptor, or the error, that a stand-in represents. */
struct passed_stand_in {
	/* Descriptor + 1; or the negative errno for which the descriptor was not accepted. */
	int what;
	uint64_t pipe; /* inode of its pipe; 0 = no pipe */
};

static sd_event *passed_event;
/*
 * The meaning of each number as a stand-in. An entry is overwritten when its number becomes a
 * stand-in again. Only numbers from messages are looked up, so old entries do no harm.
 */
static struct passed_stand_in *passed_by_number;
static size_t passed_n, passed_limit; /* no number from passed_limit on was ever a stand-in */

/* ---- children ---- */

/* Returns the inode of FD if it is a pipe, otherwise 0. Sends no request to a file system. */
static uint64_t passed_pipe_of(int fd)
{
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO, &st) < 0 ||
	    !S_ISFIFO(st.stx_mode))
		return 0;
	return st.stx_ino;
}

/*
 * Closes the stand-ins in a child. The child has copies of all of them, and may run forever.
 * Without this, the pipes of the stand-ins would then never report a hang-up. A number whose inode
 * has changed is not a stand-in any more.
 */
static void passed_leave_to_parent(void)
{
	for (size_t fd = 0; fd < passed_limit; fd++) {
		uint64_t pipe = passed_by_number[fd].pipe;

		if (pipe && passed_pipe_of((int)fd) == pipe)
			close_fd((int)fd);
	}
}

int passed_fds_begin(sd_event *event)
{
	passed_n = foreign_fds_max();
	passed_by_number = calloc(passed_n, sizeof(*passed_by_number));
	if (!passed_by_number)
		return -ENOMEM;
	passed_event = event;
	return -pthread_atfork(NULL, NULL, passed_leave_to_parent);
}

/* ---- groups ---- */

static struct passed_group *passed_group_free(struct passed_group *g)
{
	if (!g)
		return NULL;
	sd_event_source_disable_unref(g->source);
	close_fd(g->end);
	return free_ptr(g);
}

DEFINE_CLEANUP(struct passed_group *, passed_group_free)

static int passed_on_hang_up(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct passed_group *g = userdata;

	(void)source;
	(void)fd;
	(void)revents;
	for (size_t i = 0; i < g->n; i++) {
		struct passed_stand_in *s = &passed_by_number[g->list[i].stand_in];

		/* If the number is already a stand-in of another group, its entry stays. */
		if (s->pipe == g->pipe)
			*s = (struct passed_stand_in){ 0 };
		close_passed_fd(g->list[i].fd);
	}
	passed_group_free(g);
	return 0;
}

/*
 * Creates an empty group for up to N descriptors. Returns the write end of its pipe, or a negative
 * errno.
 */
static int passed_group_new(size_t n, struct passed_group **ret)
{
	_cleanup_(passed_group_freep) struct passed_group *g =
		calloc(1, sizeof(*g) + n * sizeof(*g->list));
	_cleanup_close_ int writing = -1;
	int ends[2], r;

	if (!g)
		return -ENOMEM;
	g->end = -1;
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	g->end = ends[0];
	writing = ends[1];
	g->pipe = passed_pipe_of(g->end);
	r = sd_event_add_io(passed_event, &g->source, g->end, EPOLLHUP, passed_on_hang_up, g);
	/*
	 * The hang-up is handled before the next message is received: it frees descriptor numbers,
	 * which the next message needs.
	 */
	if (r >= 0)
		r = sd_event_source_set_priority(g->source, SD_EVENT_PRIORITY_IMPORTANT);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(g);
	return TAKE_FD(writing);
}

/* ---- stand-ins ---- */

/*
 * Makes a stand-in that represents S: a duplicate of the service's own descriptor OUR. Returns the
 * stand-in or a negative errno.
 */
static int passed_stand_in(int our, const struct passed_stand_in *s)
{
	int fd = fcntl(our, F_DUPFD_CLOEXEC, 3);

	if (fd < 0)
		return -errno;
	if ((size_t)fd >= passed_n) {
		close_fd(fd);
		return -EMFILE;
	}
	passed_by_number[fd] = *s;
	if ((size_t)fd >= passed_limit)
		passed_limit = (size_t)fd + 1;
	return fd;
}

/*
 * Adds FD to G. WRITING is the write end of the pipe of G. Returns the stand-in or a negative
 * errno.
 */
static int passed_group_add(struct passed_group *g, int writing, int fd)
{
	int r = passed_stand_in(writing, &(struct passed_stand_in){ fd + 1, g->pipe });

	if (r < 0)
		return r;
	g->list[g->n].stand_in = r;
	g->list[g->n++].fd = fd;
	return r;
}

static void passed_warn(int error)
{
	static uint64_t warned_ns;
	uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);

	if (warned_ns && now_ns - warned_ns < PASSED_WARN_NS)
		return;
	warned_ns = now_ns;
	log_warning(error, "files from callers are refused");
}

size_t passed_fds_adopt(int *fds, size_t n)
{
	struct passed_group *g = NULL;
	_cleanup_close_ int writing = passed_group_new(n, &g);
	size_t n_put = 0;

	if (!g)
		passed_warn(writing);
	for (; n_put < n; n_put++) {
		int stand_in =
			g ? passed_group_add(g, writing, fds[n_put]) : passed_fds_refuse(writing);

		if (stand_in < 0)
			break;
		if (!g)
			close_passed_fd(fds[n_put]);
		fds[n_put] = stand_in;
	}
	for (size_t i = n_put; i < n; i++)
		close_passed_fd(fds[i]);
	/*
	 * If the group is empty, its pipe reports a hang-up when WRITING is closed here, and the
	 * group is then freed.
	 */
	return n_put;
}

int passed_fds_refuse(int error)
{
	return passed_stand_in(clean_fd_table_null(), &(struct passed_stand_in){ error, 0 });
}

int passed_fds_get(int stand_in)
{
	int what = 0;

	if (stand_in >= 0 && (size_t)stand_in < passed_n)
		what = passed_by_number[stand_in].what;
	return what > 0 ? what - 1 : what < 0 ? what : stand_in;
}
