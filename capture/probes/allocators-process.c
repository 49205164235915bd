/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the files of a process. Paths are not sufficient: they can be in another mount namespace,
 * or the file can have been replaced. /proc/PID/map_files refers to the mapped files, but requires
 * a capability. Without this capability, the path below /proc/PID/root is used, if it leads to the
 * same file.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "capture/probes/allocator-cache.h"
#include "capture/probes/allocators.h"
#include "capture/proc/mappings.h"

enum { FILES_MAX = 4096 };

struct visit {
	pid_t pid;
	struct allocator_cache *cache;
	allocators_file_fn fn;
	void *userdata;
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

/* Opens PATH without blocking, since the path can be a FIFO. */
static int allocators_process_open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	return fd < 0 ? -errno : fd;
}

static int allocators_process_open_mapped(const struct visit *v, const struct rec_mapping *rec)
{
	char path[MAPPING_PATH_BYTES + 32];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)v->pid,
		 (uint64_t)rec->start, (uint64_t)(rec->start + rec->bytes));
	fd = allocators_process_open_file(path);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)v->pid, rec->path);
	/* Opening a device can have side effects, so only regular files are opened. */
	if (stat(path, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOEXEC;
	fd = allocators_process_open_file(path);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0 || st.st_ino != rec->inode ||
	    ((uint64_t)major(st.st_dev) << 20 | minor(st.st_dev)) != rec->device) {
		close(fd);
		return -ESTALE;
	}
	return fd;
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
	_cleanup_close_ int fd = -1;
	struct visit *v = userdata;
	struct stat st;
	int r;

	if (!rec->inode || rec->path[0] != '/' || rec->path[1] == '/' ||
	    !allocators_process_is_new(v, rec))
		return 0;
	fd = allocators_process_open_mapped(v, rec);
	file.fd = fd;
	file.error = fd < 0 ? fd : 0;
	if (file.error == 0 && fstat(fd, &st) == 0) {
		file.device = st.st_dev;
		file.inode = st.st_ino;
		if (v->cache) {
			file.error = allocator_cache_find(v->cache, fd, &file.list);
		} else {
			file.error = allocators_find_sandboxed(fd, ALLOCATORS_NS_MAX, &own);
			file.list = &own;
		}
	}
	r = v->fn(&file, v->userdata);
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
