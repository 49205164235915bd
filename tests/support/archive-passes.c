/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/archive-passes.h"

#include <errno.h>
#include <fcntl.h>

#include "reader/fxt/fxt-events.h"

/* With MAPS the first time, FN the second. */
static int pass(const char *path, struct maps *maps, archive_event_fn fn, void *userdata)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_(fxt_events_freep) struct fxt_events *events = NULL;
	_cleanup_(fxt_reader_freep) struct fxt_reader *reader = NULL;
	const struct fxt_record *record;
	const char *what;
	struct event ev;
	int r = fd < 0 ? -errno : fxt_reader_new_fd(&reader, fd);

	if (r >= 0)
		r = fxt_events_new(&events);
	while (r >= 0 && (r = fxt_reader_next(reader, &record)) == FXT_READER_RECORD) {
		if (fxt_events_get(events, record, &ev, &what) == FXT_EVENTS_EVENT)
			r = fn ? fn(maps, &ev, userdata) : maps_add(maps, &ev);
	}
	return r < 0 ? r : 0;
}

int archive_passes(const char *path, archive_event_fn fn, void *userdata)
{
	struct maps *maps;
	int r = maps_new(&maps, MAPS_OF_ALL_TIMES);

	if (r < 0)
		return r;
	r = pass(path, maps, NULL, NULL);
	if (r >= 0)
		r = pass(path, maps, fn, userdata);
	maps_free(maps);
	return r;
}
