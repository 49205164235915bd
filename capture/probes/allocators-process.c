/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the files of a process, in its list of mappings.
 */
#include <errno.h>

#include "capture/probes/allocator-cache.h"
#include "capture/probes/allocators.h"
#include "capture/probes/mapped-file.h"
#include "capture/proc/mappings.h"

enum { FILES_MAX = 4096 };

struct visit {
	pid_t pid;
	struct allocator_cache *cache;
	allocators_file_fn fn;
	void *userdata;
	struct local_devices local;
	struct {
		uint64_t device, inode; /* of the mapping */
	} seen[FILES_MAX];
	size_t n_seen;
};

static bool allocators_process_is_new(struct visit *v, const struct rec_mapping *rec)
{
	for (size_t i = 0; i < v->n_seen; i++)
		if (v->seen[i].inode == rec->inode && v->seen[i].device == rec->device)
			return false;
	if (v->n_seen == FILES_MAX)
		return false;
	v->seen[v->n_seen].inode = rec->inode;
	v->seen[v->n_seen++].device = rec->device;
	return true;
}

static int allocators_visit_mapping(const struct rec_mapping *rec, void *userdata)
{
	static const struct allocator_list nothing;
	struct allocator_list own = { 0 };
	struct allocator_file file = {
		.mapped_device = rec->device,
		.mapped_inode = rec->inode,
		.path = rec->path,
		.list = &nothing,
	};
	struct mapped_file mapped;
	struct visit *v = userdata;
	int r;

	if (!rec->inode || rec->path[0] != '/' || rec->path[1] == '/' ||
	    !allocators_process_is_new(v, rec))
		return 0;
	file.error = mapped_file_open(v->pid, rec, &v->local, &mapped);
	file.fd = mapped.fd;
	if (file.error == 0) {
		file.device = mapped.st.st_dev;
		file.inode = mapped.st.st_ino;
		if (v->cache) {
			file.error = allocator_cache_find(v->cache, file.fd, &file.list);
		} else {
			file.error = allocators_find_sandboxed(file.fd, ALLOCATORS_NS_MAX, &own);
			file.list = &own;
		}
	}
	r = v->fn(&file, v->userdata);
	mapped_file_close(&mapped);
	allocator_list_deinit(&own);
	return r;
}

int allocators_of_process(pid_t pid, struct allocator_cache *cache, allocators_file_fn fn,
			  void *userdata)
{
	_cleanup_free_ struct visit *v = calloc(1, sizeof(*v));

	if (!v)
		return -ENOMEM;
	v->pid = pid;
	v->cache = cache;
	v->fn = fn;
	v->userdata = userdata;
	return mappings_of_process_bounded("", (uint32_t)pid, allocators_visit_mapping, v, NULL);
}
