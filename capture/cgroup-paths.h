/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a cgroup is: the id by which the kernel's records name one is the inode of its folder.
 *
 * A process that is in it says so at once (/proc/PID/cgroup), whatever the number of cgroups, and the folder's inode says whether
 * that holds still. What nobody says is looked for by a walk through all folders of the unified hierarchy, a little at a
 * time. It needs no rights, and the folders only: no file in them is opened.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"

/* Longer paths are not told. */
enum { CGROUP_PATH_ROOM = 1024 };

struct cgroup_paths;

/* The cgroup ID has PATH, from the root of the hierarchy ("/" is the root itself), valid UTF-8. Returns 0 or a negative errno, which ends it. */
typedef int (*cgroup_path_fn)(uint64_t id, const char *path, void *userdata);

/*
 * Of the machine whose root is ROOT: "" is this one. Returns 0, -ENODEV (the hierarchy is not mounted), or another errno.
 */
int cgroup_paths_new(const char *root, struct cgroup_paths **ret);

struct cgroup_paths *cgroup_paths_free(struct cgroup_paths *c);

DEFINE_CLEANUP(struct cgroup_paths *, cgroup_paths_free)

/*
 * Tells FN where cgroup ID is, if process PID is in it; else the walk looks for it from now on. Returns what FN does, or 0.
 */
int cgroup_paths_find(struct cgroup_paths *c, uint64_t id, uint32_t pid, cgroup_path_fn fn,
		      void *userdata);

/*
 * Walks on for BUDGET_NS of CPU time, or until all that is looked for was told to FN or was not found in a whole round. Folders that
 * are too deep (32) are passed over. Returns 1 if there is more to do, 0, or what FN did.
 */
int cgroup_paths_walk(struct cgroup_paths *c, uint64_t budget_ns, cgroup_path_fn fn,
		      void *userdata);

/* Likewise, but a round from the beginning, in which FN is told of all that there is as far as that goes in BUDGET_NS. */
int cgroup_paths_list(struct cgroup_paths *c, uint64_t budget_ns, cgroup_path_fn fn,
		      void *userdata);
