/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/sessions/collection-scan.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "capture/options/find-cgroup.h"
#include "capture/sandbox/thread.h"

/* Data shared by the thread and the owner. The one that releases the data last frees it. */
struct view {
	atomic_uint n_holders;
	char **units;
	struct filter_cgroup *cgroups;
	size_t n_cgroups;
	bool outdated; /* written by the thread before it signals the eventfd */
	int event_fd;
};

struct collection_scan {
	struct view *view;
	sd_event_source *ended;
	collection_scanned_fn fn;
	void *userdata;
};

static struct view *collection_scan_view_release(struct view *v)
{
	if (!v || atomic_fetch_sub(&v->n_holders, 1) > 1)
		return NULL;
	for (char **unit = v->units; unit && *unit; unit++)
		free(*unit);
	free(v->units);
	free(v->cgroups);
	close_fd(v->event_fd);
	return free_ptr(v);
}

DEFINE_CLEANUP(struct view *, collection_scan_view_release)

static int collection_scan_copy_units(struct view *v, char *const *units)
{
	size_t n = 0;

	while (units[n])
		n++;
	v->units = calloc(n + 1, sizeof(*v->units));
	for (size_t i = 0; v->units && i < n; i++) {
		v->units[i] = strdup(units[i]);
		if (!v->units[i])
			return -ENOMEM;
	}
	return v->units ? 0 : -ENOMEM;
}

static int collection_scan_view_new(char *const *units, const struct capture_filter *f,
				    struct view **ret)
{
	_cleanup_(collection_scan_view_releasep) struct view *v = calloc(1, sizeof(*v));
	int r;

	if (!v)
		return -ENOMEM;
	v->n_holders = 1;
	v->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (v->event_fd < 0)
		return -errno;
	v->cgroups = calloc(f->n_cgroups + 1, sizeof(*v->cgroups));
	if (!v->cgroups)
		return -ENOMEM;
	v->n_cgroups = f->n_cgroups;
	for (size_t i = 0; i < v->n_cgroups; i++)
		v->cgroups[i] = f->cgroups[i];
	r = collection_scan_copy_units(v, units);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(v);
	return 0;
}

static bool collection_scan_has_cgroup(const struct view *v, const struct filter_cgroup *one)
{
	for (size_t i = 0; i < v->n_cgroups; i++) {
		if (v->cgroups[i].parent_id == one->parent_id &&
		    strcmp(v->cgroups[i].name, one->name) == 0)
			return true;
	}
	return false;
}

static bool collection_scan_is_outdated(const struct view *v)
{
	struct filter_cgroup list[FILTER_CGROUPS_MAX];

	for (char **unit = v->units; *unit; unit++) {
		int n = find_cgroup_unit_trusted(*unit, list, FILTER_CGROUPS_MAX);

		for (int i = 0; i < n; i++)
			if (!collection_scan_has_cgroup(v, &list[i]))
				return true;
	}
	return false;
}

static void *collection_scan_run(void *userdata)
{
	struct view *v = userdata;

	v->outdated = collection_scan_is_outdated(v);
	thread_signal(v->event_fd);
	collection_scan_view_release(v);
	return NULL;
}

static int collection_scan_on_ended(sd_event_source *source, int fd, uint32_t revents,
				    void *userdata)
{
	struct collection_scan *l = userdata;

	sd_event_source_set_enabled(source, SD_EVENT_OFF);
	l->fn(l->view->outdated, l->userdata);
	return 0;
}

int collection_scan_new(sd_event *event, char *const *units, const struct capture_filter *f,
			collection_scanned_fn fn, void *userdata, struct collection_scan **ret)
{
	_cleanup_(collection_scan_freep) struct collection_scan *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return -ENOMEM;
	l->fn = fn;
	l->userdata = userdata;
	r = collection_scan_view_new(units, f, &l->view)
		    ?: sd_event_add_io(event, &l->ended, l->view->event_fd, EPOLLIN,
				       collection_scan_on_ended, l);
	if (r < 0)
		return r;
	atomic_fetch_add(&l->view->n_holders, 1);
	r = thread_start(collection_scan_run, l->view);
	if (r < 0) {
		collection_scan_view_release(l->view);
		return r;
	}
	*ret = TAKE_PTR(l);
	return 0;
}

struct collection_scan *collection_scan_free(struct collection_scan *l)
{
	if (!l)
		return NULL;
	sd_event_source_disable_unref(l->ended);
	collection_scan_view_release(l->view);
	return free_ptr(l);
}
