/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The paths of cgroups: the id in the kernel's records is the inode of the cgroup's directory.
 *
 * A process in the cgroup has its path (/proc/PID/cgroup), whatever the number of cgroups, and the
 * inode of that directory shows whether the path is still valid. Ids that no process resolves are
 * searched by a walk through all directories of the unified hierarchy, in steps. It needs no
 * privileges, and opens only directories.
 */
#pragma once

#include <stdint.h>

#include "base/cleanup.h"

/* Longer paths are not reported. */
enum { CGROUP_PATH_ROOM = 1024 };

struct cgroup_paths;

/*
 * Cgroup ID has PATH, from the root of the hierarchy ("/" is the root itself), valid UTF-8. Returns
 * 0, or a negative errno, which ends the call.
 */
typedef int (*cgroup_path_fn)(uint64_t id, const char *path, void *userdata);

/* Of the machine whose root is ROOT; "" is this one. Returns 0, -ENODEV (the hierarchy is not
 * mounted), or another errno. */
int cgroup_paths_new(const char *root, struct cgroup_paths **ret);

struct cgroup_paths *cgroup_paths_free(struct cgroup_paths *c);

DEFINE_CLEANUP(struct cgroup_paths *, cgroup_paths_free)

/*
 * Calls FN with the path of cgroup ID if process PID is in it; otherwise the walk searches for it
 * from now on. Returns 0, or the result of FN.
 */
int cgroup_paths_find(struct cgroup_paths *c, uint64_t id, uint32_t pid, cgroup_path_fn fn,
		      void *userdata);

/*
 * Continues the walk for BUDGET_NS of CPU time, or until FN was called with each wanted id or a
 * whole round did not find it. Directories deeper than 32 levels are left out. Returns 1 if there
 * is more to do, 0, or the result of FN.
 */
int cgroup_paths_walk(struct cgroup_paths *c, uint64_t budget_ns, cgroup_path_fn fn,
		      void *userdata);

/* The same, but begins a new round, and calls FN with all cgroups within BUDGET_NS. */
int cgroup_paths_list(struct cgroup_paths *c, uint64_t budget_ns, cgroup_path_fn fn,
		      void *userdata);
