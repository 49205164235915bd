/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/passed-fds.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/foreign-fds.h"
#include "capture/sandbox/clean-fd-table.h"

/* What a stand-in is for that is for nothing. */
enum { PASSED_FD_REFUSED = -1 };

/* What came with one message. */
struct passed_group {
	sd_event_source *source;
	int end; /* of the pipe, for reading */
	size_t n;
	struct {
		int stand_in, fd;
	} list[];
};

static sd_event *passed_event;
/*
 * By stand-in: the descriptor + 1, or PASSED_FD_REFUSED. Only what a message has is looked up: what a
 * number meant before is overwritten by then.
 */
static int *passed_by_stand_in;
static size_t passed_n;

int passed_fds_begin(sd_event *event)
{
	passed_n = foreign_fds_max();
	passed_by_stand_in = calloc(passed_n, sizeof(*passed_by_stand_in));
	if (!passed_by_stand_in)
		return -ENOMEM;
	passed_event = event;
	return 0;
}

static struct passed_group *passed_group_free(struct passed_group *g)
{
	if (!g)
		return NULL;
	sd_event_source_disable_unref(g->source);
	close_fd(g->end);
	free(g);
	return NULL;
}

DEFINE_CLEANUP(struct passed_group *, passed_group_free)

static int on_hang_up(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct passed_group *g = userdata;

	(void)source;
	(void)fd;
	(void)revents;
	for (size_t i = 0; i < g->n; i++) {
		/* (the number may be another group's stand-in by now) */
		if (passed_by_stand_in[g->list[i].stand_in] == g->list[i].fd + 1)
			passed_by_stand_in[g->list[i].stand_in] = 0;
		close_passed_fd(g->list[i].fd);
	}
	passed_group_free(g);
	return 0;
}

/* A group for at most N, without any. Returns the pipe's end for writing, or a negative errno. */
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
	r = sd_event_add_io(passed_event, &g->source, g->end, EPOLLHUP, on_hang_up, g);
	/* Before the next message, which needs numbers that this one has. */
	if (r >= 0)
		r = sd_event_source_set_priority(g->source, SD_EVENT_PRIORITY_IMPORTANT);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(g);
	return TAKE_FD(writing);
}

/* Returns a copy of OUR own that is for what WHAT says, or a negative errno. */
static int passed_stand_in(int our, int what)
{
	int fd = fcntl(our, F_DUPFD_CLOEXEC, 3);

	if (fd < 0)
		return -errno;
	if ((size_t)fd >= passed_n) {
		close_fd(fd);
		return -EMFILE;
	}
	passed_by_stand_in[fd] = what;
	return fd;
}

size_t passed_fds_take(int *fds, size_t n)
{
	struct passed_group *g = NULL;
	_cleanup_close_ int writing = passed_group_new(n, &g);
	size_t n_put = 0;

	for (; writing >= 0 && n_put < n; n_put++) {
		int stand_in = passed_stand_in(writing, fds[n_put] + 1);

		if (stand_in < 0)
			break;
		g->list[g->n].stand_in = stand_in;
		g->list[g->n++].fd = fds[n_put];
		fds[n_put] = stand_in;
	}
	for (size_t i = n_put; i < n; i++)
		close_passed_fd(fds[i]);
	/* (without any, it hangs up at once) */
	return n_put;
}

int passed_fds_refuse(void)
{
	return passed_stand_in(clean_fd_table_null(), PASSED_FD_REFUSED);
}

int passed_fds_get(int stand_in)
{
	int what = 0;

	if (stand_in >= 0 && (size_t)stand_in < passed_n)
		what = passed_by_stand_in[stand_in];
	if (what == PASSED_FD_REFUSED)
		return -EDQUOT;
	return what ? what - 1 : stand_in;
}
